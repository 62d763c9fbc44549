// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

static struct vfctl_ctx *ctx;

/* A host of two nodes with SMT, a node of memory alone, two guests of ours and one not. */
static const char good[] = "{\n"
	"\"vfctl_model\": 1,\n"
	"\"nodes\": [\n"
	" {\"id\": 0, \"cpus\": \"0-1,4-5\", \"memory_bytes\": 8589934592, \"pools\": [\n"
	"  {\"page_bytes\": 2097152, \"total\": 512, \"free\": 500},\n"
	"  {\"page_bytes\": 1073741824, \"total\": 4, \"free\": null}]},\n"
	" {\"id\": 1, \"cpus\": \"2-3,6-7\", \"memory_bytes\": 8589934592},\n"
	" {\"id\": 4, \"cpus\": \"\", \"memory_bytes\": 1073741824}],\n"
	"\"distances\": [[10, 21, 17], [21, 10, 28], [17, 28, 10]],\n"
	"\"cores\": [\n"
	" {\"cpus\": \"0,4\", \"node\": 0, \"package\": 0, \"die\": 0, \"l3\": 0},\n"
	" {\"cpus\": \"1,5\", \"node\": 0, \"package\": 0, \"die\": 0, \"l3\": 0},\n"
	" {\"cpus\": \"2,6\", \"node\": 1, \"package\": 1, \"die\": null, \"l3\": null},\n"
	" {\"cpus\": \"3,7\", \"node\": 1, \"package\": 1}],\n"
	"\"online\": \"0-7\",\n"
	"\"reserved_cpus\": \"0,4\", \"reserved_why\": \"host.yaml\",\n"
	"\"shared_cpus\": \"2,6\", \"shared_ratio\": 8, \"busy_cpus\": \"3\",\n"
	"\"host_memory_bytes\": 536870912,\n"
	"\"typical\": [{\"vcpus\": 4, \"cells\": 2, \"vfs\": 1, \"share\": 3}],\n"
	"\"typical_why\": \"host.yaml\",\n"
	"\"promises\": [{\"node\": 1, \"page_bytes\": 0, \"bytes\": 4096, \"taken\": true}],\n"
	"\"pfs\": [{\"address\": \"0000:3b:00.0\", \"names\": [\"ens1\", \"mlx5_0\"],\n"
	"  \"node\": 0, \"fabric\": \"infiniband\", \"port\": 1, \"root\": \"0000:3a\",\n"
	"  \"num_vfs\": 3, \"max_vfs\": 8, \"eswitch\": \"switchdev\", \"bond\": \"bond0\",\n"
	"  \"lag\": \"active\"}],\n"
	"\"free_vfs\": [{\"address\": \"0000:3b:00.1\", \"pf\": \"0000:3b:00.0\", \"index\": 0,\n"
	"  \"node\": 0, \"fabric\": \"infiniband\", \"port\": 1, \"root\": \"0000:3a\"}],\n"
	"\"occupants\": [\n"
	" {\"name\": \"a\", \"uuid\": \"6a1c2f3e-0000-4000-8000-000000000001\",\n"
	"  \"running\": true, \"cpus\": \"1,5\",\n"
	"  \"qemu_cpus\": \"3\",\n"
	"  \"memory\": [{\"node\": 0, \"page_bytes\": 2097152, \"bytes\": 25165824,\n"
	"   \"taken\": true, \"shared_vcpus\": 0},\n"
	"   {\"node\": 1, \"page_bytes\": 0, \"bytes\": 0, \"shared_vcpus\": 3}],\n"
	"  \"vfs\": [{\"address\": \"0000:3b:00.2\", \"pf\": \"0000:3b:00.0\", \"index\": 1,\n"
	"   \"node\": null, \"fabric\": 7, \"port\": 0, \"root\": null}]},\n"
	" {\"name\": \"b\", \"cpus\": \"7\"},\n"
	" {\"name\": \"db \\u00e9\", \"foreign\": true, \"cpus\": \"5-7\",\n"
	"  \"vfs\": [{\"address\": \"0000:3b:00.2\", \"pf\": \"0000:3b:00.0\", \"index\": 1}]}]\n"
	"}\n";

