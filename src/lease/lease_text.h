/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_LEASE_TEXT_H
#define VFCTL_LEASE_LEASE_TEXT_H

#include "base/buf.h"
#include "base/ctx.h"
#include "types/lease.h"

/* A lease in the form of an operation: the id, a space, and the whole lease as JSON. */
struct lease_text {
	struct vfctl_lease lease; /* also owns id, name, cells and VFs */
};
void lease_text_clear(struct lease_text *text);

/* NULL if memory is exhausted. */
char *lease_to_text(const struct vfctl_lease *lease);
/* -EBADMSG if it is not a valid text. */
int lease_from_text(struct vfctl_ctx *ctx, const char *text, struct lease_text *ret);

/*
 * The same for one VF that is added to lease @id; @running: its domain has it in its run from now
 * on.
 */
char *lease_vf_to_text(const char *id, const struct vfctl_lease_vf *vf, bool running);
int lease_vf_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease_vf *ret,
	bool *ret_running);

/* Only its CPUs, memory and cells, as JSON; NULL if memory is exhausted. */
char *lease_shape_to_text(const struct vfctl_lease *lease);
/* @ret owns the cells; lease_clear() frees them. -EBADMSG if it is not a valid text. */
int lease_shape_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease *ret);

/* Append "1024 MiB of node 0 and 2048 MiB of node 1"; nothing without cells. */
void lease_put_memory(const struct vfctl_lease *lease, struct buf *text);
/* Append ", CPU 5 for QEMU's threads (shared with other guests),"; nothing if it has none. */
void lease_put_qemu(const struct vfctl_lease *lease, struct buf *text);

/* Whether the text begins with this id. */
bool lease_text_is(const char *text, const char *id);

#endif
