// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings of the host as a whole: huge pages, kernel settings, limits. */
#include <ctype.h>
#include <errno.h>

#include "base/parse.h"
#include "spec/host.h"

#define NODE_MAX 1023
#define PAGE_MAX (UINT64_C(1) << 34) /* the largest of any CPU: 16 GiB */
#define MODULES_MAX 64
#define BUSY_POLL_MAX_US 1000
#define MEMLOCK_MIN (UINT64_C(64) << 10)
#define MEMLOCK_MAX (UINT64_C(1) << 50)

/* ---- hugepages ---- */

#define P(member) offsetof(struct vfctl_hugepages, member)

static int read_page_size(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_hugepages *h = object;
	const char *text;
	uint64_t bytes;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	/* A power of two of at least 64 KiB, as CPUs have. */
	if (parse_size(text, &bytes) < 0 || bytes < (64 << 10) || bytes > PAGE_MAX || bytes & (bytes - 1))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not a page size; on x86 it is 2MiB or 1GiB", text);
	h->size_bytes = bytes;
	return 0;
}

static const struct key page_keys[] = {
	{"node", read_u32, P(node), 0, NODE_MAX, NULL},
	{"size", read_page_size, 0, 0, 0, NULL},
	{"count", read_u32, P(count), 0, INT32_MAX, NULL},
};
static const struct shape page_shapes[] = {
	{.read = read_page_size, .kinds = SHAPE_TEXT, .pattern = "^[0-9]+([KMGT](iB)?)?$"},
};
static const char *const page_required[] = {"node", "size", "count", NULL};
const struct table page_table = {page_keys, ARRAY_SIZE(page_keys), page_shapes,
	ARRAY_SIZE(page_shapes), .required = page_required,
	.remedy = "write {node: 0, size: 1GiB, count: 8}"};

static int read_pages(struct reader *r, const struct doc_node *node, void *object)
{
	struct vfctl_host_spec *spec = object;
	struct vfctl_hugepages h = {0};
	int error = reader_table(r, node, &page_table, &h, NULL);

	for (size_t i = 0; error == 0 && i < spec->hugepages_count; i++)
		if (spec->hugepages[i].node == h.node && spec->hugepages[i].size_bytes == h.size_bytes)
			error = reader_fail(r, node, "node", -EEXIST,
				"pages of that size on node %u are stated twice", h.node);
	if (error == 0)
		spec->hugepages[spec->hugepages_count++] = h;
	return error;
}

int read_hugepages(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, VFCTL_HUGEPAGES_MAX, object, read_pages);
}

/* ---- kernel ---- */

#define K(member) offsetof(struct vfctl_kernel_spec, member)

static int read_modules(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_kernel_spec *k = object;
	int error = read_lines(r, key, value, object);

	for (size_t i = 0; error == 0 && k->modules[i]; i++)
		for (const char *c = k->modules[i]; *c; c++)
			if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
				return reader_fail(r, value, key->name, -EINVAL,
					"'%.64s' is not the name of a module", k->modules[i]);
	return error;
}

static int read_memlock(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_kernel_spec *k = object;
	const char *text;
	uint64_t bytes = VFCTL_MEMLOCK_UNLIMITED;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!str_eq(text, "unlimited") &&
		(parse_size(text, &bytes) < 0 || bytes < MEMLOCK_MIN || bytes > MEMLOCK_MAX))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a size such as 64GiB, or unlimited", text);
	k->memlock_bytes = bytes;
	return 0;
}

static const char *const transparent_text[] = {"always", "madvise", "never", NULL};

enum { NUMA, TRANSPARENT, BUSY_POLL, GOVERNOR, CPU_LATENCY, MODULES, MEMLOCK, GROUP, ALL_USERS };

static const struct key kernel_keys[] = {
	[NUMA] = {"numa-balancing", read_switch, K(numa_balancing), 0, 0, NULL},
	[TRANSPARENT] = {"transparent-hugepages", read_word_text, K(transparent_hugepages), 0, 0,
		transparent_text},
	[BUSY_POLL] = {"busy-poll-us", read_u32, K(busy_poll_us), 0, BUSY_POLL_MAX_US, NULL},
	[GOVERNOR] = {"governor", read_name_text, K(governor), 0, VFCTL_GOVERNOR_MAX - 1, NULL},
	[CPU_LATENCY] = {"cpu-latency-us", read_u32, K(cpu_latency_us), 0,
		VFCTL_CPU_LATENCY_MAX_US, NULL},
	[MODULES] = {"modules", read_modules, K(modules), 0, MODULES_MAX, NULL},
	[MEMLOCK] = {"memlock", read_memlock, 0, 0, 0, NULL},
	[GROUP] = {"memlock-group", read_name_text, K(memlock_group), 0, 31, NULL},
	[ALL_USERS] = {"memlock-all-users", read_switch, K(memlock_all_users), 0, 0, NULL},
};
static const struct shape module_shape = {.kinds = SHAPE_TEXT, .pattern = "^[A-Za-z0-9_-]+$"};
static const struct shape kernel_shapes[] = {
	{.read = read_modules, .kinds = SHAPE_FILLED, .each = &module_shape, .most = MODULES_MAX},
	{.read = read_memlock, .kinds = SHAPE_TEXT, .pattern = "^([0-9]+([KMGT](iB)?)?|unlimited)$"},
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
};
const struct table kernel_table = {kernel_keys, ARRAY_SIZE(kernel_keys), kernel_shapes,
	ARRAY_SIZE(kernel_shapes), .required = NULL};

int read_kernel(struct reader *r, const struct key *key, const struct doc_node *value, void *object)
{
	const struct doc_node *seen[ARRAY_SIZE(kernel_keys)] = {0};
	struct vfctl_kernel_spec *k = &((struct vfctl_host_spec *)object)->kernel;
	struct reader inner = {.ctx = r->ctx, .path = "kernel."};
	int error = reader_map(&inner, value, kernel_keys, ARRAY_SIZE(kernel_keys), k, seen);

	k->numa_balancing_stated = seen[NUMA];
	k->busy_poll_stated = seen[BUSY_POLL];
	k->cpu_latency_stated = seen[CPU_LATENCY];
	if (error == 0 && seen[GROUP] && !seen[MEMLOCK])
		error = reader_fail(&inner, seen[GROUP], "memlock-group", -EINVAL,
			"the limit of its members is missing; add memlock:");
	if (error == 0 && seen[ALL_USERS] && !seen[MEMLOCK])
		error = reader_fail(&inner, seen[ALL_USERS], "memlock-all-users", -EINVAL,
			"the limit is missing; add memlock:");
	return error;
}

void kernel_spec_clear(struct vfctl_kernel_spec *k)
{
	free(k->transparent_hugepages);
	free(k->governor);
	strv_free(k->modules);
	free(k->memlock_group);
}
