// SPDX-License-Identifier: GPL-2.0-or-later
/* A host.yaml that is taken has pools of identities only, apart from each other. */
#include "fuzz.h"
#include "spec/host_yaml.h"
#include "types/idrange.h"

static void check_pool(const struct vfctl_id_pool *p)
{
	for (size_t i = 0; i < p->range_count; i++) {
		const struct vfctl_id_range *r = &p->ranges[i];

		FUZZ_CHECK(r->first <= r->last);
		FUZZ_CHECK(!id_fault(p->kind, r->first) && !id_fault(p->kind, r->last));
		FUZZ_CHECK(!i || r[-1].last < r->first - 1);
		/* no group bit in between: both ends have the same first byte */
		FUZZ_CHECK((r->first ^ r->last) >> (p->kind == VFCTL_ID_GUID ? 56 : 40) == 0);
	}
	FUZZ_CHECK(p->name[0] && (p->source != VFCTL_ID_SOURCE_RANGES || p->range_count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vfctl_host_spec *spec = NULL;
	struct vfctl_ctx *ctx;
	uint64_t value;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_host_spec_parse(ctx, "fuzz", (const char *)data, size, &spec) < 0)
		FUZZ_CHECK(!spec && *vfctl_ctx_error(ctx));
	for (size_t i = 0; spec && i < spec->pool_count; i++) {
		const struct vfctl_id_pool *p = &spec->pools[i];

		check_pool(p);
		for (size_t k = 0; k < i; k++)
			FUZZ_CHECK(p->kind != spec->pools[k].kind ||
				!idranges_share(p->ranges, p->range_count, spec->pools[k].ranges,
					spec->pools[k].range_count, &value));
	}
	for (size_t i = 0; spec && i < spec->partition_count; i++)
		FUZZ_CHECK(spec->partitions[i].pkey && spec->partitions[i].pkey < VFCTL_PKEY_FULL);
	FUZZ_CHECK(!spec || (spec->shared_ratio <= 64 &&
		!vfctl_cpuset_intersects(&spec->reserved_cpus, &spec->shared_cpus)));
	vfctl_host_spec_free(spec);
	vfctl_ctx_free(ctx);
	return 0;
}
