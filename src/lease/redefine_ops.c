// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations for a guest that is defined again: its lease gets another shape, its definition
 * another text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "change/recover.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "lease/guest_run.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "state/journal.h"
#include "state/leases.h"
#include "state/store.h"

#define GONE "gone"

/* ---- CPUs, memory and cells ---- */

static int shape_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, op->target, &leases);
	const struct vfctl_lease *lease = lease_of(leases);

	return r < 0 ? r : op_give(ctx, lease ? lease_shape_to_text(lease) : strdup(""), ret);
}

/* The length without a mark at the end that the domain did not run. */
static size_t length_without_off(const char *text, size_t len)
{
	size_t mark = strlen(OP_OFF);

	return len >= mark && !strncmp(text + len - mark, OP_OFF, mark) ? len - mark : len;
}

static bool was_off(const char *text)
{
	size_t len = strcspn(text, "\n");

	return length_without_off(text, len) < len;
}

/* The guest runs with its previous resources, and no other guest may get them. */
static int fail_started(struct vfctl_ctx *ctx, const char *name)
{
	return ctx_fail(ctx, -EBUSY, "domain %s was started meanwhile; repeat the command", name);
}

/* During a roll-back, a lease that no longer exists is not a failure. */
static int set_shape(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	const char *text = back ? op->before : op->want;
	_free_ char *json = strndup(text, length_without_off(text, strlen(text)));
	_cleanup_(lease_clear) struct vfctl_lease shape = {0};
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease *lease;
	int r = json ? lease_shape_from_text(ctx, json, &shape) : ctx_oom(ctx);

	if (r == 0)
		r = lease_open(ctx, op->target, &store, &leases);
	if (r < 0)
		return r;
	lease = lease_of(leases);
	if (!lease)
		return back ? 0 : fail_no_lease(ctx, op->target);
	if (!back && lease->running && was_off(op->before))
		return fail_started(ctx, lease->domain_name);
	return store_set_shape(store, lease->id, &shape);
}

OP_APPLY_OR_REVERT(lease_shape, shape_text, set_shape)
const struct op_type op_lease_shape = {.name = "lease-shape", OP_CALLS(lease_shape),
	.nature = OP_HOLDS};

/* ---- the shape at the end of the run ---- */

/* The shape that its run records for its end; the last entry counts. */
static int later_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(open_changes_freep) struct open_changes *runs = NULL;
	const char *text = "";
	int r = journal_read_runs(ctx, op->target, &runs);

	for (size_t i = 0; r == 0 && runs->count && i < runs->v[0].op_count; i++)
		if (runs->v[0].ops[i].type == &op_lease_shape && runs->v[0].ops[i].before)
			text = runs->v[0].ops[i].before;
	return r < 0 ? r : op_say(ctx, text, ret);
}

static int note_later(struct vfctl_ctx *ctx, const struct op *op)
{
	const struct op note = {&op_lease_shape, op->target, op->want, op->want};
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = lease_read(ctx, op->target, &leases);
	const struct vfctl_lease *lease = lease_of(leases);

	if (r < 0)
		return r;
	if (!lease || !lease->running)
		return ctx_fail(ctx, -EBUSY, "domain %s was stopped meanwhile; repeat the command",
			op->target);
	return run_note(ctx, op->target, lease->domain_name, &note, 1);
}

static int forget_later(struct vfctl_ctx *ctx, const struct op *op)
{
	const struct op note = {&op_lease_shape, op->target, op->want, op->want};

	return journal_forget(ctx, op->target, &note);
}

OP_ONE_BY_ONE(shape_later, later_text, note_later, forget_later)
const struct op_type op_shape_later = {.name = "shape-later", OP_CALLS(shape_later)};

/* ---- a VF that the running guest still uses ---- */

static int leaves_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease_vf *vf;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	if (r < 0)
		return r;
	if (!vf)
		return op_say(ctx, GONE, ret);
	if (vf->returns_identity)
		return op_say(ctx, VF_LEAVES_WITH_VALUES, ret);
	return op_say(ctx, vf->transient ? VF_LEAVES : "", ret);
}

/* A VF that has already left is as wanted. */
static bool same_leaving(const char *text, const char *observed)
{
	return str_eq(text, observed) || (*text && str_eq(observed, GONE));
}

