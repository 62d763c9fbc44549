// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/policy.h"

#include <errno.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "sriov/attrs.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "workflow/snapshot.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

static const struct vfctl_vf *find_index(const struct vfctl_pf *pf, uint32_t index)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].index == index)
			return &pf->vfs[i];
	return NULL;
}

/* The VF must still be the function that was leased: VFs made anew may have moved. */
static int check_vf(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory,
	const struct vfctl_domain_vf *want, const struct vfctl_vf **ret)
{
	const struct vfctl_pf *pf = &inventory->pfs[0];
	const struct vfctl_vf *vf = find_index(pf, want->index);
	char name[VFCTL_BDF_TEXT], words[192];

	if (!vf)
		return ctx_fail(ctx, -ENOENT, "PF %s (%s) has no VF %u; it has %u VFs; make them "
			"with: vfctl create %s N", vfctl_pf_name(pf, name), TEXT(&pf->bdf),
			want->index, pf->num_vfs, vfctl_pf_name(pf, name));
	if (vfctl_bdf_compare(&vf->bdf, &want->bdf))
		return ctx_fail(ctx, -ENOENT, "VF %u of PF %s is %s now, not %s as when the domain "
			"was defined; take it out and give the domain another (vfctl detach, vfctl "
			"attach), or make as many VFs as there were", want->index, vfctl_pf_name(pf, name), TEXT(&vf->bdf),
			TEXT(&want->bdf));
	/* Its guest does not run yet, so whoever has it open is somebody else. */
	if (vf_is_open(vf)) {
		holder_name_all(ctx, inventory);
		return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is %s", vfctl_pf_name(pf, name), vf->index,
			TEXT(&vf->bdf), vf_describe_user(vf, words, sizeof(words)));
	}
	*ret = vf;
	return 0;
}

/*
 * A guest that states no VLAN or rate gets none, and no trust: what an earlier user left
 * would be taken over otherwise. Safe defaults a driver knows nothing of are not insisted on.
 */
static struct vfctl_vf_attrs wish_for(const struct vfctl_domain_vf *want,
	const struct vfctl_vf *now)
{
	static const struct vfctl_vf_attrs safe = {
		.mask = VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST, .spoofchk = true};
	struct vfctl_vf_attrs wish = want->attrs;

	attrs_copy(&wish, &safe, ~wish.mask);
	if (now->attrs.mask & VFCTL_ATTR_VLAN_ID && !(wish.mask & VFCTL_ATTR_VLAN_ID)) {
		wish.mask |= VFCTL_ATTR_VLAN_ID;
		wish.vlan = 0;
	}
	if (now->attrs.mask & VFCTL_ATTR_MAX_RATE || wish.mask & VFCTL_ATTR_RATE) {
		wish.min_rate_mbps = wish.mask & VFCTL_ATTR_MIN_RATE ? wish.min_rate_mbps : 0;
		wish.max_rate_mbps = wish.mask & VFCTL_ATTR_MAX_RATE ? wish.max_rate_mbps : 0;
		wish.mask |= VFCTL_ATTR_RATE;
	}
	if (now->attrs.mask & VFCTL_ATTR_LINK_STATE && !(wish.mask & VFCTL_ATTR_LINK_STATE)) {
		wish.mask |= VFCTL_ATTR_LINK_STATE;
		wish.link_state = VFCTL_LINK_STATE_AUTO;
	}
	if (!(now->attrs.mask & VFCTL_ATTR_SPOOFCHK) && wish.spoofchk)
		wish.mask &= ~(uint32_t)VFCTL_ATTR_SPOOFCHK;
	if (!(now->attrs.mask & VFCTL_ATTR_TRUST) && !wish.trust)
		wish.mask &= ~(uint32_t)VFCTL_ATTR_TRUST;
	/* mlx4 has no node GUID; P_Keys are mapped on the host by mlx4 alone. */
	if (now->attrs.mask & VFCTL_ATTR_PORT_GUID && !(now->attrs.mask & VFCTL_ATTR_NODE_GUID))
		wish.mask &= ~(uint32_t)VFCTL_ATTR_NODE_GUID;
	if (!(now->attrs.mask & VFCTL_ATTR_LINK_STATE) &&
		wish.link_state == VFCTL_LINK_STATE_AUTO)
		wish.mask &= ~(uint32_t)VFCTL_ATTR_LINK_STATE;
	if (!(now->attrs.mask & VFCTL_ATTR_PKEY))
		wish.mask &= ~(uint32_t)VFCTL_ATTR_PKEY;
	attrs_complete(&wish, &now->attrs);
	attrs_drop_equal(&wish, &now->attrs);
	return wish;
}

