/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PLAN_DRAFT_H
#define VFCTL_BENCH_PLAN_DRAFT_H

#include "bench/measure.h"

/*
 * A plan made from options, as the document of an equivalent file, so that the same tables read and
 * check it.
 */
struct plan_draft;

int plan_draft_new(struct vfctl_ctx *ctx, struct plan_draft **ret);
void plan_draft_free(struct plan_draft *draft); /* NULL is fine */
DEFINE_FREEP(struct plan_draft, plan_draft_free)
/*
 * Set a value at the path of keys, which ends with NULL: (d, "ens1", "endpoints", "client",
 * "device", NULL). The key "+" adds an entry to a list, "-" is its last one. @value NULL: an empty
 * mapping. vfctl_bench_open_draft() reports failures, such as a value that already exists.
 */
void plan_draft_put(struct plan_draft *draft, const char *value, ...) __attribute__((sentinel));

/* As vfctl_bench_open(). */
int vfctl_bench_open_draft(struct vfctl_ctx *ctx, const struct plan_draft *draft,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret_bench);

/* For measure.c: the document, and its YAML for the result directory; or the error. */
struct doc_node;
int plan_draft_read(struct vfctl_ctx *ctx, const struct plan_draft *draft,
	const struct doc_node **ret_root, char **ret_text);

#endif
