// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep the stations behind bridges in the tables of cards. A message about one MAC costs a look-up
 * in a tree; everything is read again only when devices between a card and a bridge change, or what
 * decides about MACs (VFs, leases).
 */
#include "core/bridge.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <search.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks/doctor.h"
#include "host/host.h"
#include "lease/declared.h"
#include "monitor/bridge_record.h"
#include "netlink/fdb.h"
#include "netlink/link.h"
#include "tuning/fdb.h"
#include "core/inventory.h"
#include "core/lease.h"

#define LOCK "bridge"
#define QUIET_MS 100 /* after the last message, before everything is read again */
#define LONGEST_MS 1000
#define MESSAGES 65536
#define UNKNOWN_MAX 512 /* entries of a table whose capacity is not known */

/* The order in which a full table is filled; the first two never make room. */
enum kind { KIND_DECLARED, KIND_HOST, KIND_GUEST, KIND_LEARNT };
static const char *const kind_text[] = {"declared", "host", "guest", "learnt"};

/* An uplink that is followed. */
struct side {
	struct vfctl_bdf bdf;
	char name[40];
	int ifindex;
	enum vfctl_bridge_mode mode;
	int *wire; /* the uplink and what is above it, bridges included; ends with 0 */
	int *bridges; /* ends with 0 */
	size_t foreign; /* entries that others added */
	size_t ours;
	int capacity; /* -1: not known */
	bool told_full;
};

/* A station of a side. */
struct kept {
	struct vfctl_bdf side;
	struct vfctl_mac mac;
	enum kind kind;
	int port; /* index; 0: a declared or own address */
	char port_name[16];
	bool there, ours;
	bool told;    /* that it is left out */
	bool checked; /* seen while everything is read */
	int64_t silent; /* when the bridge forgot it; 0: the bridge knows it */
	int64_t seen;
};

/* A port of a bridge that is followed, or a device between. */
struct device {
	int ifindex, master, lower;
	char name[16];
	struct vfctl_mac address;
	bool tap;
};

struct follow {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_spec *spec;
	void (*tell)(void *data, const struct vfctl_bridge_event *event);
	void *data;
	int fd;
	struct side *sides;
	size_t side_count;
	void *entries; /* tree of struct kept */
	void *devices; /* tree of struct device */
	int *functions; /* indexes of the devices of declared PFs and of their VFs; ends with 0 */
	struct bridge_record *record;
	struct mac_filter filter;
	struct vfctl_leases *leases;
	struct timespec state; /* when the state file changed last */
	int64_t first_dirty, last_dirty; /* 0: nothing is to be read again */
};

static int by_address(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = vfctl_bdf_compare(&x->side, &y->side);

	return order ? order : memcmp(&x->mac, &y->mac, sizeof(x->mac));
}

