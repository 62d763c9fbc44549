// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest whose domain already exists: compare it with its file, and plan the changes. */
#include "guest/redefine/redefine.h"

#include <errno.h>
#include <inttypes.h>

#include "types/find.h"
#include "facts/guest_spec.h"
#include "facts/snapshot/memlock.h"
#include "facts/snapshot/snapshot.h"
#include "guest/redefine/redefine_op.h"
#include "ids/values.h"
#include "lease/lease_text.h"
#include "lease/ops.h"

static void redefine_op_clear(struct redefine_op *r)
{
	vfctl_placement_free(r->placed);
	lease_clear(&r->shape);
	lease_clear(&r->new_shape);
	file_diff_clear(&r->diff);
	domain_has_clear(&r->has);
	identities_clear(&r->lost);
	free(r->xml);
}

static void redefine_op_freep(struct redefine_op **r)
{
	if (*r)
		redefine_op_clear(*r);
	free(*r);
}

/* ---- the present state ---- */

static int check_lease(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	const struct vfctl_domain_info *info = r->q->info;
	int e = r->lease || !info->persistent ? 0 : guest_check_lost(ctx, info->xml, info->name);

	if (e < 0)
		return e;
	if (!r->lease || !r->lease->cell_count || !info->persistent)
		return ctx_fail(ctx, -EEXIST, "libvirt already has a domain %s, which vfctl did not "
			"define; undefine it (vfctl undefine %s --force), or choose another name",
			info->name, info->name);
	if (!str_eq(r->q->guest->name, info->name))
		return ctx_fail(ctx, -EEXIST, "the domain with that UUID is called %s; rename it (virsh "
			"domrename %s %s), or write its name into the file", info->name, info->name,
			r->q->guest->name);
	if (r->q->guest->uuid && !str_eq(r->q->guest->uuid, info->uuid))
		return ctx_fail(ctx, -EEXIST, "libvirt already has a domain %s, with UUID %s; write "
			"that UUID into the file, or choose another name", info->name, info->uuid);
	return 0;
}

/*
 * The resources of its definition, which are fewer than those of the lease while a former run
 * continues.
 */
static int read_shape(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct op later = {&op_shape_later, (char *)r->q->info->uuid, NULL, NULL};
	_free_ char *text = NULL, *whole = lease_shape_to_text(r->lease);
	int e = whole ? op_observe(ctx, &later, &text) : ctx_oom(ctx);

	return e < 0 ? e : lease_shape_from_text(ctx, *text ? text : whole, &r->shape);
}

/* A move keeps these values as the definition has them, regardless of who wrote them. */
static void keep_defined(struct redefine_op *r)
{
	struct vfctl_guest *guest = r->placed->guest;

	guest->tuning = r->has.intent.tuning;
	if (r->has.parsed->iothreads && r->has.parsed->iothreads <= VFCTL_IOTHREADS_MAX)
		guest->iothreads = r->has.parsed->iothreads;
}

static int read_definition(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const char *xml = r->q->info->xml;
	int e = domain_has_read(ctx, xml, HAS_ALL, &r->has);

	if (e == 0 && r->q->to) /* it only moves */
		keep_defined(r);
	else if (e == 0)
		r->edited |= r->has.asked_unread || r->has.intent.tuning_damaged ||
			!vfctl_guest_tuning_same(&r->has.intent.tuning, &r->placed->guest->tuning);
	if (e == 0)
		e = domain_has_place(ctx, xml, r->placed->model->topology, &r->has);
	if (e != -EINVAL)
		return e;
	ctx_prefix(ctx, e, "another program changed the definition");
	return ctx_append(ctx, -EEXIST, "; undo that (virsh edit %s), or define the domain again: vfctl "
		"undefine %s, then vfctl define", r->q->info->name, r->q->info->name);
}

static int read_all(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	struct vfctl_placement *p = r->placed;
	int e = vfctl_snapshot_read(ctx, NULL, &p->snapshot);

	if (e == 0)
		e = r->q->to ? snapshot_need_all(ctx, p->snapshot)
			     : snapshot_need_leases(ctx, p->snapshot);
	if (e < 0)
		return e;
	r->lease = vfctl_leases_find_uuid(p->snapshot->leases, r->q->info->uuid);
	e = check_lease(ctx, r);
	if (e < 0)
		return e;
	if (!p->guest->uuid)
		p->guest->uuid = strdup(r->q->info->uuid);
	if (!p->guest->uuid)
		return ctx_oom(ctx);
	str_copy(p->lease_id, sizeof(p->lease_id), r->lease->id);
	r->running = r->q->info->active;
	e = vfctl_model_read(ctx, p->snapshot, r->q->options, &p->model);
	if (e == 0)
		e = read_shape(ctx, r);
	return e < 0 ? e : read_definition(ctx, r);
}

