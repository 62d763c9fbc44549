// SPDX-License-Identifier: GPL-2.0-or-later
/* Set attributes of VFs: complete the changes, write them, read them back, or roll all back. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/json.h"
#include "base/parse.h"
#include "pci/vectors.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "sriov/unused.h"
#include "sriov/vf_changes.h"

/* The plan so far. */
struct set {
	const struct vfctl_pf *pf;
	struct vf_attr_change *changes;
	size_t count;
};

static void set_clear(struct set *s)
{
	free(s->changes);
}

/* ---- planning ---- */

static int add_item(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, struct set *s,
	const struct vfctl_set_item *item)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vf_attr_change *change = &s->changes[s->count];
	char name[VFCTL_BDF_TEXT];
	int r = vfctl_inventory_find_vf(ctx, inv, item->vf, &pf, &vf);

	if (r == 0)
		r = vfctl_vf_attrs_check(ctx, &item->attrs);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->count; i++)
		if (s->changes[i].vf == vf->index && pf == s->pf)
			return ctx_fail(ctx, -EINVAL, "%s is named twice", item->vf);
	if (pf != s->pf)
		return ctx_fail(ctx, -EINVAL, "%s is not a VF of %s: the VFs of one command must belong "
			"to one PF", item->vf, vfctl_pf_name(s->pf, name));
	r = vf_check_unused(ctx, vf, &item->attrs);
	if (r < 0)
		return r;
	*change = (struct vf_attr_change){.vf = vf->index, .bdf = vf->bdf,
		.attrs = item->attrs, .rebind = true};
	attrs_complete(&change->attrs, &vf->attrs);
	s->count++;
	return 0;
}

static const struct vfctl_vf *vf_of(const struct set *s, const struct vf_attr_change *change)
{
	for (uint32_t i = 0; i < s->pf->num_vfs; i++)
		if (s->pf->vfs[i].index == change->vf)
			return &s->pf->vfs[i];
	return NULL;
}

/* The number of vectors is read only for this. */
static struct vfctl_vf_attrs had_before(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *change)
{
	struct vfctl_vf_attrs had = attrs_before(&vf->attrs, change);

	if (change->mask & VFCTL_ATTR_MSIX)
		had.msix = pci_vectors(ctx, &vf->bdf);
	if (had.msix)
		had.mask |= VFCTL_ATTR_MSIX;
	return had;
}

/*
 * A VF whose GUID changes is bound again to the same driver. In a roll-back the driver comes first:
 * a VF that lost its driver meanwhile gets its GUID when it is bound afterwards.
 */
static int add_ops(struct vfctl_ctx *ctx, const struct set *s, struct steps *steps)
{
	const char *pf = vfctl_bdf_format(&s->pf->bdf, (char[VFCTL_BDF_TEXT]){0});

	for (size_t i = 0; i < s->count; i++) {
		const struct vfctl_vf *vf = vf_of(s, &s->changes[i]);
		const struct vfctl_vf_attrs had = had_before(ctx, vf, &s->changes[i].attrs);

		step_attrs_op(steps, &op_vf_attrs, &s->changes[i].attrs, &had, "%s/%u", pf, vf->index);
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct vfctl_vf *vf = vf_of(s, &s->changes[i]);
		_free_ char *driver = NULL;
		int r;

		if (!(s->changes[i].attrs.mask & VFCTL_ATTR_GUIDS))
			continue;
		r = vf_driver_text(ctx, vf, &driver);
		if (r < 0)
			return r;
		step_op(steps, &op_vf_driver, driver, driver, "%s/%u", pf, vf->index);
	}
	return 0;
}

/* The requested attributes, without those that complete them. */
static void add_text(struct buf *message, uint32_t vf, const struct vfctl_vf_attrs *asked)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	buf_printf(message, "%s%u:", message->len ? "; " : "", vf);
	while (vfctl_vf_attrs_next(asked, &i, &key, value))
		buf_printf(message, " %s=%s", key, value);
}

int vf_changes_add_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct steps *steps)
{
	_cleanup_(set_clear) struct set s = {.pf = pf, .changes = calloc(count, sizeof(*s.changes))};
	_buf_ struct buf message = {0};
	char name[VFCTL_BDF_TEXT];
	int r = s.changes ? 0 : ctx_oom(ctx);

	for (size_t i = 0; i < count && r == 0; i++) {
		r = add_item(ctx, inv, &s, &items[i]);
		if (r == 0)
			add_text(&message, s.changes[i].vf, &items[i].attrs);
	}
	if (r == 0)
		r = attrs_check(ctx, pf, s.changes, s.count);
	if (r < 0)
		return r;
	step_begin(steps, "%s: set VF%s %s", vfctl_pf_name(pf, name), plural(count),
		message.data ? message.data : "");
	return add_ops(ctx, &s, steps);
}

int vf_changes_plan_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0)
		r = vf_changes_add_set(ctx, inv, pf, items, count, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
