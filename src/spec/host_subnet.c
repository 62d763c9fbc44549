// SPDX-License-Identifier: GPL-2.0-or-later
/* The subnet manager of the InfiniBand fabric: on this host, or elsewhere. */
#include <errno.h>

#include "spec/host.h"

#define S(member) offsetof(struct vfctl_subnet_spec, member)

static const char *const where_text[] = {
	[VFCTL_SUBNET_UNSTATED] = "",
	[VFCTL_SUBNET_HERE] = "here",
	[VFCTL_SUBNET_ELSEWHERE] = "elsewhere",
	NULL,
};

enum { RUNS, PRIORITY, VIRTUALIZATION };

static int read_where(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const struct key word = {key->name, read_word, 0, 0, 0, where_text + VFCTL_SUBNET_HERE};
	struct vfctl_subnet_spec *s = object;
	unsigned at;
	int error = read_word(r, &word, value, &at);

	if (error == 0)
		s->runs = VFCTL_SUBNET_HERE + at;
	return error;
}

static const struct key subnet_keys[] = {
	[RUNS] = {"runs", read_where, 0, 0, 0, NULL},
	[PRIORITY] = {"priority", read_u32, S(priority), 0, VFCTL_SM_PRIORITY_MAX, NULL},
	[VIRTUALIZATION] = {"virtualization", read_switch, S(virtualization), 0, 0, NULL},
	{"rules", read_path, S(rules), 0, 0, NULL},
	{"directory", read_path, S(directory), 0, 0, NULL},
};
static const struct shape subnet_shapes[] = {
	{.read = read_where, .choices = where_text + VFCTL_SUBNET_HERE},
};
static const char *const subnet_required[] = {"runs", NULL};
const struct table subnet_table = {subnet_keys, ARRAY_SIZE(subnet_keys), subnet_shapes,
	ARRAY_SIZE(subnet_shapes), .required = subnet_required,
	.remedy = "write here (OpenSM on this host) or elsewhere"};

int read_subnet(struct reader *r, const struct key *key, const struct doc_node *value, void *object)
{
	struct reader inner = {.ctx = r->ctx, .path = "subnet-manager."};
	const struct doc_node *seen[ARRAY_SIZE(subnet_keys)] = {0};
	struct vfctl_subnet_spec *s = &((struct vfctl_host_spec *)object)->subnet;
	int error = reader_table(&inner, value, &subnet_table, s, seen);

	if (error < 0)
		return error;
	s->priority_stated = seen[PRIORITY];
	s->virtualization_stated = seen[VIRTUALIZATION];
	for (size_t i = PRIORITY; i < ARRAY_SIZE(subnet_keys) && s->runs == VFCTL_SUBNET_ELSEWHERE; i++)
		if (seen[i])
			return reader_fail(&inner, seen[i], subnet_keys[i].name, -EINVAL,
				"it needs runs: here; for a subnet manager elsewhere, remove this key");
	return 0;
}

void subnet_spec_clear(struct vfctl_subnet_spec *s)
{
	free(s->rules);
	free(s->directory);
}
