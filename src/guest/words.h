/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_WORDS_H
#define VFCTL_GUEST_WORDS_H

#include "core/workflow.h"

/*
 * A guest as its file asked for it, as far as its definition follows from that when it goes elsewhere:
 * vCPUs, memory, cells, nodes, kind of CPU, xml:, and of its VFs which PF, fabric, port, cell and
 * nearness. Who may define domains may have written that, so values that a VF has are not among it.
 * @lines  as domain/said.h has them.
 * @return 0; -EBADMSG it is no guest.
 */
int words_to_guest(struct vfctl_ctx *ctx, const char *lines, struct vfctl_guest **ret);

#endif
