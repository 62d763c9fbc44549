// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/guest_yaml.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "spec/guest.h"

#define MIB (UINT64_C(1) << 20)
#define MEMORY_MAX_BYTES (UINT64_C(1) << 52) /* x86 physical address width */

static void clear_disks(struct vfctl_guest *guest)
{
	for (size_t i = 0; i < guest->disk_count; i++) {
		free(guest->disks[i].source);
		free(guest->disks[i].bus);
		free(guest->disks[i].cache);
	}
	free(guest->disks);
	guest->disks = NULL;
	guest->disk_count = 0;
}

static void clear_identity(struct vfctl_guest_vf *vf)
{
	free(vf->identity.guid_pool);
	free(vf->identity.mac_pool);
	free(vf->identity.pkey);
	vf->identity = (struct vfctl_identity_want){0};
}

static void clear_texts(struct vfctl_guest *guest)
{
	char **const texts[] = {&guest->name, &guest->uuid, &guest->title, &guest->description,
		&guest->machine, &guest->template_name, &guest->kernel, &guest->initrd,
		&guest->cmdline};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		free(*texts[i]);
		*texts[i] = NULL;
	}
}

void vfctl_guest_free(struct vfctl_guest *guest)
{
	if (!guest)
		return;
	clear_disks(guest);
	clear_texts(guest);
	for (size_t i = 0; i < guest->vf_count; i++) {
		free(guest->vfs[i].pf);
		free(guest->vfs[i].anti_affinity_name);
		free(guest->vfs[i].bond);
		free(guest->vfs[i].at);
		clear_identity(&guest->vfs[i]);
	}
	free(guest->vfs);
	free(guest->cells);
	free(guest->cpu);
	free(guest->tuning_at);
	doc_free(guest->doc);
	free(guest);
}

void guest_keep_place(struct vfctl_guest *guest)
{
	clear_disks(guest);
	clear_texts(guest);
	for (size_t i = 0; i < guest->vf_count; i++) {
		clear_identity(&guest->vfs[i]);
		guest->vfs[i].attrs = (struct vfctl_vf_attrs){.proto = VFCTL_VLAN_8021Q};
		guest->vfs[i].mtu = 0;
		guest->vfs[i].ipoib_mode = VFCTL_IPOIB_UNSTATED;
	}
}

uint32_t vfctl_guest_vf_total(const struct vfctl_guest *guest)
{
	uint32_t total = 0;

	for (size_t i = 0; i < guest->vf_count; i++)
		total += guest->vfs[i].count;
	return total;
}

static int read_name(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!vfctl_guest_name_valid(text))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.200s' is not allowed: libvirt uses it in file names; it must have 1 "
			"to %d bytes, without '/', control characters, a leading '.', and leading "
			"or trailing spaces",
			text, VFCTL_GUEST_NAME_MAX);
	return read_string(r, key, value, object);
}

static int read_uuid(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest *guest = object;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!uuid_valid(text))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not a UUID; write one as uuidgen prints it, or remove the key",
			text);
	error = read_string(r, key, value, object);
	for (char *c = guest->uuid; error == 0 && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return error;
}

int read_memory_size(struct reader *r, const struct key *key, const struct doc_node *value,
	uint64_t *ret_bytes)
{
	const char *text;
	uint64_t bytes;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (parse_size(text, &bytes) < 0 || !bytes || bytes % MIB ||
		bytes > MEMORY_MAX_BYTES)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a size with its unit, such "
			"as 8GiB or "
			"1536MiB, a whole number of MiB up to 4096TiB",
			text);
	*ret_bytes = bytes;
	return 0;
}

static int read_memory(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest *guest = object;

	return read_memory_size(r, key, value, &guest->memory_bytes);
}

static int read_pages(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	static const uint64_t sizes[] = {
		VFCTL_PAGES_AUTO, 1024 * MIB, 2 * MIB, VFCTL_PAGES_BASE};
	struct vfctl_guest *guest = object;
	unsigned index = 0;
	struct key word = *key;
	int error;

	word.offset = 0;
	error = read_word(r, &word, value, &index);
	if (error == 0)
		guest->page_bytes = sizes[index];
	return error;
}

/* Identifiers for QEMU's command line: only the characters of QEMU's own names. */
static int read_model(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return reader_fail(r, value, key->name, -EINVAL,
				"'%.64s' is not allowed; it must be letters, digits, "
				"'.', '_', '-'",
				text);
	return read_line(r, key, value, object);
}

static int read_machine(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!str_eq(text, "q35") && !str_starts(text, "pc-q35-"))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be q35 or a version of it "
			"(pc-q35-8.2): "
			"VFs need PCI Express root ports",
			text);
	return read_model(r, key, value, object);
}

