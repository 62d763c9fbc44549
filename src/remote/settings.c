// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote/settings.h"

#include <errno.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "host/host.h"
#include "remote/argv.h"

#define RUN_MS 60000
#define LINK_MS 30000
#define LINK_LOOK_MS 50
#define GOVERNOR "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor"

/* ---- running one program ---- */

static int run_settings(struct place *p, const char *input, struct place_output *ret,
	char *const argv[])
{
	char message[300], where[300];
	_free_ char *text = NULL;
	int r = place_run(p, argv, input, RUN_MS, ret);

	if (r < 0 || ret->status == 0)
		return r;
	place_output_text(ret, message, sizeof(message));
	text = argv_text(argv);
	return ctx_fail(p->ctx, -EINVAL, "%s: %s: %s", place_describe(p, where), text ? text : argv[0],
		*message ? message : "failed");
}

static int read_file(struct place *p, const char *path, char **ret)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	char *argv[] = {"cat", (char *)path, NULL};
	int r = run_settings(p, NULL, &o, argv);

	if (r < 0)
		return r;
	*ret = strdup(o.out.data ? o.out.data : "");
	if (!*ret)
		return ctx_oom(p->ctx);
	str_rstrip(*ret);
	return 0;
}

/* ---- names ---- */

static bool is_adaptive(const char *name)
{
	return str_starts(name, "adaptive-");
}

static bool is_coalescing(const char *name)
{
	return !str_eq(name, "mtu") && !str_eq(name, "ipoib-mode") && !str_eq(name, "governor");
}

static bool any_coalescing(char *const names[])
{
	for (size_t i = 0; names[i]; i++)
		if (is_coalescing(names[i]))
			return true;
	return false;
}

/* ---- output of ethtool -c ---- */

/*
 * Find the word after "KEY:" at the beginning of a line, or within it for "Adaptive RX: off  TX:
 * on".
 */
static bool value_behind(const char *text, const char *key, char *buf, size_t size)
{
	const char *at = text;
	size_t len = strlen(key);

	while ((at = strstr(at, key))) {
		const char *value = at + len;

		if ((at == text || at[-1] == '\n' || at[-1] == ' ') && *value == ':') {
			value += 1 + strspn(value + 1, " \t");
			snprintf(buf, size, "%.*s", (int)strcspn(value, " \t\r\n"), value);
			return true;
		}
		at = value;
	}
	return false;
}

static int coalescing_value(struct place *p, const char *shown, const char *device,
	const char *name, char *buf, size_t size)
{
	bool found;

	/* Older versions print rx-frame-low. */
	char other[32];

	snprintf(other, sizeof(other), "%s", name);
	if (str_starts(name + 2, "-frames-"))
		memmove(other + 8, other + 9, strlen(other + 9) + 1);
	if (is_adaptive(name)) {
		const char *line = strstr(shown, "Adaptive RX:");

		found = line && value_behind(line, str_eq(name, "adaptive-rx") ? "Adaptive RX" : "TX",
					buf, size);
	} else {
		found = value_behind(shown, name, buf, size) || value_behind(shown, other, buf, size);
	}
	if (!found || str_eq(buf, "n/a"))
		return ctx_fail(p->ctx, -EOPNOTSUPP, "the driver of %s does not support %s (for its "
			"settings: ethtool -c %s)", device, name, device);
	return 0;
}

static int show_coalescing(struct place *p, const char *device, char **ret)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	char *argv[] = {"ethtool", "-c", (char *)device, NULL};
	int r = run_settings(p, NULL, &o, argv);

	if (r == -ENOENT)
		return ctx_append(p->ctx, r, " (apt-get install ethtool)");
	if (r == -EINVAL)
		return ctx_append(p->ctx, -EOPNOTSUPP, " (that driver has no interrupt moderation to "
			"set: omit these settings)");
	if (r < 0)
		return r;
	*ret = strdup(o.out.data ? o.out.data : "");
	return *ret ? 0 : ctx_oom(p->ctx);
}

