// SPDX-License-Identifier: GPL-2.0-or-later
/* apply and try: the changes of the host and of each PF, as jobs of workers. */
#include "verbs/apply_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/change.h"
#include "fleet/fleet.h"
#include "ids/pools.h"
#include "verbs/apply_lag.h"

#define AT_ONCE 32 /* number of PFs; the kernel works on them independently */

int applying_init(struct invocation *in, const struct apply_view *view, struct applying *ret)
{
	const struct vfctl_declared *d = view->declared;

	*ret = (struct applying){.in = in, .spec = view->spec, .declared = d,
		.of_host = d->host && vfctl_change_count(d->host),
		.chosen = calloc(d->count + 1, sizeof(*ret->chosen)),
		.pfs = {calloc(d->count + 1, sizeof(*ret->pfs.v)), d->count},
		.lags = {calloc(d->lag_count + 1, sizeof(*ret->lags.v)), d->lag_count}};
	if (!ret->chosen || !ret->pfs.v || !ret->lags.v)
		return -ENOMEM;
	for (size_t i = 0; i < d->count; i++)
		if (d->pfs[i].change && vfctl_change_count(d->pfs[i].change))
			ret->chosen[ret->count++] = i;
	lags_as_found(d, ret->lags.v);
	return 0;
}

void applying_clear(struct applying *a)
{
	free(a->chosen);
	outcome_clear(&a->host);
	outcomes_clear(&a->pfs);
	outcomes_clear(&a->lags);
}

/* ---- PFs ---- */

static void pf_title(void *data, size_t index, char *buf, size_t size)
{
	const struct applying *a = data;

	snprintf(buf, size, "%s", a->declared->pfs[a->chosen[index]].name);
}

/* Plan again under the PF's lock, because the host may have changed since the comparison. */
static int plan_and_run(struct invocation *in, const struct applying *a, size_t entry,
	struct vfctl_ids *ids, struct vfctl_change **ret_change)
{
	int r = vfctl_apply_plan(in->ctx, a->spec, entry, a->declared->pfs[entry].address, ids,
		ret_change);

	return r < 0 ? r : vfctl_change_run(in->ctx, *ret_change);
}

static void apply_pf(struct invocation *in, void *data, size_t index, struct outcome *ret)
{
	const struct applying *a = data;
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = NULL;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = a->spec->pool_count || a->spec->partition_count
		? vfctl_ids_open(in->ctx, a->spec, true, &ids) : 0;

	if (r == 0)
		r = plan_and_run(in, a, a->chosen[index], ids, &change);
	for (unsigned tries = 1; r == -EAGAIN && tries < TRIES_MAX; tries++) {
		vfctl_change_free(steal(change));
		r = plan_and_run(in, a, a->chosen[index], ids, &change);
	}
	outcome_fill(in, r, change, ret);
}

/* Whether two of these changes set the same MAC or GUID: neither plan knew of the other. */
static bool share_value(const struct vfctl_change *a, const struct vfctl_change *b)
{
	struct vfctl_operation x, y;

	for (size_t i = 0; i < vfctl_change_count(a); i++)
		for (size_t k = 0; vfctl_change_operation(a, i, k, &x); k++) {
			if (strcmp(x.type, "vf-identity") != 0 || !x.want)
				continue;
			for (size_t n = 0; n < vfctl_change_count(b); n++)
				for (size_t m = 0; vfctl_change_operation(b, n, m, &y); m++)
					if (strcmp(y.type, "vf-identity") == 0 && y.want &&
						strcmp(x.want, y.want) == 0)
						return true;
		}
	return false;
}

/* One after the other if necessary: the second then sees the values of the first. */
static size_t how_many_at_once(const struct applying *a)
{
	const struct vfctl_declared *d = a->declared;

	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < i; k++)
			if (share_value(d->pfs[a->chosen[i]].change, d->pfs[a->chosen[k]].change))
				return 1;
	return AT_ONCE;
}

struct jobs applying_pf_jobs(struct applying *a)
{
	return (struct jobs){.in = a->in, .count = a->count, .at_once = how_many_at_once(a),
		.one = apply_pf,
		.title = pf_title, .data = a, .outcomes = a->pfs.v};
}

/* ---- the host as a whole ---- */

static void host_title(void *data, size_t index, char *buf, size_t size)
{
	snprintf(buf, size, "host");
}

static void apply_host(struct invocation *in, void *data, size_t index, struct outcome *ret)
{
	const struct applying *a = data;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = vfctl_apply_host_plan(in->ctx, a->spec, NULL, &change);

	if (r == 0)
		r = vfctl_change_run(in->ctx, change);
	outcome_fill(in, r, change, ret);
}

struct jobs applying_host_jobs(struct applying *a)
{
	return (struct jobs){.in = a->in, .count = a->of_host, .at_once = 1, .one = apply_host,
		.title = host_title, .data = a, .outcomes = &a->host};
}

void applying_run_here(const struct jobs *jobs)
{
	catch_signals(jobs->in->ctx);
	jobs->one(jobs->in, jobs->data, 0, jobs->outcomes);
}
