/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RACE_H
#define VFCTL_BENCH_RACE_H

#include "base/util.h"
#include "bench/stats.h"

/*
 * The decisions of a search for the best of several configurations: what to measure next, what to
 * stop measuring, and what may be claimed in the end. The decisions depend only on the input of
 * race_take(), so the same figures always give the same decisions.
 *
 * First comes a race: in each round one trial of each remaining configuration. A configuration
 * leaves if it is shown to be worse than another by more than the noise. Then the leader is
 * compared with the baseline in new trials: because it was chosen for its good results, these are
 * biased. Only the new trials decide what is claimed.
 */
#define RACE_MAX 64

struct race_rules {
	size_t count, baseline; /* configurations */
	unsigned trials;	/* largest number of each, in the race and again in the confirmation */
	bool warmup;		/* one round before the race, not counted */
	double alpha, noise;
	bool higher_is_better;
	double max_seconds; /* 0: no limit */
};

enum race_state { RACE_RUNS, RACE_WORSE, RACE_FAILS };

struct race_entry {
	double *values; /* of the race, without failed trials */
	size_t worked;
	unsigned failed;
	enum race_state state;
	unsigned round;	/* the round after which it left; 0: it did not leave */
	size_t by;	/* RACE_WORSE: the configuration than which it is worse */
	double p;	/* and the probability of such results if it were not */
};

enum race_verdict {
	RACE_UNDECIDED,	    /* too little could be measured */
	RACE_NO_DIFFERENCE, /* no configuration is shown to be better */
	RACE_NONE_BETTER,   /* all others are shown to be worse */
	RACE_BETTER,	    /* the leader is better, by that much */
};

/* Why the race is over. */
enum race_reason {
	RACE_GOES_ON,
	RACE_CONFIRMED,	      /* the confirmation was completed */
	RACE_BASELINE_LEADS,
	RACE_WITHIN_NOISE,    /* the leader is ahead by less than the noise */
	RACE_BASELINE_FAILS,
	RACE_OUT_OF_TIME,
};

enum race_phase { RACE_WARMS_UP, RACE_RACES, RACE_CONFIRMS, RACE_OVER };

struct race {
	struct race_rules rules;
	struct race_entry entries[RACE_MAX];
	enum race_phase phase;
	enum race_reason reason;
	unsigned round;	   /* number of complete rounds of the phase */
	double budget;	   /* remaining error, for each comparison */
	size_t runs;
	double seconds;	   /* duration of all runs */
	size_t leader;	   /* during and after a confirmation; else SIZE_MAX */
	unsigned confirm;  /* planned number of pairs */
	double *pairs[2];  /* baseline, leader: successful pairs */
	size_t pair_count;
	struct rank_sums sums; /* of the last comparison */
	double half[2];	   /* of the present pair; NAN: failed */
	enum race_verdict verdict;
	struct difference difference; /* leader minus baseline; only if there are pairs */
};

/* The next block: each of @members is measured once, in any order. */
struct race_block {
	enum race_phase phase;
	unsigned trial; /* 0: a warm-up */
	size_t members[RACE_MAX], count;
};

int race_new(const struct race_rules *rules, struct race **ret);
void race_free(struct race *race);
DEFINE_FREEP(struct race, race_free)

/*
 * Decide from the results so far. 1: measure @ret; 0: it is over; or -ENOMEM, -ENOPKG with a
 * message.
 */
int race_next(struct vfctl_ctx *ctx, struct race *race, struct race_block *ret);
/* Add the result of a run of the block. @value NAN: it failed. */
void race_take(struct race *race, size_t configuration, double value, double seconds);
/* Number of configurations that are still in the race. */
size_t race_runners(const struct race *race);
/* The largest number of runs that it may need. */
size_t race_most_runs(const struct race_rules *rules);

#endif
