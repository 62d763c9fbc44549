// SPDX-License-Identifier: GPL-2.0-or-later
/* Ports of a card that its VFs use as one port (VF-LAG). */
#include <errno.h>

#include "spec/host.h"

void lag_spec_clear(struct vfctl_lag_spec *lag)
{
	free(lag->file);
	free(lag->bond);
	free(lag->mode);
	strv_free(lag->pfs);
}

#define L(member) offsetof(struct vfctl_lag_spec, member)

/* The modes for which drivers support VF-LAG (mlx5: lag/lag.c; ice supports only the first one). */
static const char *const mode_text[] = {"active-backup", "balance-xor", "802.3ad", NULL};

static const struct key lag_keys[] = {
	{"bond", read_name_text, L(bond), 1, 15, NULL},
	{"mode", read_word_text, L(mode), 0, 0, mode_text},
	{"pfs", read_lines, L(pfs), 0, 2, NULL},
};
static const struct shape lag_shapes[] = {
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
};
static const char *const lag_required[] = {"bond", "mode", "pfs", NULL};
const struct table lag_table = {lag_keys, ARRAY_SIZE(lag_keys), lag_shapes, ARRAY_SIZE(lag_shapes),
	.required = lag_required,
	.remedy = "write {bond: bond0, mode: 802.3ad, pfs: [ens1f0, ens1f1]}"};

/* A port may be in only one bond. */
static int check_twice(struct reader *r, const struct vfctl_host_spec *spec,
	const struct vfctl_lag_spec *lag, const struct doc_node *const *seen)
{
	int error = 0;

	for (const struct vfctl_lag_spec *other = spec->lags; error == 0 && other < lag; other++) {
		if (str_eq(other->bond, lag->bond))
			error = reader_fail(r, seen[0], "bond", -EEXIST, "the bond is declared twice");
		for (size_t i = 0; error == 0 && i < 4; i++)
			if (str_eq(other->pfs[i / 2], lag->pfs[i % 2]))
				error = reader_fail(r, seen[2]->items[i % 2], "pfs", -EEXIST, "%s is "
					"also in bond %s; a PF can be a port of only one "
					"bond", lag->pfs[i % 2],
					other->bond);
	}
	return error;
}

static int read_lag(struct reader *r, const struct doc_node *node, void *object)
{
	const struct doc_node *seen[ARRAY_SIZE(lag_keys)] = {0};
	struct vfctl_host_spec *spec = object;
	struct vfctl_lag_spec *lag;
	int error;

	if (!array_grow(spec->lags, spec->lag_count))
		return ctx_oom(r->ctx);
	lag = &spec->lags[spec->lag_count++];
	*lag = (struct vfctl_lag_spec){.line = node->line, .column = node->column,
		.file = strdup(node->file)};
	if (!lag->file)
		return ctx_oom(r->ctx);
	error = reader_table(r, node, &lag_table, lag, seen);
	if (error == 0 && strlen(lag->bond) > 15)
		error = reader_fail(r, seen[0], "bond", -EINVAL,
			"a network device's name has 15 characters at "
			"most");
	if (error == 0 && (strv_len(lag->pfs) != 2 || str_eq(lag->pfs[0], lag->pfs[1])))
		error = reader_fail(r, seen[2], "pfs", -EINVAL,
			"it must name two PFs, the ports of one card");
	return error < 0 ? error : check_twice(r, spec, lag, seen);
}

int read_lags(struct reader *r, const struct key *key, const struct doc_node *value, void *object)
{
	return reader_each(r, key, value, LAGS_MAX, object, read_lag);
}
