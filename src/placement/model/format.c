// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the model as JSON, with one entry per line for easy reading and comparison. */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "placement/model/model.h"

static void put_cpus(struct buf *b, const char *key, const struct vfctl_cpuset *set)
{
	size_t len = vfctl_cpuset_format(set, (char[1]){0}, 1);
	_free_ char *text = malloc(len + 1);

	if (!text) {
		b->failed = true;
		return;
	}
	vfctl_cpuset_format(set, text, len + 1);
	buf_printf(b, "\"%s\": \"%s\"", key, text);
}

/* A negative number means unknown or none: null. */
static void put_number(struct buf *b, const char *key, int value)
{
	if (value < 0)
		buf_printf(b, ", \"%s\": null", key);
	else
		buf_printf(b, ", \"%s\": %d", key, value);
}

/* [ ... ], one entry a line. */
static void open_list(struct buf *b, const char *key)
{
	buf_printf(b, "\t\"%s\": [", key);
}

static void next_line(struct buf *b, size_t i)
{
	buf_puts(b, i ? ",\n\t\t" : "\n\t\t");
}

static void close_list(struct buf *b, size_t count, const char *end)
{
	buf_printf(b, "%s]%s\n", count ? "\n\t" : "", end);
}

static void put_pools(struct buf *b, const struct vfctl_node *n)
{
	buf_puts(b, ", \"pools\": [");
	for (size_t i = 0; i < n->pool_count; i++) {
		const struct vfctl_page_pool *p = &n->pools[i];

		buf_printf(b, "%s{\"page_bytes\": %" PRIu64 ", \"total\": %" PRIu64
			", \"free\": ", i ? ", " : "", p->page_bytes, p->total);
		if (p->free == VFCTL_COUNT_UNKNOWN)
			buf_puts(b, "null}");
		else
			buf_printf(b, "%" PRIu64 "}", p->free);
	}
	buf_puts(b, "]");
}

static void put_nodes(struct buf *b, const struct vfctl_topology *t)
{
	open_list(b, "nodes");
	for (size_t i = 0; i < t->node_count; i++) {
		next_line(b, i);
		buf_printf(b, "{\"id\": %u, ", t->nodes[i].id);
		put_cpus(b, "cpus", &t->nodes[i].cpus);
		buf_printf(b, ", \"memory_bytes\": %" PRIu64, t->nodes[i].memory_bytes);
		put_pools(b, &t->nodes[i]);
		buf_puts(b, "}");
	}
	close_list(b, t->node_count, ",");
	open_list(b, "distances");
	for (size_t i = 0; i < t->node_count; i++) {
		next_line(b, i);
		for (size_t j = 0; j < t->node_count; j++)
			buf_printf(b, "%s%u", j ? ", " : "[",
				t->distances[i * t->node_count + j]);
		buf_puts(b, "]");
	}
	close_list(b, t->node_count, ",");
}

static void put_cores(struct buf *b, const struct vfctl_topology *t)
{
	open_list(b, "cores");
	for (size_t i = 0; i < t->core_count; i++) {
		const struct vfctl_core *c = &t->cores[i];

		next_line(b, i);
		buf_puts(b, "{");
		put_cpus(b, "cpus", &c->cpus);
		put_number(b, "node", c->node);
		put_number(b, "package", c->package);
		put_number(b, "die", c->die);
		put_number(b, "l3", c->l3);
		buf_puts(b, "}");
	}
	close_list(b, t->core_count, ",");
	buf_puts(b, "\t");
	put_cpus(b, "online", &t->online);
	buf_puts(b, ",\n");
}

static void put_kept(struct buf *b, const struct vfctl_host_model *m)
{
	buf_puts(b, "\t");
	put_cpus(b, "reserved_cpus", &m->reserved_cpus);
	buf_puts(b, ",\n\t\"reserved_why\": ");
	if (m->reserved_why)
		json_put(b, m->reserved_why);
	else
		buf_puts(b, "null");
	buf_puts(b, ",\n\t");
	put_cpus(b, "shared_cpus", &m->shared_cpus);
	buf_printf(b, ",\n\t\"shared_ratio\": %u,\n\t", m->shared_ratio);
	put_cpus(b, "busy_cpus", &m->busy_cpus);
	buf_printf(b, ",\n\t\"host_memory_bytes\": %" PRIu64 ",\n", m->host_memory_bytes);
}

