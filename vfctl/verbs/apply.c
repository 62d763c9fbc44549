// SPDX-License-Identifier: GPL-2.0-or-later
/* apply: make the host as host.yaml declares it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/apply.h"
#include "verbs/apply_lag.h"
#include "command.h"
#include "host_ids.h"
#include "print/declared.h"
#include "result.h"
#include "core/recover.h"
#include "core/watch.h"
#include "core/workflow.h"
#include "workers.h"

#define AT_ONCE 32 /* PFs; the kernel works on each by itself */

void apply_close(struct apply_view *v)
{
	vfctl_declared_free(v->declared);
	vfctl_host_spec_free(v->spec);
	vfctl_snapshot_free(v->snapshot);
}

int apply_open(struct invocation *in, const char *path, struct apply_view *ret)
{
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = NULL;
	int r = vfctl_host_ids_open(in->ctx, path, false, &ret->spec, &ids);

	if (r == 0)
		r = vfctl_snapshot_read(in->ctx, NULL, &ret->snapshot);
	if (r == 0)
		r = vfctl_declared_read(in->ctx, ret->snapshot, ret->spec, ids, &ret->declared);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

const char *apply_declaration(const struct invocation *in)
{
	return in->arg_count ? in->args[0] : option_of(in, "host-yaml");
}

/* ---- carrying out ---- */

struct work {
	const struct apply_view *view;
	const size_t *chosen; /* entries of the declaration */
};

/* Planned anew under the PF's lock: what was looked at before may have changed. */
static int plan_and_run(struct invocation *in, const struct apply_view *v, size_t entry,
	struct vfctl_ids *ids, struct vfctl_change **ret_change)
{
	int r = vfctl_apply_plan(in->ctx, v->spec, entry, v->declared->pfs[entry].address, ids,
		ret_change);

	return r < 0 ? r : vfctl_change_run(in->ctx, *ret_change);
}

static void apply_one(struct invocation *in, void *data, size_t index, struct outcome *ret)
{
	const struct work *work = data;
	const struct vfctl_host_spec *spec = work->view->spec;
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = NULL;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = spec->pool_count || spec->partition_count
		? vfctl_ids_open(in->ctx, spec, true, &ids) : 0;

	if (r == 0)
		r = plan_and_run(in, work->view, work->chosen[index], ids, &change);
	for (unsigned tries = 1; r == -EAGAIN && tries < TRIES_MAX; tries++) {
		vfctl_change_free(steal(change));
		r = plan_and_run(in, work->view, work->chosen[index], ids, &change);
	}
	outcome_fill(in, r, change, ret);
}

/* Do two of these changes give one MAC or GUID? Neither looked at what the other gives. */
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

/* One after the other if need be: the second then sees what the first has given. */
static size_t how_many_at_once(const struct vfctl_declared *d, const size_t *chosen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (share_value(d->pfs[chosen[i]].change, d->pfs[chosen[k]].change))
				return 1;
	return AT_ONCE;
}

/* Before the PFs: pages want memory that is whole. */
static void apply_host(struct invocation *in, const struct apply_view *v, struct outcome *ret)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r;

	catch_signals(in->ctx);
	r = vfctl_apply_host_plan(in->ctx, v->spec, &change);
	if (r == 0)
		r = vfctl_change_run(in->ctx, change);
	outcome_fill(in, r, change, ret);
}

/* ---- telling ---- */

/* @o NULL: nothing was to be done, or it could not be planned. */
static void tell_host(struct invocation *in, const struct vfctl_declared *d, const struct outcome *o)
{
	const char *words = o ? o->words : d->host_words, *pending = o ? o->pending : NULL;

	if (pending)
		warn("host: %s", pending);
	if (d->host_error || (o && o->error)) {
		fflush(stdout);
		complain_about(in, "host", words ? words : "out of memory");
	} else if (o && !in->quiet) {
		out_line(in->out, "host: changed");
	}
}

