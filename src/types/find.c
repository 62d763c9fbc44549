// SPDX-License-Identifier: GPL-2.0-or-later
#include "types/find.h"

#include "base/parse.h"
#include "base/util.h"

bool bdf_list_has(const struct vfctl_bdf *list, size_t count, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(&list[i], bdf) == 0)
			return true;
	return false;
}

const struct vfctl_pf *find_pf_at(const struct vfctl_inventory *inv, const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		if (vfctl_bdf_compare(&inv->pfs[i].bdf, bdf) == 0)
			return &inv->pfs[i];
	return NULL;
}

enum vfctl_pci_distance vfctl_gpu_distance(const struct vfctl_model_gpu *gpu,
	const struct vfctl_bdf *pf)
{
	for (size_t i = 0; i < gpu->link_count; i++)
		if (vfctl_bdf_compare(&gpu->links[i].pf, pf) == 0)
			return gpu->links[i].distance;
	return VFCTL_PCI_DISTANCE_UNKNOWN;
}

bool pf_answers_to(const struct vfctl_pf *pf, const char *name)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(name, &bdf) == 0)
		return vfctl_bdf_compare(&bdf, &pf->bdf) == 0;
	for (char **own = pf->names; own && *own; own++)
		if (str_eq(*own, name) || libvirt_net_is(name, *own))
			return true;
	return false;
}

const struct vfctl_pf *find_pf_named(const struct vfctl_inventory *inv, const char *name)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		if (pf_answers_to(&inv->pfs[i], name))
			return &inv->pfs[i];
	return NULL;
}

const struct vfctl_vf *vfctl_inventory_vf_at(const struct vfctl_inventory *inv,
	const struct vfctl_bdf *bdf, const struct vfctl_pf **ret_pf)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (vfctl_bdf_compare(bdf, &inv->pfs[i].vfs[k].bdf) == 0) {
				if (ret_pf)
					*ret_pf = &inv->pfs[i];
				return &inv->pfs[i].vfs[k];
			}
	return NULL;
}

const struct vfctl_lease *vfctl_leases_find_uuid(const struct vfctl_leases *leases,
	const char *uuid)
{
	for (size_t i = 0; i < leases->count && uuid[0]; i++)
		if (str_eq(leases->v[i].domain_uuid, uuid))
			return &leases->v[i];
	return NULL;
}

const struct vfctl_lease *vfctl_leases_find(const struct vfctl_leases *leases,
	const char *uuid_or_name)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(leases, uuid_or_name);

	for (size_t i = 0; i < leases->count && !lease; i++)
		if (str_eq(leases->v[i].domain_name, uuid_or_name))
			lease = &leases->v[i];
	return lease;
}

const struct vfctl_lease *vfctl_leases_find_vf(const struct vfctl_leases *leases,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < leases->count; i++)
		for (size_t k = 0; k < leases->v[i].vf_count; k++)
			if (vfctl_bdf_compare(&leases->v[i].vfs[k].bdf, vf) == 0)
				return &leases->v[i];
	return NULL;
}

const struct vfctl_lease_vf *find_leased_vf(const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; lease && i < lease->vf_count; i++)
		if (vfctl_bdf_compare(&lease->vfs[i].bdf, vf) == 0)
			return &lease->vfs[i];
	return NULL;
}

const struct vfctl_lease_vf *find_vf_in_leases(const struct vfctl_leases *leases,
	const struct vfctl_bdf *vf)
{
	return leases ? find_leased_vf(vfctl_leases_find_vf(leases, vf), vf) : NULL;
}

const struct vfctl_domain_vf *find_domain_vf(const struct vfctl_domain_vf *vfs, size_t count,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(&vfs[i].bdf, vf) == 0)
			return &vfs[i];
	return NULL;
}

const struct vfctl_domain_vf *find_intent_vf(const struct vfctl_domain_intent *intent,
	const struct vfctl_bdf *vf)
{
	return find_domain_vf(intent->vfs, intent->vf_count, vf);
}

const struct vfctl_domain_device *find_domain_device(const struct vfctl_parsed_domain *parsed,
	const struct vfctl_bdf *device)
{
	for (size_t i = 0; parsed && i < parsed->device_count; i++)
		if (vfctl_bdf_compare(&parsed->devices[i].source, device) == 0)
			return &parsed->devices[i];
	return NULL;
}

const struct vfctl_vf *find_vf_number(const struct vfctl_vf *vfs, uint32_t count, uint32_t index)
{
	for (uint32_t i = 0; i < count; i++)
		if (vfs[i].index == index)
			return &vfs[i];
	return NULL;
}
