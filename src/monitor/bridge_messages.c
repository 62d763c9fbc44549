// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages of the kernel about MACs, ports and devices. */
#include "monitor/bridge_follow.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "host/host.h"
#include "netlink/fdb.h"

static int by_index(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

struct device *device_find(struct follow *f, int ifindex)
{
	const struct device key = {.ifindex = ifindex};
	struct device **found = tfind(&key, &f->devices, by_index);

	return found ? *found : NULL;
}

bool index_in(const int *list, int ifindex)
{
	for (; list && *list; list++)
		if (*list == ifindex)
			return true;
	return false;
}

void follow_read_again(struct follow *f)
{
	f->last_dirty = now_ms();
	if (!f->first_dirty)
		f->first_dirty = f->last_dirty;
}

bool device_is_tap(struct follow *f, const char *name)
{
	return host_exists(f->ctx, "/sys/class/net/%s/tun_flags", name);
}

bool follow_has_bridge(const struct follow *f, int ifindex)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (index_in(f->sides[i].bridges, ifindex))
			return true;
	return false;
}

bool follow_has_between(const struct follow *f, int ifindex)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (index_in(f->sides[i].wire, ifindex))
			return true;
	return index_in(f->functions, ifindex);
}

void device_note(struct follow *f, const struct nl_link *link)
{
	struct device *d = device_find(f, link->ifindex);

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
		d->tap = device_is_tap(f, link->name);
	d->master = link->master;
	d->lower = link->lower;
	memcpy(&d->address, link->address, sizeof(d->address));
	str_copy(d->name, sizeof(d->name), link->name);
}

/* ---- messages about MACs ---- */

/*
 * A station that moved to the wire is found by the card itself. But a switch, a bond or the card
 * may send a broadcast back, and then the bridge sees a station there for a moment.
 */
void follow_note_wire(struct follow *f, struct kept *e)
{
	if (!e->wire)
		e->wire = now_ms();
	if (!f->wire_at)
		f->wire_at = e->wire;
}

static void learnt(struct follow *f, struct side *s, const struct nl_fdb_entry *n)
{
	const struct device *port = device_find(f, n->ifindex);
	struct kept *e = kept_find(f, s, &n->mac);
	bool tap = port && port->tap;

	if (index_in(s->wire, n->ifindex)) {
		if (e && e->port)
			follow_note_wire(f, e);
		return;
	}
	if (s->mode == VFCTL_BRIDGE_GUESTS && !tap)
		return;
	if (!e)
		e = kept_add(f, s, &n->mac, tap ? KIND_GUEST : KIND_LEARNT, now_ms());
	if (!e || (!e->port && e->kind < KIND_GUEST))
		return;
	str_copy(e->port_name, sizeof(e->port_name), port ? port->name : "");
	if (e->ours && e->port != n->ifindex)
		bridge_record_add(f->ctx, f->record, &s->bdf, &e->mac, e->port_name);
	e->port = n->ifindex;
	e->silent = e->wire = 0;
	e->seen = now_ms();
	kept_offer(f, s, e);
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

		if (!index_in(s->bridges, n.master))
			continue;
		if (m->nlmsg_type == RTM_NEWNEIGH)
			learnt(f, s, &n);
		else if ((e = kept_find(f, s, &n.mac)) && e->port == n.ifindex && !e->ours)
			kept_forget(f, s, e, "");
		else if (e && e->port == n.ifindex) {
			e->silent = now_ms();
			s->no_room = false;
		}
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

static void port_left(struct follow *f, int ifindex)
{
	struct leaving l = {.follow = f, .port = ifindex};

	twalk_r(f->entries, note_leaving, &l);
	for (size_t i = 0; i < l.count; i++) {
		struct side *s = kept_side(f, l.v[i]);

		if (s)
			kept_forget(f, s, l.v[i], "its port left the bridge");
	}
	if (l.count) /* there is room for those that were left out */
		follow_read_again(f);
	free(l.v);
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
	d = device_find(f, link.ifindex);
	if (m->nlmsg_type == RTM_DELLINK) {
		/* A bridge reports with its own family that a port left it. */
		const struct ifinfomsg *info = (const void *)((const char *)m + NLMSG_HDRLEN);

		if (follow_has_between(f, link.ifindex))
			follow_read_again(f);
		if (d)
			port_left(f, link.ifindex);
		if (d && info->ifi_family != AF_BRIDGE) {
			tdelete(d, &f->devices, by_index);
			free(d);
		}
	} else if (link.name[0]) {
		bool was_port = d && follow_has_bridge(f, d->master);
		bool same = is_same(d, &link);

		/* A message about a PF may mean that a VF has another MAC. */
		if (index_in(f->functions, link.ifindex) ||
			(!same && (follow_has_between(f, link.ifindex) || follow_has_between(f, link.lower))))
			follow_read_again(f);
		if (was_port && d->master != link.master)
			port_left(f, link.ifindex);
		if (follow_has_bridge(f, link.master) || d)
			device_note(f, &link);
	}
	strv_free(link.altnames);
}

void follow_message(struct follow *f, const struct nlmsghdr *m)
{
	if (m->nlmsg_type == RTM_NEWNEIGH || m->nlmsg_type == RTM_DELNEIGH)
		on_fdb(f, m);
	else if ((m->nlmsg_type == RTM_NEWLINK || m->nlmsg_type == RTM_DELLINK) &&
		m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		on_link(f, m);
}
