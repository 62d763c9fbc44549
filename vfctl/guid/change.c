// SPDX-License-Identifier: GPL-2.0-or-later
/* guid reserve, guid release. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guid/guid.h"
#include "host_ids.h"
#include "ids/pools.h"
#include "lease/noted.h"
#include "sriov/inventory.h"
#include "state/leases.h"

#define COUNT_MAX 65536

/* The answer of reserve and release. */
struct change_view {
	bool dry_run, done, changed;
	const struct vfctl_id *ids;
	size_t count;
};

#define OF struct change_view
static const struct member guid_change_table[] = {
	FIELD(dry_run, "true: this would be done", OPTIONAL),
	FIELD(done, "true: this was done", OPTIONAL),
	FIELD(changed, "something was changed", OPTIONAL, KNOWN_BY(done)),
	LIST("identities", ids, count, answer_id, "the values"), END};
#undef OF
const struct answer guid_change_answer[] = {{NULL, guid_change_table, false}, {0}};

static void put_change(struct guid *g, bool changed, const struct vfctl_id *ids, size_t count)
{
	bool dry_run = g->in->dry_run;

	answer_put(g->in->out, NULL, guid_change_table, &(struct change_view){dry_run, !dry_run, changed,
		ids,
		count});
}

/* ---- reserve ---- */

struct reservation {
	struct guid *g;
	const struct vfctl_id_pool *pool; /* NULL: the given value */
	enum vfctl_id_kind kind;
	uint64_t value;
	struct vfctl_id_owner owner; /* without the number from --count */
	bool numbered;
	uint32_t count;
	uint16_t pkey;
	bool has_mac;
	struct vfctl_mac mac;
	/* the results */
	struct vfctl_id *ids;
	bool changed;
};

static int read_count(struct guid *g, struct reservation *r)
{
	r->count = 1;
	r->numbered = option_of(g->in, "count");
	return option_number(g->in, "count", 1, COUNT_MAX, &r->count);
}

static int read_owner(struct guid *g, struct reservation *r)
{
	const char *device = option_of(g->in, "device");
	int status = guid_domain(g, &r->owner);

	if (status)
		return status;
	snprintf(r->owner.host, sizeof(r->owner.host), "%s", g->spec->host);
	if (!r->owner.domain_uuid[0] && !device)
		return usage(g->in, "name the owner: --domain DOMAIN, or for the host --device BDF/INDEX");
	if (!device)
		device = r->numbered ? "vf" : "vf0";
	if (strlen(device) + 6 > sizeof(r->owner.device) || strpbrk(device, " \t\n,\""))
		return usage(g->in, "--device '%.64s' is too long or has a space in it", device);
	snprintf(r->owner.device, sizeof(r->owner.device), "%s", device);
	return 0;
}

static int read_mac(struct guid *g, struct reservation *r)
{
	const char *text = option_of(g->in, "mac");

	if (text && vfctl_mac_parse(text, &r->mac) < 0)
		return usage(g->in, "--mac '%.64s' is not a MAC", text);
	r->has_mac = text != NULL;
	return 0;
}

static int read_what(struct guid *g, struct reservation *r)
{
	int status = guid_pool(g, &r->pool);

	if (status)
		return status;
	if (g->in->arg_count == 1) {
		if (!r->pool)
			r->pool = vfctl_ids_pool(g->ids, VFCTL_ID_GUID, NULL);
		if (!r->pool)
			return usage(g->in, "host.yaml declares no GUID pool; declare one, or give a "
				"VALUE");
		r->kind = r->pool->kind;
		return 0;
	}
	if (r->pool || option_of(g->in, "count") || option_of(g->in, "mac"))
		return usage(g->in, "VALUE cannot be combined with --pool, --count or --mac");
	return guid_value(g->in, g->in->args[1], &r->kind, &r->value);
}

static int read_reservation(struct guid *g, struct reservation *r)
{
	int status = read_what(g, r);

	if (!status)
		status = read_count(g, r);
	if (!status)
		status = read_owner(g, r);
	if (!status)
		status = read_mac(g, r);
	return status ? status : guid_pkey(g, &r->pkey);
}

