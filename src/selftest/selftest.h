/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SELFTEST_SELFTEST_H
#define VFCTL_SELFTEST_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct vfctl_ctx;
struct vfctl_selftest;

/** The outcome of a trial. */
enum vfctl_selftest_outcome {
	VFCTL_SELFTEST_UNTRIED,	    /**< not done; the message says why */
	VFCTL_SELFTEST_PASS,	    /**< the result is as expected */
	VFCTL_SELFTEST_UNSUPPORTED, /**< the driver reports that it does not support it */
	VFCTL_SELFTEST_FAIL,
};
/** "not tried", "pass", "not supported", "fail"; never NULL. */
const char *vfctl_selftest_outcome_name(enum vfctl_selftest_outcome outcome);

/** One trial. Its texts are owned by the self-test, and contain no names. */
struct vfctl_selftest_trial {
	const char *area; /**< "create", "attributes", "driver", "reset", ... */
	const char *name; /**< "7 VFs", "vlan=100 proto=802.1ad" */
	enum vfctl_selftest_outcome outcome;
	bool differs;	   /**< from the expectation in vfctl's driver tables */
	double ms;	   /**< duration; NAN: not measured */
	const char *message; /**< further details, or NULL */
};

/** A description of the card's model, without data that identify this one. */
struct vfctl_selftest_card {
	const char *driver;
	const char *device_id; /**< "8086:10c9" */
	const char *kernel;    /**< "6.12.107"; "" if unknown */
	uint32_t class_code;
	bool infiniband;
	uint32_t speed_mbps; /**< 0: unknown */
	uint32_t total_vfs;
	bool moderation_known; /**< vfctl's table of interrupt moderation has the driver */
	bool attributes_known; /**< vfctl's table of VF attributes has it */
};

enum {
	VFCTL_SELFTEST_DRY_RUN = 1, /**< take no lock: the trials can be listed, but not run */
	VFCTL_SELFTEST_FORCE = 2,   /**< even while the PF carries the host's own traffic */
};

/**
 * Examine a PF and list the trials for it. Nothing is changed.
 * @param pf	   name of the PF, see vfctl_inventory_find_pf().
 * @param flags   VFCTL_SELFTEST_ bits.
 * @return 0; -ENOENT no such PF; -EBUSY one of its VFs is in use, leased or in a domain's
 * 	definition (the message names the first), it is a port of a bridge or bond, or this host's
 * 	default route or a TCP connection goes over it; -EOPNOTSUPP its driver cannot create VFs at run
 * 	time; -EROFS a captured host.
 */
int vfctl_selftest_open(struct vfctl_ctx *ctx, const char *pf, unsigned flags,
	struct vfctl_selftest **ret_selftest);
/** Free it, and release its locks. NULL is allowed. */
void vfctl_selftest_close(struct vfctl_selftest *selftest);
DEFINE_FREEP(struct vfctl_selftest, vfctl_selftest_close)

void vfctl_selftest_card(const struct vfctl_selftest *selftest,
	struct vfctl_selftest_card *ret_card);
size_t vfctl_selftest_count(const struct vfctl_selftest *selftest);
/** @return false past the last one. */
bool vfctl_selftest_trial(const struct vfctl_selftest *selftest, size_t index,
	struct vfctl_selftest_trial *ret_trial);

/**
 * Run all trials, and restore the PF, also after vfctl_ctx_cancel(). The state to restore is
 * written to the journal before the first trial, so vfctl_recover() restores it if this process is
 * killed.
 * @return 0, regardless of the results of the trials; -EINTR cancelled; -ESTALE not everything
 * 	is as before (the message lists it); otherwise nothing was tried.
 */
int vfctl_selftest_run(struct vfctl_selftest *selftest);

/** Number of trials that failed, or whose result differs from the driver tables. */
size_t vfctl_selftest_differences(const struct vfctl_selftest *selftest);

#endif
