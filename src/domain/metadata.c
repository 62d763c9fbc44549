// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"

/* Write the place of the VF on the host, for a reader of the placement. */
static void write_place(struct xml_node *node, const struct vfctl_free_vf *place)
{
	if (place->node >= 0)
		xml_setf(node, "node", "%d", place->node);
	if (place->root != VFCTL_ROOT_UNKNOWN)
		xml_setf(node, "root", "%04" PRIx32 ":%02" PRIx32, place->root >> 8,
			place->root & 0xff);
}

static struct xml_node *write_vf(struct xml_node *guest, const struct vfctl_domain_vf *vf)
{
	struct xml_node *node =
		xml_add_ns(guest, VFCTL_METADATA_NS, METADATA_PREFIX, METADATA_VF);
	char text[VFCTL_BDF_TEXT], value[VFCTL_ATTR_TEXT];
	const char *key;

	xml_set(node, "pf", vfctl_bdf_format(&vf->pf, text));
	xml_setf(node, "index", "%" PRIu32, vf->index);
	xml_set(node, "bdf", vfctl_bdf_format(&vf->bdf, text));
	xml_set(node, "type", vf->infiniband ? "infiniband" : "ethernet");
	xml_set(node, "form", form_name(vf->form));
	for (size_t i = 0; vfctl_vf_attrs_next(&vf->attrs, &i, &key, value);)
		xml_set(node, key, value);
	return node;
}

struct xml_node *metadata_guest(struct xml_node *domain)
{
	return xml_child_ns(
		xml_child(domain, "metadata"), VFCTL_METADATA_NS, METADATA_GUEST);
}

struct xml_node *metadata_make_guest(struct xml_node *domain, const char *lease_id)
{
	struct xml_node *metadata = xml_child(domain, "metadata");
	struct xml_node *guest;

	if (!metadata)
		metadata = order_add(domain, "metadata");
	guest = xml_add_ns(metadata, VFCTL_METADATA_NS, METADATA_PREFIX, METADATA_GUEST);
	xml_set(guest, "lease", lease_id);
	return guest;
}

void metadata_drop_guest(struct xml_node *domain)
{
	struct xml_node *metadata = xml_child(domain, "metadata"), *guest;

	while ((guest = metadata_guest(domain)))
		xml_remove(guest);
	if (metadata && !xml_has_children(metadata))
		xml_remove(metadata);
}

void metadata_write(
	struct xml_node *domain, const struct vfctl_domain_request *request)
{
	struct xml_node *guest = metadata_guest(domain), *other;
	uint32_t cell;

	if (guest) {
		xml_clear(guest);
		while ((other = xml_next_ns(guest, VFCTL_METADATA_NS, METADATA_GUEST)))
			xml_remove(other);
		xml_set(guest, "lease", request->lease_id);
	} else {
		guest = metadata_make_guest(domain, request->lease_id);
	}
	tuning_write(guest, &request->guest->tuning);
	for (size_t i = 0; i < request->vf_count; i++) {
		struct xml_node *node = write_vf(guest, &request->vfs[i]);
		const struct vfctl_free_vf *place =
			assignment_vf(request->assignment, &request->vfs[i].bdf, &cell);

		if (place)
			write_place(node, place);
	}
}

static void read_place(const struct xml_node *vf, struct vfctl_free_vf *ret)
{
	const char *pf = xml_get(vf, "pf"), *index = xml_get(vf, "index");
	const char *node = xml_get(vf, "node"), *root = xml_get(vf, "root");
	uint32_t value;

	ret->node = VFCTL_NODE_NONE;
	ret->root = VFCTL_ROOT_UNKNOWN;
	if (pf)
		vfctl_bdf_parse(pf, &ret->pf);
	if (index)
		parse_u32(index, 0, UINT16_MAX, &ret->index);
	if (node && parse_u32(node, 0, VFCTL_CPU_MAX - 1, &value) == 0)
		ret->node = (int)value;
	if (root)
		root_parse(root, &ret->root);
}

int metadata_places(struct vfctl_ctx *ctx, struct xml_node *domain,
	struct vfctl_free_vf **ret, size_t *ret_count)
{
	struct xml_node *vf =
		xml_child_ns(metadata_guest(domain), VFCTL_METADATA_NS, METADATA_VF);
	_free_ struct vfctl_free_vf *list = NULL;
	size_t count = 0;

	for (; vf; vf = xml_next_ns(vf, VFCTL_METADATA_NS, METADATA_VF)) {
		struct vfctl_free_vf item = {0};
		const char *text = xml_get(vf, "bdf");

		if (!text || vfctl_bdf_parse(text, &item.bdf) < 0)
			continue;
		read_place(vf, &item);
		if (!array_grow(list, count))
			return ctx_oom(ctx);
		list[count++] = item;
	}
	*ret = steal(list);
	*ret_count = count;
	return 0;
}

/* Find the VF of the intent with this address, and count them. */
static struct xml_node *find_vf(
	struct xml_node *guest, const struct vfctl_bdf *bdf, size_t *ret_count)
{
	struct xml_node *found = NULL;

