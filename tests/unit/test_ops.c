// SPDX-License-Identifier: GPL-2.0-or-later
/* Every kind of operation against the simulated kernel, and the journal that keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/steps.h"
#include "base/trial.h"
#include "eswitch/eswitch.h"
#include "hook/hook_install.h"
#include "host/host.h"
#include "host/ops.h"
#include "ids/ops.h"
#include "sim.h"
#include "change/recover.h"
#include "lease/clean.h"
#include "lease/guest_run.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "eswitch/lag.h"
#include "sriov/ops.h"
#include "state/journal.h"
#include "tuning/coalesce.h"
#include "tuning/fdb.h"
#include "tuning/host.h"
#include "tuning/ops.h"

static char dir[64];
static struct vfctl_ctx *ctx;

#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
#define PF "0000:10:00.0"
#define RDMA_PF "0000:20:00.0"
#define MLX "0000:30:00.0"

static const char machine[] =
	"iommu\n"
	"module vfio-pci\n"
	"node 0 cpus 0-3 memory 8388608\n"
	"pf " PF " driver igb netdev ens1 ifindex 2 node 0 total 7 vf_driver igbvf\n"
	"pf " RDMA_PF " driver mlx5_core netdev ib0 ifindex 3 node 0 total 4 infiniband 1 rdma mlx5_0\n"
	"pf " MLX " driver mlx5_core netdev ens5 ifindex 5 node 0 total 8 vf_driver mlx5_core\n"
	"file /sys/class/net/bonding_masters text x\n"
	"file /sys/class/net/bond1/bonding/miimon text 0\n"
	"file /sys/class/net/br0/bridge/x text 1\n"
	"file /sys/class/net/br0/ifindex text 50\n"
	"file /sys/class/net/br1/bridge/x text 1\n"
	"file /sys/class/net/br1/ifindex text 51\n"
	"governor 0-3 name powersave\n"
	"irq 40 of " PF " cpus 0-3\n"
	"file /etc/modprobe.d/other.conf text x\n"
	"file " NUMA_BALANCING " text 1\n"
	"file /sys/bus/pci/devices/" PF "/net/ens1/mode text datagram\n";

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

	strcpy(dir, "/tmp/vfctl-ops-XXXXXX");
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

/* ---- each kind ---- */

struct sample {
	const struct op_type *type;
	char *target, *want, *other; /* two values, the host having neither at first */
	bool needs_vfs;
};

static const struct sample samples[] = {
	{&op_autoprobe, PF, "0", "1", false},
	{&op_numvfs, PF, "2", "0", false},
	{&op_numvfs, PF, "0", "3", true},
	{&op_vf_attrs, PF "/1", "{\"vlan\":\"7\",\"qos\":\"3\"}", "{\"trust\":\"on\"}", true},
	{&op_vf_attrs, PF "/0", "{\"mac\":\"02:00:00:00:00:07\"}", "{\"spoofchk\":\"off\"}", true},
	{&op_vf_identity, PF "/0", "{\"mac\":\"02:00:00:00:00:07\"}",
		"{\"mac\":\"02:00:00:00:00:08\"}", true},
	{&op_guest_attrs, PF "/0", "{\"mac\":\"02:00:00:00:00:07\"}",
		"{\"mac\":\"02:00:00:00:00:08\"}", true},
	{&op_new_identity, PF "/0", "{\"mac\":\"02:00:00:00:00:07\"}",
		"{\"mac\":\"02:00:00:00:00:08\"}", true},
	{&op_clean, PF "/1", "{\"vlan\":\"7\",\"trust\":\"on\"}", "{\"vlan\":\"0\"}", true},
	{&op_vf_driver, PF "/1", "vfio-pci", "none", true},
	{&op_vf_driver, PF "/0", "none", "host", true},
	{&op_module, "vfio-pci", "loaded", "loaded", false},
	{&op_pf_mtu, PF, "9000", "2000", false},
	{&op_ipoib_mode, PF, "connected", "datagram", false},
	{&op_rdma_adaptive, RDMA_PF, "on", "off", false},
	{&op_pf_link, PF, "down", "up", false},
	{&op_eswitch, MLX, "switchdev", "legacy", false},
	{&op_representor, MLX "/1", "br0", "br1", true},
	{&op_bond, "bond0", "active-backup ens1 ens5", "802.3ad ens5", false},
	{&op_miimon, "bond1", "100", "0", false},
	{&op_coalesce, PF, "rx-usecs=0", "rx-usecs=100", false},
	{&op_kernel_value, NUMA_BALANCING, "0", "1", false},
	{&op_fdb, PF "/02:00:00:00:00:09", "self", "", false},
	{&op_cpu_governor, "cpu/2", "performance", "schedutil", false},
	{&op_irq_affinity, PF "/irq/40", "1-2", "3", false},
	{&op_irq_keep, PF, "host", "11111111-1111-4111-8111-111111111111", false},
	{&op_file, "/etc/modprobe.d/ours.conf", "options x y=1\n", "options x y=2\n", false},
	{&op_file, "/etc/modprobe.d/other.conf", "", "options x y=2\n", false},
};

