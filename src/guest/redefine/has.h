/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_HAS_H
#define VFCTL_GUEST_REDEFINE_HAS_H

#include "domain/domain.h"

/*
 * The contents of a domain's definition. define (of an existing domain), move, adopt and rebuild
 * decide from it what the domain keeps and what is leased to it.
 */
struct domain_has {
	struct vfctl_domain_intent intent;  /* its VFs and devices */
	struct vfctl_parsed_domain *parsed; /* its vCPUs, memory and controllers */
	struct vfctl_assignment *place;	    /* its CPUs and nodes */
	struct vfctl_guest *asked;	    /* its file, from the metadata; NULL: not known */
	bool asked_unread;		    /* because it cannot be read */
};

enum has_source {
	HAS_DEVICES,  /* intent, from the devices only: any tool may have defined the domain */
	HAS_METADATA, /* intent, from vfctl's metadata; -ENOENT without any */
	HAS_ALL,      /* intent from both, parsed and asked */
};

/* Fill in @io, which must be zeroed. -EINVAL: the XML or its metadata is not valid. */
int domain_has_read(struct vfctl_ctx *ctx, const char *xml, enum has_source source,
	struct domain_has *io);
/* Fill in @io->place. -EINVAL: its pins or cells do not fit this host. */
int domain_has_place(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_topology *topology,
	struct domain_has *io);
void domain_has_clear(struct domain_has *has);

/* The GUID, or else the MAC, under which a pool has a VF. False: it has neither. */
bool pool_value_of(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind *ret_kind,
	uint64_t *ret_value);

#endif
