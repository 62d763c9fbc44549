// SPDX-License-Identifier: GPL-2.0-or-later
/* tune search: find the best setting for a workload by measuring it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/search_report.h"
#include "draft.h"
#include "session.h"
#include "tuning/fit.h"
#include "verbs.h"

#define BASELINE "as-it-is"

/* ---- planning ---- */

static int read_time(struct invocation *in, const char *name, uint32_t *ret)
{
	const char *text = option_of(in, name);
	unsigned long number, unit;
	char *end;

	if (!text)
		return EXIT_DONE;
	number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	if (!number)
		return usage(in, "--%s takes a time such as 90s, 10m or 1h, not '%s'", name, text);
	unit = strcmp(end, "s") == 0 || !*end ? 1 : strcmp(end, "m") == 0 ? 60
		: strcmp(end, "h") == 0	     ? 3600
					     : 0;
	if (!unit || number > 7 * 24 * 3600 / unit)
		return usage(in, "--%s takes a time such as 90s, 10m or 1h, a week at most, not '%s'",
			name, text);
	*ret = (uint32_t)(number * unit);
	return EXIT_DONE;
}

static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._-")];
}

/* A program of the user, and the position of its number. */
static int draft_command(struct invocation *in, struct plan_draft *d)
{
	const char *regex = option_of(in, "regex"), *path = option_of(in, "json-path");

	if (!regex == !path)
		return usage(in, "--command needs --regex or --json-path to find its number");
	if (option_of(in, "goal") || option_of(in, "size"))
		return usage(in, "--%s is not for --command, whose number is the goal",
			option_of(in, "goal") ? "goal" : "size");
	plan_draft_put(d, "command", "tests", "+", "name", NULL);
	draft_test(d, "tool", "command");
	/* The words of a command line, so a shell interprets them, as if they were typed. */
	plan_draft_put(d, "sh", "tests", "-", "command", "+", NULL);
	plan_draft_put(d, "-c", "tests", "-", "command", "+", NULL);
	plan_draft_put(d, option_of(in, "command"), "tests", "-", "command", "+", NULL);
	draft_test(d, regex ? "regex" : "json-path", regex ? regex : path);
	if (option_of(in, "higher"))
		draft_test(d, "better", "higher");
	return EXIT_DONE;
}

static int draft_tool(struct invocation *in, struct plan_draft *d)
{
	const char *goal = option_of(in, "goal"), *size = option_of(in, "size");
	bool throughput = goal && strncmp(goal, "throughput", strlen("throughput")) == 0;

	if (option_of(in, "regex") || option_of(in, "json-path") || option_of(in, "higher"))
		return usage(in, "--regex, --json-path and --higher need --command");
	if (size && strpbrk(size, ", "))
		return usage(in, "--size must be one number of bytes here, such as 64 or 4KiB, not '%s'",
			size);
	if (throughput && size)
		return usage(in, "--size is for latency");
	plan_draft_put(d, throughput ? "tcp-throughput" : "udp-latency", "tests", "+", "name", NULL);
	draft_test(d, "tool", throughput ? "iperf3" : "sockperf");
	if (!throughput) {
		draft_test(d, "transport", "udp");
		draft_test(d, "size", size ? size : "64");
		draft_test(d, "raw-samples", "on");
	}
	if (goal)
		draft_test(d, "goal", goal);
	return EXIT_DONE;
}

static int draft_workload(struct invocation *in, struct plan_draft *d)
{
	const char *duration = option_of(in, "duration");
	bool command = option_of(in, "command") != NULL;
	int status = command ? draft_command(in, d) : draft_tool(in, d);

	if (!status && (duration || !command))
		draft_test(d, "duration", duration ? duration : "2s");
	return status;
}

