// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * create [-n] PF COUNT [OPTION=VALUE...]: give a PF a number of VFs. The program inspects the
 * operations before it runs them, and does not run a change that would replace existing VFs. With
 * -n nothing is changed.
 *
 *	cc -o create create.c $(pkg-config --cflags --libs vfctl)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vfctl/vfctl.h>

static void print_operations(const struct vfctl_change *change)
{
	const char *type, *want, *before;

	for (size_t i = 0; i < vfctl_change_count(change); i++) {
		printf("%zu. %s\n", i + 1, vfctl_change_describe(change, i));
		for (size_t k = 0; (type = vfctl_operation_type(change, i, k)); k++) {
			want = vfctl_operation_want(change, i, k);
			before = vfctl_operation_before(change, i, k);
			printf("   %s %s: %s -> %s\n", type, vfctl_operation_target(change, i, k),
				before ? before : "?", want ? want : "-");
		}
	}
}

/* Whether a change replaces existing VFs. */
static int replaces_vfs(const struct vfctl_change *change)
{
	const char *type, *before;

	for (size_t i = 0; i < vfctl_change_count(change); i++)
		for (size_t k = 0; (type = vfctl_operation_type(change, i, k)); k++) {
			before = vfctl_operation_before(change, i, k);
			if (strcmp(type, "numvfs") == 0 && before && strcmp(before, "0") != 0)
				return 1;
		}
	return 0;
}

static int create(struct vfctl_session *session, struct vfctl_ctx *ctx, const char *pf,
	unsigned long count, const char *const options[], int dry_run)
{
	struct vfctl_change *change;
	int r = vfctl_plan_create(session, pf, (uint32_t)count, options, dry_run, &change);

	if (r < 0)
		return r;
	print_operations(change);
	if (vfctl_change_count(change) == 0) {
		printf("nothing to do\n");
	} else if (replaces_vfs(change)) {
		printf("not run: it would replace VFs\n");
	} else if (!dry_run) {
		r = vfctl_change_run(ctx, change);
		if (r == 0 && vfctl_change_moves_ids(change))
			vfctl_session_after_change(session, NULL);
		if (r == 0)
			printf("done\n");
	}
	vfctl_change_free(change);
	return r;
}

int main(int argc, char **argv)
{
	const int dry_run = argc > 1 && strcmp(argv[1], "-n") == 0, first = 1 + dry_run;
	const char *const opening[] = {dry_run ? "write=off" : "write=on", NULL};
	const char *state = getenv("VFCTL_STATE");
	struct vfctl_session *session = NULL;
	struct vfctl_ctx *ctx;
	int r;

	if (argc < first + 2) {
		fprintf(stderr, "usage: create [-n] PF COUNT [OPTION=VALUE...]\n");
		return 2;
	}
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = state ? vfctl_ctx_set(ctx, "state", state) : 0;
	if (r == 0)
		r = vfctl_session_open(ctx, opening, &session);
	/* argv ends with NULL, like an array of options. */
	if (r == 0)
		r = create(session, ctx, argv[first], strtoul(argv[first + 1], NULL, 10),
			(const char *const *)&argv[first + 2], dry_run);
	if (r < 0)
		fprintf(stderr, "create: %s (%s)\n", vfctl_ctx_error(ctx), strerror(-r));
	vfctl_session_close(session);
	vfctl_ctx_free(ctx);
	return r < 0;
}
