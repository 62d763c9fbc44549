// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a model from a file: vfctl's JSON, or only a topology in hwloc's formats. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "facts/model/model.h"
#include "host/files.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

#define SYNTHETIC "synthetic:"

static int read_file(struct vfctl_ctx *ctx, const char *path, char **ret_text, size_t *ret_len)
{
	int r = vfctl_file_read(ctx, path, VFCTL_MODEL_FILE_MAX, ret_text, ret_len);

	if (r == -EFBIG)
		return ctx_usage_error(ctx, -E2BIG,
			"%s: it is larger than %d MiB; is it the right file?", path,
			VFCTL_MODEL_FILE_MAX >> 20);
	return r < 0 ? ctx_mark_usage_error(ctx, ctx_prefix(ctx, r, "read the model")) : 0;
}

static int load_topology(struct vfctl_ctx *ctx, enum vfctl_topology_kind kind,
	const char *text, struct vfctl_host_model **ret_model)
{
	const struct vfctl_topology_source source = {.kind = kind, .text = text};
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return ctx_oom(ctx);
	m->shared_ratio = VFCTL_SHARED_RATIO;
	r = vfctl_topology_load(ctx, &source, &m->topology);
	if (r == 0)
		r = vfctl_model_check(ctx, m);
	if (r == 0)
		*ret_model = steal(m);
	return r;
}

int vfctl_model_load(struct vfctl_ctx *ctx, const char *path,
	struct vfctl_host_model **ret_model)
{
	_free_ char *text = NULL;
	size_t blank, len;
	int r;

	if (str_starts(path, SYNTHETIC))
		return load_topology(ctx, VFCTL_TOPOLOGY_SYNTHETIC, path + strlen(SYNTHETIC),
			ret_model);
	r = read_file(ctx, path, &text, &len);
	if (r < 0)
		return r;
	blank = strspn(text, " \t\r\n");
	if (blank < len && text[blank] == '<')
		return load_topology(ctx, VFCTL_TOPOLOGY_XML, path, ret_model);
	return ctx_mark_usage_error(ctx, vfctl_model_parse(ctx, path, text, len, ret_model));
}