/* The command runs on this end, and may connect to any other. */
static int draft_other_end(struct invocation *in, struct plan_draft *d)
{
	const char *to = option_of(in, "to"), *peer = option_of(in, "peer-device");
	bool command = option_of(in, "command");

	if (!to && !command)
		return usage(in, "needs the address of the other end: vfctl tune search %s --to ADDRESS; "
			"or a program of yours: --command", in->args[0]);
	if (!to)
		to = "127.0.0.1";
	if (peer)
		plan_draft_put(d, peer, "endpoints", "server", "device", NULL);
	if (option_of(in, "on") || !command)
		return draft_server(in, d, to);
	plan_draft_put(d, to, "endpoints", "server", "address", NULL);
	return EXIT_DONE;
}

/* The settings that are worth trying with the driver of this end. */
static int draft_worth_trying(struct invocation *in, struct plan_draft *d)
{
	struct vfctl_coalesce settings[VFCTL_CANDIDATES_MAX];
	size_t count = 0;
	int status = EXIT_DONE, r = vfctl_search_settings(in->ctx, in->args[0], settings, &count);

	if (r < 0)
		return fail(in, r);
	for (size_t i = 0; i < count && !status; i++) {
		_free_ char *text = vfctl_coalesce_format(&settings[i]);

		if (!text)
			return fail(in, -ENOMEM);
		status = draft_configuration(in, d, "try", text);
	}
	return status;
}

static int draft_search(struct invocation *in, struct plan_draft *d)
{
	unsigned tries = 0;
	int status;

	plan_draft_put(d, "search", "name", NULL);
	if (option_of(in, "noise"))
		plan_draft_put(d, option_of(in, "noise"), "noise", NULL);
	plan_draft_put(d, in->args[0], "endpoints", "client", "device", NULL);
	status = draft_other_end(in, d);
	plan_draft_put(d, NULL, "configurations", BASELINE, NULL);
	plan_draft_put(d, BASELINE, "baseline", NULL);
	if (!status)
		status = draft_configurations(in, d, "try", &tries);
	if (!status && !tries)
		status = draft_worth_trying(in, d);
	return status ? status : draft_workload(in, d);
}

/* ---- output ---- */

static int fill_names(struct out *out, const void *of)
{
	const struct bench_dry *dry = of;
	const char *name;

	for (size_t i = 0; (name = vfctl_bench_configuration_name(dry->bench, i)); i++)
		out_str(out, NULL, name);
	return 0;
}

#define OF struct bench_dry
NUMBER_OF(search_most_runs, OF, true, vfctl_bench_most_runs(it->bench))
NUMBER_OF(search_seconds, OF, true, vfctl_bench_run_seconds(it->bench))
static const struct member dry_search_table[] = {
	PART_SELF(answer_dry_name),
	NUMBER("most_runs", search_most_runs, "maximum number of runs"),
	NUMBER("run_seconds", search_seconds, "duration of one run, without the start of the "
		"programs"),
	FILL_EACH("settings", fill_names, MEMBER_TEXT, "names of the configurations"),
	PART_SELF(answer_dry_checks), END};
#undef OF

static int print_dry(struct invocation *in, const struct vfctl_bench *bench)
{
	size_t most = vfctl_bench_most_runs(bench);
	unsigned each = vfctl_bench_run_seconds(bench);
	const char *name;

	if (in->json) {
		answer_put(in->out, NULL, dry_search_table, &(struct bench_dry){bench});
		return EXIT_DONE;
	}
	out_line(in->out, "%s: at most %zu runs of about %u s each, %zu min (seed %llu); settings that "
		"are clearly worse are dropped early. Settings to try:", vfctl_bench_name(bench), most, each,
		(most * each + 59) / 60, (unsigned long long)vfctl_bench_seed(bench));
	for (size_t i = 0; (name = vfctl_bench_configuration_name(bench, i)); i++)
		out_line(in->out, "  %s", name);
	bench_print_effects(in, bench);
	bench_print_checks(in, bench);
	return EXIT_DONE;
}

struct candidate_view {
	const struct vfctl_search *search;
	const struct vfctl_search_candidate *c;
};

static const char *worse_than(const struct vfctl_search *s, size_t other)
{
	return other < s->candidate_count ? s->candidates[other].name : NULL;
}

