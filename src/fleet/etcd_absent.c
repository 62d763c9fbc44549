// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Used instead of etcd.c in a build without libcurl: no store can be opened, so nothing else is
 * called.
 */
#include <errno.h>

#include "fleet/etcd.h"

int etcd_open(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec, struct etcd **ret)
{
	return ctx_fail(ctx, -ENOPKG, "etcd: this vfctl was built without libcurl");
}

void etcd_close(struct etcd *c)
{
}

void etcd_begin(struct etcd *c)
{
}

bool etcd_is_away(int error)
{
	return error == -ENOPKG;
}

bool etcd_unsure(const struct etcd *c)
{
	return false;
}

const char *etcd_good_endpoint(const struct etcd *c)
{
	return NULL;
}

void etcd_prefer(struct etcd *c, const char *endpoint)
{
}

struct etcd_txn etcd_txn(const struct etcd *c)
{
	return (struct etcd_txn){0};
}

int etcd_commit(struct etcd *c, struct etcd_txn *t, struct etcd_answer *ret_answer)
{
	return -ENOPKG;
}

int etcd_lease_grant(struct etcd *c, uint32_t ttl_s, int64_t *ret_lease)
{
	return -ENOPKG;
}

int etcd_lease_renew(struct etcd *c, int64_t lease, int64_t *ret_ttl_s)
{
	return -ENOPKG;
}
