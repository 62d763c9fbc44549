// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values in the form of an operation: "mac 02:00:00:00:00:01 vf0, guid 0011:2233:4455:6677 vf1
 * 0x8001 for NAME" -> owned by the domain (or the host), or without an owner. "quarantined" after a
 * value permits to claim it from quarantine. Recovery has no pools: it reads the host's own store.
 */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "ids/give.h"
#include "ids/ops.h"
#include "ids/owner.h"
#include "ids/pools.h"
#include "ids/store.h"

#define FOR " for "
#define SEEN "quarantined"

/* ---- the text ---- */

static void put_value(struct buf *out, const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT];

	buf_printf(out, "%s%s %s", out->len ? ", " : "", vfctl_id_kind_name(id->kind),
		vfctl_id_format(id->kind, id->value, text));
}

/* Append a value with its device and its P_Key, as needed to claim it. */
static void put_claim(struct buf *out, const struct vfctl_id *id)
{
	put_value(out, id);
	buf_printf(out, " %s", id->owner.device);
	if (id->pkey)
		buf_printf(out, " 0x%04x", id->pkey);
	if (id->state == VFCTL_ID_QUARANTINED)
		buf_puts(out, " " SEEN);
}

static bool read_value(const char *text, size_t len, struct vfctl_id *ret)
{
	char kind[8], value[VFCTL_ID_TEXT], more[2][16] = {"", ""};
	struct vfctl_mac mac;
	_free_ char *one = strndup(text, len);

	*ret = (struct vfctl_id){0};
	if (!one || sscanf(one, "%7s %23s %64s %15s %15s", kind, value, ret->owner.device, more[0],
		more[1]) < 2)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (str_eq(more[i], SEEN))
			ret->state = VFCTL_ID_QUARANTINED;
		else if (more[i][0])
			ret->pkey = (uint16_t)strtoul(more[i], NULL, 16);
	if (str_eq(kind, vfctl_id_kind_name(VFCTL_ID_GUID)))
		return vfctl_guid_parse(value, &ret->value) == 0;
	ret->kind = VFCTL_ID_MAC;
	if (!str_eq(kind, vfctl_id_kind_name(VFCTL_ID_MAC)) || vfctl_mac_parse(value, &mac) < 0)
		return false;
	ret->value = mac_number(&mac);
	return true;
}

struct values {
	struct vfctl_id *v;
	size_t count;
};

static void values_clear(struct values *values)
{
	free(values->v);
}

static bool is_among(const struct values *values, const struct vfctl_id *id)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->v[i].kind == id->kind && values->v[i].value == id->value)
			return true;
	return false;
}

static int read_values(struct vfctl_ctx *ctx, const char *text, struct values *ret)
{
	const char *name = strstr(text, FOR), *end = name ? name : text + strlen(text);

	for (const char *at = text; at < end;) {
		size_t len = strcspn(at, ",");
		struct vfctl_id *id;

		if (!array_grow(ret->v, ret->count))
			return ctx_oom(ctx);
		id = &ret->v[ret->count++];
		if (!read_value(at, at + len < end ? len : (size_t)(end - at), id))
			return ctx_fail(ctx, -EBADMSG, "'%s' are not MACs and GUIDs", text);
		if (name)
			str_copy(id->owner.domain_name, sizeof(id->owner.domain_name),
				name + strlen(FOR));
		at += len + strspn(at + len, ", ");
	}
	return 0;
}

/* ---- owners ---- */

static const char *owner_of(const struct op *op)
{
	return str_eq(op->target, IDENTITY_HOST) ? "" : op->target;
}

/* The values of @text, except those of @but, that are leased to the owner now. */
static int held_of(struct vfctl_ctx *ctx, const struct op *op, const char *text, const char *but,
	struct values *ret)
{
	_cleanup_(values_clear) struct values all = {0}, others = {0};
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	int r = read_values(ctx, text, &all);

