// SPDX-License-Identifier: GPL-2.0-or-later
/* Set attributes of one VF: complete the wish, write, read back, or put back. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "sriov/holder.h"
#include "sriov/lifecycle.h"

struct set {
	const struct vfctl_pf *pf;
	struct vf_wish wish;
	struct vf_wish before;
};

static int apply_set(struct vfctl_ctx *ctx, void *data)
{
	struct set *s = data;

	return attrs_write(ctx, s->pf, &s->wish, 1);
}

/*
 * What the kernel would not take back is left out: a MAC of zero cannot be set on every
 * driver, and no rate at all needs a link to be set.
 */
static int undo_set(struct vfctl_ctx *ctx, void *data)
{
	struct set *s = data;
	uint32_t mask = s->before.attrs.mask;
	int worst = 0;

	for (uint32_t bit = 1; bit && bit <= mask; bit <<= 1) {
		struct vf_wish one = s->before;
		int r;

		if (!(mask & bit))
			continue;
		one.attrs.mask = bit & VFCTL_ATTR_VLAN ? VFCTL_ATTR_VLAN
			: bit & VFCTL_ATTR_RATE		? VFCTL_ATTR_RATE
							: bit;
		mask &= ~one.attrs.mask;
		r = attrs_write(ctx, s->pf, &one, 1);
		if (r < 0 && r != -EOPNOTSUPP && r != -EINVAL)
			worst = r;
	}
	return worst;
}

static int check_unused(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs)
{
	uint32_t identity = attrs->mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_MSIX);
	char words[192];

	if (!identity || !holder_is_busy(&vf->holder) || vf->holder.kind == VFCTL_HOLDER_HOST)
		return 0;
	return ctx_fail(ctx, -EBUSY, "VF %u is %s, so its %s cannot change now", vf->index,
		holder_describe(&vf->holder, words, sizeof(words)),
		identity & VFCTL_ATTR_MAC ? "MAC" : "number of MSI-X vectors");
}

static int add_step(struct vfctl_ctx *ctx, struct vfctl_change *change, struct set *s)
{
	struct step row = {.apply = apply_set, .undo = undo_set, .data = s};
	char name[VFCTL_BDF_TEXT], value[VFCTL_ATTR_TEXT];
	_buf_ struct buf words = {0};
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(&s->wish.attrs, &i, &key, value))
		buf_printf(&words, " %s=%s", key, value);
	if (words.failed)
		return ctx_oom(ctx);
	steps_add(&change->steps, &row, "%s/%u: set%s", vfctl_pf_name(s->pf, name), s->wish.vf,
		words.data ? words.data : "");
	return 0;
}

int lifecycle_plan_set(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_vf_attrs *attrs,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct set *s;
	int r = vfctl_vf_attrs_check(ctx, attrs);

	if (r == 0)
		r = check_unused(ctx, vf, attrs);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	r = change_new(ctx, s, free, &change);
	if (r < 0)
		return r;
	*s = (struct set){.pf = pf, .wish = {vf->index, vf->bdf, *attrs}};
	attrs_complete(&s->wish.attrs, &vf->attrs);
	s->before = (struct vf_wish){vf->index, vf->bdf,
		attrs_before(&vf->attrs, &s->wish.attrs)};
	r = add_step(ctx, change, s);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
