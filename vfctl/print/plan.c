// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/parse.h"

#define LABEL 12 /* columns before the text after a label */
#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

static const char *cpus_text(const struct vfctl_cpuset *set, char *buf, size_t size)
{
	if (vfctl_cpuset_format(set, buf, size) >= size)
		memcpy(buf + size - 4, "...", 4);
	if (!buf[0])
		snprintf(buf, size, "none");
	return buf;
}

/* "0 and 2", "0, 1 and 3": nodes of the cells, in their order. */
static void nodes_text(const struct vfctl_assignment *a, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t k = 0; k < a->cell_count && len < size; k++)
		len += (size_t)snprintf(buf + len, size - len, "%s%d",
			k == 0 ? "" : k + 1 == a->cell_count ? " and " : ", ", a->cells[k].node);
}

static const char *pf_text(const struct vfctl_host_model *m, const struct vfctl_bdf *pf,
	char buf[64])
{
	for (size_t i = 0; i < m->pf_count; i++)
		if (vfctl_bdf_compare(&m->pfs[i].bdf, pf) == 0 && m->pfs[i].names &&
			m->pfs[i].names[0]) {
			snprintf(buf, 64, "%s", m->pfs[i].names[0]);
			return buf;
		}
	return vfctl_bdf_format(pf, buf);
}

/* The host CPUs of vCPUs, in the order of the vCPUs. */
static void pins_text(const struct vfctl_assignment *a, size_t first, size_t count, char *buf,
	size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = first, last; i < first + count && len < size; i = last + 1) {
		/* Three or more consecutive CPUs are printed as a range. */
		for (last = i; last + 1 < first + count &&
			a->vcpus[last + 1] == a->vcpus[last] + 1; last++)
			;
		last = last - i < 2 ? i : last;
		if (a->vcpus[i] >= VFCTL_CPU_MAX)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%u", len ? "," : "",
			a->vcpus[i]);
		if (last > i && len < size)
			len += (size_t)snprintf(buf + len, size - len, "-%u", a->vcpus[last]);
	}
	if (len >= size)
		memcpy(buf + size - 4, "...", 4);
}

void print_reasons(struct out *out, const struct vfctl_reason *reasons, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out_fold(out, LABEL, "  %-9s %s", vfctl_reason_kind_name(reasons[i].kind),
			reasons[i].text);
}

/* ---- one guest ---- */

static bool emulator_shares_vcpu_cpus(const struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX &&
			vfctl_cpuset_has(&a->emulator_cpus, a->vcpus[i]))
			return true;
	return false;
}

static void print_emulator(struct out *out, const struct vfctl_assignment *a)
{
	char text[1024];

	out_fold(out, LABEL, "  QEMU      emulator threads on CPU%s %s%s",
		plural(vfctl_cpuset_count(&a->emulator_cpus)),
		cpus_text(&a->emulator_cpus, text, sizeof(text)),
		a->emulator_shared ? ", shared with those of other guests" :
		emulator_shares_vcpu_cpus(a) ? ", where vCPUs run too" : "");
	if (!vfctl_cpuset_empty(&a->iothread_cpus) &&
		!vfctl_cpuset_within(&a->iothread_cpus, &a->emulator_cpus))
		out_fold(out, LABEL, "  QEMU      I/O threads on CPU%s %s",
			plural(vfctl_cpuset_count(&a->iothread_cpus)),
			cpus_text(&a->iothread_cpus, text, sizeof(text)));
}

