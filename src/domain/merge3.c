// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find out which parts of a definition vfctl changed, and which parts other programs changed since.
 */
#include <errno.h>

#include "types/find.h"
#include "domain/domain.h"

struct merge3 {
	struct xml *before, *written, *now;
};

static void merge3_clear(struct merge3 *t)
{
	xml_free(t->before);
	xml_free(t->written);
	xml_free(t->now);
}

static int parse_all(struct vfctl_ctx *ctx, const char *before, const char *written,
	const char *now,
	struct merge3 *ret)
{
	int r = xml_parse_domain(ctx, "the former definition", before, &ret->before);

	if (r == 0)
		r = xml_parse_domain(ctx, "the new definition", written, &ret->written);
	return r < 0 ? r : xml_parse_domain(ctx, "the definition", now, &ret->now);
}

/* ---- the VFs, one by one ---- */

struct vf_list {
	struct vfctl_bdf *v;
	size_t count;
};

static void list_clear(struct vf_list *list)
{
	free(list->v);
}

static int list_add(struct vfctl_ctx *ctx, struct vf_list *list, const struct vfctl_bdf *bdf)
{
	if (bdf_list_has(list->v, list->count, bdf))
		return 0;
	if (!array_grow(list->v, list->count))
		return ctx_oom(ctx);
	list->v[list->count++] = *bdf;
	return 0;
}

/* List the VFs of the metadata and of the devices. */
static int list_vfs(struct vfctl_ctx *ctx, struct xml *xml, struct vf_list *io)
{
	_free_ struct vfctl_free_vf *places = NULL;
	size_t count = 0;
	int r = metadata_places(ctx, xml_root(xml), &places, &count);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = list_add(ctx, io, &places[i].bdf);
	xml_each(device, xml_child(xml_root(xml), "devices"), NULL) {
		struct vfctl_bdf bdf;

		if (r == 0)
			r = pci_source_address(ctx, "domain", device, &bdf);
		if (r == 1)
			r = list_add(ctx, io, &bdf);
		if (r < 0)
			return r;
	}
	return r;
}

static struct xml_node *find_device(struct vfctl_ctx *ctx, struct xml *xml,
	const struct vfctl_bdf *bdf)
{
	xml_each(device, xml_child(xml_root(xml), "devices"), NULL) {
		struct vfctl_bdf own;

		if (pci_source_address(ctx, "domain", device, &own) == 1 && vfctl_bdf_compare(&own, bdf) == 0)
			return device;
	}
	ctx_clear(ctx); /* an element that cannot be read is not vfctl's */
	return NULL;
}

/* ---- a VF in vfctl's metadata ---- */

struct attrs {
	struct xml_node *before, *written, *now;
};

static bool same_value(const char *a, const char *b)
{
	return a && b ? str_eq(a, b) : !a && !b;
}

/* Restore an attribute that vfctl changed, if it still has that value. */
static int take_back_attr(void *data, const char *name, const char *value)
{
	const struct attrs *a = data;
	const char *before = xml_get(a->before, name), *written = xml_get(a->written, name);

	if (same_value(before, written) || !same_value(written, xml_get(a->now, name)))
		return 0;
	if (before)
		xml_set(a->now, name, before);
	else
		xml_unset(a->now, name);
	return 0;
}

static void put_back_metadata(struct merge3 *t, const struct xml_node *vf)
{
	struct xml_node *domain = xml_root(t->now), *guest = metadata_guest(domain);
	const struct xml_node *former = metadata_guest(xml_root(t->before));

	if (!guest)
		guest = metadata_make_guest(domain, xml_get(former, "lease"));
	xml_add_copy(guest, vf);
}

static void take_back_metadata(struct merge3 *t, const struct vfctl_bdf *bdf)
{
	struct attrs a = {metadata_vf(xml_root(t->before), bdf), metadata_vf(xml_root(t->written), bdf),
		metadata_vf(xml_root(t->now), bdf)};

	if (!a.before && a.written) {
		xml_remove(a.now);
	} else if (a.before && !a.written && !a.now) {
		put_back_metadata(t, a.before);
	} else if (a.before && a.written && a.now) {
		xml_each_attr(a.written, take_back_attr, &a);
		xml_each_attr(a.before, take_back_attr, &a);
	}
}

