// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of a guest that is defined again: each names the present and the new state. */
#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "domain/definition.h"
#include "guest/redefine/redefine_op.h"
#include "ids/owner.h"
#include "ids/values.h"
#include "lease/clean.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "lease/saved_image.h"
#include "sriov/attrs.h"
#include "types/find.h"

static const struct vfctl_domain_vf *will_have(const struct redefine_op *r,
	const struct vfctl_bdf *vf)
{
	return find_domain_vf(r->placed->vfs, r->placed->vf_count, vf);
}

/* ---- text ---- */

/* The value of that attribute, or "none". */
static const char *value_of(const struct vfctl_vf_attrs *attrs, const char *key,
	char value[VFCTL_ATTR_TEXT])
{
	const char *own;
	size_t i = 0;

	while (vfctl_vf_attrs_next(attrs, &i, &own, value))
		if (str_eq(own, key))
			return value;
	return "none";
}

static void put_change(struct buf *out, const char *what, const char *was, const char *now)
{
	if (!str_eq(was, now))
		buf_printf(out, "%s%s %s -> %s", out->len ? ", " : "", what, was, now);
}

/* "vlan 7 -> 8, trust off -> on" */
static void put_attrs(struct buf *out, const struct vfctl_vf_attrs *was,
	const struct vfctl_vf_attrs *now)
{
	char value[VFCTL_ATTR_TEXT], other[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(now, &i, &key, value))
		put_change(out, key, value_of(was, key, other), value);
	for (i = 0; vfctl_vf_attrs_next(was, &i, &key, value);)
		if (str_eq(value_of(now, key, other), "none"))
			put_change(out, key, value, "none");
}

static void put_list(struct buf *out, const char *what, const struct vfctl_cpuset *was,
	const struct vfctl_cpuset *now)
{
	char a[512], b[512];

	vfctl_cpuset_format(was, a, sizeof(a));
	vfctl_cpuset_format(now, b, sizeof(b));
	put_change(out, what, a[0] ? a : "none", b[0] ? b : "none");
}

static void put_count(struct buf *out, const char *what, size_t was, size_t now)
{
	_free_ char *a = str_format("%zu", was), *b = str_format("%zu", now);

	out->failed |= !a || !b;
	if (a && b)
		put_change(out, what, a, b);
}

static void put_vfs(const struct redefine_op *r, struct buf *out)
{
	for (size_t i = 0; i < r->placed->vf_count; i++)
		if (!find_intent_vf(&r->has.intent, &r->placed->vfs[i].bdf))
			buf_printf(out, "%swith VF %s", out->len ? ", " : "",
				TEXT(&r->placed->vfs[i].bdf));
	for (size_t i = 0; i < r->has.intent.vf_count; i++)
		if (!will_have(r, &r->has.intent.vfs[i].bdf))
			buf_printf(out, "%swithout VF %s", out->len ? ", " : "",
				TEXT(&r->has.intent.vfs[i].bdf));
}

static void put_tuning(const struct redefine_op *r, struct buf *out)
{
	_free_ char *was = vfctl_guest_tuning_format(&r->has.intent.tuning);
	_free_ char *now = vfctl_guest_tuning_format(&r->placed->guest->tuning);

	out->failed |= !was || !now;
	if (was && now)
		put_change(out, "tuning", *was ? was : "none", *now ? now : "none");
}

/* Describe the changes of the definition that the steps for the lease do not mention. */
static int put_definition(struct vfctl_ctx *ctx, const struct redefine_op *r, struct buf *out)
{
	struct vfctl_parsed_domain *parsed = NULL;
	int e = vfctl_domain_read(ctx, r->xml, &parsed);

	if (e < 0)
		return e;
	put_count(out, "vCPUs", r->has.parsed->vcpus, parsed->vcpus);
	put_count(out, "cells", r->has.parsed->cell_count, parsed->cell_count);
	put_tuning(r, out);
	put_vfs(r, out);
	if (!out->len)
		buf_puts(out, r->q->to ? "for its new place" : "as its file says");
	vfctl_parsed_domain_free(parsed);
	return 0;
}

