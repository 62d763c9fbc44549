// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/give.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "ids/pools.h"
#include "ids/values.h"
#include "types/find.h"

void identities_open(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_ids *ids,
	const char *domain_uuid, const char *domain_name, bool claim)
{
	*io = (struct identities){.ctx = ctx, .ids = ids, .claim = ids && claim};
	if (ids)
		str_copy(io->owner.host, sizeof(io->owner.host), vfctl_ids_spec(ids)->host);
	str_copy(io->owner.domain_uuid, sizeof(io->owner.domain_uuid), domain_uuid);
	str_copy(io->owner.domain_name, sizeof(io->owner.domain_name), domain_name);
}

void identities_clear(struct identities *io)
{
	free(io->given);
	free(io->had);
	live_values_clear(&io->facts.live);
	*io = (struct identities){0};
}

/* ---- assigning values ---- */

static int fail_no_pool(struct vfctl_ctx *ctx, struct vfctl_ids *ids, enum vfctl_id_kind kind,
	const char *name)
{
	const struct vfctl_host_spec *spec = vfctl_ids_spec(ids);
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < spec->pool_count; i++)
		if (spec->pools[i].kind == kind)
			buf_printf(&known, "%s%s", known.len ? ", " : "", spec->pools[i].name);
	return ctx_usage_error(ctx, -ENOENT, "no %s pool '%s'; host.yaml has %s",
		vfctl_id_kind_name(kind), name, known.len ? known.data : "none");
}

/* The named pool, or the first of that kind; NULL if none is named and there is none. */
static int find_pool(struct vfctl_ctx *ctx, struct vfctl_ids *ids, enum vfctl_id_kind kind,
	const char *name, const struct vfctl_id_pool **ret)
{
	*ret = ids ? vfctl_ids_pool(ids, kind, name) : NULL;
	if (*ret || !name)
		return 0;
	if (!ids)
		return ctx_usage_error(ctx, -ENOENT, "no pool '%s': no host.yaml declares pools", name);
	return fail_no_pool(ctx, ids, kind, name);
}

static int remember(struct vfctl_ctx *ctx, struct identities *io, const struct vfctl_id *id,
	bool had)
{
	if (!array_grow(io->given, io->count) || !array_grow(io->had, io->count))
		return ctx_oom(ctx);
	io->had[io->count] = had;
	io->given[io->count++] = *id;
	return 0;
}

static bool is_given(const struct identities *io, const struct vfctl_id *id)
{
	for (size_t i = 0; i < io->count; i++)
		if (io->given[i].kind == id->kind && io->given[i].value == id->value)
			return true;
	return false;
}

/* A dry run does not quarantine values, but skips the same ones. */
static bool is_seen(const struct identities *io, const struct vfctl_id *id)
{
	const struct value_claim claim = {.kind = id->kind, .value = id->value,
		.domain_uuid = io->owner.domain_uuid};
	struct vfctl_id now;

	if (io->claim || value_ask(&io->facts, &claim).verdict == VALUE_FREE ||
		vfctl_ids_find(io->ids, id->kind, id->value, &now) != -ENOENT)
		return false;
	ctx_clear(io->ctx);
	return true;
}

/* The first value that is not already proposed to another device. */
static int propose(struct vfctl_ctx *ctx, struct identities *io,
	const struct vfctl_id_pool *pool, const struct vfctl_mac *mac, struct vfctl_id *io_id)
{
	unsigned nth = 0;
	int r;

	/* A value in the cooldown of its owner was not among the free ones. */
	for (size_t i = 0; i < io->count && pool->strategy == VFCTL_ID_LOWEST; i++)
		nth += str_eq(io->given[i].pool, pool->name) && !io->had[i] &&
			io->given[i].state != VFCTL_ID_RESTING;
	str_copy(io_id->pool, sizeof(io_id->pool), pool->name);
	do
		r = vfctl_ids_propose(io->ids, pool, &io_id->owner, mac, nth++, &io_id->value);
	while (r >= 0 && (is_given(io, io_id) || is_seen(io, io_id)) &&
		pool->source != VFCTL_ID_SOURCE_MAC && nth <= 2 * io->count + io->facts.live.count + 1);
	return r < 0 ? r : 0;
}

/*
 * 1: the owner already has the value, from an earlier change or a reservation. Its data are noted.
 */
