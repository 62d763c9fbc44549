// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "types/idrange.h"
#include "spec/host.h"

#define RANGES_MAX 10000
#define REST_DEFAULT_S 3600
#define REST_MAX_S (365u * 86400)

/* A pool while it is read. */
struct entry {
	enum vfctl_id_kind kind;
	char *name, *pf;
	unsigned strategy, derive; /* derive: 0: none, else enum vfctl_id_source */
	uint32_t rest_s;
	struct idranges ranges;
};

static void clear_entry(struct entry *e)
{
	free(e->name);
	free(e->pf);
	free(e->ranges.v);
}

static const char *what(enum vfctl_id_kind kind)
{
	return kind == VFCTL_ID_GUID ? "GUID" : "MAC";
}

static const char *example(enum vfctl_id_kind kind)
{
	return kind == VFCTL_ID_GUID
		? "02:00:00:00:00:00:00:01..02:00:00:00:00:00:ff:ff"
		: "02:00:00:00:00:01..02:00:00:00:ff:ff";
}

/* Spaces around it are ignored. NULL and the value, or the reason why it is not valid. */
static const char *read_value(enum vfctl_id_kind kind, const char *text, size_t len,
	uint64_t *ret)
{
	struct vfctl_mac mac;
	char word[64] = "";

	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	if (len >= sizeof(word))
		return "is too long";
	memcpy(word, text, len);
	if (kind == VFCTL_ID_GUID)
		return vfctl_guid_parse(word, ret) < 0 ? vfctl_guid_parse_fault(word) : NULL;
	if (vfctl_mac_parse(word, &mac) < 0)
		return "is not a MAC; write 6 bytes in hex as 02:00:00:00:00:01";
	*ret = 0;
	for (size_t i = 0; i < sizeof(mac.byte); i++)
		*ret = *ret << 8 | mac.byte[i];
	return NULL;
}

static int read_end(struct reader *r, const struct doc_node *at, enum vfctl_id_kind kind,
	const char *text, size_t len, uint64_t *ret)
{
	uint64_t value;
	const char *fault = read_value(kind, text, len, &value);

	if (!fault)
		fault = id_fault(kind, value);
	if (fault)
		return doc_fail(r->ctx, at, -EINVAL, "%.*s: '%.*s' %s",
			(int)strlen(r->path) - 1, r->path, len > 64 ? 64 : (int)len, text, fault);
	*ret = value;
	return 0;
}

static int add_range(struct reader *r, const struct doc_node *at, struct entry *e,
	uint64_t first, uint64_t last)
{
	char a[VFCTL_ID_TEXT], b[VFCTL_ID_TEXT];

	if (first > last)
		return doc_fail(r->ctx, at, -EINVAL,
			"%.*s: the range begins at %s, above its end %s; swap them",
			(int)strlen(r->path) - 1, r->path, vfctl_id_format(e->kind, first, a),
			vfctl_id_format(e->kind, last, b));
	return idranges_add(&e->ranges, e->kind, first, last) ? 0 : ctx_oom(r->ctx);
}

struct ends {
	char *first, *last;
};

static void clear_ends(struct ends *ends)
{
	free(ends->first);
	free(ends->last);
}

static const struct key range_keys[] = {
	{"first", read_line, offsetof(struct ends, first), 1, 64, NULL},
	{"last", read_line, offsetof(struct ends, last), 1, 64, NULL},
};

static const char *const range_required[] = {"first", "last", NULL};
static const struct table range_table = {range_keys, ARRAY_SIZE(range_keys), NULL, 0,
	.required = range_required, .remedy = "a range has both ends"};

static int read_range_map(struct reader *r, const struct doc_node *node, struct entry *e)
{
	_cleanup_(clear_ends) struct ends ends = {0};
	uint64_t first, last;
	int error = reader_table(r, node, &range_table, &ends, NULL);

	if (error < 0)
		return error;
	error = read_end(r, node, e->kind, ends.first, strlen(ends.first), &first);
	if (error == 0)
		error = read_end(r, node, e->kind, ends.last, strlen(ends.last), &last);
	return error < 0 ? error : add_range(r, node, e, first, last);
}