#define OF struct candidate_view
TEXT_OF(candidate_state, OF, vfctl_search_state_name(it->c->state))
NUMBER_OF(candidate_left, OF, it->c->left_after || it->c->state != VFCTL_SEARCH_RACES,
	it->c->left_after)
TEXT_OF(candidate_worse_than, OF, worse_than(it->search, it->c->worse_than))
static const struct member candidate_table[] = {
	FIELD_VIA("configuration", c, name, "name of the configuration", FILLED),
	LIST_VIA("settings", c, settings, setting_count, answer_setting, "its settings"),
	FIELD_VIA("trials", c, trials, "successful trials of the race"),
	FIELD_VIA("failed", c, failed, "failed trials of the race, including warm-ups"),
	FIELD_VIA("median", c, median, "median of the race; no conclusion is drawn from it"),
	TEXT("state", candidate_state, "in the race, worse or fails"),
	NUMBER("left_after", candidate_left, "round of the race after which it was dropped; null: "
		"it stayed", NULLABLE),
	TEXT("worse_than", candidate_worse_than, "configuration that is shown to be better",
		NULLABLE),
	FIELD_VIA("p", c, p, "probability of such figures if it were not worse; null: not tested"),
	FIELD_VIA("error", c, error, "why its first failed trial failed"), END};
#undef OF

struct search_view {
	const struct vfctl_search *search;
	const char *profile;
};

static int fill_candidates(struct out *out, const void *of)
{
	const struct search_view *view = of;

	for (size_t i = 0; i < view->search->candidate_count; i++)
		answer_put(out, NULL, candidate_table, &(struct candidate_view){view->search,
			&view->search->candidates[i]});
	return 0;
}

#define OF struct vfctl_search
TEXT_OF(search_verdict, OF, vfctl_search_verdict_name(it->verdict))
TEXT_OF(search_baseline, OF, it->candidates[it->baseline].name)
TEXT_OF(search_best, OF, it->candidates[it->best].name)
TEXT_OF(search_leader, OF, it->candidates[it->leader].name)
OBJECT_OF(search_confirmation, OF, it->pairs ? it : NULL)
static const struct member confirmation_table[] = {
	TEXT("configuration", search_leader, "the leader of the race"),
	FIELD(pairs, "successful pairs of trials"),
	FIELD(baseline_median, "median of the baseline"),
	FIELD_AS("median", leader_median, "median of the leader"),
	FIELD(change, "difference relative to the baseline's median: -0.25 is a quarter less"),
	FIELD(change_low, "lower end of its confidence interval, of level 1 - alpha"),
	FIELD(change_high, "upper end of its confidence interval"),
	FIELD(p, "p-value of Wilcoxon's signed-rank test"),
	FIELD(p_adjusted, "the same as p, because there is only one comparison"), END};
static const struct member search_fields[] = {
	FIELD(directory, "directory of the result; bench report reads it too"),
	FIELD(name, "name of the search"),
	FIELD(goal, "metric that decides: p50, value, throughput, ..."),
	FIELD(unit, "its unit: us, bit/s, ...; \"\": none"),
	FIELD(higher_is_better, "a higher value is better"),
	FIELD(emulated, "measured on emulated hardware"),
	FIELD(alpha, "significance level"),
	FIELD(noise, "smaller relative differences are ignored"),
	FIELD(over, "the search is complete; false: --resume continues it"),
	FIELD(out_of_time, "--max-time ended the search"),
	TEXT("verdict", search_verdict, "better, no difference shown, none better or undecided"),
	TEXT("baseline", search_baseline, "configuration before the search"),
	TEXT("best", search_best, "configuration to use: the baseline, unless the verdict is better"),
	OBJECT_GET("confirmation", search_confirmation, confirmation_table, "the leader of the "
		"race, measured again together with the baseline; null: not needed", NULLABLE), END};
static const struct member search_runs[] = {
	FIELD(runs, "runs that were made"),
	FIELD(most_runs, "maximum number of runs"),
	FIELD(seconds, "duration of the runs"),
	SCALARS("sentences", sentences, sentence_count, "the result in sentences, the verdict first"),
	END};
#undef OF

