// SPDX-License-Identifier: GPL-2.0-or-later
/* From a guest's file to its placement: snapshot, model, requests, plan, VFs, domain XML. */
#include "guest/guest.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/vfattr.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "drivers/driver.h"
#include "facts/guest_spec.h"
#include "facts/snapshot/address.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "lease/noted.h"
#include "lease/ops.h"
#include "pci/bars.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"
#include "sriov/holder.h"
#include "types/find.h"

void vfctl_placement_free(struct vfctl_placement *placed)
{
	if (!placed)
		return;
	identities_clear(&placed->identities);
	vfctl_plan_free(placed->plan);
	vfctl_requests_free(placed->requests);
	vfctl_model_free(placed->model);
	vfctl_snapshot_free(placed->snapshot);
	free(placed->vfs);
	free(placed);
}

/* A random UUID (RFC 9562, version 4). */
int guest_make_uuid(struct vfctl_ctx *ctx, char ret[37])
{
	uint8_t b[16];
	char *p = ret;

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return ctx_fail(ctx, -EIO, "the kernel gave no random bytes for a UUID");
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++)
		p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
	return 0;
}

static int make_plan(struct vfctl_ctx *ctx, struct vfctl_placement *p)
{
	int r = vfctl_requests_make(ctx, p->model, &p->guest, 1, &p->requests);

	return r < 0 ? r : vfctl_plan_make(ctx, p->model, p->requests->v, 1, NULL, &p->plan);
}

/* ---- the assigned VFs ---- */

/* Attributes of VFs that the PF's driver never has. */
static uint32_t vf_lacks(const struct vfctl_pf *pf)
{
	const struct driver *driver = driver_vf_attrs(pf);

	return driver ? driver->vf_lacks : 0;
}

void guest_complete_vf(const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs, enum vfctl_vf_form form,
	struct vfctl_domain_vf *ret)
{
	/* The GUID of an InfiniBand VF may derive from its MAC. */
	uint32_t known = pf->infiniband ? VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_MSIX |
		VFCTL_ATTR_INFINIBAND | VFCTL_ATTR_MAC : UINT32_MAX & ~VFCTL_ATTR_INFINIBAND;

	*ret = (struct vfctl_domain_vf){.bdf = vf->bdf, .pf = pf->bdf, .index = vf->index,
		.infiniband = pf->infiniband, .form = form, .attrs = *attrs};
	/*
	 * A VF that is not a network device has no attributes, and only a <hostdev> can describe
	 * it.
	 */
	if (pf->class_code >> 16 != 0x02) {
		known = 0;
		ret->form = VFCTL_FORM_HOSTDEV;
	}
	/* A lease claims no safe default that the driver does not have. */
	known &= ~(vf_lacks(pf) & attrs_of_type(VFCTL_ATTR_TYPE_SWITCH) &
		vfctl_vf_attrs_default(&ret->attrs));
	ret->attrs.mask &= known;
}

int guest_give_identity(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *io)
{
	uint32_t lacks = vf_lacks(pf), refused = io->attrs.mask & lacks &
		~vfctl_vf_attrs_default(&io->attrs);
	char name[VFCTL_BDF_TEXT];

	if (refused)
		return ctx_fail(ctx, -EOPNOTSUPP, "%s of %s/%u: the driver %s cannot set it for its VFs, so "
			"the guest could not start; leave it out, or use another PF",
			attr_key(refused & -refused), vfctl_pf_name(pf, name), vf->index, pf->driver);
	/* Each start would fail; the VF keeps the MAC that its driver gives it. */
	if (lacks & VFCTL_ATTR_MAC)
		return 0;
	return identities_give(ctx, identities, want, pf, vf, device, io);
}

