// SPDX-License-Identifier: GPL-2.0-or-later
/* The PFs of a node and their VFs. */
#include <string.h>

#include "placement/model/host_model.h"
#include "print/topology.h"
#include "print/topology_parts.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

const char *topology_pf_name(const struct vfctl_model_pf *p)
{
	return p->names && p->names[0] ? p->names[0] : "";
}

static size_t vfs_of(const struct vfctl_free_vf *v, size_t count, const struct vfctl_bdf *pf,
	struct vfctl_cpuset *ret_indices)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(&v[i].pf, pf) == 0) {
			if (v[i].index < VFCTL_CPU_MAX)
				vfctl_cpuset_add(ret_indices, v[i].index);
			n++;
		}
	return n;
}

/* "VF 0-1 a, VF 2 b, 1 cannot be given to guests, VF 4-15 free" */
static void print_vfs(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_model_pf *p)
{
	struct vfctl_cpuset set = {0};
	char text[4096], list[1024];
	struct vfctl_cpuset known = {0};
	size_t len = 0, n = vfs_of(m->vfs, m->vf_count, &p->bdf, &set);

	text[0] = '\0';
	for (size_t i = 0; i < m->occupant_count && len < sizeof(text); i++) {
		struct vfctl_cpuset his = {0};
		size_t count = vfs_of(m->occupants[i].vfs, m->occupants[i].vf_count, &p->bdf,
			&his);

		if (count)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "VF %s %c, ",
				cpus_text(&his, list, sizeof(list)), topology_sign(i));
		vfctl_cpuset_or(&known, &his); /* a lease, and its present user */
	}
	vfctl_cpuset_or(&known, &set);
	if (vfctl_cpuset_count(&known) < p->num_vfs && len < sizeof(text))
		len += (size_t)snprintf(text + len, sizeof(text) - len,
			"%u cannot be given to guests (vfctl show VF says why), ",
			p->num_vfs - vfctl_cpuset_count(&known));
	if (len >= sizeof(text))
		return;
	if (n)
		snprintf(text + len, sizeof(text) - len, "VF %s free",
			cpus_text(&set, list, sizeof(list)));
	else if (len && vfctl_cpuset_empty(&known))
		text[len - 2] = '\0';
	else
		snprintf(text + len, sizeof(text) - len, "none free");
	topology_line(out, "", "%s", text);
}

/* The state that list shows: legacy mode and unknown values are omitted. */
static void add_switch(const struct vfctl_model_pf *p, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	if (p->eswitch == VFCTL_ESWITCH_SWITCHDEV || p->eswitch == VFCTL_ESWITCH_INACTIVE)
		len = (size_t)snprintf(text, size, "; %s", vfctl_eswitch_name(p->eswitch));
	if (p->bond && len < size)
		snprintf(text + len, size - len, "; in %s%s%s", p->bond, p->lag ? ", VF-LAG " : "",
			p->lag ? vfctl_lag_name(p->lag) : "");
}

/* "PIX 0000:18:00.0 NVIDIA, 0000:19:00.0 NVIDIA; SYS 0000:b1:00.0 AMD": the nearest GPUs first. */
static void print_gpus(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_model_pf *p)
{
	char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (int d = VFCTL_PCI_PIX; d <= VFCTL_PCI_SYS; d++) {
		const char *before = len ? "; " : "";
		const char *name = vfctl_pci_distance_name((enum vfctl_pci_distance)d);

		for (size_t i = 0; i < m->gpu_count && len < sizeof(text); i++) {
			const struct vfctl_model_gpu *g = &m->gpus[i];

			if ((int)vfctl_gpu_distance(g, &p->bdf) != d)
				continue;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s %s", before, name,
				*name ? " " : "", BDF(&g->bdf), g->vendor ? g->vendor : "GPU");
			before = ", ";
			name = "";
		}
	}
	if (len)
		topology_line(out, "", "GPUs: %s", text);
}

static void print_pf(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_model_pf *p)
{
	const char *fabric = vfctl_fabric_name(p->fabric);
	char root[VFCTL_BDF_TEXT], number[32], port[32] = "", made[64], below[48] = "";
	char inside[128];

	snprintf(number, sizeof(number), "fabric %d", p->fabric);
	if (p->port)
		snprintf(port, sizeof(port), " port %u", p->port);
	if (vfctl_root_format(p->root, root)[0])
		snprintf(below, sizeof(below), ", root complex %s", root);
	snprintf(made, sizeof(made), "%u of %u VFs made", p->num_vfs, p->max_vfs);
	add_switch(p, inside, sizeof(inside));
	topology_line(out, "PF", "%s%s%s: %s%s%s; %s%s", topology_pf_name(p),
		*topology_pf_name(p) ? " " : "",
		BDF(&p->bdf), fabric ? fabric : number, port, below, made, inside);
	if (p->exposed)
		topology_line(out, "", "! a free VF cannot be given to a guest: it %s", p->exposed);
	if (p->num_vfs)
		print_vfs(out, m, p);
	print_gpus(out, m, p);
}

void topology_pfs(struct out *out, const struct vfctl_host_model *m, int node)
{
	for (size_t i = 0; i < m->pf_count; i++)
		if (m->pfs[i].node == node)
			print_pf(out, m, &m->pfs[i]);
}
