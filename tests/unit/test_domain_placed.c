// SPDX-License-Identifier: GPL-2.0-or-later
/* Domain XML to placement to the same domain XML. */
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

struct shape {
	const char *yaml;
	size_t cells;
	uint32_t shared; /* of each cell */
	uint32_t l3;
	uint32_t roots; /* of the host, over which the VFs are spread */
	bool distances;
	const char *template_text;
};

static const unsigned distances[] = {10, 21, 28, 28, 21, 10, 28, 28, 28, 28, 10, 21, 28, 28,
	21, 10};
static const char own_template[] =
	"<domain type='kvm'><name>t</name><metadata><o:x xmlns:o='urn:o'>keep</o:x></metadata>"
	"<cputune><shares>9</shares><vcpusched vcpus='0' scheduler='rr' priority='2'/></cputune>"
	"<cpu><feature policy='disable' name='x2apic'/></cpu><devices>"
	"<disk type='file'><source file='/old'/><target dev='vda' bus='virtio'/></disk>"
	"<interface type='network'><source network='n'/></interface>"
	"<controller type='pci' index='9' model='pcie-expander-bus'><target busNr='200'>"
	"<node>0</node></target><address type='pci' bus='0' slot='0x10'/></controller>"
	"<controller type='pci' index='10' model='pcie-root-port'>"
	"<address type='pci' bus='9' slot='0'/></controller>"
	"<hostdev mode='subsystem' type='pci'><source><address bus='0x01'/></source>"
	"<address type='pci' bus='10' slot='0'/></hostdev></devices></domain>";

static const struct shape shapes[] = {
	{.yaml = "name: g\nvcpus: 4\nmemory: 8GiB\ndisks: [{file: /d}]\n", .cells = 1,
		.roots = 1},
	{.yaml = "name: g\nvcpus: 3\nmemory: 3GiB\nuuid: 6f3c8a56-0000-4000-8000-0123456789ab\n"
		 "title: t\nkernel: /k\n", .cells = 1, .roots = 2},
	{.yaml = "name: g\nvcpus: 8\nmemory: 8GiB\niothreads: 2\n", .cells = 2, .roots = 2,
		.distances = false},
	{.yaml = "name: g\nvcpus: 16\nmemory: 16GiB\nxml: {realtime: true}\n", .cells = 4,
		.roots = 3, .l3 = 2, .distances = true},
	{.yaml = "name: g\nvcpus: 16\nmemory: 16GiB\nspare_ports: 0\n", .cells = 4,
		.shared = 2, .roots = 4, .distances = true},
	{.yaml = "name: g\nvcpus: 8\nmemory: 8GiB\nxml: {expanders: off}\n", .cells = 2,
		.roots = 2},
	{.yaml = "name: g\nvcpus: 8\nmemory: 8GiB\ncpu: host-model\nxml: {usb: on, iommu: on, "
		 "shared_memory: on, expander_ports: 3}\n", .cells = 2, .roots = 1},
	{.yaml = "name: g\nvcpus: 4\nmemory: 4GiB\nvirtualization: qemu\nhugepages: none\n",
		.cells = 1, .roots = 1},
	{.yaml = "name: g\nvcpus: 8\nmemory: 8GiB\ndisks: [{file: /old}, {block: /dev/sdb, bus: "
		 "sata}]\n", .cells = 2, .roots = 2, .template_text = own_template},
};

struct round {
	struct domain_case c;
	struct vfctl_free_vf places[CASE_VFS];
	uint32_t cells_of[CASE_VFS];
};

static void make(struct round *t, const struct shape *s)
{
	struct vfctl_assignment *a = &t->c.assignment;
	uint32_t each;

	*t = (struct round){0};
	case_make(ctx, &t->c, s->yaml);
	each = t->c.guest->vcpus / (uint32_t)s->cells;
	a->cell_count = s->cells;
	a->guest_threads = s->shared || each % 2 ? 1 : 2;
	for (size_t i = 0; i < s->cells; i++) {
		struct vfctl_cell *cell = &t->c.cells[i];

		*cell = (struct vfctl_cell){.node = (int)i, .memory_node = (int)i,
			.first_vcpu = (uint32_t)i * each, .vcpu_count = each,
			.shared_vcpus = s->shared, .l3_groups = s->l3,
			.memory_bytes = a->memory_bytes / s->cells,
			.page_bytes = a->page_bytes ? (i % 2 ? 2u << 20 : GIB) : 0};
		for (uint32_t k = 0; k < s->shared; k++)
			t->c.vcpus[(i + 1) * each - 1 - k] = VFCTL_CPU_MAX;
		if (s->shared) {
			vfctl_cpuset_add(&cell->shared_cpus, 200 + (unsigned)i * 4);
			vfctl_cpuset_add(&cell->shared_cpus, 201 + (unsigned)i * 4);
		}
	}
	a->vfs = t->places;
	a->vf_cells = t->cells_of;
	a->vf_count = CASE_VFS;
	for (uint32_t i = 0; i < CASE_VFS; i++) {
		t->cells_of[i] = i % (uint32_t)s->cells;
		t->places[i] = (struct vfctl_free_vf){.bdf = t->c.vfs[i].bdf,
			.pf = t->c.vfs[i].pf, .index = i, .root = 0x10080 + i % s->roots,
			.node = i == 2 ? VFCTL_NODE_NONE : (int)t->cells_of[i]};
	}
	t->c.request.vf_count = CASE_VFS;
	t->c.request.libvirt_version = 12002000;
	t->c.request.template_text = s->template_text;
	if (s->distances)
		t->c.request.cell_distances = distances;
}

