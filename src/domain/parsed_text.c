// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <strings.h>

#include "base/parse.h"
#include "domain/domain.h"

#define FILE_NAME "domain"

int parsed_fail(struct vfctl_ctx *ctx, const struct xml_node *node, const char *value)
{
	return ctx_fail(ctx, -EINVAL, FILE_NAME ":%u: <%s>: '%.64s' is not understood",
		xml_line(node), xml_name(node), value);
}

int parsed_skip(struct vfctl_ctx *ctx, struct vfctl_parsed_domain *parsed, int r)
{
	if (!parsed->lenient || (r != -EINVAL && r != -E2BIG && r != -ENOSPC && r != -EEXIST))
		return r;
	if (!parsed->unread)
		parsed->unread = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return parsed->unread ? 0 : ctx_oom(ctx);
}

/*
 * libvirt's units, in any case (virScaleInteger()): KiB and so on are powers of 1024, KB and so on
 * powers of 1000.
 */
static bool unit_bytes(const char *unit, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {{"b", 1}, {"byte", 1}, {"bytes", 1}, {"KB", 1000},
		{"K", 1 << 10}, {"KiB", 1 << 10}, {"MB", 1000000}, {"M", 1 << 20}, {"MiB", 1 << 20},
		{"GB", 1000000000}, {"G", 1 << 30}, {"GiB", 1 << 30},
		{"TB", UINT64_C(1000000000000)}, {"T", UINT64_C(1) << 40},
		{"TiB", UINT64_C(1) << 40}, {"PB", UINT64_C(1000000000000000)},
		{"P", UINT64_C(1) << 50}, {"PiB", UINT64_C(1) << 50},
		{"EB", UINT64_C(1000000000000000000)}, {"E", UINT64_C(1) << 60},
		{"EiB", UINT64_C(1) << 60}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(units[i].name, unit) == 0) {
			*ret = units[i].bytes;
			return true;
		}
	return false;
}

int parsed_bytes(struct vfctl_ctx *ctx, const struct xml_node *node, const char *number,
	uint64_t *ret)
{
	const char *unit = xml_get(node, "unit");
	uint64_t value, bytes;

	if (parse_u64(number, 0, UINT64_MAX, &value) < 0 ||
		!unit_bytes(unit ? unit : "KiB", &bytes) ||
		__builtin_mul_overflow(value, bytes, &value))
		return parsed_fail(ctx, node, number);
	*ret = value;
	return 0;
}

/*
 * libvirt's list form: the kernel's, and "^N" removes N. libvirt accepts numbers that no host has;
 * they are ignored.
 */
static bool parse_set(const char *text, struct vfctl_cpuset *ret)
{
	_free_ char *copy = strdup(text);
	struct vfctl_cpuset set = {0};
	char *save, *item;

	for (item = copy ? strtok_r(copy, ",", &save) : NULL; item;
		item = strtok_r(NULL, ",", &save)) {
		const char *list = item + (*item == '^');
		struct vfctl_cpuset part;

		if (!*list || cpuset_parse_clipped(list, &part) < 0)
			return false;
		if (*item == '^')
			vfctl_cpuset_andnot(&set, &part);
		else
			vfctl_cpuset_or(&set, &part);
	}
	*ret = set;
	return copy != NULL;
}

int parsed_list(struct vfctl_ctx *ctx, const struct xml_node *node, const char *attr,
	struct vfctl_cpuset *io)
{
	const char *text = xml_get(node, attr);
	struct vfctl_cpuset set;

	if (!text)
		return 0;
	if (!parse_set(text, &set))
		return parsed_fail(ctx, node, text);
	vfctl_cpuset_or(io, &set);
	return 0;
}
