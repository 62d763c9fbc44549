// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that several rooms print. */
#include "base/parse.h"
#include "base/util.h"
#include "types/guest.h"
#include "types/placement.h"

static const char *name_of(const char *const *names, size_t count, unsigned value)
{
	return value < count ? names[value] : "unknown";
}

const char *vfctl_pf_name(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT])
{
	if (pf->netdev[0])
		return pf->netdev;
	if (pf->rdma[0])
		return pf->rdma;
	return vfctl_bdf_format(&pf->bdf, buf);
}

const char *vfctl_eswitch_name(enum vfctl_eswitch mode)
{
	static const char *const names[] = {
		[VFCTL_ESWITCH_UNKNOWN] = "unknown",
		[VFCTL_ESWITCH_NONE] = "none",
		[VFCTL_ESWITCH_LEGACY] = "legacy",
		[VFCTL_ESWITCH_SWITCHDEV] = "switchdev",
		[VFCTL_ESWITCH_INACTIVE] = "switchdev_inactive",
	};

	return (size_t)mode < ARRAY_SIZE(names) ? names[mode] : names[VFCTL_ESWITCH_UNKNOWN];
}

const char *vfctl_lag_name(enum vfctl_lag lag)
{
	static const char *const names[] = {[VFCTL_LAG_UNKNOWN] = "unknown", [VFCTL_LAG_OFF] = "off",
		[VFCTL_LAG_ACTIVE] = "active"};

	return (size_t)lag < ARRAY_SIZE(names) ? names[lag] : names[0];
}

const char *vfctl_pci_distance_name(enum vfctl_pci_distance distance)
{
	static const char *const names[] = {[VFCTL_PCI_DISTANCE_UNKNOWN] = "unknown",
		[VFCTL_PCI_PIX] = "PIX",
		[VFCTL_PCI_PXB] = "PXB", [VFCTL_PCI_PHB] = "PHB", [VFCTL_PCI_NODE] = "NODE",
		[VFCTL_PCI_SYS] = "SYS"};

	return (size_t)distance < ARRAY_SIZE(names) ? names[distance] : names[0];
}

const char *vfctl_fabric_name(int fabric)
{
	static const char *const names[] = {[VFCTL_FABRIC_ETHERNET] = "Ethernet",
		[VFCTL_FABRIC_INFINIBAND] = "InfiniBand", [VFCTL_FABRIC_OTHER] = "no network"};

	return fabric > 0 && (size_t)fabric < ARRAY_SIZE(names) ? names[fabric] : NULL;
}

const char *vfctl_refusal_name(enum vfctl_refusal refusal)
{
	static const char *const names[] = {"none", "VFs", "CPUs", "memory", "others"};

	return name_of(names, ARRAY_SIZE(names), refusal);
}

const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind)
{
	static const char *const names[] = {"choice", "warning", "short", "remedy"};

	return name_of(names, ARRAY_SIZE(names), kind);
}

const char *vfctl_threads_name(enum vfctl_threads threads)
{
	static const char *const names[] = {"prefer", "require", "isolate", "none"};

	return name_of(names, ARRAY_SIZE(names), threads);
}

const char *vfctl_affinity_name(enum vfctl_affinity affinity)
{
	static const char *const names[] = {"required", "preferred", "socket", "any"};

	return name_of(names, ARRAY_SIZE(names), affinity);
}

const char *vfctl_plan_level_name(enum vfctl_plan_level level)
{
	static const char *const names[] = {"placed", "local", "moves", "distance", "form", "room",
		"balance"};

	return name_of(names, ARRAY_SIZE(names), level);
}

bool vfctl_guest_name_valid(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > VFCTL_GUEST_NAME_MAX || name[0] == '.' ||
		!utf8_valid(name, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f || name[i] == '/')
			return false;
	return name[0] != ' ' && name[len - 1] != ' ';
}
