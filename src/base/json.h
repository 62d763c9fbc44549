/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_JSON_H
#define VFCTL_BASE_JSON_H

#include "vfctl/vfattr.h"

/* VF attributes as a JSON object of the strings vfctl_vf_attrs_parse() reads. */
char *json_of_attrs(const struct vfctl_vf_attrs *attrs);
/* 0, or -EINVAL; unknown keys are passed over (a newer version may have written them). */
int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs);

#endif
