// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <errno.h>
#include <inttypes.h>

static int check_vfs(struct vfctl_ctx *ctx, const struct vfctl_host_model *model)
{
	char text[VFCTL_BDF_TEXT];

	for (size_t i = 0; i < model->vf_count; i++) {
		const struct vfctl_free_vf *vf = &model->vfs[i];

		if (vf->fabric < 0)
			return ctx_fail(ctx, -EINVAL,
				"host model: VF %s is on fabric %d; number fabrics from "
				"0",
				vfctl_bdf_format(&vf->bdf, text), vf->fabric);
		for (size_t j = 0; j < i; j++)
			if (vfctl_bdf_compare(&vf->bdf, &model->vfs[j].bdf) == 0)
				return ctx_fail(ctx, -EINVAL,
					"host model: VF %s is listed twice; take a new "
					"snapshot",
					vfctl_bdf_format(&vf->bdf, text));
	}
	return 0;
}

int check_model(struct vfctl_ctx *ctx, const struct vfctl_host_model *model)
{
	int r;

	if (!model->topology)
		return ctx_fail(
			ctx, -EINVAL, "host model: it has no topology; load one first");
	r = vfctl_topology_check(ctx, model->topology);
	if (r == 0)
		r = check_vfs(ctx, model);
	return r;
}

static int check_wants(struct vfctl_ctx *ctx, const struct vfctl_request *request)
{
	uint64_t total = 0;

	for (size_t i = 0; i < request->want_count; i++) {
		if (!request->wants[i].count)
			return ctx_fail(ctx, -EINVAL,
				"%s: VF want %zu asks for 0 VFs; ask for 1 or leave it "
				"out",
				request->name, i + 1);
		total += request->wants[i].count;
	}
	if (total > VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"%s: %" PRIu64 " VFs are asked; a guest has at most "
			"%d",
			request->name, total, VFCTL_GUEST_VFS_MAX);
	return 0;
}

static int check_memory(struct vfctl_ctx *ctx, const struct vfctl_request *request)
{
	uint64_t page = request->page_bytes;

	if (!request->memory_bytes)
		return ctx_fail(ctx, -EINVAL,
			"%s: 0 bytes of memory are asked; give some", request->name);
	if (page == VFCTL_PAGES_BASE || page == VFCTL_PAGES_AUTO)
		return 0;
	if (page & (page - 1))
		return ctx_fail(ctx, -EINVAL,
			"%s: pages of %" PRIu64 " bytes: sizes are powers of two",
			request->name, page);
	if (request->memory_bytes % page)
		return ctx_fail(ctx, -EINVAL,
			"%s: %" PRIu64
			" bytes of memory are not a whole number of pages of %" PRIu64
			" bytes; round the memory up or take smaller pages",
			request->name, request->memory_bytes, page);
	return 0;
}

static int check_counts(struct vfctl_ctx *ctx, const struct vfctl_request *request)
{
	const struct {
		const char *what;
		uint32_t value, min, max;
	} counts[] = {
		{"vCPUs", request->vcpus, 1, VFCTL_VCPU_MAX},
		{"emulator cores", request->emulator_cores, 0, VFCTL_EMULATOR_CORES_MAX},
		{"I/O threads", request->iothreads, 0, VFCTL_IOTHREADS_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].value < counts[i].min || counts[i].value > counts[i].max)
			return ctx_fail(ctx, -EINVAL,
				"%s: %" PRIu32 " %s are asked; it must be %" PRIu32
				" to %" PRIu32,
				request->name, counts[i].value, counts[i].what,
				counts[i].min, counts[i].max);
	if (request->threads > VFCTL_THREADS_NONE)
		return ctx_fail(ctx, -EINVAL, "%s: thread policy %d is none",
			request->name, (int)request->threads);
	return 0;
}

int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	int r;

	if (!request->name)
		return ctx_fail(ctx, -EINVAL, "request: it has no name; name the guest");
	r = check_counts(ctx, request);
	if (r == 0)
		r = check_memory(ctx, request);
	if (r == 0)
		r = check_wants(ctx, request);
	if (r < 0)
		return r;
	if (request->node != VFCTL_NODE_NONE &&
		!vfctl_topology_node(model->topology, request->node))
		return ctx_fail(ctx, -EINVAL,
			"%s: node %d is asked, which this host does not have; see vfctl "
			"topology",
			request->name, request->node);
	return 0;
}
