// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a guest does not fit, node by node, and the changes that were tried and would help. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "placement/refuse.h"

void refusal_say(struct refusal *f, bool ok)
{
	if (!ok)
		f->error = ctx_oom(f->ctx);
}

static void note_shortage(struct refusal *f, unsigned node, const char *fmt, ...)
	_printf_(3, 4);

static void note_shortage(struct refusal *f, unsigned node, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	for (size_t i = 0; i < f->shortage_count; i++)
		if (str_eq(f->shortages[i].text, text)) {
			f->shortages[i].nodes |= UINT64_C(1) << node;
			free(text);
			return;
		}
	if (f->shortage_count == ARRAY_SIZE(f->shortages)) {
		free(text);
		return;
	}
	f->shortages[f->shortage_count++] = (struct shortage){text, UINT64_C(1) << node};
}

void refusal_nodes(const struct site *site, uint64_t nodes, char buf[128])
{
	struct vfctl_cpuset set = {0};
	bool many = nodes & (nodes - 1);
	int n;

	for (unsigned i = 0; i < site->node_count; i++)
		if (site_has(nodes, i))
			vfctl_cpuset_add(&set, (unsigned)site->nodes[i].id);
	n = snprintf(buf, 128, many ? "nodes " : "node ");
	vfctl_cpuset_format(&set, buf + n, (size_t)(128 - n));
}

static void tell_shortages(struct refusal *f)
{
	for (size_t i = 0; i < f->shortage_count; i++) {
		char where[128];

		refusal_nodes(f->site, f->shortages[i].nodes, where);
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "%s%s: %s", where,
			f->shortages[i].nodes & (f->shortages[i].nodes - 1) ? ", each" : "",
			f->shortages[i].text));
		free(f->shortages[i].text);
	}
	f->shortage_count = 0;
}

/* ---- which kind of thing is short ---- */

/* The same with hardly any memory (and @one: a vCPU to a cell), for the question whether. */
static struct vfctl_request smaller(const struct vfctl_request *r,
	struct vfctl_cell_want *cells, bool one)
{
	const uint64_t little = 1 << 20;
	struct vfctl_request changed = *r;

	changed.page_bytes = VFCTL_PAGES_BASE;
	changed.memory_affinity = VFCTL_AFFINITY_PREFERRED;
	changed.memory_bytes = little * (r->cell_count ? r->cell_count : r->vcpus);
	for (size_t k = 0; k < r->cell_count; k++) {
		cells[k] = r->cells[k];
		cells[k].memory_bytes = little;
		cells[k].vcpus = one ? 1 : cells[k].vcpus;
	}
	changed.cells = r->cell_count ? cells : NULL;
	if (one) {
		changed.vcpus = r->cell_count ? (uint32_t)r->cell_count : 1;
		changed.shared_vcpus = r->shared_vcpus ? changed.vcpus : 0;
		changed.emulator_cores = changed.iothread_cores = 0;
		changed.has_emulator = true;
		changed.threads = VFCTL_THREADS_NONE;
		changed.whole_node = changed.whole_l3 = false;
	}
	return changed;
}

static void find_kind(struct refusal *f)
{
	struct vfctl_cell_want cells[VFCTL_CELLS_MAX];
	struct vfctl_request changed;

	if (refusal_would_fit(f, f->request, NULL)) {
		f->a->refusal = VFCTL_REFUSAL_OTHERS;
		return;
	}
	f->a->refusal = VFCTL_REFUSAL_VFS;
	changed = smaller(f->request, cells, false);
	if (refusal_would_fit(f, &changed, NULL)) {
		f->a->refusal = VFCTL_REFUSAL_MEMORY;
		return;
	}
	changed = smaller(f->request, cells, true);
	if (!f->request->want_count || refusal_would_fit(f, &changed, NULL))
		f->a->refusal = VFCTL_REFUSAL_CPUS;
}

/* ---- what is short, node by node ---- */

static uint32_t whole_vcpus(const struct vfctl_request *r)
{
	return r->vcpus - r->shared_vcpus;
}

/* Cores of @threads for the vCPUs and for QEMU. */
static uint32_t cores_needed(const struct vfctl_request *r, uint32_t vcpus, uint32_t threads)
{
	return r->threads == VFCTL_THREADS_ISOLATE ? vcpus : (vcpus + threads - 1) / threads;
}

