// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/topology.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "command.h"
#include "print/topology_parts.h"
#include "topology/topology.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define WIDTH_LEAST 40 /* minimum number of columns for a list */
#define LABEL 12      /* columns of its label */
#define MAP_CORES 64  /* cores in one line of the map */
#define STEPS_MIN 4   /* minimum number of CPUs that are printed with a step */

/* ---- words ---- */

/* The number of CPUs from @first in equal steps. */
static unsigned run_of(const struct vfctl_cpuset *set, int first, int step, int *ret_last)
{
	unsigned count = 1;
	int last = first, next;

	while ((next = vfctl_cpuset_next(set, (unsigned)last + 1)) == last + step) {
		last = next;
		count++;
	}
	*ret_last = last;
	return count;
}

char *cpus_text(const struct vfctl_cpuset *set, char *buf, size_t size)
{
	int cpu = vfctl_cpuset_next(set, 0);
	size_t len = 0;

	buf[0] = '\0';
	while (cpu >= 0 && len < size) {
		int next = vfctl_cpuset_next(set, (unsigned)cpu + 1), last = cpu;
		int step = next < 0 ? 1 : next - cpu;
		unsigned count = run_of(set, cpu, step, &last);

		if (step > 1 && count < STEPS_MIN)
			last = cpu;
		len += (size_t)snprintf(buf + len, size - len, "%s%d", len ? "," : "", cpu);
		if (last > cpu && len < size)
			len += (size_t)snprintf(buf + len, size - len, "-%d", last);
		if (last > cpu && step > 1 && len < size)
			len += (size_t)snprintf(buf + len, size - len, ":%d", step);
		cpu = vfctl_cpuset_next(set, (unsigned)last + 1);
	}
	return buf;
}

static const char *bytes_text(uint64_t bytes, char buf[32])
{
	static const struct {
		unsigned shift;
		const char *name;
	} units[] = {{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		uint64_t tenths = (bytes >> (units[i].shift - 10)) * 10 >> 10;

		if (tenths < 10)
			continue;
		if (tenths % 10)
			snprintf(buf, 32, "%llu.%llu %s", (unsigned long long)tenths / 10,
				(unsigned long long)tenths % 10, units[i].name);
		else
			snprintf(buf, 32, "%llu %s", (unsigned long long)tenths / 10,
				units[i].name);
		return buf;
	}
	snprintf(buf, 32, "%llu bytes", (unsigned long long)bytes);
	return buf;
}

void topology_line(struct out *out, const char *label, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		out_fold(out, LABEL, "  %-*s%s", LABEL - 2, label, text);
}

/* ---- who ---- */

char topology_sign(size_t occupant)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return occupant < sizeof(signs) - 1 ? signs[occupant] : '#';
}

static struct vfctl_cpuset within(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	struct vfctl_cpuset both = *a;

	vfctl_cpuset_and(&both, b);
	return both;
}

static char core_sign(const struct vfctl_host_model *m, const struct vfctl_core *c)
{
	char sign = '.';

	if (vfctl_cpuset_intersects(&c->cpus, &m->reserved_cpus))
		sign = '=';
	if (vfctl_cpuset_intersects(&c->cpus, &m->shared_cpus))
		sign = sign == '.' ? '~' : '*';
	if (vfctl_cpuset_intersects(&c->cpus, &m->busy_cpus))
		sign = sign == '.' ? '#' : '*';
	for (size_t i = 0; i < m->occupant_count; i++) {
		if (vfctl_cpuset_intersects(&c->cpus, &m->occupants[i].cpus))
			sign = sign == '.' ? topology_sign(i) : '*';
		if (vfctl_cpuset_intersects(&c->cpus, &m->occupants[i].qemu_cpus))
			sign = sign == '.' || sign == '+' ? '+' : '*';
	}
	return sign;
}

