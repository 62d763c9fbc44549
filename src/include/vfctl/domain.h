/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_DOMAIN_H
#define LIBVFCTL_DOMAIN_H

#include "vfctl/context.h"
#include "vfctl/guest.h"
#include "vfctl/placement.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Domain XML: write it for a guest that is placed, and read a placement from it.
 */

/**
 * Write the libvirt domain XML of a guest that vfctl_place_guest() placed.
 * docs/reference/domain-xml.md explains each element.
 *
 * @param placed         the result of vfctl_place_guest().
 * @param template_name  domain XML to complete: a path, or the name of an installed template; NULL:
 *                       the guest's own template, or else a minimal built-in one.
 * @param ret_xml        receives the string; free() it.
 * @return 0; -ENOSPC: the guest does not fit; -ENOENT: there is no such template; -EINVAL: the
 * template is not domain XML or cannot be completed, the form of a VF cannot express its policy, or
 * the guest was placed on a model; -E2BIG: the template is too long; -EEXIST: the template already
 * contains one of the VFs; -ENOPKG: libxml2 is not installed.
 * @since 0.1
 */
int vfctl_placed_xml(const struct vfctl_placed *placed, const char *template_name, char **ret_xml);

/**
 * Read the placement from a domain XML, whether vfctl wrote it or not.
 *
 * @param xml    the domain XML, NUL-terminated.
 * @param model  model of the host, which tells the NUMA node of each CPU; NULL: the node of the
 *               memory is used instead.
 * @param ret    receives the placement; free it with vfctl_assignment_free().
 * @return 0; -EINVAL: it is not domain XML, or its vCPUs are not pinned in a form that an
 * assignment can express; -E2BIG: it is too long; -ENOPKG: libxml2 is not installed.
 * @since 0.1
 */
int vfctl_domain_read_placement(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_host_model *model, struct vfctl_assignment **ret);

/**
 * Free an assignment of vfctl_domain_read_placement(). Assignments of a struct vfctl_placed are
 * freed with that.
 *
 * @param assignment  may be NULL.
 * @since 0.1
 */
void vfctl_assignment_free(struct vfctl_assignment *assignment);

#ifdef __cplusplus
}
#endif
#endif
