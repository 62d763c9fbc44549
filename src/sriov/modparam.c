// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ConnectX-3: mlx4_core has no sriov_configure; its VFs come from the load-time parameters num_vfs
 * and probe_vf, mode 0444 (drivers/net/ethernet/mellanox/mlx4/main.c). So the number is set in a
 * line in modprobe.d, which applies from the next load on.
 */
#include "sriov/modparam.h"

#include <errno.h>

#include "base/change.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "host/ops.h"

#define MODULE "mlx4_core"
#define DIR "/etc/modprobe.d"
#define FILE_NAME "vfctl-mlx4.conf"
#define VFS_MAX 63 /* for one port; the driver's tables have 64 functions, including the PF */
#define RELOAD                                                                           \
	MODULE " creates and removes VFs only when it is loaded: unload it and load it again, " \
	       "or reboot (every port of its adapters goes down meanwhile; if it is in the "  \
	       "initramfs, rebuild that first)"

bool modparam_is_needed(const struct vfctl_pf *pf)
{
	return driver_has(pf->driver, DRIVER_VFS_AT_LOAD);
}

/* ---- options in other files ---- */

/*
 * Whether the line is "options mlx4_core ... num_vfs=..." ('-' and '_' are equivalent for
 * modprobe).
 */
static bool sets_count(const char *line)
{
	_free_ char *copy = strdup(line);
	char *save = NULL, *word = copy ? strtok_r(copy, " \t", &save) : NULL;

	if (!word || !str_eq(word, "options"))
		return false;
	word = strtok_r(NULL, " \t", &save);
	if (!word || (!str_eq(word, MODULE) && !str_eq(word, "mlx4-core")))
		return false;
	while ((word = strtok_r(NULL, " \t", &save)))
		if (str_starts(word, "num_vfs=") || str_starts(word, "probe_vf="))
			return true;
	return false;
}

static int check_file(struct vfctl_ctx *ctx, const char *name)
{
	_free_ char *text = NULL;
	unsigned number = 0;
	int r = host_read(ctx, &text, DIR "/%s", name);

	if (r < 0)
		return r;
	for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		number++;
		if (sets_count(line))
			return ctx_fail(ctx, -EEXIST, DIR "/%s:%u sets the VFs of " MODULE
				" already (%s); change it there, or remove it and repeat the command", name,
				number, line);
	}
	return 0;
}

/* modprobe joins the options of all files, so a second file with them is a conflict. */
static int check_others(struct vfctl_ctx *ctx)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, DIR);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "other settings of the VFs of " MODULE " cannot be read: " DIR
			": %s", strerror(-r));
	for (size_t i = 0; r == 0 && names[i]; i++) {
		size_t len = strlen(names[i]);

		if (len > 5 && str_eq(names[i] + len - 5, ".conf") && !str_eq(names[i], FILE_NAME))
			r = check_file(ctx, names[i]);
	}
	return r;
}

/* ---- the plan ---- */

static char *options_text(uint32_t count, bool probe)
{
	return count ? str_format("# Written by vfctl create; vfctl destroy removes it.\n"
		"options " MODULE " num_vfs=%u probe_vf=%u\n", count, probe ? count : 0)
		     : strdup("");
}

static size_t count_pfs(const struct vfctl_inventory *inv)
{
	size_t n = 0;

	for (size_t i = 0; i < inv->pf_count; i++)
		n += modparam_is_needed(&inv->pfs[i]);
	return n;
}

/* The contents of vfctl's file, "" if there is none. */
static int read_before(struct vfctl_ctx *ctx, char **ret)
{
	_free_ char *text = NULL;
	int r = host_try_read(ctx, &text, DIR "/" FILE_NAME);

	if (r < 0 && r != -ENOENT)
		return ctx_fail(ctx, r, "read " DIR "/" FILE_NAME ": %s", strerror(-r));
	/* Reading removed the newline at the end. */
	*ret = r == 0 ? str_format("%s\n", text) : strdup("");
	return *ret ? 0 : ctx_oom(ctx);
}

int modparam_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, uint32_t count, bool probe,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_free_ char *before = NULL, *text = options_text(count, probe);
	size_t others = count_pfs(inv);
	int r;

	if (count > VFS_MAX)
		return ctx_fail(ctx, -ERANGE, MODULE " makes at most %u VFs, not %u", VFS_MAX, count);
	r = text ? check_others(ctx) : ctx_oom(ctx);
	if (r == 0)
		r = read_before(ctx, &before);
	if (r == 0)
		r = change_new(ctx, &change);
	if (r < 0)
		return r;
	if (!str_eq(before, text) && count)
		step_begin(&change->steps, "write " DIR "/" FILE_NAME ": num_vfs=%u "
			"probe_vf=%u%s", count, probe ? count : 0,
			others > 1 ? " (for each adapter of this driver)" : "");
	else if (!str_eq(before, text))
		step_begin(&change->steps, "remove " DIR "/" FILE_NAME);
	if (!str_eq(before, text))
		step_op(&change->steps, &op_file, text, before, DIR "/" FILE_NAME);
	if (pf->num_vfs != count && !(change->pending = strdup(RELOAD)))
		return ctx_oom(ctx);
	*ret_change = steal(change);
	return 0;
}
