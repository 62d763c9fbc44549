// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench run, latency, throughput, rdma: measure according to a plan, or one made from a few
 * options.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "draft.h"
#include "main.h"
#include "progress.h"
#include "session.h"
#include "verbs.h"
#include "bench/measure.h"

#define PLAN_MAX (256u << 10)

/* ---- planning ---- */

static int read_number(struct invocation *in, const char *name, unsigned long max,
	unsigned long *ret)
{
	const char *text = option_of(in, name);
	char *end;

	if (!text)
		return EXIT_DONE;
	errno = 0;
	*ret = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *ret < 1 || *ret > max)
		return usage(in, "--%s must be a number of 1 to %lu, not '%s'", name, max, text);
	return EXIT_DONE;
}

static int read_options(struct invocation *in, struct vfctl_bench_plan_options *ret)
{
	unsigned long seed = 0, trials = 0;
	int status = read_number(in, "seed", UINT32_MAX, &seed);

	if (!status)
		status = read_number(in, "trials", 1000, &trials);
	ret->quick = option_of(in, "quick");
	ret->seed = seed;
	ret->trials = (uint32_t)trials;
	return status;
}

static int open_plan(struct invocation *in, const struct vfctl_bench_plan_options *options,
	struct vfctl_bench **ret)
{
	_free_ char *text = NULL;
	size_t len = 0;
	int r = check_commands_of(in, in->args[0]);

