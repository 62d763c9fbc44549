/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_GUEST_H
#define VFCTL_SPEC_GUEST_H

#include "spec/reader.h"
#include "types/guest.h"

#define SIZE_PATTERN "^[0-9]+([KMGT](iB)?)?$"

/* Rows of the guest's table that read a list of mappings into struct vfctl_guest. */
int read_guest_disks(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object);
/* "8GiB": a whole number of MiB. */
int read_memory_size(struct reader *r, const struct key *key, const struct doc_node *value,
	uint64_t *ret_bytes);

/* guest_cells.c */
int read_guest_cells(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_guest_node(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_guest_shared(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
int read_vf_cell(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* Checks that need the whole file. */
int finish_guest_cells(struct reader *r, const struct doc_node *at, struct vfctl_guest *guest);
int finish_guest_vf_cells(struct reader *r, const struct doc_node *at,
	struct vfctl_guest *guest);

/* The tables of their mappings, for the guest's table. */
extern const struct table cell_table, disk_table, vf_table, xml_table, guest_table,
	guest_tuning_table;

/*
 * The defaults of a VF without further keys: a guest has no privileges unless the file grants them.
 */
extern const struct vfctl_guest_vf guest_vf_unsaid;
int read_guest_vfs(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

/*
 * Clear what an existing definition has itself: texts (including name and machine), disks, and the
 * values of the VFs. What determines the placement is kept.
 */
void guest_keep_place(struct vfctl_guest *guest);

/* guest_tuning.c */
#define TUNING_NAME_PATTERN "^[A-Za-z0-9][A-Za-z0-9._-]*$"
int read_guest_tuning(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);

int read_guest_xml(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object);
/* @at: the position of these keys, for messages. */
int check_guest_xml(
	struct reader *r, const struct vfctl_guest *guest, const struct doc_node *at);

#endif
