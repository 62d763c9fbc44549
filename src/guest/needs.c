// SPDX-License-Identifier: GPL-2.0-or-later
/* Check what a guest needs on the host besides its placement: KVM, and its disk images. */
#include <errno.h>

#include "guest/plans.h"
#include "host/host.h"

/* A file that cannot be examined does not count as absent. */
static bool is_absent(struct vfctl_ctx *ctx, const char *path)
{
	_free_ char *target = NULL;

	return host_try_link(ctx, &target, "%s", path) == -ENOENT;
}

static int check_disk(struct vfctl_ctx *ctx, const struct vfctl_guest *guest,
	const struct vfctl_guest_disk *disk)
{
	if (!is_absent(ctx, disk->source))
		return 0;
	if (disk->block)
		return ctx_fail(ctx, -ENOENT, "%s: block device %s, which its file names, does not exist",
			guest->name, disk->source);
	return ctx_fail(ctx, -ENOENT, "%s: disk image %s, which its file names, does not exist; create "
		"it: qemu-img create -f %s %s 20G", guest->name, disk->source,
		disk->format == VFCTL_DISK_RAW ? "raw" : "qcow2", disk->source);
}

int vfctl_guest_check_host(struct vfctl_ctx *ctx, const struct vfctl_guest *guest,
	const struct vfctl_hypervisor *hypervisor)
{
	int r = 0;

	if (host_of(ctx)->ops->read_only || (hypervisor && hypervisor->uri))
		return 0;
	if (guest->virtualization == VFCTL_VIRTUALIZATION_KVM && is_absent(ctx, "/dev/kvm"))
		return ctx_fail(ctx, -ENODEV, "%s needs KVM, and this host has no /dev/kvm; load it: "
			"modprobe kvm_intel (or kvm_amd; vfctl doctor says what is missing), or write "
			"virtualization: qemu into its file", guest->name);
	for (size_t i = 0; i < guest->disk_count && r == 0; i++)
		r = check_disk(ctx, guest, &guest->disks[i]);
	return r;
}
