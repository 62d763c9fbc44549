// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/change.h"
#include "sriov/inventory.h"

/* The VF of an operation with the target PF/INDEX or UUID/ADDRESS; NULL if it has no VF. */
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

/* ---- steps and operations ---- */

static const struct vfctl_change *change_at(const void *of)
{
	return *(const struct vfctl_change *const *)of;
}

static int fill_steps(struct out *out, const void *of)
{
	const struct vfctl_change *change = change_at(of);

	for (size_t i = 0; change && i < vfctl_change_count(change); i++)
		out_str(out, NULL, vfctl_change_describe(change, i));
	return 0;
}

struct operation_view {
	size_t step;
	struct vfctl_operation op;
};

#define OF struct operation_view
static const struct member operation_table[] = {
	FIELD(step, "number of the step that the operation belongs to, from 1"),
	FIELD_AS("type", op.type, "type of the operation, such as numvfs, vf-attrs or lease "
		"([change-format.md](../dev/change-format.md))", FILLED),
	FIELD_AS("target", op.target, "object that it changes", FILLED),
	FIELD_AS("want", op.want, "value that it sets, as the journal stores it"),
	FIELD_AS("before", op.before, "value before the change"), END};
#undef OF

static int fill_operations(struct out *out, const void *of)
{
	const struct vfctl_change *change = change_at(of);
	struct operation_view view;

	for (size_t i = 0; i < vfctl_change_count(change); i++)
		for (size_t k = 0; vfctl_change_operation(change, i, k, &view.op); k++) {
			view.step = i + 1;
			answer_put(out, NULL, operation_table, &view);
		}
	return 0;
}

const struct member answer_steps[] = {
	FILL_EACH("steps", fill_steps, MEMBER_TEXT, "steps of the change, described for "
		"people"), END};
const struct member answer_operations[] = {
	FILL("operations", fill_operations, operation_table, "operations of the change"), END};

/* ---- VFs ---- */

struct result_vf {
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	const struct vfctl_vf_attrs *attrs;
};

static const char *vf_name(const struct result_vf *vf, char *room)
{
	char name[VFCTL_BDF_TEXT];

	snprintf(room, MEMBER_ROOM, "%s/%u", vfctl_pf_name(vf->pf, name), vf->vf->index);
	return room;
}

/* An attribute in its printed form; NULL if the VF has none or its driver does not report it. */
static const char *attr_text(const struct result_vf *vf, uint32_t bit, char *room)
{
	return vfctl_vf_attr_text(vf->attrs, bit, room) ? room : NULL;
}

#define OF struct result_vf
TEXT_OF(result_vf_name, OF, vf_name(it, room))
TEXT_OF(result_vf_mac, OF, attr_text(it, VFCTL_ATTR_MAC, room))
TEXT_OF(result_vf_node_guid, OF, attr_text(it, VFCTL_ATTR_NODE_GUID, room))
TEXT_OF(result_vf_port_guid, OF, attr_text(it, VFCTL_ATTR_PORT_GUID, room))
static const struct member result_vf_table[] = {
	SECTION("RESULTVF", "A VF after a change."),
	TEXT("vf", result_vf_name, "name of the VF, such as \"ens1/3\""),
	FIELD_VIA("address", vf, bdf, "PCI address"),
	FIELD_VIA("numa_node", vf, numa_node, "NUMA node"),
	TEXT("mac", result_vf_mac, "MAC", NULLABLE),
	TEXT("node_guid", result_vf_node_guid, "node GUID", NULLABLE),
	TEXT("port_guid", result_vf_port_guid, "port GUID", NULLABLE), END};
#undef OF

static void print_vf_result(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	answer_put(out, NULL, result_vf_table, &(struct result_vf){pf, vf, &vf->attrs});
}

