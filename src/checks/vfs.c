// SPDX-License-Identifier: GPL-2.0-or-later
/* PFs and VFs: their users, their policies, and causes of lost packets. */
#include <stdio.h>
#include <string.h>

#include "checks/check.h"
#include "drivers/driver.h"
#include "facts/snapshot/references.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "tuning/uplink.h"
#include "types/find.h"

#define EACH_PF(e, pf)                                            \
	for (const struct vfctl_pf *pf = (e)->snapshot->inventory->pfs; \
		pf < (e)->snapshot->inventory->pfs + (e)->snapshot->inventory->pf_count; pf++)
#define EACH_VF(pf, vf) \
	for (const struct vfctl_vf *vf = (pf)->vfs; vf < (pf)->vfs + (pf)->num_vfs; vf++)

/* ---- the PF ---- */

/* With some drivers VFs have a link only while the PF's own interface is up. */
static void check_pf_down(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		struct vfctl_issue *a;
		char name[VFCTL_BDF_TEXT];
		bool taken = false;

		if (!driver_has(pf->driver, DRIVER_VFS_NEED_PF_UP) || !pf->netdev[0] || pf->up ||
			!pf->num_vfs)
			continue;
		EACH_VF(pf, vf)
			taken |= is_taken(vf);
		a = found(e, pf_title(pf, name), "%s is down and has %u VFs", pf->netdev, pf->num_vfs);
		if (!a)
			return;
		a->severity = taken ? VFCTL_WARNING : VFCTL_NOTE;
		a->fix = VFCTL_FIX_LINK_UP;
		snprintf(a->target, sizeof(a->target), "%s", TEXT(&pf->bdf));
		set_remedy(e, a, "run vfctl doctor --fix or ip link set %s up; to keep it, write link: "
			"up into its entry of host.yaml", pf->netdev);
	}
}

static void check_autoprobe(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		char name[VFCTL_BDF_TEXT];

		if (!pf->autoprobe && !pf->num_vfs && pci_has(e->ctx, &pf->bdf, "sriov_drivers_autoprobe"))
			found(e, pf_title(pf, name), "sriov_drivers_autoprobe of %s is 0 and it has no "
				"VFs",
				TEXT(&pf->bdf));
	}
}

/* The bridge or bond of the PF's interface; "" if there is none. */
static void master_of(struct check_ctx *e, const struct vfctl_pf *pf, char ret[32])
{
	_free_ char *master = NULL;

	ret[0] = '\0';
	if (pf->netdev[0] &&
		host_try_link_name(e->ctx, &master, "/sys/class/net/%s/master", pf->netdev) == 0)
		snprintf(ret, 32, "%s", master);
}

/* A guest, or a container or the host itself, has one of its VFs. */
static bool has_users(const struct vfctl_pf *pf)
{
	EACH_VF(pf, vf)
		if (is_taken(vf) || vf->holder.kind != VFCTL_HOLDER_NONE)
			return true;
	return false;
}

/* "38 of 127 entries are used" */
static void table_text(const struct vfctl_uplink *u, char *buf, size_t size)
{
	if (u->capacity < 0)
		snprintf(buf, size, "%zu entr%s used; how many it holds is not known", u->own_count,
			u->own_count == 1 ? "y is" : "ies are");
	else
		snprintf(buf, size, "%zu of %d entries are used", u->own_count, u->capacity);
}

static const char *uplink_title(const struct vfctl_uplink *u, char buf[VF_TITLE])
{
	return u->vf ? vf_title(u->pf, u->vf, buf) : pf_title(u->pf, buf);
}

static const struct vfctl_station *first_missing(const struct vfctl_uplink *u)
{
	const struct vfctl_station *s = u->stations;

	while (s->there)
		s++;
	return s;
}

