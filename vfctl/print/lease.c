// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/lease.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "columns.h"
#include "facts/snapshot/policy.h"
#include "print/host.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define PF_NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

/* ---- a VF: its leased and its present values ---- */

struct held_vf {
	const struct vfctl_lease_vf *leased;
	const struct vfctl_pf *pf; /* NULL: neither exists now */
	const struct vfctl_vf *vf;
	struct vfctl_vf_attrs want;
	uint32_t differs; /* VFCTL_ATTR_ bits; none while the domain is off */
	bool remote;	  /* it is on none of the nodes of its domain's CPUs */
};

static bool is_remote(const struct vfctl_lease *lease, const struct vfctl_vf *vf)
{
	if (vf->numa_node < 0)
		return false;
	for (size_t i = 0; i < lease->cell_count; i++)
		if (lease->cells[i].node == vf->numa_node)
			return false;
	return lease->cell_count;
}

static struct held_vf look_at(const struct vfctl_inventory *inv, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *leased)
{
	struct held_vf h = {.leased = leased, .want = leased->intent};

	h.vf = vfctl_inventory_vf_at(inv, &leased->bdf, &h.pf);
	if (!h.vf)
		return h;
	h.remote = is_remote(lease, h.vf);
	h.differs = vfctl_lease_vf_policy(leased, h.vf, &h.want);
	/* Before its guest starts, a VF has its previous values. */
	if (!lease->running && !lease->active)
		h.differs = 0;
	return h;
}

static const char *nodes_text(const struct vfctl_lease *lease, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < lease->cell_count && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%d", len ? "," : "",
			lease->cells[i].node);
	return buf;
}

static void print_pair(struct out *out, bool wrong, const char *key, const char *want,
	const char *is)
{
	out_paint(out, wrong ? COLOR_BAD : COLOR_NONE, 3);
	out_line(out, "  %c %-10s  %-23s  %s", wrong ? '!' : ' ', key, *want ? want : "-",
		*is ? is : "-");
}

static void print_values(struct out *out, const struct vfctl_lease *lease, const struct held_vf *h)
{
	const struct vfctl_vf_attr_info *info;
	char nodes[64], node[16] = "";

	print_pair(out, false, "", "wanted", "is");
	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++) {
		char want[VFCTL_ATTR_TEXT] = "", is[VFCTL_ATTR_TEXT] = "";

		vfctl_vf_attr_text(&h->vf->attrs, info->bit, is);
		if (vfctl_vf_attr_text(&h->want, info->bit, want))
			print_pair(out, h->differs & info->bit, info->key, want, is);
	}
	if (h->vf->numa_node >= 0)
		snprintf(node, sizeof(node), "%d", h->vf->numa_node);
	print_pair(out, h->remote, "node", nodes_text(lease, nodes, sizeof(nodes)), node);
}

static void print_remedy(struct out *out, const struct vfctl_lease *lease, const struct held_vf *h)
{
	char *text = vfctl_lease_vf_remedy(h->vf, PF_NAME(h->pf), lease->domain_name, &h->want,
		h->differs);

	out_paint(out, COLOR_BAD, 1);
	out_line(out, "  ! %s", text ? text : strerror(ENOMEM));
	free(text);
}

static void print_held(struct out *out, const struct vfctl_lease *lease, const struct held_vf *h)
{
	const struct vfctl_lease_vf *l = h->leased;
	char holder[COLUMN_TEXT];

	if (!h->vf) {
		out_paint(out, COLOR_BAD, 1);
		out_line(out, "! VF           %s does not exist (VF %u of PF %s)", BDF(&l->bdf), l->index,
			BDF(&l->pf));
		return;
	}
	out_line(out, "  VF           %s/%u  %s  %s%s", PF_NAME(h->pf), h->vf->index, BDF(&l->bdf),
		h->vf->holder.kind == VFCTL_HOLDER_NONE ? "not in use" : "held by ",
		h->vf->holder.kind == VFCTL_HOLDER_NONE ? "" : holder_text(h->vf, holder));
	print_values(out, lease, h);
	if (h->differs)
		print_remedy(out, lease, h);
}

static void print_held_all(struct out *out, const struct vfctl_inventory *inv,
	const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < lease->vf_count; i++) {
		struct held_vf h = look_at(inv, lease, &lease->vfs[i]);

		print_held(out, lease, &h);
	}
	out_paint(out, COLOR_NONE, 1);
	if (lease->vf_count && !lease->running && !lease->active)
		out_line(out, "  the leased values are set when the domain starts");
}

static int fill_differs(struct out *out, const void *of)
{
	const struct vfctl_vf_attr_info *info;
	const struct held_vf *h = of;

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (h->differs & h->want.mask & info->bit)
			out_str(out, NULL, info->key);
	if (h->remote)
		out_str(out, NULL, "node");
	return 0;
}

