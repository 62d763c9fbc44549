// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan the kernel files and settings of the host as a whole that differ from host.yaml. */
#include "tuning/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "host/host.h"
#include "host/ops.h"
#include "sriov/ops.h"
#include "tuning/ops.h"

#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
#define TRANSPARENT "/sys/kernel/mm/transparent_hugepage/enabled"
#define BUSY_POLL "/proc/sys/net/core/busy_poll"
#define BUSY_READ "/proc/sys/net/core/busy_read"
#define PAGES "/sys/devices/system/node/node%u/hugepages/hugepages-%" PRIu64 "kB/%s"
#define CPU_LATENCY "/sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us"
#define MODULES "/etc/modules-load.d/vfctl.conf"
#define LIMITS "/etc/security/limits.d/50-vfctl.conf"
#define DROP_IN "/etc/systemd/system/%s.d/50-vfctl.conf"
#define BY_VFCTL \
	"# Written by vfctl apply from host.yaml; a change here is undone by the next one.\n"

/* ---- one kernel setting ---- */

/* Accept only these paths: the journal is a file, and its contents are written as root. */
static bool is_known(const char *path)
{
	unsigned node;
	uint64_t kib;
	int end = 0;

	if (str_eq(path, NUMA_BALANCING) || str_eq(path, TRANSPARENT) || str_eq(path, BUSY_POLL) ||
		str_eq(path, BUSY_READ))
		return true;
	if (sscanf(path, CPU_LATENCY "%n", &node, &end) == 1 && end && !path[end])
		return true;
	return sscanf(path, "/sys/devices/system/node/node%u/hugepages/hugepages-%" SCNu64
			"kB/nr_hugepages%n", &node, &kib, &end) == 2 && end && !path[end];
}

/* "always [madvise] never" means madvise. */
static void take_choice(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

static int read_value(struct vfctl_ctx *ctx, const char *path, char **ret)
{
	int r = host_read(ctx, ret, "%s", path);

	if (r == 0)
		take_choice(*ret);
	return r;
}

static int observe_host_value(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	if (!is_known(op->target))
		return op_fail_target(ctx, op);
	return read_value(ctx, op->target, ret);
}

static int write_value(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_free_ char *now = NULL;
	int r = observe_host_value(ctx, op, &now);

	if (r < 0 || str_eq(now, text))
		return r;
	r = host_write(ctx, text, "%s", op->target);
	free(steal(now));
	if (r == 0)
		r = observe_host_value(ctx, op, &now);
	if (r < 0 || str_eq(now, text))
		return r;
	return ctx_fail(ctx, -ENOMEM, "write %s to %s: the kernel set %s%s", text, op->target, now,
		strstr(op->target, "hugepages") ? "; memory is fragmented: allocate the pages at boot "
			"(vfctl-apply.service, or the kernel command line)" : "");
}

OP_WRITTEN(kernel_value, observe_host_value, write_value)
const struct op_type op_kernel_value = {.name = "kernel-value", OP_CALLS(kernel_value),
	.lost_on_reboot = true};

static int add_value(struct vfctl_ctx *ctx, struct steps *steps, const char *path, const char *want,
	const char *what)
{
	_free_ char *now = NULL;
	int r = read_value(ctx, path, &now);

	if (r == -ENOENT)
		return ctx_fail(ctx, r, "this kernel has no %s (%s); remove it from host.yaml", what, path);
	if (r < 0 || str_eq(now, want))
		return r;
	step_add_op(steps, &op_kernel_value, want, now, path, "%s: %s (was %s)", what, want, now);
	return 0;
}

/* ---- governors ---- */

#define AVAILABLE "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_available_governors"

static int check_available(struct vfctl_ctx *ctx, unsigned cpu, const char *want)
{
	_free_ char *text = NULL;
	size_t len = strlen(want);
	int r = host_try_read(ctx, &text, AVAILABLE, cpu);

	if (r == -ENOENT) /* the kernel tells when it is written */
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "read the governors of CPU %u: %s", cpu, strerror(-r));
	for (const char *at = text; (at = strstr(at, want)); at += len)
		if ((at == text || at[-1] == ' ') && (!at[len] || strchr(" \n", at[len])))
			return 0;
	return ctx_usage_error(ctx, -EINVAL, "kernel.governor: CPU %u has no governor '%s'; it has: %s",
		cpu, want, str_rstrip(text));
}

