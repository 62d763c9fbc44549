// SPDX-License-Identifier: GPL-2.0-or-later
/* list --health: what each PF's links do and count. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/health.h"

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

/* A PF's reporters; none while they are not known. */
struct reporters {
	struct vfctl_pf_reporter *v;
	size_t count;
	bool known;
};

static void read_reporters(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct reporters *ret)
{
	*ret = (struct reporters){0};
	ret->known = vfctl_pf_reporters_read(ctx, pf, &ret->v, &ret->count) == 0;
}

/* "ok", or those alone that counted something: "tx 3, fw_fatal 1 (in error)". */
static void put_reporters(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	struct reporters all;
	char text[512];
	size_t len = 0;

	read_reporters(ctx, pf, &all);
	snprintf(text, sizeof(text), "%s", all.count ? "ok" : "");
	for (size_t i = 0; i < all.count && len < sizeof(text); i++)
		if (all.v[i].errors || all.v[i].error)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %" PRIu64 "%s",
				len ? ", " : "", all.v[i].name, all.v[i].errors,
				all.v[i].error ? " (in error)" : "");
	out_cell(out, "%s", text);
	free(all.v);
}

void print_health(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *only)
{
	static const char *const headings[] = {"PF", "LINK", "RX ERR", "TX ERR", "MISSED", "PCIE",
		"PCIE ERR", "PORT ERR", "DEVLINK"};
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS, OUT_STAYS, OUT_STAYS, OUT_STAYS,
		OUT_WRAPS_SOON, OUT_STAYS, OUT_STAYS, OUT_WRAPS_SOON};

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
		put_reporters(out, ctx, pf);
	}
	out_table_end(out);
	out_fold(out, 0, "PCIe errors are correctable/nonfatal/fatal (AER); a port's, of RDMA, symbol "
		"errors/receive errors/times down; missed: the host was too slow; devlink: "
		"what the driver's health reporters counted. vfctl doctor says what helps.");
}

/* ---- JSON ---- */

static void put_count(struct out *out, const char *key, bool known, uint64_t value)
{
	if (known)
		out_int(out, key, (int64_t)value);
	else
		out_null(out, key);
}

static void put_reporters_json(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	struct reporters all;

	read_reporters(ctx, pf, &all);
	if (!all.known) {
		out_null(out, "reporters");
		return;
	}
	out_open(out, "reporters", '[');
	for (size_t i = 0; i < all.count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "name", all.v[i].name);
		out_str(out, "state", all.v[i].error ? "error" : "healthy");
		out_int(out, "errors", (int64_t)all.v[i].errors);
		out_int(out, "recoveries", (int64_t)all.v[i].recoveries);
		out_shut(out);
	}
	out_shut(out);
	free(all.v);
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
	put_reporters_json(out, ctx, pf);
	out_shut(out);
}
