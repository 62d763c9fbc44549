// SPDX-License-Identifier: GPL-2.0-or-later
/* guid sync, orphans, reclaim, publish: the pools of a fleet. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/parse.h"
#include "fleet/fleet.h"
#include "guid/guid.h"
#include "host_ids.h"
#include "ids/pools.h"

/* ---- sync ---- */

/* Name each value that guests of this host use and other hosts may get. */
static int warn_conflicts(struct guid *g)
{
	struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED};
	char text[VFCTL_ID_TEXT], who[GUID_WHO];
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_id id;
	int r = vfctl_ids_list(g->ids, &filter, &cursor);

	if (r < 0)
		return r;
	while ((r = vfctl_ids_next(cursor, &id)) == 1)
		if (vfctl_id_in_conflict(&id))
			warn("%s of %s: %s; release it here and give the guest another value",
				vfctl_id_format(id.kind, id.value, text), guid_who(&id, who),
				id.note);
	return r;
}

#define OF struct vfctl_ids_sync
/* The help text is printed after the number. */
static const struct member sync_table[] = {
	FIELD(pushed, "changes that were made without etcd, and are written to it now"),
	FIELD(undone, "allocations that failed here, and are released now"),
	FIELD(found, "values of this host found in etcd"),
	FIELD(restored, "values that etcd had lost, and that are restored"),
	FIELD(conflicts, "in conflict"),
	FIELD(set_aside, "values in the reserve of this host"),
	FIELD(expired, "values that are free after their cooldown"),
	FIELD(hosts, "hosts registered"),
	FIELD(hosts_gone, "hosts gone"),
	FIELD(orphans, "orphans (vfctl guid orphans)"),
	FIELD(quarantined, "values that this host quarantined"),
	FIELD(pools_differ, "pools that differ from those of the fleet"), END};
#undef OF
const struct answer guid_sync_answer[] = {{NULL, sync_table, false}, {0}};

static void print_sync(struct guid *g, const struct vfctl_ids_sync *n)
{
	if (g->in->json)
		answer_put(g->in->out, NULL, sync_table, n);
	for (const struct member *m = sync_table; m->name && !g->in->json && !g->in->quiet; m++) {
		size_t count = *(const size_t *)((const char *)n + m->offset);

		if (count)
			out_line(g->in->out, "%zu %s", count, m->help);
	}
}

int guid_sync(struct guid *g)
{
	struct vfctl_ids_sync n;
	int r;

	if (g->in->dry_run)
		return usage(g->in, "sync has no --dry-run");
	r = vfctl_ids_sync(g->ids, option_of(g->in, "adopt") != NULL, &n);
	if (r < 0)
		return fail(g->in, r);
	print_sync(g, &n);
	r = n.conflicts ? warn_conflicts(g) : 0;
	return r < 0 ? fail(g->in, r) : n.conflicts || n.pools_differ ? EXIT_DRIFT : EXIT_DONE;
}

/* ---- orphans ---- */

static void print_id(struct guid *g, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT], who[GUID_WHO], at[GUID_TIME];
	struct out *out = g->in->out;

	out_cell(out, "%s", vfctl_id_format(id->kind, id->value, text));
	out_cell(out, "%s", vfctl_id_state_name(id->state));
	out_cell(out, "%s", id->owner.host);
	out_cell(out, "%s", guid_who(id, who));
	out_cell(out, "%s", guid_time(id->since, at));
}

struct orphans_view {
	const char *host; /* only of this host; NULL: of all */
	const struct vfctl_id *ids;
	size_t count;
};

static bool is_shown(const struct orphans_view *view, size_t at)
{
	return !view->host || strcmp(view->ids[at].owner.host, view->host) == 0;
}

static int fill_orphans(struct out *out, const void *of)
{
	const struct orphans_view *view = of;

	for (size_t i = 0; i < view->count; i++)
		if (is_shown(view, i))
			guid_put_id(out, NULL, &view->ids[i]);
	return 0;
}

const struct answer guid_orphans_answer[] = {{NULL, answer_id, true}, {0}};

int guid_orphans(struct guid *g)
{
	static const char *const headings[] = {"VALUE", "STATE", "GONE HOST", "WHOSE", "SINCE"};
	struct orphans_view view = {.host = option_of(g->in, "of-host")};
	_free_ struct vfctl_id *ids = NULL;
	int r = vfctl_ids_orphans(g->ids, &ids, &view.count);

	if (r < 0)
		return fail(g->in, r);
	view.ids = ids;
	if (g->in->json) {
		answer_put_list(g->in->out, fill_orphans, &view);
	} else {
		out_table(g->in->out, 0, headings, ARRAY_SIZE(headings));
		for (size_t i = 0; i < view.count; i++)
			if (is_shown(&view, i))
				print_id(g, &ids[i]);
		out_table_end(g->in->out);
	}
	return EXIT_DONE;
}

