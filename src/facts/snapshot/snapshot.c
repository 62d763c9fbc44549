// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/snapshot/snapshot.h"

#include "facts/snapshot/policy.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "facts/snapshot/domains.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "state/leases.h"

#define START_S 120 /* longest time that libvirt takes to start a guest */

/* A VF that the caller reads may have to be changed before it is returned. */
static struct vfctl_vf *vf_to_mark(struct vfctl_snapshot *s, const struct vfctl_bdf *bdf)
{
	return (struct vfctl_vf *)vfctl_inventory_vf_at(s->inventory, bdf, NULL);
}

/* ---- leases ---- */

static void name_lease(struct vfctl_vf *vf, const struct vfctl_lease *lease)
{
	snprintf(vf->lease.name, sizeof(vf->lease.name), "%s", lease->domain_name);
	snprintf(vf->lease.uuid, sizeof(vf->lease.uuid), "%s", lease->domain_uuid);
	vf->lease.running = lease->running;
}

static void merge_leases(struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->leases->count; i++)
		for (size_t k = 0; k < s->leases->v[i].vf_count; k++) {
			struct vfctl_vf *vf = vf_to_mark(s, &s->leases->v[i].vfs[k].bdf);

			if (vf)
				name_lease(vf, &s->leases->v[i]);
		}
}

void boot_id_read(struct vfctl_ctx *ctx, char ret[VFCTL_UUID_TEXT])
{
	_free_ char *text = NULL;

	ret[0] = '\0';
	if (host_try_read(ctx, &text, "/proc/sys/kernel/random/boot_id") == 0)
		str_copy(ret, VFCTL_UUID_TEXT, text);
}

/* Its run belongs to an earlier boot and was never released (@boot: the present boot). */
static bool is_of_earlier_boot(const struct vfctl_lease *lease, const char *boot)
{
	return lease->boot_id[0] && boot[0] && !str_eq(lease->boot_id, boot);
}

/* The previous values of its VFs are deleted too, because these were other VFs. */
static void end_old_run(struct vfctl_lease *lease)
{
	lease->running = false;
	for (size_t i = 0; i < lease->vf_count; i++)
		lease->vfs[i].saved.mask = 0;
}

static void end_old_runs(struct vfctl_ctx *ctx, struct vfctl_leases *leases)
{
	char boot[VFCTL_UUID_TEXT];

	boot_id_read(ctx, boot);
	for (size_t i = 0; i < leases->count; i++)
		if (is_of_earlier_boot(&leases->v[i], boot))
			end_old_run(&leases->v[i]);
}

/* ---- domains ---- */

static void hold(struct vfctl_vf *vf, const char *name, const char *uuid, int pid)
{
	struct vfctl_holder *h = &vf->holder;

	h->kind = VFCTL_HOLDER_DOMAIN;
	snprintf(h->name, sizeof(h->name), "%.127s", name);
	snprintf(h->uuid, sizeof(h->uuid), "%s", uuid);
	if (pid)
		h->pid = pid;
}

/* A running domain has it among its devices, or its process has it open. */
static void merge_running(const struct known_domains *domains, struct vfctl_vf *vf)
{
	for (size_t i = 0; i < domains->count; i++) {
		const struct known_domain *d = &domains->v[i];

		if (d->pid && (known_domain_has(d, &vf->bdf) || d->pid == vf->holder.pid))
			hold(vf, d->name, d->uuid, d->pid);
	}
	/* No file of libvirt names it, but the hook prepared it for a run that is in progress. */
	if (vf->holder.kind == VFCTL_HOLDER_VFIO && vf->lease.running)
		hold(vf, vf->lease.name, vf->lease.uuid, 0);
}

/* Append a name to a list of names. One that is left out must show: it is not named by the user. */
static void add_name(char list[VFCTL_DOMAINS_TEXT], const char *name)
{
	static const char more[] = ",...";
	size_t len = strlen(list);

	if (len + 1 + strlen(name) + sizeof(more) <= VFCTL_DOMAINS_TEXT)
		sprintf(list + len, "%s%s", len ? "," : "", name);
	else if (!strstr(list, more))
		strcpy(list + len, more);
}

