/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SELFTEST_SELFTEST_H
#define VFCTL_SELFTEST_SELFTEST_H

#include "change/target.h"
#include "drivers/driver.h"
#include "core/selftest.h"
#include "core/tuning.h"

/* What the tables say that comes of a trial. */
enum expectation { EXPECT_NOTHING, EXPECT_TAKEN, EXPECT_REFUSED };

struct trial {
	char area[16], name[64];
	void (*try)(struct vfctl_selftest *t, struct trial *x);
	enum expectation expect;
	bool asks; /* nobody knows: that it is refused is an answer, and no failure */
	/* What it is tried with; which of them count is @try's affair. */
	uint32_t count, value;
	enum vfctl_vf_driver driver;
	struct vfctl_vf_attrs attrs;
	enum vfctl_coalesce_key key;
	/* What came of it. */
	enum vfctl_selftest_outcome outcome;
	bool differs;
	double ms;
	char *words;
};

struct vfctl_selftest {
	struct vfctl_ctx *ctx;
	struct target target;
	const struct vfctl_pf *pf; /* as it was at first */
	const char *name; /* for people */
	char bdf[VFCTL_BDF_TEXT], device_id[12], kernel[32];
	struct vfctl_change *change; /* how to put it back; as long as it is tried it is in the journal */
	struct vfctl_coalesce moderation; /* what the driver has; mask 0: nothing, or it cannot be read */
	int moderation_error;
	const struct driver *moderates; /* NULL: not in the table */
	const struct driver *caps;	       /* NULL: not in the table */
	struct trial *trials;
	size_t count;
	bool failed; /* out of memory while adding */
	bool own_identities; /* the driver takes none of vfctl's, so VFs are made with the card's */
	bool taken;  /* somebody took a VF meanwhile: nothing more is tried */
};

/* selftest_plan.c: all that is tried on this PF, in order. */
int selftest_plan(struct vfctl_selftest *t);

/* selftest_try.c: one kind of trial each. */
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
/* selftest_port.c: of the PF's own network device. */
void selftest_try_settings(struct vfctl_selftest *t, struct trial *x);
void selftest_try_coalesce(struct vfctl_selftest *t, struct trial *x);
void selftest_try_mtu(struct vfctl_selftest *t, struct trial *x);
void selftest_try_eswitch(struct vfctl_selftest *t, struct trial *x);

/* The outcome in a row: by what the trial's call returned, whose words the context has, and by what was
 * expected. */
void selftest_judge(struct vfctl_selftest *t, struct trial *x, int r);
void selftest_say(struct vfctl_selftest *t, struct trial *x, enum vfctl_selftest_outcome outcome,
	const char *fmt, ...) _printf_(4, 5);
/* selftest_host.c: -EBUSY: the PF, or what stands for a VF of it, is a port of a bridge or bond. */
int selftest_check_ports(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* -EBUSY: the host's own traffic goes over it: its default route, or a connection. */
int selftest_check_traffic(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* -EBUSY: somebody has a VF by now, whose name the words have. */
int selftest_check_pf_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
int selftest_check_idle(struct vfctl_selftest *t);
/* Carry out an inner change, which the outer one puts back. Frees it. */
int selftest_carry_out(struct vfctl_selftest *t, struct vfctl_change *change);
/* VF 0 as it is now; -ENOENT: there is none. */
int selftest_first_vf(struct vfctl_selftest *t, struct vfctl_inventory **ret_inventory,
	const struct vfctl_vf **ret_vf);

/*
 * selftest_words.c: @text without what identifies a host or a card: addresses of PCI, MACs, GUIDs, UUIDs,
 * and @names (of PFs and their VFs). The caller frees it; NULL: no memory.
 */
char *selftest_scrub(const char *text, char *const *names);

#endif