static int has_already(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_id *id)
{
	struct vfctl_id now;
	int r = vfctl_ids_find(io->ids, id->kind, id->value, &now);

	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	if (!id_same_owner(&now.owner, &id->owner))
		return 0;
	str_copy(id->pool, sizeof(id->pool), now.pool);
	id->state = now.state;
	return now.state == VFCTL_ID_LEASED;
}

int identities_add(struct vfctl_ctx *ctx, struct identities *io, enum vfctl_id_kind kind,
	uint64_t value, const char *device, uint16_t pkey)
{
	struct vfctl_id id = {.kind = kind, .value = value, .owner = io->owner, .pkey = pkey}, now;
	bool had;
	int r;

	r = vfctl_ids_find(io->ids, kind, value, &now);
	if (r < 0 && r != -ENOENT)
		return r;
	ctx_clear(ctx);
	/* The value may now have another device name, because VFs were added and removed since. */
	had = r == 0 && now.state == VFCTL_ID_LEASED &&
		str_eq(now.owner.domain_uuid, id.owner.domain_uuid);
	if (had)
		id = now;
	else
		str_copy(id.owner.device, sizeof(id.owner.device), device);
	/* The value was found on a device, and its owner is known now. */
	if (r == 0 && now.state == VFCTL_ID_QUARANTINED)
		id.state = now.state;
	return remember(ctx, io, &id, had);
}

/* Assign one value to a device of the domain: @wanted, or one of @pool. */
static int give_identity(struct vfctl_ctx *ctx, struct identities *io, enum vfctl_id_kind kind,
	const struct vfctl_id_pool *pool, const uint64_t *wanted, const char *device,
	uint16_t pkey, const struct vfctl_mac *mac, uint64_t *ret_value)
{
	struct vfctl_id id = {.kind = kind, .value = wanted ? *wanted : 0, .owner = io->owner,
		.pkey = pkey};
	struct vfctl_id_owner *owner = &id.owner;
	int r, had = 0;

	str_copy(owner->device, sizeof(owner->device), device);
	if (wanted)
		r = vfctl_ids_may_claim(io->ids, kind, *wanted, owner);
	else
		r = propose(ctx, io, pool, mac, &id);
	if (r == 0 && io->claim)
		r = had = has_already(ctx, io, &id);
	if (r < 0)
		return r;
	*ret_value = id.value;
	return wanted && !io->claim ? 0 : remember(ctx, io, &id, had);
}

