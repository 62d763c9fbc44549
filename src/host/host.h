/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_HOST_H
#define VFCTL_HOST_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ctx.h"

struct host;

/*
 * All accesses of this library to a host go through such a table. There are tables for the running
 * kernel, a captured tree (read-only), the simulator, and a wrapper that fails call N. All calls
 * return 0 or a raw negative errno; the host_*() functions add the message. Paths are absolute, as
 * on the host.
 */
struct host_ops {
	const char *name;
	bool read_only;
	/* Read a whole file; -EFBIG past HOST_FILE_MAX. */
	int (*read)(struct host *h, const char *path, struct buf *ret_text);
	/*
	 * Read a file whose reader may block in the kernel forever: in a child process, which is
	 * left behind with -ETIMEDOUT. NULL: there is no such file here.
	 */
	int (*read_slow)(struct host *h, const char *path, unsigned timeout_ms, struct buf *ret_text);
	/*
	 * Write the whole value in one write(2). With a deadline (timeout_ms > 0) a child process
	 * writes, because sriov_numvfs may block forever; with -ETIMEDOUT that child is left
	 * behind.
	 */
	int (*write)(struct host *h, const char *path, const char *text,
		unsigned timeout_ms);
	/*
	 * Replace a file of the administrator (not of the kernel) atomically: it has the old text
	 * or the new one. NULL: remove it; it may be absent.
	 */
	int (*replace)(struct host *h, const char *path, const char *text);
	int (*readlink)(struct host *h, const char *path, char **ret_target);
	/* Names in a directory, unsorted, without dot files. NULL-terminated. */
	int (*list)(struct host *h, const char *path, char ***ret_names);
	/*
	 * Send netlink messages (one datagram) and collect the answers: every message until each
	 * request was acknowledged or its dump is complete.
	 */
	int (*exchange)(struct host *h, int protocol, const void *request, size_t len,
		unsigned timeout_ms, struct buf *ret_reply);
	int (*load_module)(struct host *h, const char *name, unsigned timeout_ms);
	/* systemctl VERB UNIT: enable, disable, start or stop. NULL: services cannot be changed here. */
	int (*service)(struct host *h, const char *verb, const char *unit, unsigned timeout_ms);
	/* Send SIGHUP to all processes of that name; NULL: none run here. */
	int (*hangup)(struct host *h, const char *name);
	/*
	 * Read the identification of an NVMe controller (/dev/nvme0): 4096 bytes of its data
	 * structure @cns, controllers from 0 on. NULL: devices cannot be queried here.
	 */
	int (*nvme_identify)(struct host *h, const char *path, unsigned cns, void *ret_data);
	/*
	 * The present kernel log, one line for each message with level and time, "<4>[  1.5] text".
	 * NULL: none.
	 */
	int (*kernel_log)(struct host *h, struct buf *ret_text);
	/* The permission bits of a file; NULL: not known here. */
	int (*mode)(struct host *h, const char *path, unsigned *ret_mode);
	/*
	 * Write to a device for which the value applies as long as the descriptor is open. NULL:
	 * none here.
	 */
	int (*hold)(struct host *h, const char *path, const void *data, size_t len, int *ret_fd);
	/* Take the named lock, exclusive or shared; the descriptor holds it. */
	int (*lock)(struct host *h, const char *name, bool shared, unsigned timeout_ms,
		int *ret_fd);
	/*
	 * Descriptors that become readable when a device or a network link appears, disappears or
	 * changes. Their data contain nothing more, except that -ENOBUFS means lost events. Returns
	 * their number, at most HOST_EVENTS_MAX. NULL: there are no events here.
	 */
	int (*events)(struct host *h, int *ret_fds);
	/*
	 * A descriptor from which messages of NETLINK_ROUTE can be read: links, and the forwarding
	 * tables of bridges. NULL: this host sends no messages.
	 */
	int (*follow)(struct host *h, int *ret_fd);
	/* Whether this host may still be read: 0 or an error. NULL: always. */
	int (*check)(struct host *h);
	void (*sleep)(struct host *h, unsigned ms);
	/* Write one line to the system's log; NULL: this host has none. Never blocks. */
	void (*audit)(struct host *h, const char *text);
	void (*free)(struct host *h);
};

