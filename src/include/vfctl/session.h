/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SESSION_H
#define VFCTL_SESSION_H

#include <stdbool.h>

#include "vfctl/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What guests are placed and defined with, opened by one call: host.yaml with its pools, and
 * libvirt. Owned by its opener, used by one thread.
 */
struct vfctl_session;

/** All zero: the host's own host.yaml, for looking only, without libvirt. */
struct vfctl_session_options {
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
int vfctl_session_open(struct vfctl_ctx *ctx, const struct vfctl_session_options *options,
	struct vfctl_session **ret);
/** After the last change made with it was freed. NULL is allowed. */
void vfctl_session_close(struct vfctl_session *session);

/**
 * For vfctl_place(), vfctl_define_plan() and the like, filled in; owned by the session, and
 * the caller may change what is in it.
 */
struct vfctl_place_options *vfctl_session_place(struct vfctl_session *session);
/** Of host.yaml; NULL: it declares no pools. */
struct vfctl_ids *vfctl_session_ids(struct vfctl_session *session);
/** NULL: the session was opened without. */
struct vfctl_hypervisor *vfctl_session_hypervisor(struct vfctl_session *session);
/** Never NULL: a host.yaml that is not there says nothing. */
const struct vfctl_host_spec *vfctl_session_spec(const struct vfctl_session *session);

#ifdef __cplusplus
}
#endif
#endif
