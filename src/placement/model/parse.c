// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a model from JSON strictly; each error names file and member. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "placement/model/reader.h"

/* ---- the topology ---- */

static int read_pool(struct reading *r, const struct json *value, void *object)
{
#define POOL(...) ROW(struct vfctl_page_pool, __VA_ARGS__)
	static const struct member rows[] = {
		POOL("page_bytes", model_read_u64, page_bytes, MODEL_BYTES_MAX, true),
		POOL("total", model_read_u64, total, MODEL_BYTES_MAX, true),
		POOL("free", model_read_free_pages, free, MODEL_BYTES_MAX, false),
	};
	struct vfctl_node *node = object;
	struct vfctl_page_pool pool = {.free = VFCTL_COUNT_UNKNOWN};
	int error = model_read_object(r, value, rows, ARRAY_SIZE(rows), &pool);

	if (error == 0 && node->pool_count == VFCTL_POOLS_MAX)
		return model_bad(r, "a node has pools of at most %d sizes", VFCTL_POOLS_MAX);
	if (error == 0)
		node->pools[node->pool_count++] = pool;
	return error;
}

static int read_pools(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, object, read_pool);
}

static int read_node(struct reading *r, const struct json *value, void *object)
{
#define NODE(...) ROW(struct vfctl_node, __VA_ARGS__)
	static const struct member rows[] = {
		NODE("id", model_read_u32, id, VFCTL_CPU_MAX - 1, true),
		NODE("cpus", model_read_cpus, cpus, 0, true),
		NODE("memory_bytes", model_read_u64, memory_bytes, MODEL_BYTES_MAX, true),
		{"pools", read_pools, 0, 0, false},
	};
	struct vfctl_topology *t = object;

	if (!array_grow(t->nodes, t->node_count))
		return ctx_oom(r->ctx);
	t->nodes[t->node_count] = (struct vfctl_node){0};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows), &t->nodes[t->node_count++]);
}

static int read_nodes(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = model_read_each(r, value, r->model->topology, read_node);

	if (error == 0 && r->model->topology->node_count > VFCTL_MODEL_NODES_MAX)
		return model_bad(r, "it has %zu nodes, more than %d",
			r->model->topology->node_count, VFCTL_MODEL_NODES_MAX);
	return error;
}

struct matrix {
	unsigned *v;
	size_t rows, columns, side;
};

static int read_distance(struct reading *r, const struct json *value, void *object)
{
	struct matrix *matrix = object;
	uint64_t n;
	int error = model_read_number(r, value, MODEL_DISTANCE_MAX, &n);

	if (error == 0 && matrix->columns == matrix->side)
		return model_bad(r, "the host has only %zu nodes", matrix->side);
	if (error == 0)
		matrix->v[matrix->rows * matrix->side + matrix->columns++] = (unsigned)n;
	return error;
}

static int read_distance_row(struct reading *r, const struct json *value, void *object)
{
	struct matrix *matrix = object;
	int error;

	if (matrix->rows == matrix->side)
		return model_bad(r, "the host has only %zu nodes", matrix->side);
	matrix->columns = 0;
	error = model_read_each(r, value, matrix, read_distance);
	if (error == 0 && matrix->columns < matrix->side)
		return model_bad(r, "it has %zu numbers for %zu nodes", matrix->columns,
			matrix->side);
	matrix->rows++;
	return error;
}

/* Its row is after that of the nodes, so that their number is known. */
static int read_distances(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	struct vfctl_topology *t = r->model->topology;
	struct matrix matrix = {.side = t->node_count, .v = t->distances};
	int error;

	matrix.v = t->distances = calloc(matrix.side * matrix.side + 1, sizeof(*matrix.v));
	if (!matrix.v)
		return ctx_oom(r->ctx);
	error = model_read_each(r, value, &matrix, read_distance_row);
	if (error == 0 && matrix.rows < matrix.side)
		return model_bad(r, "it has %zu rows for %zu nodes", matrix.rows, matrix.side);
	return error;
}

static int read_core(struct reading *r, const struct json *value, void *object)
{
#define CORE(...) ROW(struct vfctl_core, __VA_ARGS__)
	static const struct member rows[] = {
		CORE("cpus", model_read_cpus, cpus, 0, true),
		CORE("node", model_read_place, node, VFCTL_CPU_MAX - 1, true),
		CORE("package", model_read_place, package, INT_MAX, false),
		CORE("die", model_read_place, die, INT_MAX, false),
		CORE("l3", model_read_place, l3, INT_MAX, false),
	};
	struct vfctl_topology *t = object;

	if (!array_grow(t->cores, t->core_count))
		return ctx_oom(r->ctx);
	t->cores[t->core_count] = (struct vfctl_core){.node = -1, .package = -1, .die = -1,
		.l3 = -1};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows), &t->cores[t->core_count++]);
}

