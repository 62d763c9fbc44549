// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>

#include "spec/guest.h"

/* A disk while it is read; exactly one of the keys file and block must be given. */
struct disk_file {
	struct vfctl_guest_disk disk;
	char *file, *block;
};

static void clear_disk_file(struct disk_file *d)
{
	free(d->disk.bus);
	free(d->disk.cache);
	free(d->file);
	free(d->block);
}

static const char *const format_text[] = {"qcow2", "raw", NULL};
static const char *const bus_text[] = {"virtio", "sata", NULL};
static const char *const cache_text[] = {
	"none", "writeback", "writethrough", "directsync", "unsafe", NULL};

enum { DISK_FILE, DISK_BLOCK, DISK_FORMAT, DISK_READONLY };

#define D(member) offsetof(struct disk_file, member)

static const struct key disk_keys[] = {
	[DISK_FILE] = {"file", read_path, D(file), 0, 0, NULL},
	[DISK_BLOCK] = {"block", read_path, D(block), 0, 0, NULL},
	[DISK_FORMAT] = {"format", read_word, D(disk.format), 0, 0, format_text},
	[DISK_READONLY] = {"readonly", read_switch, D(disk.readonly), 0, 0, NULL},
	{"bus", read_word_text, D(disk.bus), 0, 0, bus_text},
	{"cache", read_word_text, D(disk.cache), 0, 0, cache_text},
};

static const char *const disk_required[] = {"file|block", NULL};
const struct table disk_table = {disk_keys, ARRAY_SIZE(disk_keys), NULL, 0,
	.required = disk_required};

static int finish_disk(struct reader *r, const struct doc_node *node, struct disk_file *d,
	const struct doc_node *const *seen)
{
	if (!d->file == !d->block)
		return reader_fail(r, node, "file", -EINVAL,
			"a disk is either a file or a block device; write only one of the two keys");
	d->disk.block = d->block != NULL;
	if (!seen[DISK_FORMAT])
		d->disk.format = d->disk.block ? VFCTL_DISK_RAW : VFCTL_DISK_QCOW2;
	if (d->disk.readonly && d->disk.bus && str_eq(d->disk.bus, "sata"))
		return reader_fail(r, seen[DISK_READONLY], "readonly", -EINVAL,
			"a SATA disk cannot be read-only (libvirt rejects it); use bus: virtio");
	if (!d->disk.bus)
		d->disk.bus = strdup("virtio");
	if (!d->disk.cache)
		d->disk.cache = strdup("none");
	if (!d->disk.bus || !d->disk.cache)
		return ctx_oom(r->ctx);
	d->disk.source = d->block ? steal(d->block) : steal(d->file);
	return 0;
}

static int read_disk(struct reader *r, const struct doc_node *node, void *object)
{
	struct vfctl_guest *guest = object;
	const struct doc_node *seen[ARRAY_SIZE(disk_keys)] = {0};
	_cleanup_(clear_disk_file) struct disk_file d = {0};
	int error;

	if (!array_grow(guest->disks, guest->disk_count))
		return ctx_oom(r->ctx);
	error = reader_map(r, node, disk_keys, ARRAY_SIZE(disk_keys), &d, seen);
	if (error == 0)
		error = finish_disk(r, node, &d, seen);
	if (error < 0)
		return error;
	guest->disks[guest->disk_count++] = d.disk;
	d.disk = (struct vfctl_guest_disk){0};
	return 0;
}

int read_guest_disks(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	return reader_each(r, key, value, VFCTL_GUEST_DISKS_MAX, object, read_disk);
}

/* Read the attribute of that name; its parser's message begins with its own key. */
static int read_attr(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest_vf *vf = object;

	return reader_attr(r, key, value, &vf->attrs);
}

static int read_pf(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_guest_vf *vf = object;
	int error = read_line(r, key, value, object);

	if (error == 0 && (strpbrk(vf->pf, " /") || vf->pf[0] == '.' || vf->pf[0] == '-'))
		error = reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a network device, an RDMA "
			"device, a PCI "
			"address or any",
			vf->pf);
	return error;
}

