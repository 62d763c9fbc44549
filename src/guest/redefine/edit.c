// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * edit: read the guest.yaml of a domain from its metadata, and define the domain again with
 * another.
 */
#include <errno.h>

#include "base/change.h"
#include "base/planning.h"
#include "change/recover.h"
#include "domain/domain.h"
#include "facts/guest_spec.h"
#include "guest/guest.h"
#include "guest/redefine/redefine.h"
#include "spec/doc.h"
#include "spec/guest_yaml.h"
#include "spec/host_yaml.h"
#include "state/leases.h"
#include "types/hypervisor.h"

void vfctl_domain_file_clear(struct vfctl_domain_file *file)
{
	free(file->name);
	free(file->text);
	free(file->stored);
	*file = (struct vfctl_domain_file){0};
}

/* ---- reading ---- */

/* A clone has the metadata of another domain, and no lease. */
static int check_ours(struct vfctl_ctx *ctx, const struct vfctl_domain_info *info,
	const char *stored)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	int r = vfctl_leases_read(ctx, &leases);
	const struct vfctl_lease *lease = r == 0 ? vfctl_leases_find_uuid(leases, info->uuid) : NULL;

	if (r == 0 && !lease)
		r = guest_check_lost(ctx, info->xml, info->name);
	if (r < 0 || (stored && info->persistent && lease && lease->cell_count))
		return r;
	return ctx_fail(ctx, -EPERM, "vfctl did not define domain %s and has no guest.yaml of it; to edit "
		"its definition: virsh edit %s; to change its VFs: vfctl attach %s, or vfctl detach %s",
		info->name, info->name, info->name, info->name);
}

/* In the file of a domain that was renamed, replace the former name. */
static int set_name(struct vfctl_ctx *ctx, struct doc_node *doc, const char *name)
{
	for (size_t i = 0; i < doc->count; i++)
		if (str_eq(doc->keys[i]->text, "name")) {
			free(doc->items[i]->text);
			doc->items[i]->text = strdup(name);
			return doc->items[i]->text ? 0 : ctx_oom(ctx);
		}
	return 0;
}

static int make_text(struct vfctl_ctx *ctx, const struct vfctl_domain_info *info,
	struct vfctl_domain_file *file)
{
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	int r = guest_spec_parse(ctx, file->stored, &guest);

	if (r == -EBADMSG)
		return ctx_append(ctx, r, "; another program changed the definition of domain %s; define it "
			"with its file: vfctl define", info->name);
	if (r == 0)
		r = set_name(ctx, guest->doc, info->name);
	if (r < 0)
		return r;
	file->text = doc_yaml(guest->doc);
	return file->text ? 0 : ctx_oom(ctx);
}

int vfctl_domain_file_read(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, bool recover, struct vfctl_domain_file *ret)
{
	_cleanup_(vfctl_domain_info_clear) struct vfctl_domain_info info = {0};
	_cleanup_(vfctl_change_freep) struct vfctl_change *locked = NULL;
	int r = recover ? guest_change_new(ctx, hypervisor, false, &locked) : 0;

	if (r == 0)
		r = redefine_find_domain(ctx, hypervisor, domain, &info);
	if (r == 0)
		r = metadata_spec(ctx, info.xml, &ret->stored, &ret->template_hash);
	if (r == 0)
		r = check_ours(ctx, &info, ret->stored);
	if (r == 0)
		r = make_text(ctx, &info, ret);
	if (r < 0)
		return r;
	str_copy(ret->uuid, sizeof(ret->uuid), info.uuid);
	ret->name = steal(info.name);
	return 0;
}

/* ---- defining it again ---- */

static int check_identity(struct vfctl_ctx *ctx, const struct vfctl_domain_file *before,
	const struct vfctl_guest *guest)
{
	if (!str_eq(guest->name, before->name))
		return ctx_usage_error(ctx, -EINVAL, "the name of domain %s is '%s' in the text; keep the "
			"name, and rename the domain while it is off: virsh domrename %s %s", before->name,
			guest->name, before->name, guest->name);
	if (guest->uuid && !str_eq(guest->uuid, before->uuid))
		return ctx_usage_error(ctx, -EINVAL, "domain %s has UUID %s, and the text has %s; keep the "
			"UUID", before->name, before->uuid, guest->uuid);
	return 0;
}

/* Called with the lock, so that only programs other than vfctl can still change it. */
static int check_same(struct vfctl_ctx *ctx, const struct vfctl_domain_file *before,
	const struct vfctl_domain_info *info)
{
	_free_ char *stored = NULL;
	uint64_t template_hash;
	int r = metadata_spec(ctx, info->xml, &stored, &template_hash);

	if (r < 0 || (stored && str_eq(stored, before->stored) && str_eq(info->name, before->name)))
		return r;
	return ctx_fail(ctx, -EBUSY, "domain %s was changed by another process meanwhile; edit it again: "
		"vfctl edit %s", before->name, info->name);
}

static int edit_locked(struct vfctl_ctx *ctx, const struct vfctl_domain_file *before,
	const struct redefine_request *q, struct vfctl_hypervisor *hv, struct vfctl_domain_info *info,
	struct vfctl_change *change)
{
	int r = hv->get(ctx, hv, before->uuid, true, info);

	if (r == -ENOENT)
		return ctx_fail(ctx, -EBUSY, "domain %s was undefined by another process meanwhile",
			before->name);
	if (r == 0)
		r = check_same(ctx, before, info);
	if (r == 0)
		r = guest_redefine(ctx, q, change);
	if (r == 0)
		r = guest_journal(ctx, change, hv, "edit %s", before->name);
	return change_planned(ctx, change, r);
}

int vfctl_edit_plan(struct vfctl_ctx *ctx, const struct vfctl_domain_file *before,
	struct vfctl_guest *guest, const struct vfctl_place_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_domain_info_clear) struct vfctl_domain_info info = {0};
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	const struct redefine_request q = {.guest = guest, .options = options, .info = &info,
		.dry_run = dry_run};
	int r = check_identity(ctx, before, guest);

	if (r == 0)
		r = vfctl_guest_check_tuning(ctx, options->spec, guest);
	if (r == 0)
		r = guest_change_new(ctx, options->hypervisor, dry_run, &change);
	if (r < 0)
		return r;
	guest->template_hash = before->template_hash;
	r = edit_locked(ctx, before, &q, options->hypervisor, &info, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
