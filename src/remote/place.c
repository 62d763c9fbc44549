// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "host/host.h"
#include "host/tree.h"
#include "remote/agent.h"
#include "remote/argv.h"
#include "remote/child.h"

#define LOOK_MS 100 /* interval of checks for a cancellation */
#define PEER_GRACE_MS 30000 /* a client may print for so long after its server has ended */
#define SSH_FAILED 255 /* ssh(1): its own errors */
#define NOT_FOUND 127  /* of a shell, env(1) and ip-netns(8) */
#define OUTPUT_MAX (256u << 20)

struct place_job {
	struct place *place;
	struct child child;
	int hold; /* the standard input of ssh: closing it ends what runs there */
	struct agent_job *agent; /* in a guest */
	char *program;
};

/* ---- text ---- */

const char *place_describe(const struct place *p, char buf[300])
{
	static const char *const what[] = {[ENDPOINT_HERE] = "this host", [ENDPOINT_NETNS] = "namespace ",
		[ENDPOINT_SSH] = "host ", [ENDPOINT_GUEST] = "guest "};

	snprintf(buf, 300, "%s%s", what[p->end->where],
		p->end->where == ENDPOINT_HERE ? "" : p->end->at);
	return buf;
}

void place_output_clear(struct place_output *o)
{
	buf_free(&o->out);
	buf_free(&o->err);
}

void place_output_text(const struct place_output *o, char *buf, size_t size)
{
	const char *texts[] = {o->err.data, o->out.data};

	buf[0] = '\0';
	for (size_t i = 0; i < 2 && !buf[0]; i++) {
		const char *text = texts[i] ? texts[i] : "";

		text += strspn(text, " \t\r\n");
		snprintf(buf, size, "%.*s", (int)strcspn(text, "\r\n"), text);
	}
}

/* ---- how a program is started ---- */

/*
 * End the program when this end of the connection closes, which closes its standard input. (A shell
 * redirects the input of background processes from /dev/null, so descriptor 3 is used.)
 */
#define REMOTE_JOB                                                                       \
	"PATH=$PATH:/usr/sbin:/sbin; LC_ALL=C; export PATH LC_ALL; exec 3<&0; "          \
	"\"$@\" </dev/null 3<&- & p=$!; { cat <&3 >/dev/null; kill $p; } 2>/dev/null & w=$!; " \
	"wait $p; s=$?; kill $w 2>/dev/null; exit $s"
#define REMOTE_RUN                                                                       \
	"PATH=$PATH:/usr/sbin:/sbin; LC_ALL=C; export PATH LC_ALL; exec \"$@\""

struct message {
	char **v;
	size_t count;
	bool failed;
};

static void add_word(struct message *w, const char *word)
{
	char *copy = strdup(word);

	if (!copy || !array_grow(w->v, w->count + 1)) {
		free(copy);
		w->failed = true;
		return;
	}
	w->v[w->count++] = copy;
}

