// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/picture_style.h"

#include <inttypes.h>

#include "base/parse.h"
#include "topology/topology.h"

#define NAME_SHOWN 40 /* bytes of a name */

/* ---- colours ---- */

/* Colours that can be distinguished, also by most people with red-green colour blindness. */
static const uint32_t guests[] = {0x1f77b4, 0xff7f0e, 0x2ca02c, 0xd62728, 0x9467bd, 0x8c564b,
	0xe377c2,
	0xbcbd22, 0x17becf, 0x1b2a6b, 0xffbb78, 0x98df8a, 0xff9896, 0xc5b0d5, 0xc49c94, 0xaec7e8, 0xe6b800,
	0x00796b, 0xc2185b, 0x0b5d1e, 0x7a0d1a, 0x9edae5, 0xdbdb8d, 0xf7b6d2};

/* A hue of the circle, of 1536 steps, mixed with white or black. */
static uint32_t hue(unsigned step, unsigned light)
{
	unsigned up = step % 256, down = 255 - up;
	const unsigned rgb[6][3] = {{255, up, 0}, {down, 255, 0}, {0, 255, up},
		{0, down, 255}, {up, 0, 255}, {255, 0, down}};
	const unsigned *c = rgb[step / 256 % 6];
	uint32_t colour = 0;

	for (int i = 0; i < 3; i++)
		colour = colour << 8 |
			 (light < 128 ? c[i] * (light + 64) / 192
				      : c[i] + (255 - c[i]) * (light - 128) / 192);
	return colour;
}

uint32_t style_guest(size_t at)
{
	static const unsigned lights[] = {128, 64, 208};

	if (at < ARRAY_SIZE(guests))
		return guests[at];
	/* Steps of the golden ratio fill the circle evenly, however many there are. */
	return hue((unsigned)(at * 949 % 1536), lights[at % ARRAY_SIZE(lights)]);
}

uint32_t style_cpu(const struct vfctl_host_model *m, unsigned cpu)
{
	uint32_t colour = STYLE_FREE;
	unsigned holders = 0;

	if (vfctl_cpuset_has(&m->reserved_cpus, cpu) && ++holders)
		colour = STYLE_HOST;
	if (vfctl_cpuset_has(&m->shared_cpus, cpu) && ++holders)
		colour = STYLE_SHARED;
	if (vfctl_cpuset_has(&m->busy_cpus, cpu) && ++holders)
		colour = STYLE_OTHERS;
	for (size_t i = 0; i < m->occupant_count; i++)
		if (vfctl_cpuset_has(&m->occupants[i].cpus, cpu) && ++holders)
			colour = style_guest(i);
	for (size_t i = 0; i < m->occupant_count && !holders; i++)
		if (vfctl_cpuset_has(&m->occupants[i].qemu_cpus, cpu))
			colour = STYLE_SHARED;
	return holders > 1 ? STYLE_SEVERAL : colour;
}

uint32_t style_text(uint32_t background)
{
	uint32_t r = background >> 16, g = background >> 8 & 0xff, b = background & 0xff;

	return r * 299 + g * 587 + b * 114 > 140000 ? 0x000000 : 0xffffff;
}

/* ---- texts ---- */

void style_put_xml(struct buf *b, const char *text)
{
	bool plain = !utf8_valid(text, strlen(text));

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f || (plain && c >= 0x80))
			buf_puts(b, "?");
		else if (c == '"')
			buf_puts(b, "&quot;");
		else if (c == '<')
			buf_puts(b, "&lt;");
		else if (c == '>')
			buf_puts(b, "&gt;");
		else if (c == '&')
			buf_puts(b, "&amp;");
		else
			buf_add(b, text, 1);
	}
}

/* Print a name, truncated to whole characters if it is too long. */
static void put_name(struct buf *b, const char *name)
{
	size_t len = strlen(name);

	if (len <= NAME_SHOWN) {
		buf_puts(b, name);
		return;
	}
	len = NAME_SHOWN;
	while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
		len--;
	buf_add(b, name, len);
	buf_puts(b, "...");
}

