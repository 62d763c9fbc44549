// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bridges on PFs and VFs: which stations the VFs of a card reach only through the uplink. A bridge
 * forgets a silent station after its ageing time, and does not learn from devices above itself, so
 * that with VLAN-aware bridges the upper one knows the stations (br_fdb.c, br_input.c).
 */
#include "tuning/uplink.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "netlink/devlink.h"
#include "netlink/fdb.h"

#define NET "/sys/class/net/%s"
#define ABOVE_MAX 4096 /* devices above a function: a VLAN device for each VLAN */

/* ---- devices ---- */

static bool is_bridge(struct vfctl_ctx *ctx, const char *netdev)
{
	return host_exists(ctx, NET "/bridge", netdev);
}

/* "DEVTYPE=vlan" in the uevent of a VLAN device (net/8021q/vlan_dev.c). */
static bool is_vlan(struct vfctl_ctx *ctx, const char *netdev)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, NET "/uevent", netdev) == 0 && strstr(text, "DEVTYPE=vlan");
}

static int index_of(struct vfctl_ctx *ctx, const char *netdev)
{
	_free_ char *text = NULL;
	uint32_t index;

	if (host_try_read(ctx, &text, NET "/ifindex", netdev) < 0)
		return 0;
	return parse_u32(text, 1, INT32_MAX, &index) == 0 ? (int)index : 0;
}

static bool address_of(struct vfctl_ctx *ctx, const char *netdev, struct vfctl_mac *ret)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, NET "/address", netdev) == 0 && vfctl_mac_parse(text, ret) == 0;
}

static bool same_mac(const struct vfctl_mac *a, const struct vfctl_mac *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static int add_name(struct vfctl_ctx *ctx, char ***io, const char *name)
{
	size_t count = strv_len(*io);
	char **longer;

	for (size_t i = 0; i < count; i++)
		if (str_eq((*io)[i], name))
			return 0;
	if (count == ABOVE_MAX)
		return 0;
	longer = reallocarray(*io, count + 2, sizeof(*longer));
	if (!longer)
		return ctx_oom(ctx);
	*io = longer;
	longer[count] = strdup(name);
	longer[count + 1] = NULL;
	return longer[count] ? 0 : ctx_oom(ctx);
}

/*
 * Add what is directly above @netdev: the bond or bridge of which it is a port, its VLAN devices.
 */
static int climb(struct vfctl_ctx *ctx, struct vfctl_uplink *u, const char *netdev)
{
	_free_ char *master = NULL;
	_strv_ char **entries = NULL;
	int r = 0;

	if (host_try_link_name(ctx, &master, NET "/master", netdev) == 0 && !str_eq(master, "ovs-system"))
		r = add_name(ctx, &u->above, master);
	if (r == 0 && master && is_bridge(ctx, master))
		r = add_name(ctx, &u->bridges, master);
	if (r < 0 || host_try_list(ctx, &entries, NET, netdev) < 0)
		return r;
	for (size_t i = 0; entries[i] && r == 0; i++)
		if (str_starts(entries[i], "upper_") && is_vlan(ctx, entries[i] + strlen("upper_")))
			r = add_name(ctx, &u->above, entries[i] + strlen("upper_"));
	return r;
}

static int find_above(struct vfctl_ctx *ctx, struct vfctl_uplink *u)
{
	int r = climb(ctx, u, u->netdev);

	for (size_t i = 0; u->above && u->above[i] && r == 0; i++)
		r = climb(ctx, u, u->above[i]);
	return r;
}

/* ---- stations ---- */

static bool is_wire_side(const struct vfctl_uplink *u, const int *above, int ifindex)
{
	bool is = ifindex == u->ifindex;

	for (size_t i = 0; u->above[i] && !is; i++)
		is = above[i] == ifindex;
	return is;
}

bool vfctl_uplink_has(const struct vfctl_uplink *u, const struct vfctl_mac *mac)
{
	for (size_t i = 0; i < u->own_count; i++)
		if (same_mac(&u->own[i], mac))
			return true;
	return false;
}

static int read_own(struct vfctl_ctx *ctx, struct vfctl_uplink *u, const struct nl_fdb *fdb)
{
	for (size_t i = 0; i < fdb->count; i++) {
		if (fdb->v[i].ifindex != u->ifindex || fdb->v[i].master)
			continue;
		if (!array_grow(u->own, u->own_count))
			return ctx_oom(ctx);
		u->own[u->own_count++] = fdb->v[i].mac;
	}
	return 0;
}

/* The VF of the card with this MAC; NULL: none has it. */
static const struct vfctl_vf *vf_with(const struct vfctl_pf *pf, const struct vfctl_mac *mac)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].attrs.mask & VFCTL_ATTR_MAC && same_mac(&pf->vfs[i].attrs.mac, mac))
			return &pf->vfs[i];
	return NULL;
}

