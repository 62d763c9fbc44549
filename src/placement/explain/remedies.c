// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find changes of the request or of the host with which a guest fits, one or two at a time. Each
 * reported remedy was tried on the planner, in a batch together with all its guests.
 */
#include <inttypes.h>
#include <stdio.h>

#include "placement/explain/refuse.h"
#include "base/parse.h"
#include "placement/explain/remedies.h"

/* Largest number of remedies with a single change. */
#define WISHES_TOLD_MAX 5
#define SINGLES_MAX 24
#define WANTS_TRIED_MAX 4

/* ---- reported remedies ---- */

static bool apply_remedy(struct refusal *f, const struct vfctl_remedy *remedy,
	struct changed_request *ret)
{
	changed_request_init(ret, f->request);
	for (size_t i = 0; i < remedy->count; i++)
		if (!change_request(ret, &remedy->changes[i]))
			return false;
	return true;
}

/* Whether it is worth a full attempt. */
static bool may_help(struct refusal *f, const struct vfctl_remedy *remedy)
{
	struct changed_request c;

	return apply_remedy(f, remedy, &c) && refusal_may_fit(f, &c.r);
}

/* Report the remedy if it helps, and return true. */
static bool tell_if_fits(struct refusal *f, const struct vfctl_remedy *remedy)
{
	_buf_ struct buf line = {0};
	struct changed_request c;
	uint64_t nodes;
	char where[128];

	if (!apply_remedy(f, remedy, &c) || !refusal_fits(f, NULL, &c.r, &nodes))
		return false;
	buf_puts(&line, "with ");
	for (size_t i = 0; i < remedy->count; i++) {
		buf_puts(&line, i ? " and " : "");
		change_text(&line, &remedy->changes[i], f->capacity, f->request);
	}
	refusal_nodes(f->capacity, nodes, where);
	buf_printf(&line, " it fits%s, on %s",
		f->plan->count > 1 ? " beside the others" : "", where);
	remedy_add(f, remedy, &line);
	return true;
}

static bool tell_if_helps(struct refusal *f, const struct vfctl_remedy *remedy)
{
	return may_help(f, remedy) && tell_if_fits(f, remedy);
}

/* ---- the largest or smallest number that fits ---- */

static struct vfctl_remedy with(const struct vfctl_remedy *base, enum change_kind kind,
	uint64_t value)
{
	struct vfctl_remedy r = {0};

	if (base)
		r = *base;
	r.changes[r.count++] = (struct change){.kind = kind, .value = value};
	return r;
}

/* The largest number of @from .. @below - 1 that fits, in units of @step; 0: none. */
static uint64_t most_that_fits(struct refusal *f, const struct vfctl_remedy *base,
	enum change_kind kind, uint64_t from, uint64_t below, uint64_t step)
{
	struct vfctl_remedy remedy = with(base, kind, from * step);
	uint64_t best = from;

	if (from >= below || !may_help(f, &remedy))
		return 0;
	for (from++; from < below && !f->error && f->steps;) {
		uint64_t middle = from + (below - from) / 2;

		remedy = with(base, kind, middle * step);
		if (may_help(f, &remedy)) {
			best = middle;
			from = middle + 1;
		} else {
			below = middle;
		}
	}
	return best * step;
}

/* The largest value in the reported remedies: a further remedy has to keep more of the request. */
static uint64_t most_told(const struct refusal *f, enum change_kind kind)
{
	uint64_t most = 0;

	for (size_t i = 0; i < f->a->remedy_count; i++)
		for (size_t k = 0; k < f->a->remedies[i].count; k++)
			if (f->a->remedies[i].changes[k].kind == kind &&
				f->a->remedies[i].changes[k].value > most)
				most = f->a->remedies[i].changes[k].value;
	return most;
}

/* Units for which a larger number is never easier: whole cores, whole pages of any size. */
static uint64_t vcpu_step(const struct refusal *f)
{
	return f->request->threads == VFCTL_THREADS_REQUIRE ?
		f->capacity->class_threads[f->capacity->class_count - 1] : 1;
}