#define OF struct search_view
static const struct member search_table[] = {
	PART_AT(search, search_fields),
	FILL("candidates", fill_candidates, candidate_table, "configurations that were tried"),
	PART_AT(search, search_runs),
	FIELD(profile, "profile of --save-profile, as YAML; null: none is kept"), END};
#undef OF
const struct answer tune_search_answer[] = {{"With `--dry-run`", dry_search_table, false},
	{"When it is done", search_table, false}, {0}};

static void print_table(struct out *out, const struct vfctl_search *s)
{
	static const char *const headings[] = {"SETTING", "TRIALS", "MEDIAN", "RACE"};
	char value[VFCTL_BENCH_TEXT];

	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < s->candidate_count; i++) {
		const struct vfctl_search_candidate *c = &s->candidates[i];

		out_cell(out, "%s", c->name);
		out_cell(out, "%zu", c->trials);
		out_cell(out, "%s", isfinite(c->median)
				? vfctl_bench_value(c->median, s->unit, c->median, value) : "");
		if (c->state == VFCTL_SEARCH_RACES)
			out_cell(out, "%s", i == s->leader ? "led" : "to its end");
		else
			out_cell(out, "%s, left after round %u", vfctl_search_state_name(c->state),
				c->left_after);
	}
	out_table_end(out);
}

static void print_text(struct out *out, const struct vfctl_search *s, const char *kept)
{
	for (size_t i = 0; i < s->sentence_count; i++)
		out_fold(out, 2, "%s", s->sentences[i]);
	if (s->emulated)
		out_fold(out, 2, "The hardware is emulated: comparisons are meaningful, absolute "
			"figures are not.");
	out_line(out, "%s", "");
	out_line(out, "%s of the race (no conclusion is drawn from it):", s->goal);
	print_table(out, s);
	out_line(out, "%s", "");
	out_fold(out, 2, "%zu runs of %zu at most, %.0f s. The figures are in %s; as a page with plots: "
		"vfctl bench report %s --html FILE", s->runs, s->most_runs, s->seconds, s->directory,
		s->directory);
	if (kept) {
		out_line(out, "%s", "");
		put_clean_lines(out_file(out), kept);
	}
}

/* ---- the profile ---- */

static int check_keep(struct invocation *in)
{
	const char *name = option_of(in, "save-profile"), *file = option_of(in, "profile-file");

	if (file && !name)
		return usage(in, "--profile-file needs a name for the profile: --save-profile NAME");
	if (name && (!is_word(name) || strlen(name) > VFCTL_PROFILE_NAME_MAX))
		return usage(in,
			"--save-profile takes a name of letters, digits, '.', '_' and '-', not '%s'", name);
	/* Checked before an hour of measuring, not after it. */
	if (file && access(file, F_OK) == 0)
		return usage(in, "%s already exists; name another file, or remove it", file);
	return EXIT_DONE;
}

/*
 * Print the settings of this end that a profile can contain; the others as a comment.
 * @return the number of settings.
 */
static unsigned put_profile(FILE *to, const char *name, const struct vfctl_search *s,
	struct vfctl_ctx *ctx)
{
	unsigned count = 0;
	const struct vfctl_search_candidate *best = &s->candidates[s->best];
	char change[VFCTL_BENCH_TEXT];

	fprintf(to, "# for host.yaml: vfctl tune search measured %s %s with it (%s)\nprofiles:\n"
		"  - name: '%s'\n", s->goal, vfctl_bench_relative(s->change, change), s->directory, name);
	for (size_t i = 0; i < best->setting_count; i++) {
		const char *key = best->settings[i].name, *value = best->settings[i].value;
		struct vfctl_coalesce parsed = {0};

		if (strcmp(key, "client") == 0 || strcmp(key, "server") == 0 ||
			strncmp(key, "server.", strlen("server.")) == 0)
			continue;
		if (strncmp(key, "client.", strlen("client.")) == 0)
			key += strlen("client.");
		if (vfctl_coalesce_parse(ctx, key, value, &parsed) == 0)
			count += fprintf(to, "    %s: %s\n", key, value) > 0;
		else
			fprintf(to, "    # %s: %s is not a setting of a profile\n", key, value);
	}
	return count;
}