static int by_index(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static bool has_index(const int *list, int ifindex)
{
	for (; list && *list; list++)
		if (*list == ifindex)
			return true;
	return false;
}

static struct kept *find_entry(struct follow *f, const struct side *s, const struct vfctl_mac *mac)
{
	const struct kept key = {.side = s->bdf, .mac = *mac};
	struct kept **found = tfind(&key, &f->entries, by_address);

	return found ? *found : NULL;
}

static struct device *find_device(struct follow *f, int ifindex)
{
	const struct device key = {.ifindex = ifindex};
	struct device **found = tfind(&key, &f->devices, by_index);

	return found ? *found : NULL;
}

static void read_again(struct follow *f)
{
	f->last_dirty = now_ms();
	if (!f->first_dirty)
		f->first_dirty = f->last_dirty;
}

/* ---- one entry ---- */

static void tell_change(struct follow *f, const char *what, const struct side *s,
	const struct kept *e,
	const char *why)
{
	char mac[VFCTL_MAC_TEXT];
	const struct vfctl_bridge_event event = {what, s->name, vfctl_mac_format(&e->mac, mac),
		e->port_name, why};

	if (f->tell)
		f->tell(f->data, &event);
	if (str_eq(what, "added") || str_eq(what, "removed"))
		ctx_audit(f->ctx, "bridge: %s: %s %s (%s)", s->name, what, event.mac, why);
}

/* The record is written first: after a kill the next run knows what may be in the table. */
static bool put_mac(struct follow *f, struct side *s, struct kept *e)
{
	if (bridge_record_add(f->ctx, f->record, &s->bdf, &e->mac, e->port_name) < 0 ||
		nl_fdb_set(f->ctx, s->ifindex, &e->mac, true) < 0) {
		tell_change(f, "failed", s, e, vfctl_ctx_error(f->ctx));
		ctx_clear(f->ctx);
		return false;
	}
	e->there = e->ours = true;
	s->ours++;
	tell_change(f, "added", s, e, kind_text[e->kind]);
	return true;
}

static void take_mac(struct follow *f, struct side *s, struct kept *e, const char *why)
{
	if (e->ours && nl_fdb_set(f->ctx, s->ifindex, &e->mac, false) < 0) {
		tell_change(f, "failed", s, e, vfctl_ctx_error(f->ctx));
		ctx_clear(f->ctx);
	} else if (e->ours) {
		tell_change(f, "removed", s, e, why);
	}
	if (e->ours)
		bridge_record_remove(f->ctx, f->record, &s->bdf, &e->mac);
	s->ours -= e->ours;
	e->there = e->ours = false;
}

static void forget(struct follow *f, struct side *s, struct kept *e, const char *why)
{
	take_mac(f, s, e, why);
	tdelete(e, &f->entries, by_address);
	free(e);
}

/* twalk_r() is given the tree alone. */
struct search {
	const struct side *side;
	const struct kept *for_this;
	struct kept *best;
};

/*
 * Whether @a makes room before @b: less important, then silent for longer, then not heard of for
 * longer.
 */
static bool yields_before(const struct kept *a, const struct kept *b)
{
	if (a->kind != b->kind)
		return a->kind > b->kind;
	if (!a->silent != !b->silent)
		return a->silent;
	return a->silent ? a->silent < b->silent : a->seen < b->seen;
}

static void look_for_victim(const void *node, VISIT visit, void *data)
{
	struct kept *e = *(struct kept *const *)node;
	struct search *s = data;

	if ((visit != postorder && visit != leaf) || !e->ours || e->kind < KIND_GUEST ||
		vfctl_bdf_compare(&e->side, &s->side->bdf) != 0)
		return;
	if (e->kind < s->for_this->kind || (e->kind == s->for_this->kind && !e->silent))
		return;
	if (!s->best || yields_before(e, s->best))
		s->best = e;
}

static bool make_room(struct follow *f, struct side *s, const struct kept *for_this)
{
	struct search search = {.side = s, .for_this = for_this};

	size_t capacity = s->capacity < 0 ? UNKNOWN_MAX : (size_t)s->capacity;

	if (s->foreign + s->ours < capacity)
		return true;
	twalk_r(f->entries, look_for_victim, &search);
	if (search.best)
		take_mac(f, s, search.best, search.best->silent ? "it is silent, and the table is full"
			: "the table is full, and guests are more important");
	return search.best;
}

static bool may_be_added(struct follow *f, struct side *s, struct kept *e)
{
	int doubtful = mac_filter_ask(f->ctx, &f->filter, &e->mac);

	if (doubtful && !e->told)
		tell_change(f, "left out", s, e, vfctl_ctx_error(f->ctx));
	e->told |= doubtful;
	ctx_clear(f->ctx);
	return !doubtful;
}

/* A new station, or one that is still not in the table. */
static void offer_mac(struct follow *f, struct side *s, struct kept *e)
{
	if (e->there || !may_be_added(f, s, e))
		return;
	if (make_room(f, s, e)) {
		put_mac(f, s, e);
		s->told_full = false;
	} else if (!s->told_full) {
		char why[160];

		snprintf(why, sizeof(why), "the table %s %d: later ones are left out without a message",
			s->capacity < 0 ? "of this driver is filled up to" : "holds",
			s->capacity < 0 ? UNKNOWN_MAX : s->capacity);
		tell_change(f, "left out", s, e, why);
		s->told_full = true;
	}
}

static struct kept *add_entry(struct follow *f, const struct side *s, const struct vfctl_mac *mac,
	enum kind kind)
{
	struct kept *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct kept){.side = s->bdf, .mac = *mac, .kind = kind, .seen = now_ms()};
	if (!tsearch(e, &f->entries, by_address)) {
		free(e);
		return NULL;
	}
	return e;
}