void style_put_cpus(struct buf *text, const struct vfctl_cpuset *set)
{
	char list[100];

	if (vfctl_cpuset_format(set, list, sizeof(list)) >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	buf_puts(text, list);
}

void style_put_holders(struct buf *text, const struct vfctl_host_model *m,
	const struct vfctl_cpuset *cpus)
{
	const char *before = ": ";

	for (size_t i = 0; i < m->occupant_count; i++)
		if (vfctl_cpuset_intersects(&m->occupants[i].cpus, cpus)) {
			buf_puts(text, before);
			put_name(text, m->occupants[i].name);
			before = ", ";
		}
}

static void put_pf_name(const struct vfctl_model_pf *pf, struct buf *b)
{
	char text[VFCTL_BDF_TEXT];

	put_name(b, pf->names && pf->names[0] ? pf->names[0]
					      : vfctl_bdf_format(&pf->bdf, text));
}

/* ---- nodes ---- */

static size_t free_cores(const struct vfctl_host_model *m, const struct vfctl_node *n,
	size_t *ret_all)
{
	const struct vfctl_topology *t = m->topology;
	size_t free = 0;

	*ret_all = 0;
	for (size_t i = 0; i < t->core_count; i++) {
		if (t->cores[i].node != (int)n->id)
			continue;
		free += style_cpu(m, (unsigned)vfctl_cpuset_next(&t->cores[i].cpus, 0)) == STYLE_FREE;
		++*ret_all;
	}
	return free;
}

static void put_pools(const struct vfctl_node *n, struct buf *text)
{
	for (size_t i = 0; i < n->pool_count; i++) {
		const struct vfctl_page_pool *p = &n->pools[i];

		buf_puts(text, i ? "; " : "huge pages: ");
		if (p->free == VFCTL_COUNT_UNKNOWN)
			buf_printf(text, "%" PRIu64 " of ", p->total);
		else
			buf_printf(text, "%" PRIu64 " of %" PRIu64 " free of ", p->free, p->total);
		buf_puts(text, size_text(p->page_bytes, (char[SIZE_TEXT]){0}));
	}
}

/* "distance 12 to node 1; 32 to nodes 2-3". */
static void put_distances(const struct vfctl_topology *t, const struct vfctl_node *n,
	struct buf *text)
{
	const unsigned *row = t->distances + (size_t)(n - t->nodes) * t->node_count;

	for (size_t i = 0; i < t->node_count; i++) {
		struct vfctl_cpuset same = {0};
		bool first = &t->nodes[i] != n;

		for (size_t k = 0; k < i && first; k++)
			first = &t->nodes[k] == n || row[k] != row[i];
		for (size_t k = i; k < t->node_count && first; k++)
			if (&t->nodes[k] != n && row[k] == row[i])
				vfctl_cpuset_add(&same, t->nodes[k].id);
		if (!first)
			continue;
		buf_printf(text, "%s%u to node%s ", text->len ? "; " : "distance ", row[i],
			vfctl_cpuset_count(&same) > 1 ? "s" : "");
		style_put_cpus(text, &same);
	}
}

void style_node_line(const struct vfctl_host_model *m, const struct vfctl_node *n, unsigned at,
	struct buf *text)
{
	size_t all, free = free_cores(m, n, &all);

	if (at == 1) {
		put_pools(n, text);
		return;
	}
	if (at == 2) {
		put_distances(m->topology, n, text);
		return;
	}
	if (all)
		buf_printf(text, "%zu core%s (%zu free), ", all, plural(all), free);
	else
		buf_puts(text, "no CPUs, ");
	buf_puts(text, size_text(n->memory_bytes, (char[SIZE_TEXT]){0}));
}

/* ---- PFs and VFs ---- */

void style_name_pf(const struct vfctl_model_pf *pf, struct buf *text)
{
	char address[VFCTL_BDF_TEXT];

	buf_puts(text, "PF ");
	put_pf_name(pf, text);
	if (pf->names && pf->names[0])
		buf_printf(text, " %s", vfctl_bdf_format(&pf->bdf, address));
}

/* The VFs of @pf in @v, by number; returns how many there are. */
static size_t vfs_of(const struct vfctl_free_vf *v, size_t count, const struct vfctl_model_pf *pf,
	struct vfctl_cpuset *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (vfctl_bdf_compare(&v[i].pf, &pf->bdf) == 0) {
			if (v[i].index < VFCTL_CPU_MAX)
				vfctl_cpuset_add(ret, v[i].index);
			n++;
		}
	return n;
}

void style_pf_port(const struct vfctl_model_pf *pf, struct buf *text)
{
	const char *fabric = vfctl_fabric_name(pf->fabric);

	if (fabric)
		buf_puts(text, fabric);
	if (pf->speed_mbps)
		buf_printf(text, "%s%g Gbit/s", text->len ? ", " : "", pf->speed_mbps / 1000.0);
	if (pf->driver)
		buf_printf(text, "%s%s", text->len ? ", " : "", pf->driver);
}

/* The product name in brackets, if pci.ids has one: "MT28908 Family [ConnectX-6]". */
void style_pf_card(const struct vfctl_model_pf *pf, struct buf *text)
{
	const char *open = pf->card ? strrchr(pf->card, '[') : NULL,
		*close = open ? strchr(open, ']') : NULL;

	if (open && close)
		buf_printf(text, "%.*s", (int)(close - open - 1), open + 1);
	else if (pf->card)
		buf_puts(text, pf->card);
}

void style_pf_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text)
{
	struct vfctl_cpuset set = {0};

	buf_printf(text, "%u of %u VFs", pf->num_vfs, pf->max_vfs);
	if (pf->num_vfs)
		buf_printf(text, " (%zu free)", vfs_of(m->vfs, m->vf_count, pf, &set));
	if (pf->eswitch == VFCTL_ESWITCH_SWITCHDEV || pf->eswitch == VFCTL_ESWITCH_INACTIVE)
		buf_printf(text, ", %s", vfctl_eswitch_name(pf->eswitch));
	if (pf->bond) {
		buf_puts(text, ", in ");
		put_name(text, pf->bond);
		if (pf->lag)
			buf_printf(text, ", VF-LAG %s", vfctl_lag_name(pf->lag));
	}
}

