// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH_USUAL 80 /* columns of a terminal that does not report its width */
#define PAGER_WORDS 16
#define PAGER_FAILED 127 /* the status with which a shell reports that a program was not found */

static struct {
	bool always, never;
} colors;

static struct {
	bool forbidden;
	pid_t pid; /* 0: none */
	int terminal; /* standard output before the pager */
	const char *name;
} pager;

bool terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

/* ---- colour ---- */

bool terminal_set_color(const char *when)
{
	colors.always = when && strcmp(when, "always") == 0;
	colors.never = when && strcmp(when, "never") == 0;
	return !when || colors.always || colors.never || strcmp(when, "auto") == 0;
}

static bool has_color(FILE *file)
{
	const char *no_color = getenv("NO_COLOR");

	if (colors.always || colors.never)
		return colors.always;
	if ((no_color && *no_color) || terminal_is_dumb())
		return false;
	return (file == stdout && pager.pid) || isatty(fileno(file));
}

const char *color_begin(FILE *file, enum color color)
{
	static const char *const sequences[] = {[COLOR_NONE] = "", [COLOR_GOOD] = "\033[32m",
		[COLOR_WARN] = "\033[33m", [COLOR_BAD] = "\033[1;31m"};

	return color && has_color(file) ? sequences[color] : "";
}

const char *color_end(FILE *file, enum color color)
{
	return color && has_color(file) ? "\033[0m" : "";
}

/* ---- size ---- */

unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (width && width <= UINT16_MAX)
		return (unsigned)width;
	if (!isatty(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_USUAL;
}

/* ---- pager ---- */

/* Execute @command, which is modified; if it has more syntax than words, the shell runs it. */
static void exec_pager(char *command)
{
	char *words[PAGER_WORDS + 1] = {NULL}, *next = NULL, *word;
	size_t n = 0;

	if (strpbrk(command, "|&;<>()$`\\\"'*?[#~=%")) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		return;
	}
	for (; n < PAGER_WORDS && (word = strtok_r(n ? NULL : command, " \t", &next)); n++)
		words[n] = word;
	if (n)
		execvp(words[0], words);
}

/* Runs in the child: @fd is the pager's input; a successful exec() closes @told. */
static void become_pager(const char *command, int fd, int told)
{
	char *copy = strdup(command);
	int error;

	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	dup2(fd, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (copy)
		exec_pager(copy);
	error = errno;
	if (write(told, &error, sizeof(error)) < 0)
		_exit(PAGER_FAILED);
	_exit(PAGER_FAILED);
}

static bool start_program(const char *command)
{
	int fds[2], told[2], error;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	if (pipe2(told, O_CLOEXEC) < 0) {
		close(fds[0]);
		close(fds[1]);
		return false;
	}
	pid = fork();
	if (pid == 0)
		become_pager(command, fds[0], told[1]);
	close(fds[0]);
	close(told[1]);
	if (pid > 0 && read(told[0], &error, sizeof(error)) != 0) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(told[0]);
	if (pid > 0) {
		pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(fds[1], STDOUT_FILENO);
		pager.pid = pid;
		pager.name = command;
		/*
		 * Ctrl-C is for the pager, which would otherwise leave the terminal in its own
		 * mode.
		 */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	close(fds[1]);
	return pid > 0;
}

void terminal_start_pager(void)
{
	const char *command = getenv("VFCTL_PAGER");

	if (pager.forbidden || pager.pid || !isatty(STDOUT_FILENO) || terminal_is_dumb())
		return;
	command = command ? command : getenv("PAGER");
	if (command && (!*command || strcmp(command, "cat") == 0))
		return;
	fflush(stdout);
	if (command && start_program(command))
		return;
	if (!start_program("less"))
		start_program("more");
}

void terminal_forbid_pager(void)
{
	pager.forbidden = true;
}

bool terminal_is_paged(void)
{
	return pager.pid > 0;
}

bool terminal_end_pager(char *ret_text, size_t size)
{
	int status = 0;

	*ret_text = '\0';
	if (!pager.pid)
		return true;
	dup2(pager.terminal, STDOUT_FILENO); /* close the pager's input */
	while (waitpid(pager.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		snprintf(ret_text, size, "the pager '%s' ended with signal %d", pager.name, WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		snprintf(ret_text, size, "the pager '%s' ended with exit status %d", pager.name,
			WEXITSTATUS(status));
	return !*ret_text;
}
