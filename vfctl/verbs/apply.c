// SPDX-License-Identifier: GPL-2.0-or-later
/* apply: the host becomes as host.yaml says; status: is it? */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs/apply_lag.h"
#include "command.h"
#include "host_ids.h"
#include "main.h"
#include "print/declared.h"
#include "result.h"
#include "vfctl/findings.h"
#include "vfctl/recover.h"
#include "vfctl/watch.h"
#include "vfctl/workflow.h"
#include "workers.h"

#define AT_ONCE 32 /* PFs; the kernel works on each by itself */

/* What is declared, against what is. The pools are closed again: children open their own. */
struct view {
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_spec *spec;
	struct vfctl_declared *declared;
};

static void close_view(struct view *v)
{
	vfctl_declared_free(v->declared);
	vfctl_host_spec_free(v->spec);
	vfctl_snapshot_free(v->snapshot);
}

static int open_view(struct invocation *in, const char *path, struct view *ret)
{
	struct vfctl_ids *ids = NULL;
	int r = vfctl_host_ids_open(in->ctx, path, false, &ret->spec, &ids);

	if (r == 0)
		r = vfctl_snapshot_read(in->ctx, NULL, &ret->snapshot);
	if (r == 0)
		r = vfctl_declared_read(in->ctx, ret->snapshot, ret->spec, ids, &ret->declared);
	vfctl_ids_close(ids);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

static const char *declaration_of(const struct invocation *in)
{
	return in->arg_count ? in->args[0] : option_of(in, "host-yaml");
}

/* ---- carrying out ---- */

struct work {
	const struct view *view;
	const size_t *chosen; /* entries of the declaration */
};

/* Planned anew under the PF's lock: what was looked at before may have changed. */
static int plan_and_run(struct invocation *in, const struct view *v, size_t entry,
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
	struct vfctl_change *change = NULL;
	struct vfctl_ids *ids = NULL;
	int r = spec->pool_count || spec->partition_count
		? vfctl_ids_open(in->ctx, spec, true, &ids) : 0;

	if (r == 0)
		r = plan_and_run(in, work->view, work->chosen[index], ids, &change);
	for (unsigned tries = 1; r == -EAGAIN && tries < TRIES_MAX; tries++) {
		vfctl_change_free(change);
		change = NULL;
		r = plan_and_run(in, work->view, work->chosen[index], ids, &change);
	}
	ret->error = r;
	if (r == 0 && vfctl_change_pending(change))
		ret->pending = strdup(vfctl_change_pending(change));
	ret->moved = r == 0 && vfctl_change_moves_ids(change);
	if (r < 0)
		ret->words = strdup(vfctl_ctx_error(in->ctx));
	vfctl_change_free(change);
	vfctl_ids_close(ids);
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
static void apply_host(struct invocation *in, const struct view *v, struct outcome *ret)
{
	struct vfctl_change *change = NULL;
	int r;

	catch_signals(in->ctx);
	r = vfctl_apply_host_plan(in->ctx, v->spec, &change);
	if (r == 0)
		r = vfctl_change_run(in->ctx, change);
	ret->error = r;
	if (r == 0 && vfctl_change_pending(change))
		ret->pending = strdup(vfctl_change_pending(change));
	if (r < 0)
		ret->words = strdup(vfctl_ctx_error(in->ctx));
	vfctl_change_free(change);
}

/* ---- telling ---- */

/* @o NULL: nothing was to be done, or it could not be planned. */
static void tell_host(struct invocation *in, const struct vfctl_declared *d, const struct outcome *o)
{
	const char *words = o ? o->words : d->host_words, *pending = o ? o->pending : NULL;

	if (in->json) {
		out_open(in->out, "host", '{');
		print_declared_host_json(in, d);
		out_bool(in->out, "changed", o && !o->error);
		out_str(in->out, "error", words);
		out_str(in->out, "pending", pending);
		out_shut(in->out);
		return;
	}
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
	const struct outcome *o, const struct vfctl_snapshot *after)
{
	const char *pending = pending_of(pf, o);
	char title[128];

	declared_title(pf, title, sizeof(title));
	if (in->json) {
		out_open(in->out, NULL, '{');
		print_declared_json(in, pf);
		out_bool(in->out, "changed", o && !o->error);
		out_str(in->out, "error", o && o->error ? o->words : pf->words);
		out_str(in->out, "pending", pending);
		print_pf_result(in, o && !o->error ? after : NULL, pf->address);
		out_shut(in->out);
		return;
	}
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
	const struct lag_outcome *lags)
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
		failed += lags ? lags[i].o.error != 0 : d->lags[i].error != 0;
		stale |= lags && lags[i].o.error == -ESTALE;
	}
	if (stale || (failed && failed < managed))
		return EXIT_PARTLY;
	if (failed && mistaken == failed)
		return EXIT_USAGE;
	return failed ? EXIT_FAILED : pending ? EXIT_DRIFT : EXIT_DONE;
}

