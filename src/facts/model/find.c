// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/model/model.h"

#include "topology/topology.h"

/* A node that the topology does not have counts as none. */
int model_node(const struct vfctl_topology *t, int node)
{
	return vfctl_topology_node(t, node) ? node : VFCTL_NODE_NONE;
}

const struct vfctl_model_pf *model_pf(const struct vfctl_host_model *m,
	const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, bdf) == 0)
			return &m->pfs[i];
	return NULL;
}

/* A VF is behind the same port and root complex as its PF. */
struct vfctl_free_vf model_vf(const struct vfctl_host_model *m,
	const struct vfctl_model_pf *pf, const struct vfctl_vf *vf)
{
	return (struct vfctl_free_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index,
		.node = model_node(m->topology, vf->numa_node), .fabric = pf->fabric,
		.port = pf->port, .root = pf->root};
}
