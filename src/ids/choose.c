// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the value for an owner: pure arithmetic. */
#include <errno.h>

#include "ids/ids.h"
#include "ids/pools.h"
#include "types/idrange.h"

#define LOCAL_BIT (UINT64_C(2) << 56) /* IEEE EUI-64: administered locally */

struct vfctl_id_range id_range_of_guid(uint64_t pf_guid)
{
	uint64_t oui = pf_guid & UINT64_C(0xffffff0000000000);
	uint64_t own = pf_guid & 0xffffff;
	uint64_t base = oui | LOCAL_BIT | own << 16;

	return (struct vfctl_id_range){base | 0x0001, base | 0xfffe};
}

uint64_t vfctl_guid_from_mac(const struct vfctl_mac *mac)
{
	const uint8_t *b = mac->byte;

	return (uint64_t)b[0] << 56 | (uint64_t)b[1] << 48 | (uint64_t)b[2] << 40 |
		(uint64_t)b[3] << 16 | (uint64_t)b[4] << 8 | b[5];
}

int vfctl_host_spec_set_pf_guid(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec,
	size_t pool, uint64_t guid)
{
	struct vfctl_id_pool *p = &spec->pools[pool];
	struct vfctl_id_range *range;
	const char *fault = vfctl_guid_fault(guid);
	char text[VFCTL_ID_TEXT];
	uint64_t value;

	if (p->source != VFCTL_ID_SOURCE_HOST)
		return ctx_usage_error(ctx, -EINVAL, "pool %s does not derive from a PF's GUID", p->name);
	if (fault)
		return ctx_fail(ctx, -EINVAL, "pool %s derives from PF %s, whose GUID %s %s",
			p->name, spec->pool_pfs[pool], vfctl_guid_format(guid, text), fault);
	range = malloc(sizeof(*range));
	if (!range)
		return ctx_oom(ctx);
	*range = id_range_of_guid(guid);
	for (size_t i = 0; i < spec->pool_count; i++)
		if (i != pool && spec->pools[i].kind == p->kind && idranges_share(range, 1,
				spec->pools[i].ranges, spec->pools[i].range_count, &value)) {
			free(range);
			return ctx_usage_error(ctx, -EEXIST, "pools %s and %s overlap: %s is in both; "
				"give one of them other ranges in host.yaml", p->name,
				spec->pools[i].name, vfctl_guid_format(value, text));
		}
	free(p->ranges);
	p->ranges = range;
	p->range_count = 1;
	return 0;
}

/* ---- strategies ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return fnv1a(fnv1a(hash, text, strlen(text)), "\xff", 1); /* "a","bc" is not "ab","c" */
}

/* The last step of SplitMix64: FNV alone mixes the high bits badly, and these choose here. */
static uint64_t mix_choice(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t id_choose_start(const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner)
{
	uint64_t hash = FNV1A_START, size;

	if (pool->strategy == VFCTL_ID_LOWEST || !pool->range_count)
		return 0;
	hash = hash_text(hash, owner->domain_uuid[0] ? owner->domain_uuid : owner->host);
	hash = hash_text(hash, owner->device);
	hash = mix_choice(hash_text(hash, pool->name));
	size = idranges_size(pool->ranges, pool->range_count);
	/* The high half of the product is below size, and evenly distributed for any size. */
	return idranges_at(pool->ranges, pool->range_count,
		(uint64_t)((unsigned __int128)hash * size >> 64));
}
