/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VERBS_EXPORT_POOLS_H
#define VFCTL_VERBS_EXPORT_POOLS_H

#include "host_ids.h"

/* Print "guid-pool" and "pkey" of a PF whose VFs have GUIDs of one pool; nothing for other PFs. */
int print_pf_pool(struct invocation *in, const struct host_ids *host, const struct vfctl_pf *pf);
/* Print the GUID pools and partitions of host.yaml, which entries of "pfs" may name. */
void print_pools(struct invocation *in, const struct vfctl_host_spec *spec);

#endif
