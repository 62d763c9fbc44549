// SPDX-License-Identifier: GPL-2.0-or-later
/* selftest: everything that vfctl does to a PF, tried on one that nobody uses, and put back. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "vfctl/host.h"
#include "vfctl/selftest.h"

#define REPORT 1 /* of the JSON's form */
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

/* From what the tables say. */
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
		c->device_id, c->driver, c->total_vfs, c->total_vfs == 1 ? "" : "s",
		c->kernel[0] ? c->kernel : "unknown");
	if (!c->moderation_known && !c->attributes_known)
		out_line(out, "vfctl's tables do not have this driver: what it takes is news");
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
		out_cell(out, "%s", x.words ? x.words : "");
	}
	out_table_end(out);
	out_line(out, "%zu trials: %zu passed, %zu failed, %zu not supported, %zu not tried; the PF is %s",
		vfctl_selftest_count(t), count_of(t, VFCTL_SELFTEST_PASS), count_of(t, VFCTL_SELFTEST_FAIL),
		count_of(t, VFCTL_SELFTEST_UNSUPPORTED), count_of(t, VFCTL_SELFTEST_UNTRIED),
		is_back ? "as it was" : "not as it was");
	if (differences)
		out_line(out, "%zu came out otherwise than %s should%s", differences,
			differences == 1 ? "it" : "they",
			differs(t) ? "; (!) otherwise than vfctl's tables say of the driver" : "");
}

static const char *outcome_word(enum vfctl_selftest_outcome outcome)
{
	static const char *const words[] = {[VFCTL_SELFTEST_UNTRIED] = "not-tried",
		[VFCTL_SELFTEST_PASS] = "pass", [VFCTL_SELFTEST_UNSUPPORTED] = "not-supported",
		[VFCTL_SELFTEST_FAIL] = "fail"};

	return words[outcome];
}

static void print_card(struct out *out, const struct vfctl_selftest_card *c)
{
	out_open(out, "card", '{');
	out_str(out, "kind", kind_of(c));
	out_str(out, "device_id", c->device_id);
	out_str(out, "driver", c->driver);
	out_int(out, "total_vfs", c->total_vfs);
	if (c->speed_mbps)
		out_int(out, "speed_mbps", c->speed_mbps);
	else
		out_null(out, "speed_mbps");
	out_bool(out, "moderation_known", c->moderation_known);
	out_bool(out, "attributes_known", c->attributes_known);
	out_shut(out);
}

static void print_json(struct out *out, const struct vfctl_selftest *t)
{
	struct vfctl_selftest_card card;
	struct vfctl_selftest_trial x;

	vfctl_selftest_card(t, &card);
	out_open(out, NULL, '{');
	out_int(out, "report", REPORT);
	out_str(out, "vfctl", VFCTL_VERSION);
	out_str(out, "kernel", card.kernel[0] ? card.kernel : NULL);
	print_card(out, &card);
	out_open(out, "trials", '[');
	for (size_t i = 0; vfctl_selftest_trial(t, i, &x); i++) {
		out_open(out, NULL, '{');
		out_str(out, "area", x.area);
		out_str(out, "name", x.name);
		out_str(out, "outcome", outcome_word(x.outcome));
		out_bool(out, "differs", x.differs);
		out_real(out, "ms", x.ms);
		out_str(out, "words", x.words);
		out_shut(out);
	}
	out_shut(out);
	out_int(out, "differences", (int64_t)vfctl_selftest_differences(t));
	out_shut(out);
}

static void print_report(struct invocation *in, struct out *out, const struct vfctl_selftest *t)
{
	if (in->json)
		print_json(out, t);
	else
		print_text(out, t, true);
}

/* The old file or the new one, never half of one. */
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
			"is over and the PF as it was", option_of(in, "output"));
	return vfctl_output_commit(in->ctx, output) < 0 ? fail(in, -EIO) : EXIT_DONE;
}

