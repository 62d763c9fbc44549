// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations of guests' changes against the store and the simulated libvirt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "host/host.h"
#include "hypervisor.h"
#include "ids/ops.h"
#include "lease/guest_run.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "sim.h"
#include "sriov/ops.h"
#include "state/ids_sqlite.h"
#include "state/leases.h"
#include "types/domain.h"

#define UUID "11111111-1111-4111-8111-111111111111"
#define PF "0000:10:00.0"
#define VF "0000:10:10.0"
#define MACS "mac 02:00:5e:00:00:01, mac 02:00:5e:00:00:02"

static char dir[64];
static struct vfctl_ctx *ctx;

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(name);
}

static int make_directory(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return mkdir(path, 0755);
}

static int set_up(void **state)
{
	char path[96];
	struct host *h;

	strcpy(dir, "/tmp/vfctl-guest-ops-XXXXXX");
	if (!mkdtemp(dir) || vfctl_ctx_new(&ctx) < 0 || sim_host_new(dir, &h) < 0 ||
		make_directory("/run") < 0 || make_directory("/run/vfctl") < 0)
		return -1;
	host_set(ctx, h);
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return vfctl_ctx_set_state_path(ctx, path) ||
		sim_hypervisor_new(ctx, &ctx->hypervisor);
}

static int tear_down(void **state)
{
	ctx->hypervisor->close(ctx->hypervisor);
	vfctl_ctx_free(ctx);
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void assert_is(const struct op *op, const char *want)
{
	char *now = NULL;

	if (op_observe(ctx, op, &now) < 0)
		fail_msg("%s: %s", op->type->name, vfctl_ctx_error(ctx));
	if (!str_eq(now, want))
		fail_msg("%s: '%s' and not '%s'", op->type->name, now, want);
	free(now);
}

/* And twice, as a recovery that died does. */
static void goes_back(const struct op *op, const char *before)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(op_revert(ctx, op), 0);
		assert_is(op, before);
	}
}

static void goes_on(const struct op *op, const char *want)
{
	for (int i = 0; i < 2; i++) {
		if (op_apply(ctx, op) < 0)
			fail_msg("%s: %s", op->type->name, vfctl_ctx_error(ctx));
		assert_is(op, want);
	}
}

static char *domain_xml(const char *devices, char buf[1024])
{
	snprintf(buf, 1024, "<domain type='kvm'><name>a</name><uuid>" UUID "</uuid>"
		"<devices>%s</devices></domain>", devices);
	return buf;
}

#define DEVICE "<hostdev mode='subsystem' type='pci'><source><address domain='0x0000' bus='0x10' " \
	"slot='0x10' function='0x0'/></source></hostdev>"

#define METADATA(vlan) "<metadata><vfctl:guest xmlns:vfctl='" VFCTL_METADATA_NS "' lease='L'>" \
	"<vfctl:vf bdf='" VF "' pf='" PF "' index='0' vlan='" vlan "'/></vfctl:guest></metadata>"

/* ---- libvirt ---- */

static void put_status(const char *xml)
{
	char path[128];
	FILE *file;

	make_directory("/run/libvirt");
	make_directory("/run/libvirt/qemu");
	snprintf(path, sizeof(path), "%s/run/libvirt/qemu/a.xml", dir);
	file = fopen(path, "w");
	fprintf(file, "<domstatus state='running' pid='1'>%s</domstatus>", xml);
	fclose(file);
}

static void remove_status(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/run/libvirt/qemu/a.xml", dir);
	assert_int_equal(remove(path), 0);
}

static void a_domain_is_defined_and_taken_back(void **state)
{
	char xml[1024];
	const struct op op = {&op_domain, UUID, domain_xml("", xml), ""};

	assert_is(&op, "");
	goes_on(&op, "defined");
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	/* It runs by now. */
	put_status(domain_xml("", xml));
	assert_int_equal(op_revert(ctx, &op), -EBUSY);
	assert_is(&op, "defined");
	remove_status();
	goes_back(&op, "");
}

