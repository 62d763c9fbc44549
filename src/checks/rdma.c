// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports of InfiniBand PFs: link, subnet manager, and the findings of vfctl show. */
#include "base/util.h"
#include "checks/check.h"
#include "host/host.h"
#include "infiniband/rdma.h"

static void check_port(struct check_ctx *e, const char *name,
	const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port)
{
	char text[VFCTL_FINDING_TEXT];

	for (unsigned i = 0; vfctl_rdma_finding(device, port, &i, text);)
		found(e, name, "%s port %u: %s", device->name, port->number, text);
}

static void check_ports(struct check_ctx *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		struct vfctl_rdma_device *device = NULL;
		char name[VFCTL_BDF_TEXT];

		/* A port without cable and VFs is not an issue. */
		if (!inv->pfs[i].infiniband || !inv->pfs[i].rdma[0] || !inv->pfs[i].num_vfs)
			continue;
		if (vfctl_rdma_read(e->ctx, inv->pfs[i].rdma, &device) < 0) {
			unknown(e, "%s: %s", inv->pfs[i].rdma, vfctl_ctx_error(e->ctx));
			continue;
		}
		for (size_t k = 0; k < device->port_count; k++)
			check_port(e, pf_title(&inv->pfs[i], name), device, &device->ports[k]);
		vfctl_rdma_free(device);
	}
}

/* ---- VFs that the host uses, for containers or itself ---- */

/* Only two files, because there may be a thousand VFs: "1: DOWN", and "5: LinkUp". */
static bool is_unserved(struct check_ctx *e, const char *rdma)
{
	_free_ char *state = NULL, *phys = NULL;

	return host_try_read(e->ctx, &state, "/sys/class/infiniband/%s/ports/1/state", rdma) == 0 &&
		str_starts(state, "1:") &&
		host_try_read(e->ctx, &phys, "/sys/class/infiniband/%s/ports/1/phys_state", rdma) == 0 &&
		str_starts(phys, "5:");
}

static bool is_active(struct check_ctx *e, const char *rdma)
{
	_free_ char *state = NULL;

	return host_try_read(e->ctx, &state, "/sys/class/infiniband/%s/ports/1/state", rdma) == 0 &&
		str_starts(state, "4:");
}

/*
 * Their policy keeps them down, or they have no GUID, or the subnet manager does not support VFs.
 */
static void tell_unserved(struct check_ctx *e, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	size_t count)
{
	struct vfctl_rdma_device *device = NULL;
	char text[VFCTL_FINDING_TEXT] = "", name[VFCTL_BDF_TEXT], title[VF_TITLE];
	struct vfctl_issue *a;
	unsigned i = 0;

	if (vfctl_rdma_read(e->ctx, vf->rdma, &device) == 0 && device->port_count) {
		device->is_vf = true;
		vfctl_rdma_finding(device, &device->ports[0], &i, text);
	}
	a = found(e, pf_title(pf, name), "%s is active; %s of VF %u has a link but is down, with LID "
		"%u%s",
		pf->rdma, vf->rdma, vf->index, device && device->port_count ? device->ports[0].lid : 0,
		count > 1 ? ", and others" : "");
	vf_title(pf, vf, title);
	if (vf->attrs.mask & VFCTL_ATTR_LINK_STATE && vf->attrs.link_state == VFCTL_LINK_STATE_DISABLE)
		set_remedy(e, a, "its link state is disable: vfctl set %s link-state=auto", title);
	else if (device && device->port_count && !device->ports[0].guid)
		set_remedy(e, a, "it has no GUID: vfctl set %s guid=..., and bind its driver again", title);
	else if (text[0])
		set_remedy(e, a, "%s", text);
	vfctl_rdma_free(device);
}

static void check_vf_ports(struct check_ctx *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];
		const struct vfctl_vf *first = NULL;
		size_t count = 0;

		/* If the PF's own port is down, that is the issue. */
		if (!pf->infiniband || !pf->rdma[0] || !pf->num_vfs || !is_active(e, pf->rdma))
			continue;
		for (uint32_t k = 0; k < pf->num_vfs; k++)
			if (pf->vfs[k].rdma[0] && is_unserved(e, pf->vfs[k].rdma)) {
				first = first ? first : &pf->vfs[k];
				count++;
			}
		if (first)
			tell_unserved(e, pf, first, count);
	}
}

/* ---- the subnet manager ---- */

/* CapabilityMask.IsSM: a subnet manager runs at this port (InfiniBand 1.4, PortInfo). */
#define IS_SM 0x2u

/* The subnet manager with the highest priority is the master, others stand by. */
static void look_at_manager(struct check_ctx *e, const char *name,
	const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port)
{
	const struct vfctl_subnet_spec *subnet = &e->spec->subnet;
	bool here = port->cap_mask & IS_SM;
	struct vfctl_issue *a;

	if (!port->infiniband || port->state != VFCTL_PORT_ACTIVE || !here)
		return;
	if (subnet->runs == VFCTL_SUBNET_ELSEWHERE) {
		a = found(e, name, "host.yaml has subnet-manager: {runs: elsewhere}, and one runs at "
			"%s port %u", device->name, port->number);
		set_remedy(e, a, "stop it here: systemctl disable --now opensm; or write runs: here");
	} else if (port->sm_lid != port->lid) {
		a = found(e, name, "host.yaml has subnet-manager: {runs: here}, and the one at LID %u "
			"manages the fabric of %s port %u (LID %u)", port->sm_lid, device->name,
			port->number, port->lid);
		set_remedy(e, a, "the partitions of this host are not used: stop the other one (sminfo "
			"shows it), write a higher priority than its own, or write runs: elsewhere");
	}
}

static void check_managers(struct check_ctx *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; e->spec && e->spec->subnet.runs && i < inv->pf_count; i++) {
		_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *device = NULL;
		char name[VFCTL_BDF_TEXT];

		if (!inv->pfs[i].infiniband || !inv->pfs[i].rdma[0] ||
			vfctl_rdma_read(e->ctx, inv->pfs[i].rdma, &device) < 0)
			continue;
		for (size_t k = 0; k < device->port_count; k++)
			look_at_manager(e, pf_title(&inv->pfs[i], name), device, &device->ports[k]);
	}
}

const struct check rdma_checks[] = {
	{"infiniband-port", VFCTL_WARNING, "an InfiniBand port that carries VFs has a problem",
		NULL, "the evidence names the remedy; details of the port: vfctl show "
			"PF", check_ports},
	{"infiniband-vf", VFCTL_WARNING, "an InfiniBand VF of the host has a link but stays down: no "
		"subnet manager serves it", NULL, "use a subnet manager that supports VFs", check_vf_ports},
	{"subnet-managers", VFCTL_WARNING, "the subnet manager of the fabric is not the one that "
		"host.yaml states",
		"of several, the one with the highest priority is the master; then that with the lowest GUID",
		"run one", check_managers},
	{.name = NULL},
};
