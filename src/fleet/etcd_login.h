/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_ETCD_LOGIN_H
#define VFCTL_FLEET_ETCD_LOGIN_H

#include "base/buf.h"
#include "fleet/etcd.h"

/*
 * Add the request of /v3/auth/authenticate to @body: clear it after use. -EACCES: the password file
 * cannot be read, every user may read it, or it contains no password.
 */
int etcd_login_write(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec, struct buf *body);

#endif