/* What is left for the operator, from now or from a change that was made before. */
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
	if (pf->error || (o && o->error)) {
		const char *words = pf->error ? pf->words : o->words;

		fflush(stdout);
		complain_about(in, title, words ? words : "out of memory");
	} else if (!in->quiet) {
		out_line(in->out, "%s: %s", title, o ? "changed" : pf->spec->unmanaged
			? "not managed" : pending ? "not yet as declared" : "as declared");
	}
	if (pf->kept && !in->quiet)
		out_line(in->out, "  a guest's until it stops, and not as declared: %s", pf->kept);
}

static const struct outcome *outcome_of(const size_t *chosen, const struct outcome *outcomes,
	size_t count, size_t index)
{
	for (size_t i = 0; i < count; i++)
		if (chosen[i] == index)
			return &outcomes[i];
	return NULL;
}

/* Of all PFs that are managed: 0, or 1 when nothing is as it should be (2: by the declaration), or 4. */
static int status_of(const struct vfctl_declared *d, const size_t *chosen,
	const struct outcome *outcomes, size_t count, const struct outcome *host,
	const struct outcome *lags)
{
	size_t failed = d->host_error || (host && host->error), managed = failed || host;
	size_t mistaken = 0;
	bool stale = host && host->error == -ESTALE, pending = host && host->pending;

	for (size_t i = 0; i < d->count; i++) {
		const struct outcome *o = outcome_of(chosen, outcomes, count, i);

		managed += !d->pfs[i].spec->unmanaged;
		failed += d->pfs[i].error || (o && o->error);
		mistaken += d->pfs[i].error && d->pfs[i].mistaken;
		stale |= o && o->error == -ESTALE;
		pending |= pending_of(&d->pfs[i], o) != NULL;
	}
	for (size_t i = 0; i < d->lag_count; i++) {
		managed++;
		failed += lags ? lags[i].error != 0 : d->lags[i].error != 0;
		stale |= lags && lags[i].error == -ESTALE;
	}
	if (stale || (failed && failed < managed))
		return EXIT_PARTLY;
	if (failed && mistaken == failed)
		return EXIT_USAGE;
	return failed ? EXIT_FAILED : pending ? EXIT_DRIFT : EXIT_DONE;
}

/* The outcomes, in the order of @chosen; @host NULL as in tell_host(). */
struct applied {
	struct invocation *in;
	const struct vfctl_declared *declared;
	const size_t *chosen;
	const struct outcome *outcomes;
	size_t count;
	const struct outcome *host;
	const struct outcome *lags;
	struct vfctl_snapshot *after;
	bool changed;
};

static void put_applied_host(struct out *out, const struct member *m, const void *of)
{
	const struct applied *a = of;
	const struct outcome *o = a->host;

	answer_put(out, m->name, answer_declared_host, &(struct declared_view){.host = a->declared->host,
		.apply = true, .differs = o && !o->error, .error = o ? o->words : a->declared->host_words,
		.pending = o ? o->pending : NULL});
}

static int fill_applied_pfs(struct out *out, const void *of)
{
	const struct applied *a = of;

	for (size_t i = 0; i < a->declared->count; i++) {
		const struct vfctl_declared_pf *pf = &a->declared->pfs[i];
		const struct outcome *o = outcome_of(a->chosen, a->outcomes, a->count, i);
		bool changed = o && !o->error;

		answer_put(out, NULL, answer_declared_pf, &(struct declared_view){.pf = pf, .apply = true,
			.differs = changed, .error = o && o->error ? o->words : pf->words,
			.pending = pending_of(pf, o),
			.result = &(struct pf_result){a->in, changed ? a->after : NULL, pf->address}});
	}
	return 0;
}

static int fill_applied_lags(struct out *out, const void *of)
{
	const struct applied *a = of;

	for (size_t i = 0; i < a->declared->lag_count; i++)
		answer_put(out, NULL, answer_declared_lag, &(struct declared_view){.apply = true,
			.lag = &a->declared->lags[i], .differs = a->lags[i].changed,
			.error = a->lags[i].words, .pending = a->lags[i].pending});
	return 0;
}

#define OF struct applied
static const struct member applied_table[] = {
	FIELD(changed, "something was changed"),
	PUT("host", put_applied_host, MEMBER_OBJECT, "the host as a whole",
		.table = answer_declared_host),
	FILL("pfs", fill_applied_pfs, answer_declared_pf, "PFs in the order of the file"),
	FILL("lags", fill_applied_lags, answer_declared_lag, "VF-LAGs in the order of the file"), END};
