// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/checks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cpuset.h"
#include "base/parse.h"
#include "bench/tool.h"

#define RUN_MS 60000

static void free_pairs(struct bench_setting *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(v[i].name);
		free(v[i].value);
	}
	free(v);
}

void survey_clear(struct survey *s)
{
	for (size_t i = 0; i < s->check_count; i++) {
		free(s->checks[i].name);
		free(s->checks[i].text);
	}
	free(s->checks);
	free_pairs(s->facts, s->fact_count);
	for (size_t i = 0; i < s->tool_count; i++) {
		free(s->tools[i].name);
		free(s->tools[i].version);
		free(s->tools[i].endpoint);
	}
	free(s->tools);
	*s = (struct survey){0};
}

static int add_check(struct survey *s, struct vfctl_ctx *ctx, enum bench_check_state state,
	const char *name, const char *fmt, ...) _printf_(5, 6);
static int add_check(struct survey *s, struct vfctl_ctx *ctx, enum bench_check_state state,
	const char *name, const char *fmt, ...)
{
	struct bench_check *c;
	va_list args;

	if (!array_grow(s->checks, s->check_count))
		return ctx_oom(ctx);
	c = &s->checks[s->check_count];
	c->state = state;
	c->name = strdup(name);
	va_start(args, fmt);
	c->text = str_vformat(fmt, args);
	va_end(args);
	s->check_count++;
	return c->name && c->text ? 0 : ctx_oom(ctx);
}

static int add_fact(struct survey *s, struct place *p, const char *name, const char *value)
{
	struct bench_setting *f;

	if (!array_grow(s->facts, s->fact_count))
		return ctx_oom(p->ctx);
	f = &s->facts[s->fact_count++];
	f->name = str_format("%s.%s", p->end->name, name);
	f->value = strdup(value);
	return f->name && f->value ? 0 : ctx_oom(p->ctx);
}

/* ---- files of the place, all read by one program ---- */

/* Find the first line of that path among "PATH:TEXT" lines, as grep -H prints them. */
static bool find_line(const char *lines, const char *path, char *buf, size_t size)
{
	size_t len = strlen(path);

	for (const char *line = lines, *next; line && *line; line = next) {
		const char *text = line + len + 1;

		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		if (strncmp(line, path, len) != 0 || line[len] != ':')
			continue;
		snprintf(buf, size, "%.*s", (int)strcspn(text, "\n"), text);
		return true;
	}
	return false;
}

/* Find the value of "key : value" in a file of such lines. */
static bool find_key(const char *lines, const char *path, const char *key, char *buf, size_t size)
{
	_free_ char *start = str_format("%s:%s", path, key);
	const char *at = start ? strstr(lines, start) : NULL;

	if (!at)
		return false;
	at += strlen(start);
	at += strspn(at, " \t:");
	snprintf(buf, size, "%.*s", (int)strcspn(at, "\n"), at);
	return true;
}

#define NET "/sys/class/net/%s/"
#define IB "/sys/class/infiniband/%s/"

static unsigned ib_port(const struct endpoint *e)
{
	return e->ib_port ? e->ib_port : 1;
}

/* The path of a file of the RDMA device; "port/": of the measured port. */
static char *ib_path(const struct endpoint *e, const char *file)
{
	return str_starts(file, "port/") ? str_format(IB "ports/%u/%s", e->rdma, ib_port(e), file + 5)
					 : str_format(IB "%s", e->rdma, file);
}