/* NULL: no profile is requested. */
static int make_profile(struct invocation *in, const struct vfctl_search *s, char **ret)
{
	const char *name = option_of(in, "save-profile"), *path = option_of(in, "profile-file");
	_free_ char *text = NULL;
	unsigned count;
	size_t size;
	FILE *to;

	if (!name)
		return EXIT_DONE;
	if (s->verdict != VFCTL_SEARCH_BETTER) {
		warn("profile %s is not saved: no setting is shown to be better than the present one", name);
		return EXIT_DONE;
	}
	to = open_memstream(&text, &size);
	if (!to)
		return fail(in, -ENOMEM);
	count = put_profile(to, name, s, in->ctx);
	if (fclose(to) == EOF)
		return fail(in, -ENOMEM);
	if (!count) {
		warn("profile %s is not saved: a profile sets interrupt moderation, but %s does not", name,
			s->candidates[s->best].name);
		return EXIT_DONE;
	}
	*ret = steal(text);
	return path ? write_named(in, path, *ret) : EXIT_DONE;
}

static int print_result(struct invocation *in, const char *directory)
{
	_cleanup_(vfctl_search_freep) struct vfctl_search *s = NULL;
	_free_ char *kept = NULL;
	int status, r = vfctl_search_read(in->ctx, directory, &s);

	if (r < 0)
		return fail(in, r);
	if (s->fails)
		return fail_as(in, EXIT_FAILED, -EIO, "%s What was measured is in %s",
			s->sentences[0], directory);
	status = make_profile(in, s, &kept);
	if (status)
		return status;
	if (in->json)
		answer_put(in->out, NULL, search_table, &(struct search_view){s, kept});
	else
		print_text(in->out, s, kept);
	return EXIT_DONE;
}

/* ---- the command ---- */

static bool is_plan(const char *text)
{
	size_t len = strlen(text);

	return strcmp(text, "-") == 0 || strchr(text, '/') ||
		(len > 5 && strcmp(text + len - 5, ".yaml") == 0) ||
		(len > 4 && strcmp(text + len - 4, ".yml") == 0);
}

/* Options that the plan, or the continued result, determines. */
static int refuse_options(struct invocation *in, const char *why, const char *const *names)
{
	for (; *names; names++)
		if (option_of(in, *names))
			return usage(in, "--%s %s", *names, why);
	return EXIT_DONE;
}

int tune_run_search(struct invocation *in)
{
	static const char *const of_plan[] = {"to", "on", "peer-device", "size", "duration", "goal", "try",
		"command", "regex", "json-path", "higher", "noise", NULL};
	static const char *const of_result[] = {"seed", "trials", "output", "max-time", NULL};
	struct bench_work work = {.resume = option_of(in, "resume"), .search = true, .dry = print_dry,
		.result = print_result};
	_cleanup_(plan_draft_freep) struct plan_draft *draft = NULL;
	int r, status = check_keep(in);

	if (!status && work.resume && in->arg_count > 0)
		return usage(in, "--resume continues the search of its directory; do not name a device "
			"or plan");
	if (!status && !work.resume && in->arg_count < 1)
		return usage(in, "needs a device or a plan: vfctl tune search DEVICE --to ADDRESS, "
			"vfctl tune search PLAN.yaml, or --resume DIR");
	if (!status)
		status = read_time(in, "max-time", &work.max_seconds);
	if (!status && work.resume)
		status = refuse_options(in, "cannot be changed for a search that is continued", of_result);
	if (!status && (work.resume || is_plan(in->args[0])))
		status = refuse_options(in, "is stated by the plan itself", of_plan);
	if (!status && !work.resume && !is_plan(in->args[0])) {
		r = plan_draft_new(in->ctx, &draft);
		status = r < 0 ? fail(in, r) : draft_search(in, draft);
		work.draft = draft;
	}
	return status ? status : bench_work(in, &work);
}