struct host {
	const struct host_ops *ops;
	int root_fd; /* -1: the root of the running host */
	char *root;  /* "" for the running host */
	/* Called periodically while a slow write is in progress; NULL: not needed. */
	void (*tick)(void *data);
	void *tick_data;
};

#define HOST_FILE_MAX (16u << 20)
#define HOST_NVME_DATA 4096
#define HOST_EVENTS_MAX 2
#define HOST_LOCK_DIR "/run/vfctl"

/* The host of this context; the running kernel if none was set. */
struct host *host_of(struct vfctl_ctx *ctx);
/* Set the host of the context, which then owns it. */
void host_set(struct vfctl_ctx *ctx, struct host *h);

/*
 * Read without a message, for attributes that may be absent. A file that exists but cannot be read
 * is recorded for host_take_unread().
 */
int host_try_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/*
 * The same in a child process, for files whose read needs the lock of the device, such as
 * sriov_vf_total_msix (drivers/pci/iov.c): a writer that hangs in sriov_numvfs holds that lock.
 * -ETIMEDOUT.
 */
int host_try_read_slow(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/* Read binary data in the same way. */
int host_try_bytes(struct vfctl_ctx *ctx, struct buf *ret_bytes, const char *fmt, ...)
	_printf_(3, 4);
int host_try_link(struct vfctl_ctx *ctx, char **ret_target, const char *fmt, ...)
	_printf_(3, 4);
/* The last component of the link's target: a driver, a bridge, a PCI address. */
int host_try_link_name(struct vfctl_ctx *ctx, char **ret_name, const char *fmt, ...)
	_printf_(3, 4);
/* The names are sorted; numbers in names by value, so virtfn2 comes before virtfn10. */
int host_try_list(struct vfctl_ctx *ctx, char ***ret_names, const char *fmt, ...)
	_printf_(3, 4);
bool host_exists(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* Whether it is the file of the last write that timed out and is still in progress. */
bool host_write_goes_on(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/*
 * Return the first file since the last call that could not be read, as text ("FILE cannot be read:
 * ..."), or NULL; the caller frees it. An absent file is an answer, an unreadable one is not: a
 * change must not be planned as if it were absent.
 */
char *host_take_unread(struct vfctl_ctx *ctx);

/* Read with a message. Text is returned without trailing white space. */
int host_read(struct vfctl_ctx *ctx, char **ret_text, const char *fmt, ...)
	_printf_(3, 4);
/*
 * Make one write, without its own time limit, but within the context's budget if it has one
 * (vfctl_ctx_set_deadline_ms()). Rejected with -EROFS on a captured host, like all changes.
 */
int host_write(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
/* Make one write in a child process with the context's write timeout, and within its budget. */
int host_write_slow(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
/* Make a write like that, and call @tick periodically meanwhile. */
int host_write_watched(struct vfctl_ctx *ctx, void (*tick)(void *data), void *data,
	const char *text, const char *fmt, ...) _printf_(5, 6);
/* Replace a whole file, or with NULL remove it. */
int host_replace(struct vfctl_ctx *ctx, const char *text, const char *fmt, ...)
	_printf_(3, 4);
int host_exchange(struct vfctl_ctx *ctx, int protocol, const void *request, size_t len,
	struct buf *ret_reply);
int host_load_module(struct vfctl_ctx *ctx, const char *name);
/* @verb: enable, disable, start or stop. */
int host_service(struct vfctl_ctx *ctx, const char *verb, const char *unit);
/* Send SIGHUP to all processes of root with that name; there may be none. */
int host_hangup(struct vfctl_ctx *ctx, const char *name);
/* Without a message; -EOPNOTSUPP if devices cannot be queried. */
int host_nvme_identify(struct vfctl_ctx *ctx, const char *path, unsigned cns,
	uint8_t ret_data[HOST_NVME_DATA]);
/*
 * Without a message. A capture has only the lines that concern SR-IOV. -EOPNOTSUPP: there is no
 * log.
 */
int host_kernel_log(struct vfctl_ctx *ctx, struct buf *ret_text);
/*
 * Without a message: 1 the file's owner may write it, 0 not even the owner may, or a negative
 * errno. Root may write regardless of the mode, as far as the kernel permits it.
 */
int host_may_write(struct vfctl_ctx *ctx, const char *fmt, ...) _printf_(2, 3);
/* With a message. The value applies until @ret_fd is closed, for whatever reason. */
int host_hold(struct vfctl_ctx *ctx, const char *path, const void *data, size_t len, int *ret_fd);
/*
 * Lock @name (a PF address, HOST_LOCK_PLACEMENT); wait if another vfctl holds it. @ret_fd: close it
 * to release the lock. -EBUSY after the time that vfctl_ctx_set_lock_wait_ms() set (30 s), or at
 * the end of the context's budget.
 */
int host_lock(struct vfctl_ctx *ctx, const char *name, bool shared, int *ret_fd);
/* Do this without waiting: -EBUSY at once. */
int host_try_lock(struct vfctl_ctx *ctx, const char *name, int *ret_fd);
/*
 * Exclusive while VFs and CPUs are chosen and leased, shared while VFs are created or removed: a VF
 * cannot be removed between being chosen and being leased.
 */
/* The process that holds it (lock_holder.h); freed by the caller. NULL: out of memory. */
char *host_lock_holder(struct vfctl_ctx *ctx, const char *name);

#define HOST_LOCK_PLACEMENT "placement"
/* Prefix of the locks of interfaces that are being measured: no change of a PF waits for these. */
#define HOST_LOCK_BENCH "bench-"
void host_sleep_ms(struct vfctl_ctx *ctx, unsigned ms);
/*
 * Sleep before the caller checks again for something that may never come, such as the answer of a
 * driver. @waited_ms, at first 0, counts the time slept. False, without a sleep, after 30 s, after
 * a cancellation, and when the context's deadline has passed.
 */
bool host_wait_ms(struct vfctl_ctx *ctx, unsigned ms, unsigned *waited_ms);
/*
 * -E2BIG with a message if a captured host was so large that reading it was stopped; the data read
 * until then are incomplete.
 */
int host_check(struct vfctl_ctx *ctx);
/* -EROFS with a message if this host cannot be changed. */
int host_check_writable(struct vfctl_ctx *ctx);

/* Functions for several tables. */
int files_open(struct host *h, const char *path, int flags);
int files_read(struct host *h, const char *path, struct buf *ret_text);
/* Read from an open descriptor in the same way. */
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
void files_free(struct host *h);
/* Create an empty host over the tree at @root ("" or NULL: the running host). */
int files_host_new(const struct host_ops *ops, const char *root, size_t size,
	struct host **ret_host);

int real_host_new(struct host **ret_host);
/* netlink_exchange() on a socket of this process's network namespace. */
int real_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply);
/* The file of a capture with the answer to a link request (also used by its writer). */
#define CAPTURE_LINKS "/netlink/links.bin"
#define CAPTURE_VFS "/netlink/vfs-%d.bin"
#define CAPTURE_LOG "/kernel.log"
/*
 * Files of a capture for devlink: its family number on that kernel, the dump of a command, and the
 * switch mode of a PF.
 */
#define CAPTURE_DEVLINK_FAMILY "/netlink/devlink.bin"
#define CAPTURE_DEVLINK_DUMP "/netlink/devlink-%u.bin"
#define CAPTURE_ESWITCH "/netlink/eswitch-%s.bin"

#endif
