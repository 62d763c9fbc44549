// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

bool reason_add(
	struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return false;
	if (!array_grow(a->reasons, a->reason_count)) {
		free(text);
		return false;
	}
	a->reasons[a->reason_count++] = (struct vfctl_reason){.kind = kind, .text = text};
	return true;
}

static void print_set(struct buf *b, const struct vfctl_cpuset *set)
{
	char text[512];

	if (vfctl_cpuset_format(set, text, sizeof(text)) >= sizeof(text))
		strcpy(text + sizeof(text) - 4, "...");
	buf_puts(b, text);
}

static bool explain_vfs(struct vfctl_assignment *a, const struct occupancy *o,
	const struct candidate *chosen)
{
	const struct vfctl_topology *topology = o->model->topology;
	bool ok = true;

	for (size_t i = 0; i < a->vf_count; i++) {
		const struct vfctl_free_vf *vf = &a->vfs[i];
		char bdf[VFCTL_BDF_TEXT], pf[VFCTL_BDF_TEXT];

		vfctl_bdf_format(&vf->bdf, bdf);
		vfctl_bdf_format(&vf->pf, pf);
		if (vf_home(topology, vf) == VFCTL_NODE_NONE && topology->node_count > 1)
			ok &= reason_add(a, VFCTL_REASON_WARNING,
				"VF %s (%s/%" PRIu32
				") has no NUMA node (the kernel says %d); node "
				"%u was chosen without knowing where it is",
				bdf, pf, vf->index, vf->node, chosen->node->id);
		else if (vf->node != (int)chosen->node->id && topology->node_count > 1)
			ok &= reason_add(a, VFCTL_REASON_WARNING,
				"VF %s (%s/%" PRIu32
				") is on node %d, which has no CPUs; node %u is "
				"the nearest one that has",
				bdf, pf, vf->index, vf->node, chosen->node->id);
		else
			ok &= reason_add(a, VFCTL_REASON_CHOICE,
				"VF %s (%s/%" PRIu32 "): free, on node %u", bdf, pf,
				vf->index, chosen->node->id);
	}
	return ok;
}

static bool explain_cpus(struct vfctl_assignment *a, const struct vfctl_request *request)
{
	struct vfctl_cpuset vcpus = {0}, idle = a->held_cpus;
	_buf_ struct buf line = {0};

	for (size_t i = 0; i < a->vcpu_count; i++)
		vfctl_cpuset_add(&vcpus, a->vcpus[i]);
	vfctl_cpuset_andnot(&idle, &vcpus);
	vfctl_cpuset_andnot(&idle, &a->emulator_cpus);
	buf_printf(&line, "vCPUs: %zu on whole cores, CPUs ", a->vcpu_count);
	print_set(&line, &vcpus);
	if (!vfctl_cpuset_empty(&idle)) {
		buf_puts(&line, "; siblings left idle: ");
		print_set(&line, &idle);
	}
	buf_printf(&line, "; the guest sees %" PRIu32 " thread%s per core",
		a->guest_threads, a->guest_threads == 1 ? "" : "s");
	if (request->threads == VFCTL_THREADS_PREFER && a->guest_threads == 1 &&
		a->vcpu_count > 1 &&
		vfctl_cpuset_count(&a->held_cpus) > a->vcpu_count + 1)
		buf_puts(&line, " (they do not fill cores of equal size)");
	buf_puts(&line, "; QEMU's threads on ");
	print_set(&line, &a->emulator_cpus);
	return !line.failed && reason_add(a, VFCTL_REASON_CHOICE, "%s", line.data);
}