static int note_pretender(struct vfctl_ctx *ctx, struct vfctl_uplink *u,
	const struct vfctl_mac *mac,
	const char *port, uint32_t vf)
{
	struct vfctl_pretender *p;

	if (!array_grow(u->pretenders, u->pretender_count))
		return ctx_oom(ctx);
	p = &u->pretenders[u->pretender_count++];
	*p = (struct vfctl_pretender){.mac = *mac, .vf = vf};
	str_copy(p->port, sizeof(p->port), port);
	return 0;
}

static int add_station(struct vfctl_ctx *ctx, struct vfctl_uplink *u,
	const struct vfctl_mac *mac, enum vfctl_station_kind kind, const char *port)
{
	const struct vfctl_vf *vf = vf_with(u->pf, mac);
	struct vfctl_station *s;

	for (size_t i = 0; i < u->station_count; i++)
		if (same_mac(&u->stations[i].mac, mac))
			return 0;
	if (vf)
		return vf == u->vf ? 0 : note_pretender(ctx, u, mac, port, vf->index);
	if (same_mac(&u->pf->mac, mac))
		return 0;
	if (!array_grow(u->stations, u->station_count))
		return ctx_oom(ctx);
	s = &u->stations[u->station_count++];
	*s = (struct vfctl_station){.mac = *mac, .kind = kind, .there = vfctl_uplink_has(u, mac)};
	str_copy(s->port, sizeof(s->port), port);
	u->missing += !s->there;
	return 0;
}

/* The host's own addresses: of the bridges, and of the devices above them. */
static int add_host(struct vfctl_ctx *ctx, struct vfctl_uplink *u)
{
	int r = 0;

	for (size_t i = 0; u->bridges[i] && r == 0; i++) {
		_strv_ char **entries = NULL;
		struct vfctl_mac mac;

		if (address_of(ctx, u->bridges[i], &mac))
			r = add_station(ctx, u, &mac, VFCTL_STATION_HOST, u->bridges[i]);
		if (host_try_list(ctx, &entries, NET, u->bridges[i]) < 0)
			continue;
		for (size_t k = 0; entries[k] && r == 0; k++)
			if (str_starts(entries[k], "upper_") &&
				address_of(ctx, entries[k] + strlen("upper_"), &mac))
				r = add_station(ctx, u, &mac, VFCTL_STATION_HOST,
					entries[k] + strlen("upper_"));
	}
	return r;
}

/* Seen on the side of the wire, in any VLAN: entries of a card's table have no VLAN. */
static bool is_on_wire(const struct vfctl_uplink *u, const int *above, const struct nl_fdb *fdb,
	const struct vfctl_mac *mac)
{
	for (size_t i = 0; i < fdb->count; i++)
		if (fdb->v[i].master && !fdb->v[i].local && same_mac(&fdb->v[i].mac, mac) &&
			is_wire_side(u, above, fdb->v[i].ifindex))
			return true;
	return false;
}

/* The ports of a bridge with their indexes, read once. */
struct ports {
	char **names;
	int *indexes;
};

static void ports_clear(struct ports *p)
{
	strv_free(p->names);
	free(p->indexes);
}

