// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the directory from which node_exporter reads metrics of other programs (textfile collector).
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "host/host.h"
#include "monitor/doctor.h"

#define OPTION "--collector.textfile.directory"

/* Find "--option=DIR" or "--option DIR" among the arguments of a process; NULL if there is none. */
static char *find_option(const struct buf *message)
{
	const char *end = message->data + message->len;

	for (const char *at = message->data; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
		size_t len = strlen(OPTION);
		const char *next = at + strnlen(at, (size_t)(end - at)) + 1;

		if (next > end || strncmp(at, OPTION, len) != 0)
			continue;
		if (at[len] == '=')
			return strdup(at + len + 1);
		if (!at[len] && next < end)
			return strndup(next, (size_t)(end - next));
	}
	return NULL;
}

/* The directory in the arguments of the running node_exporter. */
static char *running_directory(struct vfctl_ctx *ctx)
{
	_strv_ char **pids = NULL;
	char *dir = NULL;

	if (host_try_list(ctx, &pids, "/proc") < 0)
		return NULL;
	for (size_t i = 0; pids[i] && !dir; i++) {
		_free_ char *name = NULL;
		_buf_ struct buf message = {0};

		/*
		 * The kernel keeps only 15 bytes of a name: prometheus-node-exporter,
		 * node_exporter.
		 */
		if (pids[i][strspn(pids[i], "0123456789")] ||
			host_try_read(ctx, &name, "/proc/%s/comm", pids[i]) < 0 ||
			(!str_starts(name, "node_exporter") && !str_starts(name, "prometheus-node")) ||
			host_try_bytes(ctx, &message, "/proc/%s/cmdline", pids[i]) < 0 || !message.len)
			continue;
		dir = find_option(&message);
	}
	return dir;
}

int vfctl_textfile_directory(struct vfctl_ctx *ctx, char **ret)
{
	static const char *const usual[] = {"/var/lib/prometheus/node-exporter", /* Debian */
		"/var/lib/node_exporter/textfile_collector", "/var/lib/node_exporter"};
	char *dir = running_directory(ctx);

	for (size_t i = 0; !dir && i < ARRAY_SIZE(usual); i++)
		if (host_exists(ctx, "%s", usual[i])) {
			dir = strdup(usual[i]);
			if (!dir)
				return ctx_oom(ctx);
		}
	if (!dir)
		return ctx_fail(ctx, -ENOENT, "no node_exporter with a textfile collector runs here, and its "
			"usual directories do not exist (%s, %s); start it with " OPTION "=DIR, or name a "
			"file: vfctl metrics --output FILE", usual[0], usual[1]);
	*ret = dir;
	return 0;
}
