// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that uses hwloc. */
#include "topology/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <limits.h>
#include <pthread.h>

#include "base/ctx.h"
#include "base/dl.h"
#include "base/sonames.h"

#define DISTANCE_LOCAL 10
#define DISTANCE_REMOTE 20

#define SYMBOLS(each) \
	each(hwloc_topology_init) each(hwloc_topology_destroy) each(hwloc_topology_set_flags) \
	each(hwloc_topology_set_all_types_filter) each(hwloc_topology_set_type_filter) \
	each(hwloc_topology_set_xml) each(hwloc_topology_set_synthetic) each(hwloc_topology_load) \
	each(hwloc_get_type_depth) each(hwloc_get_nbobjs_by_depth) each(hwloc_get_obj_by_depth) \
	each(hwloc_bitmap_next) each(hwloc_distances_get_by_name) each(hwloc_distances_release)
DL_SYMBOLS(symbols, SYMBOLS);

static void destroy_hwloc(hwloc_topology_t *t)
{
	if (*t)
		sym_hwloc_topology_destroy(*t);
}

/*
 * A variable of the process, set during one load. hwloc has no other way to set the root of a
 * captured tree.
 */
struct variable {
	const char *name;
	const char *value;
	char *before;
	bool was_set;
};

static int variable_set(struct variable *v)
{
	const char *before = getenv(v->name);

	v->was_set = before != NULL;
	v->before = before ? strdup(before) : NULL;
	if ((before && !v->before) || setenv(v->name, v->value, 1) < 0)
		return -ENOMEM;
	return 0;
}

static void variable_restore(struct variable *v)
{
	if (v->was_set && v->before)
		setenv(v->name, v->before, 1);
	else if (!v->was_set)
		unsetenv(v->name);
	free(v->before);
}

static int load_tree(hwloc_topology_t t, const char *root)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	struct variable variables[] = {
		{.name = "HWLOC_FSROOT", .value = root},
		/* Without "stop" hwloc adds the cpuid of the local machine. */
		{.name = "HWLOC_COMPONENTS", .value = "linux,stop"},
		/*
		 * Read distances, but do not assign CPUs of neighbours to a node without CPUs (bit
		 * 1).
		 */
		{.name = "HWLOC_USE_NUMA_DISTANCES", .value = "1"},
		/* A library must not write to stderr. */
		{.name = "HWLOC_HIDE_ERRORS", .value = "2"},
	};
	size_t set = 0;
	int r = 0;

	pthread_mutex_lock(&one_at_a_time);
	while (r == 0 && set < ARRAY_SIZE(variables))
		r = variable_set(&variables[set++]);
	if (r == 0)
		r = sym_hwloc_topology_load(t) < 0 ? -EINVAL : 0;
	while (set > 0)
		variable_restore(&variables[--set]);
	pthread_mutex_unlock(&one_at_a_time);
	return r;
}

static int configure(struct vfctl_ctx *ctx, hwloc_topology_t t)
{
	static const hwloc_obj_type_t wanted[] = {
		HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_CORE, HWLOC_OBJ_L3CACHE};

	/* The cgroup of this process does not limit where guests may run. */
	if (sym_hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
		sym_hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE) <
			0)
		return ctx_fail(ctx, -EINVAL,
			"topology: hwloc rejects the options (%s); install hwloc 2.5 or newer",
			errno_name(errno));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		sym_hwloc_topology_set_type_filter(
			t, wanted[i], HWLOC_TYPE_FILTER_KEEP_ALL);
	/*
	 * Without groups several nodes would be attached to one object, and each would get all its
	 * CPUs.
	 */
	sym_hwloc_topology_set_type_filter(
		t, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	return 0;
}

/*
 * "numa:2 core:4 pu:2" means 16 CPUs: hwloc would build any number, with minutes and gigabytes,
 * before vfctl could see that there are too many.
 */
