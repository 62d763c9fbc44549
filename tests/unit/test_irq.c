// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts of PFs and of guests on the simulated kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/steps.h"
#include "hook/guest_tuning.h"
#include "host/host.h"
#include "lease/guest_tuning.h"
#include "sim.h"
#include "state/store.h"
#include "tuning/irq.h"
#include "tuning/ops.h"

#define PF "0000:10:00.0"
#define UUID "11111111-1111-4111-8111-111111111111"

static char dir[64];
static struct vfctl_ctx *ctx;
static struct host *sim;
static const struct vfctl_bdf pf = {.bus = 0x10};

static const char machine[] =
	"iommu\n"
	"node 0 cpus 0-3 memory 8388608\n"
	"node 1 cpus 4-7 memory 8388608\n"
	"pf " PF " driver igb netdev ens1 ifindex 2 node 0 total 7 vf_driver igbvf\n"
	"governor 0-3 name powersave\n"
	"irq 40 of " PF " cpus 0-7\n"
	"irq 41 of " PF " cpus 2\n"
	"irq 42 of " PF " cpus 0-7 managed 1\n";

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

	strcpy(dir, "/tmp/vfctl-irq-XXXXXX");
	if (!mkdtemp(dir) || make_machine() || vfctl_ctx_new(&ctx) < 0 ||
		sim_host_new(dir, &sim) < 0)
		return -1;
	host_set(ctx, sim);
	snprintf(path, sizeof(path), "%s/state.db", dir);
	return vfctl_ctx_set_state_path(ctx, path);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static struct vfctl_cpuset cpus(const char *list)
{
	struct vfctl_cpuset set;

	assert_int_equal(vfctl_cpuset_parse(list, &set), 0);
	return set;
}

static void assert_set(const struct vfctl_cpuset *set, const char *list)
{
	char text[256];

	vfctl_cpuset_format(set, text, sizeof(text));
	assert_string_equal(text, list);
}

static void assert_irq(unsigned irq, const char *list)
{
	_free_ char *text = NULL;

	assert_int_equal(host_read(ctx, &text, "/proc/irq/%u/smp_affinity_list", irq), 0);
	assert_string_equal(text, list);
}

/* Carries out what there is to do; returns in how many operations. */
static size_t tune_pf(const char *list)
{
	const struct journal_entry none = {0};
	const struct vfctl_cpuset to = cpus(list);
	_steps_ struct steps steps = {0};
	size_t count = 0;

	assert_int_equal(irq_add_pf_steps(ctx, &pf, &to, &steps), 0);
	for (size_t i = 0; i < steps.count; i++)
		count += steps.v[i].op_count;
	assert_int_equal(steps_run(ctx, &steps, &none), 0);
	return count;
}

/* ---- a PF ---- */

static void vectors_of_a_pf_go_where_they_shall(void **state)
{
	_free_ char *kept = NULL;

	assert_int_equal(tune_pf("1-3"), 2); /* one is there, one is the kernel's */
	assert_irq(40, "1-3");
	assert_irq(41, "2");
	assert_irq(42, "0-7");
	assert_int_equal(irq_kept_by(ctx, &pf, &kept), 0);
	assert_string_equal(kept, IRQ_KEEP_HOST);
	assert_int_equal(tune_pf("1-3"), 0);
	assert_int_equal(tune_pf("2-3"), 1);
	assert_irq(40, "2-3");
	assert_int_equal(tune_pf(""), 0); /* nowhere to go */
	assert_irq(40, "2-3");
}

/* CPUs that are offline are rejected; the change itself does not fail. */
static void what_the_kernel_refuses_stays(void **state)
{
	struct vfctl_cpuset off = cpus("100");
	struct vfctl_bdf other = {.bus = 0x77};
	size_t count = 1;
	struct irq_vector *none = NULL;

	assert_int_equal(irq_vector_set(ctx, &pf, 40, &off), -EINVAL);
	assert_int_equal(irq_vector_set(ctx, &pf, 42, &off), -EIO);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "manages"));
	assert_int_equal(irq_vector_set(ctx, &other, 40, &off), -ENOENT);
	assert_int_equal(irq_vectors_read(ctx, &other, &none, &count), 0);
	assert_int_equal(count, 0);
	free(none);
	tune_pf("100");
	assert_irq(40, "0-7");
}