static void merge_defined(const struct known_domains *domains, struct vfctl_vf *vf)
{
	for (size_t i = 0; i < domains->count; i++) {
		const struct known_domain *d = &domains->v[i];
		const struct known_reference *ref = known_domain_reference(d, &vf->bdf);

		if (d->pid || !known_domain_has(d, &vf->bdf) || str_eq(d->uuid, vf->lease.uuid) ||
			str_eq(d->uuid, vf->holder.uuid))
			continue;
		if (ref && !vf->defined_in[0])
			str_copy(vf->defined_as, sizeof(vf->defined_as), reference_form_text(ref->form));
		add_name(vf->defined_in, d->name);
	}
}

static void promise(struct vfctl_vf *vf, const struct known_pool *pool, const char *domain)
{
	if (!vf->promise.network[0])
		snprintf(vf->promise.network, sizeof(vf->promise.network), "%.63s", pool->name);
	vf->promise.active |= pool->active;
	if (domain)
		add_name(vf->promise.domains, domain);
}

/* libvirt chooses at the start of the domain, and knows nothing of leases. */
static void merge_promised(const struct known_domains *domains, const struct vfctl_pf *pf,
	struct vfctl_vf *vf)
{
	for (size_t i = 0; i < domains->count && !vf->lease.name[0]; i++) {
		const struct known_domain *d = &domains->v[i];
		const struct known_pool *pool = d->pid ? NULL
			: known_domain_pool(domains, d, &pf->bdf, &vf->bdf);

		if (pool)
			promise(vf, pool, d->name);
	}
	for (size_t i = 0; i < domains->pool_count && !vf->lease.name[0]; i++)
		if ((domains->pools[i].active || domains->pools[i].autostart) &&
			known_pool_has(&domains->pools[i], &pf->bdf, &vf->bdf))
			promise(vf, &domains->pools[i], NULL);
}

/* Its VFs are removed when the domain starts. */
static void merge_whole(const struct known_domains *domains, struct vfctl_pf *pf)
{
	for (size_t i = 0; i < domains->count; i++)
		if (!domains->v[i].pid && known_domain_passes(&domains->v[i], &pf->bdf))
			add_name(pf->defined_in, domains->v[i].name);
}

static void merge_domains(const struct known_domains *domains, struct vfctl_pf *pf)
{
	merge_whole(domains, pf);
	for (uint32_t k = 0; k < pf->num_vfs; k++) {
		merge_running(domains, &pf->vfs[k]);
		merge_defined(domains, &pf->vfs[k]);
		merge_promised(domains, pf, &pf->vfs[k]);
	}
}

/* It runs without the hook, and a VF differs from its lease. */
static bool is_unguarded(const struct vfctl_snapshot *s, const struct vfctl_lease *lease)
{
	struct vfctl_vf_attrs want;

	for (size_t i = 0; i < lease->vf_count; i++) {
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(s->inventory, &lease->vfs[i].bdf, NULL);

		if (vf && policy_unmet(lease, &lease->vfs[i], vf, &want))
			return true;
	}
	return false;
}

static void warn_unguarded(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->leases->count; i++)
		if (is_unguarded(s, &s->leases->v[i]))
			log_warn(ctx, "domain %s runs without the policy of its VFs: libvirt did not run "
				"vfctl's hook when it started; vfctl status says what differs",
				s->leases->v[i].domain_name);
}

/*
 * It is off, and its run was never ended: libvirt or the hook died. Between the hook's "prepare"
 * and libvirt's own file, a start looks the same.
 */
static bool is_abandoned(const struct vfctl_lease *lease)
{
	return lease->running && !lease->active && time(NULL) - lease->run_begun > START_S;
}

static void mark_abandoned(struct vfctl_snapshot *s)
{
	for (size_t i = 0; i < s->leases->count; i++)
		for (size_t k = 0; k < s->leases->v[i].vf_count; k++) {
			struct vfctl_vf *vf = vf_to_mark(s, &s->leases->v[i].vfs[k].bdf);

			if (vf && vf->holder.kind == VFCTL_HOLDER_NONE)
				vf->to_clean = is_abandoned(&s->leases->v[i]);
		}
}