static int check_synthetic(struct vfctl_ctx *ctx, const char *text)
{
	unsigned long long cpus = 1;

	for (const char *at = text; (at = strpbrk(at, ": ")) != NULL; at++) {
		unsigned long n = strtoul(at + 1, NULL, 10);

		if (n > 1)
			cpus *= n > VFCTL_CPU_MAX ? VFCTL_CPU_MAX + 1 : n;
		if (cpus > VFCTL_CPU_MAX)
			return ctx_fail(ctx, -ERANGE, "topology: '%.80s' has more than the %d CPUs that "
				"this build supports; use a smaller one", text, VFCTL_CPU_MAX);
	}
	return 0;
}

static int run_source(struct vfctl_ctx *ctx, hwloc_topology_t t,
	const struct vfctl_topology_source *source)
{
	static const char *const what[] = {
		[VFCTL_TOPOLOGY_HOST] = "this host",
		[VFCTL_TOPOLOGY_TREE] = "captured tree",
		[VFCTL_TOPOLOGY_XML] = "hwloc XML file",
		[VFCTL_TOPOLOGY_SYNTHETIC] = "synthetic topology",
	};
	const char *text = source->kind == VFCTL_TOPOLOGY_HOST ? "" : source->text;
	_free_ char *path = str_format(
		source->kind == VFCTL_TOPOLOGY_TREE ? "%s/sys/devices/system/cpu" : "%s",
		text);
	bool file =
		source->kind == VFCTL_TOPOLOGY_TREE || source->kind == VFCTL_TOPOLOGY_XML;
	int r = 0;

	if (!path)
		return ctx_oom(ctx);
	if (file && access(path, R_OK) < 0)
		return ctx_fail(ctx, -errno,
			"topology: cannot read %s %s: %s: %s; check the path",
			what[source->kind], text, path, strerror(errno));
	if (source->kind == VFCTL_TOPOLOGY_SYNTHETIC)
		r = check_synthetic(ctx, text);
	if (r < 0)
		return r;
	if (source->kind == VFCTL_TOPOLOGY_XML)
		r = sym_hwloc_topology_set_xml(t, text);
	else if (source->kind == VFCTL_TOPOLOGY_SYNTHETIC)
		r = sym_hwloc_topology_set_synthetic(t, text);
	if (r == 0)
		r = source->kind == VFCTL_TOPOLOGY_TREE ? load_tree(t, text)
							: sym_hwloc_topology_load(t);
	if (r == -ENOMEM)
		return ctx_oom(ctx);
	if (r < 0)
		return ctx_fail(ctx, -EINVAL,
			"topology: hwloc cannot read the %s %s; check it "
			"with lstopo",
			what[source->kind], text);
	return 0;
}

static int read_set(
	struct vfctl_ctx *ctx, hwloc_const_bitmap_t bits, struct vfctl_cpuset *ret_set)
{
	struct vfctl_cpuset set = {0};

	for (int i = -1; bits && (i = sym_hwloc_bitmap_next(bits, i)) >= 0;) {
		if (i >= VFCTL_CPU_MAX)
			return ctx_fail(ctx, -ERANGE,
				"topology: CPU %d exceeds the %d CPUs that this build supports",
				i, VFCTL_CPU_MAX);
		vfctl_cpuset_add(&set, (unsigned)i);
	}
	*ret_set = set;
	return 0;
}

static void read_pools(const struct hwloc_obj *obj, struct vfctl_topology *topology)
{
	const struct hwloc_numanode_attr_s *attr = &obj->attr->numanode;

	/* The base page, always the smallest, is in the list; it is at most 64 KiB. */
	for (unsigned i = 0; i < attr->page_types_len; i++)
		if (attr->page_types[i].size > 64 * 1024)
			vfctl_topology_set_pages(topology, obj->os_index,
				attr->page_types[i].size, attr->page_types[i].count,
				VFCTL_COUNT_UNKNOWN);
}

