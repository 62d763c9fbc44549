// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/driver.h"
#include "types/find.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "host/host.h"
#include "infiniband/vf.h"
#include "netlink/link.h"
#include "pci/acs.h"
#include "pci/device.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/lag.h"
#include "sriov/links.h"
#include "sriov/pf.h"

#define CLASS_NETWORK 0x02

/* Keep the message of the first failure. */
static void add_unread(struct vfctl_ctx *ctx, char **unread)
{
	if (!*unread)
		*unread = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
}

/* False: its RDMA device is in another network namespace (rdma system set netns exclusive). */
static bool read_rdma(struct vfctl_ctx *ctx, struct vfctl_vf *vf)
{
	_strv_ char **names = NULL;

	if (pci_children(ctx, &vf->bdf, "infiniband", &names) < 0)
		return true;
	if (names[0])
		str_copy(vf->rdma, sizeof(vf->rdma), names[0]);
	return names[0];
}

/* Its own directory in sysfs, and from it its user. */
static void read_vf_sysfs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_links *links)
{
	_strv_ char **names = NULL;
	bool rdma_here = true;

	pci_driver(ctx, &vf->bdf, vf->driver);
	vf->numa_node = pci_read_int(ctx, &vf->bdf, "numa_node", VFCTL_NODE_NONE);
	vf->iommu_group = pci_iommu_group(ctx, &vf->bdf);
	if (vf->iommu_group < 0)
		vf->iommu_group = -1;
	if (vf->driver[0] && !pci_driver_is_vfio(vf->driver)) {
		if (pf->class_code >> 16 == CLASS_NETWORK)
			pci_netdevs(ctx, &vf->bdf, &names, NULL);
		if (names && names[0])
			str_copy(vf->netdev, sizeof(vf->netdev), names[0]);
		rdma_here = read_rdma(ctx, vf);
	}
	holder_of_vf(ctx, vf, names, links);
	if (!rdma_here && !vf_is_open(vf))
		vf->holder.kind = VFCTL_HOLDER_NETNS;
}

static void merge_attrs(const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_vf *info)
{
	vf->attrs = info->attrs;
	/*
	 * IPoIB reports the PF's own 20-byte address as the MAC of every VF, and the core
	 * zeros for the attributes that IPoIB does not have.
	 */
	if (pf->infiniband)
		vf->attrs.mask &= VFCTL_ATTR_INFINIBAND | VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_MSIX;
}

/* How much of a PF and its VFs is read. */
enum depth {
	DEPTH_PF,     /* the PF, and the addresses of its VFs */
	DEPTH_VALUES, /* what takes the same time for any number of VFs: names, identities and policies */
	DEPTH_ALL,    /* and the directory of each VF in sysfs, and its user */
};

struct scope {
	char **only;       /* a PF, PF/INDEX or a VF's address, or several VFs of one PF; NULL: all */
	enum depth depth;  /* for their PF; if they are VFs, DEPTH_ALL concerns these alone */
	enum depth others; /* for other PFs */
};

/* In switchdev mode rtnetlink does not report rates. */
static int read_rates(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_cleanup_(eswitch_rates_clear) struct eswitch_rates rates = {0};
	int r = eswitch_rates_read(ctx, &pf->bdf, &rates);

	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++)
		eswitch_rates_of(&rates, pf->vfs[i].index, &pf->vfs[i].attrs);
	return r;
}

/* Whether @name is this VF, or does not refer to one of its VFs. */
static bool includes(const struct vfctl_pf *pf, const struct vfctl_vf *vf, const char *name)
{
	const char *slash = strchr(name, '/');
	struct vfctl_bdf bdf;
	uint32_t index;

	if (slash)
		return parse_u32(slash + 1, 0, UINT32_MAX, &index) < 0 || index == vf->index;
	return vfctl_bdf_parse(name, &bdf) < 0 || vfctl_bdf_compare(&bdf, &pf->bdf) == 0 ||
		vfctl_bdf_compare(&bdf, &vf->bdf) == 0;
}

static bool is_included(const struct vfctl_pf *pf, const struct vfctl_vf *vf, char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		if (includes(pf, vf, names[i]))
			return true;
	return !names;
}