static void a_definition_is_known_by_its_devices(void **state)
{
	char with[1024], without[1024], want[1100];
	const struct op op = {&op_definition, UUID, want, domain_xml("", without)};
	struct vfctl_hypervisor *hv = ctx->hypervisor;
	struct vfctl_domain_info info;

	snprintf(want, sizeof(want), VF "\n%s", domain_xml(DEVICE, with));
	assert_is(&op, "");
	assert_int_equal(hv->define(ctx, hv, with), 0);
	assert_is(&op, VF);
	goes_back(&op, "");
	goes_on(&op, VF);
	goes_back(&op, "");
	/* A value that another program wrote since is kept. */
	goes_on(&op, VF);
	snprintf(with, sizeof(with), "<domain type='kvm'><name>b</name><uuid>" UUID "</uuid>"
		"<title>t</title><devices>" DEVICE "</devices></domain>");
	assert_int_equal(hv->undefine(ctx, hv, UUID, 0), 0);
	assert_int_equal(hv->define(ctx, hv, with), 0);
	goes_back(&op, "");
	assert_int_equal(hv->get(ctx, hv, UUID, true, &info), 0);
	assert_string_equal(info.name, "b");
	assert_non_null(strstr(info.xml, "<title>t</title>"));
	assert_null(strstr(info.xml, "hostdev"));
	vfctl_domain_info_clear(&info);
	assert_int_equal(hv->undefine(ctx, hv, UUID, 0), 0);
	/* Leased, and not among the devices; and both. */
	snprintf(with, sizeof(with), "<domain type='kvm'><name>a</name><uuid>" UUID "</uuid>"
		METADATA("7") "</domain>");
	assert_int_equal(hv->define(ctx, hv, with), 0);
	assert_is(&op, "no:" VF "*");
	snprintf(with, sizeof(with), "<domain type='kvm'><name>a</name><uuid>" UUID "</uuid>"
		METADATA("7") "<devices>" DEVICE "</devices></domain>");
	assert_int_equal(hv->define(ctx, hv, with), 0);
	assert_is(&op, VF "*");
	assert_int_equal(ops_are_done(ctx, &(struct op){&op_definition, UUID, VF "*\n", ""}, 1), 1);
	assert_int_equal(ops_are_done(ctx, &(struct op){&op_definition, UUID, VF "\n", ""}, 1), 0);
	/* Somebody undefined it: it does not come back. */
	assert_int_equal(hv->undefine(ctx, hv, UUID, 0), 0);
	assert_int_equal(op_revert(ctx, &op), 0);
	assert_int_equal(hv->get(ctx, hv, UUID, true, &(struct vfctl_domain_info){0}), -ENOENT);
}

static void what_is_gone_for_good_is_seen(void **state)
{
	char xml[1024];
	const struct op plugged = {&op_plugged, UUID "/" VF, "plugged", ""};
	const struct op undefined = {&op_undefine, UUID, "", "defined"};
	struct vfctl_hypervisor *hv = ctx->hypervisor;

	assert_is(&plugged, "");
	assert_int_equal(ops_are_committed(ctx, &plugged, 1), 0);
	assert_int_equal(ops_are_committed(ctx, &undefined, 1), 1);
	assert_int_equal(hv->define(ctx, hv, domain_xml("", xml)), 0);
	put_status(domain_xml(DEVICE, xml));
	assert_is(&plugged, "plugged");
	assert_int_equal(ops_are_committed(ctx, &plugged, 1), 1);
	assert_int_equal(ops_are_committed(ctx, &undefined, 1), 0);
}