static int tell_all(struct invocation *in, const struct view *v, const size_t *chosen,
	const struct outcome *outcomes, size_t count, const struct outcome *host,
	const struct lag_outcome *lags)
{
	const struct vfctl_declared *d = v->declared;
	int status = status_of(d, chosen, outcomes, count, host, lags);
	bool changed = host && !host->error, moved = false;
	struct vfctl_snapshot *after = NULL;

	for (size_t i = 0; i < count; i++) {
		changed |= !outcomes[i].error;
		in->made |= changed;
		moved |= outcomes[i].moved;
	}
	for (size_t i = 0; i < d->lag_count; i++)
		changed |= lags[i].changed;
	if (in->json) {
		out_open(in->out, NULL, '{');
		out_bool(in->out, "changed", changed);
	}
	in->made |= changed;
	if (in->json && count)
		vfctl_snapshot_read(in->ctx, NULL, &after);
	tell_host(in, d, host);
	if (in->json)
		out_open(in->out, "pfs", '[');
	for (size_t i = 0; i < d->count; i++)
		tell_outcome(in, &d->pfs[i], outcome_of(chosen, outcomes, count, i), after);
	vfctl_snapshot_free(after);
	if (in->json)
		out_shut(in->out);
	tell_lags(in, d, lags);
	if (in->json)
		out_shut(in->out);
	else if (!d->count && !d->lag_count && !host && !d->host_error && !in->quiet)
		print_declared(in, d);
	if (moved && run_after_change(in, v->spec) && status == EXIT_DONE)
		status = EXIT_PARTLY;
	return status;
}

static int carry_out(struct invocation *in, const struct view *v)
{
	const struct vfctl_declared *d = v->declared;
	struct outcome *outcomes = calloc(d->count + 1, sizeof(*outcomes));
	size_t *chosen = calloc(d->count + 1, sizeof(*chosen)), count = 0;
	struct lag_outcome *lags = calloc(d->lag_count + 1, sizeof(*lags));
	struct work work = {v, chosen};
	struct outcome host = {0};
	bool of_host = d->host && vfctl_change_count(d->host);
	int status, r = outcomes && chosen && lags ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < d->count; i++)
		if (d->pfs[i].change && vfctl_change_count(d->pfs[i].change))
			chosen[count++] = i;
	if (r == 0 && of_host)
		apply_host(in, v, &host);
	if (count == 1) {
		catch_signals(in->ctx);
		apply_one(in, &work, 0, &outcomes[0]);
	} else if (count) {
		r = workers_run(in, count, how_many_at_once(d, chosen, count), apply_one, &work,
			outcomes);
	}
	if (r == 0)
		apply_lags(in, v->spec, d, count > 0, lags);
	status = r < 0 ? fail(in, r) : tell_all(in, v, chosen, outcomes, count, of_host ? &host : NULL, lags);
	for (size_t i = 0; outcomes && i < count; i++)
		outcome_clear(&outcomes[i]);
	outcome_clear(&host);
	lag_outcomes_free(lags, d->lag_count);
	free(outcomes);
	free(chosen);
	return status;
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

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
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
static int await_devices(struct invocation *in, const char *path, unsigned seconds, struct view *v)
{
	int64_t end = now_ms() + (int64_t)seconds * 1000, left;
	const struct vfctl_declared_pf *absent;
	struct vfctl_watch *watch = NULL;
	int status = EXIT_DONE;
	bool told = in->quiet;

	if (seconds) /* where no event can be heard, looking each second is enough */
		vfctl_watch_open(in->ctx, option_of(in, "host-yaml"), &watch);
	status = open_view(in, path, v);
	while (status == EXIT_DONE && (absent = first_absent(v->declared)) &&
		(left = end - now_ms()) > 0) {
		if (!told)
			say_clean("waiting up to %u s for %s", seconds, absent->name);
		told = true;
		await_event(in, watch, left);
		close_view(v);
		*v = (struct view){0};
		status = open_view(in, path, v);
	}
	vfctl_watch_close(watch);
	return status;
}

