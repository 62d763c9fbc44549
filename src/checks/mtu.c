// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PF caps what its VFs can send. define refuses a guest that wants more, and afterwards the PF may be
 * given less, by hand or by a network manager.
 */
#include <stdio.h>

#include "base/parse.h"
#include "checks/doctor.h"
#include "checks/guest.h"
#include "domain/domain.h"
#include "domain/said.h"

#define KEY_MAX 32
#define VALUE_MAX 64

/* The value of "vfs[3].mtu". */
static bool find_value(const char *said, size_t entry, const char *key, char ret[VALUE_MAX])
{
	char name[KEY_MAX];
	const char *value;
	size_t len;

	snprintf(name, sizeof(name), "vfs[%zu].%s", entry, key);
	value = said_find(said, name, strlen(name));
	len = value ? strcspn(value, "\n") : 0;
	if (!value || len >= VALUE_MAX)
		return false;
	memcpy(ret, value, len);
	ret[len] = '\0';
	return true;
}

static bool may_be_on(struct exam *e, const char *said, size_t entry, const struct vfctl_pf *pf)
{
	const struct vfctl_pf *named = NULL;
	char name[VALUE_MAX];

	if (!find_value(said, entry, "pf", name) || str_eq(name, "any"))
		return true;
	if (vfctl_inventory_find_pf(e->ctx, e->snapshot->inventory, name, &named) < 0)
		ctx_clear(e->ctx);
	return named == pf;
}

/* The least that any entry wants which this PF may answer: more than that cannot be said of it. */
static uint32_t wanted_of(struct exam *e, const char *said, const struct vfctl_pf *pf)
{
	uint32_t least = 0;
	bool any = false;

	for (size_t i = 0; i < VFCTL_GUEST_VFS_MAX; i++) {
		char prefix[KEY_MAX], text[VALUE_MAX];
		uint32_t mtu = 0;
		int len = snprintf(prefix, sizeof(prefix), "vfs[%zu].", i);

		if (!said_has(said, prefix, (size_t)len))
			break;
		if (!may_be_on(e, said, i, pf))
			continue;
		if (find_value(said, i, "mtu", text) && parse_u32(text, 1, UINT16_MAX, &mtu) < 0)
			mtu = 0;
		least = !any || mtu < least ? mtu : least;
		any = true;
	}
	return least;
}

static void look_at_pf(struct exam *e, const struct guest *g, const char *said, const struct vfctl_pf *pf)
{
	uint32_t want = pf->mtu ? wanted_of(e, said, pf) : 0;
	char text[VFCTL_BDF_TEXT];
	const char *name = pf_title(pf, text);

	if (want <= pf->mtu)
		return;
	set_remedy(e, found(e, g->name, "its file has mtu: %u for its VFs of %s, and "
		"/sys/class/net/%s/mtu is %u", want, name, pf->netdev, pf->mtu),
		"mtu: %u in the entry of %s in host.yaml and vfctl apply, or ip link set %s mtu %u", want,
		name, pf->netdev, want);
}

static void look_at_guest(struct exam *e, const struct guest *g, void *data)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;
	_free_ char *said = NULL;

	/* Few guests state it, and the rest need not be taken apart again. */
	if (!strstr(g->xml, "].mtu=") || metadata_said(e->ctx, g->xml, &said) < 0 || !said)
		return;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (size_t k = 0; k < g->parsed->device_count; k++) {
			const struct vfctl_pf *pf = NULL;

			if (vf_at(e, &g->parsed->devices[k].source, &pf) && pf == &inv->pfs[i]) {
				look_at_pf(e, g, said, pf);
				break;
			}
		}
}

void doctor_check_mtu(struct exam *e)
{
	each_guest(e, look_at_guest, NULL);
}