/* ---- changes by other programs ---- */

static int fail_others(struct vfctl_ctx *ctx, const struct redefine_op *r, const char *what)
{
	return ctx_fail(ctx, -EEXIST, "another program changed domain %s since vfctl defined it: "
		"%s; undo that (virsh edit %s), or define the domain again: vfctl undefine %s, "
		"then vfctl define",
		r->q->info->name, what, r->q->info->name, r->q->info->name);
}

static int check_amounts(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	const struct vfctl_guest *g = r->q->guest;
	_buf_ struct buf what = {0};

	if (!r->diff.vcpus && !r->diff.place && r->has.asked && r->has.parsed->vcpus != g->vcpus)
		buf_printf(&what, "it has %" PRIu32 " vCPUs, its file asks for %" PRIu32,
			r->has.parsed->vcpus, g->vcpus);
	if (!r->diff.memory && !r->diff.place && r->has.asked &&
		r->has.parsed->memory_bytes != r->shape.memory_bytes)
		buf_printf(&what, "%sit has %" PRIu64 " MiB of memory, its lease %" PRIu64,
			what.len ? ", and " : "", r->has.parsed->memory_bytes >> 20,
			r->shape.memory_bytes >> 20);
	return what.len ? fail_others(ctx, r, what.data) : 0;
}

/* The pins must match the lease. */
static int check_pins(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	struct vfctl_cpuset beyond = r->has.place->held_cpus;
	_buf_ struct buf what = {0};
	char list[256];

	vfctl_cpuset_andnot(&beyond, &r->shape.cpus);
	if (vfctl_cpuset_empty(&beyond))
		return 0;
	vfctl_cpuset_format(&beyond, list, sizeof(list));
	buf_printf(&what, "its vCPUs are pinned to CPUs that its lease does not hold (%s)", list);
	return fail_others(ctx, r, what.data);
}

/* ---- the requests of its file ---- */

static int compare_files(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	if (!r->has.asked && r->q->guest->doc)
		log_warn(ctx, "the file that domain %s was defined with is unknown: only its vCPUs, "
			"memory and VFs are compared", r->q->info->name);
	if (r->has.asked && r->q->guest->doc)
		file_diff_make(r->q->guest, r->has.asked, &r->diff);
	if (r->diff.refused.failed)
		return ctx_oom(ctx);
	if (!r->diff.refused_count)
		return 0;
	return ctx_fail(ctx, -EEXIST, "domain %s is already defined, and vfctl does not change this in "
		"it: %s; to define it again: vfctl undefine %s, then vfctl define", r->q->info->name,
		r->diff.refused.data, r->q->info->name);
}

static bool amounts_differ(const struct redefine_op *r)
{
	return r->has.parsed->vcpus != r->q->guest->vcpus ||
		(!r->has.asked && r->has.parsed->memory_bytes != r->q->guest->memory_bytes);
}

static int fail_nothing(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	_buf_ struct buf besides = {0};

	for (size_t i = 0; i < r->has.intent.vf_count; i++)
		if (r->attached[i])
			buf_printf(&besides, "%s%s", besides.len ? ", " : "; attached besides, with "
				"vfctl attach: ", vfctl_bdf_format(&r->has.intent.vfs[i].bdf,
				(char[VFCTL_BDF_TEXT]){0}));
	return ctx_fail(ctx, -EALREADY, "domain %s is already defined as its file asks%s",
		r->q->info->name,
		besides.data ? besides.data : "");
}

/* Whether each entry has a matching VF. */
static bool has_all(const struct redefine_op *r)
{
	for (size_t s = 0; s < r->slot_count; s++)
		if (r->slots[s].has < 0 || r->slots[s].moves)
			return false;
	return true;
}

/* 0: there is something to do. */
static int look_redefinition(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	int e = compare_files(ctx, r);

	if (e == 0)
		e = check_amounts(ctx, r);
	if (e == 0)
		e = check_pins(ctx, r);
	if (e == 0)
		e = redefine_match(ctx, r);
	if (e < 0)
		return e;
	if (!r->q->to && !r->diff.any && !r->edited && !amounts_differ(r) &&
		!redefine_vfs_differ(ctx, r))
		return fail_nothing(ctx, r);
	r->place = r->q->to || r->diff.place || amounts_differ(r) || !has_all(r);
	return 0;
}

/* ---- the future state ---- */

