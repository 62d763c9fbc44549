// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * selftest: tries everything that vfctl does to a PF on a PF that is not in use, and restores it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "command.h"
#include "host/files.h"
#include "selftest/selftest.h"

#define REPORT 1 /* version of the JSON format */
#define CLASS_NETWORK 0x02
#define CLASS_NVME 0x0108

/* ---- the report ---- */

static const char *kind_of(const struct vfctl_selftest_card *c)
{
	if (c->infiniband)
		return "InfiniBand";
	if (c->class_code >> 16 == CLASS_NETWORK)
		return "Ethernet";
	return c->class_code >> 8 == CLASS_NVME ? "NVMe" : "other";
}

static size_t count_of(const struct vfctl_selftest *t, enum vfctl_selftest_outcome outcome)
{
	struct vfctl_selftest_trial x;
	size_t n = 0;

	for (size_t i = 0; vfctl_selftest_trial(t, i, &x); i++)
		n += x.outcome == outcome;
	return n;
}

/* It differs from the driver tables. */
static bool differs(const struct vfctl_selftest *t)
{
	struct vfctl_selftest_trial x;

	for (size_t i = 0; vfctl_selftest_trial(t, i, &x); i++)
		if (x.differs)
			return true;
	return false;
}

static void print_head(struct out *out, const struct vfctl_selftest_card *c)
{
	const char *kind = kind_of(c);

	out_line(out, "%s %s, driver %s, %" PRIu32 " VF%s, kernel %s, vfctl " VFCTL_VERSION,
		strcmp(kind, "other") ? kind : "Function of another kind",
		c->device_id, c->driver, c->total_vfs, plural(c->total_vfs),
		c->kernel[0] ? c->kernel : "unknown");
	if (!c->moderation_known && !c->attributes_known)
		out_line(out, "vfctl's tables do not have this driver: every result is new");
}

static void put_time(struct out *out, double ms)
{
	if (isnan(ms))
		out_cell(out, "%s", "");
	else if (ms < 1000)
		out_cell(out, "%.0f ms", ms);
	else
		out_cell(out, "%.1f s", ms / 1000);
}

static void print_text(struct out *out, const struct vfctl_selftest *t, bool is_back)
{
	static const char *const headings[] = {"OUTCOME", "AREA", "TRIAL", "TIME", "WHAT WAS SEEN"};
	static const signed char give[] = {OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_WRAPS_SOON};
	struct vfctl_selftest_card card;
	struct vfctl_selftest_trial x;
	size_t differences = vfctl_selftest_differences(t);

	vfctl_selftest_card(t, &card);
	print_head(out, &card);
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; vfctl_selftest_trial(t, i, &x); i++) {
		out_cell(out, "%s%s", vfctl_selftest_outcome_name(x.outcome), x.differs ? " (!)" : "");
		out_cell(out, "%s", x.area);
		out_cell(out, "%s", x.name);
		put_time(out, x.ms);
		out_cell(out, "%s", x.message ? x.message : "");
	}
	out_table_end(out);
	out_line(out, "%zu trials: %zu passed, %zu failed, %zu not supported, %zu not tried; the PF is %s",
		vfctl_selftest_count(t), count_of(t, VFCTL_SELFTEST_PASS), count_of(t, VFCTL_SELFTEST_FAIL),
		count_of(t, VFCTL_SELFTEST_UNSUPPORTED), count_of(t, VFCTL_SELFTEST_UNTRIED),
		is_back ? "restored" : "not restored");
	if (differences)
		out_line(out, "%zu differ from what %s should do%s", differences,
			differences == 1 ? "it" : "they",
			differs(t) ? "; (!) differs from vfctl's table of the driver" : "");
}

static const char *outcome_word(enum vfctl_selftest_outcome outcome)
{
	static const char *const message[] = {[VFCTL_SELFTEST_UNTRIED] = "not-tried",
		[VFCTL_SELFTEST_PASS] = "pass", [VFCTL_SELFTEST_UNSUPPORTED] = "not-supported",
		[VFCTL_SELFTEST_FAIL] = "fail"};

	return message[outcome];
}