static void add_ssh(struct message *w, const struct place *p, char *const argv[], bool job)
{
	_free_ char *control = str_format("ControlPath=%s/%%C", p->control);
	_buf_ struct buf remote = {0};
	static const char *const options[] = {"ssh", "-oBatchMode=yes", "-oConnectTimeout=10",
		"-oServerAliveInterval=5", "-oServerAliveCountMax=3", "-oControlMaster=auto",
		"-oControlPersist=30", "-oLogLevel=ERROR"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		add_word(w, options[i]);
	w->failed |= !control;
	if (control) {
		add_word(w, "-o");
		add_word(w, control);
	}
	if (p->end->ssh_config) {
		add_word(w, "-F");
		add_word(w, p->end->ssh_config);
	}
	add_word(w, p->end->at);
	buf_puts(&remote, "exec sh -c ");
	argv_quote(&remote, job ? REMOTE_JOB : REMOTE_RUN);
	buf_puts(&remote, " sh");
	for (size_t i = 0; argv[i]; i++) {
		buf_puts(&remote, " ");
		argv_quote(&remote, argv[i]);
	}
	w->failed |= remote.failed;
	if (!remote.failed)
		add_word(w, remote.data);
}

static int take_text(const struct place *p, struct message *w, char ***ret)
{
	if (w->failed) {
		strv_free(w->v);
		return ctx_oom(p->ctx);
	}
	*ret = w->v;
	return 0;
}

/* Pin it to its CPUs, wherever it runs. */
static int pin(const struct place *p, char *const argv[], char ***ret)
{
	struct message w = {0};

	if (p->end->cpus) {
		add_word(&w, "taskset");
		add_word(&w, "-c");
		add_word(&w, p->end->cpus);
	}
	for (size_t i = 0; argv[i]; i++)
		add_word(&w, argv[i]);
	return take_text(p, &w, ret);
}

/* The command line here that runs @argv there. */
static int wrap_place(const struct place *p, char *const argv[], bool job, char ***ret)
{
	struct message w = {0};

	if (p->end->where == ENDPOINT_NETNS) {
		static const char *const netns[] = {"ip", "netns", "exec"};

		for (size_t i = 0; i < ARRAY_SIZE(netns); i++)
			add_word(&w, netns[i]);
		add_word(&w, p->end->at);
	}
	if (p->end->where == ENDPOINT_SSH)
		add_ssh(&w, p, argv, job);
	for (size_t i = 0; p->end->where != ENDPOINT_SSH && argv[i]; i++)
		add_word(&w, argv[i]);
	return take_text(p, &w, ret);
}

static int fail_start(const struct place *p, char *const wrapped[], int error)
{
	static const struct {
		const char *program, *package;
	} ours[] = {{"ip", "iproute2"}, {"ssh", "openssh-client"}, {"taskset", "util-linux"}};
	size_t i = 0;

	while (i < ARRAY_SIZE(ours) && !str_eq(ours[i].program, wrapped[0]))
		i++;
	if (error == -ENOENT && i < ARRAY_SIZE(ours))
		return ctx_fail(p->ctx, error, "%s is not installed on this host (apt-get install %s)",
			wrapped[0], ours[i].package);
	return ctx_fail(p->ctx, error, "%s cannot be run on this host: %s", wrapped[0],
		error == -ENOENT ? "it is not installed" : strerror(-error));
}

/* ---- opened and closed ---- */

int place_open(struct vfctl_ctx *ctx, const struct endpoint *end,
	struct vfctl_hypervisor *hypervisor, struct place *ret)
{
	struct place p = {.end = end, .ctx = ctx, .hypervisor = hypervisor};

	if (end->where == ENDPOINT_GUEST && (!hypervisor || !hypervisor->agent))
		return ctx_fail(ctx, -EOPNOTSUPP, "endpoint %s is in guest %s, and vfctl is not "
			"connected to a libvirt that could ask the guest agent; write ssh: ADDRESS "
			"instead", end->name, end->at);
	if (end->where == ENDPOINT_SSH) {
		char dir[] = "/tmp/vfctl-ssh-XXXXXX"; /* short, because the path of a socket has
							 a length limit */

		if (!mkdtemp(dir))
			return ctx_fail(ctx, -errno, "make a directory in /tmp: %s", strerror(errno));
		p.control = strdup(dir);
		if (!p.control) {
			rmdir(dir);
			return ctx_oom(ctx);
		}
	}
	*ret = p;
	return 0;
}

void place_close(struct place *p)
{
	if (p->control) {
		_free_ char *path = str_format("ControlPath=%s/%%C", p->control);
		char *config = p->end->ssh_config;
		char *argv[] = {"ssh", "-o", path, "-O", "exit", config ? "-F" : p->end->at,
			config, config ? p->end->at : NULL, NULL};
		_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		struct child child;

		if (path && null >= 0 && child_start(&child, argv, null, null, null) == 0 &&
			child_wait(&child, 5000) != 1)
			child_stop(&child);
		rmdir(p->control);
	}
	free(p->control);
	p->control = NULL;
}

/* ---- programs ---- */

static int cancelled(const struct place *p)
{
	return p->ctx->cancelled ? ctx_fail(p->ctx, -EINTR, "interrupted") : 0;
}

static int open_output(const struct place *p, const char *path, int *ret)
{
	*ret = tree_fresh_path(path);
	return *ret >= 0 ? 0 : ctx_fail(p->ctx, *ret, "write %s: %s", path, strerror(-*ret));
}

static int start_child(struct place_job *job, char *const argv[], const int fds[3])
{
	_strv_ char **wrapped = NULL;
	int r = wrap_place(job->place, argv, true, &wrapped);

	if (r == 0)
		r = child_start(&job->child, wrapped, fds[0], fds[1], fds[2]);
	return r < 0 && wrapped ? fail_start(job->place, wrapped, r) : r;
}

/* Standard input: for ssh a pipe whose other end this process holds, else nothing. */
static int start_here(struct place_job *job, char *const argv[], const char *out_path,
	const char *err_path)
{
	_close_ int out = -1, err = -1, null = -1;
	int pipes[2] = {-1, -1}, r = open_output(job->place, out_path, &out);

	if (r == 0)
		r = open_output(job->place, err_path, &err);
	if (r < 0)
		return r;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || (job->place->end->where == ENDPOINT_SSH && pipe2(pipes, O_CLOEXEC) < 0))
		return ctx_fail(job->place->ctx, -errno, "open /dev/null: %s", strerror(errno));
	job->hold = pipes[1];
	r = start_child(job, argv, (int[3]){pipes[0] >= 0 ? pipes[0] : null, out, err});
	if (pipes[0] >= 0)
		close(pipes[0]);
	return r;
}