/* "512 MiB of node 0 in pages of 2 MiB and 512 MiB of node 1" */
static void put_memory(struct buf *out, const struct vfctl_lease *l)
{
	for (size_t i = 0; i < l->cell_count; i++) {
		const struct vfctl_lease_cell *c = &l->cells[i];

		buf_printf(out, "%s%" PRIu64 " MiB of node %d", i ? " and " : "",
			c->memory_bytes >> 20, c->memory_node);
		if (c->page_bytes)
			buf_printf(out, " in pages of %" PRIu64 " MiB", c->page_bytes >> 20);
	}
}

/* "CPUs 0-1 -> 0-3, memory 512 MiB of node 0 -> 1024 MiB of node 1" */
static void put_shape(struct buf *out, const struct vfctl_lease *was,
	const struct vfctl_lease *now)
{
	_buf_ struct buf a = {0}, b = {0};

	put_memory(&a, was);
	put_memory(&b, now);
	put_list(out, "CPUs", &was->cpus, &now->cpus);
	put_list(out, "QEMU's shared CPUs", &was->qemu_cpus, &now->qemu_cpus);
	put_change(out, "memory", a.data ? a.data : "none", b.data ? b.data : "none");
	out->failed |= a.failed || b.failed;
}

/* ---- the lease's CPUs and memory ---- */

static int add_cells(struct vfctl_ctx *ctx, struct vfctl_lease *io, const struct vfctl_lease *more)
{
	struct vfctl_lease_cell *cells = reallocarray(io->cells,
		io->cell_count + more->cell_count + 1, sizeof(*cells));

	if (!cells)
		return ctx_oom(ctx);
	io->cells = cells;
	for (size_t i = 0; i < more->cell_count; i++) {
		const struct vfctl_lease_cell *c = &more->cells[i];
		size_t k = 0;

		while (k < io->cell_count && (cells[k].memory_node != c->memory_node ||
			cells[k].page_bytes != c->page_bytes || cells[k].node != c->node))
			k++;
		if (k == io->cell_count)
			cells[io->cell_count++] = *c;
		else if (cells[k].memory_bytes < c->memory_bytes)
			cells[k].memory_bytes = c->memory_bytes;
		if (cells[k].shared_vcpus < c->shared_vcpus)
			cells[k].shared_vcpus = c->shared_vcpus;
	}
	return 0;
}

/* The resources of the present run and of the next one together. */
static int join_shapes(struct vfctl_ctx *ctx, const struct redefine_op *r, struct vfctl_lease *ret)
{
	_free_ char *text = lease_shape_to_text(r->lease);
	int e = text ? lease_shape_from_text(ctx, text, ret) : ctx_oom(ctx);

	if (e == 0)
		e = add_cells(ctx, ret, &r->new_shape);
	vfctl_cpuset_or(&ret->cpus, &r->new_shape.cpus);
	vfctl_cpuset_or(&ret->qemu_cpus, &r->new_shape.qemu_cpus);
	/* A core of its own carries QEMU's threads as well. */
	vfctl_cpuset_andnot(&ret->qemu_cpus, &ret->cpus);
	ret->memory_bytes = 0;
	for (size_t i = 0; i < ret->cell_count; i++)
		ret->memory_bytes += ret->cells[i].memory_bytes;
	return e;
}

static int add_shape_steps(struct vfctl_ctx *ctx, const struct redefine_op *r, struct steps *steps)
{
	_cleanup_(lease_clear) struct vfctl_lease both = {0};
	_free_ char *had = lease_shape_to_text(r->lease), *need = lease_shape_to_text(&r->shape);
	_free_ char *final = lease_shape_to_text(&r->new_shape), *now = NULL, *before = NULL;
	_buf_ struct buf message = {0};
	const char *name = r->q->info->name;
	int e = had && need && final ? 0 : ctx_oom(ctx);

	if (e < 0 || str_eq(need, final))
		return e;
	if (r->running)
		e = join_shapes(ctx, r, &both);
	now = lease_shape_to_text(r->running ? &both : &r->new_shape);
	before = str_format("%s%s", had, r->running ? "" : OP_OFF);
	if (e < 0 || !now || !before)
		return e < 0 ? e : ctx_oom(ctx);
	put_shape(&message, &r->shape, &r->new_shape);
	step_begin(steps, "change the lease of domain %s: %s%s", name, message.data ? message.data
		: "shared vCPUs", r->running ? "; both until it stops" : "");
	step_op(steps, &op_lease_shape, now, before, "%s", r->q->info->uuid);
	if (r->running)
		step_op(steps, &op_shape_later, final, need, "%s", r->q->info->uuid);
	return 0;
}

