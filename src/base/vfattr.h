/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_VFATTR_H
#define VFCTL_BASE_VFATTR_H

#include "base/buf.h"
#include "core/vfattr.h"

/* Largest number of groups of attributes; each group is one request to the kernel. */
#define ATTRS_MAX 32

/* Copy the attributes of @bits that @from contains; the others of @to are kept. */
void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits);
/* The attributes that both contain, with the same value. */
uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* The members that are equal, regardless of the masks. */
uint32_t attrs_same(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* The attributes with all of these flags; the attributes of this type. */
uint32_t attrs_with(unsigned flags);
uint32_t attrs_of_type(enum vfctl_vf_attr_type type);
/*
 * All attributes that the kernel sets together with the first of @bits, and the name of that group.
 */
uint32_t attrs_group(uint32_t bits, const char **ret_group);
/* The key on the command line. */
const char *attr_key(uint32_t bit);
/*
 * Why a domain without a lease may not have this attribute except at its default; NULL: host.yaml
 * decides.
 */
const char *attr_lease_only(uint32_t bit);
/* The safe defaults of those attributes in @bits that have one. */
struct vfctl_vf_attrs attrs_safe(uint32_t bits);
/* Append "vlan=100 trust=on" for the attributes of @bits that @attrs contains. */
void attrs_put(struct buf *out, const struct vfctl_vf_attrs *attrs, uint32_t bits);

#endif