static uint64_t most_vcpus(struct refusal *f, const struct vfctl_remedy *base)
{
	uint64_t step = vcpu_step(f), cells = f->request->cell_count;
	uint64_t least = cells > 1 ? (cells + step - 1) / step : 1;
	uint64_t told = most_told(f, CHANGE_VCPUS) / step + 1, nodes = f->capacity->node_count, most;
	uint64_t below = (f->request->vcpus + step - 1) / step;

	least = told > least ? told : least;
	/* A guest that is split needs one vCPU for each of its cells. */
	most = most_that_fits(f, base, CHANGE_VCPUS, nodes > least ? nodes : least, below, step);
	if (!most && nodes > least)
		most = most_that_fits(f, base, CHANGE_VCPUS, least,
			nodes < below ? nodes : below, step);
	return most;
}

static uint64_t byte_step(const struct vfctl_request *r)
{
	const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30;

	if (r->page_bytes == VFCTL_PAGES_AUTO)
		return r->memory_bytes > gib ? gib : mib;
	return r->page_bytes > mib ? r->page_bytes : mib;
}

/* With a given number of cells, each needs a page. */
static uint64_t least_steps(const struct vfctl_request *r)
{
	return r->cell_count > 1 ? 2 * r->cell_count : 1;
}

static uint64_t most_bytes(struct refusal *f, const struct vfctl_remedy *base)
{
	const struct vfctl_request *r = f->request;
	uint64_t step = byte_step(r), least = least_steps(r);
	uint64_t told = most_told(f, CHANGE_BYTES) / step + 1;

	return most_that_fits(f, base, CHANGE_BYTES, told > least ? told : least,
		(r->memory_bytes + step - 1) / step, step);
}

static bool tell_less(struct refusal *f, const struct vfctl_remedy *base, enum change_kind kind)
{
	uint64_t most = kind == CHANGE_VCPUS ? most_vcpus(f, base) : most_bytes(f, base);
	struct vfctl_remedy remedy = with(base, kind, most);

	return most && tell_if_fits(f, &remedy);
}

/* Round memory up to whole pages. */
static void try_rounding(struct refusal *f)
{
	const struct vfctl_request *r = f->request;

	for (unsigned p = f->capacity->page_count - 1; p > 0 && remedies_may_go_on(f); p--) {
		uint64_t page = f->capacity->page_bytes[p];
		uint64_t up = (r->memory_bytes + page - 1) / page * page;
		struct vfctl_remedy remedy = with(NULL, CHANGE_BYTES, up);

		if (r->page_bytes == VFCTL_PAGES_AUTO && up != r->memory_bytes &&
			tell_if_helps(f, &remedy))
			return;
	}
}

static void try_less(struct refusal *f)
{
	const struct vfctl_remedy none = {0};
	struct vfctl_remedy tiny, fewer;

	if (f->a->refusal != VFCTL_REFUSAL_VFS && remedies_may_go_on(f))
		tell_less(f, &none, CHANGE_VCPUS);
	if ((f->a->refusal == VFCTL_REFUSAL_MEMORY || f->a->refusal == VFCTL_REFUSAL_OTHERS) &&
		remedies_may_go_on(f)) {
		try_rounding(f);
		tell_less(f, &none, CHANGE_BYTES);
	}
	if (f->remedies || !remedies_may_go_on(f))
		return;
	/*
	 * Find the largest number of vCPUs with minimal memory, then the largest memory with these.
	 */
	tiny = with(NULL, CHANGE_BYTES, byte_step(f->request) * least_steps(f->request));
	fewer = with(NULL, CHANGE_VCPUS, most_vcpus(f, &tiny));
	if (fewer.changes[0].value)
		tell_less(f, &fewer, CHANGE_BYTES);
}

/* ---- changes of the request ---- */

/* First dedicated cores, then a shared one, then none. */
static uint32_t cheaper_emulator(const struct vfctl_request *r)
{
	if (request_has_auto(r))
		return 0;
	return r->emulator_cores ? VFCTL_EMULATOR_AUTO : 1;
}

/* The network of a named PF; VFCTL_FABRIC_ANY: unknown. */
static int fabric_of(const struct refusal *f, const struct vfctl_vf_want *want)
{
	const struct vfctl_host_model *m = f->capacity->model;

	if (want->fabric != VFCTL_FABRIC_ANY)
		return want->fabric;
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, &want->pf) == 0)
			return m->pfs[i].fabric;
	for (size_t g = 0; g < f->capacity->group_count; g++)
		if (vfctl_bdf_compare(&f->capacity->groups[g].pf, &want->pf) == 0)
			return f->capacity->groups[g].fabric;
	return VFCTL_FABRIC_ANY;
}

