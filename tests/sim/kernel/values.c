// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of the kernel that hold one value: switches of /proc/sys, choices, and pages of a node
 * (mm/hugetlb.c: what is written is a change; .sim/pages-max says how many memory is left for, and
 * pages in use do not go).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

static int store_choice(struct host *h, const char *path, const char *text)
{
	static const char *const message[] = {"always", "madvise", "never"};
	_buf_ struct buf line = {0};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(message); i++) {
		bool is = str_eq(message[i], text);

		found |= is;
		buf_printf(&line, is ? "%s[%s]" : "%s%s", i ? " " : "", message[i]);
	}
	return found ? sim_put(h, line.data, "%s", path) : -EINVAL;
}

static unsigned number(struct host *h, const char *path, const char *name)
{
	_free_ char *text = sim_get(h, "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static int store_pages(struct host *h, const char *path, const char *text)
{
	_free_ char *most = sim_get(h, "/.sim/pages-max");
	unsigned long change = strtoul(text, NULL, 10);
	unsigned now = number(h, path, "nr_hugepages"), used = now - number(h, path, "free_hugepages");
	char line[16];

	if (most && change > strtoul(most, NULL, 10))
		change = strtoul(most, NULL, 10) > now ? strtoul(most, NULL, 10) : now;
	if (change < used)
		change = used;
	snprintf(line, sizeof(line), "%lu", change - used);
	sim_put(h, line, "%.*sfree_hugepages", (int)(strrchr(path, '/') + 1 - path), path);
	snprintf(line, sizeof(line), "%lu", change);
	return sim_put(h, line, "%s", path);
}

int sim_store_value(struct host *h, const char *path, const char *text)
{
	if (!sim_has(h, "%s", path))
		return -ENOENT;
	if (str_eq(path, "/sys/kernel/mm/transparent_hugepage/enabled"))
		return store_choice(h, path, text);
	if (str_starts(path, "/sys/devices/system/node/"))
		return store_pages(h, path, text);
	return text[strspn(text, "0123456789")] ? -EINVAL : sim_put(h, text, "%s", path);
}