/* ---- reclaim ---- */

struct reclaim_view {
	const char *value;
};

#define OF struct reclaim_view
static const struct member reclaim_dry_table[] = {
	FIELD(value, "value that would be reclaimed", FILLED),
	ALWAYS_TRUE("dry_run", "true"), END};
#undef OF
const struct answer guid_reclaim_answer[] = {{"With `--dry-run`", reclaim_dry_table, true},
	{"When it is done", answer_id, true}, {0}};

static int reclaim_one(struct guid *g, enum vfctl_id_kind kind, uint64_t value, bool force)
{
	char text[VFCTL_ID_TEXT], at[GUID_TIME];
	struct vfctl_id id;
	int r;

	vfctl_id_format(kind, value, text);
	if (g->in->dry_run && g->in->json) {
		answer_put(g->in->out, NULL, reclaim_dry_table, &(struct reclaim_view){text});
	} else if (g->in->dry_run) {
		out_line(g->in->out, "would reclaim %s", text);
	}
	if (g->in->dry_run)
		return 0;
	r = vfctl_ids_reclaim(g->ids, kind, value, force, &id);
	if (r < 0)
		return r;
	if (g->in->json)
		guid_put_id(g->in->out, NULL, &id);
	else if (!g->in->quiet)
		out_line(g->in->out, "%s of host %s is in its cooldown until %s", text, id.owner.host,
			guid_time(id.until, at));
	return 0;
}

static int reclaim_values(struct guid *g, bool force, size_t *done)
{
	enum vfctl_id_kind kind;
	uint64_t value;

	for (size_t i = 1; i < g->in->arg_count; i++, (*done)++) {
		int status = guid_value(g->in, g->in->args[i], &kind, &value);
		int r = status ? 0 : reclaim_one(g, kind, value, force);

		if (status || r < 0)
			return status ? status : fail(g->in, r);
	}
	return 0;
}

/* Reclaim all values of a lost host, then remove its name. */
static int reclaim_host(struct guid *g, const char *host, bool force, size_t *done)
{
	struct vfctl_id_filter filter = {.host = host, .fleet = true,
		.states = 1u << VFCTL_ID_LEASED | 1u << VFCTL_ID_BLOCK};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_id id;
	int r = vfctl_ids_list(g->ids, &filter, &cursor);

	if (r < 0)
		return fail(g->in, r);
	while ((r = vfctl_ids_next(cursor, &id)) == 1) {
		r = reclaim_one(g, id.kind, id.value, force);
		if (r < 0)
			break;
		(*done)++;
	}
	if (r == 0 && !g->in->dry_run)
		r = vfctl_ids_forget_host(g->ids, host, force);
	return r < 0 ? fail(g->in, r) : 0;
}

int guid_reclaim(struct guid *g)
{
	const char *host = option_of(g->in, "of-host");
	bool force = option_of(g->in, "force") != NULL;
	size_t done = 0;
	int status;

	if (!host == (g->in->arg_count < 2))
		return usage(g->in, "reclaim needs VALUEs, or --of-host HOST for all values of a host "
			"that is gone");
	if (g->in->json)
		out_open(g->in->out, NULL, '[');
	status = host ? reclaim_host(g, host, force, &done) : reclaim_values(g, force, &done);
	if (g->in->json)
		json_close(g->in->out);
	if (done && status == EXIT_FAILED)
		return EXIT_PARTLY; /* each value is a separate change */
	return status || g->in->dry_run ? status : run_after_change(g->in, g->spec);
}

/* ---- publish ---- */

struct publish_view {
	size_t changed;
	bool dry_run, done;
};

#define OF struct publish_view
static const struct member publish_table[] = {
	FIELD_AS("would_change", changed, "pools that would be published", OPTIONAL,
		KNOWN_BY(dry_run)),
	FIELD(changed, "pools that were published", OPTIONAL, KNOWN_BY(done)), END};
#undef OF
const struct answer guid_publish_answer[] = {{NULL, publish_table, false}, {0}};

int guid_publish(struct guid *g)
{
	size_t changed;
	int r = vfctl_ids_publish(g->ids, g->in->dry_run, &changed);

	if (r < 0)
		return fail(g->in, r);
	if (g->in->json) {
		answer_put(g->in->out, NULL, publish_table, &(struct publish_view){changed, g->in->dry_run,
			!g->in->dry_run});
	} else if (!g->in->quiet) {
		out_line(g->in->out, "%zu pool%s %s", changed, plural(changed),
			g->in->dry_run ? "would be published" : "published");
	}
	return EXIT_DONE;
}
