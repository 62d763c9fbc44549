// SPDX-License-Identifier: GPL-2.0-or-later
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"

struct worker {
	pid_t pid; /* 0: not begun, or awaited */
	int fd;	   /* its outcome comes here */
};

void outcome_clear(struct outcome *outcome)
{
	free(outcome->pending);
	free(outcome->words);
	*outcome = (struct outcome){0};
}

void outcomes_clear(struct outcomes *outcomes)
{
	for (size_t i = 0; outcomes->v && i < outcomes->count; i++)
		outcome_clear(&outcomes->v[i]);
	free(outcomes->v);
}

void outcome_fill(struct invocation *in, int error, const struct vfctl_change *change, struct outcome *ret)
{
	const char *pending = error < 0 ? NULL : vfctl_change_pending(change);

	ret->error = error;
	ret->moved = error == 0 && vfctl_change_moves_ids(change);
	ret->pending = pending ? strdup(pending) : NULL;
	ret->words = error < 0 ? strdup(vfctl_ctx_error(in->ctx)) : NULL;
}

/* ---- the outcome on its way: two numbers, two texts with their NULs ---- */

static void send(int fd, const struct outcome *o)
{
	FILE *file = fdopen(fd, "w");

	if (!file)
		return;
	fprintf(file, "%d %d ", o->error, o->moved);
	fprintf(file, "%s%c%s%c", o->pending ? o->pending : "", 0, o->words ? o->words : "", 0);
	fclose(file);
}

static char *take_text(FILE *file)
{
	_free_ char *text = NULL;
	size_t room = 0;

	return getdelim(&text, &room, '\0', file) > 0 && text[0] ? steal(text) : NULL;
}

static void receive_worker(int fd, struct outcome *ret)
{
	FILE *file = fdopen(fd, "r");
	int moved = 0;

	if (file && fscanf(file, "%d %d%*1[ ]", &ret->error, &moved) == 2) {
		ret->moved = moved;
		ret->pending = take_text(file);
		ret->words = take_text(file);
	} else {
		ret->error = -ESTALE;
		ret->words = strdup("its process was killed; what it left half done: vfctl recover");
	}
	if (file)
		fclose(file);
	else
		close(fd);
}

/* ---- processes ---- */

static volatile sig_atomic_t last_signal;

static void note_signal(int number)
{
	last_signal = number;
}

static void await_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = note_signal};

	last_signal = 0;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* In a group of its own: it hears of a Ctrl-C once, from its parent. */
static pid_t begin_worker(struct invocation *in, size_t index, struct worker *w,
	void (*one)(struct invocation *in, void *data, size_t index, struct outcome *ret),
	void *data)
{
	static char lines[BUFSIZ];
	struct outcome outcome = {0};
	pid_t parent = getpid(), pid;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid != 0) {
		close(fds[1]);
		w->fd = fds[0];
		return pid < 0 ? -errno : pid;
	}
	close(fds[0]);
	setpgid(0, 0);
	catch_signals(in->ctx);
	/* Lines of several workers, each whole. glibc keeps its one byte of a NULL buffer. */
	setvbuf(stderr, lines, _IOLBF, sizeof(lines));
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	one(in, data, index, &outcome);
	fflush(stderr);
	send(fds[1], &outcome);
	_exit(EXIT_DONE);
}

static void forward(const struct worker *workers, size_t count)
{
	int number = last_signal;

	last_signal = 0;
	for (size_t i = 0; number && i < count; i++)
		if (workers[i].pid > 0)
			kill(workers[i].pid, number);
}

/* The first that is not awaited yet, by the end of its pipe. */
static void receive_first(struct worker *workers, size_t count, struct outcome *outcomes)
{
	for (size_t i = 0; i < count; i++)
		if (workers[i].pid > 0) {
			receive_worker(workers[i].fd, &outcomes[i]);
			workers[i].pid = 0;
			return;
		}
}

/* The end of any of them; its outcome is small and waits in the pipe. */
static void await_one(struct worker *workers, size_t count, struct outcome *outcomes)
{
	for (;;) {
		pid_t pid = waitpid(-1, NULL, 0);

		forward(workers, count);
		for (size_t i = 0; pid > 0 && i < count; i++)
			if (workers[i].pid == pid) {
				receive_worker(workers[i].fd, &outcomes[i]);
				workers[i].pid = 0;
				return;
			}
		if (pid < 0 && errno != EINTR) {
			receive_first(workers, count, outcomes);
			return;
		}
	}
}

int workers_run(struct invocation *in, size_t count, size_t at_once,
	void (*one)(struct invocation *in, void *data, size_t index, struct outcome *ret),
	void *data, struct outcome *ret_outcomes)
{
	_free_ struct worker *workers = calloc(count + 1, sizeof(*workers));
	size_t running = 0;
	bool cancelled = false;

	if (!workers)
		return -ENOMEM;
	/* Nothing is painted between the lines of the workers; what is buffered must not come twice. */
	progress_hide();
	progress_go_on();
	fflush(NULL);
	await_signals();
	for (size_t i = 0; i < count; i++) {
		for (; running >= at_once; running--)
			await_one(workers, count, ret_outcomes);
		cancelled |= last_signal;
		if (cancelled) {
			forward(workers, count);
			ret_outcomes[i] = (struct outcome){.error = -EINTR,
				.words = strdup("interrupted before it began")};
			continue;
		}
		workers[i].pid = begin_worker(in, i, &workers[i], one, data);
		if (workers[i].pid > 0)
			running++;
		else
			ret_outcomes[i].error = (int)workers[i].pid;
	}
	for (; running; running--)
		await_one(workers, count, ret_outcomes);
	return 0;
}