/* ---- messages about MACs ---- */

static bool is_tap(struct follow *f, const char *name)
{
	return host_exists(f->ctx, "/sys/class/net/%s/tun_flags", name);
}

static void learnt(struct follow *f, struct side *s, const struct nl_fdb_entry *n)
{
	const struct device *port = find_device(f, n->ifindex);
	struct kept *e = find_entry(f, s, &n->mac);
	bool tap = port && port->tap;

	if (has_index(s->wire, n->ifindex)) {
		/* It moved to the wire, where the card finds it by itself. */
		if (e && e->port)
			forget(f, s, e, "it is on the wire");
		return;
	}
	if (s->mode == VFCTL_BRIDGE_GUESTS && !tap)
		return;
	if (!e)
		e = add_entry(f, s, &n->mac, tap ? KIND_GUEST : KIND_LEARNT);
	if (!e || (!e->port && e->kind < KIND_GUEST))
		return;
	str_copy(e->port_name, sizeof(e->port_name), port ? port->name : "");
	if (e->ours && e->port != n->ifindex)
		bridge_record_add(f->ctx, f->record, &s->bdf, &e->mac, e->port_name);
	e->port = n->ifindex;
	e->silent = 0;
	e->seen = now_ms();
	offer_mac(f, s, e);
	ctx_clear(f->ctx);
}

static void on_fdb(struct follow *f, const struct nlmsghdr *m)
{
	struct nl_fdb_entry n;

	if (!nl_fdb_entry_read(m, &n) || !n.master || n.local)
		return;
	for (size_t i = 0; i < f->side_count; i++) {
		struct side *s = &f->sides[i];
		struct kept *e;

		if (!has_index(s->bridges, n.master))
			continue;
		if (m->nlmsg_type == RTM_NEWNEIGH)
			learnt(f, s, &n);
		else if ((e = find_entry(f, s, &n.mac)) && e->port == n.ifindex && !e->ours)
			forget(f, s, e, "");
		else if (e && e->port == n.ifindex)
			e->silent = now_ms();
	}
}

/* ---- messages about devices ---- */

struct leaving {
	struct follow *follow;
	int port;
	struct kept **v;
	size_t count;
};

static void note_leaving(const void *node, VISIT visit, void *data)
{
	struct kept *e = *(struct kept *const *)node;
	struct leaving *l = data;

	if ((visit == postorder || visit == leaf) && e->port == l->port &&
		array_grow(l->v, l->count))
		l->v[l->count++] = e;
}

static struct side *side_of(struct follow *f, const struct kept *e)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (vfctl_bdf_compare(&f->sides[i].bdf, &e->side) == 0)
			return &f->sides[i];
	return NULL;
}

static void port_left(struct follow *f, int ifindex)
{
	struct leaving l = {.follow = f, .port = ifindex};

	twalk_r(f->entries, note_leaving, &l);
	for (size_t i = 0; i < l.count; i++) {
		struct side *s = side_of(f, l.v[i]);

		if (s)
			forget(f, s, l.v[i], "its port left the bridge");
	}
	if (l.count) /* there is room for those that were left out */
		read_again(f);
	free(l.v);
}

static bool is_followed_bridge(const struct follow *f, int ifindex)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (has_index(f->sides[i].bridges, ifindex))
			return true;
	return false;
}