static void without_libvirt_nothing_is_known(void **state)
{
	const struct op_type *const types[] = {&op_domain, &op_undefine, &op_definition, &op_plugged};
	struct vfctl_hypervisor *hv = ctx->hypervisor;

	ctx->hypervisor = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const struct op op = {types[i], UUID "/" VF, "", ""};
		char *text = NULL;

		assert_true(types[i]->asks_libvirt);
		assert_int_equal(op_observe(ctx, &op, &text), -ENOTCONN);
		assert_null(text);
	}
	ctx->hypervisor = hv;
}

/* ---- the store ---- */

static void lease(int node)
{
	struct vfctl_lease_vf vf = {.bdf = {.bus = 0x10, .slot = 0x10}, .pf = {.bus = 0x10},
		.intent = {.mask = VFCTL_ATTR_VLAN_ID, .vlan = 7}};
	struct vfctl_lease l = {.id = "L", .domain_uuid = UUID, .domain_name = (char *)"a",
		.node = node, .vfs = &vf, .vf_count = 1};
	_cleanup_(store_closep) struct store *store = NULL;

	assert_int_equal(store_open(ctx, STORE_WRITE, &store), 0);
	assert_int_equal(store_take(store, &l), 0);
}

static void a_lease_ends(void **state)
{
	const struct op whole = {&op_lease, UUID, "L {\"domain\":\"a\"}", ""}, end = {&op_unlease, UUID, "", "L"};
	const struct op vf = {&op_lease_vf, UUID "/" VF, "L", ""};
	const struct op end_vf = {&op_unlease_vf, UUID "/" VF, "", "L"};

	assert_is(&whole, ""); /* no state file yet */
	lease(0);
	assert_is(&whole, "L");
	assert_int_equal(ops_are_done(ctx, &whole, 1), 1);
	goes_back(&whole, "");
	lease(0);
	assert_is(&vf, "L");
	goes_back(&vf, "");
	assert_is(&whole, "L");
	goes_on(&end, "");
	lease(0);
	goes_on(&end_vf, "");
	assert_is(&whole, "L");
	goes_back(&whole, "");
	lease(VFCTL_NODE_NONE); /* of that VF alone */
	goes_on(&end_vf, "");
	assert_is(&whole, "");
}

/* All that it is goes through the text. */
static void a_lease_is_made_from_its_text(void **state)
{
	struct vfctl_lease_vf vf = {.bdf = {.bus = 0x10, .slot = 0x10}, .pf = {.bus = 0x10},
		.transient = true, .returns_identity = true,
		.intent = {.mask = VFCTL_ATTR_VLAN_ID, .vlan = 7}};
	struct vfctl_lease_cell cells[2] = {{.node = 1, .memory_node = 0, .memory_bytes = 5 << 20,
		.page_bytes = 1 << 21, .shared_vcpus = 3}, {.node = 0, .memory_bytes = 1 << 20}};
	struct vfctl_lease l = {.id = "L", .domain_uuid = UUID, .domain_name = (char *)"a \" {b",
		.cells = cells, .cell_count = 2, .vfs = &vf, .vf_count = 1, .running = true};
	_free_ char *text = NULL;
	struct vfctl_leases *leases;

	vfctl_cpuset_add(&l.cpus, 0);
	vfctl_cpuset_add(&l.cpus, 4095);
	vfctl_cpuset_add(&l.qemu_cpus, 5);
	text = lease_to_text(&l);
	const struct op op = {&op_lease, UUID, text, ""};
	assert_is(&op, "");
	assert_int_equal(op_apply(ctx, &op), 0);
	assert_is(&op, "L");
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	l.created = leases->v[0].created;
	assert_string_equal(leases->v[0].domain_name, l.domain_name);
	assert_int_equal(leases->v[0].cell_count, 2);
	assert_int_equal(leases->v[0].cells[0].memory_node, 0);
	assert_int_equal(leases->v[0].cells[0].shared_vcpus, 3);
	assert_int_equal(leases->v[0].cells[1].memory_bytes, 1 << 20);
	assert_memory_equal(&leases->v[0].cpus, &l.cpus, sizeof(l.cpus));
	assert_memory_equal(&leases->v[0].qemu_cpus, &l.qemu_cpus, sizeof(l.qemu_cpus));
	assert_int_equal(leases->v[0].memory_bytes, 6 << 20);
	assert_int_equal(leases->v[0].node, 1);
	assert_int_equal(leases->v[0].page_bytes, 1 << 21);
	assert_true(leases->v[0].running && !leases->v[0].transient);
	assert_true(leases->v[0].vfs[0].transient && leases->v[0].vfs[0].returns_identity);
	assert_int_equal(leases->v[0].vfs[0].intent.vlan, 7);
	vfctl_leases_free(leases);
	goes_back(&op, "");
}