static int by_id(const void *a, const void *b)
{
	const struct vfctl_node *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * hwloc assigns the CPUs of nearby nodes to a node without CPUs (HBM, CXL), and Linux gives it a
 * higher number. A CPU stays with the node that has the fewest CPUs; of several, with the lowest
 * number.
 */
static void separate_nodes(struct vfctl_topology *topology)
{
	for (size_t i = 0; i < topology->node_count; i++) {
		struct vfctl_node *a = &topology->nodes[i];

		for (size_t j = i + 1; j < topology->node_count; j++) {
			struct vfctl_node *b = &topology->nodes[j];
			bool b_owns = vfctl_cpuset_count(&b->cpus) &&
				      vfctl_cpuset_count(&b->cpus) <
					      vfctl_cpuset_count(&a->cpus);

			if (vfctl_cpuset_intersects(&a->cpus, &b->cpus))
				vfctl_cpuset_andnot(b_owns ? &a->cpus : &b->cpus,
					b_owns ? &b->cpus : &a->cpus);
		}
	}
}

static int read_nodes(
	struct vfctl_ctx *ctx, hwloc_topology_t t, struct vfctl_topology *topology)
{
	unsigned count = sym_hwloc_get_nbobjs_by_depth(t, HWLOC_TYPE_DEPTH_NUMANODE);
	int r;

	topology->nodes = calloc(count ? count : 1, sizeof(*topology->nodes));
	if (!topology->nodes)
		return ctx_oom(ctx);
	for (unsigned i = 0; i < count; i++) {
		hwloc_obj_t obj =
			sym_hwloc_get_obj_by_depth(t, HWLOC_TYPE_DEPTH_NUMANODE, i);
		struct vfctl_node *node = &topology->nodes[topology->node_count++];

		if (obj->os_index >= VFCTL_CPU_MAX)
			return ctx_fail(ctx, -ERANGE,
				"topology: node number %u is not below %d", obj->os_index,
				VFCTL_CPU_MAX);
		node->id = obj->os_index;
		node->memory_bytes = obj->attr->numanode.local_memory;
		r = read_set(ctx, obj->cpuset, &node->cpus);
		if (r < 0)
			return r;
		read_pools(obj, topology);
	}
	qsort(topology->nodes, topology->node_count, sizeof(*topology->nodes), by_id);
	separate_nodes(topology);
	return 0;
}

static size_t node_index(const struct vfctl_topology *topology, unsigned id)
{
	for (size_t i = 0; i < topology->node_count; i++)
		if (topology->nodes[i].id == id)
			return i;
	return topology->node_count;
}

static void copy_distances(
	const struct hwloc_distances_s *from, struct vfctl_topology *topology)
{
	size_t n = topology->node_count;

	for (unsigned i = 0; i < from->nbobjs; i++)
		for (unsigned j = 0; j < from->nbobjs; j++) {
			size_t row = node_index(topology, from->objs[i]->os_index);
			size_t column = node_index(topology, from->objs[j]->os_index);
			uint64_t value = from->values[i * from->nbobjs + j];

			if (row < n && column < n && value && value <= UINT_MAX)
				topology->distances[row * n + column] = (unsigned)value;
		}
}

static int read_distances(
	struct vfctl_ctx *ctx, hwloc_topology_t t, struct vfctl_topology *topology)
{
	size_t n = topology->node_count;
	struct hwloc_distances_s *found = NULL;
	unsigned count = 1;

	topology->distances = calloc(n ? n * n : 1, sizeof(*topology->distances));
	if (!topology->distances)
		return ctx_oom(ctx);
	for (size_t i = 0; i < n * n; i++)
		topology->distances[i] = i % (n + 1) ? DISTANCE_REMOTE : DISTANCE_LOCAL;
	if (sym_hwloc_distances_get_by_name(t, "NUMALatency", &count, &found, 0) == 0 &&
		count) {
		copy_distances(found, topology);
		sym_hwloc_distances_release(t, found);
	}
	return 0;
}

static const struct hwloc_obj *ancestor(
	const struct hwloc_obj *obj, hwloc_obj_type_t type)
{
	while (obj && obj->type != type)
		obj = obj->parent;
	return obj;
}

static int node_of_cpu(const struct vfctl_topology *topology, unsigned cpu)
{
	for (size_t i = 0; i < topology->node_count; i++)
		if (vfctl_cpuset_has(&topology->nodes[i].cpus, cpu))
			return (int)topology->nodes[i].id;
	return VFCTL_NODE_NONE;
}

static void describe_core(const struct vfctl_topology *topology,
	const struct hwloc_obj *pu, struct vfctl_core *core)
{
	const struct hwloc_obj *package = ancestor(pu, HWLOC_OBJ_PACKAGE);
	const struct hwloc_obj *die = ancestor(pu, HWLOC_OBJ_DIE);
	const struct hwloc_obj *l3 = ancestor(pu, HWLOC_OBJ_L3CACHE);

	core->node = node_of_cpu(topology, pu->os_index);
	core->package =
		package && package->os_index <= INT_MAX ? (int)package->os_index : -1;
	core->die = die ? (int)die->logical_index : -1;
	core->l3 = l3 ? (int)l3->logical_index : -1;
}

static int by_first_cpu(const void *a, const void *b)
{
	const struct vfctl_core *x = a, *y = b;

	return vfctl_cpuset_next(&x->cpus, 0) - vfctl_cpuset_next(&y->cpus, 0);
}

/*
 * hwloc lists threads such that those of a core are adjacent; a thread without a core is a separate
 * core.
 */
static int read_cores(
	struct vfctl_ctx *ctx, hwloc_topology_t t, struct vfctl_topology *topology)
{
	int depth = sym_hwloc_get_type_depth(t, HWLOC_OBJ_PU);
	unsigned count = sym_hwloc_get_nbobjs_by_depth(t, depth);
	const struct hwloc_obj *last = NULL;

	topology->cores = calloc(count ? count : 1, sizeof(*topology->cores));
	if (!topology->cores)
		return ctx_oom(ctx);
	for (unsigned i = 0; i < count; i++) {
		const struct hwloc_obj *pu = sym_hwloc_get_obj_by_depth(t, depth, i);
		const struct hwloc_obj *core = ancestor(pu, HWLOC_OBJ_CORE);

		if (pu->os_index >= VFCTL_CPU_MAX)
			return ctx_fail(ctx, -ERANGE,
				"topology: CPU %u exceeds the %d CPUs that this build supports",
				pu->os_index, VFCTL_CPU_MAX);
		if (!core || core != last)
			describe_core(
				topology, pu, &topology->cores[topology->core_count++]);
		vfctl_cpuset_add(
			&topology->cores[topology->core_count - 1].cpus, pu->os_index);
		vfctl_cpuset_add(&topology->online, pu->os_index);
		last = core;
	}
	qsort(topology->cores, topology->core_count, sizeof(*topology->cores),
		by_first_cpu);
	return 0;
}

static int read_all(
	struct vfctl_ctx *ctx, hwloc_topology_t t, struct vfctl_topology *topology)
{
	int r = read_nodes(ctx, t, topology);

	if (r == 0)
		r = read_distances(ctx, t, topology);
	if (r == 0)
		r = read_cores(ctx, t, topology);
	if (r < 0)
		return r;
	for (size_t i = 0; i < topology->node_count; i++)
		vfctl_cpuset_and(&topology->nodes[i].cpus, &topology->online);
	return vfctl_topology_check(ctx, topology);
}

int vfctl_topology_load(struct vfctl_ctx *ctx, const struct vfctl_topology_source *source,
	struct vfctl_topology **ret)
{
	_cleanup_(vfctl_topology_freep) struct vfctl_topology *topology = NULL;
	_cleanup_(destroy_hwloc) hwloc_topology_t t = NULL;
	int r;

	r = dl_bind(ctx, SONAME_HWLOC, symbols, ARRAY_SIZE(symbols));
	if (r < 0)
		return ctx_prefix(ctx, r, "topology");
	topology = calloc(1, sizeof(*topology));
	if (!topology || sym_hwloc_topology_init(&t) < 0)
		return ctx_oom(ctx);
	r = configure(ctx, t);
	if (r == 0)
		r = run_source(ctx, t, source);
	if (r == 0)
		r = read_all(ctx, t, topology);
	if (r < 0)
		return r;
	*ret = steal(topology);
	return 0;
}
