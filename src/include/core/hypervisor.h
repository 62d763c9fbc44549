/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_HYPERVISOR_H
#define VFCTL_CORE_HYPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A domain as the hypervisor knows it. */
struct vfctl_domain_info {
	char *name;
	char uuid[37];
	bool active;
	bool persistent;
	char *xml; /**< of the running domain when it is active, else the defined one */
};

/** Where a device change applies; both may be set. */
enum {
	VFCTL_AFFECT_LIVE = 1 << 0,
	VFCTL_AFFECT_CONFIG = 1 << 1,
};

/** What may be dropped with a domain's definition; nothing is unless it is asked for. */
enum {
	VFCTL_DROP_NVRAM = 1 << 0,	  /**< the guest's firmware variables */
	VFCTL_DROP_MANAGED_SAVE = 1 << 1, /**< its saved memory */
	VFCTL_DROP_SNAPSHOTS = 1 << 2,	  /**< what libvirt knows of its snapshots */
};

/**
 * What the stories need of libvirt, as a table, so that libvfctl itself (and the hook)
 * links none of it. vfctl_libvirt_open() gives the real one. All calls return 0 or a
 * negative errno with words in the context.
 */
struct vfctl_hypervisor {
	/** In the form of virConnectGetLibVersion(): 11003000 is 11.3.0. */
	uint64_t version;
	/**
	 * Of another libvirt than the system's: changes to its domains are not kept in the
	 * journal, for whoever recovers them asks the system's. NULL: it is the system's.
	 */
	const char *uri;
	/** All domains. Freed with vfctl_domain_infos_free(). */
	int (*list)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
		struct vfctl_domain_info **ret_domains, size_t *ret_count);
	/** One, by name or UUID; @p config asks for the defined XML also when it runs. */
	int (*get)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
		bool config, struct vfctl_domain_info *ret_domain);
	/** Define with validation against the schema; -EEXIST for another domain's name. */
	int (*define)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *xml);
	/**
	 * @p drop says what goes with it, by VFCTL_DROP_ bits. NVRAM that is not named stays;
	 * -EBUSY when the domain has one of the others and it is not named.
	 */
	int (*undefine)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
		const char *uuid, unsigned drop);
	int (*attach)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
		const char *device_xml, unsigned affect);
	/**
	 * Take a device away. For a running domain waits until the guest let go of it.
	 * -ETIMEDOUT when it does not within @p timeout_ms.
	 */
	int (*detach)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
		const char *device_xml, unsigned affect, unsigned timeout_ms);
	/**
	 * Ask the guest agent of a running domain: @p command and *@p ret_answer (freed by the
	 * caller) are JSON, as qemu-ga(8) has it. -EOPNOTSUPP without an agent channel or with an agent
	 * that does not answer. NULL: this hypervisor knows none.
	 */
	int (*agent)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
		const char *command, unsigned timeout_s, char **ret_answer);
	void (*close)(struct vfctl_hypervisor *self);
	void *data;
};

/** NULL is allowed. */
static inline void vfctl_hypervisor_close(struct vfctl_hypervisor *hypervisor)
{
	if (hypervisor)
		hypervisor->close(hypervisor);
}
DEFINE_FREEP(struct vfctl_hypervisor, vfctl_hypervisor_close)

void vfctl_domain_info_clear(struct vfctl_domain_info *domain);
void vfctl_domain_infos_free(struct vfctl_domain_info *domains, size_t count);

/**
 * Connect to libvirt.
 * @param uri  NULL: qemu:///system.
 * @return 0; -ENOPKG when libvirt is not installed; -ECONNREFUSED.
 */
int vfctl_libvirt_open(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor);

#ifdef __cplusplus
}
#endif
#endif
