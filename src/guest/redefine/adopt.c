// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * adopt: lease to a domain the VFs that it has without a lease, with their present values,
 * regardless of which tool defined it. Its devices are not changed; only vfctl's metadata is added
 * to its definition. The undo is here too.
 */
#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/parse.h"
#include "base/vfattr.h"
#include "change/recover.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "facts/snapshot/snapshot.h"
#include "guest/attach.h"
#include "guest/redefine/has.h"
#include "host/host.h"
#include "ids/pools.h"
#include "ids/values.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/noted.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "sriov/holder.h"
#include "state/leases.h"

#define NETWORK "/etc/libvirt/qemu/networks/%s.xml"

struct adopt_op {
	struct attach a;
	struct vfctl_ids *ids;
	struct domain_has defined; /* according to its definition */
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX]; /* VFs that are to be leased to it */
	size_t count;
	size_t has; /* number of VFs that are already leased to it */
};

static void adopt_op_freep(struct adopt_op **op)
{
	if (*op) {
		attach_clear(&(*op)->a);
		domain_has_clear(&(*op)->defined);
	}
	free(*op);
}

/* ---- what cannot be adopted ---- */

static int check_network(struct vfctl_ctx *ctx, const struct adopt_op *o, const char *name)
{
	_cleanup_(libvirt_network_clear) struct libvirt_network network = {0};
	_free_ char *text = NULL;
	int r = strchr(name, '/') ? -EINVAL : host_try_read(ctx, &text, NETWORK, name);

	if (r < 0)
		return 0; /* of another libvirt */
	r = libvirt_network_read(ctx, text, &network);
	if (r == -EINVAL)
		ctx_clear(ctx);
	if (r < 0 || !network.hostdev)
		return r == -EINVAL ? 0 : r;
	return ctx_fail(ctx, -EINVAL, "domain %s takes a VF of libvirt's network %s, which chooses a VF "
		"at each start, so no VF can be leased to the domain; replace that <interface> with one "
		"of type='hostdev', or remove it and run: vfctl attach %s --pf PF", attach_name(&o->a),
		name, attach_name(&o->a));
}

static int check_networks(struct vfctl_ctx *ctx, const struct adopt_op *o)
{
	_strv_ char **names = NULL;
	int r = domain_networks(ctx, o->a.config.xml, &names);

	for (size_t i = 0; r == 0 && names[i]; i++)
		r = check_network(ctx, o, names[i]);
	return r;
}

/*
 * The VF belongs to another domain by its lease, its definition or its running QEMU, or to the host
 * itself.
 */
static int check_free(struct vfctl_ctx *ctx, const struct adopt_op *o, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(o->a.snapshot->leases, &vf->bdf);
	bool own = str_eq(vf->holder.uuid, attach_uuid(&o->a));
	char message[256], text[VFCTL_BDF_TEXT];

	if (pf->unread)
		return ctx_fail(ctx, -EIO, "nothing is changed: %s", pf->unread);
	for (size_t i = 0; i < o->a.domains->count; i++) {
		const struct known_domain *d = &o->a.domains->v[i];

		if (!str_eq(d->uuid, attach_uuid(&o->a)) && known_domain_has(d, &vf->bdf))
			return ctx_fail(ctx, -EBUSY, "%s/%u is also a device of domain %s; remove it "
				"from one of them (virsh edit)", vfctl_pf_name(pf, text), vf->index, d->name);
	}
	/* libvirt takes a VF from its host driver when the domain starts, but not from a process. */
	if (!lease && (own || !vf_is_open(vf) || vf->holder.kind == VFCTL_HOLDER_HOST ||
		vf->holder.kind == VFCTL_HOLDER_NETNS))
		return 0;
	return ctx_fail(ctx, -EBUSY, "%s/%u is %s; remove it from domain %s (virsh edit %s)",
		vfctl_pf_name(pf, text), vf->index, vf_describe_user(vf, message, sizeof(message)),
		attach_name(&o->a), attach_name(&o->a));
}

/* ---- the leased values ---- */

/*
 * The values that differ from those the VF has by itself; libvirt sets MAC and VLAN of an
 * <interface>.
 */
