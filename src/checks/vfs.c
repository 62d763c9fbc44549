// SPDX-License-Identifier: GPL-2.0-or-later
/* PFs and VFs: who drives them, what they carry, what keeps their packets from arriving. */
#include <stdio.h>

#include "checks/check.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "pci/device.h"
#include "tuning/fdb.h"

#define EACH_PF(e, pf)                                            \
	for (const struct vfctl_pf *pf = (e)->snapshot->inventory->pfs; \
		pf < (e)->snapshot->inventory->pfs + (e)->snapshot->inventory->pf_count; pf++)
#define EACH_VF(pf, vf) \
	for (const struct vfctl_vf *vf = (pf)->vfs; vf < (pf)->vfs + (pf)->num_vfs; vf++)

/* ---- the PF ---- */

/* With some drivers VFs have a link only while the PF's own interface is up. */
static void check_pf_down(struct exam *e)
{
	EACH_PF(e, pf) {
		struct vfctl_ailment *a;
		char name[VFCTL_BDF_TEXT];
		bool taken = false;

		if (!driver_has(pf->driver, DRIVER_VFS_NEED_PF_UP) || !pf->netdev[0] || pf->up ||
			!pf->num_vfs)
			continue;
		EACH_VF(pf, vf)
			taken |= is_taken(vf);
		a = found(e, pf_title(pf, name), "%s is down, and has %u VFs", pf->netdev, pf->num_vfs);
		if (!a)
			return;
		a->severity = taken ? VFCTL_WARNING : VFCTL_NOTE;
		a->fix = VFCTL_FIX_LINK_UP;
		snprintf(a->target, sizeof(a->target), "%s", TEXT(&pf->bdf));
		set_remedy(e, a, "vfctl doctor --fix, or ip link set %s up; for good: link: up "
			"in its entry of host.yaml", pf->netdev);
	}
}

static void check_autoprobe(struct exam *e)
{
	EACH_PF(e, pf) {
		char name[VFCTL_BDF_TEXT];

		if (!pf->autoprobe && !pf->num_vfs && pci_has(e->ctx, &pf->bdf, "sriov_drivers_autoprobe"))
			found(e, pf_title(pf, name), "sriov_drivers_autoprobe of %s is 0, and it has "
				"no VFs",
				TEXT(&pf->bdf));
	}
}

/* What the PF's interface is a port of: "" nothing. */
static void master_of(struct exam *e, const struct vfctl_pf *pf, char ret[32])
{
	_free_ char *master = NULL;

	ret[0] = '\0';
	if (pf->netdev[0] &&
		host_try_link_name(e->ctx, &master, "/sys/class/net/%s/master", pf->netdev) == 0)
		snprintf(ret, 32, "%s", master);
}

static bool has_guests(const struct vfctl_pf *pf)
{
	EACH_VF(pf, vf)
		if (is_taken(vf))
			return true;
	return false;
}

static void tell_missing(struct exam *e, const struct vfctl_pf *pf, const char *bridge,
	const struct vfctl_mac *macs, size_t count)
{
	char mac[VFCTL_MAC_TEXT], name[VFCTL_BDF_TEXT];
	struct vfctl_ailment *a = found(e, pf_title(pf, name), "%s is a port of the bridge %s; %zu of "
		"the MACs behind its other ports, such as %s, are not in the own forwarding table of %s",
		pf->netdev, bridge, count, vfctl_mac_format(&macs[0], mac), pf->netdev);

	if (!a)
		return;
	a->fix = VFCTL_FIX_FDB;
	snprintf(a->target, sizeof(a->target), "%s", TEXT(&pf->bdf));
	set_remedy(e, a, "vfctl doctor --fix, or bridge fdb add MAC dev %s self permanent for each, "
		"again for guests that come later; or give the bridge another card", pf->netdev);
}

/* In switchdev mode it is the representors that guests are reached by, and rules that see all. */
static bool switches_itself(const struct vfctl_pf *pf)
{
	return pf->eswitch != VFCTL_ESWITCH_SWITCHDEV && pf->eswitch != VFCTL_ESWITCH_INACTIVE;
}

