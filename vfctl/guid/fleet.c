// SPDX-License-Identifier: GPL-2.0-or-later
/* guid sync, orphans, reclaim, publish: the pools of a fleet. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guid/guid.h"
#include "host_ids.h"
#include "vfctl/fleet.h"

/* ---- sync ---- */

/* What the guests of this host use and others may get: each by name. */
static int warn_conflicts(struct guid *g)
{
	struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED};
	char text[VFCTL_ID_TEXT], who[GUID_WHO];
	struct vfctl_id_cursor *cursor;
	struct vfctl_id id;
	int r = vfctl_ids_list(g->ids, &filter, &cursor);

	if (r < 0)
		return r;
	while ((r = vfctl_ids_next(cursor, &id)) == 1)
		if (vfctl_id_in_conflict(&id))
			warn("%s of %s: %s; release it here, and give the guest another",
				vfctl_id_format(id.kind, id.value, text), guid_who(&id, who),
				id.note);
	vfctl_ids_list_end(cursor);
	return r;
}

static void print_sync(struct guid *g, const struct vfctl_ids_sync *n)
{
	const struct {
		const char *name, *words;
		size_t count;
	} rows[] = {
		{"pushed", "changes made while etcd was away told to it", n->pushed},
		{"undone", "takings that had failed here given back", n->undone},
		{"found", "of this host found in etcd", n->found},
		{"restored", "lost by etcd put back", n->restored},
		{"conflicts", "in conflict", n->conflicts},
		{"set_aside", "set aside for this host", n->set_aside},
		{"expired", "free after their rest", n->expired},
		{"hosts", "hosts registered", n->hosts},
		{"hosts_gone", "hosts gone", n->hosts_gone},
		{"orphans", "orphans (vfctl guid orphans)", n->orphans},
		{"quarantined", "quarantined by this host", n->quarantined},
		{"pools_differ", "pools that differ from the fleet's", n->pools_differ},
	};

	if (g->in->json)
		out_open(g->in->out, NULL, '{');
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (g->in->json)
			out_int(g->in->out, rows[i].name, (int64_t)rows[i].count);
		else if (rows[i].count && !g->in->quiet)
			out_line(g->in->out, "%zu %s", rows[i].count, rows[i].words);
	if (g->in->json)
		out_shut(g->in->out);
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

	if (g->in->json) {
		guid_put_id(out, NULL, id);
		return;
	}
	out_cell(out, "%s", vfctl_id_format(id->kind, id->value, text));
	out_cell(out, "%s", vfctl_id_state_name(id->state));
	out_cell(out, "%s", id->owner.host);
	out_cell(out, "%s", guid_who(id, who));
	out_cell(out, "%s", guid_time(id->since, at));
}

int guid_orphans(struct guid *g)
{
	static const char *const headings[] = {"VALUE", "STATE", "GONE HOST", "WHOSE", "SINCE"};
	const char *host = option_of(g->in, "of-host");
	struct vfctl_id *ids;
	size_t count;
	int r = vfctl_ids_orphans(g->ids, &ids, &count);

	if (r < 0)
		return fail(g->in, r);
	if (g->in->json)
		out_open(g->in->out, NULL, '[');
	else
		out_table(g->in->out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < count; i++)
		if (!host || strcmp(ids[i].owner.host, host) == 0)
			print_id(g, &ids[i]);
	if (g->in->json)
		out_shut(g->in->out);
	else
		out_table_end(g->in->out);
	free(ids);
	return EXIT_DONE;
}

/* ---- reclaim ---- */

static int reclaim_one(struct guid *g, enum vfctl_id_kind kind, uint64_t value, bool force)
{
	char text[VFCTL_ID_TEXT], at[GUID_TIME];
	struct vfctl_id id;
	int r;

	vfctl_id_format(kind, value, text);
	if (g->in->dry_run && g->in->json) {
		out_open(g->in->out, NULL, '{');
		out_str(g->in->out, "value", text);
		out_bool(g->in->out, "dry_run", true);
		out_shut(g->in->out);
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
		out_line(g->in->out, "%s of host %s rests until %s", text, id.owner.host,
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

/* All that a gone host has, and then its name. */
static int reclaim_host(struct guid *g, const char *host, bool force, size_t *done)
{
	struct vfctl_id_filter filter = {.host = host, .fleet = true,
		.states = 1u << VFCTL_ID_LEASED | 1u << VFCTL_ID_BLOCK};
	struct vfctl_id_cursor *cursor;
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
	vfctl_ids_list_end(cursor);
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
		return usage(g->in, "reclaim needs VALUEs, or --of-host for all of a gone host");
	if (g->in->json)
		out_open(g->in->out, NULL, '[');
	status = host ? reclaim_host(g, host, force, &done) : reclaim_values(g, force, &done);
	if (g->in->json)
		out_shut(g->in->out);
	if (done && status == EXIT_FAILED)
		return EXIT_PARTLY; /* each value is a change of its own */
	return status || g->in->dry_run ? status : run_after_change(g->in, g->spec);
}

/* ---- publish ---- */

int guid_publish(struct guid *g)
{
	size_t changed;
	int r = vfctl_ids_publish(g->ids, g->in->dry_run, &changed);

	if (r < 0)
		return fail(g->in, r);
	if (g->in->json) {
		out_open(g->in->out, NULL, '{');
		out_int(g->in->out, g->in->dry_run ? "would_change" : "changed", (int64_t)changed);
		out_shut(g->in->out);
	} else if (!g->in->quiet) {
		out_line(g->in->out, "%zu pool%s %s", changed, changed == 1 ? "" : "s",
			g->in->dry_run ? "would be published" : "published");
	}
	return EXIT_DONE;
}
