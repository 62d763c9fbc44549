// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz.h"
#include "core/context.h"
#include "core/guest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vfctl_guest *guest = NULL;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_guest_parse(ctx, "fuzz", (const char *)data, size, &guest) == 0)
		FUZZ_CHECK(vfctl_guest_name_valid(guest->name) && guest->vcpus &&
			   vfctl_guest_vf_total(guest) <= VFCTL_GUEST_VFS_MAX);
	else
		FUZZ_CHECK(!guest && *vfctl_ctx_error(ctx));
	vfctl_guest_free(guest);
	vfctl_ctx_free(ctx);
	return 0;
}
