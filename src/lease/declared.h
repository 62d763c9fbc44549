/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_DECLARED_H
#define VFCTL_LEASE_DECLARED_H

#include "base/ctx.h"
#include "core/hostspec.h"
#include "core/inventory.h"

/*
 * The one PF that the entry means.
 * @return 0; -ENOENT none, -EEXIST several: the words say what would help; -EACCES.
 */
int declared_find(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf_spec *spec, const struct vfctl_pf **ret);
/* What the entry knows it by, in words: "ens1", "driver igb, serial 00-..". */
char *declared_words(const struct vfctl_pf_spec *spec);

#endif