/* For each want another PF, or fewer VFs. */
static void list_of_wants(const struct refusal *f, enum change_kind kind, struct change *list,
	size_t *count)
{
	const struct vfctl_request *r = f->request;

	for (size_t i = 0; i < r->want_count && i < WANTS_TRIED_MAX; i++) {
		int fabric = fabric_of(f, &r->wants[i]);

		if (kind == CHANGE_PF && !r->wants[i].any_pf && fabric != VFCTL_FABRIC_ANY)
			list[(*count)++] = (struct change){kind, (uint64_t)fabric, i};
		if (kind == CHANGE_COUNT && r->wants[i].count > 1)
			list[(*count)++] = (struct change){kind, 1, i};
	}
}

/* Requests that could be less strict, beginning with those that affect the guest least. */
static size_t list_changes(const struct refusal *f, struct change list[SINGLES_MAX])
{
	const struct change fixed[] = {
		{CHANGE_AFFINITY, VFCTL_AFFINITY_SOCKET, 0},
		{CHANGE_AFFINITY, VFCTL_AFFINITY_PREFERRED, 0},
		{CHANGE_PAGES, 0, 0},
		{CHANGE_THREADS, VFCTL_THREADS_PREFER, 0},
		{CHANGE_IOTHREADS, 0, 0},
		{CHANGE_EMULATOR, cheaper_emulator(f->request), 0},
		{CHANGE_APART, 0, 0},
		{CHANGE_DISTANCE, 0, 0},
		{CHANGE_WHOLE_NODE, 0, 0},
		{CHANGE_WHOLE_L3, 0, 0},
		{CHANGE_NODE, 0, 0},
		{CHANGE_CELLS, 0, 0},
		{CHANGE_MEMORY, 0, 0},
		{CHANGE_SHARED, f->request->vcpus, 0},
	};
	struct changed_request c;
	size_t count = 0;

	list_of_wants(f, CHANGE_PF, list, &count);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		changed_request_init(&c, f->request);
		/* If auto is not possible, a number of cells may be. */
		if (change_request(&c, &fixed[i]) ||
			(fixed[i].kind == CHANGE_CELLS && f->request->cell_count))
			list[count++] = fixed[i];
	}
	list_of_wants(f, CHANGE_COUNT, list, &count);
	return count;
}

/* The largest number of cores for QEMU that fits, at least one; else a shared one, else none. */
static bool tell_emulator(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	uint64_t most = !request_has_auto(r) && r->emulator_cores ?
		most_that_fits(f, NULL, CHANGE_EMULATOR, 1, r->emulator_cores, 1) : 0;
	struct vfctl_remedy remedy = with(NULL, CHANGE_EMULATOR, most ? most :
		cheaper_emulator(r));

	if (tell_if_helps(f, &remedy))
		return true;
	remedy = with(NULL, CHANGE_EMULATOR, 0);
	return remedies_may_go_on(f) && tell_if_helps(f, &remedy);
}

/*
 * A number of cells if auto does not fit: the nearest number below the requested one, then above.
 */
static bool tell_cells(struct refusal *f)
{
	uint64_t asked = f->request->cell_count ? f->request->cell_count :
		f->request->cells_max ? f->request->cells_max : 1;

	for (uint64_t away = 1; away < f->capacity->node_count && remedies_may_go_on(f); away++)
		for (int above = 0; above < 2; above++) {
			uint64_t n = above ? asked + away : asked - away;
			struct vfctl_remedy remedy = with(NULL, CHANGE_CELLS, n);

			if (n >= 1 && n <= f->capacity->node_count && tell_if_helps(f, &remedy))
				return true;
		}
	return false;
}

/* The largest number of VFs of a want that fits. */
static bool tell_fewer_vfs(struct refusal *f, size_t want)
{
	for (uint32_t n = f->request->wants[want].count; n-- > 1 && remedies_may_go_on(f);) {
		struct vfctl_remedy remedy = {.changes = {{CHANGE_COUNT, n, want}}, .count = 1};

		if (tell_if_helps(f, &remedy))
			return true;
	}
	return false;
}

/* Number of vCPUs that the shared CPUs of its possible nodes can still carry. */
static uint64_t most_shared(const struct refusal *f)
{
	uint64_t sum = 0, most = 0;

	for (unsigned n = 0; n < f->capacity->node_count; n++) {
		sum += f->capacity->start[n].shared;
		most = f->capacity->start[n].shared > most ? f->capacity->start[n].shared : most;
	}
	most = f->request->cell_count == 1 || f->request->cells_max == 1 ? most : sum;
	return most < f->request->vcpus ? most : f->request->vcpus;
}