/* True if @r means that etcd is unreachable, and this caller accepts that. */
static bool passes_over(struct vfctl_ctx *ctx, const struct identities *io, int r)
{
	if (!io->optional || io->claim || (r != -EHOSTUNREACH && r != -ETIMEDOUT))
		return false;
	log_warn(ctx, "its GUIDs and MACs from pools are unknown now: %s", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return true;
}

static int give_guid(struct vfctl_ctx *ctx, struct identities *io,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *out)
{
	struct vfctl_vf_attrs *a = &out->attrs;
	bool asked = a->mask & VFCTL_ATTR_PORT_GUID;
	const struct vfctl_mac *mac = a->mask & VFCTL_ATTR_MAC ? &a->mac : NULL;
	/* ib-sriov-cni and mlx4 write all ones for "none". */
	uint64_t own = vfctl_guid_fault(vf->attrs.port_guid) ? 0 : vf->attrs.port_guid;
	const struct vfctl_id_pool *pool;
	uint64_t guid = a->port_guid;
	int r = find_pool(ctx, io->ids, VFCTL_ID_GUID, want->guid_pool, &pool);

	/* A pool that derives from the MAC serves VFs with a MAC. */
	if (r == 0 && pool && !want->guid_pool && pool->source == VFCTL_ID_SOURCE_MAC && !mac)
		pool = NULL;
	if (r == 0 && io->ids && (asked || pool))
		r = give_identity(ctx, io, VFCTL_ID_GUID, pool, asked ? &a->port_guid : NULL, device,
			a->mask & VFCTL_ATTR_PKEY ? a->pkey : 0, mac, &guid);
	else if (r == 0 && !asked)
		r = values_choose(ctx, &io->facts, io->owner.domain_uuid, VFCTL_ID_GUID, own, pf,
			vf->index, &guid);
	if (passes_over(ctx, io, r))
		return 0;
	if (r == -ENODATA)
		return ctx_fail(ctx, -ENODATA, "no GUID for VF %u: it has none%s, and none can be "
			"derived; declare a pool under guid-pools in host.yaml, or write guid: into the "
			"file of the guest", vf->index, own ? " of its own" : "");
	if (r < 0)
		return r;
	if (!asked || !(a->mask & VFCTL_ATTR_NODE_GUID))
		a->node_guid = guid;
	a->port_guid = guid;
	a->mask |= VFCTL_ATTR_GUIDS;
	a->mask &= ~(uint32_t)VFCTL_ATTR_MAC;
	/*
	 * Most complaints concern ports that stay down: follow the PF's state unless the request
	 * says otherwise.
	 */
	if (!(a->mask & VFCTL_ATTR_LINK_STATE))
		a->link_state = VFCTL_LINK_STATE_AUTO;
	a->mask |= VFCTL_ATTR_LINK_STATE;
	return 0;
}

static int give_mac(struct vfctl_ctx *ctx, struct identities *io,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *out)
{
	struct vfctl_vf_attrs *a = &out->attrs;
	bool asked = a->mask & VFCTL_ATTR_MAC;
	uint64_t own = vf->attrs.mask & VFCTL_ATTR_MAC ? mac_number(&vf->attrs.mac) : 0;
	uint64_t value = mac_number(&a->mac);
	const struct vfctl_id_pool *pool;
	int r = find_pool(ctx, io->ids, VFCTL_ID_MAC, want->mac_pool, &pool);

	if (r == 0 && pool)
		r = give_identity(ctx, io, VFCTL_ID_MAC, pool, asked ? &value : NULL, device, 0, NULL,
			&value);
	else if (r == 0 && !asked)
		r = values_choose(ctx, &io->facts, io->owner.domain_uuid, VFCTL_ID_MAC, own, pf,
			vf->index, &value);
	if (passes_over(ctx, io, r))
		return 0;
	if (r < 0)
		return r;
	a->mac = mac_of_number(value);
	a->mask |= VFCTL_ATTR_MAC;
	return 0;
}

static int read_pkey(struct vfctl_ctx *ctx, const struct identities *io,
	const struct vfctl_identity_want *want, struct vfctl_vf_attrs *attrs)
{
	const struct vfctl_host_spec *spec = io->ids ? vfctl_ids_spec(io->ids) : NULL;
	int r;

	if (!want->pkey)
		return 0;
	r = vfctl_host_spec_pkey(ctx, spec, want->pkey, &attrs->pkey);
	if (r == 0)
		attrs->mask |= VFCTL_ATTR_PKEY;
	return r;
}

int identities_give(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *io)
{
	int r;

	if (pf->class_code >> 16 != 0x02) /* not a network device: no identity */
		return 0;
	if (!pf->infiniband && (want->pkey || want->guid_pool))
		return ctx_usage_error(ctx, -EINVAL, "VF %u of %s is Ethernet: it has no GUID and no "
			"P_Key", vf->index, vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	if (!pf->infiniband)
		return give_mac(ctx, identities, want, pf, vf, device, io);
	r = read_pkey(ctx, identities, want, &io->attrs);
	return r < 0 ? r : give_guid(ctx, identities, want, pf, vf, device, io);
}

/* ---- names of a domain's devices ---- */

static void note_device(const char *device, uint64_t *used, unsigned *beyond)
{
	unsigned n;

	if (sscanf(device, "vf%u", &n) != 1)
		return;
	if (n < 64)
		*used |= UINT64_C(1) << n;
	else if (n < 100000 && n >= *beyond)
		*beyond = n + 1; /* reserve --count may have created more */
}

int identities_new_device(struct vfctl_ctx *ctx, const struct identities *io, char ret[16])
{
	struct vfctl_id_filter filter = {.domain_uuid = io->owner.domain_uuid,
		.states = 1u << VFCTL_ID_LEASED};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	unsigned n, beyond = 64;
	uint64_t used = 0;
	struct vfctl_id id;
	int r = 0;

	for (size_t i = 0; i < io->count; i++)
		note_device(io->given[i].owner.device, &used, &beyond);
	if (io->ids) {
		r = vfctl_ids_list(io->ids, &filter, &cursor);
		while (r == 0 && (r = vfctl_ids_next(cursor, &id)) == 1) {
			note_device(id.owner.device, &used, &beyond);
			r = 0;
		}
	}
	if (r < 0)
		return r;
	for (n = 0; n < 64 && used >> n & 1; n++)
		;
	if (n == 64)
		n = beyond;
	snprintf(ret, 16, "vf%u", n);
	return 0;
}

/* ---- a PF's own VFs ---- */

static char *vf_device(const struct vfctl_pf *pf, uint32_t index)
{
	char text[VFCTL_BDF_TEXT];

	return str_format("%s/%u", vfctl_bdf_format(&pf->bdf, text), index);
}

int identities_find_pool(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *name,
	const struct vfctl_inventory *inventory, const struct vfctl_pf *pf,
	const struct vfctl_id_pool **ret)
{
	const struct vfctl_host_spec *spec = ids ? vfctl_ids_spec(ids) : NULL;

	*ret = NULL;
	if (name)
		return find_pool(ctx, ids, VFCTL_ID_GUID, name, ret);
	for (size_t i = 0; spec && i < spec->pool_count && !*ret; i++)
		if (spec->pools[i].source == VFCTL_ID_SOURCE_HOST &&
			find_pf_named(inventory, spec->pool_pfs[i]) == pf)
			*ret = &spec->pools[i];
	ctx_clear(ctx);
	return 0;
}

int identities_give_pf(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_id_pool *pool, const struct vfctl_pf *pf, uint32_t count,
	uint16_t pkey, uint64_t *ret_guids)
{
	int r = 0;

	for (uint32_t i = 0; i < count && r == 0; i++) {
		_free_ char *device = vf_device(pf, i);

		r = device ? give_identity(ctx, identities, VFCTL_ID_GUID, pool, NULL, device, pkey,
			NULL, &ret_guids[i]) : ctx_oom(ctx);
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "GUIDs for %u VFs of %s (nothing is allocated)", count,
			vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	return r;
}

int identities_of_pf(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const struct vfctl_pf *pf,
	struct identities *ret)
{
	struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	_free_ char *prefix = str_format("%s/", vfctl_bdf_format(&pf->bdf,
		(char[VFCTL_BDF_TEXT]){0}));
	struct vfctl_id id;
	int r;

	identities_open(ctx, ret, ids, "", "", false);
	if (!ids)
		return 0;
	if (!prefix)
		return ctx_oom(ctx);
	filter.host = ret->owner.host;
	r = vfctl_ids_list(ids, &filter, &cursor);
	while (r == 0 && (r = vfctl_ids_next(cursor, &id)) == 1)
		r = !id.owner.domain_uuid[0] && str_starts(id.owner.device, prefix)
			? remember(ctx, ret, &id, true) : 0;
	return r;
}

/* ---- the values of a domain ---- */

static bool is_of(const struct vfctl_id *id, const struct vfctl_vf_attrs *vf)
{
	if (!vf)
		return true;
	if (id->kind == VFCTL_ID_GUID)
		return vf->mask & VFCTL_ATTR_PORT_GUID && vf->port_guid == id->value;
	return vf->mask & VFCTL_ATTR_MAC && mac_number(&vf->mac) == id->value;
}

int identities_of_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain_uuid,
	const struct vfctl_vf_attrs *vf, struct identities *ret)
{
	struct vfctl_id_filter filter = {.domain_uuid = domain_uuid,
		.states = 1u << VFCTL_ID_LEASED};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_id id;
	int r;

	identities_open(ctx, ret, ids, domain_uuid, "", false);
	if (!ids)
		return 0;
	r = vfctl_ids_list(ids, &filter, &cursor);
	while (r == 0 && (r = vfctl_ids_next(cursor, &id)) == 1)
		r = is_of(&id, vf) ? remember(ctx, ret, &id, true) : 0;
	return r;
}

int identities_find_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain,
	char ret_uuid[37])
{
	struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_id id;
	int r = vfctl_ids_list(ids, &filter, &cursor);

	ret_uuid[0] = '\0';
	while (r == 0 && !ret_uuid[0] && (r = vfctl_ids_next(cursor, &id)) == 1) {
		if (id.owner.domain_uuid[0] && (str_eq(id.owner.domain_uuid, domain) ||
			str_eq(id.owner.domain_name, domain)))
			str_copy(ret_uuid, 37, id.owner.domain_uuid);
		r = 0;
	}
	return r < 0 ? r : 0;
}
