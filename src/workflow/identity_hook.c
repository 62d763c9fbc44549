// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A look at identities without pools: the host's own store alone. The hook has no time for a
 * fleet and must work without one, and `set` needs no pool.
 */
#include <errno.h>
#include <time.h>

#include "base/vfattr.h"
#include "sriov/live.h"
#include "state/ids_sqlite.h"
#include "workflow/identity.h"

static void close_store(struct id_store **store)
{
	if (*store)
		(*store)->ops->close(*store);
}
#define _id_store_ _cleanup_(close_store)

static int fail_taken(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent,
	const struct vfctl_id *id)
{
	char text[VFCTL_ID_TEXT];

	return ctx_fail(ctx, -EEXIST, "%s of domain %s belongs to %s %s; one of the two needs "
		"another (vfctl guid list shows who has what)",
		vfctl_id_format(id->kind, id->value, text), intent->name,
		id->owner.domain_uuid[0] ? "domain" : "the host's VF",
		id->owner.domain_uuid[0] ? id->owner.domain_name : id->owner.device);
}

/* "0000:3b:00.0/3": the VF itself, as create takes one for it. */
static bool is_vf(const struct vfctl_id_owner *owner, const struct vfctl_domain_vf *vf)
{
	char pf[VFCTL_BDF_TEXT];
	_free_ char *own = str_format("%s/%u", vfctl_bdf_format(&vf->pf, pf), vf->index);

	return own && !owner->domain_uuid[0] && str_eq(owner->device, own);
}

/* 1 the store knows the value; 0 it does not. */
static int look_up(struct id_store *store, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	int r = store->ops->find(store, kind, value, ret);

	if (r == -ENOENT) {
		ctx_clear(store->ctx);
		return 0;
	}
	return r < 0 ? r : 1;
}

/* 1 the value is leased to that domain; 0 it is not. */
static int find_of(struct id_store *store, const char *domain_uuid, enum vfctl_id_kind kind,
	uint64_t value, struct vfctl_id *ret)
{
	int r = look_up(store, kind, value, ret);

	return r == 1 ? ret->state == VFCTL_ID_LEASED &&
		str_eq(ret->owner.domain_uuid, domain_uuid) : r;
}

static int note(struct id_store *store, const struct vfctl_domain_intent *intent,
	const struct vfctl_domain_vf *vf)
{
	struct vfctl_id id = {.kind = VFCTL_ID_GUID, .value = vf->attrs.port_guid,
		.pkey = vf->attrs.mask & VFCTL_ATTR_PKEY ? vf->attrs.pkey : 0};
	struct vfctl_id holder = {.value = 0};
	int r;

	str_copy(id.owner.domain_uuid, sizeof(id.owner.domain_uuid), intent->uuid);
	str_copy(id.owner.domain_name, sizeof(id.owner.domain_name), intent->name);
	vfctl_bdf_format(&vf->bdf, id.owner.device);
	r = store->ops->claim(store, &id, &holder);
	/* Without a holder the store has said itself what is wrong. */
	return r == -EEXIST && holder.value ? fail_taken(store->ctx, intent, &holder) : r;
}

static int confirm(struct vfctl_ctx *ctx, struct id_store *store,
	const struct vfctl_domain_intent *intent, const struct vfctl_domain_vf *vf,
	enum vfctl_id_kind kind, uint64_t value)
{
	struct vfctl_id id;
	int r = look_up(store, kind, value, &id);

	if (r != 1)
		return r;
	/* Seen live while nobody had it, as on this VF: it is given to nobody else. */
	if (id.state == VFCTL_ID_QUARANTINED)
		return 0;
	/* What rests must not go to another while this guest runs with it. */
	if (id.state != VFCTL_ID_LEASED)
		return kind == VFCTL_ID_GUID ? note(store, intent, vf) : 0;
	if (str_eq(id.owner.domain_uuid, intent->uuid) || is_vf(&id.owner, vf))
		return 0;
	return fail_taken(ctx, intent, &id);
}

