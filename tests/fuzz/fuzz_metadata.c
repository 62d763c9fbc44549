// SPDX-License-Identifier: GPL-2.0-or-later
#include "domain/definition.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vfctl_domain_intent intent;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_domain_metadata_read(ctx, (const char *)data, size, &intent) == 0) {
		FUZZ_CHECK(intent.vf_count <= VFCTL_GUEST_VFS_MAX && intent.name[0] &&
			   intent.lease_id[0] &&
			   intent.device_count <= VFCTL_DOMAIN_DEVICES_MAX);
		vfctl_domain_intent_missing(&intent);
	} else {
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
	}
	vfctl_ctx_free(ctx);
	return 0;
}
