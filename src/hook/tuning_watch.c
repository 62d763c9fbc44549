// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One process for each running guest that requests it. C-states are limited while it holds
 * /dev/cpu_dma_latency open. It also looks for interrupt vectors of the guest's VFs and sets their
 * CPUs; the guest's driver enables and disables vectors without a notification.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "facts/snapshot/domains.h"
#include "hook/guest_tuning.h"
#include "hook/tuning_watch.h"
#include "host/host.h"
#include "lease/guest_tuning.h"
#include "lease/lease.h"
#include "state/leases.h"
#include "tuning/irq.h"
#include "tuning/ops.h"

#define LATENCY_DEVICE "/dev/cpu_dma_latency"
#define LOOK_MS 1000      /* while the guest boots */
#define LOOK_LATER_MS 5000
#define LOOKS_AT_FIRST 120
#define LEASE_LOOKS 5 /* a VF that was plugged in is found after this many rounds */
#define WAIT_MS 200
#define WAIT_MAX_MS 30000 /* time limit for the process of the last run to end */
#define SETS_MAX 2

/* A vector whose CPUs were set. */
struct placed_vector {
	unsigned irq, sets;
	bool told;
};

struct watched_vf {
	struct vfctl_bdf bdf;
	struct vfctl_cpuset cpus;
	struct placed_vector *placed;
	size_t placed_count, seen; /* of @seen vectors */
};

struct watch {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_spec *spec;
	struct vfctl_domain_intent intent;
	struct tuning_wanted wanted;
	int pid, pidfd, latency, lock;
	struct watched_vf vfs[VFCTL_GUEST_VFS_MAX];
	size_t vf_count;
	unsigned looks;
};

static void watch_freep(struct watch **w)
{
	if (!*w)
		return;
	close_fd(&(*w)->pidfd);
	close_fd(&(*w)->latency);
	close_fd(&(*w)->lock);
	for (size_t i = 0; i < (*w)->vf_count; i++)
		free((*w)->vfs[i].placed);
	free(*w);
}

static void lock_name(char ret[64], const char *uuid)
{
	snprintf(ret, 64, "tuning-%.36s", uuid);
}

bool tuning_is_watched(struct vfctl_ctx *ctx, const char *uuid)
{
	_close_ int fd = -1;
	char name[64];
	int r;

	lock_name(name, uuid);
	r = host_exists(ctx, HOST_LOCK_DIR "/%s.lock", name) ? host_try_lock(ctx, name, &fd) : 0;
	ctx_clear(ctx);
	return r == -EBUSY;
}

/* ---- begin ---- */

static void wait_ms(int ms)
{
	(void)poll(NULL, 0, ms);
}

/* There is one process for each run. That of the last run may be about to end. */
static int take_lock(struct watch *w, const char *uuid)
{
	char name[64];
	int r, waited = 0;

	lock_name(name, uuid);
	while ((r = host_try_lock(w->ctx, name, &w->lock)) == -EBUSY && waited < WAIT_MAX_MS) {
		wait_ms(WAIT_MS);
		waited += WAIT_MS;
	}
	return r;
}

static int find_domain(struct watch *w, const char *uuid)
{
	int r, waited = 0;

	while ((r = known_domain_find_running(w->ctx, uuid, &w->intent, &w->pid)) == -ENOENT &&
		waited < WAIT_MAX_MS) {
		wait_ms(WAIT_MS);
		waited += WAIT_MS;
	}
	if (r < 0)
		return r;
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	return w->pidfd >= 0 ? 0 : ctx_fail(w->ctx, -ENOENT, "process %d of domain %s has ended",
		w->pid, w->intent.name);
}

/*
 * The format of pm_qos: a 32-bit number in native byte order
 * (Documentation/power/pm_qos_interface.rst).
 */
