// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trials on VFs. Each uses the plans of create, set and destroy; only values that vfctl itself
 * never writes go to the kernel directly.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/change.h"
#include "host/host.h"
#include "netlink/link.h"
#include "pci/device.h"
#include "pci/vectors.h"
#include "selftest/trials.h"
#include "sriov/inventory.h"
#include "sriov/nvme.h"
#include "sriov/ops.h"
#include "vfs/plans.h"

#define LINK_WAIT_MS 200

/* ---- outcomes ---- */

void selftest_say(struct vfctl_selftest *t, struct trial *x, enum vfctl_selftest_outcome outcome,
	const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	x->outcome = outcome;
	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	free(x->message);
	x->message = text ? selftest_scrub(text, t->pf->names) : NULL;
}

static bool is_unsupported(int r)
{
	return r == -EOPNOTSUPP || r == -EPROTONOSUPPORT;
}

/*
 * Errors with which drivers report missing support or an invalid value, besides the errno for that.
 */
static bool is_refusal(int r)
{
	return r == -EINVAL || r == -ERANGE || r == -EPERM || r == -EACCES || r == -ENOSYS;
}

void selftest_judge(struct vfctl_selftest *t, struct trial *x, int r)
{
	_free_ char *why = strdup(vfctl_ctx_error(t->ctx));

	ctx_clear(t->ctx);
	/* The report does not name the user. */
	if (r == -EBUSY && (t->taken || selftest_check_idle(t) == -EBUSY)) {
		ctx_clear(t->ctx);
		t->taken = true;
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "another program uses a VF");
		return;
	}
	if (r == -EINTR) {
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "interrupted");
		return;
	}
	x->differs = r == 0 ? x->expect == EXPECT_REFUSED : x->expect == EXPECT_TAKEN;
	if (r == 0 && x->differs)
		selftest_say(t, x, VFCTL_SELFTEST_FAIL, "it was accepted, but vfctl's table says that "
			"this driver rejects it");
	else if (r == 0)
		x->outcome = VFCTL_SELFTEST_PASS;
	else if (is_unsupported(r) || x->expect == EXPECT_REFUSED)
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "%s", errno_name(r));
	else if (x->asks && is_refusal(r))
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "refused: %s", errno_name(r));
	else
		selftest_say(t, x, VFCTL_SELFTEST_FAIL, "%s", why ? why : "");
}

/* Requests that the kernel must refuse with every driver. */
static void judge_refusal(struct vfctl_selftest *t, struct trial *x, int error)
{
	if (error < 0)
		selftest_say(t, x, is_unsupported(error) ? VFCTL_SELFTEST_UNSUPPORTED
			: VFCTL_SELFTEST_PASS, "%s", errno_name(error));
	else
		selftest_say(t, x, VFCTL_SELFTEST_FAIL, "it was accepted");
}

/* ---- changes ---- */

int selftest_carry_out(struct vfctl_selftest *t, struct vfctl_change *change)
{
	int r;

	change->entry.journal = NULL;
	r = vfctl_change_run(t->ctx, change);
	vfctl_change_free(change);
	return r;
}

int selftest_first_vf(struct vfctl_selftest *t, struct vfctl_inventory **ret_inventory,
	const struct vfctl_vf **ret_vf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	int r = vfctl_inventory_read(t->ctx, t->bdf, &inv);

	if (r == 0)
		r = vfctl_inventory_find_pf(t->ctx, inv, t->bdf, &pf);
	if (r == 0 && !pf->num_vfs)
		r = ctx_fail(t->ctx, -ENOENT, "no VF could be created");
	if (r < 0)
		return r;
	*ret_vf = &pf->vfs[0];
	*ret_inventory = steal(inv);
	return 0;
}

/* False: there is no VF; the row then reports it. */
static bool find_vf(struct vfctl_selftest *t, struct trial *x,
	struct vfctl_inventory **ret_inventory,
	const struct vfctl_vf **ret_vf)
{
	int r = selftest_first_vf(t, ret_inventory, ret_vf);

	if (r == -ENOENT)
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "%s", vfctl_ctx_error(t->ctx));
	else if (r < 0)
		selftest_judge(t, x, r);
	ctx_clear(t->ctx);
	return r == 0;
}

