// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/lease_text.h"

#include <errno.h>

#include "base/parse.h"
#include "base/record_json.h"

bool lease_text_is(const char *text, const char *id)
{
	size_t len = strcspn(text, " ");

	return len == strlen(id) && !strncmp(text, id, len);
}

/* ---- records ---- */

static int read_intent(struct record_reading *r, const struct json *value, void *at)
{
	return json_attrs(value, at) < 0 ? record_bad(r, "it is not a policy of a VF") : 0;
}

static void write_intent(struct record_writing *w, const void *at)
{
	_free_ char *attrs = json_of_attrs(at);

	if (attrs)
		buf_puts(w->out, attrs);
	else
		w->out->failed = true;
}

static const struct record_own intent = {read_intent, write_intent};

/* A VF that is added to a lease. */
struct added_vf {
	struct vfctl_lease_vf vf;
	bool running;
};

#define AT(member) RECORD_AT(struct added_vf, member)
static const struct record_row vf_rows[] = {
	{"vf", NULL, RECORD_ADDRESS, RECORD_REQUIRED, AT(vf.bdf)},
	{"pf", NULL, RECORD_ADDRESS, RECORD_REQUIRED, AT(vf.pf)},
	{"index", NULL, RECORD_NUMBER, 0, AT(vf.index), .max = UINT32_MAX},
	{"port", NULL, RECORD_CHARS, RECORD_OPTIONAL, AT(vf.port_id)},
	{"transient", NULL, RECORD_FLAG, RECORD_OPTIONAL, AT(vf.transient)},
	{"returns-identity", NULL, RECORD_FLAG, RECORD_OPTIONAL, AT(vf.returns_identity)},
	{"intent", NULL, RECORD_OWN, RECORD_REQUIRED, AT(vf.intent), .own = &intent},
	/* The last one is not of VFs in a whole lease. */
	{"running", NULL, RECORD_FLAG, RECORD_OPTIONAL, AT(running)},
};
static const struct record added_vf_record = {RECORD(struct added_vf, vf_rows),
	.lines = RECORD_COMPACT};
static const struct record vf_record = {.rows = vf_rows, .row_count = ARRAY_SIZE(vf_rows) - 1,
	.size = sizeof(struct vfctl_lease_vf), .lines = RECORD_COMPACT};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_lease_cell, member)
static const struct record_row cell_rows[] = {
	{"node", NULL, RECORD_NUMBER, RECORD_NULLABLE, AT(node), .max = VFCTL_CPU_MAX},
	{"memory-node", NULL, RECORD_NUMBER, RECORD_NULLABLE, AT(memory_node),
		.max = VFCTL_CPU_MAX},
	{"memory-bytes", NULL, RECORD_NUMBER, 0, AT(memory_bytes), .max = INT64_MAX},
	{"page-bytes", NULL, RECORD_NUMBER, 0, AT(page_bytes), .max = INT64_MAX},
	{"shared-vcpus", NULL, RECORD_NUMBER, 0, AT(shared_vcpus), .max = UINT32_MAX},
};
static const struct record cell_record = {RECORD(struct vfctl_lease_cell, cell_rows),
	.lines = RECORD_COMPACT};
#undef AT

/* What a lease and its shape have in common. */
/* clang-format off */
#define AT(member) RECORD_AT(struct vfctl_lease, member)
#define SHAPE \
	{"cpus", NULL, RECORD_CPUS, RECORD_OPTIONAL, AT(cpus)}, \
	{"qemu-cpus", NULL, RECORD_CPUS, RECORD_OPTIONAL, AT(qemu_cpus)}, \
	{"cells", NULL, RECORD_LIST, RECORD_OPTIONAL, \
		RECORD_ENTRIES(struct vfctl_lease, cells, cell_count), .inner = &cell_record}
