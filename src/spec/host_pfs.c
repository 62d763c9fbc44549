// SPDX-License-Identifier: GPL-2.0-or-later
/* The PFs that this host declares: what identifies each, and its settings. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "spec/host.h"

#define RANGES_MAX 4096
#define BRIDGE_MACS_MAX 1024
#define VFS_MAX UINT16_MAX
#define NAME_MAX_BYTES 127 /* length of an alternative name: ALTIFNAMSIZ */

void pf_spec_clear(struct vfctl_pf_spec *pf)
{
	for (size_t i = 0; i < ARRAY_SIZE(pf->names); i++)
		free(pf->names[i]);
	free(pf->file);
	free(pf->driver);
	free(pf->serial);
	free(pf->guid_pool);
	free(pf->pkey);
	free(pf->tuning.profile);
	free(pf->ipoib_mode);
	free(pf->bridge);
	strv_free(pf->bridge_macs);
	free(pf->ranges);
}

#define P(member) offsetof(struct vfctl_pf_spec, member)

/* ---- what identifies it ---- */

static int read_vendor_device(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_pf_spec *pf = object;
	unsigned vendor, device;
	const char *text;
	int end = 0, error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (strlen(text) != 9 || sscanf(text, "%4x:%4x%n", &vendor, &device, &end) != 2 ||
		end != 9 || !vendor)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be VENDOR:DEVICE in hex as lspci -nn "
			"prints it, such as '15b3:101b'", text);
	pf->vendor = (uint16_t)vendor;
	pf->device = (uint16_t)device;
	return 0;
}

static const struct key match_keys[] = {
	{"pf", read_line, P(names[0]), 1, NAME_MAX_BYTES, NULL},
	{"address", read_line, P(names[1]), 1, NAME_MAX_BYTES, NULL},
	{"netdev", read_line, P(names[2]), 1, NAME_MAX_BYTES, NULL},
	{"altname", read_line, P(names[3]), 1, NAME_MAX_BYTES, NULL},
	{"rdma", read_line, P(names[4]), 1, NAME_MAX_BYTES, NULL},
	{"driver", read_line, P(driver), 1, 31, NULL},
	{"device", read_vendor_device, 0, 0, 0, NULL},
	{"serial", read_line, P(serial), 1, 64, NULL},
};

static const struct shape match_shapes[] = {
	{.read = read_vendor_device, .kinds = SHAPE_TEXT,
		.pattern = "^[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}$"},
};
static const struct table match_table = {match_keys, ARRAY_SIZE(match_keys), match_shapes,
	ARRAY_SIZE(match_shapes), .required = NULL};

static int read_match(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	/* Most entries identify the PF by one name. */
	return reader_short(r, key, value, &match_table, object, "name the PF, as in match: ens1");
}

/* ---- its VFs ---- */

/* The key of the attribute in the spelling of vfctl_vf_attrs_parse(). */
static int read_vf_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_vf_range *range = object;

	return reader_attr(r, key, value, &range->attrs);
}

static const struct key range_keys[] = {
	{"guid", read_vf_attr, 0, 0, 0, NULL},
};

static const struct shape range_shapes[] = {
	{.read = read_vf_attr, .kinds = SHAPE_ATTR},
};
static const struct table range_table = {range_keys, ARRAY_SIZE(range_keys), range_shapes,
	ARRAY_SIZE(range_shapes), NULL,
	.attr_bits = VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS | (VFCTL_ATTR_POLICY & ~VFCTL_ATTR_MSIX),
	.attrs = offsetof(struct vfctl_vf_range, attrs), .attr_file = HOST_FILE};

/* "3" or "0-3". */
static bool read_indexes(const char *text, struct vfctl_vf_range *ret)
{
	const char *dash = strchr(text, '-');
	size_t len = dash ? (size_t)(dash - text) : strlen(text);
	char first[16] = "";

	if (len >= sizeof(first))
		return false;
	memcpy(first, text, len);
	return parse_u32(first, 0, VFS_MAX, &ret->first) == 0 &&
		parse_u32(dash ? dash + 1 : first, ret->first, VFS_MAX, &ret->last) == 0;
}