/* With fractions: most operations take less than one millisecond. */
static double exact_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- VFs ---- */

static int remove_vfs(struct vfctl_selftest *t)
{
	const struct op none = {&op_numvfs, t->bdf, (char *)"0", NULL};
	int r = selftest_check_idle(t);

	t->taken |= r == -EBUSY;
	return r < 0 ? r : ops_apply(t->ctx, &none, 1);
}

static int create(struct vfctl_selftest *t, struct trial *x)
{
	const struct vfctl_create_options options = {.count = x->count,
		.driver = VFCTL_VF_DRIVER_NONE, .keep_identities = t->own_identities};
	struct vfctl_change *change = NULL;
	double start;
	int r = remove_vfs(t); /* this takes time as well */

	start = exact_ms();
	if (r == 0)
		r = vfctl_create_plan(t->ctx, t->bdf, &options, true, &change);
	if (r == 0)
		r = selftest_carry_out(t, change);
	x->ms = exact_ms() - start;
	return r;
}

/*
 * For a driver that creates VFs but accepts no MACs or GUIDs: that has its own trial, and the
 * others can still run.
 */
static bool create_bare(struct vfctl_selftest *t, struct trial *x)
{
	_free_ char *why = strdup(vfctl_ctx_error(t->ctx));

	ctx_clear(t->ctx);
	t->own_identities = true;
	if (create(t, x) == 0) {
		selftest_say(t, x, VFCTL_SELFTEST_PASS, "with --keep-identities; without: %s",
			why ? why : "");
		return true;
	}
	t->own_identities = false;
	ctx_fail(t->ctx, -EIO, "%s", why ? why : "");
	return false;
}

void selftest_try_create(struct vfctl_selftest *t, struct trial *x)
{
	bool bare = t->own_identities;
	int r = create(t, x);

	if (r < 0 && !bare && !t->taken && !t->ctx->cancelled && !vfctl_ctx_unfinished(t->ctx) &&
		r != -ENOENT && r != -EOPNOTSUPP && create_bare(t, x))
		return;
	if (r == -ENOENT) { /* drivers/pci/iov.c: it has no sriov_configure() */
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "%s", vfctl_ctx_error(t->ctx));
		ctx_clear(t->ctx);
		return;
	}
	selftest_judge(t, x, r);
	if (r == 0 && bare)
		selftest_say(t, x, VFCTL_SELFTEST_PASS, "with --keep-identities");
}

void selftest_try_too_many(struct vfctl_selftest *t, struct trial *x)
{
	char text[12];
	int r;

	snprintf(text, sizeof(text), "%u", x->count);
	r = host_write_slow(t->ctx, text, PCI_SYSFS "%s/sriov_numvfs", t->bdf);
	ctx_clear(t->ctx);
	judge_refusal(t, x, r);
}

void selftest_try_destroy(struct vfctl_selftest *t, struct trial *x)
{
	double start = exact_ms();
	int r = remove_vfs(t);

	x->ms = exact_ms() - start;
	selftest_judge(t, x, r);
}

/* A guest gets a whole IOMMU group: it could reach other devices in the group of its VF. */
void selftest_try_groups(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf = NULL;
	uint32_t shared = 0;
	int r = vfctl_inventory_read(t->ctx, t->bdf, &inv);

	if (r == 0)
		r = vfctl_inventory_find_pf(t->ctx, inv, t->bdf, &pf);
	if (r < 0) {
		selftest_judge(t, x, r);
		return;
	}
	if (!pf->num_vfs || pf->vfs[0].iommu_group < 0) {
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, pf->num_vfs ? "this host has no IOMMU"
			: "no VF could be created");
		return;
	}
	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++) {
		_free_ char *sharers = NULL;

		r = pci_iommu_sharers(t->ctx, &pf->vfs[i].bdf, pf->vfs[i].iommu_group, &sharers);
		shared += r == 0 && sharers[0];
	}
	if (r == 0 && shared)
		r = ctx_fail(t->ctx, -EPERM, "%u of %u VFs share their IOMMU group with another "
			"function; a slot with ACS isolates them", shared, pf->num_vfs);
	selftest_judge(t, x, r);
}

/* ---- attributes of VF 0 ---- */

