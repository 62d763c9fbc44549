// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules for a model, regardless of its source: each error begins with the member's path. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "placement/model/check.h"
#include "placement/model/host_model.h"
#include "placement/model/model.h"
#include "topology/topology.h"

/* ---- reserved, held and free resources ---- */

static int check_sets(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	struct vfctl_cpuset both = check_common(&m->reserved_cpus, &m->shared_cpus);
	char text[SET_TEXT];
	int r = check_online_cpus(ctx, m->topology, "reserved_cpus", &m->reserved_cpus);

	if (r == 0)
		r = check_online_cpus(ctx, m->topology, "shared_cpus", &m->shared_cpus);
	if (r == 0)
		r = check_online_cpus(ctx, m->topology, "busy_cpus", &m->busy_cpus);
	if (r < 0)
		return r;
	if (!vfctl_cpuset_empty(&both))
		return ctx_fail(ctx, -EINVAL, "shared_cpus: %s %s also reserved for the host",
			check_cpus_text(&both, text), vfctl_cpuset_count(&both) == 1 ? "is" : "are");
	for (size_t i = 0; i < m->typical_count; i++)
		if (!m->typical[i].vcpus || !m->typical[i].cells || !m->typical[i].share ||
			m->typical[i].vcpus % m->typical[i].cells)
			return ctx_fail(ctx, -EINVAL, "typical[%zu]: its vCPUs, cells and share must be "
				"at least 1, and its cells equal", i);
	if (m->shared_ratio > MODEL_RATIO_MAX)
		return ctx_fail(ctx, -EINVAL, "shared_ratio: %u is not 0 to %d",
			m->shared_ratio, MODEL_RATIO_MAX);
	if (m->host_memory_bytes > MODEL_BYTES_MAX)
		return ctx_fail(ctx, -EINVAL, "host_memory_bytes: %" PRIu64 " is more than any "
			"host has", m->host_memory_bytes);
	return 0;
}

static int check_promises(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, const struct vfctl_promise *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!vfctl_topology_node(t, v[i].node))
			return ctx_fail(ctx, -EINVAL, "%s[%zu].node: node %d does not exist",
				member, i, v[i].node);
		if (v[i].page_bytes != VFCTL_PAGES_BASE && !check_is_page(v[i].page_bytes))
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].page_bytes: %" PRIu64 " is neither 0 "
				"(base pages) nor a size of huge pages",
				member, i, v[i].page_bytes);
		if (v[i].bytes > MODEL_BYTES_MAX)
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].bytes: %" PRIu64 " is more than any "
				"host has",
				member, i, v[i].bytes);
	}
	return 0;
}

/* Check node, fabric and port, which both PFs and VFs have. */
static bool is_place(const struct vfctl_topology *t, int node, int fabric, uint32_t port)
{
	return (node == VFCTL_NODE_NONE || vfctl_topology_node(t, node)) && fabric >= 0 &&
		fabric <= MODEL_FABRIC_MAX && port <= MODEL_PORT_MAX;
}

static int fail_place(struct vfctl_ctx *ctx, const struct vfctl_topology *t,
	const char *member, int node, int fabric, uint32_t port)
{
	if (node != VFCTL_NODE_NONE && !vfctl_topology_node(t, node))
		return ctx_fail(ctx, -EINVAL, "%s.node: node %d does not exist", member, node);
	if (fabric < 0 || fabric > MODEL_FABRIC_MAX)
		return ctx_fail(ctx, -EINVAL, "%s.fabric: %d is not 0 to %d", member, fabric,
			MODEL_FABRIC_MAX);
	return ctx_fail(ctx, -EINVAL, "%s.port: %u is not 0 to %d", member, port,
		MODEL_PORT_MAX);
}

static int check_pf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at)
{
	const struct vfctl_model_pf *p = &m->pfs[at];
	char member[32];

	for (size_t i = 0; i < at; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, &p->bdf) == 0)
			return ctx_fail(ctx, -EINVAL,
				"pfs[%zu].address: %s is pfs[%zu] already", at,
				TEXT(&p->bdf), i);
	if (!is_place(m->topology, p->node, p->fabric, p->port)) {
		snprintf(member, sizeof(member), "pfs[%zu]", at);
		return fail_place(ctx, m->topology, member, p->node, p->fabric, p->port);
	}
	if (p->num_vfs > p->max_vfs || p->max_vfs > MODEL_VFS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"pfs[%zu].num_vfs: %u VFs exceed the maximum of %u", at, p->num_vfs,
			p->max_vfs);
	return 0;
}