/* ---- its VFs ---- */

/* A VF that it already has, with other values from now on. */
static int add_intent(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_domain_vf *vf, const struct vfctl_lease_vf *has, struct steps *steps)
{
	_buf_ struct buf message = {0};

	put_attrs(&message, &has->intent, &vf->attrs);
	if (message.failed)
		return ctx_oom(ctx);
	if (!message.len)
		return 0;
	step_begin(steps, "change the leased values of VF %s of domain %s: %s", TEXT(&vf->bdf),
		r->q->info->name, message.data);
	step_attrs_op(steps, &op_intent, &vf->attrs, &has->intent, "%s/%s", r->q->info->uuid,
		TEXT(&vf->bdf));
	return 0;
}

static int add_vf(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_domain_vf *vf, struct steps *steps)
{
	struct vfctl_lease_vf row = lease_vf_row(vf);
	_free_ char *want = NULL;

	ports_fill(r->placed->snapshot->inventory, &row, 1);
	want = lease_vf_to_text(r->lease->id, &row, false);
	if (!want)
		return ctx_oom(ctx);
	step_begin(steps, "lease VF %s to domain %s", TEXT(&vf->bdf), r->q->info->name);
	step_op(steps, &op_lease_vf, want, "", "%s/%s", r->q->info->uuid, TEXT(&vf->bdf));
	return 0;
}

/* The PFs that the file names were checked; the file says nothing about attached VFs. */
static int add_port(struct vfctl_ctx *ctx, const struct redefine_op *r, size_t i,
	const struct vfctl_lease_vf *has, struct steps *steps)
{
	const struct vfctl_pf *pf;

	if (i >= r->slot_count || !vfctl_inventory_vf_at(r->placed->snapshot->inventory, &has->bdf, &pf))
		return 0;
	return port_add_step(ctx, r->q->info->uuid, has, pf, steps);
}

static int add_vf_steps(struct vfctl_ctx *ctx, const struct redefine_op *r, struct steps *steps)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->placed->vf_count; i++) {
		const struct vfctl_domain_vf *vf = &r->placed->vfs[i];
		const struct vfctl_lease_vf *has = redefine_leased(r, &vf->bdf);

		if (!has)
			e = clean_add_steps(ctx, r->placed->snapshot, r->q->options->spec, vf, 1,
				steps);
		if (e == 0)
			e = has ? add_intent(ctx, r, vf, has, steps) : add_vf(ctx, r, vf, steps);
		if (e == 0 && has)
			e = add_port(ctx, r, i, has, steps);
	}
	return e;
}

/* ---- what it no longer has ---- */

static bool leaves(const struct redefine_op *r, const struct vfctl_lease_vf *vf)
{
	return !vf->transient && !will_have(r, &vf->bdf);
}

/* Whether one of its VFs has the value afterwards. */
static bool has_value(const struct redefine_op *r, enum vfctl_id_kind kind, uint64_t value)
{
	for (size_t i = 0; i < r->placed->vf_count; i++)
		if (attrs_carry(&r->placed->vfs[i].attrs, kind, value))
			return true;
	return false;
}

static bool had_value(const struct redefine_op *r, const struct vfctl_id *id)
{
	for (size_t i = 0; i < r->lease->vf_count; i++)
		if (attrs_carry(&r->lease->vfs[i].intent, id->kind, id->value))
			return true;
	return false;
}

/* Whether its MAC or GUID moved to another VF of the domain. */
static bool hands_on(const struct redefine_op *r, const struct vfctl_vf_attrs *a)
{
	return (a->mask & VFCTL_ATTR_MAC && has_value(r, VFCTL_ID_MAC, mac_number(&a->mac))) ||
		(a->mask & VFCTL_ATTR_PORT_GUID && has_value(r, VFCTL_ID_GUID, a->port_guid));
}

/* ---- values that both the domain and the VF keep ---- */

/*
 * The VF needs new values for its MAC or GUIDs after its guest has released it, if the domain keeps
 * the old ones on another VF: they may be the VF's own, because there was no pool.
 */
