// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find what is short for a guest: on each node the resource that prevents its placement, or for
 * each cell.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "placement/explain/refuse.h"

static void note_shortage(struct refusal *f, uint64_t nodes, const struct buf *line)
{
	char *text = line->failed ? NULL : strdup(line->data);

	if (!text) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	for (size_t i = 0; i < f->shortage_count; i++)
		if (str_eq(f->shortages[i].text, text)) {
			f->shortages[i].nodes |= nodes;
			free(text);
			return;
		}
	f->shortages[f->shortage_count++] = (struct shortage){text, nodes};
}

static void flush_shortages(struct refusal *f, const char *of)
{
	for (size_t i = 0; i < f->shortage_count; i++) {
		bool many = f->shortages[i].nodes & (f->shortages[i].nodes - 1);
		char where[128];

		refusal_nodes(f->capacity, f->shortages[i].nodes, where);
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "%s%s%s: %s", of, where,
			many ? ", each" : "", f->shortages[i].text));
		free(f->shortages[i].text);
	}
	f->shortage_count = 0;
}

/* ---- VFs ---- */

/* Whether two requests use the same PFs: they are reported as one sum. */
static bool same_source(const struct vfctl_vf_want *a, const struct vfctl_vf_want *b)
{
	return a->any_pf == b->any_pf && a->fabric == b->fabric && a->port == b->port &&
		a->cell == b->cell && a->affinity == b->affinity && a->anti_affinity == b->anti_affinity &&
		(a->any_pf || vfctl_bdf_compare(&a->pf, &b->pf) == 0);
}

/* Add up request number @i and all others that use the same PFs; false: it was already reported. */
static bool sum_wants(const struct vfctl_request *r, size_t i, struct vfctl_vf_want *ret)
{
	*ret = r->wants[i];
	for (size_t k = 0; k < i; k++)
		if (same_source(&r->wants[k], ret))
			return false;
	for (size_t k = i + 1; k < r->want_count; k++)
		if (same_source(&r->wants[k], ret))
			ret->count += r->wants[k].count;
	return true;
}

/*
 * Number of VFs that the want can get for a cell on @nodes; if each must be on a different PF,
 * number of PFs.
 */
static uint32_t vfs_within(const struct capacity *s, const struct vfctl_request *r,
	const struct vfctl_vf_want *want, uint64_t nodes)
{
	const struct vf_group *before = NULL;
	uint32_t vfs = 0, pfs = 0;
	unsigned distance;

	/* Groups are in the order of their PFs. */
	for (size_t g = 0; g < s->group_count; g++) {
		const struct vf_group *group = &s->groups[g];

		if (!group->free || !match_allows(s, want, group, nodes, r->max_distance, false,
				&distance))
			continue;
		vfs += group->free;
		pfs += !before || vfctl_bdf_compare(&before->pf, &group->pf) != 0;
		before = group;
	}
	return want->anti_affinity ? pfs : vfs;
}

static uint64_t nodes_with_cpus(const struct capacity *s)
{
	uint64_t nodes = 0;

	for (unsigned n = 0; n < s->node_count; n++)
		if (s->nodes[n].has_cpus)
			nodes |= UINT64_C(1) << n;
	return nodes;
}

static size_t pfs_with(const struct capacity *s, const struct vfctl_vf_want *want)
{
	struct vfctl_vf_want anti_affinity = *want;
	const struct vfctl_request anywhere = {0};

	anti_affinity.anti_affinity = 1;
	anti_affinity.affinity = VFCTL_AFFINITY_ANY;
	return vfs_within(s, &anywhere, &anti_affinity, nodes_with_cpus(s));
}

static void want_text(const struct refusal *f, const struct vfctl_vf_want *want,
	struct buf *line)
{
	size_t cells = f->request->cell_count, pfs;
	char pf[64];

	buf_puts(line, want->any_pf ? "any PF" : pf_text(f->capacity->model, &want->pf, pf));
	if (want->fabric != VFCTL_FABRIC_ANY && want->fabric_name)
		buf_printf(line, ", %s", want->fabric_name);
	else if (want->fabric != VFCTL_FABRIC_ANY)
		buf_printf(line, ", fabric %d", want->fabric);
	if (want->port)
		buf_printf(line, ", port %" PRIu32, want->port);
	if (want->cell >= 0)
		buf_printf(line, ", for cell %d", want->cell);
	if (want->cell == VFCTL_CELL_EACH && cells == 1)
		buf_puts(line, ", in its cell");
	else if (want->cell == VFCTL_CELL_EACH)
		buf_printf(line, ", in each of %zu cells", cells);
	if (!want->anti_affinity)
		return;
	pfs = pfs_with(f->capacity, want);
	buf_printf(line, ", each on its own PF (%zu %s any free)", pfs,
		pfs == 1 ? "has" : "have");
}

