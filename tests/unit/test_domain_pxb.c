// SPDX-License-Identifier: GPL-2.0-or-later
/* PCI roots with a guest node, and the bus numbers of all that is beneath them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "domain_xml.h"

#define YAML "name: g\nvcpus: 8\nmemory: 8GiB\n"
#define GIB (UINT64_C(1) << 30)

/* A guest of @cells cells with @count VFs, to be placed by the test. */
struct vf_case {
	struct domain_case c;
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX];
	struct vfctl_free_vf places[VFCTL_GUEST_VFS_MAX];
	uint32_t cells_of[VFCTL_GUEST_VFS_MAX];
};

static void make(struct vf_case *v, const char *yaml, size_t cells, size_t count)
{
	struct vfctl_assignment *a = &v->c.assignment;
	uint32_t each;

	*v = (struct vf_case){0};
	case_make(ctx, &v->c, yaml);
	each = v->c.guest->vcpus / (uint32_t)cells;
	for (size_t i = 0; i < cells; i++)
		v->c.cells[i] = (struct vfctl_cell){.node = (int)i,
			.memory_node = (int)i, .first_vcpu = (uint32_t)i * each,
			.vcpu_count = each, .memory_bytes = a->memory_bytes / cells,
			.page_bytes = GIB};
	a->guest_threads = each % 2 ? 1 : 2;
	a->cell_count = cells;
	a->vfs = v->places;
	a->vf_cells = v->cells_of;
	a->vf_count = count;
	for (size_t i = 0; i < count; i++) {
		v->vfs[i] = (struct vfctl_domain_vf){.index = (uint32_t)i,
			.infiniband = true, .pf = {.bus = 0x80},
			.bdf = {.bus = 0x81, .slot = (uint8_t)(i / 8),
				.function = i % 8}};
		v->places[i] = (struct vfctl_free_vf){
			.bdf = v->vfs[i].bdf, .root = 0x80};
	}
	v->c.request.vfs = v->vfs;
	v->c.request.vf_count = count;
}

static struct vfctl_parsed_domain *parsed_of(const char *xml)
{
	struct vfctl_parsed_domain *parsed = NULL;

	if (vfctl_domain_read(ctx, xml, &parsed) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return parsed;
}

static const struct vfctl_domain_controller *controller(
	const struct vfctl_parsed_domain *parsed, uint32_t index)
{
	for (size_t i = 0; i < parsed->controller_count; i++)
		if (parsed->controllers[i].index == index)
			return &parsed->controllers[i];
	fail_msg("no controller %u", index);
	return NULL;
}

/* The controller that the device's root port sits on. */
static const struct vfctl_domain_controller *root_of(
	const struct vfctl_parsed_domain *parsed, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < parsed->device_count; i++)
		if (vfctl_bdf_compare(&parsed->devices[i].source, vf) == 0) {
			assert_true(parsed->devices[i].has_guest);
			return controller(parsed,
				controller(parsed, parsed->devices[i].guest.bus)->parent);
		}
	fail_msg("VF not there");
	return NULL;
}

/* A device's guest node is right in a guest of one node too: without, it sees -1. */
static void one_cell_has_its_root(void **state)
{
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 1, 2);
	xml = render(&v.c);
	assert_has(xml, "<controller type=\"pci\" index=\"1\" model=\"pcie-expander-bus\">\n"
			"      <target busNr=\"252\">\n        <node>0</node>");
	validate(xml);
	parsed = parsed_of(xml);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(root_of(parsed, &v.vfs[i].bdf)->cell, 0);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

/* kubevirt #19103: two roots on one node are two roots in the guest. */
static void each_host_root_is_a_guest_root(void **state)
{
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 2, 4);
	v.places[1].root = 0xc0;
	v.places[2].root = 0x80;
	v.places[3].root = 0xc0;
	v.cells_of[3] = 1;
	xml = render(&v.c);
	validate(xml);
	assert_int_equal(count(xml, "pcie-expander-bus"), 3);
	parsed = parsed_of(xml);
	assert_ptr_equal(root_of(parsed, &v.vfs[0].bdf), root_of(parsed, &v.vfs[2].bdf));
	assert_ptr_not_equal(root_of(parsed, &v.vfs[0].bdf), root_of(parsed, &v.vfs[1].bdf));
	assert_ptr_not_equal(root_of(parsed, &v.vfs[1].bdf), root_of(parsed, &v.vfs[3].bdf));
	assert_int_equal(root_of(parsed, &v.vfs[1].bdf)->cell, 0);
	assert_int_equal(root_of(parsed, &v.vfs[3].bdf)->cell, 1);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