static void print_one_cell(struct out *out, const struct vfctl_assignment *a)
{
	const struct vfctl_cell *c = &a->cells[0];
	char text[1024], memory[32], page[32];

	if (c->vcpu_count > c->shared_vcpus) {
		pins_text(a, 0, a->vcpu_count, text, sizeof(text));
		out_fold(out, LABEL, "  vCPUs     %u, %son host CPU%s %s",
			c->vcpu_count - c->shared_vcpus,
			c->vcpu_count - c->shared_vcpus == 1 ? "" : "one each ",
			plural(c->vcpu_count - c->shared_vcpus), text);
	}
	if (c->shared_vcpus)
		out_fold(out, LABEL, "  shared    %u vCPU%s on host CPU%s %s, shared with those "
			"of other guests",
			c->shared_vcpus, plural(c->shared_vcpus),
			plural(vfctl_cpuset_count(&c->shared_cpus)),
			cpus_text(&c->shared_cpus, text, sizeof(text)));
	print_emulator(out, a);
	size_text(c->memory_bytes, memory);
	if (c->page_bytes)
		out_fold(out, LABEL, "  memory    %s on node %d, in pages of %s", memory,
			c->memory_node, size_text(c->page_bytes, page));
	else
		out_fold(out, LABEL, "  memory    %s on node %d", memory, c->memory_node);
}

static void print_cells(struct out *out, const struct vfctl_assignment *a)
{
	char text[1024], set[256], shared[320], vcpus[48], memory[32], page[32];

	for (size_t k = 0; k < a->cell_count; k++) {
		const struct vfctl_cell *c = &a->cells[k];

		pins_text(a, c->first_vcpu, c->vcpu_count, text, sizeof(text));
		if (c->shared_vcpus)
			snprintf(shared, sizeof(shared), "%s%u shared on %s", text[0] ? ", " : "",
				c->shared_vcpus, cpus_text(&c->shared_cpus, set, sizeof(set)));
		else
			shared[0] = '\0';
		if (c->vcpu_count == 1)
			snprintf(vcpus, sizeof(vcpus), "vCPU %u", c->first_vcpu);
		else
			snprintf(vcpus, sizeof(vcpus), "vCPUs %u-%u", c->first_vcpu,
				c->first_vcpu + c->vcpu_count - 1);
		out_fold(out, LABEL, "  cell %-4zu node %d: %s on host CPU%s %s%s; %s%s%s%s", k,
			c->node, vcpus, plural(c->vcpu_count - c->shared_vcpus), text, shared,
			size_text(c->memory_bytes, memory), c->page_bytes ? " in pages of " : "",
			c->page_bytes ? size_text(c->page_bytes, page) : "",
			c->memory_node == c->node ? "" : " of another node");
	}
	print_emulator(out, a);
}

static void print_vf(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_assignment *a, size_t i, const struct vfctl_domain_vf *vf)
{
	char id[VFCTL_GUID_TEXT] = "", pkey[VFCTL_PKEY_TEXT] = "", pf[64], cell[32] = "";

	if (vf && vf->attrs.mask & VFCTL_ATTR_PORT_GUID)
		vfctl_guid_format(vf->attrs.port_guid, id);
	else if (vf && vf->attrs.mask & VFCTL_ATTR_MAC)
		vfctl_mac_format(&vf->attrs.mac, id);
	if (vf && vf->attrs.mask & VFCTL_ATTR_PKEY)
		vfctl_pkey_format(vf->attrs.pkey, pkey);
	if (a->cell_count > 1)
		snprintf(cell, sizeof(cell), ", for cell %u", a->vf_cells[i]);
	out_fold(out, LABEL, "  VF        %s (%s/%u%s)%s%s%s%s", BDF(&a->vfs[i].bdf),
		pf_text(model, &a->vfs[i].pf, pf), a->vfs[i].index, cell, id[0] ? " " : "", id,
		pkey[0] ? " P_Key " : "", pkey);
}

/* The GPUs that exchange data with the PF without the host bridge; each PF once. */
static void print_near_gpus(struct out *out, const struct vfctl_host_model *m,
	const struct vfctl_assignment *a, size_t i)
{
	char pf[64];

	for (size_t k = 0; k < i; k++)
		if (vfctl_bdf_compare(&a->vfs[k].pf, &a->vfs[i].pf) == 0)
			return;
	for (int d = VFCTL_PCI_PIX; d <= VFCTL_PCI_PXB; d++)
		for (size_t k = 0; k < m->gpu_count; k++)
			if ((int)vfctl_gpu_distance(&m->gpus[k], &a->vfs[i].pf) == d)
				out_fold(out, LABEL, "  GPU       %s (%s) is %s to %s", BDF(&m->gpus[k].bdf),
					m->gpus[k].vendor ? m->gpus[k].vendor : "unknown vendor",
					vfctl_pci_distance_name((enum vfctl_pci_distance)d),
					pf_text(m, &a->vfs[i].pf, pf));
}

