/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_SEARCH_H
#define VFCTL_PLACEMENT_SEARCH_SEARCH_H

#include <signal.h>

#include "placement/model/request.h"
#include "placement/search/flow.h"
#include "placement/search/capacity.h"

/* Where a guest is now, for a plan of moves. */
struct current_place {
	size_t cell_count;
	uint8_t nodes[CAPACITY_NODES_MAX];
	uint8_t memory_nodes[CAPACITY_NODES_MAX];
	uint16_t cores[CAPACITY_NODES_MAX][CAPACITY_CLASSES_MAX]; /* by cell */
	uint64_t held[CAPACITY_NODES_MAX]; /* bytes of its page size, by node */
	int page;  /* index of that size; -1: the host has no such pages */
	int qemu_node; /* of the core that carries its QEMU's threads with those of others; -1 none */
	size_t vf_count;
	uint16_t groups[VFCTL_GUEST_VFS_MAX]; /* of the capacity, a VF each */
};

/* Nodes of which one, in a cell's place, lets a want have VFs of a group. */
struct reach {
	uint64_t local, loose; /* where it must be local, and where it need not */
};

/* A request, and what is used of it again and again. */
struct demand {
	const struct vfctl_request *request;
	size_t index;	  /* in the order of the requests */
	uint32_t threads; /* the least it takes: of whole cores, with QEMU's own */
	uint32_t slack; /* .. which it may take more of than capacity_open_threads() says */
	uint32_t vfs;
	uint32_t most_cells;
	bool split;	  /* may have several cells */
	bool must_split;  /* no node has room for it beside the others */
	bool no_twins;	  /* some guest asks for a node by its number */
	uint64_t least_distance;
	bool can_be_local;
	size_t type; /* the first demand that asks the same */
	uint64_t hardness;
	const struct current_place *current;
	struct reach *reach; /* by want, then group; of the search */
};

/* QEMU's threads of a guest of emulator_cores: auto, by the cell that they are beside. */
enum qemu_place {
	QEMU_ELSEWHERE, /* beside another cell; of none: where its vCPUs are */
	QEMU_SEAT,	/* on CPUs that are there for that already */
	QEMU_NEW,	/* on one of the extra cores, which others will share */
	QEMU_OWN,	/* on one of the extra cores, alone */
	QEMU_KEPT,	/* on the core that carries them already: the guest moves within the node */
};

/* One cell of an option. */
struct opt_cell {
	uint64_t memory;
	uint32_t vcpus, shared;		   /* all of them; of these, shared ones */
	uint16_t cores[CAPACITY_CLASSES_MAX];  /* for vCPUs */
	uint16_t extra[CAPACITY_CLASSES_MAX];  /* for QEMU's threads and I/O threads */
	uint8_t qemu;			   /* enum qemu_place */
	uint8_t qemu_class;		   /* QEMU_NEW: of the core among @extra */
	uint16_t l3;			   /* L3 groups it takes whole; 0 none */
	uint8_t node, memory_node;
};

/* One way to place a guest. */
struct option {
	size_t first_cell; /* in the list's cells */
	uint64_t nodes;
	uint64_t distance; /* without its VFs */
	uint64_t vf_distance; /* the least its VFs can add */
	uint64_t room;	      /* left on its nodes, about: what is tried first */
	uint32_t form;
	uint8_t cell_count, page, threads; /* page: index of the size */
	bool local, stay;
};

/* CLOCK_MONOTONIC */
uint64_t search_now_ms(void);

/*
 * When a search ends before it is through. Steps are the same on every machine, so the answer is; the
 * clock is the last resort, and a plan that it ended says so.
 */
struct search_limits {
	uint64_t max_steps;
	uint64_t deadline_ms; /* of search_now_ms() */
};

/* What ends a search whatever it is at. */
struct limit {
	const volatile sig_atomic_t *cancelled;
	uint64_t deadline_ms; /* of search_now_ms() */
	bool reached;	      /* when it was looked at last, and from then on */
};
bool limit_reached(struct limit *limit);

struct option_list {
	struct option *v;
	size_t count, room;
	struct opt_cell *cells;
	size_t cell_count, cell_room;
	bool cut; /* there are more than these */
	bool partial; /* the guest can be split over the same nodes in more ways than these */
	uint64_t work; /* what the caller has not taken away yet; a quarter of a microsecond each */
	uint64_t max_work; /* that it may come to; 0: only the limit of a single call counts */
	struct limit *limit; /* NULL: none */
	size_t enough; /* so many will do, and which is best does not matter; 0: all */
};

/*
 * Ways to place the demand with @cell_count cells in what is free. @last: nothing else comes
 * after it, so that of several splits over the same nodes only the most even counts.
 */