/* If the metadata element was added with the first VF, remove it with the VF. */
static void drop_empty_metadata(struct merge3 *t)
{
	struct xml_node *guest = metadata_guest(xml_root(t->now));

	if (guest && !xml_has_children(guest) && !metadata_guest(xml_root(t->before)))
		metadata_drop_guest(xml_root(t->now));
}

/* ---- a VF among the devices ---- */

/*
 * Drop the guest address of the VF if another device has it now: libvirt then chooses another one.
 */
static void give_up_address(struct vfctl_ctx *ctx, struct xml_node *devices,
	struct xml_node *device)
{
	struct vfctl_bdf own, other;

	if (pci_guest_address(ctx, "domain", device, &own) != 1)
		return;
	xml_each(d, devices, NULL)
		if (d != device && pci_guest_address(ctx, "domain", d, &other) == 1 &&
			vfctl_bdf_compare(&own, &other) == 0) {
			xml_remove_children(device, "address");
			return;
		}
}

static void put_back_device(struct vfctl_ctx *ctx, struct merge3 *t, const struct xml_node *device)
{
	struct xml_node *devices = xml_child(xml_root(t->now), "devices");

	if (!devices)
		devices = order_add(xml_root(t->now), "devices");
	give_up_address(ctx, devices, xml_add_copy(devices, device));
}

/* Restore a child of the <interface> that libvirt uses, if it still has the changed value. */
static int take_back_child(const struct xml_node *before, const struct xml_node *written,
	struct xml_node *now, const char *name)
{
	struct xml_node *was = xml_child(before, name), *own = xml_child(now, name);
	const struct xml_node *wrote = xml_child(written, name);
	int untouched = xml_same(was, wrote), still;

	if (untouched)
		return untouched < 0 ? untouched : 0;
	still = xml_same(own, wrote);
	if (still != 1)
		return still;
	xml_remove(own);
	xml_add_copy(now, was);
	return 0;
}

static int take_back_device(struct vfctl_ctx *ctx, struct merge3 *t, const struct vfctl_bdf *bdf)
{
	struct xml_node *before = find_device(ctx, t->before, bdf);
	struct xml_node *written = find_device(ctx, t->written, bdf);
	struct xml_node *now = find_device(ctx, t->now, bdf);
	int r = 0;

	if (!before && written)
		xml_remove(now);
	else if (before && !written && !now)
		put_back_device(ctx, t, before);
	if (before && written && now) {
		r = take_back_child(before, written, now, "mac");
		if (r == 0)
			r = take_back_child(before, written, now, "vlan");
	}
	return r;
}

/* ---- all VFs ---- */

static int take_back_all(struct vfctl_ctx *ctx, struct merge3 *t)
{
	_cleanup_(list_clear) struct vf_list list = {0};
	int r = list_vfs(ctx, t->before, &list);

	if (r == 0)
		r = list_vfs(ctx, t->written, &list);
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		take_back_metadata(t, &list.v[i]);
		r = take_back_device(ctx, t, &list.v[i]);
	}
	drop_empty_metadata(t);
	return r == -ENOMEM ? ctx_oom(ctx) : r;
}

int domain_take_back(struct vfctl_ctx *ctx, const char *before, const char *written,
	const char *now,
	char **ret_xml, bool *ret_others)
{
	_cleanup_(xml_freep) struct xml *as_it_is = NULL;
	_cleanup_(merge3_clear) struct merge3 t = {0};
	int r = parse_all(ctx, before, written, now, &t), same, alone;

	if (r == 0)
		r = xml_parse_domain(ctx, "the definition", now, &as_it_is);
	if (r == 0)
		r = take_back_all(ctx, &t);
	if (r < 0)
		return r;
	same = xml_same(xml_root(t.now), xml_root(as_it_is));
	alone = xml_same(xml_root(t.now), xml_root(t.before));
	if (same < 0 || alone < 0)
		return ctx_oom(ctx);
	*ret_others = !alone;
	*ret_xml = NULL;
	if (same)
		return 0;
	if (!alone)
		return xml_print(ctx, t.now, ret_xml);
	*ret_xml = strdup(before);
	return *ret_xml ? 0 : ctx_oom(ctx);
}

/* ---- changes by other programs ---- */

static int has_same(const struct xml_node *parent, const struct xml_node *node)
{
	int r = 0;

	for (const struct xml_node *c = xml_first(parent); c && r == 0; c = xml_after(c))
		if (xml_same_name(c, node))
			r = xml_same(c, node);
	return r;
}