static struct vfctl_vf_attrs policy_of(const struct vfctl_intent_device *device,
	const struct vfctl_vf_attrs *now)
{
	struct vfctl_vf_attrs own = attrs_safe(VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST);
	uint32_t bits = ~(vfctl_vf_attrs_default(now) |
		VFCTL_ATTR_VLAN | VFCTL_ATTR_MSIX | VFCTL_ATTR_PKEY);

	own.mask &= now->mask; /* a lease claims nothing that the driver does not report */
	if (now->vlan && !device->interface)
		bits |= VFCTL_ATTR_VLAN;
	if (vfctl_mac_is_zero(&now->mac))
		bits &= ~(uint32_t)VFCTL_ATTR_MAC;
	attrs_copy(&own, now, bits);
	if (device->interface && device->has_mac) {
		own.mask |= VFCTL_ATTR_MAC;
		own.mac = device->mac;
	}
	if (device->interface && device->vlan) {
		own.mask |= VFCTL_ATTR_VLAN_ID;
		own.vlan = device->vlan;
	}
	return own;
}

static void warn_risk(struct vfctl_ctx *ctx, const char *name, const struct vfctl_domain_vf *vf)
{
	const struct vfctl_vf_attrs *a = &vf->attrs;

	if (a->mask & VFCTL_ATTR_TRUST && a->trust)
		log_warn(ctx, "VF %s of domain %s stays trusted; to change that: vfctl set %s trust=off "
			"--config", TEXT(&vf->bdf), name, TEXT(&vf->bdf));
	if (a->mask & VFCTL_ATTR_SPOOFCHK && !a->spoofchk)
		log_warn(ctx, "the spoof check of VF %s of domain %s stays off; to change that: vfctl "
			"set %s spoofchk=on --config", TEXT(&vf->bdf), name, TEXT(&vf->bdf));
}

/*
 * A value that a pool of this host may allocate belongs to the domain from now on, so that it is
 * not allocated again.
 */
static int claim(struct vfctl_ctx *ctx, struct adopt_op *o, const struct vfctl_vf_attrs *a)
{
	enum vfctl_id_kind kind;
	uint64_t value;
	char device[16];
	int r;

	if (!o->ids || !pool_value_of(a, &kind, &value) || !vfctl_ids_pool_of(o->ids, kind, value))
		return 0;
	r = identities_new_device(ctx, &o->a.identities, device);
	return r < 0 ? r : identities_add(ctx, &o->a.identities, kind, value, device, 0);
}

/*
 * VFs whose only possible identity is a derived one get that: a MAC that changes at each boot is
 * not an identity.
 */
static int identify(struct vfctl_ctx *ctx, struct adopt_op *o, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, struct vfctl_domain_vf *io)
{
	const struct vfctl_identity_want nothing = {0};
	_cleanup_(identities_clear) struct identities derived = {0};
	int r;

	identities_open(ctx, &derived, NULL, attach_uuid(&o->a), attach_name(&o->a), false);
	r = identities_look(&derived, o->a.snapshot->inventory, o->a.snapshot->leases);
	if (r == 0)
		r = guest_give_identity(ctx, &derived, &nothing, pf, vf, "", io);
	return r < 0 ? r : claim(ctx, o, &io->attrs);
}

static int add_vf(struct vfctl_ctx *ctx, struct adopt_op *o, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_intent_device *device)
{
	struct vfctl_vf_attrs attrs = policy_of(device, &vf->attrs);
	struct vfctl_domain_vf *out = &o->vfs[o->count];
	_free_ char *exposed = NULL;
	int r = check_free(ctx, o, pf, vf);

	if (r < 0)
		return r;
	if (vfctl_vf_exposure(ctx, pf, vf, &exposed) && exposed)
		log_warn(ctx, "VF %s of domain %s %s", TEXT(&vf->bdf), attach_name(&o->a), exposed);
	if (device->interface && device->vlan == VFCTL_INTENT_VLAN_ODD)
		return ctx_fail(ctx, -EINVAL, "the <interface> of VF %s in domain %s names several "
			"VLANs, which libvirt rejects for a VF; keep only one (virsh edit %s)",
			TEXT(&vf->bdf), attach_name(&o->a), attach_name(&o->a));
	if (o->count + o->has >= VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -E2BIG, "domain %s has more than %d VFs", attach_name(&o->a),
			VFCTL_GUEST_VFS_MAX);
	guest_complete_vf(pf, vf, &attrs, device->interface ? VFCTL_FORM_INTERFACE
		: VFCTL_FORM_HOSTDEV, out);
	r = identify(ctx, o, pf, vf, out);
	o->count += r == 0;
	return r;
}

