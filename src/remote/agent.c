// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "host/tree.h"
#include "base/base64.h"
#include "base/json.h"
#include "host/host.h"

#define ASK_S 10
#define POLL_MS 50
#define STOP_POLLS 200 /* 10 s */

struct agent_job {
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor;
	char *domain, *out_path, *err_path;
	int64_t pid;
	bool ended;
	int status;
};

static void free_job(struct agent_job *job)
{
	if (!job)
		return;
	free(job->domain);
	free(job->out_path);
	free(job->err_path);
	free(job);
}

DEFINE_FREEP(struct agent_job, free_job)

static int ask_agent(struct agent_job *job, const struct buf *command, struct json **ret)
{
	_free_ char *answer = NULL;
	int r = command->failed ? ctx_oom(job->ctx)
				: job->hypervisor->agent(job->ctx, job->hypervisor, job->domain,
					  command->data, ASK_S, &answer);

	return r < 0 ? r : json_read(job->ctx, "the guest agent's answer", answer, strlen(answer),
		ret);
}

/* {"execute":"guest-exec","arguments":{"path":...,"arg":[...],...}} */
static void put_exec(struct buf *b, char *const argv[], const char *input, bool capture)
{
	buf_puts(b, "{\"execute\":\"guest-exec\",\"arguments\":{\"path\":");
	json_put(b, argv[0]);
	buf_puts(b, ",\"arg\":[");
	for (size_t i = 1; argv[i]; i++) {
		buf_puts(b, i > 1 ? "," : "");
		json_put(b, argv[i]);
	}
	buf_puts(b, "]");
	if (input) {
		_buf_ struct buf coded = {0};

		base64_add(&coded, input, strlen(input));
		b->failed |= coded.failed;
		buf_printf(b, ",\"input-data\":\"%s\"", coded.data ? coded.data : "");
	}
	buf_printf(b, ",\"env\":[\"LC_ALL=C\",\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
		      "/usr/bin:/sbin:/bin\"],\"capture-output\":%s}}",
		capture ? "true" : "false");
}

static int exec(struct agent_job *job, char *const argv[], const char *input, bool capture,
	int64_t *ret_pid)
{
	_buf_ struct buf command = {0};
	_json_doc_ struct json *answer = NULL;
	int r;

	put_exec(&command, argv, input, capture);
	r = ask_agent(job, &command, &answer);
	if (r < 0)
		return ctx_prefix(job->ctx, r, "run %s in guest %s", argv[0], job->domain);
	if (json_number(json_member(json_member(answer, "return"), "pid"), ret_pid) < 0 ||
		*ret_pid <= 0)
		return ctx_fail(job->ctx, -EBADMSG, "run %s in guest %s: its agent returned no process "
			"ID",
			argv[0], job->domain);
	return 0;
}

static void take_agent(const struct json *data, struct buf *to)
{
	const char *text = json_text(data);
	_free_ char *plain = NULL;
	size_t len;

	if (!text || base64_decode(text, &plain, &len) < 0)
		return;
	buf_add(to, plain, len);
}

/* The agent returns the output of a program once, at its end. */
static int status_of(struct agent_job *job, struct buf *out, struct buf *err)
{
	_buf_ struct buf command = {0};
	_json_doc_ struct json *answer = NULL;
	const struct json *said;
	int64_t code = 0, signal_number = 0;
	int r;

	buf_printf(&command, "{\"execute\":\"guest-exec-status\",\"arguments\":{\"pid\":%" PRId64 "}}",
		job->pid);
	r = ask_agent(job, &command, &answer);
	if (r < 0)
		return r;
	said = json_member(answer, "return");
	if (!json_member(said, "exited"))
		return ctx_fail(job->ctx, -EBADMSG, "guest %s: its agent does not tell whether process "
			"%" PRId64 ""
			" ended", job->domain, job->pid);
	if (!json_flag(json_member(said, "exited")))
		return 0;
	json_number(json_member(said, "exitcode"), &code);
	json_number(json_member(said, "signal"), &signal_number);
	job->status = signal_number ? 128 + (int)signal_number : (int)code;
	job->ended = true;
	if (json_flag(json_member(said, "out-truncated")) ||
		json_flag(json_member(said, "err-truncated")))
		return ctx_fail(job->ctx, -EFBIG, "guest %s: its agent keeps only 16 MiB of the output "
			"of a program, and this program printed more; write ssh: ADDRESS instead of "
			"guest:",
			job->domain);
	take_agent(json_member(said, "out-data"), out);
	take_agent(json_member(said, "err-data"), err);
	return 1;
}

static int new_job(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *domain,
	struct agent_job **ret)
{
	_cleanup_(free_jobp) struct agent_job *job = calloc(1, sizeof(*job));

	if (!job)
		return ctx_oom(ctx);
	*job = (struct agent_job){.ctx = ctx, .hypervisor = hypervisor, .domain = strdup(domain)};
	if (!job->domain)
		return ctx_oom(ctx);
	*ret = steal(job);
	return 0;
}

