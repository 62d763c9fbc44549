/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_LEASE_TEXT_H
#define VFCTL_LEASE_LEASE_TEXT_H

#include "base/ctx.h"
#include "core/lease.h"

/*
 * Leases as an operation has them: the id, a space, and all that the lease is as JSON. An older
 * vfctl wrote the id alone.
 */
struct lease_text {
	struct vfctl_lease lease; /* id, name, cells and VFs too are owned here */
};
void lease_text_clear(struct lease_text *text);

/* NULL: out of memory. */
char *lease_to_text(const struct vfctl_lease *lease);
/* -EBADMSG when it is no such text. */
int lease_from_text(struct vfctl_ctx *ctx, const char *text, struct lease_text *ret);

/* The same for one VF that lease @id gets; @running: its domain runs with it from now on. */
char *lease_vf_to_text(const char *id, const struct vfctl_lease_vf *vf, bool running);
int lease_vf_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease_vf *ret,
	bool *ret_running);

/* Its CPUs, memory and cells alone, as JSON; NULL: out of memory. */
char *lease_shape_to_text(const struct vfctl_lease *lease);
/* Cells are owned by @ret, as lease_clear() frees them. -EBADMSG when it is no such text. */
int lease_shape_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease *ret);

/* Does it begin with this id? */
bool lease_text_is(const char *text, const char *id);

#endif
