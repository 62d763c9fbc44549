// SPDX-License-Identifier: GPL-2.0-or-later
/* apply and status: VF-LAGs. */
#include "verbs/apply_lag.h"

#include <errno.h>
#include <string.h>

#include "base/change.h"
#include "print/declared.h"

static void apply_one(struct invocation *in, const struct vfctl_host_spec *spec, size_t index,
	struct outcome *ret)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = vfctl_apply_lag_plan(in->ctx, spec, index, &change);
	bool steps = r == 0 && vfctl_change_count(change);

	if (steps)
		r = vfctl_change_run(in->ctx, change);
	outcome_fill(in, r, change, ret);
	ret->changed = steps && r == 0;
}

void lags_as_found(const struct vfctl_declared *d, struct outcome *ret)
{
	for (size_t i = 0; i < d->lag_count; i++) {
		const struct vfctl_declared_lag *lag = &d->lags[i];
		const char *pending = lag->change ? vfctl_change_pending(lag->change) : NULL;

		ret[i] = (struct outcome){.error = lag->error,
			.message = lag->message ? strdup(lag->message) : NULL,
			.pending = pending ? strdup(pending) : NULL};
	}
}

void apply_lags(struct invocation *in, const struct vfctl_host_spec *spec,
	const struct vfctl_declared *d, bool pfs_changed, struct outcome *ret)
{
	if (d->lag_count)
		catch_signals(in->ctx);
	for (size_t i = 0; i < d->lag_count; i++)
		if (pfs_changed || declared_lag_differs(&d->lags[i])) {
			outcome_clear(&ret[i]);
			apply_one(in, spec, i, &ret[i]);
		}
}

static void tell_one(struct invocation *in, const struct vfctl_declared_lag *d,
	const struct outcome *lag)
{
	char title[32];

	snprintf(title, sizeof(title), "lag %s", d->spec->bond);
	if (lag->pending)
		warn("%s: %s", title, lag->pending);
	if (lag->error) {
		fflush(stdout);
		complain_about(in, title, lag->message ? lag->message : "out of memory");
	} else if (!in->quiet) {
		out_line(in->out, "%s: %s", title, lag->changed ? "changed" : "as declared");
	}
}

void tell_lags(struct invocation *in, const struct vfctl_declared *d,
	const struct outcome *outcomes)
{
	for (size_t i = 0; i < d->lag_count; i++)
		tell_one(in, &d->lags[i], &outcomes[i]);
}
