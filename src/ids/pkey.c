// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a P_Key as a person types it: a number, or the name of a partition. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "ids/pools.h"

static int fail_partition(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *text)
{
	_buf_ struct buf known = {0};

	if (!spec || !spec->partition_count)
		return ctx_usage_error(ctx, -ENOENT, "partition '%s' not found: host.yaml declares "
			"none; write a P_Key such as 0x0010:full, or declare it under partitions:",
			text);
	for (size_t i = 0; i < spec->partition_count; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", spec->partitions[i].name);
	return ctx_usage_error(ctx, -ENOENT, "partition '%s' not found; host.yaml has %s", text,
		known.failed ? "others" : known.data);
}

static int fail_pkey(struct vfctl_ctx *ctx, const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 16);

	if (number > VFCTL_PKEY_FULL && number <= 0xffff && (!*end || *end == ':'))
		return ctx_usage_error(ctx, -EINVAL, "'%s' includes the membership bit; write "
			"0x%04lx:full", text, number & (VFCTL_PKEY_FULL - 1));
	return ctx_usage_error(ctx, -EINVAL, "'%s' is not a P_Key; write 0x0001 to 0x7fff, "
		"followed by :full or :limited, or the name of a partition", text);
}

int vfctl_host_spec_pkey(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *text, uint16_t *ret_pkey)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);

	if (vfctl_pkey_parse(text, ret_pkey) == 0)
		return 0;
	if (isdigit((unsigned char)text[0]) && (text[1] | 0x20) == 'x')
		return fail_pkey(ctx, text);
	if (colon && !str_eq(colon, ":full") && !str_eq(colon, ":limited"))
		return ctx_usage_error(ctx, -EINVAL, "'%s': a membership is :full or :limited", text);
	for (size_t i = 0; spec && i < spec->partition_count; i++) {
		const struct vfctl_partition *p = &spec->partitions[i];

		if (strlen(p->name) == len && !memcmp(p->name, text, len)) {
			bool full = colon ? colon[1] == 'f' : p->full;

			*ret_pkey = (uint16_t)(p->pkey | (full ? VFCTL_PKEY_FULL : 0));
			return 0;
		}
	}
	return fail_partition(ctx, spec, text);
}