static void tell_missing(struct check_ctx *e, const struct vfctl_uplink *u)
{
	const struct vfctl_station *first = first_missing(u);
	char mac[VFCTL_MAC_TEXT], title[VF_TITLE], table[80];
	size_t room = vfctl_uplink_room(u);
	struct vfctl_issue *a;

	table_text(u, table, sizeof(table));
	a = found(e, uplink_title(u, title), "%zu of the %zu MACs behind the bridge %s, such as %s on %s, "
		"are not in the forwarding table of %s itself; %s", u->missing, u->station_count,
		u->bridges[0], vfctl_mac_format(&first->mac, mac), first->port, u->netdev, table);
	if (!a)
		return;
	if (room)
		a->fix = VFCTL_FIX_FDB;
	snprintf(a->target, sizeof(a->target), "%s", TEXT(&u->pf->bdf));
	if (!room)
		set_remedy(e, a, "remove entries that nothing uses (bridge fdb show dev %s); %s. Or use "
			"switchdev mode or another card", u->netdev, vfctl_uplink_past_text(u->past));
	else if (room < u->missing)
		set_remedy(e, a, "vfctl doctor --fix adds %zu of them; %s. For the others use switchdev "
			"mode or another card", room, vfctl_uplink_past_text(u->past));
	else
		set_remedy(e, a, "run vfctl doctor --fix; for later guests and after a reboot, write bridge: "
			"learnt into its entry of host.yaml and run: systemctl enable --now vfctl-bridge");
}

static void tell_overfull(struct check_ctx *e, const struct vfctl_uplink *u)
{
	char title[VF_TITLE];
	struct vfctl_issue *a = found(e, uplink_title(u, title), "the forwarding table of %s has %zu "
		"unicast MACs and holds %d: %s", u->netdev, u->own_count, u->capacity,
		vfctl_uplink_past_text(u->past));

	if (a)
		set_remedy(e, a, "remove MACs that nothing uses: bridge fdb show dev %s, then bridge fdb "
			"del MAC dev %s self", u->netdev, u->netdev);
}

static void check_bridge(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks uplinks = {0};

		if (!has_users(pf))
			continue;
		if (vfctl_uplinks_read(e->ctx, e->snapshot->inventory, pf, &uplinks) < 0)
			unknown(e, "a bridge is on %s: %s", pf->netdev, vfctl_ctx_error(e->ctx));
		for (size_t i = 0; i < uplinks.count; i++) {
			const struct vfctl_uplink *u = &uplinks.v[i];

			if (u->capacity >= 0 && u->own_count > (size_t)u->capacity)
				tell_overfull(e, u);
			else if (u->missing)
				tell_missing(e, u);
		}
	}
}

static void tell_pretender(struct check_ctx *e, const struct vfctl_uplink *u,
	const struct vfctl_pretender *p)
{
	const struct vfctl_vf *vf = find_vf_number(u->pf->vfs, u->pf->num_vfs, p->vf);
	char mac[VFCTL_MAC_TEXT], user[256], title[VF_TITLE];
	struct vfctl_issue *a = found(e, vf_title(u->pf, vf, title),
		"%s of the bridge %s claims %s, which "
		"is the MAC of this VF (%s)", p->port, u->bridges[0], vfctl_mac_format(&p->mac, mac),
		vf_describe_user(vf, user, sizeof(user)));

	if (a)
		set_remedy(e, a, "find what is connected to %s and give it a MAC of its own; vfctl never "
			"adds the MAC of a VF to the card's table", p->port);
}

static void check_pretenders(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks uplinks = {0};

		vfctl_uplinks_read(e->ctx, e->snapshot->inventory, pf,
			&uplinks); /* check_bridge() reports a failure */
		for (size_t i = 0; i < uplinks.count; i++)
			for (size_t k = 0; k < uplinks.v[i].pretender_count; k++)
				tell_pretender(e, &uplinks.v[i], &uplinks.v[i].pretenders[k]);
	}
}

/* In switchdev mode, packets reach guests through the representors and the rules on them. */
static bool switches_itself(const struct vfctl_pf *pf)
{
	return pf->eswitch != VFCTL_ESWITCH_SWITCHDEV && pf->eswitch != VFCTL_ESWITCH_INACTIVE;
}

static void check_ovs(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		char master[32], name[VFCTL_BDF_TEXT];

		master_of(e, pf, master);
		if (str_eq(master, "ovs-system") && has_users(pf) && switches_itself(pf))
			found(e, pf_title(pf, name), "/sys/class/net/%s/master is ovs-system", pf->netdev);
	}
}

/* ---- VFs ---- */

