// SPDX-License-Identifier: GPL-2.0-or-later
/* The time limit of the hook, and what foreign domains may request. */
#include <errno.h>

#include "spec/host.h"

#define HOOK_TIMEOUT_MIN_MS 2000
#define HOOK_TIMEOUT_MAX_MS 120000
#define FOREIGN_PFS_MAX 64

#define F(member) offsetof(struct vfctl_foreign_spec, member)

const char *const foreign_mode_text[] = {
	[VFCTL_FOREIGN_LEASES_ONLY] = "leases-only",
	[VFCTL_FOREIGN_REFUSE] = "refuse",
	[VFCTL_FOREIGN_FREE_VFS] = "free-vfs",
	NULL,
};

/* "100-199,300": VLAN tags. 0, no tag, may always be requested. */
static int read_vlans(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_cpuset *vlans = (void *)((char *)object + key->offset);
	struct vfctl_cpuset set = {0};
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (vfctl_cpuset_parse(text, &set) < 0 || vfctl_cpuset_empty(&set) ||
		vfctl_cpuset_next(&set, VFCTL_VLAN_MAX + 1) >= 0)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be a list of VLANs of 0 to %d such as "
			"'100-199,300'", text, VFCTL_VLAN_MAX);
	*vlans = set;
	return 0;
}

/* With the units of the VFs' max-rate; at least 1 Mbit/s, as 0 would be no limit. */
static int read_rate(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_foreign_spec *f = object;
	struct vfctl_vf_attrs attrs = {0};
	int error = reader_attr(r, key, value, &attrs);

	if (error == 0 && !attrs.max_rate_mbps)
		return reader_fail(r, value, key->name, -EINVAL, "0 would be no limit; write a number of "
			"Mbit/s, or with its unit: 2500mbit, 10gbit");
	f->max_rate_mbps = attrs.max_rate_mbps;
	return error;
}

static int check_foreign(struct reader *r, const struct doc_node *node,
	const struct vfctl_foreign_spec *f, const struct doc_node *const *seen, size_t count)
{
	for (size_t i = 1; i < count && f->mode != VFCTL_FOREIGN_FREE_VFS; i++)
		if (seen[i])
			return reader_fail(r, seen[i], "allow", -EINVAL,
				"limits need allow: free-vfs; add that, or remove the limits");
	if (f->mode == VFCTL_FOREIGN_FREE_VFS && !f->pfs)
		return reader_fail(r, node, "pfs", -EINVAL,
			"the key is missing; name the PFs whose free VFs domains may use: pfs: [ens1]");
	return 0;
}

enum { FOREIGN_ALLOW, FOREIGN_PFS };

static const struct key foreign_keys[] = {
	[FOREIGN_ALLOW] = {"allow", read_word, F(mode), 0, 0, foreign_mode_text},
	[FOREIGN_PFS] = {"pfs", read_lines, F(pfs), 0, FOREIGN_PFS_MAX, NULL},
	{"vlans", read_vlans, F(vlans), 0, 0, NULL},
	{"max-rate", read_rate, 0, 0, 0, NULL},
	{"trust", read_switch, F(trust), 0, 0, NULL},
	{"spoofchk-off", read_switch, F(spoofchk_off), 0, 0, NULL},
};

static const struct shape foreign_shapes[] = {
	{.read = read_vlans, .kinds = SHAPE_TEXT},
	{.read = read_rate, .kinds = SHAPE_ATTR},
};
const struct table foreign_table = {foreign_keys, ARRAY_SIZE(foreign_keys), foreign_shapes,
	ARRAY_SIZE(foreign_shapes), .required = NULL};

int read_foreign(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct reader inner = {.ctx = r->ctx, .path = "foreign-domains."};
	const struct doc_node *seen[ARRAY_SIZE(foreign_keys)] = {0};
	struct vfctl_foreign_spec *f = &((struct vfctl_host_spec *)object)->foreign;
	const struct doc_node *none[ARRAY_SIZE(foreign_keys)] = {0};
	int error;

	/* "foreign-domains: refuse" needs no further keys. */
	if (value->kind == DOC_SCALAR) {
		const struct key word = {key->name, read_word, F(mode), 0, 0, foreign_mode_text};

		error = read_word(r, &word, value, f);
		return error < 0 ? error : check_foreign(r, value, f, none, ARRAY_SIZE(foreign_keys));
	}
	error = reader_map(&inner, value, foreign_keys, ARRAY_SIZE(foreign_keys), f, seen);
	if (error == 0 && seen[FOREIGN_PFS] && !(f->pfs_at = doc_at(seen[FOREIGN_PFS])))
		return ctx_oom(r->ctx);
	return error < 0 ? error : check_foreign(&inner, value, f, seen, ARRAY_SIZE(foreign_keys));
}

/* @min of the key is the bit of vfs_allowed. */
int read_exposed(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	unsigned *allowed = &((struct vfctl_host_spec *)object)->vfs_allowed;
	const struct key word = {key->name, read_word, 0, 0, 0, key->choices};
	unsigned chosen = 0;
	int error = read_word(r, &word, value, &chosen);

	if (error == 0 && chosen == 1)
		*allowed |= (unsigned)key->min;
	return error;
}

struct hook_keys {
	uint32_t timeout_ms;
	unsigned leased_vfs, duplicate_macs;
};

static const char *const refuse_text[] = {"refuse", "warn", NULL};
static const struct key hook_rows[] = {
	{"timeout", read_milliseconds, offsetof(struct hook_keys, timeout_ms), HOOK_TIMEOUT_MIN_MS,
		HOOK_TIMEOUT_MAX_MS, NULL},
	{"leased-vfs", read_word, offsetof(struct hook_keys, leased_vfs), 0, 0, refuse_text},
	{"duplicate-macs", read_word, offsetof(struct hook_keys, duplicate_macs), 0, 0, refuse_text},
};
const struct table hook_table = {hook_rows, ARRAY_SIZE(hook_rows), NULL, 0, .required = NULL};

int read_hook(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct reader inner = {.ctx = r->ctx, .path = "hook."};
	struct hook_keys hook = {.timeout_ms = VFCTL_HOOK_TIMEOUT_MS};
	struct vfctl_host_spec *spec = object;
	int error = reader_map(&inner, value, hook_rows, ARRAY_SIZE(hook_rows), &hook, NULL);

	spec->hook_timeout_ms = hook.timeout_ms;
	spec->leased_vfs_warn = hook.leased_vfs == 1;
	spec->duplicate_macs_warn = hook.duplicate_macs == 1;
	return error;
}
