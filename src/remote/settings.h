/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_SETTINGS_H
#define VFCTL_REMOTE_SETTINGS_H

#include "base/op.h"
#include "remote/place.h"

/*
 * The settings that a configuration changes on an interface, with the ethtool, ip and sysfs of its
 * place, which may be another host or a guest.
 */

/* "mtu=1500 rx-usecs=3": names in the order of the request. */
int settings_read(struct place *p, const char *device, char *const names[], char **ret);
/* A namespace or an interface that was removed no longer has its settings. */
bool settings_device_gone(struct place *p, const char *device);
/*
 * Set them, and read them back. -EPROTO the driver accepted the value but kept another one; -EINVAL
 * the driver refused it, and the message quotes it. Waits for the link where a setting takes it
 * down.
 */
int settings_write(struct place *p, const char *device, const char *text);
/* The names in @text; the caller frees them as an array of strings. */
int settings_names(struct vfctl_ctx *ctx, const char *text, char ***ret);

#define SETTINGS_OF_GUEST "guest:" /* prefix of a target in a guest */
/*
 * "netns:wire-a/ens1": the place and its interface, which recovery needs to restore the settings.
 */
char *settings_target(const struct endpoint *end);
/* Parse such a target. @ret's strings and @ret_text belong to the caller. */
int settings_target_parse(struct vfctl_ctx *ctx, const char *target,
	struct endpoint *ret, char **ret_text);

/*
 * An interface whose settings change while it is measured. Want: SETTINGS_MEASURED, which is never
 * observed; before: its settings. For an interface that no longer exists nothing is restored.
 */
#define SETTINGS_MEASURED "changing"
extern const struct op_type op_bench_settings;

#endif
