/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_STORE_H
#define VFCTL_FLEET_STORE_H

#include "fleet/fleet.h"
#include "ids/store.h"

/*
 * Open the fleet's pools, without network traffic. @local keeps the values of this host for times
 * when etcd is unreachable; on success the result owns it.
 */
int id_etcd_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct id_store *local, struct id_store **ret);

/*
 * Whether id_etcd_open() opened this store. The functions below accept only such a store; see
 * fleet/fleet.h.
 */
bool id_etcd_is(const struct id_store *s);
int id_etcd_sync(struct id_store *s, bool adopt, struct vfctl_ids_sync *ret);
int id_etcd_orphans(struct id_store *s, struct vfctl_id **ret_ids, size_t *ret_count);
int id_etcd_reclaim(struct id_store *s, enum vfctl_id_kind kind, uint64_t value, bool force,
	struct vfctl_id *ret);
/* The host's registration is deleted too if it has no values left. */
int id_etcd_forget_host(struct id_store *s, const char *host, bool force);
int id_etcd_publish(struct id_store *s, bool dry_run, size_t *ret_changed);

#endif
