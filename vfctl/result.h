/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_RESULT_H
#define VFCTL_RESULT_H

#include "answer.h"
#include "command.h"
#include "types/snapshot.h"

/*
 * The answers of changes. For a pointer to a struct vfctl_change; with answer_steps it may be NULL.
 */
extern const struct member answer_steps[], answer_operations[];

/*
 * The objects of a change in their state afterwards: all VFs of in->result_pf, else those that the
 * operations of @change and in->result_vfs name; and in->result_domain.
 */
struct change_result {
	struct invocation *in;
	const struct vfctl_change *change;
	struct vfctl_snapshot *snapshot; /* freed by the caller */
	bool has_domain;
};
extern const struct member answer_change_result[];
/* Read the host again. Negative: the change concerns no object, or the host cannot be read. */
int change_result_read(struct invocation *in, const struct vfctl_change *change,
	struct change_result *ret);

/* For a batch: each of the @count names that has a lease. */
struct domains_result {
	const struct vfctl_snapshot *snapshot;
	const char *const *names;
	size_t count;
};
extern const struct member answer_domains[], answer_domain[];

/* One of several PFs; @after NULL: it was not changed, and no VFs are shown. */
struct pf_result {
	struct invocation *in;
	const struct vfctl_snapshot *after;
	const char *pf;
};
extern const struct member answer_pf_result[];

#endif