static struct vfctl_host_model *parse(const char *text)
{
	struct vfctl_host_model *model = NULL;

	if (vfctl_model_parse(ctx, "model.json", text, strlen(text), &model) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	assert_non_null(model);
	return model;
}

/* Through text and back, twice: the texts are the same. */
static void assert_round_trip(const struct vfctl_host_model *model)
{
	_free_ char *once = vfctl_model_format(model), *twice = NULL;
	struct vfctl_host_model *again = parse(once);

	twice = vfctl_model_format(again);
	assert_string_equal(once, twice);
	vfctl_model_free(again);
}

static void all_of_it_is_read(void **state)
{
	struct vfctl_host_model *m = parse(good);
	const struct vfctl_occupant *a = &m->occupants[0];

	assert_int_equal(m->topology->node_count, 3);
	assert_int_equal(m->topology->nodes[0].pool_count, 2);
	assert_int_equal(m->topology->nodes[0].pools[0].free, 500);
	assert_true(m->topology->nodes[0].pools[1].free == VFCTL_COUNT_UNKNOWN);
	assert_int_equal(vfctl_topology_distance(m->topology, 4, 1), 28);
	assert_int_equal(m->topology->core_count, 4);
	assert_int_equal(m->topology->cores[3].die, -1);
	assert_true(vfctl_cpuset_has(&m->reserved_cpus, 4));
	assert_string_equal(m->reserved_why, "host.yaml");
	assert_int_equal(m->shared_ratio, 8);
	assert_int_equal(m->host_memory_bytes, 536870912);
	assert_int_equal(m->promises[0].bytes, 4096);
	assert_string_equal(m->pfs[0].names[1], "mlx5_0");
	assert_null(m->pfs[0].names[2]);
	assert_int_equal(m->pfs[0].root, 0x3a);
	assert_int_equal(m->vfs[0].fabric, VFCTL_FABRIC_INFINIBAND);
	assert_int_equal(m->occupant_count, 3);
	assert_int_equal(a->memory_count, 2);
	assert_true(a->memory[0].taken);
	assert_int_equal(a->memory[1].shared_vcpus, 3);
	assert_int_equal(a->vfs[0].node, VFCTL_NODE_NONE);
	assert_int_equal(a->vfs[0].fabric, 7);
	assert_true(a->vfs[0].root == VFCTL_ROOT_UNKNOWN);
	assert_true(vfctl_cpuset_has(&m->occupants[0].qemu_cpus, 3));
	assert_string_equal(m->typical_why, "host.yaml");
	assert_true(m->occupants[2].foreign);
	assert_int_equal(vfctl_model_check(ctx, m), 0);
	assert_round_trip(m);
	vfctl_model_free(m);
}

static void by_hand_much_may_be_left_out(void **state)
{
	struct vfctl_host_model *m = parse("{\"nodes\": [{\"id\": 0, \"cpus\": \"0\", "
		"\"memory_bytes\": 0}, {\"id\": 2, \"cpus\": \"1\", \"memory_bytes\": 1}], "
		"\"cores\": [{\"cpus\": \"0\", \"node\": 0}, {\"cpus\": \"1\", \"node\": 2}]}");

	assert_int_equal(vfctl_topology_distance(m->topology, 0, 2), 20);
	assert_int_equal(vfctl_topology_distance(m->topology, 2, 2), 10);
	assert_int_equal(vfctl_cpuset_count(&m->topology->online), 2);
	assert_round_trip(m);
	vfctl_model_free(m);
}

/* PFs are for words: a model without them has VFs all the same, one that lists them has all. */
static void pfs_may_be_left_out(void **state)
{
	struct vfctl_host_model *m = parse("{\"nodes\": [{\"id\": 0, \"cpus\": \"0\", "
		"\"memory_bytes\": 0}], \"cores\": [{\"cpus\": \"0\", \"node\": 0}], "
		"\"free_vfs\": [{\"address\": \"0000:01:00.1\", \"pf\": \"0000:01:00.0\", "
		"\"index\": 0}]}");

	assert_int_equal(m->vf_count, 1);
	assert_int_equal(m->pf_count, 0);
	assert_round_trip(m);
	vfctl_model_free(m);
}

/* The good text with one thing changed, and the words that must come. */
static const struct {
	const char *from, *to, *message;
} faults[] = {
	{"\"2-3,6-7\"", "\"1-3,6-7\"", "model.json: nodes[1].cpus: CPU 1 is in node 0 too"},
	{"\"2-3,6-7\"", "\"4-7\"", "nodes[1].cpus: CPUs 4-5 are in node 0 too"},
	{"\"2-3,6-7\"", "\"2-3,6\"", "online: CPU 7 is in no node"},
	{"\"2-3,6-7\"", "\"2-3,6-8\"", "nodes[1].cpus: this host has no CPU 8 online"},
	{"\"2-3,6-7\"", "\"3-2\"", "nodes[1].cpus: '3-2' is not a list of CPUs"},
	{"\"2-3,6-7\"", "\"2-3,6-7,99999\"", "nodes[1].cpus: '2-3,6-7,99999' has CPUs of 4096"},
	{"\"2-3,6-7\"", "[2, 3]", "nodes[1].cpus: it is a list; it must be a text"},
	{"\"id\": 4", "\"id\": 1", "nodes[2].id: 1 comes after 1"},
	{"\"id\": 4", "\"id\": -4", "nodes[2].id: -4 is not 0 to 4095"},
	{"\"id\": 4", "\"id\": 4.5", "nodes[2].id: it is a fraction; it must be a whole number"},
	{"\"id\": 4", "\"id\": \"4\"", "nodes[2].id: it is a text; it must be a whole number"},
	{"\"id\": 4, ", "", "nodes[2].id: the member is missing"},
	{"8589934592, \"pools\"", "-1, \"pools\"", "nodes[0].memory_bytes: -1 is not 0 to"},
	{"8589934592, \"pools\"", "9000000000000000000, \"pools\"",
		"nodes[0].memory_bytes: 9000000000000000000 is not 0 to"},
	{"8589934592, \"pools\"", "99999999999999999999, \"pools\"", "model.json:4:66: not JSON"},
	{"\"memory_bytes\": 1073741824", "\"memory_byte\": 1073741824",
		"nodes[2]: member 'memory_byte' does not exist; the members are id, cpus, memory_bytes, pools"},
	{"2097152, \"total\"", "2097153, \"total\"", "nodes[0].pools[0].page_bytes: 2097153 is "
		"not a size of huge pages"},
	{"2097152, \"total\"", "4096, \"total\"", "pools[0].page_bytes: 4096 is not a size"},
	{"2097152, \"total\"", "2147483648, \"total\"", "pools[1].page_bytes: 1073741824 comes "
		"after 2147483648"},
	{"\"total\": 4", "\"total\": 72057594037927936", "pools[1].total: 72057594037927936 pages"},
	{"\"free\": 500", "\"free\": 513", "pools[0].free: 513 pages are free of 512"},
	{"[10, 21, 17]", "[11, 21, 17]", "distances[0][0]: 11; from a node to itself"},
	{"[10, 21, 17]", "[10, 9, 17]", "distances[0][1]: 9 is not 10 to 255"},
	{"[10, 21, 17]", "[10, 256, 17]", "distances[0][1]: 256 is not 0 to 255"},
	{"[10, 21, 17]", "[10, 21]", "distances[0]: it has 2 numbers for 3 nodes"},
	{"[10, 21, 17]", "[10, 21, 17, 3]", "distances[0][3]: the host has only 3 nodes"},
	{", [17, 28, 10]", "", "distances: it has 2 rows for 3 nodes"},
	{", [17, 28, 10]", ", [17, 28, 10], [1]", "distances[3]: the host has only 3 nodes"},
	{"\"1,5\", \"node\": 0", "\"1,4\", \"node\": 0", "cores[1].cpus: CPU 4 is in cores[0] too"},
	{"\"1,5\", \"node\": 0", "\"1,5\", \"node\": 1", "cores[1].cpus: not all of them are in its "
		"node 1"},
	{"\"1,5\", \"node\": 0", "\"1,5\", \"node\": 9", "cores[1].node: node 9 does not exist"},
	{"\"1,5\", \"node\": 0", "\"1,5\", \"node\": null", "cores[1].node: node -1 does not exist"},
	{"\"1,5\", \"node\": 0", "\"\", \"node\": 0", "cores[1].cpus: a core has at least one CPU"},
	{"\"1,5\", \"node\": 0", "\"1\", \"node\": 0", "online: CPU 5 is in no core"},
	{"\"3,7\", \"node\": 1", "\"3,9\", \"node\": 1", "cores[3].cpus: this host has no CPU 9"},
	{"{\"cpus\": \"0,4\", \"node\": 0, \"package\": 0, \"die\": 0, \"l3\": 0},\n {\"cpus\": \"1,5\"",
		"{\"cpus\": \"1,5\", \"node\": 0, \"package\": 0, \"die\": 0, \"l3\": 0},\n "
		"{\"cpus\": \"0,4\"", "cores[1].cpus: CPU 0 comes after CPU 1"},
	{"\"online\": \"0-7\"", "\"online\": \"0-6\"", "nodes[1].cpus: this host has no CPU 7"},
	{"\"online\": \"0-7\"", "\"online\": \"0-8\"", "online: CPU 8 is in no node"},
	{"\"reserved_cpus\": \"0,4\"", "\"reserved_cpus\": \"0,8-9\"", "reserved_cpus: this host "
		"has no CPUs 8-9 online"},
	{"\"shared_cpus\": \"2,6\"", "\"shared_cpus\": \"4,6\"", "shared_cpus: CPU 4 is "
		"also reserved for the host"},
	{"\"shared_ratio\": 8", "\"shared_ratio\": 65", "shared_ratio: 65 is not 0 to 64"},
	{"\"busy_cpus\": \"3\"", "\"busy_cpus\": \"30\"", "busy_cpus: this host has no CPU 30"},
	{"[{\"node\": 1, \"page", "[{\"node\": 2, \"page", "promises[0].node: node 2 does not exist"},
	{"\"bytes\": 4096", "\"bytes\": -4096", "promises[0].bytes: -4096 is not"},
	{"\"page_bytes\": 0, \"bytes\": 4096", "\"page_bytes\": 4096, \"bytes\": 4096",
		"promises[0].page_bytes: 4096 is neither 0"},
	{"\"bytes\": 4096", "\"bytes\": 4096, \"shared_vcpus\": 1",
		"promises[0]: member 'shared_vcpus' does not exist"},
	{"\"num_vfs\": 3", "\"num_vfs\": 9", "pfs[0].num_vfs: 9 VFs exceed the maximum of 8"},
	{"[\"ens1\", \"mlx5_0\"]", "[\"ens1\", 5]", "pfs[0].names[1]: it is a whole number; it "
		"must be a text"},
	{"\"address\": \"0000:3b:00.0\"", "\"address\": \"3b00.0\"", "pfs[0].address: '3b00.0' is not a "
		"PCI address"},
	{"\"0000:3a\",\n  \"num", "\"3a\",\n  \"num", "pfs[0].root: '3a' is not a root complex"},
	{"\"0000:3a\",\n  \"num", "\"ffffff:ff\",\n  \"num", "pfs[0].root: 'ffffff:ff' is not a root"},
	{"\"infiniband\", \"port\": 1, \"root\": \"0000:3a\",\n  \"num", "\"ib\", \"port\": 1, "
		"\"root\": \"0000:3a\",\n  \"num", "pfs[0].fabric: 'ib' is not a fabric"},
	{"\"index\": 0,\n  \"node\": 0", "\"index\": 0,\n  \"node\": 3", "free_vfs[0].node: node "
		"3 does not exist"},
	{"\"0000:3b:00.1\"", "\"0000:3b:00.2\"", "occupants[0].vfs[0].address: VF 0000:3b:00.2 is "
		"free_vfs[0] already"},
	{"\"index\": 0", "\"index\": 65535", "free_vfs[0].index: 65535 is not 0 to 65534"},
	{"\"0000:3b:00.1\"", "\"0000:3b:00.0\"", "free_vfs[0].address: 0000:3b:00.0 is its PF"},
	{"\"pf\": \"0000:3b:00.0\"", "\"pf\": \"0000:3c:00.0\"", "free_vfs[0].pf: 0000:3c:00.0 is not "
		"in pfs"},
	{"\"switchdev\"", "\"switch\"", "pfs[0].eswitch: 'switch' is not one of legacy, "
		"switchdev, switchdev_inactive, or null"},
	{"\"switchdev\"", "1", "pfs[0].eswitch: it is a whole number; it must be one of legacy, "
		"switchdev, switchdev_inactive, or null"},
	{"\"lag\": \"active\"", "\"lag\": \"unknown\"", "pfs[0].lag: 'unknown' is not one of off, active, or null"},
	{"\"bond0\"", "7", "pfs[0].bond: it is a whole number"},
	{"\"active\"}]", "\"active\"}, {\"address\": \"0000:3c:00.0\", \"names\": [\"x\", "
		"\"mlx5_0\"], \"num_vfs\": 0, \"max_vfs\": 1}]", "pfs[1].names: pfs[0] is called mlx5_0 too"},
	{"\"name\": \"b\", \"cpus\": \"7\"", "\"name\": \"b\", \"cpus\": \"5\"", "occupants[1].cpus: "
		"CPU 5 is also used by a"},
	{"\"name\": \"b\", \"cpus\": \"7\"", "\"name\": \"b\", \"cpus\": \"8\"", "occupants[1].cpus: "
		"this host has no CPU 8"},
	{"\"name\": \"b\"", "\"name\": \"\"", "occupants[1].name: it is missing"},
	{"\"name\": \"b\"", "\"name\": null", "occupants[1].name: it is null; it must be a text"},
	{"\"name\": \"b\"", "\"running\": true", "occupants[1].name: the member is missing"},
	{"{\"name\": \"b\", \"cpus\": \"7\"}", "{\"name\": \"b\", \"vfs\": [{\"address\": "
		"\"0000:3b:00.2\", \"pf\": \"0000:3b:00.0\", \"index\": 1}]}",
		"occupants[1].vfs[0].address: VF 0000:3b:00.2 is occupants[0].vfs[0] already"},
	{"8000-000000000001", "8000-00000000000", "occupants[0].uuid: '6a1c2f3e-0000"},
	{"\"bytes\": 0, \"shared_vcpus\": 3", "\"bytes\": 0, \"shared_vcpus\": 5000",
		"occupants[0].memory[1].shared_vcpus: 5000 is not 0 to 4096"},
	{"\"running\": true, \"cpus\"", "\"running\": 1, \"cpus\"", "occupants[0].running: it is a "
		"whole number; it must be true or false"},
	{"\"vfctl_model\": 1", "\"vfctl_model\": 2", "vfctl_model: this vfctl reads version 1"},
	{"\"busy_cpus\"", "\"reserved\"", "model.json: member 'reserved' does not exist; the members are "
		"vfctl_model, nodes"},
	{"\"busy_cpus\"", "\"shared_cpus\"", "duplicate"},
};

static void each_fault_names_its_member(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const char *at = strstr(good, faults[i].from);
		struct vfctl_host_model *m = NULL;
		_buf_ struct buf text = {0};
		int r;

		if (!at)
			fail_msg("'%s' is not in the text", faults[i].from);
		buf_add(&text, good, (size_t)(at - good));
		buf_puts(&text, faults[i].to);
		buf_puts(&text, at + strlen(faults[i].from));
		r = vfctl_model_parse(ctx, "model.json", text.data, text.len, &m);
		if (r == 0)
			fail_msg("'%s' was taken", faults[i].to);
		assert_null(m);
		if (!strstr(vfctl_ctx_error(ctx), faults[i].message) ||
			strncmp(vfctl_ctx_error(ctx), "model.json:", 11)) /* a line and column follow, or a space */
			fail_msg("'%s' said: %s", faults[i].to, vfctl_ctx_error(ctx));
	}
}