static char *observe(const struct op *op)
{
	char *text = NULL;

	assert_int_equal(op_observe(ctx, op, &text), 0);
	assert_non_null(text);
	return text;
}

static void assert_is(const struct op *op, const char *want)
{
	_free_ char *now = observe(op);

	if (!op_is(op->type, want, now))
		fail_msg("%s %s: '%s' and not '%s'", op->type->name, op->target, now, want);
}

static void make_vfs(void)
{
	const struct op vfs = {&op_numvfs, PF, "2", "0"};

	assert_int_equal(ops_apply(ctx, &vfs, 1), 0);
}

static void make_representors(void)
{
	const struct op ops[] = {{&op_numvfs, MLX, "2", "0"}, {&op_eswitch, MLX, "switchdev", "legacy"}};

	assert_int_equal(ops_apply(ctx, ops, 2), 0);
}

/* From what there was to one value, to another, and all the way back. */
static void goes_there_and_back(const struct sample *s)
{
	struct op op = {s->type, s->target, s->want, NULL};
	struct op second = {s->type, s->target, s->other, s->want};
	_free_ char *before = NULL;

	if (s->type == &op_representor)
		make_representors();
	else if (s->needs_vfs)
		make_vfs();
	op.before = before = observe(&op);
	assert_int_equal(ops_apply(ctx, &op, 1), 0);
	assert_is(&op, op.want);
	assert_int_equal(ops_are_done(ctx, &op, 1), 1);
	/* Again, as after a crash behind the last operation. */
	assert_int_equal(ops_apply(ctx, &op, 1), 0);
	assert_int_equal(ops_apply(ctx, &second, 1), 0);
	assert_is(&second, second.want);
	if (s->type->nature == OP_KEPT)
		return;
	if (s->type != &op_vf_driver) { /* its want is no before */
		assert_int_equal(ops_revert(ctx, &second, 1), 0);
		assert_is(&op, op.want);
	}
	assert_int_equal(ops_revert(ctx, &op, 1), 0);
	assert_is(&op, before);
	/* And twice, as a recovery that died does. */
	assert_int_equal(ops_revert(ctx, &op, 1), 0);
	assert_is(&op, before);
}

static void each_kind_observes_applies_and_reverts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		tear_down(NULL);
		assert_int_equal(set_up(NULL), 0);
		goes_there_and_back(&samples[i]);
	}
}

/* The operations of guests' changes have their own test, with a store and a libvirt. */
static const struct op_type *const guests[] = {&op_claim, &op_unclaim, &op_lease, &op_unlease,
	&op_lease_vf, &op_unlease_vf, &op_lease_domain,
	&op_policy, &op_end_run, &op_domain, &op_undefine, &op_definition,
	&op_plugged, &op_run, &op_run_vf, &op_intent, &op_definition_vf, &op_run_had,
	&op_lease_shape, &op_shape_later, &op_vf_leaves, &op_redefine, &op_vf_port,
	/* It waits for what a bond brings, and has nothing to take back: the story lag. */
	&op_lag,
	/* It asks whoever tries a change, and changes nothing: the story try. */
	&op_trial,
	/* These touch the machine itself: in the lab. */
	&op_hook_program, &op_hook_reload};