static int check_range(struct reader *r, const struct doc_node *at, const char *text,
	const struct vfctl_pf_spec *pf, const struct vfctl_vf_range *range)
{
	bool identity = range->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS);

	if (identity && range->first != range->last)
		return reader_fail(r, at, text, -EINVAL,
			"%" PRIu32 " VFs cannot share an address; write an entry for each VF",
			range->last - range->first + 1);
	for (size_t i = 0; i < pf->range_count; i++)
		if (range->first <= pf->ranges[i].last && range->last >= pf->ranges[i].first)
			return reader_fail(r, at, text, -EINVAL,
				"VF %" PRIu32 " is already in %" PRIu32 "-%" PRIu32 "; each VF has one "
				"entry", range->first > pf->ranges[i].first ? range->first
				: pf->ranges[i].first, pf->ranges[i].first, pf->ranges[i].last);
	return 0;
}

static int read_range(struct reader *r, const struct doc_node *at, const struct doc_node *value,
	struct vfctl_pf_spec *pf)
{
	_free_ char *path = str_format("%s%s.", r->path, at->text);
	struct reader inner = {.ctx = r->ctx, .path = path};
	struct vfctl_vf_range range = {0};
	size_t place = pf->range_count;
	int error;

	if (!path)
		return ctx_oom(r->ctx);
	if (!read_indexes(at->text, &range))
		return reader_fail(r, at, at->text, -EINVAL,
			"it is not a VF; write an index such as 0, or a range such as 0-3");
	error = reader_table(&inner, value, &range_table, &range, NULL);
	if (error == 0)
		error = check_range(r, at, at->text, pf, &range);
	if (error < 0)
		return error;
	if (vfctl_vf_attrs_check(r->ctx, &range.attrs) < 0)
		return ctx_prefix(r->ctx, -EINVAL, "%s:%u:%u: %s%s", at->file, at->line, at->column,
			r->path, at->text);
	if (!array_grow(pf->ranges, pf->range_count))
		return ctx_oom(r->ctx);
	for (; place && pf->ranges[place - 1].first > range.first; place--)
		pf->ranges[place] = pf->ranges[place - 1];
	pf->ranges[place] = range;
	pf->range_count++;
	return 0;
}

static int read_ranges(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	_free_ char *path = str_format("%s%s.", r->path, key->name);
	struct reader inner = {.ctx = r->ctx, .path = path};
	struct vfctl_pf_spec *pf = object;
	int error = 0;

	if (!path)
		return ctx_oom(r->ctx);
	if (value->kind != DOC_MAP)
		return reader_fail(r, value, key->name, -EINVAL,
			"must be VFs with their settings, as in vfs: {0-3: {vlan: 100}}; their "
			"number is count:");
	if (value->count > RANGES_MAX)
		return reader_fail(r, value, key->name, -EINVAL, "more than %d entries", RANGES_MAX);
	for (size_t i = 0; i < value->count && error == 0; i++)
		error = read_range(&inner, value->keys[i], value->items[i], pf);
	return error;
}

/* ---- one PF ---- */

/* The index of the word among those of the key, for values whose first word means "not stated". */
static int read_which(struct reader *r, const struct key *key, const struct doc_node *value,
	unsigned *ret_index)
{
	const struct key into = {key->name, read_word, 0, 0, 0, key->choices};

	return read_word(r, &into, value, ret_index);
}

static int read_link(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_pf_spec *pf = object;
	unsigned index = 0;
	int error = read_which(r, key, value, &index);

	if (error == 0)
		pf->link = index ? VFCTL_PF_LINK_DOWN : VFCTL_PF_LINK_UP;
	return error;
}

static const char *const eswitch_text[] = {"legacy", "switchdev", NULL};

