// SPDX-License-Identifier: GPL-2.0-or-later
/* The resources that are reserved for the host, and the CPUs that guests share. */
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "spec/host.h"

#define AT(type) ((type *)((char *)object + key->offset))

int read_host_cpus(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_cpuset set = {0};
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (!str_eq(text, "none") &&
		(vfctl_cpuset_parse(text, &set) < 0 || vfctl_cpuset_empty(&set)))
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a list of CPUs below %d such as "
			"'0-1,64', or none", text, VFCTL_CPU_MAX);
	*AT(struct vfctl_cpuset) = set;
	return 0;
}

int read_host_memory(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text;
	uint64_t bytes;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (parse_size(text, &bytes) < 0 || bytes > key->max)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a size such as 2GiB, at most "
			"%" PRIu64 "TiB", text, key->max >> 40);
	*AT(uint64_t) = bytes;
	return 0;
}

/* ---- guests that are expected next ---- */

#define T(member) offsetof(struct vfctl_typical, member)
static const struct key typical_keys[] = {
	{"vcpus", read_u32, T(vcpus), 1, VFCTL_VCPU_MAX, NULL},
	{"cells", read_u32, T(cells), 1, VFCTL_CELLS_MAX, NULL},
	{"vfs", read_u32, T(vfs), 0, VFCTL_GUEST_VFS_MAX, NULL},
	{"share", read_u32, T(share), 1, 1000, NULL},
};

static const char *const typical_required[] = {"vcpus", NULL};
const struct table typical_table = {typical_keys, ARRAY_SIZE(typical_keys), NULL, 0,
	.required = typical_required, .remedy = "state the number of vCPUs of such a guest"};

static int read_typical_guest(struct reader *r, const struct doc_node *node, void *object)
{
	struct vfctl_typical t = {.cells = 1, .share = 1};
	struct vfctl_host_spec *spec = object;
	int error = reader_table(r, node, &typical_table, &t, NULL);

	if (error < 0)
		return error;
	if (t.vcpus % t.cells)
		return reader_fail(r, node, "cells", -EINVAL,
			"%u vCPUs cannot be divided equally into %u cells", t.vcpus, t.cells);
	spec->typical[spec->typical_count++] = t;
	return 0;
}

int read_typical(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	if (value->kind != DOC_SCALAR)
		return reader_each(r, key, value, VFCTL_TYPICAL_MAX, object, read_typical_guest);
	if (!str_eq(value->text, "default"))
		return reader_fail(r, value, key->name, -EINVAL, "'%.64s' is not allowed; it must be "
			"a list of guests, or default", value->text);
	return 0;
}
