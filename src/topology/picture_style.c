// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/picture_style.h"

#include <inttypes.h>

#include "base/parse.h"

#define NAME_SHOWN 40 /* bytes of a name: a box is as wide as its text */

/* ---- colours ---- */

/* Told apart side by side, also by most of those who see red and green alike. */
static const struct {
	const char *name;
	uint32_t colour;
} guests[] = {
	{"blue", 0x1f77b4}, {"orange", 0xff7f0e}, {"green", 0x2ca02c}, {"red", 0xd62728},
	{"purple", 0x9467bd}, {"brown", 0x8c564b}, {"pink", 0xe377c2}, {"olive", 0xbcbd22},
	{"cyan", 0x17becf}, {"navy", 0x1b2a6b}, {"light orange", 0xffbb78},
	{"light green", 0x98df8a}, {"light red", 0xff9896}, {"light purple", 0xc5b0d5},
	{"light brown", 0xc49c94}, {"light blue", 0xaec7e8}, {"gold", 0xe6b800},
	{"teal", 0x00796b}, {"magenta", 0xc2185b}, {"dark green", 0x0b5d1e},
	{"maroon", 0x7a0d1a}, {"light cyan", 0x9edae5}, {"khaki", 0xdbdb8d},
	{"light pink", 0xf7b6d2},
};

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
		return guests[at].colour;
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

/* ---- words ---- */

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

/* The beginning of a name that is too long; never half a character. */
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

static void put_bytes(struct buf *b, uint64_t bytes)
{
	if (bytes >> 30 && !(bytes & ((1u << 30) - 1)))
		buf_printf(b, "%" PRIu64 " GiB", bytes >> 30);
	else
		buf_printf(b, "%" PRIu64 " MiB", bytes >> 20);
}

static void put_set(struct buf *b, const struct vfctl_cpuset *set)
{
	char text[100]; /* the legend's lines stay within the picture */

	if (vfctl_cpuset_format(set, text, sizeof(text)) >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	buf_puts(b, text);
}

static void put_pf_name(const struct vfctl_model_pf *pf, struct buf *b)
{
	char text[VFCTL_BDF_TEXT];

	put_name(b, pf->names && pf->names[0] ? pf->names[0]
					      : vfctl_bdf_format(&pf->bdf, text));
}

/* One that hangs in the machine says whether that is for want of CPUs or of a node. */
static void put_place(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text)
{
	const struct vfctl_node *node = vfctl_topology_node(m->topology, pf->node);

	if (!node)
		buf_puts(text, ", of no node");
	else if (vfctl_cpuset_empty(&node->cpus))
		buf_printf(text, ", node %u", node->id);
}

void style_name_pf(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text)
{
	const char *fabric = vfctl_fabric_name(pf->fabric);
	char address[VFCTL_BDF_TEXT];

	buf_puts(text, "PF ");
	put_pf_name(pf, text);
	if (pf->names && pf->names[0])
		buf_printf(text, " %s", vfctl_bdf_format(&pf->bdf, address));
	if (fabric)
		buf_printf(text, " %s", fabric);
	if (pf->eswitch == VFCTL_ESWITCH_SWITCHDEV || pf->eswitch == VFCTL_ESWITCH_INACTIVE)
		buf_printf(text, ", %s", vfctl_eswitch_name(pf->eswitch));
	if (pf->bond) {
		buf_puts(text, ", in ");
		put_name(text, pf->bond);
		if (pf->lag)
			buf_printf(text, ", VF-LAG %s", vfctl_lag_name(pf->lag));
	}
	put_place(m, pf, text);
}

/* VFs of @pf among @v, by number; how many there are. */
static size_t vfs_of(const struct vfctl_free_vf *v, size_t count,
	const struct vfctl_model_pf *pf, struct vfctl_cpuset *ret)
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

bool style_held_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	const struct vfctl_occupant *o, struct buf *text)
{
	struct vfctl_cpuset set = {0};

	if (!vfs_of(o->vfs, o->vf_count, pf, &set))
		return false;
	buf_puts(text, "VF ");
	put_set(text, &set);
	buf_puts(text, " ");
	put_name(text, o->name);
	return true;
}

bool style_free_vfs(const struct vfctl_host_model *m, const struct vfctl_model_pf *pf,
	struct buf *text)
{
	struct vfctl_cpuset set = {0};

	if (!vfs_of(m->vfs, m->vf_count, pf, &set)) {
		buf_puts(text, pf->num_vfs ? "none free" : "no VFs made");
		return true;
	}
	buf_puts(text, "VF ");
	put_set(text, &set);
	buf_puts(text, " free");
	return true;
}

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
			shared += o->shared_vcpus ? o->shared_vcpus[i] : 0;
		}
	if (vfctl_cpuset_empty(&cpus) && !bytes && !shared)
		return false;
	put_name(text, o->name);
	buf_puts(text, ": ");
	if (!vfctl_cpuset_empty(&cpus)) {
		buf_printf(text, "%u CPU%s", vfctl_cpuset_count(&cpus),
			vfctl_cpuset_count(&cpus) == 1 ? "" : "s");
		comma = ", ";
	}
	if (shared) {
		buf_printf(text, "%s%u shared vCPUs", comma, shared);
		comma = ", ";
	}
	if (bytes) {
		buf_puts(text, comma);
		put_bytes(text, bytes);
	}
	return true;
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
		put_set(line, &set);
	}
}

static void put_guest(const struct vfctl_host_model *m, size_t at, struct buf *line)
{
	const struct vfctl_occupant *o = &m->occupants[at];
	uint64_t bytes = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		bytes += o->memory[i].bytes;
	if (at < ARRAY_SIZE(guests))
		buf_printf(line, "%s: ", guests[at].name);
	else
		buf_printf(line, "#%06" PRIx32 ": ", style_guest(at));
	put_name(line, o->name);
	buf_printf(line, "%s%s, ", o->foreign ? " (not ours)" : "", o->running ? "" : " (off)");
	if (vfctl_cpuset_empty(&o->cpus)) {
		buf_puts(line, "no CPUs of its own");
	} else {
		buf_puts(line, "CPUs ");
		put_set(line, &o->cpus);
	}
	if (!vfctl_cpuset_empty(&o->qemu_cpus)) {
		buf_puts(line, ", QEMU on ");
		put_set(line, &o->qemu_cpus);
		buf_puts(line, " (shared)");
	}
	if (bytes) {
		buf_puts(line, ", ");
		put_bytes(line, bytes);
	}
	put_vfs(m, o, line);
}

bool style_legend(const struct vfctl_host_model *m, size_t at, struct buf *line)
{
	if (at == 0) {
		buf_puts(line, "CPUs: white free, dark grey the host's own");
		if (m->reserved_why) {
			buf_puts(line, " (");
			put_name(line, m->reserved_why);
			buf_puts(line, ")");
		}
		buf_puts(line, ", light grey shared by guests, black held by several; a "
			       "colour for "
			       "each guest:");
		return true;
	}
	if (at > m->occupant_count)
		return false;
	put_guest(m, at - 1, line);
	return true;
}
