// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "topology/topology.h"

static struct vfctl_ctx *ctx;

static struct vfctl_topology *load(enum vfctl_topology_kind kind, const char *text)
{
	struct vfctl_topology_source source = {.kind = kind, .text = text};
	struct vfctl_topology *topology = NULL;

	if (vfctl_topology_load(ctx, &source, &topology) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	assert_int_equal(vfctl_topology_check(ctx, topology), 0);
	return topology;
}

static const char *set_text(const struct vfctl_cpuset *set)
{
	static char text[128];

	vfctl_cpuset_format(set, text, sizeof(text));
	return text;
}

static void _printf_(3, 4) put(const char *root, const char *path, const char *fmt, ...)
{
	char full[512], *slash;
	va_list args;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	va_start(args, fmt);
	vfprintf(file, fmt, args);
	va_end(args);
	fclose(file);
}

/* One CPU: @siblings and @package_cpus are hex masks as in sysfs. */
static void put_cpu(const char *root, unsigned cpu, unsigned package, unsigned core,
	unsigned siblings, unsigned package_cpus)
{
	const struct {
		const char *name;
		unsigned value;
		bool mask;
	} files[] = {
		{"physical_package_id", package, false},
		{"core_id", core, false},
		{"thread_siblings", siblings, true},
		{"core_siblings", package_cpus, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[128], text[16];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology/%s",
			cpu, files[i].name);
		snprintf(text, sizeof(text), files[i].mask ? "%08x" : "%u",
			files[i].value);
		put(root, path, "%s\n", text);
	}
}

static void put_node(const char *root, unsigned node, unsigned mask, unsigned memory_mib,
	const char *distance)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpumap", node);
	put(root, path, "%08x\n", mask);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/distance", node);
	put(root, path, "%s\n", distance);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", node);
	put(root, path, "Node %u MemTotal:       %u kB\n", node, memory_mib * 1024);
	snprintf(path, sizeof(path),
		"sys/devices/system/node/node%u/hugepages/hugepages-2048kB/nr_hugepages",
		node);
	put(root, path, "%u\n", 8 + node);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void remove_tree(const char *root)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * Two packages of two cores of two threads, numbered across the nodes, CPU 7 offline;
 * nodes 0 and 4 have CPUs, node 5 only memory, node 6 only CPUs 2 and 6.
 */
static void odd_host_is_read(void **state)
{
	char root[] = "/tmp/vfctl-test-XXXXXX";
	struct vfctl_topology *t;

	assert_non_null(mkdtemp(root));
	put(root, "sys/devices/system/cpu/online", "0-6\n");
	put(root, "sys/devices/system/cpu/possible", "0-7\n");
	put(root, "sys/devices/system/cpu/present", "0-7\n");
	for (unsigned cpu = 0; cpu < 7; cpu++)
		put_cpu(root, cpu, cpu % 2, cpu / 2 % 2,
			(1u << cpu % 4 | 1u << (cpu % 4 + 4)) & 0x7f,
			cpu % 2 ? 0x2a : 0x55);
	put(root, "sys/devices/system/cpu/cpu7/online", "0\n");
	put(root, "sys/devices/system/node/online", "0,4-6\n");
	put(root, "sys/devices/system/node/possible", "0-7\n");
	put_node(root, 0, 0x11, 1000, "10 21 30 12");
	put_node(root, 4, 0x2a, 2000, "21 10 17 22");
	put_node(root, 5, 0x00, 4000, "30 17 10 23");
	put_node(root, 6, 0x44, 0, "12 22 23 10");
	put(root, "proc/cpuinfo", "processor : 0\n");

	t = load(VFCTL_TOPOLOGY_TREE, root);
	remove_tree(root);
	assert_int_equal(t->node_count, 4);
	assert_int_equal(t->nodes[1].id, 4);
	assert_string_equal(set_text(&t->online), "0-6");
	assert_string_equal(set_text(&vfctl_topology_node(t, 0)->cpus), "0,4");
	assert_string_equal(set_text(&vfctl_topology_node(t, 4)->cpus), "1,3,5");
	assert_string_equal(set_text(&vfctl_topology_node(t, 5)->cpus), "");
	assert_string_equal(set_text(&vfctl_topology_node(t, 6)->cpus), "2,6");
	assert_true(vfctl_topology_node(t, 5)->memory_bytes == UINT64_C(4000) << 20);
	assert_true(vfctl_topology_node(t, 6)->memory_bytes == 0);
	assert_int_equal(vfctl_topology_distance(t, 0, 6), 12);
	assert_int_equal(vfctl_topology_distance(t, 5, 4), 17);
	assert_int_equal(vfctl_topology_distance(t, 0, 3), 0);
	assert_null(vfctl_topology_node(t, 3));
	assert_null(vfctl_topology_node(t, -1));
	/* {0,4} {1,5} {2,6} {3}: the sibling of 3 is offline. */
	assert_int_equal(t->core_count, 4);
	assert_string_equal(set_text(&t->cores[0].cpus), "0,4");
	assert_string_equal(set_text(&t->cores[3].cpus), "3");
	assert_int_equal(t->cores[3].node, 4);
	assert_int_equal(t->cores[3].package, 1);
	assert_int_equal(t->cores[3].l3, -1);
	assert_int_equal(vfctl_topology_node(t, 4)->pool_count, 1);
	assert_true(vfctl_topology_node(t, 4)->pools[0].total == 12);
	assert_true(vfctl_topology_node(t, 4)->pools[0].free == VFCTL_COUNT_UNKNOWN);
	vfctl_topology_free(t);
}

static void tree_leaves_the_environment_alone(void **state)
{
	struct vfctl_topology_source source = {.kind = VFCTL_TOPOLOGY_TREE, .text = "/"};
	struct vfctl_topology *t = NULL;

	setenv("HWLOC_FSROOT", "/before", 1);
	unsetenv("HWLOC_COMPONENTS");
	if (vfctl_topology_load(ctx, &source, &t) == 0)
		vfctl_topology_free(t);
	assert_string_equal(getenv("HWLOC_FSROOT"), "/before");
	assert_null(getenv("HWLOC_COMPONENTS"));
	unsetenv("HWLOC_FSROOT");
}

static void synthetic_hosts(void **state)
{
	static const struct {
		const char *text;
		size_t nodes, cores;
		const char *first_core, *last_node;
	} cases[] = {
		{"numa:2 core:4 pu:2", 2, 8, "0-1", "8-15"},
		{"pack:2 numa:2 l3:1 core:2 pu:1", 4, 8, "0", "6-7"},
		{"pu:3", 1, 3, "0", "0-2"},
		{"core:2 pu:4", 1, 2, "0-3", "0-7"},
		{"numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", 2, 4, "0,4", "2-3,6-7"},
		{"pack:2 [numa(memory=1GB)] [numa(memory=2GB)] core:2 pu:1", 4, 4, "0",
			""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_topology *t = load(VFCTL_TOPOLOGY_SYNTHETIC, cases[i].text);

		assert_int_equal(t->node_count, cases[i].nodes);
		assert_int_equal(t->core_count, cases[i].cores);
		assert_string_equal(set_text(&t->cores[0].cpus), cases[i].first_core);
		assert_string_equal(
			set_text(&t->nodes[t->node_count - 1].cpus), cases[i].last_node);
		assert_int_equal(vfctl_topology_distance(t, 0, 0), 10);
		vfctl_topology_free(t);
	}
}

static void running_host_is_read(void **state)
{
	struct vfctl_topology *t = load(VFCTL_TOPOLOGY_HOST, NULL);

	assert_int_equal(vfctl_cpuset_count(&t->online), sysconf(_SC_NPROCESSORS_ONLN));
	vfctl_topology_free(t);
}

static void bad_sources_are_named(void **state)
{
	static const struct {
		enum vfctl_topology_kind kind;
		const char *text;
		int error;
		const char *message;
	} cases[] = {
		{VFCTL_TOPOLOGY_TREE, "/nonexistent", -ENOENT, "/nonexistent"},
		{VFCTL_TOPOLOGY_XML, "/nonexistent.xml", -ENOENT, "/nonexistent.xml"},
		{VFCTL_TOPOLOGY_XML, "/dev/null", -EINVAL, "hwloc XML file /dev/null"},
		{VFCTL_TOPOLOGY_SYNTHETIC, "bogus", -EINVAL, "synthetic topology bogus"},
		{VFCTL_TOPOLOGY_SYNTHETIC, "", -EINVAL, "synthetic"},
		{VFCTL_TOPOLOGY_SYNTHETIC, "pu:2(indexes=0,4096)", -ERANGE, "CPU 4096"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_topology_source source = {cases[i].kind, cases[i].text};
		struct vfctl_topology *t = NULL;

		assert_int_equal(vfctl_topology_load(ctx, &source, &t), cases[i].error);
		assert_null(t);
		assert_non_null(strstr(vfctl_ctx_error(ctx), cases[i].message));
	}
}

static void pools_are_set(void **state)
{
	struct vfctl_topology *t = load(VFCTL_TOPOLOGY_SYNTHETIC, "numa:1 core:1 pu:1");
	const struct vfctl_node *node = vfctl_topology_node(t, 0);
	uint64_t huge = 1 << 30, large = 2 << 20;

	assert_int_equal(vfctl_topology_set_pages(t, 0, huge, 4, 3), 0);
	assert_int_equal(
		vfctl_topology_set_pages(t, 0, large, 100, VFCTL_COUNT_UNKNOWN), 0);
	assert_int_equal(vfctl_topology_set_pages(t, 0, huge, VFCTL_COUNT_UNKNOWN, 4), 0);
	assert_int_equal(node->pool_count, 2);
	assert_true(node->pools[0].page_bytes == large);
	assert_true(node->pools[1].total == 4 && node->pools[1].free == 4);
	assert_int_equal(vfctl_topology_set_pages(t, 0, huge, 4, 5), -EINVAL);
	assert_int_equal(vfctl_topology_set_pages(t, 0, 4096, 1, 1), -EINVAL);
	assert_int_equal(vfctl_topology_set_pages(t, 0, 3 << 20, 1, 1), -EINVAL);
	assert_int_equal(vfctl_topology_set_pages(t, 7, huge, 1, 1), -ENOENT);
	for (unsigned shift = 32; shift < 32 + VFCTL_POOLS_MAX - 2; shift++)
		assert_int_equal(
			vfctl_topology_set_pages(t, 0, UINT64_C(1) << shift, 1, 1), 0);
	assert_int_equal(
		vfctl_topology_set_pages(t, 0, UINT64_C(1) << 50, 1, 1), -ENOSPC);
	assert_true(node->pools[1].total == 4 && node->pools[1].free == 4);
	vfctl_topology_free(t);
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_host_is_read),
		cmocka_unit_test(tree_leaves_the_environment_alone),
		cmocka_unit_test(synthetic_hosts),
		cmocka_unit_test(running_host_is_read),
		cmocka_unit_test(bad_sources_are_named),
		cmocka_unit_test(pools_are_set),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