static bool is_between(const struct follow *f, int ifindex)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (has_index(f->sides[i].wire, ifindex))
			return true;
	return has_index(f->functions, ifindex);
}

static void note_device(struct follow *f, const struct nl_link *link)
{
	struct device *d = find_device(f, link->ifindex);

	if (!d && (d = calloc(1, sizeof(*d)))) {
		d->ifindex = link->ifindex;
		if (!tsearch(d, &f->devices, by_index)) {
			free(d);
			return;
		}
	}
	if (!d)
		return;
	if (!str_eq(d->name, link->name))
		d->tap = is_tap(f, link->name);
	d->master = link->master;
	d->lower = link->lower;
	memcpy(&d->address, link->address, sizeof(d->address));
	str_copy(d->name, sizeof(d->name), link->name);
}

static bool is_same(const struct device *d, const struct nl_link *link)
{
	return d && d->master == link->master && d->lower == link->lower &&
		str_eq(d->name, link->name) &&
		memcmp(&d->address, link->address, sizeof(d->address)) == 0;
}

static void on_link(struct follow *f, const struct nlmsghdr *m)
{
	struct nl_link link = {0};
	struct device *d;

	if (!nl_link_parse(m, &link))
		return;
	d = find_device(f, link.ifindex);
	if (m->nlmsg_type == RTM_DELLINK) {
		/* A bridge reports with its own family that a port left it. */
		const struct ifinfomsg *info = (const void *)((const char *)m + NLMSG_HDRLEN);

		if (is_between(f, link.ifindex))
			read_again(f);
		if (d)
			port_left(f, link.ifindex);
		if (d && info->ifi_family != AF_BRIDGE) {
			tdelete(d, &f->devices, by_index);
			free(d);
		}
	} else if (link.name[0]) {
		bool was_port = d && is_followed_bridge(f, d->master);
		bool same = is_same(d, &link);

		/* A message about a PF may mean that a VF has another MAC. */
		if (has_index(f->functions, link.ifindex) ||
			(!same && (is_between(f, link.ifindex) || is_between(f, link.lower))))
			read_again(f);
		if (was_port && d->master != link.master)
			port_left(f, link.ifindex);
		if (is_followed_bridge(f, link.master) || d)
			note_device(f, &link);
	}
	strv_free(link.altnames);
}

static void on_message(struct follow *f, const struct nlmsghdr *m)
{
	if (m->nlmsg_type == RTM_NEWNEIGH || m->nlmsg_type == RTM_DELNEIGH)
		on_fdb(f, m);
	else if ((m->nlmsg_type == RTM_NEWLINK || m->nlmsg_type == RTM_DELLINK) &&
		m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		on_link(f, m);
}

/* ---- everything ---- */

static void sides_free(struct side *sides, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(sides[i].wire);
		free(sides[i].bridges);
	}
	free(sides);
}

static int *indexes_of(struct follow *f, char *const *names, int first)
{
	size_t n = 0;
	int *list = calloc(strv_len(names) + 2, sizeof(*list));

	if (list && first)
		list[n++] = first;
	for (; list && *names; names++) {
		_free_ char *text = NULL;

		if (host_try_read(f->ctx, &text, "/sys/class/net/%s/ifindex", *names) == 0 &&
			sscanf(text, "%d", &list[n]) == 1 && list[n] > 0)
			n++;
	}
	return list;
}

static int add_side(struct follow *f, const struct vfctl_uplink *u, enum vfctl_bridge_mode mode)
{
	struct side *s;
	char pf[VFCTL_BDF_TEXT];

	if (!array_grow(f->sides, f->side_count))
		return ctx_oom(f->ctx);
	s = &f->sides[f->side_count++];
	*s = (struct side){.bdf = u->bdf, .ifindex = u->ifindex, .mode = mode, .capacity = u->capacity,
		.foreign = u->own_count, .wire = indexes_of(f, u->above, u->ifindex),
		.bridges = indexes_of(f, u->bridges, 0)};
	if (u->vf)
		snprintf(s->name, sizeof(s->name), "%s/%u", vfctl_pf_name(u->pf, pf), u->vf->index);
	else
		snprintf(s->name, sizeof(s->name), "%s", vfctl_pf_name(u->pf, pf));
	return s->wire && s->bridges ? 0 : ctx_oom(f->ctx);
}