/* "FIRST..LAST": ':' and '-' are part of the addresses themselves. */
static int read_range(struct reader *r, const struct doc_node *node, void *object)
{
	struct entry *e = object;
	const struct key here = {.name = "the range"};
	uint64_t first, last;
	const char *text, *dots;
	int error;

	if (node->kind == DOC_MAP)
		return read_range_map(r, node, e);
	error = reader_text(r, &here, node, &text);
	if (error < 0)
		return error;
	dots = strstr(text, "..");
	if (!dots)
		return doc_fail(r->ctx, node, -EINVAL,
			"%.*s: '%.64s' is not a range; write FIRST..LAST, such as %s, or single values "
			"under values:", (int)strlen(r->path) - 1, r->path, text,
			example(e->kind));
	error = read_end(r, node, e->kind, text, (size_t)(dots - text), &first);
	if (error == 0)
		error = read_end(r, node, e->kind, dots + 2, strlen(dots + 2), &last);
	return error < 0 ? error : add_range(r, node, e, first, last);
}

static int read_single(struct reader *r, const struct doc_node *node, void *object)
{
	struct entry *e = object;
	const struct key here = {.name = "the value"};
	const char *text;
	uint64_t value;
	int error = reader_text(r, &here, node, &text);

	if (error == 0)
		error = read_end(r, node, e->kind, text, strlen(text), &value);
	return error < 0 ? error : add_range(r, node, e, value, value);
}

static int read_ranges(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	return reader_each(r, key, value, RANGES_MAX, object, read_range);
}

static int read_values(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	return reader_each(r, key, value, RANGES_MAX, object, read_single);
}

static const char *const strategy_text[] = {"lowest", "hash", NULL};
static const char *const derive_text[] = {"none", "host", "mac", NULL};

enum { NAME, RANGES, VALUES, DERIVE, PF, STRATEGY };

#define E(member) offsetof(struct entry, member)
static const struct key pool_keys[] = {
	[NAME] = {"name", read_name_text, E(name), 0, VFCTL_ID_NAME_MAX, NULL},
	[RANGES] = {"ranges", read_ranges, 0, 0, 0, NULL},
	[VALUES] = {"values", read_values, 0, 0, 0, NULL},
	[DERIVE] = {"derive", read_word, E(derive), 0, 0, derive_text},
	[PF] = {"pf", read_line, E(pf), 1, 64, NULL},
	[STRATEGY] = {"strategy", read_word, E(strategy), 0, 0, strategy_text},
	{"rest", read_seconds, E(rest_s), 0, REST_MAX_S, NULL},
};

static const struct shape range_shape = {.kinds = SHAPE_STRING, .pattern = "[.][.]",
	.map = &range_table};
static const struct shape value_shape = {.kinds = SHAPE_TEXT};
static const struct shape pool_shapes[] = {
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
	{.read = read_ranges, .each = &range_shape, .most = RANGES_MAX},
	{.read = read_values, .each = &value_shape, .most = RANGES_MAX},
};
static const char *const pool_required[] = {"name", NULL};
const struct table pool_table = {pool_keys, ARRAY_SIZE(pool_keys), pool_shapes,
	ARRAY_SIZE(pool_shapes), .required = pool_required, .remedy = "every pool has a name"};

static int check_derive(struct reader *r, const struct doc_node *node,
	const struct entry *e, const struct doc_node *const *seen)
{
	if (e->kind != VFCTL_ID_GUID)
		return reader_fail(r, seen[DERIVE], "derive", -EINVAL,
			"only pools of GUIDs can derive values; give the pool ranges");
	for (unsigned i = RANGES; i <= VALUES; i++)
		if (seen[i])
			return reader_fail(r, seen[i], pool_keys[i].name, -EINVAL,
				"the pool derives its values; remove this key, or derive");
	if (e->derive == VFCTL_ID_SOURCE_HOST && !e->pf)
		return reader_fail(r, node, "pf", -EINVAL,
			"the key is missing; name the PF whose GUID the values derive from");
	if (e->derive == VFCTL_ID_SOURCE_MAC && seen[STRATEGY])
		return reader_fail(r, seen[STRATEGY], "strategy", -EINVAL,
			"the MAC determines the value; remove the key");
	return 0;
}

