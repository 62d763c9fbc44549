// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/host.h"

#include <ctype.h>
#include <errno.h>

#include "base/buf.h"
#include "spec/host_yaml.h"
#include "types/snapshot.h"

#define PARTITIONS_MAX 32768
#define ARGUMENTS_MAX 64
#define RESERVED_MEMORY_MAX (UINT64_C(1) << 44)

void vfctl_host_spec_free(struct vfctl_host_spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->pool_count; i++) {
		free(spec->pools[i].ranges);
		free(spec->pool_pfs[i]);
	}
	free(spec->pools);
	free(spec->pool_pfs);
	free(spec->partitions);
	for (size_t i = 0; i < spec->pf_count; i++)
		pf_spec_clear(&spec->pfs[i]);
	free(spec->pfs);
	for (size_t i = 0; i < spec->lag_count; i++)
		lag_spec_clear(&spec->lags[i]);
	free(spec->lags);
	for (size_t i = 0; i < spec->profile_count; i++)
		profile_clear(&spec->profiles[i]);
	free(spec->profiles);
	kernel_spec_clear(&spec->kernel);
	subnet_spec_clear(&spec->subnet);
	etcd_spec_free(spec->etcd);
	strv_free(spec->after_change);
	strv_free(spec->sources);
	strv_free(spec->foreign.pfs);
	free(spec->foreign.pfs_at);
	free(spec->reserved_cpus_at);
	free(spec->shared_cpus_at);
	free(spec);
}

int read_name_text(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct key line = *key;
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!isalnum((unsigned char)text[0]))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must begin with a letter or digit", text);
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			return reader_fail(r, value, key->name, -EINVAL,
				"'%.64s' is not allowed; it must be letters, digits, '-', '_', "
				"'.'", text);
	line.min = 1;
	return read_line(r, &line, value, object);
}

/* ---- partitions ---- */

struct entry {
	char *name;
	uint16_t pkey;
	unsigned membership;
	bool ipoib;
};

static void clear_entry(struct entry *e)
{
	free(e->name);
}

/* Without the membership bit, for which there is a separate key. */
static int read_pkey(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct entry *e = object;
	const char *text;
	char *end;
	unsigned long number;
	uint16_t pkey;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	number = strtoul(text, &end, 16);
	if (strchr(text, ':') || vfctl_pkey_parse(text, &pkey) < 0) {
		if (str_starts(text, "0x") && !*end && number > VFCTL_PKEY_FULL &&
			number <= 0xffff)
			return reader_fail(r, value, key->name, -EINVAL,
				"'%s' includes the membership bit; write 0x%04lx with membership: "
				"full", text, number & (VFCTL_PKEY_FULL - 1));
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not a P_Key; it must be 0x0001 to 0x7fff", text);
	}
	e->pkey = pkey & (VFCTL_PKEY_FULL - 1);
	return 0;
}

static const char *const membership_text[] = {"full", "limited", NULL};

#define E(member) offsetof(struct entry, member)
static const struct key partition_keys[] = {
	{"name", read_name_text, E(name), 0, VFCTL_ID_NAME_MAX, NULL},
	{"pkey", read_pkey, 0, 0, 0, NULL},
	{"membership", read_word, E(membership), 0, 0, membership_text},
	{"ipoib", read_switch, E(ipoib), 0, 0, NULL},
};

static const struct shape partition_shapes[] = {
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
	{.read = read_pkey, .kinds = SHAPE_TEXT, .pattern = "^0[xX][0-9A-Fa-f]{1,5}$"},
};
static const char *const partition_required[] = {"name", "pkey", NULL};
static const struct table partition_table = {partition_keys, ARRAY_SIZE(partition_keys),
	partition_shapes, ARRAY_SIZE(partition_shapes), .required = partition_required,
	.remedy = "a partition has a name and a pkey"};

static int check_partition(struct reader *r, const struct doc_node *node,
	const struct vfctl_host_spec *spec, const struct entry *e)
{
	for (size_t i = 0; i < spec->partition_count; i++) {
		const struct vfctl_partition *p = &spec->partitions[i];

		if (str_eq(p->name, e->name))
			return reader_fail(r, node, "name", -EINVAL,
				"partition %s is declared already", e->name);
		if (p->pkey == e->pkey)
			return reader_fail(r, node, "pkey", -EINVAL,
				"0x%04x already belongs to partition %s", e->pkey, p->name);
	}
	return 0;
}

static int read_partition(struct reader *r, const struct doc_node *node, void *object)
{
	_cleanup_(clear_entry) struct entry e = {0};
	struct vfctl_host_spec *spec = object;
	struct vfctl_partition *p;
	int error = reader_table(r, node, &partition_table, &e, NULL);

	if (error == 0)
		error = check_partition(r, node, spec, &e);
	if (error < 0)
		return error;
	if (!array_grow(spec->partitions, spec->partition_count))
		return ctx_oom(r->ctx);
	p = &spec->partitions[spec->partition_count++];
	*p = (struct vfctl_partition){.pkey = e.pkey, .full = e.membership == 0,
		.ipoib = e.ipoib};
	str_copy(p->name, sizeof(p->name), e.name);
	return 0;
}

