/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_CAPTURED_H
#define VFCTL_CAPTURE_CAPTURED_H

#include "vfctl/capture.h"
#include "vfctl/context.h"

struct vfctl_ctx;

/** The source of the context's host, for messages: a path; "" for the running host. */
const char *vfctl_ctx_host_root(struct vfctl_ctx *ctx);

#endif
