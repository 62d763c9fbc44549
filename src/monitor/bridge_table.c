// SPDX-License-Identifier: GPL-2.0-or-later
/* The stations that are followed, in a tree, and their entries in the tables of functions. */
#include "monitor/bridge_follow.h"

#include <stdio.h>

#include "netlink/fdb.h"

#define UNKNOWN_MAX 512 /* entries of a table whose capacity is not known */

static const char *const kind_text[] = {"declared", "host", "guest", "learnt"};

int kept_order(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = vfctl_bdf_compare(&x->side, &y->side);

	return order ? order : memcmp(&x->mac, &y->mac, sizeof(x->mac));
}

struct kept *kept_find(struct follow *f, const struct side *s, const struct vfctl_mac *mac)
{
	const struct kept key = {.side = s->bdf, .mac = *mac};
	struct kept **found = tfind(&key, &f->entries, kept_order);

	return found ? *found : NULL;
}

struct side *kept_side(struct follow *f, const struct kept *e)
{
	for (size_t i = 0; i < f->side_count; i++)
		if (vfctl_bdf_compare(&f->sides[i].bdf, &e->side) == 0)
			return &f->sides[i];
	return NULL;
}

static void follow_tell(struct follow *f, const char *what, const struct side *s,
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
static bool kept_put(struct follow *f, struct side *s, struct kept *e)
{
	if (bridge_record_add(f->ctx, f->record, &s->bdf, &e->mac, e->port_name) < 0 ||
		nl_fdb_set(f->ctx, s->ifindex, &e->mac, true) < 0) {
		if (!e->told)
			follow_tell(f, "failed", s, e, vfctl_ctx_error(f->ctx));
		e->told = true;
		ctx_clear(f->ctx);
		bridge_record_remove(f->ctx, f->record, &s->bdf, &e->mac);
		return false;
	}
	e->there = e->ours = true;
	s->ours++;
	s->no_room = false;
	follow_tell(f, "added", s, e, kind_text[e->kind]);
	return true;
}

void kept_take(struct follow *f, struct side *s, struct kept *e, const char *why)
{
	if (e->ours && nl_fdb_set(f->ctx, s->ifindex, &e->mac, false) < 0) {
		follow_tell(f, "failed", s, e, vfctl_ctx_error(f->ctx));
		ctx_clear(f->ctx);
	} else if (e->ours) {
		follow_tell(f, "removed", s, e, why);
	}
	if (e->ours)
		bridge_record_remove(f->ctx, f->record, &s->bdf, &e->mac);
	s->ours -= e->ours;
	s->no_room = false;
	e->there = e->ours = false;
}

void kept_forget(struct follow *f, struct side *s, struct kept *e, const char *why)
{
	kept_take(f, s, e, why);
	tdelete(e, &f->entries, kept_order);
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
bool kept_yields_before(const struct kept *a, const struct kept *b)
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
	if (!s->best || kept_yields_before(e, s->best))
		s->best = e;
}

static bool make_room(struct follow *f, struct side *s, const struct kept *for_this)
{
	struct search search = {.side = s, .for_this = for_this};
	size_t capacity = s->capacity < 0 ? UNKNOWN_MAX : (size_t)s->capacity;

	if (s->foreign + s->ours < capacity)
		return true;
	if (s->no_room && for_this->kind >= s->no_room_for)
		return false;
	twalk_r(f->entries, look_for_victim, &search);
	s->no_room = !search.best;
	s->no_room_for = for_this->kind;
	if (search.best)
		kept_take(f, s, search.best, search.best->silent ? "it is silent, and the table is full"
			: "the table is full, and guests are more important");
	return search.best;
}

bool kept_allowed(struct follow *f, struct side *s, struct kept *e)
{
	int doubtful = mac_filter_ask(f->ctx, &f->filter, &e->mac);

	if (doubtful && !e->told)
		follow_tell(f, "left out", s, e, vfctl_ctx_error(f->ctx));
	e->told |= doubtful;
	ctx_clear(f->ctx);
	return !doubtful;
}

/* A new station, or one that is still not in the table. */
void kept_offer(struct follow *f, struct side *s, struct kept *e)
{
	if (e->there || !kept_allowed(f, s, e))
		return;
	if (make_room(f, s, e)) {
		kept_put(f, s, e);
		s->told_full = false;
	} else if (!s->told_full) {
		char why[160];

		snprintf(why, sizeof(why), "the table %s %d: later ones are left out without a message",
			s->capacity < 0 ? "of this driver is filled up to" : "holds",
			s->capacity < 0 ? UNKNOWN_MAX : s->capacity);
		follow_tell(f, "left out", s, e, why);
		s->told_full = true;
	}
}

struct kept *kept_add(struct follow *f, const struct side *s, const struct vfctl_mac *mac,
	enum kept_kind kind, int64_t seen)
{
	struct kept *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct kept){.side = s->bdf, .mac = *mac, .kind = kind, .seen = seen};
	if (!tsearch(e, &f->entries, kept_order)) {
		free(e);
		return NULL;
	}
	return e;
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

struct kept **kept_all(struct follow *f, size_t *ret_count)
{
	struct all all = {0};

	twalk_r(f->entries, list_entry, &all);
	*ret_count = all.count;
	return all.v;
}

/* Messages about stations that come and go must not fill the memory with lines. */
void follow_shorten_record(struct follow *f)
{
	_free_ struct bridge_row *rows = NULL;
	_free_ struct kept **all = NULL;
	size_t count = 0, ours = 0, all_count;

	for (size_t i = 0; i < f->side_count; i++)
		ours += f->sides[i].ours;
	if (!bridge_record_is_long(f->record, ours))
		return;
	all = kept_all(f, &all_count);
	rows = calloc(all_count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < all_count; i++) {
		if (!all[i]->ours)
			continue;
		rows[count] = (struct bridge_row){all[i]->side, all[i]->mac, ""};
		str_copy(rows[count++].port, sizeof(rows->port), all[i]->port_name);
	}
	if (rows && bridge_record_rewrite(f->ctx, f->record, rows, count) < 0) {
		log_warn(f->ctx, "%s", vfctl_ctx_error(f->ctx));
		ctx_clear(f->ctx);
	}
}
