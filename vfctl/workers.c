// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/context.h"
#include "worker_lines.h"

#define LOOK_MS 200 /* longest delay for a signal that arrives just before a wait */

struct worker {
	pid_t pid;    /* 0: not started, or already reaped */
	int fd;	      /* receives its outcome */
	int question; /* -1, or a socket over which it asks whether to keep its change */
	bool asks, kept;
};

struct trial {
	struct jobs jobs;
	bool holds; /* each worker waits for the decision */
	struct worker *v;
	struct worker_lines *lines; /* NULL: progress is not shown */
};

void outcome_clear(struct outcome *outcome)
{
	free(outcome->pending);
	free(outcome->message);
	*outcome = (struct outcome){0};
}

void outcomes_clear(struct outcomes *outcomes)
{
	for (size_t i = 0; outcomes->v && i < outcomes->count; i++)
		outcome_clear(&outcomes->v[i]);
	free(outcomes->v);
}

void outcome_fill(struct invocation *in, int error, const struct vfctl_change *change,
	struct outcome *ret)
{
	const char *pending = error < 0 ? NULL : vfctl_change_pending(change);

	ret->error = error;
	ret->moved = error == 0 && vfctl_change_moves_ids(change);
	ret->pending = pending ? strdup(pending) : NULL;
	ret->message = error < 0 ? strdup(vfctl_ctx_error(in->ctx)) : NULL;
}

/* ---- transfer of the outcome: two numbers, two NUL-terminated texts ---- */

static void send_outcome(int fd, const struct outcome *o)
{
	FILE *file = fdopen(fd, "w");

	if (!file)
		return;
	fprintf(file, "%d %d ", o->error, o->moved);
	fprintf(file, "%s%c%s%c", o->pending ? o->pending : "", 0, o->message ? o->message : "", 0);
	fclose(file);
}

static char *take_text(FILE *file)
{
	_free_ char *text = NULL;
	size_t room = 0;

	return getdelim(&text, &room, '\0', file) > 0 && text[0] ? steal(text) : NULL;
}

static void receive_outcome(int fd, struct outcome *ret)
{
	FILE *file = fdopen(fd, "r");
	int moved = 0;

	if (file && fscanf(file, "%d %d%*1[ ]", &ret->error, &moved) == 2) {
		ret->moved = moved;
		ret->pending = take_text(file);
		ret->message = take_text(file);
	} else {
		ret->error = -ESTALE;
		ret->message = strdup("its process was killed; roll back its change with: vfctl recover");
	}
	if (file)
		fclose(file);
	else
		close(fd);
}

/* ---- signals ---- */

static volatile sig_atomic_t last_signal, to_forward;

static void note_signal(int number)
{
	last_signal = to_forward = number;
}

void note_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	const struct sigaction action = {.sa_handler = note_signal};

	last_signal = to_forward = 0;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

int noted_signal(void)
{
	return last_signal;
}

static bool is_cancelled(void)
{
	return last_signal && last_signal != SIGUSR1;
}

static void forward(const struct trial *t)
{
	int number = to_forward;

	to_forward = 0;
	for (size_t i = 0; number && number != SIGUSR1 && i < t->jobs.count; i++)
		if (t->v[i].pid > 0)
			kill(t->v[i].pid, number);
}

/* ---- in the worker ---- */

/* A signal, and the end of the process that asks the user, mean no. */
static int ask_parent(struct vfctl_ctx *ctx, void *data)
{
	struct worker *w = data;
	struct pollfd answers = {w->question, POLLIN, 0};
	char answer = 0;

	/* The change had to be planned again after the answer. */
	if (w->kept)
		return 0;
	if (send(w->question, "?", 1, MSG_NOSIGNAL) != 1)
		return -ECANCELED;
	while (poll(&answers, 1, LOOK_MS) <= 0)
		if (vfctl_ctx_is_cancelled(ctx))
			return -EINTR;
	w->kept = read(w->question, &answer, 1) == 1 && answer == 'y';
	return w->kept ? 0 : -ECANCELED;
}

/* In a separate process group: the parent forwards a Ctrl-C once. */
static void work(struct trial *t, size_t index, struct worker *w, pid_t parent)
{
	static char lines[BUFSIZ];
	struct invocation *in = t->jobs.in;
	struct outcome outcome = {0};

	setpgid(0, 0);
	signal(SIGUSR1, SIG_IGN);
	catch_signals(in->ctx);
	/* The other workers must notice the end of the parent, not of this process. */
	for (size_t i = 0; i < t->jobs.count; i++)
		if (t->v[i].question >= 0)
			close(t->v[i].question);
	worker_lines_enter(t->lines, in->ctx, index);
	/* Lines of several workers must not mix. glibc uses only one byte of a NULL buffer. */
	setvbuf(stderr, lines, _IOLBF, sizeof(lines));
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	if (t->holds)
		vfctl_ctx_set_confirm(in->ctx, ask_parent, w);
	t->jobs.one(in, t->jobs.data, index, &outcome);
	fflush(stderr);
	send_outcome(w->fd, &outcome);
	_exit(EXIT_DONE);
}

/* ---- processes ---- */

static int make_channels(const struct trial *t, int outcome[2], int question[2])
{
	if (pipe2(outcome, O_CLOEXEC) < 0)
		return -errno;
	if (!t->holds || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, question) == 0)
		return 0;
	close(outcome[0]);
	close(outcome[1]);
	return -errno;
}