static int read_vfs(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links,
	char *const *only, enum depth depth)
{
	_cleanup_(nl_vfs_free) struct nl_vfs infos = {0};
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	int r = 0;

	if (pf->num_vfs && pf->ifindex)
		r = nl_vfs_read(ctx, pf->ifindex, &infos);
	if (r == -ENOMEM)
		return r;
	/* A capture may lack it; sysfs still provides the rest. */
	if (r < 0 && r != -EOPNOTSUPP)
		add_unread(ctx, &pf->unread);
	pf->vf_info = infos.count > 0;
	pf_note_port(pf, &infos.permanent);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct nl_vf *info = nl_vfs_find(&infos, pf->vfs[i].index);

		if (depth == DEPTH_ALL && is_included(pf, &pf->vfs[i], only))
			read_vf_sysfs(ctx, pf, &pf->vfs[i], links);
		if (info)
			merge_attrs(pf, &pf->vfs[i], info);
		if (way->read)
			way->read(ctx, pf, pf->vfs[i].index, &pf->vfs[i].attrs);
	}
	if (pf->num_vfs && pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		r = read_rates(ctx, pf);
	else
		r = 0;
	if (r < 0 && r != -ENOMEM)
		add_unread(ctx, &pf->unread);
	return r == -ENOMEM ? r : 0;
}

/* Whether @name (a PF, PF/INDEX or a VF's address) refers to this PF. */
static bool refers_to(const struct vfctl_pf *pf, const char *name)
{
	_free_ char *pf_name = NULL;
	struct vfctl_bdf bdf;

	if (pf_answers_to(pf, name))
		return true;
	if (vfctl_bdf_parse(name, &bdf) == 0)
		for (uint32_t i = 0; i < pf->num_vfs; i++)
			if (vfctl_bdf_compare(&bdf, &pf->vfs[i].bdf) == 0)
				return true;
	pf_name = strndup(name, strcspn(name, "/"));
	return pf_name && pf_answers_to(pf, pf_name);
}

static bool concerns(const struct vfctl_pf *pf, char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		if (refers_to(pf, names[i]))
			return true;
	return !names;
}

static void read_eswitch(struct vfctl_ctx *ctx, struct vfctl_pf *pf, enum depth depth)
{
	/* Without a driver the kernel cannot report the mode. */
	if (pf->class_code >> 16 != CLASS_NETWORK || !pf->driver[0] || pci_driver_is_vfio(pf->driver))
		return;
	/* The hook has little time. */
	if (driver_has(pf->driver, DRIVER_NO_ESWITCH)) {
		pf->eswitch = VFCTL_ESWITCH_NONE;
		return;
	}
	if (eswitch_read(ctx, &pf->bdf, &pf->eswitch) < 0)
		add_unread(ctx, &pf->unread);
	if (depth != DEPTH_VALUES && pf->eswitch != VFCTL_ESWITCH_NONE &&
		pf->eswitch != VFCTL_ESWITCH_LEGACY)
		representors_read(ctx, pf);
	if (depth != DEPTH_VALUES)
		lag_read(ctx, pf);
	/* Without the privilege to read the mode, detect switchdev by the representors. */
	for (uint32_t i = 0; pf->eswitch == VFCTL_ESWITCH_UNKNOWN && i < pf->num_vfs; i++)
		if (pf->vfs[i].representor[0])
			pf->eswitch = VFCTL_ESWITCH_SWITCHDEV;
}

/* Read one PF with its VFs. @links NULL: of this PF's network devices only. */
static int read_one(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links,
	const struct scope *scope)
{
	enum depth depth;
	char *unread;
	int r = 0;

	if (!pf_read(ctx, pf, links))
		return ctx_oom(ctx);
	if (!pf->vfs)
		r = links_read(ctx, &pf->bdf, &pf->vfs, &pf->num_vfs);
	depth = concerns(pf, scope->only) ? scope->depth : scope->others;
	if (r == 0)
		read_eswitch(ctx, pf, depth);
	if (depth != DEPTH_VALUES && pf->num_vfs)
		pf->acs = pci_acs_of_path(ctx, &pf->bdf, &pf->acs_port);
	if (r == 0 && depth != DEPTH_PF)
		r = read_vfs(ctx, pf, links, scope->only, depth);
	unread = host_take_unread(ctx);
	if (r == -ENOMEM || pf->unread)
		free(unread);
	else if (unread)
		pf->unread = unread;
	else if (r < 0)
		add_unread(ctx, &pf->unread);
	return r == -ENOMEM ? r : 0;
}

static int compare_bdfs(const void *a, const void *b)
{
	return vfctl_bdf_compare(a, b);
}

/* The addresses of all PCI functions, in order; freed by the caller. */
static int list_functions(struct vfctl_ctx *ctx, struct vfctl_bdf **ret, size_t *ret_count)
{
	_strv_ char **names = NULL;
	struct vfctl_bdf *all;
	size_t n = 0;
	int r = host_try_list(ctx, &names, "/sys/bus/pci/devices");

	if (r == -ENOENT) /* a machine without PCI */
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "list /sys/bus/pci/devices: %s", strerror(-r));
	all = calloc(strv_len(names) + 1, sizeof(*all));
	if (!all)
		return ctx_oom(ctx);
	for (size_t i = 0; names[i]; i++)
		n += vfctl_bdf_parse(names[i], &all[n]) == 0;
	qsort(all, n, sizeof(*all), compare_bdfs);
	*ret = all;
	*ret_count = n;
	return 0;
}

