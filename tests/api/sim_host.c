// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvfctl.so.0 on the simulated kernel: a program that is built with the installed library runs on the
 * tree $SIM_ROOT when LD_LIBRARY_PATH has this one. A context opens the simulator (sim_main.c reads its
 * variables), and "libvirt=system" is the hypervisor of the stories.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#define vfctl_ctx_new real_ctx_new
#include "../../src/open.c"
#undef vfctl_ctx_new

#include "../../vfctl/main.h"
#include "../sim/kernel/hypervisor.h"
#include "libvirt/connect.h"

int vfctl_ctx_new(struct vfctl_ctx **ret_ctx);

int vfctl_ctx_new(struct vfctl_ctx **ret_ctx)
{
	struct vfctl_ctx *ctx;
	int r = real_ctx_new(&ctx);

	if (r == 0)
		r = main_open_host(ctx);
	if (r == 0)
		*ret_ctx = ctx;
	return r;
}

int vfctl_libvirt_open(struct vfctl_ctx *ctx, const char *uri, struct vfctl_hypervisor **ret_hypervisor)
{
	if (uri)
		return ctx_fail(ctx, -EINVAL, "the simulated host has the system's libvirt alone");
	return sim_hypervisor_new(ctx, ret_hypervisor);
}

/* valgrind before 3.22 does not know openat2; the links of a simulated host are relative. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct open_how *how = (const void *)c;
	const char *path = (const char *)b;

	if (number != SYS_openat2 || !RUNNING_ON_VALGRIND)
		return __real_syscall(number, a, b, c, d, e, f);
	path += strspn(path, "/");
	return openat((int)a, *path ? path : ".", (int)how->flags, (mode_t)how->mode);
}