/* "auto" means the same as an absent key. */
static int read_address(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	return error < 0 || str_eq(text, "auto") ? error : read_attr(r, key, value, object);
}

static int read_pkey(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_guest_vf *vf = object;
	uint16_t pkey;
	int error = read_line(r, key, value, object);

	/* A number is checked here, a name later when the partitions are known. */
	if (error == 0 && vf->identity.pkey[0] >= '0' && vf->identity.pkey[0] <= '9' &&
		vfctl_pkey_parse(vf->identity.pkey, &pkey) < 0)
		error = reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a partition's name or 0x1 to 0x7fff, "
			"followed by :full or :limited (the number does not include the "
			"membership bit)", vf->identity.pkey);
	return error;
}

static const char *const fabric_text[] = {"any", "ethernet", "infiniband", NULL};
static const char *const ipoib_text[] = {"any", "datagram", "connected", NULL};
static const char *const affinity_text[] = {
	"required", "preferred", "socket", "any", NULL};
static const char *const form_text[] = {"auto", "interface", "hostdev", NULL};

enum { VF_PF, VF_MAC, VF_FABRIC, VF_GUID, VF_GUID_POOL, VF_PKEY, VF_MAC_POOL, VF_APART, VF_BOND };

#define V(member) offsetof(struct vfctl_guest_vf, member)

/* PF names are at most 127 bytes: alternative names of netdevs (ALTIFNAMSIZ). */
static const struct key vf_keys[] = {
	[VF_PF] = {"pf", read_pf, V(pf), 1, 127, NULL},
	[VF_MAC] = {"mac", read_address, 0, 0, 0, NULL},
	[VF_FABRIC] = {"fabric", read_word, V(fabric), 0, 0, fabric_text},
	[VF_GUID] = {"guid", read_address, 0, 0, 0, NULL},
	[VF_GUID_POOL] = {"guid_pool", read_line, V(identity.guid_pool), 1, 32, NULL},
	[VF_PKEY] = {"pkey", read_pkey, V(identity.pkey), 1, 64, NULL},
	[VF_MAC_POOL] = {"mac_pool", read_line, V(identity.mac_pool), 1, 32, NULL},
	[VF_APART] = {"apart", read_line, V(anti_affinity_name), 1, 32, NULL},
	[VF_BOND] = {"bond", read_line, V(bond), 1, 32, NULL},
	{"ipoib_mode", read_word, V(ipoib_mode), 0, 0, ipoib_text},
	{"count", read_u32, V(count), 1, VFCTL_GUEST_VFS_MAX, NULL},
	{"form", read_word, V(form), 0, 0, form_text},
	{"port", read_u32, V(port), 1, 255, NULL},
	{"mtu", read_u32, V(mtu), VFCTL_MTU_MIN, VFCTL_MTU_MAX, NULL},
	{"cell", read_vf_cell, 0, 0, 0, NULL},
	{"affinity", read_word, V(affinity), 0, 0, affinity_text},
};

static const char *const auto_text[] = {"auto", NULL};
static const char *const cell_text[] = {"any", "each", NULL};
static const struct shape vf_shapes[] = {
	{.read = read_pf, .kinds = SHAPE_TEXT, .pattern = "^[^ /.-][^ /]*$"},
	{.read = read_address, .kinds = SHAPE_ATTR, .choices = auto_text},
	{.read = read_pkey, .kinds = SHAPE_TEXT},
	{.read = read_vf_cell, .kinds = SHAPE_NUMBER, .max = VFCTL_CELLS_MAX - 1,
		.choices = cell_text},
};
static const char *const vf_required[] = {"pf|fabric", NULL};
const struct table vf_table = {vf_keys, ARRAY_SIZE(vf_keys), vf_shapes, ARRAY_SIZE(vf_shapes),
	vf_required, .remedy = "name the PF, or write any",
	.attr_bits = VFCTL_ATTR_POLICY, .attrs = V(attrs), .attr_file = GUEST_FILE};

