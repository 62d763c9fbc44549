// SPDX-License-Identifier: GPL-2.0-or-later
/* guid pools, guid list, guid export: what is printed as it is read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guid/guid.h"
#include "vfctl/host.h"

/* ---- pools ---- */

static const char *source_words(const struct guid *g, const struct vfctl_id_pool *pool,
	char buf[96])
{
	if (pool->source == VFCTL_ID_SOURCE_HOST)
		snprintf(buf, 96, "PF %s", g->spec->pool_pfs[pool - g->spec->pools]);
	else
		snprintf(buf, 96, "%s", vfctl_id_source_name(pool->source));
	return buf;
}

static void print_pool(const struct guid *g, const struct vfctl_id_pool *pool,
	const struct vfctl_id_stats *n)
{
	const uint64_t counts[] = {n->leased, n->block, n->resting, n->quarantined};
	struct out *out = g->in->out;
	char source[96];

	out_cell(out, "%s", pool->name);
	out_cell(out, "%s", vfctl_id_kind_name(pool->kind));
	out_cell(out, "%s", pool->source == VFCTL_ID_SOURCE_MAC ? ""
		: vfctl_id_strategy_name(pool->strategy));
	out_cell(out, "%s", source_words(g, pool, source));
	if (n->size)
		out_cell(out, "%" PRIu64, n->size);
	else
		out_cell(out, "%s", "");
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		out_cell(out, "%" PRIu64, counts[i]);
	if (n->size)
		out_cell(out, "%" PRIu64, n->free);
	else
		out_cell(out, "%s", "");
}

static void put_pool(const struct guid *g, const struct vfctl_id_pool *pool,
	const struct vfctl_id_stats *n, bool lost)
{
	struct out *out = g->in->out;
	char text[VFCTL_ID_TEXT];

	out_open(out, NULL, '{');
	out_str(out, "name", pool->name);
	out_str(out, "kind", vfctl_id_kind_name(pool->kind));
	out_bool(out, "declared", !lost);
	if (!lost) {
		out_str(out, "strategy", vfctl_id_strategy_name(pool->strategy));
		out_str(out, "source", vfctl_id_source_name(pool->source));
		out_str(out, "pf", g->spec->pool_pfs[pool - g->spec->pools]);
		out_int(out, "rest_s", pool->rest_s);
	}
	out_open(out, "ranges", '[');
	for (size_t i = 0; i < pool->range_count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "first", vfctl_id_format(pool->kind, pool->ranges[i].first, text));
		out_str(out, "last", vfctl_id_format(pool->kind, pool->ranges[i].last, text));
		out_shut(out);
	}
	out_shut(out);
	/* Never above 2^63 - 1: those are all GUIDs there are. */
	out_int(out, "size", (int64_t)n->size);
	out_int(out, "leased", (int64_t)n->leased);
	out_int(out, "block", (int64_t)n->block);
	out_int(out, "resting", (int64_t)n->resting);
	out_int(out, "quarantined", (int64_t)n->quarantined);
	out_int(out, "free", (int64_t)n->free);
	out_shut(out);
}

static int each_pool(struct guid *g, const struct vfctl_id_pool *pools, size_t count,
	bool lost)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		struct vfctl_id_stats n;

		r = vfctl_ids_stats(g->ids, &pools[i], &n);
		if (r == 0 && g->in->json)
			put_pool(g, &pools[i], &n, lost);
		else if (r == 0 && !lost)
			print_pool(g, &pools[i], &n);
		else if (r == 0)
			warn("pool %s is not in host.yaml any more, but has %" PRIu64 " values "
			     "leased and %" PRIu64 " resting; put it back, or release them",
				pools[i].name, n.leased, n.resting);
	}
	return r;
}

int guid_pools(struct guid *g)
{
	static const char *const headings[] = {"POOL", "KIND", "STRATEGY", "SOURCE", "SIZE",
		"LEASED", "BLOCK", "RESTING", "QUARANTINED", "FREE"};
	const struct vfctl_id_pool *lost;
	size_t lost_count;
	int r;

	lost = vfctl_ids_lost(g->ids, &lost_count);
	if (g->in->json) {
		out_open(g->in->out, NULL, '{');
		out_str(g->in->out, "host", g->spec->host);
		out_open(g->in->out, "pools", '[');
	} else if (g->spec->pool_count) {
		out_table(g->in->out, 0, headings, ARRAY_SIZE(headings));
	} else {
		out_line(g->in->out, "host.yaml declares no pools");
	}
	r = each_pool(g, g->spec->pools, g->spec->pool_count, false);
	if (!g->in->json && g->spec->pool_count)
		out_table_end(g->in->out);
	if (r == 0)
		r = each_pool(g, lost, lost_count, true);
	if (r < 0)
		return fail(g->in, r);
	if (g->in->json) {
		out_shut(g->in->out);
		out_shut(g->in->out);
	}
	return EXIT_DONE;
}