static int begin_worker(struct trial *t, size_t index)
{
	struct worker *w = &t->v[index], own;
	int outcome[2], question[2] = {-1, -1};
	pid_t parent = getpid(), pid;
	int r = make_channels(t, outcome, question);

	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0) {
		close(outcome[0]);
		if (t->holds)
			close(question[0]);
		own = (struct worker){.fd = outcome[1], .question = question[1]};
		work(t, index, &own, parent);
	}
	r = pid < 0 ? -errno : 0;
	close(outcome[1]);
	if (t->holds)
		close(question[1]);
	*w = (struct worker){.pid = pid < 0 ? 0 : pid, .fd = outcome[0], .question = question[0]};
	worker_lines_started(t->lines, index);
	return r;
}

static void end_worker(struct trial *t, size_t index)
{
	struct worker *w = &t->v[index];

	receive_outcome(w->fd, &t->jobs.outcomes[index]);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (w->question >= 0)
		close(w->question);
	*w = (struct worker){.question = -1};
	worker_lines_ended(t->lines, index);
}

/*
 * The worker asks, or has ended: then its question is closed, and its small outcome is in the pipe.
 */
static void heed(struct trial *t, size_t index, const struct pollfd *outcome,
	const struct pollfd *question)
{
	struct worker *w = &t->v[index];
	char text;

	if (question->revents && !w->asks && recv(w->question, &text, 1, MSG_DONTWAIT) == 1) {
		w->asks = true;
		worker_lines_ended(t->lines, index);
	} else if (outcome->revents) {
		end_worker(t, index);
	}
}

static size_t count_workers(const struct trial *t, bool asking)
{
	size_t count = 0;

	for (size_t i = 0; i < t->jobs.count; i++)
		count += t->v[i].pid > 0 && (asking || !t->v[i].asks);
	return count;
}

/* Wait for an event, for at most @ms. */
static void await_some(struct trial *t, int ms)
{
	_free_ struct pollfd *fds = calloc(2 * t->jobs.count + 1, sizeof(*fds));

	if (!fds)
		return;
	for (size_t i = 0; i < t->jobs.count; i++) {
		const struct worker *w = &t->v[i];

		fds[2 * i] = (struct pollfd){w->pid > 0 ? w->fd : -1, POLLIN, 0};
		fds[2 * i + 1] = (struct pollfd){w->pid > 0 && !w->asks ? w->question : -1, POLLIN, 0};
	}
	fds[2 * t->jobs.count] = (struct pollfd){worker_lines_fd(t->lines), POLLIN, 0};
	forward(t);
	if (poll(fds, 2 * t->jobs.count + 1, ms) > 0)
		for (size_t i = 0; i < t->jobs.count; i++)
			if (t->v[i].pid > 0)
				heed(t, i, &fds[2 * i], &fds[2 * i + 1]);
	worker_lines_paint(t->lines);
}

/* ---- all workers ---- */

static void trial_free(struct trial *t)
{
	worker_lines_free(t->lines);
	free(t->v);
	free(t);
}

static int trial_new(const struct jobs *jobs, bool holds, struct trial **ret)
{
	struct trial *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct trial){.jobs = *jobs, .holds = holds, .v = calloc(jobs->count + 1, sizeof(*t->v))};
	if (!t->v) {
		free(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < jobs->count; i++)
		t->v[i].question = -1;
	t->lines = worker_lines_new(jobs);
	*ret = t;
	return 0;
}

static void begin_all(struct trial *t)
{
	/* Buffered output must not be printed twice. */
	fflush(NULL);
	for (size_t i = 0; i < t->jobs.count; i++) {
		while (count_workers(t, false) >= t->jobs.at_once)
			await_some(t, LOOK_MS);
		if (is_cancelled())
			t->jobs.outcomes[i] = (struct outcome){.error = -EINTR,
				.message = strdup("interrupted before it began")};
		else
			t->jobs.outcomes[i].error = begin_worker(t, i);
	}
	while (count_workers(t, false))
		await_some(t, LOOK_MS);
}

int workers_run(const struct jobs *jobs)
{
	struct trial *t;
	int r = trial_new(jobs, false, &t);

	if (r < 0)
		return r;
	note_signals();
	begin_all(t);
	trial_free(t);
	return 0;
}

int trial_begin(const struct jobs *jobs, struct trial **ret_trial)
{
	struct trial *t;
	int r = trial_new(jobs, true, &t);

	if (r < 0)
		return r;
	begin_all(t);
	*ret_trial = t;
	return 0;
}

bool trial_failed(const struct trial *t)
{
	bool failed = is_cancelled();

	for (size_t i = 0; t && i < t->jobs.count; i++) {
		struct pollfd end = {t->v[i].pid > 0 ? t->v[i].fd : -1, POLLIN, 0};

		failed |= t->jobs.outcomes[i].error < 0 || poll(&end, 1, 0) > 0;
	}
	return failed;
}

void trial_end(struct trial *t, bool keep)
{
	if (!t)
		return;
	/* The answer informs them; a signal forwarded now would be the second one, which kills. */
	to_forward = 0;
	for (size_t i = 0; i < t->jobs.count; i++) {
		if (t->v[i].question < 0)
			continue;
		send(t->v[i].question, keep ? "y" : "n", 1, MSG_NOSIGNAL);
		t->v[i].asks = false;
		worker_lines_started(t->lines, i);
	}
	while (count_workers(t, true))
		await_some(t, LOOK_MS);
	trial_free(t);
}
