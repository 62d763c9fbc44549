// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/explain/reasons.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "topology/topology.h"

/* "CPU 4", "CPUs 4-5" */
static void print_set(struct buf *b, const struct vfctl_cpuset *set)
{
	char text[512];

	buf_puts(b, vfctl_cpuset_count(set) == 1 ? "CPU " : "CPUs ");

	if (vfctl_cpuset_format(set, text, sizeof(text)) >= sizeof(text))
		strcpy(text + sizeof(text) - 4, "...");
	buf_puts(b, text);
}

static bool has_one_node(const struct vfctl_topology *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->node_count; i++)
		n += !vfctl_cpuset_empty(&t->nodes[i].cpus);
	return n == 1;
}

/* ---- the place and its reasons ---- */

static bool explain_nodes(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request, const struct node_free *left)
{
	_buf_ struct buf line = {0};

	for (size_t k = 0; k < a->cell_count; k++) {
		const struct vfctl_cell *c = &a->cells[k];
		int at = capacity_node_index(capacity, c->node);

		buf_printf(&line, "%snode %d", k ? ", " : "", c->node);
		if (at >= 0)
			buf_printf(&line, " (%u whole core%s stay%s free)", left[at].core_count,
				plural(left[at].core_count),
				left[at].core_count == 1 ? "s" : "");
	}
	buf_puts(&line, a->local ? "; everything is local" : "; not everything is local");
	if (!line.failed && a->cell_count > 1 && !request->cell_count)
		return reason_add(a, VFCTL_REASON_CHOICE, "%s", line.data) &&
			reason_add(a, VFCTL_REASON_CHOICE, "split into %zu cells: no node has "
				"everything that it asks for", a->cell_count);
	return !line.failed && reason_add(a, VFCTL_REASON_CHOICE, "%s", line.data);
}

static bool add_vf_reason(struct vfctl_assignment *a, const struct vfctl_host_model *model,
	const struct vfctl_request *request, size_t i)
{
	const struct vfctl_topology *t = model->topology;
	const struct vfctl_free_vf *vf = &a->vfs[i];
	const struct vfctl_cell *cell = &a->cells[a->vf_cells[i]];
	const struct vfctl_node *own = vfctl_topology_node(t, vf->node);
	char bdf[VFCTL_BDF_TEXT], pf[64];

	vfctl_bdf_format(&vf->bdf, bdf);
	pf_text(model, &vf->pf, pf);
	if (request->wants[a->vf_wants[i]].affinity == VFCTL_AFFINITY_ANY &&
		vf->node != cell->node)
		return reason_add(a, VFCTL_REASON_CHOICE, "VF %s (%s/%" PRIu32 "): free, on node %d; "
			"its distance does not matter (affinity: any)", bdf, pf, vf->index, vf->node);
	if (has_one_node(t) || vf->node == cell->node)
		return reason_add(a, VFCTL_REASON_CHOICE, "VF %s (%s/%" PRIu32 "): free, on node "
			"%d", bdf, pf, vf->index, cell->node);
	if (!own)
		return reason_add(a, VFCTL_REASON_WARNING, "VF %s (%s/%" PRIu32 ") has no NUMA node "
			"(the kernel reports %d); node %d was chosen without knowing its location",
			bdf, pf, vf->index, vf->node, cell->node);
	if (vfctl_cpuset_empty(&own->cpus))
		return reason_add(a, VFCTL_REASON_WARNING, "VF %s (%s/%" PRIu32 ") is on node %d, "
			"which has no CPUs; node %d is %s, at distance %u", bdf, pf, vf->index,
			vf->node, cell->node, a->local ? "the nearest one that has"
						       : "one that has",
			vfctl_topology_distance(t, vf->node, cell->node));
	return reason_add(a, VFCTL_REASON_WARNING, "VF %s (%s/%" PRIu32 ") is on node %d, at distance "
		"%u from node %d: every packet crosses between nodes", bdf, pf, vf->index, vf->node,
		vfctl_topology_distance(t, vf->node, cell->node), cell->node);
}

static bool explain_vfs(struct vfctl_assignment *a, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	bool ok = true;

	for (size_t i = 0; i < a->vf_count && ok; i++) {
		ok = add_vf_reason(a, model, request, i);
		if (ok)
			a->reasons[a->reason_count - 1].of_vf = true;
	}
	return ok;
}

bool explain_other_vfs(struct vfctl_assignment *a, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	struct vfctl_assignment vfs = *a;
	size_t k = 0;
	bool ok;

	vfs.reasons = NULL;
	vfs.reason_count = 0;
	ok = explain_vfs(&vfs, model, request);
	for (size_t i = 0; i < a->reason_count && k < vfs.reason_count && ok; i++)
		if (a->reasons[i].of_vf) {
			struct vfctl_reason former = a->reasons[i];

			a->reasons[i] = vfs.reasons[k];
			vfs.reasons[k++] = former;
		}
	for (size_t i = 0; i < vfs.reason_count; i++)
		free(vfs.reasons[i].text);
	free(vfs.reasons);
	return ok;
}

