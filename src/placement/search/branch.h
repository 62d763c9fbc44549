/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_BRANCH_H
#define VFCTL_PLACEMENT_SEARCH_BRANCH_H

#include "placement/search/search.h"

/* The state of one search, for the files that it is made of. */
typedef int64_t score[VFCTL_LEVELS];

struct search {
	struct vfctl_ctx *ctx;
	const struct capacity *capacity;
	struct demand *demands; /* in the order they are tried */
	size_t count;
	size_t *same_until; /* first demand behind the ones that ask the same */
	struct node_free *rooms; /* of each depth */
	struct option_list *lists;
	size_t judged_cells; /* of a guest alone: lists[0] has its options; 0: no more */
	struct flow flow;
	uint64_t flow_work; /* counted so far */
	uint64_t first_work; /* left for what comes before the steps, as option_list counts it */
	struct chosen *now, *best;
	const struct chosen *known; /* a plan to begin with, by the requests' order; NULL none */
	score sum;	    /* of what is placed now, but for VFs' distance */
	score best_score, root;
	bool has_best;
	bool best_is_open; /* which VFs it has, and so its last two levels, is not known yet */
	struct node_free *best_rooms;
	unsigned levels; /* that count in this pass */
	uint64_t steps, max_steps, next_look;
	uint64_t any_steps; /* for one guest more, when no plan was found in the others */
	struct limit limit;
	struct reach **reach; /* of each type, to be freed */
	bool stopped, proven, cut; /* cut: a guest had more options than are looked at */
	bool partial;		   /* a guest that others come after was not split in all ways */
	bool first_fit;
	int error;
};

/* bound.c: nothing that comes of this depth is better than @ret. */
void search_bound(const struct search *s, size_t depth, const struct node_free *rooms, score ret);
/* All guests have their nodes: what the last two levels can be at best. */
void search_bound_leaf(const struct search *s, const struct node_free *rooms, score io);
/* VFs that the placed guests leave, and free bytes of a node in pages of all sizes. */
uint64_t search_vfs_left(const struct search *s);
uint64_t search_memory(const struct search *s, const struct node_free *room);

/* demands.c: the orders that guests are tried in, and what each needs by itself. */
int demands_by_index(const void *a, const void *b);
int demands_by_size(const void *a, const void *b);
int demands_by_hardness(const void *a, const void *b);
void demands_find_types(struct search *s);
void demands_find_runs(struct search *s);
void demands_find_reach(struct search *s, size_t type);
/* Can it be had as one of these? Not all of very many are tried. */
bool demand_has_option(struct search *s, const struct demand *demand, struct option_list *list);
/* Work, as option_list counts it, of VFs of one option, from when the flow had seen @edges. */
uint64_t search_vf_work(const struct search *s, const struct demand *demand, uint64_t edges);
void demand_judge_alone(struct search *s, struct demand *demand, struct option_list *list);
int search_allocate(struct search *s);
void search_release(struct search *s);

/* search.c: count a step; false: there are no more. */
bool search_step(struct search *s);
/* All guests are placed or left out: keep the plan if it is better than the best. */
void search_leaf(struct search *s, const struct node_free *rooms);
/* Place the guest of that depth so and go on with @next: 1; 0: its VFs are not there. */
int search_with_option(struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells, void (*next)(struct search *s, size_t depth));
bool search_could_place(const struct search *s, size_t depth);
int options_by_promise(const void *a, const void *b);

/* An option or a leaf costs about as much as so much work. */
#define OPTION_WORK_PER_STEP 16
/* A plan to begin with thinks about so many guests at full length. */
#define GREEDY_GUESTS 64
/* first_plan.c: so much of first_work is spent. */
void search_spend_first(struct search *s, uint64_t work);
/* The plan that is known, from that depth on. */
void search_known_plan(struct search *s, size_t depth);
/* Each guest in turn takes the best option that is left, or the @first. */
void search_greedy(struct search *s, bool first);

#endif