static void each_kind_has_a_sample(void **state)
{
	const struct op_type *const *types = ctx->tables->op_types;

	for (size_t i = 0; types[i]; i++) {
		bool found = false;

		for (size_t k = 0; k < ARRAY_SIZE(guests); k++)
			found |= guests[k] == types[i];
		for (size_t k = 0; k < ARRAY_SIZE(samples); k++)
			found |= samples[k].type == types[i];
		if (!found)
			fail_msg("%s is not tested", types[i]->name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(types[i]->name, types[k]->name);
	}
}

/* All that is done to a PCI function and forgotten at a boot is forgotten with the function as well. */
static void what_a_device_had_goes_with_it(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *s = &samples[i];
		char target[64];
		struct op op = {s->type, target, s->want, s->other};

		/* What irqbalance was told of a PF stands with irqbalance. */
		if (strncmp(s->target, "0000:", 5) || !s->type->lost_on_reboot || s->type == &op_irq_keep)
			continue;
		snprintf(target, sizeof(target), "%s", s->target);
		assert_true(ops_leave_something(ctx, &op, 1));
		memcpy(target, "0000:99", 7);
		assert_false(ops_leave_something(ctx, &op, 1));
		assert_ptr_equal(ops_gone(ctx, &op, 1), &op);
		assert_int_equal(ops_revert(ctx, &op, 1), 0);
	}
}

static void what_the_journal_holds_may_be_nonsense(void **state)
{
	const struct op bad[] = {
		{&op_numvfs, "../../etc", "1", "0"}, {&op_numvfs, PF, "many", "-1"},
		{&op_vf_attrs, PF, "{}", "{}"}, {&op_vf_attrs, PF "/x", "{}", "{}"},
		{&op_vf_attrs, PF "/0", "{", "[]"}, {&op_clean, "x/0", "{}", "{}"},
		{&op_new_identity, "x/0", "{}", "{}"}, {&op_new_identity, PF "/0", "{", "["},
		{&op_clean, PF "/0", "{", "["}, {&op_vf_driver, PF "/0", "a", "b"},
		{&op_vf_driver, PF "/70000", "none", "- -"},
		{&op_pf_mtu, PF, "many", "-1"}, {&op_pf_mtu, "ens1", "9000", "1500"},
		{&op_coalesce, PF, "rx-usecs", "rx-usecs=-1"}, {&op_coalesce, "x", "rx-usecs=0", "rx-usecs=3"},
		{&op_coalesce, PF, "rx-usecs=0", "rx-usecs=2"},
		{&op_kernel_value, "/proc/sys/kernel/core_pattern", "x", "y"},
		{&op_fdb, PF, "self", ""}, {&op_fdb, PF "/x", "self", ""}, {&op_fdb, "x/02:00:00:00:00:09", "self", ""},
		{&op_kernel_value, NUMA_BALANCING "/../core_pattern", "x", "y"},
		{&op_ipoib_mode, PF, "fast", ""},
		{&op_rdma_adaptive, PF, "on", "off"}, {&op_rdma_adaptive, RDMA_PF, "on", "maybe"}, {&op_pf_link, PF, "sideways", ""},
		{&op_eswitch, PF, "fast", "none"}, {&op_eswitch, "x", "legacy", "legacy"},
		{&op_bond, "../bond0", "-", "-"}, {&op_bond, "bond0", "-", "802.3ad ../x"}, {&op_bond, "bond0", "-", ""},
		{&op_miimon, "../bond0", "100", "0"}, {&op_miimon, "bond1", "100", "often"},
		{&op_representor, PF, "br0", "br1"}, {&op_representor, "x/1", "br0", "br1"},
		{&op_representor, PF "/1", "br0", "br1"},
		{&op_pf_link, PF "/1", "up", "down"},
		{&op_cpu_governor, "cpu/x", "a", "b"}, {&op_cpu_governor, "cpu/1", "a", "../b"},
		{&op_irq_affinity, PF "/irq/", "0", "1"}, {&op_irq_affinity, "../irq/40", "0", "1"},
		{&op_irq_affinity, PF "/irq/40", "0-3", "x"}, {&op_irq_keep, "../..", "host", ""},
		{&op_vf_driver, PF "/0", "none", "one-name-that-is-longer-than-any-driver's -"},
	};

	make_vfs();
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(ops_revert(ctx, &bad[i], 1) < 0);
}

