/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_MEASURE_H
#define VFCTL_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"
#include "types/hypervisor.h"
#include "types/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A plan of measurements, parsed and checked, with its order of runs. */
struct vfctl_bench;

/** Options for a plan. Zeroed, the plan's own values apply. */
struct vfctl_bench_plan_options {
	uint64_t seed;	 /**< seed of the order; 0: the plan's, or one from the clock */
	uint32_t trials; /**< 0: the plan's */
	struct vfctl_hypervisor *hypervisor; /**< for guests, through their agents; not owned;
						  may be NULL */
	bool search;	      /**< search for the best configuration (bench/search_report.h) */
	uint32_t max_seconds; /**< time limit of a search; 0: none */
	bool quick; /**< one short trial of everything, to see that it works; @trials still counts */
};

/*
 * Check whether a plan is valid, without reading its endpoints. @return 0; as vfctl_bench_open().
 */
int vfctl_bench_check(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len);

/**
 * Read a plan. Its endpoints are not read yet.
 * @param file  its name, for messages. @param text  @p len bytes of YAML.
 * @return 0; -EINVAL the plan is not valid (the message begins with FILE:LINE:COLUMN); -E2BIG;
 * -ENOMEM.
 */
int vfctl_bench_open(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret_bench);
/**
 * Open the plan of a result directory, in its order, to continue it.
 * @return 0; -ENOENT there is no result; -EBADMSG; as vfctl_bench_open().
 */
int vfctl_bench_reopen(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret_bench);
/** Free it. A run has already restored everything that it changed. NULL is allowed. */
void vfctl_bench_close(struct vfctl_bench *bench);
DEFINE_FREEP(struct vfctl_bench, vfctl_bench_close)

const char *vfctl_bench_name(const struct vfctl_bench *bench);
uint64_t vfctl_bench_seed(const struct vfctl_bench *bench);
/** The JSON schema of a plan, for editors. The caller frees it. @return 0; -ENOMEM. */
int vfctl_bench_schema(struct vfctl_ctx *ctx, char **ret_text);

/** One run of the plan. The caller free()s each text. */
struct vfctl_bench_turn {
	unsigned trial; /**< 0: a warm-up, not counted */
	const char *configuration; /**< owned by the plan */
	char *what;   /**< "udp-latency, 64 bytes" */
	char *client; /**< command line */
	char *server; /**< NULL if there is none */
};
size_t vfctl_bench_turn_count(const struct vfctl_bench *bench);
int vfctl_bench_turn(const struct vfctl_bench *bench, size_t index, struct vfctl_bench_turn *ret);

/**
 * Check both ends of every configuration: device, link, port and tools, and what would distort the
 * results. Changes nothing. @return 0, also if a check fails; or why an end cannot be reached.
 */
int vfctl_bench_look(struct vfctl_bench *bench);
/** The results of these checks, owned by the bench. */
size_t vfctl_bench_checks(const struct vfctl_bench *bench,
	const struct bench_check **ret_checks);
/** For a search, the largest number of runs; else vfctl_bench_turn_count(). */
size_t vfctl_bench_most_runs(const struct vfctl_bench *bench);
/** Planned trials of each configuration; of a search, the largest number. */
unsigned vfctl_bench_trials(const struct vfctl_bench *bench);
/**
 * The number of trials with which a verdict is possible; 0: nothing is compared, or it is a search.
 */
unsigned vfctl_bench_trials_needed(const struct vfctl_bench *bench);
/** Planned duration of a run, s; 0: not known. Starting the programs takes additional time. */
unsigned vfctl_bench_run_seconds(const struct vfctl_bench *bench);
/** Estimated duration of all runs, s; for a tool that decides itself, its usual duration. */
unsigned vfctl_bench_seconds(const struct vfctl_bench *bench);
/** What the plan repeats; NULL if it does not state that. */
const char *vfctl_bench_source(const struct vfctl_bench *bench);
/**
 * What the plan needs: packages or programs, "RDMA", "WireGuard", "ssh", "a guest". The caller
 * frees it.
 * @param ret_needs  NULL-terminated. @return 0; -ENOMEM.
 */
int vfctl_bench_needs(const struct vfctl_bench *bench, char ***ret_needs);
/** The name of a configuration; NULL past the last one. */
const char *vfctl_bench_configuration_name(const struct vfctl_bench *bench, size_t index);
/**
 * The changes that are made for the measurement and restored afterwards, one line each; NULL past
 * the last one.
 */
const char *vfctl_bench_effect(const struct vfctl_bench *bench, size_t index);

/**
 * Carry out the runs whose results @p directory lacks, after vfctl_bench_look(). The directory is
 * created if necessary. Settings and tunnels are recorded in this host's journal, and are always
 * restored: if this process dies, by vfctl recover. Completed measurements are kept.
 * @return 0; -EINTR after vfctl_ctx_cancel(); -EBUSY another process measures on the same
 * interface; -ENODEV a check failed; -EEXIST the directory belongs to another plan; -EIO too many
 * consecutive runs failed; or the errno of a failed write.
 */
int vfctl_bench_run(struct vfctl_bench *bench, const char *directory);

/**
 * Settings worth trying in a search on a network device of this host, by its driver.
 * @param ret_settings	room for VFCTL_CANDIDATES_MAX (types/tuning.h).
 * @return 0; -ENODEV no such device; -EOPNOTSUPP it has nothing that is worth it, or the kernel no
 *	ethtool netlink.
 */
int vfctl_search_settings(struct vfctl_ctx *ctx, const char *device,
	struct vfctl_coalesce *ret_settings, size_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
