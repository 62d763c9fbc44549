// SPDX-License-Identifier: GPL-2.0-or-later
/* The model from JSON: strict, each failure naming file and member. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"
#include "placement/model.h"

#define LIST_MAX 65536 /* entries of any list: more is no host */
#define NAME_BYTES_MAX 256

/* Where we are: a member of an object, or (name NULL) an entry of a list. */
struct place {
	const struct place *up;
	const char *name;
	size_t index;
};

struct reading {
	struct vfctl_ctx *ctx;
	const struct place *at;
	struct vfctl_host_model *model;
};

/* One member of an object: a row of a table, as spec/reader.h has them. */
struct member {
	const char *name;
	int (*read)(struct reading *r, const struct member *m, const struct json *value,
		void *object);
	size_t offset;
	uint64_t max;
	bool required;
};

static void put_path(struct buf *b, const struct place *at)
{
	if (!at)
		return;
	put_path(b, at->up);
	if (at->name)
		buf_printf(b, "%s%s", b->len ? "." : "", at->name);
	else
		buf_printf(b, "[%zu]", at->index);
}

static int _printf_(2, 3) bad(struct reading *r, const char *fmt, ...)
{
	_buf_ struct buf path = {0};
	_free_ char *words = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&words, fmt, args) < 0)
		words = NULL;
	va_end(args);
	put_path(&path, r->at);
	if (!words || path.failed)
		return ctx_oom(r->ctx);
	return ctx_fail(r->ctx, -EINVAL, "%s%s%s", path.data ? path.data : "",
		path.len ? ": " : "", words);
}

static int expect(struct reading *r, const struct json *value, enum json_kind kind)
{
	enum json_kind is = json_kind(value);

	return is == kind ? 0 : bad(r, "it is %s; it must be %s", json_kind_name(is),
		json_kind_name(kind));
}

/* ---- objects and lists ---- */

static const struct member *find_member(const struct member *rows, size_t count,
	const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static int fail_unknown(struct reading *r, const struct member *rows, size_t count,
	const char *name)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < count; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", rows[i].name);
	return bad(r, "there is no member '%.64s'; it has %s", name,
		known.failed ? "others" : known.data);
}

static int read_object(struct reading *r, const struct json *value, const struct member *rows,
	size_t count, void *object)
{
	struct place at = {.up = r->at};
	const char *name;
	void *iter = NULL;
	int error = expect(r, value, JSON_KIND_OBJECT);

	while (error == 0 && (name = json_next(value, &iter)))
		if (!find_member(rows, count, name))
			error = fail_unknown(r, rows, count, name);
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct json *member = json_member(value, rows[i].name);

		at.name = rows[i].name;
		r->at = &at;
		if (member)
			error = rows[i].read(r, &rows[i], member, object);
		else if (rows[i].required)
			error = bad(r, "the member is missing");
		r->at = at.up;
	}
	return error;
}

static int read_each(struct reading *r, const struct json *list, void *object,
	int (*one)(struct reading *r, const struct json *value, void *object))
{
	struct place at = {.up = r->at};
	int error = expect(r, list, JSON_KIND_LIST);

	if (error == 0 && json_count(list) > LIST_MAX)
		return bad(r, "it has %zu entries, more than %d", json_count(list), LIST_MAX);
	for (size_t i = 0; i < json_count(list) && error == 0; i++) {
		at.index = i;
		r->at = &at;
		error = one(r, json_item(list, i), object);
		r->at = at.up;
	}
	return error;
}

/* ---- values ---- */

#define AT(type) ((type *)((char *)object + m->offset))

static int read_number(struct reading *r, const struct json *value, uint64_t max,
	uint64_t *ret)
{
	int64_t n;
	int error = expect(r, value, JSON_KIND_INTEGER);

	if (error < 0)
		return error;
	if (json_number(value, &n) < 0 || n < 0 || (uint64_t)n > max)
		return bad(r, "%" PRId64 " is not 0 to %" PRIu64, n, max);
	*ret = (uint64_t)n;
	return 0;
}

static int read_u64(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_number(r, value, m->max, AT(uint64_t));
}

static int read_u32(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error = read_number(r, value, m->max, &n);

	if (error == 0)
		*AT(uint32_t) = (uint32_t)n;
	return error;
}