static int read_domains(struct vfctl_ctx *ctx, struct vfctl_snapshot *s)
{
	_cleanup_(known_domains_freep) struct known_domains *domains = NULL;
	int r = host_of(ctx)->ops->read_only ? 0 : known_domains_read(ctx, &domains);

	if (r < 0 || !domains)
		return r;
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		merge_domains(domains, &s->inventory->pfs[i]);
	for (size_t i = 0; i < s->leases->count; i++)
		s->leases->v[i].active = known_domains_runs(domains, s->leases->v[i].domain_uuid);
	s->domains_error = steal(domains->unread);
	if (known_domains_first_unread(domains))
		s->domain_unread = str_format("domain %s only in part: %s",
			known_domains_first_unread(domains)->name,
			known_domains_first_unread(domains)->unread);
	if (!s->domains_error)
		mark_abandoned(s);
	warn_unguarded(ctx, s);
	return 0;
}

static int read_leases(struct vfctl_ctx *ctx, struct vfctl_snapshot *s)
{
	int r = 0;

	if (!host_of(ctx)->ops->read_only)
		r = vfctl_leases_read(ctx, &s->leases);
	if (r < 0) {
		s->leases_error = strdup(vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	if (!s->leases)
		s->leases = calloc(1, sizeof(*s->leases));
	return s->leases && (r == 0 || s->leases_error) ? 0 : ctx_oom(ctx);
}

static int read_with(struct vfctl_ctx *ctx, const char *only,
	int (*read_inventory)(struct vfctl_ctx *ctx, const char *only, struct vfctl_inventory **ret),
	struct vfctl_snapshot **ret_snapshot)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	r = read_inventory(ctx, only, &s->inventory);
	if (r == 0)
		r = read_leases(ctx, s);
	if (r < 0)
		return r;
	end_old_runs(ctx, s->leases);
	merge_leases(s);
	r = read_domains(ctx, s);
	if (r < 0)
		return r;
	*ret_snapshot = steal(s);
	return 0;
}

int vfctl_snapshot_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_snapshot **ret_snapshot)
{
	return read_with(ctx, only, vfctl_inventory_read, ret_snapshot);
}

int snapshot_read_with_values(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_snapshot **ret_snapshot)
{
	return read_with(ctx, only, inventory_read_with_values, ret_snapshot);
}

void vfctl_snapshot_free(struct vfctl_snapshot *snapshot)
{
	if (!snapshot)
		return;
	vfctl_inventory_free(snapshot->inventory);
	vfctl_leases_free(snapshot->leases);
	free(snapshot->leases_error);
	free(snapshot->domains_error);
	free(snapshot->domain_unread);
	free(snapshot);
}

/* ---- isolation of VFs ---- */

const char *vfctl_exposure_name(enum vfctl_exposure bit)
{
	return bit == VFCTL_EXPOSED_GROUP ? "group" : bit == VFCTL_EXPOSED_ACS ? "acs" : "reset";
}

static unsigned look_at_group(struct vfctl_ctx *ctx, const struct vfctl_vf *vf, struct buf *message)
{
	_free_ char *sharers = NULL;

	if (vf->iommu_group < 0)
		return 0;
	if (pci_iommu_sharers(ctx, &vf->bdf, vf->iommu_group, &sharers) < 0) {
		buf_puts(message, vfctl_ctx_error(ctx));
		ctx_clear(ctx);
		return VFCTL_EXPOSED_GROUP;
	}
	if (!*sharers)
		return 0;
	buf_printf(message, "shares its IOMMU group with %s, which a guest could reach; use a slot "
		"with ACS", sharers);
	return VFCTL_EXPOSED_GROUP;
}

