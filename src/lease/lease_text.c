// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/lease_text.h"

#include <errno.h>

#include "base/json.h"

bool lease_text_is(const char *text, const char *id)
{
	size_t len = strcspn(text, " ");

	return len == strlen(id) && !strncmp(text, id, len);
}

/* ---- writing ---- */

/* ,"key":"0-3,8" unless the set is empty */
static void put_cpus(struct buf *out, const char *key, const struct vfctl_cpuset *set)
{
	size_t len = vfctl_cpuset_format(set, NULL, 0);
	_free_ char *list = malloc(len + 1);

	if (!list) {
		out->failed = true;
		return;
	}
	vfctl_cpuset_format(set, list, len + 1);
	if (len)
		buf_printf(out, ",\"%s\":\"%s\"", key, list);
}

static void put_flag(struct buf *out, const char *key, bool value)
{
	if (value)
		buf_printf(out, ",\"%s\":true", key);
}

/* Append the members of a VF to an open object. */
static void put_vf(struct buf *out, const struct vfctl_lease_vf *vf)
{
	_free_ char *intent = json_of_attrs(&vf->intent);

	out->failed |= !intent;
	buf_printf(out, "\"vf\":\"%s\",\"pf\":\"%s\",\"index\":%u", TEXT(&vf->bdf),
		TEXT(&vf->pf), vf->index);
	if (vf->port_id[0])
		buf_printf(out, ",\"port\":\"%s\"", vf->port_id);
	put_flag(out, "transient", vf->transient);
	put_flag(out, "returns-identity", vf->returns_identity);
	if (intent)
		buf_printf(out, ",\"intent\":%s", intent);
}

static void put_cells(struct buf *out, const struct vfctl_lease *l)
{
	for (size_t i = 0; i < l->cell_count; i++)
		buf_printf(out, "%s{\"node\":%d,\"memory-node\":%d,\"memory-bytes\":%llu,"
			"\"page-bytes\":%llu,\"shared-vcpus\":%u}", i ? "," : ",\"cells\":[",
			l->cells[i].node, l->cells[i].memory_node,
			(unsigned long long)l->cells[i].memory_bytes,
			(unsigned long long)l->cells[i].page_bytes, l->cells[i].shared_vcpus);
	if (l->cell_count)
		buf_puts(out, "]");
}

char *lease_to_text(const struct vfctl_lease *lease)
{
	_buf_ struct buf out = {0};

	buf_printf(&out, "%s {\"domain\":", lease->id);
	json_put(&out, lease->domain_name);
	put_flag(&out, "transient", lease->transient);
	put_flag(&out, "running", lease->running);
	put_cpus(&out, "cpus", &lease->cpus);
	put_cpus(&out, "qemu-cpus", &lease->qemu_cpus);
	put_cells(&out, lease);
	for (size_t i = 0; i < lease->vf_count; i++) {
		buf_puts(&out, i ? ",{" : ",\"vfs\":[{");
		put_vf(&out, &lease->vfs[i]);
		buf_puts(&out, "}");
	}
	if (lease->vf_count)
		buf_puts(&out, "]");
	buf_puts(&out, "}");
	return out.failed ? NULL : buf_steal(&out);
}

char *lease_vf_to_text(const char *id, const struct vfctl_lease_vf *vf, bool running)
{
	_buf_ struct buf out = {0};

	buf_printf(&out, "%s {", id);
	put_vf(&out, vf);
	put_flag(&out, "running", running);
	buf_puts(&out, "}");
	return out.failed ? NULL : buf_steal(&out);
}

char *lease_shape_to_text(const struct vfctl_lease *lease)
{
	_buf_ struct buf out = {0};

	buf_printf(&out, "{\"memory-bytes\":%llu", (unsigned long long)lease->memory_bytes);
	put_cpus(&out, "cpus", &lease->cpus);
	put_cpus(&out, "qemu-cpus", &lease->qemu_cpus);
	put_cells(&out, lease);
	buf_puts(&out, "}");
	return out.failed ? NULL : buf_steal(&out);
}

/* ---- reading ---- */

static int fail_text(struct vfctl_ctx *ctx, const char *text)
{
	return ctx_fail(ctx, -EBADMSG, "'%.100s' is not a lease", text);
}

static int read_json(struct vfctl_ctx *ctx, const char *text, struct json **ret)
{
	const char *space = strchr(text, ' ');

	if (!space)
		return fail_text(ctx, text);
	return json_read(ctx, "a lease", space + 1, strlen(space + 1), ret);
}

/* Absent: 0. */
static bool number(const struct json *object, const char *key, int64_t max, int64_t *ret)
{
	return json_number(json_member(object, key), ret) == 0 && *ret >= -1 && *ret <= max;
}

static bool read_size(const struct json *object, const char *key, uint64_t *ret)
{
	int64_t n = 0;
	bool ok = number(object, key, INT64_MAX, &n) && n >= 0;

	*ret = ok ? (uint64_t)n : 0;
	return ok;
}

static bool read_count(const struct json *object, const char *key, uint32_t *ret)
{
	uint64_t n = 0;
	bool ok = read_size(object, key, &n) && n <= UINT32_MAX;

	*ret = (uint32_t)n;
	return ok;
}

static bool read_node(const struct json *object, const char *key, int *ret)
{
	int64_t n = VFCTL_NODE_NONE;
	bool ok = number(object, key, VFCTL_CPU_MAX, &n);

	*ret = (int)n;
	return ok;
}

static bool read_cpus(const struct json *object, const char *key, struct vfctl_cpuset *ret)
{
	const char *list = json_text(json_member(object, key));

	return !list || vfctl_cpuset_parse(list, ret) == 0;
}

