// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"

#include <errno.h>
#include <jansson.h>

#include "base/ctx.h"

static void release(json_t **value)
{
	json_decref(*value);
}
#define _json_ _cleanup_(release)

char *json_of_attrs(const struct vfctl_vf_attrs *attrs)
{
	_json_ json_t *object = json_object();
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (object && vfctl_vf_attrs_next(attrs, &i, &key, value))
		if (json_object_set_new(object, key, json_string(value)) < 0)
			return NULL;
	return object ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
}

/* An identity that was never set is zero: no wish, but what a roll-back returns to. */
static void read_attr(struct vfctl_ctx *scratch, const char *key, const char *value,
	struct vfctl_vf_attrs *attrs)
{
	struct vfctl_mac mac;
	uint64_t guid;

	if (str_eq(key, "mac") && vfctl_mac_parse(value, &mac) == 0 && vfctl_mac_is_zero(&mac))
		attrs->mask |= VFCTL_ATTR_MAC;
	else if (str_eq(key, "node-guid") && vfctl_guid_parse(value, &guid) == 0 && !guid)
		attrs->mask |= VFCTL_ATTR_NODE_GUID;
	else if (str_eq(key, "port-guid") && vfctl_guid_parse(value, &guid) == 0 && !guid)
		attrs->mask |= VFCTL_ATTR_PORT_GUID;
	else
		vfctl_vf_attrs_parse(scratch, key, value, attrs);
}

int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs)
{
	_json_ json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct vfctl_vf_attrs attrs = {0};
	struct vfctl_ctx scratch = {0};
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return -EINVAL;
	json_object_foreach(object, key, value)
		if (json_is_string(value))
			read_attr(&scratch, key, json_string_value(value), &attrs);
	ctx_clear(&scratch);
	*ret_attrs = attrs;
	return 0;
}