void style_pf_gpus(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text)
{
	char address[VFCTL_BDF_TEXT];

	for (int d = VFCTL_PCI_PIX; d <= VFCTL_PCI_PXB; d++)
		for (size_t i = 0; i < m->gpu_count; i++)
			if ((int)vfctl_gpu_distance(&m->gpus[i], &pf->bdf) == d)
				buf_printf(text, "%s%s %s", text->len ? ", " : "GPUs: ",
					vfctl_pci_distance_name((enum vfctl_pci_distance)d),
					vfctl_bdf_format(&m->gpus[i].bdf, address));
}

static bool has_vf(const struct vfctl_free_vf *v, size_t count, const struct vfctl_model_pf *pf,
	uint32_t index)
{
	for (size_t i = 0; i < count; i++)
		if (v[i].index == index && vfctl_bdf_compare(&v[i].pf, &pf->bdf) == 0)
			return true;
	return false;
}

uint32_t style_vf(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf, uint32_t index,
	struct buf *text)
{
	buf_printf(text, "VF %u: ", index);
	for (size_t i = 0; i < m->occupant_count; i++)
		if (has_vf(m->occupants[i].vfs, m->occupants[i].vf_count, pf, index)) {
			put_name(text, m->occupants[i].name);
			return style_guest(i);
		}
	if (has_vf(m->vfs, m->vf_count, pf, index)) {
		buf_puts(text, "free");
		return STYLE_FREE;
	}
	buf_puts(text, "not available for guests");
	return STYLE_OTHERS;
}

/* ---- guests ---- */

bool style_share(const struct vfctl_node *n, const struct vfctl_occupant *o, struct buf *text)
{
	struct vfctl_cpuset cpus = o->cpus;
	uint64_t bytes = 0;
	uint32_t shared = 0;
	const char *comma = "";

	vfctl_cpuset_and(&cpus, &n->cpus);
	for (size_t i = 0; i < o->memory_count; i++)
		if (o->memory[i].node == (int)n->id) {
			bytes += o->memory[i].bytes;
			shared += o->memory[i].shared_vcpus;
		}
	if (vfctl_cpuset_empty(&cpus) && !bytes && !shared)
		return false;
	put_name(text, o->name);
	buf_puts(text, ": ");
	if (!vfctl_cpuset_empty(&cpus)) {
		buf_printf(text, "%u CPU%s", vfctl_cpuset_count(&cpus),
			plural(vfctl_cpuset_count(&cpus)));
		comma = ", ";
	}
	if (shared) {
		buf_printf(text, "%s%u shared vCPUs", comma, shared);
		comma = ", ";
	}
	if (bytes) {
		buf_puts(text, comma);
		buf_puts(text, size_text(bytes, (char[SIZE_TEXT]){0}));
	}
	return true;
}

/* Whether the guest runs on CPUs of the node. */
static bool runs_on(const struct vfctl_occupant *o, const struct vfctl_node *n)
{
	if (!vfctl_cpuset_empty(&o->cpus))
		return vfctl_cpuset_intersects(&o->cpus, &n->cpus);
	for (size_t i = 0; i < o->memory_count; i++)
		if (o->memory[i].node == (int)n->id && o->memory[i].shared_vcpus)
			return true;
	return false;
}