static struct vfctl_cpuset free_cpus(const struct vfctl_host_model *m,
	const struct vfctl_node *node)
{
	struct vfctl_cpuset set = node->cpus;

	vfctl_cpuset_andnot(&set, &m->reserved_cpus);
	vfctl_cpuset_andnot(&set, &m->shared_cpus);
	vfctl_cpuset_andnot(&set, &m->busy_cpus);
	for (size_t i = 0; i < m->occupant_count; i++) {
		vfctl_cpuset_andnot(&set, &m->occupants[i].cpus);
		vfctl_cpuset_andnot(&set, &m->occupants[i].qemu_cpus);
	}
	return set;
}

/* ---- a node ---- */

/* Cores, and their common values; -1 if they differ. */
struct shape {
	unsigned cores, free_cores, threads, l3_groups;
	int package;
	bool mixed_threads;
};

static struct shape shape_of(const struct vfctl_host_model *m, const struct vfctl_node *n)
{
	struct shape s = {.package = -2};
	int last_l3 = -1;

	for (size_t i = 0; i < m->topology->core_count; i++) {
		const struct vfctl_core *c = &m->topology->cores[i];
		unsigned threads = vfctl_cpuset_count(&c->cpus);

		if (c->node != (int)n->id)
			continue;
		s.mixed_threads |= s.cores && threads != s.threads;
		s.threads = threads > s.threads ? threads : s.threads;
		s.package = s.package == -2 || s.package == c->package ? c->package : -1;
		s.l3_groups += c->l3 >= 0 && c->l3 != last_l3;
		last_l3 = c->l3;
		s.cores++;
		s.free_cores += core_sign(m, c) == '.';
	}
	return s;
}

static void print_head(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	struct shape s = shape_of(m, n);
	char memory[32], threads[40] = "", l3[40] = "", package[32] = "";

	bytes_text(n->memory_bytes, memory);
	if (!s.cores) {
		out_line(out, "node %u: memory alone, %s; no CPUs", n->id, memory);
		return;
	}
	if (s.threads > 1)
		snprintf(threads, sizeof(threads), " of %s%u CPUs",
			s.mixed_threads ? "1 to " : "", s.threads);
	if (s.l3_groups)
		snprintf(l3, sizeof(l3), ", %u L3 cache%s", s.l3_groups,
			plural(s.l3_groups));
	if (s.package >= 0)
		snprintf(package, sizeof(package), " in package %d", s.package);
	out_line(out, "node %u: %u core%s%s%s%s; %s; %u core%s free", n->id, s.cores,
		plural(s.cores), threads, package, l3, memory, s.free_cores,
		plural(s.free_cores));
}

/* One character for each core, and a bar between cores with different L3 caches. */
static void print_map(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	char line[2 * MAP_CORES + 2];
	unsigned in_line = 0;
	size_t len = 0;
	int last_l3 = -1;
	const char *label = "cores";

	for (size_t i = 0; i < m->topology->core_count; i++) {
		const struct vfctl_core *c = &m->topology->cores[i];

		if (c->node != (int)n->id)
			continue;
		if (in_line == MAP_CORES) {
			topology_line(out, label, "%.*s", (int)len, line);
			label = "";
			in_line = 0;
			len = 0;
		}
		if (in_line && c->l3 != last_l3)
			line[len++] = '|';
		last_l3 = c->l3;
		line[len++] = core_sign(m, c);
		in_line++;
	}
	if (in_line)
		topology_line(out, label, "%.*s", (int)len, line);
}

static void print_set(struct out *out, const char *label, const struct vfctl_node *n,
	const struct vfctl_cpuset *set, const char *more)
{
	struct vfctl_cpuset here = within(set, &n->cpus);
	char text[4096];

	if (!vfctl_cpuset_empty(&here))
		topology_line(out, label, "%s%s", cpus_text(&here, text, sizeof(text)), more);
}

