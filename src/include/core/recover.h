/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_RECOVER_H
#define VFCTL_CORE_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"
#include "vfctl/recover.h"

#ifdef __cplusplus
extern "C" {
#endif

DEFINE_FREEP(struct vfctl_recovery, vfctl_recovery_free)

/** What became, or would become, of a change that was found open. */
enum vfctl_recovered {
	VFCTL_RECOVERED_GOES_ON,  /**< its process lives: left alone */
	VFCTL_RECOVERED_DONE,     /**< all of it is done: it is only closed */
	VFCTL_RECOVERED_UNDONE,   /**< taken back: the host is as before it */
	VFCTL_RECOVERED_REBOOTED, /**< the host booted since, and nothing of it is left */
	VFCTL_RECOVERED_ACCEPTED, /**< closed as it is, as was asked */
	VFCTL_RECOVERED_FAILED,   /**< neither could be done: it stays open */
	VFCTL_RECOVERED_UNPLUGGED, /**< its PF is gone, and nothing of it is left */
	VFCTL_RECOVERED_FINISHED, /**< past the point of no return: carried on to its end */
	VFCTL_RECOVERED_WAITS,    /**< a guest's: libvirt must be asked, and is not at hand */
};

/** A change that was in the journal. All texts are owned by the recovery. */
struct vfctl_recovered_change {
	int64_t id;	   /**< in the journal; later changes have higher ones */
	const char *story; /**< "create ens1 4" */
	int64_t pid;	   /**< the process that began it */
	int64_t begun;	   /**< when, in seconds since the epoch */
	enum vfctl_recovered outcome;
	const char *error; /**< why it failed, in words; NULL when it did not */
	const char *const *steps; /**< what is taken back, the last first */
	size_t step_count; /**< 0 unless it is UNDONE or FAILED */
};

/** All changes that were found open, the last begun first. */
struct vfctl_recovery {
	struct vfctl_recovered_change *changes;
	size_t count;
};

struct vfctl_hypervisor;

struct vfctl_recover_options {
	bool dry_run; /**< only tell what would be done */
	bool accept;  /**< leave the host as it is, and close the changes */
	/**
	 * Opens the system's libvirt, such as vfctl_libvirt_open() with no URI; called when the
	 * first change of a guest is met, and closed before the end. NULL: those changes wait.
	 */
	int (*connect)(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret_hypervisor);
	/** Leave changes of guests, and runs that libvirt did not end, to another call. */
	bool host_only;
};

/**
 * Bring the host to the state before (or after) each change whose process died in the
 * middle. Done by the next change of the same PF, by the hook and at boot as well.
 * @param options  NULL: all false
 * @param ret  freed by the caller with vfctl_recovery_free(); set on -ESTALE too
 * @return 0; -ESTALE when a change could not be recovered (its words say why); -EROFS on a
 * captured host; -EACCES and other errno values when the state file cannot be read or written.
 */
int vfctl_recover(struct vfctl_ctx *ctx, const struct vfctl_recover_options *options,
	struct vfctl_recovery **ret);

#ifdef __cplusplus
}
#endif
#endif