/*
 * igbvf reports 1 after it was set to 0, and does not accept 1 (igbvf/ethtool.c: 0 is an ITR of 4,
 * in units of a quarter us), so the value that was read could not be restored.
 */
static int name_what_can_be_set(struct place *p, const char *device, char *io_value, size_t size)
{
	_free_ char *path = str_format("/sys/class/net/%s/device/driver", device);
	char *argv[] = {"readlink", path, NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	int r = path ? place_run(p, argv, NULL, RUN_MS, &o) : ctx_oom(p->ctx);
	const char *slash;

	if (r < 0 || o.status != 0 || !o.out.data)
		return r;
	slash = strrchr(str_rstrip(o.out.data), '/');
	if (slash && str_eq(slash, "/igbvf"))
		snprintf(io_value, size, "0");
	return 0;
}

static int read_coalescing(struct place *p, const char *shown, const char *device, const char *name,
	char *buf, size_t size)
{
	int r = coalescing_value(p, shown, device, name, buf, size);

	if (r == 0 && str_eq(name, "rx-usecs") && str_eq(buf, "1"))
		r = name_what_can_be_set(p, device, buf, size);
	return r;
}

static int read_one(struct place *p, const char *device, const char *name, const char *coalescing,
	char *buf, size_t size)
{
	_free_ char *path = NULL, *text = NULL;
	int r;

	if (is_coalescing(name))
		return read_coalescing(p, coalescing, device, name, buf, size);
	if (str_eq(name, "governor"))
		path = str_format(GOVERNOR, 0);
	else
		path = str_format("/sys/class/net/%s/%s", device,
			str_eq(name, "ipoib-mode") ? "mode" : name);
	r = path ? read_file(p, path, &text) : ctx_oom(p->ctx);
	if (r == -EINVAL)
		r = ctx_append(p->ctx, -EOPNOTSUPP, " (%s cannot be set there: omit it)", name);
	if (r == 0)
		snprintf(buf, size, "%s", text);
	return r;
}

int settings_read(struct place *p, const char *device, char *const names[], char **ret)
{
	_free_ char *coalescing = NULL;
	_buf_ struct buf out = {0};
	int r = any_coalescing(names) ? show_coalescing(p, device, &coalescing) : 0;

	for (size_t i = 0; names[i] && r == 0; i++) {
		char value[64] = "";

		r = read_one(p, device, names[i], coalescing, value, sizeof(value));
		buf_printf(&out, "%s%s=%s", i ? " " : "", names[i], value);
	}
	if (r < 0)
		return r;
	*ret = out.failed ? NULL : out.data ? buf_steal(&out) : strdup("");
	return *ret ? 0 : ctx_oom(p->ctx);
}

/* ---- writing ---- */

struct pair {
	char name[32], value[64];
};

/* The next "name=value" of @text, or NULL after the last one. */
static const char *next_pair(const char *text, struct pair *ret)
{
	size_t len, name;

	text += strspn(text, " ");
	len = strcspn(text, " ");
	name = strcspn(text, "= ");
	if (!len || name >= len || name >= sizeof(ret->name) || len - name - 1 >= sizeof(ret->value))
		return NULL;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name, text);
	snprintf(ret->value, sizeof(ret->value), "%.*s", (int)(len - name - 1), text + name + 1);
	return text + len;
}

int settings_names(struct vfctl_ctx *ctx, const char *text, char ***ret)
{
	_cleanup_(argv_clear) struct argv names = {0};
	struct pair pair;

	while ((text = next_pair(text, &pair)))
		argv_add(&names, "%s", pair.name);
	if (names.failed || (!names.v && !(names.v = calloc(1, sizeof(char *)))))
		return ctx_oom(ctx);
	*ret = steal(names.v);
	return 0;
}

