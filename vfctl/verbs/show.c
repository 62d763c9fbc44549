// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/nearest.h"
#include "command.h"
#include "facts/hostfile.h"
#include "facts/snapshot/snapshot.h"
#include "lease/clean.h"
#include "print/host.h"
#include "print/lease.h"
#include "print/rdma.h"
#include "spec/host_yaml.h"
#include "sriov/inventory.h"
#include "state/leases.h"

/* The RDMA device of a function of this host; NULL if it has none that can be read. */
static struct vfctl_rdma_device *device_of(struct invocation *in, const char *name)
{
	struct vfctl_rdma_device *device;

	return name[0] && vfctl_rdma_read(in->ctx, name, &device) == 0 ? device : NULL;
}

static void show_device(struct invocation *in, const struct vfctl_rdma_device *device)
{
	if (in->json)
		answer_put(in->out, NULL, answer_rdma, device);
	else
		print_rdma(in->out, device);
}

static void show_pf(struct invocation *in, const struct vfctl_pf *pf)
{
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *device = device_of(in, pf->rdma);

	if (in->json) {
		answer_put(in->out, NULL, answer_pf, &(struct pf_view){.pf = pf, .ctx = in->ctx,
			.device = device, .with_vfs = true});
	} else {
		print_pf(in->out, in->ctx, pf);
		if (device)
			print_rdma(in->out, device);
	}
}

static void show_vf(struct invocation *in, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *device = device_of(in, vf->rdma);
	_free_ char *exposed = NULL;

	vfctl_vf_exposure(in->ctx, pf, vf, &exposed);
	if (in->json) {
		answer_put(in->out, NULL, answer_vf, &(struct vf_view){pf, vf, device,
			exposed && *exposed ? exposed : NULL});
	} else {
		print_vf(in->out, pf, vf, exposed);
		if (device)
			print_rdma(in->out, device);
	}
}

static void show_lease(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease)
{
	if (in->json)
		answer_put(in->out, NULL, answer_lease, &(struct lease_view){snapshot->inventory, lease});
	else
		print_lease(in->out, snapshot, lease);
}

static int fail_unknown_object(struct invocation *in, const struct vfctl_snapshot *snapshot,
	const char *name, int status)
{
	const struct vfctl_inventory *inv = snapshot->inventory;
	const struct vfctl_leases *leases = snapshot->leases;
	struct nearest search = nearest_to(name);

	for (size_t i = 0; i < inv->pf_count; i++)
		nearest_offer_name(&search, inv->pfs[i].netdev);
	for (size_t i = 0; leases && i < leases->count; i++)
		nearest_offer_name(&search, leases->v[i].domain_name);
	if (nearest_only(&search))
		return fail_as(in, status, -ENOENT, "'%s' not found; did you mean %s?", name, search.best);
	return fail_as(in, status, -ENOENT,
		"'%s' not found: it is not a PF, VF, RDMA device or domain with a lease "
		"(vfctl list shows them)", name);
}

/*
 * Find the object: PF/INDEX is a VF, an address may be either, any other word is a PF, a domain, or
 * an RDMA device (of a VF on this host, of a card without SR-IOV, or in software).
 */
static int show_one(struct invocation *in, const struct vfctl_snapshot *snapshot, const char *name)
{
	const struct vfctl_lease *lease = vfctl_leases_find(snapshot->leases, name);
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *device = NULL;
	struct vfctl_bdf bdf;
	bool unknown;

	if (vfctl_inventory_find_pf(in->ctx, snapshot->inventory, name, &pf) == 0) {
		show_pf(in, pf);
		return 0;
	}
	unknown = vfctl_ctx_usage_error(in->ctx);
	if (strchr(name, '/') || vfctl_bdf_parse(name, &bdf) == 0) {
		int r = vfctl_inventory_find_vf(in->ctx, snapshot->inventory, name, &pf, &vf);

		if (r == 0)
			show_vf(in, pf, vf);
		return r;
	}
	if (lease) {
		show_lease(in, snapshot, lease);
		return 0;
	}
	device = device_of(in, name);
	if (!device)
		return fail_unknown_object(in, snapshot, name, unknown ? EXIT_USAGE : EXIT_FAILED);
	show_device(in, device);
	return 0;
}

/* A domain may have VFs of any PF, and its name is not that of a PF. */
static bool is_domain(struct invocation *in)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;

	return vfctl_leases_read(in->ctx, &leases) == 0 && vfctl_leases_find(leases, in->args[0]);
}

/* A host.yaml with a mistake is ignored here: other verbs report it. */
static void mark_left(struct invocation *in, struct vfctl_snapshot *snapshot)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;

	if (vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &spec) == 0)
		vfctl_snapshot_mark_left(in->ctx, snapshot, spec);
}

static int run_show(struct invocation *in)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	bool several, all = in->arg_count > 1 || (!option_of(in, "host") && is_domain(in));
	int r = vfctl_snapshot_read(in->ctx, all ? NULL : in->args[0], &snapshot);

	if (r < 0)
		return fail(in, r);
	if (snapshot->leases_error)
		warn("leases are not shown: %s", snapshot->leases_error);
	mark_left(in, snapshot);
	several = in->json && in->arg_count > 1 && !option_of(in, "get");
	if (several)
		answer_open_several(in->out);
	for (size_t i = 0; r == 0 && i < in->arg_count; i++) {
		if (i && !in->json)
			out_line(in->out, "%s", "");
		r = show_one(in, snapshot, in->args[i]);
	}
	if (r == 0 && several)
		answer_close_several(in->out);
	return r < 0 ? fail(in, r) : r;
}

static const struct answer answers[] = {{"For a PF", answer_pf, false},
	{"For a VF", answer_vf, false},
	{"For an RDMA device", answer_rdma, false}, {"For a domain", answer_lease, false},
	ANSWER_SEVERAL, {0}};

const struct command cmd_show = {
	.name = "show",
	.group = GROUP_VFS,
	.answer = answers,
	.args = "PF|VF|RDMA|DOMAIN...",
	.summary = "Show PFs, VFs, RDMA devices or domains",
	.text = "A VF is PF/INDEX or a PCI address. For a domain it shows the lease and, for "
		"each VF, the leased values beside the present ones. For an RDMA device it "
		"shows what ibstat and ibv_devinfo show. A line that begins with '!' names a "
		"problem.",
	.examples = {{"vfctl show ens1/3", "one VF"},
		{"vfctl show web --json", "the lease of domain web as JSON"},
		{"vfctl show ens1/3 --get mac", "only the MAC"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_ANY,
	.reads = true,
	.run = run_show,
};
