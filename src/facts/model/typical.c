// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that are expected next. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "facts/model/model.h"
#include "host/host.h"
#include "state/asked.h"

#define SHARE_MAX 1000

/* Hardware threads of the core that has most. */
static uint32_t most_threads(const struct vfctl_topology *t)
{
	uint32_t most = 1;

	for (size_t i = 0; i < t->core_count; i++) {
		uint32_t threads = vfctl_cpuset_count(&t->cores[i].cpus);

		most = threads > most ? threads : most;
	}
	return most;
}

/* What the planner tells guests apart by: threads, cells, and whether it wants VFs. */
static struct vfctl_typical kind_of(const struct vfctl_host_model *m,
	const struct asked_shape *s)
{
	uint64_t threads = (uint64_t)s->vcpus * (s->isolated ? most_threads(m->topology) : 1);
	uint64_t each = s->cells ? (threads + s->cells - 1) / s->cells : 0;

	if (!each || s->cells > VFCTL_CELLS_MAX || each * s->cells > VFCTL_VCPU_MAX)
		return (struct vfctl_typical){0};
	return (struct vfctl_typical){.vcpus = (uint32_t)(each * s->cells), .cells = s->cells,
		.vfs = s->vfs > 0};
}

struct learned {
	struct vfctl_typical kind;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct learned *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->kind.vcpus != y->kind.vcpus)
		return x->kind.vcpus < y->kind.vcpus ? -1 : 1;
	if (x->kind.cells != y->kind.cells)
		return x->kind.cells < y->kind.cells ? -1 : 1;
	return x->kind.vfs < y->kind.vfs ? -1 : x->kind.vfs > y->kind.vfs;
}

/* Guests alike to the planner, most frequent first; the number of them. */
static size_t gather(const struct vfctl_host_model *m, const struct asked *asked,
	struct learned *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < asked->count; i++) {
		struct vfctl_typical kind = kind_of(m, &asked->v[i].shape);
		size_t k = 0;

		if (!kind.vcpus)
			continue;
		while (k < count && memcmp(&ret[k].kind, &kind, sizeof(kind)))
			k++;
		if (k == count)
			ret[count++] = (struct learned){.kind = kind};
		ret[k].count += asked->v[i].count;
	}
	if (count)
		qsort(ret, count, sizeof(*ret), by_count);
	return count;
}

static int take_learned(struct vfctl_ctx *ctx, const struct asked *asked,
	struct vfctl_host_model *m)
{
	_free_ struct learned *kinds = calloc(asked->count + 1, sizeof(*kinds));
	size_t count = kinds ? gather(m, asked, kinds) : 0;

	if (!kinds)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count && i < VFCTL_TYPICAL_MAX; i++) {
		uint64_t share = kinds[i].count * SHARE_MAX / asked->guests;

		kinds[i].kind.share = share ? (uint32_t)share : 1;
		m->typical[m->typical_count++] = kinds[i].kind;
	}
	if (!m->typical_count)
		return 0;
	m->typical_why = str_format("learned from %" PRIu64 " that were defined here",
		asked->guests);
	return m->typical_why ? 0 : ctx_oom(ctx);
}

/* A history that cannot be read is none: what is not known is assumed. */
static int learn(struct vfctl_ctx *ctx, struct vfctl_host_model *m)
{
	struct asked asked;
	int r = asked_read(ctx, &asked);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		ctx_clear(ctx);
	r = asked.guests < ASKED_ENOUGH ? 0 : take_learned(ctx, &asked, m);
	asked_clear(&asked);
	return r;
}

int model_read_typical(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_host_model *m)
{
	if (spec && spec->typical_count) {
		memcpy(m->typical, spec->typical, sizeof(m->typical));
		m->typical_count = spec->typical_count;
		m->typical_why = strdup("host.yaml");
		return m->typical_why ? 0 : ctx_oom(ctx);
	}
	/* Of a captured host the leases here say nothing. */
	if ((spec && spec->typical_default) || host_of(ctx)->ops->read_only)
		return 0;
	return learn(ctx, m);
}
