// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the present host tuning of a running domain. */
#include "hook/guest_tuning.h"

#include <errno.h>

#include "domain/definition.h"
#include "facts/snapshot/domains.h"
#include "hook/tuning_watch.h"
#include "host/host.h"
#include "lease/guest_tuning.h"
#include "lease/lease.h"
#include "state/leases.h"
#include "tuning/irq.h"
#include "tuning/ops.h"

void vfctl_guest_tuned_free(struct vfctl_guest_tuned *t)
{
	if (!t)
		return;
	free(t->problem);
	free(t->cpus);
	free(t->vectors);
	free(t->irqbalance);
	free(t);
}

/* Resolve what the guest requests. Why that is not possible is stored in @t->problem. */
static int read_wanted(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool damaged,
	struct vfctl_guest_tuned *t)
{
	struct tuning_wanted w = {.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID};
	int r = damaged ? ctx_fail(ctx, -EINVAL, "the tuning in the metadata cannot be read; define "
		"the guest again with vfctl") : tuning_resolve(ctx, spec, &t->asked, &w);

	if (r == -ENOMEM)
		return r;
	if (r < 0 && !(t->problem = strdup(vfctl_ctx_error(ctx))))
		return ctx_oom(ctx);
	ctx_clear(ctx);
	str_copy(t->governor, sizeof(t->governor), w.governor);
	t->cpu_latency_us = w.cpu_latency_us;
	t->interrupts = w.interrupts;
	return 0;
}

static int read_governors(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	struct vfctl_guest_tuned *t)
{
	const struct vfctl_cpuset own = tuning_own_cpus(lease);

	for (int c = vfctl_cpuset_next(&own, 0); c >= 0; c = vfctl_cpuset_next(&own, (unsigned)c + 1)) {
		_free_ char *now = NULL;

		if (!array_grow(t->cpus, t->cpu_count))
			return ctx_oom(ctx);
		t->cpus[t->cpu_count].cpu = (unsigned)c;
		if (host_try_read(ctx, &now, CPU_GOVERNOR, (unsigned)c) == 0)
			str_copy(t->cpus[t->cpu_count].governor, sizeof(t->governor), now);
		t->cpu_count++;
	}
	return 0;
}

static int add_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *vf,
	const struct vfctl_cpuset *want, struct vfctl_guest_tuned *t)
{
	_free_ struct irq_vector *all = NULL;
	size_t count = 0;
	int r = irq_vectors_read(ctx, vf, &all, &count);

	for (size_t i = 0; i < count; i++) {
		if (!array_grow(t->vectors, t->vector_count))
			return ctx_oom(ctx);
		t->vectors[t->vector_count++] = (struct vfctl_tuned_vector){.vf = *vf,
			.irq = all[i].irq, .managed = all[i].managed, .cpus = all[i].cpus,
			.effective = all[i].effective, .want = *want};
	}
	return r;
}

static int read_vectors(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, const struct vfctl_lease *lease,
	const struct vfctl_domain_intent *intent, struct vfctl_guest_tuned *t)
{
	int r = 0;

	for (size_t i = 0; lease && i < lease->vf_count && r == 0; i++) {
		const struct vfctl_bdf *vf = &lease->vfs[i].bdf;
		struct vfctl_cpuset want = {0};

		if (t->interrupts)
			tuning_vector_cpus(ctx, spec, leases, intent, vf, &want);
		r = add_vectors(ctx, vf, &want, t);
	}
	return r;
}

static int read_all(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_domain_intent *intent, struct vfctl_guest_tuned *t)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *lease;
	int r = vfctl_leases_read(ctx, &leases);

	if (r == 0)
		r = read_wanted(ctx, spec, intent->tuning_damaged, t);
	if (r < 0)
		return r;
	lease = vfctl_leases_find_uuid(leases, t->uuid);
	r = read_governors(ctx, lease, t);
	if (r == 0)
		r = read_vectors(ctx, spec, leases, lease, intent, t);
	t->may_be_posted = irq_may_be_posted(ctx);
	if (t->interrupts)
		t->irqbalance = irq_balance_text(ctx);
	t->watched = tuning_is_watched(ctx, t->uuid);
	return r;
}

int vfctl_guest_tuning_read(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *domain, struct vfctl_guest_tuned **ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_cleanup_(vfctl_guest_tuned_freep) struct vfctl_guest_tuned *t = calloc(1, sizeof(*t));
	int r = t && intent ? known_domain_find_running(ctx, domain, intent, &t->pid) : ctx_oom(ctx);

	if (r < 0)
		return r;
	str_copy(t->name, sizeof(t->name), intent->name);
	str_copy(t->uuid, sizeof(t->uuid), intent->uuid);
	t->asked = intent->tuning;
	r = read_all(ctx, spec, intent, t);
	if (r == 0)
		*ret = steal(t);
	return r;
}

int vfctl_guest_tuning_asked(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_guest_tuning *ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_free_ char *xml = NULL;
	int r = intent ? host_try_read(ctx, &xml, LIBVIRT_DEFINITIONS "/%s.xml", domain) : ctx_oom(ctx);

	if (r == -ENOENT)
		return ctx_fail(ctx, r, "libvirt has no definition of %s", domain);
	if (r < 0)
		return intent ? ctx_fail(ctx, r, LIBVIRT_DEFINITIONS "/%s.xml: %s", domain, strerror(-r)) : r;
	r = vfctl_domain_intent_read(ctx, xml, strlen(xml), false, intent);
	if (r == 0 && intent->tuning_damaged)
		r = ctx_fail(ctx, -EINVAL, "the tuning in the metadata of %s cannot be read", domain);
	if (r == 0)
		*ret = intent->tuning;
	return r;
}