static uint32_t takes_along(const struct redefine_op *r, const struct vfctl_lease_vf *row,
	const struct vfctl_vf *vf)
{
	const uint32_t identity = VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS;
	struct vfctl_vf_attrs then = vf->attrs;
	uint32_t mask = 0;

	attrs_copy(&then, &row->saved, row->saved.mask & identity);
	for (size_t i = 0; i < r->placed->vf_count; i++) {
		const struct vfctl_vf_attrs *a = &r->placed->vfs[i].attrs;

		if (then.mask & VFCTL_ATTR_MAC && attrs_carry(a, VFCTL_ID_MAC, mac_number(&then.mac)))
			mask |= VFCTL_ATTR_MAC;
		if ((then.mask & VFCTL_ATTR_PORT_GUID && attrs_carry(a, VFCTL_ID_GUID,
			then.port_guid)) || (then.mask & VFCTL_ATTR_NODE_GUID && attrs_carry(a,
			VFCTL_ID_GUID, then.node_guid)))
			mask |= then.mask & VFCTL_ATTR_GUIDS;
	}
	return mask;
}

/* Derive values for the VF that have no owner, neither now nor after this change. */
static int renew_left_vf(struct vfctl_ctx *ctx, const struct redefine_op *r, uint32_t mask,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf, struct vfctl_vf_attrs *ret)
{
	const struct vfctl_placement *p = r->placed;
	struct value_facts facts = {.leases = p->snapshot->leases};
	int e = live_from_inventory(ctx, p->snapshot->inventory, &facts.live);

	for (size_t i = 0; e == 0 && i < p->vf_count; i++) {
		const struct vfctl_pf then = {.bdf = p->vfs[i].pf};

		e = live_add_vf(ctx, &facts.live, &then, p->vfs[i].index, &p->vfs[i].attrs);
	}
	if (e == 0)
		e = values_renew(ctx, &facts, mask, pf, vf->index, ret);
	live_values_clear(&facts.live);
	return e;
}

/*
 * 1: it exists; 0: it is absent and has no values. A VF that cannot be read may have the domain's
 * values.
 */
static int find_leaving(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_bdf *bdf, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret_vf)
{
	const struct vfctl_inventory *inv = r->placed->snapshot->inventory;
	const struct vfctl_vf *found = vfctl_inventory_vf_at(inv, bdf, ret_pf);
	const char *unread = found ? (*ret_pf)->unread : inv->unread;

	*ret_vf = found;
	return !unread ? found != NULL : ctx_fail(ctx, -EIO, "nothing is changed, because the values of "
		"VF %s cannot be read (%s); to keep it as it is: vfctl detach %s --vf %s", TEXT(bdf), unread,
		r->q->info->name, TEXT(bdf));
}

static int add_renewal(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_lease_vf *row, struct steps *steps)
{
	struct vfctl_vf_attrs attrs = {.proto = VFCTL_VLAN_8021Q}, had;
	const struct vfctl_vf_attrs none = {0};
	_buf_ struct buf message = {0};
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	uint32_t mask;
	int e = find_leaving(ctx, r, &row->bdf, &pf, &vf);

	if (e <= 0)
		return e;
	mask = takes_along(r, row, vf);
	e = mask ? renew_left_vf(ctx, r, mask, pf, vf, &attrs) : 0;
	if (e < 0 || !mask)
		return e;
	had = attrs_before(&vf->attrs, &attrs);
	put_attrs(&message, &had, &attrs);
	if (message.failed)
		return ctx_oom(ctx);
	step_begin(steps, "VF %s gets new values%s, because domain %s keeps the present ones: %s",
		TEXT(&row->bdf), r->running ? " when that stops" : "", r->q->info->name, message.data);
	if (r->running)
		step_attrs_op(steps, &op_run_had, &attrs, &none, "%s/%s", r->q->info->uuid, TEXT(&row->bdf));
	else
		step_attrs_op(steps, &op_new_identity, &attrs, &had, "%s/%u", TEXT(&pf->bdf), vf->index);
	return 0;
}

static int add_renewals(struct vfctl_ctx *ctx, const struct redefine_op *r, struct steps *steps)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->lease->vf_count; i++)
		if (leaves(r, &r->lease->vfs[i]))
			e = add_renewal(ctx, r, &r->lease->vfs[i], steps);
	return e;
}

/* ---- the end of their leases ---- */

