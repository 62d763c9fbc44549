// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/record_json.h"
#include "ids/pools.h"

/* ---- keys ---- */

char *fleet_id_key(enum vfctl_id_kind kind, uint64_t value, char buf[FLEET_KEY])
{
	snprintf(buf, FLEET_KEY, "v1/id/%s/%016" PRIx64, vfctl_id_kind_name(kind), value);
	return buf;
}

char *fleet_owner_key(enum vfctl_id_kind kind, const struct vfctl_id_owner *owner,
	char buf[FLEET_KEY])
{
	bool domain = owner->domain_uuid[0];

	snprintf(buf, FLEET_KEY, "v1/owner/%s%s/%s/%s", domain ? "" : "host:",
		domain ? owner->domain_uuid : owner->host, vfctl_id_kind_name(kind),
		owner->device);
	return buf;
}

char *fleet_key(const char *what, const char *name, char buf[FLEET_KEY])
{
	snprintf(buf, FLEET_KEY, "v1/%s/%s", what, name);
	return buf;
}

char *fleet_value_text(uint64_t value, char buf[FLEET_VALUE])
{
	snprintf(buf, FLEET_VALUE, "%016" PRIx64, value);
	return buf;
}

bool fleet_value_read(const char *text, uint64_t *ret_value)
{
	char again[FLEET_VALUE];

	return parse_hex(text, UINT64_MAX, ret_value) == 0 &&
		str_eq(text, fleet_value_text(*ret_value, again));
}

bool fleet_id_of_key(enum vfctl_id_kind kind, const char *key, uint64_t *ret_value)
{
	char head[FLEET_KEY];
	int len = snprintf(head, sizeof(head), "v1/id/%s/", vfctl_id_kind_name(kind));

	return str_starts(key, head) && fleet_value_read(key + len, ret_value);
}

/* ---- records ---- */

static const char *state_word(int value)
{
	return vfctl_id_state_name((enum vfctl_id_state)value);
}

#define AT(member) RECORD_AT(struct vfctl_id, member)
static const struct record_row id_rows[] = {
	{"state", NULL, RECORD_WORD, RECORD_REQUIRED, AT(state),
		.word = state_word, .max = VFCTL_ID_QUARANTINED},
	{"pool", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(pool)},
	{"host", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(owner.host)},
	{"domain", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(owner.domain_uuid)},
	{"name", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(owner.domain_name)},
	{"device", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(owner.device)},
	{"note", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(note)},
	{"pkey", NULL, RECORD_NUMBER, RECORD_OPTIONAL, AT(pkey), .max = UINT16_MAX},
	{"since", NULL, RECORD_NUMBER, RECORD_OPTIONAL, AT(since), .max = INT64_MAX},
	{"until", NULL, RECORD_NUMBER, RECORD_OPTIONAL, AT(until), .max = INT64_MAX},
};
static const struct record id_record = {RECORD(struct vfctl_id, id_rows),
	.lines = RECORD_COMPACT, .loose = true};

char *fleet_record_write(const struct vfctl_id *id)
{
	struct buf text = {0};

	record_write(&text, &id_record, id);
	return buf_steal(&text);
}

int fleet_record_read(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const char *text, size_t len, struct vfctl_id *ret)
{
	struct vfctl_id id = {.kind = kind, .value = value};
	char key[FLEET_KEY];
	int r = record_parse(ctx, fleet_id_key(kind, value, key), text, len, &id_record, &id);

	if (r == -EINVAL)
		return ctx_fail(ctx, -EBADMSG, "%s in etcd is not a record of vfctl; remove it "
			"with etcdctl del", key);
	if (r == 0)
		*ret = id;
	return r;
}

/* ---- pools ---- */

char *fleet_pool_text(const struct vfctl_id_pool *pool)
{
	_buf_ struct buf b = {0};

	buf_printf(&b, "kind=%s strategy=%s source=%s rest=%us ranges=",
		vfctl_id_kind_name(pool->kind), vfctl_id_strategy_name(pool->strategy),
		vfctl_id_source_name(pool->source), pool->rest_s);
	/* Ranges that derive from a PF's GUID differ between hosts. */
	for (size_t i = 0; i < pool->range_count && pool->source == VFCTL_ID_SOURCE_RANGES; i++)
		buf_printf(&b, "%s%016" PRIx64 "..%016" PRIx64, i ? "," : "",
			pool->ranges[i].first, pool->ranges[i].last);
	return buf_steal(&b);
}