int place_start(struct place *p, char *const argv[], unsigned life_ms, const char *out_path,
	const char *err_path, struct place_job **ret)
{
	struct place_job *job = calloc(1, sizeof(*job));
	_strv_ char **pinned = NULL;
	int r;

	if (!job)
		return ctx_oom(p->ctx);
	*job = (struct place_job){.place = p, .hold = -1, .child = {.pidfd = -1},
		.program = strdup(argv[0])};
	if (!job->program)
		r = ctx_oom(p->ctx);
	else
		r = pin(p, argv, &pinned);
	if (r == 0 && p->end->where == ENDPOINT_GUEST)
		r = agent_start(p->ctx, p->hypervisor, p->end->at, pinned, life_ms, out_path, err_path,
			&job->agent);
	else if (r == 0)
		r = start_here(job, pinned, out_path, err_path);
	if (r < 0) {
		place_job_stop(job);
		return r;
	}
	*ret = job;
	return 0;
}

int place_job_ended(struct place_job *job, int *ret_status)
{
	int r = job->agent ? agent_poll(job->agent, ret_status) : child_wait(&job->child, 0);

	if (r == 1 && !job->agent)
		*ret_status = job->child.status;
	return r;
}

/* Check once, and wait for a while if nothing happens. */
static int look_place(struct place_job *job, int *ret_status)
{
	int r;

	if (job->agent) {
		r = place_job_ended(job, ret_status);
		if (r == 0)
			host_sleep_ms(job->place->ctx, LOOK_MS);
		return r;
	}
	r = child_wait(&job->child, LOOK_MS);
	return r == 1 ? place_job_ended(job, ret_status) : r;
}

int place_job_wait(struct place_job *job, unsigned timeout_ms, struct place_job *other,
	int *ret_status)
{
	int64_t end = now_ms() + timeout_ms, alone_since = 0;
	int r, status;

	while ((r = look_place(job, ret_status)) == 0) {
		int64_t now = now_ms();

		if (cancelled(job->place) < 0)
			return -EINTR;
		if (now > end)
			return ctx_fail(job->place->ctx, -ETIMEDOUT, "%s did not end within %u s",
				job->program, timeout_ms / 1000);
		if (other && !alone_since && place_job_ended(other, &status) == 1)
			alone_since = now;
		/* A server that serves only one client ends a moment before that client. */
		if (alone_since && now > alone_since + PEER_GRACE_MS)
			return -EPIPE;
	}
	return r == 1 ? 0 : r;
}

void place_job_stop(struct place_job *job)
{
	if (!job)
		return;
	if (job->hold >= 0)
		close(job->hold);
	agent_stop(job->agent);
	child_stop(&job->child);
	free(job->program);
	free(job);
}

/* ---- waiting for the end ---- */