static int read_cores(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, r->model->topology, read_core);
}

static int read_online(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const struct member row = {.name = m->name};

	return model_read_cpus(r, &row, value, &r->model->topology->online);
}

/* ---- VFs, PFs, occupants ---- */

#define PLACE(type)                                                                      \
	ROW(type, "node", model_read_place, node, VFCTL_CPU_MAX - 1, false),                   \
		ROW(type, "fabric", model_read_fabric, fabric, 0, false),                      \
		ROW(type, "port", model_read_u32, port, MODEL_PORT_MAX, false),                \
		ROW(type, "root", model_read_root, root, 0, false)

struct vf_list {
	struct vfctl_free_vf *v;
	size_t count;
};

static int read_vf(struct reading *r, const struct json *value, void *object)
{
#define VF(...) ROW(struct vfctl_free_vf, __VA_ARGS__)
	static const struct member rows[] = {
		VF("address", model_read_address, bdf, 0, true),
		VF("pf", model_read_address, pf, 0, true),
		VF("index", model_read_u32, index, MODEL_VFS_MAX - 1, true),
		PLACE(struct vfctl_free_vf),
	};
	struct vf_list *list = object;

	if (!array_grow(list->v, list->count))
		return ctx_oom(r->ctx);
	list->v[list->count] = (struct vfctl_free_vf){.node = VFCTL_NODE_NONE,
		.root = VFCTL_ROOT_UNKNOWN};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows), &list->v[list->count++]);
}

static int read_vfs(struct reading *r, const struct json *value, struct vfctl_free_vf **ret,
	size_t *ret_count)
{
	struct vf_list list = {0};
	int error = model_read_each(r, value, &list, read_vf);

	*ret = list.v; /* also after an error: it is freed with the model */
	*ret_count = list.count;
	return error;
}

static int read_free_vfs(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_vfs(r, value, &r->model->vfs, &r->model->vf_count);
}

static int read_name(struct reading *r, const struct json *value, void *object)
{
	char ***names = object;
	size_t count = strv_len(*names);

	/* Allocate one more than needed: the last entry stays NULL. */
	if (!array_grow(*names, count + 1))
		return ctx_oom(r->ctx);
	(*names)[count] = (*names)[count + 1] = NULL;
	return model_copy_text(r, value, &(*names)[count]);
}

static int read_names(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, AT(char **), read_name);
}

static int read_pf(struct reading *r, const struct json *value, void *object)
{
#define PF(...) ROW(struct vfctl_model_pf, __VA_ARGS__)
	static const struct member rows[] = {
		PF("address", model_read_address, bdf, 0, true),
		PF("names", read_names, names, 0, false),
		PLACE(struct vfctl_model_pf),
		PF("num_vfs", model_read_u32, num_vfs, MODEL_VFS_MAX, true),
		PF("max_vfs", model_read_u32, max_vfs, MODEL_VFS_MAX, true),
		PF("exposed", model_read_text, exposed, 0, false),
		PF("card", model_read_text, card, 0, false),
		PF("driver", model_read_text, driver, 0, false),
		PF("speed_mbps", model_read_u32, speed_mbps, UINT32_MAX, false),
		PF("eswitch", model_read_eswitch, eswitch, 0, false),
		PF("bond", model_read_text, bond, 0, false),
		PF("lag", model_read_lag, lag, 0, false),
	};
	struct vfctl_host_model *model = object;

	if (!array_grow(model->pfs, model->pf_count))
		return ctx_oom(r->ctx);
	model->pfs[model->pf_count] = (struct vfctl_model_pf){.node = VFCTL_NODE_NONE,
		.root = VFCTL_ROOT_UNKNOWN};
	return model_read_object(
		r, value, rows, ARRAY_SIZE(rows), &model->pfs[model->pf_count++]);
}

static int read_pfs(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, r->model, read_pf);
}

