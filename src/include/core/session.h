/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_SESSION_H
#define VFCTL_CORE_SESSION_H

#include <stdbool.h>

#include "core/workflow.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero: the host's own host.yaml, for looking only, without libvirt. */
struct session_options {
	const char *host_yaml; /**< NULL: /etc/vfctl/host.yaml, which need not be there */
	bool write; /**< changes will be made: pools are brought to what host.yaml says */
	/** How libvirt is reached: vfctl_libvirt_open(), or another hypervisor's opener. NULL:
	 * not at all; then only our own leases are known, and nothing can be defined. */
	int (*connect)(struct vfctl_ctx *ctx, const char *uri,
		struct vfctl_hypervisor **ret_hypervisor);
	const char *uri; /**< for @ref connect; NULL: the system's */
};

/**
 * @param options  NULL: all zero; borrowed during the call.
 * @param ret      closed with vfctl_session_close().
 * @return 0; as vfctl_host_ids_open() and the opener of libvirt; -ENOMEM.
 */
int session_open(struct vfctl_ctx *ctx, const struct session_options *options,
	struct vfctl_session **ret);

/**
 * For vfctl_place(), vfctl_define_plan() and the like, filled in; owned by the session, and
 * the caller may change what is in it.
 */
struct vfctl_place_options *session_place(struct vfctl_session *session);
/** That it was opened with. */
struct vfctl_ctx *session_ctx(struct vfctl_session *session);
/** Of host.yaml; NULL: it declares no pools. */
struct vfctl_ids *session_ids(struct vfctl_session *session);
/** NULL: the session was opened without. */
struct vfctl_hypervisor *session_hypervisor(struct vfctl_session *session);
/** Never NULL: a host.yaml that is not there says nothing. */
const struct vfctl_host_spec *session_spec(const struct vfctl_session *session);

#ifdef __cplusplus
}
#endif
#endif
