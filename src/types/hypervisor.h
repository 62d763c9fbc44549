/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_HYPERVISOR_H
#define VFCTL_TYPES_HYPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct vfctl_ctx;

/** A domain as the hypervisor reports it. */
struct vfctl_domain_info {
	char *name;
	char uuid[37];
	bool active;
	bool persistent;
	char *xml; /**< of the running domain if it is active, else of its definition */
};

/** Where a device change applies; both may be set. */
enum {
	VFCTL_AFFECT_LIVE = 1 << 0,
	VFCTL_AFFECT_CONFIG = 1 << 1,
};

/** What may be removed together with a domain's definition. Only what is requested is removed. */
enum {
	VFCTL_DROP_NVRAM = 1 << 0,	  /**< the guest's firmware variables */
	VFCTL_DROP_MANAGED_SAVE = 1 << 1, /**< its saved memory */
	VFCTL_DROP_SNAPSHOTS = 1 << 2,	  /**< libvirt's metadata of its snapshots */
};

/**
 * The functions of libvirt that plans need, as a table, so that libvfctl itself and the hook do not
 * link libvirt. vfctl_libvirt_open() provides the real one. All calls return 0 or a negative errno
 * with a message in the context.
 */
struct vfctl_hypervisor {
	/** In the form of virConnectGetLibVersion(): 11003000 is 11.3.0. */
	uint64_t version;
	/**
	 * The URI of a libvirt other than the system's: changes of its domains are not in the
	 * journal, because recovery connects to the system's libvirt. NULL: it is the system's.
	 */
	const char *uri;
	/** List all domains. Free the result with vfctl_domain_infos_free(). */
	int (*list)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
		struct vfctl_domain_info **ret_domains, size_t *ret_count);
	/**
	 * Get one domain by name or UUID. With @p config its XML is that of the definition even if
	 * it runs.
	 */
	int (*get)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
		bool config, struct vfctl_domain_info *ret_domain);
	/**
	 * Define a domain, validated against libvirt's schema; -EEXIST if another domain has its
	 * name.
	 */
	int (*define)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *xml);
	/**
	 * Undefine a domain. @p drop: VFCTL_DROP_ bits of what is removed too. NVRAM stays unless
	 * it is named; -EBUSY if the domain has one of the others and it is not named.
	 */
	int (*undefine)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
		const char *uuid, unsigned drop);
	int (*attach)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
		const char *device_xml, unsigned affect);
	/**
	 * Remove a device. For a running domain, wait until the guest has released it. -ETIMEDOUT
	 * if it does not within @p timeout_ms.
	 */
	int (*detach)(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
		const char *device_xml, unsigned affect, unsigned timeout_ms);
	/**
	 * Call the guest agent of a running domain. @p command and *@p ret_answer (freed by the
	 * caller) are JSON, see qemu-ga(8). -EOPNOTSUPP without an agent channel or if the agent
	 * does not answer. NULL: this hypervisor does not support agents.
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
 * Check that a URI names the libvirt of this host: everything else that vfctl reads and changes is
 * here.
 * @param uri  NULL: qemu:///system.
 * @return 0; -EINVAL for a URI with a host or a transport to one, and for an alias.
 */
int vfctl_libvirt_check_uri(struct vfctl_ctx *ctx, const char *uri);

#endif
