/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_SEARCH_H
#define VFCTL_PLACEMENT_SEARCH_SEARCH_H

#include <signal.h>

#include "placement/model/request.h"
#include "placement/search/flow.h"
#include "placement/search/capacity.h"

/* The present place of a guest, for a plan of moves. */
struct current_place {
	size_t cell_count;
	uint8_t nodes[CAPACITY_NODES_MAX];
	uint8_t memory_nodes[CAPACITY_NODES_MAX];
	uint16_t cores[CAPACITY_NODES_MAX][CAPACITY_CLASSES_MAX]; /* by cell */
	uint64_t held[CAPACITY_NODES_MAX]; /* bytes of its page size, by node */
	int page;  /* index of that size; -1: the host has no such pages */
	int qemu_node; /* node of the core that its QEMU shares with others; -1: none */
	size_t vf_count;
	uint16_t groups[VFCTL_GUEST_VFS_MAX]; /* groups of the capacity, one for each VF */
};

/* The nodes on which a cell permits a want to use VFs of a group. */
struct reach {
	uint64_t local, loose; /* where it must be local, and where it need not */
};

/* A request, with values that are used repeatedly. */
struct demand {
	const struct vfctl_request *request;
	size_t index;	  /* index in the order of the requests */
	uint32_t threads; /* smallest number of threads that it takes: of whole cores, including QEMU's */
	uint32_t slack; /* by which it may exceed capacity_open_threads() */
	uint32_t vfs;
	uint32_t most_cells;
	bool split;	  /* it may have several cells */
	bool must_split;  /* no node has space for it beside the others */
	bool none_equal;	  /* some guest requests a node by its number */
	uint64_t least_distance;
	bool can_be_local;
	size_t type; /* the first demand with the same request */
	uint64_t hardness;
	const struct current_place *current;
	struct reach *reach; /* by want, then group; owned by the search */
};

/*
 * Where QEMU's threads of a guest with emulator_cores: auto run, from the point of view of a cell.
 */
enum qemu_place {
	QEMU_ELSEWHERE, /* at another cell; if at none, on the CPUs of the vCPUs */
	QEMU_SEAT,	/* on CPUs that already exist for that purpose */
	QEMU_NEW,	/* on one of the extra cores, which other guests will share */
	QEMU_OWN,	/* on one of the extra cores, alone */
	QEMU_KEPT,	/* on the present core: the guest moves within the node */
};

/* One cell of an option. */
struct opt_cell {
	uint64_t memory;
	uint32_t vcpus, shared;		   /* all vCPUs; the shared ones of these */
	uint16_t cores[CAPACITY_CLASSES_MAX];  /* for vCPUs */
	uint16_t extra[CAPACITY_CLASSES_MAX];  /* for QEMU's threads and I/O threads */
	uint8_t qemu;			   /* enum qemu_place */
	uint8_t qemu_class;		   /* QEMU_NEW: class of its core among @extra */
	uint16_t l3;			   /* number of L3 groups that it takes as a whole; 0: none */
	uint8_t node, memory_node;
};

/* One option for placing a guest. */
struct option {
	size_t first_cell; /* in the list's cells */
	uint64_t nodes;
	uint64_t distance; /* without its VFs */
	uint64_t vf_distance; /* smallest distance that its VFs add */
	uint64_t room;	      /* approximate remainder on its nodes: decides what is tried first */
	uint32_t form;
	uint8_t cell_count, page, threads; /* page: index of the size */
	bool local, stay;
};

/*
 * The limits at which a search ends early. The number of steps gives the same result on every
 * machine. The time limit is the last resort, and a plan that it ended reports this.
 */
struct search_limits {
	uint64_t max_steps;
	uint64_t deadline_ms; /* in the time of now_ms() */
};

/* A limit that ends a search at any point. */
struct limit {
	const volatile sig_atomic_t *cancelled;
	uint64_t deadline_ms; /* in the time of now_ms() */
	bool reached;	      /* set at the last check, and permanently */
};
bool limit_reached(struct limit *limit);

struct option_list {
	struct option *v;
	size_t count, room;
	struct opt_cell *cells;
	size_t cell_count, cell_room;
	bool cut; /* there are more options than these */
	bool partial; /* the guest can be split over the same nodes in more ways than these */
	uint64_t work; /* work that the caller has not subtracted yet; a quarter of a microsecond
			  per unit */
	uint64_t max_work; /* upper limit of the work; 0: only the limit of a single call counts */
	struct limit *limit; /* NULL if there is none */
	size_t enough; /* this many are enough, whichever they are; 0: all */
};

