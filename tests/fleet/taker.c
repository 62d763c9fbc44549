// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * taker STATE HOST.YAML FIRST COUNT [PAUSE_MS]: takes a value of the first pool for each of
 * COUNT domains, numbered from FIRST. A line each: number, value or the error's name, and
 * how many milliseconds it took; "# per second" at the end, of all
 * but the first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "facts/hostfile.h"
#include "fleet/fleet.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static int take(struct vfctl_ids *ids, long n)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool(ids, VFCTL_ID_GUID, NULL);
	struct vfctl_id_owner owner = {.device = "vf0"};
	double begun = now_s();
	struct vfctl_id id;
	int r;

	snprintf(owner.host, sizeof(owner.host), "%s", vfctl_ids_spec(ids)->host);
	snprintf(owner.domain_uuid, sizeof(owner.domain_uuid),
		"%08lx-0000-4000-8000-000000000000", n);
	snprintf(owner.domain_name, sizeof(owner.domain_name), "guest%ld", n);
	r = vfctl_ids_take(ids, pool, &owner, 0x8010, NULL, &id);
	if (r == 0)
		printf("%ld %016" PRIx64 " %.0f\n", n, id.value, (now_s() - begun) * 1000);
	else
		printf("%ld %s %.0f\n", n, errno_name(r), (now_s() - begun) * 1000);
	fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	struct vfctl_host_spec *spec = NULL;
	struct vfctl_ids *ids = NULL;
	struct vfctl_ctx *ctx;
	int r, failed = 0;
	double begun;

	if (argc < 5 || vfctl_ctx_new(&ctx) < 0)
		return 2;
	r = vfctl_ctx_set_state_path(ctx, argv[1]);
	if (r == 0)
		r = vfctl_host_spec_read(ctx, argv[2], &spec);
	if (r == 0)
		r = vfctl_ids_open(ctx, spec, true, &ids);
	begun = now_s();
	for (long i = 0; r == 0 && i < atol(argv[4]); i++) {
		if (take(ids, atol(argv[3]) + i) < 0) {
			fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
			failed = 1;
		}
		if (i == 0) /* which loads curl and connects */
			begun = now_s();
		if (argc > 5)
			pause_ms(atol(argv[5]));
	}
	if (r < 0)
		fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
	printf("# %.1f per second\n", (double)(atol(argv[4]) - 1) / (now_s() - begun));
	vfctl_ids_close(ids);
	vfctl_host_spec_free(spec);
	vfctl_ctx_free(ctx);
	return r < 0 ? 2 : failed;
}