static int write_file(struct agent_job *job, const char *path, const struct buf *text)
{
	_close_ int fd = tree_fresh_path(path);
	ssize_t n = 0;

	if (fd < 0)
		return ctx_fail(job->ctx, fd, "write %s: %s", path, strerror(-fd));

	for (size_t at = 0; fd >= 0 && at < text->len; at += (size_t)n) {
		n = write(fd, text->data + at, text->len - at);
		if (n < 0)
			break;
	}
	if (fd < 0 || n < 0)
		return ctx_fail(job->ctx, -errno, "write %s: %s", path, strerror(errno));
	return text->failed ? ctx_oom(job->ctx) : 0;
}

/*
 * A program that would continue in the guest without this process is stopped there. A missing
 * program has status 127; it is not an error of the agent.
 */
static int exec_timed(struct agent_job *job, char *const argv[], const char *input,
	unsigned life_ms)
{
	_free_ char *seconds = str_format("%u", life_ms / 1000 + (life_ms % 1000 != 0));
	size_t n = strv_len(argv);
	_free_ char **timed = calloc(n + 3, sizeof(char *));

	if (!seconds || !timed)
		return ctx_oom(job->ctx);
	timed[0] = (char *)"timeout";
	timed[1] = seconds;
	memcpy(timed + 2, argv, n * sizeof(char *));
	return exec(job, timed, input, true, &job->pid);
}

int agent_start(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *domain,
	char *const argv[], unsigned life_ms, const char *out_path, const char *err_path,
	struct agent_job **ret)
{
	const struct buf none = {0};
	_cleanup_(free_jobp) struct agent_job *job = NULL;
	int r = new_job(ctx, hypervisor, domain, &job);

	if (r < 0)
		return r;
	job->out_path = strdup(out_path);
	job->err_path = strdup(err_path);
	if (!job->out_path || !job->err_path)
		return ctx_oom(ctx);
	/* A program without output gets an empty file, as elsewhere. */
	r = write_file(job, job->out_path, &none);
	if (r == 0)
		r = write_file(job, job->err_path, &none);
	if (r == 0)
		r = exec_timed(job, argv, NULL, life_ms);
	if (r == 0)
		*ret = steal(job);
	return r;
}

int agent_poll(struct agent_job *job, int *ret_status)
{
	_buf_ struct buf out = {0}, err = {0};
	int e = 0, r = job->ended ? 1 : status_of(job, &out, &err);

	if (r == 1 && out.len + err.len) {
		e = write_file(job, job->out_path, &out);
		if (e == 0)
			e = write_file(job, job->err_path, &err);
	}
	if (r == 1)
		*ret_status = job->status;
	return e < 0 ? e : r;
}

/*
 * The agent forgets a process only after it has reported its end. Without a request, the next
 * process with the same number would find the old entry (qga/commands.c, guest_exec_info_find()).
 */
static void forget_ended(struct agent_job *job, int64_t pid)
{
	_buf_ struct buf out = {0}, err = {0};
	struct agent_job other = {.ctx = job->ctx, .hypervisor = job->hypervisor,
		.domain = job->domain, .pid = pid};

	for (int i = 0; i < STOP_POLLS && status_of(&other, &out, &err) == 0; i++)
		host_sleep_ms(job->ctx, POLL_MS);
}

void agent_stop(struct agent_job *job)
{
	_free_ char *pid = job ? str_format("%" PRId64, job->pid) : NULL;
	char *argv[] = {"kill", "-TERM", pid, NULL};
	int64_t killer;
	int status;

	if (!job)
		return;
	/* timeout(1) passes the signal on. */
	if (pid && agent_poll(job, &status) == 0 && exec(job, argv, NULL, false, &killer) == 0) {
		for (int i = 0; i < STOP_POLLS && agent_poll(job, &status) == 0; i++)
			host_sleep_ms(job->ctx, POLL_MS);
		forget_ended(job, killer);
	}
	free_job(job);
}

int agent_run(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *domain,
	char *const argv[], const char *input, unsigned timeout_ms, struct buf *ret_out,
	struct buf *ret_err, int *ret_status)
{
	int64_t end = now_ms() + timeout_ms;
	_cleanup_(free_jobp) struct agent_job *job = NULL;
	int r = new_job(ctx, hypervisor, domain, &job);

	if (r == 0)
		r = exec_timed(job, argv, input, timeout_ms);
	while (r == 0 && (r = status_of(job, ret_out, ret_err)) == 0) {
		if (ctx->cancelled)
			return ctx_fail(ctx, -EINTR, "interrupted");
		if (now_ms() > end)
			return ctx_fail(ctx, -ETIMEDOUT, "%s did not end within %u s in guest %s",
				argv[0], timeout_ms / 1000, domain);
		host_sleep_ms(ctx, POLL_MS);
	}
	if (r < 0)
		return r;
	*ret_status = job->status;
	return ret_out->failed || ret_err->failed ? ctx_oom(ctx) : 0;
}
