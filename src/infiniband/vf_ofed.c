// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MLNX_OFED's own files (its mlx5/core/sriov_sysfs.c): below the PF's PCI directory
 * sriov/N/{node,port,policy}. A GUID is eight bytes with colons, else EINVAL; the policy is
 * one of Up, Down, Follow.
 */
#include <errno.h>

#include "host/host.h"
#include "infiniband/vf.h"
#include "pci/device.h"

#define FILES PCI_SYSFS "%s/sriov/%u/%s"

static const char *const policies[] = {
	[VFCTL_LINK_STATE_AUTO] = "Follow",
	[VFCTL_LINK_STATE_ENABLE] = "Up",
	[VFCTL_LINK_STATE_DISABLE] = "Down",
};

static bool present_ofed(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	/* The directory exists with the driver; entries for VFs only while there are VFs. */
	return host_exists(ctx, PCI_SYSFS "%s/sriov", TEXT(&pf->bdf));
}

static void read_guid(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	const char *file, uint32_t bit, uint64_t *guid, struct vfctl_vf_attrs *io)
{
	_free_ char *text = NULL;

	if (host_try_read(ctx, &text, FILES, TEXT(&pf->bdf), vf, file) == 0 &&
		vfctl_guid_parse(text, guid) == 0)
		io->mask |= bit;
}

static void read_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	struct vfctl_vf_attrs *io)
{
	_free_ char *policy = NULL;

	read_guid(ctx, pf, vf, "node", VFCTL_ATTR_NODE_GUID, &io->node_guid, io);
	read_guid(ctx, pf, vf, "port", VFCTL_ATTR_PORT_GUID, &io->port_guid, io);
	io->mask &= ~(uint32_t)VFCTL_ATTR_LINK_STATE;
	if (host_try_read(ctx, &policy, FILES, TEXT(&pf->bdf), vf, "policy") < 0)
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(policies); i++)
		if (str_eq(policy, policies[i])) {
			io->link_state = (enum vfctl_link_state)i;
			io->mask |= VFCTL_ATTR_LINK_STATE;
		}
}

static int write_guid(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	const char *file, uint64_t guid)
{
	char text[VFCTL_GUID_TEXT];

	return host_write(ctx, vfctl_guid_format(guid, text), FILES, TEXT(&pf->bdf), vf, file);
}

/*
 * The policy comes first: a port that is down while its GUID changes is not visible to the subnet
 * manager.
 */
static int write_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t vf,
	const struct vfctl_vf_attrs *a)
{
	int r = 0;

	if (a->mask & VFCTL_ATTR_LINK_STATE && (unsigned)a->link_state < ARRAY_SIZE(policies))
		r = host_write(ctx, policies[a->link_state], FILES, TEXT(&pf->bdf), vf, "policy");
	if (r == 0 && a->mask & VFCTL_ATTR_NODE_GUID)
		r = write_guid(ctx, pf, vf, "node", a->node_guid);
	if (r == 0 && a->mask & VFCTL_ATTR_PORT_GUID)
		r = write_guid(ctx, pf, vf, "port", a->port_guid);
	return r;
}

const struct ib_guid_ops ib_vf_ofed = {
	.name = "MLNX_OFED sysfs",
	.takes = VFCTL_ATTR_GUIDS | VFCTL_ATTR_LINK_STATE,
	.present = present_ofed,
	.read = read_vf,
	.write = write_vf,
};
