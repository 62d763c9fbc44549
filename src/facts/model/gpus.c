// SPDX-License-Identifier: GPL-2.0-or-later
/* GPUs, and their distance from the PFs: where GPUDirect RDMA can pass by the CPU. */
#include "base/parse.h"
#include "facts/model/model.h"
#include "host/host.h"
#include "pci/device.h"

#define CLASS_DISPLAY 0x03
#define CLASS_ACCELERATOR 0x12

static const struct {
	uint16_t vendor;
	const char *name;
} vendors[] = {{0x10de, "NVIDIA"}, {0x1002, "AMD"}, {0x8086, "Intel"}};

static const char *vendor_name(uint32_t vendor)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i].vendor == vendor)
			return vendors[i].name;
	return NULL;
}

/* The display of a management controller and that of a virtual machine do not count; nor do VFs. */
static bool is_gpu(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, uint32_t *ret_vendor)
{
	uint32_t class = pci_read_hex(ctx, bdf, "class") >> 16;

	if (class != CLASS_DISPLAY && class != CLASS_ACCELERATOR)
		return false;
	*ret_vendor = pci_read_hex(ctx, bdf, "vendor");
	return (class == CLASS_ACCELERATOR || vendor_name(*ret_vendor)) && !pci_has(ctx, bdf, "physfn");
}

/* The place of a function in the tree. */
struct spot {
	struct vfctl_bdf path[PCI_PATH_MAX];
	size_t count;
	uint32_t root;
	int node;
};

static struct spot spot_of(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, int node)
{
	struct spot s = {.root = pci_root(ctx, bdf), .node = node};

	s.count = pci_path(ctx, bdf, s.path);
	return s;
}

static enum vfctl_pci_distance distance_of(const struct spot *a, const struct spot *b,
	bool one_node)
{
	enum vfctl_pci_distance distance = pci_path_distance(a->path, a->count, b->path, b->count);

	if (distance != VFCTL_PCI_DISTANCE_UNKNOWN)
		return distance;
	if (a->root == PCI_ROOT_UNKNOWN || b->root == PCI_ROOT_UNKNOWN)
		return VFCTL_PCI_DISTANCE_UNKNOWN;
	if (a->root == b->root)
		return VFCTL_PCI_PHB;
	if (one_node)
		return VFCTL_PCI_NODE;
	if (a->node < 0 || b->node < 0)
		return VFCTL_PCI_DISTANCE_UNKNOWN;
	return a->node == b->node ? VFCTL_PCI_NODE : VFCTL_PCI_SYS;
}

static int add_gpu(struct vfctl_ctx *ctx, struct vfctl_host_model *m, const struct vfctl_bdf *bdf,
	uint32_t vendor, const struct spot *pfs)
{
	int node = pci_read_int(ctx, bdf, "numa_node", -1);
	struct spot own = spot_of(ctx, bdf, node);
	const char *name = vendor_name(vendor);
	char driver[PCI_DRIVER_NAME];
	struct vfctl_model_gpu *gpu;

	if (!array_grow(m->gpus, m->gpu_count))
		return ctx_oom(ctx);
	gpu = &m->gpus[m->gpu_count++];
	*gpu = (struct vfctl_model_gpu){.bdf = *bdf, .node = node < 0 ? VFCTL_NODE_NONE : node,
		.vendor = name ? strdup(name) : str_format("0x%04x", vendor),
		.links = calloc(m->pf_count + 1, sizeof(*gpu->links))};
	if (pci_driver(ctx, bdf, driver) == 0 && driver[0])
		gpu->driver = strdup(driver);
	if (!gpu->vendor || !gpu->links || (driver[0] && !gpu->driver))
		return ctx_oom(ctx);
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, bdf)) /* a GPU may be a PF itself */
			gpu->links[gpu->link_count++] = (struct vfctl_gpu_link){m->pfs[i].bdf,
				distance_of(&own, &pfs[i], m->topology->node_count == 1)};
	return 0;
}

int model_read_gpus(struct vfctl_ctx *ctx, struct vfctl_host_model *m)
{
	_free_ struct spot *pfs = calloc(m->pf_count + 1, sizeof(*pfs));
	_strv_ char **names = NULL;
	int r = 0;

	if (!pfs)
		return ctx_oom(ctx);
	if (!m->pf_count || host_try_list(ctx, &names, "/sys/bus/pci/devices") < 0)
		return 0;
	for (size_t i = 0; i < m->pf_count; i++)
		pfs[i] = spot_of(ctx, &m->pfs[i].bdf, m->pfs[i].node);
	for (size_t i = 0; names[i] && r == 0; i++) {
		struct vfctl_bdf bdf;
		uint32_t vendor;

		if (vfctl_bdf_parse(names[i], &bdf) == 0 && is_gpu(ctx, &bdf, &vendor))
			r = add_gpu(ctx, m, &bdf, vendor, pfs);
	}
	return r;
}