bool explain_choice(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request, const struct candidate *chosen,
	size_t fitting)
{
	char memory[32], page[32];
	bool ok;

	ok = reason_add(a, VFCTL_REASON_CHOICE,
		"node %u: %zu of %zu nodes fit; %s; free cores left: %zu",
		chosen->node->id, fitting, o->model->topology->node_count,
		fitting == 1          ? "the only one"
		: request->want_count ? "its VFs are there, and it leaves least over"
				      : "it leaves least over where VFs are not wasted",
		chosen->cores.left);
	ok &= explain_vfs(a, o, chosen);
	ok &= explain_cpus(a, request);
	memory_text(a->memory_bytes, memory);
	if (a->page_bytes != VFCTL_PAGES_BASE)
		return ok & reason_add(a, VFCTL_REASON_CHOICE,
				    "memory: %s in pages of %s, strictly on node %u",
				    memory, memory_text(a->page_bytes, page),
				    chosen->node->id);
	ok &= reason_add(a, VFCTL_REASON_CHOICE, "memory: %s, strictly on node %u",
		memory, chosen->node->id);
	if (request->page_bytes == VFCTL_PAGES_AUTO)
		ok &= reason_add(a, VFCTL_REASON_WARNING,
			"memory: base pages, since no pool of huge pages on node %u has "
			"%s free; "
			"DMA and page walks are slower",
			chosen->node->id, memory);
	return ok;
}

static const char *want_name(const struct vfctl_vf_want *want, char buf[VFCTL_BDF_TEXT])
{
	return want->any_pf ? "any PF" : vfctl_bdf_format(&want->pf, buf);
}

static bool explain_want(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_vf_want *want)
{
	const struct vfctl_topology *topology = o->model->topology;
	size_t homeless = vf_free_on(o, want, VFCTL_NODE_NONE);
	_buf_ struct buf line = {0};
	char pf[VFCTL_BDF_TEXT];
	size_t total = homeless;

	buf_printf(&line, "VFs: %" PRIu32 " of %s asked on one node", want->count,
		want_name(want, pf));
	if (want->fabric != VFCTL_FABRIC_ANY && want->fabric_name)
		buf_printf(&line, ", %s", want->fabric_name);
	else if (want->fabric != VFCTL_FABRIC_ANY)
		buf_printf(&line, ", fabric %d", want->fabric);
	buf_puts(&line, "; free:");
	for (size_t i = 0; i < topology->node_count; i++) {
		size_t n = vf_free_on(o, want, (int)topology->nodes[i].id);

		total += n;
		if (n)
			buf_printf(&line, " %zu on node %u,", n, topology->nodes[i].id);
	}
	if (homeless)
		buf_printf(&line, " %zu without a node,", homeless);
	if (!total)
		buf_puts(&line, " none ");
	if (line.failed)
		return false;
	line.data[line.len - 1] = '\0';
	return reason_add(a, VFCTL_REASON_SHORT, "%s", line.data) &&
	       (total >= want->count ||
		       reason_add(a, VFCTL_REASON_REMEDY,
			       "create %zu more VF%s on %s, or release a guest that holds "
			       "some",
			       want->count - total, want->count - total == 1 ? "" : "s",
			       want_name(want, pf)));
}

static bool explain_cpu_short(struct vfctl_assignment *a,
	const struct vfctl_request *request, const struct candidate *c)
{
	bool ok;

	if (c->cores_fit)
		return reason_add(a, VFCTL_REASON_SHORT,
			       "node %u: no core is asked for QEMU's threads and the "
			       "host has no "
			       "reserved CPUs for them",
			       c->node->id) &&
		       reason_add(a, VFCTL_REASON_REMEDY,
			       "set emulator_cores to 1 or reserve CPUs for the host");
	ok = reason_add(a, VFCTL_REASON_SHORT,
		"node %u: %" PRIu32 " vCPUs (threads: %s) and %" PRIu32
		" core%s for QEMU do not fit its %" PRIu32 " free whole core%s",
		c->node->id, request->vcpus, vfctl_threads_name(request->threads),
		request->emulator_cores, request->emulator_cores == 1 ? "" : "s",
		c->free_cores, c->free_cores == 1 ? "" : "s");
	if (c->most_vcpus)
		ok &= reason_add(a, VFCTL_REASON_REMEDY,
			"node %u would take %" PRIu32
			" vCPUs with the same thread policy",
			c->node->id, c->most_vcpus);
	else
		ok &= reason_add(a, VFCTL_REASON_REMEDY,
			"node %u needs free whole cores: release a guest that is pinned "
			"there or "
			"reserve fewer CPUs for the host",
			c->node->id);
	return ok;
}

