// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests of one and of several NUMA cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "domain_xml.h"

#define GIB (UINT64_C(1) << 30)
#define TWO "name: g\nvcpus: 8\nmemory: 8GiB\n"

/* @vcpus over @n cells on nodes 1, 3, 5, ...; the last @shared of each are shared. */
static void split(struct domain_case *c, size_t n, uint32_t shared)
{
	uint32_t each = c->guest->vcpus / (uint32_t)n;

	c->assignment.cell_count = n;
	for (size_t i = 0; i < n; i++) {
		struct vfctl_cell *cell = &c->cells[i];

		*cell = (struct vfctl_cell){
			.node = 1 + 2 * (int)i,
			.memory_node = 1 + 2 * (int)i,
			.first_vcpu = (uint32_t)i * each,
			.vcpu_count = each,
			.shared_vcpus = shared,
			.memory_bytes = c->guest->memory_bytes / n,
			.page_bytes = GIB,
		};
		for (uint32_t k = 0; k < shared; k++)
			c->vcpus[(i + 1) * each - 1 - k] = VFCTL_CPU_MAX;
		if (shared) {
			vfctl_cpuset_add(&cell->shared_cpus, 100 + (unsigned)i * 10);
			vfctl_cpuset_add(&cell->shared_cpus, 101 + (unsigned)i * 10);
		}
	}
	if (shared)
		c->assignment.guest_threads = 1;
}

static void cells_are_told_to_the_guest(void **state)
{
	static const unsigned distances[] = {10, 21, 21, 10};
	static const char *const parts[] = {"<memory mode=\"strict\" nodeset=\"1,3\"/>",
		"<memnode cellid=\"0\" mode=\"strict\" nodeset=\"1\"/>",
		"<memnode cellid=\"1\" mode=\"strict\" nodeset=\"3\"/>",
		"<page size=\"1048576\" unit=\"KiB\" nodeset=\"0-1\"/>",
		"<topology sockets=\"2\" cores=\"2\" threads=\"2\"/>",
		"<cell id=\"0\" cpus=\"0-3\" memory=\"4194304\" unit=\"KiB\">",
		"<cell id=\"1\" cpus=\"4-7\" memory=\"4194304\" unit=\"KiB\">",
		"<sibling id=\"1\" value=\"21\"/>", "hint-dedicated"};
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, TWO);
	split(&c, 2, 0);
	c.request.cell_distances = distances;
	xml = render(&c);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_has(xml, parts[i]);
	assert_int_equal(count(xml, "<memnode "), 2);
	assert_int_equal(count(xml, "<sibling "), 4);
	assert_int_equal(count(xml, "value=\"10\""), 2);
	validate(xml);
	case_clear(&c);
}

static void page_sizes_stand_apart(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL, *base = NULL;

	case_make(ctx, &c, TWO);
	split(&c, 4, 0);
	c.cells[1].page_bytes = 2 << 20;
	c.cells[2].page_bytes = VFCTL_PAGES_BASE;
	xml = render(&c);
	assert_has(xml, "<page size=\"1048576\" unit=\"KiB\" nodeset=\"0,3\"/>");
	assert_has(xml, "<page size=\"2048\" unit=\"KiB\" nodeset=\"1\"/>");
	assert_int_equal(count(xml, "<page "), 2);
	validate(xml);
	for (size_t i = 0; i < 4; i++)
		c.cells[i].page_bytes = VFCTL_PAGES_BASE;
	base = render(&c);
	assert_lacks(base, "hugepages");
	case_clear(&c);
}

static void memory_of_another_node(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, TWO);
	split(&c, 2, 0);
	c.cells[1].memory_node = 6;
	xml = render(&c);
	assert_has(xml, "<memory mode=\"strict\" nodeset=\"1,6\"/>");
	assert_has(xml, "<memnode cellid=\"1\" mode=\"strict\" nodeset=\"6\"/>");
	case_clear(&c);
}