/* facts case 23: the host says no node, so the guest is told none. */
static void unknown_nodes_stay_on_the_main_root(void **state)
{
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL, *off = NULL;

	make(&v, YAML, 2, 2);
	v.places[0].node = VFCTL_NODE_NONE;
	v.places[1].root = VFCTL_ROOT_UNKNOWN;
	xml = render(&v.c);
	parsed = parsed_of(xml);
	assert_string_equal(root_of(parsed, &v.vfs[0].bdf)->model, "pcie-root");
	assert_string_equal(root_of(parsed, &v.vfs[1].bdf)->model, "pcie-expander-bus");
	vfctl_parsed_domain_free(parsed);
	v.c.guest->xml.expanders = VFCTL_CHOICE_OFF;
	off = render(&v.c);
	assert_lacks(off, "pcie-expander-bus");
	case_clear(&v.c);
}

static void spare_ports_are_of_both_kinds(void **state)
{
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;
	unsigned on_main = 0, on_node = 0;

	make(&v, YAML "spare_ports: 3\n", 1, 2);
	v.c.guest->xml.expander_ports = 2;
	xml = render(&v.c);
	parsed = parsed_of(xml);
	for (size_t i = 0; i < parsed->controller_count; i++) {
		const struct vfctl_domain_controller *c = &parsed->controllers[i];

		if (str_eq(c->model, "pcie-root-port") && !c->users) {
			on_main += c->cell < 0;
			on_node += c->cell == 0;
			/* libvirt takes the lowest for a device without an address. */
			assert_false(c->cell < 0 && on_node);
		}
	}
	assert_int_equal(on_main, 3);
	assert_int_equal(on_node, 2);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

static uint32_t top_of(const struct vfctl_parsed_domain *parsed, uint32_t index)
{
	while (index && !str_eq(controller(parsed, index)->model, "pcie-expander-bus"))
		index = controller(parsed, index)->parent;
	return index;
}

/*
 * Number buses as firmware does: depth first from the main root, then from each expander's
 * own number. No number may come twice, nor one above 255.
 */
static void assert_buses_fit(const struct vfctl_parsed_domain *parsed, const char *what)
{
	unsigned owner[512] = {0}, number;

	for (size_t i = 0; i < parsed->controller_count; i++) {
		const struct vfctl_domain_controller *root = &parsed->controllers[i];
		bool expander = str_eq(root->model, "pcie-expander-bus");

		if (!expander && root->index)
			continue;
		number = root->bus_nr;
		if (expander && (number < 1 || number > 254))
			fail_msg("%s: busNr %u", what, number);
		if (owner[number]++)
			fail_msg("%s: bus %u twice", what, number);
		for (size_t k = 0; k < parsed->controller_count; k++) {
			const struct vfctl_domain_controller *c = &parsed->controllers[k];

			if (c->index == root->index ||
				str_eq(c->model, "pcie-expander-bus") ||
				top_of(parsed, c->index) != root->index)
				continue;
			if (++number > 255 || owner[number]++)
				fail_msg("%s: bus %u is none or comes twice", what,
					number);
		}
	}
	for (size_t i = 1; i < parsed->guest_address_count; i++)
		assert_true(vfctl_bdf_compare(&parsed->guest_addresses[i - 1],
				    &parsed->guest_addresses[i]) < 0);
}

static void check_random(unsigned seed, unsigned round)
{
	static const size_t cell_counts[] = {1, 2, 4, 8};
	size_t cells = cell_counts[rand() % 4], n = (size_t)(rand() % (VFCTL_GUEST_VFS_MAX + 1));
	unsigned roots = 1 + (unsigned)(rand() % 12);
	_free_ char *what = str_format("seed %u round %u: %zu cells, %zu VFs, %u roots", seed,
		round, cells, n, roots);
	_free_ char *xml = NULL;
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	int r;

	make(&v, YAML, cells, n);
	v.c.guest->spare_ports = (uint32_t)(rand() % (VFCTL_SPARE_PORTS_MAX + 1));
	v.c.guest->xml.expander_ports = (uint32_t)(rand() % 4);
	for (size_t i = 0; i < n; i++) {
		unsigned root = (unsigned)rand() % roots;

		v.cells_of[i] = root % (uint32_t)cells;
		v.places[i].root = root;
		v.places[i].node = rand() % 8 ? (int)v.cells_of[i] : VFCTL_NODE_NONE;
	}
	r = vfctl_domain_render(ctx, &v.c.request, &xml);
	if (r < 0)
		fail_msg("%s: %s", what, vfctl_ctx_error(ctx));
	parsed = parsed_of(xml);
	assert_buses_fit(parsed, what);
	for (size_t i = 0; i < n; i++)
		if (root_of(parsed, &v.vfs[i].bdf)->cell !=
			(v.places[i].node < 0 ? -1 : (int)v.cells_of[i]))
			fail_msg("%s: VF %zu on the wrong node", what, i);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

static void bus_numbers_never_collide(void **state)
{
	const char *given = getenv("VFCTL_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

	print_message("VFCTL_SEED=%u\n", seed);
	srand(seed);
	for (unsigned round = 0; round < 150; round++)
		check_random(seed, round);
}

#define ROOT "<controller type='pci' index='0' model='pcie-root'/>"
#define EXPANDER(index, slot, target)                                                        \
	"<controller type='pci' index='" index "' model='pcie-expander-bus'>" target         \
	"<address type='pci' bus='0x00' slot='" slot "'/></controller>"
#define PORT(index, bus, slot)                                                               \
	"<controller type='pci' index='" index "' model='pcie-root-port'>"                    \
	"<address type='pci' bus='" bus "' slot='" slot "'/></controller>"
#define CARD(bus)                                                                            \
	"<hostdev mode='subsystem' type='pci'><source><address bus='0x05' slot='0x00'/>"     \
	"</source><address type='pci' bus='" bus "' slot='0x00'/></hostdev>"

/* An operator's root for a card of his own stays his: its number, its free ports. */
static void roots_of_others_are_left_alone(void **state)
{
	static const char text[] = "<domain><devices>" ROOT
		EXPANDER("5", "0x02", "<target busNr='250'><node>0</node></target>")
		PORT("6", "0x05", "0x00") PORT("7", "0x05", "0x01") CARD("0x06")
		"</devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 1, 8);
	xml = render_template(&v.c, text);
	parsed = parsed_of(xml);
	assert_buses_fit(parsed, "with another's root");
	assert_int_equal(controller(parsed, 5)->bus_nr, 250);
	assert_int_equal(controller(parsed, 7)->users, 0);
	assert_int_not_equal(root_of(parsed, &v.vfs[0].bdf)->index, 5);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

/* libvirt would choose a number without looking at what we put beneath the others. */
static void roots_without_a_number_get_one(void **state)
{
	static const char text[] = "<domain><devices>" ROOT EXPANDER("5", "0x02", "")
		PORT("6", "0x05", "0x00") PORT("7", "0x05", "0x01") CARD("0x06")
		"</devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 1, 4);
	xml = render_template(&v.c, text);
	validate(xml);
	parsed = parsed_of(xml);
	assert_buses_fit(parsed, "without a number");
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

static void free_roots_are_used(void **state)
{
	static const char text[] = "<domain><devices>" ROOT
		EXPANDER("5", "0x02", "<target busNr='254'><node>0</node></target>")
		PORT("6", "0x05", "0x00") "</devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 1, 4);
	xml = render_template(&v.c, text);
	parsed = parsed_of(xml);
	assert_int_equal(count(xml, "pcie-expander-bus"), 1);
	assert_int_equal(root_of(parsed, &v.vfs[3].bdf)->index, 5);
	/* 254 leaves room for one bus only. */
	assert_buses_fit(parsed, "a root that grew");
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

static void roots_that_cannot_be(void **state)
{
	static const struct {
		const char *text, *message;
		int error;
	} cases[] = {
		{EXPANDER("5", "0x02", "<target busNr='255'/>"), "busNr '255'", -EINVAL},
		{EXPANDER("5", "0x02", "<target busNr='0'/>"), "busNr '0'", -EINVAL},
		{EXPANDER("5", "0x02", "<target><node>x</node></target>"), "guest node",
			-EINVAL},
		{EXPANDER("5", "0x02", "<target busNr='250'><node>1</node></target>")
			PORT("6", "0x05", "0x00") CARD("0x06"),
			"on guest node 1, but the guest has 1", -EINVAL},
		{EXPANDER("5", "0x02", "<target busNr='3'/>") PORT("6", "0x05", "0x00")
			CARD("0x06"),
			"overlap those", -EINVAL},
		{EXPANDER("5", "0x02", "<target busNr='250'/>")
			PORT("6", "0x05", "0x00") CARD("0x06")
			EXPANDER("7", "0x03", "<target busNr='251'/>")
			PORT("8", "0x07", "0x00")
			"<hostdev mode='subsystem' type='pci'><source><address bus='9'/>"
			"</source><address type='pci' bus='0x08' slot='0'/></hostdev>",
			"overlap those", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *text = str_format(
			"<domain><devices>" ROOT "%s</devices></domain>", cases[i].text);
		struct vf_case v;
		char *xml = NULL;

		make(&v, YAML, 1, 4);
		v.c.request.template_text = text;
		assert_int_equal(
			vfctl_domain_render(ctx, &v.c.request, &xml), cases[i].error);
		assert_has(vfctl_ctx_error(ctx), cases[i].message);
		case_clear(&v.c);
	}
}

/* More roots than the main root has slots. */
static void too_many_roots_are_refused(void **state)
{
	struct vf_case v;
	char *xml = NULL;

	make(&v, YAML, 1, 40);
	for (uint32_t i = 0; i < 40; i++)
		v.places[i].root = i;
	assert_int_equal(vfctl_domain_render(ctx, &v.c.request, &xml), -ENOSPC);
	assert_null(xml);
	assert_has(vfctl_ctx_error(ctx), "slot");
	case_clear(&v.c);
}

/* Scenario 60: a port below an expander. */
static void attach_prefers_the_port_of_the_node(void **state)
{
	static const struct {
		int node, cell, want;
		enum vfctl_port_locality locality;
	} cases[] = {{0, 0, 0, VFCTL_LOCALITY_LOCAL}, {1, 1, 1, VFCTL_LOCALITY_LOCAL},
		{VFCTL_NODE_NONE, -1, -1, VFCTL_LOCALITY_LOCAL},
		{5, -1, -1, VFCTL_LOCALITY_UNKNOWN}};
	struct vfctl_parsed_domain *parsed;
	struct vfctl_domain_port port;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML "spare_ports: 1\n", 2, 2);
	v.cells_of[1] = 1;
	v.places[1].node = 1;
	xml = render(&v.c);
	parsed = parsed_of(xml);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(vfctl_domain_find_port(parsed, cases[i].node, &port), 0);
		assert_int_equal(port.cell, cases[i].cell);
		assert_int_equal(port.cell_want, cases[i].want);
		assert_int_equal(port.locality, cases[i].locality);
		assert_int_equal(controller(parsed, port.bus)->users, 0);
	}
	/* Without a port of the node: beneath none before beneath another. */
	for (size_t i = 0; i < parsed->controller_count; i++)
		parsed->controllers[i].users += parsed->controllers[i].cell == 1;
	assert_int_equal(vfctl_domain_find_port(parsed, 1, &port), 0);
	assert_int_equal(port.locality, VFCTL_LOCALITY_UNKNOWN);
	for (size_t i = 0; i < parsed->controller_count; i++)
		parsed->controllers[i].users += parsed->controllers[i].cell < 0;
	assert_int_equal(vfctl_domain_find_port(parsed, 1, &port), 0);
	assert_int_equal(port.locality, VFCTL_LOCALITY_WRONG);
	assert_int_equal(port.cell_want, 1);
	for (size_t i = 0; i < parsed->controller_count; i++)
		parsed->controllers[i].users++;
	assert_int_equal(vfctl_domain_find_port(parsed, 1, &port), -ENOENT);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

/* Scenario 60: free ports of switches, which a guest for GPUs often has below each expander. */
static void ports_of_switches_are_ports(void **state)
{
#define CONTROLLER(index, model, bus, slot, more) "<controller type='pci' index='" index "' model='" model  \
	"'>" more "<address type='pci' bus='" bus "' slot='" slot "' function='0'/></controller>"
#define SWITCH(root, up, down, expander) CONTROLLER(root, "pcie-root-port", expander, "0", "")            \
	CONTROLLER(up, "pcie-switch-upstream-port", root, "0", "")                                        \
	CONTROLLER(down, "pcie-switch-downstream-port", up, "0", "")
	static const char xml[] =
		"<domain><name>a</name><memory unit='GiB'>2</memory><vcpu>2</vcpu>"
		"<numatune><memnode cellid='0' mode='strict' nodeset='0'/>"
		"<memnode cellid='1' mode='strict' nodeset='1'/></numatune><cpu><numa>"
		"<cell id='0' cpus='0' memory='1048576'/><cell id='1' cpus='1' memory='1048576'/>"
		"</numa></cpu><devices><controller type='pci' index='0' model='pcie-root'/>"
		CONTROLLER("1", "pcie-expander-bus", "0", "4", "<target busNr='100'><node>0</node></target>")
		CONTROLLER("2", "pcie-expander-bus", "0", "5", "<target busNr='200'><node>1</node></target>")
		SWITCH("3", "4", "5", "1") SWITCH("6", "7", "8", "2")
		CONTROLLER("9", "pcie-root-port", "1", "1", "")
		"</devices></domain>";
	struct vfctl_parsed_domain *parsed = parsed_of(xml);
	struct vfctl_domain_port port;

	assert_int_equal(vfctl_domain_find_port(parsed, 1, &port), 0);
	assert_int_equal(port.bus, 8);
	assert_int_equal(port.locality, VFCTL_LOCALITY_LOCAL);
	assert_int_equal(vfctl_domain_find_port(parsed, 0, &port), 0);
	assert_int_equal(port.bus, 5);
	vfctl_parsed_domain_free(parsed);
}

/* vfctl attach put a VF there: the next define leaves it. */
static void a_vf_below_a_switch_stays(void **state)
{
	static const char text[] =
		"<domain><name>a</name><metadata><v:guest xmlns:v='urn:vfctl:domain:1' lease='l'>"
		"<v:vf pf='0000:80:00.0' index='0' bdf='0000:81:00.0'/></v:guest></metadata><devices>"
		"<controller type='pci' index='0' model='pcie-root'/>"
		CONTROLLER("1", "pcie-expander-bus", "0", "4", "<target busNr='100'><node>0</node></target>")
		SWITCH("3", "4", "5", "1")
		"<hostdev mode='subsystem' type='pci' managed='yes'><source><address domain='0' bus='0x81' "
		"slot='0' function='0'/></source><address type='pci' bus='5' slot='0' function='0'/>"
		"</hostdev></devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct vf_case v;
	_free_ char *xml = NULL;

	make(&v, YAML, 1, 1);
	v.c.request.template_text = text;
	xml = render(&v.c);
	parsed = parsed_of(xml);
	assert_int_equal(parsed->device_count, 1);
	assert_int_equal(parsed->devices[0].guest.bus, 5);
	assert_int_equal(count(xml, "pcie-expander-bus"), 1);
	validate(xml);
	vfctl_parsed_domain_free(parsed);
	case_clear(&v.c);
}

/* The expander of i440fx has a node, too. */
static void conventional_expanders_have_a_node(void **state)
{
	static const char xml[] =
		"<domain><name>a</name><memory unit='GiB'>2</memory><vcpu>2</vcpu><devices>"
		"<controller type='pci' index='0' model='pci-root'/>"
		CONTROLLER("1", "pci-expander-bus", "0", "4", "<target busNr='100'><node>1</node></target>")
		CONTROLLER("2", "pci-bridge", "1", "1", "<target chassisNr='2'/>")
		"</devices></domain>";
	struct vfctl_parsed_domain *parsed = parsed_of(xml);
	struct vfctl_domain_port port;

	assert_int_equal(parsed->controllers[1].cell, 1);
	assert_int_equal(parsed->controllers[1].bus_nr, 100);
	assert_int_equal(parsed->controllers[2].cell, 1);
	assert_int_equal(vfctl_domain_find_port(parsed, 1, &port), -ENOENT);
	vfctl_parsed_domain_free(parsed);
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
		cmocka_unit_test(one_cell_has_its_root),
		cmocka_unit_test(each_host_root_is_a_guest_root),
		cmocka_unit_test(unknown_nodes_stay_on_the_main_root),
		cmocka_unit_test(spare_ports_are_of_both_kinds),
		cmocka_unit_test(bus_numbers_never_collide),
		cmocka_unit_test(roots_of_others_are_left_alone),
		cmocka_unit_test(roots_without_a_number_get_one),
		cmocka_unit_test(free_roots_are_used),
		cmocka_unit_test(roots_that_cannot_be),
		cmocka_unit_test(too_many_roots_are_refused),
		cmocka_unit_test(attach_prefers_the_port_of_the_node),
		cmocka_unit_test(ports_of_switches_are_ports),
		cmocka_unit_test(a_vf_below_a_switch_stays),
		cmocka_unit_test(conventional_expanders_have_a_node),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