static void say_cores(struct refusal *f, unsigned node)
{
	const struct vfctl_request *r = f->request;
	const struct room *room = &f->site->start[node];
	uint32_t threads = f->site->class_threads[f->site->class_count - 1];
	uint32_t extra = r->emulator_cores + r->iothread_cores;
	uint32_t need = cores_needed(r, whole_vcpus(r), threads);
	_buf_ struct buf line = {0};

	if (room->shared < r->shared_vcpus)
		note_shortage(f, node, "%" PRIu32 " shared vCPUs asked, its shared CPUs carry %"
			PRIu32 " more", r->shared_vcpus, room->shared);
	if (room->core_count >= need + extra && room->threads >= whole_vcpus(r))
		return;
	buf_printf(&line, "%u free whole core%s (%" PRIu32 " CPUs), %" PRIu32 " needed",
		room->core_count, room->core_count == 1 ? "" : "s", room->threads, need + extra);
	if (extra || need != whole_vcpus(r))
		buf_printf(&line, ": %" PRIu32 " for %" PRIu32 " vCPU%s (threads: %s)", need,
			whole_vcpus(r), whole_vcpus(r) == 1 ? "" : "s",
			vfctl_threads_name(r->threads));
	if (extra)
		buf_printf(&line, ", %" PRIu32 " for QEMU's threads", extra);
	if (line.failed)
		f->error = ctx_oom(f->ctx);
	else
		note_shortage(f, node, "%s", line.data);
}

static void say_memory(struct refusal *f, unsigned node)
{
	const struct vfctl_request *r = f->request;
	const struct site *s = f->site;
	char asked[32], left[32], page[32];
	uint64_t most = 0;

	if (r->page_bytes == VFCTL_PAGES_AUTO) {
		for (unsigned p = 0; p < s->page_count; p++)
			most = s->start[node].memory[p] > most ? s->start[node].memory[p] : most;
	} else {
		for (unsigned p = 0; p < s->page_count; p++)
			if (s->page_bytes[p] == r->page_bytes)
				most = s->start[node].memory[p];
	}
	if (most >= r->memory_bytes)
		return;
	memory_text(r->memory_bytes, asked);
	memory_text(most, left);
	if (r->page_bytes == VFCTL_PAGES_BASE || r->page_bytes == VFCTL_PAGES_AUTO) {
		note_shortage(f, node, "%s of memory asked, %s is free%s", asked, left,
			r->page_bytes == VFCTL_PAGES_AUTO ? " in pages of one size" : "");
		return;
	}
	note_shortage(f, node, "%s in pages of %s asked, %s is free in such pages: %" PRIu64
		" more (hugepages-%" PRIu64 "kB/nr_hugepages)", asked,
		memory_text(r->page_bytes, page), left,
		(r->memory_bytes - most + r->page_bytes - 1) / r->page_bytes,
		r->page_bytes / 1024);
}

static size_t pfs_with(const struct refusal *f, const struct vfctl_vf_want *want)
{
	size_t n = 0;

	/* Groups are in the order of their PFs. */
	for (size_t g = 0; g < f->site->group_count; g++)
		n += f->site->groups[g].free && site_group_answers(&f->site->groups[g], want) &&
			(g == 0 || vfctl_bdf_compare(&f->site->groups[g - 1].pf,
				&f->site->groups[g].pf) != 0);
	return n;
}

static void want_words(const struct refusal *f, const struct vfctl_vf_want *want,
	struct buf *line)
{
	char pf[64];

	buf_puts(line, want->any_pf ? "any PF" : pf_words(f->site->model, &want->pf, pf));
	if (want->fabric != VFCTL_FABRIC_ANY && want->fabric_name)
		buf_printf(line, ", %s", want->fabric_name);
	else if (want->fabric != VFCTL_FABRIC_ANY)
		buf_printf(line, ", fabric %d", want->fabric);
	if (want->port)
		buf_printf(line, ", port %" PRIu32, want->port);
	if (want->cell >= 0)
		buf_printf(line, ", for cell %d", want->cell);
	if (want->cell == VFCTL_CELL_EACH)
		buf_printf(line, ", in each of %zu cells", f->request->cell_count);
	if (want->apart)
		buf_printf(line, ", each on a PF of its own (%zu have any free)",
			pfs_with(f, want));
}

static void say_want(struct refusal *f, const struct vfctl_vf_want *want)
{
	uint32_t total = 0, unknown = 0;
	_buf_ struct buf line = {0};

	buf_printf(&line, "VFs: %" PRIu32 " of ", want->count);
	want_words(f, want, &line);
	buf_puts(&line, want->affinity == VFCTL_AFFINITY_REQUIRED ? " asked, local; free:"
								  : " asked; free:");
	for (unsigned n = 0; n < f->site->node_count; n++) {
		uint32_t here = 0;

		for (size_t g = 0; g < f->site->group_count; g++)
			if (f->site->groups[g].home == n &&
				site_group_answers(&f->site->groups[g], want))
				here += f->site->groups[g].free;
		total += here;
		if (here)
			buf_printf(&line, " %" PRIu32 " on node %d,", here, f->site->nodes[n].id);
	}
	for (size_t g = 0; g < f->site->group_count; g++)
		if (!f->site->groups[g].local && site_group_answers(&f->site->groups[g], want))
			unknown += f->site->groups[g].free;
	if (unknown)
		buf_printf(&line, " %" PRIu32 " without a node,", unknown);
	total += unknown;
	if (!total)
		buf_puts(&line, " none ");
	if (!line.failed)
		line.data[line.len - 1] = '\0';
	refusal_say(f, !line.failed && reason_add(f->a, VFCTL_REASON_SHORT, "%s", line.data));
}

