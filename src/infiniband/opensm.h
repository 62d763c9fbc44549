/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_OPENSM_H
#define VFCTL_INFINIBAND_OPENSM_H

#include "base/steps.h"
#include "types/hostspec.h"

/* opensm.conf or partitions.conf, which OpenSM reads again. Like op_file. */
extern const struct op_type op_opensm_file;
/*
 * The service of OpenSM. Target: its unit; want and before: "runs", "stopped", "runs until the next
 * boot" or "starts at the next boot".
 */
extern const struct op_type op_opensm;
/*
 * A port whose link is up. Target: "mlx5_0/1"; want: "managed". It waits for the subnet manager,
 * and warns if none configures the port.
 */
extern const struct op_type op_subnet_port;

/*
 * Add the step that writes partitions.conf, if it differs.
 * @param exported  the partitions of vfctl_ids_partitions().
 * @return 0; -EEXIST the file is not vfctl's; -ENOENT the administrator's own rules are missing.
 */
int opensm_add_partitions(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	const char *exported, struct steps *steps);
/*
 * Add steps for the settings in opensm.conf and for the service.
 * @param ret_pending  what remains to be done by hand; not set if nothing does.
 * @return 0; -ENOENT OpenSM is not installed.
 */
int opensm_add_service(struct vfctl_ctx *ctx, const struct vfctl_subnet_spec *subnet,
	struct steps *steps,
	char **ret_pending);
/*
 * Add a step for each InfiniBand port whose link is up and that no subnet manager has configured.
 */
int subnet_add_ports(struct vfctl_ctx *ctx, struct steps *steps);

/*
 * The text of opensm.conf with that value for a key. All other lines stay. NULL: out of memory.
 * @param text  the present text; "" for an absent file.
 */
char *opensm_conf_set(const char *text, const char *key, const char *value);

#endif
