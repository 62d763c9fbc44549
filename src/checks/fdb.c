// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which MACs behind a bridge may be written to the card. The card then sends packets of VFs for
 * these MACs to the PF, and a guest on the bridge can choose its MAC.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "checks/host_checks.h"
#include "host/host.h"
#include "ids/live.h"
#include "ids/owner.h"
#include "ids/values.h"

/*
 * Whether it is the address of a default gateway (Linux, Documentation/networking/proc_net_tcp:
 * hex, as in memory).
 */
static bool is_gateway(const char *routes, const char *address)
{
	struct in_addr ip;

	if (inet_pton(AF_INET, address, &ip) != 1)
		return false;
	for (const char *line = routes; *line; line += strcspn(line, "\n"), line += *line != '\0') {
		unsigned destination, gateway;

		if (sscanf(line, "%*15s %8x %8x", &destination, &gateway) == 2 && !destination &&
			gateway && gateway == ip.s_addr)
			return true;
	}
	return false;
}

/*
 * Whether it is the MAC of a default gateway of this host, according to the kernel's neighbour
 * table.
 */
static bool is_gateways_mac(struct vfctl_ctx *ctx, const struct vfctl_mac *mac)
{
	_free_ char *routes = NULL, *neighbours = NULL;
	char address[46], hardware[18], wanted[VFCTL_MAC_TEXT];

	vfctl_mac_format(mac, wanted);
	if (host_try_read(ctx, &routes, "/proc/net/route") < 0 ||
		host_try_read(ctx, &neighbours, "/proc/net/arp") < 0)
		return false;
	for (const char *line = neighbours; *line; line += strcspn(line, "\n"), line += *line != '\0')
		if (sscanf(line, "%45s %*s %*s %17s", address, hardware) == 2 &&
			strcasecmp(hardware, wanted) == 0 && is_gateway(routes, address))
			return true;
	return false;
}

/* 1: it must not be written, and the message says why; 0: it may be. */
static int is_doubtful(struct vfctl_ctx *ctx, struct value_facts *facts,
	const struct value_rows *rows,
	const struct vfctl_mac *mac)
{
	const struct value_claim claim = {.kind = VFCTL_ID_MAC, .value = mac_number(mac),
		.domain_uuid = ""};
	struct value_answer answer;
	struct vfctl_id row;
	char text[VFCTL_MAC_TEXT];
	int r = rows->find ? rows->find(rows, VFCTL_ID_MAC, claim.value, &row) : -ENOENT;

	if (r < 0 && r != -ENOENT)
		return r;
	facts->row = r == 0 ? &row : NULL;
	answer = value_ask(facts, &claim);
	facts->row = NULL;
	if (is_gateways_mac(ctx, mac))
		ctx_fail(ctx, -EEXIST, "%s is the MAC of this host's default gateway",
			vfctl_mac_format(mac, text));
	else if (answer.verdict & (VALUE_FREE | VALUE_OWN | VALUE_COOLING))
		return 0;
	else
		value_fail(ctx, &claim, &answer, facts->now);
	return 1;
}

void mac_filter_close(struct mac_filter *f)
{
	value_rows_close(&f->rows);
	live_values_clear(&f->facts.live);
}

int mac_filter_open(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	struct mac_filter *ret)
{
	int r;

	*ret = (struct mac_filter){.facts = {.leases = leases, .now = (int64_t)time(NULL)}};
	r = live_macs_read(ctx, &ret->facts.live);
	if (r == 0)
		r = value_rows_open(ctx, &ret->rows);
	if (r < 0)
		mac_filter_close(ret);
	return r;
}

int mac_filter_ask(struct vfctl_ctx *ctx, struct mac_filter *f, const struct vfctl_mac *mac)
{
	return is_doubtful(ctx, &f->facts, &f->rows, mac);
}

int doctor_filter_macs(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	struct vfctl_mac *macs, size_t *io_count)
{
	_cleanup_(mac_filter_close) struct mac_filter filter = {0};
	size_t kept = 0;
	int r = mac_filter_open(ctx, leases, &filter);

	for (size_t i = 0; r >= 0 && i < *io_count; i++) {
		r = mac_filter_ask(ctx, &filter, &macs[i]);
		if (r == 0)
			macs[kept++] = macs[i];
		else if (r == 1)
			log_warn(ctx, "a port of the bridge claims a MAC, so it is not written into the "
				"card: %s", vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	*io_count = kept;
	return r < 0 ? r : 0;
}
