// SPDX-License-Identifier: GPL-2.0-or-later
/* apply and try: print the outcome of each declared object. */
#include <errno.h>
#include <string.h>

#include "host_ids.h"
#include "print/declared.h"
#include "result.h"
#include "verbs/apply_lag.h"
#include "verbs/apply_run.h"

/* Tried, and not kept. */
static bool is_rolled_back(const struct outcome *o)
{
	return o && o->error == -ECANCELED;
}

/* @o NULL: there was nothing to do, or it could not be planned. */
static void tell_host(struct invocation *in, const struct vfctl_declared *d,
	const struct outcome *o)
{
	const char *message = o ? o->message : d->host_text, *pending = o ? o->pending : NULL;

	if (pending)
		warn("host: %s", pending);
	if (is_rolled_back(o)) {
		if (!in->quiet)
			out_line(in->out, "host: rolled back");
	} else if (d->host_error || (o && o->error)) {
		fflush(stdout);
		complain_about(in, "host", message ? message : "out of memory");
	} else if (o && !in->quiet) {
		out_line(in->out, "host: changed");
	}
}

/* What the administrator still has to do, because of this change or an earlier one. */
static const char *pending_of(const struct vfctl_declared_pf *pf, const struct outcome *o)
{
	if (o)
		return o->pending;
	return pf->change ? vfctl_change_pending(pf->change) : NULL;
}

static void tell_outcome(struct invocation *in, const struct vfctl_declared_pf *pf,
	const struct outcome *o)
{
	const char *pending = pending_of(pf, o);
	char title[128];

	declared_title(pf, title, sizeof(title));
	if (pending)
		warn("%s: %s", title, pending);
	if (is_rolled_back(o)) {
		if (!in->quiet)
			out_line(in->out, "%s: rolled back", title);
	} else if (pf->error || (o && o->error)) {
		const char *message = pf->error ? pf->message : o->message;

		fflush(stdout);
		complain_about(in, title, message ? message : "out of memory");
	} else if (!in->quiet) {
		out_line(in->out, "%s: %s", title, o ? "changed" : pf->spec->unmanaged
			? "not managed" : pending ? "not yet as declared" : "as declared");
	}
	if (pf->kept && !in->quiet)
		out_line(in->out, "  in use, and changed only after that: %s", pf->kept);
}

/* NULL: there was nothing to do about this entry. */
static const struct outcome *outcome_of(const struct applying *a, size_t entry)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->chosen[i] == entry)
			return &a->pfs.v[i];
	return NULL;
}

/* For all managed PFs: 0, or 1 if none is as declared (2: because of the declaration), or 4. */
int applying_status(const struct applying *a)
{
	const struct vfctl_declared *d = a->declared;
	size_t failed = d->host_error || a->host.error, managed = failed || a->of_host;
	size_t mistaken = 0;
	bool stale = a->host.error == -ESTALE, pending = a->host.pending;

	for (size_t i = 0; i < d->count; i++) {
		const struct outcome *o = outcome_of(a, i);

		managed += !d->pfs[i].spec->unmanaged;
		failed += d->pfs[i].error || (o && o->error);
		mistaken += d->pfs[i].error && d->pfs[i].mistaken;
		stale |= o && o->error == -ESTALE;
		pending |= pending_of(&d->pfs[i], o) != NULL;
	}
	for (size_t i = 0; i < d->lag_count; i++) {
		managed++;
		failed += a->lags.v[i].error != 0;
		stale |= a->lags.v[i].error == -ESTALE;
	}
	if (stale || (failed && failed < managed))
		return EXIT_PARTLY;
	if (failed && mistaken == failed)
		return EXIT_USAGE;
	return failed ? EXIT_FAILED : pending ? EXIT_DRIFT : EXIT_DONE;
}

static void put_applied_host(struct out *out, const struct member *m, const void *of)
{
	const struct applying *a = of;
	bool failed = a->of_host && a->host.error;

	answer_put(out, m->name, answer_declared_host, &(struct declared_view){.host = a->declared->host,
		.apply = true, .differs = a->of_host && !failed,
		.error = a->of_host ? a->host.message : a->declared->host_text, .pending = a->host.pending});
}

static int fill_applied_pfs(struct out *out, const void *of)
{
	const struct applying *a = of;

	for (size_t i = 0; i < a->declared->count; i++) {
		const struct vfctl_declared_pf *pf = &a->declared->pfs[i];
		const struct outcome *o = outcome_of(a, i);
		bool changed = o && !o->error;

		answer_put(out, NULL, answer_declared_pf, &(struct declared_view){.pf = pf, .apply = true,
			.differs = changed, .error = o && o->error ? o->message : pf->message,
			.pending = pending_of(pf, o),
			.result = &(struct pf_result){a->in, changed ? a->after : NULL, pf->address}});
	}
	return 0;
}

static int fill_applied_lags(struct out *out, const void *of)
{
	const struct applying *a = of;

	for (size_t i = 0; i < a->declared->lag_count; i++)
		answer_put(out, NULL, answer_declared_lag, &(struct declared_view){.apply = true,
			.lag = &a->declared->lags[i], .differs = a->lags.v[i].changed,
			.error = a->lags.v[i].message, .pending = a->lags.v[i].pending});
	return 0;
}

#define OF struct applying
const struct member answer_applied[] = {
	FIELD(changed, "something was changed"),
	PUT("host", put_applied_host, MEMBER_OBJECT, "the host as a whole",
		.table = answer_declared_host),
	FILL("pfs", fill_applied_pfs, answer_declared_pf, "PFs in the order of the file"),
	FILL("lags", fill_applied_lags, answer_declared_lag, "VF-LAGs in the order of the file"), END};
#undef OF

static void tell_text(const struct applying *a)
{
	const struct vfctl_declared *d = a->declared;

	tell_host(a->in, d, a->of_host ? &a->host : NULL);
	for (size_t i = 0; i < d->count; i++)
		tell_outcome(a->in, &d->pfs[i], outcome_of(a, i));
	tell_lags(a->in, d, a->lags.v);
	if (!d->count && !d->lag_count && !a->of_host && !d->host_error && !a->in->quiet)
		print_declared(a->in, d);
}

int applying_tell(struct applying *a, const struct member *table)
{
	int status = applying_status(a);
	bool moved = false;

	a->changed = a->of_host && !a->host.error;
	for (size_t i = 0; i < a->count; i++) {
		a->changed |= !a->pfs.v[i].error;
		moved |= a->pfs.v[i].moved;
	}
	for (size_t i = 0; i < a->lags.count; i++)
		a->changed |= a->lags.v[i].changed;
	a->in->made |= a->changed;
	if (a->in->json) {
		if (a->count)
			vfctl_snapshot_read(a->in->ctx, NULL, &a->after);
		answer_put(a->in->out, NULL, table, a);
		vfctl_snapshot_free(steal(a->after));
	} else {
		tell_text(a);
	}
	if (moved && run_after_change(a->in, a->spec) && status == EXIT_DONE)
		status = EXIT_PARTLY;
	return status;
}