static void print_shared(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	struct vfctl_cpuset here = within(&m->shared_cpus, &n->cpus);
	uint32_t ratio = m->shared_ratio ? m->shared_ratio : VFCTL_SHARED_RATIO, used = 0;
	char more[80];

	for (size_t i = 0; i < m->occupant_count; i++)
		for (size_t k = 0; k < m->occupants[i].memory_count; k++)
			if (m->occupants[i].memory[k].node == (int)n->id)
				used += m->occupants[i].memory[k].shared_vcpus;
	snprintf(more, sizeof(more), "  carries %u of %u shared vCPUs", used,
		vfctl_cpuset_count(&here) * ratio);
	print_set(out, "~ shared", n, &m->shared_cpus, more);
}

/* One line for each core that QEMU's threads of guests use. */
static void print_qemu(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	for (size_t i = 0; i < m->topology->core_count; i++) {
		const struct vfctl_core *c = &m->topology->cores[i];
		unsigned guests = 0;
		char more[80];

		for (size_t o = 0; o < m->occupant_count; o++)
			guests += vfctl_cpuset_intersects(&m->occupants[o].qemu_cpus, &c->cpus);
		snprintf(more, sizeof(more), "  carries QEMU's threads of %u guest%s, %u at most",
			guests, plural(guests),
			vfctl_cpuset_count(&c->cpus) * VFCTL_QEMU_GUESTS_PER_CPU);
		if (guests)
			print_set(out, "+ QEMU", n, &c->cpus, more);
	}
}

static void print_cpus(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	struct vfctl_cpuset unused = free_cpus(m, n);
	char label[LABEL - 2], name[300], why[300] = "";

	if (m->reserved_why)
		snprintf(why, sizeof(why), "  (%s)", m->reserved_why);
	print_set(out, "= host", n, &m->reserved_cpus, why);
	print_shared(out, m, n);
	print_qemu(out, m, n);
	print_set(out, "# others", n, &m->busy_cpus, "");
	for (size_t i = 0; i < m->occupant_count; i++) {
		snprintf(label, sizeof(label), "%c", topology_sign(i));
		snprintf(name, sizeof(name), "  (%s)", m->occupants[i].name);
		print_set(out, label, n, &m->occupants[i].cpus, name);
	}
	print_set(out, ". free", n, &unused, "");
}

static void print_memory(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_node *n)
{
	uint64_t held = 0;
	char text[600] = "", size[32], gone[32];
	size_t len = 0;

	for (size_t i = 0; i < n->pool_count && len < sizeof(text); i++) {
		const struct vfctl_page_pool *p = &n->pools[i];

		if (!p->total)
			continue;
		snprintf(gone, sizeof(gone), "%llu", (unsigned long long)p->free);
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"%s%s of %llu pages of %s "
			"free",
			len ? ", " : "", p->free == VFCTL_COUNT_UNKNOWN ? "?" : gone,
			(unsigned long long)p->total, bytes_text(p->page_bytes, size));
	}
	for (size_t i = 0; i < m->occupant_count; i++)
		for (size_t k = 0; k < m->occupants[i].memory_count; k++)
			if (m->occupants[i].memory[k].node == (int)n->id)
				held += m->occupants[i].memory[k].bytes;
	for (size_t i = 0; i < m->promise_count; i++)
		if (m->promises[i].node == (int)n->id)
			held += m->promises[i].bytes;
	if (held && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, "%sguests hold %s", len ? "; " : "",
			bytes_text(held, gone));
	if (text[0])
		topology_line(out, "memory", "%s", text);
}

/* "12 to nodes 1-3, 32 to nodes 4-7": near ones first. */
static void print_distances(struct out *out, const struct vfctl_topology *t, size_t row)
{
	char text[1024] = "", list[512];
	unsigned last = 0;
	size_t len = 0;

	while (len < sizeof(text)) {
		struct vfctl_cpuset nodes = {0};
		unsigned next = UINT32_MAX;

		for (size_t k = 0; k < t->node_count; k++) {
			unsigned d = t->distances[row * t->node_count + k];

			if (k != row && d > last && d < next)
				next = d;
		}
		if (next == UINT32_MAX)
			break;
		for (size_t k = 0; k < t->node_count; k++)
			if (k != row && t->distances[row * t->node_count + k] == next)
				vfctl_cpuset_add(&nodes, t->nodes[k].id);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u to node%s %s",
			len ? ", " : "", next, plural(vfctl_cpuset_count(&nodes)),
			cpus_text(&nodes, list, sizeof(list)));
		last = next;
	}
	if (text[0])
		topology_line(out, "distance", "%s", text);
}