int identities_confirm(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	_id_store_ struct id_store *store = NULL;
	int r = count ? id_sqlite_open(ctx, true, &store) : 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct vfctl_vf_attrs *a = &vfs[i].attrs;

		if (a->mask & VFCTL_ATTR_PORT_GUID)
			r = confirm(ctx, store, intent, &vfs[i], VFCTL_ID_GUID, a->port_guid);
		if (r == 0 && a->mask & VFCTL_ATTR_MAC)
			r = confirm(ctx, store, intent, &vfs[i], VFCTL_ID_MAC, mac_number(&a->mac));
	}
	return r;
}

int identities_are_of(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs)
{
	_id_store_ struct id_store *store = NULL;
	struct vfctl_id id;
	int r = id_sqlite_open(ctx, false, &store) < 0 ? -ENOENT : 1;

	if (r == -ENOENT) {
		ctx_clear(ctx);
		return 0; /* nothing was ever reserved */
	}
	if (attrs->mask & VFCTL_ATTR_MAC)
		r = find_of(store, domain_uuid, VFCTL_ID_MAC, mac_number(&attrs->mac), &id);
	if (r == 1 && attrs->mask & VFCTL_ATTR_PORT_GUID)
		r = find_of(store, domain_uuid, VFCTL_ID_GUID, attrs->port_guid, &id);
	if (r == 1 && attrs->mask & VFCTL_ATTR_NODE_GUID && attrs->node_guid != attrs->port_guid)
		r = find_of(store, domain_uuid, VFCTL_ID_GUID, attrs->node_guid, &id);
	return r;
}

static int fail_set(struct vfctl_ctx *ctx, const struct vfctl_id *id,
	const struct vfctl_domain_vf *place)
{
	char text[VFCTL_ID_TEXT], pf[VFCTL_BDF_TEXT];
	const char *value = vfctl_id_format(id->kind, id->value, text);

	if (id->state == VFCTL_ID_LEASED)
		return ctx_fail(ctx, -EEXIST, "%s belongs to %s %s; release it there first: vfctl "
			"guid release %s", value, id->owner.domain_uuid[0] ? "domain" : "VF",
			id->owner.domain_uuid[0] ? id->owner.domain_name : id->owner.device, value);
	if (id->state == VFCTL_ID_QUARANTINED)
		return ctx_fail(ctx, -EEXIST, "%s is quarantined%s%s; if nothing uses it any more: "
			"vfctl guid release %s", value, id->note[0] ? ": " : "", id->note, value);
	if (id->state == VFCTL_ID_BLOCK)
		return ctx_fail(ctx, -EEXIST, "%s is set aside in pool %s; reserve it for the VF "
			"first: vfctl guid reserve %s --device %s/%u", value, id->pool, value,
			vfctl_bdf_format(&place->pf, pf), place->index);
	return ctx_fail(ctx, -EEXIST, "%s rests%s%s, so that nobody takes its new owner for the "
		"last one; choose another (vfctl guid check %s says until when)", value,
		id->pool[0] ? " in pool " : "", id->pool, value);
}

static int check_set(struct vfctl_ctx *ctx, struct id_store *store,
	const struct vfctl_domain_vf *place, enum vfctl_id_kind kind, uint64_t value)
{
	struct vfctl_id id;
	int r = look_up(store, kind, value, &id);

	if (r != 1)
		return r;
	if ((id.state == VFCTL_ID_LEASED && is_vf(&id.owner, place)) ||
		(id.state == VFCTL_ID_RESTING && id.until <= (int64_t)time(NULL)))
		return 0;
	return fail_set(ctx, &id, place);
}

