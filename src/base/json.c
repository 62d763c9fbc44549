// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/ctx.h"
#include "base/parse.h"

static void release_json(json_t **value)
{
	json_decref(*value);
}

char *json_of_attrs(const struct vfctl_vf_attrs *attrs)
{
	_cleanup_(release_json) json_t *object = json_object();
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (object && vfctl_vf_attrs_next(attrs, &i, &key, value))
		if (json_object_set_new(object, key, json_string(value)) < 0)
			return NULL;
	return object ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
}

/* The VLAN that mlx4 reports for a VF whose guest tags its own packets (MLX4_VGT). */
#define VLAN_VGT 4095

/* A roll-back may restore an identity that no change may set (zero: it was never set). */
static int read_attr(struct vfctl_ctx *scratch, const char *key, const char *value,
	struct vfctl_vf_attrs *attrs)
{
	if (str_eq(key, "mac") && vfctl_mac_parse(value, &attrs->mac) == 0)
		attrs->mask |= VFCTL_ATTR_MAC;
	else if (str_eq(key, "node-guid") && vfctl_guid_parse(value, &attrs->node_guid) == 0)
		attrs->mask |= VFCTL_ATTR_NODE_GUID;
	else if (str_eq(key, "port-guid") && vfctl_guid_parse(value, &attrs->port_guid) == 0)
		attrs->mask |= VFCTL_ATTR_PORT_GUID;
	else if (str_eq(key, "pkey") && str_starts(value, "0x0000:"))
		attrs->mask |= VFCTL_ATTR_PKEY;
	else if (str_eq(key, "vlan") && parse_u16(value, VLAN_VGT, VLAN_VGT, &attrs->vlan) == 0)
		attrs->mask |= VFCTL_ATTR_VLAN_ID;
	else
		return vfctl_vf_attrs_parse(scratch, key, value, attrs);
	return 0;
}

static int read_attrs(json_t *object, struct vfctl_vf_attrs *ret_attrs)
{
	struct vfctl_vf_attrs attrs = {0};
	struct vfctl_ctx scratch = {0};
	const char *key;
	json_t *value;
	int r = json_is_object(object) ? 0 : -EINVAL;

	json_object_foreach(object, key, value) {
		const char *word = json_string_value(value);
		int error = word ? read_attr(&scratch, key, word, &attrs) : -EINVAL;

		if (error < 0 && error != -ENOENT)
			r = -EINVAL;
	}
	ctx_clear(&scratch);
	if (r == 0)
		*ret_attrs = attrs;
	return r;
}

int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs)
{
	_cleanup_(release_json) json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	return read_attrs(object, ret_attrs);
}

int json_attrs(const struct json *object, struct vfctl_vf_attrs *ret_attrs)
{
	*ret_attrs = (struct vfctl_vf_attrs){0};
	return object ? read_attrs((json_t *)object, ret_attrs) : 0;
}

/* ---- rows ---- */

#define ROW_KEYS_MAX 16

/* NULL if it is absent or null. A value that is not a string is formatted into @room. */
static const char *text_of(const json_t *value, char room[32])
{
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value)) {
		snprintf(room, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return room;
	}
	if (json_is_boolean(value))
		return json_is_true(value) ? "true" : "false";
	return NULL;
}

static int read_row(struct vfctl_ctx *ctx, const char *file, const json_t *object,
	size_t number, const char *const *keys, size_t key_count,
	int (*row)(void *data, size_t number, const char *const *values), void *data)
{
	const char *values[ROW_KEYS_MAX];
	char room[ROW_KEYS_MAX][32];

	if (!json_is_object(object))
		return ctx_usage_error(ctx, -EINVAL, "%s: row %zu is not an object", file, number);
	for (size_t i = 0; i < key_count; i++)
		values[i] = text_of(json_object_get(object, keys[i]), room[i]);
	return row(data, number, values);
}

int json_rows(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const char *array, const char *const *keys, size_t key_count,
	int (*row)(void *data, size_t number, const char *const *values), void *data)
{
	json_error_t error;
	_cleanup_(release_json) json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	const json_t *list = json_is_object(root) ? json_object_get(root, array) : root;
	size_t count = json_array_size(list);
	int r = 0;

	if (!root)
		return ctx_usage_error(ctx, -EINVAL, "%s:%d:%d: %s", file, error.line, error.column,
			error.text);
	if (!json_is_array(list))
		return ctx_usage_error(ctx, -EINVAL, "%s: it has no list \"%s\"", file, array);
	for (size_t i = 0; i < count && r >= 0; i++)
		r = read_row(ctx, file, json_array_get(list, i), i + 1, keys, key_count, row,
			data);
	return r < 0 ? r : 0;
}