static void shared_vcpus_float_over_their_cell(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, TWO);
	split(&c, 2, 1);
	xml = render(&c);
	assert_has(xml, "<vcpupin vcpu=\"2\" cpuset=\"5\"/>");
	assert_has(xml, "<vcpupin vcpu=\"3\" cpuset=\"100-101\"/>");
	assert_has(xml, "<vcpupin vcpu=\"7\" cpuset=\"110-111\"/>");
	assert_int_equal(count(xml, "<vcpupin "), 8);
	assert_has(xml, "threads=\"1\"");
	/* A guest that spins because it was told its CPUs are its own would waste them. */
	assert_lacks(xml, "hint-dedicated");
	validate(xml);
	case_clear(&c);
}

static void topology_follows_the_cells(void **state)
{
	static const struct {
		uint32_t first[2], vcpus[2], l3[2], threads;
		const char *topology;
	} cases[] = {
		{{0, 4}, {4, 4}, {2, 2}, 2,
			"sockets=\"2\" dies=\"2\" cores=\"1\" threads=\"2\""},
		{{0, 4}, {4, 4}, {2, 2}, 1,
			"sockets=\"2\" dies=\"2\" cores=\"2\" threads=\"1\""},
		{{0, 4}, {4, 4}, {1, 1}, 1, "sockets=\"2\" cores=\"4\" threads=\"1\""},
		{{0, 4}, {4, 4}, {3, 3}, 1, "sockets=\"2\" cores=\"4\" threads=\"1\""},
		{{0, 4}, {4, 4}, {2, 0}, 1, "sockets=\"2\" cores=\"4\" threads=\"1\""},
		{{4, 0}, {4, 4}, {0, 0}, 2, "sockets=\"2\" cores=\"2\" threads=\"2\""},
		{{0, 2}, {2, 6}, {0, 0}, 2, "sockets=\"4\" cores=\"1\" threads=\"2\""},
		{{0, 2}, {2, 6}, {2, 2}, 1, "sockets=\"4\" cores=\"2\" threads=\"1\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct domain_case c;
		_free_ char *xml = NULL;

		case_make(ctx, &c, TWO);
		split(&c, 2, 0);
		for (size_t k = 0; k < 2; k++) {
			c.cells[k].first_vcpu = cases[i].first[k];
			c.cells[k].vcpu_count = cases[i].vcpus[k];
			c.cells[k].l3_groups = cases[i].l3[k];
		}
		c.assignment.guest_threads = cases[i].threads;
		xml = render(&c);
		assert_has(xml, cases[i].topology);
		validate(xml);
		case_clear(&c);
	}
}

/* Some firmware calls every node local; QEMU refuses that of another cell. */
static void distances_of_bad_firmware(void **state)
{
	static const unsigned flat[] = {10, 10, 10, 10};
	static const unsigned bad[][4] = {{10, 9, 21, 10}, {10, 256, 21, 10}, {0, 0, 0, 0}};
	struct domain_case c;
	_free_ char *xml = NULL;
	char *none = NULL;

	case_make(ctx, &c, TWO);
	split(&c, 2, 0);
	c.request.cell_distances = flat;
	xml = render(&c);
	assert_int_equal(count(xml, "value=\"11\""), 2);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		c.request.cell_distances = bad[i];
		assert_int_equal(vfctl_domain_render(ctx, &c.request, &none), -EINVAL);
		assert_has(vfctl_ctx_error(ctx), "distance");
	}
	case_clear(&c);
}

static void distances_come_from_the_topology(void **state)
{
	struct vfctl_node nodes[] = {{.id = 1}, {.id = 3}};
	unsigned host[] = {10, 17, 28, 10}, *own = NULL;
	struct vfctl_topology topology = {
		.nodes = nodes, .node_count = 2, .distances = host};
	struct domain_case c;

	case_make(ctx, &c, TWO);
	split(&c, 2, 0);
	assert_int_equal(vfctl_domain_cell_distances(ctx, &c.assignment, &topology, &own), 0);
	assert_memory_equal(own, host, sizeof(host));
	free(own);
	own = NULL;
	c.cells[1].node = 7;
	assert_int_equal(
		vfctl_domain_cell_distances(ctx, &c.assignment, &topology, &own), -EINVAL);
	assert_null(own);
	assert_has(vfctl_ctx_error(ctx), "7");
	case_clear(&c);
}