static int read_files(struct place *p, char **ret)
{
	static const char *const net[] = {"operstate", "carrier", "mtu", "speed", "device/numa_node",
		"device/vendor", "device/device", "address"};
	static const char *const ib[] = {"port/state", "port/phys_state", "port/link_layer",
		"port/rate", "port/sm_lid", "fw_ver", "device/numa_node"};
	_cleanup_(place_output_clear) struct place_output o = {0};
	_cleanup_(argv_clear) struct argv argv = {0};
	int r;

	argv_add(&argv, "grep");
	argv_add(&argv, "-sH");
	argv_add(&argv, "%s", "");
	argv_add(&argv, "/proc/sys/kernel/osrelease");
	argv_add(&argv, "/proc/cpuinfo");
	argv_add(&argv, "/proc/self/status");
	argv_add(&argv, "/sys/class/dmi/id/sys_vendor");
	argv_add(&argv, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	for (size_t i = 0; p->end->device && i < ARRAY_SIZE(net); i++)
		argv_add(&argv, NET "%s", p->end->device, net[i]);
	for (size_t i = 0; p->end->rdma && i < ARRAY_SIZE(ib); i++) {
		_free_ char *path = ib_path(p->end, ib[i]);

		argv.failed |= !path;
		if (path)
			argv_add(&argv, "%s", path);
	}
	r = argv.failed ? ctx_oom(p->ctx) : place_run(p, argv.v, NULL, RUN_MS, &o);
	if (r < 0)
		return r;
	*ret = o.out.data ? steal(o.out.data) : strdup("");
	return *ret ? 0 : ctx_oom(p->ctx);
}

static bool read_net(const char *lines, const struct endpoint *e, const char *file,
	char *buf, size_t size)
{
	_free_ char *path = str_format(NET "%s", e->device, file);

	return path && find_line(lines, path, buf, size);
}

static bool read_ib(const char *lines, const struct endpoint *e, const char *file,
	char *buf, size_t size)
{
	_free_ char *path = ib_path(e, file);

	return path && find_line(lines, path, buf, size);
}

/* ---- the checks ---- */

static int check_machine(struct survey *s, struct place *p, const char *lines)
{
	static const struct {
		const char *name, *path;
	} plain[] = {{"kernel", "/proc/sys/kernel/osrelease"},
		{"machine", "/sys/class/dmi/id/sys_vendor"}};
	char text[256];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(plain) && r == 0; i++)
		if (find_line(lines, plain[i].path, text, sizeof(text)))
			r = add_fact(s, p, plain[i].name, text);
	if (r < 0 || !find_key(lines, "/proc/cpuinfo", "model name", text, sizeof(text)))
		return r;
	r = add_fact(s, p, "cpu", text);
	if (r < 0 || !(strstr(text, "TCG") || strstr(text, "QEMU Virtual CPU")))
		return r;
	if (s->emulated)
		return 0; /* reported only once */
	s->emulated = true;
	return add_check(s, p->ctx, BENCH_CHECK_WARN, "emulated", "%s: the CPU is emulated: figures can "
		"be compared with each other but do not apply to hardware", p->end->name);
}

static int check_governor(struct survey *s, struct place *p, const char *lines)
{
	char text[64];
	int r;

	if (!find_line(lines, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text,
		    sizeof(text)))
		return 0;
	r = add_fact(s, p, "governor", text);
	if (r < 0)
		return r;
	if (str_eq(text, "performance"))
		return add_check(s, p->ctx, BENCH_CHECK_OK, "governor", "%s: performance", p->end->name);
	return add_check(s, p->ctx, BENCH_CHECK_WARN, "governor", "%s: the CPU frequency governor is "
		"%s, so clocks change during the measurement; set governor: performance", p->end->name,
		text);
}

/* Whether the CPUs of its programs are on the node of the device. */
static int check_node(struct survey *s, struct place *p, const char *lines, const char *node)
{
	_free_ char *path = str_format("/sys/devices/system/node/node%s/cpulist", node);
	char *argv[] = {"cat", path, NULL};
	_cleanup_(place_output_clear) struct place_output o = {0};
	struct vfctl_cpuset local = {0}, allowed = {0};
	char text[512];
	int r;

	if (!path)
		return ctx_oom(p->ctx);
	if (str_eq(node, "-1"))
		return 0;
	r = place_run(p, argv, NULL, RUN_MS, &o);
	if (r < 0)
		return r;
	place_output_text(&o, text, sizeof(text));
	if (o.status != 0 || vfctl_cpuset_parse(text, &local) < 0)
		return 0;
	if (p->end->cpus)
		snprintf(text, sizeof(text), "%s", p->end->cpus);
	else if (!find_key(lines, "/proc/self/status", "Cpus_allowed_list", text, sizeof(text)))
		return 0;
	if (vfctl_cpuset_parse(text, &allowed) < 0)
		return 0;
	for (int cpu = vfctl_cpuset_next(&allowed, 0); cpu >= 0;
		cpu = vfctl_cpuset_next(&allowed, (unsigned)cpu + 1))
		if (!vfctl_cpuset_has(&local, (unsigned)cpu))
			return add_check(s, p->ctx, BENCH_CHECK_WARN, "node", "%s: programs may run on "
				"CPU %d, which is not on the device's NUMA node %s (CPUs %.100s); write "
				"cpus: %.100s at the endpoint", p->end->name, cpu, node,
				o.out.len ? str_rstrip(o.out.data) : "", o.out.len ? o.out.data : "");
	return add_check(s, p->ctx, BENCH_CHECK_OK, "node", "%s: programs run on the device's NUMA node "
		"%s", p->end->name, node);
}

