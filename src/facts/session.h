/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SESSION_H
#define VFCTL_FACTS_SESSION_H

#include <stdbool.h>

#include "facts/model/place.h"
#include "types/hostspec.h"
#include "types/hypervisor.h"
#include "vfctl/plan.h"
#include "vfctl/session.h"

struct vfctl_ctx;
struct vfctl_ids;

/** Zeroed: the host's own host.yaml, read only, without libvirt. */
struct session_options {
	const char *host_yaml; /**< NULL: /etc/vfctl/host.yaml, which need not exist */
	bool write; /**< changes will be made: pools are updated to match host.yaml */
	/**
	 * The function that opens libvirt: vfctl_libvirt_open(), or that of another hypervisor.
	 * NULL: libvirt is not used; then only vfctl's own leases are known, and domains cannot be
	 * defined.
	 */
	int (*connect)(struct vfctl_ctx *ctx, const char *uri,
		struct vfctl_hypervisor **ret_hypervisor);
	const char *uri; /**< for @ref connect; NULL: the system's libvirt */
};

/**
 * @param options  NULL: same as zeroed; borrowed during the call.
 * @param ret      closed with vfctl_session_close().
 * @return 0; or as vfctl_host_ids_open() and the opener of libvirt; -ENOMEM.
 */
int session_open(struct vfctl_ctx *ctx, const struct session_options *options,
	struct vfctl_session **ret);

/**
 * For vfctl_place(), vfctl_define_plan() and the like, filled in; owned by the session. The caller
 * may change the members.
 */
struct vfctl_place_options *session_place(struct vfctl_session *session);
/** The context with which it was opened. */
struct vfctl_ctx *session_ctx(struct vfctl_session *session);
/** The pools of host.yaml; NULL if it declares none. */
struct vfctl_ids *session_ids(struct vfctl_session *session);
/** The connection to libvirt; NULL if the session was opened without one. */
struct vfctl_hypervisor *session_hypervisor(struct vfctl_session *session);
/** Never NULL: if host.yaml does not exist, the spec is empty. */
const struct vfctl_host_spec *session_spec(const struct vfctl_session *session);

#endif