int guest_share_mac(struct vfctl_ctx *ctx, const struct vfctl_placement *p,
	const struct vfctl_guest_vf *want, struct vfctl_domain_vf *io)
{
	if (!want->bond)
		return 0;
	if (io->infiniband)
		return ctx_usage_error(ctx, -EINVAL, "%s: vfs: VF %s is InfiniBand, and the ports of a "
			"bond share a MAC; remove bond:, and create the bond in the guest alone", want->at,
			TEXT(&io->bdf));
	io->bond = want->anti_affinity;
	for (size_t i = 0; i < p->vf_count; i++)
		if (p->vfs[i].bond == io->bond && p->vfs[i].attrs.mask & VFCTL_ATTR_MAC) {
			io->attrs.mac = p->vfs[i].attrs.mac;
			io->attrs.mask |= VFCTL_ATTR_MAC;
			return 1;
		}
	return 0;
}

int guest_check_mtu(struct vfctl_ctx *ctx, const struct vfctl_guest_vf *want,
	const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT];

	/*
	 * In connected mode a message may have several packets, so the MTU of the link does not
	 * limit it.
	 */
	if (!want->mtu || !pf->mtu || want->mtu <= pf->mtu ||
		(pf->infiniband && want->ipoib_mode == VFCTL_IPOIB_CONNECTED))
		return 0;
	return ctx_usage_error(ctx, -EINVAL, "%s: vfs: an MTU of %u is more than %s has (%u), and "
		"the MTU of a PF limits that of its VFs; raise it with mtu: %u in its entry of "
		"host.yaml and vfctl apply",
		want->at, want->mtu, vfctl_pf_name(pf, name), pf->mtu, want->mtu);
}

/*
 * libvirt's src/util/virnetdev.c: "Unable to configure VF N of PF 'X' because the PF is not
 * online".
 */
void guest_warn_down(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *domain,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_pf *pf = find_pf_at(inv, &vfs[i].pf);
		bool said = false;

		for (size_t k = 0; k < i; k++)
			said |= vfctl_bdf_compare(&vfs[k].pf, &vfs[i].pf) == 0;
		if (said || !pf || !pf->netdev[0] || pf->up || !device_is_interface(&vfs[i]))
			continue;
		log_warn(ctx, "%s is down, and libvirt cannot start domain %s until it is up: ip link "
			"set %s up (to keep it up: link: up in its entry of host.yaml)", pf->netdev, domain,
			pf->netdev);
	}
}

void guest_warn_whole(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_domain_vf *vfs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_pf *pf = find_pf_at(inv, &vfs[i].pf);
		bool said = false;

		for (size_t k = 0; k < i; k++)
			said |= vfctl_bdf_compare(&vfs[k].pf, &vfs[i].pf) == 0;
		if (pf && !said)
			pf_warn_whole(ctx, pf);
	}
}

static int fill_vf(struct vfctl_ctx *ctx, struct vfctl_placement *p, size_t i)
{
	const struct vfctl_assignment *a = &p->plan->assignments[0];
	const struct vfctl_guest_vf *want = &p->guest->vfs[a->vf_wants[i]];
	const struct vfctl_pf *pf = find_pf_at(p->snapshot->inventory, &a->vfs[i].pf);
	const struct vfctl_vf *vf = pf ? find_vf_number(pf->vfs, pf->num_vfs, a->vfs[i].index) : NULL;
	struct vfctl_domain_vf *out = &p->vfs[p->vf_count];
	char device[32];
	int r;

	if (!vf)
		return 0;
	r = guest_check_mtu(ctx, want, pf);
	if (r < 0)
		return r;
	guest_complete_vf(pf, vf, &want->attrs, want->form, out);
	snprintf(device, sizeof(device), "vf%zu", i);
	r = guest_share_mac(ctx, p, want, out);
	if (r == 0)
		r = guest_give_identity(ctx, &p->identities, &want->identity, pf, vf, device, out);
	if (r < 0)
		return ctx_prefix(ctx, r, "%s: vfs", want->at);
	p->vf_count++;
	return 0;
}

