// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory runs out at allocation $SIM_OOM of vfctl's own code (1 is the first), once;
 * $SIM_FAULT_HIT names a file that is made then.
 */
#include "oom.h"
#undef malloc
#undef calloc
#undef realloc
#undef reallocarray
#undef strdup
#undef strndup

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

extern int sim_inside; /* sim.h, which this cannot include */

static bool runs_out(void)
{
	static long left = -1;
	const char *path, *n;
	int fd;

	if (sim_inside)
		return false;
	if (left < 0) {
		n = getenv("SIM_OOM");
		left = n ? strtol(n, NULL, 10) : 0;
	}
	if (!left || --left)
		return false;
	path = getenv("SIM_FAULT_HIT");
	fd = path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644) : -1;
	if (fd >= 0)
		close(fd);
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, parameters, ...)                                                \
	type __wrap_##name parameters;                                                   \
	type __wrap_##name parameters { return runs_out() ? NULL : __real_##name(__VA_ARGS__); }

WRAP(void *, malloc, (size_t size), size)
WRAP(void *, calloc, (size_t count, size_t size), count, size)
WRAP(void *, realloc, (void *old, size_t size), old, size)
WRAP(void *, reallocarray, (void *old, size_t count, size_t size), old, count, size)
WRAP(char *, strdup, (const char *text), text)
WRAP(char *, strndup, (const char *text, size_t max), text, max)

int __real_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args);
int __wrap_vasprintf(char **ret, const char *fmt, va_list args)
{
	return runs_out() ? -1 : __real_vasprintf(ret, fmt, args);
}