	*ret_count = 0;
	for (struct xml_node *vf = xml_child_ns(guest, VFCTL_METADATA_NS, METADATA_VF);
		vf; vf = xml_next_ns(vf, VFCTL_METADATA_NS, METADATA_VF)) {
		const char *text = xml_get(vf, "bdf");
		struct vfctl_bdf own;

		(*ret_count)++;
		if (text && vfctl_bdf_parse(text, &own) == 0 &&
			vfctl_bdf_compare(&own, bdf) == 0)
			found = vf;
	}
	return found;
}

struct xml_node *metadata_vf(struct xml_node *domain, const struct vfctl_bdf *bdf)
{
	size_t count;

	return find_vf(metadata_guest(domain), bdf, &count);
}

int vfctl_domain_metadata_add_vf(struct vfctl_ctx *ctx, const char *text,
	const char *lease_id, const struct vfctl_domain_vf *vf, char **ret_xml)
{
	struct xml_node *guest, *before;
	_cleanup_(xml_freep) struct xml *xml = NULL;
	size_t count = 0;
	int r;

	r = device_check(ctx, vf);
	if (r == 0)
		r = xml_parse_domain(ctx, "domain", text, &xml);
	if (r < 0)
		return r;
	guest = metadata_guest(xml_root(xml));
	if (!guest) {
		if (!lease_id || !lease_id_valid(lease_id))
			return ctx_fail(ctx, -EINVAL,
				"domain: the lease id '%.80s' is not allowed",
				lease_id ? lease_id : "");
		guest = metadata_make_guest(xml_root(xml), lease_id);
	}
	before = find_vf(guest, &vf->bdf, &count);
	if (!before && count >= VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -ENOSPC,
			"domain: it has %d VFs already; detach one first",
			VFCTL_GUEST_VFS_MAX);
	xml_remove(before);
	write_vf(guest, vf);
	return xml_print(ctx, xml, ret_xml);
}

int vfctl_domain_metadata_remove_vf(struct vfctl_ctx *ctx, const char *text,
	const struct vfctl_bdf *bdf, char **ret_xml)
{
	struct xml_node *guest, *vf;
	_cleanup_(xml_freep) struct xml *xml = NULL;
	char name[VFCTL_BDF_TEXT];
	size_t count = 0;
	int r;

	r = xml_parse_domain(ctx, "domain", text, &xml);
	if (r < 0)
		return r;
	guest = metadata_guest(xml_root(xml));
	vf = find_vf(guest, bdf, &count);
	if (!vf)
		return ctx_fail(ctx, -ENOENT,
			"domain: VF %s is not one that vfctl gave it; detach it with "
			"virsh",
			vfctl_bdf_format(bdf, name));
	xml_remove(vf);
	if (!xml_has_children(guest)) /* otherwise its file or its tuning is still there */
		metadata_drop_guest(xml_root(xml));
	return xml_print(ctx, xml, ret_xml);
}

int metadata_read_places(struct vfctl_ctx *ctx, const char *text, struct vfctl_free_vf **ret,
	size_t *ret_count)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);

	return r < 0 ? r : metadata_places(ctx, xml_root(xml), ret, ret_count);
}

int metadata_forget_places(struct vfctl_ctx *ctx, const char *text, const struct vfctl_bdf *vfs,
	size_t count, char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct xml_node *vf = metadata_vf(xml_root(xml), &vfs[i]);

		if (vf) {
			xml_unset(vf, "node");
			xml_unset(vf, "root");
		}
	}
	return r < 0 ? r : xml_print(ctx, xml, ret_xml);
}

int metadata_set_spec(struct vfctl_ctx *ctx, const char *text, const char *spec,
	uint64_t template_hash,
	char **ret_xml)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);
	struct xml_node *node;

	if (r < 0)
		return r;
	node = xml_add_ns(metadata_guest(xml_root(xml)), VFCTL_METADATA_NS, METADATA_PREFIX,
		METADATA_SPEC);
	xml_set_text(node, spec);
	if (template_hash)
		xml_setf(node, METADATA_TEMPLATE, "%016" PRIx64, template_hash);
	return xml_print(ctx, xml, ret_xml);
}

int metadata_spec(struct vfctl_ctx *ctx, const char *text, char **ret, uint64_t *ret_template_hash)
{
	size_t size = strlen(text) + 1;
	_free_ char *buf = malloc(size);
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = buf ? xml_parse_domain(ctx, "domain", text, &xml) : ctx_oom(ctx);
	const char *spec, *hash;
	const struct xml_node *node;

	if (r < 0)
		return r;
	node = xml_child_ns(metadata_guest(xml_root(xml)), VFCTL_METADATA_NS, METADATA_SPEC);
	spec = node ? xml_text(node, buf, size) : NULL;
	hash = spec ? xml_get(node, METADATA_TEMPLATE) : NULL;
	*ret_template_hash = 0;
	if (hash)
		parse_hex(hash, UINT64_MAX, ret_template_hash);
	*ret = spec ? strdup(spec) : NULL;
	return !spec || *ret ? 0 : ctx_oom(ctx);
}