/* All devices that matter: ports of the bridges, and what is between. */
static int read_devices(struct follow *f)
{
	struct nl_links links = {0};
	int r = nl_links_read(f->ctx, &links);

	tdestroy(f->devices, free);
	f->devices = NULL;
	for (size_t i = 0; r == 0 && i < links.count; i++)
		if (is_followed_bridge(f, links.v[i].master) || is_between(f, links.v[i].ifindex))
			note_device(f, &links.v[i]);
	nl_links_free(&links);
	return r;
}

struct port_search {
	const char *name;
	int ifindex;
};

static void look_for_name(const void *node, VISIT visit, void *data)
{
	const struct device *d = *(struct device *const *)node;
	struct port_search *s = data;

	if ((visit == postorder || visit == leaf) && str_eq(d->name, s->name))
		s->ifindex = d->ifindex;
}

static int index_of_port(struct follow *f, const char *name)
{
	struct port_search s = {name, 0};

	if (*name)
		twalk_r(f->devices, look_for_name, &s);
	return s.ifindex;
}

/* What is now known of a station. The importance of a declared MAC stays. */
static struct kept *note_station(struct follow *f, const struct side *s,
	const struct vfctl_uplink *u,
	const struct vfctl_mac *mac, enum kind kind, const char *port)
{
	struct kept *e = find_entry(f, s, mac);

	if (e && e->checked)
		return e;
	if (!e)
		e = add_entry(f, s, mac, kind);
	if (!e)
		return NULL;
	e->kind = kind;
	e->checked = true;
	e->there = vfctl_uplink_has(u, mac);
	e->ours &= e->there;
	e->port = kind >= KIND_GUEST ? index_of_port(f, port) : 0;
	str_copy(e->port_name, sizeof(e->port_name), port);
	return e;
}

static int note_stations(struct follow *f, const struct side *s, const struct vfctl_uplink *u,
	const struct vfctl_pf_spec *spec)
{
	static const enum kind kinds[] = {[VFCTL_STATION_HOST] = KIND_HOST,
		[VFCTL_STATION_GUEST] = KIND_GUEST, [VFCTL_STATION_LEARNT] = KIND_LEARNT};
	struct vfctl_mac mac;

	for (char **text = spec->bridge_macs; text && *text; text++)
		if (vfctl_mac_parse(*text, &mac) == 0 && !note_station(f, s, u, &mac, KIND_DECLARED, ""))
			return ctx_oom(f->ctx);
	for (size_t i = 0; i < u->station_count; i++) {
		const struct vfctl_station *t = &u->stations[i];
		struct kept *e;

		if (s->mode == VFCTL_BRIDGE_GUESTS && t->kind == VFCTL_STATION_LEARNT)
			continue;
		e = note_station(f, s, u, &t->mac, kinds[t->kind], t->port);
		if (!e)
			return ctx_oom(f->ctx);
		e->silent = 0;
	}
	return 0;
}

/* What the run before added; the bridge may have forgotten it since, but not its port. */
static int note_recorded(struct follow *f, const struct side *s, const struct vfctl_uplink *u)
{
	const struct bridge_row *row;

	for (size_t i = 0; (row = bridge_record_row(f->record, i)); i++) {
		struct kept *e;
		int port;

		if (vfctl_bdf_compare(&row->function, &s->bdf) != 0 || !vfctl_uplink_has(u, &row->mac))
			continue;
		e = find_entry(f, s, &row->mac);
		port = index_of_port(f, row->port);
		if (!e && !(e = add_entry(f, s, &row->mac, port && is_tap(f, row->port) ? KIND_GUEST
				: KIND_LEARNT)))
			return ctx_oom(f->ctx);
		if (!e->checked) {
			e->port = port;
			e->silent = now_ms();
			str_copy(e->port_name, sizeof(e->port_name), row->port);
		}
		e->there = e->ours = true;
	}
	return 0;
}