#define OF struct held_vf
OBJECT_OF(held_is, OF, it->vf ? &it->vf->attrs : NULL)
TEXT_OF(held_pf, OF, it->pf ? vfctl_pf_name(it->pf, room) : NULL)
OBJECT_OF(held_holder, OF, it->vf ? &it->vf->holder : NULL)
OBJECT_OF(held_want, OF, &it->want)
static const struct member held_table[] = {
	FIELD_VIA("address", leased, bdf, "PCI address of the VF"),
	FIELD_VIA("pf_address", leased, pf, "PCI address of its PF"),
	FIELD_VIA("index", leased, index, "the N of PF/N"),
	TEXT("pf", held_pf, "name of the PF; null: the VF does not exist", NULLABLE),
	FIELD_VIA("numa_node", vf, numa_node, "NUMA node of the VF"),
	OBJECT_GET("holder", held_holder, answer_holder, "present user of the VF", NULLABLE),
	OBJECT_GET("want", held_want, answer_values, "values of the lease, and safe "
		"defaults"),
	OBJECT_GET("is", held_is, answer_values, "present values", NULLABLE),
	FILL_EACH("differs", fill_differs, MEMBER_TEXT, "attributes that differ from the lease "
		"while the domain runs, with their names in vfctl set; node: the VF and the CPUs "
		"are on different nodes"), END};
#undef OF

/* ---- a domain ---- */

static const char *time_text(int64_t seconds, char buf[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		buf[0] = '\0';
	return buf;
}

/* "1024 MiB", "16 GiB in pages of 1 GiB": memory is whole MiB. */
static const char *memory_message(const struct vfctl_lease_cell *c, char *buf, size_t size)
{
	int len = snprintf(buf, size, "%llu MiB", (unsigned long long)c->memory_bytes >> 20);

	if (c->page_bytes)
		snprintf(buf + len, size - (size_t)len, " in pages of %llu %s",
			(unsigned long long)c->page_bytes >> (c->page_bytes >> 30 ? 30 : 10),
			c->page_bytes >> 30 ? "GiB" : "KiB");
	return buf;
}

static void print_cell(struct out *out, size_t number, const struct vfctl_lease_cell *c)
{
	char memory[64], shared[48] = "", far[48] = "";

	if (c->shared_vcpus)
		snprintf(shared, sizeof(shared), ", %u vCPUs on shared CPUs", c->shared_vcpus);
	if (c->memory_node != c->node)
		snprintf(far, sizeof(far), " from node %d", c->memory_node);
	out_line(out, "  cell %-7zu NUMA node %d, %s%s%s", number, c->node,
		memory_message(c, memory, sizeof(memory)), far, shared);
}

void print_lease(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease)
{
	char text[1024];

	out_line(out, "domain %s  %s", lease->domain_name, lease->domain_uuid);
	out_line(out, "  lease        %s, since %s", lease->id, time_text(lease->created, text));
	out_line(out, "  running      %s", lease->running || lease->active ? "yes" : "no");
	vfctl_cpuset_format(&lease->cpus, text, sizeof(text));
	if (lease->cell_count)
		out_line(out, "  CPUs         %s", text[0] ? text : "none of its own");
	if (!vfctl_cpuset_empty(&lease->qemu_cpus)) {
		vfctl_cpuset_format(&lease->qemu_cpus, text, sizeof(text));
		out_line(out, "  QEMU         threads on CPUs %s, which other guests' threads share", text);
	}
	for (size_t i = 0; i < lease->cell_count; i++)
		print_cell(out, i, &lease->cells[i]);
	print_held_all(out, snapshot->inventory, lease);
}

static int fill_held(struct out *out, const void *of)
{
	const struct lease_view *view = of;

	for (size_t i = 0; i < view->lease->vf_count; i++) {
		struct held_vf h = look_at(view->inventory, view->lease, &view->lease->vfs[i]);

		answer_put(out, NULL, held_table, &h);
	}
	return 0;
}

#define OF struct vfctl_lease_cell
static const struct member cell_table[] = {
	FIELD_AS("numa_node", node, "NUMA node of its CPUs"),
	FIELD(memory_node, "NUMA node of its memory"),
	FIELD(memory_bytes, "size of its memory"),
	FIELD(page_bytes, "size of its pages; 0: base pages"),
	FIELD(shared_vcpus, "vCPUs that run on shared CPUs"), END};
#undef OF

#define OF struct vfctl_lease
TEXT_OF(lease_created, OF, time_text(it->created, room))
FLAG_OF(lease_runs, OF, it->running || it->active)
static const struct member lease_fields[] = {
	FIELD_AS("domain", domain_name, "name of the domain", FILLED),
	FIELD(domain_uuid, "UUID of the domain", FILLED),
	FIELD_AS("lease", id, "identifier of the lease", FILLED),
	TEXT("created", lease_created, "time at which the lease was created"),
	FLAG("running", lease_runs, "the domain runs"),
	FIELD_AS("policy_applied", running, "the hook prepared this run"),
	FIELD_AS("numa_node", node, "NUMA node of the first cell"),
	FIELD(cpus, "CPUs that only this domain uses"),
	FIELD(qemu_cpus, "CPUs that the QEMU threads of this and other guests share"),
	FIELD(memory_bytes, "size of the memory"),
	LIST("cells", cells, cell_count, cell_table, "cells of the guest"), END};
#undef OF

#define OF struct lease_view
const struct member answer_lease[] = {
	SECTION("DOMAIN", "The lease of a domain."),
	PART_AT(lease, lease_fields),
	FILL("vfs", fill_held, held_table, "leased VFs"), END};
#undef OF