static int fill_vfs(struct vfctl_ctx *ctx, struct vfctl_placement *p, struct vfctl_ids *ids,
	bool take, bool optional)
{
	const struct vfctl_assignment *a = &p->plan->assignments[0];
	int r = 0;

	free(p->vfs);
	p->vf_count = 0;
	p->vfs = calloc(a->vf_count + 1, sizeof(*p->vfs));
	if (!p->vfs)
		return ctx_oom(ctx);
	identities_clear(&p->identities);
	identities_open(ctx, &p->identities, ids, p->guest->uuid, p->guest->name, take);
	p->identities.optional = optional;
	r = identities_look(&p->identities, p->snapshot->inventory, p->snapshot->leases);
	if (r == 0 && ids && take)
		r = identities_note_live(ctx, ids, p->snapshot->inventory, p->snapshot->leases);
	for (size_t i = 0; i < a->vf_count && r == 0; i++)
		r = fill_vf(ctx, p, i);
	return r;
}

int placed_take_identities(struct vfctl_ctx *ctx, struct vfctl_placement *placed,
	struct vfctl_ids *ids)
{
	return ids ? fill_vfs(ctx, placed, ids, true, false) : 0;
}

static int need_uuid(struct vfctl_ctx *ctx, struct vfctl_guest *guest)
{
	char uuid[37];
	int r = guest->uuid ? 0 : guest_make_uuid(ctx, uuid);

	if (r == 0 && !guest->uuid)
		guest->uuid = strdup(uuid);
	return r < 0 || guest->uuid ? r : ctx_oom(ctx);
}

/* ---- a lease whose domain no longer exists ---- */

/* 1: libvirt does not have the lease's domain, and it does not run. */
static int is_left(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_lease *lease)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = lease->running ? 0 : hv->get(ctx, hv, lease->domain_uuid, true, &info);

	if (r == -ENOENT) {
		ctx_clear(ctx);
		return 1;
	}
	return r < 0 ? r : 0;
}

/*
 * Find it by the UUID if the file has one, else by the name: "virsh undefine" leaves such a lease.
 */
static int find_left(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv, struct vfctl_placement *p)
{
	const struct vfctl_leases *leases = p->snapshot->leases;
	const struct vfctl_guest *g = p->guest;
	const struct vfctl_lease *lease = g->uuid ? vfctl_leases_find_uuid(leases, g->uuid)
						  : vfctl_leases_find(leases, g->name);
	int r = hv && lease ? is_left(ctx, hv, lease) : 0;

	if (r == 1)
		p->left = lease;
	return r < 0 ? r : 0;
}

/* Its CPUs, memory and VFs are free for the guest to which it belongs. */
static int free_left(struct vfctl_ctx *ctx, struct vfctl_placement *p)
{
	int r = 0;

	if (!p->left)
		return 0;
	model_leave_out(p->model, p->left->domain_uuid);
	for (size_t i = 0; r == 0 && i < p->left->vf_count; i++) {
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(p->snapshot->inventory,
			&p->left->vfs[i].bdf, &pf);

		if (vf && !vf_is_open(vf) && model_pf(p->model, &pf->bdf))
			r = model_add_free_vf(ctx, p->model, pf, vf);
	}
	return r;
}

/* A lease that replaces another has a different id, so that a change can distinguish them. */
static int name_lease(struct vfctl_ctx *ctx, struct vfctl_placement *p)
{
	bool same;
	int r = 0;

	if (p->left && !p->guest->uuid)
		p->guest->uuid = strdup(p->left->domain_uuid);
	else if (!p->guest->uuid)
		r = need_uuid(ctx, p->guest);
	if (r < 0 || !p->guest->uuid)
		return r < 0 ? r : ctx_oom(ctx);
	same = p->left && str_eq(p->left->id, p->guest->uuid);
	snprintf(p->lease_id, sizeof(p->lease_id), "%s%s", p->guest->uuid, same ? ".2" : "");
	return 0;
}

/* ---- the host, for one guest ---- */