static int set_leaving(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	const char *text = back ? "" : op->want;
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_cleanup_(store_closep) struct store *store = NULL;
	const struct vfctl_lease_vf *vf;
	int r = op_leased_vf(ctx, op, &leases, &vf);

	if (r < 0 || !vf)
		return r;
	if (*text && !leases->v[0].running)
		return ctx_fail(ctx, -EBUSY, "domain %s was stopped meanwhile; repeat the command",
			leases->v[0].domain_name);
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_set_leaving(store, &vf->bdf, !*text ? STORE_STAYS
		: str_eq(text, VF_LEAVES) ? STORE_LEAVES : STORE_LEAVES_WITH_VALUES);
}

OP_APPLY_OR_REVERT(vf_leaves, leaves_text, set_leaving)
const struct op_type op_vf_leaves = {.name = "vf-leaves", OP_CALLS(vf_leaves),
	.same = same_leaving};

/* ---- the definition ---- */

static void put_set(struct buf *out, const char *key, const struct vfctl_cpuset *set)
{
	char list[1024];

	vfctl_cpuset_format(set, list, sizeof(list));
	buf_printf(out, " %s=%s", key, list);
}

/* Blanks do not count, because libvirt indents the metadata. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = FNV1A_START;

	for (const char *p = text; p && *p; p++)
		if (!strchr(" \t\n", *p))
			hash = fnv1a(hash, p, 1);
	return hash;
}

static void put_tuning(struct buf *out, const struct vfctl_guest_tuning *t)
{
	_free_ char *text = vfctl_guest_tuning_format(t);

	out->failed |= !text;
	if (text && *text)
		buf_printf(out, " tuning=(%s)", text);
}

static int put_vfs(struct vfctl_ctx *ctx, const char *xml, struct buf *out)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_free_ char *devices = NULL;
	int r;

	if (!intent)
		return ctx_oom(ctx);
	r = vfctl_domain_intent_read(ctx, xml, strlen(xml), false, intent);
	r = ctx_ignore_error(ctx, r, -EINVAL); /* another program changed vfctl's metadata */
	if (r == 0)
		r = domain_devices(ctx, xml, &devices);
	put_tuning(out, &intent->tuning);
	for (size_t i = 0; r == 0 && i < intent->vf_count; i++) {
		_free_ char *attrs = json_of_attrs(&intent->vfs[i].attrs);

		out->failed |= !attrs;
		buf_printf(out, " %s", attrs ? attrs : "");
	}
	buf_printf(out, " %s", devices ? devices : "");
	return r;
}

/* Append what stays the same however libvirt rewrites the text. */
static int put_summary(struct vfctl_ctx *ctx, const char *xml, struct buf *out)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	uint64_t template_hash = 0;
	_free_ char *spec = NULL;
	int r = vfctl_domain_read(ctx, xml, &parsed);

	if (r == 0)
		r = metadata_spec(ctx, xml, &spec, &template_hash);
	if (r < 0)
		return r;
	buf_printf(out, "vcpus=%" PRIu32 " memory=%" PRIu64 " pages=%" PRIu64 " cells=%zu", parsed->vcpus,
		parsed->memory_bytes, parsed->page_bytes, parsed->cell_count);
	for (uint32_t i = 0; i < parsed->vcpus; i++)
		put_set(out, "pin", &parsed->vcpu_pins[i]);
	put_set(out, "emulator", &parsed->emulator_cpus);
	put_set(out, "iothreads", &parsed->iothread_cpus);
	put_set(out, "nodes", &parsed->memory_nodes);
	buf_printf(out, " said=%016" PRIx64, hash_of(spec));
	if (template_hash)
		buf_printf(out, " template=%016" PRIx64, template_hash);
	return put_vfs(ctx, xml, out);
}

int redefine_text(struct vfctl_ctx *ctx, const char *xml, bool off, char **ret_text)
{
	_buf_ struct buf out = {0};
	int r = put_summary(ctx, xml, &out);

	buf_printf(&out, "%s\n%s", off ? OP_OFF : "", xml);
	if (r < 0 || out.failed)
		return r < 0 ? r : ctx_oom(ctx);
	*ret_text = buf_steal(&out);
	return 0;
}

/* 1: libvirt has a definition of it; 0: it has none. */
static int definition_now(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_domain_info *ret)
{
	int r = op_ask_domain(ctx, op, true, ret);

	return r == 1 ? ret->persistent : r;
}

