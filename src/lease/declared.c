// SPDX-License-Identifier: GPL-2.0-or-later
/* Which PF an entry of host.yaml means: all that is stated holds of exactly one. */
#include "lease/declared.h"

#include <errno.h>
#include <strings.h>

#include "base/buf.h"
#include "pci/serial.h"

static bool answers_to(const struct vfctl_pf *pf, const char *name)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(name, &bdf) == 0)
		return vfctl_bdf_compare(&bdf, &pf->bdf) == 0;
	for (char **n = pf->names; n && *n; n++)
		if (str_eq(*n, name))
			return true;
	return false;
}

/* 1 it is, 0 it is not; only root can tell of a serial number. */
static int is_meant(struct vfctl_ctx *ctx, const struct vfctl_pf_spec *spec,
	const struct vfctl_pf *pf)
{
	struct pci_serials serials;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(spec->names); i++)
		if (spec->names[i] && !answers_to(pf, spec->names[i]))
			return 0;
	if (spec->driver && !str_eq(spec->driver, pf->driver))
		return 0;
	if (spec->vendor && (spec->vendor != pf->vendor || spec->device != pf->device))
		return 0;
	if (!spec->serial)
		return 1;
	r = pci_serials_read(ctx, &pf->bdf, &serials);
	if (r < 0)
		return r;
	return !strcasecmp(spec->serial, serials.device) ||
		!strcasecmp(spec->serial, serials.product);
}

char *declared_words(const struct vfctl_pf_spec *spec)
{
	_buf_ struct buf words = {0};

	for (size_t i = 0; i < ARRAY_SIZE(spec->names); i++)
		if (spec->names[i])
			buf_printf(&words, "%s%s", words.len ? ", " : "", spec->names[i]);
	if (spec->driver)
		buf_printf(&words, "%sdriver %s", words.len ? ", " : "", spec->driver);
	if (spec->vendor)
		buf_printf(&words, "%sdevice %04x:%04x", words.len ? ", " : "", spec->vendor,
			spec->device);
	if (spec->serial)
		buf_printf(&words, "%sserial %s", words.len ? ", " : "", spec->serial);
	return words.data ? buf_steal(&words) : NULL;
}

static const char *name_of(const struct vfctl_pf *pf)
{
	return pf->netdev[0] ? pf->netdev : pf->rdma;
}

static int fail_none(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const char *words)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < inv->pf_count; i++)
		buf_printf(&known, "%s%s%s%s", i ? ", " : "", name_of(&inv->pfs[i]),
			name_of(&inv->pfs[i])[0] ? " " : "",
			vfctl_bdf_format(&inv->pfs[i].bdf, (char[VFCTL_BDF_TEXT]){0}));
	if (!inv->pf_count)
		return ctx_fail(ctx, -ENOENT, "no PF of this host is %s: it has none with SR-IOV%s%s",
			words, inv->unread ? "; " : "", inv->unread ? inv->unread : "");
	return ctx_fail(ctx, -ENOENT, "no PF of this host is %s; there are %s", words,
		known.failed ? "others" : known.data);
}

int declared_find(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret)
{
	_free_ char *words = declared_words(spec);
	const struct vfctl_pf *found = NULL;

	if (!words)
		return ctx_oom(ctx);
	for (size_t i = 0; i < inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &inventory->pfs[i];
		int r = is_meant(ctx, spec, pf);

		if (r < 0)
			return r;
		if (r && found)
			return ctx_fail(ctx, -EEXIST, "%s is both %s and %s: say more of the one that "
				"is meant, as its address", words,
				vfctl_bdf_format(&found->bdf, (char[VFCTL_BDF_TEXT]){0}),
				vfctl_bdf_format(&pf->bdf, (char[VFCTL_BDF_TEXT]){0}));
		if (r)
			found = pf;
	}
	if (!found)
		return fail_none(ctx, inventory, words);
	*ret = found;
	return 0;
}
