// SPDX-License-Identifier: GPL-2.0-or-later
/* The state and the errors of a function's links, from sysfs. */
#include "checks/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "checks/doctor.h"
#include "host/host.h"
#include "pci/device.h"

#define DEV "/sys/bus/pci/devices/%s/%s"

/* ---- links ---- */

static bool read_link(struct vfctl_ctx *ctx, const char *bdf, const char *which, double *ret_gts,
	unsigned *ret_lanes)
{
	_free_ char *speed = NULL, *width = NULL;
	char name[32];
	uint32_t lanes;

	snprintf(name, sizeof(name), "%s_link_speed", which);
	if (host_try_read(ctx, &speed, DEV, bdf, name) < 0)
		return false;
	snprintf(name, sizeof(name), "%s_link_width", which);
	if (host_try_read(ctx, &width, DEV, bdf, name) < 0 || parse_u32(width, 1, 64, &lanes) < 0)
		return false; /* 255 for an absent device */
	*ret_gts = strtod(speed, NULL); /* "16.0 GT/s PCIe", "Unknown" */
	*ret_lanes = lanes;
	return *ret_gts > 0;
}

static bool read_hop(struct vfctl_ctx *ctx, struct pci_hop *hop)
{
	unsigned up_lanes, down_lanes;
	double up, down;

	if (!read_link(ctx, hop->child, "current", &hop->gts, &hop->lanes) ||
		!read_link(ctx, hop->child, "max", &down, &down_lanes) ||
		!read_link(ctx, hop->parent, "max", &up, &up_lanes))
		return false;
	hop->gts_possible = down < up ? down : up;
	hop->lanes_possible = down_lanes < up_lanes ? down_lanes : up_lanes;
	return true;
}

size_t pci_hops_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct pci_hop *ret)
{
	struct vfctl_bdf path[PCI_PATH_MAX];
	size_t length = pci_path(ctx, bdf, path), count = 0;

	for (size_t i = 1; i < length && count < PCI_HOPS_MAX; i++) {
		struct pci_hop hop = {.gts = 0};

		vfctl_bdf_format(&path[i - 1], hop.parent);
		vfctl_bdf_format(&path[i], hop.child);
		if (read_hop(ctx, &hop))
			ret[count++] = hop;
	}
	return count;
}

/* ---- errors ---- */

/*
 * "TOTAL_ERR_COR 12" at the end of the file
 * (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
 */
static bool read_total(struct vfctl_ctx *ctx, const char *bdf, const char *file, const char *total,
	uint64_t *ret)
{
	_free_ char *text = NULL;
	const char *at;

	if (host_try_read(ctx, &text, DEV, bdf, file) < 0)
		return false;
	at = strstr(text, total);
	return at && sscanf(at + strlen(total), "%" SCNu64, ret) == 1;
}

bool pci_errors_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, uint64_t *ret_correctable,
	uint64_t *ret_others)
{
	uint64_t nonfatal = 0, fatal = 0;
	char text[VFCTL_BDF_TEXT];

	vfctl_bdf_format(bdf, text);
	if (!read_total(ctx, text, "aer_dev_correctable", "TOTAL_ERR_COR", ret_correctable))
		return false;
	read_total(ctx, text, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &nonfatal);
	read_total(ctx, text, "aer_dev_fatal", "TOTAL_ERR_FATAL", &fatal);
	*ret_others = nonfatal + fatal;
	return true;
}

/* ---- counters ---- */

static bool read_count(struct vfctl_ctx *ctx, const char *dir, const char *name, uint64_t *ret)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, "%s/%s", dir, name) == 0 && sscanf(text, "%" SCNu64, ret) == 1;
}

/* Documentation/ABI/testing/sysfs-class-net-statistics, sysfs-class-infiniband. */
static void read_counters(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_health *h)
{
	char dir[128];

	if (pf->netdev[0]) {
		snprintf(dir, sizeof(dir), "/sys/class/net/%s/statistics", pf->netdev);
		h->counters_known = read_count(ctx, dir, "rx_errors", &h->rx_errors);
		read_count(ctx, dir, "tx_errors", &h->tx_errors);
		read_count(ctx, dir, "rx_missed_errors", &h->rx_missed);
		snprintf(dir, sizeof(dir), "/sys/class/net/%s", pf->netdev);
		read_count(ctx, dir, "carrier_down_count", &h->link_downs);
	}
	if (pf->rdma[0]) {
		snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s/ports/1/counters", pf->rdma);
		h->port_known = read_count(ctx, dir, "symbol_error", &h->symbol_errors);
		read_count(ctx, dir, "port_rcv_errors", &h->port_receive_errors);
		read_count(ctx, dir, "link_downed", &h->port_downs);
	}
}

void vfctl_pf_health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_health *ret)
{
	struct vfctl_pf_health h = {0};
	struct pci_hop hops[PCI_HOPS_MAX];
	size_t count = pci_hops_read(ctx, &pf->bdf, hops);
	char bdf[VFCTL_BDF_TEXT];

	vfctl_bdf_format(&pf->bdf, bdf);
	if (count) {
		h.link_gts = hops[count - 1].gts;
		h.link_gts_possible = hops[count - 1].gts_possible;
		h.lanes = hops[count - 1].lanes;
		h.lanes_possible = hops[count - 1].lanes_possible;
	}
	h.errors_known = read_total(ctx, bdf, "aer_dev_correctable", "TOTAL_ERR_COR",
		&h.correctable_errors);
	h.errors_known |= read_total(ctx, bdf, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL",
		&h.nonfatal_errors);
	h.errors_known |= read_total(ctx, bdf, "aer_dev_fatal", "TOTAL_ERR_FATAL", &h.fatal_errors);
	read_counters(ctx, pf, &h);
	*ret = h;
}