	/* A missing file is a mistake of the user, as everywhere. */
	if (r && access(in->args[0], F_OK) == 0)
		return r;
	r = read_named(in, in->args[0], PLAN_MAX, &text, &len);
	if (r)
		return r;
	r = vfctl_bench_open(in->ctx, in->args[0], text, len, options, ret);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int bench_run_check(struct invocation *in)
{
	_free_ char *text = NULL;
	size_t len = 0;
	int r = read_named(in, in->args[0], PLAN_MAX, &text, &len);

	if (r)
		return r;
	r = vfctl_bench_check(in->ctx, in->args[0], text, len);
	if (r < 0)
		return fail(in, r);
	if (!in->quiet)
		out_line(in->out, "%s: valid bench plan", in->args[0]);
	return EXIT_DONE;
}

/* ---- output before measuring ---- */

void bench_print_checks(struct invocation *in, const struct vfctl_bench *bench)
{
	const struct bench_check *checks;
	size_t count = vfctl_bench_checks(bench, &checks);

	for (size_t i = 0; i < count; i++)
		if (checks[i].state != BENCH_CHECK_OK)
			warn("%s", checks[i].text);
}

void bench_print_effects(struct invocation *in, const struct vfctl_bench *bench)
{
	const char *text;

	for (size_t i = 0; (text = vfctl_bench_effect(bench, i)); i++)
		out_fold(in->out, 2, "%s", text);
}

static int fill_effects(struct out *out, const void *of)
{
	const struct bench_dry *dry = of;
	const char *text;

	for (size_t i = 0; (text = vfctl_bench_effect(dry->bench, i)); i++)
		out_str(out, NULL, text);
	return 0;
}

static int fill_checks(struct out *out, const void *of)
{
	const struct bench_dry *dry = of;
	const struct bench_check *checks;
	size_t count = vfctl_bench_checks(dry->bench, &checks);

	for (size_t i = 0; i < count; i++)
		answer_put(out, NULL, answer_check, &checks[i]);
	return 0;
}

struct turn_view {
	size_t run;
	struct vfctl_bench_turn turn;
};

#define OF struct turn_view
static const struct member turn_table[] = {
	FIELD(run, "number of the run in this order, from 1"),
	FIELD_AS("trial", turn.trial, "number of the trial; 0: a warm-up"),
	FIELD_AS("configuration", turn.configuration, "name of the configuration"),
	FIELD_AS("what", turn.what, "test and parameters"),
	FIELD_AS("client", turn.client, "command line of the client"),
	FIELD_AS("server", turn.server, "command line of the server"), END};
#undef OF

static int each_turn(const struct vfctl_bench *bench, struct out *out,
	void (*print)(struct out *out, size_t at, const struct vfctl_bench_turn *turn))
{
	size_t count = vfctl_bench_turn_count(bench);

	for (size_t i = 0; i < count; i++) {
		struct vfctl_bench_turn turn;
		int r = vfctl_bench_turn(bench, i, &turn);

		if (r < 0)
			return r;
		print(out, i, &turn);
		free(turn.what);
		free(turn.client);
		free(turn.server);
	}
	return 0;
}

static void put_turn(struct out *out, size_t at, const struct vfctl_bench_turn *turn)
{
	answer_put(out, NULL, turn_table, &(struct turn_view){at + 1, *turn});
}

static int fill_turns(struct out *out, const void *of)
{
	return each_turn(((const struct bench_dry *)of)->bench, out, put_turn);
}

#define OF struct bench_dry
TEXT_OF(dry_name, OF, vfctl_bench_name(it->bench))
NUMBER_OF(dry_seed, OF, true, vfctl_bench_seed(it->bench))
const struct member answer_dry_name[] = {
	TEXT("name", dry_name, "name of the plan"),
	NUMBER("seed", dry_seed, "seed of the random order"), END};
const struct member answer_dry_checks[] = {
	FILL_EACH("effects", fill_effects, MEMBER_TEXT, "settings that are changed for the "
		"measurement and then restored"),
	FILL("checks", fill_checks, answer_check, "checks of both ends"), END};
static const struct member dry_table[] = {
	PART_SELF(answer_dry_name),
	PART_SELF(answer_dry_checks),
	FILL("runs", fill_turns, turn_table, "runs, in order"), END};
#undef OF
const struct answer bench_run_answer[] = {{"With `--dry-run`", dry_table, false},
	{"When it is done", answer_report, false}, {0}};

static void print_turn(struct out *out, size_t at, const struct vfctl_bench_turn *turn)
{
	out_cell(out, "%zu", at + 1);
	if (turn->trial)
		out_cell(out, "%u", turn->trial);
	else
		out_cell(out, "warm-up");
	out_cell(out, "%s", turn->configuration);
	out_cell(out, "%s", turn->what);
	out_cell(out, "%s", turn->client);
}

static int print_dry_run(struct invocation *in, const struct vfctl_bench *bench)
{
	static const char *const headings[] = {"RUN", "TRIAL", "CONFIGURATION", "WHAT", "CLIENT"};
	static const signed char give[] = {OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_WRAPS, OUT_WRAPS_SOON};
	int r;

	if (in->json) {
		r = answer_put(in->out, NULL, dry_table, &(struct bench_dry){bench});
		return r < 0 ? fail(in, r) : EXIT_DONE;
	}
	out_line(in->out, "%s: %zu runs in this order (seed %llu)", vfctl_bench_name(bench),
		vfctl_bench_turn_count(bench), (unsigned long long)vfctl_bench_seed(bench));
	bench_print_effects(in, bench);
	bench_print_checks(in, bench);
	out_table(in->out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(in->out, give);
	r = each_turn(bench, in->out, print_turn);
	if (r < 0)
		return fail(in, r);
	out_table_end(in->out);
	return EXIT_DONE;
}

/* ---- measuring ---- */

static int default_directory(const struct vfctl_bench *bench, char *buf, size_t size)
{
	const char *in = geteuid() == 0 ? VFCTL_BENCH_DIR "/" : "";
	time_t now = time(NULL);
	char name[96], when[32];
	struct tm tm;
	size_t at = 0;

	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", gmtime_r(&now, &tm));
	for (const char *c = vfctl_bench_name(bench); *c && at < sizeof(name) - 1; c++)
		name[at++] = strchr(" /\t\"'\\$`", *c) ? '-' : *c;
	name[at] = '\0';
	return snprintf(buf, size, "%s%s-%s", in, name[0] == '.' || name[0] == '-' ? "bench" : name,
		       when) < (int)size
		? 0
		: -ENAMETOOLONG;
}

static int print_result(struct invocation *in, const char *directory)
{
	static const struct vfctl_bench_options plain = {.alpha = __builtin_nan(""),
		.noise = __builtin_nan("")};
	_cleanup_(vfctl_bench_report_freep) struct vfctl_bench_report *report = NULL;
	int r = vfctl_bench_report_read(in->ctx, directory, &plain, &report);

	if (r < 0)
		return fail(in, r);
	if (in->json) {
		bench_put_report(in->out, report, false);
	} else {
		bench_print(in->out, report, NULL);
		out_line(in->out, "%s", "");
		out_fold(in->out, 2, "The figures are in %s; as a page with plots: vfctl bench report "
			"%s --html FILE", directory, directory);
	}
	return EXIT_DONE;
}

/*
 * A plan whose trials cannot show a difference is measured after a question at a terminal, with
 * --no-verdict, or as a quick run. @return EXIT_DONE: measure.
 */
static int ask_about_trials(struct invocation *in, const struct vfctl_bench *bench)
{
	unsigned trials = vfctl_bench_trials(bench), needed = vfctl_bench_trials_needed(bench);
	char line[16] = "";

	if (trials >= needed || option_of(in, "no-verdict") || option_of(in, "quick"))
		return EXIT_DONE;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return usage(in, "%s: nothing was measured: a verdict needs %u trials, and the plan makes "
			"%u; use --trials %u, or --no-verdict to measure without a verdict",
			vfctl_bench_name(bench), needed, trials, needed);
	progress_hide();
	tcflush(STDIN_FILENO, TCIFLUSH); /* what was typed before the question is not an answer */
	fputs("Measure without a verdict? [y/N] ", stderr);
	if (read(STDIN_FILENO, line, sizeof(line) - 1) < 0)
		*line = '\0'; /* a signal: as if the answer were no */
	progress_go_on();
	if (*line == 'y' || *line == 'Y')
		return EXIT_DONE;
	return fail_as(in, EXIT_FAILED, -ECANCELED, "nothing was measured: the trials of this plan cannot "
		"show a difference");
}

static void print_start(const struct bench_work *work, const struct vfctl_bench *bench,
	const char *directory)
{
	unsigned trials = vfctl_bench_trials(bench), needed = vfctl_bench_trials_needed(bench);

	say_clean("%s: %s%zu runs into %s (order: seed %llu)", vfctl_bench_name(bench),
		work->search ? "at most " : "", vfctl_bench_most_runs(bench), directory,
		(unsigned long long)vfctl_bench_seed(bench));
	if (needed && trials >= needed)
		say_clean("%s: a verdict needs %u trials of each configuration; the plan makes %u",
			vfctl_bench_name(bench), needed, trials);
}

static int measure_bench_run(struct invocation *in, const struct bench_work *work,
	struct vfctl_bench *bench,
	const char *directory)
{
	int r;

	if (!in->json)
		bench_print_checks(in, bench);
	r = work->resume ? EXIT_DONE : ask_about_trials(in, bench);
	if (r)
		return r;
	if (!in->quiet)
		print_start(work, bench, directory);
	r = vfctl_bench_run(bench, directory);
	progress_stop();
	if (r == -EINTR)
		return fail_as(in, EXIT_FAILED, r, "interrupted; the measured runs are kept; to "
			"continue: vfctl %s --resume %s", work->search ? "tune search" : "bench "
			"run", directory);
	if (r < 0)
		return fail(in, r);
	return work->result ? work->result(in, directory) : print_result(in, directory);
}

static int look_and_measure(struct invocation *in, const struct bench_work *work,
	struct vfctl_bench *bench)
{
	const char *directory = work->resume ? work->resume : option_of(in, "output");
	char buf[4096];
	int r;

	/* From here on there are connections with temporary files, which must be removed. */
	catch_signals(in->ctx);
	r = vfctl_bench_look(bench);
	if (r < 0)
		return fail(in, r);
	if (in->dry_run)
		return work->dry ? work->dry(in, bench) : print_dry_run(in, bench);
	if (!directory && default_directory(bench, buf, sizeof(buf)) < 0)
		return usage(in, "the name of the result directory would be too long; use --output DIR");
	return measure_bench_run(in, work, bench, directory ? directory : buf);
}

/* The plan of the continued run is in the directory. */
static int check_result(struct invocation *in, const char *dir)
{
	static const char *const names[] = {"bench.json", "plan.yaml"};
	int status = EXIT_DONE;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !status; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		/* The later read reports a missing file. */
		if (access(path, F_OK) == 0)
			status = check_commands_of(in, path);
	}
	return status;
}

static int open_bench(struct invocation *in, const struct bench_work *work,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret)
{
	int r;

	if (!work->resume && !work->draft)
		return open_plan(in, options, ret);
	if (work->resume) {
		r = check_result(in, work->resume);
		if (r)
			return r;
		r = vfctl_bench_reopen(in->ctx, work->resume, options, ret);
	} else {
		r = vfctl_bench_open_draft(in->ctx, work->draft, options, ret);
	}
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int bench_work(struct invocation *in, const struct bench_work *work)
{
	struct vfctl_bench_plan_options options = {.search = work->search,
		.max_seconds = work->max_seconds};
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	_cleanup_(vfctl_bench_closep) struct vfctl_bench *bench = NULL;
	int status = read_options(in, &options);

	if (status)
		return status;
	progress_start();
	/* Without libvirt only guests are unreachable, which is reported where one is needed. */
	main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);
	options.hypervisor = hv;
	status = open_bench(in, work, &options, &bench);
	if (!status)
		status = look_and_measure(in, work, bench);
	progress_stop();
	return status;
}

int bench_run_plan(struct invocation *in)
{
	const char *resume = option_of(in, "resume");

	if (resume && in->arg_count > 0)
		return usage(in, "--resume continues the plan of its directory; do not name another");
	if (!resume && in->arg_count < 1)
		return usage(in, "needs a plan: vfctl bench run PLAN.yaml (docs/how-to/bench.md has some), "
			"or --resume DIR");
	if (resume && (option_of(in, "seed") || option_of(in, "trials") || option_of(in, "output") ||
			      option_of(in, "quick")))
		return usage(in, "--resume continues with the --seed, --trials, --quick and --output of its "
			"result");
	return bench_work(in, &(struct bench_work){.resume = resume});
}

/* ---- a plan made from a few options ---- */

static int draft_ends(struct invocation *in, struct plan_draft *d, const char *kind)
{
	const char *device = in->args[0], *to = option_of(in, "to"), *peer = option_of(in, "peer-device");
	bool rdma = strcmp(kind, "rdma") == 0;
	const char *key = rdma ? "rdma" : "device";
	unsigned count = 0;
	int status;

	if (!to)
		return usage(in, "needs the address of the other end: vfctl bench %s %s --to ADDRESS", kind,
			device);
	plan_draft_put(d, kind, "name", NULL);
	plan_draft_put(d, device, "endpoints", "client", key, NULL);
	if (peer || rdma)
		plan_draft_put(d, peer ? peer : device, "endpoints", "server", key, NULL);
	status = draft_server(in, d, to);
	plan_draft_put(d, NULL, "configurations", "as-it-is", NULL);
	if (!status)
		status = draft_configurations(in, d, "set", &count);
	if (count)
		plan_draft_put(d, "as-it-is", "baseline", NULL);
	return status;
}

/* A test of a short form, and the options that change it. */
struct short_test {
	const char *name, *tool;
	const char *size, *duration; /* the default; NULL: none, and no option for it */
	const char *threads, *key, *value;
	bool raw_samples;
};

static void draft_short_test(struct invocation *in, struct plan_draft *d,
	const struct short_test *t)
{
	const char *size = option_of(in, "size"), *duration = option_of(in, "duration");

	plan_draft_put(d, t->name, "tests", "+", "name", NULL);
	draft_test(d, "tool", t->tool);
	/* A test with a single size keeps it. */
	if (t->size)
		draft_test_list(d, "size", size && strchr(t->size, ',') ? size : t->size);
	if (t->duration)
		draft_test(d, "duration", duration ? duration : t->duration);
	if (t->threads)
		draft_test_list(d, "threads", t->threads);
	if (t->key)
		draft_test(d, t->key, t->value);
	if (t->raw_samples)
		draft_test(d, "raw-samples", "on");
}

static int run_short(struct invocation *in, const char *kind, const struct short_test *tests,
	size_t count)
{
	_cleanup_(plan_draft_freep) struct plan_draft *d = NULL;
	int status, r = plan_draft_new(in->ctx, &d);

	if (r < 0)
		return fail(in, r);
	status = draft_ends(in, d, kind);
	for (size_t i = 0; i < count; i++)
		draft_short_test(in, d, &tests[i]);
	return status ? status : bench_work(in, &(struct bench_work){.draft = d});
}

int bench_run_latency(struct invocation *in)
{
	static const struct short_test tests[] = {{"udp-latency", "sockperf", "64,1024", "2s", NULL,
		"transport", "udp", true}};

	return run_short(in, "latency", tests, ARRAY_SIZE(tests));
}

int bench_run_throughput(struct invocation *in)
{
	static const struct short_test tests[] = {{.name = "tcp-throughput", .tool = "iperf3",
		.duration = "5s", .threads = "1,2,4,8"}};

	return run_short(in, "throughput", tests, ARRAY_SIZE(tests));
}

int bench_run_rdma(struct invocation *in)
{
	/* The inline size is made equal, because a VF may not support inlining. */
	static const struct short_test tests[] = {
		{"write-latency", "ib_write_lat", "2,4096", NULL, NULL, "inline", "0", true},
		{"read-latency", "ib_read_lat", "2,4096", NULL, NULL, NULL, NULL, true},
		{.name = "write-bandwidth", .tool = "ib_write_bw", .size = "65536"},
	};

	return run_short(in, "rdma", tests, ARRAY_SIZE(tests));
}
