// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/nvme.h"

#include <stdio.h>

#include "host/host.h"
#include "pci/device.h"
#include "sriov/links.h"

#define CLASS_NVME 0x010802

/* NVM Express base specification 2.0, figure 285: Secondary Controller List. */
#define CNS_SECONDARIES 0x15
#define ENTRIES 32
#define ENTRY_SIZE 32
#define ENTRY_VF 8
#define ENTRY_QUEUES 10
#define ENTRY_VECTORS 12

static unsigned u16_at(const uint8_t *data)
{
	return data[0] | (unsigned)data[1] << 8;
}

struct bare {
	unsigned count, first_controller, first_vf;
};

/* VFs are numbered from 1; 0 is not a VF. */
static struct bare find_bare(const uint8_t data[HOST_NVME_DATA], uint32_t vfs)
{
	struct bare bare = {0};

	for (unsigned i = 0; i < data[0] && ENTRIES + (i + 1) * ENTRY_SIZE <= HOST_NVME_DATA; i++) {
		const uint8_t *entry = data + ENTRIES + i * ENTRY_SIZE;
		unsigned vf = u16_at(entry + ENTRY_VF);

		if (!vf || vf > vfs ||
			(u16_at(entry + ENTRY_QUEUES) && u16_at(entry + ENTRY_VECTORS)))
			continue;
		if (!bare.count++) {
			bare.first_controller = u16_at(entry);
			bare.first_vf = vf - 1;
		}
	}
	return bare;
}

/* @ret_path: its device file. */
static struct bare look_nvme(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, char ret_path[64])
{
	_free_ uint8_t *data = NULL;
	_strv_ char **names = NULL;

	if (pci_read_hex(ctx, pf, "class") != CLASS_NVME ||
		pci_children(ctx, pf, "nvme", &names) < 0 || !names[0])
		return (struct bare){0};
	snprintf(ret_path, 64, "/dev/%s", names[0]);
	data = calloc(1, HOST_NVME_DATA);
	if (!data || host_nvme_identify(ctx, ret_path, CNS_SECONDARIES, data) < 0)
		return (struct bare){0};
	return find_bare(data, links_count(ctx, pf));
}

unsigned nvme_bare_vfs(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	char path[64];

	return look_nvme(ctx, pf, path).count;
}

void nvme_warn_bare(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	char path[64], text[VFCTL_BDF_TEXT];
	struct bare bare = look_nvme(ctx, pf, path);

	if (bare.count)
		log_warn(ctx, "%s: %u NVMe VF%s no queues or no interrupts yet and cannot be used; "
			"assign some to VF %u: nvme virt-mgmt %s -c %u -r 0 -a 8 -n QUEUES, the same "
			"with -r 1 for interrupts, then nvme virt-mgmt %s -c %u -a 9",
			vfctl_bdf_format(pf, text), bare.count, bare.count == 1 ? " has" : "s have",
			bare.first_vf, path, bare.first_controller, path, bare.first_controller);
}
