// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OpenSM on this host: its configuration, its partitions and its service; the ports of the fabric.
 */
#include "infiniband/opensm.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "host/ops.h"
#include "infiniband/rdma.h"

#define PROCESS "opensm"
#define BY_VFCTL \
	"# Written by vfctl from host.yaml. The next vfctl apply undoes a change of this file.\n"
/* Without a rule for the default partition, OpenSM makes each port a limited member of it. */
#define DEFAULT_RULE "Default=0x7fff, ipoib : ALL=full, SELF=full ;\n"
/* Exists from before a file is replaced until OpenSM was told. */
#define UNTOLD HOST_LOCK_DIR "/opensm-untold"
#define UNTOLD_TEXT "\n(OpenSM has not read it)"

/* ---- files ---- */

static int observe_told(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	char *longer;
	int r = op_file.observe(ctx, op, 1, ret);

	if (r < 0 || !host_exists(ctx, UNTOLD))
		return r;
	longer = str_format("%s" UNTOLD_TEXT, *ret);
	free(*ret);
	*ret = longer;
	return longer ? 0 : ctx_oom(ctx);
}

static int write_told(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	int r = host_replace(ctx, "", UNTOLD), told;

	if (r == 0)
		r = back ? op_file.revert(ctx, op, 1) : op_file.apply(ctx, op, 1);
	if (r == 0)
		r = host_hangup(ctx, PROCESS);
	told = r == 0 ? host_replace(ctx, NULL, UNTOLD) : 0;
	return r < 0 ? r : told;
}

static int check_told(struct vfctl_ctx *ctx, const struct op *op)
{
	return op_file.check_revert(ctx, op);
}

static bool same_told(const char *text, const char *observed)
{
	return op_file.same(text, observed);
}

OP_APPLY_OR_REVERT(opensm_file, observe_told, write_told)
const struct op_type op_opensm_file = {.name = "opensm-file", OP_CALLS(opensm_file),
	.check_revert = check_told, .same = same_told};

static int add_told(struct vfctl_ctx *ctx, struct steps *steps, const char *path, const char *now,
	const char *want)
{
	bool told = !host_exists(ctx, UNTOLD);
	/* Reading has removed the last newline. */
	_free_ char *before = str_format("%s%s", now, now[0] ? "\n" : "");

	if (!before)
		return ctx_oom(ctx);
	if (told && op_file.same(want, now))
		return 0;
	step_add_op(steps, &op_opensm_file, want, before, path, "write %s, and tell OpenSM to read it",
		path);
	return 0;
}

/* "" for a file that does not exist. */
static int read_conf(struct vfctl_ctx *ctx, const char *path, char **ret)
{
	int r = host_try_read(ctx, ret, "%s", path);

	if (r == -ENOENT) {
		*ret = strdup("");
		return *ret ? 0 : ctx_oom(ctx);
	}
	return r < 0 ? ctx_fail(ctx, r, "read %s: %s", path, strerror(-r)) : 0;
}

/* opensm(8): RHEL's has its files in /etc/rdma, Debian's and NVIDIA's in /etc/opensm. */
static const char *directory_of(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet)
{
	if (subnet->directory)
		return subnet->directory;
	return host_exists(ctx, "/etc/rdma/opensm.conf") ? "/etc/rdma" : "/etc/opensm";
}

/* ---- partitions ---- */

static int compose_partitions(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	const char *exported, char **ret)
{
	_free_ char *rules = NULL;
	int r = 0;

	if (subnet->rules)
		r = host_try_read(ctx, &rules, "%s", subnet->rules);
	if (r < 0)
		return ctx_fail(ctx, r, "subnet-manager.rules: read %s: %s", subnet->rules, strerror(-r));
	*ret = str_format(BY_VFCTL "%s%s%s", rules ? rules : DEFAULT_RULE, rules ? "\n" : "", exported);
	return *ret ? 0 : ctx_oom(ctx);
}

