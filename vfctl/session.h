/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SESSION_H
#define VFCTL_SESSION_H

#include "command.h"
#include "facts/model/place.h"
#include "host_ids.h"
#include "types/guest.h"

struct session {
	struct vfctl_guest *guest; /* from the first argument */
	struct vfctl_hypervisor *hv;
	struct vfctl_place_options options;
	struct host_ids host;
	char *template_text, *template_name;
};

/* These return 0, or the exit status after they printed the reason. */
/* Report an error of a named file: a missing file is a mistake, an unreadable one a failure. */
int fail_file(const struct invocation *in, const char *path, int error);
/* Read a whole named file; "-" is standard input. Never a FIFO or a device. free() *@ret. */
int read_named(struct invocation *in, const char *path, size_t max, char **ret, size_t *ret_len);
/* Write a whole named file; "-" is the output of this command. */
int write_named(struct invocation *in, const char *path, const char *text);
int read_guest(struct invocation *in, const char *path, struct vfctl_guest **ret);
/* Read the guest from a file in a directory, in which other users may have created links. */
int read_guest_in(struct invocation *in, const char *dir, const char *name,
	struct vfctl_guest **ret);
/* The template of --template, else the one that the guest names, else none. */
int read_template(struct invocation *in, const struct vfctl_guest *guest, char **ret,
	char **ret_name);
/* Read --reserve; without it @io is not changed. */
int read_reserve(struct invocation *in, struct vfctl_cpuset *io);
/*
 * Read the host of --model, or this host with everything that is known. @s must be zeroed, here and
 * below; close_session() clears it, also after a failure.
 */
int read_model(struct invocation *in, struct session *s, struct vfctl_host_model **ret);
/* Open host.yaml, --reserve and libvirt (which must answer if @needs_libvirt). */
int open_host(struct invocation *in, struct session *s, bool needs_libvirt);
/* Open these, the guest and its template. */
int open_session(struct invocation *in, struct session *s, bool needs_libvirt);
void close_session(struct session *s);
/*
 * Warn if the hook is missing: a defined guest would then start with the present policy of its VFs.
 */
void warn_hook(struct invocation *in);

#endif