static int ports_read(struct vfctl_ctx *ctx, const char *bridge, struct ports *ret)
{
	size_t count;

	*ret = (struct ports){0};
	if (host_try_list(ctx, &ret->names, NET "/brif", bridge) < 0)
		ret->names = NULL;
	count = strv_len(ret->names);
	ret->indexes = calloc(count + 1, sizeof(*ret->indexes));
	if (!ret->indexes)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		ret->indexes[i] = index_of(ctx, ret->names[i]);
	return 0;
}

static const char *port_name(const struct ports *ports, int ifindex)
{
	for (size_t i = 0; ports->names && ports->names[i]; i++)
		if (ports->indexes[i] == ifindex)
			return ports->names[i];
	return "?"; /* it has left the bridge meanwhile */
}

/* A port's own MAC (local) is the host's end of a cable; the device behind it has another one. */
static int add_learnt(struct vfctl_ctx *ctx, struct vfctl_uplink *u, const int *above,
	const char *bridge,
	const struct nl_fdb *fdb)
{
	_cleanup_(ports_clear) struct ports ports;
	int index = index_of(ctx, bridge), r = ports_read(ctx, bridge, &ports);

	for (size_t i = 0; i < fdb->count && r == 0; i++) {
		const struct nl_fdb_entry *e = &fdb->v[i];
		const char *port;

		if (e->master != index || e->ifindex == index || e->local ||
			is_wire_side(u, above, e->ifindex) || is_on_wire(u, above, fdb, &e->mac))
			continue;
		port = port_name(&ports, e->ifindex);
		r = add_station(ctx, u, &e->mac, *port && host_exists(ctx, NET "/tun_flags", port)
			? VFCTL_STATION_GUEST : VFCTL_STATION_LEARNT, port);
	}
	return r;
}

static int read_wire(struct vfctl_ctx *ctx, struct vfctl_uplink *u, const int *above,
	const struct nl_fdb *fdb)
{
	for (size_t i = 0; i < fdb->count; i++) {
		const struct nl_fdb_entry *e = &fdb->v[i];

		if (!e->master || e->local || !is_wire_side(u, above, e->ifindex))
			continue;
		if (!array_grow(u->wire, u->wire_count))
			return ctx_oom(ctx);
		u->wire[u->wire_count++] = e->mac;
	}
	return 0;
}

static int by_kind(const void *a, const void *b)
{
	const struct vfctl_station *x = a, *y = b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : memcmp(&x->mac, &y->mac, sizeof(x->mac));
}

static int find_stations(struct vfctl_ctx *ctx, struct vfctl_uplink *u, const struct nl_fdb *fdb)
{
	_free_ int *above = calloc(strv_len(u->above) + 1, sizeof(*above));
	int r = above ? read_own(ctx, u, fdb) : ctx_oom(ctx);

	if (r == 0)
		r = add_host(ctx, u);

	for (size_t i = 0; above && u->above[i]; i++)
		above[i] = index_of(ctx, u->above[i]);
	for (size_t i = 0; u->bridges[i] && r == 0; i++)
		r = add_learnt(ctx, u, above, u->bridges[i], fdb);
	if (r == 0)
		r = read_wire(ctx, u, above, fdb);
	if (u->station_count)
		qsort(u->stations, u->station_count, sizeof(*u->stations), by_kind);
	return r;
}

/* ---- capacity ---- */

static int max_of(const struct driver_fdb *fdb, uint16_t device)
{
	for (const struct driver_fdb_card *c = fdb->cards; c && c->device; c++)
		if (c->device == device)
			return c->max;
	return fdb->max;
}

static void find_capacity(struct vfctl_ctx *ctx, struct vfctl_uplink *u)
{
	const struct driver *d = driver_find(u->vf ? u->vf->driver : u->pf->driver);
	char device[VFCTL_BDF_TEXT];
	const struct nl_devlink card = {"pci", vfctl_bdf_format(&u->bdf, device)};
	uint32_t max_macs;
	int max = d ? max_of(&d->fdb, u->pf->device) : 0;

	u->capacity = -1;
	u->past = d ? d->fdb.past : VFCTL_FDB_UNKNOWN;
	if (max == DRIVER_FDB_NONE)
		u->capacity = 0;
	if (max <= 0)
		return;
	/* What this card reports includes the function's own MAC. */
	if (nl_param_read(ctx, &card, "max_macs", &max_macs) == 0 && max_macs && max_macs <= INT32_MAX)
		max = (int)max_macs - 1;
	ctx_clear(ctx);
	max -= d->fdb.per_vf * (int)u->pf->num_vfs;
	u->capacity = max > 0 ? max : 0;
}