#define OF struct vfctl_selftest_card
TEXT_OF(card_kind, OF, kind_of(it))
static const struct member card_table[] = {
	TEXT("kind", card_kind, "Ethernet, InfiniBand, NVMe or other"),
	FIELD(device_id, "vendor and device, such as \"8086:10c9\"", FILLED),
	FIELD(driver, "driver of the PF", FILLED),
	FIELD(total_vfs, "VFs that the driver allows"),
	FIELD(speed_mbps, "speed of the link", NONZERO),
	FIELD(moderation_known, "vfctl knows the interrupt moderation of the driver"),
	FIELD(attributes_known, "vfctl knows the VF attributes of the driver"), END};
#undef OF

#define OF struct vfctl_selftest_trial
TEXT_OF(trial_outcome, OF, outcome_word(it->outcome))
static const struct member trial_name_table[] = {
	FIELD(area, "what is tested: create, attributes, driver, reset, ...", FILLED),
	FIELD(name, "name of the trial", FILLED), END};
static const struct member trial_table[] = {
	PART_SELF(trial_name_table),
	TEXT("outcome", trial_outcome, "pass, fail, not-supported or not-tried"),
	FIELD(differs, "the outcome differs from vfctl's tables of the driver"),
	FIELD(ms, "duration; null: not measured"),
	FIELD(message, "what was seen, or why it was not tried"), END};
#undef OF

struct selftest_view {
	const struct vfctl_selftest *test;
	struct vfctl_selftest_card card;
	const char *version;
};

static int fill_trials(struct out *out, const void *of)
{
	const struct selftest_view *view = of;
	struct vfctl_selftest_trial x;

	for (size_t i = 0; vfctl_selftest_trial(view->test, i, &x); i++)
		answer_put(out, NULL, trial_table, &x);
	return 0;
}

static int fill_planned_trials(struct out *out, const void *of)
{
	const struct selftest_view *view = of;
	struct vfctl_selftest_trial x;

	for (size_t i = 0; vfctl_selftest_trial(view->test, i, &x); i++)
		answer_put(out, NULL, trial_name_table, &x);
	return 0;
}

#define OF struct selftest_view
NUMBER_OF(report_version, OF, it->test, REPORT)
TEXT_OF(report_kernel, OF, it->card.kernel[0] ? it->card.kernel : NULL)
NUMBER_OF(report_differences, OF, true, vfctl_selftest_differences(it->test))
static const struct member report_table[] = {
	NUMBER("report", report_version, "1, the version of this report"),
	FIELD_AS("vfctl", version, "version of vfctl", FILLED),
	TEXT("kernel", report_kernel, "version of the kernel", NULLABLE),
	OBJECT("card", card, card_table, "the device, without anything that identifies it"),
	FILL("trials", fill_trials, trial_table, "trials, in order"),
	NUMBER("differences", report_differences, "trials that failed or differ"), END};
static const struct member trials_table[] = {
	ALWAYS_TRUE("dry_run", "true"),
	FILL("trials", fill_planned_trials, trial_name_table, "trials, in order"), END};
#undef OF
static const struct answer selftest_answer[] = {{"With `--dry-run`", trials_table, false},
	{"When it is done", report_table, false}, {0}};

static void print_json(struct out *out, const struct vfctl_selftest *t)
{
	struct selftest_view view = {.test = t, .version = VFCTL_VERSION};

	vfctl_selftest_card(t, &view.card);
	answer_put(out, NULL, report_table, &view);
}

static void print_report(struct invocation *in, struct out *out, const struct vfctl_selftest *t)
{
	if (in->json)
		print_json(out, t);
	else
		print_text(out, t, true);
}

