// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/host.h"
#include "vfctl/snapshot.h"

/* The VF of an operation: its target is PF/INDEX, or a domain's UUID/ADDRESS. NULL: it has none. */
static const char *vf_of(const char *target)
{
	const char *slash = strchr(target, '/');
	struct vfctl_bdf bdf;

	if (!slash)
		return NULL;
	return vfctl_bdf_parse(slash + 1, &bdf) == 0 ? slash + 1 : target;
}

static bool seen(const struct vfctl_bdf *list, size_t count, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(&list[i], bdf) == 0)
			return true;
	return false;
}

/* The attribute as it is printed everywhere; null: the VF has none, or its driver does not tell. */
static void put_attr(struct out *out, const char *key, const struct vfctl_vf_attrs *attrs, uint32_t bit)
{
	char value[VFCTL_ATTR_TEXT];

	out_str(out, key, vfctl_vf_attr_text(attrs, bit, value) ? value : NULL);
}

static void print_vf_result(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	char name[VFCTL_BDF_TEXT], text[VFCTL_BDF_TEXT + 12], bdf[VFCTL_BDF_TEXT];

	snprintf(text, sizeof(text), "%s/%u", vfctl_pf_name(pf, name), vf->index);
	out_open(out, NULL, '{');
	out_str(out, "vf", text);
	out_str(out, "address", vfctl_bdf_format(&vf->bdf, bdf));
	put_index(out, "numa_node", vf->numa_node);
	put_attr(out, "mac", &vf->attrs, VFCTL_ATTR_MAC);
	put_attr(out, "node_guid", &vf->attrs, VFCTL_ATTR_NODE_GUID);
	put_attr(out, "port_guid", &vf->attrs, VFCTL_ATTR_PORT_GUID);
	out_shut(out);
}

/* Each VF once. */
static void print_named(struct invocation *in, const struct vfctl_snapshot *snapshot, const char *name,
	struct vfctl_bdf **io_list, size_t *io_count)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_bdf *list;

	if (!name || vfctl_inventory_find_vf(in->ctx, snapshot->inventory, name, &pf, &vf) < 0 ||
		seen(*io_list, *io_count, &vf->bdf))
		return;
	list = reallocarray(*io_list, *io_count + 1, sizeof(*list));
	if (!list)
		return;
	*io_list = list;
	list[(*io_count)++] = vf->bdf;
	print_vf_result(in->out, pf, vf);
}

/* Those that the operations name, and those that the command named. */
static void print_changed_vfs(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const struct vfctl_change *change)
{
	struct vfctl_bdf *list = NULL;
	struct vfctl_operation op;
	size_t count = 0;

	for (size_t i = 0; i < vfctl_change_count(change); i++)
		for (size_t k = 0; vfctl_change_operation(change, i, k, &op); k++)
			print_named(in, snapshot, vf_of(op.target), &list, &count);
	for (size_t i = 0; i < in->result_vf_count; i++)
		print_named(in, snapshot, in->result_vfs[i].vf, &list, &count);
	free(list);
}

static void print_vfs_of(struct invocation *in, const struct vfctl_snapshot *snapshot, const char *name)
{
	const struct vfctl_pf *pf;

	if (!snapshot || vfctl_inventory_find_pf(in->ctx, snapshot->inventory, name, &pf) < 0)
		return;
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		print_vf_result(in->out, pf, &pf->vfs[i]);
}

void print_pf_result(struct invocation *in, const struct vfctl_snapshot *after, const char *pf)
{
	out_open(in->out, "vfs", '[');
	print_vfs_of(in, after, pf);
	out_shut(in->out);
}

static void print_leased_vfs(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < lease->vf_count; i++) {
		const struct vfctl_lease_vf *leased = &lease->vfs[i];
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(snapshot->inventory, &leased->bdf, &pf);
		struct vfctl_vf as_leased;

		if (!vf)
			continue;
		as_leased = *vf;
		if (leased->has_intent && leased->intent.mask)
			as_leased.attrs = leased->intent;
		print_vf_result(in->out, pf, &as_leased);
	}
}

static void print_domain(struct invocation *in, const struct vfctl_snapshot *snapshot, const char *key,
	const struct vfctl_lease *lease)
{
	char cpus[512];

	out_open(in->out, key, '{');
	out_str(in->out, "name", lease->domain_name);
	out_str(in->out, "uuid", lease->domain_uuid);
	out_open(in->out, "numa_nodes", '[');
	for (size_t i = 0; i < lease->cell_count; i++)
		out_int(in->out, NULL, lease->cells[i].node);
	out_shut(in->out);
	vfctl_cpuset_format(&lease->cpus, cpus, sizeof(cpus));
	out_str(in->out, "cpus", cpus);
	out_open(in->out, "vfs", '[');
	print_leased_vfs(in, snapshot, lease);
	out_shut(in->out);
	out_shut(in->out);
}

void print_result_json(struct invocation *in, const struct vfctl_change *change)
{
	struct vfctl_snapshot *snapshot = NULL;

	if ((!in->result_pf && !in->result_domain && !in->result_vf_count) ||
		vfctl_snapshot_read(in->ctx, in->result_pf, &snapshot) < 0)
		return;
	out_open(in->out, "vfs", '[');
	if (in->result_pf)
		print_vfs_of(in, snapshot, in->result_pf);
	else
		print_changed_vfs(in, snapshot, change);
	out_shut(in->out);
	if (in->result_domain) {
		const struct vfctl_lease *lease = vfctl_leases_find(snapshot->leases, in->result_domain);

		if (lease)
			print_domain(in, snapshot, "domain", lease);
		else
			out_null(in->out, "domain");
	}
	vfctl_snapshot_free(snapshot);
}

void print_domains_json(struct invocation *in, const char *const names[], size_t count)
{
	struct vfctl_snapshot *snapshot = NULL;

	if (vfctl_snapshot_read(in->ctx, NULL, &snapshot) < 0)
		return;
	out_open(in->out, "domains", '[');
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_lease *lease = vfctl_leases_find(snapshot->leases, names[i]);

		if (lease)
			print_domain(in, snapshot, NULL, lease);
	}
	out_shut(in->out);
	vfctl_snapshot_free(snapshot);
}
