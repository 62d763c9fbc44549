// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- values ---- */

uint64_t mac_number(const struct vfctl_mac *mac)
{
	uint64_t value = 0;

	for (int i = 0; i < 6; i++)
		value = value << 8 | mac->byte[i];
	return value;
}

struct vfctl_mac mac_of_number(uint64_t number)
{
	struct vfctl_mac mac;

	for (int i = 0; i < 6; i++)
		mac.byte[i] = (uint8_t)(number >> (40 - 8 * i));
	return mac;
}

bool attrs_carry(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind kind, uint64_t value)
{
	if (kind == VFCTL_ID_MAC)
		return attrs->mask & VFCTL_ATTR_MAC && mac_number(&attrs->mac) == value;
	return (attrs->mask & VFCTL_ATTR_PORT_GUID && attrs->port_guid == value) ||
		(attrs->mask & VFCTL_ATTR_NODE_GUID && attrs->node_guid == value);
}

/* ---- owners ---- */

bool id_same_owner(const struct vfctl_id_owner *a, const struct vfctl_id_owner *b)
{
	return str_eq(a->domain_uuid, b->domain_uuid) && str_eq(a->device, b->device) &&
		(a->domain_uuid[0] || str_eq(a->host, b->host));
}

char *id_owner_text(const struct vfctl_id_owner *o, char buf[ID_OWNER_WORDS])
{
	bool domain = o->domain_uuid[0];

	int len = snprintf(buf, ID_OWNER_WORDS, "%s %s", domain ? "domain" : "host",
		vfctl_id_owner_name(o));

	if (o->device[0])
		len += snprintf(buf + len, ID_OWNER_WORDS - (size_t)len, " (%s)", o->device);
	if (domain && o->host[0])
		snprintf(buf + len, ID_OWNER_WORDS - (size_t)len, " on %s", o->host);
	return buf;
}

/* ---- the store ---- */

/* "0000:3b:00.0/3": the owner is the VF itself, for which create allocated the value. */
static bool is_of_vf(const struct vfctl_id_owner *owner, const struct value_claim *c)
{
	char own[VFCTL_BDF_TEXT + 16];

	if (!c->pf || owner->domain_uuid[0])
		return false;
	snprintf(own, sizeof(own), "%s/%u", TEXT(c->pf), c->vf);
	return str_eq(owner->device, own);
}

static bool is_claimants(const struct vfctl_id_owner *owner, const struct value_claim *c)
{
	const char *domain = c->domain_uuid ? c->domain_uuid : "";

	if (is_of_vf(owner, c))
		return true;
	return str_eq(owner->domain_uuid, domain) && (c->device || domain[0]) &&
		(!c->device || str_eq(owner->device, c->device)) &&
		(domain[0] || !c->host || str_eq(owner->host, c->host));
}

enum value_verdict value_ask_row(const struct vfctl_id *row, const struct value_claim *claim,
	int64_t now)
{
	bool own = row && is_claimants(&row->owner, claim);

	if (!row)
		return VALUE_FREE;
	switch (row->state) {
	case VFCTL_ID_LEASED:
		return own ? VALUE_OWN : VALUE_TAKEN;
	case VFCTL_ID_RESTING: /* its cooldown is over, although the row was not removed */
		return row->until <= now ? VALUE_FREE : own ? VALUE_OWN : VALUE_COOLING;
	case VFCTL_ID_BLOCK: /* may belong to any owner on the host that reserved it */
		return !claim->host || str_eq(row->owner.host, claim->host) ? VALUE_RESERVE
									    : VALUE_TAKEN;
	default: /* found in its own definition */
		return row->owner.domain_uuid[0] && claim->domain_uuid &&
			str_eq(row->owner.domain_uuid, claim->domain_uuid) ? VALUE_OWN : VALUE_QUARANTINED;
	}
}

/* The VF loses its value in the same change: it gets another one of that kind. */
static bool changes(const struct value_facts *f, enum vfctl_id_kind kind,
	const struct vfctl_bdf *pf,
	uint32_t vf)
{
	uint32_t bits = kind == VFCTL_ID_MAC ? VFCTL_ATTR_MAC : VFCTL_ATTR_GUIDS;

	for (size_t i = 0; i < f->changing_count; i++)
		if (f->changing[i].index == vf && vfctl_bdf_compare(&f->changing[i].pf, pf) == 0)
			return (f->changing[i].attrs.mask & bits) == bits;
	return false;
}

/* ---- leases ---- */

static bool is_claimed_vf(const struct vfctl_lease_vf *vf, const struct value_claim *c)
{
	return c->pf && vf->index == c->vf && vfctl_bdf_compare(&vf->pf, c->pf) == 0;
}

/*
 * Values of the claimed VF do not count as leased if its own domain claims them. The VFs of one
 * domain get their former values back together, at the end of its run.
 */
static enum value_verdict ask_leased(const struct vfctl_lease *l, const struct vfctl_lease_vf *vf,
	const struct value_claim *c)
{
	bool same_vf = is_claimed_vf(vf, c);
	bool own = !c->domain_uuid || str_eq(l->domain_uuid, c->domain_uuid);
	bool same = same_vf && own;
	bool together = same_vf || (own && c->domain_uuid);
	bool port = c->bond && own && c->kind == VFCTL_ID_MAC && c->pf &&
		vfctl_bdf_compare(&vf->pf, c->pf) != 0;

	if (!same && !port && attrs_carry(&vf->intent, c->kind, c->value))
		return VALUE_LEASED;
	return !together && attrs_carry(&vf->saved, c->kind, c->value) ? VALUE_SAVED : VALUE_FREE;
}

