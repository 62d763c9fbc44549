/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_RECORD_H
#define VFCTL_FLEET_RECORD_H

#include "base/ctx.h"
#include "fleet/etcd.h"

/* The keys and values in etcd, below the prefix (docs/explanation/fleet.md). */
#define FLEET_KEY 400

/* v1/id/KIND/0123456789abcdef: the owner of the value, as JSON. */
char *fleet_id_key(enum vfctl_id_kind kind, uint64_t value, char buf[FLEET_KEY]);
/* v1/owner/UUID/KIND/DEVICE or v1/owner/host:NAME/..: the value, sixteen hex digits. */
char *fleet_owner_key(enum vfctl_id_kind kind, const struct vfctl_id_owner *owner,
	char buf[FLEET_KEY]);
/*
 * v1/node/NAME: the host's instance and epoch, permanent; v1/host/NAME: exists as long as the host
 * reports; v1/pool/NAME: the definition of the pool.
 */
char *fleet_key(const char *what, const char *name, char buf[FLEET_KEY]);

#define FLEET_VALUE 17
char *fleet_value_text(uint64_t value, char buf[FLEET_VALUE]);
/* Read sixteen hex digits; false if the text is something else. */
bool fleet_value_read(const char *text, uint64_t *ret_value);
/* The value of an id key; false if the key is not one of that kind. */
bool fleet_id_of_key(enum vfctl_id_kind kind, const char *key, uint64_t *ret_value);

/* The record of @id; NULL if memory is exhausted. */
char *fleet_record_write(const struct vfctl_id *id);
/* -EBADMSG, naming the key, if it is not a record of vfctl. */
int fleet_record_read(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const char *text, size_t len, struct vfctl_id *ret);

/* A pool's definition as one line; NULL if memory is exhausted. */
char *fleet_pool_text(const struct vfctl_id_pool *pool);

#endif
