/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_MEASURE_H
#define VFCTL_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"
#include "core/hypervisor.h"
#include "core/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A plan of measurements, read and checked, with its order of runs. */
struct vfctl_bench;

/** What to measure with. Zeroed, it is the plan's own. */
struct vfctl_bench_plan_options {
	uint64_t seed;	 /**< of the order; 0: the plan's, or one by the clock */
	uint32_t trials; /**< 0: the plan's */
	struct vfctl_hypervisor *hypervisor; /**< for guests by their agent; not owned; may be NULL */
	bool search;	      /**< look for the best configuration (bench/search_report.h) */
	uint32_t max_seconds; /**< of a search; 0: no limit */
};

/**
 * Read a plan. Nothing is looked at yet.
 * @param file  its name, for messages. @param text  @p len bytes of YAML.
 * @return 0; -EINVAL the plan cannot mean that (FILE:LINE:COLUMN: words); -E2BIG; -ENOMEM.
 */
int vfctl_bench_open(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret_bench);
/**
 * The plan of a result directory, in its order, to go on with it.
 * @return 0; -ENOENT there is no result; -EBADMSG; as vfctl_bench_open().
 */
int vfctl_bench_reopen(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret_bench);
/** Free it. What a run changed was put back before. NULL is fine. */
void vfctl_bench_close(struct vfctl_bench *bench);
DEFINE_FREEP(struct vfctl_bench, vfctl_bench_close)

const char *vfctl_bench_name(const struct vfctl_bench *bench);
uint64_t vfctl_bench_seed(const struct vfctl_bench *bench);
/** The JSON schema of a plan, for editors. The caller frees it. @return 0; -ENOMEM. */
int vfctl_bench_schema(struct vfctl_ctx *ctx, char **ret_text);

/** One run of the plan. The texts are the caller's: free() each. */
struct vfctl_bench_turn {
	unsigned trial; /**< 0: a warm-up, not counted */
	const char *configuration; /**< owned by the plan */
	char *what;   /**< "udp-latency, 64 bytes" */
	char *client; /**< command line */
	char *server; /**< NULL: there is none */
};
size_t vfctl_bench_turn_count(const struct vfctl_bench *bench);
int vfctl_bench_turn(const struct vfctl_bench *bench, size_t index, struct vfctl_bench_turn *ret);

/**
 * Look at both ends of every configuration: are device, link, port and tools there, and what would
 * spoil the figures? Changes nothing. @return 0, also when a check fails; or that an end cannot be
 * reached.
 */
int vfctl_bench_look(struct vfctl_bench *bench);
/** What was found, owned by the bench. */
size_t vfctl_bench_checks(const struct vfctl_bench *bench,
	const struct bench_check **ret_checks);
/** Of a search: the most runs that it may make; else vfctl_bench_turn_count(). */
size_t vfctl_bench_most_runs(const struct vfctl_bench *bench);
/** A run's time as the plan has it, s; 0: not known. Starting programs comes on top. */
unsigned vfctl_bench_run_seconds(const struct vfctl_bench *bench);
/** The name of a configuration; NULL past the end. */
const char *vfctl_bench_configuration_name(const struct vfctl_bench *bench, size_t index);
/** What is changed while it is measured and put back afterwards, a line each; NULL past the end. */
const char *vfctl_bench_effect(const struct vfctl_bench *bench, size_t index);

/**
 * Measure, after vfctl_bench_look(): runs that @p directory has no figures of yet. It is made when it
 * is not there. Settings and tunnels are in the journal of this host, and are put back in any
 * case; when this process dies, by vfctl recover. What was measured is kept.
 * @return 0; -EINTR after vfctl_ctx_cancel(); -EBUSY another measures on the same interface; -ENODEV a
 * check failed; -EEXIST the directory is another plan's; -EIO too many runs failed one after the
 * other, or the errno of what could not be written.
 */
int vfctl_bench_run(struct vfctl_bench *bench, const char *directory);

/**
 * Settings worth trying in a search on a network device of this host, by its driver.
 * @param ret_settings	room for VFCTL_CANDIDATES_MAX (core/tuning.h).
 * @return 0; -ENODEV no such device; -EOPNOTSUPP it has nothing that is worth it, or the kernel no
 *	ethtool netlink.
 */
int vfctl_search_settings(struct vfctl_ctx *ctx, const char *device,
	struct vfctl_coalesce *ret_settings, size_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
