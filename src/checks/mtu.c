// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A VF cannot send larger packets than its PF. define rejects a guest that requests more, but later
 * the PF's MTU may be lowered by hand or by a network manager.
 */
#include "checks/guest.h"
#include "checks/host_checks.h"
#include "facts/guest_spec.h"
#include "sriov/inventory.h"

static bool may_be_on(struct check_ctx *e, const struct vfctl_guest_vf *vf,
	const struct vfctl_pf *pf)
{
	const struct vfctl_pf *named = NULL;

	if (!vf->pf)
		return true;
	if (vfctl_inventory_find_pf(e->ctx, e->snapshot->inventory, vf->pf, &named) < 0)
		ctx_clear(e->ctx);
	return named == pf;
}

/*
 * The lowest MTU that any entry that may match this PF requires; which entry got the VF is not
 * known.
 */
static uint32_t wanted_of(struct check_ctx *e, const struct vfctl_guest *asked,
	const struct vfctl_pf *pf)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < asked->vf_count; i++)
		if (asked->vfs[i].mtu < least && may_be_on(e, &asked->vfs[i], pf))
			least = asked->vfs[i].mtu;
	return least == UINT32_MAX ? 0 : least;
}

static void look_at_pf(struct check_ctx *e, const struct guest *g, const struct vfctl_guest *asked,
	const struct vfctl_pf *pf)
{
	uint32_t want = pf->mtu ? wanted_of(e, asked, pf) : 0;
	char text[VFCTL_BDF_TEXT];
	const char *name = pf_title(pf, text);

	if (want <= pf->mtu)
		return;
	set_remedy(e, found(e, g->name, "its file states mtu: %u for its VFs of %s, but "
		"/sys/class/net/%s/mtu is %u", want, name, pf->netdev, pf->mtu),
		"write mtu: %u into the entry of %s in host.yaml and run vfctl apply, or run: ip link "
		"set %s mtu %u", want,
		name, pf->netdev, want);
}

static void look_at_guest(struct check_ctx *e, const struct guest *g, void *data)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;
	struct vfctl_guest *asked = NULL;

	/* Few guests state it; the others need not be parsed again. */
	if (!strstr(g->xml, "mtu") || guest_spec_read(e->ctx, g->xml, &asked) < 0 || !asked)
		return;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (size_t k = 0; k < g->parsed->device_count; k++) {
			const struct vfctl_pf *pf = NULL;

			if (vf_at(e, &g->parsed->devices[k].source, &pf) && pf == &inv->pfs[i]) {
				look_at_pf(e, g, asked, pf);
				break;
			}
		}
	vfctl_guest_free(asked);
}

void doctor_check_mtu(struct check_ctx *e)
{
	each_guest(e, look_at_guest, NULL);
}