/* The VFs of one PF among @vfs. */
struct group {
	struct vfctl_inventory *inventory;
	struct vf_wish wishes[VFCTL_GUEST_VFS_MAX];
	struct vf_wish before[VFCTL_GUEST_VFS_MAX];
	size_t count;
};

static void group_clear(struct group *g)
{
	vfctl_inventory_free(g->inventory);
	g->inventory = NULL;
}

static int collect(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vfs, size_t count,
	const struct vfctl_bdf *pf, struct group *g)
{
	int r = inventory_read_pf(ctx, pf, &g->inventory);

	g->count = 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *now = NULL;

		if (vfctl_bdf_compare(&vfs[i].pf, pf))
			continue;
		r = check_vf(ctx, g->inventory, &vfs[i], &now);
		if (r < 0)
			break;
		g->wishes[g->count] = (struct vf_wish){now->index, now->bdf,
			wish_for(&vfs[i], now), false};
		g->before[g->count] = (struct vf_wish){now->index, now->bdf,
			attrs_before(&now->attrs, &g->wishes[g->count].attrs), true};
		g->count++;
	}
	return r;
}

/* Saved before it is written: whatever happens then, what was there is known. */
static int write_group(struct vfctl_ctx *ctx, struct store *store, struct group *g)
{
	int r = 0;

	for (size_t i = 0; i < g->count && r == 0; i++)
		if (g->before[i].attrs.mask)
			r = store_save_attrs(store, &g->before[i].bdf, &g->before[i].attrs);
	if (r == 0)
		r = attrs_write(ctx, &g->inventory->pfs[0], g->wishes, g->count);
	return r;
}

static int restore_one(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_lease_vf *leased)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	struct vf_wish wish = {leased->index, leased->bdf, leased->saved, true};
	const struct vfctl_vf *now;
	int r;

	r = inventory_read_pf(ctx, &leased->pf, &inv);
	if (r < 0 && r != -ENOENT)
		return r;
	now = r == 0 ? find_index(&inv->pfs[0], leased->index) : NULL;
	/* The VF is gone, and what it had with it. */
	if (!now || vfctl_bdf_compare(&now->bdf, &leased->bdf)) {
		ctx_clear(ctx);
		return store_forget_attrs(store, &leased->bdf);
	}
	r = attrs_restore(ctx, &inv->pfs[0], &wish, 1);
	if (r < 0)
		return r;
	return store_forget_attrs(store, &leased->bdf);
}

int policy_restore(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf)
{
	_free_ char *words = NULL;
	char boot[VFCTL_UUID_TEXT];
	int first = 0;

	boot_id_read(ctx, boot);
	for (size_t i = 0; i < lease->vf_count; i++) {
		const struct vfctl_lease_vf *one = &lease->vfs[i];
		int r;

		if (!one->saved.mask || (vf && vfctl_bdf_compare(&one->bdf, vf)))
			continue;
		r = is_of_earlier_boot(lease, boot) ? store_forget_attrs(store, &one->bdf)
						    : restore_one(ctx, store, one);
		if (r < 0 && first == 0) {
			first = r;
			words = strdup(vfctl_ctx_error(ctx));
		}
	}
	if (first < 0)
		return ctx_fail(ctx, first, "%s", words ? words : "");
	return 0;
}

static bool seen_before(const struct vfctl_domain_vf *vfs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (vfctl_bdf_compare(&vfs[k].pf, &vfs[i].pf) == 0)
			return true;
	return false;
}

/* Put back what groups before the failed one, and that one itself, had. */
static int take_back(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_vf *vfs, size_t count, int error)
{
	_free_ char *words = steal(ctx->error);
	struct vfctl_leases *leases = NULL;
	int worst = store_read(store, NULL, &leases);

	for (size_t i = 0; leases && i < count; i++) {
		const struct vfctl_lease *l = vfctl_leases_find_vf(leases, &vfs[i].bdf);
		int r = l ? policy_restore(ctx, store, l, &vfs[i].bdf) : 0;

		worst = worst < 0 ? worst : r;
	}
	vfctl_leases_free(leases);
	if (worst < 0)
		return ctx_prefix(ctx, -ESTALE, "%s; and this could not be undone: the VFs' "
			"attributes", words ? words : "");
	return ctx_fail(ctx, error, "%s", words ? words : "");
}

int policy_apply(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		_cleanup_(group_clear) struct group g = {0};

		if (seen_before(vfs, i))
			continue;
		r = collect(ctx, vfs, count, &vfs[i].pf, &g);
		if (r == 0)
			r = write_group(ctx, store, &g);
	}
	return r < 0 ? take_back(ctx, store, vfs, count, r) : 0;
}