/* A count goes by way of none: two operations on one target, one behind the other. */
static void a_replaced_count_is_looked_at_and_taken_back(void **state)
{
	const struct op count[] = {{&op_numvfs, PF, "0", "2"}, {&op_numvfs, PF, "3", "0"}};

	make_vfs();
	assert_int_equal(ops_together(count, 2, 0), 1);
	assert_int_equal(ops_are_done(ctx, count, 2), 0);
	assert_int_equal(ops_apply(ctx, count, 2), 0);
	assert_int_equal(ops_are_done(ctx, count, 2), 1);
	assert_int_equal(ops_revert(ctx, count, 2), 0);
	assert_is(&(struct op){&op_numvfs, PF, NULL, NULL}, "2");
}

static void without_a_before_there_is_nothing_to_take_back(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct op op = {samples[i].type, samples[i].target, samples[i].want, NULL};

		assert_int_equal(ops_revert(ctx, &op, 1), 0);
	}
}

/* ---- the journal ---- */

static void fill(struct steps *s)
{
	step_begin(s, "first");
	step_op(s, &op_autoprobe, "0", "1", "%s", PF);
	step_op(s, &op_vf_driver, NULL, "igbvf -", "%s/%u", PF, 3);
	step_begin(s, "second");
	step_op(s, &op_vf_attrs, "{\"vlan\":\"7\"}", NULL, "%s/%u", PF, 4);
}

static void the_journal_gives_back_what_it_was_given(void **state)
{
	struct journal_entry entry = {.journal = &state_journal, .story = "set ens1/4", .lock = PF,
		.boot = "11111111-1111-4111-8111-111111111111"};
	_steps_ struct steps steps = {0};
	struct open_changes *open = NULL;
	int64_t id, second;

	assert_int_equal(journal_read(ctx, NULL, &open), 0); /* no file yet */
	assert_int_equal(open->count, 0);
	open_changes_free(open);
	fill(&steps);
	assert_int_equal(state_journal.begin(ctx, &entry, &steps, &id), 0);
	assert_int_equal(state_journal.begin(ctx, &entry, &steps, &second), 0);
	assert_int_equal(state_journal.end(ctx, second), 0);
	assert_int_equal(journal_read(ctx, PF, &open), 0);
	assert_int_equal(open->count, 1);
	assert_int_equal(open->v[0].id, id);
	assert_string_equal(open->v[0].story, "set ens1/4");
	assert_string_equal(open->v[0].boot, entry.boot);
	assert_int_equal(open->v[0].pid, getpid());
	assert_int_equal(open->v[0].op_count, 3);
	assert_string_equal(open->v[0].message[0], "first");
	assert_string_equal(open->v[0].message[1], "");
	assert_string_equal(open->v[0].message[2], "second");
	assert_ptr_equal(open->v[0].ops[1].type, &op_vf_driver);
	assert_string_equal(open->v[0].ops[1].target, PF "/3");
	assert_null(open->v[0].ops[1].want);
	assert_string_equal(open->v[0].ops[1].before, "igbvf -");
	assert_null(open->v[0].ops[2].before);
	open_changes_free(open);
	assert_int_equal(journal_read(ctx, "0000:20:00.0", &open), 0);
	assert_int_equal(open->count, 0);
	open_changes_free(open);
	assert_int_equal(state_journal.end(ctx, id), 0);
	assert_int_equal(journal_read(ctx, NULL, &open), 0);
	assert_int_equal(open->count, 0);
	open_changes_free(open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_kind_observes_applies_and_reverts, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(each_kind_has_a_sample, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_device_had_goes_with_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_journal_holds_may_be_nonsense, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_replaced_count_is_looked_at_and_taken_back,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_before_there_is_nothing_to_take_back,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_journal_gives_back_what_it_was_given, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