void print_assignment(struct out *out, const char *name, const struct vfctl_host_model *model,
	const struct vfctl_assignment *a, const struct vfctl_domain_vf *vfs)
{
	char nodes[256];

	if (a->refusal != VFCTL_REFUSAL_NONE) {
		out_line(out, "%s does not fit", name);
		print_reasons(out, a->reasons, a->reason_count);
		return;
	}
	nodes_text(a, nodes, sizeof(nodes));
	out_fold(out, 2, "%s goes to NUMA node%s %s", name, a->cell_count > 1 ? "s" : "", nodes);
	if (a->cell_count > 1)
		print_cells(out, a);
	else
		print_one_cell(out, a);
	for (size_t i = 0; i < a->vf_count; i++) {
		print_vf(out, model, a, i, vfs ? &vfs[i] : NULL);
		print_near_gpus(out, model, a, i);
	}
	print_reasons(out, a->reasons, a->reason_count);
}

void print_left(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_plan *plan)
{
	struct vfctl_cpuset left = model->topology->online;
	char text[1024];

	vfctl_cpuset_andnot(&left, &model->busy_cpus);
	vfctl_cpuset_andnot(&left, &model->reserved_cpus);
	vfctl_cpuset_andnot(&left, &model->shared_cpus);
	for (size_t i = 0; i < model->occupant_count; i++) {
		vfctl_cpuset_andnot(&left, &model->occupants[i].cpus);
		vfctl_cpuset_andnot(&left, &model->occupants[i].qemu_cpus);
	}
	for (size_t i = 0; i < plan->count; i++) {
		vfctl_cpuset_andnot(&left, &plan->assignments[i].held_cpus);
		if (plan->assignments[i].emulator_shared)
			vfctl_cpuset_andnot(&left, &plan->assignments[i].emulator_cpus);
	}
	for (size_t i = 0; i < model->topology->node_count; i++) {
		const struct vfctl_node *node = &model->topology->nodes[i];
		struct vfctl_cpuset here = node->cpus;

		if (vfctl_cpuset_empty(&here))
			continue;
		vfctl_cpuset_and(&here, &left);
		out_fold(out, LABEL, "  node %-4u %u of %u CPU%s stay%s free: %s", node->id,
			vfctl_cpuset_count(&here), vfctl_cpuset_count(&node->cpus),
			plural(vfctl_cpuset_count(&node->cpus)),
			vfctl_cpuset_count(&here) == 1 ? "s" : "",
			cpus_text(&here, text, sizeof(text)));
	}
}

/* ---- what is proven ---- */

static const char *const gap_text[VFCTL_LEVELS] = {
	[VFCTL_LEVEL_PLACED] = "guests placed",
	[VFCTL_LEVEL_LOCAL] = "guests wholly local",
	[VFCTL_LEVEL_MOVES] = "moves",
	[VFCTL_LEVEL_DISTANCE] = "distance",
	[VFCTL_LEVEL_FORM] = "page sizes, and cells of even size",
	[VFCTL_LEVEL_ROOM] = "space left for the next guests",
	[VFCTL_LEVEL_BALANCE] = "even distribution over the PFs",
};

/* The distance from the bound in percent, rounded up. */
static uint64_t gap_percent(uint64_t value, uint64_t bound)
{
	uint64_t far = value > bound ? value - bound : bound - value;

	return bound ? (far * 100 + bound - 1) / bound : 100;
}