static void hold_latency(struct watch *w, const struct vfctl_leases *leases)
{
	const struct vfctl_cpuset own = tuning_own_cpus(
		vfctl_leases_find_uuid(leases, w->intent.uuid));
	int32_t us = (int32_t)w->wanted.cpu_latency_us;

	if (w->wanted.cpu_latency_us == VFCTL_CPU_LATENCY_UNSAID || vfctl_cpuset_empty(&own))
		return;
	if (host_hold(w->ctx, LATENCY_DEVICE, &us, sizeof(us), &w->latency) < 0)
		ctx_audit(w->ctx, "C-states are not limited: %s", vfctl_ctx_error(w->ctx));
	else
		ctx_audit(w->ctx, "while it runs, this host does not enter C-states with a latency "
			"above %d us", us);
	ctx_clear(w->ctx);
}

/* ---- vectors ---- */

static struct watched_vf *find_vf(struct watch *w, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < w->vf_count; i++)
		if (vfctl_bdf_compare(&w->vfs[i].bdf, bdf) == 0)
			return &w->vfs[i];
	return NULL;
}

/*
 * A VF that was plugged in. A VF that was unplugged may belong to another domain: it is not
 * changed. The end of the run removes this entry with the rest of the lease's entries.
 */
static void keep_watch(struct watch *w, const struct vfctl_bdf *vf)
{
	char text[VFCTL_BDF_TEXT];
	const struct op op = {&op_irq_keep, vfctl_bdf_format(vf, text), w->intent.uuid, NULL};

	if (w->wanted.interrupts && !tuning_is_kept(w->ctx, w->intent.uuid, vf))
		op_apply(w->ctx, &op);
	ctx_clear(w->ctx);
}

/*
 * Read the VFs that the domain holds now, and choose the CPUs of their vectors so that they avoid
 * other guests.
 */
static void look_at_leases(struct watch *w)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *lease;

	if (vfctl_leases_read(w->ctx, &leases) < 0) {
		ctx_clear(w->ctx);
		return;
	}
	lease = vfctl_leases_find_uuid(leases, w->intent.uuid);
	for (size_t i = 0; lease && i < lease->vf_count; i++) {
		const struct vfctl_bdf *bdf = &lease->vfs[i].bdf;
		struct watched_vf *vf = find_vf(w, bdf);

		if (!vf && w->vf_count == ARRAY_SIZE(w->vfs))
			return;
		if (!vf) {
			vf = &w->vfs[w->vf_count++];
			*vf = (struct watched_vf){.bdf = *bdf};
		}
		tuning_vector_cpus(w->ctx, w->spec, leases, &w->intent, bdf, &vf->cpus);
		keep_watch(w, bdf);
	}
	if (!w->looks)
		hold_latency(w, leases);
}

static struct placed_vector *find_placed(struct watched_vf *vf, unsigned irq)
{
	for (size_t i = 0; i < vf->placed_count; i++)
		if (vf->placed[i].irq == irq)
			return &vf->placed[i];
	if (!array_grow(vf->placed, vf->placed_count))
		return NULL;
	vf->placed[vf->placed_count] = (struct placed_vector){.irq = irq};
	return &vf->placed[vf->placed_count++];
}

static void tell(struct watch *w, struct placed_vector *p, const struct watched_vf *vf,
	const char *message)
{
	if (!p->told)
		ctx_audit(w->ctx, "interrupt %u of VF %s: %s", p->irq, TEXT(&vf->bdf), message);
	p->told = true;
}

static void tell_moved(struct watch *w, struct placed_vector *p, const struct watched_vf *vf)
{
	_free_ char *why = irq_balance_text(w->ctx);

	ctx_audit(w->ctx, "another program moved interrupt %u of VF %s; %s", p->irq, TEXT(&vf->bdf),
		p->sets < SETS_MAX ? "vfctl moves it back once" : "it stays there");
	if (why)
		ctx_audit(w->ctx, "%s", why);
	p->told = p->sets >= SETS_MAX;
}

/* @return whether the vectors were set. */
static bool place_vectors(struct watch *w, struct watched_vf *vf, const struct irq_vector *v)
{
	struct placed_vector *p = find_placed(vf, v->irq);
	bool there = !vfctl_cpuset_empty(&v->cpus) && vfctl_cpuset_within(&v->cpus, &vf->cpus);
	int r;

	if (!p || p->told || there)
		return false;
	if (v->managed) {
		tell(w, p, vf, "the kernel manages its CPUs; it stays where it is");
		return false;
	}
	if (p->sets)
		tell_moved(w, p, vf);
	if (p->told)
		return false;
	r = irq_vector_set(w->ctx, &vf->bdf, v->irq, &vf->cpus);
	if (r < 0 && r != -ENOENT)
		tell(w, p, vf, vfctl_ctx_error(w->ctx));
	ctx_clear(w->ctx);
	p->sets++;
	return r == 0;
}

