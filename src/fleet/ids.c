// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that only a fleet's pools have. */
#include "fleet/fleet.h"

#include <errno.h>

#include "ids/ids.h"
#include "fleet/store.h"

static int check_fleet(struct vfctl_ids *ids)
{
	if (id_etcd_is(ids->store))
		return 0;
	return ctx_fail(ids->ctx, -EOPNOTSUPP, "this host does not belong to a fleet; set store: etcd "
		"in host.yaml");
}

int vfctl_ids_sync(struct vfctl_ids *ids, bool adopt, struct vfctl_ids_sync *ret_sync)
{
	int r = check_fleet(ids);

	return r < 0 ? r : id_etcd_sync(ids->store, adopt, ret_sync);
}

int vfctl_ids_orphans(struct vfctl_ids *ids, struct vfctl_id **ret_ids, size_t *ret_count)
{
	int r = check_fleet(ids);

	return r < 0 ? r : id_etcd_orphans(ids->store, ret_ids, ret_count);
}

int vfctl_ids_reclaim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	bool force, struct vfctl_id *ret_id)
{
	int r = check_fleet(ids);

	return r < 0 ? r : id_etcd_reclaim(ids->store, kind, value, force, ret_id);
}

int vfctl_ids_forget_host(struct vfctl_ids *ids, const char *host, bool force)
{
	int r = check_fleet(ids);

	return r < 0 ? r : id_etcd_forget_host(ids->store, host, force);
}

int vfctl_ids_publish(struct vfctl_ids *ids, bool dry_run, size_t *ret_changed)
{
	int r = check_fleet(ids);

	return r < 0 ? r : id_etcd_publish(ids->store, dry_run, ret_changed);
}
