// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether PFs and the host are ready for a run: the checklist of published measurements, one row an
 * item.
 */
#include "checks/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "facts/snapshot/memlock.h"
#include "host/host.h"
#include "infiniband/rdma.h"
#include "pci/device.h"

#define GOVERNOR "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor"
#define GOVERNOR_WANTED "performance"
#define CLASS_NETWORK 0x02

struct making {
	struct vfctl_ctx *ctx;
	struct vfctl_readiness *report;
	const char *subject;
	bool failed; /* memory was exhausted */
};

/* @remedy: only for a problem. */
static void add(struct making *m, const char *item, enum vfctl_ready state, const char *remedy,
	const char *found, ...) _printf_(5, 6);

static void add(struct making *m, const char *item, enum vfctl_ready state, const char *remedy,
	const char *found, ...)
{
	struct vfctl_readiness *report = m->report;
	struct vfctl_ready_item *row;
	va_list args;

	if (!array_grow(report->v, report->count)) {
		m->failed = true;
		return;
	}
	row = &report->v[report->count++];
	*row = (struct vfctl_ready_item){.item = item, .state = state};
	str_copy(row->subject, sizeof(row->subject), m->subject);
	va_start(args, found);
	row->found = str_vformat(found, args);
	va_end(args);
	row->remedy = state == VFCTL_READY_PROBLEM ? strdup(remedy) : NULL;
	m->failed |= !row->found || (state == VFCTL_READY_PROBLEM && !row->remedy);
}

static enum vfctl_ready state_of(bool good)
{
	return good ? VFCTL_READY_OK : VFCTL_READY_PROBLEM;
}

/* ---- a PF ---- */

static void add_device(struct making *m, const struct vfctl_pf *pf,
	const struct vfctl_rdma_device *rdma)
{
	char remedy[96];

	snprintf(remedy, sizeof(remedy), "bind the PF: echo %s > /sys/bus/pci/drivers_probe",
		TEXT(&pf->bdf));
	add(m, "device", state_of(pf->driver[0]), remedy, "%s %s", TEXT(&pf->bdf),
		pf->driver[0] ? pf->driver : "has no driver");
	if (rdma && rdma->firmware[0])
		add(m, "firmware", VFCTL_READY_OK, NULL, "%s %s", rdma->ca_type, rdma->firmware);
	else if (pf->netdev[0])
		add(m, "firmware", VFCTL_READY_UNKNOWN, NULL, "not known; see: ethtool -i %s", pf->netdev);
	else
		add(m, "firmware", VFCTL_READY_UNKNOWN, NULL, "not known");
}

static void add_netdev(struct making *m, const struct vfctl_pf *pf)
{
	char remedy[96];

	if (!pf->netdev[0])
		return;
	snprintf(remedy, sizeof(remedy), pf->up ? "check the cable and the switch"
		: "ip link set %s up", pf->netdev);
	add(m, "interface", state_of(pf->up && pf->carrier), remedy, "%s is %s, MTU %u", pf->netdev,
		!pf->up ? "down" : pf->carrier ? "up" : "up, without a link", pf->mtu);
}

static void add_port(struct making *m, const struct vfctl_pf *pf,
	const struct vfctl_rdma_device *rdma,
	const struct vfctl_rdma_port *p)
{
	bool active = p->state == VFCTL_PORT_ACTIVE || p->state == VFCTL_PORT_ACTIVE_DEFER;
	bool link = p->phys_state == VFCTL_PHYS_LINK_UP;
	char rate[48] = "", remedy[128];

	if (p->rate_mbps)
		snprintf(rate, sizeof(rate), ", %g Gb/s (%uX %s)", p->rate_mbps / 1000.0, p->width, p->speed);
	if (link && !p->infiniband)
		snprintf(remedy, sizeof(remedy), "ip link set %s up", pf->netdev);
	else
		snprintf(remedy, sizeof(remedy), "%s; details: vfctl show %s", link
			? "start a subnet manager" : "check the cable and the switch", m->subject);
	add(m, "port", state_of(active && link), remedy, "%s/%u is %s, %s, %s%s", rdma->name, p->number,
		vfctl_port_state_name(p->state), vfctl_port_phys_name(p->phys_state),
		p->infiniband ? "InfiniBand" : "Ethernet", rate);
	if (p->infiniband)
		add(m, "subnet manager", state_of(p->sm_lid), "start a subnet manager; in host.yaml: "
			"subnet-manager", p->sm_lid ? "at LID %u" : "none found", p->sm_lid);
	/* With RoCE it follows the MTU of the interface, which the network decides. */
	if (p->active_mtu)
		add(m, "RDMA MTU", state_of(!p->infiniband || p->active_mtu == p->max_mtu), "the switch or "
			"the subnet manager limits it; details: ibv_devinfo -v", "%u of %u",
			p->active_mtu, p->max_mtu);
}

static void add_pcie(struct making *m, const struct vfctl_pf *pf)
{
	struct vfctl_pf_health h;

	vfctl_pf_health_read(m->ctx, pf, &h);
	if (!h.lanes) {
		add(m, "PCIe", VFCTL_READY_UNKNOWN, NULL, "not known");
		return;
	}
	add(m, "PCIe", state_of(h.link_gts >= h.link_gts_possible && h.lanes >= h.lanes_possible),
		"reseat the card, or use another slot; see vfctl doctor", "%g GT/s x%u of %g GT/s x%u",
		h.link_gts, h.lanes, h.link_gts_possible, h.lanes_possible);
}

