/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_IDS_H
#define VFCTL_HOST_IDS_H

#include "command.h"
#include "core/workflow.h"

/* host.yaml of --host-yaml, and its pools. */
struct host_ids {
	struct vfctl_host_spec *spec;
	struct vfctl_ids *ids; /* NULL: none declared */
	int error; /* of host_ids_try(): what kept them from being read, and in words */
	char *words;
};

/*
 * 0, or the exit status, the reason printed. @ret is zeroed before; host_ids_close() clears it, also
 * after a failure.
 */
int host_ids_open(struct invocation *in, bool write, struct host_ids *ret);
/*
 * The same to look at the host, which is worth it without host.yaml as well: that the host's own
 * cannot be read is in @ret, and no failure. One that was named fails.
 */
int host_ids_try(struct invocation *in, struct host_ids *ret);
void host_ids_close(struct host_ids *h);
/* The first, to be written unless this is a dry run, and libvirt (--connect). */
int host_ids_open_guest(struct invocation *in, struct host_ids *ret, struct vfctl_hypervisor **ret_hv);
/* The system's libvirt, as vfctl_recover() asks for it. */
int connect_system(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret);

/* What that file says is run: as root it must be nobody else's to write (docs/security.md). */
int check_commands_of(struct invocation *in, const char *path);
/* The same of host.yaml and of its after-change command, if it has one: before a change. */
int check_after_change(struct invocation *in, const struct vfctl_host_spec *spec);
/*
 * GUIDs or P_Keys have changed: run the after-change command, if there is one. EXIT_DONE,
 * or EXIT_PARTLY with a warning when it failed.
 */
int run_after_change(struct invocation *in, const struct vfctl_host_spec *spec);
/*
 * run_change(), and the host's after-change command when identities moved. When that fails
 * the change is made all the same, and the status is EXIT_PARTLY.
 */
int run_ids_change(struct invocation *in, const struct host_ids *h,
	struct vfctl_change *change, const char *done);

#endif
