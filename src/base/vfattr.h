/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_VFATTR_H
#define VFCTL_BASE_VFATTR_H

#include "base/buf.h"
#include "core/vfattr.h"

/* So many groups of attributes at most, each of them one request to the kernel. */
#define ATTRS_MAX 32

/* Copy those of @bits that @from carries; the others of @to stay. */
void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits);
/* Which attributes both carry, with the same value. */
uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* Which members are the same, whatever the masks say. */
uint32_t attrs_same(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* Those with all of these flags; those of this type. */
uint32_t attrs_with(unsigned flags);
uint32_t attrs_of_type(enum vfctl_vf_attr_type type);
/* All that the kernel takes together with the first of @bits, and what that is called. */
uint32_t attrs_group(uint32_t bits, const char **ret_group);
/* Its key on the command line. */
const char *attr_key(uint32_t bit);
/* Why a domain without a lease may not have it unless it is at its default; NULL: host.yaml says. */
const char *attr_lease_only(uint32_t bit);
/* The safe defaults of those of @bits that have one. */
struct vfctl_vf_attrs attrs_safe(uint32_t bits);
/* Add "vlan=100 trust=on" of those of @bits that @attrs carries. */
void attrs_put(struct buf *out, const struct vfctl_vf_attrs *attrs, uint32_t bits);

#endif
