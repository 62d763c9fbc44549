// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the PF of an entry in host.yaml: exactly one PF must match everything that is stated. */
#include "lease/declared.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
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

/* ---- a PF whose name changed, by the rules of systemd.net-naming-scheme(7) ---- */

/* Its length without the port ("np0", "d1"), which a newer kernel or scheme adds. */
static size_t base_length(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end == len || end < 3)
		return len;
	return name[end - 1] == 'd' ? end - 1 : name[end - 1] == 'p' &&
		name[end - 2] == 'n' ? end - 2 : len;
}

/* enP2p16s3f1: function 2:16:3.1, all decimal. */
static bool is_path_of(const char *name, const struct vfctl_bdf *bdf)
{
	unsigned long domain = 0, bus, slot, function = 0;
	char *at = (char *)name + 2;

	if (!str_starts(name, "en") && !str_starts(name, "ib"))
		return false;
	if (*at == 'P')
		domain = strtoul(at + 1, &at, 10);
	if (*at != 'p')
		return false;
	bus = strtoul(at + 1, &at, 10);
	if (*at != 's')
		return false;
	slot = strtoul(at + 1, &at, 10);
	if (*at == 'f')
		function = strtoul(at + 1, &at, 10);
	return domain == bdf->domain && bus == bdf->bus && slot == bdf->slot && function == bdf->function;
}

/* enx0c42a1b2c3d4: the permanent MAC of its port. */
static bool is_mac_of(const char *name, const char *port_id)
{
	const char *digit = name + 3;

	if (!str_starts(name, "enx") || !*digit || !*port_id)
		return false;
	for (const char *p = port_id; *p; p++)
		if (*p != ':' && tolower((unsigned char)*p) != *digit++)
			return false;
	return !*digit;
}

static bool had_name(const struct vfctl_pf *pf, const char *name)
{
	size_t len = base_length(name);

	if (is_path_of(name, &pf->bdf) || is_mac_of(name, pf->port_id))
		return true;
	for (char **n = pf->names; n && *n; n++)
		if (base_length(*n) == len && strncmp(*n, name, len) == 0)
			return true;
	return false;
}

/* The only PF that had that name; NULL if none or several may have had it. */
static const struct vfctl_pf *find_renamed(const struct vfctl_inventory *inv, const char *name)
{
	const struct vfctl_pf *found = NULL;

	for (size_t i = 0; i < inv->pf_count; i++) {
		if (!name_of(&inv->pfs[i])[0] || !had_name(&inv->pfs[i], name))
			continue;
		if (found)
			return NULL;
		found = &inv->pfs[i];
	}
	return found;
}

static int fail_none(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf_spec *spec, const char *message)
{
	_buf_ struct buf known = {0};
	const struct vfctl_pf *pf = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(spec->names) && !pf; i++)
		pf = spec->names[i] ? find_renamed(inv, spec->names[i]) : NULL;
	if (pf)
		return ctx_fail(ctx, -ENOENT, "PF %s not found: its name seems to be %s now, at %s; write "
			"that name or the address", message, name_of(pf), TEXT(&pf->bdf));
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
		return fail_none(ctx, inventory, spec, message);
	*ret = found;
	return 0;
}

int vfctl_declared_entry(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_host_spec *spec, const struct vfctl_pf *pf,
	const struct vfctl_pf_spec **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < spec->pf_count && !*ret; i++) {
		const struct vfctl_pf *found = NULL;
		int r = declared_find(ctx, inventory, &spec->pfs[i], &found);

		if (r == -ENOMEM)
			return r;
		ctx_clear(ctx);
		if (r == 0 && found == pf)
			*ret = &spec->pfs[i];
	}
	return 0;
}