int identities_check_set(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_vf_attrs *attrs)
{
	const struct vfctl_domain_vf place = {.pf = pf->bdf, .index = vf->index};
	uint32_t same = attrs_equal(attrs, &vf->attrs);
	uint32_t fresh = attrs->mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_PORT_GUID) & ~same;
	_id_store_ struct id_store *store = NULL;
	int r = fresh ? id_sqlite_open(ctx, false, &store) : 0;

	if (r == 0 && fresh & VFCTL_ATTR_PORT_GUID)
		r = check_set(ctx, store, &place, VFCTL_ID_GUID, attrs->port_guid);
	if (r == 0 && fresh & VFCTL_ATTR_MAC)
		r = check_set(ctx, store, &place, VFCTL_ID_MAC, mac_number(&attrs->mac));
	return r;
}

/* By note(): what somebody reserved for the domain is called otherwise, and stays. */
static bool is_noted(const struct vfctl_id_owner *owner)
{
	struct vfctl_bdf bdf;

	return vfctl_bdf_parse(owner->device, &bdf) == 0;
}

/* What sync has told the fleet is given back there by the next one. */
static int forget(struct id_store *store, const struct vfctl_id *id, int64_t until)
{
	struct vfctl_id now = *id;
	char node[64];
	int r = id_sqlite_note(store, "node", node, sizeof(node));

	if (r < 0)
		return r;
	if (!id->owner.host[0] || !node[0])
		return store->ops->release(store, id->kind, id->value, &id->owner, until);
	now.state = VFCTL_ID_RESTING;
	now.since = (int64_t)time(NULL);
	now.until = until ? until : now.since;
	now.pending = true;
	return id_sqlite_put(store, &now);
}

/* As its pool says, whether host.yaml is there or not. */
static int64_t end_of_rest(struct id_store *store, const struct vfctl_id *id)
{
	uint32_t rest = ID_REST_S;

	if (id->pool[0] && store->ops->rest(store, id->pool, &rest) < 0)
		ctx_clear(store->ctx);
	return rest ? (int64_t)time(NULL) + rest : 0;
}

int identities_forget(struct vfctl_ctx *ctx, const char *domain_uuid, bool used)
{
	struct vfctl_id_filter filter = {.domain_uuid = domain_uuid,
		.states = 1u << VFCTL_ID_LEASED};
	_id_store_ struct id_store *store = NULL;
	struct vfctl_id ids[VFCTL_GUEST_VFS_MAX];
	int n = ARRAY_SIZE(ids), r = id_sqlite_open(ctx, true, &store);
	uint64_t last = 0;

	/* What is reserved for it besides may be more than a page. */
	for (bool more = false; r == 0 && n == ARRAY_SIZE(ids); more = true) {
		n = store->ops->page(store, &filter, VFCTL_ID_GUID, more ? &last : NULL, ids,
			ARRAY_SIZE(ids));
		for (int i = 0; i < n && r == 0; i++) {
			last = ids[i].value;
			if (is_noted(&ids[i].owner))
				r = forget(store, &ids[i], used ? end_of_rest(store, &ids[i]) : 0);
		}
	}
	return n < 0 ? n : r;
}

static int return_one(struct id_store *store, const char *domain_uuid,
	enum vfctl_id_kind kind, uint64_t value)
{
	struct vfctl_id id;
	int r = find_of(store, domain_uuid, kind, value, &id);

	return r == 1 ? forget(store, &id, end_of_rest(store, &id)) : r;
}

int identities_return(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs)
{
	_id_store_ struct id_store *store = NULL;
	int r = id_sqlite_open(ctx, true, &store);

	if (r == 0 && attrs->mask & VFCTL_ATTR_MAC)
		r = return_one(store, domain_uuid, VFCTL_ID_MAC, mac_number(&attrs->mac));
	if (r == 0 && attrs->mask & VFCTL_ATTR_PORT_GUID)
		r = return_one(store, domain_uuid, VFCTL_ID_GUID, attrs->port_guid);
	return r;
}