static void what_a_vfs_pf_is_known_by_is_noted(void **state)
{
	const struct op op = {&op_vf_port, UUID "/0000:10:10.0", "00:1b:21:00:00:0b", ""};
	const struct op none = {&op_vf_port, UUID "/0000:10:10.6", "00:1b:21:00:00:0b", ""};

	lease(0);
	assert_is(&op, "");
	goes_on(&op, "00:1b:21:00:00:0b");
	goes_back(&op, "");
	assert_is(&none, "00:1b:21:00:00:0b"); /* leased no more: nothing is to be done */
	assert_int_equal(op_apply(ctx, &none), 0);
}

static void a_vf_is_leased_from_its_text(void **state)
{
	struct vfctl_lease_vf vf = {.bdf = {.bus = 0x10, .slot = 0x10, .function = 2},
		.pf = {.bus = 0x10}, .index = 1,
		.intent = {.mask = VFCTL_ATTR_VLAN_ID, .vlan = 3}, .port_id = "00:1b:21:00:00:0a"};
	_free_ char *text = lease_vf_to_text("L", &vf, true);
	const struct op op = {&op_lease_vf, UUID "/0000:10:10.2", text, ""};
	struct vfctl_leases *leases;

	assert_int_equal(op_apply(ctx, &op), -ENOENT); /* it holds no lease */
	lease(0);
	assert_is(&op, "");
	goes_on(&op, "L");
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].vf_count, 2);
	assert_int_equal(leases->v[0].vfs[1].intent.vlan, 3);
	assert_string_equal(leases->v[0].vfs[1].port_id, "00:1b:21:00:00:0a");
	assert_true(leases->v[0].running);
	vfctl_leases_free(leases);
	goes_back(&op, "");
}

static void what_a_run_left_is_ended(void **state)
{
	const struct op end = {&op_end_run, UUID, "", "left"};
	const struct op end_running = {&op_end_run, UUID, "", "left running"};

	assert_is(&end, "");
	assert_int_equal(op_apply(ctx, &end), 0); /* it holds nothing */
	lease(0);
	assert_is(&end, "");
	assert_int_equal(run_mark(ctx, UUID, "L", "a"), 0);
	assert_is(&end, "left");
	assert_int_equal(op_apply(ctx, &end), -EBUSY); /* started since it was looked at */
	goes_on(&end_running, "");
}

/* A start came between the plan and the lease, and the hook made one of its own for the run. */
static void the_runs_own_lease_stays(void **state)
{
	const struct op run = {&op_run, UUID, UUID " a", ""};
	const struct op op = {&op_lease, UUID, UUID " {\"domain\":\"a\"}", ""};

	goes_on(&run, UUID " a");
	assert_int_equal(op_apply(ctx, &op), -EEXIST);
	assert_int_equal(op_revert(ctx, &op), 0);
	assert_is(&op, UUID);
}

static void a_lease_of_another_id_stays(void **state)
{
	const struct op other = {&op_lease, UUID, "M", ""};

	lease(0);
	assert_int_equal(op_revert(ctx, &other), 0);
	assert_is(&other, "L");
}

