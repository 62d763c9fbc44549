// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/fleet_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"

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

char *fleet_node_key(const char *host, char buf[FLEET_KEY])
{
	snprintf(buf, FLEET_KEY, "v1/node/%s", host);
	return buf;
}

char *fleet_host_key(const char *host, char buf[FLEET_KEY])
{
	snprintf(buf, FLEET_KEY, "v1/host/%s", host);
	return buf;
}

char *fleet_pool_key(const char *pool, char buf[FLEET_KEY])
{
	snprintf(buf, FLEET_KEY, "v1/pool/%s", pool);
	return buf;
}

char *fleet_value_text(uint64_t value, char buf[FLEET_VALUE])
{
	snprintf(buf, FLEET_VALUE, "%016" PRIx64, value);
	return buf;
}

bool fleet_value_read(const char *text, size_t len, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (len != FLEET_VALUE - 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		const char *digits = "0123456789abcdef";
		const char *at = text[i] ? strchr(digits, text[i]) : NULL;

		if (!at)
			return false;
		value = value << 4 | (uint64_t)(at - digits);
	}
	*ret_value = value;
	return true;
}

bool fleet_id_of_key(enum vfctl_id_kind kind, const char *key, uint64_t *ret_value)
{
	char head[FLEET_KEY];
	int len = snprintf(head, sizeof(head), "v1/id/%s/", vfctl_id_kind_name(kind));

	return str_starts(key, head) && fleet_value_read(key + len, strlen(key + len), ret_value);
}

/* ---- records ---- */

static void put_text(struct buf *b, const char *name, const char *text)
{
	if (!*text)
		return;
	buf_printf(b, ",\"%s\":", name);
	json_put(b, text);
}

static void put_number(struct buf *b, const char *name, int64_t n)
{
	if (n)
		buf_printf(b, ",\"%s\":%" PRId64, name, n);
}

char *fleet_record_write(const struct vfctl_id *id)
{
	_buf_ struct buf b = {0};

	buf_printf(&b, "{\"state\":\"%s\"", vfctl_id_state_name(id->state));
	put_text(&b, "pool", id->pool);
	put_text(&b, "host", id->owner.host);
	put_text(&b, "domain", id->owner.domain_uuid);
	put_text(&b, "name", id->owner.domain_name);
	put_text(&b, "device", id->owner.device);
	put_number(&b, "pkey", id->pkey);
	put_number(&b, "since", id->since);
	put_number(&b, "until", id->until);
	put_text(&b, "note", id->note);
	buf_puts(&b, "}");
	return buf_steal(&b);
}

/* Absent: "". Anything else must be a text that fits. */
static bool read_text(const struct json *root, const char *name, char *dst, size_t size)
{
	const struct json *value = json_member(root, name);
	const char *text = json_text(value);

	dst[0] = '\0';
	return !value || (text && str_copy(dst, size, text));
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

#define TEXT(name, field) read_text(root, name, id->field, sizeof(id->field))
#define NUMBER(name, to) (json_number(json_member(root, name), to) == 0)
	if (!read_state(root, &id->state) || !TEXT("pool", pool) ||
		!TEXT("host", owner.host) || !TEXT("domain", owner.domain_uuid) ||
		!TEXT("name", owner.domain_name) || !TEXT("device", owner.device) ||
		!TEXT("note", note) || !NUMBER("pkey", &pkey) || !NUMBER("since", &id->since) ||
		!NUMBER("until", &id->until) || pkey < 0 || pkey > UINT16_MAX)
		return false;
#undef TEXT
#undef NUMBER
	id->pkey = (uint16_t)pkey;
	return true;
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
		return ctx_fail(ctx, -EBADMSG, "%s in etcd is no record of vfctl's; who wrote it? "
			"etcdctl get and del it, or mend it", key);
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
	/* Those from a PF's GUID are each host's own. */
	for (size_t i = 0; i < pool->range_count && pool->source == VFCTL_ID_SOURCE_RANGES; i++)
		buf_printf(&b, "%s%016" PRIx64 "..%016" PRIx64, i ? "," : "",
			pool->ranges[i].first, pool->ranges[i].last);
	return buf_steal(&b);
}

bool fleet_same_owner(const struct vfctl_id_owner *a, const struct vfctl_id_owner *b)
{
	char one[FLEET_KEY], other[FLEET_KEY];

	return str_eq(fleet_owner_key(VFCTL_ID_GUID, a, one),
		fleet_owner_key(VFCTL_ID_GUID, b, other));
}
