// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the kind of a YAML file. */
#include "spec/kind.h"

#include <errno.h>

#include "spec/guest.h"
#include "spec/host.h"

/* The reader of plans is in vfctl-bench; these keys are required there. */
static const char *const bench_required[] = {"endpoints", "configurations", "tests"};

static bool bench_knows(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(bench_required); i++)
		if (str_eq(name, bench_required[i]))
			return true;
	return false;
}

static bool table_knows(const struct table *table, const char *name)
{
	struct key key;

	for (size_t i = 0; table_key(table, i, &key); i++)
		if (reader_same_key(key.name, name))
			return true;
	return false;
}

static bool knows(enum vfctl_spec_kind kind, const char *name)
{
	if (kind == VFCTL_SPEC_BENCH)
		return bench_knows(name);
	return table_knows(kind == VFCTL_SPEC_HOST ? &host_table : &guest_table, name);
}

static size_t count_known(enum vfctl_spec_kind kind, const struct doc_node *root)
{
	size_t count = 0;

	for (size_t i = 0; root->kind == DOC_MAP && i < root->count; i++)
		count += knows(kind, root->keys[i]->text);
	return count;
}

int vfctl_spec_kind(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	enum vfctl_spec_kind *ret)
{
	static const size_t max = VFCTL_GUEST_FILE_MAX > VFCTL_HOST_FILE_MAX ? VFCTL_GUEST_FILE_MAX
									      : VFCTL_HOST_FILE_MAX;
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	size_t best = 0, winners = 0;
	int r = doc_parse(ctx, file, text, len, max, &root);

	if (r < 0)
		return r;
	for (enum vfctl_spec_kind kind = VFCTL_SPEC_HOST; kind <= VFCTL_SPEC_BENCH; kind++) {
		size_t count = count_known(kind, root);

		winners = count > best ? 1 : winners + (best && count == best);
		if (count > best)
			*ret = kind;
		best = count > best ? count : best;
	}
	if (winners == 1)
		return 0;
	return ctx_fail(ctx, -ENOMSG, "%s: %s; name the kind: --kind host, guest or bench", file,
		best ? "its keys match two kinds of file" : "its keys are not those of a host.yaml, a "
								    "guest.yaml or a bench plan");
}