/* Functions that the run before filled, and that have no bridge now. */
static void take_recorded(struct follow *f)
{
	const struct bridge_row *row;

	for (size_t i = 0; (row = bridge_record_row(f->record, i)); i++) {
		const struct kept key = {.side = row->function};

		if (!side_of(f, &key))
			fdb_remove(f->ctx, &row->function, &row->mac);
		ctx_clear(f->ctx);
	}
}

struct sorting {
	struct follow *follow;
	struct kept **gone, **here;
	size_t gone_count, here_count;
	bool failed;
};

static void sort_entry(const void *node, VISIT visit, void *data)
{
	struct kept *e = *(struct kept *const *)node;
	struct sorting *c = data;
	bool stays;

	if (visit != postorder && visit != leaf)
		return;
	/* A silent station stays as long as its port does. */
	stays = side_of(c->follow, e) && (e->checked ||
		(e->port && find_device(c->follow, e->port) && e->kind >= KIND_GUEST));
	if (!e->checked && !e->silent)
		e->silent = now_ms();
	e->checked = false;
	if (stays && array_grow(c->here, c->here_count))
		c->here[c->here_count++] = e;
	else if (!stays && array_grow(c->gone, c->gone_count))
		c->gone[c->gone_count++] = e;
	else
		c->failed = true;
}

static int by_importance(const void *a, const void *b)
{
	const struct kept *x = *(struct kept *const *)a, *y = *(struct kept *const *)b;

	return yields_before(x, y) ? 1 : yields_before(y, x) ? -1 : by_address(x, y);
}

static int settle_entries(struct follow *f, struct side *old, size_t old_count)
{
	struct sorting c = {.follow = f};

	twalk_r(f->entries, sort_entry, &c);
	for (size_t i = 0; i < f->side_count; i++)
		for (size_t k = 0; k < old_count; k++)
			if (vfctl_bdf_compare(&f->sides[i].bdf, &old[k].bdf) == 0)
				f->sides[i].told_full = old[k].told_full;
	for (size_t i = 0; i < c.gone_count; i++) {
		struct side *s = side_of(f, c.gone[i]);

		for (size_t k = 0; !s && k < old_count; k++)
			if (vfctl_bdf_compare(&old[k].bdf, &c.gone[i]->side) == 0)
				s = &old[k];
		if (s)
			forget(f, s, c.gone[i], "it is not behind the bridge");
	}
	qsort(c.here, c.here_count, sizeof(struct kept *), by_importance);
	for (size_t i = 0; i < c.here_count; i++) {
		struct side *s = side_of(f, c.here[i]);

		if (c.here[i]->ours) {
			s->ours++;
			s->foreign--;
		}
	}
	for (size_t i = 0; i < c.here_count; i++) {
		struct side *s = side_of(f, c.here[i]);

		if (c.here[i]->ours && !may_be_added(f, s, c.here[i]))
			take_mac(f, s, c.here[i], "it belongs to another function now");
		else
			offer_mac(f, s, c.here[i]);
	}
	free(c.gone);
	free(c.here);
	return c.failed ? ctx_oom(f->ctx) : 0;
}

static int add_function(struct follow *f, const char *netdev)
{
	struct nl_links link = {0};
	size_t n = 0;

	while (f->functions && f->functions[n])
		n++;
	if (!netdev[0] || nl_link_read(f->ctx, netdev, &link) < 0 || !link.count) {
		ctx_clear(f->ctx);
		return 0;
	}
	f->functions = reallocarray(f->functions, n + 2, sizeof(*f->functions));
	if (f->functions) {
		f->functions[n] = link.v[0].ifindex;
		f->functions[n + 1] = 0;
	}
	nl_links_free(&link);
	return f->functions ? 0 : ctx_oom(f->ctx);
}