/* The caller frees *@ret_placed, also after a failure. */
static int begin_placed(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, struct vfctl_placement **ret_placed)
{
	struct vfctl_placement *p = *ret_placed = calloc(1, sizeof(*p));
	int r = p ? vfctl_snapshot_read(ctx, NULL, &p->snapshot) : ctx_oom(ctx);

	if (r < 0)
		return r;
	p->guest = guest;
	r = snapshot_need_leases(ctx, p->snapshot);
	if (r == 0)
		r = find_left(ctx, options->hypervisor, p);
	if (r == 0)
		r = name_lease(ctx, p);
	if (r == 0)
		r = vfctl_model_read(ctx, p->snapshot, options, &p->model);
	return r < 0 ? r : free_left(ctx, p);
}

static void *copy_of(const void *array, size_t count, size_t size)
{
	void *copy = calloc(count + 1, size);

	if (copy && count)
		memcpy(copy, array, count * size);
	return copy;
}

/* Copy the placement without its reasons. */
static int copy_place(struct vfctl_ctx *ctx, const struct vfctl_assignment *from,
	struct vfctl_assignment *ret)
{
	*ret = *from;
	ret->reasons = NULL;
	ret->remedies = NULL;
	ret->reason_count = ret->remedy_count = 0;
	ret->cells = copy_of(from->cells, from->cell_count, sizeof(*from->cells));
	ret->vcpus = copy_of(from->vcpus, from->vcpu_count, sizeof(*from->vcpus));
	ret->vfs = copy_of(from->vfs, from->vf_count, sizeof(*from->vfs));
	ret->vf_wants = copy_of(from->vf_wants, from->vf_count, sizeof(*from->vf_wants));
	ret->vf_cells = copy_of(from->vf_cells, from->vf_count, sizeof(*from->vf_cells));
	return ret->cells && ret->vcpus && ret->vfs && ret->vf_wants && ret->vf_cells
		? 0 : ctx_oom(ctx);
}

int placed_of_batch(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const struct vfctl_assignment *assignment,
	struct vfctl_placement **ret_placed)
{
	_cleanup_(vfctl_placement_freep) struct vfctl_placement *p = NULL;
	int r = begin_placed(ctx, guest, options, &p);

	if (r < 0)
		return r;
	p->plan = calloc(1, sizeof(*p->plan));
	if (p->plan)
		p->plan->assignments = calloc(1, sizeof(*p->plan->assignments));
	if (!p->plan || !p->plan->assignments)
		return ctx_oom(ctx);
	p->plan->count = 1;
	r = copy_place(ctx, assignment, &p->plan->assignments[0]);
	if (r == 0)
		r = fill_vfs(ctx, p, options->ids, false, false);
	if (r == 0)
		*ret_placed = steal(p);
	return r;
}

int vfctl_place(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, struct vfctl_placement **ret_placed)
{
	_cleanup_(vfctl_placement_freep) struct vfctl_placement *p = NULL;
	int r = begin_placed(ctx, guest, options, &p);

	if (r == 0)
		r = make_plan(ctx, p);
	if (r == 0)
		r = fill_vfs(ctx, p, options->ids, false, options->without_identities);
	if (r == 0)
		*ret_placed = steal(p);
	return r;
}

const struct vfctl_assignment *vfctl_placement_assignment(const struct vfctl_placement *placed)
{
	return &placed->plan->assignments[0];
}

const struct vfctl_domain_vf *vfctl_placement_vfs(const struct vfctl_placement *placed,
	size_t *ret_count)
{
	*ret_count = placed->vf_count;
	return placed->vfs;
}

const struct vfctl_plan *vfctl_placement_plan(const struct vfctl_placement *placed)
{
	return placed->plan;
}

const struct vfctl_host_model *vfctl_placement_model(const struct vfctl_placement *placed)
{
	return placed->model;
}

/* The refusal in one line: what is short, and what would help. */
int assignment_fits(struct vfctl_ctx *ctx, const char *name, const struct vfctl_assignment *a)
{
	_buf_ struct buf message = {0};

	if (a->refusal == VFCTL_REFUSAL_NONE)
		return 0;
	for (size_t i = 0; i < a->reason_count; i++)
		if (a->reasons[i].kind == VFCTL_REASON_SHORT ||
			a->reasons[i].kind == VFCTL_REASON_REMEDY)
			buf_printf(&message, "%s%s", message.len ? "; " : "", a->reasons[i].text);
	ctx_fail(ctx, -ENOSPC, "%s does not fit: %s", name,
		message.data ? message.data : vfctl_refusal_name(a->refusal));
	for (size_t i = 0; i < a->reason_count; i++)
		ctx_add_reason(ctx, a->reasons[i].kind, a->reasons[i].text);
	return -ENOSPC;
}