const char *plan_next_guests(const struct vfctl_host_model *model)
{
	return model->typical_why ? model->typical_why :
		model->typical_count ? "the model" : "default";
}

void print_proof(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_plan *plan)
{
	const char *why = plan->partial ? "not every split of the other guests was tried"
					: "the search ended early";
	enum vfctl_plan_level gap = plan->gap_level;

	if (plan->cut == VFCTL_CUT_CLOCK)
		out_fold(out, LABEL, "  cut       the time limit ended the planner before its steps did: "
			"on a host that is less busy the answer may be better");
	out_fold(out, LABEL, "  expects   next guests: %s", plan_next_guests(model));
	if (gap == VFCTL_LEVELS) {
		out_fold(out, LABEL, "  proof     %s",
			plan->value[VFCTL_LEVEL_PLACED] == plan->count ? "nothing better exists"
								       : "no plan places more");
		return;
	}
	/* A percentage of a bound of zero cannot be computed. */
	if (!plan->bound[gap])
		out_fold(out, LABEL, "  proof     %s: %s may be better than %" PRIu64 "; "
			"everything before it is optimal", why, gap_text[gap],
			plan->value[gap]);
	else
		out_fold(out, LABEL, "  proof     %s: %s %" PRIu64 ", at best %" PRIu64
			" (within %" PRIu64 " %%)%s", why, gap_text[gap], plan->value[gap],
			plan->bound[gap], gap_percent(plan->value[gap], plan->bound[gap]),
			gap == VFCTL_LEVEL_PLACED ? "" : "; everything before it is optimal");
}

/* ---- many guests ---- */

static void batch_row(struct out *out, const struct vfctl_host_model *model, const char *name,
	const struct vfctl_assignment *a)
{
	char text[256], memory[32], pf[64];
	size_t len = 0;

	out_cell(out, "%s", name);
	if (a->refusal != VFCTL_REFUSAL_NONE) {
		out_cell(out, "no room");
		for (int i = 0; i < 4; i++)
			out_cell(out, "%s", "");
		return;
	}
	nodes_text(a, text, sizeof(text));
	out_cell(out, "%s", text);
	out_cell(out, "%s", cpus_text(&a->held_cpus, text, 40));
	out_cell(out, "%s", size_text(a->memory_bytes, memory));
	text[0] = '\0';
	for (size_t i = 0; i < a->vf_count && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s/%u", i ? " " : "",
			pf_text(model, &a->vfs[i].pf, pf), a->vfs[i].index);
	out_cell(out, "%s", text);
	out_cell(out, "%s", a->local ? "yes" : "no");
}

static void print_shared_cores(struct out *out, const struct vfctl_plan *plan)
{
	struct vfctl_cpuset shared = {0};
	size_t guests = 0;
	char text[256];

	for (size_t i = 0; i < plan->count; i++)
		if (plan->assignments[i].emulator_shared) {
			vfctl_cpuset_or(&shared, &plan->assignments[i].emulator_cpus);
			guests++;
		}
	if (guests)
		out_fold(out, LABEL, "  QEMU      emulator threads of %zu guest%s on CPU%s %s, shared",
			guests, plural(guests), plural(vfctl_cpuset_count(&shared)),
			cpus_text(&shared, text, sizeof(text)));
}

void print_batch(struct out *out, const struct vfctl_host_model *model,
	struct vfctl_guest *const *guests, const struct vfctl_plan *plan)
{
	static const char *const headings[] = {"GUEST", "NODE", "CPUS", "MEMORY", "VFS", "LOCAL"};
	static const signed char give[] = {OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_WRAPS,
		OUT_STAYS};
	bool refused = false;