static bool read_vf(const struct json *object, struct vfctl_lease_vf *ret)
{
	const char *vf = json_text(json_member(object, "vf"));
	const char *pf = json_text(json_member(object, "pf"));
	const char *port = json_text(json_member(object, "port"));
	const struct json *intent = json_member(object, "intent");

	if (port)
		str_copy(ret->port_id, sizeof(ret->port_id), port);
	ret->transient = json_flag(json_member(object, "transient"));
	ret->returns_identity = json_flag(json_member(object, "returns-identity"));
	return vf && pf && vfctl_bdf_parse(vf, &ret->bdf) == 0 &&
		vfctl_bdf_parse(pf, &ret->pf) == 0 && read_count(object, "index", &ret->index) &&
		intent && json_attrs(intent, &ret->intent) == 0;
}

static bool read_cell(const struct json *object, struct vfctl_lease_cell *ret)
{
	return read_node(object, "node", &ret->node) &&
		read_node(object, "memory-node", &ret->memory_node) &&
		read_size(object, "memory-bytes", &ret->memory_bytes) &&
		read_size(object, "page-bytes", &ret->page_bytes) &&
		read_count(object, "shared-vcpus", &ret->shared_vcpus);
}

/* Allocate memory and read the rows up to the first one that is not valid. */
static bool read_rows(const struct json *cells, const struct json *vfs, struct vfctl_lease *l)
{
	bool ok = true;

	for (; ok && l->cell_count < json_count(cells); l->cell_count++)
		ok = read_cell(json_item(cells, l->cell_count), &l->cells[l->cell_count]);
	for (; ok && l->vf_count < json_count(vfs); l->vf_count++)
		ok = read_vf(json_item(vfs, l->vf_count), &l->vfs[l->vf_count]);
	return ok;
}

/* Add up the values of the cells. */
static void add_up(struct vfctl_lease *l)
{
	l->node = l->cell_count ? l->cells[0].node : VFCTL_NODE_NONE;
	l->page_bytes = l->cell_count ? l->cells[0].page_bytes : 0;
	for (size_t i = 0; i < l->cell_count; i++)
		l->memory_bytes += l->cells[i].memory_bytes;
}

void lease_text_clear(struct lease_text *text)
{
	free(text->lease.domain_name);
	free(text->lease.cells);
	free(text->lease.vfs);
}

int lease_from_text(struct vfctl_ctx *ctx, const char *text, struct lease_text *ret)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	_json_doc_ struct json *json = NULL;
	const struct json *cells, *vfs;
	const char *name;
	int r = read_json(ctx, text, &json);

	if (r < 0)
		return r;
	cells = json_member(json, "cells");
	vfs = json_member(json, "vfs");
	name = json_text(json_member(json, "domain"));
	t.lease.domain_name = strdup(name ? name : "");
	t.lease.cells = calloc(json_count(cells) + 1, sizeof(*t.lease.cells));
	t.lease.vfs = calloc(json_count(vfs) + 1, sizeof(*t.lease.vfs));
	if (!t.lease.domain_name || !t.lease.cells || !t.lease.vfs)
		return ctx_oom(ctx);
	t.lease.transient = json_flag(json_member(json, "transient"));
	t.lease.running = json_flag(json_member(json, "running"));
	if (strcspn(text, " ") >= sizeof(t.lease.id) || !name ||
		!read_rows(cells, vfs, &t.lease) || !read_cpus(json, "cpus", &t.lease.cpus) ||
		!read_cpus(json, "qemu-cpus", &t.lease.qemu_cpus))
		return fail_text(ctx, text);
	memcpy(t.lease.id, text, strcspn(text, " "));
	add_up(&t.lease);
	*ret = steal(t);
	return 0;
}

int lease_shape_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease *ret)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	_json_doc_ struct json *json = NULL;
	const struct json *cells;
	int r = json_read(ctx, "a lease", text, strlen(text), &json);

	if (r < 0)
		return r;
	cells = json_member(json, "cells");
	t.lease.cells = calloc(json_count(cells) + 1, sizeof(*t.lease.cells));
	if (!t.lease.cells)
		return ctx_oom(ctx);
	if (!read_rows(cells, NULL, &t.lease) || !read_cpus(json, "cpus", &t.lease.cpus) ||
		!read_cpus(json, "qemu-cpus", &t.lease.qemu_cpus))
		return fail_text(ctx, text);
	add_up(&t.lease);
	*ret = t.lease;
	t = (struct lease_text){0};
	return 0;
}

int lease_vf_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease_vf *ret,
	bool *ret_running)
{
	_json_doc_ struct json *json = NULL;
	struct vfctl_lease_vf vf = {0};
	int r = read_json(ctx, text, &json);

	if (r < 0)
		return r;
	if (!read_vf(json, &vf))
		return fail_text(ctx, text);
	*ret = vf;
	*ret_running = json_flag(json_member(json, "running"));
	return 0;
}

/* ---- in messages ---- */

void lease_put_memory(const struct vfctl_lease *l, struct buf *text)
{
	for (size_t i = 0; i < l->cell_count; i++)
		buf_printf(text, "%s%llu MiB of node %d", i ? " and " : "",
			(unsigned long long)l->cells[i].memory_bytes >> 20,
			l->cells[i].memory_node);
}

void lease_put_qemu(const struct vfctl_lease *l, struct buf *text)
{
	char cpus[256];

	vfctl_cpuset_format(&l->qemu_cpus, cpus, sizeof(cpus));
	if (cpus[0])
		buf_printf(text, ", CPU%s %s for QEMU's threads (shared with other guests),",
			vfctl_cpuset_count(&l->qemu_cpus) == 1 ? "" : "s", cpus);
}