static void assert_same_placement(
	const struct vfctl_assignment *a, const struct vfctl_assignment *b)
{
	assert_int_equal(a->cell_count, b->cell_count);
	assert_int_equal(a->vcpu_count, b->vcpu_count);
	assert_memory_equal(a->vcpus, b->vcpus, a->vcpu_count * sizeof(*a->vcpus));
	assert_int_equal(a->guest_threads, b->guest_threads);
	assert_true(a->memory_bytes == b->memory_bytes);
	for (size_t i = 0; i < a->cell_count; i++)
		assert_memory_equal(&a->cells[i], &b->cells[i], sizeof(a->cells[i]));
	assert_memory_equal(&a->emulator_cpus, &b->emulator_cpus, sizeof(a->emulator_cpus));
	assert_int_equal(a->vf_count, b->vf_count);
	for (size_t i = 0; i < a->vf_count; i++) {
		assert_int_equal(vfctl_bdf_compare(&a->vfs[i].bdf, &b->vfs[i].bdf), 0);
		assert_int_equal(a->vfs[i].node, b->vfs[i].node);
		assert_int_equal(a->vfs[i].root, b->vfs[i].root);
		/* Without a node the cell does not matter. */
		if (a->vfs[i].node >= 0)
			assert_int_equal(a->vf_cells[i], b->vf_cells[i]);
	}
}

/* Read the XML back, and write it again with nothing but what was read. */
static char *again(struct round *t, const char *xml, struct vfctl_assignment **ret)
{
	struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct vfctl_domain_request request = t->c.request;
	struct vfctl_parsed_domain *parsed = NULL;
	char *out = NULL;

	assert_int_equal(vfctl_domain_placement(ctx, xml, NULL, ret), 0);
	assert_int_equal(vfctl_domain_metadata_read(ctx, xml, strlen(xml), intent), 0);
	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	request.template_text = xml;
	request.assignment = *ret;
	request.lease_id = intent->lease_id;
	request.vfs = intent->vfs;
	request.vf_count = intent->vf_count;
	request.cell_distances = parsed->distances;
	if (vfctl_domain_render(ctx, &request, &out) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	vfctl_parsed_domain_free(parsed);
	free(intent);
	return out;
}

static void xml_to_placement_to_the_same_xml(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct vfctl_assignment *read = NULL;
		_free_ char *first = NULL, *second = NULL;
		struct round t;

		make(&t, &shapes[i]);
		first = render(&t.c);
		validate(first);
		second = again(&t, first, &read);
		assert_string_equal(first, second);
		assert_same_placement(&t.c.assignment, read);
		vfctl_domain_placement_free(read);
		case_clear(&t.c);
	}
}

/* All VFs detached: their ports and roots are used again, none is added. */
static void ports_of_detached_vfs_are_used_again(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		_free_ char *first = NULL, *without = NULL, *second = NULL, *third = NULL;
		struct round t;

		make(&t, &shapes[i]);
		first = render(&t.c);
		t.c.request.template_text = first;
		t.c.request.vf_count = 0;
		without = render(&t.c);
		for (size_t k = 0; k < CASE_VFS; k++)
			assert_lacks(without, "0x3b");
		t.c.request.template_text = without;
		t.c.request.vf_count = CASE_VFS;
		second = render(&t.c);
		assert_int_equal(
			count(first, "pcie-root-port"), count(second, "pcie-root-port"));
		assert_int_equal(count(first, "pcie-expander-bus"),
			count(second, "pcie-expander-bus"));
		t.c.request.template_text = second;
		third = render(&t.c);
		assert_string_equal(second, third);
		case_clear(&t.c);
	}
}