static void put_typical(struct buf *b, const struct vfctl_host_model *m)
{
	if (!m->typical_count)
		return;
	open_list(b, "typical");
	for (size_t i = 0; i < m->typical_count; i++) {
		const struct vfctl_typical *t = &m->typical[i];

		next_line(b, i);
		buf_printf(b, "{\"vcpus\": %u, \"cells\": %u, \"vfs\": %u, \"share\": %u}",
			t->vcpus, t->cells, t->vfs, t->share);
	}
	close_list(b, m->typical_count, ",");
	if (!m->typical_why)
		return;
	buf_puts(b, "\t\"typical_why\": ");
	json_put(b, m->typical_why);
	buf_puts(b, ",\n");
}

static void put_promise(struct buf *b, const struct vfctl_promise *p)
{
	buf_printf(b,
		"{\"node\": %d, \"page_bytes\": %" PRIu64 ", \"bytes\": %" PRIu64
		", \"taken\": %s",
		p->node, p->page_bytes, p->bytes, p->taken ? "true" : "false");
}

static void put_place(struct buf *b, int node, int fabric, uint32_t port, uint32_t root)
{
	const char *word = model_fabric_word(fabric);
	char text[VFCTL_BDF_TEXT];

	put_number(b, "node", node);
	if (word)
		buf_printf(b, ", \"fabric\": \"%s\"", word);
	else
		buf_printf(b, ", \"fabric\": %d", fabric);
	buf_printf(b, ", \"port\": %u, ", port);
	if (root == VFCTL_ROOT_UNKNOWN)
		buf_puts(b, "\"root\": null");
	else
		buf_printf(b, "\"root\": \"%s\"", vfctl_root_format(root, text));
}

static void put_vf(struct buf *b, const struct vfctl_free_vf *vf)
{
	char text[VFCTL_BDF_TEXT];

	buf_printf(b, "{\"address\": \"%s\"", vfctl_bdf_format(&vf->bdf, text));
	buf_printf(b, ", \"pf\": \"%s\", \"index\": %u", vfctl_bdf_format(&vf->pf, text),
		vf->index);
	put_place(b, vf->node, vf->fabric, vf->port, vf->root);
	buf_puts(b, "}");
}

static void put_text(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, ", \"%s\": ", key);
	if (text)
		json_put(b, text);
	else
		buf_puts(b, "null");
}

/* As list prints them: a driver without modes is null, like an unknown mode. */
static void put_switch(struct buf *b, const struct vfctl_model_pf *p)
{
	put_text(b, "exposed", p->exposed);
	put_text(b, "card", p->card);
	put_text(b, "driver", p->driver);
	buf_printf(b, ", \"speed_mbps\": %u", p->speed_mbps);
	put_text(b, "eswitch", p->eswitch > VFCTL_ESWITCH_NONE ? vfctl_eswitch_name(p->eswitch) : NULL);
	put_text(b, "bond", p->bond);
	put_text(b, "lag", p->bond && p->lag ? vfctl_lag_name(p->lag) : NULL);
}

static void put_pfs(struct buf *b, const struct vfctl_host_model *m)
{
	char text[VFCTL_BDF_TEXT];

	open_list(b, "pfs");
	for (size_t i = 0; i < m->pf_count; i++) {
		const struct vfctl_model_pf *p = &m->pfs[i];

		next_line(b, i);
		buf_printf(b, "{\"address\": \"%s\", \"names\": [",
			vfctl_bdf_format(&p->bdf, text));
		for (size_t k = 0; p->names && p->names[k]; k++) {
			buf_puts(b, k ? ", " : "");
			json_put(b, p->names[k]);
		}
		buf_puts(b, "]");
		put_place(b, p->node, p->fabric, p->port, p->root);
		buf_printf(b, ", \"num_vfs\": %u, \"max_vfs\": %u", p->num_vfs, p->max_vfs);
		put_switch(b, p);
		buf_puts(b, "}");
	}
	close_list(b, m->pf_count, ",");
}