static int check_device(struct survey *s, struct place *p, const char *lines)
{
	static const char *const told[] = {"mtu", "speed", "device/numa_node", "device/vendor",
		"device/device"};
	const struct endpoint *e = p->end;
	char where[300], text[128];
	int r = 0;

	if (!e->device)
		return 0;
	if (!read_net(lines, e, "mtu", text, sizeof(text)))
		return add_check(s, p->ctx, BENCH_CHECK_FAIL, "device", "%s: %s has no network device %s "
			"(ip link lists them); correct device: in the plan, or attach the VF", e->name,
			place_describe(p, where), e->device);
	for (size_t i = 0; i < ARRAY_SIZE(told) && r == 0; i++)
		if (read_net(lines, e, told[i], text, sizeof(text)))
			r = add_fact(s, p, told[i], text);
	if (r == 0 && (!read_net(lines, e, "carrier", text, sizeof(text)) || !str_eq(text, "1")))
		return add_check(s, p->ctx, BENCH_CHECK_FAIL, "link", "%s: %s has no link (run ip link "
			"set %s up, and check the cable)", e->name, e->device, e->device);
	if (r == 0)
		r = add_check(s, p->ctx, BENCH_CHECK_OK, "link", "%s: %s has a link", e->name, e->device);
	if (r == 0 && read_net(lines, e, "device/numa_node", text, sizeof(text)))
		r = check_node(s, p, lines, text);
	return r;
}

/* "4: ACTIVE" */
static int check_port(struct survey *s, struct place *p, const char *lines)
{
	const struct endpoint *e = p->end;
	char state[64], text[64], where[300];

	if (!read_ib(lines, e, "port/state", state, sizeof(state)))
		return add_check(s, p->ctx, BENCH_CHECK_FAIL, "port", "%s: %s has no port %u of "
			"an RDMA device %s (rdma link shows them)", e->name, place_describe(p, where),
			ib_port(e), e->rdma);
	if (!strstr(state, "ACTIVE")) {
		bool ib = read_ib(lines, e, "port/link_layer", text, sizeof(text)) &&
			str_eq(text, "InfiniBand");

		return add_check(s, p->ctx, BENCH_CHECK_FAIL, "port", "%s: port %u of %s is %s, not "
			"ACTIVE%s", e->name, ib_port(e), e->rdma, state,
			ib ? "; check that a subnet manager runs" : "");
	}
	return add_check(s, p->ctx, BENCH_CHECK_OK, "port", "%s: port %u of %s is ACTIVE", e->name,
		ib_port(e), e->rdma);
}

static int check_rdma(struct survey *s, struct place *p, const char *lines)
{
	static const char *const told[] = {"port/rate", "port/link_layer", "fw_ver"};
	char text[128];
	int r = check_port(s, p, lines);

	for (size_t i = 0; i < ARRAY_SIZE(told) && r == 0; i++)
		if (read_ib(lines, p->end, told[i], text, sizeof(text)))
			r = add_fact(s, p, told[i], text);
	if (r == 0 && read_ib(lines, p->end, "port/link_layer", text, sizeof(text)) &&
		str_eq(text, "InfiniBand") &&
		read_ib(lines, p->end, "port/sm_lid", text, sizeof(text)) && str_eq(text, "0x0"))
		r = add_check(s, p->ctx, BENCH_CHECK_FAIL, "subnet-manager", "%s: port %u of %s has no "
			"subnet manager; start opensm on one node of the fabric", p->end->name,
			ib_port(p->end), p->end->rdma);
	if (r == 0 && !p->end->device && read_ib(lines, p->end, "device/numa_node", text, sizeof(text)))
		r = check_node(s, p, lines, text);
	return r;
}

