// SPDX-License-Identifier: GPL-2.0-or-later
/* list --health: what each PF's links do and count. */
#include <inttypes.h>
#include <stdio.h>

#include "print_health.h"

/* "up", or "down 3 times" beside it. */
static void put_link(struct out *out, const struct vfctl_pf *pf, const struct vfctl_pf_health *h)
{
	if (!pf->netdev[0])
		out_cell(out, "%s", "");
	else if (h->link_downs)
		out_cell(out, "%s, was down %" PRIu64 "x", pf->carrier ? "up" : "down", h->link_downs);
	else
		out_cell(out, "%s", pf->carrier ? "up" : "down");
}

static void put_counters(struct out *out, const struct vfctl_pf_health *h)
{
	const uint64_t counts[] = {h->rx_errors, h->tx_errors, h->rx_missed};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (h->counters_known)
			out_cell(out, "%" PRIu64, counts[i]);
		else
			out_cell(out, "%s", "");
}

static bool is_slower(const struct vfctl_pf_health *h)
{
	return h->link_gts < h->link_gts_possible || h->lanes < h->lanes_possible;
}

static void put_pcie(struct out *out, const struct vfctl_pf_health *h)
{
	if (!h->lanes)
		out_cell(out, "%s", "");
	else if (is_slower(h))
		out_cell(out, "%g GT/s x%u (could %g x%u)", h->link_gts, h->lanes, h->link_gts_possible,
			h->lanes_possible);
	else
		out_cell(out, "%g GT/s x%u", h->link_gts, h->lanes);
	if (h->errors_known)
		out_cell(out, "%" PRIu64 "/%" PRIu64 "/%" PRIu64, h->correctable_errors, h->nonfatal_errors,
			h->fatal_errors);
	else
		out_cell(out, "%s", "");
}

static void put_port(struct out *out, const struct vfctl_pf_health *h)
{
	if (h->port_known)
		out_cell(out, "%" PRIu64 "/%" PRIu64 "/%" PRIu64, h->symbol_errors, h->port_receive_errors,
			h->port_downs);
	else
		out_cell(out, "%s", "");
}

void print_health(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *only)
{
	static const char *const headings[] = {"PF", "LINK", "RX ERR", "TX ERR", "MISSED", "PCIE",
		"PCIE ERR", "PORT ERR"};
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS, OUT_STAYS, OUT_STAYS, OUT_STAYS,
		OUT_WRAPS_SOON, OUT_STAYS, OUT_STAYS};

	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];
		struct vfctl_pf_health h;
		char name[VFCTL_BDF_TEXT];

		if (only && pf != only)
			continue;
		vfctl_pf_health_read(ctx, pf, &h);
		out_cell(out, "%s", vfctl_pf_name(pf, name));
		put_link(out, pf, &h);
		put_counters(out, &h);
		put_pcie(out, &h);
		put_port(out, &h);
	}
	out_table_end(out);
	out_fold(out, 0, "PCIe errors are correctable/nonfatal/fatal (AER); a port's, of RDMA, symbol "
		"errors/receive errors/times down; missed: the host was too slow. vfctl doctor says "
		"what helps.");
}

/* ---- JSON ---- */

static void put_count(struct out *out, const char *key, bool known, uint64_t value)
{
	if (known)
		out_int(out, key, (int64_t)value);
	else
		out_null(out, key);
}

void print_health_json(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	struct vfctl_pf_health h;

	vfctl_pf_health_read(ctx, pf, &h);
	out_open(out, "health", '{');
	put_count(out, "pcie_mts", h.lanes, (uint64_t)(h.link_gts * 1000));
	put_count(out, "pcie_mts_possible", h.lanes, (uint64_t)(h.link_gts_possible * 1000));
	put_count(out, "pcie_lanes", h.lanes, h.lanes);
	put_count(out, "pcie_lanes_possible", h.lanes, h.lanes_possible);
	put_count(out, "pcie_correctable_errors", h.errors_known, h.correctable_errors);
	put_count(out, "pcie_nonfatal_errors", h.errors_known, h.nonfatal_errors);
	put_count(out, "pcie_fatal_errors", h.errors_known, h.fatal_errors);
	put_count(out, "rx_errors", h.counters_known, h.rx_errors);
	put_count(out, "tx_errors", h.counters_known, h.tx_errors);
	put_count(out, "rx_missed", h.counters_known, h.rx_missed);
	put_count(out, "link_downs", h.counters_known, h.link_downs);
	put_count(out, "symbol_errors", h.port_known, h.symbol_errors);
	put_count(out, "port_receive_errors", h.port_known, h.port_receive_errors);
	put_count(out, "port_downs", h.port_known, h.port_downs);
	out_shut(out);
}
