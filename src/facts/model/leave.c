// SPDX-License-Identifier: GPL-2.0-or-later
/* The host without one of its guests. */
#include "facts/model/model.h"

#include "placement/model/host_model.h"

/* The kernel's free pages do not include those of a running guest. */
static void give_pages_back(struct vfctl_topology *t, const struct vfctl_promise *promise)
{
	for (size_t n = 0; n < t->node_count; n++) {
		struct vfctl_node *node = &t->nodes[n];

		if ((int)node->id != promise->node || !promise->taken)
			continue;
		for (size_t i = 0; i < node->pool_count; i++) {
			struct vfctl_page_pool *pool = &node->pools[i];
			uint64_t pages = promise->bytes / pool->page_bytes;

			if (pool->page_bytes != promise->page_bytes ||
				pool->free == VFCTL_COUNT_UNKNOWN)
				continue;
			pool->free = pages < pool->total - pool->free ? pool->free + pages
								      : pool->total;
		}
	}
}

static bool drop_vf(struct vfctl_occupant *o, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < o->vf_count; i++)
		if (vfctl_bdf_compare(&o->vfs[i].bdf, bdf) == 0) {
			o->vf_count--;
			memmove(&o->vfs[i], &o->vfs[i + 1], (o->vf_count - i) * sizeof(*o->vfs));
			return true;
		}
	return false;
}

/*
 * The definition of a foreign domain, such as a clone, may name VFs that are leased to the guest.
 * The lease decides: the domain cannot start with them, nor use the CPUs of the guest meanwhile.
 */
static void drop_leased(struct vfctl_occupant *o, const struct vfctl_occupant *guest)
{
	bool clone = false;

	for (size_t i = 0; i < guest->vf_count; i++)
		clone |= drop_vf(o, &guest->vfs[i].bdf);
	if (!clone || o->running)
		return;
	vfctl_cpuset_andnot(&o->cpus, &guest->cpus);
	vfctl_cpuset_andnot(&o->cpus, &guest->qemu_cpus);
}

void model_leave_out(struct vfctl_host_model *m, const char *uuid)
{
	struct vfctl_occupant *o = m->occupants, gone;

	while (o < m->occupants + m->occupant_count && !str_eq(o->uuid, uuid))
		o++;
	if (o == m->occupants + m->occupant_count)
		return;
	gone = *o;
	for (size_t i = 0; i < m->occupant_count; i++)
		if (&m->occupants[i] != o && m->occupants[i].foreign)
			drop_leased(&m->occupants[i], &gone);
	for (size_t i = 0; i < gone.memory_count; i++)
		give_pages_back(m->topology, &gone.memory[i]);
	m->occupant_count--;
	memmove(o, o + 1, (size_t)(m->occupants + m->occupant_count - o) * sizeof(*o));
	vfctl_occupant_clear(&gone);
}

int model_add_free_vf(struct vfctl_ctx *ctx, struct vfctl_host_model *m,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	if (!array_grow(m->vfs, m->vf_count))
		return ctx_oom(ctx);
	m->vfs[m->vf_count++] = model_vf(m, model_pf(m, &pf->bdf), vf);
	return 0;
}