int read_partitions(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, PARTITIONS_MAX, object, read_partition);
}

/* ---- the file ---- */

static const struct key after_change_keys[] = {
	{"command", read_lines, offsetof(struct vfctl_host_spec, after_change), 0, ARGUMENTS_MAX,
		NULL},
	{"timeout", read_milliseconds, offsetof(struct vfctl_host_spec, after_change_timeout_ms),
		100, 3600000, NULL},
};

static const char *const command_required[] = {"command", NULL};
static const struct table after_change_table = {after_change_keys, ARRAY_SIZE(after_change_keys),
	NULL, 0, .required = command_required, .remedy = "write [/path/to/program, argument, ...]"};

static int read_after_change(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct reader inner = {.ctx = r->ctx, .path = "after-change."};
	const struct doc_node *seen[ARRAY_SIZE(after_change_keys)] = {0};
	struct vfctl_host_spec *spec = object;
	int error = reader_table(&inner, value, &after_change_table, spec, seen);

	if (error < 0)
		return error;
	/* PATH is not searched: the command runs as root, also from a hook. */
	if (spec->after_change[0][0] != '/')
		return reader_fail(&inner, seen[0], "command", -EINVAL,
			"'%.200s' is not allowed; the program must be an absolute path",
			spec->after_change[0]);
	return 0;
}

struct file {
	struct vfctl_host_spec spec; /* first member: the rows fill it */
	char *host;
	unsigned store; /* 0: host, 1: etcd */
};

static const char *const store_text[] = {"host", "etcd", NULL};

enum { HOST, STORE, ETCD, RESERVED_CPUS, SHARED_CPUS, SHARED_RATIO };

static const char *const exposed_text[] = {"refuse", "allow", NULL};

static const struct key host_keys[] = {
	[HOST] = {"host", read_name_text, offsetof(struct file, host), 0, 64, NULL},
	[STORE] = {"store", read_word, offsetof(struct file, store), 0, 0, store_text},
	[ETCD] = {"etcd", read_etcd, 0, 0, 0, NULL},
	[RESERVED_CPUS] = {"reserved-cpus", read_host_cpus,
		offsetof(struct file, spec.reserved_cpus), 0, 0, NULL},
	[SHARED_CPUS] = {"shared-cpus", read_host_cpus,
		offsetof(struct file, spec.shared_cpus), 0, 0, NULL},
	[SHARED_RATIO] = {"shared-ratio", read_u32, offsetof(struct file, spec.shared_ratio),
		1, 64, NULL},
	{"reserved-memory", read_host_memory,
		offsetof(struct file, spec.reserved_memory_bytes), 0, RESERVED_MEMORY_MAX, NULL},
	{"typical", read_typical, 0, 0, 0, NULL},
	{"guid-pools", read_guid_pools, 0, 0, 0, NULL},
	{"mac-pools", read_mac_pools, 0, 0, 0, NULL},
	{"partitions", read_partitions, 0, 0, 0, NULL},
	{"hugepages", read_hugepages, 0, 0, 0, NULL},
	{"kernel", read_kernel, 0, 0, 0, NULL},
	{"profiles", read_profiles, 0, 0, 0, NULL},
	{"pfs", read_pfs, 0, 0, 0, NULL},
	{"lag", read_lags, 0, 0, 0, NULL},
	{"subnet-manager", read_subnet, 0, 0, 0, NULL},
	{"after-change", read_after_change, 0, 0, 0, NULL},
	{"foreign-domains", read_foreign, 0, 0, 0, NULL},
	{"hook", read_hook, 0, 0, 0, NULL},
	{"vfs-without-reset", read_exposed, 0, VFCTL_EXPOSED_RESET, 0, exposed_text},
	{"vfs-without-acs", read_exposed, 0, VFCTL_EXPOSED_ACS, 0, exposed_text},
};

static const char *const typical_text[] = {"default", NULL};
static const struct shape typical_shape = {.map = &typical_table};
static const struct shape pool_shape = {.map = &pool_table};
static const struct shape partition_shape = {.map = &partition_table};
static const struct shape page_shape = {.map = &page_table};
static const struct shape profile_shape = {.map = &profile_table};
static const struct shape pf_shape = {.map = &pf_table};
static const struct shape lag_shape = {.map = &lag_table};