static void what_a_vf_was_leased_with_comes_back(void **state)
{
	const struct op op = {&op_lease_vf, UUID "/" VF, "L", "L {\"vlan\":\"9\"}"};
	struct vfctl_leases *leases;

	lease(0);
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	assert_int_equal(op_revert(ctx, &op), 0);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].vfs[0].intent.vlan, 9);
	vfctl_leases_free(leases);
}

static void a_policy_is_as_the_lease_says(void **state)
{
	const struct op op = {&op_policy, UUID "/" VF, "set", ""};

	assert_is(&op, "");
	assert_int_equal(op_revert(ctx, &op), 0);
	lease(0);
	assert_is(&op, "set");
}

static void claim(uint64_t value)
{
	struct vfctl_id id = {.kind = VFCTL_ID_MAC, .value = value,
		.owner = {.domain_uuid = UUID, .domain_name = "a"}}, holder;
	struct id_store *store;

	snprintf(id.owner.device, sizeof(id.owner.device), "vf%u", (unsigned)value % 16);
	assert_int_equal(id_store_open(ctx, true, &store), 0);
	assert_int_equal(store->ops->claim(store, &id, &holder), 0);
	store->ops->close(store);
}

static void values_are_given_back(void **state)
{
	const struct op take = {&op_claim, UUID, MACS, ""}, give = {&op_unclaim, UUID, "", MACS};

	assert_is(&take, "");
	claim(0x02005e000001);
	assert_is(&take, "mac 02:00:5e:00:00:01");
	claim(0x02005e000002);
	assert_is(&take, MACS);
	assert_int_equal(ops_are_done(ctx, &take, 1), 1);
	goes_back(&take, "");
	claim(0x02005e000002);
	goes_on(&give, "");
}

static void a_journal_may_hold_nonsense(void **state)
{
	const struct op bad[] = {{&op_claim, UUID, "mac 02", ""}, {&op_unclaim, UUID, "", "x"},
		{&op_unlease_vf, UUID "/x", "", "L"},
		{&op_run_vf, UUID "/" VF, PF " {}", NULL}, {&op_run_vf, UUID, PF "/0 {}", NULL},
		{&op_run_vf, UUID "/" VF, PF "/0 x", NULL},
		{&op_intent, UUID, "{}", "{}"}, {&op_definition_vf, "/" VF "x", "{}", "<x/>"},
		{&op_run_had, "x", "{}", "{}"},
		{&op_policy, "/", "set", ""}, {&op_plugged, UUID, "plugged", ""}};
	const struct op undoable[] = {{&op_lease, UUID, "L", ""}, {&op_lease, UUID, "L {", ""},
		{&op_lease, UUID, "L {}", ""}, {&op_lease, UUID, "L []", ""},
		{&op_lease, UUID, "L {\"domain\":\"a\",\"cpus\":\"x\"}", ""},
		{&op_lease, UUID, "L {\"domain\":\"a\",\"cells\":[{\"node\":\"x\"}]}", ""},
		{&op_lease, UUID, "L {\"domain\":\"a\",\"vfs\":[{\"vf\":1}]}", ""},
		{&op_lease, UUID, "L {\"domain\":\"a\",\"vfs\":[7]}", ""},
		{&op_lease_vf, UUID "/" VF, "L {}", ""}, {&op_lease_vf, UUID "/" VF, "L", ""},
		{&op_definition, UUID, VF, ""}, {&op_plugged, UUID "/" VF, "plugged", ""},
		{&op_lease_shape, UUID, "[]x", ""}, {&op_lease_shape, UUID, "{\"cpus\":\"x\"}", ""},
		{&op_plugged, UUID "/" VF, "", "plugged 3"}};

	for (size_t i = 0; i < ARRAY_SIZE(undoable); i++)
		if (op_apply(ctx, &undoable[i]) != -EBADMSG)
			fail_msg("%s '%s'", undoable[i].type->name, undoable[i].want);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *text = NULL;

		assert_int_equal(op_observe(ctx, &bad[i], &text), -EBADMSG);
		assert_null(text);
	}
}