static struct value_answer ask_leases(const struct value_facts *f, const struct value_claim *c)
{
	const struct vfctl_leases *leases = f->leases;

	for (size_t i = 0; leases && i < leases->count; i++)
		for (size_t k = 0; k < leases->v[i].vf_count; k++) {
			const struct vfctl_lease_vf *vf = &leases->v[i].vfs[k];
			enum value_verdict verdict = ask_leased(&leases->v[i], vf, c);

			if (verdict == VALUE_LEASED && f->leases_change &&
				changes(f, c->kind, &vf->pf, vf->index))
				continue;

			if (verdict != VALUE_FREE)
				return (struct value_answer){verdict, &leases->v[i], vf, NULL, NULL};
		}
	return (struct value_answer){.verdict = VALUE_FREE};
}

/* ---- live values ---- */

static struct value_answer ask_live(const struct value_facts *f, const struct value_claim *c)
{
	for (size_t i = 0; i < f->live.count; i++) {
		const struct live_value *row = &f->live.v[i];

		if (row->kind != c->kind || row->value != c->value)
			continue;
		if (row->vf == LIVE_OF_PF)
			return (struct value_answer){.verdict = VALUE_OF_PF, .live = row};
		if (!(c->pf && row->vf == c->vf && vfctl_bdf_compare(&row->pf, c->pf) == 0) &&
			!changes(f, row->kind, &row->pf, row->vf))
			return (struct value_answer){.verdict = VALUE_LIVE, .live = row};
	}
	return (struct value_answer){.verdict = VALUE_FREE};
}

/* ---- the answer ---- */

struct value_answer value_ask(const struct value_facts *facts, const struct value_claim *claim)
{
	struct value_answer answer = ask_leases(facts, claim);
	enum value_verdict row;

	if (answer.verdict != VALUE_FREE)
		return answer;
	row = value_ask_row(facts->row, claim, facts->now);
	if (row != VALUE_FREE && row != VALUE_OWN)
		return (struct value_answer){.verdict = row, .row = facts->row};
	answer = ask_live(facts, claim);
	if (answer.verdict == VALUE_FREE)
		answer.verdict = row;
	return answer;
}

static int fail_live(struct vfctl_ctx *ctx, const struct value_claim *c, const char *value,
	const struct live_value *row)
{
	if (row->vf == LIVE_OF_PF)
		return ctx_fail(ctx, -EEXIST, "%s is the value of PF %s itself; choose another", value,
			row->name);
	if (row->vf == LIVE_IN_DOMAIN)
		return ctx_fail(ctx, -EEXIST, "%s is in the definition of domain %s; choose another",
			value, row->name);
	return ctx_fail(ctx, -EEXIST, "VF %s/%u already has %s; choose another, or give that VF "
		"another: vfctl set %s/%u %s=...", row->name, row->vf, value, row->name, row->vf,
		c->kind == VFCTL_ID_MAC ? "mac" : "guid");
}

static int fail_row(struct vfctl_ctx *ctx, const char *value, const struct vfctl_id *row,
	enum value_verdict verdict, int64_t now)
{
	char who[ID_OWNER_WORDS];

	id_owner_text(&row->owner, who);
	if (verdict == VALUE_QUARANTINED)
		return ctx_fail(ctx, -EEXIST, "%s is quarantined%s%s; if nothing uses it now: vfctl "
			"guid release %s", value, row->note[0] ? ": " : "", row->note, value);
	if (verdict == VALUE_COOLING)
		return ctx_fail(ctx, -EEXIST, "%s was last used by %s and stays in its cooldown for "
			"another %" PRId64 " s, so that peers do not take the new owner for the old "
			"one; choose another%s%s", value, who, row->until - now,
			row->owner.domain_uuid[0] ? ", or if it is that guest again, write its UUID into "
			"its file: uuid: " : "", row->owner.domain_uuid);
	if (row->state == VFCTL_ID_BLOCK)
		return ctx_fail(ctx, -EEXIST, "%s is in the reserve of host %s in pool %s; reserve it "
			"there first: vfctl guid reserve %s", value, row->owner.host, row->pool,
			value);
	if (row->owner.domain_uuid[0])
		return ctx_fail(ctx, -EEXIST, "%s belongs to %s; choose another, or first detach that VF "
			"from the domain, or undefine the domain, on its host", value, who);
	return ctx_fail(ctx, -EEXIST, "%s belongs to %s; choose another, or release it there "
		"first: vfctl guid release %s", value, who, value);
}

int value_fail(struct vfctl_ctx *ctx, const struct value_claim *claim,
	const struct value_answer *answer, int64_t now)
{
	char text[VFCTL_ID_TEXT];
	const char *value = vfctl_id_format(claim->kind, claim->value, text);

	if (answer->live)
		return fail_live(ctx, claim, value, answer->live);
	if (answer->row)
		return fail_row(ctx, value, answer->row, answer->verdict, now);
	if (answer->verdict == VALUE_LEASED)
		return ctx_fail(ctx, -EEXIST, "%s is leased to domain %s, for VF %s; choose another",
			value, answer->lease->domain_name, TEXT(&answer->vf->bdf));
	return ctx_fail(ctx, -EEXIST, "VF %s gets %s back as its own %s when domain %s ends; choose "
		"another", TEXT(&answer->vf->bdf), value, claim->kind == VFCTL_ID_MAC ? "MAC" : "GUID",
		answer->lease->domain_name);
}