/* A node, package and the like: null is none. */
static int read_place(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error;

	if (json_kind(value) == JSON_KIND_NULL) {
		*AT(int) = -1;
		return 0;
	}
	error = read_number(r, value, m->max, &n);
	if (error == 0)
		*AT(int) = (int)n;
	return error;
}

static int read_free_pages(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	if (json_kind(value) != JSON_KIND_NULL)
		return read_u64(r, m, value, object);
	*AT(uint64_t) = VFCTL_COUNT_UNKNOWN;
	return 0;
}

static int read_flag(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = expect(r, value, JSON_KIND_BOOL);

	if (error == 0)
		*AT(bool) = json_flag(value);
	return error;
}

static int read_cpus(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = expect(r, value, JSON_KIND_TEXT);

	if (error < 0)
		return error;
	error = vfctl_cpuset_parse(json_text(value), AT(struct vfctl_cpuset));
	if (error == -ERANGE)
		return bad(r, "'%.64s' has CPUs of %d or more", json_text(value), VFCTL_CPU_MAX);
	return error < 0 ? bad(r, "'%.64s' is no list of CPUs such as 0-3,8", json_text(value))
			 : 0;
}

static int read_address(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = expect(r, value, JSON_KIND_TEXT);

	if (error == 0 && vfctl_bdf_parse(json_text(value), AT(struct vfctl_bdf)) < 0)
		return bad(r, "'%.64s' is no PCI address", json_text(value));
	return error;
}

static int read_root(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const char *text, *colon;
	uint64_t domain, bus;
	char part[8] = "";
	int error;

	if (json_kind(value) == JSON_KIND_NULL) {
		*AT(uint32_t) = VFCTL_ROOT_UNKNOWN;
		return 0;
	}
	error = expect(r, value, JSON_KIND_TEXT);
	if (error < 0)
		return error;
	text = json_text(value);
	colon = strchr(text, ':');
	if (colon && colon - text < (ptrdiff_t)sizeof(part))
		memcpy(part, text, (size_t)(colon - text));
	/* The largest domain would be VFCTL_ROOT_UNKNOWN with its last bus. */
	if (parse_hex(part, (UINT32_MAX >> 8) - 1, &domain) < 0 ||
		parse_hex(colon + 1, 0xff, &bus) < 0)
		return bad(r, "'%.64s' is no root complex such as 0000:3a", text);
	*AT(uint32_t) = (uint32_t)(domain << 8 | bus);
	return 0;
}

static int read_fabric(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error;

	for (int i = 1; json_text(value) && model_fabric_word(i); i++)
		if (str_eq(model_fabric_word(i), json_text(value))) {
			*AT(int) = i;
			return 0;
		}
	if (json_text(value))
		return bad(r, "'%.64s' is no fabric; it is ethernet, infiniband, other, or a number",
			json_text(value));
	error = read_number(r, value, MODEL_FABRIC_MAX, &n);
	if (error == 0)
		*AT(int) = (int)n;
	return error;
}

/* One line of text that a person can be shown. */
static int copy_text(struct reading *r, const struct json *value, char **ret)
{
	int error = expect(r, value, JSON_KIND_TEXT);
	char *copy;

	if (error < 0)
		return error;
	if (strlen(json_text(value)) > NAME_BYTES_MAX)
		return bad(r, "it has %zu bytes, more than %d", strlen(json_text(value)),
			NAME_BYTES_MAX);
	copy = strdup(json_text(value));
	if (!copy)
		return ctx_oom(r->ctx);
	free(*ret);
	*ret = copy;
	return 0;
}

static int read_text(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return json_kind(value) == JSON_KIND_NULL ? 0 : copy_text(r, value, AT(char *));
}

static int read_uuid(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = expect(r, value, JSON_KIND_TEXT);
	const char *text = json_text(value);

	if (error == 0 && *text && !uuid_valid(text))
		return bad(r, "'%.64s' is no UUID", text);
	if (error == 0)
		str_copy(AT(char), 37, text);
	return error;
}

/* ---- the topology ---- */

#define ROW(type, name, read, member, max, required)                                     \
	{name, read, offsetof(type, member), max, required}