static int summary_of(struct vfctl_ctx *ctx, const char *xml, char **ret)
{
	_buf_ struct buf out = {0};
	int r = put_summary(ctx, xml, &out);

	if (r < 0 || out.failed)
		return r < 0 ? r : ctx_oom(ctx);
	*ret = buf_steal(&out);
	return 0;
}

static int summary_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = definition_now(ctx, op, &info);

	return r < 0 ? r : r == 0 ? op_say(ctx, "", ret) : summary_of(ctx, info.xml, ret);
}

static bool same_summary(const char *text, const char *observed)
{
	size_t len = length_without_off(text, strcspn(text, "\n"));

	return len == strlen(observed) && !strncmp(text, observed, len);
}

static int find_xml(struct vfctl_ctx *ctx, const struct op *op, const char *text, const char **ret)
{
	const char *end = strchr(text, '\n');

	if (!end)
		return ctx_fail(ctx, -EBADMSG, "a recorded definition of domain %s has no XML", op->target);
	*ret = end + 1;
	return 0;
}

/*
 * The domain was off. It may have been started between that check and libvirt's change, with the
 * former definition.
 */
static int check_start(struct vfctl_ctx *ctx, const struct op *op)
{
	struct vfctl_hypervisor *hv = ctx->hypervisor;
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	_free_ char *runs_with = NULL;
	int r = hv->get(ctx, hv, op->target, false, &info);

	if (r == 0 && info.active)
		r = summary_of(ctx, info.xml, &runs_with);
	return runs_with && !same_summary(op->want, runs_with) ? fail_started(ctx, info.name) : r;
}

static int define_new(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	bool off = was_off(op->before);
	const char *xml = NULL;
	int r = find_xml(ctx, op, op->want, &xml);

	if (r == 0)
		r = definition_now(ctx, op, &info);
	if (r == 0)
		r = ctx_fail(ctx, -ENOENT, "libvirt no longer has a definition of domain %s", op->target);
	else if (r == 1 && info.active && off)
		r = fail_started(ctx, info.name);
	if (r == 1)
		r = ctx->hypervisor->define(ctx, ctx->hypervisor, xml);
	return r == 0 && off ? check_start(ctx, op) : r;
}

/* 1: as vfctl wrote it; 0: as it was before; -EEXIST: neither, so another program wrote it. */
static int whose_is(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_domain_info *info,
	const char *before, const char *written)
{
	_free_ char *now = NULL;
	int r = summary_of(ctx, info->xml, &now);
	bool done = r == 0 && same_summary(op->want, now);

	if (r == 0 && !done && same_summary(op->before, now))
		return 0;
	if (r == 0 && done)
		r = domain_is_as_written(ctx, before, written, info->xml);
	return r ? r : ctx_fail(ctx, -EEXIST, "another program changed the definition of domain %s "
		"since vfctl wrote it, so it stays; to go on from there: vfctl recover --accept, then "
		"define the domain again", info->name);
}

/* 1: as vfctl wrote it, so @ret_before is to be defined; 0: there is nothing to do. */
static int find_former(struct vfctl_ctx *ctx, const struct op *op, const char **ret_before)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	const char *written = NULL;
	int r = definition_now(ctx, op, &info);

	if (r <= 0) /* a domain that was undefined since is not defined again */
		return r;
	r = find_xml(ctx, op, op->before, ret_before);
	if (r == 0)
		r = find_xml(ctx, op, op->want, &written);
	return r < 0 ? r : whose_is(ctx, op, &info, *ret_before, written);
}

static int define_former(struct vfctl_ctx *ctx, const struct op *op)
{
	const char *before = NULL;
	int r = find_former(ctx, op, &before);

	return r == 1 ? ctx->hypervisor->define(ctx, ctx->hypervisor, before) : r;
}

static int check_former(struct vfctl_ctx *ctx, const struct op *op)
{
	const char *before = NULL;
	int r = find_former(ctx, op, &before);

	return r < 0 ? r : 0;
}

OP_ONE_BY_ONE(redefine, summary_text, define_new, define_former)
const struct op_type op_redefine = {.name = "redefine", OP_CALLS(redefine), .asks_libvirt = true,
	.check_revert = check_former, .same = same_summary};