static int read_template(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (text[0] == '.' && !strchr(text, '/'))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a template's name or a path",
			text);
	return read_line(r, key, value, object);
}

static const char *const thread_text[] = {"prefer", "require", "isolate", "none", NULL};
static const char *const page_text[] = {"auto", "1GiB", "2MiB", "none", NULL};
static const char *const virtualization_text[] = {"kvm", "qemu", NULL};

static const char *const memory_affinity_text[] = {"required", "preferred", NULL};

enum { NAME, VCPUS, MEMORY, IOTHREADS, PMU, CPU, KERNEL, INITRD, CMDLINE, VFS, CELLS,
	SHARED, IOTHREAD_CORES, XML };

#define G(member) offsetof(struct vfctl_guest, member)

/* The first rows are those that finish() uses by name. */
static int read_emulator_cores(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest *guest = object;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error == 0 && str_eq(text, "auto")) {
		guest->emulator_cores = VFCTL_EMULATOR_AUTO;
		return 0;
	}
	if (error == 0 && parse_u32(text, (uint32_t)key->min, (uint32_t)key->max,
			&guest->emulator_cores) < 0)
		return reader_fail(r, value, key->name, -EINVAL, "'%s' is not allowed; it must be a "
			"number of cores from 0 to %d, or auto", text, VFCTL_EMULATOR_CORES_MAX);
	return error;
}

static const struct key guest_keys[] = {
	[NAME] = {"name", read_name, G(name), 0, 0, NULL},
	[VCPUS] = {"vcpus", read_u32, G(vcpus), 1, VFCTL_VCPU_MAX, NULL},
	[MEMORY] = {"memory", read_memory, 0, 0, 0, NULL},
	[IOTHREADS] = {"iothreads", read_u32, G(iothreads), 0, VFCTL_IOTHREADS_MAX, NULL},
	[PMU] = {"pmu", read_switch, G(pmu), 0, 0, NULL},
	[CPU] = {"cpu", read_model, G(cpu), 1, 64, NULL},
	[KERNEL] = {"kernel", read_path, G(kernel), 0, 0, NULL},
	[INITRD] = {"initrd", read_path, G(initrd), 0, 0, NULL},
	[CMDLINE] = {"cmdline", read_line, G(cmdline), 0, 2047, NULL},
	[VFS] = {"vfs", read_guest_vfs, 0, 0, 0, NULL},
	[CELLS] = {"cells", read_guest_cells, 0, 0, 0, NULL},
	[SHARED] = {"shared_vcpus", read_guest_shared, G(shared_vcpus), 0, VFCTL_VCPU_MAX, NULL},
	[IOTHREAD_CORES] = {"iothread_cores", read_u32, G(iothread_cores), 0,
		VFCTL_IOTHREADS_MAX, NULL},
	[XML] = {"xml", read_guest_xml, 0, 0, 0, NULL},
	{"tuning", read_guest_tuning, 0, 0, 0, NULL},
	{"node", read_guest_node, G(node), 0, 0, NULL},
	{"memory_affinity", read_word, G(memory_affinity), 0, 0, memory_affinity_text},
	{"whole_node", read_switch, G(whole_node), 0, 0, NULL},
	{"whole_l3", read_switch, G(whole_l3), 0, 0, NULL},
	{"max_distance", read_u32, G(max_distance), 10, 255, NULL},
	{"disks", read_guest_disks, 0, 0, 0, NULL},
	{"uuid", read_uuid, G(uuid), 0, 0, NULL},
	{"title", read_line, G(title), 1, 1024, NULL},
	{"description", read_string, G(description), 0, 0, NULL},
	{"threads", read_word, G(threads), 0, 0, thread_text},
	{"emulator_cores", read_emulator_cores, G(emulator_cores), 0,
		VFCTL_EMULATOR_CORES_MAX, NULL},
	{"hugepages", read_pages, 0, 0, 0, page_text},
	{"locked", read_switch, G(locked), 0, 0, NULL},
	{"virtualization", read_word, G(virtualization), 0, 0, virtualization_text},
	{"machine", read_machine, G(machine), 1, 64, NULL},
	{"template", read_template, G(template_name), 1, 4095, NULL},
	{"console", read_switch, G(console), 0, 0, NULL},
	{"spare_ports", read_u32, G(spare_ports), 0, VFCTL_SPARE_PORTS_MAX, NULL},
};