static void break_no_cells(struct domain_case *c) { c->assignment.cell_count = 0; }
static void break_many_cells(struct domain_case *c) { c->assignment.cell_count = 65; }
static void break_overlap(struct domain_case *c) { c->cells[1].first_vcpu = 3; }
static void break_gap(struct domain_case *c) { c->cells[0].vcpu_count = 2; }
static void break_beyond(struct domain_case *c) { c->cells[1].first_vcpu = 5; }
static void break_huge(struct domain_case *c) { c->cells[1].vcpu_count = UINT32_MAX; }
static void break_empty(struct domain_case *c) { c->cells[1].vcpu_count = 0; }
static void break_twice(struct domain_case *c) { c->vcpus[7] = c->vcpus[0]; }
static void break_threads(struct domain_case *c) { c->assignment.guest_threads = 3; }
static void break_memory(struct domain_case *c) { c->cells[1].memory_bytes += GIB; }
static void break_wrap(struct domain_case *c) { c->cells[1].memory_bytes = UINT64_MAX << 30; }
static void break_node(struct domain_case *c) { c->cells[1].memory_node = -1; }
static void break_auto(struct domain_case *c) { c->cells[1].page_bytes = VFCTL_PAGES_AUTO; }
static void break_page(struct domain_case *c) { c->cells[1].page_bytes = 3 * GIB; }
static void break_shared(struct domain_case *c) { c->cells[1].shared_vcpus = 1; }
static void break_cpu(struct domain_case *c) { c->vcpus[2] = VFCTL_CPU_MAX; }
static void break_shared_pin(struct domain_case *c)
{
	c->cells[0].shared_vcpus = 1;
	vfctl_cpuset_add(&c->cells[0].shared_cpus, 7);
}

static void break_vf(struct domain_case *c)
{
	static struct vfctl_free_vf vf;
	static uint32_t cell = 2;

	c->assignment.vfs = &vf;
	c->assignment.vf_cells = &cell;
	c->assignment.vf_count = 1;
}

static void placements_that_cannot_be(void **state)
{
	static const struct {
		void (*damage)(struct domain_case *c);
		const char *message;
	} cases[] = {{break_no_cells, "0 guest cells"}, {break_many_cells, "65 guest cells"},
		{break_overlap, "in two guest cells"}, {break_gap, "6 of its 8 vCPUs"},
		{break_beyond, "not those of the guest"}, {break_huge, "not those of the guest"},
		{break_empty, "not those of the guest"}, {break_twice, "under two vCPUs"},
		{break_threads, "do not fill cores"}, {break_memory, "KiB"},
		{break_wrap, "KiB"}, {break_node, "on no node"}, {break_auto, "pages"},
		{break_page, "pages"}, {break_shared, "have no CPUs"},
		{break_cpu, "no CPU of its own"}, {break_shared_pin, "is shared and has a CPU of its own"},
		{break_vf, "guest cell 2 of 2"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct domain_case c;
		char *xml = NULL;
		int r;

		case_make(ctx, &c, TWO);
		split(&c, 2, 0);
		cases[i].damage(&c);
		r = vfctl_domain_render(ctx, &c.request, &xml);
		if (r != -EINVAL || xml)
			fail_msg("%d for '%s'", r, cases[i].message);
		assert_has(vfctl_ctx_error(ctx), cases[i].message);
		case_clear(&c);
	}
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
		cmocka_unit_test(cells_are_told_to_the_guest),
		cmocka_unit_test(page_sizes_stand_apart),
		cmocka_unit_test(memory_of_another_node),
		cmocka_unit_test(shared_vcpus_float_over_their_cell),
		cmocka_unit_test(topology_follows_the_cells),
		cmocka_unit_test(distances_of_bad_firmware),
		cmocka_unit_test(distances_come_from_the_topology),
		cmocka_unit_test(placements_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
