// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"
#include "session.h"

static int read_share(struct invocation *in, const char *name, bool zero, double *ret)
{
	const char *text = option_of(in, name);
	char *end;

	*ret = NAN;
	if (!text)
		return 0;
	*ret = strtod(text, &end);
	if (!*text || *end || !(zero ? *ret >= 0 : *ret > 0) || !(*ret < 1))
		return usage(in, "--%s must be a number %s 0 and below 1, such as 0.05, not '%s'", name,
			zero ? "from" : "above", text);
	return 0;
}

static int read_options(struct invocation *in, struct vfctl_bench_options *ret)
{
	const char *shape = option_of(in, "shape");
	int status = read_share(in, "alpha", false, &ret->alpha);

	if (!status)
		status = read_share(in, "noise", true, &ret->noise);
	ret->baseline = option_of(in, "baseline");
	if (!status && shape && strcmp(shape, "summary") != 0 && strcmp(shape, "matrix") != 0 &&
		strcmp(shape, "tail") != 0 && strcmp(shape, "tests") != 0)
		status = usage(in, "--shape is summary, matrix, tail or tests, not '%s'", shape);
	return status;
}

static const struct {
	const char *option;
	int (*make)(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report, char **ret_text);
} formats[] = {{"html", bench_make_page}, {"markdown", vfctl_bench_markdown}, {"csv",
	vfctl_bench_csv}};

static int put_formats(struct invocation *in, const struct vfctl_bench_report *report,
	bool *ret_any)
{
	int status = EXIT_DONE;

	*ret_any = false;
	for (size_t i = 0; i < ARRAY_SIZE(formats) && status == EXIT_DONE; i++) {
		const char *path = option_of(in, formats[i].option);
		_free_ char *text = NULL;
		int r;

		if (!path)
			continue;
		*ret_any = true;
		r = formats[i].make(in->ctx, report, &text);
		if (r < 0)
			return fail(in, r);
		status = write_named(in, path, text);
		if (status == EXIT_DONE && strcmp(path, "-") != 0 && !in->quiet && !in->json)
			out_line(in->out, "%s is written", path);
	}
	return status;
}

const struct answer bench_report_answer[] = {{NULL, answer_report, false}, {0}};

static int show_bench_report(struct invocation *in, struct vfctl_bench_report *report)
{
	bool written;
	int status = put_formats(in, report, &written);

	if (status == EXIT_DONE && in->json)
		bench_put_report(in->out, report, false);
	else if (status == EXIT_DONE && !written)
		bench_print(in->out, report, option_of(in, "shape"));
	return status;
}

int bench_run_report(struct invocation *in)
{
	_cleanup_(vfctl_bench_report_freep) struct vfctl_bench_report *report = NULL;
	bool compared = in->arg_count > 1;
	const char *sessions[OPTIONS_MAX];
	struct vfctl_bench_options options = {.sessions = sessions};
	int status = read_options(in, &options), r;

	if (status)
		return status;
	options.same_host_state = compared && option_of(in, "same-host-state");
	for (size_t i = 0; i < in->option_count; i++)
		if (strcmp(in->options[i].name, "history") == 0)
			sessions[options.session_count++] = in->options[i].value;
	r = compared ? vfctl_bench_compare(in->ctx, in->args[0], in->args[1], &options, &report)
		     : vfctl_bench_report_read(in->ctx, in->args[0], &options, &report);
	if (r < 0)
		return fail(in, r);
	status = show_bench_report(in, report);
	return status == EXIT_DONE && compared && report->worse ? EXIT_DRIFT : status;
}
