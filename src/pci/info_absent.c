// SPDX-License-Identifier: GPL-2.0-or-later
/* Used instead of info.c in a build without libpci. */
#include <errno.h>

#include "base/ctx.h"
#include "pci/info.h"

int vfctl_pci_info_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *ret_info)
{
	return ctx_fail(ctx, -ENOPKG, "this vfctl was built without libpci");
}
