// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nlset DEVICE DRIVER VF KEY=VALUE...      attributes of a VF, as set writes them
 * nlset DEVICE DRIVER - [SETTING=VALUE...] interrupt moderation, as tune set writes it
 * nlset DEVICE DRIVER VF                   what the VF has
 *
 * For network devices that are no PCI functions, such as netdevsim's, which the command vfctl does not
 * take: the code below it is the same. Prints what reads back, one "KEY=VALUE" a line.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "netlink/link.h"
#include "sriov/attrs.h"
#include "tuning/coalesce.h"

/* "key=value", taken apart in place. */
static const char *split(char *word)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return NULL;
	*equals = '\0';
	return equals + 1;
}

static int set_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf, char **message)
{
	struct vf_attr_change change = {.vf = vf};
	int r = 0;

	for (size_t i = 0; message[i] && r == 0; i++) {
		const char *value = split(message[i]);

		r = vfctl_vf_attrs_parse(ctx, message[i], value ? value : "", &change.attrs);
	}
	if (r < 0 || !change.attrs.mask)
		return r;
	attrs_complete(&change.attrs, NULL);
	return attrs_write(ctx, pf, &change, 1);
}

static int print_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf)
{
	struct nl_vfs vfs = {0};
	const struct nl_vf *row;
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;
	int r = nl_vfs_read(ctx, pf->ifindex, &vfs);

	row = r == 0 ? nl_vfs_find(&vfs, vf) : NULL;
	while (row && vfctl_vf_attrs_next(&row->attrs, &i, &key, value))
		printf("%s=%s\n", key, value);
	nl_vfs_free(&vfs);
	return r == 0 && !row ? ctx_fail(ctx, -ENOENT, "no VF %u", vf) : r;
}

static int moderate(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, char **message)
{
	struct vfctl_coalesce c = {0};
	_free_ char *text = NULL;
	int r = 0;

	for (size_t i = 0; message[i] && r == 0; i++) {
		const char *value = split(message[i]);

		r = vfctl_coalesce_parse(ctx, message[i], value ? value : "", &c);
	}
	if (r == 0)
		r = coalesce_write(ctx, pf, &c);
	if (r == 0)
		r = coalesce_read(ctx, pf, &c);
	text = r == 0 ? vfctl_coalesce_format(&c) : NULL;
	for (char *at = text; at && *at; at++)
		putchar(*at == ' ' ? '\n' : *at);
	if (text)
		putchar('\n');
	return r;
}

int main(int argc, char **argv)
{
	struct vfctl_pf pf = {.carrier = true};
	struct vfctl_ctx *ctx;
	int r;

	if (argc < 4 || vfctl_ctx_new(&ctx) < 0)
		return 2;
	snprintf(pf.netdev, sizeof(pf.netdev), "%s", argv[1]);
	snprintf(pf.driver, sizeof(pf.driver), "%s", argv[2]);
	pf.ifindex = (int)if_nametoindex(argv[1]);
	if (str_eq(argv[3], "-")) {
		r = moderate(ctx, &pf, argv + 4);
	} else {
		uint32_t vf = (uint32_t)strtoul(argv[3], NULL, 10);

		r = set_vf(ctx, &pf, vf, argv + 4);
		if (r == 0)
			r = print_vf(ctx, &pf, vf);
	}
	if (r < 0)
		fprintf(stderr, "nlset: %s: %s\n", errno_name(r), vfctl_ctx_error(ctx));
	vfctl_ctx_free(ctx);
	return r < 0;
}
