// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "out.h"
#include "terminal.h"
#include "vfctl/context.h"

#define ERASE "\r\033[K"
#define WIDTH_USUAL 80 /* if the terminal does not report its width */
#define WIDTH_LEAST 20
#define SECONDS_TEXT 16 /* longest text ", 12345 s" */

static struct {
	pthread_t painter;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool runs, ends, shown;
	time_t since;
	char doing[VFCTL_PROGRESS_SIZE];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec now_progress(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/* A line that is wider than the terminal could not be erased. */
static void paint(void)
{
	char line[VFCTL_PROGRESS_SIZE];
	struct winsize size;
	int width = WIDTH_USUAL, room;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = size.ws_col;
	room = (width > WIDTH_LEAST ? width : WIDTH_LEAST) - SECONDS_TEXT;
	snprintf(line, sizeof(line), "%.*s", room, progress.doing);
	fputs(ERASE, stderr);
	put_clean(stderr, line);
	fprintf(stderr, ", %lld s", (long long)(now_progress().tv_sec - progress.since));
	fflush(stderr);
	progress.shown = true;
}

static void erase(void)
{
	if (progress.shown)
		fputs(ERASE, stderr);
	fflush(stderr);
	progress.shown = false;
}

/* Update the line every second, after the action has lasted for one. */
static void *paint_on(void *unused)
{
	pthread_mutex_lock(&progress.lock);
	while (!progress.ends) {
		struct timespec next = now_progress();

		next.tv_sec++;
		pthread_cond_timedwait(&progress.wake, &progress.lock, &next);
		if (!progress.ends && progress.doing[0] && now_progress().tv_sec - progress.since > 1)
			paint();
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

/* A child of this process has no thread for this, and must find the lock free. */
static void before_fork(void)
{
	pthread_mutex_lock(&progress.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&progress.lock);
}

static void in_child(void)
{
	progress.runs = progress.shown = false;
	pthread_mutex_unlock(&progress.lock);
}

bool progress_start(void)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;

	if (progress.runs || !isatty(STDERR_FILENO) || terminal_is_dumb())
		return progress.runs;
	progress.since = now_progress().tv_sec;
	pthread_atfork(before_fork, after_fork, in_child);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Signals are handled by the thread that does the work. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	progress.runs = pthread_create(&progress.painter, NULL, paint_on, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return progress.runs;
}

bool progress_is_shown(void)
{
	return progress.runs;
}

void progress_stop(void)
{
	if (!progress.runs)
		return;
	progress.runs = false;
	pthread_mutex_lock(&progress.lock);
	progress.ends = true;
	erase();
	pthread_cond_signal(&progress.wake);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.painter, NULL);
}

void progress_doing(void *data, const char *text)
{
	pthread_mutex_lock(&progress.lock);
	snprintf(progress.doing, sizeof(progress.doing), "%s", text);
	pthread_mutex_unlock(&progress.lock);
}

void progress_hide(void)
{
	pthread_mutex_lock(&progress.lock);
	erase();
	progress.since = now_progress().tv_sec;
	progress.doing[0] = '\0';
}

void progress_go_on(void)
{
	pthread_mutex_unlock(&progress.lock);
}
