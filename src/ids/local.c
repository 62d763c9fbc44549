// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to identities without pools, only in the host's own store. The hook has no time for a
 * fleet and must work without one, and `set` needs no pool.
 */
#include <errno.h>
#include <time.h>

#include "base/buf.h"
#include "ids/give.h"
#include "ids/live.h"
#include "ids/store.h"

/* 1: the store has the value; 0: it has not. */
static int look_up(struct id_store *store, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret)
{
	int r = store->ops->find(store, kind, value, ret);

	return r == 0 ? 1 : ctx_ignore_error(store->ctx, r, -ENOENT);
}

int identity_find_of(struct id_store *store, const char *domain_uuid, enum vfctl_id_kind kind,
	uint64_t value, struct vfctl_id *ret)
{
	int r = look_up(store, kind, value, ret);

	return r == 1 ? ret->state == VFCTL_ID_LEASED &&
		str_eq(ret->owner.domain_uuid, domain_uuid) : r;
}

static int fail_held(struct vfctl_ctx *ctx, const struct vfctl_id *row)
{
	const struct value_claim claim = {.kind = row->kind, .value = row->value};
	const struct value_answer answer = {.verdict = VALUE_TAKEN, .row = row};

	return value_fail(ctx, &claim, &answer, 0);
}

/* A value in its cooldown must not go to another owner while this guest uses it. */
int identities_note_start(struct vfctl_ctx *ctx, const char *domain_uuid,
	const char *domain_name, const struct vfctl_lease_vf *vf)
{
	const struct vfctl_vf_attrs *a = &vf->intent;
	struct vfctl_id id = {.kind = VFCTL_ID_GUID, .value = a->port_guid,
		.pkey = a->mask & VFCTL_ATTR_PKEY ? a->pkey : 0};
	struct vfctl_id holder = {.value = 0};
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	int r = a->mask & VFCTL_ATTR_PORT_GUID ? id_store_open(ctx, true, &store) : 0;

	r = store ? look_up(store, id.kind, id.value, &holder) : r;
	if (r != 1 || holder.state == VFCTL_ID_QUARANTINED || holder.state == VFCTL_ID_LEASED)
		return r < 0 ? r : 0;
	holder.value = 0;
	str_copy(id.owner.domain_uuid, sizeof(id.owner.domain_uuid), domain_uuid);
	str_copy(id.owner.domain_name, sizeof(id.owner.domain_name), domain_name);
	vfctl_bdf_format(&vf->bdf, id.owner.device);
	r = store->ops->claim(store, &id, &holder);
	/* Without a holder the store has already set the message. */
	return r == -EEXIST && holder.value ? fail_held(ctx, &holder) : r;
}

int identities_are_of(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs)
{
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	struct vfctl_id id;
	int r = id_store_open(ctx, false, &store);

	if (r < 0)
		return r;
	r = 1;
	if (attrs->mask & VFCTL_ATTR_MAC)
		r = identity_find_of(store, domain_uuid, VFCTL_ID_MAC, mac_number(&attrs->mac), &id);
	if (r == 1 && attrs->mask & VFCTL_ATTR_PORT_GUID)
		r = identity_find_of(store, domain_uuid, VFCTL_ID_GUID, attrs->port_guid, &id);
	if (r == 1 && attrs->mask & VFCTL_ATTR_NODE_GUID && attrs->node_guid != attrs->port_guid)
		r = identity_find_of(store, domain_uuid, VFCTL_ID_GUID, attrs->node_guid, &id);
	return r;
}

/*
 * Recorded by identities_note_start(): a reservation for the domain has another name, and is kept.
 */
static bool is_noted(const struct vfctl_id_owner *owner)
{
	struct vfctl_bdf bdf;

	return vfctl_bdf_parse(owner->device, &bdf) == 0;
}

/* Use the pool's cooldown, whether host.yaml exists or not. */
static int64_t end_of_rest(struct id_store *store, const struct vfctl_id *id)
{
	uint32_t rest = ID_REST_S;

	if (id->pool[0] && store->ops->rest(store, id->pool, &rest) < 0)
		ctx_clear(store->ctx);
	return rest ? (int64_t)time(NULL) + rest : 0;
}

int identity_forget(struct id_store *store, const struct vfctl_id *id, bool used)
{
	int64_t until = used ? end_of_rest(store, id) : 0;
	struct vfctl_id now = *id;
	char node[64];
	int r = store->ops->note(store, "node", node, sizeof(node));

	if (r < 0)
		return r;
	if (!id->owner.host[0] || !node[0])
		return store->ops->release(store, id->kind, id->value, &id->owner, until);
	now.state = VFCTL_ID_RESTING;
	now.since = (int64_t)time(NULL);
	now.until = until ? until : now.since;
	now.pending = true;
	return store->ops->put(store, &now);
}

int identities_forget(struct vfctl_ctx *ctx, const char *domain_uuid, bool used)
{
	struct vfctl_id_filter filter = {.domain_uuid = domain_uuid,
		.states = 1u << VFCTL_ID_LEASED};
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	struct vfctl_id ids[VFCTL_GUEST_VFS_MAX];
	int n = ARRAY_SIZE(ids), r = id_store_open(ctx, true, &store);
	uint64_t last = 0;

	/* The domain may also have reservations, so there may be more than one page. */
	for (bool more = false; r == 0 && n == ARRAY_SIZE(ids); more = true) {
		n = store->ops->page(store, &filter, VFCTL_ID_GUID, more ? &last : NULL, ids,
			ARRAY_SIZE(ids));
		for (int i = 0; i < n && r == 0; i++) {
			last = ids[i].value;
			if (is_noted(&ids[i].owner))
				r = identity_forget(store, &ids[i], used);
		}
	}
	return n < 0 ? n : r;
}

static int return_one(struct id_store *store, const char *domain_uuid,
	enum vfctl_id_kind kind, uint64_t value)
{
	struct vfctl_id id;
	int r = identity_find_of(store, domain_uuid, kind, value, &id);

	return r == 1 ? identity_forget(store, &id, true) : r;
}

int identities_return(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs)
{
	_cleanup_(id_store_closep) struct id_store *store = NULL;
	int r = id_store_open(ctx, true, &store);

	if (r == 0 && attrs->mask & VFCTL_ATTR_MAC)
		r = return_one(store, domain_uuid, VFCTL_ID_MAC, mac_number(&attrs->mac));
	if (r == 0 && attrs->mask & VFCTL_ATTR_PORT_GUID)
		r = return_one(store, domain_uuid, VFCTL_ID_GUID, attrs->port_guid);
	return r;
}