/* The CPUs of its node; without a node, all. */
static bool read_local_cpus(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_cpuset *ret)
{
	_free_ char *text = NULL;
	int r = pf->numa_node >= 0
		? host_try_read(ctx, &text, "/sys/devices/system/node/node%d/cpulist", pf->numa_node)
		: host_try_read(ctx, &text, "/sys/devices/system/cpu/online");

	return r == 0 && vfctl_cpuset_parse(str_rstrip(text), ret) == 0;
}

static void add_governor(struct making *m, const struct vfctl_pf *pf)
{
	struct vfctl_cpuset local = {0}, others = {0};
	_free_ char *other = NULL;
	bool any = false;
	char cpus[128];

	if (!read_local_cpus(m->ctx, pf, &local))
		local = (struct vfctl_cpuset){0};
	for (int c = vfctl_cpuset_next(&local, 0); c >= 0; c = vfctl_cpuset_next(&local,
		(unsigned)c + 1)) {
		_free_ char *now = NULL;

		if (host_try_read(m->ctx, &now, GOVERNOR, (unsigned)c) < 0)
			continue;
		any = true;
		if (str_eq(now, GOVERNOR_WANTED))
			continue;
		vfctl_cpuset_add(&others, (unsigned)c);
		if (!other)
			other = steal(now);
	}
	vfctl_cpuset_format(other ? &others : &local, cpus, sizeof(cpus));
	if (!any)
		add(m, "governor", VFCTL_READY_UNKNOWN, NULL, "the CPUs have none");
	else
		add(m, "governor", state_of(!other), "set kernel: {governor: performance} in host.yaml, or "
			"tuning: latency for a guest", "%s on CPUs %s",
			other ? other : GOVERNOR_WANTED, cpus);
}

static int add_pf(struct making *m, const struct vfctl_pf *pf)
{
	_cleanup_(vfctl_rdma_freep) struct vfctl_rdma_device *rdma = NULL;
	char name[VFCTL_BDF_TEXT];
	int r = pf->rdma[0] ? vfctl_rdma_read(m->ctx, pf->rdma, &rdma) : 0;

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		ctx_clear(m->ctx);
	m->subject = vfctl_pf_name(pf, name);
	add_device(m, pf, rdma);
	add_netdev(m, pf);
	for (size_t i = 0; rdma && i < rdma->port_count; i++)
		add_port(m, pf, rdma, &rdma->ports[i]);
	add_pcie(m, pf);
	add_governor(m, pf);
	return 0;
}

/* ---- the host ---- */

static void add_memlock(struct making *m)
{
	uint64_t bytes;

	m->subject = "";
	if (!memlock_of_self(m->ctx, &bytes))
		add(m, "locked memory", VFCTL_READY_UNKNOWN, NULL, "not known");
	else if (bytes == VFCTL_MEMLOCK_UNLIMITED)
		add(m, "locked memory", VFCTL_READY_OK, NULL, "unlimited, for programs of this session");
	else
		add(m, "locked memory", VFCTL_READY_PROBLEM, "set kernel: {memlock: unlimited, "
			"memlock-all-users: on} in host.yaml, and log in again", "%" PRIu64 " KiB, for "
			"programs of this session", bytes >> 10);
}

int vfctl_readiness_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *const *pfs, size_t count, struct vfctl_readiness **ret)
{
	_cleanup_(vfctl_readiness_freep) struct vfctl_readiness *report = calloc(1, sizeof(*report));
	struct making m = {.ctx = ctx, .report = report};
	int r = report ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_pf(&m, pfs[i]);
	/* A GPU lowers the speed of its link while it is idle. */
	for (size_t i = 0; r == 0 && !count && i < inventory->pf_count; i++)
		if (inventory->pfs[i].class_code >> 16 == CLASS_NETWORK)
			r = add_pf(&m, &inventory->pfs[i]);
	if (r == 0 && !report->count) {
		m.subject = "";
		add(&m, "device", VFCTL_READY_UNKNOWN, NULL, "this host has no network card with SR-IOV");
	}
	if (r == 0)
		add_memlock(&m);
	if (r < 0 || m.failed)
		return ctx_oom(ctx);
	for (size_t i = 0; i < report->count; i++)
		report->problems += report->v[i].state == VFCTL_READY_PROBLEM;
	*ret = steal(report);
	return 0;
}

void vfctl_readiness_free(struct vfctl_readiness *report)
{
	for (size_t i = 0; report && i < report->count; i++) {
		free(report->v[i].found);
		free(report->v[i].remedy);
	}
	if (report)
		free(report->v);
	free(report);
}

const char *vfctl_ready_name(enum vfctl_ready state)
{
	static const char *const names[] = {[VFCTL_READY_OK] = "ok", [VFCTL_READY_PROBLEM] = "problem",
		[VFCTL_READY_UNKNOWN] = "unknown"};

	return names[state];
}
