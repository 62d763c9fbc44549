// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/saved_image.h"

#include "base/util.h"
#include "host/host.h"

#define IMAGE "/var/lib/libvirt/qemu/save/%s.save"
#define SNAPSHOTS "/var/lib/libvirt/qemu/snapshot/%s"

bool saved_image_exists(struct vfctl_ctx *ctx, const char *domain)
{
	return domain[0] && !strchr(domain, '/') && host_exists(ctx, IMAGE, domain);
}

/*
 * libvirt writes this element into each snapshot: virDomainSnapshotDefFormatInternal(),
 * snapshot_conf.c.
 */
static bool keeps_memory(const char *xml)
{
	return strstr(xml, "<memory snapshot='internal'") || strstr(xml, "<memory snapshot='external'");
}

static bool has_snapshot(struct vfctl_ctx *ctx, const char *domain)
{
	_strv_ char **names = NULL;
	bool found = false;

	if (!domain[0] || strchr(domain, '/') || host_try_list(ctx, &names, SNAPSHOTS, domain) < 0)
		return false;
	for (size_t i = 0; names[i] && !found; i++) {
		_free_ char *xml = NULL;

		found = host_try_read(ctx, &xml, SNAPSHOTS "/%s", domain, names[i]) == 0 &&
			keeps_memory(xml);
	}
	return found;
}

void saved_image_warn(struct vfctl_ctx *ctx, const char *domain)
{
	if (saved_image_exists(ctx, domain))
		log_warn(ctx, "domain %s has a managed save image, and its next start uses the definition "
			"in that image, without this change; start and stop it before the change, or "
			"discard the image and the guest's memory: virsh managedsave-remove %s", domain,
			domain);
	if (has_snapshot(ctx, domain))
		log_warn(ctx, "domain %s has a snapshot with its memory, and a return to that snapshot uses "
			"the definition in the snapshot, without this change; take a new snapshot after the "
			"change (virsh snapshot-list %s shows those from before)", domain, domain);
}

int saved_image_explain(struct vfctl_ctx *ctx, int r, const char *domain)
{
	if (r < 0 && has_snapshot(ctx, domain))
		r = ctx_append(ctx, r, "; if this is the return to a snapshot, the definition is that of the "
			"snapshot: restore what it needs, or return to one made after the change: virsh "
			"snapshot-list %s", domain);
	if (r >= 0 || !saved_image_exists(ctx, domain))
		return r;
	return ctx_append(ctx, r, "; the domain starts from its managed save image, which has an older "
		"definition: restore what the image needs, or discard the image and the guest's memory: "
		"virsh managedsave-remove %s", domain);
}