/* ---- reading JSON of other programs ---- */

/* struct json is jansson's value under another name. */
static const json_t *in_json(const struct json *value)
{
	return (const json_t *)value;
}

static int load(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len, size_t flags,
	struct json **ret)
{
	json_error_t error;
	json_t *root = json_loadb(text, len, flags, &error);

	if (!root)
		return ctx_fail(ctx, -EBADMSG, "%s:%d:%d: not JSON: %s", what,
			error.line, error.column, error.text);
	*ret = (struct json *)root;
	return 0;
}

int json_read(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret)
{
	return load(ctx, what, text, len, JSON_REJECT_DUPLICATES, ret);
}

int json_read_loose(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret)
{
	return load(ctx, what, text, len, 0, ret);
}

void json_free(struct json *json)
{
	json_decref((json_t *)json);
}

const struct json *json_member(const struct json *object, const char *key)
{
	return (const struct json *)json_object_get(in_json(object), key);
}

size_t json_count(const struct json *array)
{
	return json_array_size(in_json(array));
}

const struct json *json_item(const struct json *array, size_t i)
{
	return (const struct json *)json_array_get(in_json(array), i);
}

const char *json_text(const struct json *value)
{
	return json_string_value(in_json(value));
}

bool json_flag(const struct json *value)
{
	return value && json_is_true(in_json(value));
}

int json_number(const struct json *value, int64_t *ret)
{
	const char *text = json_text(value);
	long long n = 0;
	char *end;

	if (text) {
		errno = 0;
		n = strtoll(text, &end, 10);
		if (errno || *end || !*text || strchr(" \t\n\v\f\r", *text))
			return -EBADMSG;
	} else if (value && !json_is_integer(in_json(value))) {
		return -EBADMSG;
	} else if (value) {
		n = json_integer_value(in_json(value));
	}
	*ret = n;
	return 0;
}

int json_double(const struct json *value, double *ret)
{
	if (!value || !json_is_number(in_json(value)))
		return -EBADMSG;
	*ret = json_number_value(in_json(value));
	return 0;
}

enum json_kind json_kind(const struct json *value)
{
	if (!value)
		return JSON_KIND_NULL;
	switch (json_typeof(in_json(value))) {
	case JSON_OBJECT:
		return JSON_KIND_OBJECT;
	case JSON_ARRAY:
		return JSON_KIND_LIST;
	case JSON_STRING:
		return JSON_KIND_TEXT;
	case JSON_INTEGER:
		return JSON_KIND_INTEGER;
	case JSON_REAL:
		return JSON_KIND_REAL;
	case JSON_TRUE:
	case JSON_FALSE:
		return JSON_KIND_BOOL;
	default:
		return JSON_KIND_NULL;
	}
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const names[] = {[JSON_KIND_NULL] = "null",
		[JSON_KIND_BOOL] = "true or false", [JSON_KIND_INTEGER] = "a whole number",
		[JSON_KIND_REAL] = "a fraction", [JSON_KIND_TEXT] = "a text",
		[JSON_KIND_LIST] = "a list", [JSON_KIND_OBJECT] = "an object"};

	return kind < ARRAY_SIZE(names) ? names[kind] : "unknown";
}

const char *json_next(const struct json *object, void **iter)
{
	json_t *value = (json_t *)object; /* jansson's iterators take no const */

	*iter = *iter ? json_object_iter_next(value, *iter) : json_object_iter(value);
	return *iter ? json_object_iter_key(*iter) : NULL;
}

void json_put(struct buf *out, const char *text)
{
	_cleanup_(release_json) json_t *value = json_string(text);
	_free_ char *plain = value ? NULL : strdup(text);
	_free_ char *quoted = NULL;

	for (char *c = plain; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	if (plain)
		value = json_string(plain);
	quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	if (quoted)
		buf_puts(out, quoted);
	else
		out->failed = true;
}