static int read_pool(struct reading *r, const struct json *value, void *object)
{
#define POOL(...) ROW(struct vfctl_page_pool, __VA_ARGS__)
	static const struct member rows[] = {
		POOL("page_bytes", read_u64, page_bytes, MODEL_BYTES_MAX, true),
		POOL("total", read_u64, total, MODEL_BYTES_MAX, true),
		POOL("free", read_free_pages, free, MODEL_BYTES_MAX, false),
	};
	struct vfctl_node *node = object;
	struct vfctl_page_pool pool = {.free = VFCTL_COUNT_UNKNOWN};
	int error = read_object(r, value, rows, ARRAY_SIZE(rows), &pool);

	if (error == 0 && node->pool_count == VFCTL_POOLS_MAX)
		return bad(r, "a node has pools of at most %d sizes", VFCTL_POOLS_MAX);
	if (error == 0)
		node->pools[node->pool_count++] = pool;
	return error;
}

static int read_pools(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, object, read_pool);
}

static int read_node(struct reading *r, const struct json *value, void *object)
{
#define NODE(...) ROW(struct vfctl_node, __VA_ARGS__)
	static const struct member rows[] = {
		NODE("id", read_u32, id, VFCTL_CPU_MAX - 1, true),
		NODE("cpus", read_cpus, cpus, 0, true),
		NODE("memory_bytes", read_u64, memory_bytes, MODEL_BYTES_MAX, true),
		{"pools", read_pools, 0, 0, false},
	};
	struct vfctl_topology *t = object;

	if (!array_grow(t->nodes, t->node_count))
		return ctx_oom(r->ctx);
	t->nodes[t->node_count] = (struct vfctl_node){0};
	return read_object(r, value, rows, ARRAY_SIZE(rows), &t->nodes[t->node_count++]);
}

static int read_nodes(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = read_each(r, value, r->model->topology, read_node);

	if (error == 0 && r->model->topology->node_count > VFCTL_MODEL_NODES_MAX)
		return bad(r, "it has %zu nodes, more than %d", r->model->topology->node_count,
			VFCTL_MODEL_NODES_MAX);
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
	int error = read_number(r, value, MODEL_DISTANCE_MAX, &n);

	if (error == 0 && matrix->columns == matrix->side)
		return bad(r, "there are only %zu nodes", matrix->side);
	if (error == 0)
		matrix->v[matrix->rows * matrix->side + matrix->columns++] = (unsigned)n;
	return error;
}

static int read_distance_row(struct reading *r, const struct json *value, void *object)
{
	struct matrix *matrix = object;
	int error;

	if (matrix->rows == matrix->side)
		return bad(r, "there are only %zu nodes", matrix->side);
	matrix->columns = 0;
	error = read_each(r, value, matrix, read_distance);
	if (error == 0 && matrix->columns < matrix->side)
		return bad(r, "it has %zu numbers for %zu nodes", matrix->columns, matrix->side);
	matrix->rows++;
	return error;
}

/* Its row stands after the nodes' in the table, so that their number is known. */
static int read_distances(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	struct vfctl_topology *t = r->model->topology;
	struct matrix matrix = {.side = t->node_count, .v = t->distances};
	int error;

	matrix.v = t->distances = calloc(matrix.side * matrix.side + 1, sizeof(*matrix.v));
	if (!matrix.v)
		return ctx_oom(r->ctx);
	error = read_each(r, value, &matrix, read_distance_row);
	if (error == 0 && matrix.rows < matrix.side)
		return bad(r, "it has %zu rows for %zu nodes", matrix.rows, matrix.side);
	return error;
}

static int read_core(struct reading *r, const struct json *value, void *object)
{
#define CORE(...) ROW(struct vfctl_core, __VA_ARGS__)
	static const struct member rows[] = {
		CORE("cpus", read_cpus, cpus, 0, true),
		CORE("node", read_place, node, VFCTL_CPU_MAX - 1, true),
		CORE("package", read_place, package, INT_MAX, false),
		CORE("die", read_place, die, INT_MAX, false),
		CORE("l3", read_place, l3, INT_MAX, false),
	};
	struct vfctl_topology *t = object;

	if (!array_grow(t->cores, t->core_count))
		return ctx_oom(r->ctx);
	t->cores[t->core_count] = (struct vfctl_core){.node = -1, .package = -1, .die = -1,
		.l3 = -1};
	return read_object(r, value, rows, ARRAY_SIZE(rows), &t->cores[t->core_count++]);
}