static int read_eswitch(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_pf_spec *pf = object;
	unsigned index = 0;
	int error = read_which(r, key, value, &index);

	if (error == 0)
		pf->eswitch = index ? VFCTL_ESWITCH_SWITCHDEV : VFCTL_ESWITCH_LEGACY;
	return error;
}

static const struct key representor_keys[] = {
	{"bridge", read_line, P(bridge), 1, 15, NULL},
};
static const char *const representors_required[] = {"bridge", NULL};
static const struct table representors_table = {representor_keys, ARRAY_SIZE(representor_keys),
	NULL, 0,
	.required = representors_required, .remedy = "name it, as in representors: {bridge: br0}"};

static int read_representors(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_inner(r, key, value, &representors_table, object);
}

static const char *const bridge_mode_text[] = {"off", "guests", "learnt", NULL};

static int read_macs(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_pf_spec *pf = object;
	struct vfctl_mac mac;
	int error = read_lines(r, key, value, object);

	for (size_t i = 0; error == 0 && pf->bridge_macs[i]; i++)
		if (vfctl_mac_parse(pf->bridge_macs[i], &mac) < 0 || mac.byte[0] & 1)
			return reader_fail(r, value, key->name, -EINVAL, "'%.64s' is not the MAC of a "
				"station, such as '52:54:00:12:34:56'", pf->bridge_macs[i]);
	return error;
}

static const struct key bridge_keys[] = {
	{"mode", read_word, P(bridge_mode), 0, 0, bridge_mode_text},
	{"macs", read_macs, P(bridge_macs), 0, BRIDGE_MACS_MAX, NULL},
};
static const struct shape mac_shape = {.kinds = SHAPE_TEXT,
	.pattern = "^([0-9A-Fa-f]{1,2}[:-]){5}[0-9A-Fa-f]{1,2}$"};
static const struct shape bridge_shapes[] = {
	{.read = read_macs, .kinds = SHAPE_FILLED, .each = &mac_shape, .most = BRIDGE_MACS_MAX},
};
static const char *const bridge_required[] = {"mode", NULL};
static const struct table bridge_table = {bridge_keys, ARRAY_SIZE(bridge_keys), bridge_shapes,
	ARRAY_SIZE(bridge_shapes), .required = bridge_required, .remedy = "write guests, learnt or off"};

static int read_bridge(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_short(r, key, value, &bridge_table, object, "bridge: learnt");
}

/* "off" means that vfctl does not change the PF. */
static int read_managed(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_pf_spec *pf = object;
	bool managed = true;
	const struct key into = {key->name, read_switch, 0, 0, 0, NULL};
	int error = read_switch(r, &into, value, &managed);

	pf->unmanaged = !managed;
	return error;
}

/* If it is not stated, it is not changed. */
static int read_rdma_adaptive(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_pf_spec *pf = object;
	const struct key into = {key->name, read_switch, 0, 0, 0, NULL};

	pf->rdma_adaptive_stated = true;
	return read_switch(r, &into, value, &pf->rdma_adaptive);
}

enum { MATCH, MANAGED, COUNT, DRIVER, KEEP, GUID_POOL, PKEY, RANGES, ESWITCH, REPRESENTORS,
	BRIDGE };

static const char *const driver_text[] = {
	[VFCTL_VF_DRIVER_VFIO] = "vfio-pci",
	[VFCTL_VF_DRIVER_HOST] = "host",
	[VFCTL_VF_DRIVER_NONE] = "none",
	NULL,
};

static const char *const ipoib_text[] = {"datagram", "connected", NULL};
static const char *const link_text[] = {"up", "down", NULL};