static void number_device(const struct reservation *r, uint32_t n,
	struct vfctl_id_owner *owner)
{
	*owner = r->owner;
	if (r->numbered)
		snprintf(owner->device + strlen(owner->device),
			sizeof(owner->device) - strlen(owner->device), "%" PRIu32, n);
}

/* Whether it is already leased to them. */
static bool is_theirs(struct reservation *r, const struct vfctl_id_owner *owner,
	uint64_t value, struct vfctl_id *ret)
{
	return vfctl_ids_find(r->g->ids, r->kind, value, ret) == 0 &&
		ret->state == VFCTL_ID_LEASED &&
		strcmp(ret->owner.domain_uuid, owner->domain_uuid) == 0 &&
		strcmp(ret->owner.device, owner->device) == 0 &&
		(owner->domain_uuid[0] || strcmp(ret->owner.host, owner->host) == 0);
}

/* Existing values keep their P_Key unless another is requested. */
static uint16_t pkey_of(const struct reservation *r, const struct vfctl_id *theirs)
{
	return theirs && !option_of(r->g->in, "pkey") ? theirs->pkey : r->pkey;
}

/* Find the value that would be reserved. @fresh counts those that are not theirs yet. */
static int propose_one(struct reservation *r, uint32_t n, unsigned *fresh,
	struct vfctl_id *ret)
{
	const struct vfctl_mac *mac = r->has_mac ? &r->mac : NULL;
	struct vfctl_id id = {.kind = r->kind, .value = r->value, .pkey = r->pkey}, has;
	int error = 0;

	number_device(r, n, &id.owner);
	if (r->pool)
		error = vfctl_ids_propose(r->g->ids, r->pool, &id.owner, mac,
			r->pool->strategy == VFCTL_ID_LOWEST ? *fresh : 0, &id.value);
	if (error < 0)
		return error;
	error = vfctl_ids_find(r->g->ids, id.kind, id.value, &has);
	if (error < 0 && error != -ENOENT)
		return error;
	*fresh += error == -ENOENT;
	id.pkey = pkey_of(r, is_theirs(r, &id.owner, id.value, &has) ? &has : NULL);
	if (r->pool)
		snprintf(id.pool, sizeof(id.pool), "%s", r->pool->name);
	*ret = id;
	return 0;
}

static int take_one(struct reservation *r, uint32_t n, struct vfctl_id *ret)
{
	const struct vfctl_mac *mac = r->has_mac ? &r->mac : NULL;
	struct vfctl_id_owner owner;
	uint64_t value = r->value;
	struct vfctl_id had;
	bool theirs;
	uint16_t pkey;

	number_device(r, n, &owner);
	theirs = (!r->pool || vfctl_ids_propose(r->g->ids, r->pool, &owner, mac, 0, &value) == 0) &&
		is_theirs(r, &owner, value, &had);
	pkey = pkey_of(r, theirs ? &had : NULL);
	r->changed |= !theirs || had.pkey != pkey;
	return r->pool ? vfctl_ids_take(r->g->ids, r->pool, &owner, pkey, mac, ret)
		: vfctl_ids_claim(r->g->ids, r->kind, value, &owner, pkey, ret);
}

/* A value that a domain uses without a pool must not be reserved for another owner. */
static int check_host(struct reservation *r)
{
	struct vfctl_id_owner owner;

	number_device(r, 0, &owner);
	return r->pool ? 0 : vfctl_ids_check_host(r->g->in->ctx, r->kind, r->value, &owner);
}

static int take_all(struct reservation *r)
{
	int end, error = check_host(r);

	if (error == 0 && r->pool)
		error = vfctl_ids_note_host(r->g->in->ctx, r->g->ids);
	if (error == 0)
		error = vfctl_ids_begin(r->g->ids);
	if (error < 0)
		return error;
	for (uint32_t n = 0; n < r->count && error == 0; n++)
		error = take_one(r, n, &r->ids[n]);
	end = vfctl_ids_end(r->g->ids, error == 0);
	return error < 0 ? error : end;
}

