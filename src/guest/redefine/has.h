/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_HAS_H
#define VFCTL_GUEST_REDEFINE_HAS_H

#include "domain/domain.h"
#include "core/identity.h"
#include "core/topology.h"

/*
 * What a domain has, by its definition: for define again, move, adopt and rebuild, which decide from it
 * what the domain keeps and what it is leased.
 */
struct domain_has {
	struct vfctl_domain_intent intent;  /* its VFs and devices */
	struct vfctl_parsed_domain *parsed; /* its vCPUs, memory and controllers */
	struct vfctl_assignment *place;	    /* its CPUs and nodes */
	struct vfctl_guest *asked;	    /* its file, by the metadata; NULL: it is not known */
	bool asked_unread;		    /* .. for it cannot be read */
};

enum has_source {
	HAS_DEVICES,  /* intent, by the devices alone: the domain may be anybody's */
	HAS_METADATA, /* intent, by our metadata; -ENOENT without any */
	HAS_ALL,      /* intent by both, parsed and asked */
};

/* Fill @io, which is zero before. -EINVAL: the XML or its metadata is not valid. */
int domain_has_read(struct vfctl_ctx *ctx, const char *xml, enum has_source source,
	struct domain_has *io);
/* Fill in @io->place. -EINVAL: its pins or cells do not fit this host. */
int domain_has_place(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_topology *topology,
	struct domain_has *io);
void domain_has_clear(struct domain_has *has);

/* The GUID, or else the MAC, by which a pool knows a VF. False: it has neither. */
bool pool_value_of(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind *ret_kind, uint64_t *ret_value);

#endif