/*
 * igb and others know the speed only while there is a link, and igb's link goes down for seconds
 * when the number of VFs changes (igb_sriov_reinit()).
 */
static bool wait_for_link(struct vfctl_selftest *t)
{
	unsigned waited = 0;

	do {
		_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
		const struct vfctl_pf *pf;
		int r = vfctl_inventory_read(t->ctx, t->bdf, &inv);

		if (r == 0)
			r = vfctl_inventory_find_pf(t->ctx, inv, t->bdf, &pf);
		if (r < 0 || pf->carrier || !t->pf->carrier)
			return r == 0 && pf->carrier;
	} while (host_wait_ms(t->ctx, LINK_WAIT_MS, &waited));
	return false;
}

/* Values that a driver accepts but does not report cannot be verified. */
static void say_unreported(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;

	if (selftest_first_vf(t, &inv, &vf) == 0 && x->attrs.mask & ~vf->attrs.mask)
		selftest_say(t, x, VFCTL_SELFTEST_PASS, "it was accepted, but the driver does not "
			"report it, so the effect is unknown");
	ctx_clear(t->ctx);
}

void selftest_try_attrs(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	_free_ char *name = str_format("%s/0", t->bdf);
	const struct vfctl_set_item item = {.vf = name, .attrs = x->attrs};
	struct vfctl_change *change = NULL;
	const struct vfctl_vf *vf;
	int r;

	if (!name || !find_vf(t, x, &inv, &vf))
		return;
	if (x->attrs.mask & VFCTL_ATTR_RATE && !wait_for_link(t)) {
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "the port has no link, which a rate needs");
		return;
	}
	r = vfctl_set_plan(t->ctx, &item, 1, NULL, true, &change);
	if (r == -EOPNOTSUPP) { /* vfctl's own message is more detailed than the kernel's */
		x->differs = x->expect == EXPECT_TAKEN;
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "%s", vfctl_ctx_error(t->ctx));
		ctx_clear(t->ctx);
		return;
	}
	if (r == 0 && !vfctl_change_count(change)) {
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "it is already set");
		vfctl_change_free(change);
		return;
	}
	if (r == 0)
		r = selftest_carry_out(t, change);
	selftest_judge(t, x, r);
	if (r == 0 && x->outcome == VFCTL_SELFTEST_PASS)
		say_unreported(t, x);
}

void selftest_try_no_netdev(struct vfctl_selftest *t, struct trial *x)
{
	selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "the PF has no network device here, which they need");
}

/* vfctl never writes such a value: send it directly to the kernel. */
static int write_row(struct vfctl_selftest *t, struct nl_vf_set *row)
{
	int r = nl_vfs_write(t->ctx, t->pf->ifindex, row, 1);

	ctx_clear(t->ctx);
	return r < 0 ? r : row->error;
}

void selftest_try_refused_mac(struct vfctl_selftest *t, struct trial *x)
{
	struct nl_vf_set row = {.bits = VFCTL_ATTR_MAC, .attrs = {.mask = VFCTL_ATTR_MAC,
		.mac = {{0x01, 0x00, 0x5e, 0x76, 0x66, 0x63}}}};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;

	if (find_vf(t, x, &inv, &vf))
		judge_refusal(t, x, write_row(t, &row));
}

void selftest_try_refused_vf(struct vfctl_selftest *t, struct trial *x)
{
	struct nl_vf_set row = {.vf = t->pf->total_vfs, .bits = VFCTL_ATTR_SPOOFCHK,
		.attrs = {.mask = VFCTL_ATTR_SPOOFCHK, .spoofchk = true}};

	judge_refusal(t, x, write_row(t, &row));
}

/* ---- the function ---- */

static int try_vectors(struct vfctl_selftest *t, const struct vfctl_vf *vf, unsigned count)
{
	char text[12];
	unsigned now;
	int r;

	snprintf(text, sizeof(text), "%u", count);
	r = host_write(t->ctx, text, PCI_SYSFS "%s/sriov_vf_msix_count", TEXT(&vf->bdf));
	if (r < 0 || !count)
		return r;
	now = pci_vectors(t->ctx, &vf->bdf);
	return now && now != count ? ctx_fail(t->ctx, -EIO, "%u were accepted, but the VF's MSI-X "
		"capability has %u", count, now) : 0;
}