static const struct key pf_keys[] = {
	[MATCH] = {"match", read_match, 0, 0, 0, NULL},
	[MANAGED] = {"managed", read_managed, 0, 0, 0, NULL},
	[COUNT] = {"count", read_u32, P(count), 0, VFS_MAX, NULL},
	[DRIVER] = {"driver", read_word, P(vf_driver), 0, 0, driver_text},
	[KEEP] = {"keep-identities", read_switch, P(keep_identities), 0, 0, NULL},
	[GUID_POOL] = {"guid-pool", read_line, P(guid_pool), 1, VFCTL_ID_NAME_MAX, NULL},
	[PKEY] = {"pkey", read_line, P(pkey), 1, 64, NULL},
	[RANGES] = {"vfs", read_ranges, 0, 0, 0, NULL},
	[ESWITCH] = {"eswitch", read_eswitch, 0, 0, 0, eswitch_text},
	[REPRESENTORS] = {"representors", read_representors, 0, 0, 0, NULL},
	[BRIDGE] = {"bridge", read_bridge, 0, 0, 0, bridge_mode_text},
	{"mtu", read_u32, P(mtu), VFCTL_MTU_MIN, VFCTL_MTU_MAX, NULL},
	{"ipoib-mode", read_word_text, P(ipoib_mode), 0, 0, ipoib_text},
	{"rdma-adaptive-moderation", read_rdma_adaptive, 0, 0, 0, NULL},
	{"link", read_link, 0, 0, 0, link_text},
	{"tuning", read_pf_tuning, P(tuning), 0, 0, NULL},
};

static const struct shape pf_shapes[] = {
	{.read = read_match, .kinds = SHAPE_TEXT | SHAPE_FILLED, .min = 1, .max = NAME_MAX_BYTES,
		.map = &match_table},
	{.read = read_managed, .kinds = SHAPE_SWITCH},
	{.read = read_rdma_adaptive, .kinds = SHAPE_SWITCH},
	{.read = read_ranges, .map = &range_table, .named = "^[0-9]+(-[0-9]+)?$"},
	{.read = read_link, .kinds = SHAPE_WORDS},
	{.read = read_eswitch, .kinds = SHAPE_WORDS},
	{.read = read_representors, .map = &representors_table},
	{.read = read_bridge, .kinds = SHAPE_WORDS, .map = &bridge_table},
	{.read = read_pf_tuning, .kinds = SHAPE_TEXT | SHAPE_FILLED, .pattern = NAME_PATTERN,
		.map = &pf_tuning_table},
};
static const char *const pf_required[] = {"match", NULL};
const struct table pf_table = {pf_keys, ARRAY_SIZE(pf_keys), pf_shapes, ARRAY_SIZE(pf_shapes),
	.required = pf_required, .remedy = "name the PF, as in match: ens1"};

static int check_unmanaged(struct reader *r, const struct doc_node *const *seen)
{
	for (size_t i = COUNT; i < ARRAY_SIZE(pf_keys); i++)
		if (seen[i])
			return reader_fail(r, seen[i], pf_keys[i].name, -EINVAL,
				"the PF is not managed; remove this key, or managed: off");
	return 0;
}

static int check_pf(struct reader *r, const struct doc_node *node, const struct vfctl_pf_spec *pf,
	const struct doc_node *const *seen)
{
	const struct vfctl_vf_range *last = pf->range_count ? &pf->ranges[pf->range_count - 1] : NULL;

	if (pf->unmanaged)
		return check_unmanaged(r, seen);
	for (size_t i = DRIVER; i <= RANGES && !pf->count; i++)
		if (seen[i])
			return reader_fail(r, seen[i], pf_keys[i].name, -EINVAL, pf->counted
				? "the PF has no VFs: count is 0"
				: "the number of VFs is missing; add count:");
	if (last && last->last >= pf->count)
		return reader_fail(r, seen[RANGES], "vfs", -EINVAL,
			"VF %" PRIu32 " does not exist: count is %" PRIu32 ", so the last VF is %" PRIu32,
			last->last, pf->count, pf->count - 1);
	if (seen[REPRESENTORS] && pf->eswitch != VFCTL_ESWITCH_SWITCHDEV)
		return reader_fail(r, seen[REPRESENTORS], "representors", -EINVAL,
			"VFs have representors only in switchdev mode; add eswitch: switchdev");
	if (seen[BRIDGE] && pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		return reader_fail(r, seen[BRIDGE], "bridge", -EINVAL,
			"in switchdev mode the bridge of the representors forwards to VFs; remove this "
			"key, and name that bridge in representors:");
	if (pf->keep_identities && (seen[GUID_POOL] || seen[PKEY]))
		return reader_fail(r, seen[KEEP], "keep-identities", -EINVAL,
			"keep-identities keeps the values that the driver chose, but guid-pool and pkey "
			"change them; remove one of them");
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? str_eq(a, b) : a == b;
}

/* The same words; only the host can tell whether other words match the same PF. */
static bool same_match(const struct vfctl_pf_spec *a, const struct vfctl_pf_spec *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(a->names); i++)
		if (!same_text(a->names[i], b->names[i]))
			return false;
	return same_text(a->driver, b->driver) && same_text(a->serial, b->serial) &&
		a->vendor == b->vendor && a->device == b->device;
}

