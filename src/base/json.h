/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_JSON_H
#define VFCTL_BASE_JSON_H

#include "base/ctx.h"
#include "vfctl/vfattr.h"

/* VF attributes as a JSON object of the strings vfctl_vf_attrs_parse() reads. */
char *json_of_attrs(const struct vfctl_vf_attrs *attrs);
/* 0, or -EINVAL; unknown keys are passed over (a newer version may have written them). */
int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs);

/*
 * Rows of text: @text is an array of objects, or an object with such an array under
 * @array. For each one @row is called with the texts of @keys (NULL where there is none;
 * numbers and booleans pass as JSON writes them), numbered from 1; below 0 it ends there.
 * -EINVAL with words, and the line, when it is no such thing.
 */
int json_rows(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const char *array, const char *const *keys, size_t key_count,
	int (*row)(void *data, size_t number, const char *const *values), void *data);

#endif
