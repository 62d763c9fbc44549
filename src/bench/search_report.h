/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_SEARCH_REPORT_H
#define VFCTL_BENCH_SEARCH_REPORT_H

#include "bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a search may claim. Nothing is claimed from the figures by which its winner was chosen. */
enum vfctl_search_verdict {
	VFCTL_SEARCH_UNDECIDED,	    /**< too little was measured */
	VFCTL_SEARCH_NO_DIFFERENCE, /**< no setting is shown to be better than what is there now */
	VFCTL_SEARCH_NONE_BETTER,   /**< all others are shown to be worse */
	VFCTL_SEARCH_BETTER,	    /**< @c best is, in trials made to confirm that */
};
/** "better", "none better", "no difference shown", "undecided"; never NULL. */
const char *vfctl_search_verdict_name(enum vfctl_search_verdict verdict);

enum vfctl_search_state {
	VFCTL_SEARCH_RACES, /**< it was measured to the end of the race */
	VFCTL_SEARCH_WORSE, /**< it left early: shown to be worse than another */
	VFCTL_SEARCH_FAILS, /**< it left early: refused by the driver, or the workload failed with it */
};
/** "in the race", "worse", "fails"; never NULL. */
const char *vfctl_search_state_name(enum vfctl_search_state state);

struct vfctl_search_candidate {
	const char *name;
	const struct bench_setting *settings; /**< what it sets; with places, as bench.json has them */
	size_t setting_count;
	size_t trials, failed; /**< of the race */
	double median;	       /**< of the race; NAN: none worked */
	enum vfctl_search_state state;
	unsigned left_after;   /**< round of the race; 0: it stayed */
	size_t worse_than;     /**< of a worse one: a candidate; else SIZE_MAX */
	double p;	       /**< the chance of such figures were it not worse; NAN: not judged */
	const char *error;     /**< of its first failure; NULL: none */
};

/** A search as its result directory tells it. A snapshot, freed as a whole. */
struct vfctl_search {
	const char *directory, *name, *test;
	const char *goal, *unit; /**< "p50", "us"; "" */
	bool higher_is_better, emulated;
	double alpha, noise;
	bool over;	       /**< measured to its end; else it can be gone on with */
	bool out_of_time;      /**< its time was up before more could be shown */
	bool fails;	       /**< the workload does not work with what was there before */
	enum vfctl_search_verdict verdict;
	struct vfctl_search_candidate *candidates;
	size_t candidate_count;
	size_t baseline;       /**< a candidate: what was there before */
	size_t best;	       /**< a candidate; the baseline unless the verdict is better */
	size_t leader;	       /**< that of the race, whatever became of it; SIZE_MAX: none */
	/* Of the confirmation: leader against baseline. NAN, and 0 pairs: there was none. */
	size_t pairs;
	double baseline_median, leader_median;
	double change, change_low, change_high; /**< relative, with the interval of 1 - alpha */
	double p, p_adjusted;  /**< equal: it is the only comparison of these trials */
	size_t runs, most_runs; /**< made; that it might have made */
	double seconds;	       /**< that the runs took */
	const char **sentences; /**< the verdict first, for people */
	size_t sentence_count;
};

/**
 * What a search found, from its directory, also while it goes on.
 * @return 0; -ENOENT no result; -EINVAL it is no search; -EBADMSG; -ENOPKG GSL is not installed; -ENOMEM.
 */
int vfctl_search_read(struct vfctl_ctx *ctx, const char *directory, struct vfctl_search **ret_search);
void vfctl_search_free(struct vfctl_search *search); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_search, vfctl_search_free)

#ifdef __cplusplus
}
#endif
#endif
