/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_GRANT_H
#define VFCTL_HOOK_GRANT_H

#include "types/domain.h"
#include "types/lease.h"

/*
 * Decide what a starting domain gets. Users who may define domains in libvirt can write vfctl's
 * metadata, and need not be administrators of the host. Therefore the lease decides, and the
 * metadata may request less, never more (docs/explanation/security.md).
 */
struct grant_facts {
	const struct vfctl_host_spec *spec; /* NULL: nothing is declared */
	const struct vfctl_domain_intent *intent; /* the definition that libvirt starts */
	const struct vfctl_leases *leases;	  /* all leases of the host */
};

enum grant_source {
	GRANT_LEASE,   /* the values of the lease */
	GRANT_FOREIGN, /* not leased; host.yaml permits the domain to take it */
};

struct grant {
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX];
	enum grant_source sources[VFCTL_GUEST_VFS_MAX];
	size_t count;
};

/* The domain's lease if vfctl made it, not one that an earlier start made; or NULL. */
const struct vfctl_lease *grant_lease(const struct grant_facts *facts);

/*
 * Check that none of its devices is leased to another domain and, with foreign-domains: refuse,
 * that all its VFs are leased to it.
 * @return 0; -EBUSY with the owner's name; -EPERM.
 */
int grant_check_devices(struct vfctl_ctx *ctx, const struct grant_facts *facts);

/*
 * @return 0; -EPERM it requests more than it may have (the message has the difference); -EINVAL
 * libvirt would set other values than the leased ones because of its devices; -ENOENT a VF of its
 * metadata is not one of its devices.
 */
int grant_decide(struct vfctl_ctx *ctx, const struct grant_facts *facts, struct grant *ret);

/*
 * List the VFs among its devices that are neither leased nor in vfctl's metadata: libvirt sets
 * their MAC and VLAN by itself. @ret: those that get a MAC, freed by the caller.
 * @return 0; -EPERM one exceeds the limits of foreign-domains: free-vfs.
 */
int grant_list_plain(struct vfctl_ctx *ctx, const struct grant_facts *facts,
	struct vfctl_domain_vf **ret, size_t *ret_count);

#endif