static bool explain_memory_short(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request, const struct candidate *c)
{
	uint64_t page = request->page_bytes == VFCTL_PAGES_AUTO ? VFCTL_PAGES_BASE
								: request->page_bytes;
	uint64_t free_bytes = memory_free(o, c->node, page);
	char asked[32], left[32], size[32];
	bool ok;

	memory_text(request->memory_bytes, asked);
	memory_text(free_bytes, left);
	if (page == VFCTL_PAGES_BASE)
		return reason_add(a, VFCTL_REASON_SHORT,
			       "node %u: %s of memory asked, %s is free", c->node->id,
			       asked, left) &&
		       reason_add(a, VFCTL_REASON_REMEDY,
			       "ask for %s or less, or release a guest of node %u", left,
			       c->node->id);
	memory_text(page, size);
	ok = reason_add(a, VFCTL_REASON_SHORT,
		"node %u: %s in pages of %s asked, %s is free in such pages", c->node->id,
		asked, size, left);
	return ok & reason_add(a, VFCTL_REASON_REMEDY,
			    "add %" PRIu64
			    " pages of %s on node %u (/sys/devices/system/node/node%u/"
			    "hugepages/hugepages-%" PRIu64
			    "kB/nr_hugepages), or take other pages",
			    (request->memory_bytes - free_bytes) / page, size,
			    c->node->id, c->node->id, page / 1024);
}

static bool explain_elsewhere(struct vfctl_assignment *a,
	const struct vfctl_request *request, const struct candidate *candidates,
	size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!candidates[i].vfs_fit && candidates[i].cpus_fit &&
			candidates[i].memory_fits)
			return reason_add(a, VFCTL_REASON_REMEDY,
				"node %u has the CPUs and the memory, but not the VFs: "
				"ask for a PF "
				"of that node, or create VFs there",
				candidates[i].node->id);
	return true;
}

static bool same_source(const struct vfctl_vf_want *a, const struct vfctl_vf_want *b)
{
	return a->any_pf == b->any_pf && a->fabric == b->fabric &&
	       (a->any_pf || vfctl_bdf_compare(&a->pf, &b->pf) == 0);
}

/* What several entries ask of one PF is told in one sum. */
static bool explain_wants(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request)
{
	bool ok = true;

	for (size_t i = 0; i < request->want_count; i++) {
		struct vfctl_vf_want sum = request->wants[i];
		bool told = false;

		for (size_t k = 0; k < i && !told; k++)
			told = same_source(&request->wants[k], &sum);
		for (size_t k = i + 1; k < request->want_count; k++)
			if (same_source(&request->wants[k], &sum))
				sum.count += request->wants[k].count;
		if (!told)
			ok &= explain_want(a, o, &sum);
	}
	return ok;
}

bool explain_refusal(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request, const struct candidate *candidates,
	size_t count)
{
	bool ok = true;

	if (!count)
		return reason_add(a, VFCTL_REASON_SHORT, "node %d: it has no CPUs",
			       request->node) &&
		       reason_add(a, VFCTL_REASON_REMEDY, "ask for a node that has some");
	if (a->refusal == VFCTL_REFUSAL_VFS)
		ok &= explain_wants(a, o, request);
	for (size_t i = 0; i < count; i++) {
		const struct candidate *c = &candidates[i];

		if (!c->vfs_fit && a->refusal != VFCTL_REFUSAL_VFS)
			continue;
		if (!c->vfs_fit && c->cpus_fit && c->memory_fits)
			continue;
		if (a->refusal != VFCTL_REFUSAL_VFS && !c->cpus_fit)
			ok &= explain_cpu_short(a, request, c);
		if (a->refusal != VFCTL_REFUSAL_VFS && !c->memory_fits)
			ok &= explain_memory_short(a, o, request, c);
	}
	return ok & explain_elsewhere(a, request, candidates, count);
}