static int propose_all(struct reservation *r)
{
	unsigned fresh = 0;
	int error = check_host(r);

	for (uint32_t n = 0; n < r->count && error == 0; n++)
		error = propose_one(r, n, &fresh, &r->ids[n]);
	return error;
}

static void print_reserved(const struct reservation *r)
{
	struct out *out = r->g->in->out;
	char text[VFCTL_ID_TEXT], who[GUID_WHO];

	if (r->g->in->json) {
		put_change(r->g, r->changed, r->ids, r->count);
		return;
	}
	for (uint32_t n = 0; n < r->count; n++) {
		const struct vfctl_id *id = &r->ids[n];

		if (r->g->in->dry_run)
			out_line(out, "would reserve %s for %s", vfctl_id_format(id->kind, id->value,
				text), guid_who(id, who));
		else
			out_line(out, "%s", vfctl_id_format(id->kind, id->value, text));
	}
}

int guid_reserve(struct guid *g)
{
	_free_ struct vfctl_id *ids = NULL;
	struct reservation r = {.g = g};
	int error, status = read_reservation(g, &r);

	if (status)
		return status;
	r.ids = ids = calloc(r.count, sizeof(*ids));
	if (!ids)
		return fail(g->in, -ENOMEM);
	error = g->in->dry_run ? propose_all(&r) : take_all(&r);
	if (error < 0)
		return error == -EINVAL ? usage(g->in, "%s", vfctl_ctx_error(g->in->ctx))
					: fail(g->in, error);
	print_reserved(&r);
	return r.changed ? run_after_change(g->in, g->spec) : EXIT_DONE;
}

/* ---- release ---- */

struct releasing {
	struct guid *g;
	struct vfctl_inventory *inventory; /* NULL: --force, no check */
	struct vfctl_leases *leases;
	struct vfctl_id_owner owner; /* of --domain */
	struct vfctl_id *ids;
	size_t count;
};

static void clear_releasing(struct releasing *r)
{
	vfctl_inventory_free(r->inventory);
	vfctl_leases_free(r->leases);
	free(r->ids);
}

static bool has_value(const struct vfctl_vf_attrs *a, const struct vfctl_id *id)
{
	uint64_t mac = 0;

	if (id->kind == VFCTL_ID_GUID)
		return (a->mask & VFCTL_ATTR_PORT_GUID && a->port_guid == id->value) ||
			(a->mask & VFCTL_ATTR_NODE_GUID && a->node_guid == id->value);
	for (size_t i = 0; i < sizeof(a->mac.byte); i++)
		mac = mac << 8 | a->mac.byte[i];
	return a->mask & VFCTL_ATTR_MAC && mac == id->value;
}

static bool is_carried(const struct vfctl_lease *lease, const struct vfctl_id *id)
{
	for (size_t i = 0; i < lease->vf_count; i++)
		if (has_value(&lease->vfs[i].intent, id))
			return true;
	return false;
}

static int check_vfs(struct releasing *r, const struct vfctl_id *id, const char *value)
{
	for (size_t i = 0; i < r->inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &r->inventory->pfs[i];
		char name[VFCTL_BDF_TEXT];

		for (uint32_t k = 0; k < pf->num_vfs; k++)
			if (has_value(&pf->vfs[k].attrs, id))
				return fail_as(r->g->in, EXIT_FAILED, -EBUSY, "%s is live on VF %s/%" PRIu32
					"; give the VF another first (vfctl set), or release with --force; "
					"nothing was released", value, vfctl_pf_name(pf, name),
					pf->vfs[k].index);
	}
	return 0;
}