int survey_place(struct survey *s, struct place *p, bool uses_rdma)
{
	_free_ char *lines = NULL;
	int r = read_files(p, &lines);

	if (r == 0)
		r = check_machine(s, p, lines);
	if (r == 0)
		r = check_governor(s, p, lines);
	if (r == 0)
		r = check_device(s, p, lines);
	if (r == 0 && uses_rdma)
		r = check_rdma(s, p, lines);
	return r;
}

static bool same_stack(const struct endpoint *a, const struct endpoint *b)
{
	return a->where == b->where && (!a->at || str_eq(a->at, b->at)) &&
		!str_eq(a->device ? a->device : "lo", "lo");
}

int survey_path(struct survey *s, struct place *client, struct place *server)
{
	char where[300];

	if (!same_stack(client->end, server->end))
		return 0;
	for (size_t i = 0; i < s->check_count; i++) /* of another configuration */
		if (str_eq(s->checks[i].name, "path"))
			return 0;
	return add_check(s, client->ctx, BENCH_CHECK_WARN, "path", "%s and %s are both on %s, whose "
		"kernel delivers packets without %s: move one of them to a network namespace (ip netns "
		"add) or another host", client->end->name, server->end->name,
		place_describe(client, where), client->end->device);
}

/* ---- programs ---- */

static int add_version(struct survey *s, struct place *p, const char *program, const char *version)
{
	struct bench_tool_version *t;

	if (!array_grow(s->tools, s->tool_count))
		return ctx_oom(p->ctx);
	t = &s->tools[s->tool_count++];
	t->name = strdup(program);
	t->version = strdup(version);
	t->endpoint = strdup(p->end->name);
	return t->name && t->version && t->endpoint ? 0 : ctx_oom(p->ctx);
}

/* Find the first number with a dot in its output: "iperf 3.12 (cJSON 1.7.15)". */
static void find_version(const char *text, char *buf, size_t size)
{
	const char *best = NULL;

	for (const char *at = text; *at && !best; at++)
		if (*at >= '0' && *at <= '9') {
			size_t len = strspn(at, "0123456789.+");

			if (memchr(at, '.', len))
				best = at;
			at += len - 1;
		}
	snprintf(buf, size, "%.*s", best ? (int)strspn(best, "0123456789.+") : 0, best ? best : "");
}

static int missing(struct survey *s, struct place *p, const char *program, const char *package,
	bool required)
{
	char where[300];

	return add_check(s, p->ctx, required ? BENCH_CHECK_FAIL : BENCH_CHECK_WARN, "tool",
		"%s: %s is not installed on %s%s%s%s", p->end->name, program, place_describe(p, where),
		package ? " (apt-get install " : "", package ? package : "", package ? ")" : "");
}

static struct bench_tool_version *find_tool(const struct survey *s, const char *program,
	const char *endpoint)
{
	for (size_t i = 0; i < s->tool_count; i++)
		if (str_eq(s->tools[i].name, program) && str_eq(s->tools[i].endpoint, endpoint))
			return &s->tools[i];
	return NULL;
}

int survey_tool(struct survey *s, struct place *p, const char *program, const char *package,
	const char *const version[2], bool required)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_cleanup_(argv_clear) struct argv argv = {0};
	char text[64] = "";
	int r;

	if (find_tool(s, program, p->end->name))
			return 0;
	argv_add(&argv, "%s", version[0] ? program : "which");
	argv_add(&argv, "%s", version[0] ? version[0] : program);
	r = argv.failed ? ctx_oom(p->ctx) : place_run(p, argv.v, NULL, RUN_MS, &o);
	if (r == -ENOENT || (r == 0 && !version[0] && o.status != 0))
		return missing(s, p, program, package, required);
	if (r < 0)
		return r;
	find_version(o.out.data ? o.out.data : "", text, sizeof(text));
	if (!*text)
		find_version(o.err.data ? o.err.data : "", text, sizeof(text));
	return add_version(s, p, program, version[0] ? text : "");
}

static int check_osu_sizes(struct survey *s, struct place *p, const char *program, unsigned options)
{
	if (!(options & OSU_KNOWN) || options & OSU_SIZE || strstr(program, "barrier"))
		return 0;
	return add_check(s, p->ctx, BENCH_CHECK_WARN, "size", "%s: this version of %s cannot measure one "
		"size: each run measures all sizes and takes longer; use all-sizes: on, or OSU 5.4 or later",
		p->end->name, program);
}