static int read_cores(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, r->model->topology, read_core);
}

static int read_online(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const struct member row = {.name = m->name};

	return read_cpus(r, &row, value, &r->model->topology->online);
}

/* ---- VFs, PFs, occupants ---- */

#define PLACE(type)                                                                      \
	ROW(type, "node", read_place, node, VFCTL_CPU_MAX - 1, false),                   \
		ROW(type, "fabric", read_fabric, fabric, 0, false),                      \
		ROW(type, "port", read_u32, port, MODEL_PORT_MAX, false),                \
		ROW(type, "root", read_root, root, 0, false)

struct vf_list {
	struct vfctl_free_vf *v;
	size_t count;
};

static int read_vf(struct reading *r, const struct json *value, void *object)
{
#define VF(...) ROW(struct vfctl_free_vf, __VA_ARGS__)
	static const struct member rows[] = {
		VF("address", read_address, bdf, 0, true),
		VF("pf", read_address, pf, 0, true),
		VF("index", read_u32, index, MODEL_VFS_MAX - 1, true),
		PLACE(struct vfctl_free_vf),
	};
	struct vf_list *list = object;

	if (!array_grow(list->v, list->count))
		return ctx_oom(r->ctx);
	list->v[list->count] = (struct vfctl_free_vf){.node = VFCTL_NODE_NONE,
		.root = VFCTL_ROOT_UNKNOWN};
	return read_object(r, value, rows, ARRAY_SIZE(rows), &list->v[list->count++]);
}

static int read_vfs(struct reading *r, const struct json *value, struct vfctl_free_vf **ret,
	size_t *ret_count)
{
	struct vf_list list = {0};
	int error = read_each(r, value, &list, read_vf);

	*ret = list.v; /* also after a failure: the model frees it */
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

	/* One more than there are: the last stays NULL. */
	if (!array_grow(*names, count + 1))
		return ctx_oom(r->ctx);
	(*names)[count] = (*names)[count + 1] = NULL;
	return copy_text(r, value, &(*names)[count]);
}

static int read_names(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, AT(char **), read_name);
}

static int read_pf(struct reading *r, const struct json *value, void *object)
{
#define PF(...) ROW(struct vfctl_model_pf, __VA_ARGS__)
	static const struct member rows[] = {
		PF("address", read_address, bdf, 0, true),
		PF("names", read_names, names, 0, false),
		PLACE(struct vfctl_model_pf),
		PF("num_vfs", read_u32, num_vfs, MODEL_VFS_MAX, true),
		PF("max_vfs", read_u32, max_vfs, MODEL_VFS_MAX, true),
	};
	struct vfctl_host_model *model = object;

	if (!array_grow(model->pfs, model->pf_count))
		return ctx_oom(r->ctx);
	model->pfs[model->pf_count] = (struct vfctl_model_pf){.node = VFCTL_NODE_NONE,
		.root = VFCTL_ROOT_UNKNOWN};
	return read_object(r, value, rows, ARRAY_SIZE(rows), &model->pfs[model->pf_count++]);
}

static int read_pfs(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, r->model, read_pf);
}

/* A promise; one of an occupant has its shared vCPUs too. */
struct entry {
	struct vfctl_promise promise;
	uint32_t shared_vcpus;
};

#define ENTRY(...) ROW(struct entry, __VA_ARGS__)
static const struct member entry_rows[] = {
	ENTRY("node", read_place, promise.node, VFCTL_CPU_MAX - 1, true),
	ENTRY("page_bytes", read_u64, promise.page_bytes, MODEL_BYTES_MAX, true),
	ENTRY("bytes", read_u64, promise.bytes, MODEL_BYTES_MAX, true),
	ENTRY("taken", read_flag, promise.taken, 0, false),
	ENTRY("shared_vcpus", read_u32, shared_vcpus, VFCTL_VCPU_MAX, false), /* last */
};

