/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_VFATTR_H
#define VFCTL_BASE_VFATTR_H

#include "base/buf.h"
#include "vfctl/vfattr.h"

/* Copy those of @bits that @from carries; the others of @to stay. */
void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits);
/* Which attributes both carry, with the same value. */
uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* Add "vlan=100 trust=on" of those of @bits that @attrs carries. */
void attrs_put(struct buf *out, const struct vfctl_vf_attrs *attrs, uint32_t bits);

#endif