static void what_is_no_object_is_no_model(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {{"", -EBADMSG}, {"{", -EBADMSG}, {"[]", -EINVAL}, {"{}", -EINVAL},
		{"null", -EBADMSG}, {"{\"nodes\": [], \"cores\": []}", -EINVAL},
		{"{\"nodes\": {}, \"cores\": []}", -EINVAL},
		{"{\"nodes\": [null], \"cores\": []}", -EINVAL}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_host_model *m = NULL;

		assert_int_equal(vfctl_model_parse(ctx, "f", cases[i].text,
			strlen(cases[i].text), &m), cases[i].error);
		assert_null(m);
		assert_int_equal(strncmp(vfctl_ctx_error(ctx), "f:", 2), 0);
	}
}

/* Two foreign domains may share a VF; a free VF has no holder. */
static void a_foreign_domain_shares_but_takes(void **state)
{
	struct vfctl_host_model *m = parse(good);

	m->occupants[0].foreign = true;
	assert_int_equal(vfctl_model_check(ctx, m), 0);
	m->vfs[0].bdf = m->occupants[2].vfs[0].bdf;
	m->occupants[0].vf_count = 0;
	assert_int_equal(vfctl_model_check(ctx, m), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "host model: occupants[2].vfs[0].address"));
	m->occupants[0].vf_count = 1;
	vfctl_model_free(m);
}