/* Print the VF @name, unless it is already in the list. */
static void print_named(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const char *name,
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

/* Print the VFs that the operations or the command named. */
static void print_changed_vfs(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const struct vfctl_change *change)
{
	_free_ struct vfctl_bdf *list = NULL;
	struct vfctl_operation op;
	size_t count = 0;

	for (size_t i = 0; i < vfctl_change_count(change); i++)
		for (size_t k = 0; vfctl_change_operation(change, i, k, &op); k++)
			print_named(in, snapshot, vf_of(op.target), &list, &count);
	for (size_t i = 0; i < in->result_vf_count; i++)
		print_named(in, snapshot, in->result_vfs[i].vf, &list, &count);
}

static void print_vfs_of(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const char *name)
{
	const struct vfctl_pf *pf;

	if (vfctl_inventory_find_pf(in->ctx, snapshot->inventory, name, &pf) < 0)
		return;
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		print_vf_result(in->out, pf, &pf->vfs[i]);
}

static int fill_pf_vfs(struct out *out, const void *of)
{
	const struct pf_result *result = of;

	if (result->after)
		print_vfs_of(result->in, result->after, result->pf);
	return 0;
}

const struct member answer_pf_result[] = {
	FILL("vfs", fill_pf_vfs, result_vf_table, "VFs of the PF, if it was changed"), END};

/* ---- domains ---- */

struct result_domain {
	const struct vfctl_snapshot *snapshot;
	const struct vfctl_lease *lease;
};

static int fill_nodes(struct out *out, const void *of)
{
	const struct result_domain *d = of;

	for (size_t i = 0; i < d->lease->cell_count; i++)
		out_int(out, NULL, d->lease->cells[i].node);
	return 0;
}

static int fill_leased_vfs(struct out *out, const void *of)
{
	const struct result_domain *d = of;

	for (size_t i = 0; i < d->lease->vf_count; i++) {
		const struct vfctl_lease_vf *leased = &d->lease->vfs[i];
		struct result_vf vf = {.attrs = &leased->intent};

		vf.vf = vfctl_inventory_vf_at(d->snapshot->inventory, &leased->bdf, &vf.pf);
		if (!vf.vf)
			continue;
		if (!leased->intent.mask)
			vf.attrs = &vf.vf->attrs;
		answer_put(out, NULL, result_vf_table, &vf);
	}
	return 0;
}

#define OF struct result_domain
const struct member answer_domain[] = {
	SECTION("RESULTDOMAIN", "A domain after a change."),
	FIELD_VIA("name", lease, domain_name, "name of the domain", FILLED),
	FIELD_VIA("uuid", lease, domain_uuid, "UUID of the domain", FILLED),
	FILL_EACH("numa_nodes", fill_nodes, MEMBER_NUMBER, "NUMA nodes of its cells"),
	FIELD_VIA("cpus", lease, cpus, "CPUs that only this domain uses"),
	FILL("vfs", fill_leased_vfs, result_vf_table, "its leased VFs, with the values of the "
		"lease"), END};
#undef OF

/* ---- the result of a change ---- */

int change_result_read(struct invocation *in, const struct vfctl_change *change,
	struct change_result *ret)
{
	*ret = (struct change_result){.in = in, .change = change, .has_domain = in->result_domain};
	if (!in->result_pf && !in->result_domain && !in->result_vf_count)
		return -ENOENT;
	return vfctl_snapshot_read(in->ctx, in->result_pf, &ret->snapshot);
}

static int fill_result_vfs(struct out *out, const void *of)
{
	const struct change_result *r = of;

	if (r->in->result_pf)
		print_vfs_of(r->in, r->snapshot, r->in->result_pf);
	else
		print_changed_vfs(r->in, r->snapshot, r->change);
	return 0;
}

static void put_result_domain(struct out *out, const struct member *m, const void *of)
{
	const struct change_result *r = of;
	struct result_domain d = {r->snapshot, vfctl_leases_find(r->snapshot->leases,
		r->in->result_domain)};

	answer_put(out, m->name, answer_domain, d.lease ? &d : NULL);
}

static const struct member of_domain[] = {
	PUT("domain", put_result_domain, MEMBER_OBJECT, "the domain, for commands that name one; "
		"null: it has no lease", NULLABLE, .table = answer_domain), END};
#define OF struct change_result
const struct member answer_change_result[] = {
	FILL("vfs", fill_result_vfs, result_vf_table, "create and destroy: all VFs of the PF; "
		"other commands: the changed VFs"),
	PART_SELF(of_domain, OPTIONAL, KNOWN_BY(has_domain)), END};
#undef OF

static int fill_domains(struct out *out, const void *of)
{
	const struct domains_result *r = of;

	for (size_t i = 0; i < r->count; i++) {
		struct result_domain d = {r->snapshot, vfctl_leases_find(r->snapshot->leases, r->names[i])};

		if (d.lease)
			answer_put(out, NULL, answer_domain, &d);
	}
	return 0;
}

const struct member answer_domains[] = {
	FILL("domains", fill_domains, answer_domain, "the domains that have a lease"), END};