static int read_gpu_link(struct reading *r, const struct json *value, void *object)
{
#define LINK(...) ROW(struct vfctl_gpu_link, __VA_ARGS__)
	static const struct member rows[] = {
		LINK("pf", model_read_address, pf, 0, true),
		LINK("distance", model_read_distance, distance, 0, true),
	};
	struct vfctl_model_gpu *gpu = object;

	if (!array_grow(gpu->links, gpu->link_count))
		return ctx_oom(r->ctx);
	gpu->links[gpu->link_count] = (struct vfctl_gpu_link){0};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows), &gpu->links[gpu->link_count++]);
}

static int read_gpu_links(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, object, read_gpu_link);
}

static int read_gpu(struct reading *r, const struct json *value, void *object)
{
#define GPU(...) ROW(struct vfctl_model_gpu, __VA_ARGS__)
	static const struct member rows[] = {
		GPU("address", model_read_address, bdf, 0, true),
		GPU("vendor", model_read_text, vendor, 0, false),
		GPU("driver", model_read_text, driver, 0, false),
		GPU("node", model_read_place, node, VFCTL_CPU_MAX - 1, false),
		{"pfs", read_gpu_links, 0, 0, false},
	};
	struct vfctl_host_model *model = object;

	if (!array_grow(model->gpus, model->gpu_count))
		return ctx_oom(r->ctx);
	model->gpus[model->gpu_count] = (struct vfctl_model_gpu){.node = VFCTL_NODE_NONE};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows), &model->gpus[model->gpu_count++]);
}

static int read_gpus(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, r->model, read_gpu);
}

/* A promise; only an occupant's has shared vCPUs. */
#define ENTRY(...) ROW(struct vfctl_promise, __VA_ARGS__)
static const struct member entry_rows[] = {
	ENTRY("node", model_read_place, node, VFCTL_CPU_MAX - 1, true),
	ENTRY("page_bytes", model_read_u64, page_bytes, MODEL_BYTES_MAX, true),
	ENTRY("bytes", model_read_u64, bytes, MODEL_BYTES_MAX, true),
	ENTRY("taken", model_read_flag, taken, 0, false),
	ENTRY("shared_vcpus", model_read_u32, shared_vcpus, VFCTL_VCPU_MAX, false), /* last */
};

static int read_promise(struct reading *r, const struct json *value, void *object)
{
	struct vfctl_host_model *model = object;

	if (!array_grow(model->promises, model->promise_count))
		return ctx_oom(r->ctx);
	model->promises[model->promise_count] = (struct vfctl_promise){0};
	return model_read_object(r, value, entry_rows, ARRAY_SIZE(entry_rows) - 1,
		&model->promises[model->promise_count++]);
}

static int read_promises(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, r->model, read_promise);
}

static int read_cell(struct reading *r, const struct json *value, void *object)
{
	struct vfctl_occupant *o = object;

	if (!array_grow(o->memory, o->memory_count))
		return ctx_oom(r->ctx);
	o->memory[o->memory_count] = (struct vfctl_promise){0};
	return model_read_object(r, value, entry_rows, ARRAY_SIZE(entry_rows),
		&o->memory[o->memory_count++]);
}

static int read_memory(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, object, read_cell);
}

static int read_held_vfs(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	struct vfctl_occupant *o = object;

	return read_vfs(r, value, &o->vfs, &o->vf_count);
}

static int read_occupant(struct reading *r, const struct json *value, void *object)
{
#define OCCUPANT(...) ROW(struct vfctl_occupant, __VA_ARGS__)
	static const struct member rows[] = {
		OCCUPANT("name", model_read_text, name, 0, true),
		OCCUPANT("uuid", model_read_uuid, uuid, 0, false),
		OCCUPANT("foreign", model_read_flag, foreign, 0, false),
		OCCUPANT("running", model_read_flag, running, 0, false),
		OCCUPANT("cpus", model_read_cpus, cpus, 0, false),
		OCCUPANT("qemu_cpus", model_read_cpus, qemu_cpus, 0, false),
		{"memory", read_memory, 0, 0, false},
		{"vfs", read_held_vfs, 0, 0, false},
	};
	struct vfctl_host_model *model = object;

	if (!array_grow(model->occupants, model->occupant_count))
		return ctx_oom(r->ctx);
	model->occupants[model->occupant_count] = (struct vfctl_occupant){0};
	return model_read_object(r, value, rows, ARRAY_SIZE(rows),
		&model->occupants[model->occupant_count++]);
}

static int read_occupants(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	return model_read_each(r, value, r->model, read_occupant);
}

