// SPDX-License-Identifier: GPL-2.0-or-later
/* guid pools, guid list, guid export: values are printed as they are read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guid/guid.h"
#include "host/files.h"
#include "ids/pools.h"

/* The input of the answers of pools and list. */
struct guid_view {
	struct guid *g;
	const char *host;
	const struct vfctl_id_filter *filter;
	uint16_t pkey; /* only this partition; 0: all */
};

/* ---- pools ---- */

static const char *source_text(const struct guid *g, const struct vfctl_id_pool *pool,
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
	out_cell(out, "%s", source_text(g, pool, source));
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

struct range_view {
	const char *first, *last;
};

#define OF struct range_view
static const struct member range_table[] = {
	FIELD(first, "first value", FILLED),
	FIELD(last, "last value", FILLED), END};
#undef OF

/* A pool, and the number of its allocated values. */
struct pool_view {
	const struct vfctl_id_pool *pool;
	const struct vfctl_id_stats *stats;
	bool declared;
	const char *pf;
};

static int fill_ranges(struct out *out, const void *of)
{
	const struct vfctl_id_pool *pool = ((const struct pool_view *)of)->pool;
	char first[VFCTL_ID_TEXT], last[VFCTL_ID_TEXT];

	for (size_t i = 0; i < pool->range_count; i++) {
		vfctl_id_format(pool->kind, pool->ranges[i].first, first);
		vfctl_id_format(pool->kind, pool->ranges[i].last, last);
		answer_put(out, NULL, range_table, &(struct range_view){first, last});
	}
	return 0;
}

/* At most 2^63 - 1, the number of all GUIDs. */
#define OF struct vfctl_id_stats
static const struct member stats_table[] = {
	FIELD(size, "number of values"),
	FIELD(leased, "allocated values"),
	FIELD(block, "values in the reserve of the host, in a fleet"),
	FIELD(resting, "released values in their cooldown"),
	FIELD(quarantined, "values that were seen in use without an owner"),
	FIELD(free, "free values"), END};
#undef OF

#define OF struct pool_view
TEXT_OF(pool_kind, OF, vfctl_id_kind_name(it->pool->kind))
TEXT_OF(pool_strategy, OF, vfctl_id_strategy_name(it->pool->strategy))
TEXT_OF(pool_source, OF, vfctl_id_source_name(it->pool->source))
static const struct member pool_table[] = {
	FIELD_VIA("name", pool, name, "name of the pool", FILLED),
	TEXT("kind", pool_kind, "guid or mac"),
	FIELD(declared, "host.yaml declares the pool; if false, the next four members are left "
		"out"),
	TEXT("strategy", pool_strategy, "how the pool chooses values", OPTIONAL, KNOWN_BY(declared)),
	TEXT("source", pool_source, "where its values come from", OPTIONAL, KNOWN_BY(declared)),
	FIELD(pf, "PF whose GUID the values are derived from", OPTIONAL, NULLABLE,
		KNOWN_BY(declared)),
	FIELD_VIA("rest_s", pool, rest_s, "cooldown of a released value, in seconds", OPTIONAL,
		KNOWN_BY(declared)),
	FILL("ranges", fill_ranges, range_table, "values of the pool"),
	PART_AT(stats, stats_table), END};
#undef OF

static void put_pool(const struct guid *g, const struct vfctl_id_pool *pool,
	const struct vfctl_id_stats *n, bool lost)
{
	answer_put(g->in->out, NULL, pool_table, &(struct pool_view){pool, n, !lost,
		lost ? NULL : g->spec->pool_pfs[pool - g->spec->pools]});
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
			warn("pool %s is no longer in host.yaml, but has %" PRIu64 " values leased and "
				"%" PRIu64 ""
			     " in their cooldown; declare it again, or release them",
				pools[i].name, n.leased, n.resting);
	}
	return r;
}

/* The pools of host.yaml, and those that it no longer declares. */
static int each_pool_of_all(struct guid *g)
{
	size_t lost_count;
	const struct vfctl_id_pool *lost = vfctl_ids_lost(g->ids, &lost_count);
	int r = each_pool(g, g->spec->pools, g->spec->pool_count, false);

	if (!g->in->json && g->spec->pool_count)
		out_table_end(g->in->out);
	return r == 0 ? each_pool(g, lost, lost_count, true) : r;
}

static int fill_pools(struct out *out, const void *of)
{
	return each_pool_of_all(((const struct guid_view *)of)->g);
}

#define OF struct guid_view
static const struct member pools_table[] = {
	FIELD(host, "name of the host"),
	FILL("pools", fill_pools, pool_table, "pools of host.yaml, then pools that are not "
		"declared but have allocated values"), END};
#undef OF
const struct answer guid_pools_answer[] = {{NULL, pools_table, false}, {0}};