/* A value may move from one VF of the domain to another, also from a VF that leaves it. */
static int check_values(struct vfctl_ctx *ctx, const struct redefine_op *r)
{
	const struct vfctl_placement *p = r->placed;
	const struct vfctl_leases *all = p->snapshot->leases;
	_free_ struct vfctl_lease *leases = calloc(all->count + 1, sizeof(*leases));
	_free_ struct vfctl_lease_vf *rows = calloc(r->lease->vf_count + 1, sizeof(*rows));
	struct vfctl_leases without = {leases, all->count};
	struct value_facts facts = {.leases = &without, .changing = p->vfs,
		.changing_count = p->vf_count};
	struct vfctl_lease *own;
	int e = leases && rows ? live_from_inventory(ctx, p->snapshot->inventory, &facts.live)
			       : ctx_oom(ctx);

	if (e < 0)
		return e;
	memcpy(leases, all->v, all->count * sizeof(*leases));
	own = &leases[r->lease - all->v];
	own->vfs = rows;
	own->vf_count = 0;
	for (size_t i = 0; i < r->lease->vf_count; i++) {
		const struct vfctl_lease_vf *vf = &r->lease->vfs[i];
		const struct vfctl_domain_vf *then = find_domain_vf(p->vfs, p->vf_count, &vf->bdf);

		rows[own->vf_count] = *vf;
		if (then)
			rows[own->vf_count++].intent = then->attrs;
		else
			p->vfs[facts.changing_count++] = (struct vfctl_domain_vf){.bdf = vf->bdf,
				.pf = vf->pf, .index = vf->index,
				.attrs.mask = VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS};
	}
	e = values_check_twins(ctx, ROAD_GUEST, p->vfs, p->vf_count);
	if (e == 0)
		e = values_check(ctx, ROAD_GUEST, &facts, p->guest->uuid, p->vfs, p->vf_count, NULL);
	live_values_clear(&facts.live);
	return e;
}

/* Attached VFs have no place in the metadata. */
static int forget_attached(struct vfctl_ctx *ctx, const struct redefine_op *r, const char *xml,
	char **ret)
{
	struct vfctl_bdf vfs[VFCTL_GUEST_VFS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < r->has.intent.vf_count; i++) {
		bool answers = !r->attached[i];

		for (size_t s = 0; s < r->slot_count; s++)
			answers |= r->slots[s].has == (int)i;
		if (!answers)
			vfs[count++] = r->has.intent.vfs[i].bdf;
	}
	return metadata_forget_places(ctx, xml, vfs, count, ret);
}

/* The definition of the domain is the template, so that the changes of other programs are kept. */
static int make_xml(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct vfctl_domain_info *info = r->q->info;
	uint64_t version = r->q->options->hypervisor->version;
	_free_ char *xml = NULL, *done = NULL;
	int e = placed_xml(ctx, r->placed, info->xml, "its definition", version, &xml);

	if (e < 0)
		return e;
	memlock_warn(ctx, info->name, xml, version);
	if (r->place)
		assignment_warn(ctx, info->name, vfctl_placement_assignment(r->placed));
	guest_warn_down(ctx, r->placed->snapshot->inventory, info->name, r->placed->vfs,
		r->placed->vf_count);
	e = forget_attached(ctx, r, xml, &done);
	if (e == 0 && r->q->guest->doc)
		return guest_spec_write(ctx, done, r->q->guest, &r->xml);
	r->xml = steal(done);
	return e;
}

/* The CPUs, memory and cells of the new place; if it does not move, the present ones. */
static int make_shape(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct vfctl_assignment *a = vfctl_placement_assignment(r->placed);
	_free_ char *text = NULL;

	if (r->place) {
		if (a->emulator_shared)
			r->new_shape.qemu_cpus = a->emulator_cpus;
		return lease_fill(ctx, a, NULL, 0, &r->new_shape);
	}
	text = lease_shape_to_text(&r->shape);
	return text ? lease_shape_from_text(ctx, text, &r->new_shape) : ctx_oom(ctx);
}

static int make(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	int e = redefine_place(ctx, r);

	if (e == 0)
		e = redefine_fill_vfs(ctx, r);
	if (e == 0)
		e = check_values(ctx, r);
	if (e == 0)
		e = make_shape(ctx, r);
	return e < 0 ? e : make_xml(ctx, r);
}

int guest_redefine(struct vfctl_ctx *ctx, const struct redefine_request *request,
	struct vfctl_change *change)
{
	_cleanup_(redefine_op_freep) struct redefine_op *r = calloc(1, sizeof(*r));
	int e;

	if (r)
		r->placed = calloc(1, sizeof(*r->placed));
	if (!r || !r->placed)
		return ctx_oom(ctx);
	r->q = request;
	r->placed->guest = request->guest;
	e = read_all(ctx, r);
	if (e == 0)
		e = look_redefinition(ctx, r);
	if (e == 0)
		e = make(ctx, r);
	return e < 0 ? e : redefine_add_steps(ctx, r, change);
}