static int find_vfs(struct vfctl_ctx *ctx, struct adopt_op *o)
{
	int r = domain_has_read(ctx, o->a.config.xml, HAS_DEVICES, &o->defined);

	identities_open(ctx, &o->a.identities, o->ids, attach_uuid(&o->a), attach_name(&o->a), false);
	for (size_t i = 0; r == 0 && i < o->defined.intent.device_count; i++) {
		const struct vfctl_intent_device *device = &o->defined.intent.devices[i];
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(o->a.snapshot->inventory,
			&device->bdf, &pf);

		if (attach_leased(&o->a, &device->bdf))
			o->has++;
		else if (vf) /* otherwise a whole device is passed through */
			r = add_vf(ctx, o, pf, vf, device);
	}
	if (r < 0 || o->count)
		return r;
	return o->has ? ctx_fail(ctx, -EALREADY, "all VFs of domain %s are leased to it",
		attach_name(&o->a))
		      : ctx_fail(ctx, -EALREADY, "domain %s has no VF of this host", attach_name(&o->a));
}

/* ---- steps ---- */

static void put_text(const struct vfctl_vf_attrs *attrs, struct buf *message)
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	while (vfctl_vf_attrs_next(attrs, &i, &key, value))
		buf_printf(message, " %s=%s", key, value);
}

static int add_definition(struct vfctl_ctx *ctx, struct adopt_op *o, struct steps *steps)
{
	int r = 0;

	o->a.config_xml = strdup(o->a.config.xml);
	if (!o->a.config_xml)
		return ctx_oom(ctx);
	for (size_t i = 0; r == 0 && i < o->count; i++) {
		_free_ char *before = steal(o->a.config_xml);

		r = vfctl_domain_metadata_add_vf(ctx, before, o->a.lease_id, &o->vfs[i],
			&o->a.config_xml);
	}
	if (r < 0)
		return r;
	step_begin(steps, "record the leased values of its VFs in the definition of domain %s; its "
		"devices stay as they are", attach_name(&o->a));
	return attach_add_definition_op(ctx, &o->a, steps);
}

static int add_lease(struct vfctl_ctx *ctx, const struct adopt_op *o, size_t i,
	struct vfctl_lease_vf *rows, struct steps *steps)
{
	struct vfctl_lease lease = {.domain_name = (char *)attach_name(&o->a), .vfs = rows,
		.vf_count = o->count};
	_free_ char *want = NULL;

	str_copy(lease.id, sizeof(lease.id), o->a.lease_id);
	want = o->a.new_lease ? lease_to_text(&lease)
			      : lease_vf_to_text(o->a.lease_id, &rows[i], false);
	if (!want)
		return ctx_oom(ctx);
	if (o->a.new_lease && i == 0)
		step_op(steps, &op_lease, want, "", "%s", attach_uuid(&o->a));
	else if (!o->a.new_lease)
		step_op(steps, &op_lease_vf, want, "", "%s/%s", attach_uuid(&o->a), TEXT(&rows[i].bdf));
	return 0;
}

/* The lease comes last: it is not rolled back for a domain that runs. */
static int add_steps(struct vfctl_ctx *ctx, struct adopt_op *o, struct vfctl_change *change)
{
	_free_ struct vfctl_lease_vf *rows = calloc(o->count + 1, sizeof(*rows));
	int r = rows ? identities_add_step(ctx, &o->a.identities, change) : ctx_oom(ctx);

	if (r == 0)
		r = add_definition(ctx, o, &change->steps);
	for (size_t i = 0; r == 0 && i < o->count; i++)
		rows[i] = lease_vf_row(&o->vfs[i]);
	if (r == 0)
		ports_fill(o->a.snapshot->inventory, rows, o->count);
	for (size_t i = 0; r == 0 && i < o->count; i++) {
		_buf_ struct buf message = {0};

		put_text(&o->vfs[i].attrs, &message);
		step_begin(&change->steps, "lease VF %s to domain %s with%s", TEXT(&o->vfs[i].bdf),
			attach_name(&o->a), message.data ? message.data : " nothing set");
		r = add_lease(ctx, o, i, rows, &change->steps);
		warn_risk(ctx, attach_name(&o->a), &o->vfs[i]);
	}
	if (r < 0)
		return r;
	change->result = str_format("domain %s is adopted: %zu VF%s leased to it%s", attach_name(&o->a),
		o->count, o->count == 1 ? " is" : "s are", o->a.live.name
		? "; it keeps running as it is and gets their policy at its next start" : "");
	return change->result ? 0 : ctx_oom(ctx);
}