/*
 * The smallest additional number on shared CPUs or, if these are full, the largest that they carry.
 */
static bool tell_shared(struct refusal *f)
{
	uint64_t asked = f->request->shared_vcpus, from = asked + 1, below = most_shared(f);
	struct vfctl_remedy remedy = with(NULL, CHANGE_SHARED, below);

	if (asked && (below <= asked || !may_help(f, &remedy))) {
		remedy = with(NULL, CHANGE_SHARED,
			most_that_fits(f, NULL, CHANGE_SHARED, 1, asked, 1));
		return tell_if_helps(f, &remedy);
	}
	if (below <= asked || !may_help(f, &remedy))
		return false;
	while (from < below && remedies_may_go_on(f)) {
		uint64_t middle = from + (below - from) / 2;

		remedy = with(NULL, CHANGE_SHARED, middle);
		if (may_help(f, &remedy))
			below = middle;
		else
			from = middle + 1;
	}
	remedy = with(NULL, CHANGE_SHARED, below);
	return tell_if_fits(f, &remedy);
}

static bool tell_single(struct refusal *f, const struct change *change)
{
	const struct vfctl_remedy remedy = {.changes = {*change}, .count = 1};

	if (change->kind == CHANGE_EMULATOR)
		return tell_emulator(f);
	if (change->kind == CHANGE_COUNT)
		return tell_fewer_vfs(f, change->index);
	if (change->kind == CHANGE_SHARED)
		return tell_shared(f);
	if (tell_if_helps(f, &remedy))
		return true;
	return change->kind == CHANGE_CELLS && tell_cells(f);
}

/* Whether a larger variant of a change helps that already helped. */
static bool is_told(const struct refusal *f, const struct change *change)
{
	for (size_t i = 0; i < f->a->remedy_count; i++)
		if (f->a->remedies[i].count == 1 &&
			f->a->remedies[i].changes[0].kind == change->kind)
			return true;
	return false;
}

/*
 * Remove changes that help alone, and those for which a number must be found: the rest may help in
 * pairs.
 */
static size_t try_singles(struct refusal *f, struct change *list, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count && remedies_may_go_on(f) && f->remedies < WISHES_TOLD_MAX; i++)
		if (!is_told(f, &list[i]) && !tell_single(f, &list[i]) &&
			list[i].kind != CHANGE_COUNT && list[i].kind != CHANGE_SHARED)
			list[left++] = list[i];
	return left;
}

static void try_pairs(struct refusal *f, const struct change *list, size_t count)
{
	for (size_t i = 0; i < count && remedies_may_go_on(f); i++)
		for (size_t k = i + 1; k < count && remedies_may_go_on(f); k++) {
			const struct vfctl_remedy remedy = {.changes = {list[i], list[k]},
				.count = 2};

			if (list[i].kind == list[k].kind)
				continue;
			tell_if_helps(f, &remedy);
		}
	for (size_t i = 0; i < count && remedies_may_go_on(f); i++) {
		const struct vfctl_remedy remedy = {.changes = {list[i]}, .count = 1};

		if (!tell_less(f, &remedy, CHANGE_VCPUS) && remedies_may_go_on(f))
			tell_less(f, &remedy, CHANGE_BYTES);
	}
}

/* ---- changes of the host ---- */

static bool fits_after(struct refusal *f, const struct change *change)
{
	struct changed_host host;
	uint64_t nodes;
	bool fits;
	int r = change_host(f->ctx, f->capacity->model, f->request, change, &host);

	if (r < 0)
		f->error = r;
	fits = r == 0 && refusal_fits(f, &host.model, f->request, &nodes);
	changed_host_clear(&host);
	return fits;
}

/* The smallest number up to @most with which it fits, but below @below; 0: none. */
static uint64_t fewest(struct refusal *f, struct change change, uint64_t most, uint64_t below)
{
	uint64_t from = 1;

	change.value = most < below ? most : below - 1;
	if (!change.value || !fits_after(f, &change))
		return 0;
	most = change.value;
	while (from < most && !f->error && f->steps) {
		change.value = from + (most - from) / 2;
		if (fits_after(f, &change))
			most = change.value;
		else
			from = change.value + 1;
	}
	return most;
}

static uint64_t count_wanted(const struct vfctl_request *r, const struct vfctl_model_pf *pf)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->want_count; i++)
		if (r->wants[i].any_pf || vfctl_bdf_compare(&r->wants[i].pf, &pf->bdf) == 0)
			sum += (uint64_t)r->wants[i].count *
				(r->wants[i].cell == VFCTL_CELL_EACH ? r->cell_count : 1);
	return sum;
}