/* VFs have no VFs: skip the functions to which the links of a PF point. */
static int note_vfs(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct vfctl_bdf *all,
	size_t count, bool *is_vf)
{
	char *unread = host_take_unread(ctx); /* of the previous functions */
	int r = links_read(ctx, &pf->bdf, &pf->vfs, &pf->num_vfs);

	/* An error here occurs again, and is reported, when the PF is read. */
	if (r < 0)
		ctx_clear(ctx);
	free(host_take_unread(ctx));
	ctx->unread = unread;
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_bdf *at = bsearch(&pf->vfs[i].bdf, all, count, sizeof(*all),
			compare_bdfs);

		if (at)
			is_vf[at - all] = true;
	}
	return r == -ENOMEM ? r : 0;
}

/* The PF itself, which has no other PFs beside it. */
static int find_one(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_inventory *inv)
{
	int total = pci_read_int(ctx, bdf, "sriov_totalvfs", -1);

	if (!array_grow(inv->pfs, 0))
		return ctx_oom(ctx);
	inv->pfs[inv->pf_count++] = (struct vfctl_pf){.bdf = *bdf,
		.total_vfs = total < 0 ? 0 : (uint32_t)total};
	return 0;
}

static int find_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory *inv)
{
	_free_ struct vfctl_bdf *all = NULL;
	_free_ bool *is_vf = NULL;
	size_t count = 0;
	int r = list_functions(ctx, &all, &count);

	if (r < 0)
		return r;
	is_vf = calloc(count + 1, sizeof(*is_vf));
	if (!is_vf)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count && r == 0; i++) {
		int total = is_vf[i] ? -1 : pci_read_int(ctx, &all[i], "sriov_totalvfs", -1);

		if (total < 0)
			continue;
		if (!array_grow(inv->pfs, inv->pf_count))
			return ctx_oom(ctx);
		inv->pfs[inv->pf_count] = (struct vfctl_pf){.bdf = all[i],
			.total_vfs = (uint32_t)total};
		r = note_vfs(ctx, &inv->pfs[inv->pf_count++], all, count, is_vf);
	}
	return r;
}

/* @others: the depth of PFs that @only does not name. At DEPTH_PF they are left out if possible. */
static int read_scope(struct vfctl_ctx *ctx, const char *only, enum depth others,
	struct vfctl_inventory **ret_inventory)
{
	_strv_ char **names = only ? strv_split(only, " ") : NULL;
	const struct scope scope = {names, DEPTH_ALL, others};

	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	_cleanup_(nl_links_free) struct nl_links links = {0};
	struct vfctl_bdf pf;
	int r;

	if (!inv || !host_of(ctx) || (only && !names))
		return ctx_oom(ctx);
	free(host_take_unread(ctx));
	if (names && names[0] && others == DEPTH_PF && inventory_locate(ctx, names[0], &pf) == 0)
		r = find_one(ctx, &pf, inv);
	else
		r = find_pfs(ctx, inv);
	if (r == 0 && inv->pf_count)
		r = nl_links_read(ctx, &links);
	if (r < 0 && (r == -ENOMEM || !inv->pf_count))
		return r;
	if (host_check(ctx) < 0)
		return -E2BIG;
	inv->unread = host_take_unread(ctx);
	if (r < 0 && r != -EOPNOTSUPP) /* a plain sys/ tree has no link messages */
		add_unread(ctx, &inv->unread);
	for (size_t i = 0; i < inv->pf_count; i++) {
		r = read_one(ctx, &inv->pfs[i], &links, &scope);
		if (r == 0)
			r = host_check(ctx);
		if (r < 0)
			return r;
	}
	holder_find_all(ctx, inv);
	free(host_take_unread(ctx)); /* without root, other users' processes cannot be read */
	ctx_clear(ctx);
	*ret_inventory = steal(inv);
	return 0;
}

int vfctl_inventory_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory)
{
	return read_scope(ctx, only, DEPTH_PF, ret_inventory);
}

int inventory_read_with_values(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory)
{
	return read_scope(ctx, only, DEPTH_VALUES, ret_inventory);
}

/* A network function that is neither a VF nor a PF. */
static bool is_without_sriov(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf)
{
	struct vfctl_bdf pf;

	return pci_read_hex(ctx, bdf, "class") >> 16 == CLASS_NETWORK &&
		pci_read_int(ctx, bdf, "sriov_totalvfs", -1) < 0 &&
		pci_link_function(ctx, bdf, "physfn", &pf) < 0;
}

