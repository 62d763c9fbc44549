/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_TUNING_WATCH_H
#define VFCTL_HOOK_TUNING_WATCH_H

#include "base/ctx.h"

/* Whether vfctl_guest_tuning_watch() is running for that domain. */
bool tuning_is_watched(struct vfctl_ctx *ctx, const char *uuid);

#endif
