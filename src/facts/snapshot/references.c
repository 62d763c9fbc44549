// SPDX-License-Identifier: GPL-2.0-or-later
/* Ways of naming a VF in a domain's definition besides its PCI address in <hostdev>. */
#include "facts/snapshot/references.h"

#include <errno.h>
#include <stdio.h>

#include "types/find.h"
#include "domain/domain.h"
#include "host/host.h"
#include "netlink/link.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "sriov/pf.h"

/* libvirt accepts an alternative name, too; sysfs has only the name. */
static int netdev_function(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret)
{
	_cleanup_(nl_links_free) struct nl_links links = {0};
	int r = pf_netdev_function(ctx, name, ret);

	if (r != -ENOENT || strchr(name, '/') || host_exists(ctx, "/sys/class/net/%s", name))
		return r;
	r = nl_link_read(ctx, name, &links);
	if (r == 0 && links.count)
		return pf_netdev_function(ctx, links.v[0].name, ret);
	ctx_clear(ctx);
	return r == -ENOMEM ? r : -ENOENT;
}

/* A macvtap on a PF leaves its VFs as they are. */
static int vf_of_netdev(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret)
{
	struct vfctl_bdf bdf;
	int r = netdev_function(ctx, name, &bdf);

	if (r == 0 && !pci_has(ctx, &bdf, "physfn"))
		r = -ENOENT;
	if (r == 0)
		*ret = bdf;
	return r;
}

int reference_function(struct vfctl_ctx *ctx, const struct vfctl_reference *ref,
	struct vfctl_bdf *ret)
{
	switch (ref->form) {
	case VFCTL_REFERENCE_MACVTAP:
		return vf_of_netdev(ctx, ref->name, ret);
	case VFCTL_REFERENCE_VDPA:
		return str_starts(ref->name, VHOST_VDPA)
			? vdpa_function(ctx, ref->name + strlen(VHOST_VDPA), ret) : -ENOENT;
	case VFCTL_REFERENCE_QEMU:
		*ret = ref->bdf;
		return 0;
	case VFCTL_REFERENCE_NETWORK:
		break;
	}
	return -ENOENT;
}

bool reference_passes_through(enum vfctl_reference_form form)
{
	return form == VFCTL_REFERENCE_QEMU;
}

const char *reference_form_text(enum vfctl_reference_form form)
{
	static const char *const text[] = {
		[VFCTL_REFERENCE_MACVTAP] = "macvtap interface",
		[VFCTL_REFERENCE_VDPA] = "vDPA interface",
		[VFCTL_REFERENCE_QEMU] = "QEMU argument",
		[VFCTL_REFERENCE_NETWORK] = "interface of a network",
	};

	return text[form];
}

/* ---- libvirt networks ---- */

static int add_function(struct vfctl_ctx *ctx, struct known_pool *pool, const struct vfctl_bdf *bdf)
{
	if (!array_grow(pool->functions, pool->count))
		return ctx_oom(ctx);
	pool->functions[pool->count++] = *bdf;
	return 0;
}

/* A network device that is absent gives nothing. */
static int add_named(struct vfctl_ctx *ctx, char *const *names, struct known_pool *pool)
{
	struct vfctl_bdf bdf;
	int r = 0;

	for (; r == 0 && names && *names; names++) {
		int found = netdev_function(ctx, *names, &bdf);

		if (found == -ENOMEM)
			return ctx_oom(ctx);
		if (found == 0)
			r = add_function(ctx, pool, &bdf);
	}
	return r;
}

static int fill_pool(struct vfctl_ctx *ctx, const struct libvirt_network *network,
	struct known_pool *pool)
{
	int r = add_named(ctx, network->interfaces, pool);

	for (size_t i = 0; i < network->function_count && r == 0; i++)
		r = add_function(ctx, pool, &network->functions[i]);
	return r < 0 || network->function_count ? r : add_named(ctx, network->pfs, pool);
}

/* Whether it may be a pool: others are not parsed. */
static bool may_be_pool(const char *text)
{
	return strstr(text, "<pf") || strstr(text, "<interface") || strstr(text, "<address") ||
		strstr(text, " dev");
}

#define NETWORKS "/etc/libvirt/qemu/networks"
#define ACTIVE_NETWORKS "/run/libvirt/network"

static int read_pool(struct vfctl_ctx *ctx, const char *dir, const char *file,
	struct known_pool **io, size_t *io_count)
{
	_cleanup_(libvirt_network_clear) struct libvirt_network network = {0};
	_free_ char *text = NULL;
	struct known_pool *pool;
	int r = host_try_read(ctx, &text, "%s/%s", dir, file);

	if (r < 0 || !text || !may_be_pool(text))
		return r == -ENOMEM ? r : 0;
	r = libvirt_network_read(ctx, text, &network);
	if (r == -EINVAL) /* libvirt ignores it too */
		ctx_clear(ctx);
	if (r < 0 || (!network.pfs && !network.interfaces && !network.function_count))
		return r == -EINVAL ? 0 : r;
	if (!array_grow(*io, *io_count))
		return ctx_oom(ctx);
	pool = &(*io)[(*io_count)++];
	*pool = (struct known_pool){.active = str_eq(dir, ACTIVE_NETWORKS),
		.autostart = host_exists(ctx, NETWORKS "/autostart/%s", file)};
	snprintf(pool->name, sizeof(pool->name), "%.*s", (int)strlen(file) - 4, file);
	return fill_pool(ctx, &network, pool);
}

static int read_dir(struct vfctl_ctx *ctx, const char *dir, struct known_pool **io,
	size_t *io_count)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, "%s", dir);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; names[i] && r == 0; i++) {
		size_t len = strlen(names[i]);

		if (len > 4 && str_eq(names[i] + len - 4, ".xml"))
			r = read_pool(ctx, dir, names[i], io, io_count);
	}
	return r;
}

int known_pools_read(struct vfctl_ctx *ctx, struct known_pool **io, size_t *io_count)
{
	int r = read_dir(ctx, NETWORKS, io, io_count);

	/* A transient network is only here, and so are the addresses of an active one. */
	return r < 0 ? r : read_dir(ctx, ACTIVE_NETWORKS, io, io_count);
}

void known_pools_free(struct known_pool *pools, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(pools[i].functions);
	free(pools);
}

bool known_pool_has(const struct known_pool *pool, const struct vfctl_bdf *pf,
	const struct vfctl_bdf *vf)
{
	return bdf_list_has(pool->functions, pool->count, vf) ||
		bdf_list_has(pool->functions, pool->count, pf);
}