/* Replace the file atomically. */
static int write_report(struct invocation *in, struct vfctl_output *output,
	const struct vfctl_selftest *t)
{
	FILE *file = fdopen(dup(vfctl_output_fd(output)), "w");
	struct out *out = file ? out_new(file) : NULL;
	bool good = false;

	if (out) {
		print_report(in, out, t);
		good = out_close(out);
	}
	if (file && fclose(file) != 0)
		good = false;
	if (!good)
		return fail_as(in, EXIT_FAILED, -EIO, "the report could not be written to %s; the test "
			"is over and the PF is restored", option_of(in, "output"));
	return vfctl_output_commit(in->ctx, output) < 0 ? fail(in, -EIO) : EXIT_DONE;
}

/* ---- the command ---- */

static int print_plan(struct invocation *in, const struct vfctl_selftest *t)
{
	struct vfctl_selftest_trial x;

	if (in->json)
		answer_put(in->out, NULL, trials_table, &(struct selftest_view){.test = t});
	for (size_t i = 0; !in->json && vfctl_selftest_trial(t, i, &x); i++)
		out_line(in->out, "%zu. %s: %s", i + 1, x.area, x.name);
	return EXIT_DONE;
}

static int test(struct invocation *in, struct vfctl_selftest *t)
{
	const char *path = option_of(in, "output");
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int status = EXIT_DONE, r = 0;

	/* Check that the file can be written before the card is changed. */
	if (path)
		r = vfctl_output_open(in->ctx, path, true, &output);
	if (r == 0) {
		catch_signals(in->ctx);
		r = vfctl_selftest_run(t);
	}
	/* The results of the trials are known, even if the roll-back failed. */
	if (r == -ESTALE && !output && !in->json)
		print_text(in->out, t, false);
	if (r < 0)
		status = fail(in, r);
	else if (output)
		status = write_report(in, output, t);
	else
		print_report(in, in->out, t);
	return !status && vfctl_selftest_differences(t) ? EXIT_DRIFT : status;
}

static int run_selftest(struct invocation *in)
{
	unsigned flags = (in->dry_run ? VFCTL_SELFTEST_DRY_RUN : 0u) |
		(option_of(in, "force") ? VFCTL_SELFTEST_FORCE : 0u);
	_cleanup_(vfctl_selftest_closep) struct vfctl_selftest *t = NULL;
	int r;

	if (!in->dry_run && !option_of(in, "yes"))
		return usage(in, "a self-test creates and removes all VFs of %s and changes its "
			"MTU, interrupt moderation and eswitch mode, so its link may go down "
			"briefly; afterwards everything is restored. Begin with --yes, or list "
			"the trials with --dry-run",
			in->args[0]);
	r = vfctl_selftest_open(in->ctx, in->args[0], flags, &t);
	if (r < 0)
		return fail(in, r);
	return in->dry_run ? print_plan(in, t) : test(in, t);
}

static const struct option_row options[] = {
	{"yes", 'y', NULL, "confirm: the PF has other VFs, MTU and moderation during the test", NULL},
	{"force", 0, NULL, "also while the default route or connections of this host use the PF", NULL},
	{"output", 0, "FILE", "write the report to FILE (with --json: as JSON)", NULL},
};

const struct command cmd_selftest = {
	.name = "selftest",
	.group = GROUP_HEALTH,
	.answer = selftest_answer,
	.args = "PF",
	.summary = "Try everything that vfctl does on an unused PF",
	.text = "Creates 1, 2, half and all VFs; sets each attribute of a VF and reads it "
		"back; resets a VF and binds it to vfio-pci and to its own driver; sets the "
		"interrupt moderation at and beyond each limit, the MTU and the eswitch mode."
		" It compares the results with vfctl's table of the driver, measures times, "
		"and restores the PF, also after Ctrl-C (after a kill, vfctl recover does). "
		"It is rejected while a VF of the PF is in use, leased or in a domain's "
		"definition, while the PF is a port of a bridge or bond, and, without "
		"--force, while the default route or a TCP connection such as your ssh "
		"session uses the PF. The report names neither the host nor the card. Exit "
		"status: 3 if a trial failed or differs from the table.",
	.examples = {{"vfctl selftest ens1 --dry-run", "print the trials"},
		{"vfctl selftest ens1 --yes --output report.txt", "run them"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.run = run_selftest,
};
