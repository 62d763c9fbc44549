// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/bridge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

#define DEVICES 256 /* bytes of a list of names */

static void put_names(char buf[DEVICES], char *const *names, char *const *without)
{
	size_t len = 0;

	buf[0] = '\0';
	for (; names && *names && len < DEVICES; names++) {
		bool left_out = false;

		for (char *const *w = without; w && *w; w++)
			left_out |= strcmp(*w, *names) == 0;
		if (!left_out)
			len += (size_t)snprintf(buf + len, DEVICES - len, "%s%s", len ? ", " : "", *names);
	}
}

static const char *name_of(const struct vfctl_uplink *u, char buf[40])
{
	char name[VFCTL_BDF_TEXT];

	if (u->vf)
		snprintf(buf, 40, "%s/%" PRIu32, vfctl_pf_name(u->pf, name), u->vf->index);
	else
		snprintf(buf, 40, "%s", vfctl_pf_name(u->pf, name));
	return buf;
}

/* "host 2, guests 1, learnt 4" */
static void put_kinds(struct out *out, const struct vfctl_uplink *u)
{
	static const char *const words[] = {"host", "guests", "learnt"};
	char text[96] = "none";
	size_t len = 0;

	for (unsigned kind = 0; kind < ARRAY_SIZE(words); kind++) {
		size_t n = 0;

		for (size_t i = 0; i < u->station_count; i++)
			n += u->stations[i].kind == kind;
		if (n)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %zu", len ? ", " : "",
				words[kind], n);
	}
	out_cell(out, "%s", text);
}

void print_bridge(struct out *out, const struct vfctl_uplinks *uplinks)
{
	static const char *const headings[] = {"UPLINK", "INTERFACE", "THROUGH", "BRIDGE", "BEHIND IT",
		"MISSING", "ENTRIES USED"};
	static const signed char give[] = {OUT_STAYS, OUT_STAYS, OUT_WRAPS, OUT_WRAPS, OUT_WRAPS,
		OUT_STAYS,
		OUT_STAYS};
	char text[DEVICES];

	if (!uplinks->count) {
		out_line(out, "no bridge is on a PF or VF of this host");
		return;
	}
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < uplinks->count; i++) {
		const struct vfctl_uplink *u = &uplinks->v[i];

		out_cell(out, "%s", name_of(u, text));
		out_cell(out, "%s", u->netdev);
		put_names(text, u->above, u->bridges);
		out_cell(out, "%s", text);
		put_names(text, u->bridges, NULL);
		out_cell(out, "%s", text);
		put_kinds(out, u);
		out_cell(out, "%zu", u->missing);
		if (u->capacity < 0)
			out_cell(out, "%zu", u->own_count);
		else
			out_cell(out, "%zu of %d", u->own_count, u->capacity);
	}
	out_table_end(out);
	out_fold(out, 0, "VFs of the card reach a MAC behind the bridge only if the uplink's own "
		"forwarding table has it: vfctl doctor --fix adds those that are missing.");
}

/* ---- JSON ---- */

#define OF struct vfctl_station
TEXT_OF(station_mac, OF, vfctl_mac_format(&it->mac, room))
TEXT_OF(station_kind, OF, it->kind == VFCTL_STATION_HOST ? "host"
	: it->kind == VFCTL_STATION_GUEST ? "guest" : "learnt")
static const struct member station_table[] = {
	TEXT("mac", station_mac, "MAC"),
	TEXT("kind", station_kind, "host, of the host itself; guest, on a tap device; learnt, on another "
		"port"),
	FIELD(port, "port on which the bridge learnt it, or the device of the host"),
	FIELD(there, "the forwarding table of the uplink has it"), END};
#undef OF

#define OF struct vfctl_pretender
TEXT_OF(pretender_mac, OF, vfctl_mac_format(&it->mac, room))
static const struct member pretender_table[] = {
	TEXT("mac", pretender_mac, "MAC"), FIELD(port, "port of the bridge that claims it"),
	FIELD(vf, "number of the VF that has it"), END};
#undef OF

#define OF struct vfctl_uplink
TEXT_OF(uplink_name, OF, name_of(it, room))
NUMBER_OF(uplink_capacity, OF, it->capacity >= 0, it->capacity)
TEXT_OF(uplink_past, OF, it->past == VFCTL_FDB_REFUSED ? "refused"
	: it->past == VFCTL_FDB_DROPPED ? "dropped"
	: it->past == VFCTL_FDB_PROMISCUOUS ? "promiscuous" : NULL)
static const struct member uplink_table[] = {
	TEXT("name", uplink_name, "PF, or PF/INDEX of a VF"),
	FIELD_AS("address", bdf, "PCI address"),
	FIELD(netdev, "network device"),
	TEXTS("above", above, "devices above it up to the bridges: bonds, VLAN devices, bridges"),
	TEXTS("bridges", bridges, "bridges"),
	FIELD_AS("used", own_count, "unicast entries of its own forwarding table"),
	NUMBER("capacity", uplink_capacity, "entries that the table holds", NULLABLE),
	TEXT("past", uplink_past, "what happens to more: refused, dropped (without an error) or "
		"promiscuous (the port receives every unicast packet); null: not known", NULLABLE),
	FIELD(missing, "stations that are not in the table"),
	LIST("stations", stations, station_count, station_table, "MACs behind the bridges that VFs reach "
		"only through the table"),
	LIST("pretenders", pretenders, pretender_count, pretender_table,
		"ports that claim the MAC of a VF "
		"of the card; vfctl does not add these"), END};
#undef OF

#define OF struct vfctl_uplinks
const struct member answer_bridge[] = {
	LIST("uplinks", v, count, uplink_table, "PFs and VFs through which a bridge reaches the wire"),
		END};
#undef OF
