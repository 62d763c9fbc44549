// SPDX-License-Identifier: GPL-2.0-or-later
/* list --health: the state and the counters of each PF's links. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/health.h"
#include "print/list.h"

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

static void read_reporters(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct reporters *ret)
{
	*ret = (struct reporters){0};
	ret->known = vfctl_pf_reporters_read(ctx, pf, &ret->v, &ret->count) == 0;
}

/* "ok", or only those that counted errors: "tx 3, fw_fatal 1 (in error)". */
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

void print_health(struct out *out, const struct vfctl_inventory *inv, const struct list_view *view)
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

		if (!list_has_pf(view, pf))
			continue;
		vfctl_pf_health_read(view->ctx, pf, &h);
		out_cell(out, "%s", vfctl_pf_name(pf, name));
		put_link(out, pf, &h);
		put_counters(out, &h);
		put_pcie(out, &h);
		put_port(out, &h);
		put_reporters(out, view->ctx, pf);
	}
	out_table_end(out);
	out_fold(out, 0, "PCIe errors: correctable/nonfatal/fatal (AER). RDMA ports: symbol "
		"errors/receive errors/times down. missed: packets dropped because the host was "
		"too slow. devlink: counters of the driver's health reporters. For remedies: "
		"vfctl doctor");
}

/* ---- JSON ---- */

#define OF struct vfctl_pf_reporter
TEXT_OF(reporter_state, OF, it->error ? "error" : "healthy")
static const struct member reporter_table[] = {
	FIELD(name, "name of the reporter; reporters with the same name are counted together",
		FILLED),
	TEXT("state", reporter_state, "healthy or error"),
	FIELD(errors, "errors since the driver was loaded"),
	FIELD(recoveries, "recoveries since the driver was loaded"), END};
#undef OF

#define OF struct vfctl_pf_health
NUMBER_OF(link_mts, OF, it->lanes, it->link_gts * 1000)
NUMBER_OF(possible_mts, OF, it->lanes, it->link_gts_possible * 1000)
static const struct member counters_table[] = {
	NUMBER("pcie_mts", link_mts, "million transfers/s of each lane of the PCIe link", NULLABLE),
	NUMBER("pcie_mts_possible", possible_mts, "million transfers/s that both ends support",
		NULLABLE),
	FIELD_AS("pcie_lanes", lanes, "lanes in use", KNOWN_BY(lanes)),
	FIELD_AS("pcie_lanes_possible", lanes_possible, "lanes that both ends support",
		KNOWN_BY(lanes)),
	FIELD_AS("pcie_correctable_errors", correctable_errors, "correctable errors of AER since "
		"boot", KNOWN_BY(errors_known)),
	FIELD_AS("pcie_nonfatal_errors", nonfatal_errors, "nonfatal errors of AER since boot",
		KNOWN_BY(errors_known)),
	FIELD_AS("pcie_fatal_errors", fatal_errors, "fatal errors of AER since boot",
		KNOWN_BY(errors_known)),
	FIELD(rx_errors, "receive errors of the network device", KNOWN_BY(counters_known)),
	FIELD(tx_errors, "transmit errors of the network device", KNOWN_BY(counters_known)),
	FIELD(rx_missed, "packets dropped because the host was too slow", KNOWN_BY(counters_known)),
	FIELD(link_downs, "number of times that the link went down", KNOWN_BY(counters_known)),
	FIELD(symbol_errors, "symbol errors of port 1 of the RDMA device", KNOWN_BY(port_known)),
	FIELD(port_receive_errors, "receive errors of that port", KNOWN_BY(port_known)),
	FIELD(port_downs, "number of times that the link of that port went down",
		KNOWN_BY(port_known)), END};
#undef OF

#define OF struct health
const struct member answer_health[] = {
	PART(counters, counters_table),
	LIST("reporters", reporters.v, reporters.count, reporter_table, "devlink health reporters "
		"of the driver; null: they cannot be read", KNOWN_BY(reporters.known)), END};
#undef OF

void health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct health *ret)
{
	vfctl_pf_health_read(ctx, pf, &ret->counters);
	read_reporters(ctx, pf, &ret->reporters);
}

void health_clear(struct health *health)
{
	free(health->reporters.v);
}