static bool share_identity(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	uint32_t both = a->mask & b->mask;

	return (both & VFCTL_ATTR_MAC && !memcmp(&a->mac, &b->mac, sizeof(a->mac))) ||
		(both & VFCTL_ATTR_NODE_GUID && a->node_guid == b->node_guid) ||
		(both & VFCTL_ATTR_PORT_GUID && a->port_guid == b->port_guid);
}

#define PLACE_TEXT 300

/* The place of @pf's entry: if it is in the file of @at, only its line. */
static const char *place_of(const struct vfctl_pf_spec *pf, const struct doc_node *at,
	char text[PLACE_TEXT])
{
	if (str_eq(pf->file, at->file))
		snprintf(text, PLACE_TEXT, "line %u", pf->line);
	else
		snprintf(text, PLACE_TEXT, "%.250s:%u", pf->file, pf->line);
	return text;
}

/* A MAC or GUID may belong to only one VF. */
static int check_identities(struct reader *r, const struct doc_node *at,
	const struct vfctl_host_spec *spec, const struct vfctl_pf_spec *pf)
{
	char where[PLACE_TEXT];

	for (const struct vfctl_pf_spec *other = spec->pfs; other <= pf; other++)
		for (size_t i = 0; i < pf->range_count; i++)
			for (size_t k = 0; k < (other == pf ? i : other->range_count); k++)
				if (share_identity(&pf->ranges[i].attrs, &other->ranges[k].attrs))
					return reader_fail(r, at, "vfs", -EINVAL,
						"VF %" PRIu32 " has the same address as VF %" PRIu32 " "
						"of the PF in %s; change one of them",
						pf->ranges[i].first, other->ranges[k].first,
						place_of(other, at, where));
	return 0;
}

static int read_pf(struct reader *r, const struct doc_node *node, void *object)
{
	const struct doc_node *seen[ARRAY_SIZE(pf_keys)] = {0};
	struct vfctl_host_spec *spec = object;
	struct vfctl_pf_spec *pf;
	char where[PLACE_TEXT];
	int error;

	if (!array_grow(spec->pfs, spec->pf_count))
		return ctx_oom(r->ctx);
	pf = &spec->pfs[spec->pf_count++];
	*pf = (struct vfctl_pf_spec){.line = node->line, .column = node->column,
		.file = strdup(node->file)};
	if (!pf->file)
		return ctx_oom(r->ctx);
	error = reader_table(r, node, &pf_table, pf, seen);
	pf->counted = seen[COUNT];
	if (error == 0)
		error = check_pf(r, node, pf, seen);
	if (error == 0 && pf->range_count)
		error = check_identities(r, seen[RANGES], spec, pf);
	for (size_t i = 0; error == 0 && i + 1 < spec->pf_count; i++)
		if (same_match(&spec->pfs[i], pf))
			error = reader_fail(r, seen[MATCH], "match", -EINVAL,
				"the same PF as in %s; each PF has one entry",
				place_of(&spec->pfs[i], node, where));
	return error;
}

int read_pfs(struct reader *r, const struct key *key, const struct doc_node *value, void *object)
{
	return reader_each(r, key, value, PFS_MAX, object, read_pf);
}
