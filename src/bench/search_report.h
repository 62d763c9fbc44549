/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_SEARCH_REPORT_H
#define VFCTL_BENCH_SEARCH_REPORT_H

#include "bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The verdict of a search. It never depends on the results by which the winner was chosen. */
enum vfctl_search_verdict {
	VFCTL_SEARCH_UNDECIDED,	    /**< too little was measured */
	VFCTL_SEARCH_NO_DIFFERENCE, /**< no setting is shown to be better than the present ones */
	VFCTL_SEARCH_NONE_BETTER,   /**< all others are shown to be worse */
	VFCTL_SEARCH_BETTER,	    /**< @c best is better, in trials made to confirm that */
};
/** "better", "none better", "no difference shown", "undecided"; never NULL. */
const char *vfctl_search_verdict_name(enum vfctl_search_verdict verdict);

enum vfctl_search_state {
	VFCTL_SEARCH_RACES, /**< it was measured to the end of the race */
	VFCTL_SEARCH_WORSE, /**< it left early: shown to be worse than another */
	VFCTL_SEARCH_FAILS, /**< it left early: the driver rejected it, or the workload failed with it */
};
/** "in the race", "worse", "fails"; never NULL. */
const char *vfctl_search_state_name(enum vfctl_search_state state);

struct vfctl_search_candidate {
	const char *name;
	const struct bench_setting *settings; /**< its settings, with places, as in bench.json */
	size_t setting_count;
	size_t trials, failed; /**< of the race */
	double median;	       /**< of the race; NAN: all trials failed */
	enum vfctl_search_state state;
	unsigned left_after;   /**< round of the race; 0: it did not leave */
	size_t worse_than;     /**< for a worse one: index of the better candidate; else SIZE_MAX */
	double p;	       /**< the probability of such results if it were not worse; NAN: not judged */
	const char *error;     /**< of its first failure; NULL: none */
};

/** A search as recorded in its result directory. A snapshot, freed as a whole. */
struct vfctl_search {
	const char *directory, *name, *test;
	const char *goal, *unit; /**< "p50", "us"; "" */
	bool higher_is_better, emulated;
	double alpha, noise;
	bool over;	       /**< measured to its end; else it can be continued */
	bool out_of_time;      /**< its time limit expired before more could be shown */
	bool fails;	       /**< the workload fails with the original settings */
	enum vfctl_search_verdict verdict;
	struct vfctl_search_candidate *candidates;
	size_t candidate_count;
	size_t baseline;       /**< index of the candidate with the original settings */
	size_t best;	       /**< index of a candidate; the baseline unless the verdict is better */
	size_t leader;	       /**< leader of the race, even if it was not confirmed; SIZE_MAX: none */
	/*
	 * The comparison of leader and baseline in the confirmation. NAN and 0 pairs if there was
	 * none.
	 */
	size_t pairs;
	double baseline_median, leader_median;
	double change, change_low, change_high; /**< relative, with the interval of 1 - alpha */
	double p, p_adjusted;  /**< equal, because it is the only comparison of these trials */
	size_t runs, most_runs; /**< runs that were made; largest possible number */
	double seconds;	       /**< duration of all runs */
	const char **sentences; /**< the verdict first, as text */
	size_t sentence_count;
};

/**
 * Read the result of a search from its directory, also during the search.
 * @return 0; -ENOENT no result; -EINVAL it is not a search; -EBADMSG; -ENOPKG GSL is not installed;
 * -ENOMEM.
 */
int vfctl_search_read(struct vfctl_ctx *ctx, const char *directory,
	struct vfctl_search **ret_search);
void vfctl_search_free(struct vfctl_search *search); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_search, vfctl_search_free)

#ifdef __cplusplus
}
#endif
#endif