void selftest_try_msix(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_vf *vf;
	int r = 0;

	if (!find_vf(t, x, &inv, &vf))
		return;
	if (!pci_has(t->ctx, &vf->bdf, "sriov_vf_msix_count")) {
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "no sriov_vf_msix_count");
		return;
	}
	/* 0 is the device's default again (Documentation/ABI/testing/sysfs-bus-pci). */
	for (int i = 0; i < 3 && r == 0; i++)
		r = try_vectors(t, vf, (const unsigned[]){4, 2, 0}[i]);
	selftest_judge(t, x, r);
}

static int bind_trial(struct vfctl_selftest *t, enum vfctl_vf_driver driver,
	struct vfctl_change **ret)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_free_ char *target = str_format("%s/0", t->bdf);
	int r = target ? change_new(t->ctx, &change) : ctx_oom(t->ctx);

	if (r < 0)
		return r;
	if (driver == VFCTL_VF_DRIVER_VFIO)
		step_add_op(&change->steps, &op_module, "loaded", NULL, "vfio-pci", "load vfio-pci");
	if (driver == VFCTL_VF_DRIVER_HOST)
		step_add_op(&change->steps, &op_autoprobe, "1", "0", t->bdf, "enable the probing of VFs");
	/* After a failure the VF has no driver, as before. */
	step_add_op(&change->steps, &op_vf_driver, vf_driver_word(driver), "- none", target,
		"bind VF 0 to %s", vf_driver_word(driver));
	if (driver == VFCTL_VF_DRIVER_HOST)
		step_add_op(&change->steps, &op_autoprobe, "0", "1", t->bdf, "but not the others");
	*ret = steal(change);
	return 0;
}

static bool cannot_bind(struct vfctl_selftest *t, struct trial *x, const struct vfctl_vf *vf)
{
	const char *why = NULL;

	if (x->driver == VFCTL_VF_DRIVER_VFIO && vf->iommu_group < 0)
		why = "vfio-pci needs an IOMMU, which this host does not have";
	else if (x->driver == VFCTL_VF_DRIVER_HOST && nvme_bare_vfs(t->ctx, &t->pf->bdf))
		why = "an NVMe VF has no queues until nvme virt-mgmt assigns some";
	if (why)
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, "%s", why);
	return why;
}

void selftest_try_driver(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_change *change = NULL;
	const struct vfctl_vf *vf;
	double start;
	int r;

	if (!find_vf(t, x, &inv, &vf) || cannot_bind(t, x, vf))
		return;
	start = exact_ms();
	r = bind_trial(t, x->driver, &change);
	if (r == 0)
		r = selftest_carry_out(t, change);
	x->ms = exact_ms() - start;
	if (r == -ENODEV && x->driver == VFCTL_VF_DRIVER_HOST) { /* a property of the host, not
								    of the card */
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "%s", vfctl_ctx_error(t->ctx));
		ctx_clear(t->ctx);
		return;
	}
	selftest_judge(t, x, r);
}

/* A reset must not change a VF's identity: the next guest would have another one. */
void selftest_try_reset(struct vfctl_selftest *t, struct trial *x)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL, *after = NULL;
	const struct vfctl_vf *vf, *now;
	double start;
	int r;

	if (!find_vf(t, x, &inv, &vf))
		return;
	r = pci_can_reset(t->ctx, &vf->bdf, &t->pf->bdf);
	ctx_clear(t->ctx);
	if (r <= 0) {
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, r == 0 ? "it has no reset of its own, "
			"only the reset of its whole bus" : "the kernel does not report how it "
				"can be reset");
		return;
	}
	start = exact_ms();
	r = pci_reset(t->ctx, &vf->bdf);
	x->ms = exact_ms() - start;
	if (r == 0)
		r = selftest_first_vf(t, &after, &now);
	if (r == 0 && vf->attrs.mask & VFCTL_ATTR_MAC &&
		memcmp(&vf->attrs.mac, &now->attrs.mac, sizeof(now->attrs.mac)) != 0)
		r = ctx_fail(t->ctx, -EIO, "its MAC is different after the reset");
	selftest_judge(t, x, r);
}