/*
 * Whether @node is not local to any node on which the guest runs. A node without CPUs is local to
 * others.
 */
static bool is_remote(const struct vfctl_host_model *m, const struct vfctl_occupant *o, int node)
{
	const struct vfctl_topology *t = m->topology;
	const struct vfctl_node *n = vfctl_topology_node(t, node);
	bool runs = false;

	for (size_t i = 0; i < t->node_count; i++)
		runs |= runs_on(o, &t->nodes[i]);
	return n && runs && !vfctl_cpuset_empty(&n->cpus) && !runs_on(o, n);
}

static const struct vfctl_model_pf *pf_of(const struct vfctl_host_model *m,
	const struct vfctl_free_vf *v)
{
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, &v->pf) == 0)
			return &m->pfs[i];
	return NULL;
}

void style_remote(const struct vfctl_host_model *m, const struct vfctl_occupant *o,
	struct buf *text)
{
	for (size_t i = 0; i < o->vf_count; i++) {
		const struct vfctl_model_pf *pf = pf_of(m, &o->vfs[i]);

		if (!is_remote(m, o, o->vfs[i].node))
			continue;
		buf_puts(text, text->len ? ", VF " : "not local: VF ");
		if (pf)
			put_pf_name(pf, text);
		buf_printf(text, "/%u on node %d", o->vfs[i].index, o->vfs[i].node);
	}
	for (size_t i = 0; i < o->memory_count; i++)
		if (is_remote(m, o, o->memory[i].node))
			buf_printf(text, "%smemory on node %d", text->len ? ", " : "not local: ",
				o->memory[i].node);
}

/* ---- the legend ---- */

static void put_vfs(const struct vfctl_host_model *m, const struct vfctl_occupant *o,
	struct buf *line)
{
	for (size_t i = 0; i < m->pf_count; i++) {
		struct vfctl_cpuset set = {0};

		if (!vfs_of(o->vfs, o->vf_count, &m->pfs[i], &set))
			continue;
		buf_puts(line, ", VF ");
		put_pf_name(&m->pfs[i], line);
		buf_puts(line, "/");
		style_put_cpus(line, &set);
	}
}

static void put_guest(const struct vfctl_host_model *m, size_t at, struct buf *line)
{
	const struct vfctl_occupant *o = &m->occupants[at];
	uint64_t bytes = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		bytes += o->memory[i].bytes;
	put_name(line, o->name);
	buf_printf(line, "%s%s, ", o->foreign ? " (foreign domain)" : "", o->running ? "" : " (off)");
	if (vfctl_cpuset_empty(&o->cpus)) {
		buf_puts(line, "no CPUs of its own");
	} else {
		buf_puts(line, "CPUs ");
		style_put_cpus(line, &o->cpus);
	}
	if (!vfctl_cpuset_empty(&o->qemu_cpus)) {
		buf_puts(line, ", QEMU on ");
		style_put_cpus(line, &o->qemu_cpus);
		buf_puts(line, " (shared)");
	}
	if (bytes) {
		buf_puts(line, ", ");
		buf_puts(line, size_text(bytes, (char[SIZE_TEXT]){0}));
	}
	put_vfs(m, o, line);
}

bool style_legend(const struct vfctl_host_model *m, size_t at, uint32_t *ret_colour,
	struct buf *text)
{
	static const struct {
		uint32_t colour;
		const char *text;
	} fixed[] = {
		{STYLE_FREE, "free cores (their number is in the box) and free VFs"},
		{STYLE_HOST, "reserved for the host"},
		{STYLE_SHARED, "shared by guests, or by the QEMU threads of guests"},
		{STYLE_OTHERS, "in use by other programs, or not available for guests"},
		{STYLE_SEVERAL, "used by several guests"},
	};

	if (at >= ARRAY_SIZE(fixed)) {
		at -= ARRAY_SIZE(fixed);
		if (at >= m->occupant_count)
			return false;
		*ret_colour = style_guest(at);
		put_guest(m, at, text);
		return true;
	}
	*ret_colour = fixed[at].colour;
	buf_puts(text, fixed[at].text);
	if (fixed[at].colour == STYLE_HOST && m->reserved_why) {
		buf_puts(text, " (");
		put_name(text, m->reserved_why);
		buf_puts(text, ")");
	}
	return true;
}
