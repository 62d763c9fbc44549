// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lock_holder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/util.h"

#define COMMAND_MAX 120

/*
 * Read the command line of a process, its program without the directory; "" if the process has
 * ended.
 */
static void read_command(int pid, char ret[COMMAND_MAX])
{
	char path[40], text[4 * COMMAND_MAX], *start;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[len] = '\0';
	start = strrchr(text, '/');
	start = start ? start + 1 : text;
	for (char *c = start; c < text + len; c++)
		if (!*c && c + 1 < text + len)
			*c = ' ';
	snprintf(ret, COMMAND_MAX, "%.*s", COMMAND_MAX - 1, start);
}

/*
 * A line is "7: FLOCK ADVISORY WRITE 123 00:1b:456 0 EOF"; for a waiting process there is an arrow
 * before FLOCK.
 */
static bool is_lock_on(const char *line, const struct stat *st, bool alone, int *ret_pid)
{
	unsigned major, minor;
	unsigned long inode;
	char mode[8];

	return sscanf(line, "%*d: %*s %*s %7s %d %x:%x:%lu", mode, ret_pid, &major, &minor,
		       &inode) == 5 &&
		major == major(st->st_dev) && minor == minor(st->st_dev) && inode == st->st_ino &&
		*ret_pid > 0 && *ret_pid != getpid() && (!alone || str_eq(mode, "WRITE"));
}

char *lock_holder(const char *path, bool alone)
{
	char line[256], command[COMMAND_MAX], others[32] = "";
	int pid, first = 0, count = 0;
	struct stat st;
	FILE *locks;

	if (stat(path, &st) < 0 || !(locks = fopen("/proc/locks", "re")))
		return NULL;
	while (fgets(line, sizeof(line), locks)) {
		if (!is_lock_on(line, &st, alone, &pid) || pid == first)
			continue;
		first = first ? first : pid;
		count++;
	}
	fclose(locks);
	if (!first)
		return NULL;
	read_command(first, command);
	if (count > 1)
		snprintf(others, sizeof(others), " and %d other%s", count - 1, count > 2 ? "s" : "");
	if (command[0])
		return str_format("process %d (%s)%s", first, command, others);
	return str_format("process %d%s%s", first, kill(first, 0) < 0 && errno == ESRCH ?
		", which has ended, but its write to the kernel has not (see dmesg)" : "",
		others);
}