static int check_entry(struct reader *r, const struct doc_node *node, struct entry *e,
	const struct doc_node *const *seen)
{
	char text[VFCTL_ID_TEXT];
	uint64_t twice;

	if (e->derive != VFCTL_ID_SOURCE_HOST && e->pf)
		return reader_fail(r, seen[PF], "pf", -EINVAL,
			"it needs derive: host; add that, or remove this key");
	if (e->derive)
		return check_derive(r, node, e, seen);
	if (!e->ranges.count)
		return reader_fail(r, node, "ranges", -EINVAL,
			"pool %s has no values; give it ranges, values%s", e->name,
			e->kind == VFCTL_ID_GUID ? " or derive" : "");
	if (!idranges_settle(&e->ranges, &twice))
		return doc_fail(r->ctx, seen[seen[RANGES] ? RANGES : VALUES], -EINVAL,
			"pool %s: two of its ranges overlap: %s is in both; cut one of them",
			e->name, vfctl_id_format(e->kind, twice, text));
	return 0;
}

/* No value may be in two pools. */
static int check_others(struct reader *r, const struct doc_node *node,
	const struct vfctl_host_spec *spec, const struct entry *e)
{
	char text[VFCTL_ID_TEXT];
	uint64_t value;

	for (size_t i = 0; i < spec->pool_count; i++) {
		const struct vfctl_id_pool *p = &spec->pools[i];

		if (str_eq(p->name, e->name))
			return reader_fail(r, node, "name", -EINVAL,
				"pool %s is declared already; pools of GUIDs and MACs all need "
				"different names", e->name);
		if (p->kind == e->kind && idranges_share(p->ranges, p->range_count,
				e->ranges.v, e->ranges.count, &value))
			return doc_fail(r->ctx, node, -EINVAL,
				"pools %s and %s overlap: %s %s is in both; cut one of them",
				p->name, e->name, what(e->kind),
				vfctl_id_format(e->kind, value, text));
	}
	return 0;
}

static int keep_entry(struct reader *r, struct vfctl_host_spec *spec, struct entry *e)
{
	struct vfctl_id_pool *pool;

	if (!array_grow(spec->pools, spec->pool_count) ||
		!array_grow(spec->pool_pfs, spec->pool_count))
		return ctx_oom(r->ctx);
	pool = &spec->pools[spec->pool_count];
	*pool = (struct vfctl_id_pool){.kind = e->kind, .rest_s = e->rest_s,
		.strategy = (enum vfctl_id_strategy)e->strategy,
		.source = (enum vfctl_id_source)e->derive,
		.range_count = e->ranges.count, .ranges = steal(e->ranges.v)};
	str_copy(pool->name, sizeof(pool->name), e->name);
	spec->pool_pfs[spec->pool_count++] = steal(e->pf);
	return 0;
}

static int read_pool(struct reader *r, const struct doc_node *node,
	struct vfctl_host_spec *spec, enum vfctl_id_kind kind)
{
	const struct doc_node *seen[ARRAY_SIZE(pool_keys)] = {0};
	_cleanup_(clear_entry) struct entry e = {.kind = kind, .rest_s = REST_DEFAULT_S};
	int error = reader_table(r, node, &pool_table, &e, seen);

	if (error == 0)
		error = check_entry(r, node, &e, seen);
	if (error == 0)
		error = check_others(r, node, spec, &e);
	return error < 0 ? error : keep_entry(r, spec, &e);
}

static int read_guid_pool(struct reader *r, const struct doc_node *node, void *object)
{
	return read_pool(r, node, object, VFCTL_ID_GUID);
}

static int read_mac_pool(struct reader *r, const struct doc_node *node, void *object)
{
	return read_pool(r, node, object, VFCTL_ID_MAC);
}

int read_guid_pools(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, POOLS_MAX, object, read_guid_pool);
}

int read_mac_pools(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, POOLS_MAX, object, read_mac_pool);
}
