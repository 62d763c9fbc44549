/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_CAPTURE_H
#define LIBVFCTL_CAPTURE_H

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Capture: a host recorded in an archive. vfctl_ctx_open_host() opens the archive.
 */

/**
 * Record everything that vfctl reads from this host: PCI functions with their attributes, NUMA
 * nodes and CPUs, network and RDMA devices, and the kernel's link messages. The archive contains no
 * secrets: no keys, no list of processes, and no files outside of sysfs except /proc/cpuinfo,
 * meminfo, version, cmdline, uptime and host.yaml. If the kernel log can be read, the archive
 * contains its lines about SR-IOV, and no others.
 *
 * @param ctx   context of the host to record.
 * @param path  path of a new file. The format is tar, compressed with gzip if the name ends in .gz
 *              or .tgz.
 * @return 0; -EEXIST: the file exists; -EACCES: it cannot be written; -ENOPKG: zlib is not
 * installed; or another errno of the write.
 * @since 0.1
 */
int vfctl_host_capture(struct vfctl_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