/* The domain is off, and the hook writes these values when it starts. */
static bool gets_at_start(const struct check_ctx *e, const struct vfctl_vf *vf, uint32_t attrs)
{
	const struct vfctl_vf_attrs *intent = vf_intent(e, vf);

	return vf->holder.kind == VFCTL_HOLDER_NONE && intent && (intent->mask & attrs) == attrs;
}

/* A state that the lease requests is not an issue. */
static bool wants_down(const struct check_ctx *e, const struct vfctl_vf *vf)
{
	const struct vfctl_vf_attrs *intent = vf_intent(e, vf);

	return intent && intent->mask & VFCTL_ATTR_LINK_STATE &&
		intent->link_state == VFCTL_LINK_STATE_DISABLE;
}

/*
 * An identity is not changed while its guest runs, nor if a definition without a lease has the VF.
 */
static void tell_identity(struct check_ctx *e, const struct vfctl_vf *vf, const char *title,
	const char *attr,
	struct vfctl_issue *a)
{
	bool domain = vf->holder.kind == VFCTL_HOLDER_DOMAIN;

	if (vf->lease.name[0])
		set_remedy(e, a, "vfctl set %s %s=... --config%s", title, attr,
			vf->holder.kind == VFCTL_HOLDER_NONE ? "" : ", then restart the guest");
	else if (domain || vf->defined_in[0])
		set_remedy(e, a, "while %s is off, lease the VF to it, then set it: vfctl adopt %s; vfctl "
			"set %s %s=... --config", domain ? vf->holder.name : vf->defined_in,
			domain ? vf->holder.name : vf->defined_in, title, attr);
	else
		set_remedy(e, a, "end the program that uses the VF, then run: vfctl set %s "
			"%s=...", title, attr);
}

static void check_macs(struct check_ctx *e)
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

static void check_guids(struct check_ctx *e)
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

static void check_node_guids(struct check_ctx *e)
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

static void check_vf_links(struct check_ctx *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			struct vfctl_issue *a;
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

/* Leased to a guest but used by the host: usually a network manager took it. */
static void check_host_uses(struct check_ctx *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			char name[VF_TITLE];

			if (vf->lease.name[0] && vf->holder.kind == VFCTL_HOLDER_HOST)
				found(e, vf_title(pf, vf, name), "leased to domain %s; its network "
					"device %s is up on this host", vf->lease.name, vf->netdev);
			else if (vf->defined_in[0] && vf->holder.kind == VFCTL_HOLDER_HOST)
				found(e, vf_title(pf, vf, name), "in the definition of %s; its network "
					"device %s is up on this host", vf->defined_in, vf->netdev);
		}
}

/* A domain that is off has the whole PF: its start removes the VFs of the others. */
static void check_whole_pfs(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		char name[VFCTL_BDF_TEXT], title[VF_TITLE], user[256];
		const struct vfctl_vf *used = NULL;

		if (!pf->defined_in[0])
			continue;
		EACH_VF(pf, vf)
			used = !used && vf_is_busy(vf) ? vf : used;
		if (used)
			found(e, pf_title(pf, name), "in the definition of %s; its VF %s is %s",
				pf->defined_in, vf_title(pf, used, title),
				vf_describe_user(used, user, sizeof(user)));
	}
}

/*
 * libvirt takes the first VF of a network that no domain uses: it knows nothing of leases. vfctl
 * leases no VF of an active network, but the network may have become active later.
 */
static void check_network(struct check_ctx *e, const struct known_pool *pool)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			char name[VF_TITLE];

			if (!vf->lease.name[0] || !known_pool_has(pool, &pf->bdf, &vf->bdf))
				continue;
			found(e, vf_title(pf, vf, name), "leased to domain %s, and in libvirt's network %s, "
				"which %s", vf->lease.name, pool->name,
				pool->active ? "is active" : "libvirt starts at boot");
		}
}

static void check_networks(struct check_ctx *e)
{
	struct known_pool *pools = NULL;
	size_t count = 0;

	if (known_pools_read(e->ctx, &pools, &count) < 0)
		ctx_clear(e->ctx); /* the snapshot has reported it */
	for (size_t i = 0; i < count; i++)
		if (pools[i].active || pools[i].autostart)
			check_network(e, &pools[i]);
	known_pools_free(pools, count);
}