/* Returns an exit status: 0 if it may be released. */
static int check_unused(struct releasing *r, const struct vfctl_id *id)
{
	const struct vfctl_lease *lease = NULL;
	char value[VFCTL_ID_TEXT];

	vfctl_id_format(id->kind, id->value, value);
	if (!r->inventory || id->state == VFCTL_ID_RESTING)
		return 0;
	if (id->state == VFCTL_ID_LEASED && id->owner.domain_uuid[0])
		lease = vfctl_leases_find_uuid(r->leases, id->owner.domain_uuid);
	if (lease && is_carried(lease, id))
		return fail_as(r->g->in, EXIT_FAILED, -EBUSY, "%s is leased to domain %s with a VF; "
			"detach the VF or undefine the domain first, or use --force; nothing was "
			"released", value, lease->domain_name);
	return check_vfs(r, id, value);
}

/* Released before, or never owned: then there is nothing to do. */
static int release_one(struct releasing *r, const char *text)
{
	struct vfctl_id *ret = &r->ids[r->count];
	const struct vfctl_id_owner *owner = r->owner.domain_uuid[0] ? &r->owner : NULL;
	struct guid *g = r->g;
	enum vfctl_id_kind kind;
	uint64_t value;
	int error, status = guid_value(g->in, text, &kind, &value);

	if (status)
		return status;
	error = vfctl_ids_find(g->ids, kind, value, ret);
	if (error == -ENOENT) {
		if (!g->in->json && !g->in->quiet)
			out_line(g->in->out, "nothing to do: %s", vfctl_ctx_error(g->in->ctx));
		return 0;
	}
	if (error < 0)
		return fail(g->in, error);
	status = check_unused(r, ret);
	if (!status && g->in->dry_run && owner &&
		strcmp(ret->owner.domain_uuid, owner->domain_uuid) != 0)
		return fail_as(g->in, EXIT_FAILED, -EPERM, "%s does not belong to domain %s", text,
			option_of(g->in, "domain"));
	if (status)
		return status;
	r->count++;
	if (g->in->dry_run)
		return 0;
	error = vfctl_ids_release(g->ids, kind, value, owner, false);
	if (error < 0)
		return fail(g->in, error);
	if (vfctl_ids_find(g->ids, kind, value, ret) == -ENOENT)
		ret->until = 0;
	return 0;
}

static void print_released(struct guid *g, const struct vfctl_id *ids, size_t count)
{
	char text[VFCTL_ID_TEXT], at[GUID_TIME];

	if (g->in->json) {
		put_change(g, count > 0, ids, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_id *id = &ids[i];

		vfctl_id_format(id->kind, id->value, text);
		if (g->in->dry_run)
			out_line(g->in->out, "would release %s", text);
		else if (g->in->quiet)
			continue;
		else if (id->until)
			out_line(g->in->out, "%s stays in its cooldown until %s", text,
				guid_time(id->until, at));
		else
			out_line(g->in->out, "%s is free", text);
	}
}

static int release_all(struct releasing *r)
{
	struct guid *g = r->g;
	int status = 0, error = g->in->dry_run ? 0 : vfctl_ids_begin(g->ids);

	if (error < 0)
		return fail(g->in, error);
	for (size_t i = 1; i < g->in->arg_count && !status; i++)
		status = release_one(r, g->in->args[i]);
	if (!g->in->dry_run)
		error = vfctl_ids_end(g->ids, !status);
	return status || error >= 0 ? status : fail(g->in, error);
}

int guid_release(struct guid *g)
{
	_cleanup_(clear_releasing) struct releasing r = {.g = g,
		.ids = calloc(g->in->arg_count, sizeof(*r.ids))};
	int error = 0, status = r.ids ? guid_domain(g, &r.owner) : fail(g->in, -ENOMEM);

	if (status)
		return status;
	if (!option_of(g->in, "force")) {
		error = vfctl_leases_read(g->in->ctx, &r.leases);
		if (error == 0)
			error = vfctl_inventory_read(g->in->ctx, NULL, &r.inventory);
	}
	status = error < 0 ? fail(g->in, error) : release_all(&r);
	if (status)
		return status;
	print_released(g, r.ids, r.count);
	return r.count && !g->in->dry_run ? run_after_change(g->in, g->spec) : EXIT_DONE;
}
