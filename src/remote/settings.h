/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_SETTINGS_H
#define VFCTL_REMOTE_SETTINGS_H

#include "base/op.h"
#include "remote/place.h"

/*
 * What a configuration sets on an interface: with ethtool, ip and sysfs of the place where it is,
 * which may be another host or a guest.
 */

/* "mtu=1500 rx-usecs=3": names in the order asked for. */
int settings_read(struct place *p, const char *device, char *const names[], char **ret);
/*
 * Make them so, and read back. -EPROTO the driver said yes and kept another value; what it refuses
 * is -EINVAL with its words. Waits for the link where a setting takes it down.
 */
int settings_write(struct place *p, const char *device, const char *text);
/* The names in @text; the caller frees them as an array of strings. */
int settings_names(struct vfctl_ctx *ctx, const char *text, char ***ret);

#define SETTINGS_OF_GUEST "guest:" /* how a target in a guest begins */
/* "netns:wire-a/ens1": the place and its interface, for whoever puts the settings back. */
char *settings_target(const struct endpoint *end);
/* The way back. @ret's texts and @ret_text are the caller's. */
int settings_target_parse(struct vfctl_ctx *ctx, const char *target,
	struct endpoint *ret, char **ret_text);

/*
 * An interface whose settings change while it is measured. Want: SETTINGS_MEASURED, which never is
 * so; before: what it had. An interface that is gone has nothing to be put back.
 */
#define SETTINGS_MEASURED "changing"
extern const struct op_type op_bench_settings;

#endif