int opensm_add_partitions(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	const char *exported, struct steps *steps)
{
	const char *dir = directory_of(ctx, subnet);
	_free_ char *path = str_format("%s/partitions.conf", dir), *now = NULL, *want = NULL;
	int r = path ? read_conf(ctx, path, &now) : ctx_oom(ctx);

	if (r == 0 && now[0] && !str_starts(now, BY_VFCTL))
		r = ctx_fail(ctx, -EEXIST, "%s was not written by vfctl, and is not overwritten; keep its "
			"rules: mv %s %s/partitions.head, and write in host.yaml: subnet-manager: {runs: "
			"here, rules: %s/partitions.head}", path, path, dir, dir);
	if (r == 0)
		r = compose_partitions(ctx, subnet, exported, &want);
	return r < 0 ? r : add_told(ctx, steps, path, now, want);
}

/* ---- opensm.conf ---- */

/* A line "key value"; in comments the key follows "#". */
static bool has_key(const char *line, size_t len, const char *key)
{
	size_t key_len = strlen(key), start = strspn(line, " \t");

	return start + key_len < len && strncmp(line + start, key, key_len) == 0 &&
		strchr(" \t", line[start + key_len]);
}

char *opensm_conf_set(const char *text, const char *key, const char *value)
{
	_buf_ struct buf out = {0};
	bool done = false;

	for (const char *line = text, *end; *line; line = end) {
		size_t len = strcspn(line, "\n");

		end = line + len + (line[len] == '\n');
		if (!has_key(line, len, key)) {
			buf_add(&out, line, len);
			buf_puts(&out, "\n");
		} else if (!done) {
			buf_printf(&out, "%s %s\n", key, value);
			done = true;
		}
	}
	if (!done)
		buf_printf(&out, "%s %s\n", key, value);
	return buf_steal(&out);
}

static int set_key(struct vfctl_ctx *ctx, char **io_text, const char *key, const char *value)
{
	char *text = opensm_conf_set(*io_text, key, value);

	free(*io_text);
	*io_text = text;
	return text ? 0 : ctx_oom(ctx);
}

/* NVIDIA's OpenSM: 2 enables the ports of VFs; others skip a key that they do not know. */
static int set_virtualization(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	char **io_text,
	bool *ret_changed)
{
	_free_ char *before = strdup(*io_text);
	int r = before ? set_key(ctx, io_text, "virt_enabled", subnet->virtualization ? "2" : "0")
		       : ctx_oom(ctx);

	*ret_changed = r == 0 && !op_file.same(*io_text, before);
	return r;
}

static int add_conf(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	struct steps *steps,
	bool *ret_restart)
{
	const char *dir = directory_of(ctx, subnet);
	_free_ char *path = str_format("%s/opensm.conf", dir), *now = NULL, *want = NULL;
	_free_ char *partitions = str_format("%s/partitions.conf", dir);
	char priority[16];
	int r = path && partitions ? read_conf(ctx, path, &now) : ctx_oom(ctx);

	snprintf(priority, sizeof(priority), "%u", subnet->priority);
	want = r == 0 ? strdup(now) : NULL;
	if (r == 0)
		r = want ? set_key(ctx, &want, "partition_config_file", partitions) : ctx_oom(ctx);
	if (r == 0 && subnet->priority_stated)
		r = set_key(ctx, &want, "sm_priority", priority);
	if (r == 0 && subnet->virtualization_stated)
		r = set_virtualization(ctx, subnet, &want, ret_restart);
	return r < 0 ? r : add_told(ctx, steps, path, now, want);
}

/* ---- the service ---- */

#define RUNS "runs"

static bool is_running(struct vfctl_ctx *ctx)
{
	_strv_ char **pids = NULL;

	if (host_try_list(ctx, &pids, "/proc") < 0)
		return false;
	for (size_t i = 0; pids[i]; i++) {
		_free_ char *name = NULL;

		if (pids[i][strspn(pids[i], "0123456789")] == '\0' &&
			host_try_read(ctx, &name, "/proc/%s/comm", pids[i]) == 0 && str_eq(name, PROCESS))
			return true;
	}
	return false;
}