static void a_vector_says_what_it_is(void **state)
{
	struct irq_vector *all = NULL;
	size_t count = 0;

	assert_int_equal(irq_vectors_read(ctx, &pf, &all, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(all[0].irq, 40);
	assert_set(&all[0].cpus, "0-7");
	assert_set(&all[0].effective, "0");
	assert_false(all[0].managed);
	assert_true(all[2].managed);
	free(all);
}

/* ---- the machine ---- */

static void posting_needs_every_part(void **state)
{
	assert_false(irq_may_be_posted(ctx));
	sim_put(sim, "Y\n", "/sys/module/kvm_intel/parameters/enable_apicv");
	assert_false(irq_may_be_posted(ctx)); /* no IOMMU that can */
	sim_put(sim, "8d2078c106f0466\n", "/sys/class/iommu/dmar0/intel-iommu/cap");
	assert_true(irq_may_be_posted(ctx));
	sim_put(sim, "d2078c106f0466\n", "/sys/class/iommu/dmar1/intel-iommu/cap");
	assert_false(irq_may_be_posted(ctx)); /* one that cannot */
	sim_remove(sim, "/sys/class/iommu/dmar1/intel-iommu/cap");
	sim_put(sim, "8d2078c106f0466\n", "/sys/class/iommu/dmar1/intel-iommu/cap");
	sim_put(sim, "N\n", "/sys/module/kvm_intel/parameters/enable_device_posted_irqs");
	assert_false(irq_may_be_posted(ctx));
	sim_remove(sim, "/sys/module/kvm_intel/parameters/enable_apicv");
	sim_put(sim, "1\n", "/sys/module/kvm_amd/parameters/avic");
	assert_true(irq_may_be_posted(ctx));
}

static void irqbalance_is_told_of(void **state)
{
	_free_ char *message = NULL;

	assert_null(irq_balance_text(ctx));
	sim_put(sim, "irqbalance\n", "/proc/812/comm");
	message = irq_balance_text(ctx);
	assert_non_null(message);
	assert_non_null(strstr(message, "process 812"));
	assert_non_null(strstr(message, "--policyscript="));
	sim_put(sim, "/usr/sbin/irqbalance --policyscript=/usr/libexec/vfctl/irqbalance-policy",
		"/proc/812/cmdline");
	assert_null(irq_balance_text(ctx));
}

/* ---- CPUs ---- */

static void the_host_works_where_nobody_else_does(void **state)
{
	struct vfctl_lease lease = {.cpus = cpus("1,5")};
	struct vfctl_leases leases = {&lease, 1};
	struct vfctl_host_spec spec = {.reserved_cpus = cpus("0,4"), .shared_cpus = cpus("3")};
	struct vfctl_cpuset set;

	tuning_housekeeping(ctx, NULL, NULL, 0, &set);
	assert_set(&set, "0-3");
	tuning_housekeeping(ctx, NULL, &leases, 1, &set);
	assert_set(&set, "4,6-7");
	tuning_housekeeping(ctx, NULL, &leases, -1, &set);
	assert_set(&set, "0,2-4,6-7");
	sim_put(sim, "2-3\n", "/sys/devices/system/cpu/isolated");
	tuning_housekeeping(ctx, NULL, &leases, 0, &set);
	assert_set(&set, "0");
	tuning_housekeeping(ctx, &spec, &leases, 0, &set);
	assert_set(&set, "0");
	spec.reserved_cpus = cpus("4");
	tuning_housekeeping(ctx, &spec, &leases, 0, &set);
	assert_set(&set, "0");
	tuning_housekeeping(ctx, NULL, NULL, 9, &set);
	assert_set(&set, "");
}

static void vectors_go_to_no_other_guest(void **state)
{
	struct vfctl_lease rows[2] = {{.domain_uuid = UUID, .cpus = cpus("1-2")},
		{.domain_uuid = "22222222-2222-4222-8222-222222222222", .cpus = cpus("3")}};
	struct vfctl_leases leases = {rows, 2};
	struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct vfctl_cpuset set;

	str_copy(intent->uuid, sizeof(intent->uuid), UUID);
	intent->emulator_cpus = cpus("2-3,64");
	tuning_vector_cpus(ctx, NULL, &leases, intent, &pf, &set);
	assert_set(&set, "2"); /* its own; not the other's, nor one that is off */
	intent->emulator_cpus = cpus("3");
	tuning_vector_cpus(ctx, NULL, &leases, intent, &pf, &set);
	assert_set(&set, "0"); /* of the device's node */
	free(intent);
}

/* ---- what a running domain has ---- */

static void take_lease(void)
{
	struct vfctl_lease_vf vf = {.bdf = pf, .pf = pf};
	struct vfctl_lease_cell cell = {.memory_node = 0, .memory_bytes = 1 << 20};
	struct vfctl_lease lease = {.domain_name = (char *)"g", .cpus = cpus("1-2"), .vfs = &vf,
		.vf_count = 1, .cells = &cell, .cell_count = 1};
	_cleanup_(store_closep) struct store *store = NULL;

	str_copy(lease.id, sizeof(lease.id), UUID);
	str_copy(lease.domain_uuid, sizeof(lease.domain_uuid), UUID);
	assert_int_equal(store_open(ctx, STORE_WRITE, &store), 0);
	assert_int_equal(store_take(store, &lease), 0);
}

static void start_domain(const char *tuning)
{
	_free_ char *xml = str_format("<domstatus state='running' pid='4711'><domain type='kvm'>"
		"<name>g</name><uuid>" UUID "</uuid><metadata><v:guest xmlns:v='urn:vfctl:domain:1' "
		"lease='l'><v:tuning %s/></v:guest></metadata><cputune><emulatorpin cpuset='2-3'/>"
		"</cputune><devices/></domain></domstatus>", tuning);

	sim_put(sim, "qemu\n", "/proc/4711/comm");
	sim_put(sim, xml, "/run/libvirt/qemu/g.xml");
}

static struct vfctl_guest_tuned *read_tuned(const char *domain)
{
	struct vfctl_guest_tuned *t = NULL;

	assert_int_equal(vfctl_guest_tuning_read(ctx, NULL, domain, &t), 0);
	return t;
}

static void a_domain_shows_what_it_has(void **state)
{
	struct vfctl_guest_tuned *t = NULL;

	assert_int_equal(vfctl_guest_tuning_read(ctx, NULL, "g", &t), -ENOENT);
	take_lease();
	start_domain("profile='latency' governor='schedutil'");
	t = read_tuned(UUID);
	assert_string_equal(t->name, "g");
	assert_int_equal(t->pid, 4711);
	assert_null(t->problem);
	assert_string_equal(t->asked.profile, "latency");
	assert_string_equal(t->governor, "schedutil");
	assert_int_equal(t->cpu_latency_us, 2);
	assert_true(t->interrupts);
	assert_false(t->watched);
	assert_int_equal(t->cpu_count, 2);
	assert_string_equal(t->cpus[1].governor, "powersave");
	assert_int_equal(t->vector_count, 3);
	assert_set(&t->vectors[0].want, "2-3");
	assert_set(&t->vectors[0].cpus, "0-7");
	assert_true(t->vectors[2].managed);
	vfctl_guest_tuned_free(t);
	start_domain("profile='nowhere'");
	t = read_tuned("g");
	assert_non_null(strstr(t->problem, "profile 'nowhere' not found"));
	assert_false(t->interrupts);
	vfctl_guest_tuned_free(t);
	start_domain("profile='../x'");
	t = read_tuned("g");
	assert_non_null(t->problem);
	vfctl_guest_tuned_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(vectors_of_a_pf_go_where_they_shall, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_kernel_refuses_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_vector_says_what_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(posting_needs_every_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(irqbalance_is_told_of, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_host_works_where_nobody_else_does, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(vectors_go_to_no_other_guest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_domain_shows_what_it_has, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
