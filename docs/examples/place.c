// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place GUEST.yaml [MODEL]: print where a guest would run, on this host or on a model. A model is
 * the JSON of "vfctl topology --json", the XML of lstopo, or "synthetic:numa:2 core:8 pu:2". Nothing
 * is changed.
 *
 *	cc -o place place.c $(pkg-config --cflags --libs vfctl)
 */
#include <stdio.h>
#include <stdlib.h>

#include <vfctl/vfctl.h>

static void print(const char *name, const struct vfctl_assignment *a)
{
	enum vfctl_reason_kind kind;
	char text[512], vf[VFCTL_BDF_TEXT];
	const char *reason;

	if (vfctl_assignment_refusal(a) != VFCTL_REFUSAL_NONE) {
		printf("%s: does not fit (%s)\n", name, vfctl_refusal_name(vfctl_assignment_refusal(a)));
	} else {
		vfctl_assignment_get(a, "cpus", text, sizeof(text));
		printf("%s: node %d, CPUs %s\n", name, vfctl_assignment_node(a), text);
	}
	for (size_t i = 0; vfctl_assignment_vf(a, i, vf); i++)
		printf("  VF %s\n", vf);
	for (size_t i = 0; (reason = vfctl_assignment_reason(a, i, &kind)); i++)
		printf("  %s%s\n", kind == VFCTL_REASON_REMEDY ? "remedy: " : "", reason);
}

static int place_on_model(struct vfctl_ctx *ctx, struct vfctl_guest *guest, const char *path)
{
	struct vfctl_host_model *model = NULL;
	struct vfctl_placed *placed = NULL;
	int r = vfctl_model_load(ctx, path, &model);

	if (r == 0)
		r = vfctl_place_on_model(ctx, model, &guest, 1, &placed);
	if (r == 0)
		print(vfctl_guest_name(guest), vfctl_placed_assignment(placed, 0));
	vfctl_placed_free(placed);
	vfctl_model_free(model);
	return r;
}

/*
 * To define the guest as well, open the session with write=on and libvirt=system, and run the
 * change of vfctl_plan_define().
 */
static int place_here(struct vfctl_ctx *ctx, struct vfctl_guest *guest)
{
	struct vfctl_session *session = NULL;
	struct vfctl_placed *placed = NULL;
	int r = vfctl_session_open(ctx, NULL, &session);

	if (r == 0)
		r = vfctl_place_guest(session, guest, &placed);
	if (r == 0)
		print(vfctl_guest_name(guest), vfctl_placed_assignment(placed, 0));
	vfctl_placed_free(placed);
	vfctl_session_close(session);
	return r;
}

static int read_guest(struct vfctl_ctx *ctx, const char *path, struct vfctl_guest **ret)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(text, 1, sizeof(text), file) : 0;

	if (!file) {
		perror(path);
		exit(1);
	}
	fclose(file);
	return vfctl_guest_parse(ctx, path, text, len, ret);
}

int main(int argc, char **argv)
{
	const char *state = getenv("VFCTL_STATE");
	struct vfctl_guest *guest = NULL;
	struct vfctl_ctx *ctx;
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: place GUEST.yaml [MODEL]\n");
		return 2;
	}
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = state ? vfctl_ctx_set(ctx, "state", state) : 0;
	if (r == 0)
		r = read_guest(ctx, argv[1], &guest);
	if (r == 0)
		r = argc > 2 ? place_on_model(ctx, guest, argv[2]) : place_here(ctx, guest);
	if (r < 0)
		fprintf(stderr, "place: %s\n", vfctl_ctx_error(ctx));
	vfctl_guest_free(guest);
	vfctl_ctx_free(ctx);
	return r < 0;
}