static size_t count_named(const struct xml_node *parent, const struct xml_node *node,
	const struct xml_node **ret_last)
{
	size_t count = 0;

	*ret_last = NULL;
	for (const struct xml_node *c = xml_first(parent); c; c = xml_after(c))
		if (xml_same_name(c, node)) {
			*ret_last = c;
			count++;
		}
	return count;
}

/* Whether everything that the change did not touch is still there. */
static int keeps_common(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now)
{
	int r = 1;

	for (const struct xml_node *c = xml_first(before); c && r == 1; c = xml_after(c)) {
		r = has_same(written, c);
		r = r == 0 ? 1 : r == 1 ? has_same(now, c) : r;
	}
	return r;
}

static int own_attr(void *data, const char *name, const char *value)
{
	const struct attrs *a = data;

	return !same_value(value, xml_get(a->before, name)) && !same_value(value,
		xml_get(a->written, name));
}

static int kept_attr(void *data, const char *name, const char *value)
{
	const struct attrs *a = data;

	return same_value(value, xml_get(a->written, name)) && !same_value(value, xml_get(a->now, name));
}

static int attrs_are_written(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now)
{
	struct attrs a = {(struct xml_node *)before, (struct xml_node *)written, (struct xml_node *)now};

	return !xml_each_attr(now, own_attr, &a) && (!before || !xml_each_attr(before, kept_attr, &a));
}

static int text_is_written(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now)
{
	int r = xml_same_text(now, written);

	return r == 0 && before ? xml_same_text(now, before) : r;
}

/* Number of children of @parent with that name that are in neither of the other two. */
static int count_alone(const struct xml_node *parent, const struct xml_node *name,
	const struct xml_node *a,
	const struct xml_node *b)
{
	int count = 0;

	for (const struct xml_node *c = xml_first(parent); c; c = xml_after(c)) {
		int r = xml_same_name(c, name) ? has_same(a, c) : 1;

		if (r == 0)
			r = has_same(b, c);
		if (r < 0)
			return r;
		count += !r;
	}
	return count;
}

/* libvirt writes this default for a guest without a balloon if the XML does not set it. */
static int is_default(const struct xml_node *parent, const struct xml_node *child)
{
	return str_eq(xml_name(child), "currentMemory") ? xml_same_text(child, xml_child(parent, "memory"))
							: 0;
}

static int is_written(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now);

/*
 * An element that is in neither: it counts as libvirt's form of a written one, as long as there are
 * no more of these than were written.
 */
static int is_form_of(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now, const struct xml_node *child)
{
	const struct xml_node *b, *w, *n;
	size_t was = count_named(before, child, &b);
	int strange, written_alone;

	/* libvirt completes a new device with its driver and its address. */
	if (count_named(written, child, &w) == 1 && count_named(now, child, &n) == 1 &&
		(was == 1 || (!was && !str_eq(xml_name(now), "devices"))))
		return is_written(b, w, n);
	strange = count_alone(now, child, before, written);
	written_alone = strange < 0 ? strange : count_alone(written, child, before, now);
	return written_alone < 0 ? written_alone : strange <= written_alone;
}

static int children_are_written(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now)
{
	for (const struct xml_node *c = xml_first(now); c; c = xml_after(c)) {
		int r = has_same(before, c);

		if (r == 0)
			r = has_same(written, c);
		if (r == 0)
			r = is_default(now, c);
		if (r == 0)
			r = is_form_of(before, written, now, c);
		if (r != 1)
			return r;
	}
	return 1;
}

/* @before NULL: it did not exist. */
static int is_written(const struct xml_node *before, const struct xml_node *written,
	const struct xml_node *now)
{
	int r = attrs_are_written(before, written, now);

	if (r == 1)
		r = text_is_written(before, written, now);
	if (r == 1)
		r = keeps_common(before, written, now);
	return r == 1 ? children_are_written(before, written, now) : r;
}

int domain_is_as_written(struct vfctl_ctx *ctx, const char *before, const char *written,
	const char *now)
{
	_cleanup_(merge3_clear) struct merge3 t = {0};
	int r = parse_all(ctx, before, written, now, &t);

	if (r < 0)
		return r;
	r = is_written(xml_root(t.before), xml_root(t.written), xml_root(t.now));
	return r < 0 ? ctx_oom(ctx) : r;
}
