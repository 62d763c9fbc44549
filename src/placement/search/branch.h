/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_BRANCH_H
#define VFCTL_PLACEMENT_SEARCH_BRANCH_H

#include "placement/search/search.h"

/* The state of one search, for the files of which it consists. */
typedef int64_t score[VFCTL_LEVELS];

struct search {
	struct vfctl_ctx *ctx;
	const struct capacity *capacity;
	struct demand *demands; /* in the order in which they are tried */
	size_t count;
	size_t *same_until; /* end of the demands with the same request */
	struct node_free *rooms; /* for each depth */
	struct option_list *lists;
	size_t judged_cells; /* number of cells up to which a single guest was judged: lists[0]
				has its options; 0: none */
	struct flow flow;
	uint64_t flow_work; /* work of flows counted so far */
	uint64_t first_work; /* work left for the preparation, in the units of option_list */
	struct chosen *now, *best;
	const struct chosen *known; /* a plan to begin with, in the order of the requests; NULL: none */
	score sum;	    /* of the guests placed now, without the distance of VFs */
	score best_score, root;
	bool has_best;
	bool best_is_open; /* its VFs, and so its last two levels, are not known yet */
	struct node_free *best_rooms;
	unsigned levels; /* number of levels that count in this pass */
	uint64_t steps, max_steps, next_look;
	uint64_t any_steps; /* for one more pass, if the others found no plan */
	struct limit limit;
	struct reach **reach; /* for each type, to be freed */
	bool stopped, proven, cut; /* cut: not all options of a guest were tried */
	bool partial;		   /* a guest followed by others was not split in all ways */
	bool first_fit;
	int error;
};

/* bound.c: no plan from this depth on is better than @ret. */
void search_bound(const struct search *s, size_t depth, const struct node_free *rooms, score ret);
/* All guests have their nodes: bounds of the last two levels. */
void search_bound_leaf(const struct search *s, const struct node_free *rooms, score io);
/* VFs that the placed guests leave, and free bytes of a node in pages of all sizes. */
uint64_t search_vfs_left(const struct search *s);
uint64_t search_memory(const struct search *s, const struct node_free *room);

/* demands.c: the orders in which guests are tried, and the needs of each guest alone. */
int demands_by_index(const void *a, const void *b);
int demands_by_size(const void *a, const void *b);
int demands_by_hardness(const void *a, const void *b);
void demands_find_types(struct search *s);
void demands_find_runs(struct search *s);
void demands_find_reach(struct search *s, size_t type);
/* Whether one of these options is possible. If there are very many, not all are tried. */
bool demand_has_option(struct search *s, const struct demand *demand, struct option_list *list);
/*
 * Work for the VFs of one option, in the units of option_list, since the flow had visited @edges.
 */
uint64_t search_vf_work(const struct search *s, const struct demand *demand, uint64_t edges);
void demand_judge_alone(struct search *s, struct demand *demand, struct option_list *list);
int search_allocate(struct search *s);
void search_release(struct search *s);

/* search.c: count a step; false: none are left. */
bool search_step(struct search *s);
/* All guests are placed or left out: keep the plan if it is better than the best one. */
void search_leaf(struct search *s, const struct node_free *rooms);
/*
 * Place the guest of that depth with an option and continue with @next: 1; 0: there are no VFs for
 * it.
 */
int search_with_option(struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells, void (*next)(struct search *s, size_t depth));
bool search_could_place(const struct search *s, size_t depth);
int options_by_promise(const void *a, const void *b);

/* An option or a leaf costs about this much work. */
#define OPTION_WORK_PER_STEP 16
/* The first plan considers all options for this many guests. */
#define GREEDY_GUESTS 64
/* first_plan.c: count work of first_work. */
void search_spend_first(struct search *s, uint64_t work);
/* Follow the known plan from that depth on. */
void search_known_plan(struct search *s, size_t depth);
/* Each guest in turn takes the best remaining option, or the @first one. */
void search_greedy(struct search *s, bool first);

#endif