static int add_leaving(struct vfctl_ctx *ctx, const struct redefine_op *r,
	const struct vfctl_lease_vf *vf, struct steps *steps)
{
	_free_ char *before = str_format("%s" OP_OFF, r->lease->id);
	const char *uuid = r->q->info->uuid, *at = TEXT(&vf->bdf);

	if (!before)
		return ctx_oom(ctx);
	if (r->running) {
		step_begin(steps, "end the lease of VF %s when domain %s stops", at, r->q->info->name);
		step_op(steps, &op_vf_leaves, hands_on(r, &vf->intent) ? VF_LEAVES
			: VF_LEAVES_WITH_VALUES, "", "%s/%s", uuid, at);
	} else {
		step_begin(steps, "reset VF %s and end its lease", at);
		step_op(steps, &op_unlease_vf, "", before, "%s/%s", uuid, at);
	}
	return 0;
}

static int add_leave_steps(struct vfctl_ctx *ctx, const struct redefine_op *r, struct steps *steps)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->lease->vf_count; i++)
		if (leaves(r, &r->lease->vfs[i]))
			e = add_leaving(ctx, r, &r->lease->vfs[i], steps);
	return e;
}

/*
 * Values of pools that none of its VFs has any more; a current run keeps its values until its end.
 */
static int find_lost(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	size_t kept = 0;
	int e = identities_of_domain(ctx, r->running ? NULL : r->q->options->ids, r->q->info->uuid,
		NULL, &r->lost);

	for (size_t i = 0; e == 0 && i < r->lost.count; i++)
		if (had_value(r, &r->lost.given[i]) &&
			!has_value(r, r->lost.given[i].kind, r->lost.given[i].value)) {
			r->lost.had[kept] = r->lost.had[i];
			r->lost.given[kept++] = r->lost.given[i];
		}
	r->lost.count = kept;
	return e;
}

/* ---- all steps ---- */

static int add_definition_step(struct vfctl_ctx *ctx, const struct redefine_op *r,
	struct steps *steps)
{
	_free_ char *want = NULL, *before = NULL;
	_buf_ struct buf message = {0};
	int e = put_definition(ctx, r, &message);

	if (e == 0)
		e = redefine_text(ctx, r->xml, false, &want);
	if (e == 0)
		e = redefine_text(ctx, r->q->info->xml, !r->running, &before);
	if (e < 0 || message.failed)
		return e < 0 ? e : ctx_oom(ctx);
	step_begin(steps, "change the definition of domain %s: %s", r->q->info->name,
		message.data);
	saved_image_warn(ctx, r->q->info->name);
	step_op(steps, &op_redefine, want, before, "%s", r->q->info->uuid);
	return 0;
}

/*
 * A change that takes effect at the end of a run needs a run that the hook began, or no run at all.
 */
static int check_run(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	_free_ char *has = lease_shape_to_text(&r->shape), *needs = lease_shape_to_text(&r->new_shape);
	const char *name = r->q->info->name;
	bool less = !has || !needs || !str_eq(has, needs);

	for (size_t i = 0; i < r->lease->vf_count; i++)
		less |= leaves(r, &r->lease->vfs[i]);
	if (!less || r->lease->running == r->running)
		return 0;
	if (r->running)
		return ctx_fail(ctx, -EBUSY, "domain %s runs, but vfctl's hook did not see its start, "
			"so nothing would end its lease at the stop; stop the domain first: virsh "
			"shutdown %s", name,
			name);
	return ctx_fail(ctx, -EBUSY, "the last run of domain %s has not ended; end it first: vfctl "
		"release %s", name, name);
}

int redefine_add_steps(struct vfctl_ctx *ctx, struct redefine_op *r, struct vfctl_change *change)
{
	struct steps *steps = &change->steps;
	int e = check_run(ctx, r);

	if (e == 0)
		e = find_lost(ctx, r);
	if (e == 0)
		e = identities_add_step(ctx, &r->placed->identities, change);
	if (e == 0)
		e = add_shape_steps(ctx, r, steps);
	if (e == 0)
		e = add_vf_steps(ctx, r, steps);
	if (e == 0)
		e = add_renewals(ctx, r, steps);
	if (e == 0)
		e = add_definition_step(ctx, r, steps);
	if (e == 0)
		e = add_leave_steps(ctx, r, steps);
	if (e < 0)
		return e;
	change->result = str_format("domain %s is %s%s", r->q->info->name, !r->q->to ? "defined anew"
		: r->running ? "defined for its new place" : "moved", r->running ? "; the change takes "
		"effect when it is stopped and started" : "");
	return change->result ? identities_add_return_step(ctx, &r->lost, change) : ctx_oom(ctx);
}