/* Left out if the host has none. */
static void put_gpus(struct buf *b, const struct vfctl_host_model *m)
{
	char text[VFCTL_BDF_TEXT];

	if (!m->gpu_count)
		return;
	open_list(b, "gpus");
	for (size_t i = 0; i < m->gpu_count; i++) {
		const struct vfctl_model_gpu *g = &m->gpus[i];

		next_line(b, i);
		buf_printf(b, "{\"address\": \"%s\"", vfctl_bdf_format(&g->bdf, text));
		put_text(b, "vendor", g->vendor);
		put_text(b, "driver", g->driver);
		put_number(b, "node", g->node);
		buf_puts(b, ", \"pfs\": [");
		for (size_t k = 0; k < g->link_count; k++)
			buf_printf(b, "%s{\"pf\": \"%s\", \"distance\": \"%s\"}", k ? ", " : "",
				vfctl_bdf_format(&g->links[k].pf, text),
				vfctl_pci_distance_name(g->links[k].distance));
		buf_puts(b, "]}");
	}
	close_list(b, m->gpu_count, ",");
}

static void put_occupant(struct buf *b, const struct vfctl_occupant *o)
{
	buf_puts(b, "{\"name\": ");
	json_put(b, o->name);
	buf_puts(b, ", \"uuid\": ");
	json_put(b, o->uuid);
	buf_printf(b, ", \"foreign\": %s, \"running\": %s, ", o->foreign ? "true" : "false",
		o->running ? "true" : "false");
	put_cpus(b, "cpus", &o->cpus);
	if (!vfctl_cpuset_empty(&o->qemu_cpus)) {
		buf_puts(b, ", ");
		put_cpus(b, "qemu_cpus", &o->qemu_cpus);
	}
	buf_puts(b, ",\n\t\t\t\"memory\": [");
	for (size_t i = 0; i < o->memory_count; i++) {
		buf_puts(b, i ? ",\n\t\t\t\t" : "");
		put_promise(b, &o->memory[i]);
		buf_printf(b, ", \"shared_vcpus\": %u}", o->memory[i].shared_vcpus);
	}
	buf_puts(b, "],\n\t\t\t\"vfs\": [");
	for (size_t i = 0; i < o->vf_count; i++) {
		buf_puts(b, i ? ",\n\t\t\t\t" : "");
		put_vf(b, &o->vfs[i]);
	}
	buf_puts(b, "]}");
}

char *vfctl_model_format(const struct vfctl_host_model *model)
{
	struct buf b = {0};

	buf_puts(&b, "{\n\t\"vfctl_model\": 1,\n");
	put_nodes(&b, model->topology);
	put_cores(&b, model->topology);
	put_kept(&b, model);
	put_typical(&b, model);
	open_list(&b, "promises");
	for (size_t i = 0; i < model->promise_count; i++) {
		next_line(&b, i);
		put_promise(&b, &model->promises[i]);
		buf_puts(&b, "}");
	}
	close_list(&b, model->promise_count, ",");
	put_pfs(&b, model);
	put_gpus(&b, model);
	open_list(&b, "free_vfs");
	for (size_t i = 0; i < model->vf_count; i++) {
		next_line(&b, i);
		put_vf(&b, &model->vfs[i]);
	}
	close_list(&b, model->vf_count, ",");
	open_list(&b, "occupants");
	for (size_t i = 0; i < model->occupant_count; i++) {
		next_line(&b, i);
		put_occupant(&b, &model->occupants[i]);
	}
	close_list(&b, model->occupant_count, "");
	buf_puts(&b, "}\n");
	return buf_steal(&b);
}