static void check_bridge(struct exam *e)
{
	EACH_PF(e, pf) {
		_free_ struct vfctl_mac *macs = NULL;
		char master[32];
		size_t count;

		master_of(e, pf, master);
		if (!master[0] || !has_guests(pf) || !switches_itself(pf) ||
			!host_exists(e->ctx, "/sys/class/net/%s/bridge", master))
			continue;
		if (fdb_missing(e->ctx, pf, &macs, &count) < 0)
			unknown(e, "%s is a port of the bridge %s: %s", pf->netdev, master,
				vfctl_ctx_error(e->ctx));
		else if (count)
			tell_missing(e, pf, master, macs, count);
	}
}

static void check_ovs(struct exam *e)
{
	EACH_PF(e, pf) {
		char master[32], name[VFCTL_BDF_TEXT];

		master_of(e, pf, master);
		if (str_eq(master, "ovs-system") && has_guests(pf) && switches_itself(pf))
			found(e, pf_title(pf, name), "/sys/class/net/%s/master is ovs-system", pf->netdev);
	}
}

/* ---- VFs ---- */

/* It is off, and the hook writes these when it starts. */
static bool gets_at_start(const struct exam *e, const struct vfctl_vf *vf, uint32_t attrs)
{
	const struct vfctl_vf_attrs *intent = vf_intent(e, vf);

	return vf->holder.kind == VFCTL_HOLDER_NONE && intent && (intent->mask & attrs) == attrs;
}

/* What its lease asks for is no ailment. */
static bool wants_down(const struct exam *e, const struct vfctl_vf *vf)
{
	const struct vfctl_vf_attrs *intent = vf_intent(e, vf);

	return intent && intent->mask & VFCTL_ATTR_LINK_STATE &&
		intent->link_state == VFCTL_LINK_STATE_DISABLE;
}

/* No identity changes under a guest that runs, nor of a VF that a definition has without a lease. */
static void tell_identity(struct exam *e, const struct vfctl_vf *vf, const char *title, const char *attr,
	struct vfctl_ailment *a)
{
	bool domain = vf->holder.kind == VFCTL_HOLDER_DOMAIN;

	if (vf->lease.name[0])
		set_remedy(e, a, "vfctl set %s %s=... --config%s", title, attr,
			vf->holder.kind == VFCTL_HOLDER_NONE ? "" : ", then a new start of the guest");
	else if (domain || vf->defined_in[0])
		set_remedy(e, a, "while %s is off: vfctl adopt leases the VF to it, then vfctl set %s %s=... "
			"--config", domain ? vf->holder.name : vf->defined_in, title, attr);
	else
		set_remedy(e, a, "end the program that has the VF, then vfctl set %s %s=...", title, attr);
}

static void check_macs(struct exam *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			char name[VF_TITLE];

			if (pf->infiniband || !is_taken(vf) || !(vf->attrs.mask & VFCTL_ATTR_MAC) ||
				!vfctl_mac_is_zero(&vf->attrs.mac) || gets_at_start(e, vf, VFCTL_ATTR_MAC))
				continue;
			vf_title(pf, vf, name);
			tell_identity(e, vf, name, "mac", found(e, name, "the kernel reports "
				"00:00:00:00:00:00 for VF %u of %s", vf->index, pf->netdev));
		}
}

static void check_guids(struct exam *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			bool node = vf->attrs.mask & VFCTL_ATTR_NODE_GUID && vf->attrs.node_guid;
			bool port = vf->attrs.mask & VFCTL_ATTR_PORT_GUID && vf->attrs.port_guid;
			char name[VF_TITLE];

			if (!pf->infiniband || !is_taken(vf) || !(vf->attrs.mask & VFCTL_ATTR_GUIDS) ||
				(node && port) || gets_at_start(e, vf, VFCTL_ATTR_GUIDS))
				continue;
			vf_title(pf, vf, name);
			tell_identity(e, vf, name, "guid", found(e, name, "%s GUID of VF %u of %s is 0",
				node ? "port" : port ? "node" : "node and port", vf->index, pf->netdev));
		}
}