/* The declared PF: its uplinks, and the devices whose messages matter. */
static int follow_pf(struct follow *f, const struct vfctl_inventory *inv,
	const struct vfctl_pf_spec *spec)
{
	_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks uplinks = {0};
	const struct vfctl_pf *pf;
	size_t first = f->side_count;
	int r = declared_find(f->ctx, inv, spec, &pf);

	if (r == -ENOENT) {
		log_warn(f->ctx, "%s", vfctl_ctx_error(f->ctx));
		ctx_clear(f->ctx);
		return 0;
	}
	if (r == 0)
		r = add_function(f, pf->netdev);
	for (uint32_t i = 0; r == 0 && i < pf->num_vfs; i++)
		r = add_function(f, pf->vfs[i].netdev);
	if (r == 0)
		r = vfctl_uplinks_read(f->ctx, inv, pf, &uplinks);
	for (size_t i = 0; i < uplinks.count && r == 0; i++)
		r = add_side(f, &uplinks.v[i], spec->bridge_mode);
	if (r == 0 && uplinks.count)
		r = read_devices(f);
	for (size_t i = 0; i < uplinks.count && r == 0; i++) {
		r = note_stations(f, &f->sides[first + i], &uplinks.v[i], spec);
		if (r == 0)
			r = note_recorded(f, &f->sides[first + i], &uplinks.v[i]);
	}
	return r;
}

static int read_facts(struct follow *f)
{
	int r;

	mac_filter_close(&f->filter);
	vfctl_leases_free(f->leases);
	f->leases = NULL;
	f->filter = (struct mac_filter){0};
	r = vfctl_leases_read(f->ctx, &f->leases);
	return r < 0 ? r : mac_filter_open(f->ctx, f->leases, &f->filter);
}

static int read_everything(struct follow *f)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct side *old = f->sides;
	size_t old_count = f->side_count;
	int r;

	f->first_dirty = f->last_dirty = 0;
	f->sides = NULL;
	f->side_count = 0;
	free(f->functions);
	f->functions = NULL;
	r = vfctl_inventory_read(f->ctx, NULL, &inv);
	if (r == 0)
		r = read_facts(f);
	for (size_t i = 0; i < f->spec->pf_count && r == 0; i++)
		if (f->spec->pfs[i].bridge_mode != VFCTL_BRIDGE_OFF)
			r = follow_pf(f, inv, &f->spec->pfs[i]);
	if (r == 0) {
		take_recorded(f);
		bridge_record_forget(f->record);
		r = settle_entries(f, old, old_count);
	}
	sides_free(old, old_count);
	return r;
}

/* ---- the run ---- */

/* Leases and pools decide about MACs too. */
static void look_at_state(struct follow *f)
{
	_free_ char *log = str_format("%s-wal", vfctl_ctx_state_path(f->ctx));
	struct stat st;

	if ((!log || stat(log, &st) < 0) && stat(vfctl_ctx_state_path(f->ctx), &st) < 0)
		return;
	if (st.st_mtim.tv_sec != f->state.tv_sec || st.st_mtim.tv_nsec != f->state.tv_nsec)
		read_again(f);
	f->state = st.st_mtim;
}

