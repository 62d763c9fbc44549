// SPDX-License-Identifier: GPL-2.0-or-later
/* A model from a file: our JSON, or a topology alone in hwloc's forms. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "facts/model.h"

#define SYNTHETIC "synthetic:"

static int read_file(struct vfctl_ctx *ctx, const char *path, struct buf *text)
{
	FILE *file = fopen(path, "re");
	char some[16384];
	size_t n;
	int error;

	if (!file)
		return ctx_mistake(ctx, -errno, "read the model %s: %s", path, strerror(errno));
	while (text->len <= VFCTL_MODEL_FILE_MAX &&
		(n = fread(some, 1, sizeof(some), file)) > 0)
		buf_add(text, some, n);
	error = ferror(file) ? errno : 0;
	fclose(file);
	if (error)
		return ctx_fail(ctx, -error, "read the model %s: %s", path, strerror(error));
	if (text->failed)
		return ctx_oom(ctx);
	if (text->len > VFCTL_MODEL_FILE_MAX)
		return ctx_mistake(ctx, -E2BIG,
			"%s: it is larger than %d MiB, so no model of a host", path,
			VFCTL_MODEL_FILE_MAX >> 20);
	return 0;
}

static int load_topology(struct vfctl_ctx *ctx, enum vfctl_topology_kind kind,
	const char *text, struct vfctl_host_model **ret_model)
{
	const struct vfctl_topology_source source = {.kind = kind, .text = text};
	_model_ struct vfctl_host_model *m = calloc(1, sizeof(*m));
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
	_buf_ struct buf text = {0};
	size_t blank;
	int r;

	if (str_starts(path, SYNTHETIC))
		return load_topology(ctx, VFCTL_TOPOLOGY_SYNTHETIC, path + strlen(SYNTHETIC),
			ret_model);
	r = read_file(ctx, path, &text);
	if (r < 0)
		return r;
	blank = text.data ? strspn(text.data, " \t\r\n") : 0;
	if (blank < text.len && text.data[blank] == '<')
		return load_topology(ctx, VFCTL_TOPOLOGY_XML, path, ret_model);
	return vfctl_model_parse(ctx, path, text.data ? text.data : "", text.len, ret_model);
}