static void look_at_vf(struct watch *w, struct watched_vf *vf)
{
	_free_ struct irq_vector *all = NULL;
	size_t count = 0, moved = 0;
	char list[512];

	if (vfctl_cpuset_empty(&vf->cpus) || !tuning_is_kept(w->ctx, w->intent.uuid, &vf->bdf) ||
		irq_vectors_read(w->ctx, &vf->bdf, &all, &count) < 0) {
		ctx_clear(w->ctx);
		return;
	}
	if (count != vf->seen) /* the guest's driver was loaded or unloaded: these numbers are
				  other vectors now */
		vf->placed_count = 0;
	vf->seen = count;
	for (size_t i = 0; i < count; i++)
		moved += place_vectors(w, vf, &all[i]);
	if (!moved)
		return;
	vfctl_cpuset_format(&vf->cpus, list, sizeof(list));
	ctx_audit(w->ctx, "%zu of %zu interrupts of VF %s to CPUs %s%s", moved, count, TEXT(&vf->bdf),
		list, irq_may_be_posted(w->ctx) ? " (where the machine posts them to vCPUs, pinning has "
		"no effect)" : "");
}

static void look_at_guest(struct watch *w)
{
	if (w->looks % LEASE_LOOKS == 0)
		look_at_leases(w);
	for (size_t i = 0; w->wanted.interrupts && i < w->vf_count; i++)
		look_at_vf(w, &w->vfs[i]);
	w->looks++;
}

/* ---- until the guest ends ---- */

/* If only C-states are limited, there are no vectors to look for. */
static int pause_ms(const struct watch *w)
{
	return !w->wanted.interrupts ? -1 : w->looks < LOOKS_AT_FIRST ? LOOK_MS : LOOK_LATER_MS;
}

static void watch_guest(struct watch *w)
{
	struct pollfd end = {.fd = w->pidfd, .events = POLLIN};
	int n;

	do {
		look_at_guest(w);
		n = poll(&end, 1, pause_ms(w));
	} while (n == 0 || (n < 0 && errno == EINTR));
}

static int begin_watch(struct watch *w, const char *uuid)
{
	char origin[128];
	int r = take_lock(w, uuid);

	if (r == 0)
		r = find_domain(w, uuid);
	if (r < 0)
		return r;
	snprintf(origin, sizeof(origin), "guest tuning, domain %s", uuid);
	r = vfctl_ctx_set_origin(w->ctx, origin);
	return r < 0 ? r : tuning_resolve(w->ctx, w->spec, &w->intent.tuning, &w->wanted);
}

int vfctl_guest_tuning_watch(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *uuid)
{
	_cleanup_(watch_freep) struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return ctx_oom(ctx);
	*w = (struct watch){.ctx = ctx, .spec = spec, .pidfd = -1, .latency = -1, .lock = -1};
	if (!uuid_valid(uuid))
		return ctx_fail(ctx, -EINVAL, "'%.40s' is not a UUID", uuid);
	r = begin_watch(w, uuid);
	if (r < 0)
		return ctx_ignore_error(ctx, r, -EBUSY); /* another process does it */
	watch_guest(w);
	return r;
}

int vfctl_guest_tuning_needed(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *xml, size_t len, char ret_uuid[VFCTL_UUID_TEXT])
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct tuning_wanted w;
	int r = intent ? vfctl_domain_intent_read(ctx, xml, len, false, intent) : ctx_oom(ctx);

	if (r < 0 || !intent->uuid[0] || !vfctl_guest_tuning_any(&intent->tuning))
		return r;
	if (tuning_resolve(ctx, spec, &intent->tuning, &w) < 0) { /* already reported when the
								     guest started */
		ctx_clear(ctx);
		return 0;
	}
	str_copy(ret_uuid, VFCTL_UUID_TEXT, intent->uuid);
	return w.interrupts || w.cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID;
}
