// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place NAME VCPUS MEMORY_MIB [MODEL]: where a guest of that size would go, on this host or on a
 * model (JSON of "vfctl topology --json", lstopo's XML, "synthetic:numa:2 core:8 pu:2"). Nothing
 * is changed.
 *
 *	cc -o place place.c $(pkg-config --cflags --libs vfctl)
 */
#include <stdio.h>
#include <stdlib.h>

#include <vfctl/context.h>
#include <vfctl/session.h>

static void print(const char *name, const struct vfctl_assignment *a)
{
	char cpus[512];

	if (a->refusal != VFCTL_REFUSAL_NONE) {
		printf("%s: does not fit (%s)\n", name, vfctl_refusal_name(a->refusal));
	} else {
		vfctl_cpuset_format(&a->held_cpus, cpus, sizeof(cpus));
		printf("%s: node %d, CPUs %s\n", name, a->node, cpus);
	}
	for (size_t i = 0; i < a->reason_count; i++)
		printf("  %s\n", a->reasons[i].text);
}

static int place_on_model(struct vfctl_ctx *ctx, struct vfctl_guest *guest, const char *path)
{
	struct vfctl_host_model *model = NULL;
	struct vfctl_requests *requests = NULL;
	struct vfctl_plan *plan = NULL;
	int r = vfctl_model_load(ctx, path, &model);

	if (r == 0)
		r = vfctl_requests_make(ctx, model, &guest, 1, &requests);
	if (r == 0)
		r = vfctl_plan_make(ctx, model, requests->v, requests->count, NULL, &plan);
	if (r == 0)
		print(guest->name, &plan->assignments[0]);
	vfctl_plan_free(plan);
	vfctl_requests_free(requests);
	vfctl_model_free(model);
	return r;
}

/* With what others hold here. To define the guest as well: open for writing, connect with
 * vfctl_libvirt_open, and run what vfctl_define_plan() gives. */
static int place_here(struct vfctl_ctx *ctx, struct vfctl_guest *guest)
{
	struct vfctl_session *session = NULL;
	struct vfctl_placement *placed = NULL;
	int r = vfctl_session_open(ctx, NULL, &session);

	if (r == 0)
		r = vfctl_place(ctx, guest, vfctl_session_place(session), &placed);
	if (r == 0)
		print(guest->name, vfctl_placement_assignment(placed));
	vfctl_placement_free(placed);
	vfctl_session_close(session);
	return r;
}

int main(int argc, char **argv)
{
	struct vfctl_guest *guest = NULL;
	struct vfctl_ctx *ctx;
	int r;

	if (argc < 4) {
		fprintf(stderr, "usage: place NAME VCPUS MEMORY_MIB [MODEL]\n");
		return 2;
	}
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = vfctl_guest_new(ctx, argv[1], (uint32_t)strtoul(argv[2], NULL, 10),
		strtoull(argv[3], NULL, 10) << 20, &guest);
	if (r == 0)
		r = argc > 4 ? place_on_model(ctx, guest, argv[4]) : place_here(ctx, guest);
	if (r < 0)
		fprintf(stderr, "place: %s\n", vfctl_ctx_error(ctx));
	vfctl_guest_free(guest);
	vfctl_ctx_free(ctx);
	return r < 0;
}
