// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"

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

/* Empty members are left out. */
/* clang-format off */
#define MEMBER(name, field) \
	{name, offsetof(struct vfctl_id, field), sizeof(((struct vfctl_id *)NULL)->field)}
/* clang-format on */
static const struct {
	const char *name;
	size_t offset, size;
} texts[] = {MEMBER("pool", pool), MEMBER("host", owner.host), MEMBER("domain", owner.domain_uuid),
	MEMBER("name", owner.domain_name), MEMBER("device", owner.device), MEMBER("note", note)};

static void put_number(struct buf *b, const char *name, int64_t n)
{
	if (n)
		buf_printf(b, ",\"%s\":%" PRId64, name, n);
}

char *fleet_record_write(const struct vfctl_id *id)
{
	_buf_ struct buf b = {0};

	buf_printf(&b, "{\"state\":\"%s\"", vfctl_id_state_name(id->state));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = (const char *)id + texts[i].offset;

		if (!*text)
			continue;
		buf_printf(&b, ",\"%s\":", texts[i].name);
		json_put(&b, text);
	}
	put_number(&b, "pkey", id->pkey);
	put_number(&b, "since", id->since);
	put_number(&b, "until", id->until);
	buf_puts(&b, "}");
	return buf_steal(&b);
}

static bool read_state(const struct json *root, enum vfctl_id_state *ret)
{
	const char *text = json_text(json_member(root, "state"));

	for (int i = VFCTL_ID_LEASED; text && i <= VFCTL_ID_QUARANTINED; i++)
		if (str_eq(text, vfctl_id_state_name((enum vfctl_id_state)i))) {
			*ret = (enum vfctl_id_state)i;
			return true;
		}
	return false;
}

static bool read_members(const struct json *root, struct vfctl_id *id)
{
	int64_t pkey = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct json *member = json_member(root, texts[i].name);
		const char *text = json_text(member);
		char *field = (char *)id + texts[i].offset;

		if (member && !(text && str_copy(field, texts[i].size, text)))
			return false;
	}
	if (!read_state(root, &id->state) || json_number(json_member(root, "pkey"), &pkey) < 0 ||
		json_number(json_member(root, "since"), &id->since) < 0 ||
		json_number(json_member(root, "until"), &id->until) < 0)
		return false;
	id->pkey = (uint16_t)pkey;
	return pkey >= 0 && pkey <= UINT16_MAX;
}

int fleet_record_read(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const char *text, size_t len, struct vfctl_id *ret)
{
	_json_doc_ struct json *root = NULL;
	struct vfctl_id id = {.kind = kind, .value = value};
	char key[FLEET_KEY];
	int r = json_read(ctx, fleet_id_key(kind, value, key), text, len, &root);

	if (r < 0)
		return r;
	if (!read_members(root, &id))
		return ctx_fail(ctx, -EBADMSG, "%s in etcd is not a record of vfctl; remove it with "
			"etcdctl del", key);
	*ret = id;
	return 0;
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