/*
 * Generate options for the demand with @cell_count cells on free resources. @last: no other guest
 * follows, so of several splits over the same nodes only the most even counts.
 */
int options_make(const struct capacity *capacity, const struct demand *demand,
	const struct node_free *rooms,
	size_t cell_count, bool last, struct option_list *list);
void options_clear(struct option_list *list);
/* Cores that the guest holds for the cell, without those that only fill its L3 groups. */
uint32_t option_held_cores(const struct opt_cell *cell);
/* The free resources after the option. */
void option_take(const struct capacity *capacity, const struct demand *demand,
	const struct option *o,
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

/* Whether the group is suitable for the want, and its distance from the cells. */
bool match_allows(const struct capacity *capacity, const struct vfctl_vf_want *want,
	const struct vf_group *group, uint64_t nodes, unsigned max_distance, bool local,
	unsigned *ret_distance);
/* The table of match_allows() for each want, group and node. */
struct reach *match_reach(const struct capacity *capacity, const struct demand *demand);
/* The nodes of a need. */
uint64_t match_nodes(const struct option *o, const struct opt_cell *cells, int cell);
/*
 * The smallest distance that VFs add to @o, each want alone; false if one of them cannot be met
 * even alone.
 */
bool match_floor(const struct capacity *capacity, const struct demand *demand,
	const struct option *o,
	const struct opt_cell *cells, uint64_t *ret_distance);
/*
 * Create a network with the groups of the capacity, each node numbered like its group; then the
 * sink.
 */
int match_begin(const struct capacity *capacity, struct flow *flow);
/* Send the demand's VFs through the network: 1, 0 if there are too few, or -ENOMEM. */
int match_add(const struct capacity *capacity, struct flow *flow, const struct demand *demand,
	const struct option *o, const struct opt_cell *cells);

/* A VF that a demand gets. */
struct given_vf {
	uint16_t group;
	uint16_t want;
	int16_t cell; /* VFCTL_CELL_ANY: no particular cell */
};

/* The choice of a complete plan for each demand. */
struct chosen {
	bool placed;
	struct option option;
	struct opt_cell *cells;	 /* capacity->node_count entries */
	struct given_vf *vfs;	 /* demand->vfs entries */
};

struct leaf {
	uint64_t room, balance;
};

/*
 * Assign all VFs of a complete plan at once: smallest distance, then largest remaining capacity,
 * then best balance. Fills in the VFs of @chosen.
 */
int match_all(const struct capacity *capacity, const struct demand *demands, struct chosen *chosen,
	size_t count, const struct node_free *rooms, uint64_t *io_work, struct leaf *ret);

/* ---- the search ---- */

/*
 * Step limit of each search of a plan, unless its options state another; the time limit is for all
 * together.
 */
#define SEARCH_STEPS 250000
#define SEARCH_TIMEOUT_MS 60000

struct search_result {
	struct chosen *chosen; /* in the order of the requests */
	uint64_t value[VFCTL_LEVELS], bound[VFCTL_LEVELS];
	enum vfctl_plan_level gap_level;
	bool partial; /* the gap exists because not all splits were tried */
	bool clock;   /* the deadline expired before the steps were used */
	uint64_t steps;
};

/* The start of a search. */
struct search_start {
	size_t placed; /* search only plans that place more guests than this; 0: any plan */
	const struct chosen *known; /* a known plan, in the order of the requests: the result is
				       not worse; NULL: none */
};

/* @start NULL: start without any. */
int search_run(struct vfctl_ctx *ctx, const struct capacity *capacity, struct demand *demands,
	size_t count,
	const struct search_start *start, const struct search_limits *limits, struct search_result *ret);
/* The limits of a plan that begins now. */
struct search_limits search_limits_of(const struct vfctl_plan_options *options);
void search_result_clear(struct search_result *result, size_t count);

/* The question whether a guest can be placed at all. */
struct fit {
	bool fits;
	bool sure;	/* all options were tried */
	bool clock;	/* the deadline expired first */
	uint64_t steps; /* set to the limit by the caller; afterwards the rest */
};
int search_fit(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *request, uint64_t deadline_ms, struct fit *io);

/* demand.c */
void demand_init(const struct capacity *capacity, const struct vfctl_request *request, size_t index,
	struct demand *ret);
/* How many threads that are not open it may take, after most_cells is known. */
uint32_t demand_slack(const struct capacity *capacity, const struct demand *demand);
/* Whether two requests are the same except for their names. */
bool request_same(const struct vfctl_request *a, const struct vfctl_request *b);

#endif