/* Up to this number of nodes, free VFs are reported for each node. */
#define FREE_NODES_TOLD 4

/* Free VFs by node, on all nodes. */
static void free_text(const struct capacity *s, const struct vfctl_vf_want *want, struct buf *line)
{
	uint32_t unknown = 0, all = 0, more = 0, told = 0;

	for (unsigned n = 0; n < s->node_count; n++) {
		uint32_t here = 0;

		for (size_t g = 0; g < s->group_count; g++)
			if (s->groups[g].home_node == n && capacity_group_answers(&s->groups[g], want))
				here += s->groups[g].free;
		if (here && told++ < FREE_NODES_TOLD)
			buf_printf(line, "%s %" PRIu32 " on node %d", all ? "," : "", here,
				s->nodes[n].id);
		else
			more += here;
		all += here;
	}
	if (more)
		buf_printf(line, ", %" PRIu32 " on other nodes", more);
	for (size_t g = 0; g < s->group_count; g++)
		if (!s->groups[g].local && capacity_group_answers(&s->groups[g], want))
			unknown += s->groups[g].free;
	if (unknown)
		buf_printf(line, "%s %" PRIu32 " without a node", all ? "," : "", unknown);
	if (!all && !unknown)
		buf_puts(line, " none");
}

static void vfs_text(const struct refusal *f, const struct vfctl_vf_want *want,
	struct buf *line)
{
	static const char *const near[] = {
		[VFCTL_AFFINITY_REQUIRED] = ", local",
		[VFCTL_AFFINITY_PREFERRED] = "",
		[VFCTL_AFFINITY_SOCKET] = ", in its package",
		[VFCTL_AFFINITY_ANY] = "",
	};

	buf_printf(line, "VFs: %" PRIu32 " of ", want->count);
	want_text(f, want, line);
	buf_printf(line, " requested%s", near[want->affinity]);
	if (f->request->max_distance && want->affinity != VFCTL_AFFINITY_ANY)
		buf_printf(line, ", at most at distance %u", f->request->max_distance);
	buf_puts(line, "; free:");
	free_text(f->capacity, want, line);
}

/* Report wants for which the total of free VFs is too small, whatever the node. */
static bool say_scarce(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	const struct vfctl_request anywhere = {0};
	struct vfctl_vf_want want, any;
	bool scarce = false;

	for (size_t i = 0; i < r->want_count; i++) {
		_buf_ struct buf line = {0};
		uint64_t need;

		if (!sum_wants(r, i, &want))
			continue;
		any = want;
		any.affinity = VFCTL_AFFINITY_ANY;
		need = (uint64_t)want.count *
			(want.cell == VFCTL_CELL_EACH ? r->cell_count : 1);
		if (vfs_within(f->capacity, &anywhere, &any, nodes_with_cpus(f->capacity)) >= need)
			continue;
		vfs_text(f, &want, &line);
		refusal_say(f, !line.failed && reason_add(f->a, VFCTL_REASON_SHORT, "%s",
			line.data));
		scarce = true;
	}
	return scarce;
}

/* The first want that a cell on @node cannot get, even alone. */
static bool lacks_vfs(const struct refusal *f, const struct vfctl_request *r, unsigned node,
	struct buf *line)
{
	struct vfctl_vf_want want;

	for (size_t i = 0; i < r->want_count; i++)
		if (sum_wants(r, i, &want) &&
			vfs_within(f->capacity, r, &want, UINT64_C(1) << node) < want.count) {
			vfs_text(f, &want, line);
			return true;
		}
	return false;
}

/* ---- cores and memory ---- */

static uint32_t cores_needed(const struct vfctl_request *r, uint32_t threads)
{
	uint32_t vcpus = r->vcpus - r->shared_vcpus;

	return r->threads == VFCTL_THREADS_ISOLATE ? vcpus : (vcpus + threads - 1) / threads;
}