/* Two wants that are met from the same PFs: told in one sum. */
static bool same_source(const struct vfctl_vf_want *a, const struct vfctl_vf_want *b)
{
	return a->any_pf == b->any_pf && a->fabric == b->fabric && a->port == b->port &&
		a->cell == b->cell && a->affinity == b->affinity && a->apart == b->apart &&
		(a->any_pf || vfctl_bdf_compare(&a->pf, &b->pf) == 0);
}

static void say_wants(struct refusal *f)
{
	const struct vfctl_request *r = f->request;

	for (size_t i = 0; i < r->want_count; i++) {
		struct vfctl_vf_want sum = r->wants[i];
		bool told = false;

		for (size_t k = 0; k < i && !told; k++)
			told = same_source(&r->wants[k], &sum);
		for (size_t k = i + 1; k < r->want_count; k++)
			if (same_source(&r->wants[k], &sum))
				sum.count += r->wants[k].count;
		if (!told)
			say_want(f, &sum);
	}
}

static void say_cells(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	uint32_t threads = f->site->class_threads[f->site->class_count - 1];
	bool all_fit = true;
	char memory[32];

	for (size_t k = 0; k < r->cell_count; k++) {
		uint32_t need = cores_needed(r, r->cells[k].vcpus, threads);
		_buf_ struct buf line = {0};
		unsigned fits = 0;

		buf_printf(&line, "cell %zu (%" PRIu32 " vCPUs, %s):", k, r->cells[k].vcpus,
			memory_text(r->cells[k].memory_bytes, memory));
		for (unsigned n = 0; n < f->site->node_count; n++) {
			const struct room *room = &f->site->start[n];
			uint64_t most = 0;

			if (!f->site->nodes[n].has_cpus || (r->cells[k].node != VFCTL_NODE_NONE &&
					r->cells[k].node != f->site->nodes[n].id))
				continue;
			for (unsigned p = 0; p < f->site->page_count; p++)
				if ((r->page_bytes == VFCTL_PAGES_AUTO ||
					    r->page_bytes == f->site->page_bytes[p]) &&
					room->memory[p] > most)
					most = room->memory[p];
			fits += room->core_count >= need && most >= r->cells[k].memory_bytes;
		}
		all_fit &= fits > 0;
		if (fits)
			continue;
		buf_printf(&line, " fits no node (%" PRIu32 " free whole cores wanted)", need);
		refusal_say(f, !line.failed && reason_add(f->a, VFCTL_REASON_SHORT, "%s", line.data));
	}
	if (all_fit && f->a->refusal != VFCTL_REFUSAL_VFS)
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "each cell fits some node, but not all "
			"of them at once, each on a node of its own"));
}

static void say_limits(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	size_t nodes = 0;

	for (unsigned n = 0; n < f->site->node_count; n++)
		nodes += f->site->nodes[n].has_cpus;
	if (r->cell_count > nodes)
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "%zu cells, each on a node of its own, "
			"but %zu node%s CPUs", r->cell_count, nodes, nodes == 1 ? " has" : "s have"));
	if (r->max_distance)
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "max_distance: nothing of it may be "
			"farther apart than %u", r->max_distance));
}

static void say_short(struct refusal *f)
{
	const struct vfctl_request *r = f->request;

	say_limits(f);
	if (f->a->refusal == VFCTL_REFUSAL_VFS || f->a->refusal == VFCTL_REFUSAL_OTHERS)
		say_wants(f);
	if (r->cell_count > 1) {
		say_cells(f);
		return;
	}
	for (unsigned n = 0; n < f->site->node_count; n++) {
		if (r->node != VFCTL_NODE_NONE && f->site->nodes[n].id != r->node)
			continue;
		if (!f->site->nodes[n].has_cpus) {
			if (r->node != VFCTL_NODE_NONE)
				refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "node %d: it has no CPUs",
					r->node));
			continue;
		}
		if (r->whole_node && !f->site->nodes[n].empty)
			note_shortage(f, n, "another guest is on it, and a whole node is asked");
		if (r->whole_l3 && !f->site->start[n].l3_whole)
			note_shortage(f, n, "no L3 group of cores that are alike is wholly free");
		say_cores(f, n);
		say_memory(f, n);
	}
	tell_shortages(f);
}

int explain_refusal(struct vfctl_ctx *ctx, struct vfctl_assignment *a,
	const struct site *site, const struct site *after,
	const struct vfctl_request *request)
{
	struct refusal f = {.ctx = ctx, .a = a, .site = site, .request = request};

	find_kind(&f);
	if (f.error)
		return f.error;
	if (a->refusal == VFCTL_REFUSAL_OTHERS) {
		refusal_say(&f, reason_add(a, VFCTL_REASON_SHORT, "it would fit alone, but not beside the "
			"others, which leave:"));
		f.site = after;
		say_short(&f);
		return f.error;
	}
	say_short(&f);
	tell_remedies(&f);
	return f.error;
}