static int add_governor(struct vfctl_ctx *ctx, const char *want, unsigned cpu,
	const struct vfctl_cpuset *governed, struct steps *steps, bool *io_begun)
{
	struct vfctl_cpuset policy;
	_free_ char *now = NULL;
	int r = host_try_read(ctx, &now, CPU_GOVERNOR, cpu);

	if (r < 0)
		return r == -ENOENT ? r : ctx_fail(ctx, r, "read the governor of CPU %u: %s", cpu,
			strerror(-r));
	if (str_eq(now, want))
		return 0;
	r = governor_cpus(ctx, cpu, &policy);
	if (r < 0 || vfctl_cpuset_intersects(&policy, governed))
		return r;
	r = check_available(ctx, cpu, want);
	if (r < 0)
		return r;
	if (!*io_begun)
		step_begin(steps, "CPU frequency governor: %s (CPU %u had %s)", want, cpu, now);
	*io_begun = true;
	step_op(steps, &op_cpu_governor, want, now, "cpu/%u", cpu);
	return 0;
}

static int read_online(struct vfctl_ctx *ctx, struct vfctl_cpuset *ret)
{
	_free_ char *text = NULL;
	int r = host_read(ctx, &text, "/sys/devices/system/cpu/online");

	if (r == 0 && vfctl_cpuset_parse(text, ret) < 0)
		r = ctx_fail(ctx, -EBADMSG, "/sys/devices/system/cpu/online is '%.40s'", text);
	return r;
}

static int add_governors(struct vfctl_ctx *ctx, const char *want,
	const struct vfctl_cpuset *governed,
	struct steps *steps)
{
	struct vfctl_cpuset online = {0};
	bool begun = false, any = false;
	int r = read_online(ctx, &online);

	for (int c = vfctl_cpuset_next(&online, 0); r == 0 && c >= 0;
		c = vfctl_cpuset_next(&online, (unsigned)c + 1)) {
		r = add_governor(ctx, want, (unsigned)c, governed, steps, &begun);
		any |= r == 0;
		r = r == -ENOENT ? 0 : r;
	}
	if (r == 0 && !any)
		r = ctx_fail(ctx, -ENOENT, "the CPUs of this host have no governor (a virtual machine, or "
			"the firmware controls the frequency); remove kernel.governor from host.yaml");
	return r;
}

/* ---- C-states ---- */

/*
 * The limit of each CPU, which needs no process that holds it. The file has 0 for "no limit" and
 * n/a for a limit of 0 (drivers/base/power/sysfs.c, pm_qos_resume_latency_us_show()).
 */
static int add_latency(struct vfctl_ctx *ctx, uint32_t us, struct steps *steps)
{
	struct vfctl_cpuset online = {0};
	bool begun = false;
	char want[16] = "n/a";
	int r = read_online(ctx, &online);

	if (us)
		snprintf(want, sizeof(want), "%u", us);
	for (int c = vfctl_cpuset_next(&online, 0); r == 0 && c >= 0;
		c = vfctl_cpuset_next(&online, (unsigned)c + 1)) {
		_free_ char *path = str_format(CPU_LATENCY, (unsigned)c), *now = NULL;

		r = path ? host_read(ctx, &now, "%s", path) : ctx_oom(ctx);
		if (r == -ENOENT)
			return ctx_fail(ctx, r, "this kernel has no limit of C-states for CPU %d (%s); "
				"remove kernel.cpu-latency-us from host.yaml", c, path);
		if (r < 0 || str_eq(now, want))
			continue;
		if (!begun)
			step_begin(steps, "C-states: exit latency of at most %u us (CPU %d had %s)", us,
				c, str_eq(now, "0") ? "no limit" : now);
		begun = true;
		step_op(steps, &op_kernel_value, want, now, "%s", path);
	}
	return r;
}

/* ---- pages ---- */