/* Additional cores for QEMU's and I/O threads; a guest that takes all cores shares its own. */
static uint32_t extra_cores(const struct refusal *f, const struct vfctl_request *r,
	const struct node_free *room)
{
	uint32_t threads = f->capacity->class_threads[f->capacity->class_count - 1];
	bool whole = cores_needed(r, threads) == f->capacity->core_count;

	return request_extra_cores(r) + (request_has_auto(r) && !room->qemu_slots && !whole);
}

static void cores_text(const struct refusal *f, const struct vfctl_request *r,
	const struct node_free *room, struct buf *line)
{
	uint32_t extra = extra_cores(f, r, room), vcpus = r->vcpus - r->shared_vcpus;
	uint32_t need = cores_needed(r, f->capacity->class_threads[f->capacity->class_count - 1]);

	buf_printf(line, "%u free whole core%s (%" PRIu32 " CPU%s), ", room->core_count,
		plural(room->core_count), room->threads, plural(room->threads));
	if (room->core_count >= need + extra && room->threads >= vcpus)
		buf_printf(line, "but they do not fit %" PRIu32 " vCPU%s (threads: %s)", vcpus,
			plural(vcpus), vfctl_threads_name(r->threads));
	else if (extra || need != vcpus)
		buf_printf(line, "%" PRIu32 " needed: %" PRIu32 " for %" PRIu32 " vCPU%s "
			"(threads: %s)", need + extra, need, vcpus, plural(vcpus),
			vfctl_threads_name(r->threads));
	else
		buf_printf(line, "%" PRIu32 " needed", need);
	if (extra)
		buf_printf(line, "%s %" PRIu32 " for QEMU's threads",
			room->core_count >= need + extra && room->threads >= vcpus ? " and" : ",",
			extra);
}

/* Whether this page size divides the memory. */
static bool page_suits(const struct vfctl_request *r, uint64_t page_bytes)
{
	return r->page_bytes == page_bytes || (r->page_bytes == VFCTL_PAGES_AUTO &&
		(!page_bytes || r->memory_bytes % page_bytes == 0));
}

static uint64_t most_memory(const struct refusal *f, const struct vfctl_request *r,
	const struct node_free *room)
{
	uint64_t most = 0;

	for (unsigned p = 0; p < f->capacity->page_count; p++)
		if (page_suits(r, f->capacity->page_bytes[p]) && room->memory[p] > most)
			most = room->memory[p];
	return most;
}

/* Pages that are larger than the free memory, or do not divide the memory. */
static void unsuited_text(const struct refusal *f, const struct vfctl_request *r,
	const struct node_free *room, struct buf *line)
{
	char page[32];

	for (unsigned p = 1; p < f->capacity->page_count && r->page_bytes == VFCTL_PAGES_AUTO; p++)
		if (!page_suits(r, f->capacity->page_bytes[p]) && room->memory[p] >= r->memory_bytes) {
			buf_printf(line, " (it is not whole pages of %s)",
				size_text(f->capacity->page_bytes[p], page));
			return;
		}
}

static void memory_message(const struct refusal *f, const struct vfctl_request *r,
	const struct node_free *room, struct buf *line)
{
	bool any = r->page_bytes == VFCTL_PAGES_AUTO || r->page_bytes == VFCTL_PAGES_BASE;
	char asked[32], left[32], page[32];

	size_text(r->memory_bytes, asked);
	if (most_memory(f, r, room))
		size_text(most_memory(f, r, room), left);
	else
		snprintf(left, sizeof(left), "nothing");
	if (any)
		buf_printf(line, "%s of memory requested, %s free%s", asked, left,
			r->page_bytes == VFCTL_PAGES_AUTO && f->capacity->page_count > 1 ?
			" in pages of one size" : "");
	else
		buf_printf(line, "%s requested in pages of %s, %s free in such pages", asked,
			size_text(r->page_bytes, page), left);
	unsuited_text(f, r, room, line);
}

/* ---- one node ---- */

/* Whether the node has enough cores for the request; memory and VFs are not checked. */
static bool has_cores(struct refusal *f, const struct vfctl_request *r, bool l3)
{
	struct vfctl_request cores = *r;

	cores.memory_bytes = 0;
	cores.page_bytes = VFCTL_PAGES_BASE;
	cores.want_count = 0;
	cores.whole_l3 = l3 && r->whole_l3;
	cores.has_emulator = true;
	return refusal_fits_on(f, f->capacity, &cores);
}

static bool has_memory(struct refusal *f, const struct vfctl_request *r)
{
	struct vfctl_request memory = *r;

	memory.want_count = 0;
	memory.has_emulator = true;
	return refusal_fits_on(f, f->capacity, &memory);
}