/* The PF that needs the fewest additional VFs. */
static void try_more_vfs(struct refusal *f)
{
	const struct vfctl_host_model *m = f->capacity->model;
	struct change best = {.kind = CHANGE_VFS, .value = VFCTL_GUEST_VFS_MAX + 1};
	_buf_ struct buf line = {0};
	const struct vfctl_model_pf *pf;
	struct vfctl_request without = *f->request;
	bool found = false;
	char message[64];

	without.want_count = 0;
	if (!refusal_may_fit(f, &without))
		return;
	for (size_t i = 0; i < m->pf_count && remedies_may_go_on(f); i++) {
		uint64_t could = m->pfs[i].exposed ? 0 : m->pfs[i].max_vfs - m->pfs[i].num_vfs, few;
		uint64_t wanted = count_wanted(f->request, &m->pfs[i]);

		few = fewest(f, (struct change){.kind = CHANGE_VFS, .index = i},
			could < wanted ? could : wanted, best.value);
		if (!few)
			continue;
		best.value = few;
		best.index = i;
		found = true;
	}
	if (!found || f->error)
		return;
	pf = &m->pfs[best.index];
	buf_printf(&line, "create %" PRIu64 " more VF%s on %s (it has %" PRIu32 " of %" PRIu32
		"), or release a guest that holds some", best.value, plural(best.value),
		pf_text(m, &pf->bdf, message), pf->num_vfs, pf->max_vfs);
	tell_remedy_of_host(f, &best, &line);
}

/* Number of pages that a node lacks, as far as its base memory can provide them. */
static uint64_t pages_missing(const struct refusal *f, unsigned node)
{
	const struct vfctl_request *r = f->request;
	const struct vfctl_node *n = &f->capacity->model->topology->nodes[node];
	uint64_t missing = 0;

	for (unsigned p = 1; p < f->capacity->page_count; p++)
		if (f->capacity->page_bytes[p] == r->page_bytes &&
			f->capacity->start[node].memory[p] < r->memory_bytes)
			missing = (r->memory_bytes - f->capacity->start[node].memory[p] +
				r->page_bytes - 1) / r->page_bytes;
	if (missing > f->capacity->start[node].memory[0] / (missing ? r->page_bytes : 1))
		return 0;
	for (size_t i = 0; i < n->pool_count; i++)
		if (n->pools[i].page_bytes == r->page_bytes)
			return missing;
	return 0;
}

static void try_more_pages(struct refusal *f)
{
	const struct vfctl_request *r = f->request;
	struct change best = {.kind = CHANGE_POOL};
	_buf_ struct buf line = {0};
	char page[32];

	if (r->page_bytes == VFCTL_PAGES_AUTO || r->page_bytes == VFCTL_PAGES_BASE ||
		r->cell_count > 1)
		return;
	for (unsigned n = 0; n < f->capacity->node_count && remedies_may_go_on(f); n++) {
		struct change more = {.kind = CHANGE_POOL, .index = n,
			.value = pages_missing(f, n)};

		if (more.value && (!best.value || more.value < best.value) &&
			fits_after(f, &more))
			best = more;
	}
	if (!best.value || f->error)
		return;
	buf_printf(&line, "reserve %" PRIu64 " more page%s of %s on node %d (hugepages-%" PRIu64
		"kB/nr_hugepages)", best.value, plural(best.value),
		size_text(r->page_bytes, page), f->capacity->nodes[best.index].id,
		r->page_bytes / 1024);
	tell_remedy_of_host(f, &best, &line);
}

/* ---- all remedies ---- */

void tell_remedies(struct refusal *f)
{
	struct change list[SINGLES_MAX];
	size_t count;
	bool few;

	if (f->a->refusal == VFCTL_REFUSAL_VFS || f->a->refusal == VFCTL_REFUSAL_OTHERS)
		try_more_vfs(f);
	try_more_pages(f);
	count = try_singles(f, list, list_changes(f, list));
	try_less(f);
	/* In a batch, moves of present guests are not considered. */
	if (f->plan->count == 1)
		remedy_by_move(f);
	few = f->remedies < 2;
	if (f->a->refusal == VFCTL_REFUSAL_OTHERS)
		remedy_by_leaving(f);
	if (few)
		try_pairs(f, list, count);
}
