/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RACE_H
#define VFCTL_BENCH_RACE_H

#include "base/util.h"
#include "bench/stats.h"

/*
 * The search for the best of several configurations, as decisions: what is measured next, what need
 * not be measured any longer, and what may be claimed in the end. Nothing is looked at here but what
 * race_take() was given, so the same figures give the same decisions, whoever asks.
 *
 * First a race: rounds of one trial of each that is still in it. A configuration leaves when it is
 * shown to be worse than another by more than the noise. Then the leader is measured against the
 * baseline in trials made for that alone: it was chosen for its good figures, so those figures
 * say too much. Only these later trials decide what is claimed.
 */
#define RACE_MAX 64

struct race_rules {
	size_t count, baseline; /* configurations */
	unsigned trials;	/* of each at most, in the race and again in the confirmation */
	bool warmup;		/* one round before, not counted */
	double alpha, noise;
	bool higher_is_better;
	double max_seconds; /* 0: none */
};

enum race_state { RACE_RUNS, RACE_WORSE, RACE_FAILS };

struct race_entry {
	double *values; /* of the race; those that worked */
	size_t worked;
	unsigned failed;
	enum race_state state;
	unsigned round;	/* it left after; 0: never */
	size_t by;	/* RACE_WORSE: the one that it is worse than */
	double p;	/* and the chance of such figures were it not */
};

enum race_verdict {
	RACE_UNDECIDED,	    /* too little could be measured */
	RACE_NO_DIFFERENCE, /* nothing is shown to be better */
	RACE_NONE_BETTER,   /* all others are shown to be worse */
	RACE_BETTER,	    /* the leader is, and by so much */
};

/* Why it is over. */
enum race_reason {
	RACE_GOES_ON,
	RACE_CONFIRMED,	      /* measured again to the end */
	RACE_BASELINE_LEADS,
	RACE_WITHIN_NOISE,    /* the leader is ahead by less than that */
	RACE_BASELINE_FAILS,
	RACE_OUT_OF_TIME,
};

enum race_phase { RACE_WARMS_UP, RACE_RACES, RACE_CONFIRMS, RACE_OVER };

struct race {
	struct race_rules rules;
	struct race_entry entries[RACE_MAX];
	enum race_phase phase;
	enum race_reason reason;
	unsigned round;	   /* made to the end, of the phase */
	double budget;	   /* of error that is left, for each comparison */
	size_t runs;
	double seconds;	   /* that the runs took */
	size_t leader;	   /* once it confirms, or is over with one; else SIZE_MAX */
	unsigned confirm;  /* pairs that are to be made */
	double *pairs[2];  /* baseline, leader: pairs that worked */
	size_t pair_count;
	struct rank_sums sums; /* of the last comparison */
	double half[2];	   /* of the pair that is being made; NAN: failed */
	enum race_verdict verdict;
	struct difference difference; /* leader minus baseline; only when there are pairs */
};

/* What is measured next: each of @members once, in any order. */
struct race_block {
	enum race_phase phase;
	unsigned trial; /* 0: a warm-up */
	size_t members[RACE_MAX], count;
};

int race_new(const struct race_rules *rules, struct race **ret);
void race_free(struct race *race);
DEFINE_FREEP(struct race, race_free)

/* Judge what was taken. 1: @ret is to be measured; 0: it is over; or -ENOMEM, -ENOPKG with words. */
int race_next(struct vfctl_ctx *ctx, struct race *race, struct race_block *ret);
/* A run of the block. @value NAN: it failed. */
void race_take(struct race *race, size_t configuration, double value, double seconds);
/* How many are still in the race. */
size_t race_runners(const struct race *race);
/* The most runs that it may take. */
size_t race_most_runs(const struct race_rules *rules);

#endif