int vfctl_adopt_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(adopt_op_freep) struct adopt_op *o = calloc(1, sizeof(*o));
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r;

	if (!o)
		return ctx_oom(ctx);
	o->a.hv = hypervisor;
	o->ids = ids;
	r = attach_open(ctx, hypervisor, domain, NULL, VFCTL_AFFECT_CONFIG, dry_run, &o->a, &change);
	if (r == 0)
		r = attach_name_lease(ctx, &o->a);
	if (r == 0)
		r = attach_check_lost(ctx, &o->a);
	if (r == 0)
		r = known_domains_ask(ctx, hypervisor, &o->a.domains);
	if (r == 0)
		r = check_networks(ctx, o);
	if (r == 0)
		r = find_vfs(ctx, o);
	if (r == 0)
		r = values_check_guest(ctx, ROAD_ADOPT, o->a.snapshot, attach_uuid(&o->a), o->vfs,
			o->count);
	if (r == 0)
		r = add_steps(ctx, o, change);
	if (r == 0)
		guest_warn_whole(ctx, o->a.snapshot->inventory, o->vfs, o->count);
	return guest_change_planned(ctx, &change, r, ret_change, hypervisor, "adopt %s", domain);
}

/* ---- undo ---- */

static int check_adopted(struct vfctl_ctx *ctx, const struct adopt_op *o,
	const struct vfctl_lease *lease)
{
	const char *name = attach_name(&o->a);

	if (!lease)
		return ctx_fail(ctx, -EALREADY, "domain %s holds no lease", name);
	if (lease->cell_count)
		return ctx_fail(ctx, -EPERM, "domain %s was defined by vfctl, not adopted; to remove it: "
			"vfctl undefine %s", name, name);
	if (o->a.live.name)
		return ctx_fail(ctx, -EBUSY, "domain %s is running; stop it first: virsh shutdown %s",
			name, name);
	return 0;
}

static int add_end_steps(struct vfctl_ctx *ctx, struct adopt_op *o,
	const struct vfctl_lease *lease, struct vfctl_change *change)
{
	_free_ char *before = str_format("%s%s", lease->id, lease->running ? OP_RUNNING : "");
	int r = before ? metadata_remove(ctx, o->a.config.xml, &o->a.config_xml) : ctx_oom(ctx);

	if (r < 0)
		return r;
	step_begin(&change->steps, "remove vfctl's metadata from the definition of domain %s; its "
		"devices stay as they are", attach_name(&o->a));
	r = attach_add_definition_op(ctx, &o->a, &change->steps);
	if (r < 0)
		return r;
	step_add_op(&change->steps, &op_unlease, "", before, lease->domain_uuid,
		"end the lease of domain %s (%zu VF%s)", lease->domain_name, lease->vf_count,
		plural(lease->vf_count));
	return identities_add_return_step(ctx, &o->a.identities, change);
}

/*
 * libvirt no longer has the adopted domain, and only its lease is left. 1: it is one; 0: it is not.
 */
static int is_left(struct vfctl_ctx *ctx, const char *domain)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	_free_ char *why = strdup(vfctl_ctx_error(ctx));
	const struct vfctl_lease *lease;
	int r = why ? vfctl_leases_read(ctx, &leases) : ctx_oom(ctx);

	if (r < 0)
		return r;
	lease = vfctl_leases_find(leases, domain);
	if (!lease)
		lease = vfctl_leases_find_uuid(leases, domain);
	if (lease && !lease->cell_count)
		return 1;
	return ctx_usage_error(ctx, -ENOENT, "%s%s%s", why, lease ? "; to end the lease that it left: "
		"vfctl undefine " : "", lease ? lease->domain_name : "");
}

int vfctl_adopt_end_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, struct vfctl_ids *ids, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(adopt_op_freep) struct adopt_op *o = calloc(1, sizeof(*o));
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	const struct vfctl_lease *lease = NULL;
	int r;

	if (!o)
		return ctx_oom(ctx);
	o->a.hv = hypervisor;
	r = attach_open(ctx, hypervisor, domain, NULL, VFCTL_AFFECT_CONFIG, dry_run, &o->a, &change);
	if (r == -ENOENT) {
		const struct vfctl_undefine_options options = {.ids = ids};

		r = is_left(ctx, domain);
		if (r < 0)
			return r;
		vfctl_change_free(steal(change));
		return vfctl_undefine_plan(ctx, hypervisor, domain, &options, dry_run, ret_change);
	}
	if (r == 0) {
		lease = vfctl_leases_find_uuid(o->a.snapshot->leases, attach_uuid(&o->a));
		r = check_adopted(ctx, o, lease);
	}
	if (r == 0)
		r = identities_of_domain(ctx, ids, attach_uuid(&o->a), NULL, &o->a.identities);
	if (r == 0)
		r = add_end_steps(ctx, o, lease, change);
	return guest_change_planned(ctx, &change, r, ret_change, hypervisor, "adopt %s --undo", domain);
}
