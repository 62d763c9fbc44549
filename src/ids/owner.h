/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_OWNER_H
#define VFCTL_IDS_OWNER_H

#include "base/ctx.h"
#include "core/domain.h"
#include "core/identity.h"
#include "core/lease.h"

/*
 * Who may have a MAC or GUID: the one answer, for all roads on which one is given (create, set,
 * define, attach, the hook, pools, import). Pure: what is known comes with the question.
 */

#define LIVE_OF_PF UINT32_MAX
#define LIVE_IN_DOMAIN (UINT32_MAX - 1) /* of no VF: in a definition */

/* A MAC or GUID that a function of this host has now. */
struct live_value {
	enum vfctl_id_kind kind;
	uint64_t value;
	struct vfctl_bdf pf;
	uint32_t vf;		 /* index, or LIVE_OF_PF: the PF's own */
	char name[64]; /* of the PF, as a person calls it */
};

struct live_values {
	struct live_value *v;
	size_t count;
};

/* What was not looked at is NULL, and stands in nobody's way. */
struct value_facts {
	const struct vfctl_leases *leases; /* all of the host */
	struct live_values live;
	/* VFs that get other values by the same change: what they have now does not count. */
	const struct vfctl_domain_vf *changing;
	size_t changing_count;
	const struct vfctl_id *row; /* what the store of identities has of this very value */
	int64_t now;		    /* seconds since the epoch; for a row that rests */
};

struct value_claim {
	enum vfctl_id_kind kind;
	uint64_t value;
	/*
	 * Whose it will be. Domain NULL: whoever the VF is leased to; "": the host's. Device and
	 * host NULL: any of that owner's.
	 */
	const char *domain_uuid, *device, *host;
	const struct vfctl_bdf *pf; /* the VF that it is for; NULL: none in particular */
	uint32_t vf;
};

/* Bits, so that a road can say which of them it accepts. */
enum value_verdict {
	VALUE_FREE = 1 << 0,
	VALUE_OWN = 1 << 1,	    /* the claimant has it in the store */
	VALUE_LEASED = 1 << 2,	    /* a lease gives it to another VF or domain */
	VALUE_SAVED = 1 << 3,	    /* a VF has it again when its guest stops */
	VALUE_OF_PF = 1 << 4,	    /* a PF has it */
	VALUE_LIVE = 1 << 5,	    /* another VF has it now */
	VALUE_TAKEN = 1 << 6,	    /* the store has it for somebody else */
	VALUE_RESERVE = 1 << 7,	    /* set aside for this host */
	VALUE_COOLING = 1 << 8,	    /* given back, and not to be given again yet */
	VALUE_QUARANTINED = 1 << 9, /* seen live, and nobody's */
};

struct value_answer {
	enum value_verdict verdict;
	const struct vfctl_lease *lease; /* LEASED, SAVED: whose .. */
	const struct vfctl_lease_vf *vf; /* .. and of which VF */
	const struct live_value *live;	 /* OF_PF, LIVE */
	const struct vfctl_id *row;	 /* the others */
};

/* Who has it by lease comes first, then the store, then where it is live. */
struct value_answer value_ask(const struct value_facts *facts, const struct value_claim *claim);
/* The same by the store's row alone. */
enum value_verdict value_ask_row(const struct vfctl_id *row, const struct value_claim *claim,
	int64_t now);
/* -EEXIST with words that name who has the value, where, and what helps. */
int value_fail(struct vfctl_ctx *ctx, const struct value_claim *claim,
	const struct value_answer *answer, int64_t now);

/* One owner: a domain's device, or a device of a host's. */
bool id_same_owner(const struct vfctl_id_owner *a, const struct vfctl_id_owner *b);
/* "domain NAME", "domain UUID", "host NAME" and the device: who that is, in words. */
#define ID_OWNER_WORDS 384
char *id_owner_words(const struct vfctl_id_owner *owner, char buf[ID_OWNER_WORDS]);

/* Do these attributes hold that value, as a MAC or as the GUID of port or node? */
bool attrs_carry(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind kind, uint64_t value);
/* A MAC as the number that the store of identities keeps. */
uint64_t mac_number(const struct vfctl_mac *mac);
struct vfctl_mac mac_of_number(uint64_t number);

#endif
