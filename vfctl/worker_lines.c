// SPDX-License-Identifier: GPL-2.0-or-later
#include "worker_lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/context.h"
#include "progress.h"

#define SHOW_AFTER_MS 1000
#define PAINT_MS 200
#define ROWS_USUAL 24 /* if the terminal does not report its height */
#define COLUMNS_USUAL 80
#define COLUMNS_LEAST 20
#define TITLE_SIZE 64

struct one_line {
	char title[TITLE_SIZE];
	int64_t since_ms; /* 0: it is idle */
};

/*
 * Only the worker writes it. A text that is read while it changes is shown incorrectly for a
 * moment.
 */
struct doing {
	char text[VFCTL_PROGRESS_SIZE];
};

struct worker_lines {
	size_t count;
	struct one_line *v;
	struct doing *doing; /* one for each worker; shared with its process */
	int printed[2];	     /* a pipe with the output of the workers */
	unsigned shown;	     /* lines on the terminal now */
	int64_t painted_ms;
};

struct worker_lines *worker_lines_new(const struct jobs *jobs)
{
	struct worker_lines *lines = progress_is_shown() ? calloc(1, sizeof(*lines)) : NULL;

	if (!lines)
		return NULL;
	*lines = (struct worker_lines){.count = jobs->count, .printed = {-1, -1},
		.v = calloc(jobs->count + 1, sizeof(*lines->v)),
		.doing = mmap(NULL, (jobs->count + 1) * sizeof(*lines->doing), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	if (!lines->v || lines->doing == MAP_FAILED || pipe2(lines->printed, O_CLOEXEC | O_NONBLOCK) < 0) {
		worker_lines_free(lines);
		return NULL;
	}
	for (size_t i = 0; i < jobs->count; i++)
		jobs->title(jobs->data, i, lines->v[i].title, sizeof(lines->v[i].title));
	/* The line for this process itself must not be printed in between. */
	progress_hide();
	progress_go_on();
	return lines;
}

/* ---- in the worker ---- */

static void note_doing(void *data, const char *text)
{
	struct doing *doing = data;

	snprintf(doing->text, sizeof(doing->text), "%s", text);
}

void worker_lines_enter(struct worker_lines *lines, struct vfctl_ctx *ctx, size_t index)
{
	if (!lines)
		return;
	fcntl(lines->printed[1], F_SETFL, 0);
	dup2(lines->printed[1], STDERR_FILENO);
	vfctl_ctx_set_progress(ctx, note_doing, &lines->doing[index]);
}

/* ---- in the parent ---- */

void worker_lines_started(struct worker_lines *lines, size_t index)
{
	if (!lines)
		return;
	lines->v[index].since_ms = now_ms();
	lines->doing[index].text[0] = '\0';
}

void worker_lines_ended(struct worker_lines *lines, size_t index)
{
	if (lines)
		lines->v[index].since_ms = 0;
}

int worker_lines_fd(const struct worker_lines *lines)
{
	return lines ? lines->printed[0] : -1;
}

static void erase_lines(struct worker_lines *lines)
{
	for (; lines->shown; lines->shown--)
		fputs("\033[A\r\033[K", stderr);
}

static void pass_on(struct worker_lines *lines)
{
	char text[BUFSIZ];
	ssize_t size;

	while ((size = read(lines->printed[0], text, sizeof(text))) > 0) {
		erase_lines(lines);
		fwrite(text, 1, (size_t)size, stderr);
	}
}

static void paint_one(const struct worker_lines *lines, size_t index, int width, int64_t now)
{
	const struct one_line *line = &lines->v[index];
	const char *doing = lines->doing[index].text;
	char text[TITLE_SIZE + VFCTL_PROGRESS_SIZE + 8], seconds[24];
	int room;

	snprintf(seconds, sizeof(seconds), ", %lld s", (long long)(now - line->since_ms) / 1000);
	room = (width > COLUMNS_LEAST ? width : COLUMNS_LEAST) - 1 - (int)strlen(seconds);
	snprintf(text, sizeof(text), "%s: %.*s", line->title, VFCTL_PROGRESS_SIZE - 1,
		doing[0] ? doing : "working");
	text[room] = '\0';
	put_clean(stderr, text);
	fprintf(stderr, "%s\n", seconds);
}

static bool is_slow(const struct one_line *line, int64_t now)
{
	return line->since_ms && now - line->since_ms >= SHOW_AFTER_MS;
}

void worker_lines_paint(struct worker_lines *lines)
{
	struct winsize size = {0};
	int64_t now = now_ms();
	unsigned room;

	if (!lines)
		return;
	pass_on(lines);
	if (now - lines->painted_ms < PAINT_MS && lines->shown)
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		size = (struct winsize){.ws_row = ROWS_USUAL, .ws_col = COLUMNS_USUAL};
	room = size.ws_row > 2 ? size.ws_row - 1U : 1;
	erase_lines(lines);
	for (size_t i = 0; i < lines->count && lines->shown < room; i++)
		if (is_slow(&lines->v[i], now)) {
			paint_one(lines, i, size.ws_col, now);
			lines->shown++;
		}
	fflush(stderr);
	lines->painted_ms = now;
}

void worker_lines_free(struct worker_lines *lines)
{
	if (!lines)
		return;
	if (lines->printed[0] >= 0) {
		pass_on(lines);
		close(lines->printed[0]);
		close(lines->printed[1]);
	}
	erase_lines(lines);
	fflush(stderr);
	if (lines->doing != MAP_FAILED)
		munmap(lines->doing, (lines->count + 1) * sizeof(*lines->doing));
	free(lines->v);
	free(lines);
}
