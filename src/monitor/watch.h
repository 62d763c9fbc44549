/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MONITOR_WATCH_H
#define VFCTL_MONITOR_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct vfctl_ctx;

/**
 * A watch reports that something on this host changed: events of devices and of network links from
 * the kernel, and writes to the state file, to host.yaml and to libvirt's files about its domains.
 * It does not report what changed: the caller has to read that.
 */
struct vfctl_watch;

/** The reasons why vfctl_watch_wait() returned; several may be set. */
enum {
	VFCTL_WATCH_KERNEL = 1 << 0, /**< a device or a network link appeared, disappeared or changed */
	VFCTL_WATCH_FILES = 1 << 1,  /**< state file, host.yaml, or libvirt's files */
	VFCTL_WATCH_LOST = 1 << 2,   /**< events were lost: read everything again */
};

/**
 * Watch the context's host and state file. Open it before you read the host for the first time, so
 * that no later change is missed.
 * @param host_yaml  see vfctl_host_spec_read().
 * @param ret  closed with vfctl_watch_close().
 * @return 0; -EINVAL for a captured host, which does not change; -EMFILE, -ENOSPC (no inotify watch
 * is left: fs.inotify.max_user_watches); -ENOMEM.
 */
int vfctl_watch_open(struct vfctl_ctx *ctx, const char *host_yaml, struct vfctl_watch **ret);
/**
 * Watch host.yaml alone, for a process that waits for more than this: vfctl_watch_fd() is readable
 * after a change, and vfctl_watch_drain() does not wait.
 */
int vfctl_watch_open_spec(struct vfctl_ctx *ctx, const char *host_yaml, struct vfctl_watch **ret);
int vfctl_watch_fd(const struct vfctl_watch *watch);
/** 1: the file changed; 0: another file of its directory did; -ENOMEM and errors of the watch. */
int vfctl_watch_drain(struct vfctl_ctx *ctx, struct vfctl_watch *watch);
/** NULL is allowed. */
void vfctl_watch_close(struct vfctl_watch *watch);
DEFINE_FREEP(struct vfctl_watch, vfctl_watch_close)

/**
 * Wait for an event, and then until 100 ms pass without an event, or 1 s after the first one: a
 * change of many VFs is reported once. The wait uses no CPU time.
 * @param stop_fd     the wait ends when it becomes readable or is hung up; -1: none.
 * @param timeout_ms  longest wait for the first event; -1: no limit.
 * @param ret_what    VFCTL_WATCH_ bits; 0 if the time is over.
 * @return 0; -EINTR @p stop_fd ended the wait; -EIO and others: it cannot wait.
 */
int vfctl_watch_wait(struct vfctl_ctx *ctx, struct vfctl_watch *watch, int stop_fd,
	int timeout_ms, unsigned *ret_what);

/** A domain, as libvirt's files describe it. */
struct vfctl_domain_state {
	char name[256];
	bool defined, running;
};

/**
 * All domains of the system's libvirt, by name, from libvirt's own files: libvirt need not run, and
 * is not called.
 * @param ret  receives @p ret_count entries; free() it.
 * @return 0, also where there is no libvirt; -ENOMEM.
 */
int vfctl_domain_states_read(struct vfctl_ctx *ctx, struct vfctl_domain_state **ret,
	size_t *ret_count);

/**
 * Write one entry to systemd's journal, with its native protocol.
 * @param fields  @p count strings "NAME=value", with names in capitals; values may contain
 * newlines.
 * @return 0; -ENOENT or -ECONNREFUSED no journal is running; other errno values of sendto(2).
 */
int vfctl_journal_send(struct vfctl_ctx *ctx, const char *const *fields, size_t count);

#endif
