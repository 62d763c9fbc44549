// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that a guest locks, as libvirt computes it (qemuDomainGetMemLockLimitBytes). */
#include <inttypes.h>

#include "domain/definition.h"
#include "domain/domain.h"

/* For mappings of devices besides the guest's memory. */
#define MEMLOCK_EXTRA (UINT64_C(1) << 30)
#define SINCE_IOMMU_FACTOR 8007000

uint64_t vfctl_domain_memlock_need(
	const struct vfctl_memlock *guest, uint64_t libvirt_version)
{
	uint64_t factor = guest->others, bytes;
	/* With a virtual IOMMU each device maps all memory separately. */
	bool each = guest->iommu &&
		    (!libvirt_version || libvirt_version >= SINCE_IOMMU_FACTOR);

	if (guest->hard_limit_bytes)
		return guest->hard_limit_bytes;
	if (guest->locked)
		return VFCTL_MEMLOCK_UNLIMITED;
	factor += each ? guest->vfio_devices : guest->vfio_devices > 0;
	if (!factor)
		return 0;
	if (__builtin_mul_overflow(factor, guest->memory_bytes, &bytes) ||
		__builtin_add_overflow(bytes, MEMLOCK_EXTRA, &bytes))
		return VFCTL_MEMLOCK_UNLIMITED;
	return bytes;
}

/* The type of an <interface type="network"> is known only at the start: it is not counted. */
static void count_device(const struct xml_node *device, struct vfctl_memlock *m)
{
	const char *name = xml_name(device);

	if (str_eq(name, "hostdev"))
		m->vfio_devices += xml_get_is(device, "type", "pci") ||
				   xml_get_is(device, "type", "mdev");
	else if (str_eq(name, "interface"))
		m->vfio_devices += xml_get_is(device, "type", "hostdev");
	else if (str_eq(name, "iommu"))
		m->iommu = true;
	if (str_eq(name, "interface") && xml_get_is(device, "type", "vdpa"))
		m->others++;
	if (str_eq(name, "disk") && xml_get_is(device, "type", "nvme"))
		m->others++;
}

static int read_size(struct vfctl_ctx *ctx, const struct xml_node *node, uint64_t *ret)
{
	char buf[64];
	const char *text = xml_text(node, buf, sizeof(buf));

	return text ? parsed_bytes(ctx, node, text, ret) : 0;
}

int parsed_read_memlock(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_memlock *ret)
{
	struct vfctl_memlock m = {0};
	int r = read_size(ctx, xml_child(domain, "memory"), &m.memory_bytes);

	if (r == 0)
		r = read_size(ctx, xml_child(xml_child(domain, "memtune"), "hard_limit"),
			&m.hard_limit_bytes);
	if (r < 0)
		return r;
	m.locked = xml_child(xml_child(domain, "memoryBacking"), "locked") != NULL;
	xml_each(device, xml_child(domain, "devices"), NULL)
	{
		count_device(device, &m);
	}
	*ret = m;
	return 0;
}

int vfctl_domain_memlock_read(
	struct vfctl_ctx *ctx, const char *text, struct vfctl_memlock *ret)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);

	return r < 0 ? r : parsed_read_memlock(ctx, xml_root(xml), ret);
}

static char *limit_text(uint64_t bytes)
{
	if (bytes == VFCTL_MEMLOCK_UNLIMITED)
		return strdup("all memory");
	if (bytes < (1 << 20))
		return str_format("%" PRIu64 " KiB", bytes >> 10);
	return str_format("%" PRIu64 " MiB", (bytes + (1 << 20) - 1) >> 20);
}

int vfctl_domain_memlock_judge(struct vfctl_ctx *ctx, const char *name, uint64_t need,
	uint64_t limit, char **ret_warning)
{
	_free_ char *needed = limit_text(need), *allowed = limit_text(limit);
	char *message;

	if (!needed || !allowed)
		return ctx_oom(ctx);
	if (need <= limit) {
		*ret_warning = NULL;
		return 0;
	}
	message = str_format(
		"domain %s locks %s, the libvirt daemon may lock %s and cannot raise that: its start "
		"will fail (cannot limit locked memory); set LimitMEMLOCK=infinity in the daemon's "
		"unit, or give it CAP_SYS_RESOURCE",
		name, needed, allowed);
	if (!message)
		return ctx_oom(ctx);
	*ret_warning = message;
	return 0;
}
