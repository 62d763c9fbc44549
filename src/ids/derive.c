// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/derive.h"

#include <errno.h>

/* Only values of other VFs can be in the way, and there are fewer of those. */
#define TRIES_MAX 4096

struct vfctl_mac mac_derive(const struct vfctl_mac *pf_mac, uint32_t vf, uint32_t salt)
{
	uint8_t tail[8] = {(uint8_t)vf, (uint8_t)(vf >> 8), (uint8_t)(vf >> 16),
		(uint8_t)(vf >> 24), (uint8_t)salt, (uint8_t)(salt >> 8),
		(uint8_t)(salt >> 16), (uint8_t)(salt >> 24)};
	uint64_t hash = fnv1a(FNV1A_START, pf_mac->byte, 6);
	struct vfctl_mac mac;

	hash = fnv1a(hash, tail, sizeof(tail));
	hash ^= hash >> 32;
	for (int i = 0; i < 6; i++)
		mac.byte[i] = (uint8_t)(hash >> (8 * i));
	/* Unicast and locally administered (IEEE 802, 8.2.2). */
	mac.byte[0] = (uint8_t)((mac.byte[0] & 0xfcu) | 2);
	return mac;
}

/*
 * A bond or a script changes the present MAC of a PF, but not the permanent one, so derived MACs
 * stay the same after a reboot. Linux before 5.6 does not report it.
 */
static struct vfctl_mac origin_of(const struct vfctl_pf *pf)
{
	struct vfctl_mac mac;

	return vfctl_mac_parse(pf->port_id, &mac) == 0 ? mac : pf->mac;
}

/* The nth candidate, such that no two VFs of a PF share a GUID. 0: there is no nth one. */
static uint64_t candidate(enum vfctl_id_kind kind, const struct vfctl_pf *pf, uint32_t vf,
	uint32_t nth)
{
	uint64_t number = vf + 1 + (uint64_t)nth * (pf->total_vfs ? pf->total_vfs : vf + 1);

	if (kind == VFCTL_ID_MAC) {
		const struct vfctl_mac origin = origin_of(pf), mac = mac_derive(&origin, vf, nth);

		return mac_number(&mac);
	}
	return number <= UINT16_MAX ? vfctl_guid_derive(pf->guid, (uint16_t)number) : 0;
}

static int ask_owner(struct value_facts *facts, const struct value_rows *rows,
	const struct value_claim *claim, enum value_verdict *ret)
{
	struct vfctl_id row;
	int r = rows && rows->find ? rows->find(rows, claim->kind, claim->value, &row) : -ENOENT;

	if (r < 0 && r != -ENOENT)
		return r;
	facts->row = r == 0 ? &row : NULL;
	*ret = value_ask(facts, claim).verdict;
	facts->row = NULL;
	return 0;
}

int identity_derive(struct vfctl_ctx *ctx, struct value_facts *facts,
	const struct value_rows *rows, const char *domain_uuid, enum vfctl_id_kind kind,
	const struct vfctl_pf *pf, uint32_t vf, uint64_t *ret)
{
	struct value_claim claim = {.kind = kind, .domain_uuid = domain_uuid, .pf = &pf->bdf,
		.vf = vf};
	const char *what = kind == VFCTL_ID_MAC ? "MAC" : "GUID";
	char name[VFCTL_BDF_TEXT];
	enum value_verdict verdict = VALUE_TAKEN;
	int r = 0;

	if (kind == VFCTL_ID_GUID && !pf->guid)
		return ctx_fail(ctx, -ENODATA, "the port GUID of %s cannot be read, so no GUID can be "
			"derived for VF %u; name a pool", vfctl_pf_name(pf, name), vf);
	for (uint32_t nth = 0; r == 0 && nth < TRIES_MAX; nth++) {
		claim.value = candidate(kind, pf, vf, nth);
		if (!claim.value)
			break;
		r = ask_owner(facts, rows, &claim, &verdict);
		if (r == 0 && verdict & (VALUE_FREE | VALUE_OWN)) {
			*ret = claim.value;
			return 0;
		}
	}
	return r < 0 ? r : ctx_fail(ctx, -ENOSPC, "all %ss that can be derived for VF %s/%u belong to "
		"other owners; declare a pool of %ss in host.yaml", what, vfctl_pf_name(pf, name), vf, what);
}
