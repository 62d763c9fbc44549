/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_WATCH_H
#define VFCTL_CORE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/cleanup.h"
#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What tells that something on this host has changed: the kernel's events of devices and of
 * network links, and writes to the state file, to host.yaml and to the files that libvirt
 * keeps of its domains. What has changed is for the caller to read; a watch only says when.
 */
struct vfctl_watch;

/** What vfctl_watch_wait() woke for; several may be set. */
enum {
	VFCTL_WATCH_KERNEL = 1 << 0, /**< a device or a network link came, went or changed */
	VFCTL_WATCH_FILES = 1 << 1,  /**< state file, host.yaml, or libvirt's files */
	VFCTL_WATCH_LOST = 1 << 2,   /**< more happened than was kept for us: read all anew */
};

/**
 * Watch the context's host and state file. Open it before the first reading: what happens
 * from then on wakes.
 * @param host_yaml  see vfctl_host_spec_read().
 * @param ret  closed with vfctl_watch_close().
 * @return 0; -EINVAL for a captured host, on which nothing happens; -EMFILE, -ENOSPC (no
 * inotify watch is left: fs.inotify.max_user_watches); -ENOMEM.
 */
int vfctl_watch_open(struct vfctl_ctx *ctx, const char *host_yaml, struct vfctl_watch **ret);
/** NULL is allowed. */
void vfctl_watch_close(struct vfctl_watch *watch);
DEFINE_FREEP(struct vfctl_watch, vfctl_watch_close)

/**
 * Sleep until something happened and it has become quiet again (100 ms without an event, or 1 s
 * after the first one), so that a change of many VFs wakes once. No CPU is used meanwhile.
 * @param stop_fd     it becoming readable, or hung up, ends the wait; -1: none.
 * @param timeout_ms  longest wait for the first event; -1: without end.
 * @param ret_what    VFCTL_WATCH_ bits; 0 when the time is over.
 * @return 0; -EINTR when @p stop_fd ended it; -EIO and others when it cannot wait.
 */
int vfctl_watch_wait(struct vfctl_ctx *ctx, struct vfctl_watch *watch, int stop_fd,
	int timeout_ms, unsigned *ret_what);

/** A domain, as libvirt's files tell of it. */
struct vfctl_domain_state {
	char name[256];
	bool defined, running;
};

/**
 * All domains of the system's libvirt, by name, from its own files: libvirt need not run, and is
 * not asked.
 * @param ret  @p ret_count of them; free() it.
 * @return 0, also where there is no libvirt; -ENOMEM.
 */
int vfctl_domain_states_read(struct vfctl_ctx *ctx, struct vfctl_domain_state **ret,
	size_t *ret_count);

/**
 * One entry for systemd's journal, in its native protocol.
 * @param fields  "NAME=value", names in capitals, @p count of them; values may have newlines.
 * @return 0; -ENOENT or -ECONNREFUSED when no journal is there; other errno values of sendto(2).
 */
int vfctl_journal_send(struct vfctl_ctx *ctx, const char *const *fields, size_t count);

#ifdef __cplusplus
}
#endif
#endif