/* Find the resource that prevents the placement of @r, a guest of one cell, on node @n. */
static void find_shortage(struct refusal *f, const struct vfctl_request *r, unsigned n,
	struct buf *line)
{
	const struct node_free *room = &f->capacity->start[n];

	if (!f->capacity->nodes[n].has_cpus)
		buf_puts(line, "it has no CPUs");
	else if (r->whole_node && (!f->capacity->nodes[n].empty || room->touched))
		buf_puts(line, "another guest uses it, but a whole node is requested");
	else if (lacks_vfs(f, r, n, line))
		return;
	else if (room->shared < r->shared_vcpus)
		buf_printf(line, "%" PRIu32 " shared vCPU%s requested, its shared CPUs have capacity "
			"for %" PRIu32 " more", r->shared_vcpus, plural(r->shared_vcpus), room->shared);
	else if (!has_cores(f, r, false))
		cores_text(f, r, room, line);
	else if (!has_cores(f, r, true))
		buf_printf(line, "no L3 group of equal cores is entirely free%s",
			room->l3_whole ? " for all of its cores" : "");
	else if (!has_memory(f, r))
		memory_message(f, r, room, line);
	else if (r->want_count)
		buf_puts(line, "each of its VFs is free, but not all of them together");
}

/* Report @r as a guest of one cell, node by node. */
static void say_nodes(struct refusal *f, const struct vfctl_request *r, const char *of)
{
	struct vfctl_request here = *r;

	here.cells = NULL;
	here.cell_count = 0;
	here.cells_max = 1;
	for (unsigned n = 0; n < f->capacity->node_count && !f->error; n++) {
		_buf_ struct buf line = {0};

		here.node = f->capacity->nodes[n].id;
		if (r->node != VFCTL_NODE_NONE ? r->node != here.node : !f->capacity->nodes[n].has_cpus)
			continue;
		find_shortage(f, &here, n, &line);
		if (!f->steps) /* without steps it was not tried, so it is not a reason */
			break;
		if (line.len || line.failed)
			note_shortage(f, UINT64_C(1) << n, &line);
	}
	flush_shortages(f, of);
}

/* ---- a guest that may be split ---- */

static void add_up(const struct capacity *s, struct node_free *sum)
{
	*sum = (struct node_free){0};
	for (unsigned n = 0; n < s->node_count; n++) {
		const struct node_free *room = &s->start[n];

		for (unsigned p = 0; p < s->page_count; p++)
			sum->memory[p] += room->memory[p];
		sum->threads += room->threads;
		sum->shared += room->shared;
		sum->qemu_slots |= room->qemu_slots;
		sum->core_count = (uint16_t)(sum->core_count + room->core_count);
	}
}

static void say_sum(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	_buf_ struct buf line = {0};
	struct node_free sum;

	add_up(f->capacity, &sum);
	if (sum.core_count < cores_needed(r, f->capacity->class_threads[f->capacity->class_count - 1]) +
			extra_cores(f, r, &sum) ||
		sum.threads < r->vcpus - r->shared_vcpus)
		cores_text(f, r, &sum, &line);
	else if (most_memory(f, r, &sum) < r->memory_bytes)
		memory_message(f, r, &sum, &line);
	else
		return;
	refusal_say(f, !line.failed && reason_add(f->a, VFCTL_REASON_SHORT,
		"all nodes together: %s", line.data));
}

static bool may_split(const struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	uint64_t nodes = nodes_with_cpus(f->capacity);

	return !r->cell_count && r->cells_max != 1 && r->node == VFCTL_NODE_NONE &&
		nodes & (nodes - 1);
}

/* ---- stated cells ---- */

static void cell_request(const struct vfctl_request *r, size_t cell, struct changed_request *ret)
{
	size_t count = 0;

	changed_request_init(ret, r);
	for (size_t i = 0; i < r->want_count; i++)
		if (r->wants[i].cell == (int)cell || r->wants[i].cell == VFCTL_CELL_EACH) {
			ret->wants[count] = r->wants[i];
			ret->wants[count++].cell = VFCTL_CELL_ANY;
		}
	ret->r.want_count = count;
	ret->r.cells = NULL;
	ret->r.cell_count = 0;
	ret->r.cells_max = 1;
	ret->r.vcpus = r->cells[cell].vcpus;
	ret->r.memory_bytes = r->cells[cell].memory_bytes;
	if (r->cells[cell].node != VFCTL_NODE_NONE)
		ret->r.node = r->cells[cell].node;
	ret->r.shared_vcpus = (uint32_t)((uint64_t)r->shared_vcpus * ret->r.vcpus / r->vcpus);
	ret->r.emulator_cores = ret->r.iothread_cores = 0;
	ret->r.has_emulator = true;
}

