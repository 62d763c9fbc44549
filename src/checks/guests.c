// SPDX-License-Identifier: GPL-2.0-or-later
/* Domains with host devices, as libvirt keeps them: what will not work when they start. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "checks/check.h"
#include "facts/address.h"
#include "facts/domains.h"
#include "host/host.h"
#include "pci/bars.h"

struct guest {
	const struct known_domain *domain;
	struct vfctl_domain_address address;
	uint64_t bar_bytes;
};

static int read_guest(struct exam *e, const struct known_domain *domain, struct guest *ret)
{
	_free_ char *xml = NULL;
	int r = host_try_read(e->ctx, &xml, LIBVIRT_DEFINITIONS "/%s.xml", domain->name);

	*ret = (struct guest){.domain = domain};
	if (r == 0)
		r = vfctl_domain_address_read(e->ctx, xml, &ret->address);
	if (r < 0)
		ctx_clear(e->ctx);
	for (size_t i = 0; i < domain->device_count; i++)
		ret->bar_bytes += pci_bar_bytes(e->ctx, &domain->devices[i]);
	return r;
}

static void each_guest(struct exam *e, void (*look)(struct exam *e, const struct guest *g))
{
	_known_domains_ struct known_domains *domains = NULL;

	if (known_domains_read(e->ctx, &domains) < 0) {
		e->failed = true;
		return;
	}
	for (size_t i = 0; i < domains->count; i++) {
		struct guest g;

		/* What runs is looked at by its definition: that is what the next start has. */
		if (domains->v[i].pid || !domains->v[i].device_count)
			continue;
		if (read_guest(e, &domains->v[i], &g) == 0)
			look(e, &g);
		else if (e->check == guest_checks) /* once for all of them */
			unknown(e, "the definition of %s cannot be read", domains->v[i].name);
	}
}

static unsigned bits_of(const struct guest *g, const struct vfctl_address_space *host)
{
	if (!g->address.passthrough)
		return g->address.bits;
	return g->address.limit && g->address.limit < host->cpu_bits ? g->address.limit : host->cpu_bits;
}

static void look_at_bars(struct exam *e, const struct guest *g)
{
	struct vfctl_address_space host = {0};
	uint64_t room;
	unsigned bits;

	address_widths_read(e->ctx, &host);
	bits = bits_of(g, &host);
	if (!bits)
		return;
	room = vfctl_domain_bar_room(g->address.uefi, bits, 0);
	if (g->bar_bytes > room)
		found(e, g->domain->name, "its devices' BARs take %" PRIu64 " GiB, and with addresses "
			"of %u bits %s has %" PRIu64 " GiB for them", g->bar_bytes >> 30, bits,
			g->address.uefi ? "UEFI" : "the guest", room >> 30);
}

static void check_guest_bars(struct exam *e)
{
	each_guest(e, look_at_bars);
}

static void look_at_width(struct exam *e, const struct guest *g)
{
	struct vfctl_address_space host = {0};
	unsigned bits;

	address_widths_read(e->ctx, &host);
	bits = bits_of(g, &host);
	/* UEFI puts BARs at the top; SeaBIOS right behind the memory. */
	if (g->address.uefi && host.iommu_bits && bits > host.iommu_bits && g->bar_bytes)
		found(e, g->domain->name, "its addresses have %u bits, and /sys/class/iommu tells of "
			"an IOMMU that translates %u", bits, host.iommu_bits);
}

static void check_guest_width(struct exam *e)
{
	each_guest(e, look_at_width);
}

static void look_at_iommufd(struct exam *e, const struct guest *g)
{
	if (g->address.iommufd && !host_exists(e->ctx, "/dev/iommu"))
		found(e, g->domain->name, "its definition asks for iommufd, and there is no /dev/iommu");
}

static void check_guest_iommufd(struct exam *e)
{
	/* A capture has neither domains nor /dev. */
	if (!host_of(e->ctx)->ops->read_only)
		each_guest(e, look_at_iommufd);
}

const struct check guest_checks[] = {
	{"guest-bars", VFCTL_WARNING, "a device may be missing in a guest: its firmware has no room "
		"for the BARs", "the guest's physical addresses are too few",
		"<maxphysaddr mode='passthrough'/> in <cpu> (vfctl define chooses it by need, where "
		"neither the template nor xml: of guest.yaml does), or SeaBIOS", check_guest_bars},
	{"guest-addresses", VFCTL_WARNING, "a guest may not start, or not reach its devices: its "
		"addresses are wider than the "
		"IOMMU's", "QEMU and the CPU have more bits than the IOMMU translates",
		"<maxphysaddr mode='emulate' bits='N'/> in <cpu> with the IOMMU's bits (vfctl define "
		"writes it)",
		check_guest_width},
	{"guest-iommufd", VFCTL_PROBLEM, "a guest does not start: it asks for what this kernel has not",
		"Debian's kernels up to 7.3 are built without IOMMUFD", "leave iommufd out of the guest",
		check_guest_iommufd},
	{.name = NULL},
};