/* ---- only telling ---- */

static void print_differences(struct invocation *in, const struct vfctl_declared *d,
	const char *key)
{
	bool differs = declared_host_differs(d);

	for (size_t i = 0; i < d->count; i++)
		differs |= declared_differs(&d->pfs[i]);
	for (size_t i = 0; i < d->lag_count; i++)
		differs |= declared_lag_differs(&d->lags[i]);
	out_bool(in->out, key, differs);
	out_open(in->out, "host", '{');
	print_declared_host_json(in, d);
	out_bool(in->out, key, declared_host_differs(d));
	out_str(in->out, "error", d->host_words);
	out_str(in->out, "pending", d->host ? vfctl_change_pending(d->host) : NULL);
	if (d->host)
		print_operations(in, d->host);
	out_shut(in->out);
	out_open(in->out, "pfs", '[');
	for (size_t i = 0; i < d->count; i++) {
		out_open(in->out, NULL, '{');
		print_declared_json(in, &d->pfs[i]);
		out_bool(in->out, key, declared_differs(&d->pfs[i]));
		out_str(in->out, "error", d->pfs[i].words);
		out_str(in->out, "pending", d->pfs[i].change
			? vfctl_change_pending(d->pfs[i].change) : NULL);
		if (d->pfs[i].change)
			print_operations(in, d->pfs[i].change);
		out_shut(in->out);
	}
	out_shut(in->out);
	print_lag_differences(in, d, key);
}

static int dry_run(struct invocation *in, const struct vfctl_declared *d)
{
	if (in->json) {
		out_open(in->out, NULL, '{');
		out_bool(in->out, "dry_run", true);
		print_differences(in, d, "changed");
		out_shut(in->out);
	} else {
		print_declared(in, d);
	}
	return status_of(d, NULL, NULL, 0, NULL, NULL);
}

/*
 * A change that was interrupted may have left this host as declared in all that is compared: recover
 * first. What cannot be recovered keeps the other PFs from nothing.
 */
static bool recover_first(struct invocation *in)
{
	const struct vfctl_recover_options how = {.host_only = true};
	struct vfctl_recovery *open = NULL;
	int r = vfctl_recover(in->ctx, &how, &open);

	for (size_t i = 0; open && i < open->count; i++)
		if (open->changes[i].error)
			warn("'%s' was interrupted and cannot be rolled back: %s; remove what stands in the "
			     "way, then: vfctl recover", open->changes[i].story, open->changes[i].error);
	/* A state file that cannot be read is told of where leases are compared. */
	if (!open)
		return true;
	vfctl_recovery_free(open);
	return r == 0;
}

static int run_apply(struct invocation *in)
{
	struct view v = {0};
	unsigned seconds = 0;
	bool recovered = true;
	int status = option_seconds(in, "wait", 0, 3600, &seconds);

	if (status)
		return status;
	if (!in->dry_run)
		recovered = recover_first(in);
	status = await_devices(in, declaration_of(in), seconds, &v);
	if (status == EXIT_DONE && v.spec->absent)
		status = fail_as(in, EXIT_USAGE, -ENOENT, "no " VFCTL_HOST_SPEC_PATH " (a "
			"host.yml is not read); vfctl export prints this host as such a file; another "
			"file: vfctl apply FILE");
	else if (status == EXIT_DONE)
		status = in->dry_run ? dry_run(in, v.declared) : carry_out(in, &v);
	close_view(&v);
	return status == EXIT_DONE && !recovered ? EXIT_PARTLY : status;
}

static const struct option_row apply_options[] = {
	{"wait", 0, "SECONDS", "wait so long for PFs that are not there yet, as at boot", NULL},
};