#undef OF

static void tell_text(struct invocation *in, const struct applied *a)
{
	const struct vfctl_declared *d = a->declared;

	tell_host(in, d, a->host);
	for (size_t i = 0; i < d->count; i++)
		tell_outcome(in, &d->pfs[i], outcome_of(a->chosen, a->outcomes, a->count, i));
	tell_lags(in, d, a->lags);
	if (!d->count && !d->lag_count && !a->host && !d->host_error && !in->quiet)
		print_declared(in, d);
}

static int tell_all(struct invocation *in, const struct apply_view *v, struct applied *a)
{
	const struct vfctl_declared *d = v->declared;
	int status = status_of(d, a->chosen, a->outcomes, a->count, a->host, a->lags);
	bool moved = false;

	a->changed = a->host && !a->host->error;
	for (size_t i = 0; i < a->count; i++) {
		a->changed |= !a->outcomes[i].error;
		moved |= a->outcomes[i].moved;
	}
	for (size_t i = 0; i < d->lag_count; i++)
		a->changed |= a->lags[i].changed;
	in->made |= a->changed;
	if (in->json) {
		if (a->count)
			vfctl_snapshot_read(in->ctx, NULL, &a->after);
		answer_put(in->out, NULL, applied_table, a);
		vfctl_snapshot_free(a->after);
	} else {
		tell_text(in, a);
	}
	if (moved && run_after_change(in, v->spec) && status == EXIT_DONE)
		status = EXIT_PARTLY;
	return status;
}

static int carry_out(struct invocation *in, const struct apply_view *v)
{
	const struct vfctl_declared *d = v->declared;
	_cleanup_(outcomes_clear) struct outcomes of_pfs = {calloc(d->count + 1, sizeof(*of_pfs.v)),
		d->count};
	_cleanup_(outcomes_clear) struct outcomes of_lags = {calloc(d->lag_count + 1, sizeof(*of_lags.v)),
		d->lag_count};
	_cleanup_(outcome_clear) struct outcome host = {0};
	_free_ size_t *chosen = calloc(d->count + 1, sizeof(*chosen));
	struct work work = {v, chosen};
	size_t count = 0;
	bool of_host = d->host && vfctl_change_count(d->host);
	int r = 0;

	if (!of_pfs.v || !of_lags.v || !chosen)
		return fail(in, -ENOMEM);
	for (size_t i = 0; i < d->count; i++)
		if (d->pfs[i].change && vfctl_change_count(d->pfs[i].change))
			chosen[count++] = i;
	if (of_host)
		apply_host(in, v, &host);
	if (count == 1) {
		catch_signals(in->ctx);
		apply_one(in, &work, 0, &of_pfs.v[0]);
	} else if (count) {
		r = workers_run(in, count, how_many_at_once(d, chosen, count), apply_one, &work,
			of_pfs.v);
	}
	if (r < 0)
		return fail(in, r);
	apply_lags(in, v->spec, d, count > 0, of_lags.v);
	return tell_all(in, v, &(struct applied){.in = in, .declared = d, .chosen = chosen,
		.outcomes = of_pfs.v, .count = count, .host = of_host ? &host : NULL,
		.lags = of_lags.v});
}

/* ---- waiting ---- */

/* Is a PF not there yet, or is it there and its driver or udev still at it? */
static const struct vfctl_declared_pf *first_absent(const struct vfctl_declared *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct vfctl_declared_pf *pf = &d->pfs[i];
		bool to_do = pf->error || (pf->change && vfctl_change_count(pf->change));

		if (pf->error == -ENOENT || pf->error == -ENODEV || (pf->settling && to_do))
			return pf;
	}
	return NULL;
}

/* Not every change makes an event: looked at each second in any case. */
static void await_event(struct invocation *in, struct vfctl_watch *w, int64_t left_ms)
{
	int ms = left_ms < 1000 ? (int)left_ms : 1000;
	unsigned what;

	if (!w || vfctl_watch_wait(in->ctx, w, -1, ms, &what) < 0)
		poll(NULL, 0, ms);
}

