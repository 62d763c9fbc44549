// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands that another program carries out: vfctl-bench, which is a separate package. */
#include "delegate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main.h"

/* Whether the word after an option belongs to it. */
static bool takes_next(const char *option)
{
	bool is_long = option[1] == '-';
	const char *name = option + (is_long ? 2 : 1);

	for (size_t i = 0; i < global_option_count; i++) {
		const struct option_row *row = &global_options[i];
		bool same = is_long ? strcmp(row->name, name) == 0
				    : row->letter && row->letter == name[0] && !name[1];

		if (same)
			return row->arg;
	}
	return false;
}

/* The first word after argv[at] that is not a common option; 0 if there is none. */
static size_t next_word(char **argv, size_t at)
{
	for (at++; argv[at]; at++) {
		if (argv[at][0] != '-' || !argv[at][1])
			return at;
		if (strcmp(argv[at], "--") == 0)
			return 0;
		if (takes_next(argv[at]) && !argv[++at])
			return 0;
	}
	return 0;
}

static const struct delegate *find_delegate(const char *command, const char *argument)
{
	for (size_t i = 0; i < this_program.delegate_count; i++) {
		const struct delegate *d = &this_program.delegates[i];

		if (strcmp(d->command, command) == 0 &&
			(!d->argument || (argument && strcmp(d->argument, argument) == 0)))
			return d;
	}
	return NULL;
}

/* In the directory of this program: PATH is not used, because root runs this. */
bool delegate_path(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n <= 0)
		return false;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	return slash && (size_t)snprintf(slash + 1, size - (size_t)(slash + 1 - buf), "%s",
		main_bench_program) < size - (size_t)(slash + 1 - buf);
}

static int start_program(struct invocation *in, char **argv)
{
	char path[4096];
	int error = ENOENT;

	if (delegate_path(path, sizeof(path))) {
		execv(path, argv);
		error = errno;
	}
	if (error == ENOENT)
		return fail_as(in, EXIT_FAILED, -ENOPKG, "vfctl-bench is not installed; install it with: "
			"apt install vfctl-bench");
	return fail_as(in, EXIT_FAILED, -error, "start %s: %s", path, strerror(error));
}

int start_delegate(struct invocation *in, char **argv)
{
	size_t command = next_word(argv, 0), argument, count = 0, kept = 1;
	const struct delegate *d;
	_free_ char **args = NULL;

	if (!command)
		return -1;
	argument = next_word(argv, command);
	d = find_delegate(argv[command], argument ? argv[argument] : NULL);
	if (!d)
		return -1;
	in->command = command_find(d->command);
	while (argv[count])
		count++;
	args = calloc(count + 1, sizeof(*args));
	if (!args)
		return fail_as(in, EXIT_FAILED, -ENOMEM, "out of memory");
	args[0] = (char *)"vfctl-bench";
	for (size_t i = 1; i < count; i++) {
		if (i == command && d->as)
			args[kept++] = (char *)d->as;
		else if (i != command && !(d->as && i == argument))
			args[kept++] = argv[i];
	}
	return start_program(in, args);
}