/* A name and its PF. */
struct named_pf {
	const char *name;
	size_t pf;
};

static int by_name(const void *a, const void *b)
{
	const struct named_pf *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->pf > y->pf) - (x->pf < y->pf);
}

/* Guests name PFs, so a name may belong to only one PF. */
static int check_names(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	_free_ struct named_pf *v = NULL;
	size_t count = 0, n = 0;

	for (size_t i = 0; i < m->pf_count; i++)
		for (char **name = m->pfs[i].names; name && *name; name++)
			count++;
	v = calloc(count + 1, sizeof(*v));
	if (!v)
		return ctx_oom(ctx);
	for (size_t i = 0; i < m->pf_count; i++)
		for (char **name = m->pfs[i].names; name && *name; name++)
			v[n++] = (struct named_pf){*name, i};
	sort_unless_sorted(v, count, sizeof(*v), by_name);
	for (size_t i = 1; i < count; i++)
		if (v[i].pf != v[i - 1].pf && str_eq(v[i].name, v[i - 1].name))
			return ctx_fail(ctx, -EINVAL, "pfs[%zu].names: pfs[%zu] is called %.64s "
				"too", v[i].pf, v[i - 1].pf, v[i].name);
	return 0;
}

/* If PFs are listed, those of the free VFs must be among them. */
static int check_listed(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	size_t at = 0;

	for (size_t i = 0; i < m->vf_count && m->pf_count; i++) {
		/* VFs of one PF are usually adjacent. */
		size_t left = m->pf_count;

		while (left && vfctl_bdf_compare(&m->pfs[at].bdf, &m->vfs[i].pf)) {
			at = (at + 1) % m->pf_count;
			left--;
		}
		if (!left)
			return ctx_fail(ctx, -EINVAL, "free_vfs[%zu].pf: %s is not in pfs", i,
				TEXT(&m->vfs[i].pf));
	}
	return 0;
}

enum rank { FREE, OURS, FOREIGN };

/* A VF and its position in the model. */
struct listed {
	const struct vfctl_free_vf *vf;
	enum rank rank;
	size_t occupant, index;
};

static void name_vf(const struct listed *l, char buf[64])
{
	if (l->rank == FREE)
		snprintf(buf, 64, "free_vfs[%zu]", l->index);
	else
		snprintf(buf, 64, "occupants[%zu].vfs[%zu]", l->occupant, l->index);
}

/*
 * A VF has one holder. Only foreign domains may share one with others: two domains that never run
 * at the same time can have the same device.
 */
static int check_holders(struct vfctl_ctx *ctx, const struct listed *v, size_t count)
{
	_free_ struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	char this[64], other[64];

	if (!keys)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){model_bdf_key(&v[i].vf->bdf), v[i].rank, i};
	sort_keys(keys, count);
	for (size_t i = 1; i < count; i++) {
		if (keys[i].major != keys[i - 1].major ||
			(keys[i].minor == FOREIGN && keys[i - 1].minor != FREE))
			continue;
		name_vf(&v[keys[i].at], this);
		name_vf(&v[keys[i - 1].at], other);
		return ctx_fail(ctx, -EINVAL, "%s.address: VF %s is %s already", this,
			TEXT(&v[keys[i].at].vf->bdf), other);
	}
	return 0;
}

/* A foreign domain may hold a whole PF. */
static bool is_own_pf(const struct listed *l)
{
	return l->rank != FOREIGN && vfctl_bdf_compare(&l->vf->bdf, &l->vf->pf) == 0;
}

static int fail_vf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct listed *l)
{
	char member[64];

	name_vf(l, member);
	if (l->vf->index >= MODEL_VFS_MAX)
		return ctx_fail(ctx, -EINVAL, "%s.index: %u is not below %d", member,
			l->vf->index, MODEL_VFS_MAX);
	if (is_own_pf(l))
		return ctx_fail(ctx, -EINVAL, "%s.address: %s is its PF", member,
			TEXT(&l->vf->bdf));
	return fail_place(ctx, m->topology, member, l->vf->node, l->vf->fabric, l->vf->port);
}

static int check_vf(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct listed *l)
{
	return l->vf->index >= MODEL_VFS_MAX || is_own_pf(l) ||
		!is_place(m->topology, l->vf->node, l->vf->fabric, l->vf->port) ?
		fail_vf(ctx, m, l) : 0;
}