int options_make(const struct capacity *capacity, const struct demand *demand, const struct node_free *rooms,
	size_t cell_count, bool last, struct option_list *list);
void options_clear(struct option_list *list);
/* Cores that the guest holds for the cell, but for those that its L3 groups are filled with. */
uint32_t option_held_cores(const struct opt_cell *cell);
/* What is free after the option. */
void option_take(const struct capacity *capacity, const struct demand *demand, const struct option *o,
	const struct opt_cell *cells, struct node_free *rooms);
/* ---- VFs: match.c ---- */

/* VFs of one want, for all cells of the guest or for one. */
struct need {
	uint32_t want;
	int cell; /* VFCTL_CELL_ANY: all */
	uint16_t count;
	unsigned node; /* of the flow */
};

#define NEEDS_MAX (VFCTL_GUEST_VFS_MAX + 1)

/* Is the group good for the want, and how far is it from the cells? */
bool match_allows(const struct capacity *capacity, const struct vfctl_vf_want *want,
	const struct vf_group *group, uint64_t nodes, unsigned max_distance, bool local,
	unsigned *ret_distance);
/* The table of what match_allows() says of each want and group at each node. */
struct reach *match_reach(const struct capacity *capacity, const struct demand *demand);
/* Nodes that a need is about. */
uint64_t match_nodes(const struct option *o, const struct opt_cell *cells, int cell);
/*
 * The least distance that VFs add at @o, each want by itself; false when one of them
 * cannot be met even alone.
 */
bool match_floor(const struct capacity *capacity, const struct demand *demand, const struct option *o,
	const struct opt_cell *cells, uint64_t *ret_distance);
/* A network with the groups of the capacity, each node numbered as its group; then the sink. */
int match_begin(const struct capacity *capacity, struct flow *flow);
/* Give the demand its VFs in the network: 1, 0 when there are not enough, or -ENOMEM. */
int match_add(const struct capacity *capacity, struct flow *flow, const struct demand *demand,
	const struct option *o, const struct opt_cell *cells);

/* A VF that a demand gets. */
struct given_vf {
	uint16_t group;
	uint16_t want;
	int16_t cell; /* VFCTL_CELL_ANY: of no cell in particular */
};

/* What a leaf needs of each demand. */
struct chosen {
	bool placed;
	struct option option;
	struct opt_cell *cells;	 /* capacity->node_count of them */
	struct given_vf *vfs;	 /* demand->vfs of them */
};

struct leaf {
	uint64_t room, balance;
};

/*
 * All VFs at once, for a plan that is complete: least distance, then most room, then best
 * balance. Fills the VFs of @chosen.
 */
int match_all(const struct capacity *capacity, const struct demand *demands, struct chosen *chosen,
	size_t count, const struct node_free *rooms, uint64_t *io_work, struct leaf *ret);

/* ---- the search ---- */

/* Of each search of a plan, unless its options say otherwise; the time is of all of it. */
#define SEARCH_STEPS 250000
#define SEARCH_TIMEOUT_MS 60000

struct search_result {
	struct chosen *chosen; /* by the requests' order */
	uint64_t value[VFCTL_LEVELS], bound[VFCTL_LEVELS];
	enum vfctl_plan_level gap_level;
	bool partial; /* the gap comes of splits that are not looked at */
	bool clock;   /* the deadline came before the steps were used */
	uint64_t steps;
};

/* What a search begins with. */
struct search_start {
	size_t placed; /* only plans that place more guests than these are sought; 0: any plan */
	const struct chosen *known; /* a plan, by the requests' order: none worse is given; NULL none */
};

/* @start: NULL: with nothing. */
int search_run(struct vfctl_ctx *ctx, const struct capacity *capacity, struct demand *demands, size_t count,
	const struct search_start *start, const struct search_limits *limits, struct search_result *ret);
/* Of a plan that begins now. */
struct search_limits search_limits_of(const struct vfctl_plan_options *options);
void search_result_clear(struct search_result *result, size_t count);

/* Whether a guest can be placed at all. */
struct fit {
	bool fits;
	bool sure;	/* no way was left out */
	bool clock;	/* the deadline came first */
	uint64_t steps; /* to be set to what it may take; what is left of them */
};
int search_fit(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *request, uint64_t deadline_ms, struct fit *io);

/* demand.c */
void demand_init(const struct capacity *capacity, const struct vfctl_request *request, size_t index,
	struct demand *ret);
/* What it may take of threads that are not open: once most_cells is known. */
uint32_t demand_slack(const struct capacity *capacity, const struct demand *demand);
/* Requests that ask the same but for their names. */
bool request_same(const struct vfctl_request *a, const struct vfctl_request *b);

#endif