int inventory_read_others(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	_cleanup_(nl_links_free) struct nl_links links = {0};
	_free_ struct vfctl_bdf *all = NULL;
	size_t count = 0;
	int r = inv && host_of(ctx) ? list_functions(ctx, &all, &count) : ctx_oom(ctx);

	if (r == 0 && nl_links_read(ctx, &links) == -ENOMEM)
		r = -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (!is_without_sriov(ctx, &all[i]))
			continue;
		if (!array_grow(inv->pfs, inv->pf_count))
			return ctx_oom(ctx);
		inv->pfs[inv->pf_count] = (struct vfctl_pf){.bdf = all[i]};
		r = read_one(ctx, &inv->pfs[inv->pf_count++], &links, &(struct scope){.depth = DEPTH_ALL});
	}
	free(host_take_unread(ctx));
	if (r < 0)
		return r;
	ctx_clear(ctx);
	*ret_inventory = steal(inv);
	return 0;
}

static int read_alone(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, enum depth depth,
	struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	struct vfctl_pf *pf;
	int total, r;

	if (!inv || !host_of(ctx) || !array_grow(inv->pfs, 0))
		return ctx_oom(ctx);
	free(host_take_unread(ctx));
	total = pci_read_int(ctx, bdf, "sriov_totalvfs", -1);
	if (total < 0 && is_without_sriov(ctx, bdf))
		total = 0;
	inv->unread = host_take_unread(ctx);
	if (inv->unread)
		return ctx_fail(ctx, -EIO, "%s", inv->unread);
	if (total < 0)
		return ctx_fail(ctx, -ENOENT, "%s is not a PF of this host", TEXT(bdf));
	pf = &inv->pfs[inv->pf_count++];
	*pf = (struct vfctl_pf){.bdf = *bdf, .total_vfs = (uint32_t)total};
	r = read_one(ctx, pf, NULL, &(struct scope){.depth = depth});
	if (r == 0 && pf->unread)
		return ctx_fail(ctx, -EIO, "%s", pf->unread);
	if (r == 0)
		*ret_inventory = steal(inv);
	return r;
}

int inventory_read_pf(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory)
{
	return read_alone(ctx, bdf, DEPTH_ALL, ret_inventory);
}

int inventory_read_values(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory)
{
	return read_alone(ctx, bdf, DEPTH_VALUES, ret_inventory);
}

int inventory_complete(struct vfctl_ctx *ctx, struct vfctl_pf *pf, struct vfctl_vf *vf)
{
	_free_ char *unread = NULL;

	read_vf_sysfs(ctx, pf, vf, NULL);
	unread = host_take_unread(ctx);
	return unread ? ctx_fail(ctx, -EIO, "%s", unread) : 0;
}

void vfctl_inventory_free(struct vfctl_inventory *inventory)
{
	if (!inventory)
		return;
	for (size_t i = 0; i < inventory->pf_count; i++) {
		strv_free(inventory->pfs[i].names);
		free(inventory->pfs[i].unread);
		free(inventory->pfs[i].vfs);
	}
	free(inventory->pfs);
	free(inventory->unread);
	free(inventory);
}

static int locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf)
{
	_free_ char *pf = strndup(name, strcspn(name, "/"));
	struct vfctl_bdf bdf;

	if (!pf)
		return -ENOMEM;
	if (vfctl_bdf_parse(pf, &bdf) < 0 &&
		(pf_netdev_function(ctx, pf, &bdf) < 0 || pf_is_representor(ctx, pf)))
		return -ENOENT;
	if (!strchr(name, '/'))
		pci_link_function(ctx, &bdf, "physfn", &bdf);
	if (pci_read_int(ctx, &bdf, "sriov_totalvfs", -1) < 0)
		return -ENOENT;
	*ret_pf = bdf;
	return 0;
}

int inventory_locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf)
{
	int r = locate(ctx, name, ret_pf);

	free(host_take_unread(ctx));
	ctx_clear(ctx);
	return r;
}

int inventory_list_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	size_t n = 0;
	int r = inv && host_of(ctx) ? find_pfs(ctx, inv) : ctx_oom(ctx);

	if (r < 0)
		return r;
	for (size_t i = 0; i < inv->pf_count; i++) {
		_strv_ char **names = NULL;

		if (pci_children(ctx, &inv->pfs[i].bdf, "infiniband", &names) >= 0 && names[0])
			inv->pfs[n++] = inv->pfs[i];
		else
			free(inv->pfs[i].vfs);
	}
	inv->pf_count = n;
	*ret_inventory = steal(inv);
	return 0;
}