	out_table(out, 0, headings, 6);
	out_table_fit(out, give);
	for (size_t i = 0; i < plan->count; i++)
		batch_row(out, model, guests[i]->name, &plan->assignments[i]);
	out_table_end(out);
	for (size_t i = 0; i < plan->count; i++) {
		const struct vfctl_assignment *a = &plan->assignments[i];

		if (a->refusal == VFCTL_REFUSAL_NONE)
			continue;
		if (!refused)
			out_line(out, "%s", "");
		refused = true;
		print_assignment(out, guests[i]->name, model, a, NULL);
	}
	out_line(out, "%s", "");
	out_fold(out, 2, "%" PRIu64 " of %zu guest%s placed, %" PRIu64 " of them wholly local",
		plan->value[VFCTL_LEVEL_PLACED], plan->count, plural(plan->count),
		plan->value[VFCTL_LEVEL_LOCAL]);
	print_shared_cores(out, plan);
	print_left(out, model, plan);
	print_proof(out, model, plan);
}

/* ---- moves ---- */

static struct vfctl_cpuset home_nodes(const struct vfctl_host_model *m,
	const struct vfctl_occupant *o)
{
	struct vfctl_cpuset nodes = {0};

	for (size_t i = 0; i < m->topology->node_count; i++)
		if (vfctl_cpuset_intersects(&o->cpus, &m->topology->nodes[i].cpus))
			vfctl_cpuset_add(&nodes, m->topology->nodes[i].id);
	return nodes;
}

/* Only memory or VFs may move: then the guest stays on its nodes. */
static void move_text(const struct vfctl_host_model *m, const struct vfctl_occupant *o,
	const struct vfctl_assignment *a, char buf[640])
{
	struct vfctl_cpuset from = home_nodes(m, o), to = {0};
	char before[256], after[256];

	for (size_t k = 0; k < a->cell_count; k++)
		vfctl_cpuset_add(&to, (unsigned)a->cells[k].node);
	cpus_text(&from, before, sizeof(before));
	nodes_text(a, after, sizeof(after));
	if (vfctl_cpuset_within(&from, &to) && vfctl_cpuset_within(&to, &from))
		snprintf(buf, 640, "within node%s %s", plural(a->cell_count), after);
	else
		snprintf(buf, 640, "from node%s %s to node%s %s", plural(vfctl_cpuset_count(&from)),
			before, plural(a->cell_count), after);
}

static void print_moved_memory(struct out *out, const struct vfctl_occupant *o,
	const struct vfctl_assignment *a)
{
	char size[32];

	for (size_t k = 0; k < a->cell_count; k++)
		out_fold(out, LABEL, o->memory_count == a->cell_count &&
				o->memory[k].node == a->cells[k].memory_node ?
			"  memory    %s on node %d" : "  memory    %s on node %d (it was elsewhere)",
			size_text(a->cells[k].memory_bytes, size), a->cells[k].memory_node);
}

void print_rebalance(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_rebalance *r)
{
	char move[640], cpus[256], pf[64];

	out_fold(out, 2, "%zu of %zu guest%s %s wholly local", r->local_before, r->plan->count,
		plural(r->plan->count), r->plan->count == 1 || r->local_before == 1 ? "is" : "are");
	for (size_t i = 0; i < r->move_count; i++) {
		const struct vfctl_occupant *o = &model->occupants[r->moves[i].occupant];
		const struct vfctl_assignment *a = r->moves[i].to;

		move_text(model, o, a, move);
		out_fold(out, 2, "move %s %s%s", o->name, move,
			o->running ? " (it runs: it moves with its next start)" : "");
		out_fold(out, LABEL, "  CPUs      %s", cpus_text(&a->held_cpus, cpus, sizeof(cpus)));
		print_moved_memory(out, o, a);
		for (size_t v = 0; v < a->vf_count; v++)
			out_fold(out, LABEL, "  VF        %s (%s/%u)", BDF(&a->vfs[v].bdf),
				pf_text(model, &a->vfs[v].pf, pf), a->vfs[v].index);
	}
	if (!r->move_count)
		out_line(out, "no move makes it better");
	else
		out_fold(out, 2, "with %zu move%s %zu of %zu %s", r->move_count, plural(r->move_count),
			r->local_after, r->plan->count, r->local_after == 1 ? "is" : "are");
	print_proof(out, model, r->plan);
}
