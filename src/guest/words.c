// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of guests that are there already: from the metadata of their domains. */
#include "guest/words.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/find.h"
#include "domain/domain.h"
#include "domain/said.h"
#include "lease/lease.h"
#include "lease/ops.h"

/* ---- back to a guest's file ---- */

/* What is in its definition already, as disks, stays as it is there. Without the rest it would get
 * defaults: another kind of CPU, or a console that its file did without. */
static const char *const guest_keys[] = {"name", "vcpus", "memory", "cells", "hugepages", "threads",
	"shared_vcpus", "node", "memory_affinity", "whole_node", "whole_l3", "max_distance",
	"emulator_cores", "iothreads", "iothread_cores", "virtualization", "cpu", "pmu", "locked",
	"console", "spare_ports"};
static const char *const cell_keys[] = {"vcpus", "memory", "node"};
static const char *const vf_keys[] = {"pf", "fabric", "count", "affinity", "cell", "port", "apart",
	"form"};

static void put_value(struct buf *out, const char *key, size_t key_len, const char *value,
	size_t len)
{
	buf_printf(out, "%.*s: '", (int)key_len, key);
	for (size_t i = 0; i < len; i++) {
		if (value[i] == '\'')
			buf_puts(out, "'");
		buf_add(out, &value[i], 1);
	}
	buf_puts(out, "'\n");
}

/* "vfs[2].pf=ens1": the lines of an entry stand together. */
static void put_list(struct buf *out, const char *lines, const char *list,
	const char *const *keys, size_t key_count)
{
	size_t list_len = strlen(list);
	bool begun = false;
	long entry = -1;

	for (int len; *(lines += strspn(lines, " \t\n")); lines += len) {
		size_t key_len = strcspn(lines, "=\n");
		const char *key = lines + list_len + 1;
		char *end;
		long now;

		len = (int)strcspn(lines, "\n");
		if ((int)key_len == len || strncmp(lines, list, list_len) || key[-1] != '[')
			continue;
		now = strtol(key, &end, 10);
		key = end + 2;
		if (end[0] != ']' || end[1] != '.' || key > lines + key_len ||
			!str_is_one_of(keys, key_count, key, (size_t)(lines + (int)key_len - key)))
			continue;
		if (!begun)
			buf_printf(out, "%s:\n", list);
		begun = true;
		buf_puts(out, now == entry ? "    " : "  - ");
		entry = now;
		put_value(out, key, (size_t)(lines + (int)key_len - key), lines + key_len + 1,
			(size_t)len - key_len - 1);
	}
}

/* "xml.iommu=on" */
static void put_xml(struct buf *out, const char *lines)
{
	static const char prefix[] = "xml.";
	bool begun = false;

	for (size_t len; *(lines += strspn(lines, " \t\n")); lines += len) {
		const char *key = lines + sizeof(prefix) - 1;
		size_t key_len = strspn(key, "abcdefghijklmnopqrstuvwxyz_0123456789");

		len = strcspn(lines, "\n");
		if (!str_starts(lines, prefix) || !key_len || key[key_len] != '=')
			continue;
		buf_printf(out, "%s  ", begun ? "" : "xml:\n");
		begun = true;
		put_value(out, key, key_len, key + key_len + 1,
			(size_t)(lines + len - key) - key_len - 1);
	}
}

int words_to_guest(struct vfctl_ctx *ctx, const char *lines, struct vfctl_guest **ret)
{
	_buf_ struct buf text = {0};
	_free_ char *why = NULL;
	int r;

	for (const char *at = lines; *(at += strspn(at, " \t\n")); at += strcspn(at, "\n")) {
		size_t key = strcspn(at, "=\n"), len = strcspn(at, "\n");

		if (key < len && str_is_one_of(guest_keys, ARRAY_SIZE(guest_keys), at, key))
			put_value(&text, at, key, at + key + 1, len - key - 1);
	}
	/* The disks stay in the definition, and with them the default that follows from them. */
	if (said_has(lines, "disks[", strlen("disks[")) &&
		!said_find(lines, "iothreads", strlen("iothreads")))
		put_value(&text, "iothreads", strlen("iothreads"), "1", 1);
	put_xml(&text, lines);
	put_list(&text, lines, "cells", cell_keys, ARRAY_SIZE(cell_keys));
	put_list(&text, lines, "vfs", vf_keys, ARRAY_SIZE(vf_keys));
	if (text.failed)
		return ctx_oom(ctx);
	r = vfctl_guest_parse(ctx, "its metadata", text.data ? text.data : "", text.len, ret);
	if (r == 0 || r == -ENOMEM)
		return r;
	/* No mistake of who asks. */
	why = steal(ctx->error);
	return ctx_fail(ctx, -EBADMSG, "%s", why ? why : "its metadata is no guest");
}

/* ---- for the planner ---- */

static bool asks_for_nodes(const struct vfctl_guest *g)
{
	bool asks = g->node != VFCTL_NODE_NONE;

	for (size_t i = 0; i < g->cell_count; i++)
		asks |= g->cells[i].node != VFCTL_NODE_NONE;
	return asks;
}

/* Is that VF what the entry asked for? */
static bool answers(const struct vfctl_guest_vf *asked, const struct vfctl_vf_want *want,
	const struct vfctl_free_vf *vf)
{
	if (!want->any_pf)
		return vfctl_bdf_compare(&want->pf, &vf->pf) == 0;
	return asked->fabric == VFCTL_VF_FABRIC_ANY || want->fabric == vf->fabric;
}

