/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_H
#define VFCTL_HOST_H

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Work on a captured host from now on: an archive or directory that
 * vfctl_host_capture() wrote, or any tree that holds a sys/. Everything that reads works
 * as on the host itself; everything that would change it fails with -EROFS. An archive is
 * unpacked into a temporary directory, which vfctl_ctx_free() removes.
 * @return 0; -ENOENT; -EINVAL when it is no such tree; -ENOMEM.
 */
int vfctl_ctx_open_host(struct vfctl_ctx *ctx, const char *path);

/** The directory the context's host is read from; "" for the running host. */
const char *vfctl_ctx_host_root(struct vfctl_ctx *ctx);

/**
 * Record what vfctl reads of this host: PCI functions with their attributes, NUMA nodes
 * and CPUs, network and RDMA devices, and the kernel's link messages. Nothing of the
 * host's secrets is read: no keys, no process list, no file contents outside sysfs and
 * /proc/cpuinfo, meminfo, version, cmdline.
 * @param path  a file (.tar, .tar.gz, .tar.xz by its ending) that must not exist yet.
 * @return 0; -EEXIST; -EACCES; another negative errno.
 */
int vfctl_host_capture(struct vfctl_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
