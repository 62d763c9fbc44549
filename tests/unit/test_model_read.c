// SPDX-License-Identifier: GPL-2.0-or-later
/* From a plan to a lease, and from leases and libvirt's domains to the planner's model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <cmocka.h>

#include "guest/plans.h"
#include "host/host.h"
#include "placement/model/host_model.h"
#include "sim.h"
#include "spec/host_yaml.h"
#include "state/leases.h"

static char dir[64];
static struct vfctl_ctx *ctx;

static const char machine[] =
	"node 0 cpus 0-3 memory 8388608\n"
	"node 1 cpus 4-7 memory 8388608\n";

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(name);
}

/* sim-make is beside this program. */
static int make_machine(void)
{
	char self[4096], command[4200];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *pipe;

	if (len < 0)
		return -1;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(command, sizeof(command), "'%s/sim-make' %s", self, dir);
	pipe = popen(command, "we");
	if (!pipe)
		return -1;
	fputs(machine, pipe);
	return pclose(pipe);
}

static int set_up(void **state)
{
	char path[96];
	struct host *h;

	strcpy(dir, "/tmp/vfctl-model-XXXXXX");
	if (!mkdtemp(dir) || make_machine() || vfctl_ctx_new(&ctx) < 0 ||
		sim_host_new(dir, &h) < 0)
		return -1;
	host_set(ctx, h);
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return vfctl_ctx_set_state_path(ctx, path);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- a hypervisor of three domains, listed in no order; of none while data is NULL ---- */

#define DOMAIN(name, more) "<domain type='kvm'><name>" name "</name>"                     \
	"<memory unit='MiB'>1025</memory><vcpu>1</vcpu>" more "<os><type>hvm</type></os></domain>"

static struct vfctl_domain_info make_info(const char *name, const char *uuid, const char *xml)
{
	struct vfctl_domain_info info = {.name = strdup(name), .xml = strdup(xml),
		.active = true, .persistent = true};

	strcpy(info.uuid, uuid);
	return info;
}

static int list(struct vfctl_ctx *c, struct vfctl_hypervisor *self,
	struct vfctl_domain_info **ret, size_t *ret_count)
{
	*ret = NULL;
	*ret_count = 0;
	if (!self->data)
		return 0;
	*ret = calloc(3, sizeof(**ret));
	(*ret)[0] = make_info("z-pinned", "6a1c2f3e-0000-4000-8000-00000000000a",
		DOMAIN("z-pinned", "<cputune><vcpupin vcpu='0' cpuset='6-7,90'/></cputune>"
			"<numatune><memory mode='strict' nodeset='0-1'/></numatune>"));
	(*ret)[1] = make_info("a-floating", "6a1c2f3e-0000-4000-8000-00000000000b",
		DOMAIN("a-floating", "<cputune><emulatorpin cpuset='0-7'/></cputune>"));
	(*ret)[2] = make_info("ours", "6a1c2f3e-0000-4000-8000-000000000001",
		DOMAIN("ours", "<cputune><vcpupin vcpu='0' cpuset='5-7'/></cputune>"));
	*ret_count = 3;
	return 0;
}

/* A hypervisor of one domain, whose XML is the data. */
static int list_one(struct vfctl_ctx *c, struct vfctl_hypervisor *self,
	struct vfctl_domain_info **ret, size_t *ret_count)
{
	*ret = calloc(1, sizeof(**ret));
	(*ret)[0] = make_info("other", "6a1c2f3e-0000-4000-8000-00000000000c", self->data);
	*ret_count = 1;
	return 0;
}

static int get(struct vfctl_ctx *c, struct vfctl_hypervisor *self, const char *name,
	bool config, struct vfctl_domain_info *ret)
{
	return -ENOENT;
}

static int define(struct vfctl_ctx *c, struct vfctl_hypervisor *self, const char *xml)
{
	return 0;
}

static struct vfctl_hypervisor hypervisor = {.version = 9000000, .list = list, .get = get,
	.define = define};

static struct vfctl_host_model *read_model(const struct vfctl_place_options *options)
{
	struct vfctl_host_model *m = NULL;
	struct vfctl_snapshot *s;

	assert_int_equal(vfctl_snapshot_read(ctx, NULL, &s), 0);
	if (vfctl_model_read(ctx, s, options, &m) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	vfctl_snapshot_free(s);
	assert_int_equal(vfctl_model_check(ctx, m), 0);
	return m;
}

static void define_guest(const char *text)
{
	struct vfctl_place_options options = {.hypervisor = &hypervisor};
	struct vfctl_change *change;
	struct vfctl_guest *guest;

	hypervisor.data = NULL;
	assert_int_equal(vfctl_guest_parse(ctx, "g", text, strlen(text), &guest), 0);
	if (vfctl_define_plan(ctx, guest, &options, NULL, NULL, false, &change) < 0 ||
		vfctl_change_run(ctx, change) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	vfctl_change_free(change);
	vfctl_guest_free(guest);
}

static void a_defined_guest_is_an_occupant(void **state)
{
	struct vfctl_place_options options = {.hypervisor = &hypervisor};
	struct vfctl_host_model *m;
	struct vfctl_leases *leases;
	const struct vfctl_lease *l;
	const struct vfctl_occupant *o;

	define_guest("name: ours\nuuid: 6a1c2f3e-0000-4000-8000-000000000001\n"
		     "vcpus: 2\nmemory: 1GiB\nhugepages: none\n");
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	l = &leases->v[0];
	assert_int_equal(l->cell_count, 1);
	assert_int_equal(l->cells[0].memory_bytes, 1u << 30);
	assert_int_equal(l->cells[0].memory_node, l->cells[0].node);
	assert_true(vfctl_cpuset_count(&l->cpus) >= 2);

	hypervisor.data = "domains";
	m = read_model(&options);
	assert_int_equal(m->occupant_count, 3);
	o = &m->occupants[0];
	assert_string_equal(o->name, "ours");
	assert_false(o->foreign);
	/* The lease says what it holds, not its XML. */
	assert_true(vfctl_cpuset_within(&o->cpus, &l->cpus));
	assert_true(vfctl_cpuset_within(&l->cpus, &o->cpus));
	assert_int_equal(o->memory_count, 1);
	assert_int_equal(o->memory[0].node, l->cells[0].node);
	assert_int_equal(o->memory[0].bytes, 1u << 30);
	assert_false(o->memory[0].taken);
	vfctl_model_free(m);
	vfctl_leases_free(leases);
}

static void others_hold_what_their_xml_says(void **state)
{
	struct vfctl_place_options options = {.hypervisor = &hypervisor};
	struct vfctl_host_model *m;

	hypervisor.data = "domains";
	m = read_model(&options);
	assert_int_equal(m->occupant_count, 3);
	assert_string_equal(m->occupants[0].name, "a-floating");
	assert_true(vfctl_cpuset_empty(&m->occupants[0].cpus));
	assert_int_equal(m->occupants[0].memory_count, 0);
	assert_string_equal(m->occupants[1].name, "ours"); /* without a lease: a stranger */
	assert_true(m->occupants[1].foreign);
	assert_true(m->occupants[2].foreign && m->occupants[2].running);
	assert_int_equal(vfctl_cpuset_count(&m->occupants[2].cpus), 2); /* 90 is not here */
	/* 1025 MiB over two nodes, in whole pages */
	assert_int_equal(m->occupants[2].memory_count, 2);
	assert_int_equal(m->occupants[2].memory[0].bytes, 1025u << 19);
	assert_int_equal(m->occupants[2].memory[1].node, 1);
	assert_true(m->occupants[2].memory[1].taken);
	vfctl_model_free(m);
}

/* ---- pins and memory of another domain ---- */

#define OTHER(vcpu, more) "<domain type='kvm'><name>other</name>"                         \
	"<memory unit='MiB'>4096</memory>" vcpu more "<os><type>hvm</type></os></domain>"
#define PIN(vcpu, cpus) "<vcpupin vcpu='" vcpu "' cpuset='" cpus "'/>"
#define CPUTUNE(pins) "<cputune>" pins "</cputune>"

static const struct {
	const char *xml, *cpus;
} pinned[] = {
	/* Only the emulator floats. */
	{OTHER("<vcpu>2</vcpu>", CPUTUNE(PIN("0", "2") PIN("1", "3")
		"<emulatorpin cpuset='0-7'/>")), "2-3"},
	{OTHER("<vcpu>2</vcpu>", CPUTUNE(PIN("0", "2") PIN("1", "0-7")
		"<iothreadpin iothread='1' cpuset='0-7'/><emulatorpin cpuset='5'/>")), "2,5"},
	/* Pins that cover all CPUs together. */
	{OTHER("<vcpu>8</vcpu>", CPUTUNE(PIN("0", "0") PIN("1", "1") PIN("2", "2") PIN("3", "3")
		PIN("4", "4") PIN("5", "5") PIN("6", "6") PIN("7", "7"))), "0-7"},
	{OTHER("<vcpu>3</vcpu><iothreads>1</iothreads>", CPUTUNE(PIN("0", "0") PIN("1", "1")
		PIN("2", "2") "<iothreadpin iothread='1' cpuset='3-5'/>"
		"<emulatorpin cpuset='6-7'/>")), "0-7"},
	{OTHER("<vcpu>1</vcpu><iothreads>2</iothreads>", CPUTUNE(PIN("0", "0-7")
		"<iothreadpin iothread='1' cpuset='0-3'/><iothreadpin iothread='2' cpuset='4-7'/>"
		"<emulatorpin cpuset='0-7'/>")), "0-7"},
	/* Threads without a pin of their own run on the CPUs of <vcpu>. */
	{OTHER("<vcpu cpuset='1-2'>2</vcpu>", CPUTUNE(PIN("0", "0-7"))), "1-2"},
	{OTHER("<vcpu cpuset='0-7'>2</vcpu>", CPUTUNE(PIN("0", "6"))), "6"},
	{OTHER("<vcpu cpuset='5'>1</vcpu><iothreads>2</iothreads>", CPUTUNE(PIN("0", "2")
		"<emulatorpin cpuset='3'/><iothreadpin iothread='1' cpuset='4'/>")), "2-5"},
	{OTHER("<vcpu cpuset='5'>1</vcpu>", CPUTUNE(PIN("0", "2")
		"<emulatorpin cpuset='3'/>")), "2-3"},
	/* A second pin of a vCPU, and one of a vCPU that it lacks. */
	{OTHER("<vcpu cpuset='6'>2</vcpu>", CPUTUNE(PIN("0", "2") PIN("0", "2")
		PIN("7", "4"))), "2,6"},
};

static void each_pin_counts_alone(void **state)
{
	struct vfctl_hypervisor one = hypervisor;
	struct vfctl_place_options options = {.hypervisor = &one};

	one.list = list_one;
	for (size_t i = 0; i < ARRAY_SIZE(pinned); i++) {
		struct vfctl_host_model *m;
		char text[64];

		print_message("domain %zu\n", i);
		one.data = (void *)pinned[i].xml;
		m = read_model(&options);
		assert_int_equal(m->occupant_count, 1);
		vfctl_cpuset_format(&m->occupants[0].cpus, text, sizeof(text));
		assert_string_equal(text, pinned[i].cpus);
		vfctl_model_free(m);
	}
}

#define GUEST_CELL(id, cpu, mib) "<cell id='" id "' cpus='" cpu "' memory='" mib "' unit='MiB'/>"
#define CELLS(numa, tune) OTHER("<vcpu>2</vcpu>", "<cpu><numa>" numa "</numa></cpu>"      \
	"<numatune>" tune "</numatune>")
#define MEMNODE(cell, nodes) "<memnode cellid='" cell "' mode='strict' nodeset='" nodes "'/>"

static const struct {
	const char *xml;
	uint64_t node_mib[2];
} bound[] = {
	{CELLS(GUEST_CELL("0", "0", "1024") GUEST_CELL("1", "1", "3072"),
		MEMNODE("0", "0") MEMNODE("1", "1")), {1024, 3072}},
	{CELLS(GUEST_CELL("0", "0", "1024") GUEST_CELL("1", "1", "3072"),
		"<memory mode='strict' nodeset='0'/>" MEMNODE("1", "1")), {1024, 3072}},
	{CELLS(GUEST_CELL("0", "0", "1024") GUEST_CELL("1", "1", "3072"),
		MEMNODE("1", "0-1")), {1536, 1536}},
	{CELLS(GUEST_CELL("0", "0", "1024") GUEST_CELL("1", "1", "3072"),
		"<memory mode='strict' nodeset='1'/>"), {0, 4096}},
	/* libvirt goes by the cells if <memory> says less. */
	{CELLS(GUEST_CELL("0", "0", "1024") GUEST_CELL("1", "1", "6144"),
		MEMNODE("0", "0") MEMNODE("1", "1")), {1024, 6144}},
	/* A memory device adds to the memory of the cells. */
	{CELLS(GUEST_CELL("0", "0", "1024"), "<memory mode='strict' nodeset='1'/>"), {0, 4096}},
	{OTHER("<vcpu>1</vcpu>", "<numatune><memory mode='strict' nodeset='0-1'/></numatune>"),
		{2048, 2048}},
};

static uint64_t held_mib(const struct vfctl_occupant *o, int node)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		if (o->memory[i].node == node)
			bytes += o->memory[i].bytes;
	return bytes >> 20;
}

static void each_cell_counts_alone(void **state)
{
	struct vfctl_hypervisor one = hypervisor;
	struct vfctl_place_options options = {.hypervisor = &one};

	one.list = list_one;
	for (size_t i = 0; i < ARRAY_SIZE(bound); i++) {
		struct vfctl_host_model *m;

		print_message("domain %zu\n", i);
		one.data = (void *)bound[i].xml;
		m = read_model(&options);
		for (int node = 0; node < 2; node++)
			assert_int_equal(held_mib(&m->occupants[0], node), bound[i].node_mib[node]);
		vfctl_model_free(m);
	}
}

/* ---- what is the host's own ---- */

struct rule {
	const char *isolated, *spec, *given; /* NULL: not stated */
	const char *reserved, *why, *message;  /* words: it is refused with them */
};

static const struct rule rules[] = {
	{NULL, NULL, NULL, "", NULL, NULL},
	{"\n", NULL, NULL, "", NULL, NULL},
	{"2-7", NULL, NULL, "0-1", "isolcpus", NULL},
	{"2-7", "shared-cpus: '1'", NULL, "0", "isolcpus", NULL},
	{"2-7", "shared-cpus: '0-1'", NULL, "", NULL, NULL},
	{"2-7", "reserved-cpus: '4'", NULL, "4", "host.yaml", NULL},
	{"2-7", "reserved-cpus: none", NULL, "", "host.yaml", NULL},
	{"2-7", NULL, "3", "0-1,3", "isolcpus and --reserve", NULL},
	{NULL, "reserved-cpus: '4'", "3", "3-4", "host.yaml and --reserve", NULL},
	{NULL, NULL, "3", "3", "--reserve", NULL},
	{"no list", NULL, NULL, "", NULL, NULL},
	{NULL, "reserved-cpus: '7-9'", NULL, NULL, NULL, "reserved-cpus: this host has no CPU 8-9"},
	{NULL, "shared-cpus: '8'", NULL, NULL, NULL, "shared-cpus: this host has no CPU 8"},
	{NULL, NULL, "8", NULL, NULL, "--reserve: this host has no CPU 8"},
	{NULL, "shared-cpus: '2-3'", "3-4", NULL, NULL, "--reserve: CPU 3 is in shared-cpus"},
};

static void check_rule(const struct rule *rule, const struct vfctl_place_options *options)
{
	struct vfctl_host_model *m = NULL;
	struct vfctl_snapshot *s;
	char text[64];
	int r;

	assert_int_equal(vfctl_snapshot_read(ctx, NULL, &s), 0);
	r = vfctl_model_read(ctx, s, options, &m);
	vfctl_snapshot_free(s);
	if (rule->message) {
		assert_int_equal(r, -EINVAL);
		if (!strstr(vfctl_ctx_error(ctx), rule->message))
			fail_msg("%s", vfctl_ctx_error(ctx));
		return;
	}
	assert_int_equal(r, 0);
	vfctl_cpuset_format(&m->reserved_cpus, text, sizeof(text));
	assert_string_equal(text, rule->reserved);
	assert_string_equal(m->reserved_why ? m->reserved_why : "-", rule->why ? rule->why : "-");
	vfctl_model_free(m);
}

static void the_hosts_own_cpus(void **state)
{
	static const char path[] = "/sys/devices/system/cpu/isolated";

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct vfctl_host_spec *spec = NULL;
		struct vfctl_place_options options = {0};

		print_message("rule %zu\n", i);
		host_replace(ctx, rules[i].isolated, "%s", path);
		if (rules[i].spec && vfctl_host_spec_parse(ctx, "h", rules[i].spec,
			strlen(rules[i].spec), &spec) < 0)
			fail_msg("%s", vfctl_ctx_error(ctx));
		if (rules[i].given)
			vfctl_cpuset_parse(rules[i].given, &options.reserved_cpus);
		options.spec = spec;
		check_rule(&rules[i], &options);
		vfctl_host_spec_free(spec);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_defined_guest_is_an_occupant),
		TEST(others_hold_what_their_xml_says),
		TEST(each_pin_counts_alone),
		TEST(each_cell_counts_alone),
		TEST(the_hosts_own_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
