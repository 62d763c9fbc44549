// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/model/model.h"
#include "placement/model/request.h"

#include <stdio.h>

static void free_pf(struct vfctl_model_pf *pf)
{
	strv_free(pf->names);
	free(pf->card);
	free(pf->driver);
	free(pf->bond);
	free(pf->exposed);
}

static void free_gpu(struct vfctl_model_gpu *gpu)
{
	free(gpu->vendor);
	free(gpu->driver);
	free(gpu->links);
}

static void free_occupant(struct vfctl_occupant *o)
{
	free(o->name);
	free(o->memory);
	free(o->vfs);
	free(o->wants);
}

void vfctl_model_free(struct vfctl_host_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->pf_count; i++)
		free_pf(&model->pfs[i]);
	for (size_t i = 0; i < model->gpu_count; i++)
		free_gpu(&model->gpus[i]);
	for (size_t i = 0; i < model->occupant_count; i++)
		free_occupant(&model->occupants[i]);
	vfctl_topology_free(model->topology);
	free(model->reserved_why);
	free(model->typical_why);
	free(model->promises);
	free(model->vfs);
	free(model->pfs);
	free(model->gpus);
	free(model->occupants);
	free(model);
}

const char *model_fabric_word(int fabric)
{
	static const char *const message[] = {[VFCTL_FABRIC_ETHERNET] = "ethernet",
		[VFCTL_FABRIC_INFINIBAND] = "infiniband", [VFCTL_FABRIC_OTHER] = "other"};

	return fabric > 0 && (size_t)fabric < ARRAY_SIZE(message) ? message[fabric] : NULL;
}

char *vfctl_root_format(uint32_t root, char buf[VFCTL_BDF_TEXT])
{
	buf[0] = '\0';
	if (root != VFCTL_ROOT_UNKNOWN)
		snprintf(buf, VFCTL_BDF_TEXT, "%04x:%02x", root >> 8, root & 0xff);
	return buf;
}

const char *pf_text(const struct vfctl_host_model *model, const struct vfctl_bdf *pf,
	char buf[64])
{
	for (size_t i = 0; i < model->pf_count; i++)
		if (vfctl_bdf_compare(&model->pfs[i].bdf, pf) == 0 && model->pfs[i].names &&
			model->pfs[i].names[0]) {
			snprintf(buf, 64, "%s", model->pfs[i].names[0]);
			return buf;
		}
	return vfctl_bdf_format(pf, buf);
}
