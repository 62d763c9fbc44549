/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_OWNER_H
#define VFCTL_IDS_OWNER_H

#include "base/ctx.h"
#include "types/domain.h"
#include "types/lease.h"

/*
 * Decide who may have a MAC or GUID. All callers that assign one use this: create, set, define,
 * attach, the hook, pools, import. The function is pure: all facts are passed in.
 */

#define LIVE_OF_PF UINT32_MAX
#define LIVE_IN_DOMAIN (UINT32_MAX - 1) /* not on a VF: in a definition */

/* A MAC or GUID that a function of this host has now. */
struct live_value {
	enum vfctl_id_kind kind;
	uint64_t value;
	struct vfctl_bdf pf;
	uint32_t vf;		 /* index, or LIVE_OF_PF: the PF's own */
	char name[64]; /* name of the PF for messages */
};

struct live_values {
	struct live_value *v;
	size_t count;
};

/* The facts. NULL members were not read, and prevent nothing. */
struct value_facts {
	const struct vfctl_leases *leases; /* all leases of the host */
	struct live_values live;
	/* VFs that get other values in the same change: their present values do not count. */
	const struct vfctl_domain_vf *changing;
	size_t changing_count;
	bool leases_change; /* the leases of these VFs get the other values, too */
	const struct vfctl_id *row; /* the row of this value in the store of identities */
	int64_t now;		    /* seconds since the epoch; for a row in its cooldown */
};

struct value_claim {
	enum vfctl_id_kind kind;
	uint64_t value;
	/*
	 * The future owner. Domain NULL: the domain to which the VF is leased; "": the host. Device
	 * and host NULL: any device of that owner.
	 */
	const char *domain_uuid, *device, *host;
	const struct vfctl_bdf *pf; /* the VF for which it is; NULL: no particular one */
	uint32_t vf;
	bool bond; /* VFs of other PFs of the domain may have this MAC: ports of a bond in the guest */
};

/* Bits, so that each caller can state which of them it accepts. */
enum value_verdict {
	VALUE_FREE = 1 << 0,
	VALUE_OWN = 1 << 1,	    /* the claimant owns it in the store */
	VALUE_LEASED = 1 << 2,	    /* a lease gives it to another VF or domain */
	VALUE_SAVED = 1 << 3,	    /* a VF gets it back when its guest stops */
	VALUE_OF_PF = 1 << 4,	    /* a PF has it */
	VALUE_LIVE = 1 << 5,	    /* another VF has it now */
	VALUE_TAKEN = 1 << 6,	    /* the store has it for another owner */
	VALUE_RESERVE = 1 << 7,	    /* in the reserve of this host */
	VALUE_COOLING = 1 << 8,	    /* released, and still in its cooldown */
	VALUE_QUARANTINED = 1 << 9, /* found live, without an owner */
};

struct value_answer {
	enum value_verdict verdict;
	const struct vfctl_lease *lease; /* LEASED, SAVED: the lease .. */
	const struct vfctl_lease_vf *vf; /* .. and its VF */
	const struct live_value *live;	 /* OF_PF, LIVE */
	const struct vfctl_id *row;	 /* all others */
};

/* Leases are checked first, then the store, then live values. */
struct value_answer value_ask(const struct value_facts *facts, const struct value_claim *claim);
/* Decide by the store's row alone. */
enum value_verdict value_ask_row(const struct vfctl_id *row, const struct value_claim *claim,
	int64_t now);
/* -EEXIST with a message that names the owner of the value, the place, and a remedy. */
int value_fail(struct vfctl_ctx *ctx, const struct value_claim *claim,
	const struct value_answer *answer, int64_t now);

/* Whether two owners are the same device of a domain or of a host. */
bool id_same_owner(const struct vfctl_id_owner *a, const struct vfctl_id_owner *b);
/* Describe an owner: "domain NAME", "domain UUID", or "host NAME" and the device. */
#define ID_OWNER_WORDS 384
char *id_owner_text(const struct vfctl_id_owner *owner, char buf[ID_OWNER_WORDS]);

/* Whether the attributes contain that value, as MAC or as port or node GUID. */
bool attrs_carry(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind kind, uint64_t value);
/* A MAC as the number that the store of identities uses. */
uint64_t mac_number(const struct vfctl_mac *mac);
struct vfctl_mac mac_of_number(uint64_t number);

#endif