/* defined_in leaves out who leases or uses the VF. */
static void check_twice(struct check_ctx *e)
{
	EACH_PF(e, pf)
		EACH_VF(pf, vf) {
			const char *owner = vf->lease.name[0] ? vf->lease.name
				: vf->holder.kind == VFCTL_HOLDER_DOMAIN ? vf->holder.name : NULL;
			char name[VF_TITLE];

			if (vf->defined_in[0] && owner)
				found(e, vf_title(pf, vf, name), "%s domain %s, and in the definition of %s",
					vf->lease.name[0] ? "leased to" : "in use by", owner, vf->defined_in);
			else if (strchr(vf->defined_in, ','))
				found(e, vf_title(pf, vf, name), "in the definitions of %s",
					vf->defined_in);
		}
}

const struct check vf_checks[] = {
	{"pf-down", VFCTL_WARNING, "VFs have no link: the interface of their PF is down",
		"with this driver, VFs have a link only while the PF is up", "ip link set PF "
		"up", check_pf_down},
	{"autoprobe-off", VFCTL_NOTE, "the host binds no driver to new VFs of this PF",
		"an administrator disabled probing, or a command was interrupted", "if this is not "
			"intended, write 1 into sriov_drivers_autoprobe", check_autoprobe},
	{"bridge", VFCTL_WARNING, "VFs cannot reach guests on the bridge of their PF",
		"the card's embedded switch does not know the MACs behind the PF and does not flood to "
		"it",
		"bridge fdb add MAC dev PF self permanent", check_bridge},
	{"bridge-mac", VFCTL_WARNING, "a station on a bridge has the MAC of a VF of the card",
		"the card then sends the VF's packets to the bridge as well, or to the bridge alone",
		"give the station a MAC of its own", check_pretenders},
	{"ovs", VFCTL_WARNING, "guests use VFs of a PF that is a port of an Open vSwitch bridge",
		"traffic between VFs does not pass Open vSwitch, so its rules do not apply",
		"use different PFs, or switchdev mode with representors", check_ovs},
	{"vf-mac-zero", VFCTL_WARNING, "the host set no MAC for a guest's VF: it gets another one at "
		"each start",
		NULL, "vfctl set VF mac=...", check_macs},
	{"vf-guid-zero", VFCTL_PROBLEM, "a guest's InfiniBand VF has no GUID: no subnet manager serves it",
		"it was never set, or the VF was created again", "vfctl set VF guid=...", check_guids},
	{"roce-node-guid", VFCTL_WARNING, "an RDMA device has no node GUID: RDMA CM and verbs cannot "
		"use it",
		"its MAC was set after its driver was bound", "bind it to its driver again; vfctl "
			"create sets MACs before drivers are bound", check_node_guids},
	{"vf-link-down", VFCTL_WARNING, "the host disabled the link of a guest's VF",
		"its link policy is not Follow, which its lease does not ask for", "vfctl doctor --fix",
		check_vf_links},
	{"host-uses-vf", VFCTL_WARNING, "the host uses a VF of a guest",
		"usually NetworkManager or systemd-networkd configured it",
		"keep network managers away from VFs (docs/how-to/boot.md), then run: vfctl "
			"apply", check_host_uses},
	{"vf-twice", VFCTL_WARNING, "two domains have the same VF: only one of them can run",
		"a definition was copied, or was written by hand", "give one of them another VF: remove "
		"the device from its definition (virsh edit), then run: vfctl attach DOMAIN --pf PF",
		check_twice},
	{"vf-network", VFCTL_WARNING, "libvirt may choose a leased VF for another domain, which then does "
		"not start", "the network became active after the VF was leased",
		"list the other VFs in the network by their addresses (virsh net-edit), or give the domain "
		"another VF: vfctl detach DOMAIN --vf VF", check_networks},
	{"pf-in-guest", VFCTL_WARNING, "a domain has a whole PF whose VFs are in use",
		"the kernel removes all VFs when a PF leaves its driver", "give the domain a VF: remove "
		"the PF from its definition (virsh edit), then run: vfctl attach DOMAIN --pf PF",
		check_whole_pfs},
	{.name = NULL},
};
