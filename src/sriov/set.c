// SPDX-License-Identifier: GPL-2.0-or-later
/* Set attributes of VFs: complete the wishes, write, read back, or put all back. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "sriov/lifecycle.h"

/* The driver of a VF whose GUID changes: it is bound again for that. */
struct bound {
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];
};

struct set {
	const struct vfctl_pf *pf;
	struct vf_wish *wishes;
	struct vf_wish *before; /* what each had of what its wish names */
	struct bound *bound;	/* and on which driver it was */
	size_t count;
};

static void free_set(void *data)
{
	struct set *s = data;

	free(s->wishes);
	free(s->before);
	free(s->bound);
	free(s);
}

static int apply_set(struct vfctl_ctx *ctx, void *data)
{
	struct set *s = data;

	return attrs_write(ctx, s->pf, s->wishes, s->count);
}

/* Only what differs: most VFs were not touched. */
static int restore_bound(struct vfctl_ctx *ctx, const struct set *s, size_t i)
{
	const struct bound *was = &s->bound[i];
	const struct vfctl_bdf *bdf = &s->wishes[i].bdf;
	char driver[PCI_DRIVER_NAME], override[PCI_DRIVER_NAME];
	int r;

	if (!(s->wishes[i].attrs.mask & VFCTL_ATTR_GUIDS))
		return 0;
	r = pci_driver(ctx, bdf, driver);
	if (r == 0)
		r = pci_override(ctx, bdf, override);
	if (r < 0 || (str_eq(driver, was->driver) && str_eq(override, was->override)))
		return r;
	return pci_restore_driver(ctx, bdf, was->driver, was->override);
}

static int undo_set(struct vfctl_ctx *ctx, void *data)
{
	struct set *s = data;
	int r = 0;

	/* First of all: a VF that lost its driver half way gets its GUID by the bind after. */
	for (size_t i = 0; i < s->count && r == 0; i++)
		r = restore_bound(ctx, s, i);
	return r < 0 ? r : attrs_restore(ctx, s->pf, s->before, s->count);
}

/* ---- planning ---- */

static int check_unused(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs)
{
	uint32_t identity = attrs->mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_MSIX |
		VFCTL_ATTR_INFINIBAND);
	const char *what = identity & VFCTL_ATTR_GUIDS ? "GUID"
		: identity & VFCTL_ATTR_PKEY	       ? "P_Key"
		: identity & VFCTL_ATTR_MAC	       ? "MAC" : "number of MSI-X vectors";
	char words[192];

	if (!identity || !vf_is_busy(vf))
		return 0;
	if (vf->holder.kind != VFCTL_HOLDER_HOST)
		return ctx_fail(ctx, -EBUSY, "VF %u is %s, so its %s cannot change now", vf->index,
			vf_describe_user(vf, words, sizeof(words)), what);
	if (identity & VFCTL_ATTR_GUIDS)
		return ctx_fail(ctx, -EBUSY, "VF %u is %s: for a new GUID its driver is bound "
			"again, so take its network device down first", vf->index,
			vf_describe_user(vf, words, sizeof(words)));
	return 0;
}

static int add_item(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, struct set *s,
	const struct vfctl_set_item *item)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vf_wish *wish = &s->wishes[s->count];
	char name[VFCTL_BDF_TEXT];
	int r = vfctl_inventory_find_vf(ctx, inv, item->vf, &pf, &vf);

	if (r == 0)
		r = vfctl_vf_attrs_check(ctx, &item->attrs);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->count; i++)
		if (s->wishes[i].vf == vf->index && pf == s->pf)
			return ctx_fail(ctx, -EINVAL, "%s is named twice", item->vf);
	if (pf != s->pf)
		return ctx_fail(ctx, -EINVAL, "%s is no VF of %s: the VFs of one command must be of "
			"one PF", item->vf, vfctl_pf_name(s->pf, name));
	r = check_unused(ctx, vf, &item->attrs);
	if (r < 0)
		return r;
	*wish = (struct vf_wish){vf->index, vf->bdf, item->attrs, true};
	attrs_complete(&wish->attrs, &vf->attrs);
	str_copy(s->bound[s->count].driver, PCI_DRIVER_NAME, vf->driver);
	if (wish->attrs.mask & VFCTL_ATTR_GUIDS)
		r = pci_override(ctx, &vf->bdf, s->bound[s->count].override);
	if (r < 0)
		return r;
	s->before[s->count++] = (struct vf_wish){vf->index, vf->bdf,
		attrs_before(&vf->attrs, &wish->attrs), true};
	return 0;
}

/* What was asked, not what completes it. */
static void add_words(struct buf *words, uint32_t vf, const struct vfctl_vf_attrs *asked)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	buf_printf(words, "%s%u:", words->len ? "; " : "", vf);
	while (vfctl_vf_attrs_next(asked, &i, &key, value))
		buf_printf(words, " %s=%s", key, value);
}

int lifecycle_plan_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct set *s = calloc(1, sizeof(*s));
	struct step row = {.apply = apply_set, .undo = undo_set, .data = s};
	_buf_ struct buf words = {0};
	char name[VFCTL_BDF_TEXT];
	int r = change_new(ctx, s, free_set, &change);

	if (r < 0)
		return r;
	s->pf = pf;
	s->wishes = calloc(count, sizeof(*s->wishes));
	s->before = calloc(count, sizeof(*s->before));
	s->bound = calloc(count, sizeof(*s->bound));
	if (!s->wishes || !s->before || !s->bound)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count && r == 0; i++) {
		r = add_item(ctx, inv, s, &items[i]);
		if (r == 0)
			add_words(&words, s->wishes[i].vf, &items[i].attrs);
	}
	if (r == 0)
		r = attrs_check(ctx, pf, s->wishes, s->count);
	if (r < 0)
		return r;
	steps_add(&change->steps, &row, "%s: set VF%s %s", vfctl_pf_name(pf, name),
		count == 1 ? "" : "s", words.data ? words.data : "");
	*ret_change = steal(change);
	return 0;
}