/* -h and -v are options of all versions; of 5.3, some have no -v. */
int survey_osu(struct survey *s, struct place *p, const char *program, bool required)
{
	_cleanup_(place_output_clear) struct place_output usage = {0}, version = {0};
	char *help[] = {(char *)program, "-h", NULL}, *about[] = {(char *)program, "-v", NULL};
	char text[64] = "";
	int r;

	if (find_tool(s, program, p->end->name))
		return 0;
	r = place_run(p, help, NULL, RUN_MS, &usage);
	if (r == -ENOENT)
		return missing(s, p, program, NULL, required);
	if (r == 0 && usage.out.data)
		r = place_run(p, about, NULL, RUN_MS, &version);
	if (r < 0 && r != -ETIMEDOUT)
		return r;
	ctx_clear(p->ctx); /* an MPI that does not start without mpirun: the options are not known */
	osu_version(version.out.data ? version.out.data : "", text, sizeof(text));
	r = add_version(s, p, program, text);
	if (r < 0)
		return r;
	s->tools[s->tool_count - 1].osu = osu_options(usage.out.data ? usage.out.data : "");
	return check_osu_sizes(s, p, program, s->tools[s->tool_count - 1].osu);
}

unsigned survey_osu_options(const struct survey *s, const char *program, const char *endpoint)
{
	const struct bench_tool_version *t = find_tool(s, program, endpoint);

	return t ? t->osu : 0;
}

/* The numbers of "26.04" as one: 2604; for "3.12" 312. */
static unsigned version_number(const char *text)
{
	unsigned major = 0, minor = 0;

	return sscanf(text, "%u.%u", &major, &minor) == 2 ? major * 100 + minor : 0;
}

#define PERFTEST_BINDS 2604
#define IPERF3_THREADS 316

static int check_pair(struct survey *s, struct vfctl_ctx *ctx, const struct bench_tool_version *a,
	const struct bench_tool_version *b, bool threads)
{
	unsigned va = version_number(a->version), vb = version_number(b->version);

	if (str_starts(a->name, "ib_") && (va >= PERFTEST_BINDS) != (vb >= PERFTEST_BINDS))
		return add_check(s, ctx, BENCH_CHECK_WARN, "versions", "%s %s on %s binds itself to the "
			"device's NUMA node, but %s on %s does not: use the same version, or add option "
			"--disable_numa", a->name, a->version, a->endpoint, b->version, b->endpoint);
	if (!str_eq(a->version, b->version))
		return add_check(s, ctx, BENCH_CHECK_WARN, "versions", "%s is %s on %s and %s on %s",
			a->name, a->version, a->endpoint, b->version, b->endpoint);
	if (threads && str_eq(a->name, "iperf3") && va < IPERF3_THREADS)
		return add_check(s, ctx, BENCH_CHECK_WARN, "threads", "iperf3 %s runs all its streams on "
			"one CPU (a thread for each only from 3.16): its thread sweep measures that CPU; "
			"iperf 2 has threads", a->version);
	return 0;
}

int survey_pairs(struct survey *s, struct vfctl_ctx *ctx, bool threads)
{
	int r = 0;

	for (size_t i = 0; i < s->tool_count; i++)
		for (size_t k = i + 1; k < s->tool_count && r == 0; k++)
			if (str_eq(s->tools[i].name, s->tools[k].name))
				r = check_pair(s, ctx, &s->tools[i], &s->tools[k], threads);
	return r;
}

int survey_trials(struct survey *s, struct vfctl_ctx *ctx, const struct bench_plan *plan,
	bool quick)
{
	unsigned needed = bench_plan_trials_needed(plan);

	if (plan->trials >= needed)
		return 0;
	if (quick)
		return add_check(s, ctx, BENCH_CHECK_WARN, "trials", "--quick shows that everything works; "
			"it gives no verdict, which needs %u trials", needed);
	return add_check(s, ctx, BENCH_CHECK_WARN, "trials", "%u trial%s cannot show a difference at "
		"alpha %g: use --trials %u or more", plan->trials, plural(plan->trials),
		plan->alpha, needed);
}

const struct bench_check *survey_failed(const struct survey *s)
{
	for (size_t i = 0; i < s->check_count; i++)
		if (s->checks[i].state == BENCH_CHECK_FAIL)
			return &s->checks[i];
	return NULL;
}