static const char *const any_word[] = {"any", NULL};
static const char *const all_word[] = {"all", NULL};
static const char *const auto_word[] = {"auto", NULL};
static const struct shape vf_shape = {.map = &vf_table};
static const struct shape cell_shape = {.map = &cell_table};
static const struct shape disk_shape = {.map = &disk_table};

static const struct shape guest_shapes[] = {
	{.read = read_name, .kinds = SHAPE_TEXT, .min = 1, .max = VFCTL_GUEST_NAME_MAX,
		.pattern = "^[^./ ]([^/]*[^/ ])?$"},
	{.read = read_memory, .kinds = SHAPE_TEXT, .pattern = SIZE_PATTERN},
	{.read = read_model, .kinds = SHAPE_TEXT, .pattern = "^[A-Za-z0-9._-]*$"},
	{.read = read_guest_vfs, .each = &vf_shape, .most = VFCTL_GUEST_VFS_MAX},
	{.read = read_guest_cells, .kinds = SHAPE_NUMBER | SHAPE_FILLED, .min = 1,
		.max = VFCTL_CELLS_MAX, .choices = auto_word, .each = &cell_shape,
		.most = VFCTL_CELLS_MAX},
	{.read = read_guest_shared, .kinds = SHAPE_NUMBER, .choices = all_word},
	{.read = read_guest_xml, .map = &xml_table},
	{.read = read_guest_tuning, .kinds = SHAPE_TEXT | SHAPE_FILLED, .min = 1,
		.max = VFCTL_PROFILE_NAME_MAX, .pattern = TUNING_NAME_PATTERN,
		.map = &guest_tuning_table},
	{.read = read_guest_node, .kinds = SHAPE_NUMBER, .max = VFCTL_CPU_MAX - 1,
		.choices = any_word},
	{.read = read_guest_disks, .each = &disk_shape, .most = VFCTL_GUEST_DISKS_MAX},
	{.read = read_uuid, .kinds = SHAPE_STRING,
		.pattern = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"},
	{.read = read_emulator_cores, .kinds = SHAPE_NUMBER, .choices = auto_word},
	{.read = read_pages, .kinds = SHAPE_WORDS},
	{.read = read_machine, .kinds = SHAPE_STRING, .pattern = "^(q35|pc-q35-[A-Za-z0-9._-]*)$"},
	{.read = read_template, .kinds = SHAPE_TEXT, .pattern = "^([^.]|\\.[^/]*/)"},
};
static const char *const guest_required[] = {"name", "vcpus|cells", "memory|cells", NULL};
const struct table guest_table = {guest_keys, ARRAY_SIZE(guest_keys), guest_shapes,
	ARRAY_SIZE(guest_shapes), .required = guest_required};

static int set_default(struct reader *r, char **member, const char *text)
{
	if (!*member)
		*member = strdup(text);
	return *member ? 0 : ctx_oom(r->ctx);
}

/* Defaults that follow from other keys. */
static int fill_defaults(
	struct reader *r, struct vfctl_guest *guest, const struct doc_node *const *seen)
{
	bool kvm = guest->virtualization == VFCTL_VIRTUALIZATION_KVM;
	int error = set_default(r, &guest->machine, "q35");

	if (error == 0)
		error = set_default(r, &guest->cpu, kvm ? "host-passthrough" : "maximum");
	if (!seen[IOTHREADS])
		guest->iothreads = guest->disk_count ? 1 : 0;
	if (!seen[PMU])
		guest->pmu = kvm && !guest->xml.realtime;
	return error;
}

static int check_guest(struct reader *r, const struct doc_node *root,
	struct vfctl_guest *guest, const struct doc_node *const *seen)
{
	static const unsigned needed[] = {NAME, VCPUS, MEMORY};
	uint64_t page = guest->page_bytes;
	int error;

	/* A list of cells includes the other two keys. */
	for (size_t i = 0; i < (guest->cell_count ? 1 : ARRAY_SIZE(needed)); i++)
		if (!seen[needed[i]])
			return reader_fail(r, root, guest_keys[needed[i]].name, -EINVAL,
				"the key is missing; every guest needs one");
	error = finish_guest_cells(r, seen[CELLS] ? seen[CELLS] : root, guest);
	if (error == 0)
		error = finish_guest_vf_cells(r, seen[VFS] ? seen[VFS] : root, guest);
	if (error < 0)
		return error;
	if (guest->iothread_cores && !guest->iothreads)
		return reader_fail(r, seen[IOTHREAD_CORES], "iothread_cores", -EINVAL,
			"the guest has no I/O threads; add iothreads:, or remove the key");
	if (page != VFCTL_PAGES_AUTO && page != VFCTL_PAGES_BASE &&
		guest->memory_bytes % page)
		return reader_fail(r, seen[MEMORY], "memory", -EINVAL,
			"it is not a whole number of pages of %" PRIu64
			" MiB; round it up or "
			"choose other hugepages",
			page / MIB);
	if (guest->virtualization == VFCTL_VIRTUALIZATION_QEMU &&
		str_eq(guest->cpu, "host-passthrough"))
		return reader_fail(r, seen[CPU], "cpu", -EINVAL,
			"host-passthrough needs KVM; with virtualization: qemu, write cpu: maximum");
	for (unsigned i = INITRD; i <= CMDLINE; i++)
		if (seen[i] && !guest->kernel)
			return reader_fail(r, seen[i], guest_keys[i].name, -EINVAL,
				"it needs kernel:; add that, or remove the key");
	if (vfctl_guest_vf_total(guest) > VFCTL_GUEST_VFS_MAX)
		return reader_fail(r, seen[VFS], "vfs", -EINVAL,
			"%" PRIu32 " VFs are requested; a guest has at most %d",
			vfctl_guest_vf_total(guest), VFCTL_GUEST_VFS_MAX);
	return seen[XML] ? check_guest_xml(r, guest, seen[XML]) : 0;
}

/* The defaults of a guest. */
static const struct vfctl_guest unsaid = {.emulator_cores = VFCTL_EMULATOR_AUTO,
	.node = VFCTL_NODE_NONE, .page_bytes = VFCTL_PAGES_AUTO, .console = true, .spare_ports = 4,
	.xml = {.expander_ports = VFCTL_EXPANDER_PORTS_DEFAULT}};

int vfctl_guest_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_guest **ret)
{
	struct reader r = {.ctx = ctx, .path = ""};
	const struct doc_node *seen[ARRAY_SIZE(guest_keys)] = {0};
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	int error;

	error = doc_parse(ctx, file, text, len, VFCTL_GUEST_FILE_MAX, &root);
	if (error < 0)
		return error;
	guest = calloc(1, sizeof(*guest));
	if (!guest)
		return ctx_oom(ctx);
	*guest = unsaid;
	error = reader_map(&r, root, guest_keys, ARRAY_SIZE(guest_keys), guest, seen);
	if (error == 0)
		error = fill_defaults(&r, guest, seen);
	if (error == 0)
		error = check_guest(&r, root, guest, seen);
	if (error == 0)
		guest->doc = steal(root);
	if (error < 0)
		return error;
	*ret = steal(guest);
	return 0;
}