/* A domain without a lease, its run, and the end of that. */
static void a_run_holds_what_it_takes(void **state)
{
	const struct op run = {&op_run, UUID, UUID " a", ""};
	const struct op vf = {&op_run_vf, UUID "/" VF, PF "/0 {\"vlan\":\"9\"}", NULL};
	struct vfctl_leases *leases;

	assert_is(&run, "");
	assert_is(&vf, "");
	assert_int_equal(op_apply(ctx, &vf), -ENOENT);
	goes_on(&run, UUID " a");
	goes_on(&vf, vf.want);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_true(leases->v[0].transient && leases->v[0].vfs[0].transient);
	assert_int_equal(leases->v[0].vfs[0].intent.vlan, 9);
	vfctl_leases_free(leases);
	goes_back(&run, "");
	assert_is(&vf, "");
}

/* The lease lasts beyond the run, and so do the devices of its definition. */
static void a_lease_outlives_the_run(void **state)
{
	const struct op run = {&op_run, UUID, "L b", ""};
	const struct op vf = {&op_run_vf, UUID "/0000:10:10.2", PF "/1 {}", NULL};
	struct vfctl_leases *leases;

	lease(0);
	goes_on(&run, "L b"); /* it is called otherwise by now */
	goes_on(&vf, vf.want);
	assert_int_equal(op_revert(ctx, &run), 0);
	assert_is(&run, "L b");
	assert_is(&vf, "");
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].vf_count, 1);
	vfctl_leases_free(leases);
}

/* A dead one's, of VFs that it never came to hold: they may be another's by now. */
static void only_what_it_holds_is_given_back(void **state)
{
	const struct op attrs = {&op_guest_attrs, PF "/5", "{}", "{\"vlan\":\"9\"}"};
	enum run_state now;

	assert_int_equal(run_note(ctx, UUID, "a", &attrs, 1), 0);
	assert_int_equal(run_look(ctx, UUID, &now), 0);
	assert_int_equal(now, RUN_GOES_ON);
	assert_int_equal(run_end(ctx, UUID), 0); /* there is no such PF: it was not looked at */
	assert_int_equal(run_look(ctx, UUID, &now), 0);
	assert_int_equal(now, RUN_NONE);
}

static void what_it_is_leased_with_goes_there_and_back(void **state)
{
	const struct op op = {&op_intent, UUID "/" VF, "{\"vlan\":\"9\"}", "{\"vlan\":\"7\"}"};

	assert_int_equal(op_apply(ctx, &op), -ENOENT);
	assert_int_equal(op_revert(ctx, &op), 0); /* it has no owner any more */
	lease(0);
	assert_is(&op, op.before);
	goes_on(&op, op.want);
	goes_back(&op, op.before);
}

static void a_definition_changes_and_comes_back(void **state)
{
	char before[1024];
	struct op op = {&op_definition_vf, UUID "/" VF, (char *)"{\"vlan\":\"9\"}", before};

	snprintf(before, sizeof(before), "<domain type='kvm'><name>a</name><uuid>" UUID "</uuid>"
		METADATA("7") "<devices>" DEVICE "</devices></domain>");
	assert_is(&op, "{}");
	assert_int_equal(op_apply(ctx, &op), 0); /* undefined since: it stays so */
	assert_is(&op, "{}");
	assert_int_equal(ctx->hypervisor->define(ctx, ctx->hypervisor, before), 0);
	assert_is(&op, "{\"vlan\":\"7\"}");
	goes_on(&op, op.want);
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	goes_back(&op, "{\"vlan\":\"7\"}");
}

