// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Devices of the host in a template. Each guest of the template would get them, so a VF or a PF
 * with VFs there is rejected before anything is planned with it.
 */
#include <errno.h>

#include "domain/definition.h"
#include "domain/domain.h"
#include "facts/snapshot/references.h"
#include "guest/guest.h"
#include "sriov/holder.h"
#include "types/find.h"

struct template {
	struct vfctl_ctx *ctx;
	const struct vfctl_inventory *inv;
	const struct vfctl_domain_intent *intent;
	const char *name; /* its file, for messages */
};

/* A VF that the template's own metadata names has a place that vfctl decides again. */
static int check_vf(const struct template *t, const struct vfctl_bdf *bdf, unsigned line)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf = vfctl_inventory_vf_at(t->inv, bdf, &pf);
	char name[VFCTL_BDF_TEXT], user[256];

	if (!vf || find_intent_vf(t->intent, bdf))
		return 0;
	return ctx_fail(t->ctx, -EEXIST, "%s:%u: the template has VF %s/%u (%s), which is %s; remove it "
		"there, and request VFs in guest.yaml (vfs)", t->name, line, vfctl_pf_name(pf, name),
		vf->index, TEXT(bdf), vf_describe_user(vf, user, sizeof(user)));
}

static int check_pf(const struct template *t, const struct vfctl_bdf *bdf, unsigned line)
{
	const struct vfctl_pf *pf = find_pf_at(t->inv, bdf);
	char name[VFCTL_BDF_TEXT];

	if (!pf || !pf->num_vfs)
		return 0;
	return ctx_fail(t->ctx, -EEXIST, "%s:%u: the template has the PF %s (%s): when a guest with it "
		"starts, the kernel removes its %u VFs; remove it there, and request VFs in guest.yaml "
		"(vfs)", t->name, line, vfctl_pf_name(pf, name), TEXT(bdf), pf->num_vfs);
}

static int check_reference(const struct template *t, const struct vfctl_reference *ref)
{
	struct vfctl_bdf bdf;
	int r = reference_function(t->ctx, ref, &bdf);

	if (r < 0)
		return r == -ENOMEM ? ctx_oom(t->ctx) : 0;
	r = check_vf(t, &bdf, ref->line);
	return r < 0 || !reference_passes_through(ref->form) ? r : check_pf(t, &bdf, ref->line);
}

int guest_check_template(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *text, const char *name)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	const struct template t = {ctx, snapshot->inventory, intent, name ? name : "template"};
	_free_ char *unread = NULL;
	int r = intent ? 0 : ctx_oom(ctx);

	if (r < 0 || !text || !vfctl_domain_may_have_devices(text, strlen(text)))
		return r;
	/* Completing it reports what is not valid in it. */
	r = domain_intent_read_known(ctx, text, strlen(text), intent, &unread);
	for (size_t i = 0; r == 0 && i < intent->device_count; i++) {
		r = check_vf(&t, &intent->devices[i].bdf, intent->devices[i].line);
		if (r == 0)
			r = check_pf(&t, &intent->devices[i].bdf, intent->devices[i].line);
	}
	for (size_t i = 0; r == 0 && i < intent->reference_count; i++)
		r = check_reference(&t, &intent->references[i]);
	return r;
}