/* ---- rows ---- */

void guid_put_id(struct out *out, const char *key, const struct vfctl_id *id)
{
	const struct vfctl_id_owner *o = &id->owner;
	char text[VFCTL_ID_TEXT], pkey[VFCTL_PKEY_TEXT], at[GUID_TIME];

	out_open(out, key, '{');
	out_str(out, "kind", vfctl_id_kind_name(id->kind));
	out_str(out, "value", vfctl_id_format(id->kind, id->value, text));
	out_str(out, "pool", id->pool[0] ? id->pool : NULL);
	out_str(out, "state", vfctl_id_state_name(id->state));
	out_str(out, "host", o->host[0] ? o->host : NULL);
	out_str(out, "domain_uuid", o->domain_uuid[0] ? o->domain_uuid : NULL);
	out_str(out, "domain_name", o->domain_name[0] ? o->domain_name : NULL);
	out_str(out, "device", o->device[0] ? o->device : NULL);
	out_str(out, "pkey", id->pkey ? vfctl_pkey_format(id->pkey, pkey) : NULL);
	out_str(out, "since", guid_time(id->since, at));
	out_str(out, "until", id->until ? guid_time(id->until, at) : NULL);
	out_bool(out, "pending", id->pending);
	out_str(out, "note", id->note[0] ? id->note : NULL);
	out_shut(out);
}

static void print_row(struct out *out, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT], pkey[VFCTL_PKEY_TEXT], who[GUID_WHO];

	out_cell(out, "%s", vfctl_id_format(id->kind, id->value, text));
	out_cell(out, "%s%s", vfctl_id_state_name(id->state), id->pending ? "*" : "");
	out_cell(out, "%s", id->pool);
	out_cell(out, "%s", id->pkey ? vfctl_pkey_format(id->pkey, pkey) : "");
	out_cell(out, "%s", guid_who(id, who));
}

/* A spreadsheet takes what begins so for a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	strtod(text, &end);
	return end == text || *end;
}

/* RFC 4180: quoted where it must be. */
static void put_field(FILE *file, const char *text, char end)
{
	bool formula = is_formula(text);

	if (formula || strpbrk(text, "\",\r\n")) {
		fputs(formula ? "\"'" : "\"", file);
		for (; *text; text++) {
			if (*text == '"')
				putc('"', file);
			putc(*text, file);
		}
		putc('"', file);
	} else {
		fputs(text, file);
	}
	putc(end, file);
}

static void put_csv(FILE *file, const struct vfctl_id *id)
{
	const struct vfctl_id_owner *o = &id->owner;
	char text[VFCTL_ID_TEXT], pkey[VFCTL_PKEY_TEXT], since[GUID_TIME], until[GUID_TIME];
	const char *const fields[] = {vfctl_id_kind_name(id->kind),
		vfctl_id_format(id->kind, id->value, text), id->pool,
		vfctl_id_state_name(id->state), o->host, o->domain_uuid, o->domain_name,
		o->device, id->pkey ? vfctl_pkey_format(id->pkey, pkey) : "",
		guid_time(id->since, since), id->until ? guid_time(id->until, until) : "",
		id->pending ? "true" : "false", id->note};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		put_field(file, fields[i], i + 1 < ARRAY_SIZE(fields) ? ',' : '\n');
}

static const char csv_head[] = "kind,value,pool,state,host,domain_uuid,domain_name,device,"
	"pkey,since,until,pending,note\n";

/* Where rows go; one of the two. */
struct sink {
	struct out *json, *table;
	FILE *csv;
	uint16_t pkey; /* only this partition; 0 all */
};

static int walk_guid_list(struct guid *g, const struct vfctl_id_filter *filter, const struct sink *to)
{
	struct vfctl_id_cursor *cursor;
	struct vfctl_id id;
	int r = vfctl_ids_list(g->ids, filter, &cursor);

	if (r < 0)
		return r;
	while ((r = vfctl_ids_next(cursor, &id)) == 1) {
		if (to->pkey && (id.pkey & (VFCTL_PKEY_FULL - 1)) != to->pkey)
			continue;
		if (to->json)
			guid_put_id(to->json, NULL, &id);
		else if (to->csv)
			put_csv(to->csv, &id);
		else
			print_row(to->table, &id);
	}
	vfctl_ids_list_end(cursor);
	return r;
}