/* A guest that moves: one VF stays, another takes the place of a third. */
static void another_placement_replaces_the_former(void **state)
{
	struct vfctl_assignment *read = NULL;
	_free_ char *first = NULL, *second = NULL, *third = NULL;
	struct round t;

	make(&t, &shapes[2]);
	t.c.request.vf_count = 3;
	first = render(&t.c);
	t.c.request.template_text = first;
	t.c.vfs[1] = t.c.vfs[3];
	t.c.cells[1].node = t.c.cells[1].memory_node = 5;
	t.places[0].node = 5;
	t.cells_of[0] = 1;
	second = render(&t.c);
	validate(second);
	assert_int_equal(count(second, "function=\"0x3\"/>\n      </source>"), 0);
	assert_has(second, "<memnode cellid=\"1\" mode=\"strict\" nodeset=\"5\"/>");
	assert_int_equal(vfctl_domain_placement(ctx, second, NULL, &read), 0);
	assert_int_equal(read->vf_count, 3);
	assert_int_equal(read->vf_cells[0], 1);
	assert_int_equal(read->cells[1].node, 5);
	t.c.request.template_text = second;
	third = render(&t.c);
	assert_string_equal(second, third);
	vfctl_domain_placement_free(read);
	case_clear(&t.c);
}

/* Fewer cells than before: an expander of a cell that is no more cannot stay. */
static void roots_of_cells_that_are_no_more_go(void **state)
{
	_free_ char *first = NULL, *second = NULL;
	struct round t, one;

	make(&t, &shapes[2]);
	first = render(&t.c);
	assert_has(first, "<node>1</node>");
	make(&one, &(struct shape){.yaml = shapes[2].yaml, .cells = 1, .roots = 2});
	one.c.request.template_text = first;
	second = render(&one.c);
	validate(second);
	assert_lacks(second, "<node>1</node>");
	assert_int_equal(count(second, "<source>"), CASE_VFS);
	case_clear(&t.c);
	case_clear(&one.c);
}

static void nodes_come_from_the_topology(void **state)
{
	static const char xml[] =
		"<domain><name>a</name><memory unit='GiB'>2</memory><vcpu>2</vcpu><cputune>"
		"<vcpupin vcpu='0' cpuset='4'/><vcpupin vcpu='1' cpuset='5'/></cputune></domain>";
	struct vfctl_node nodes[] = {{.id = 0}, {.id = 3}};
	struct vfctl_core cores[] = {{.node = 3}, {.node = 3}};
	struct vfctl_topology topology = {.nodes = nodes, .node_count = 2, .cores = cores,
		.core_count = 2};
	struct vfctl_assignment *a = NULL;

	for (unsigned i = 0; i < 2; i++) {
		vfctl_cpuset_add(&nodes[1].cpus, 4 + i);
		vfctl_cpuset_add(&nodes[1].cpus, 8 + i);
		vfctl_cpuset_add(&cores[i].cpus, 4 + i);
		vfctl_cpuset_add(&cores[i].cpus, 8 + i);
	}
	assert_int_equal(vfctl_domain_placement(ctx, xml, &topology, &a), 0);
	assert_int_equal(a->node, 3);
	assert_int_equal(a->cells[0].memory_node, VFCTL_NODE_NONE);
	assert_int_equal(vfctl_cpuset_count(&a->held_cpus), 4);
	assert_true(a->memory_bytes == 2 * GIB);
	vfctl_domain_placement_free(a);
}

static void domains_of_no_such_form(void **state)
{
#define CELLS(a, b)                                                                          \
	"<domain><name>a</name><vcpu cpuset='1'>4</vcpu><cpu><numa><cell id='0' cpus='" a    \
	"' memory='1024'/><cell id='1' cpus='" b "' memory='1024'/></numa></cpu></domain>"
	static const struct {
		const char *xml, *message;
	} cases[] = {
		{"<domain><name>a</name><vcpu>2</vcpu></domain>", "is not pinned"},
		{"<domain><name>a</name><vcpu cpuset='1-2'>2</vcpu><cputune><vcpupin vcpu='1' "
		 "cpuset='3'/></cputune></domain>", "follows a shared vCPU"},
		{CELLS("0,2", "1,3"), "not consecutive"}, {CELLS("0-1", "1-3"), "two guest cells"},
		{CELLS("0-1", "2"), "3 of its 4 vCPUs"}, {CELLS("0-1", "2-5"), "not consecutive"},
		{CELLS("0-3", ""), "not consecutive"},
		{"<domain><name>a</name><vcpu cpuset='1'>1</vcpu><cpu><topology threads='x'/>"
		 "</cpu></domain>", "'x'"},
		{"<domain/>", "name"},
	};
	struct vfctl_assignment *a = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (vfctl_domain_placement(ctx, cases[i].xml, NULL, &a) != -EINVAL)
			fail_msg("%s", cases[i].xml);
		assert_null(a);
		assert_has(vfctl_ctx_error(ctx), cases[i].message);
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
		cmocka_unit_test(xml_to_placement_to_the_same_xml),
		cmocka_unit_test(ports_of_detached_vfs_are_used_again),
		cmocka_unit_test(another_placement_replaces_the_former),
		cmocka_unit_test(roots_of_cells_that_are_no_more_go),
		cmocka_unit_test(nodes_come_from_the_topology),
		cmocka_unit_test(domains_of_no_such_form),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
