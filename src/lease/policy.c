// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/policy.h"

#include <errno.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "facts/snapshot/domains.h"
#include "facts/snapshot/policy.h"
#include "host/host.h"
#include "lease/port.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "types/find.h"

static struct vfctl_vf *find_index(const struct vfctl_pf *pf, uint32_t index)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].index == index)
			return &pf->vfs[i];
	return NULL;
}

/* libvirt itself, or the QEMU that it started for the domain. */
static bool is_starter(struct vfctl_ctx *ctx, int pid, const char *uuid)
{
	static const char *const daemons[] = {"libvirtd", "virtqemud", "rpc-libvirtd", "rpc-virtqemud"};
	_free_ char *comm = NULL;
	_buf_ struct buf cmdline = {0};

	if (!pid || host_try_read(ctx, &comm, "/proc/%d/comm", pid) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(daemons); i++)
		if (str_eq(comm, daemons[i]))
			return true;
	return str_starts(comm, "qemu") && host_try_bytes(ctx, &cmdline, "/proc/%d/cmdline", pid) == 0 &&
		memmem(cmdline.data, cmdline.len, uuid, strlen(uuid));
}

/* Name the holder by its domain: the process id of a QEMU says little to an administrator. */
static void name_domain(struct vfctl_ctx *ctx, struct vfctl_vf *vf)
{
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;

	if (known_domains_read(ctx, &domains) < 0)
		return;
	for (size_t i = 0; i < domains->count; i++) {
		const struct known_domain *d = &domains->v[i];

		if (!d->pid || (d->pid != vf->holder.pid && !known_domain_has(d, &vf->bdf)))
			continue;
		vf->holder.kind = VFCTL_HOLDER_DOMAIN;
		snprintf(vf->holder.name, sizeof(vf->holder.name), "%.127s", d->name);
	}
}

/*
 * Its guest does not run yet, so another process has it open: in VFIO, or with its host driver.
 * Only libvirt may, which starts the guest now.
 */
static int check_open(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory,
	struct vfctl_vf *vf, const char *starting)
{
	char name[VFCTL_BDF_TEXT], message[192];

	if (vf_is_open(vf) || (vf->driver[0] && !pci_driver_is_vfio(vf->driver)))
		holder_find_all(ctx, inventory);
	if (!vf_is_open(vf) || (starting && is_starter(ctx, vf->holder.pid, starting)))
		return 0;
	name_domain(ctx, vf);
	return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is %s", vfctl_pf_name(&inventory->pfs[0], name),
		vf->index, TEXT(&vf->bdf), vf_describe_user(vf, message, sizeof(message)));
}

/* The VF must still be the function that was leased: VFs that were created again may have moved. */
static int check_vf(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory,
	const struct vfctl_domain_vf *want, const char *starting, const struct vfctl_vf **ret)
{
	struct vfctl_pf *pf = &inventory->pfs[0];
	struct vfctl_vf *vf = find_index(pf, want->index);
	char name[VFCTL_BDF_TEXT];
	int r;

	if (!vf && !pf->driver[0])
		return pci_fail_unbound(ctx, &pf->bdf, -ENOENT);
	if (!vf)
		return ctx_fail(ctx, -ENOENT, "PF %s (%s) has no VF %u; it has %u VFs; create them "
			"with: vfctl create %s N", vfctl_pf_name(pf, name), TEXT(&pf->bdf),
			want->index, pf->num_vfs, vfctl_pf_name(pf, name));
	if (vfctl_bdf_compare(&vf->bdf, &want->bdf))
		return ctx_fail(ctx, -ENOENT, "VF %u of PF %s is now %s, not %s as when the domain was "
			"defined; give the domain another VF (vfctl detach, vfctl attach), or create as "
			"many VFs as there were", want->index,
			vfctl_pf_name(pf, name), TEXT(&vf->bdf),
			TEXT(&want->bdf));
	r = inventory_complete(ctx, pf, vf);
	if (r < 0)
		return r;
	r = check_open(ctx, inventory, vf, starting);
	if (r == 0)
		*ret = vf;
	return r;
}

static struct vfctl_vf_attrs change_for(const struct vfctl_domain_vf *want,
	const struct vfctl_vf *now)
{
	struct vfctl_vf_attrs change = policy_complete(&want->attrs, now);

	attrs_complete(&change, &now->attrs);
	attrs_drop_equal(&change, &now->attrs);
	return change;
}

static bool seen_before(const struct vfctl_domain_vf *vfs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (vfctl_bdf_compare(&vfs[k].pf, &vfs[i].pf) == 0)
			return true;
	return false;
}

/* Check that it is still the PF whose VFs were leased. */
static int check_port(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, const struct vfctl_pf *pf,
	port_id_text *ret_ports)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_lease *lease = vfctl_leases_find_vf(leases, &vfs[i].bdf);
		const struct vfctl_lease_vf *row = find_leased_vf(lease, &vfs[i].bdf);

		if (!row || vfctl_bdf_compare(&row->pf, &pf->bdf))
			continue;
		r = port_check(ctx, lease, row, pf);
		if (ret_ports && !row->port_id[0] && !row->transient)
			memcpy(ret_ports[i], pf->port_id, sizeof(ret_ports[i]));
	}
	return r;
}

/* There is no function at its address. */
static int fail_no_pf(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, const struct vfctl_bdf *pf)
{
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_lease *lease = vfctl_leases_find_vf(leases, &vfs[i].bdf);
		const struct vfctl_lease_vf *row = find_leased_vf(lease, &vfs[i].bdf);

		if (row && vfctl_bdf_compare(&row->pf, pf) == 0)
			return port_fail_gone(ctx, lease, row);
	}
	return -ENOENT;
}

/* Plan the VFs of one PF among @vfs, as one step. */
static int plan_pf(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, const struct vfctl_bdf *pf,
	struct steps *steps, port_id_text *ret_ports, const char *starting)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	char name[VFCTL_BDF_TEXT];
	int r = inventory_read_values(ctx, pf, &inv);
	bool begun = false;

	if (r == -ENOENT)
		r = fail_no_pf(ctx, leases, vfs, count, pf);
	if (r == 0)
		r = check_port(ctx, leases, vfs, count, &inv->pfs[0], ret_ports);

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf *now = NULL;
		struct vfctl_vf_attrs change, had;

		if (vfctl_bdf_compare(&vfs[i].pf, pf))
			continue;
		r = check_vf(ctx, inv, &vfs[i], starting, &now);
		if (r < 0)
			return r;
		change = change_for(&vfs[i], now);
		if (!change.mask)
			continue;
		if (!begun)
			step_begin(steps, "set identity and policy of VFs of PF %s and read them back",
				vfctl_pf_name(&inv->pfs[0], name));
		begun = true;
		had = attrs_before(&now->attrs, &change);
		step_attrs_op(steps, &op_guest_attrs, &change, &had, "%s/%u", TEXT(pf), now->index);
	}
	return r;
}

int policy_plan(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, struct steps *steps,
	port_id_text *ret_ports, const char *starting)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		if (!seen_before(vfs, i))
			r = plan_pf(ctx, leases, vfs, count, &vfs[i].pf, steps, ret_ports, starting);
	return r;
}