static int write_coalescing(struct place *p, const char *device, const char *text)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_cleanup_(argv_clear) struct argv argv = {0};
	struct pair pair;

	argv_add(&argv, "ethtool");
	argv_add(&argv, "-C");
	argv_add(&argv, "%s", device);
	while ((text = next_pair(text, &pair)))
		if (is_coalescing(pair.name)) {
			argv_add(&argv, "%s", pair.name);
			argv_add(&argv, "%s", pair.value);
		}
	return argv.failed ? ctx_oom(p->ctx) : argv.count > 3 ? run_settings(p, NULL, &o, argv.v) : 0;
}

static int write_governor(struct place *p, const char *value)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_free_ char *online = NULL;
	_cleanup_(argv_clear) struct argv argv = {0};
	struct vfctl_cpuset cpus = {0};
	int r = read_file(p, "/sys/devices/system/cpu/online", &online);

	if (r == 0 && vfctl_cpuset_parse(online, &cpus) < 0)
		r = ctx_fail(p->ctx, -EBADMSG, "'%.64s' is not a list of CPUs", online);
	if (r < 0)
		return r;
	argv_add(&argv, "tee");
	for (int cpu = vfctl_cpuset_next(&cpus, 0); cpu >= 0;
		cpu = vfctl_cpuset_next(&cpus, (unsigned)cpu + 1))
		argv_add(&argv, GOVERNOR, cpu);
	return argv.failed ? ctx_oom(p->ctx) : run_settings(p, value, &o, argv.v);
}

/* Some drivers take the link down for a moment, and the next program would find no link. */
static int await_link(struct place *p, const char *device)
{
	_free_ char *path = str_format("/sys/class/net/%s/carrier", device);
	int64_t end = now_ms() + LINK_MS;

	if (!path)
		return ctx_oom(p->ctx);
	for (;;) {
		_free_ char *carrier = NULL;

		if (p->ctx->cancelled)
			return ctx_fail(p->ctx, -EINTR, "interrupted");
		/* The carrier of an interface that is down cannot be read. */
		if (read_file(p, path, &carrier) < 0 || str_eq(carrier, "1"))
			return 0;
		if (now_ms() > end)
			return ctx_fail(p->ctx, -ENETDOWN, "%s has no link %d s after its settings "
				"were changed", device, LINK_MS / 1000);
		host_sleep_ms(p->ctx, LINK_LOOK_MS);
	}
}

static int write_one(struct place *p, const char *device, const struct pair *pair)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	char *mtu[] = {"ip", "link", "set", "dev", (char *)device, "mtu", (char *)pair->value, NULL};
	_free_ char *path = str_format("/sys/class/net/%s/mode", device);
	char *tee[] = {"tee", path, NULL};

	if (is_coalescing(pair->name))
		return 0;
	if (str_eq(pair->name, "governor"))
		return write_governor(p, pair->value);
	return path ? run_settings(p, str_eq(pair->name, "mtu") ? NULL : pair->value, &o,
			      str_eq(pair->name, "mtu") ? mtu : tee)
		    : ctx_oom(p->ctx);
}

static int read_back(struct place *p, const char *device, const char *text)
{
	_strv_ char **names = NULL;
	_free_ char *now = NULL;
	int r = settings_names(p->ctx, text, &names);

	if (r == 0)
		r = settings_read(p, device, names, &now);
	if (r == 0 && !str_eq(now, text))
		r = ctx_fail(p->ctx, -EPROTO, "%s was set to %s but has %s: its driver accepts only "
			"other values, or another program sets them", device, text, now);
	return r;
}

int settings_write(struct place *p, const char *device, const char *text)
{
	const char *rest = text;
	struct pair pair;
	int r = write_coalescing(p, device, text);

	while (r == 0 && (rest = next_pair(rest, &pair)))
		r = write_one(p, device, &pair);
	if (r == 0)
		r = read_back(p, device, text);
	return r < 0 ? r : await_link(p, device);
}