static bool same_cell(const struct vfctl_request *r, size_t a, size_t b)
{
	for (size_t i = 0; i < r->want_count; i++)
		if (r->wants[i].cell == (int)a || r->wants[i].cell == (int)b)
			return false;
	return r->cells[a].vcpus == r->cells[b].vcpus && r->cells[a].node == r->cells[b].node &&
		r->cells[a].memory_bytes == r->cells[b].memory_bytes;
}

/* The number of cells that are reported: the others are alike, or are reported after these fit. */
#define CELLS_TOLD 2

/* Report cells that fit on no node, even alone; false if there are none. */
static bool say_cells(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	struct changed_request cell;
	char of[96], memory[32];
	size_t any = 0;

	for (size_t k = 0; k < r->cell_count && any < CELLS_TOLD && !f->error; k++) {
		if (k && same_cell(r, k - 1, k))
			continue;
		cell_request(r, k, &cell);
		if (refusal_fits_on(f, f->capacity, &cell.r) || f->error)
			continue;
		snprintf(of, sizeof(of), "cell %zu (%" PRIu32 " vCPU%s, %s) on ", k, cell.r.vcpus,
			plural(cell.r.vcpus), size_text(cell.r.memory_bytes, memory));
		say_nodes(f, &cell.r, of);
		any++;
	}
	return any > 0;
}

/* Each cell fits on some node, but not all of them together: find the resource that prevents it. */
static void say_together(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	uint32_t extra = request_extra_cores(r) + request_has_auto(r);
	struct changed_request c;

	changed_request_init(&c, r);
	c.r.emulator_cores = c.r.iothread_cores = 0;
	c.r.has_emulator = true;
	if (extra && refusal_fits_on(f, f->capacity, &c.r)) {
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "its cells fit, but no node of a "
			"cell has %" PRIu32 " whole core%s left for QEMU's threads",
			extra, plural(extra)));
		return;
	}
	changed_request_init(&c, r);
	for (size_t i = 0; i < r->want_count; i++)
		c.wants[i].affinity = VFCTL_AFFINITY_ANY;
	if (r->want_count && refusal_fits_on(f, f->capacity, &c.r))
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "its cells fit, but not on the "
			"nodes where their VFs are free"));
	else if (f->steps)
		refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "each cell fits on some node, but "
			"not all of them at once on different nodes"));
}

static bool say_too_many_cells(struct refusal *f)
{
	size_t nodes = (size_t)__builtin_popcountll(nodes_with_cpus(f->capacity));

	if (f->request->cell_count <= nodes)
		return false;
	refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "%zu cells need different nodes, but %zu "
		"node%s CPUs", f->request->cell_count, nodes,
		nodes == 1 ? " has" : "s have"));
	return true;
}

/* ---- all shortages ---- */

static bool say_distance(struct refusal *f)
{
	struct vfctl_request with = *f->request;

	with.max_distance = 0;
	if (!f->request->max_distance || !refusal_fits_on(f, f->capacity, &with))
		return false;
	refusal_say(f, reason_add(f->a, VFCTL_REASON_SHORT, "max_distance: no parts of it may be "
		"farther apart than %u", f->request->max_distance));
	return true;
}

void tell_shortages(struct refusal *f)
{
	const struct vfctl_request *r = f->request;

	if (say_scarce(f))
		return;
	if (r->cell_count > 1) {
		if (!say_too_many_cells(f) && !say_cells(f) && !say_distance(f) && !f->error)
			say_together(f);
		return;
	}
	say_distance(f);
	if (r->cell_count == 1) {
		struct changed_request cell;

		changed_request_init(&cell, r);
		for (size_t i = 0; i < r->want_count; i++)
			cell.wants[i].cell = VFCTL_CELL_ANY;
		if (r->cells[0].node != VFCTL_NODE_NONE)
			cell.r.node = r->cells[0].node;
		say_nodes(f, &cell.r, "");
		return;
	}
	say_nodes(f, r, "");
	if (may_split(f))
		say_sum(f);
}