static void what_a_vf_had_is_noted_once(void **state)
{
	const struct op op = {&op_run_had, UUID "/" VF, "{\"vlan\":\"3\"}", "{}"};
	const struct op later = {&op_run_had, UUID "/" VF, "{\"vlan\":\"4\"}", "{}"};

	lease(0);
	assert_is(&op, "{}");
	goes_on(&op, op.want);
	goes_on(&later, op.want);
	assert_int_equal(ops_are_done(ctx, &later, 1), 1);
	goes_back(&op, "{}");
}

#define SHAPE(cpus, mib) "{\"memory-bytes\":" mib "048576,\"cpus\":\"" cpus "\",\"cells\":[{\"node\":0,"         \
	"\"memory-node\":0,\"memory-bytes\":" mib "048576,\"page-bytes\":0,\"shared-vcpus\":0}]}"
#define NO_SHAPE "{\"memory-bytes\":0}"

static void a_lease_takes_another_shape(void **state)
{
	const struct op op = {&op_lease_shape, UUID, SHAPE("2-3", "1"), NO_SHAPE};
	struct vfctl_leases *leases;

	assert_is(&op, "");
	assert_int_equal(op_apply(ctx, &op), -ENOENT);
	assert_int_equal(op_revert(ctx, &op), 0); /* nothing is left to take back */
	lease(0);
	assert_is(&op, NO_SHAPE);
	goes_on(&op, op.want);
	assert_int_equal(vfctl_leases_read(ctx, &leases), 0);
	assert_int_equal(leases->v[0].memory_bytes, 1 << 20);
	assert_int_equal(leases->v[0].vf_count, 1); /* its VFs stay */
	assert_int_equal(leases->v[0].vfs[0].intent.vlan, 7);
	vfctl_leases_free(leases);
	goes_back(&op, NO_SHAPE);
}

/* The run of a guest that was defined anew twice: its end leaves what the second needs. */
static void the_end_of_the_run_settles_the_shape(void **state)
{
	const struct op first = {&op_shape_later, UUID, SHAPE("2-3", "1"), NO_SHAPE};
	const struct op second = {&op_shape_later, UUID, SHAPE("5", "2"), NO_SHAPE};
	const struct op both = {&op_lease_shape, UUID, SHAPE("1-5", "3"), NO_SHAPE};

	assert_is(&first, "");
	lease(0);
	assert_int_equal(op_apply(ctx, &first), -EBUSY); /* it does not run */
	assert_int_equal(run_mark(ctx, UUID, "L", "a"), 0);
	goes_on(&first, first.want);
	goes_on(&second, second.want);
	goes_back(&second, first.want);
	goes_on(&second, second.want);
	goes_on(&both, both.want);
	assert_int_equal(run_end(ctx, UUID), 0);
	assert_is(&both, SHAPE("5", "2"));
	assert_is(&second, "");
	assert_int_equal(run_end(ctx, UUID), 0);
	assert_is(&both, SHAPE("5", "2"));
}

#define OTHER "22222222-2222-4222-8222-222222222222"

/* With its values of pools; and a run that goes on keeps it where it is. */
static void a_lease_goes_to_another_domain(void **state)
{
	const struct op op = {&op_lease_domain, (char *)"L", (char *)OTHER " b", (char *)UUID " a"};
	const struct op has = {&op_claim, (char *)OTHER, (char *)"mac 02:00:5e:00:00:01", (char *)""};
	const struct op had = {&op_claim, (char *)UUID, (char *)"mac 02:00:5e:00:00:01", (char *)""};

	assert_is(&op, "");
	assert_int_equal(op_apply(ctx, &op), -EBUSY);
	assert_int_equal(op_revert(ctx, &op), 0);
	lease(0);
	claim(0x02005e000001);
	assert_is(&op, op.before);
	goes_on(&op, op.want);
	assert_is(&has, has.want);
	assert_is(&had, "");
	goes_back(&op, op.before);
	assert_is(&had, had.want);
	assert_int_equal(op_apply(ctx, &(struct op){&op_lease_domain, (char *)"L", (char *)OTHER,
		(char *)UUID " a"}), -EBADMSG);
	assert_int_equal(run_mark(ctx, UUID, "L", "a"), 0);
	assert_int_equal(op_apply(ctx, &op), -EBUSY);
	assert_is(&op, op.before);
}