static int read_promise(struct reading *r, const struct json *value, void *object)
{
	struct vfctl_host_model *model = object;
	struct entry entry = {0};
	int error = read_object(r, value, entry_rows, ARRAY_SIZE(entry_rows) - 1, &entry);

	if (error < 0)
		return error;
	if (!array_grow(model->promises, model->promise_count))
		return ctx_oom(r->ctx);
	model->promises[model->promise_count++] = entry.promise;
	return 0;
}

static int read_promises(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, r->model, read_promise);
}

static int read_cell(struct reading *r, const struct json *value, void *object)
{
	struct vfctl_occupant *o = object;
	struct entry entry = {0};
	int error = read_object(r, value, entry_rows, ARRAY_SIZE(entry_rows), &entry);

	if (error < 0)
		return error;
	if (!array_grow(o->memory, o->memory_count) ||
		!array_grow(o->shared_vcpus, o->memory_count))
		return ctx_oom(r->ctx);
	o->shared_vcpus[o->memory_count] = entry.shared_vcpus;
	o->memory[o->memory_count++] = entry.promise;
	return 0;
}

static int read_memory(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return read_each(r, value, object, read_cell);
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
		OCCUPANT("name", read_text, name, 0, true),
		OCCUPANT("uuid", read_uuid, uuid, 0, false),
		OCCUPANT("foreign", read_flag, foreign, 0, false),
		OCCUPANT("running", read_flag, running, 0, false),
		OCCUPANT("cpus", read_cpus, cpus, 0, false),
		{"memory", read_memory, 0, 0, false},
		{"vfs", read_held_vfs, 0, 0, false},
	};
	struct vfctl_host_model *model = object;

	if (!array_grow(model->occupants, model->occupant_count))
		return ctx_oom(r->ctx);
	model->occupants[model->occupant_count] = (struct vfctl_occupant){0};
	return read_object(r, value, rows, ARRAY_SIZE(rows),
		&model->occupants[model->occupant_count++]);
}

static int read_occupants(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	return read_each(r, value, r->model, read_occupant);
}

/* ---- the file ---- */

static int read_version(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int64_t version;
	int error = expect(r, value, JSON_KIND_INTEGER);

	if (error == 0 && (json_number(value, &version) < 0 || version != 1))
		return bad(r, "this vfctl reads version 1, not %" PRId64, version);
	return error;
}

#define MODEL(...) ROW(struct vfctl_host_model, __VA_ARGS__)
static const struct member model_rows[] = {
	{"vfctl_model", read_version, 0, 0, false},
	{"nodes", read_nodes, 0, 0, true},
	{"distances", read_distances, 0, 0, false},
	{"cores", read_cores, 0, 0, true},
	{"online", read_online, 0, 0, false},
	MODEL("reserved_cpus", read_cpus, reserved_cpus, 0, false),
	MODEL("reserved_why", read_text, reserved_why, 0, false),
	MODEL("shared_cpus", read_cpus, shared_cpus, 0, false),
	MODEL("shared_ratio", read_u32, shared_ratio, MODEL_RATIO_MAX, false),
	MODEL("busy_cpus", read_cpus, busy_cpus, 0, false),
	MODEL("host_memory_bytes", read_u64, host_memory_bytes, MODEL_BYTES_MAX, false),
	{"promises", read_promises, 0, 0, false},
	{"pfs", read_pfs, 0, 0, false},
	{"free_vfs", read_free_vfs, 0, 0, false},
	{"occupants", read_occupants, 0, 0, false},
};

/* What a model by hand may leave out. */
static int complete(struct reading *r, const struct json *root)
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
	error = read_object(r, root, model_rows, ARRAY_SIZE(model_rows), r->model);
	if (error == 0)
		error = complete(r, root);
	return error < 0 ? error : model_check(r->ctx, r->model);
}

static void model_freep(struct vfctl_host_model **model)
{
	vfctl_model_free(*model);
}

int vfctl_model_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct vfctl_host_model **ret)
{
	_cleanup_(model_freep) struct vfctl_host_model *model = NULL;
	_json_doc_ struct json *root = NULL;
	struct reading r = {.ctx = ctx};
	int error;

	if (len > VFCTL_MODEL_FILE_MAX)
		return ctx_fail(ctx, -EINVAL, "%s: it is larger than %d MiB, so no model of a host",
			file, VFCTL_MODEL_FILE_MAX >> 20);
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
