/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_IDS_H
#define VFCTL_HOST_IDS_H

#include "command.h"
#include "types/hostspec.h"
#include "types/hypervisor.h"

/* The host.yaml of --host-yaml, and its pools. */
struct host_ids {
	struct vfctl_host_spec *spec;
	struct vfctl_ids *ids; /* NULL if none are declared */
	int error; /* set by host_ids_try(): why they could not be read */
	char *message;
};

/*
 * Returns 0, or the exit status after the reason was printed. @ret must be zeroed; host_ids_close()
 * clears it, also after a failure.
 */
int host_ids_open(struct invocation *in, bool write, struct host_ids *ret);
/*
 * Open it for a command that is useful without host.yaml too: if the default file cannot be read,
 * @ret has the error, and the call succeeds. A file that was named must be readable.
 */
int host_ids_try(struct invocation *in, struct host_ids *ret);
void host_ids_close(struct host_ids *h);
/* Open host.yaml, for writing unless this is a dry run, and libvirt (--connect). */
int host_ids_open_guest(struct invocation *in, struct host_ids *ret,
	struct vfctl_hypervisor **ret_hv);
/* Connect to the system's libvirt, for vfctl_recover(). */
int connect_system(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret);

/*
 * Check a file with commands that are run: if this process is root, no other user may be able to
 * write it (docs/explanation/security.md).
 */
int check_commands_of(struct invocation *in, const char *path);
/* Check host.yaml and its after-change command, if it has one, before a change. */
int check_after_change(struct invocation *in, const struct vfctl_host_spec *spec);
/*
 * Run the after-change command, if there is one, after GUIDs or P_Keys changed. EXIT_DONE, or
 * EXIT_PARTLY with a warning if it failed.
 */
int run_after_change(struct invocation *in, const struct vfctl_host_spec *spec);
/*
 * run_change(), and the host's after-change command if identities moved. If the command fails, the
 * change stays applied, and the status is EXIT_PARTLY.
 */
int run_ids_change(struct invocation *in, const struct host_ids *h,
	struct vfctl_change *change, const char *done);

#endif