/* ---- the command ---- */

static int print_plan(struct invocation *in, const struct vfctl_selftest *t)
{
	struct vfctl_selftest_trial x;

	if (in->json) {
		out_open(in->out, NULL, '{');
		out_bool(in->out, "dry_run", true);
		out_open(in->out, "trials", '[');
	}
	for (size_t i = 0; vfctl_selftest_trial(t, i, &x); i++) {
		if (!in->json) {
			out_line(in->out, "%zu. %s: %s", i + 1, x.area, x.name);
			continue;
		}
		out_open(in->out, NULL, '{');
		out_str(in->out, "area", x.area);
		out_str(in->out, "name", x.name);
		out_shut(in->out);
	}
	if (in->json) {
		out_shut(in->out);
		out_shut(in->out);
	}
	return EXIT_DONE;
}

static int test(struct invocation *in, struct vfctl_selftest *t)
{
	const char *path = option_of(in, "output");
	struct vfctl_output *output = NULL;
	int status = EXIT_DONE, r = 0;

	/* Can it be written there? Before the card is touched. */
	if (path)
		r = vfctl_output_open(in->ctx, path, true, &output);
	if (r == 0) {
		catch_signals(in->ctx);
		r = vfctl_selftest_run(t);
	}
	/* What was tried is known, be it put back or not. */
	if (r == -ESTALE && !output && !in->json)
		print_text(in->out, t, false);
	if (r < 0)
		status = fail(in, r);
	else if (output)
		status = write_report(in, output, t);
	else
		print_report(in, in->out, t);
	vfctl_output_free(output);
	if (!status && vfctl_selftest_differences(t))
		status = EXIT_DRIFT;
	return status;
}

static int run_selftest(struct invocation *in)
{
	unsigned flags = (in->dry_run ? VFCTL_SELFTEST_DRY_RUN : 0u) |
		(option_of(in, "force") ? VFCTL_SELFTEST_FORCE : 0u);
	struct vfctl_selftest *t = NULL;
	int r, status;

	if (!in->dry_run && !option_of(in, "yes"))
		return usage(in, "a self-test makes and removes all VFs of %s, and changes its MTU, "
			"interrupt moderation and eswitch mode, so that its link may go down for moments; "
			"all is put back. Say --yes to begin, or --dry-run to see what is tried",
			in->args[0]);
	r = vfctl_selftest_open(in->ctx, in->args[0], flags, &t);
	if (r < 0)
		return fail(in, r);
	status = in->dry_run ? print_plan(in, t) : test(in, t);
	vfctl_selftest_close(t);
	return status;
}

static const struct option_row options[] = {
	{"yes", 'y', NULL, "begin: for some time the PF has other VFs, MTU and moderation than now", NULL},
	{"force", 0, NULL, "also while this host's default route or connections go over the PF", NULL},
	{"output", 0, "FILE", "write the report there (with --json: as JSON)", NULL},
};

const struct command cmd_selftest = {
	.name = "selftest",
	.args = "PF",
	.summary = "try on a PF that nobody uses everything vfctl does, put it back, and report",
	.text = "Makes 1, 2, half and all VFs and times that; sets each attribute of a VF and reads it\n"
		"back; resets a VF and binds it to vfio-pci and its own driver; sets the interrupt\n"
		"moderation at and beyond each limit, the MTU and the eswitch's mode; and holds what it\n"
		"sees against vfctl's tables of the driver. Refused while a VF of the PF is in use, leased\n"
		"or in a domain's definition, while the PF is a port of a bridge or bond, and (without\n"
		"--force) while this host's default route or a TCP connection, such as your own ssh\n"
		"session, goes over it. Everything is put back, also after Ctrl-C; after a kill by\n"
		"vfctl recover.\n"
		"The report names neither host nor card, so that it can be sent: docs/hardware.md lists\n"
		"those that came. The status is 3 when something failed or differs from the tables.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.run = run_selftest,
};