static bool is_enabled(struct vfctl_ctx *ctx, const char *unit)
{
	_strv_ char **dirs = NULL, **links = NULL;
	size_t len = strcspn(unit, ".");

	if (host_try_list(ctx, &dirs, "/etc/systemd/system") < 0)
		return false;
	for (size_t i = 0; dirs[i]; i++) {
		_free_ char *target = NULL;

		if (strstr(dirs[i], ".wants") && host_try_link(ctx, &target, "/etc/systemd/system/%s/%s",
				dirs[i], unit) == 0)
			return true;
	}
	/* A script of System V, as NVIDIA's older packages have: links with a number of two digits. */
	if (host_try_list(ctx, &links, "/etc/rc3.d") < 0)
		return false;
	for (size_t i = 0; links[i]; i++)
		if (links[i][0] == 'S' && strlen(links[i]) == len + 3 && !strncmp(links[i] + 3, unit, len))
			return true;
	return false;
}

static int observe_opensm(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	bool running = is_running(ctx), enabled = is_enabled(ctx, op->target);

	return op_say(ctx, running && enabled ? RUNS : running ? "runs until the next boot"
		: enabled ? "starts at the next boot" : "stopped", ret);
}

static int write_opensm(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	bool now = str_starts(text, "runs"), boot = str_eq(text, RUNS) || str_starts(text, "starts");
	int r = 0;

	if (boot != is_enabled(ctx, op->target))
		r = host_service(ctx, boot ? "enable" : "disable", op->target);
	if (r == 0 && now != is_running(ctx))
		r = host_service(ctx, now ? "start" : "stop", op->target);
	return r;
}

OP_WRITTEN(opensm, observe_opensm, write_opensm)
const struct op_type op_opensm = {.name = "opensm", OP_CALLS(opensm)};

/* NULL: not installed. */
static const char *find_unit(struct vfctl_ctx *ctx)
{
	static const char *const units[] = {"opensm.service", "opensmd.service"};
	static const char *const dirs[] = {"/etc/systemd/system", "/usr/lib/systemd/system",
		"/lib/systemd/system"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		for (size_t k = 0; k < ARRAY_SIZE(dirs); k++)
			if (host_exists(ctx, "%s/%s", dirs[k], units[i]))
				return units[i];
	return host_exists(ctx, "/etc/init.d/opensmd") ? "opensmd.service" : NULL;
}

/* Whether the PF has an InfiniBand port, and VFs that the open-source OpenSM does not know. */
static bool has_virtual_ports(const struct vfctl_rdma_device *d)
{
	bool infiniband = false;

	for (size_t i = 0; i < d->port_count; i++)
		infiniband |= d->ports[i].infiniband;
	return infiniband && !d->is_vf && driver_has(d->driver, DRIVER_VIRTUAL_PORTS);
}

/* The OpenSM of Debian and RHEL would run, but the VFs of ConnectX-4 and newer would stay Down. */
static int fail_not_installed(struct vfctl_ctx *ctx)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, "/sys/class/infiniband");

	for (size_t i = 0; r >= 0 && names[i]; i++) {
		_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *d = NULL;

		if (vfctl_rdma_read(ctx, names[i], &d) == 0 && has_virtual_ports(d))
			return ctx_fail(ctx, -ENOENT, "host.yaml says that OpenSM runs on this host, but "
				"it is not installed; for the VFs of %s (%s) install NVIDIA's OpenSM, from "
				"DOCA-OFED or MLNX_OFED (that of Debian and RHEL knows VFs of ConnectX-3 "
				"only), or write subnet-manager: {runs: elsewhere}", d->name, d->driver);
	}
	return ctx_fail(ctx, -ENOENT, "host.yaml says that OpenSM runs on this host, but it is not "
		"installed; install it (Debian: apt install opensm; RHEL: dnf install opensm), or write "
		"subnet-manager: {runs: elsewhere}");
}