	if (r == 0)
		r = read_values(ctx, but, &others);
	if (r == 0)
		r = id_store_open(ctx, false, &store);
	for (size_t i = 0; i < all.count && r >= 0; i++) {
		struct vfctl_id id;

		if (is_among(&others, &all.v[i]))
			continue;
		r = identity_find_of(store, owner_of(op), all.v[i].kind, all.v[i].value, &id);
		if (r == 1 && !array_grow(ret->v, ret->count))
			r = ctx_oom(ctx);
		if (r == 1)
			ret->v[ret->count++] = id;
	}
	return r < 0 ? r : 0;
}

static int say_held(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(values_clear) struct values held = {0};
	_buf_ struct buf text = {0};
	int r = held_of(ctx, op, op->want[0] ? op->want : op->before, "", &held);

	buf_puts(&text, "");
	for (size_t i = 0; i < held.count; i++)
		put_value(&text, &held.v[i]);
	if (r == 0 && text.failed)
		return ctx_oom(ctx);
	if (r == 0)
		*ret = buf_steal(&text);
	return r;
}

/* ---- released values ---- */

/*
 * Release the values through the pools, and so in the fleet; without pools in the local store, from
 * which a sync reports it to the fleet.
 */
static int release_here(struct vfctl_ctx *ctx, const struct values *held, bool used)
{
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	int r = id_store_open(ctx, true, &store);

	for (size_t i = 0; i < held->count && r == 0; i++)
		r = identity_forget(store, &held->v[i], used);
	return r;
}

static int release_all(struct vfctl_ctx *ctx, const struct values *held, bool used)
{
	int r, end;

	if (!held->count)
		return 0;
	if (!ctx->ids || ctx->cancelled)
		return release_here(ctx, held, used);
	r = vfctl_ids_begin(ctx->ids);
	if (r < 0)
		return r;
	for (size_t i = 0; i < held->count && r == 0; i++)
		r = vfctl_ids_release(ctx->ids, held->v[i].kind, held->v[i].value,
			&held->v[i].owner, !used);
	end = vfctl_ids_end(ctx->ids, r == 0);
	return r < 0 ? r : end;
}

/* They were on a device, so they have a cooldown before the pool allocates them again. */
static int unclaim(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(values_clear) struct values held = {0};
	int r = held_of(ctx, op, op->before, "", &held);

	return r < 0 ? r : release_all(ctx, &held, true);
}

/* They were never written to a device, so they need no cooldown. */
static int take_back_claim(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(values_clear) struct values held = {0};
	int r = held_of(ctx, op, op->want, op->before, &held);

	return r < 0 ? r : release_all(ctx, &held, false);
}

/* ---- claiming ---- */

/* A value that its owner already has is not written again. */
static int claim_one(struct vfctl_ctx *ctx, struct vfctl_id *id)
{
	struct vfctl_id now;
	int r = vfctl_ids_find(ctx->ids, id->kind, id->value, &now);

	if (r == 0 && now.state == VFCTL_ID_LEASED && now.pkey == id->pkey &&
		id_same_owner(&now.owner, &id->owner))
		return 0;
	if (r == 0 && now.state == VFCTL_ID_QUARANTINED && id->state == now.state)
		r = vfctl_ids_release(ctx->ids, id->kind, id->value, NULL, true);
	if (r < 0 && r != -ENOENT)
		return r;
	ctx_clear(ctx);
	return vfctl_ids_claim(ctx->ids, id->kind, id->value, &id->owner, id->pkey, &now);
}

/* All or none, in one commit, however many VFs there are. */
static int claim_identities(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(values_clear) struct values values = {0};
	int r = read_values(ctx, op->want, &values), end;

	if (r == 0 && !ctx->ids)
		r = ctx_fail(ctx, -ENOTCONN, "the pools of %s are not open", op->want);
	if (r == 0)
		r = vfctl_ids_begin(ctx->ids);
	if (r < 0)
		return r;
	for (size_t i = 0; i < values.count && r == 0; i++) {
		struct vfctl_id_owner *owner = &values.v[i].owner;

		str_copy(owner->host, sizeof(owner->host), vfctl_ids_spec(ctx->ids)->host);
		str_copy(owner->domain_uuid, sizeof(owner->domain_uuid), owner_of(op));
		r = claim_one(ctx, &values.v[i]);
	}
	end = vfctl_ids_end(ctx->ids, r == 0);
	/* Another vfctl may have claimed it since it was planned. */
	if (r == -EEXIST)
		return ctx_append(ctx, -EAGAIN, " (since this was planned; repeat the command)");
	return r < 0 ? r : end;
}

