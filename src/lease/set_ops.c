// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of `set` besides the VF itself: its lease, its domain's definition, its run. */
#include "lease/ops.h"
#include "types/find.h"

#include <errno.h>

#include "base/json.h"
#include "base/vfattr.h"
#include "domain/definition.h"
#include "lease/guest_run.h"
#include "lease/lease.h"
#include "sriov/ops.h"
#include "state/journal.h"
#include "state/leases.h"

static int parse_attrs(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	struct vfctl_vf_attrs *ret)
{
	return json_to_attrs(text, ret) < 0 ? op_fail_value(ctx, op, text) : 0;
}

static bool same_json(const char *text, const char *observed)
{
	struct vfctl_vf_attrs a, b;

	return json_to_attrs(text, &a) == 0 && json_to_attrs(observed, &b) == 0 &&
		a.mask == b.mask && (attrs_equal(&a, &b) & a.mask) == a.mask;
}

/* ---- the values of the lease ---- */

static int leased_with(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *vf = NULL;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	return r < 0 ? r : op_give(ctx, vf ? json_of_attrs(&vf->intent) : strdup(""), ret);
}

/* Restore the previous values, unless the domain gave up the VF meanwhile. */
static int put_intent(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *vf = NULL;
	struct vfctl_vf_attrs attrs;
	int r = parse_attrs(ctx, op, back ? op->before : op->want, &attrs);

	if (r == 0)
		r = op_leased_vf(ctx, op, &leases, &vf);
	if (r == 0 && !vf)
		return back ? 0 : ctx_fail(ctx, -ENOENT, "VF %s is no longer leased to that domain",
			op->target);
	if (r == 0)
		r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_set_intent(store, &vf->bdf, &attrs);
}

/* Held as long as the definition has these values. */
OP_APPLY_OR_REVERT(intent, leased_with, put_intent)
const struct op_type op_intent = {.name = "intent", OP_CALLS(intent), .nature = OP_HOLDS,
	.same = same_json};

/* ---- the VF in the definition of its domain ---- */

/* 1: libvirt has a definition of it; 0: it has none. */
static int read_definition(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_bdf *ret_vf,
	struct vfctl_domain_info *ret)
{
	char uuid[VFCTL_UUID_TEXT];
	int r = op_vf(ctx, op, uuid, ret_vf);

	return r < 0 ? r : op_ask_domain(ctx, op, true, ret);
}

static int defined_attrs(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	const struct vfctl_vf_attrs none = {0};
	const struct vfctl_domain_vf *has;
	struct vfctl_bdf vf;
	int r = intent ? read_definition(ctx, op, &vf, &info) : ctx_oom(ctx);

	if (r == 1)
		r = vfctl_domain_metadata_read(ctx, info.xml, strlen(info.xml), intent);
	r = ctx_ignore_error(ctx, r, -ENOENT);
	if (r < 0)
		return r;
	has = find_intent_vf(intent, &vf);
	return op_give(ctx, json_of_attrs(has ? &has->attrs : &none), ret);
}

/* The observed definition contains what was requested; it may contain more. */
static bool same_definition(const char *text, const char *observed)
{
	struct vfctl_vf_attrs a, b;

	return json_to_attrs(text, &a) == 0 && json_to_attrs(observed, &b) == 0 &&
		!(a.mask & ~attrs_equal(&a, &b));
}

static int define_one(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	_free_ char *changed = NULL;
	struct vfctl_vf_attrs attrs;
	struct vfctl_bdf vf;
	int r = parse_attrs(ctx, op, op->want, &attrs);

	if (r == 0)
		r = read_definition(ctx, op, &vf, &info);
	if (r <= 0)
		return r;
	r = vfctl_domain_change_vf(ctx, info.xml, &vf, &attrs, &changed);
	return r < 0 ? r : ctx->hypervisor->define(ctx, ctx->hypervisor, changed);
}

/* A domain that was undefined since is not changed. */
static int restore_vf(struct vfctl_ctx *ctx, const struct op *op, bool look_only)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	_free_ char *written = NULL;
	struct vfctl_vf_attrs attrs;
	struct vfctl_bdf vf;
	int r = parse_attrs(ctx, op, op->want, &attrs);

	if (r == 0)
		r = read_definition(ctx, op, &vf, &info);
	if (r <= 0 || !info.persistent)
		return r < 0 ? r : 0;
	r = vfctl_domain_change_vf(ctx, op->before, &vf, &attrs, &written);
	return r < 0 ? r : definition_take_back(ctx, &info, op->before, written, look_only);
}

static int redefine_one(struct vfctl_ctx *ctx, const struct op *op)
{
	return restore_vf(ctx, op, false);
}

static int check_redefine(struct vfctl_ctx *ctx, const struct op *op)
{
	return restore_vf(ctx, op, true);
}

OP_ONE_BY_ONE(definition_vf, defined_attrs, define_one, redefine_one)
const struct op_type op_definition_vf = {.name = "definition-vf", OP_CALLS(definition_vf),
	.asks_libvirt = true, .check_revert = check_redefine, .same = same_definition};

/* ---- previous values, for the end of the domain's run ---- */

static int what_it_had(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *vf = NULL;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	return r < 0 ? r : op_give(ctx, vf ? json_of_attrs(&vf->saved) : strdup(""), ret);
}

/* The first recorded value counts. */
static bool same_had(const char *text, const char *observed)
{
	struct vfctl_vf_attrs a, b;

	return json_to_attrs(text, &a) == 0 && json_to_attrs(observed, &b) == 0 &&
		!(a.mask & ~b.mask);
}

/*
 * Add the values to the run, or remove them again. Values that the run already recorded are kept.
 */
static int change_had(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	_free_ char *target = NULL, *json = NULL;
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *vf = NULL;
	const struct vfctl_lease *lease;
	struct vfctl_vf_attrs attrs;
	char pf[VFCTL_BDF_TEXT], uuid[VFCTL_UUID_TEXT];
	struct vfctl_bdf bdf;
	struct op note;
	int r = parse_attrs(ctx, op, op->want, &attrs);

	if (r == 0)
		r = op_vf(ctx, op, uuid, &bdf);
	if (r == 0)
		r = run_close_old(ctx, uuid);
	if (r == 0)
		r = op_leased_vf(ctx, op, &leases, &vf);
	if (r < 0 || !vf)
		return r;
	if (!back)
		attrs.mask &= ~vf->saved.mask;
	lease = vfctl_leases_find_vf(leases, &vf->bdf);
	target = str_format("%s/%u", vfctl_bdf_format(&vf->pf, pf), vf->index);
	json = json_of_attrs(&attrs);
	note = (struct op){&op_guest_attrs, target, json, json};
	if (!target || !json)
		return ctx_oom(ctx);
	if (back)
		return journal_forget(ctx, lease->domain_uuid, &note);
	return attrs.mask ? run_note(ctx, lease->domain_uuid, lease->domain_name, &note, 1) : 0;
}

OP_APPLY_OR_REVERT(run_had, what_it_had, change_had)
const struct op_type op_run_had = {.name = "run-had", OP_CALLS(run_had), .nature = OP_HOLDS,
	.same = same_had};
