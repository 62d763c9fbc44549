/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOSTSPEC_H
#define VFCTL_HOSTSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/identity.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VFCTL_HOST_SPEC_PATH "/etc/vfctl/host.yaml"
#define VFCTL_HOST_FILE_MAX (1024 * 1024) /**< bytes; a longer host.yaml is refused */

/** A P_Key with a name, as an opensm partition. */
struct vfctl_partition {
	char name[VFCTL_ID_NAME_MAX + 1];
	uint16_t pkey;	/**< 1..0x7fff, without the membership bit */
	bool full;	/**< membership of VFs that do not say: full, or limited */
	bool ipoib;	/**< opensm's flag: make the multicast group for IPoIB */
};

/** The fleet's store: etcd version 3 through its JSON gateway. */
struct vfctl_etcd_spec {
	char **endpoints; /**< "https://host:2379"; NULL-terminated, tried in this order */
	char *prefix;	  /**< of all keys; "/vfctl/" */
	char *ca, *cert, *key;	     /**< PEM files, or NULL */
	char *user, *password_file;  /**< or NULL; the file holds the password alone */
	uint32_t timeout_ms; /**< the longest that one call of ours may take; 5000 */
	uint32_t ttl_s;	     /**< a host not heard of for so long counts as gone; 86400 */
	uint32_t block;	     /**< values set aside here for when etcd is away, 0..120; 16 */
};

/** A host.yaml. Zero-initialised: nothing is declared. */
struct vfctl_host_spec {
	char host[65]; /**< this host's name in the fleet; default: its hostname */
	struct vfctl_id_pool *pools;
	char **pool_pfs; /**< of a pool from a PF's GUID: the PF's name; NULL entries */
	size_t pool_count;
	struct vfctl_partition *partitions;
	size_t partition_count;
	struct vfctl_etcd_spec *etcd; /**< NULL: the host's own store */
	char **after_change; /**< program and arguments to run after a change of GUIDs or
			       P_Keys, without a shell; NULL none */
	uint32_t after_change_timeout_ms; /**< 30000 */
};

/**
 * Read a host.yaml (docs/host.md). All that can be told from the text is checked here.
 * @return as vfctl_guest_parse().
 */
int vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret_spec);
void vfctl_host_spec_free(struct vfctl_host_spec *spec);

/**
 * Read a P_Key as an operator writes it: the name of a partition with optional ":full" or
 * ":limited" (without: the partition's own default), or what vfctl_pkey_parse() reads.
 * @param spec  where names are looked up; may be NULL.
 * @return 0; -EINVAL; -ENOENT no partition of that name, with those there are.
 */
int vfctl_host_spec_pkey(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *text, uint16_t *ret_pkey);

#ifdef __cplusplus
}
#endif
#endif