int vfctl_guest_new(struct vfctl_ctx *ctx, const char *name, uint32_t vcpus,
	uint64_t memory_bytes, struct vfctl_guest **ret)
{
	const struct doc_node *seen[ARRAY_SIZE(guest_keys)] = {0};
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	struct reader r = {.ctx = ctx};
	int error;

	if (!vfctl_guest_name_valid(name))
		return ctx_fail(ctx, -EINVAL, "'%.64s' is not a name for a domain", name);
	if (!vcpus || vcpus > VFCTL_VCPU_MAX)
		return ctx_fail(ctx, -EINVAL, "%s: %" PRIu32 " vCPUs; it must be 1 to %d", name,
			vcpus, VFCTL_VCPU_MAX);
	if (!memory_bytes || memory_bytes % MIB)
		return ctx_fail(ctx, -EINVAL, "%s: its memory must be a whole number of MiB, at "
			"least 1",
			name);
	guest = calloc(1, sizeof(*guest));
	if (!guest)
		return ctx_oom(ctx);
	*guest = unsaid;
	guest->vcpus = vcpus;
	guest->memory_bytes = memory_bytes;
	error = set_default(&r, &guest->name, name);
	if (error == 0)
		error = fill_defaults(&r, guest, seen);
	if (error < 0)
		return error;
	*ret = steal(guest);
	return 0;
}

int vfctl_guest_add_vf(struct vfctl_ctx *ctx, struct vfctl_guest *guest, const char *pf,
	struct vfctl_guest_vf **ret_vf)
{
	_free_ char *copy = pf ? strdup(pf) : NULL;
	struct vfctl_guest_vf *vf;

	if (vfctl_guest_vf_total(guest) >= VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -E2BIG, "%s: a guest has at most %d VFs", guest->name,
			VFCTL_GUEST_VFS_MAX);
	if ((pf && !copy) || !array_grow(guest->vfs, guest->vf_count))
		return ctx_oom(ctx);
	vf = &guest->vfs[guest->vf_count++];
	*vf = guest_vf_unsaid;
	vf->pf = steal(copy);
	if (ret_vf)
		*ret_vf = vf;
	return 0;
}
