// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/saved_image.h"

#include "base/util.h"
#include "host/host.h"

#define IMAGE "/var/lib/libvirt/qemu/save/%s.save"

bool saved_image_exists(struct vfctl_ctx *ctx, const char *domain)
{
	return domain[0] && !strchr(domain, '/') && host_exists(ctx, IMAGE, domain);
}

void saved_image_warn(struct vfctl_ctx *ctx, const char *domain)
{
	if (saved_image_exists(ctx, domain))
		log_warn(ctx, "domain %s has a managed save image, and its next start uses the definition "
			"in that image, without this change; start and stop it before the change, or "
			"discard the image and the guest's memory: virsh managedsave-remove %s", domain,
			domain);
}

int saved_image_explain(struct vfctl_ctx *ctx, int r, const char *domain)
{
	if (r >= 0 || !saved_image_exists(ctx, domain))
		return r;
	return ctx_append(ctx, r, "; the domain starts from its managed save image, which has an older "
		"definition: restore what the image needs, or discard the image and the guest's memory: "
		"virsh managedsave-remove %s", domain);
}