/* 0, or the negative errno of a socket that does not work. */
static int drain(struct follow *f)
{
	static _Alignas(struct nlmsghdr) char block[MESSAGES];
	ssize_t n;

	look_at_state(f);
	while ((n = read(f->fd, block, sizeof(block))) > 0 || (n < 0 && errno == ENOBUFS)) {
		struct buf all = {.data = block, .len = n > 0 ? (size_t)n : 0};
		const struct nlmsghdr *m;
		size_t at = 0;

		if (n < 0) /* messages were lost */
			read_again(f);
		while (n > 0 && (m = nl_next(&all, &at)))
			on_message(f, m);
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

static int wait_ms(const struct follow *f)
{
	int64_t now = now_ms(), end = f->last_dirty + QUIET_MS;

	if (!f->first_dirty)
		return -1;
	if (end > f->first_dirty + LONGEST_MS)
		end = f->first_dirty + LONGEST_MS;
	return end > now ? (int)(end - now) : 0;
}

static int run_follow(struct follow *f, int stop_fd)
{
	int r;

	look_at_state(f);
	r = read_everything(f);
	while (r == 0) {
		struct pollfd fds[2] = {{.fd = stop_fd, .events = POLLIN}, {.fd = f->fd, .events = POLLIN}};
		int n = poll(fds, ARRAY_SIZE(fds), wait_ms(f));

		if (n < 0 && errno != EINTR)
			return ctx_fail(f->ctx, -errno, "wait for messages: %s", strerror(errno));
		if (n > 0 && fds[0].revents)
			return 0;
		r = n > 0 ? drain(f) : 0;
		if (r < 0)
			return ctx_fail(f->ctx, r, "read the kernel's messages: %s", strerror(-r));
		if (f->first_dirty && !wait_ms(f) && read_everything(f) < 0) {
			/* A PF may be about to disappear: once more after a while. */
			log_warn(f->ctx, "%s", vfctl_ctx_error(f->ctx));
			ctx_clear(f->ctx);
			host_sleep_ms(f->ctx, LONGEST_MS);
			read_again(f);
		}
	}
	return r;
}

struct all {
	struct kept **v;
	size_t count;
};

static void list_entry(const void *node, VISIT visit, void *data)
{
	struct all *all = data;

	if ((visit == postorder || visit == leaf) && array_grow(all->v, all->count))
		all->v[all->count++] = *(struct kept *const *)node;
}

static void end(struct follow *f)
{
	struct all all = {0};

	twalk_r(f->entries, list_entry, &all);
	for (size_t i = 0; i < all.count; i++) {
		struct side *s = side_of(f, all.v[i]);

		if (s)
			take_mac(f, s, all.v[i], "vfctl ends");
	}
	free(all.v);
	tdestroy(f->entries, free);
	tdestroy(f->devices, free);
	sides_free(f->sides, f->side_count);
	free(f->functions);
	mac_filter_close(&f->filter);
	vfctl_leases_free(f->leases);
	bridge_record_close(f->record);
}

static bool is_declared(const struct vfctl_host_spec *spec)
{
	for (size_t i = 0; i < spec->pf_count; i++)
		if (spec->pfs[i].bridge_mode != VFCTL_BRIDGE_OFF)
			return true;
	return false;
}

int vfctl_bridge_follow(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, int stop_fd,
	void (*fn)(void *data, const struct vfctl_bridge_event *event), void *data)
{
	struct follow f = {.ctx = ctx, .spec = spec, .tell = fn, .data = data};
	struct host *h = host_of(ctx);
	_close_ int lock = -1, fd = -1;
	int r;

	if (!is_declared(spec))
		return ctx_fail(ctx, -ENOENT, "no PF in host.yaml has the key bridge; write for example: "
			"{match: ens1, bridge: learnt}");
	if (!h->ops->follow)
		return ctx_usage_error(ctx, -EOPNOTSUPP, "a captured host has no messages; remove --host");
	r = host_try_lock(ctx, LOCK, &lock);
	if (r == -EBUSY)
		return ctx_fail(ctx, r, "another process follows the bridges of this host already "
			"(systemctl status vfctl-bridge)");
	/* Before the first reading, so that nothing is missed. */
	if (r == 0)
		r = h->ops->follow(h, &fd);
	if (r < 0)
		return ctx_fail(ctx, r, "listen to the kernel's messages: %s", strerror(-r));
	f.fd = fd;
	r = bridge_record_open(ctx, &f.record);
	if (r == 0)
		r = run_follow(&f, stop_fd);
	end(&f);
	return r;
}

int vfctl_bridge_is_followed(struct vfctl_ctx *ctx)
{
	_close_ int lock = -1;
	int r = host_try_lock(ctx, LOCK, &lock);

	ctx_clear(ctx);
	return r == -EBUSY;
}