static int take_output(const struct place *p, int fd, struct buf *to)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size > OUTPUT_MAX)
		return ctx_fail(p->ctx, -EFBIG, "a program printed more than %u MiB",
			OUTPUT_MAX >> 20);
	for (off_t at = 0; at < st.st_size;) {
		char some[65536];
		ssize_t n = pread(fd, some, sizeof(some), at);

		if (n <= 0)
			break;
		buf_add(to, some, (size_t)n);
		at += n;
	}
	return to->failed ? ctx_oom(p->ctx) : 0;
}

/* The shell uses 127 for "not found", ssh uses 255 for "not reachable". */
static int judge_place(const struct place *p, char *const argv[], const struct place_output *o)
{
	char where[300], message[200];

	place_output_text(o, message, sizeof(message));
	place_describe(p, where);
	if (p->end->where == ENDPOINT_SSH && o->status == SSH_FAILED)
		return ctx_fail(p->ctx, -ECONNREFUSED, "%s cannot be reached by ssh: %s (this user "
			"needs access without a password: ssh-copy-id %s)", where,
			*message ? message : "no reason given", p->end->at);
	if (p->end->where == ENDPOINT_NETNS && o->status == 255 && strstr(message, "network namespace"))
		return ctx_fail(p->ctx, -ENODEV, "network namespace %s not found (ip netns list shows "
			"the namespaces)", p->end->at);
	if (o->status == NOT_FOUND || (p->end->where == ENDPOINT_NETNS && o->status == 255))
		return ctx_fail(p->ctx, -ENOENT, "%s cannot be run on %s%s%s", argv[0], where,
			*message ? ": " : "", message);
	return 0;
}

static int run_wrapped(struct place *p, char *const wrapped[], int in, unsigned timeout_ms,
	struct place_output *o)
{
	_close_ int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	int64_t end = now_ms() + timeout_ms;
	struct child child;
	bool ended;
	int r;

	if (out < 0 || err < 0)
		return ctx_fail(p->ctx, -errno, "make a file in memory: %s", strerror(errno));
	r = child_start(&child, wrapped, in, out, err);
	if (r < 0)
		return fail_start(p, wrapped, r);
	while ((r = child_wait(&child, LOOK_MS)) == 0 && now_ms() < end &&
		!p->ctx->cancelled)
		continue;
	ended = child.ended;
	child_stop(&child);
	if (r == 0)
		r = cancelled(p);
	if (r == 0 && !ended)
		r = ctx_fail(p->ctx, -ETIMEDOUT, "%s did not end within %u s", wrapped[0],
			timeout_ms / 1000);
	o->status = child.status;
	if (r >= 0)
		r = take_output(p, out, &o->out);
	return r < 0 ? r : take_output(p, err, &o->err);
}

static int input_file(const struct place *p, const char *input, int *ret)
{
	size_t len = input ? strlen(input) : 0;

	*ret = memfd_create("in", MFD_CLOEXEC);
	if (*ret < 0 || (len && write(*ret, input, len) != (ssize_t)len) ||
		lseek(*ret, 0, SEEK_SET) < 0)
		return ctx_fail(p->ctx, -errno, "make a file in memory: %s", strerror(errno));
	return 0;
}

/* A guest may be busy, swapped out or emulated: allow this multiple of the usual time. */
#define GUEST_PATIENCE 4

int place_run(struct place *p, char *const argv[], const char *input, unsigned timeout_ms,
	struct place_output *ret)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_strv_ char **wrapped = NULL;
	_close_ int in = -1;
	int r = cancelled(p);

	if (r == 0 && p->end->where == ENDPOINT_GUEST) {
		r = agent_run(p->ctx, p->hypervisor, p->end->at, argv, input, GUEST_PATIENCE * timeout_ms,
			&o.out, &o.err, &o.status);
	} else if (r == 0) {
		r = input_file(p, input, &in);
		if (r == 0)
			r = wrap_place(p, argv, false, &wrapped);
		if (r == 0)
			r = run_wrapped(p, wrapped, in, timeout_ms, &o);
	}
	if (r == 0)
		r = judge_place(p, argv, &o);
	if (r < 0)
		return r;
	*ret = steal(o);
	return 0;
}