int guid_pools(struct guid *g)
{
	static const char *const headings[] = {"POOL", "KIND", "STRATEGY", "SOURCE", "SIZE",
		"LEASED", "BLOCK", "RESTING", "QUARANTINED", "FREE"};
	int r;

	if (g->in->json) {
		r = answer_put(g->in->out, NULL, pools_table, &(struct guid_view){.g = g,
			.host = g->spec->host});
		return r < 0 ? fail(g->in, r) : EXIT_DONE;
	}
	if (g->spec->pool_count)
		out_table(g->in->out, 0, headings, ARRAY_SIZE(headings));
	else
		out_line(g->in->out, "host.yaml declares no pools");
	r = each_pool_of_all(g);
	return r < 0 ? fail(g->in, r) : EXIT_DONE;
}

/* ---- rows ---- */

#define OF struct vfctl_id
TEXT_OF(id_kind, OF, vfctl_id_kind_name(it->kind))
TEXT_OF(id_value, OF, vfctl_id_format(it->kind, it->value, room))
TEXT_OF(id_state, OF, vfctl_id_state_name(it->state))
TEXT_OF(id_pkey, OF, it->pkey ? vfctl_pkey_format(it->pkey, room) : NULL)
TEXT_OF(id_since, OF, guid_time(it->since, room))
TEXT_OF(id_until, OF, it->until ? guid_time(it->until, room) : NULL)
const struct member answer_id[] = {
	SECTION("ID", "A GUID or MAC of a pool."),
	TEXT("kind", id_kind, "guid or mac"),
	TEXT("value", id_value, "the value"),
	FIELD(pool, "pool that it belongs to"),
	TEXT("state", id_state, "leased, block, resting or quarantined"),
	FIELD_AS("host", owner.host, "host of the owner"),
	FIELD_AS("domain_uuid", owner.domain_uuid, "UUID of the domain that owns the value"),
	FIELD_AS("domain_name", owner.domain_name, "name of that domain"),
	FIELD_AS("device", owner.device, "VF of the owner"),
	TEXT("pkey", id_pkey, "P_Key", NULLABLE),
	TEXT("since", id_since, "time of the last change"),
	TEXT("until", id_until, "end of the cooldown", NULLABLE),
	FIELD(pending, "the value is not in the fleet's store yet"),
	FIELD(note, "for a quarantined value: where it was seen"), END};
#undef OF

void guid_put_id(struct out *out, const char *key, const struct vfctl_id *id)
{
	answer_put(out, key, answer_id, id);
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

/* A spreadsheet reads text that begins like this as a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	strtod(text, &end);
	return end == text || *end;
}

/* RFC 4180: quoted where necessary. */
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

/* The destination of rows: one of the two. */
struct sink {
	struct out *json, *table;
	FILE *csv;
	uint16_t pkey; /* only this partition; 0: all */
};

static int walk_guid_list(struct guid *g, const struct vfctl_id_filter *filter,
	const struct sink *to)
{
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
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
	return r;
}

static int fill_ids(struct out *out, const void *of)
{
	const struct guid_view *view = of;

	return walk_guid_list(view->g, view->filter, &(struct sink){.json = out, .pkey = view->pkey});
}

#define OF struct guid_view
static const struct member ids_table[] = {
	FIELD(host, "name of the host"),
	FILL("identities", fill_ids, answer_id, "values of the pools"), END};
#undef OF
const struct answer guid_list_answer[] = {{NULL, ids_table, false}, {0}};

/* After a failure, a JSON answer ends with the error; a file has none. */
static int walk_json(struct guid *g, const struct vfctl_id_filter *filter, struct out *out,
	uint16_t pkey)
{
	int r = answer_put(out, NULL, ids_table, &(struct guid_view){g, g->spec->host, filter, pkey});

	if (r < 0 && out != g->in->out) {
		json_close(out);
		json_close(out);
	}
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
		return usage(g->in, "--only must be leased, block, resting or quarantined, not '%s'",
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
	_free_ char *text = NULL;
	int r = vfctl_ids_partitions(g->ids, pkey, &text);

	if (r < 0)
		return r;
	fputs(text, file);
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

/* Through a separate stream: the descriptor still belongs to the output. */
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
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int r = vfctl_output_open(g->in->ctx, path, true, &output);

	if (r < 0)
		return fail(g->in, r);
	r = write_stream(g, format, vfctl_output_fd(output), pkey);
	if (r == 0)
		r = vfctl_output_commit(g->in->ctx, output);
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
	if (!name && g->in->json)
		name = "json";
	if (!name)
		return usage(g->in, "needs --format opensm, json or csv");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			format = &formats[i];
	if (!format)
		return usage(g->in, "--format must be opensm, json or csv, not '%s'", name);
	if (g->in->json && strcmp(name, "json"))
		return usage(g->in, "--format %s is not JSON; leave out --json, or the format", name);
	pkey &= VFCTL_PKEY_FULL - 1;
	if (path)
		return write_file(g, format, path, pkey);
	r = format->write(g, out_file(g->in->out), pkey);
	return r < 0 ? fail(g->in, r) : EXIT_DONE;
}