static const struct shape host_shapes[] = {
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
	{.read = read_etcd, .map = &etcd_table},
	{.read = read_host_cpus, .kinds = SHAPE_TEXT},
	{.read = read_host_memory, .kinds = SHAPE_TEXT, .pattern = "^[0-9]+([KMGT](iB)?)?$"},
	{.read = read_typical, .choices = typical_text, .each = &typical_shape,
		.most = VFCTL_TYPICAL_MAX},
	{.read = read_guid_pools, .each = &pool_shape, .most = POOLS_MAX},
	{.read = read_mac_pools, .each = &pool_shape, .most = POOLS_MAX},
	{.read = read_partitions, .each = &partition_shape, .most = PARTITIONS_MAX},
	{.read = read_hugepages, .each = &page_shape, .most = VFCTL_HUGEPAGES_MAX},
	{.read = read_kernel, .map = &kernel_table},
	{.read = read_profiles, .each = &profile_shape, .most = 256},
	{.read = read_pfs, .each = &pf_shape, .most = PFS_MAX},
	{.read = read_lags, .each = &lag_shape, .most = LAGS_MAX},
	{.read = read_subnet, .map = &subnet_table},
	{.read = read_after_change, .map = &after_change_table},
	{.read = read_foreign, .choices = foreign_mode_text, .map = &foreign_table},
	{.read = read_hook, .map = &hook_table},
	{.read = read_exposed, .kinds = SHAPE_WORDS},
};
const struct table host_table = {host_keys, ARRAY_SIZE(host_keys), host_shapes,
	ARRAY_SIZE(host_shapes), .required = NULL};

static int check_cpus(struct reader *r, const struct vfctl_host_spec *spec,
	const struct doc_node *const *seen)
{
	struct vfctl_cpuset both = spec->reserved_cpus;
	char text[64];

	vfctl_cpuset_and(&both, &spec->shared_cpus);
	vfctl_cpuset_format(&both, text, sizeof(text));
	if (text[0])
		return reader_fail(r, seen[SHARED_CPUS], "shared-cpus", -EINVAL,
			"CPU %s is also in reserved-cpus; a CPU is either reserved for the host or "
			"shared by guests", text);
	if (seen[SHARED_RATIO] && vfctl_cpuset_empty(&spec->shared_cpus))
		return reader_fail(r, seen[SHARED_RATIO], "shared-ratio", -EINVAL,
			"it needs shared CPUs; add shared-cpus, or remove this key");
	return 0;
}

static int check_file(struct reader *r, const struct doc_node *root,
	const struct file *file, const struct doc_node *const *seen)
{
	if (file->store && !seen[ETCD])
		return reader_fail(r, seen[STORE], "store", -EINVAL,
			"etcd needs its endpoints; add etcd: with endpoints: [https://...]");
	if (!file->store && seen[ETCD])
		return reader_fail(r, seen[ETCD], "etcd", -EINVAL,
			"it is used only with store: etcd; add that, or remove this key");
	return check_cpus(r, &file->spec, seen);
}

static int note_place(struct reader *r, const struct doc_node *node, char **ret)
{
	if (!node)
		return 0;
	*ret = doc_at(node);
	return *ret ? 0 : ctx_oom(r->ctx);
}

static int read_file(struct reader *r, const struct doc_node *root, struct file *file)
{
	const struct doc_node *seen[ARRAY_SIZE(host_keys)] = {0};
	int error = reader_map(r, root, host_keys, ARRAY_SIZE(host_keys), file, seen);

	if (error == 0)
		error = check_file(r, root, file, seen);
	if (error == 0)
		error = note_place(r, seen[RESERVED_CPUS], &file->spec.reserved_cpus_at);
	if (error == 0)
		error = note_place(r, seen[SHARED_CPUS], &file->spec.shared_cpus_at);
	file->spec.reserved_stated = seen[RESERVED_CPUS] != NULL;
	if (error == 0 && file->host)
		str_copy(file->spec.host, sizeof(file->spec.host), file->host);
	return error;
}

static int read_root(struct vfctl_ctx *ctx, const struct doc_node *root,
	struct vfctl_host_spec **ret_spec)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = calloc(1, sizeof(*spec));
	struct reader r = {.ctx = ctx, .path = ""};
	struct file all = {.spec.after_change_timeout_ms = 30000,
		.spec.hook_timeout_ms = VFCTL_HOOK_TIMEOUT_MS};
	int error;

	if (!spec)
		return ctx_oom(ctx);
	error = read_file(&r, root, &all);
	*spec = all.spec; /* also what was read before a failure: it is freed here */
	free(all.host);
	if (error == 0)
		*ret_spec = steal(spec);
	return error;
}

int vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret_spec)
{
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	int error = doc_parse(ctx, file, text, len, VFCTL_HOST_FILE_MAX, &root);

	return error < 0 ? error : read_root(ctx, root, ret_spec);
}

int vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret_spec)
{
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	int error = count ? 0 : ctx_fail(ctx, -EINVAL, "the directory has no *.yaml file");

	for (size_t i = 0; i < count && error == 0; i++) {
		_cleanup_(doc_freep) struct doc_node *next = NULL;

		error = doc_parse(ctx, files[i].name, files[i].text, files[i].len,
			VFCTL_HOST_FILE_MAX, &next);
		if (error == 0 && root)
			error = doc_merge(ctx, root, next, reader_same_key);
		else if (error == 0)
			root = steal(next);
	}
	return error < 0 ? error : read_root(ctx, root, ret_spec);
}

/* ---- P_Keys by name ---- */
