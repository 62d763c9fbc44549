// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/model/host_model.h"
#include "placement/model/model.h"
#include "placement/model/request.h"

#include <stdio.h>

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
