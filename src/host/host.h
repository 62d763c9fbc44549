/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_HOST_H
#define VFCTL_HOST_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ctx.h"

struct host;

/*
 * Everything this library does to a host goes through one such table: the running
 * kernel, a captured tree (read-only), the simulator, and a wrapper that fails call N.
 * All return 0 or a raw negative errno; the words are added by the host_*() calls.
 * Paths are absolute, as on the host.
 */
struct host_ops {
	const char *name;
	bool read_only;
	/* A whole file; -EFBIG past HOST_FILE_MAX. */
	int (*read)(struct host *h, const char *path, struct buf *ret_text);
	/*
	 * The same of a file whose reader may wait in the kernel for ever: in a child process, which
	 * is left behind with -ETIMEDOUT. NULL: no file is like that here.
	 */
	int (*read_slow)(struct host *h, const char *path, unsigned timeout_ms, struct buf *ret_text);
	/*
	 * The whole value in one write(2). With a deadline (timeout_ms > 0) the write is
	 * made by a child process, for sriov_numvfs may block for ever; -ETIMEDOUT leaves
	 * that child behind.
	 */
	int (*write)(struct host *h, const char *path, const char *text,
		unsigned timeout_ms);
	/*
	 * A file of the operator's (not of the kernel's): the new text or the old one, never
	 * half of either. NULL: it goes; that it is not there is fine.
	 */
	int (*replace)(struct host *h, const char *path, const char *text);
	int (*readlink)(struct host *h, const char *path, char **ret_target);
	/* Names in a directory, unsorted, without dot files. NULL-terminated. */
	int (*list)(struct host *h, const char *path, char ***ret_names);
	/*
	 * Send netlink messages (one datagram), collect the answers: every message
	 * until each request was acknowledged or its dump is done.
	 */
	int (*exchange)(struct host *h, int protocol, const void *request, size_t len,
		unsigned timeout_ms, struct buf *ret_reply);
	int (*load_module)(struct host *h, const char *name, unsigned timeout_ms);
	/*
	 * What an NVMe controller (/dev/nvme0) says of itself: 4096 bytes of its data structure
	 * @cns, controllers from 0 on. NULL: devices cannot be asked here.
	 */
	int (*nvme_identify)(struct host *h, const char *path, unsigned cns, void *ret_data);
	/* The kernel's log as it is now, a line each with level and time, "<4>[  1.5] text". NULL: none. */
	int (*kernel_log)(struct host *h, struct buf *ret_text);
	/* The permission bits of a file; NULL: not known here. */
	int (*mode)(struct host *h, const char *path, unsigned *ret_mode);
	/* Write to a device that heeds it for as long as the descriptor is open. NULL: none here. */
	int (*hold)(struct host *h, const char *path, const void *data, size_t len, int *ret_fd);
	/* Take the named lock, alone or with others that share it; the descriptor holds it. */
	int (*lock)(struct host *h, const char *name, bool shared, unsigned timeout_ms,
		int *ret_fd);
	/*
	 * Descriptors that become readable when a device or a network link came, went or
	 * changed; what is read of them says nothing more, but -ENOBUFS that some are lost. How
	 * many, HOST_EVENTS_MAX at most. NULL: nothing happens here.
	 */
	int (*events)(struct host *h, int *ret_fds);
	/* Whether this host may still be asked: 0 or an error. NULL: always. */
	int (*check)(struct host *h);
	void (*sleep)(struct host *h, unsigned ms);
	/* One line for the system's log; NULL: this host keeps none. Never waits. */
	void (*audit)(struct host *h, const char *text);
	void (*free)(struct host *h);
};

struct host {
	const struct host_ops *ops;
	int root_fd; /* -1: the running host's own root */
	char *root;  /* "" for the running host */
	/* Called now and then while a slow write goes on; NULL: nobody wants to know. */
	void (*tick)(void *data);
	void *tick_data;
};

#define HOST_FILE_MAX (16u << 20)
#define HOST_NVME_DATA 4096
#define HOST_EVENTS_MAX 2
#define HOST_LOCK_DIR "/run/vfctl"

/* The host of this context; the running kernel when none was set. */
struct host *host_of(struct vfctl_ctx *ctx);
/* Give the context a host, which it then owns. */
void host_set(struct vfctl_ctx *ctx, struct host *h);

/*
 * Reads without words: for attributes whose absence is ordinary. What is there but cannot
 * be read leaves a doubt.
 */
int host_try_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/*
 * The same in a child process, for files that the kernel shows only to whoever gets the device's lock,
 * as sriov_vf_total_msix (drivers/pci/iov.c): a writer that hangs in sriov_numvfs keeps that. -ETIMEDOUT.
 */
