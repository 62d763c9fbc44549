/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_GRANT_H
#define VFCTL_HOOK_GRANT_H

#include "core/domain.h"
#include "core/hostspec.h"
#include "core/lease.h"

/*
 * What a domain that starts gets. Whoever may define domains in libvirt writes our metadata,
 * and need not be the host's administrator: what was leased is the authority, and the
 * metadata may ask for less, never for more (docs/security.md).
 */
struct grant_facts {
	const struct vfctl_host_spec *spec; /* NULL: nothing is declared */
	const struct vfctl_domain_intent *intent; /* what libvirt starts */
	const struct vfctl_leases *leases;	  /* all of the host */
};

enum grant_source {
	GRANT_LEASE,	 /* leased with it */
	GRANT_OLD_LEASE, /* leased by an older vfctl, which did not keep with what */
	GRANT_FOREIGN,	 /* not leased; host.yaml lets the domain take it */
};

struct grant {
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX];
	enum grant_source sources[VFCTL_GUEST_VFS_MAX];
	size_t count;
};

/* The domain's lease that vfctl made, not one that an earlier start took; or NULL. */
const struct vfctl_lease *grant_lease(const struct grant_facts *facts);

/*
 * None of its devices is leased to another domain; with foreign-domains: refuse, all VFs
 * among them are leased to it.
 * @return 0; -EBUSY with the owner's name; -EPERM.
 */
int grant_check_devices(struct vfctl_ctx *ctx, const struct grant_facts *facts);

/*
 * @return 0; -EPERM it asks for more than it may have, with the difference; -EINVAL its
 * devices would have libvirt set something else than what was leased; -ENOENT a VF of its
 * metadata is none of its devices.
 */
int grant_decide(struct vfctl_ctx *ctx, const struct grant_facts *facts, struct grant *ret);

/*
 * VFs among its devices that are neither leased nor named by our metadata: libvirt gives them MAC and
 * VLAN by itself. @ret: those that get a MAC, freed by the caller.
 * @return 0; -EPERM one is beyond the limits of foreign-domains: free-vfs.
 */
int grant_list_plain(struct vfctl_ctx *ctx, const struct grant_facts *facts,
	struct vfctl_domain_vf **ret, size_t *ret_count);

#endif