/* ---- guests ---- */

/* The nodes on which it has CPUs or, without dedicated ones, shared vCPUs or memory. */
static struct vfctl_cpuset nodes_of(const struct vfctl_host_model *m,
	const struct vfctl_occupant *o)
{
	struct vfctl_cpuset nodes = {0};

	for (size_t i = 0; i < m->topology->node_count; i++)
		if (vfctl_cpuset_intersects(&m->topology->nodes[i].cpus, &o->cpus))
			vfctl_cpuset_add(&nodes, m->topology->nodes[i].id);
	for (size_t i = 0; i < o->memory_count; i++)
		if (o->memory[i].shared_vcpus || vfctl_cpuset_empty(&o->cpus))
			vfctl_cpuset_add(&nodes, (unsigned)o->memory[i].node);
	return nodes;
}

/* Whether no node with CPUs is nearer to @node than all of @nodes are. */
static bool is_near(const struct vfctl_topology *t, int node, const struct vfctl_cpuset *nodes)
{
	unsigned best = UINT32_MAX, own = UINT32_MAX;

	for (size_t i = 0; i < t->node_count; i++) {
		unsigned d = vfctl_topology_distance(t, node, (int)t->nodes[i].id);

		if (!vfctl_cpuset_empty(&t->nodes[i].cpus) && d < best)
			best = d;
		if (vfctl_cpuset_has(nodes, t->nodes[i].id) && d < own)
			own = d;
	}
	return own <= best;
}

static const char *vf_text(const struct vfctl_host_model *m, const struct vfctl_free_vf *vf,
	char *buf, size_t size)
{
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, &vf->pf) == 0 && *topology_pf_name(&m->pfs[i])) {
			snprintf(buf, size, "%s/%u", topology_pf_name(&m->pfs[i]), vf->index);
			return buf;
		}
	snprintf(buf, size, "%s/%u", BDF(&vf->pf), vf->index);
	return buf;
}

/* "yes", or the first resource that is not on the nodes of its CPUs. */
static void local_text(const struct vfctl_host_model *m, const struct vfctl_occupant *o,
	char *buf, size_t size)
{
	struct vfctl_cpuset nodes = nodes_of(m, o);
	char vf[80];

	snprintf(buf, size, "yes");
	if (vfctl_cpuset_empty(&nodes)) {
		snprintf(buf, size, "not pinned");
		return;
	}
	for (size_t i = 0; i < o->vf_count; i++)
		if (o->vfs[i].node < 0)
			snprintf(buf, size, "%s: place unknown", vf_text(m, &o->vfs[i], vf,
				sizeof(vf)));
	for (size_t i = 0; i < o->vf_count; i++)
		if (o->vfs[i].node >= 0 && !is_near(m->topology, o->vfs[i].node, &nodes)) {
			snprintf(buf, size, "no: %s is on node %d", vf_text(m, &o->vfs[i], vf,
				sizeof(vf)), o->vfs[i].node);
			return;
		}
	for (size_t i = 0; i < o->memory_count; i++)
		if (!is_near(m->topology, o->memory[i].node, &nodes)) {
			snprintf(buf, size, "no: memory on node %d", o->memory[i].node);
			return;
		}
}

