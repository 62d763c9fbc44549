// SPDX-License-Identifier: GPL-2.0-or-later
/* The host devices of a domain: a quick look at its text, and those of an intent. */
#include "domain/definition.h"
#include "domain/domain.h"
#include "types/find.h"

/* Definitions and templates of administrators have any quotes, and spaces around "=". */
bool vfctl_domain_may_have_devices(const char *xml, size_t len)
{
	static const char *const mark[] = {"hostdev", "'nvme'", "\"nvme\"", "=nvme", "&quot;nvme",
		"nvme://", "'direct'", "\"direct\"", "'vdpa'", "\"vdpa\"", "vfio-pci", "vhostdev"};

	for (size_t i = 0; i < ARRAY_SIZE(mark); i++)
		if (memmem(xml, len, mark[i], strlen(mark[i])))
			return true;
	return false;
}

const struct vfctl_intent_device *vfctl_domain_intent_device(
	const struct vfctl_domain_intent *intent, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < intent->device_count; i++)
		if (vfctl_bdf_compare(&intent->devices[i].bdf, vf) == 0)
			return &intent->devices[i];
	return NULL;
}

const struct vfctl_domain_vf *vfctl_domain_intent_missing(
	const struct vfctl_domain_intent *intent)
{
	for (size_t i = 0; i < intent->vf_count; i++)
		if (!vfctl_domain_intent_device(intent, &intent->vfs[i].bdf))
			return &intent->vfs[i];
	return NULL;
}