void assignment_warn(struct vfctl_ctx *ctx, const char *domain, const struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (a->reasons[i].kind == VFCTL_REASON_WARNING)
			log_warn(ctx, "domain %s: %s", domain, a->reasons[i].text);
}

int placed_check(struct vfctl_ctx *ctx, const struct vfctl_placement *placed)
{
	return assignment_fits(ctx, placed->guest->name, vfctl_placement_assignment(placed));
}

/*
 * The BARs of host devices in the template; a template that cannot be read counts as having none.
 */
static uint64_t bars_of_others(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	uint64_t bytes = 0;

	if (!intent || !template_text || !vfctl_domain_may_have_devices(template_text,
		strlen(template_text)))
		return 0;
	if (vfctl_domain_intent_read(ctx, template_text, strlen(template_text), true, intent) < 0) {
		ctx_clear(ctx);
		return 0;
	}
	for (size_t i = 0; i < intent->device_count; i++)
		if (!find_domain_vf(placed->vfs, placed->vf_count, &intent->devices[i].bdf))
			bytes += pci_bar_bytes(ctx, &intent->devices[i].bdf);
	return bytes;
}

static void read_address_space(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, struct vfctl_address_space *ret)
{
	*ret = (struct vfctl_address_space){.bar_bytes = bars_of_others(ctx, placed, template_text)};
	for (size_t i = 0; i < placed->vf_count; i++)
		ret->bar_bytes += pci_bar_bytes(ctx, &placed->vfs[i].bdf);
	address_widths_read(ctx, ret);
}

int placed_xml(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, const char *template_name, uint64_t libvirt_version,
	char **ret_xml)
{
	struct vfctl_domain_request request = {
		.template_text = template_text, .template_name = template_name,
		.guest = placed->guest, .assignment = vfctl_placement_assignment(placed),
		.lease_id = placed->lease_id, .vfs = placed->vfs, .vf_count = placed->vf_count,
		.libvirt_version = libvirt_version,
	};
	_free_ unsigned *distances = NULL;
	int r = placed_check(ctx, placed);

	if (r == 0)
		r = vfctl_domain_cell_distances(ctx, request.assignment, placed->model->topology,
			&distances);
	request.cell_distances = distances;
	read_address_space(ctx, placed, template_text, &request.address);
	return r < 0 ? r : vfctl_domain_render(ctx, &request, ret_xml);
}

int vfctl_placement_xml(struct vfctl_ctx *ctx, const struct vfctl_placement *placed,
	const char *template_text, const char *template_name, uint64_t libvirt_version,
	char **ret_xml)
{
	int r = guest_check_template(ctx, placed->snapshot, template_text, template_name);

	return r < 0 ? r : placed_xml(ctx, placed, template_text, template_name, libvirt_version, ret_xml);
}

int guest_is_defined(struct vfctl_ctx *ctx, const char *xml, const char *name, bool *ret)
{
	struct vfctl_guest *guest = NULL;
	int r = ctx_ignore_error(ctx, guest_spec_read(ctx, xml, &guest), -EBADMSG);

	if (r == 0)
		*ret = guest && str_eq(guest->name, name);
	vfctl_guest_free(guest);
	return r;
}

int guest_check_lost(struct vfctl_ctx *ctx, const char *xml, const char *name)
{
	bool ours = false;
	int r = guest_is_defined(ctx, xml, name, &ours);

	return r < 0 || !ours ? r : ctx_fail(ctx, -EPERM, "vfctl defined domain %s, but its lease is "
		"lost; restore it: vfctl recover --rebuild", name);
}
