// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything is read again, and compared with what is followed. */
#include "monitor/bridge_follow.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "lease/declared.h"
#include "netlink/fdb.h"
#include "sriov/inventory.h"
#include "state/leases.h"
#include "tuning/fdb.h"
#include "tuning/uplink.h"

void sides_free(struct side *sides, size_t count)
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
		if (follow_has_bridge(f, links.v[i].master) || follow_has_between(f, links.v[i].ifindex))
			device_note(f, &links.v[i]);
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
	const struct vfctl_mac *mac, enum kept_kind kind, const char *port)
{
	struct kept *e = kept_find(f, s, mac);

	if (e && e->checked)
		return e;
	if (!e)
		e = kept_add(f, s, mac, kind, f->read_at);
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
	static const enum kept_kind kinds[] = {[VFCTL_STATION_HOST] = KIND_HOST,
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
		e->silent = e->wire = 0;
	}
	for (size_t i = 0; i < u->wire_count; i++) {
		struct kept *e = kept_find(f, s, &u->wire[i]);

		if (e && !e->checked && e->kind >= KIND_GUEST)
			follow_note_wire(f, e);
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
		e = kept_find(f, s, &row->mac);
		port = index_of_port(f, row->port);
		if (!e && !(e = kept_add(f, s, &row->mac, port && device_is_tap(f, row->port) ? KIND_GUEST
				: KIND_LEARNT, f->read_at)))
			return ctx_oom(f->ctx);
		if (!e->checked) {
			e->port = port;
			e->silent = f->read_at;
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

		if (!kept_side(f, &key))
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

static bool side_wants(const struct side *s, enum kept_kind kind)
{
	return kind != KIND_LEARNT || s->mode != VFCTL_BRIDGE_GUESTS;
}

static void sort_entry(const void *node, VISIT visit, void *data)
{
	struct kept *e = *(struct kept *const *)node;
	struct sorting *c = data;
	const struct side *s;
	bool stays;

	if (visit != postorder && visit != leaf)
		return;
	s = kept_side(c->follow, e);
	/* A silent station stays as long as its port does. */
	stays = s && (e->checked || (e->port && device_find(c->follow, e->port) &&
		e->kind >= KIND_GUEST && side_wants(s, e->kind)));
	if (!e->checked && !e->silent)
		e->silent = c->follow->read_at;
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

	return kept_yields_before(x, y) ? 1 : kept_yields_before(y, x) ? -1 : kept_order(x, y);
}

/* The table was read as a whole: tell what was added here from what others added. */
static void count_ours(struct follow *f, struct kept *const *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct side *s = kept_side(f, entries[i]);

		if (s && entries[i]->ours) {
			s->ours++;
			s->foreign--;
		}
	}
}

void kept_forget_alone(struct follow *f, struct kept *e)
{
	if (e->ours) {
		fdb_remove(f->ctx, &e->side, &e->mac);
		bridge_record_remove(f->ctx, f->record, &e->side, &e->mac);
		ctx_clear(f->ctx);
	}
	tdelete(e, &f->entries, kept_order);
	free(e);
}

static int settle_entries(struct follow *f, struct side *old, size_t old_count)
{
	struct sorting c = {.follow = f};

	twalk_r(f->entries, sort_entry, &c);
	for (size_t i = 0; i < f->side_count; i++)
		for (size_t k = 0; k < old_count; k++)
			if (vfctl_bdf_compare(&f->sides[i].bdf, &old[k].bdf) == 0)
				f->sides[i].told_full = old[k].told_full;
	count_ours(f, c.gone, c.gone_count);
	count_ours(f, c.here, c.here_count);
	for (size_t i = 0; i < c.gone_count; i++) {
		struct side *s = kept_side(f, c.gone[i]);

		for (size_t k = 0; !s && k < old_count; k++)
			if (vfctl_bdf_compare(&old[k].bdf, &c.gone[i]->side) == 0)
				s = &old[k];
		if (s)
			kept_forget(f, s, c.gone[i], "it is not behind the bridge");
		else
			kept_forget_alone(f, c.gone[i]);
	}
	if (c.here_count)
		qsort(c.here, c.here_count, sizeof(struct kept *), by_importance);
	for (size_t i = 0; i < c.here_count; i++) {
		struct side *s = kept_side(f, c.here[i]);

		if (c.here[i]->ours && !kept_allowed(f, s, c.here[i]))
			kept_take(f, s, c.here[i], "it belongs to another function now");
		else
			kept_offer(f, s, c.here[i]);
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

/* A reading that failed may have left marks. */
static void clear_mark(const void *node, VISIT visit, void *data)
{
	(void)data;
	if (visit == postorder || visit == leaf)
		(*(struct kept *const *)node)->checked = false;
}

int follow_read(struct follow *f)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct side *old = f->sides;
	size_t old_count = f->side_count;
	int r;

	f->read_at = now_ms();
	f->first_dirty = f->last_dirty = 0;
	f->sides = NULL;
	f->side_count = 0;
	free(f->functions);
	f->functions = NULL;
	twalk_r(f->entries, clear_mark, NULL);
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