/* clang-format on */
static const struct record_row lease_rows[] = {
	{"domain", NULL, RECORD_TEXT, RECORD_REQUIRED, AT(domain_name)},
	{"transient", NULL, RECORD_FLAG, RECORD_OPTIONAL, AT(transient)},
	{"running", NULL, RECORD_FLAG, RECORD_OPTIONAL, AT(running)},
	SHAPE,
	{"vfs", NULL, RECORD_LIST, RECORD_OPTIONAL,
		RECORD_ENTRIES(struct vfctl_lease, vfs, vf_count), .inner = &vf_record},
};
static const struct record_row shape_rows[] = {
	{"memory-bytes", NULL, RECORD_NUMBER, 0, AT(memory_bytes), .max = INT64_MAX},
	SHAPE,
};
static const struct record lease_record = {RECORD(struct vfctl_lease, lease_rows),
	.lines = RECORD_COMPACT};
static const struct record shape_record = {RECORD(struct vfctl_lease, shape_rows),
	.lines = RECORD_COMPACT};
#undef AT

/* ---- writing ---- */

/* @id, a space, and the record; without @id only the record. */
static char *to_text(const char *id, const struct record *record, const void *object)
{
	struct buf out = {0};

	if (id)
		buf_printf(&out, "%s ", id);
	record_write(&out, record, object);
	return buf_steal(&out);
}

char *lease_to_text(const struct vfctl_lease *lease)
{
	return to_text(lease->id, &lease_record, lease);
}

char *lease_vf_to_text(const char *id, const struct vfctl_lease_vf *vf, bool running)
{
	return to_text(id, &added_vf_record, &(struct added_vf){*vf, running});
}

char *lease_shape_to_text(const struct vfctl_lease *lease)
{
	return to_text(NULL, &shape_record, lease);
}

/* ---- reading ---- */

static int fail_text(struct vfctl_ctx *ctx, const char *text)
{
	return ctx_fail(ctx, -EBADMSG, "'%.100s' is not a lease", text);
}

/* Read the record at @json, in the text. */
static int from_text(struct vfctl_ctx *ctx, const char *text, const char *json,
	const struct record *record, void *object)
{
	int r = record_parse(ctx, "a lease", json, strlen(json), record, object);

	return r == -EINVAL ? fail_text(ctx, text) : r;
}

/* Add up the values of the cells. */
static void add_up(struct vfctl_lease *l)
{
	l->node = l->cell_count ? l->cells[0].node : VFCTL_NODE_NONE;
	l->page_bytes = l->cell_count ? l->cells[0].page_bytes : 0;
	l->memory_bytes = 0;
	for (size_t i = 0; i < l->cell_count; i++)
		l->memory_bytes += l->cells[i].memory_bytes;
}

void lease_text_clear(struct lease_text *text)
{
	record_clear(&lease_record, &text->lease);
}

int lease_from_text(struct vfctl_ctx *ctx, const char *text, struct lease_text *ret)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	size_t len = strcspn(text, " ");
	int r;

	if (!text[len] || len >= sizeof(t.lease.id))
		return fail_text(ctx, text);
	r = from_text(ctx, text, text + len + 1, &lease_record, &t.lease);
	if (r < 0)
		return r;
	memcpy(t.lease.id, text, len);
	add_up(&t.lease);
	*ret = steal(t);
	return 0;
}

int lease_shape_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease *ret)
{
	_cleanup_(lease_text_clear) struct lease_text t = {0};
	int r = from_text(ctx, text, text, &shape_record, &t.lease);

	if (r < 0)
		return r;
	add_up(&t.lease);
	*ret = t.lease;
	t = (struct lease_text){0};
	return 0;
}

int lease_vf_from_text(struct vfctl_ctx *ctx, const char *text, struct vfctl_lease_vf *ret,
	bool *ret_running)
{
	const char *space = strchr(text, ' ');
	struct added_vf added = {0};
	int r;

	if (!space)
		return fail_text(ctx, text);
	r = from_text(ctx, text, space + 1, &added_vf_record, &added);
	if (r < 0)
		return r;
	*ret = added.vf;
	*ret_running = added.running;
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
			plural(vfctl_cpuset_count(&l->qemu_cpus)), cpus);
}