static int check_vfs(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	size_t count = m->vf_count, n = 0;
	_free_ struct listed *v = NULL;
	int r = 0;

	for (size_t i = 0; i < m->occupant_count; i++)
		count += m->occupants[i].vf_count;
	v = calloc(count + 1, sizeof(*v));
	if (!v)
		return ctx_oom(ctx);
	for (size_t k = 0; k < m->vf_count; k++)
		v[n++] = (struct listed){&m->vfs[k], FREE, 0, k};
	for (size_t i = 0; i < m->occupant_count; i++)
		for (size_t k = 0; k < m->occupants[i].vf_count; k++)
			v[n++] = (struct listed){&m->occupants[i].vfs[k],
				m->occupants[i].foreign ? FOREIGN : OURS, i, k};
	for (size_t i = 0; i < n && r == 0; i++)
		r = check_vf(ctx, m, &v[i]);
	return r < 0 ? r : check_holders(ctx, v, n);
}

/* ---- occupants ---- */

static int fail_held(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < at; i++) {
		struct vfctl_cpuset both =
			check_common(&m->occupants[i].cpus, &m->occupants[at].cpus);

		if (!m->occupants[i].foreign && !vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL,
				"occupants[%zu].cpus: %s %s also used by %s", at,
				check_cpus_text(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are",
				m->occupants[i].name);
	}
	return 0;
}

static int check_occupant(struct vfctl_ctx *ctx, const struct vfctl_host_model *m, size_t at,
	struct vfctl_cpuset *held)
{
	const struct vfctl_occupant *o = &m->occupants[at];
	char member[48];
	int r;

	snprintf(member, sizeof(member), "occupants[%zu].cpus", at);
	if (!o->name || !o->name[0])
		return ctx_fail(ctx, -EINVAL, "occupants[%zu].name: it is missing", at);
	r = check_online_cpus(ctx, m->topology, member, &o->cpus);
	if (r < 0)
		return r;
	if (!o->foreign && vfctl_cpuset_intersects(held, &o->cpus))
		return fail_held(ctx, m, at);
	if (!o->foreign)
		vfctl_cpuset_or(held, &o->cpus);
	snprintf(member, sizeof(member), "occupants[%zu].qemu_cpus", at);
	r = check_online_cpus(ctx, m->topology, member, &o->qemu_cpus);
	if (r < 0)
		return r;
	snprintf(member, sizeof(member), "occupants[%zu].memory", at);
	for (size_t i = 0; i < o->memory_count; i++)
		if (o->memory[i].shared_vcpus > VFCTL_VCPU_MAX)
			return ctx_fail(ctx, -EINVAL,
				"%s[%zu].shared_vcpus: %u is not 0 to %d", member, i,
				o->memory[i].shared_vcpus, VFCTL_VCPU_MAX);
	return check_promises(ctx, m->topology, member, o->memory, o->memory_count);
}

/* A core for QEMU's threads of several guests must not be held by a single guest of vfctl. */
static int check_qemu_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_cpuset *held)
{
	char text[SET_TEXT];

	for (size_t i = 0; i < m->occupant_count; i++) {
		struct vfctl_cpuset both = check_common(&m->occupants[i].qemu_cpus, held);

		if (!vfctl_cpuset_empty(&both))
			return ctx_fail(ctx, -EINVAL, "occupants[%zu].qemu_cpus: %s %s used by one "
				"guest only", i, check_cpus_text(&both, text),
				vfctl_cpuset_count(&both) == 1 ? "is" : "are");
	}
	return 0;
}

int model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *m)
{
	struct vfctl_cpuset held = {0};
	int r;

	if (!m->topology)
		return ctx_fail(ctx, -EINVAL, "nodes: missing; load a topology first");
	r = check_topology_nodes(ctx, m->topology);
	if (r == 0)
		r = check_topology_cores(ctx, m->topology);
	if (r == 0)
		r = check_sets(ctx, m);
	if (r == 0)
		r = check_promises(ctx, m->topology, "promises", m->promises, m->promise_count);
	for (size_t i = 0; i < m->pf_count && r == 0; i++)
		r = check_pf(ctx, m, i);
	if (r == 0)
		r = check_names(ctx, m);
	if (r == 0)
		r = check_listed(ctx, m);
	for (size_t i = 0; i < m->occupant_count && r == 0; i++)
		r = check_occupant(ctx, m, i, &held);
	if (r == 0)
		r = check_qemu_cpus(ctx, m, &held);
	return r < 0 ? r : check_vfs(ctx, m);
}

int vfctl_model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model)
{
	int r = model_check(ctx, model);

	return r < 0 ? ctx_prefix(ctx, r, "host model") : 0;
}