static void print_guest(struct out *out, const struct vfctl_host_model *m, size_t at)
{
	const struct vfctl_occupant *o = &m->occupants[at];
	struct vfctl_cpuset nodes = nodes_of(m, o);
	uint64_t bytes = 0;
	uint32_t shared = 0;
	char text[256], local[160];

	for (size_t i = 0; i < o->memory_count; i++) {
		bytes += o->memory[i].bytes;
		shared += o->memory[i].shared_vcpus;
	}
	local_text(m, o, local, sizeof(local));
	out_cell(out, "%c", topology_sign(at));
	out_cell(out, "%s%s", o->name, o->foreign ? " (not ours)" : "");
	out_cell(out, "%s", o->running ? "runs" : "off");
	out_cell(out, "%s", cpus_text(&nodes, text, sizeof(text)));
	if (shared)
		out_cell(out, "%u+%u shared", vfctl_cpuset_count(&o->cpus), shared);
	else
		out_cell(out, "%u", vfctl_cpuset_count(&o->cpus));
	out_cell(out, "%s", bytes ? bytes_text(bytes, text) : "");
	out_cell(out, "%zu", o->vf_count);
	out_cell(out, "%s", local);
}

static void print_guests(struct out *out, const struct vfctl_host_model *m)
{
	static const char *const headings[] = {
		"ID", "GUEST", "STATE", "NODES", "CPUS", "MEMORY", "VFS", "LOCAL"};
	static const signed char give[] = {[1] = OUT_WRAPS, [7] = OUT_WRAPS};

	out_line(out, "%s", "");
	if (!m->occupant_count) {
		out_line(out, "no guest uses CPUs, memory or VFs");
		return;
	}
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < m->occupant_count; i++)
		print_guest(out, m, i);
	out_table_end(out);
}

/* ---- all of it ---- */

static unsigned count_packages(const struct vfctl_topology *t)
{
	unsigned count = 0;

	for (size_t i = 0; i < t->core_count; i++) {
		bool seen = t->cores[i].package < 0;

		for (size_t k = 0; k < i && !seen; k++)
			seen = t->cores[k].package == t->cores[i].package;
		count += !seen;
	}
	return count;
}

static void print_summary(struct out *out, const struct vfctl_host_model *m)
{
	const struct vfctl_topology *t = m->topology;
	unsigned packages = count_packages(t), cpus = vfctl_cpuset_count(&t->online);
	char sockets[32] = "", gpus[40] = "";
	unsigned vfs = 0;

	for (size_t i = 0; i < m->pf_count; i++)
		vfs += m->pfs[i].num_vfs;
	if (packages)
		snprintf(sockets, sizeof(sockets), "%u package%s, ", packages,
			plural(packages));
	if (m->gpu_count)
		snprintf(gpus, sizeof(gpus), ", %zu GPU%s", m->gpu_count, plural(m->gpu_count));
	out_line(out, "%zu NUMA node%s, %s%zu core%s, %u CPU%s; %zu PF%s, %u VF%s, %zu free%s",
		t->node_count, plural(t->node_count), sockets, t->core_count,
		plural(t->core_count), cpus, plural(cpus), m->pf_count,
		plural(m->pf_count), vfs, plural(vfs), m->vf_count, gpus);
	out_line(out, "a sign per core, | between L3 caches: . free, = the host's own,");
	out_line(out, "~ shared by guests, a letter: that guest, + QEMU's threads of guests,");
	out_line(out, "# in use by other programs, * used by several guests");
	if (m->gpu_count) {
		out_line(out, "between a GPU and a PF: PIX at most one PCIe switch, PXB several, PHB a");
		out_line(out, "host bridge of the CPU, NODE two of one NUMA node, SYS two NUMA nodes");
	}
}

void print_topology(struct out *out, const struct vfctl_host_model *m)
{
	bool homeless = false;

	print_summary(out, m);
	for (size_t i = 0; i < m->topology->node_count; i++) {
		const struct vfctl_node *n = &m->topology->nodes[i];

		out_line(out, "%s", "");
		print_head(out, m, n);
		print_map(out, m, n);
		print_cpus(out, m, n);
		print_memory(out, m, n);
		print_distances(out, m->topology, i);
		topology_pfs(out, m, (int)n->id);
	}
	for (size_t i = 0; i < m->pf_count; i++)
		homeless |= m->pfs[i].node == VFCTL_NODE_NONE;
	if (homeless) {
		out_line(out, "%s", "");
		out_line(out, "no node: the firmware does not report their location");
		topology_pfs(out, m, VFCTL_NODE_NONE);
	}
	print_guests(out, m);
}