static int read_typical_guest(struct reading *r, const struct json *value, void *object)
{
#define TYPICAL(...) ROW(struct vfctl_typical, __VA_ARGS__)
	static const struct member rows[] = {
		TYPICAL("vcpus", model_read_u32, vcpus, VFCTL_VCPU_MAX, true),
		TYPICAL("cells", model_read_u32, cells, VFCTL_CELLS_MAX, true),
		TYPICAL("vfs", model_read_u32, vfs, VFCTL_GUEST_VFS_MAX, true),
		TYPICAL("share", model_read_u32, share, 1000, true),
	};
	struct vfctl_host_model *model = object;

	if (model->typical_count == VFCTL_TYPICAL_MAX)
		return model_bad(r, "at most %d are allowed", VFCTL_TYPICAL_MAX);
	return model_read_object(r, value, rows, ARRAY_SIZE(rows),
		&model->typical[model->typical_count++]);
}

static int read_typical(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_each(r, value, r->model, read_typical_guest);
}

/* ---- the file ---- */

static int read_version(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int64_t version;
	int error = model_expect(r, value, JSON_KIND_INTEGER);

	if (error == 0 && (json_number(value, &version) < 0 || version != 1))
		return model_bad(r, "this vfctl reads version 1, not %" PRId64, version);
	return error;
}

#define MODEL(...) ROW(struct vfctl_host_model, __VA_ARGS__)
static const struct member model_rows[] = {
	{"vfctl_model", read_version, 0, 0, false},
	{"nodes", read_nodes, 0, 0, true},
	{"distances", read_distances, 0, 0, false},
	{"cores", read_cores, 0, 0, true},
	{"online", read_online, 0, 0, false},
	MODEL("reserved_cpus", model_read_cpus, reserved_cpus, 0, false),
	MODEL("reserved_why", model_read_text, reserved_why, 0, false),
	MODEL("shared_cpus", model_read_cpus, shared_cpus, 0, false),
	MODEL("shared_ratio", model_read_u32, shared_ratio, MODEL_RATIO_MAX, false),
	MODEL("busy_cpus", model_read_cpus, busy_cpus, 0, false),
	MODEL("host_memory_bytes", model_read_u64, host_memory_bytes, MODEL_BYTES_MAX, false),
	{"typical", read_typical, 0, 0, false},
	MODEL("typical_why", model_read_text, typical_why, 0, false),
	{"promises", read_promises, 0, 0, false},
	{"pfs", read_pfs, 0, 0, false},
	{"gpus", read_gpus, 0, 0, false},
	{"free_vfs", read_free_vfs, 0, 0, false},
	{"occupants", read_occupants, 0, 0, false},
};

/* Complete members that a model written by hand may leave out. */
static int complete_model(struct reading *r, const struct json *root)
{
	struct vfctl_topology *t = r->model->topology;
	size_t n = t->node_count;

	if (!json_member(root, "online"))
		for (size_t i = 0; i < t->core_count; i++)
			vfctl_cpuset_or(&t->online, &t->cores[i].cpus);
	if (t->distances)
		return 0;
	t->distances = calloc(n * n + 1, sizeof(*t->distances));
	if (!t->distances)
		return ctx_oom(r->ctx);
	for (size_t i = 0; i < n * n; i++)
		t->distances[i] = i % (n + 1) ? 20 : 10;
	return 0;
}

static int read_model(struct reading *r, const struct json *root)
{
	int error;

	r->model->topology = calloc(1, sizeof(*r->model->topology));
	if (!r->model->topology)
		return ctx_oom(r->ctx);
	error = model_read_object(r, root, model_rows, ARRAY_SIZE(model_rows), r->model);
	if (error == 0)
		error = complete_model(r, root);
	return error < 0 ? error : model_check(r->ctx, r->model);
}

int vfctl_model_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct vfctl_host_model **ret)
{
	_cleanup_(vfctl_model_freep) struct vfctl_host_model *model = NULL;
	_json_doc_ struct json *root = NULL;
	struct reading r = {.ctx = ctx};
	int error;

	if (len > VFCTL_MODEL_FILE_MAX)
		return ctx_fail(ctx, -EINVAL,
			"%s: it is larger than %d MiB; is it the right file?", file,
			VFCTL_MODEL_FILE_MAX >> 20);
	error = json_read(ctx, file, text, len, &root);
	if (error < 0)
		return error;
	r.model = model = calloc(1, sizeof(*model));
	if (!model)
		return ctx_oom(ctx);
	error = read_model(&r, root);
	if (error < 0)
		return error == -ENOMEM ? error : ctx_prefix(ctx, error, "%s", file);
	*ret = steal(model);
	return 0;
}