/* Whether some vCPU is on a core with several threads. */
static bool has_siblings(const struct vfctl_assignment *a, const struct capacity *capacity)
{
	const struct vfctl_topology *t = capacity->model->topology;

	for (size_t i = 0; i < t->core_count; i++)
		for (size_t k = 0; k < a->vcpu_count && capacity->cores[i].threads > 1; k++)
			if (a->vcpus[k] < VFCTL_CPU_MAX &&
				vfctl_cpuset_has(&t->cores[i].cpus, a->vcpus[k]))
				return true;
	return false;
}

static bool explain_cpus(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request)
{
	struct vfctl_cpuset vcpus = {0}, idle = a->held_cpus, shared = {0};
	_buf_ struct buf line = {0};
	size_t alone = 0;

	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX) {
			vfctl_cpuset_add(&vcpus, a->vcpus[i]);
			alone++;
		}
	for (size_t k = 0; k < a->cell_count; k++)
		vfctl_cpuset_or(&shared, &a->cells[k].shared_cpus);
	vfctl_cpuset_andnot(&idle, &vcpus);
	vfctl_cpuset_andnot(&idle, &a->emulator_cpus);
	vfctl_cpuset_andnot(&idle, &a->iothread_cpus);
	buf_puts(&line, "vCPUs: ");
	if (alone) {
		buf_printf(&line, "%zu on %s, ", alone, alone == 1 ? "a whole core" :
			"whole cores");
		print_set(&line, &vcpus);
	}
	if (alone < a->vcpu_count) {
		buf_printf(&line, "%s%zu shared, on ", alone ? "; " : "",
			a->vcpu_count - alone);
		print_set(&line, &shared);
	}
	if (!vfctl_cpuset_empty(&idle)) {
		buf_puts(&line, "; reserved and idle: ");
		print_set(&line, &idle);
	}
	buf_printf(&line, "; the guest sees %" PRIu32 " thread%s per core", a->guest_threads,
		plural(a->guest_threads));
	if (request->threads == VFCTL_THREADS_PREFER && a->guest_threads == 1 && alone > 1 &&
		alone == a->vcpu_count && has_siblings(a, capacity))
		buf_puts(&line, " (the vCPUs do not fill cores of equal size)");
	buf_puts(&line, "; QEMU's threads on ");
	print_set(&line, &a->emulator_cpus);
	if (a->emulator_shared)
		buf_printf(&line, ", shared by at most %u guests",
			vfctl_cpuset_count(&a->emulator_cpus) * VFCTL_QEMU_GUESTS_PER_CPU);
	return !line.failed && reason_add(a, VFCTL_REASON_CHOICE, "%s", line.data);
}

static const char *why_base(const struct capacity *capacity, const struct vfctl_cell *cell,
	char buf[128])
{
	char memory[32], page[32];

	size_text(cell->memory_bytes, memory);
	for (unsigned p = 1; p < capacity->page_count; p++)
		if (cell->memory_bytes % capacity->page_bytes[p] == 0) {
			snprintf(buf, 128, "no pool of huge pages on node %d has %s free",
				cell->memory_node, memory);
			return buf;
		}
	if (capacity->page_count > 1)
		snprintf(buf, 128, "%s is not a whole number of pages of %s", memory,
			size_text(capacity->page_bytes[1], page));
	else
		snprintf(buf, 128, "this host has no huge pages");
	return buf;
}

static bool explain_memory(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request)
{
	char memory[32], page[32], text[128];
	bool ok = true;

	for (size_t k = 0; k < a->cell_count; k++) {
		const struct vfctl_cell *c = &a->cells[k];

		size_text(c->memory_bytes, memory);
		if (c->page_bytes != VFCTL_PAGES_BASE)
			ok &= reason_add(a, VFCTL_REASON_CHOICE, "memory: %s in pages of %s, strictly "
				"on node %d", memory, size_text(c->page_bytes, page),
				c->memory_node);
		else
			ok &= reason_add(a, VFCTL_REASON_CHOICE, "memory: %s, strictly on node %d",
				memory, c->memory_node);
		if (c->memory_node != c->node && a->cell_count > 1)
			ok &= reason_add(a, VFCTL_REASON_WARNING, "memory: node %d does not have "
				"enough, so cell %zu uses that of node %d", c->node, k, c->memory_node);
		else if (c->memory_node != c->node)
			ok &= reason_add(a, VFCTL_REASON_WARNING, "memory: node %d does not have "
				"enough, so it comes from node %d", c->node, c->memory_node);
		if (c->page_bytes == VFCTL_PAGES_BASE && request->page_bytes == VFCTL_PAGES_AUTO)
			ok &= reason_add(a, VFCTL_REASON_WARNING, "memory: base pages, since %s; DMA "
				"and page walks are slower", why_base(capacity, c, text));
	}
	return ok;
}

bool explain_choice(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request, const struct node_free *left)
{
	bool ok = explain_nodes(a, capacity, request, left);

	ok &= explain_vfs(a, capacity->model, request);
	ok &= explain_cpus(a, capacity, request);
	return ok & explain_memory(a, capacity, request);
}
