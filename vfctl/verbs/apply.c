// SPDX-License-Identifier: GPL-2.0-or-later
/* apply: bring the host to the state that host.yaml declares. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "checks/findings.h"
#include "facts/hostfile.h"
#include "host_ids.h"
#include "ids/pools.h"
#include "lease/recover.h"
#include "monitor/watch.h"
#include "print/declared.h"
#include "spec/host_yaml.h"
#include "verbs/apply_lag.h"
#include "verbs/apply_run.h"

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

static int run_jobs(const struct jobs *jobs)
{
	if (jobs->count > 1)
		return workers_run(jobs);
	if (jobs->count)
		applying_run_here(jobs);
	return 0;
}

static int carry_out(struct invocation *in, const struct apply_view *v)
{
	_cleanup_(applying_clear) struct applying a;
	int r = applying_init(in, v, &a);
	struct jobs host, pfs;

	if (r < 0)
		return fail(in, r);
	host = applying_host_jobs(&a);
	pfs = applying_pf_jobs(&a);
	run_jobs(&host);
	r = run_jobs(&pfs);
	if (r < 0)
		return fail(in, r);
	apply_lags(in, v->spec, v->declared, a.count > 0, a.lags.v);
	return applying_tell(&a, answer_applied);
}

/* ---- waiting ---- */

/* A PF that is absent, or whose driver or udev is not finished yet. */
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

/* Some changes cause no event, so check at least every second. */
static void await_event(struct invocation *in, struct vfctl_watch *w, int64_t left_ms)
{
	int ms = left_ms < 1000 ? (int)left_ms : 1000;
	unsigned what;

	if (!w || vfctl_watch_wait(in->ctx, w, -1, ms, &what) < 0)
		poll(NULL, 0, ms);
}

/* Check again whenever a device appears, until no declared device is absent. */
static int await_devices(struct invocation *in, const char *path, unsigned seconds,
	struct apply_view *v)
{
	int64_t end = now_ms() + (int64_t)seconds * 1000, left;
	const struct vfctl_declared_pf *absent;
	_cleanup_(vfctl_watch_closep) struct vfctl_watch *watch = NULL;
	int status = EXIT_DONE;
	bool told = in->quiet;

	if (seconds) /* if there are no events, checking every second is enough */
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

/* ---- dry run ---- */

const struct member answer_apply_dry[] = {
	ALWAYS_TRUE("dry_run", "true"),
	PART_SELF(answer_differences), END};

int apply_dry_run(struct invocation *in, const struct apply_view *v)
{
	_cleanup_(applying_clear) struct applying a;
	int r = applying_init(in, v, &a);

	if (r < 0)
		return fail(in, r);
	a.of_host = false;
	a.count = 0;
	if (in->json)
		answer_put(in->out, NULL, answer_apply_dry, &(struct differences){.declared = v->declared,
			.apply = true, .differs = declared_some_differ(v->declared)});
	else
		print_declared(in, v->declared);
	return applying_status(&a);
}

/*
 * A change that was interrupted may have left this host as declared in all that is compared:
 * recover first. A change that cannot be recovered does not affect the other PFs.
 */
static bool recover_first(struct invocation *in)
{
	const struct vfctl_recover_options how = {.host_only = true};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *open = NULL;
	int r = vfctl_recover(in->ctx, &how, &open);

	for (size_t i = 0; open && i < open->count; i++)
		if (open->changes[i].error)
			warn("'%s' was interrupted and cannot be rolled back: %s; solve that, then run: "
			     "vfctl recover", open->changes[i].story, open->changes[i].error);
	/* The comparison of leases reports a state file that cannot be read. */
	return !open || r == 0;
}

int apply_look(struct invocation *in, unsigned wait_seconds, struct apply_view *v,
	bool *ret_recovered)
{
	int status;

	*ret_recovered = in->dry_run || recover_first(in);
	status = await_devices(in, apply_declaration(in), wait_seconds, v);
	if (status == EXIT_DONE && v->spec->absent)
		return fail_as(in, EXIT_USAGE, -ENOENT, "no " VFCTL_HOST_SPEC_PATH " (a "
			"host.yml is not read); vfctl export prints this host as such a file; another "
			"file: vfctl %s FILE", in->command->name);
	return status;
}

/* apply starts no service: the administrator decides whether MACs are kept after a reboot. */
static void warn_of_monitor(struct invocation *in, const struct vfctl_host_spec *spec)
{
	_free_ char *message = NULL;

	if (vfctl_bridge_missing(in->ctx, spec, &message) == 0 && message)
		warn("%s; run: " VFCTL_BRIDGE_REMEDY, message);
}

static int run_apply(struct invocation *in)
{
	_cleanup_(apply_close) struct apply_view v = {0};
	unsigned seconds = 0;
	bool recovered = true;
	int status = option_seconds(in, "wait", 0, 3600, &seconds);

	if (status == 0)
		status = apply_look(in, seconds, &v, &recovered);
	if (status)
		return status;
	status = in->dry_run ? apply_dry_run(in, &v) : carry_out(in, &v);
	if (status != EXIT_FAILED && status != EXIT_USAGE)
		warn_of_monitor(in, v.spec);
	return status == EXIT_DONE && !recovered ? EXIT_PARTLY : status;
}

static const struct option_row apply_options[] = {
	{"wait", 0, "SECONDS",
		"wait up to this long for absent PFs, as at boot (default: do not wait), and for "
		"another vfctl (at least 30)", NULL},
};

static const struct answer apply_answer[] = {{"With `--dry-run`", answer_apply_dry, false},
	{"When it is done", answer_applied, false}, {0}};

const struct command cmd_apply = {
	.name = "apply",
	.group = GROUP_HOST,
	.common = true,
	.answer = apply_answer,
	.args = "[FILE|DIR]",
	.summary = "Make the PFs of this host match host.yaml",
	.text = "Compares first and changes only what differs, so a second run changes "
		"nothing. PFs are changed in parallel, each as a whole or not at all. A PF "
		"that is absent, or whose VFs would have to go while one is in use, does not "
		"stop the others (exit status 4). Guests keep what they have until they stop."
		" FILE is read instead of /etc/vfctl/host.yaml. The *.yaml files of DIR are "
		"read as one file, in the order of their names: their lists are joined, and a"
		" key or PF that two files have is an error.",
	.examples = {{"vfctl apply --dry-run", "print what would change"},
		{"vfctl apply --wait 60", "at boot: wait up to a minute for absent PFs"}},
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(apply_options),
	.run = run_apply,
};