/* "0000:0000:0000:0000" */
static bool is_zero_guid(const char *text)
{
	return text[0] && text[strspn(text, "0:")] == '\0';
}

static void check_node_guids(struct exam *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			_free_ char *text = NULL;
			char name[VF_TITLE];

			if (vf->rdma[0] && host_try_read(e->ctx, &text, "/sys/class/infiniband/%s/node_guid",
				vf->rdma) == 0 && is_zero_guid(text))
				found(e, vf_title(pf, vf, name), "/sys/class/infiniband/%s/node_guid is %s",
					vf->rdma, text);
		}
}

static void check_vf_links(struct exam *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			struct vfctl_ailment *a;
			char name[VF_TITLE];

			if (!is_taken(vf) || !(vf->attrs.mask & VFCTL_ATTR_LINK_STATE) ||
				vf->attrs.link_state != VFCTL_LINK_STATE_DISABLE || wants_down(e, vf))
				continue;
			a = found(e, vf_title(pf, vf, name), "link state of VF %u of %s is disable",
				vf->index, pf->netdev);
			if (!a)
				return;
			set_remedy(e, a, "vfctl doctor --fix, or vfctl set %s link-state=auto%s", name,
				vf->holder.kind == VFCTL_HOLDER_DOMAIN ? " --live" : vf->lease.name[0]
					? " --config" : "");
			a->fix = VFCTL_FIX_VF_LINK;
			snprintf(a->target, sizeof(a->target), "%s/%u", TEXT(&pf->bdf), vf->index);
		}
}

/* A guest's by its lease, and at work for the host: mostly a network manager took it. */
static void check_host_uses(struct exam *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			char name[VF_TITLE];

			if (vf->lease.name[0] && vf->holder.kind == VFCTL_HOLDER_HOST)
				found(e, vf_title(pf, vf, name), "leased to domain %s; its network "
					"device %s is up on this host", vf->lease.name, vf->netdev);
		}
}

const struct check vf_checks[] = {
	{"pf-down", VFCTL_WARNING, "VFs have no link: their PF's interface is down",
		"with this driver the VFs' link needs the PF up", "ip link set PF up", check_pf_down},
	{"autoprobe-off", VFCTL_NOTE, "new VFs of this PF will get no driver of the host",
		"somebody switched it off, or a command was cut short", "if that is not meant: echo 1 "
			"into sriov_drivers_autoprobe", check_autoprobe},
	{"bridge", VFCTL_WARNING, "VFs do not reach guests on the bridge that their PF is a port of",
		"the card's own switch does not know the MACs behind the PF, and floods nothing to it",
		"bridge fdb add MAC dev PF self permanent", check_bridge},
	{"ovs", VFCTL_WARNING, "a PF in a bridge of Open vSwitch has VFs in guests",
		"what VFs send to each other never passes Open vSwitch: its rules do not hold for them",
		"another PF for one of the two, or switchdev mode with representors", check_ovs},
	{"vf-mac-zero", VFCTL_WARNING, "a guest's VF has no MAC of the host's: it gets another at each "
		"start",
		NULL, "vfctl set VF mac=...", check_macs},
	{"vf-guid-zero", VFCTL_PROBLEM, "a guest's InfiniBand VF has no GUID: no subnet manager serves it",
		"it was never set, or the VF was made anew", "vfctl set VF guid=...", check_guids},
	{"roce-node-guid", VFCTL_WARNING, "an RDMA device has no node GUID: RDMA CM and verbs will not "
		"use it",
		"its MAC was set after its driver had looked", "bind it to its driver anew: vfctl "
			"create sets MACs before drivers look", check_node_guids},
	{"vf-link-down", VFCTL_WARNING, "a guest's VF has its link switched off by the host",
		"the policy is not follow, and its lease does not ask for that", "vfctl doctor --fix",
		check_vf_links},
	{"host-uses-vf", VFCTL_WARNING, "a VF that is leased to a guest is at work for the host",
		"NetworkManager or systemd-networkd took it, mostly", "docs/operations.md has what "
			"keeps network managers from VFs; then vfctl apply", check_host_uses},
	{.name = NULL},
};