/*
 * The later steps show whether the change is done: a value that was released since must not cause
 * the roll-back of a complete guest.
 */
static bool same_claim(const char *text, const char *observed)
{
	return true;
}

/* The values stay if their lease stays. */
OP_ONE_BY_ONE(claim, say_held, claim_identities, take_back_claim)
const struct op_type op_claim = {.name = "claim", OP_CALLS(claim), .nature = OP_HOLDS,
	.may_be_stale = true, .same = same_claim};
/* A value that a VF still has, because it could not be restored, is not given to another owner. */
OP_ONE_BY_ONE(unclaim, say_held, unclaim, NULL)
const struct op_type op_unclaim = {.name = "unclaim", OP_CALLS(unclaim), .nature = OP_COMMIT,
	.after_all = true};

/* ---- steps ---- */

#define NAMED_MAX 4 /* of more values than this, only the first and the last are named */

static char *describe(const struct identities *io)
{
	_buf_ struct buf message = {0};
	char text[VFCTL_ID_TEXT], last[VFCTL_ID_TEXT];

	if (io->count > NAMED_MAX)
		return str_format("%zu values, %s to %s", io->count,
			vfctl_id_format(io->given[0].kind, io->given[0].value, text),
			vfctl_id_format(io->given[io->count - 1].kind,
				io->given[io->count - 1].value, last));
	for (size_t i = 0; i < io->count; i++)
		buf_printf(&message, "%s%s%s%s", i ? ", " : "",
			vfctl_id_format(io->given[i].kind, io->given[i].value, text),
			io->given[i].pool[0] ? " of pool " : "", io->given[i].pool);
	return message.data ? buf_steal(&message) : NULL;
}

static void add_op(const struct identities *io, struct steps *steps, const struct op_type *type)
{
	const char *owner = io->given[0].owner.domain_uuid, *name = io->owner.domain_name;
	_buf_ struct buf values = {0}, had = {0};
	bool claims = type == &op_claim;

	buf_puts(&values, "");
	buf_puts(&had, "");
	for (size_t i = 0; i < io->count; i++) {
		if (claims)
			put_claim(&values, &io->given[i]);
		if (!claims || io->had[i])
			put_value(&had, &io->given[i]);
	}
	if (claims && name[0])
		buf_printf(&values, FOR "%s", name);
	if (values.failed || had.failed)
		steps->failed = true;
	else
		step_op(steps, type, values.data, had.data, "%s", owner[0] ? owner : IDENTITY_HOST);
}

/* Add the step, and pass the pools that it needs to the change. */
static int hand_over(struct identities *io, struct vfctl_change *change)
{
	change->ids = io->ids;
	change->ids_changed = true;
	identities_clear(io);
	return 0;
}

int identities_add_step(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_change *change)
{
	_free_ char *message = describe(io);

	if (!io->count)
		return 0;
	if (!message)
		return ctx_oom(ctx);
	if (io->owner.domain_uuid[0])
		step_begin(&change->steps, "domain %s gets %s", io->owner.domain_name, message);
	else
		step_begin(&change->steps, "record as the VFs' own: %s", message);
	add_op(io, &change->steps, &op_claim);
	return hand_over(io, change);
}

int identities_add_return_step(struct vfctl_ctx *ctx, struct identities *io,
	struct vfctl_change *change)
{
	_free_ char *message = describe(io);

	if (!io->count)
		return 0;
	if (!message)
		return ctx_oom(ctx);
	step_begin(&change->steps, "give back %s", message);
	add_op(io, &change->steps, &op_unclaim);
	return hand_over(io, change);
}