/* Look again whenever a device comes, until none that is declared is absent. */
static int await_devices(struct invocation *in, const char *path, unsigned seconds, struct apply_view *v)
{
	int64_t end = now_ms() + (int64_t)seconds * 1000, left;
	const struct vfctl_declared_pf *absent;
	_cleanup_(vfctl_watch_closep) struct vfctl_watch *watch = NULL;
	int status = EXIT_DONE;
	bool told = in->quiet;

	if (seconds) /* where no event can be heard, looking each second is enough */
		vfctl_watch_open(in->ctx, option_of(in, "host-yaml"), &watch);
	status = apply_open(in, path, v);
	while (status == EXIT_DONE && (absent = first_absent(v->declared)) &&
		(left = end - now_ms()) > 0) {
		if (!told)
			say_clean("waiting up to %u s for %s", seconds, absent->name);
		told = true;
		await_event(in, watch, left);
		apply_close(v);
		*v = (struct apply_view){0};
		status = apply_open(in, path, v);
	}
	return status;
}

/* ---- only telling ---- */

static const struct member dry_table[] = {
	ALWAYS_TRUE("dry_run", "true"),
	PART_SELF(answer_differences), END};

static int dry_run(struct invocation *in, const struct vfctl_declared *d)
{
	if (in->json)
		answer_put(in->out, NULL, dry_table, &(struct differences){.declared = d, .apply = true,
			.differs = declared_some_differ(d)});
	else
		print_declared(in, d);
	return status_of(d, NULL, NULL, 0, NULL, NULL);
}

/*
 * A change that was interrupted may have left this host as declared in all that is compared: recover
 * first. What cannot be recovered keeps the other PFs from nothing.
 */
static bool recover_first(struct invocation *in)
{
	const struct vfctl_recover_options how = {.host_only = true};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *open = NULL;
	int r = vfctl_recover(in->ctx, &how, &open);

	for (size_t i = 0; open && i < open->count; i++)
		if (open->changes[i].error)
			warn("'%s' was interrupted and cannot be rolled back: %s; remove what stands in the "
			     "way, then: vfctl recover", open->changes[i].story, open->changes[i].error);
	/* A state file that cannot be read is told of where leases are compared. */
	return !open || r == 0;
}

static int run_apply(struct invocation *in)
{
	_cleanup_(apply_close) struct apply_view v = {0};
	unsigned seconds = 0;
	bool recovered = true;
	int status = option_seconds(in, "wait", 0, 3600, &seconds);

	if (status)
		return status;
	if (!in->dry_run)
		recovered = recover_first(in);
	status = await_devices(in, apply_declaration(in), seconds, &v);
	if (status)
		return status;
	if (v.spec->absent)
		return fail_as(in, EXIT_USAGE, -ENOENT, "no " VFCTL_HOST_SPEC_PATH " (a "
			"host.yml is not read); vfctl export prints this host as such a file; another "
			"file: vfctl apply FILE");
	status = in->dry_run ? dry_run(in, v.declared) : carry_out(in, &v);
	return status == EXIT_DONE && !recovered ? EXIT_PARTLY : status;
}

static const struct option_row apply_options[] = {
	{"wait", 0, "SECONDS", "wait so long for PFs that are not there yet, as at boot", NULL},
};

static const struct answer apply_answer[] = {{"With `--dry-run`", dry_table, false},
	{"When it is done", applied_table, false}, {0}};

const struct command cmd_apply = {
	.name = "apply",
	.answer = apply_answer,
	.args = "[FILE|DIR]",
	.summary = "make the PFs of this host as host.yaml declares them",
	.text = "Compares first, and changes only what differs: a second run changes nothing. PFs are\n"
		"changed at the same time, each as a whole or not at all; a PF that is not there, or\n"
		"has a VF in use that would have to go, keeps no other from being made (status 4).\n"
		"What a guest has now stays until it stops. FILE: instead of /etc/vfctl/host.yaml. DIR:\n"
		"all its files *.yaml in the order of their names, read as one: their lists are joined,\n"
		"and any other key, or a PF, that two of them have is refused.",
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(apply_options),
	.run = run_apply,
};
