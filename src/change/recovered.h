/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_RECOVERED_H
#define VFCTL_CHANGE_RECOVERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/hypervisor.h"
#include "vfctl/recover.h"

struct vfctl_ctx;

/** The outcome, or the expected outcome, of a change that was found open. */
enum vfctl_recovered {
	VFCTL_RECOVERED_GOES_ON,  /**< its process is alive: not recovered */
	VFCTL_RECOVERED_DONE,     /**< all steps are done: it is only closed */
	VFCTL_RECOVERED_UNDONE,   /**< rolled back: the host is as before the change */
	VFCTL_RECOVERED_REBOOTED, /**< the host rebooted since, and none of its effects is left */
	VFCTL_RECOVERED_ACCEPTED, /**< closed without changing the host, as requested */
	VFCTL_RECOVERED_FAILED,   /**< it could be neither finished nor rolled back: it stays open */
	VFCTL_RECOVERED_UNPLUGGED, /**< its PF is absent, and none of its effects is left */
	VFCTL_RECOVERED_FINISHED, /**< it could no longer be rolled back: it was finished */
	VFCTL_RECOVERED_WAITS,    /**< a change of a guest, which needs libvirt, but libvirt is
				       not connected */
};

/**
 * A change of the journal, or what vfctl monitor --bridge added before it was killed. All texts are
 * owned by the recovery.
 */
struct vfctl_recovered_change {
	int64_t id;	   /**< number in the journal, higher for later changes; 0: not there */
	const char *story; /**< "create ens1 4" */
	int64_t pid;	   /**< the process that began it */
	int64_t begun;	   /**< when it began, in seconds since the epoch */
	enum vfctl_recovered outcome;
	const char *error; /**< why the recovery failed, as text; NULL if it did not */
	const char *const *steps; /**< the steps to roll back, the last first */
	size_t step_count; /**< 0 unless it is UNDONE or FAILED */
};

/** All changes that were found open, the latest first. */
struct vfctl_recovery {
	struct vfctl_recovered_change *changes;
	size_t count;
};

struct vfctl_recover_options {
	bool dry_run; /**< only report what would be done */
	bool accept;  /**< leave the host as it is, and close the changes */
	/**
	 * Open the system's libvirt, such as vfctl_libvirt_open() without a URI. Called for the
	 * first change of a guest; the connection is closed before the recovery returns. NULL:
	 * these changes wait.
	 */
	int (*connect)(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret_hypervisor);
	/** Leave changes of guests, and runs whose end was not seen, to another call. */
	bool host_only;
};

#endif