int host_try_read_slow(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/* The same of what is no text. */
int host_try_bytes(struct vfctl_ctx *ctx, struct buf *ret_bytes, const char *fmt, ...)
	_printf_(3, 4);
int host_try_link(struct vfctl_ctx *ctx, char **ret_target, const char *fmt, ...)
	_printf_(3, 4);
/* The last part of that: a driver, a bridge, a PCI address. */
int host_try_link_name(struct vfctl_ctx *ctx, char **ret_name, const char *fmt, ...)
	_printf_(3, 4);
/* Sorted; numbers within names by value, so virtfn2 comes before virtfn10. */
int host_try_list(struct vfctl_ctx *ctx, char ***ret_names, const char *fmt, ...)
	_printf_(3, 4);
bool host_exists(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* Is it the file of the last write that did not end in time, and goes on? */
bool host_write_goes_on(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/*
 * The first doubt since the last call, in words ("FILE cannot be read: ..."), or NULL; the
 * caller frees it. Absent is an answer, unreadable is none: a decision to change something
 * must not take the one for the other.
 */
char *host_take_doubt(struct vfctl_ctx *ctx);

/* The same with words. Text is returned without its trailing white space. */
int host_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/*
 * One write. Without a deadline of its own, but within the context's budget if it has one
 * (vfctl_ctx_set_deadline_ms()). Refused (-EROFS) on a captured host, as all changes are. */
int host_write(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
/* One write in a child process with the context's write timeout, and within its budget. */
int host_write_slow(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
/* The same; meanwhile @tick is called now and then. */
int host_write_watched(struct vfctl_ctx *ctx, void (*tick)(void *data), void *data,
	const char *text, const char *fmt, ...) _printf_(5, 6);
/* Put a whole file in place, or with NULL remove it. */
int host_replace(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
int host_exchange(struct vfctl_ctx *ctx, int protocol, const void *request, size_t len,
	struct buf *ret_reply);
int host_load_module(struct vfctl_ctx *ctx, const char *name);
/* Without words; -EOPNOTSUPP where devices cannot be asked. */
int host_nvme_identify(struct vfctl_ctx *ctx, const char *path, unsigned cns,
	uint8_t ret_data[HOST_NVME_DATA]);
/* Without words; a capture has those lines alone that concern SR-IOV. -EOPNOTSUPP: none is kept. */
int host_kernel_log(struct vfctl_ctx *ctx, struct buf *ret_text);
/*
 * Without words: 1 the file's owner may write it, 0 not even he may, or a negative errno.
 * Whoever is root may write all the same, as far as the kernel lets him.
 */
int host_may_write(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* With words. The device goes back by itself when @ret_fd is closed, however that comes. */
int host_hold(struct vfctl_ctx *ctx, const char *path, const void *data, size_t len, int *ret_fd);
/*
 * Wait for another vfctl that works on @name (a PF address, HOST_LOCK_PLACEMENT) to finish.
 * @ret_fd: close it to let go. -EBUSY when it takes longer than 30 s, or than what is left
 * of the context's budget.
 */
int host_lock(struct vfctl_ctx *ctx, const char *name, bool shared, int *ret_fd);
/* The same without waiting: -EBUSY at once. */
int host_try_lock(struct vfctl_ctx *ctx, const char *name, int *ret_fd);
/*
 * Held alone while VFs and CPUs are chosen and leased, and shared while VFs come and go: a
 * VF cannot be removed between being chosen and being leased.
 */
#define HOST_LOCK_PLACEMENT "placement"
/* Locks of interfaces that are measured begin so: no change of a PF waits for one. */
#define HOST_LOCK_BENCH "bench-"
void host_sleep_ms(struct vfctl_ctx *ctx, unsigned ms);
/*
 * Sleep before the caller looks again for something that may never come, such as the answer of a
 * driver. @waited_ms, at first 0, counts what was slept. False, without a sleep, after 30 s, after a
 * cancel, and when the context's deadline has come.
 */
bool host_wait_ms(struct vfctl_ctx *ctx, unsigned ms, unsigned *waited_ms);
/*
 * -E2BIG with words when a captured host described so much that reading it was given up;
 * what was read of it until then is not the whole.
 */
int host_check(struct vfctl_ctx *ctx);
/* -EROFS with words when this host cannot be changed. */
int host_check_writable(struct vfctl_ctx *ctx);

/* Shared by the tables. */
int files_open(struct host *h, const char *path, int flags);
int files_read(struct host *h, const char *path, struct buf *ret_text);
/* The same, of a descriptor that is open. */
int files_read_open(int fd, const char *path, struct buf *ret_text);
int files_write(struct host *h, const char *path, const char *text);
int files_replace(struct host *h, const char *path, const char *text);
int files_readlink(struct host *h, const char *path, char **ret_target);
int files_mode(struct host *h, const char *path, unsigned *ret_mode);
int files_hold(struct host *h, const char *path, const void *data, size_t len, int *ret_fd);
int files_list(struct host *h, const char *path, char ***ret_names);
int files_lock(struct host *h, const char *name, bool shared, unsigned timeout_ms,
	int *ret_fd);
void files_sleep(struct host *h, unsigned ms);
int64_t files_now_ms(void); /* CLOCK_MONOTONIC */
void files_free(struct host *h);
/* An empty host over the tree at @root ("" or NULL: the running host). */
int files_host_new(const struct host_ops *ops, const char *root, size_t size,
	struct host **ret_host);

int real_host_new(struct host **ret_host);
/* netlink_exchange() on a socket of this process's network namespace. */
int real_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply);
/* Where a capture keeps the answer to a link request (shared with its writer). */
#define CAPTURE_LINKS "/netlink/links.bin"
#define CAPTURE_VFS "/netlink/vfs-%d.bin"
#define CAPTURE_LOG "/kernel.log"
/* Of devlink: its number on that kernel, the dump of a command, and of a PF the mode of its switch. */
#define CAPTURE_DEVLINK_FAMILY "/netlink/devlink.bin"
#define CAPTURE_DEVLINK_DUMP "/netlink/devlink-%u.bin"
#define CAPTURE_ESWITCH "/netlink/eswitch-%s.bin"

#endif
