// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the PF of an entry in host.yaml: exactly one PF must match everything that is stated. */
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

/* 1: it matches; 0: it does not. Only root can read a serial number. */
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

char *declared_text(const struct vfctl_pf_spec *spec)
{
	_buf_ struct buf message = {0};

	for (size_t i = 0; i < ARRAY_SIZE(spec->names); i++)
		if (spec->names[i])
			buf_printf(&message, "%s%s", message.len ? ", " : "", spec->names[i]);
	if (spec->driver)
		buf_printf(&message, "%sdriver %s", message.len ? ", " : "", spec->driver);
	if (spec->vendor)
		buf_printf(&message, "%sdevice %04x:%04x", message.len ? ", " : "", spec->vendor,
			spec->device);
	if (spec->serial)
		buf_printf(&message, "%sserial %s", message.len ? ", " : "", spec->serial);
	return message.data ? buf_steal(&message) : NULL;
}

static const char *name_of(const struct vfctl_pf *pf)
{
	return pf->netdev[0] ? pf->netdev : pf->rdma;
}

static int fail_none(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const char *message)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < inv->pf_count; i++)
		buf_printf(&known, "%s%s%s%s", i ? ", " : "", name_of(&inv->pfs[i]),
			name_of(&inv->pfs[i])[0] ? " " : "",
			vfctl_bdf_format(&inv->pfs[i].bdf, (char[VFCTL_BDF_TEXT]){0}));
	if (!inv->pf_count)
		return ctx_fail(ctx, -ENOENT, "PF %s not found: this host has no PF with SR-IOV%s%s",
			message, inv->unread ? "; " : "", inv->unread ? inv->unread : "");
	return ctx_fail(ctx, -ENOENT, "PF %s not found; this host has %s", message,
		known.failed ? "others" : known.data);
}

int declared_find(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret)
{
	_free_ char *message = declared_text(spec);
	const struct vfctl_pf *found = NULL;

	if (!message)
		return ctx_oom(ctx);
	for (size_t i = 0; i < inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &inventory->pfs[i];
		int r = is_meant(ctx, spec, pf);

		if (r < 0)
			return r;
		if (r && found)
			return ctx_fail(ctx, -EEXIST, "%s matches both %s and %s; add its PCI address "
				"or another key", message,
				vfctl_bdf_format(&found->bdf, (char[VFCTL_BDF_TEXT]){0}),
				vfctl_bdf_format(&pf->bdf, (char[VFCTL_BDF_TEXT]){0}));
		if (r)
			found = pf;
	}
	if (!found)
		return fail_none(ctx, inventory, message);
	*ret = found;
	return 0;
}