static const char *const shapes[] = {
	"numa:1 core:1 pu:1",
	"numa:2 core:4 pu:2",
	"package:2 numa:1 l3:4 core:8 pu:2",
	"package:2 numa:4 core:3 pu:3",
	"package:1 numa:4 l3:1 core:6 pu:1",
	"package:4 numa:2 die:2 l3:4 core:4 pu:2",
	"numa:8 core:32 pu:4",
	"package:8 l3:16 core:4 pu:2",
};

static void topologies_of_any_shape_come_back(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct vfctl_topology_source source = {VFCTL_TOPOLOGY_SYNTHETIC, shapes[i]};
		struct vfctl_host_model m = {0};

		if (vfctl_topology_load(ctx, &source, &m.topology) < 0)
			fail_msg("%s: %s", shapes[i], vfctl_ctx_error(ctx));
		if (vfctl_model_check(ctx, &m) < 0)
			fail_msg("%s: %s", shapes[i], vfctl_ctx_error(ctx));
		assert_round_trip(&m);
		vfctl_topology_free(m.topology);
	}
}

static int set_up(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_read),
		cmocka_unit_test(by_hand_much_may_be_left_out),
		cmocka_unit_test(pfs_may_be_left_out),
		cmocka_unit_test(each_fault_names_its_member),
		cmocka_unit_test(what_is_no_object_is_no_model),
		cmocka_unit_test(a_foreign_domain_shares_but_takes),
		cmocka_unit_test(topologies_of_any_shape_come_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
