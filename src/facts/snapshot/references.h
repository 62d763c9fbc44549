/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_REFERENCES_H
#define VFCTL_FACTS_SNAPSHOT_REFERENCES_H

#include "base/ctx.h"
#include "types/domain.h"

/*
 * The function of this host that a domain names without <hostdev>: a VF by its network device
 * (macvtap), a function by its vDPA device or by QEMU's arguments. -ENOENT: the device is absent
 * now, or is not a VF; also for a libvirt network, which is a pool.
 */
int reference_function(struct vfctl_ctx *ctx, const struct vfctl_reference *ref,
	struct vfctl_bdf *ret);
/* Whether QEMU gets the whole function, as with <hostdev>. */
bool reference_passes_through(enum vfctl_reference_form form);
/* "macvtap interface", "vDPA interface", "QEMU argument", "interface of a network". */
const char *reference_form_text(enum vfctl_reference_form form);

/* A libvirt network that gives VFs to its domains. */
struct known_pool {
	char name[256];
	struct vfctl_bdf *functions; /* VFs, and PFs all of whose VFs it gives */
	size_t count;
	bool active;	/* libvirt runs it now */
	bool autostart; /* libvirt starts it when the host boots */
};

/*
 * The pools of this host's libvirt, from its files. What cannot be read is recorded for
 * host_take_unread(). -ENOMEM; -ENOPKG without libxml2, only if there may be a pool.
 */
int known_pools_read(struct vfctl_ctx *ctx, struct known_pool **io, size_t *io_count);
void known_pools_free(struct known_pool *pools, size_t count);
bool known_pool_has(const struct known_pool *pool, const struct vfctl_bdf *pf,
	const struct vfctl_bdf *vf);

#endif