const struct command cmd_apply = {
	.name = "apply",
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

/* ---- status ---- */

static void print_open(struct invocation *in, const struct vfctl_recovery *open)
{
	if (in->json)
		out_open(in->out, "open_changes", '[');
	for (size_t i = 0; open && i < open->count; i++) {
		const struct vfctl_recovered_change *c = &open->changes[i];
		bool goes_on = c->outcome == VFCTL_RECOVERED_GOES_ON;

		if (in->json) {
			out_open(in->out, NULL, '{');
			out_str(in->out, "story", c->story);
			out_int(in->out, "pid", c->pid);
			out_bool(in->out, "goes_on", goes_on);
			out_shut(in->out);
		} else {
			out_line(in->out, "'%s' (process %lld) %s", c->story, (long long)c->pid,
				goes_on ? "goes on" : "was cut short: vfctl recover");
		}
	}
	if (in->json)
		out_shut(in->out);
}

static void print_findings(struct invocation *in, const struct vfctl_findings *found)
{
	if (in->json)
		out_open(in->out, "findings", '[');
	for (size_t i = 0; found && i < found->count; i++) {
		const struct vfctl_finding *f = &found->v[i];

		if (in->json) {
			out_open(in->out, NULL, '{');
			out_str(in->out, "kind", vfctl_finding_name(f->kind));
			out_bool(in->out, "note", f->note);
			out_str(in->out, "domain", f->domain[0] ? f->domain : NULL);
			out_str(in->out, "vf", f->vf[0] ? f->vf : NULL);
			out_str(in->out, "words", f->words);
			out_str(in->out, "remedy", f->remedy);
			out_shut(in->out);
		} else {
			out_line(in->out, "%s%s%s%s; %s", f->note ? "note: " : "", f->domain,
				f->domain[0] ? ": " : "", f->words, f->remedy);
		}
	}
	if (in->json)
		out_shut(in->out);
	if (found && found->unread)
		warn("leases and domains are not compared: %s", found->unread);
}

static int connect_system(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret)
{
	return main_open_hypervisor(ctx, NULL, ret);
}

static int print_status(struct invocation *in, const struct view *v)
{
	const struct vfctl_declared *d = v->declared;
	const struct vfctl_recover_options how = {.dry_run = true, .connect = connect_system};
	struct vfctl_recovery *open = NULL;
	struct vfctl_findings *found = NULL;
	int r = vfctl_recover(in->ctx, &how, &open);
	bool differs = open && open->count;

	vfctl_snapshot_mark_left(in->ctx, v->snapshot, v->spec);
	if (r >= 0 || open)
		r = vfctl_findings_read(in->ctx, v->snapshot, v->spec, &found);
	if (r < 0) {
		vfctl_recovery_free(open);
		return fail(in, r);
	}
	differs |= found->unread != NULL || declared_host_differs(d);
	for (size_t i = 0; i < found->count; i++)
		differs |= !found->v[i].note;
	for (size_t i = 0; i < d->count; i++)
		differs |= declared_differs(&d->pfs[i]);
	for (size_t i = 0; i < d->lag_count; i++)
		differs |= declared_lag_differs(&d->lags[i]);
	if (in->json) {
		out_open(in->out, NULL, '{');
		print_differences(in, d, "drift");
		print_open(in, open);
		print_findings(in, found);
		out_shut(in->out);
	} else {
		print_declared(in, d);
		print_open(in, open);
		print_findings(in, found);
	}
	vfctl_findings_free(found);
	vfctl_recovery_free(open);
	return differs ? EXIT_DRIFT : EXIT_DONE;
}

static int run_status(struct invocation *in)
{
	struct view v = {0};
	int status = open_view(in, declaration_of(in), &v);

	if (status == EXIT_DONE)
		status = print_status(in, &v);
	close_view(&v);
	return status;
}

const struct command cmd_status = {
	.name = "status",
	.args = "[FILE|DIR]",
	.summary = "say where this host is not as host.yaml and its leases say",
	.text = "Prints what apply would do, changes of vfctl that were cut short or go on, and where\n"
		"leases, domains and VFs do not agree (a domain undefined or renamed behind vfctl's back, a\n"
		"VF that somebody else has), with what heals it. The status is 0 when there is nothing of\n"
		"all that, else 3. Notes leave it at 0: what host.yaml lets guests have (trust, no spoof\n"
		"check, VFs that are not kept apart), and VFs without a lease. Nothing is changed.",
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	.run = run_status,
};