/*
 * Each VF that it holds, and the first entry with some left that it answers: those that name a PF
 * first. One that attach gave answers none, and may be of any PF of its fabric.
 */
static int fill_wants(struct vfctl_ctx *ctx, const struct vfctl_guest *g,
	const struct vfctl_request *request, struct vfctl_occupant *o)
{
	size_t cells = g->cell_count ? g->cell_count : 1;
	uint32_t left[VFCTL_GUEST_VFS_MAX];

	o->wants = calloc(o->vf_count + 1, sizeof(*o->wants));
	if (!o->wants)
		return ctx_oom(ctx);
	for (size_t w = 0; w < request->want_count; w++)
		left[w] = request->wants[w].count *
			(request->wants[w].cell == VFCTL_CELL_EACH ? (uint32_t)cells : 1);
	for (size_t i = 0; i < o->vf_count; i++)
		o->wants[i] = (struct vfctl_vf_want){.any_pf = true, .fabric = o->vfs[i].fabric};
	for (int named = 1; named >= 0; named--)
		for (size_t i = 0; i < o->vf_count; i++)
			for (size_t w = 0; w < request->want_count && !o->wants[i].count; w++)
				if (left[w] && request->wants[w].any_pf == !named &&
					answers(&g->vfs[w], &request->wants[w], &o->vfs[i])) {
					left[w]--;
					o->wants[i] = request->wants[w];
					o->wants[i].count = 1;
				}
	for (size_t i = 0; i < o->vf_count; i++) {
		o->wants[i].count = 1;
		o->wants[i].fabric_name = NULL;
		/* Which of its cells is which on the host a move decides. */
		o->wants[i].cell = VFCTL_CELL_ANY;
		if (o->wants[i].any_pf)
			o->wants[i].fabric = o->vfs[i].fabric;
	}
	return 0;
}

static int read_words(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const struct vfctl_domain_info *info, struct vfctl_occupant *o)
{
	const struct op later = {&op_shape_later, o->uuid, NULL, NULL};
	struct vfctl_requests *requests = NULL;
	struct vfctl_guest *guest = NULL;
	_free_ char *said = NULL, *then = NULL;
	int r = metadata_said(ctx, info->xml, &said);

	/* Defined anew while it runs: until it stops its lease is of both places. */
	if (r == 0)
		r = op_observe(ctx, &later, &then);
	o->changing = r == 0 && then[0];
	if (r == 0 && said)
		r = words_to_guest(ctx, said, &guest);
	if (r == 0 && guest)
		r = vfctl_requests_make(ctx, m, &guest, 1, &requests);
	if (r == 0 && guest) {
		o->pinned = asks_for_nodes(guest);
		r = fill_wants(ctx, guest, &requests->v[0], o);
	}
	vfctl_requests_free(requests);
	vfctl_guest_free(guest);
	return r;
}

/* What ends with the run that goes on is no part of its next place. */
static void drop_transient(const struct vfctl_leases *leases, struct vfctl_occupant *o)
{
	const struct vfctl_lease *lease = vfctl_leases_find_uuid(leases, o->uuid);
	size_t kept = 0;

	if (o->foreign || !lease || lease->transient)
		return;
	for (size_t i = 0; i < o->vf_count; i++) {
		const struct vfctl_lease_vf *vf = find_leased_vf(lease, &o->vfs[i].bdf);

		if (!vf || !vf->transient)
			o->vfs[kept++] = o->vfs[i];
	}
	o->vf_count = kept;
}

/* One that libvirt does not know any more goes nowhere. */
static void keep_unknown(const struct vfctl_domain_info *infos, size_t count,
	struct vfctl_occupant *o)
{
	bool known = o->foreign;

	for (size_t i = 0; i < count && !known; i++)
		known = str_eq(o->uuid, infos[i].uuid);
	o->changing |= !known;
}

int vfctl_model_read_words(struct vfctl_ctx *ctx, struct vfctl_host_model *model,
	struct vfctl_hypervisor *hypervisor)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	struct vfctl_domain_info *infos = NULL;
	size_t count = 0;
	int r = hypervisor ? vfctl_leases_read(ctx, &leases) : 0;

	if (r == 0 && hypervisor)
		r = hypervisor->list(ctx, hypervisor, &infos, &count);
	for (size_t k = 0; k < model->occupant_count && r == 0 && hypervisor; k++) {
		drop_transient(leases, &model->occupants[k]);
		keep_unknown(infos, count, &model->occupants[k]);
	}
	for (size_t i = 0; i < count && r == 0; i++)
		for (size_t k = 0; k < model->occupant_count && r == 0; k++) {
			struct vfctl_occupant *o = &model->occupants[k];

			if (o->foreign || o->wants || !str_eq(o->uuid, infos[i].uuid))
				continue;
			r = read_words(ctx, model, &infos[i], o);
			if (r == -ENOMEM)
				break;
			if (r < 0)
				log_warn(ctx, "what the file of domain %s asked for is not known (%s); its "
					"VFs may be of any PF of their network", o->name,
					vfctl_ctx_error(ctx));
			ctx_clear(ctx);
			r = 0;
		}
	vfctl_domain_infos_free(infos, count);
	return r;
}
