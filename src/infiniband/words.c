// SPDX-License-Identifier: GPL-2.0-or-later
/* Explain the numbers of a port that does not work. */
#include <stdio.h>

#include "base/util.h"
#include "drivers/driver.h"
#include "infiniband/rdma.h"

const char *vfctl_port_state_name(enum vfctl_port_state state)
{
	static const char *const names[] = {"unknown", "Down", "Initializing", "Armed", "Active",
		"ActiveDefer"};

	return (unsigned)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

const char *vfctl_port_phys_name(enum vfctl_port_phys phys)
{
	static const char *const names[] = {"unknown", "Sleep", "Polling", "Disabled", "Training",
		"LinkUp", "LinkErrorRecovery", "PhyTest"};

	return (unsigned)phys < ARRAY_SIZE(names) ? names[phys] : "unknown";
}

#define LID_NONE 0xffff

typedef bool finding_fn(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p);

static bool no_guid(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->infiniband && !p->guid;
}

/* rdma_cm crashes on it (sriov-network-device-plugin issue 267). */
static bool no_node_guid(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return !d->node_guid && (p->guid || !p->infiniband);
}

static bool polling(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->phys_state == VFCTL_PHYS_POLLING;
}

static bool disabled(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->phys_state == VFCTL_PHYS_DISABLED;
}

static bool training(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->phys_state == VFCTL_PHYS_TRAINING || p->phys_state == VFCTL_PHYS_ERROR_RECOVERY;
}

static bool no_sm(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->infiniband && p->state == VFCTL_PORT_INIT && !p->sm_lid;
}

/* Debian's opensm would configure this port, but not those of its VFs. */
static bool no_sm_for_vfs(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return no_sm(d, p) && driver_has(d->driver, DRIVER_VIRTUAL_PORTS);
}

static bool no_sm_at_all(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return no_sm(d, p) && !no_sm_for_vfs(d, p);
}

static bool sm_slow(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->infiniband && p->sm_lid &&
		(p->state == VFCTL_PORT_INIT || p->state == VFCTL_PORT_ARMED);
}

/*
 * The link is up and the GUID is set, but no subnet manager assigned a LID to the port: Debian's
 * opensm does not support VFs of ConnectX-4 and later (linux-rdma/opensm issue 22); NVIDIA's needs
 * virt_enabled 2 (openshift/sriov-network-operator issue 635).
 */
static bool not_served(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return p->infiniband && d->is_vf && p->guid && p->state == VFCTL_PORT_DOWN &&
		p->phys_state == VFCTL_PHYS_LINK_UP;
}

static bool down(const struct vfctl_rdma_device *d, const struct vfctl_rdma_port *p)
{
	return !d->is_vf && p->state == VFCTL_PORT_DOWN && p->phys_state == VFCTL_PHYS_LINK_UP;
}

static const struct {
	finding_fn *holds;
	const char *message;
} findings[] = {
	{no_guid, "its port GUID is zero, so it never comes up: set one (vfctl set PF/N guid=...), then "
		  "bind its driver again"},
	{no_node_guid, "its node GUID is zero, so RDMA connections fail: bind the VF's driver "
		       "again once its MAC or GUID is set"},
	{polling, "it is polling: no link; check the cable, the other end and its port"},
	{disabled, "it is disabled: enable it (ibportstate LID PORT enable) or set the link up"},
	{training, "the link is training; if this lasts, check the cable"},
	{no_sm_for_vfs, "no subnet manager has configured it: start one on this fabric that knows the VFs "
			"of ConnectX-4 and newer (NVIDIA's opensm, UFM, or that of the switch; not "
			"Debian's opensm)"},
	{no_sm_at_all, "no subnet manager has configured it: start one on this fabric (opensm, or that of "
		       "the switch)"},
	{sm_slow, "the subnet manager has found it but not yet activated it; if this lasts, see the log "
		  "of the subnet manager"},
	{not_served, "the link is up but the subnet manager gives this VF no LID: it must support "
		     "virtualization (NVIDIA's opensm or UFM with virt_enabled 2; not Debian's "
		     "opensm), or the VF's link-state is disable"},
	{down, "the link is up but the port is down: set its network device up, or check the switch"},
};

bool vfctl_rdma_finding(const struct vfctl_rdma_device *device,
	const struct vfctl_rdma_port *port, unsigned *index, char text[VFCTL_FINDING_TEXT])
{
	while (*index < ARRAY_SIZE(findings)) {
		unsigned i = (*index)++;

		if (!findings[i].holds(device, port))
			continue;
		snprintf(text, VFCTL_FINDING_TEXT, "%s", findings[i].message);
		return true;
	}
	return false;
}
