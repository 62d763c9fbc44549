// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a guest with VFs is locked. libvirt raises QEMU's limit for that, up to the
 * daemon's own hard limit, or further with CAP_SYS_RESOURCE. In a container or a hardened unit it
 * may be unable to, and then the start of the guest fails.
 */
#include "facts/snapshot/memlock.h"

#include "base/parse.h"
#include "domain/definition.h"
#include "host/host.h"

#define CAP_SYS_RESOURCE_BIT 24 /* linux/capability.h */

/* The text of a line after @key, or NULL. */
static char *line_of(char *text, const char *key)
{
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save))
		if (str_starts(line, key))
			return line + strlen(key);
	return NULL;
}

/* @text: that of /proc/PID/limits, "Max locked memory   SOFT   HARD   bytes". */
static bool parse_limit(char *text, bool hard, uint64_t *ret)
{
	char *line = line_of(text, "Max locked memory "), *save = NULL, *word;

	word = line ? strtok_r(line, " ", &save) : NULL;
	if (word && hard)
		word = strtok_r(NULL, " ", &save);
	if (word && str_eq(word, "unlimited")) {
		*ret = VFCTL_MEMLOCK_UNLIMITED;
		return true;
	}
	return word && parse_u64(word, 0, UINT64_MAX, ret) == 0;
}

static bool read_limit(struct vfctl_ctx *ctx, uint32_t pid, uint64_t *ret_hard)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, "/proc/%u/limits", pid) == 0 && parse_limit(text, true, ret_hard);
}

bool memlock_of_self(struct vfctl_ctx *ctx, uint64_t *ret_soft)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, "/proc/self/limits") == 0 && parse_limit(text, false, ret_soft);
}

static bool may_raise(struct vfctl_ctx *ctx, uint32_t pid)
{
	_free_ char *text = NULL;
	uint64_t caps;
	char *line;

	if (host_try_read(ctx, &text, "/proc/%u/status", pid) < 0)
		return true;
	line = line_of(text, "CapEff:");
	if (!line || parse_hex(line + strspn(line, " \t"), UINT64_MAX, &caps) < 0)
		return true;
	return caps >> CAP_SYS_RESOURCE_BIT & 1;
}

/* libvirtd, or the daemon of the qemu driver. */
static uint32_t find_daemon(struct vfctl_ctx *ctx)
{
	static const char *const files[] = {"/run/virtqemud.pid", "/run/libvirtd.pid",
		"/run/libvirt/virtqemud.pid", "/run/libvirt/libvirtd.pid"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_free_ char *text = NULL;
		uint32_t pid;

		/* A pid file may outlive its daemon: check that the process exists. */
		if (host_try_read(ctx, &text, "%s", files[i]) == 0 &&
			parse_u32(text, 1, INT32_MAX, &pid) == 0 &&
			host_exists(ctx, "/proc/%u/limits", pid))
			return pid;
	}
	return 0;
}

bool memlock_is_unlimited(struct vfctl_ctx *ctx, uint32_t pid)
{
	uint64_t limit;

	return read_limit(ctx, pid, &limit) && limit == VFCTL_MEMLOCK_UNLIMITED;
}

bool memlock_limit(struct vfctl_ctx *ctx, uint64_t *ret)
{
	uint32_t pid = find_daemon(ctx);
	uint64_t limit;

	if (!pid || !read_limit(ctx, pid, &limit) || may_raise(ctx, pid))
		return false;
	*ret = limit;
	return limit != VFCTL_MEMLOCK_UNLIMITED;
}

static int judge(struct vfctl_ctx *ctx, const char *name, const char *xml,
	uint64_t libvirt_version, char **ret_warning)
{
	struct vfctl_memlock guest;
	uint64_t limit;
	int r;

	if (!memlock_limit(ctx, &limit))
		return 0;
	r = vfctl_domain_memlock_read(ctx, xml, &guest);
	if (r < 0)
		return r;
	return vfctl_domain_memlock_judge(ctx, name,
		vfctl_domain_memlock_need(&guest, libvirt_version), limit, ret_warning);
}

void memlock_warn(
	struct vfctl_ctx *ctx, const char *name, const char *xml, uint64_t libvirt_version)
{
	_free_ char *warning = NULL;

	if (judge(ctx, name, xml, libvirt_version, &warning) < 0)
		ctx_clear(ctx);
	/* What could not be read here does not affect any decision. */
	free(host_take_unread(ctx));
	if (warning)
		log_warn(ctx, "%s", warning);
}