static unsigned look_at_acs(const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	struct buf *message)
{
	const char *port = vfctl_bdf_format(&pf->acs_port, (char[VFCTL_BDF_TEXT]){0});

	if (vf->iommu_group < 0 || (pf->acs != VFCTL_ACS_OFF && pf->acs != VFCTL_ACS_OVERRIDDEN))
		return 0;
	if (pf->acs == VFCTL_ACS_OFF)
		buf_printf(message, "is not isolated from other devices: ACS of the port %s above "
			"it was disabled after the kernel made its IOMMU groups; enable it again "
			"(remove what runs setpci, then reboot)", port);
	else
		buf_puts(message, "is alone in its IOMMU group only because of pcie_acs_override "
			"on the kernel's command line, not because it is isolated from other "
			"devices; boot without that option, and use a slot with ACS");
	buf_puts(message, ", or accept it: vfs-without-acs: allow in host.yaml");
	return VFCTL_EXPOSED_ACS;
}

static unsigned look_at_reset(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, struct buf *message)
{
	if (pci_can_reset(ctx, &vf->bdf, &pf->bdf) != 0)
		return 0;
	buf_printf(message, "%scannot be reset on its own, so a guest could read data of the "
		"previous guest; if you accept that: vfs-without-reset: allow in host.yaml",
		message->len ? "; and it " : "");
	return VFCTL_EXPOSED_RESET;
}

unsigned vfctl_vf_exposure(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, char **ret_text)
{
	_buf_ struct buf message = {0};
	unsigned exposure = look_at_group(ctx, vf, &message);

	if (!exposure)
		exposure = look_at_acs(pf, vf, &message);
	exposure |= look_at_reset(ctx, pf, vf, &message);
	if (ret_text)
		*ret_text = exposure ? buf_steal(&message) : strdup("");
	return exposure;
}

bool vfctl_vf_can_be_given(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, unsigned allowed)
{
	/* The user of a VF is not certain if its PF could not be read. */
	if (pf->unread || vf_is_busy(vf) || vf->iommu_group < 0)
		return false;
	return !(vfctl_vf_exposure(ctx, pf, vf, NULL) & ~allowed);
}

int snapshot_need_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot)
{
	if (snapshot->leases_error)
		return ctx_fail(ctx, -EACCES, "nothing is changed while the leases cannot be read: "
			"%s", snapshot->leases_error);
	if (snapshot->domains_error)
		return ctx_fail(ctx, -EACCES, "nothing is changed while it is not known which "
			"domains have VFs: %s", snapshot->domains_error);
	return 0;
}

int snapshot_need_all(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot)
{
	const struct vfctl_inventory *inv = snapshot->inventory;
	const char *unread = inv->unread;

	for (size_t i = 0; i < inv->pf_count && !unread; i++)
		unread = inv->pfs[i].unread;
	if (unread)
		return ctx_fail(ctx, -EIO, "nothing is changed: %s", unread);
	return snapshot_need_leases(ctx, snapshot);
}

/* Whether all of @names, separated by commas, are among @allowed. */
static bool all_named(const char *allowed, const char *names)
{
	_free_ char *list = strdup(names);
	char *save = NULL;

	for (char *name = list ? strtok_r(list, ",", &save) : NULL; name;
		name = strtok_r(NULL, ",", &save)) {
		size_t len = strlen(name);
		const char *at = allowed;

		while (at && !(strncmp(at, name, len) == 0 && (at[len] == ',' || !at[len]))) {
			at = strchr(at, ',');
			at = at ? at + 1 : NULL;
		}
		if (!at)
			return false;
	}
	return list != NULL;
}

void snapshot_allow(struct vfctl_snapshot *snapshot, const char *domains)
{
	for (size_t i = 0; domains && i < snapshot->inventory->pf_count; i++)
		for (uint32_t k = 0; k < snapshot->inventory->pfs[i].num_vfs; k++) {
			struct vfctl_vf *vf = &snapshot->inventory->pfs[i].vfs[k];

			if (vf->defined_in[0] && all_named(domains, vf->defined_in))
				vf->defined_in[0] = '\0';
			if (vf->promise.network[0] && all_named(domains, vf_defined_in(vf)))
				vf->promise.network[0] = '\0';
		}
}
