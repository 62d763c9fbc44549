// SPDX-License-Identifier: GPL-2.0-or-later
/* Placements of guests on a session's host or on a model, and their domain XML. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/asked.h"
#include "base/buf.h"
#include "domain/definition.h"
#include "facts/session.h"
#include "guest/guest.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"
#include "vfctl/domain.h"

struct vfctl_placed {
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor; /* of the session; NULL without a connection or on a model */
	struct vfctl_placement *placement;   /* placed on a host */
	struct vfctl_requests *requests;     /* placed on a model */
	struct vfctl_plan *plan;	     /* placed on a model */
};

DEFINE_FREEP(struct vfctl_placed, vfctl_placed_free)

int vfctl_place_guest(struct vfctl_session *session, struct vfctl_guest *guest,
	struct vfctl_placed **ret)
{
	_cleanup_(vfctl_placed_freep) struct vfctl_placed *p = calloc(1, sizeof(*p));
	struct vfctl_ctx *ctx = session_ctx(session);
	int r;

	if (!p)
		return ctx_oom(ctx);
	p->ctx = ctx;
	p->hypervisor = session_hypervisor(session);
	r = vfctl_place(ctx, guest, session_place(session), &p->placement);
	if (r == 0)
		*ret = steal(p);
	return r;
}

int vfctl_place_on_model(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	struct vfctl_guest *const guests[], size_t count, struct vfctl_placed **ret)
{
	_cleanup_(vfctl_placed_freep) struct vfctl_placed *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return ctx_oom(ctx);
	p->ctx = ctx;
	r = vfctl_requests_make(ctx, model, guests, count, &p->requests);
	if (r == 0)
		r = vfctl_plan_make(ctx, model, p->requests->v, count, NULL, &p->plan);
	if (r == 0)
		*ret = steal(p);
	return r;
}

void vfctl_placed_free(struct vfctl_placed *placed)
{
	if (!placed)
		return;
	vfctl_placement_free(placed->placement);
	vfctl_plan_free(placed->plan);
	vfctl_requests_free(placed->requests);
	free(placed);
}

static const struct vfctl_plan *plan_of(const struct vfctl_placed *placed)
{
	return placed->placement ? vfctl_placement_plan(placed->placement) : placed->plan;
}

const struct vfctl_assignment *vfctl_placed_assignment(const struct vfctl_placed *placed,
	size_t index)
{
	const struct vfctl_plan *plan = plan_of(placed);

	return plan && index < plan->count ? &plan->assignments[index] : NULL;
}

bool vfctl_placed_is_proven(const struct vfctl_placed *placed)
{
	const struct vfctl_plan *plan = plan_of(placed);

	return plan && plan->gap_level == VFCTL_LEVELS;
}

enum vfctl_refusal vfctl_assignment_refusal(const struct vfctl_assignment *assignment)
{
	return assignment->refusal;
}

int vfctl_assignment_node(const struct vfctl_assignment *assignment)
{
	return assignment->refusal == VFCTL_REFUSAL_NONE ? assignment->node : VFCTL_NODE_NONE;
}

bool vfctl_assignment_is_local(const struct vfctl_assignment *assignment)
{
	return assignment->refusal == VFCTL_REFUSAL_NONE && assignment->local;
}

/* ---- members that are read by key ---- */

static int give_cpus(const struct vfctl_cpuset *set, char *buf, size_t size)
{
	size_t len = vfctl_cpuset_format(set, buf, size);

	return len ? (int)len : -ENODATA;
}

static int give_buf(struct buf *text, char *buf, size_t size)
{
	return text->failed ? -ENOMEM : give_text(text->data, buf, size);
}

static int give_vcpus(const struct vfctl_assignment *a, char *buf, size_t size)
{
	_buf_ struct buf text = {0};

	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] == VFCTL_CPU_MAX)
			buf_printf(&text, "%s-", i ? "," : "");
		else
			buf_printf(&text, "%s%" PRIu32, i ? "," : "", a->vcpus[i]);
	return give_buf(&text, buf, size);
}

static int give_nodes(const struct vfctl_assignment *a, bool memory, char *buf, size_t size)
{
	_buf_ struct buf text = {0};

	for (size_t i = 0; i < a->cell_count; i++)
		buf_printf(&text, "%s%d", i ? "," : "", memory ? a->cells[i].memory_node : a->cells[i].node);
	return give_buf(&text, buf, size);
}

int vfctl_assignment_get(const struct vfctl_assignment *a, const char *key, char *buf, size_t size)
{
	static const char *const keys[] = {"cpus", "vcpus", "emulator-cpus", "iothread-cpus", "nodes",
		"memory-nodes", "memory-bytes", "page-bytes", "distance"};

	if (!str_is_one_of(keys, ARRAY_SIZE(keys), key, strlen(key)))
		return -ENOENT;
	if (a->refusal != VFCTL_REFUSAL_NONE)
		return -ENODATA;
	if (str_eq(key, "cpus"))
		return give_cpus(&a->held_cpus, buf, size);
	if (str_eq(key, "vcpus"))
		return give_vcpus(a, buf, size);
	if (str_eq(key, "emulator-cpus"))
		return give_cpus(&a->emulator_cpus, buf, size);
	if (str_eq(key, "iothread-cpus"))
		return give_cpus(&a->iothread_cpus, buf, size);
	if (str_eq(key, "nodes") || str_eq(key, "memory-nodes"))
		return give_nodes(a, str_eq(key, "memory-nodes"), buf, size);
	return snprintf(buf, size, "%" PRIu64, str_eq(key, "memory-bytes") ? a->memory_bytes
		: str_eq(key, "page-bytes") ? a->page_bytes : a->distance);
}

char *vfctl_assignment_vf(const struct vfctl_assignment *assignment, size_t index,
	char buf[VFCTL_BDF_TEXT])
{
	return index < assignment->vf_count ? vfctl_bdf_format(&assignment->vfs[index].bdf, buf) : NULL;
}

const char *vfctl_assignment_reason(const struct vfctl_assignment *assignment, size_t index,
	enum vfctl_reason_kind *ret_kind)
{
	if (index >= assignment->reason_count)
		return NULL;
	if (ret_kind)
		*ret_kind = assignment->reasons[index].kind;
	return assignment->reasons[index].text;
}

/* ---- domain XML ---- */

int vfctl_placed_xml(const struct vfctl_placed *placed, const char *template_name, char **ret_xml)
{
	_free_ char *text = NULL, *path = NULL;
	int r;

	if (!placed->placement)
		return ctx_usage_error(placed->ctx, -EINVAL, "a guest on a model has no domain XML");
	r = placed_check(placed->ctx, placed->placement);
	if (r == 0)
		r = template_read(placed->ctx,
			template_name ? template_name : placed->placement->guest->template_name,
			&text, &path);
	if (r < 0)
		return r;
	return vfctl_placement_xml(placed->ctx, placed->placement, text, path,
		placed->hypervisor ? placed->hypervisor->version : 0, ret_xml);
}

int vfctl_domain_read_placement(struct vfctl_ctx *ctx, const char *xml,
	const struct vfctl_host_model *model, struct vfctl_assignment **ret)
{
	return vfctl_domain_placement(ctx, xml, model ? model->topology : NULL, ret);
}

void vfctl_assignment_free(struct vfctl_assignment *assignment)
{
	vfctl_domain_placement_free(assignment);
}

const char *vfctl_guest_name(const struct vfctl_guest *guest)
{
	return guest->name;
}
