/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_OPTIONS_H
#define VFCTL_PLACEMENT_SEARCH_OPTIONS_H

#include "placement/search/search.h"

/* What the files that make options share: the option while it is put together. */

/* Core counts to choose from for one cell; more only where cores of a node differ. */
#define VECTORS_MAX 48

struct vector {
	uint16_t cores[CAPACITY_CLASSES_MAX];
	uint32_t threads; /* per core, where it fills all alike; else 1 */
};

struct gen {
	const struct capacity *capacity;
	const struct demand *demand;
	const struct vfctl_request *r;
	const struct node_free *rooms;
	struct option_list *list;
	const struct vfctl_cell_want *wants; /* given cells, or the one */
	size_t count;
	bool last;
	unsigned page;
	uint32_t threads; /* what all cells so far agree on; 0: none yet */
	size_t qemu, extra; /* cells that QEMU's threads and the other cores of its own are beside */
	uint64_t used;	  /* nodes */
	struct opt_cell cells[CAPACITY_NODES_MAX];
	uint64_t room, node_room[CAPACITY_NODES_MAX]; /* as it is now */
	uint32_t node_threads[CAPACITY_NODES_MAX];	  /* usable, see outlook.h */
	struct outlook_vfs node_vfs[CAPACITY_NODES_MAX + 1];
	uint64_t work;
	int error;
};

/* option_cores.c: core counts that hold so many vCPUs by the request's policy. */
size_t option_vectors(struct gen *g, const struct node_free *room, uint32_t vcpus,
	struct vector list[VECTORS_MAX]);
/* Cores that QEMU's threads of a guest of emulator_cores: auto take of a node: 1 or 0. */
uint32_t option_qemu_cores(const struct gen *g, unsigned node);
/* Small cores for QEMU's and I/O threads: they leave the large ones to vCPUs. */
bool option_extra(struct gen *g, size_t cell);
/* The first cell on a node where the host has CPUs for QEMU's threads; count: none. */
size_t option_host_cell(const struct gen *g);
/* All cores of the host are the guest's vCPUs': QEMU's threads go there too. */
bool option_fills_host(const struct gen *g);
/* Whole L3 groups for the cell's cores, where it is asked for. */
bool option_l3(const struct gen *g, struct opt_cell *cell);

/* option_split.c: cells that nobody gave, over nodes from @from on. */
void option_split(struct gen *g, size_t cell, unsigned from);
/* Shared vCPUs over the cells as they are, in proportion. */
void option_spread_shared(struct gen *g);

/* option_memory.c, for cells that have their nodes: memory, then cores. */
void option_memory(struct gen *g, size_t cell);
/* The same where the guest's memory is still to be divided among the cells. */
void option_share_memory(struct gen *g);

/* options.c: cores, for cells that have their memory. */
void option_place_cores(struct gen *g);
/* One step more of looking: may it be made? */
bool option_go_on(struct gen *g);
bool option_can_hold(const struct gen *g, unsigned node);
bool option_cell_fits(const struct gen *g, size_t cell, unsigned node);
/* A node of lower number that is the same in all respects stands for this one. */
bool option_has_twin(const struct gen *g, unsigned node);

#endif
