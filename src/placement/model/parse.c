// SPDX-License-Identifier: GPL-2.0-or-later
/* A model by its record: read strictly (each error names file and member), written, freed. */
#include <errno.h>

#include "base/record_json.h"
#include "placement/model/host_model.h"
#include "placement/model/model.h"
#include "topology/topology.h"

/* Complete members that a model written by hand may leave out. */
static int complete_model(struct vfctl_ctx *ctx, const struct json *root,
	struct vfctl_host_model *model)
{
	struct vfctl_topology *t = model->topology;
	size_t n = t->node_count;

	if (!json_member(root, "online"))
		for (size_t i = 0; i < t->core_count; i++)
			vfctl_cpuset_or(&t->online, &t->cores[i].cpus);
	for (size_t i = 0; i < model->pf_count; i++)
		if (!model->pfs[i].bond)
			model->pfs[i].lag = VFCTL_LAG_UNKNOWN;
	if (t->distances)
		return 0;
	t->distances = calloc(n * n + 1, sizeof(*t->distances));
	if (!t->distances)
		return ctx_oom(ctx);
	for (size_t i = 0; i < n * n; i++)
		t->distances[i] = i % (n + 1) ? 20 : 10;
	return 0;
}

static int read_model(struct vfctl_ctx *ctx, const struct json *root,
	struct vfctl_host_model *model)
{
	struct record_reading r = {.ctx = ctx};
	int error;

	model->topology = calloc(1, sizeof(*model->topology));
	if (!model->topology)
		return ctx_oom(ctx);
	error = record_read(&r, &vfctl_model_record, root, model);
	if (error == 0)
		error = complete_model(ctx, root, model);
	return error < 0 ? error : model_check(ctx, model);
}

int vfctl_model_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct vfctl_host_model **ret)
{
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *model = NULL;
	_json_doc_ struct json *root = NULL;
	int error;

	if (len > VFCTL_MODEL_FILE_MAX)
		return ctx_fail(ctx, -EINVAL,
			"%s: it is larger than %d MiB; is it the right file?", file,
			VFCTL_MODEL_FILE_MAX >> 20);
	error = json_read(ctx, file, text, len, &root);
	if (error < 0)
		return error;
	model = calloc(1, sizeof(*model));
	if (!model)
		return ctx_oom(ctx);
	error = read_model(ctx, root, model);
	if (error < 0)
		return error == -ENOMEM ? error : ctx_prefix(ctx, error, "%s", file);
	*ret = steal(model);
	return 0;
}

char *vfctl_model_format(const struct vfctl_host_model *model)
{
	struct buf text = {0};

	record_write(&text, &vfctl_model_record, model);
	buf_puts(&text, "\n");
	return buf_steal(&text);
}

void vfctl_occupant_clear(struct vfctl_occupant *occupant)
{
	free(occupant->wants); /* not in JSON */
	record_clear(&model_occupant_record, occupant);
}

void vfctl_model_free(struct vfctl_host_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->occupant_count; i++)
		free(model->occupants[i].wants);
	record_clear(&vfctl_model_record, model);
	vfctl_topology_free(model->topology);
	free(model);
}
