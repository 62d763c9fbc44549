/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_OPTIONS_H
#define VFCTL_PLACEMENT_SEARCH_OPTIONS_H

#include "placement/search/search.h"

/* The option under construction, shared by the files that generate options. */

/* Largest number of core vectors for one cell; there are several only if cores of a node differ. */
#define VECTORS_MAX 48

struct vector {
	uint16_t cores[CAPACITY_CLASSES_MAX];
	uint32_t threads; /* per core, if it fills all equally; else 1 */
};

struct gen {
	const struct capacity *capacity;
	const struct demand *demand;
	const struct vfctl_request *r;
	const struct node_free *rooms;
	struct option_list *list;
	const struct vfctl_cell_want *wants; /* the stated cells, or the only one */
	size_t count;
	bool last;
	unsigned page;
	uint32_t threads; /* common value of all cells so far; 0: none yet */
	size_t qemu, extra; /* the cells with QEMU's threads and with the other dedicated cores */
	uint64_t used;	  /* nodes */
	struct opt_cell cells[CAPACITY_NODES_MAX];
	uint64_t room, node_room[CAPACITY_NODES_MAX]; /* the present value */
	uint32_t node_threads[CAPACITY_NODES_MAX];	  /* usable, see future_capacity.h */
	struct future_capacity_vfs node_vfs[CAPACITY_NODES_MAX + 1];
	uint64_t work;
	int error;
};

/* option_cores.c: core vectors that hold so many vCPUs, by the request's policy. */
size_t option_vectors(struct gen *g, const struct node_free *room, uint32_t vcpus,
	struct vector list[VECTORS_MAX]);
/* Cores of a node that QEMU's threads of a guest with emulator_cores: auto take: 1 or 0. */
uint32_t option_qemu_cores(const struct gen *g, unsigned node);
/* Use small cores for QEMU's and I/O threads, and leave the large ones to vCPUs. */
bool option_extra(struct gen *g, size_t cell);
/* The first cell on a node with reserved CPUs for QEMU's threads; count if there is none. */
size_t option_host_cell(const struct gen *g);
/* The guest's vCPUs take all cores of the host, so QEMU's threads run there too. */
bool option_fills_host(const struct gen *g);
/* Whole L3 groups for the cell's cores, if they are requested. */
bool option_l3(const struct gen *g, struct opt_cell *cell);

/* option_split.c: place cells that are not stated on nodes from @from on. */
void option_split(struct gen *g, size_t cell, unsigned from);
/* Distribute shared vCPUs over the present cells, in proportion. */
void option_spread_shared(struct gen *g);

/* option_memory.c, for cells with nodes: memory, then cores. */
void option_memory(struct gen *g, size_t cell);
/* Do this if the guest's memory is still to be divided among the cells. */
void option_share_memory(struct gen *g);

/* options.c: cores, for cells with memory. */
void option_place_cores(struct gen *g);
/* Count one step of work; false if none is left. */
bool option_go_on(struct gen *g);
bool option_can_hold(const struct gen *g, unsigned node);
bool option_cell_fits(const struct gen *g, size_t cell, unsigned node);
/* Whether a node with a lower number is equal in all respects and represents this one. */
bool option_has_equal(const struct gen *g, unsigned node);

#endif