size_t vfctl_uplink_room(const struct vfctl_uplink *uplink)
{
	if (uplink->capacity < 0)
		return SIZE_MAX;
	if ((size_t)uplink->capacity <= uplink->own_count)
		return 0;
	return (size_t)uplink->capacity - uplink->own_count;
}

const char *vfctl_uplink_past_text(enum vfctl_fdb_past past)
{
	static const char *const texts[] = {[VFCTL_FDB_UNKNOWN] = "what happens beyond that is not known",
		[VFCTL_FDB_REFUSED] = "the kernel refuses more",
		[VFCTL_FDB_DROPPED] = "more are accepted, and some of them stay unreachable",
		[VFCTL_FDB_PROMISCUOUS] = "with more, its port receives every unicast packet (promiscuous)"};

	return texts[past];
}

/* ---- all ---- */

static void uplink_clear(struct vfctl_uplink *u)
{
	strv_free(u->above);
	strv_free(u->bridges);
	free(u->stations);
	free(u->pretenders);
	free(u->own);
	free(u->wire);
	*u = (struct vfctl_uplink){0};
}

void vfctl_uplinks_free(struct vfctl_uplinks *uplinks)
{
	for (size_t i = 0; i < uplinks->count; i++)
		uplink_clear(&uplinks->v[i]);
	free(uplinks->v);
	*uplinks = (struct vfctl_uplinks){0};
}

/* Add the function to the list if a bridge is above its device. */
static int add_uplink(struct vfctl_ctx *ctx, struct vfctl_uplinks *list, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	struct vfctl_uplink u = {.pf = pf, .vf = vf, .bdf = vf ? vf->bdf : pf->bdf};
	int r;

	str_copy(u.netdev, sizeof(u.netdev), vf ? vf->netdev : pf->netdev);
	r = u.netdev[0] ? find_above(ctx, &u) : 0;
	if (r < 0 || !u.bridges) {
		uplink_clear(&u);
		return r;
	}
	if (!array_grow(list->v, list->count)) {
		uplink_clear(&u);
		return ctx_oom(ctx);
	}
	u.ifindex = index_of(ctx, u.netdev);
	list->v[list->count++] = u;
	return 0;
}

/* In switchdev mode, packets reach guests through the representors and the rules on them. */
static bool forwards_by_mac(const struct vfctl_pf *pf)
{
	return pf->eswitch != VFCTL_ESWITCH_SWITCHDEV && pf->eswitch != VFCTL_ESWITCH_INACTIVE;
}

int vfctl_uplinks_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *only, struct vfctl_uplinks *ret)
{
	_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks list = {0};
	_cleanup_(nl_fdb_free) struct nl_fdb fdb = {0};
	int r = 0;

	for (size_t i = 0; i < inventory->pf_count && r == 0; i++) {
		const struct vfctl_pf *pf = &inventory->pfs[i];

		if ((only && only != pf) || pf->infiniband || !forwards_by_mac(pf))
			continue;
		r = add_uplink(ctx, &list, pf, NULL);
		for (uint32_t k = 0; k < pf->num_vfs && r == 0; k++)
			r = add_uplink(ctx, &list, pf, &pf->vfs[k]);
	}
	if (r == 0 && list.count)
		r = nl_fdb_read(ctx, &fdb);
	for (size_t i = 0; i < list.count && r == 0; i++) {
		r = find_stations(ctx, &list.v[i], &fdb);
		find_capacity(ctx, &list.v[i]);
	}
	if (r == 0)
		*ret = steal(list);
	return r;
}