/* How many of the @now present pages could be freed. */
static int check_free(struct vfctl_ctx *ctx, const struct vfctl_hugepages *h, uint32_t now)
{
	_free_ char *text = NULL;
	char message[SIZE_TEXT];
	uint32_t free_pages = 0;
	int r = host_read(ctx, &text, PAGES, h->node, h->size_bytes >> 10, "free_hugepages");

	if (r == 0 && parse_u32(text, 0, UINT32_MAX, &free_pages) < 0)
		r = ctx_fail(ctx, -EBADMSG, "free_hugepages of node %u is '%.20s'", h->node, text);
	if (r < 0 || now <= h->count || now - h->count <= free_pages)
		return r;
	return ctx_fail(ctx, -EBUSY, "node %u has %u pages of %s, of which %u are in use, so their "
		"number cannot be %u; stop guests there first, or state a higher count", h->node, now,
		size_text(h->size_bytes, message), now - free_pages, h->count);
}

static int add_pages(struct vfctl_ctx *ctx, const struct vfctl_hugepages *h, struct steps *steps)
{
	_free_ char *path = str_format(PAGES, h->node, h->size_bytes >> 10, "nr_hugepages");
	_free_ char *text = NULL;
	char want[16], what[80], message[SIZE_TEXT];
	uint32_t now;
	int r = path ? read_value(ctx, path, &text) : ctx_oom(ctx);

	if (r == -ENOENT)
		return ctx_fail(ctx, r, "node %u of this host has no pages of %s (%s): %s", h->node,
			size_text(h->size_bytes, message), path, host_exists(ctx,
				"/sys/devices/system/node/node%u", h->node)
				? "the CPU does not support this size" : "the node does not exist");
	if (r == 0 && parse_u32(text, 0, UINT32_MAX, &now) < 0)
		r = ctx_fail(ctx, -EBADMSG, "%s is '%.20s'", path, text);
	if (r == 0)
		r = check_free(ctx, h, now);
	if (r < 0 || now == h->count)
		return r;
	snprintf(want, sizeof(want), "%u", h->count);
	snprintf(what, sizeof(what), "node %u: pages of %s", h->node,
		size_text(h->size_bytes, message));
	step_add_op(steps, &op_kernel_value, want, text, path, "%s: %s (was %s)", what, want, text);
	return 0;
}

/* ---- files ---- */

static int add_file(struct vfctl_ctx *ctx, struct steps *steps, const char *path, const char *text,
	bool *io_changed)
{
	_free_ char *now = NULL;
	int r = host_try_read(ctx, &now, "%s", path); /* without trailing white space */

	if (r < 0 && r != -ENOENT)
		return ctx_fail(ctx, r, "read %s: %s", path, strerror(-r));
	if (r == 0 && strlen(text) == strlen(now) + 1 && str_starts(text, now))
		return 0;
	*io_changed = true;
	step_add_op(steps, &op_file, text, r == 0 ? now : "", path, "write %s", path);
	return 0;
}

static int add_modules(struct vfctl_ctx *ctx, char *const modules[], struct steps *steps)
{
	_buf_ struct buf text = {0};
	bool changed = false;
	int r;

	buf_puts(&text, BY_VFCTL);
	for (size_t i = 0; modules[i]; i++)
		buf_printf(&text, "%s\n", modules[i]);
	if (text.failed)
		return ctx_oom(ctx);
	r = add_file(ctx, steps, MODULES, text.data, &changed);
	for (size_t i = 0; r == 0 && modules[i]; i++)
		if (!module_is_here(ctx, modules[i]))
			step_add_op(steps, &op_module, "tried", NULL, modules[i], "load the kernel module %s",
				modules[i]);
	return r;
}

/* For both forms of the daemon: each reads its own file. */
static int add_memlock(struct vfctl_ctx *ctx, const struct vfctl_kernel_spec *k,
	struct steps *steps,
	bool *io_daemon)
{
	static const char *const daemons[] = {"libvirtd.service", "virtqemud.service"};
	bool unlimited = k->memlock_bytes == VFCTL_MEMLOCK_UNLIMITED, changed = false;
	_free_ char *daemon = NULL;
	_buf_ struct buf limits = {0};
	char bytes[32], kib[32];
	const char *limit = unlimited ? "unlimited" : kib;
	int r = 0;

	snprintf(bytes, sizeof(bytes), "%" PRIu64, k->memlock_bytes);
	snprintf(kib, sizeof(kib), "%" PRIu64, k->memlock_bytes >> 10);
	daemon = str_format(BY_VFCTL "[Service]\nLimitMEMLOCK=%s\n", unlimited ? "infinity" : bytes);
	buf_puts(&limits, BY_VFCTL);
	if (k->memlock_group)
		buf_printf(&limits, "@%s - memlock %s\n", k->memlock_group, limit);
	if (k->memlock_all_users) /* "*" does not apply to root (limits.conf(5)) */
		buf_printf(&limits, "* - memlock %s\nroot - memlock %s\n", limit, limit);
	if (!daemon || limits.failed)
		return ctx_oom(ctx);
	for (size_t i = 0; i < ARRAY_SIZE(daemons) && r == 0; i++) {
		_free_ char *path = str_format(DROP_IN, daemons[i]);

		r = path ? add_file(ctx, steps, path, daemon, io_daemon) : ctx_oom(ctx);
	}
	if (r == 0 && (k->memlock_group || k->memlock_all_users))
		r = add_file(ctx, steps, LIMITS, limits.data, &changed);
	return r;
}

