/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SELFTEST_TRIALS_H
#define VFCTL_SELFTEST_TRIALS_H

#include "change/target.h"
#include "drivers/driver.h"
#include "selftest/selftest.h"

/* The result of a trial that the driver tables predict. */
enum expectation { EXPECT_NOTHING, EXPECT_TAKEN, EXPECT_REFUSED };

struct trial {
	char area[16], name[64];
	void (*try)(struct vfctl_selftest *t, struct trial *x);
	enum expectation expect;
	bool asks; /* the driver may not support it: a refusal is a result, not a failure */
	/* The input of the trial; @try decides which members it uses. */
	uint32_t count, value;
	enum vfctl_vf_driver driver;
	struct vfctl_vf_attrs attrs;
	enum vfctl_coalesce_key key;
	/* The result of the trial. */
	enum vfctl_selftest_outcome outcome;
	bool differs;
	double ms;
	char *message;
};

struct vfctl_selftest {
	struct vfctl_ctx *ctx;
	struct target target;
	const struct vfctl_pf *pf; /* the original state */
	const char *name; /* for messages */
	char bdf[VFCTL_BDF_TEXT], device_id[12], kernel[32];
	struct vfctl_change *change; /* restores the PF; in the journal during the trials */
	struct vfctl_coalesce moderation; /* settings that the driver supports; mask 0: none, or
					     they cannot be read */
	int moderation_error;
	const struct driver *moderates; /* NULL: not in the table */
	const struct driver *caps;	       /* NULL: not in the table */
	struct trial *trials;
	size_t count;
	bool failed; /* memory was exhausted */
	bool own_identities; /* the driver accepts no values from vfctl, so VFs are created with its own */
	bool taken;  /* another process started to use a VF: no further trials */
};

/* selftest_plan.c: the trials for this PF, in order. */
int selftest_plan(struct vfctl_selftest *t);

/* selftest_try.c: one function for each kind of trial. */
void selftest_try_create(struct vfctl_selftest *t, struct trial *x);
void selftest_try_too_many(struct vfctl_selftest *t, struct trial *x);
void selftest_try_groups(struct vfctl_selftest *t, struct trial *x);
void selftest_try_no_netdev(struct vfctl_selftest *t, struct trial *x);
void selftest_try_attrs(struct vfctl_selftest *t, struct trial *x);
void selftest_try_refused_mac(struct vfctl_selftest *t, struct trial *x);
void selftest_try_refused_vf(struct vfctl_selftest *t, struct trial *x);
void selftest_try_msix(struct vfctl_selftest *t, struct trial *x);
void selftest_try_driver(struct vfctl_selftest *t, struct trial *x);
void selftest_try_reset(struct vfctl_selftest *t, struct trial *x);
void selftest_try_destroy(struct vfctl_selftest *t, struct trial *x);
/* selftest_port.c: trials on the PF's own network device. */
void selftest_try_settings(struct vfctl_selftest *t, struct trial *x);
void selftest_try_coalesce(struct vfctl_selftest *t, struct trial *x);
void selftest_try_mtu(struct vfctl_selftest *t, struct trial *x);
void selftest_try_eswitch(struct vfctl_selftest *t, struct trial *x);

/*
 * Set the outcome of a trial from the result of its call, whose message is in the context, and from
 * the prediction.
 */
void selftest_judge(struct vfctl_selftest *t, struct trial *x, int r);
void selftest_say(struct vfctl_selftest *t, struct trial *x, enum vfctl_selftest_outcome outcome,
	const char *fmt, ...) _printf_(4, 5);
/* selftest_host.c: -EBUSY: the PF, or the representor of a VF, is a port of a bridge or bond. */
int selftest_check_ports(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* -EBUSY: the host's own traffic uses it: its default route, or a connection. */
int selftest_check_traffic(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* -EBUSY: a VF is in use now; the message names it. */
int selftest_check_pf_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
int selftest_check_idle(struct vfctl_selftest *t);
/* Carry out an inner change, which the outer change rolls back. Frees it. */
int selftest_carry_out(struct vfctl_selftest *t, struct vfctl_change *change);
/* Read VF 0; -ENOENT: the PF has no VF 0. */
int selftest_first_vf(struct vfctl_selftest *t, struct vfctl_inventory **ret_inventory,
	const struct vfctl_vf **ret_vf);

/*
 * selftest_words.c: @text without what identifies a host or a card: addresses of PCI, MACs, GUIDs,
 * UUIDs, and @names (of PFs and their VFs). The caller frees it; NULL if memory is exhausted.
 */
char *selftest_scrub(const char *text, char *const *names);

#endif