int opensm_add_service(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	struct steps *steps, char **ret_pending)
{
	const char *unit = find_unit(ctx);
	bool restart = false;
	_free_ char *now = NULL;
	struct op op = {.type = &op_opensm, .target = (char *)unit};
	int r;

	if (!unit)
		return fail_not_installed(ctx);
	r = add_conf(ctx, subnet, steps, &restart);
	if (r == 0)
		r = observe_opensm(ctx, &op, &now);
	if (r == 0 && !str_eq(now, RUNS))
		step_add_op(steps, &op_opensm, RUNS, now, unit, "run OpenSM, now and after each "
			"boot (%s: %s)", unit, now);
	if (r == 0 && restart && str_starts(now, RUNS)) {
		*ret_pending = str_format("OpenSM reads virt_enabled when it starts: systemctl restart %s",
			unit);
		r = *ret_pending ? 0 : ctx_oom(ctx);
	}
	return r;
}

/* ---- ports ---- */

#define MANAGED "managed"
#define WAIT_MS 500
#define WAITS 60

static int observe_port(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *d = NULL;
	const char *slash = strrchr(op->target, '/');
	_free_ char *name = slash ? strndup(op->target, (size_t)(slash - op->target)) : NULL;
	int number, r;

	if (!name || parse_int(slash + 1, 1, UINT8_MAX, &number) < 0)
		return op_fail_target(ctx, op);
	r = vfctl_rdma_read(ctx, name, &d);
	for (size_t i = 0; r == 0 && i < d->port_count; i++)
		if (d->ports[i].number == number)
			return op_say(ctx, d->ports[i].state == VFCTL_PORT_ACTIVE && d->ports[i].sm_lid
				? MANAGED : vfctl_port_state_name(d->ports[i].state), ret);
	return r < 0 ? r : ctx_fail(ctx, -ENODEV, "%s has no port %d", name, number);
}

static int await_port(struct vfctl_ctx *ctx, const struct op *op)
{
	for (unsigned i = 0; i < WAITS; i++) {
		_free_ char *now = NULL;
		int r = observe_port(ctx, op, &now);

		if (r < 0 || str_eq(now, MANAGED))
			return r;
		ctx_progress(ctx, "waiting for the subnet manager at %s (%s)", op->target, now);
		host_sleep_ms(ctx, WAIT_MS);
	}
	log_warn(ctx, "no subnet manager has configured %s within %u s; for the fabric: vfctl doctor",
		op->target, WAITS * WAIT_MS / 1000);
	return 0;
}

OP_ONE_BY_ONE(subnet_port, observe_port, await_port, NULL)
const struct op_type op_subnet_port = {.name = "subnet-port", OP_CALLS(subnet_port),
	.nature = OP_KEPT,
	.lost_on_reboot = true};

static void add_port(struct steps *steps, const struct vfctl_rdma_device *d,
	const struct vfctl_rdma_port *p)
{
	char target[96];

	if (!p->infiniband || p->phys_state != VFCTL_PHYS_LINK_UP ||
		(p->state == VFCTL_PORT_ACTIVE && p->sm_lid))
		return;
	snprintf(target, sizeof(target), "%s/%u", d->name, p->number);
	step_add_op(steps, &op_subnet_port, MANAGED, NULL, target,
		"%s port %u: wait for the subnet manager (%s)", d->name, p->number,
		vfctl_port_state_name(p->state));
}

int subnet_add_ports(struct vfctl_ctx *ctx, struct steps *steps)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, "/sys/class/infiniband");

	if (r < 0)
		return r == -ENOENT ? 0 : ctx_fail(ctx, r, "list the RDMA devices: %s", strerror(-r));
	for (size_t i = 0; names[i] && r == 0; i++) {
		_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *d = NULL;

		r = vfctl_rdma_read(ctx, names[i], &d);
		for (size_t k = 0; r == 0 && !d->is_vf && k < d->port_count; k++)
			add_port(steps, d, &d->ports[k]);
	}
	return r;
}