static int walk_json(struct guid *g, const struct vfctl_id_filter *filter, struct out *out,
	uint16_t pkey)
{
	int r;

	out_open(out, NULL, '{');
	out_str(out, "host", g->spec->host);
	out_open(out, "identities", '[');
	r = walk_guid_list(g, filter, &(struct sink){.json = out, .pkey = pkey});
	if (r < 0 && out == g->in->out) /* the answer ends with the error */
		return r;
	out_shut(out);
	out_shut(out);
	return r;
}

/* ---- list ---- */

static int read_state(struct guid *g, struct vfctl_id_filter *filter)
{
	const char *state = option_of(g->in, "only");

	for (unsigned i = 0; state && i <= VFCTL_ID_QUARANTINED; i++)
		if (strcmp(vfctl_id_state_name((enum vfctl_id_state)i), state) == 0)
			filter->states = 1u << i;
	if (state && !filter->states)
		return usage(g->in, "--only '%s' is not leased, block, resting or quarantined",
			state);
	return 0;
}

int guid_list(struct guid *g)
{
	static const char *const headings[] = {"VALUE", "STATE", "POOL", "P_KEY", "OWNER"};
	static const unsigned widths[] = {23, 11, 16, 14, 0};
	struct vfctl_id_filter filter = {.fleet = option_of(g->in, "fleet") != NULL,
		.pool = option_of(g->in, "pool")};
	struct vfctl_id_owner domain = {.host = ""};
	int r, status = read_state(g, &filter);

	if (!status)
		status = guid_domain(g, &domain);
	if (status)
		return status;
	if (domain.domain_uuid[0])
		filter.domain_uuid = domain.domain_uuid;
	if (g->in->json) {
		r = walk_json(g, &filter, g->in->out, 0);
	} else {
		out_stream(g->in->out, headings, widths, ARRAY_SIZE(headings));
		r = walk_guid_list(g, &filter, &(struct sink){.table = g->in->out});
		out_table_end(g->in->out);
	}
	return r < 0 ? fail(g->in, r) : EXIT_DONE;
}

/* ---- export ---- */

static int write_opensm(struct guid *g, FILE *file, uint16_t pkey)
{
	char *text;
	int r = vfctl_ids_partitions(g->ids, pkey, &text);

	if (r < 0)
		return r;
	fputs(text, file);
	free(text);
	return 0;
}

static int write_json(struct guid *g, FILE *file, uint16_t pkey)
{
	struct vfctl_id_filter all = {.fleet = g->spec->etcd != NULL};
	struct out *out = out_new(file);
	int r;

	if (!out)
		return -ENOMEM;
	r = walk_json(g, &all, out, pkey);
	return out_close(out) || r < 0 ? r : -EIO;
}

static int write_csv(struct guid *g, FILE *file, uint16_t pkey)
{
	struct vfctl_id_filter all = {.fleet = g->spec->etcd != NULL};

	fputs(csv_head, file);
	return walk_guid_list(g, &all, &(struct sink){.csv = file, .pkey = pkey});
}

static const struct format {
	const char *name;
	int (*write)(struct guid *g, FILE *file, uint16_t pkey);
} formats[] = {{"opensm", write_opensm}, {"json", write_json}, {"csv", write_csv}};

/* Through a stream of its own: the descriptor stays the output's. */
static int write_stream(struct guid *g, const struct format *format, int fd, uint16_t pkey)
{
	int r, copy = dup(fd);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");

	if (!file) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	r = format->write(g, file, pkey);
	errno = 0;
	if (r == 0 && (fflush(file) != 0 || ferror(file)))
		r = errno ? -errno : -EIO;
	fclose(file);
	return r;
}

static int write_file(struct guid *g, const struct format *format, const char *path,
	uint16_t pkey)
{
	struct vfctl_output *output;
	int r = vfctl_output_open(g->in->ctx, path, true, &output);

	if (r < 0)
		return fail(g->in, r);
	r = write_stream(g, format, vfctl_output_fd(output), pkey);
	if (r == 0)
		r = vfctl_output_commit(g->in->ctx, output);
	vfctl_output_free(output);
	return r < 0 ? fail(g->in, r) : EXIT_DONE;
}

int guid_export(struct guid *g)
{
	const char *name = option_of(g->in, "format"), *path = option_of(g->in, "output");
	const struct format *format = NULL;
	uint16_t pkey;
	int r, status = guid_pkey(g, &pkey);

	if (status)
		return status;
	if (!name)
		return usage(g->in, "needs --format opensm, json or csv");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			format = &formats[i];
	if (!format)
		return usage(g->in, "--format '%s' is not opensm, json or csv", name);
	pkey &= VFCTL_PKEY_FULL - 1;
	if (path)
		return write_file(g, format, path, pkey);
	r = format->write(g, out_file(g->in->out), pkey);
	return r < 0 ? fail(g->in, r) : EXIT_DONE;
}