/* ---- all settings ---- */

static int add_settings(struct vfctl_ctx *ctx, const struct vfctl_kernel_spec *k,
	struct steps *steps)
{
	char us[16];
	int r = 0;

	snprintf(us, sizeof(us), "%u", k->busy_poll_us);
	if (k->numa_balancing_stated)
		r = add_value(ctx, steps, NUMA_BALANCING, k->numa_balancing ? "1" : "0",
			"NUMA balancing");
	if (r == 0 && k->transparent_hugepages)
		r = add_value(ctx, steps, TRANSPARENT, k->transparent_hugepages, "transparent huge pages");
	if (r == 0 && k->busy_poll_stated)
		r = add_value(ctx, steps, BUSY_POLL, us, "busy polling by poll and select, us");
	if (r == 0 && k->busy_poll_stated)
		r = add_value(ctx, steps, BUSY_READ, us, "busy polling by read, us");
	return r;
}

static int check_present(struct vfctl_ctx *ctx, const struct vfctl_cpuset *present, const char *key,
	const struct vfctl_cpuset *set)
{
	struct vfctl_cpuset absent = *set;
	char text[128], all[128];

	vfctl_cpuset_andnot(&absent, present);
	if (vfctl_cpuset_empty(&absent))
		return 0;
	vfctl_cpuset_format(&absent, text, sizeof(text));
	vfctl_cpuset_format(present, all, sizeof(all));
	return ctx_usage_error(ctx, -EINVAL, "%s: this host has no CPU %s; it has %s",
		key, text, all);
}

int host_tuning_check_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec)
{
	struct vfctl_cpuset present;
	_free_ char *text = NULL;
	int r;

	if (host_try_read(ctx, &text, "/sys/devices/system/cpu/present") < 0 ||
		vfctl_cpuset_parse(str_rstrip(text), &present) < 0)
		return 0;
	r = check_present(ctx, &present, "reserved-cpus", &spec->reserved_cpus);
	if (r < 0)
		return ctx_prefix(ctx, r, "%s", spec->reserved_cpus_at);
	r = check_present(ctx, &present, "shared-cpus", &spec->shared_cpus);
	return r < 0 ? ctx_prefix(ctx, r, "%s", spec->shared_cpus_at) : 0;
}

int host_tuning_add_steps(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_cpuset *governed, struct steps *steps, char **ret_pending)
{
	const struct vfctl_kernel_spec *k = &spec->kernel;
	bool daemon = false;
	int r = 0;

	/* Pages first, because memory only becomes more fragmented. */
	for (size_t i = 0; i < spec->hugepages_count && r == 0; i++)
		r = add_pages(ctx, &spec->hugepages[i], steps);
	if (r == 0)
		r = add_settings(ctx, k, steps);
	if (r == 0 && k->governor)
		r = add_governors(ctx, k->governor, governed, steps);
	if (r == 0 && k->cpu_latency_stated)
		r = add_latency(ctx, k->cpu_latency_us, steps);
	if (r == 0 && k->modules)
		r = add_modules(ctx, k->modules, steps);
	if (r == 0 && k->memlock_bytes)
		r = add_memlock(ctx, k, steps, &daemon);
	if (r == 0 && daemon) {
		*ret_pending = strdup("the libvirt daemon has its new limit of locked memory after: "
			"systemctl daemon-reload && systemctl try-restart libvirtd virtqemud (guests "
			"keep running)");
		r = *ret_pending ? 0 : ctx_oom(ctx);
	}
	return r;
}
