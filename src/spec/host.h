/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_HOST_H
#define VFCTL_SPEC_HOST_H

#include "spec/reader.h"
#include "types/hostspec.h"

/* Rows of the host's table. */
int read_guid_pools(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_mac_pools(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_partitions(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_etcd(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* A list of CPUs, or "none"; a struct vfctl_cpuset. */
int read_typical(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_host_cpus(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* A size, at most @max; a uint64_t. */
int read_host_memory(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* host_trust.c: foreign-domains, hook, vfs-without-reset and vfs-without-acs. */
int read_exposed(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_foreign(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_hook(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* host_pfs.c */
int read_pfs(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void pf_spec_clear(struct vfctl_pf_spec *pf);
/* host_lag.c */
int read_lags(struct reader *r, const struct key *key, const struct doc_node *value, void *object);
void lag_spec_clear(struct vfctl_lag_spec *lag);
void etcd_spec_free(struct vfctl_etcd_spec *etcd);

/* host_tuning.c */
int read_profiles(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* A struct vfctl_pf_tuning. */
int read_pf_tuning(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void profile_clear(struct vfctl_profile *p);
/* host_kernel.c */
int read_hugepages(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_kernel(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void kernel_spec_clear(struct vfctl_kernel_spec *k);
/* host_subnet.c */
int read_subnet(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
void subnet_spec_clear(struct vfctl_subnet_spec *s);

/* The tables of their mappings, for the host's table. */
extern const struct table pool_table, etcd_table, typical_table, foreign_table, hook_table,
	pf_table, lag_table, host_table, profile_table, pf_tuning_table, page_table,
	kernel_table, subnet_table;
extern const char *const foreign_mode_text[];
#define POOLS_MAX 1000
#define PFS_MAX 256
#define LAGS_MAX 64
#define NAME_PATTERN "^[A-Za-z0-9][A-Za-z0-9._-]*$"

/*
 * A name in vfctl's files: letters, digits, '-', '_', '.', beginning with a letter or digit; at
 * most @max bytes; a char *.
 */
int read_name_text(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

#endif