static int finish_vf(struct reader *r, const struct doc_node *node,
	struct vfctl_guest_vf *vf, const struct doc_node *const *seen)
{
	struct vfctl_vf_attrs *attrs = &vf->attrs;
	bool plain_vlan =
		!(attrs->mask & (VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO)) ||
		(attrs->qos == 0 && attrs->proto == VFCTL_VLAN_8021Q);

	if (attrs->mask & VFCTL_ATTR_GUIDS && vf->count > 1)
		return reader_fail(r, seen[VF_GUID], "guid", -EINVAL,
			"%" PRIu32 " VFs cannot share a GUID; write guid: auto, or one entry for "
			"each VF", vf->count);
	if (attrs->mask & VFCTL_ATTR_GUIDS && vf->identity.guid_pool)
		return reader_fail(r, seen[VF_GUID_POOL], "guid_pool", -EINVAL,
			"the GUID is stated twice; keep one of the two keys");
	if (vf->fabric == VFCTL_VF_FABRIC_ETHERNET && (seen[VF_GUID] || seen[VF_GUID_POOL] ||
			seen[VF_PKEY] || vf->ipoib_mode))
		return reader_fail(r, node, "fabric", -EINVAL,
			"an Ethernet VF has no GUID, no P_Key and no IPoIB mode; write fabric: "
			"infiniband, or remove these keys");
	if (vf->bond && (vf->fabric == VFCTL_VF_FABRIC_INFINIBAND || seen[VF_APART]))
		return reader_fail(r, seen[VF_BOND], "bond", -EINVAL, seen[VF_APART] ?
			"the ports of a bond are always on different PFs; remove apart" :
			"InfiniBand VFs have GUIDs and cannot share a MAC; remove this key, and create "
			"the bond in the guest alone");
	if (vf->pf && str_eq(vf->pf, "any")) {
		free(vf->pf);
		vf->pf = NULL;
	}
	if (attrs->mask & VFCTL_ATTR_MAC && vf->count > 1 && !vf->bond)
		return reader_fail(r, seen[VF_MAC], "mac", -EINVAL,
			"%" PRIu32
			" VFs cannot share an address; write mac: auto, or one entry "
			"for each VF",
			vf->count);
	if (vf->form == VFCTL_FORM_INTERFACE && !plain_vlan)
		return reader_fail(r, node, "form", -EINVAL,
			"libvirt's <interface> does not support qos or 802.1ad; write form: hostdev or "
			"auto");
	if (vfctl_vf_attrs_check(r->ctx, attrs) < 0)
		return ctx_prefix(r->ctx, -EINVAL, "%s:%u:%u: %.*s", node->file, node->line,
			node->column, (int)strlen(r->path) - 1, r->path);
	if (!(attrs->mask & VFCTL_ATTR_SPOOFCHK))
		attrs->spoofchk = guest_vf_unsaid.attrs.spoofchk;
	attrs->mask |= guest_vf_unsaid.attrs.mask;
	return 0;
}

const struct vfctl_guest_vf guest_vf_unsaid = {.count = 1, .cell = VFCTL_CELL_ANY,
	.attrs = {.mask = VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST, .spoofchk = true}};

static int read_vf(struct reader *r, const struct doc_node *node, void *object)
{
	struct vfctl_guest *guest = object;
	const struct doc_node *seen[ARRAY_SIZE(vf_keys)] = {0};
	struct vfctl_guest_vf *vf;
	int error;

	if (!array_grow(guest->vfs, guest->vf_count))
		return ctx_oom(r->ctx);
	vf = &guest->vfs[guest->vf_count++];
	*vf = guest_vf_unsaid;
	vf->attrs = (struct vfctl_vf_attrs){0}; /* finish_vf() adds what is not stated */
	vf->at = doc_at(node);
	if (!vf->at)
		return ctx_oom(r->ctx);
	error = reader_table(r, node, &vf_table, vf, seen);
	return error < 0 ? error : finish_vf(r, node, vf, seen);
}

int read_guest_vfs(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, VFCTL_GUEST_VFS_MAX, object, read_vf);
}
