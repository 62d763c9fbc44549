/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SESSION_H
#define VFCTL_SESSION_H

#include "command.h"
#include "host_ids.h"
#include "core/workflow.h"

struct session {
	struct vfctl_guest *guest; /* of the first argument */
	struct vfctl_hypervisor *hv;
	struct vfctl_place_options options;
	struct host_ids host;
	char *template_text, *template_name;
};

/* These return 0, or the exit status, the reason printed. */
/* A file that was named: one that is not there is a mistake, one that cannot be read a failure. */
int fail_file(const struct invocation *in, const char *path, int error);
/* A whole file that was named, "-" being standard input; never a FIFO or a device. free() *@ret. */
int read_named(struct invocation *in, const char *path, size_t max, char **ret, size_t *ret_len);
/* A whole file that was named, "-" being what this command prints to. */
int write_named(struct invocation *in, const char *path, const char *text);
int read_guest(struct invocation *in, const char *path, struct vfctl_guest **ret);
/* The guest of a file of a folder, in which others may have put links. */
int read_guest_in(struct invocation *in, const char *dir, const char *name, struct vfctl_guest **ret);
/* The template of --template, else the one the guest names, else none. */
int read_template(struct invocation *in, const struct vfctl_guest *guest, char **ret,
	char **ret_name);
/*
 * The host of --model, or this one with all that is known of it. @s is zeroed before, here and below;
 * close_session() clears it, also after a failure.
 */
int read_model(struct invocation *in, struct session *s, struct vfctl_host_model **ret);
/* host.yaml, --reserve, libvirt (with @needs_libvirt it must answer). */
int open_host(struct invocation *in, struct session *s, bool needs_libvirt);
/* The same with the guest and its template. */
int open_session(struct invocation *in, struct session *s, bool needs_libvirt);
void close_session(struct session *s);
/* Without the hook a guest that is defined would start with whatever policy its VFs have. */
void warn_hook(struct invocation *in);

#endif