static void a_vf_leaves_with_the_run(void **state)
{
	const struct op alone = {&op_vf_leaves, UUID "/" VF, VF_LEAVES, ""};
	const struct op values = {&op_vf_leaves, UUID "/" VF, VF_LEAVES_WITH_VALUES, ""};

	assert_is(&alone, "gone");
	assert_int_equal(ops_are_done(ctx, &alone, 1), 1);
	lease(0);
	assert_int_equal(op_apply(ctx, &alone), -EBUSY);
	assert_is(&alone, "");
	assert_int_equal(run_mark(ctx, UUID, "L", "a"), 0);
	goes_on(&values, VF_LEAVES_WITH_VALUES);
	goes_back(&values, "");
	goes_on(&alone, VF_LEAVES);
	assert_int_equal(run_end(ctx, UUID), 0);
	assert_is(&alone, "gone");
	assert_is(&(struct op){&op_lease, UUID, "L", ""}, "L"); /* the lease stays */
}

static void a_domain_is_redefined_and_comes_back(void **state)
{
	_free_ char *want = NULL, *before = NULL, *now = NULL;
	char one[1024], two[1024];
	struct op op = {.type = &op_redefine, .target = (char *)UUID};

	domain_xml("", one);
	domain_xml(DEVICE, two);
	assert_int_equal(redefine_text(ctx, one, false, &before), 0);
	assert_int_equal(redefine_text(ctx, two, false, &want), 0);
	op.want = want;
	op.before = before;
	assert_is(&op, "");
	assert_int_equal(op_apply(ctx, &op), -ENOENT); /* undefined since: it stays so */
	assert_int_equal(op_revert(ctx, &op), 0);
	assert_is(&op, "");
	assert_int_equal(ctx->hypervisor->define(ctx, ctx->hypervisor, one), 0);
	assert_int_equal(ops_are_done(ctx, &op, 1), 0);
	assert_int_equal(op_apply(ctx, &op), 0);
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	assert_int_equal(op_revert(ctx, &op), 0);
	assert_int_equal(op_observe(ctx, &op, &now), 0);
	assert_true(op_is(op.type, op.before, now) && !op_is(op.type, op.want, now));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_run_holds_what_it_takes),
		TEST(a_lease_outlives_the_run),
		TEST(only_what_it_holds_is_given_back),
		TEST(what_it_is_leased_with_goes_there_and_back),
		TEST(a_definition_changes_and_comes_back),
		TEST(what_a_vf_had_is_noted_once),
		TEST(a_lease_takes_another_shape),
		TEST(the_end_of_the_run_settles_the_shape),
		TEST(a_lease_goes_to_another_domain),
		TEST(a_vf_leaves_with_the_run),
		TEST(a_domain_is_redefined_and_comes_back),
		TEST(a_domain_is_defined_and_taken_back),
		TEST(a_definition_is_known_by_its_devices),
		TEST(what_is_gone_for_good_is_seen),
		TEST(without_libvirt_nothing_is_known),
		TEST(a_lease_ends),
		TEST(a_lease_is_made_from_its_text),
		TEST(a_vf_is_leased_from_its_text),
		TEST(what_a_vfs_pf_is_known_by_is_noted),
		TEST(what_a_run_left_is_ended),
		TEST(the_runs_own_lease_stays),
		TEST(a_lease_of_another_id_stays),
		TEST(what_a_vf_was_leased_with_comes_back),
		TEST(a_policy_is_as_the_lease_says),
		TEST(values_are_given_back),
		TEST(a_journal_may_hold_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
