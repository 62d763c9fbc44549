// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs of the sim tier link instead of the running kernel. The tree is
 * $SIM_ROOT; $SIM_FAULT is "N", "N:ERRNO" or "N:ERRNO:late" (or :on, :kill, :kill-late),
 * $SIM_FAULT_HIT names a file that is made when call N was reached, and $SIM_FAULT_CALLS one that
 * gets a line with the number of calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "../../../vfctl/main.h"
#include "sim.h"

const char main_bench_program[] = "vfctl-bench-sim";

static struct host *watched;

static void tell_calls(void)
{
	const char *path = getenv("SIM_FAULT_CALLS");
	int fd = path && watched ? open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%u\n", fault_calls(watched));
	close(fd);
}

static void tell_hit(void)
{
	const char *path = getenv("SIM_FAULT_HIT");
	int fd;

	if (!path || !watched || !fault_hit(watched))
		return;
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* The host is told of while it still exists: just before it is freed. */
static void (*inner_free)(struct host *h);

static void free_and_tell(struct host *h)
{
	tell_hit();
	tell_calls();
	inner_free(h);
}

static int wrap_quietly(struct vfctl_ctx *ctx, struct host *h)
{
	int r;

	sim_inside++;
	r = fault_host_new(h, 0, 0, "", &h);
	sim_inside--;
	if (r == 0)
		host_set(ctx, h);
	return r;
}

int main_open_host(struct vfctl_ctx *ctx)
{
	const char *root = getenv("SIM_ROOT"), *fault = getenv("SIM_FAULT");
	unsigned n = 0;
	char how[16] = "";
	int error = EIO, r;
	struct host *h;

	if (!root)
		return ctx_fail(ctx, -EINVAL, "SIM_ROOT is not set");
	sim_inside++;
	r = sim_host_new(root, &h);
	sim_inside--;
	if (r < 0)
		return ctx_fail(ctx, r, "open %s", root);
	/* Also without a call to fail: it tells the simulator's memory from the program's. */
	if (!fault && getenv("SIM_OOM"))
		return wrap_quietly(ctx, h);
	if (fault && sscanf(fault, "%u:%d:%15s", &n, &error, how) >= 1)
		r = fault_host_new(h, n, -error, how, &h);
	if (r < 0)
		return r;
	host_set(ctx, h);
	if (n) {
		watched = h;
		inner_free = ctx->host_free;
		ctx->host_free = free_and_tell;
	}
	return 0;
}
