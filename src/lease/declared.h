/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_DECLARED_H
#define VFCTL_LEASE_DECLARED_H

#include "types/hostspec.h"
#include "types/inventory.h"

struct vfctl_ctx;

/**
 * Find the entry of a PF of @p inventory in host.yaml.
 * @param ret  owned by @p spec; NULL: no entry matches this PF alone.
 * @return 0; -ENOMEM.
 */
int vfctl_declared_entry(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_host_spec *spec, const struct vfctl_pf *pf,
	const struct vfctl_pf_spec **ret);

/*
 * Find the only PF that matches the entry.
 * @return 0; -ENOENT there is none, -EEXIST there are several (the message has a remedy); -EACCES.
 */
int declared_find(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret);
/* What identifies the PF in the entry, as text: "ens1", "driver igb, serial 00-..". */
char *declared_text(const struct vfctl_pf_spec *spec);

#endif
