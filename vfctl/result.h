/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_RESULT_H
#define VFCTL_RESULT_H

#include "command.h"
#include "vfctl/snapshot.h"

/*
 * What a change was about, as it is afterwards: "vfs" and "domain" of its JSON answer. "vfs": all of
 * in->result_pf, else those that the operations of @change and in->result_vfs name. The host is read
 * again; what cannot be read is left out.
 */
void print_result_json(struct invocation *in, const struct vfctl_change *change);

/* "domains" of a batch: each of the @count names that has a lease. */
void print_domains_json(struct invocation *in, const char *const names[], size_t count);

/* "vfs" of one PF of several; @after NULL: it was not changed, and none are told. */
void print_pf_result(struct invocation *in, const struct vfctl_snapshot *after, const char *pf);

#endif