/* ---- as an operation ---- */

static const char *const where_text[] = {[ENDPOINT_HERE] = "here", [ENDPOINT_NETNS] = "netns",
	[ENDPOINT_SSH] = "ssh", [ENDPOINT_GUEST] = "guest"};

char *settings_target(const struct endpoint *end)
{
	return str_format("%s:%s%s%s/%s", where_text[end->where], end->at ? end->at : "",
		end->ssh_config ? "|" : "", end->ssh_config ? end->ssh_config : "",
		end->device ? end->device : "");
}

int settings_target_parse(struct vfctl_ctx *ctx, const char *target,
	struct endpoint *ret, char **ret_text)
{
	struct endpoint end = {.gid_index = UINT32_MAX, .name = (char *)"recovered"};
	char *text = strdup(target), *colon = text ? strchr(text, ':') : NULL,
	     *slash = text ? strrchr(text, '/') : NULL, *bar;
	unsigned where = 0;

	if (!text)
		return ctx_oom(ctx);
	if (!colon || !slash || slash < colon) {
		free(text);
		return ctx_fail(ctx, -EBADMSG, "'%.64s' is not an endpoint of a measurement", target);
	}
	*colon = *slash = '\0';
	while (where < ARRAY_SIZE(where_text) && !str_eq(where_text[where], text))
		where++;
	if (where == ARRAY_SIZE(where_text)) {
		free(text);
		return ctx_fail(ctx, -EBADMSG, "'%.64s' is not an endpoint of a measurement", target);
	}
	end.where = (enum endpoint_kind)where;
	bar = strchr(colon + 1, '|');
	if (bar)
		*bar = '\0';
	end.at = colon + 1;
	end.ssh_config = bar ? bar + 1 : NULL;
	end.device = slash + 1;
	*ret = end;
	*ret_text = text;
	return 0;
}

static int at_target(struct vfctl_ctx *ctx, const struct op *op, struct endpoint *end,
	struct place *ret, char **ret_text)
{
	int r = settings_target_parse(ctx, op->target, end, ret_text);

	return r < 0 ? r : place_open(ctx, end, ctx->hypervisor, ret);
}

bool settings_device_gone(struct place *p, const char *device)
{
	_free_ char *path = str_format("/sys/class/net/%s", device);
	char *test[] = {"test", "-e", path, NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	int r = path ? place_run(p, test, NULL, RUN_MS, &o) : -ENOMEM;

	return r == -ENODEV || (r == 0 && o.status == 1);
}

static int observe_settings(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_free_ char *text = NULL;
	_strv_ char **names = NULL;
	struct endpoint end;
	struct place p;
	int r = at_target(ctx, op, &end, &p, &text);

	if (r < 0)
		return r;
	r = settings_names(ctx, op->before ? op->before : "", &names);
	if (r == 0 && settings_device_gone(&p, end.device))
		r = op_say(ctx, op->before ? op->before : "", ret);
	else if (r == 0)
		r = settings_read(&p, end.device, names, ret);
	place_close(&p);
	return r;
}

/* The settings are set trial by trial; the operation keeps only the values to restore. */
static int apply_settings(struct vfctl_ctx *ctx, const struct op *op)
{
	return 0;
}

static int revert_settings(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *text = NULL;
	struct endpoint end;
	struct place p;
	int r = at_target(ctx, op, &end, &p, &text);

	if (r < 0)
		return r;
	if (op->before && !settings_device_gone(&p, end.device))
		r = settings_write(&p, end.device, op->before);
	place_close(&p);
	return r;
}

OP_ONE_BY_ONE(bench_settings, observe_settings, apply_settings, revert_settings)
const struct op_type op_bench_settings = {.name = "bench-settings", OP_CALLS(bench_settings),
	.nature = OP_UNDOABLE, .asks_libvirt_of = SETTINGS_OF_GUEST};
