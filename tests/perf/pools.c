// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pools DIR COUNT...: how long one take, look-up and release last, and how long the store
 * is, with so many values leased. The state files stay in DIR as COUNT.db.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/context.h"
#include "base/util.h"
#include "fleet/fleet.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"

#define ROUNDS 1001

static const char yaml[] = "host: bench\nguid-pools:\n"
	"  - {name: p, ranges: ['02:00:00:00:00:00:00:00..02:00:00:ff:ff:ff:ff:ff'],"
	" strategy: hash, rest: 1h}\n";

static struct vfctl_ctx *ctx;
static struct vfctl_host_spec *spec;
static struct vfctl_ids *ids;

static void must(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
	exit(1);
}

static uint64_t take(unsigned long n)
{
	struct vfctl_id_owner owner = {.host = "bench", .device = "vf0"};
	struct vfctl_id id;

	snprintf(owner.domain_uuid, sizeof(owner.domain_uuid),
		"%08lx-0000-4000-8000-000000000000", n);
	snprintf(owner.domain_name, sizeof(owner.domain_name), "guest%lu", n);
	must(vfctl_ids_take(ids, spec->pools, &owner, 0x8010, NULL, &id));
	return id.value;
}

static void fill(unsigned long count)
{
	for (unsigned long n = 0; n < count; n += 10000) {
		must(vfctl_ids_begin(ids));
		for (unsigned long i = n; i < n + 10000 && i < count; i++)
			take(i);
		must(vfctl_ids_end(ids, true));
	}
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof(*v), by_size);
	return v[ROUNDS / 2];
}

static void measure(unsigned long count, double filled_s, const char *path)
{
	static double took[ROUNDS], found[ROUNDS], again[ROUNDS], released[ROUNDS];
	static uint64_t values[ROUNDS];
	struct vfctl_id id;
	struct stat st = {.st_size = 0};

	for (int i = 0; i < ROUNDS; i++) {
		double t = now_us();

		values[i] = take(count + (unsigned long)i);
		took[i] = now_us() - t;
		t = now_us();
		must(vfctl_ids_find(ids, VFCTL_ID_GUID, values[i], &id));
		found[i] = now_us() - t;
		t = now_us();
		take(count + (unsigned long)i);
		again[i] = now_us() - t;
	}
	for (int i = 0; i < ROUNDS; i++) {
		double t = now_us();

		must(vfctl_ids_release(ids, VFCTL_ID_GUID, values[i], NULL, false));
		released[i] = now_us() - t;
	}
	stat(path, &st);
	printf("%9lu %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f\n", count, median(took),
		median(found), median(again), median(released), filled_s,
		(double)st.st_size / 1048576);
}

int main(int argc, char **argv)
{
	printf("%9s %10s %10s %10s %10s %10s %10s\n", "leases", "take us", "find us", "again us",
		"release us", "fill s", "file MiB");
	for (int i = 2; i < argc; i++) {
		unsigned long count = strtoul(argv[i], NULL, 10);
		_free_ char *path = str_format("%s/%lu.db", argv[1], count);
		double start;

		if (!path || vfctl_ctx_new(&ctx) < 0)
			return 1;
		must(vfctl_ctx_set_state_path(ctx, path));
		must(vfctl_host_spec_parse(ctx, "bench", yaml, strlen(yaml), &spec));
		must(vfctl_ids_open(ctx, spec, true, &ids));
		start = now_us();
		fill(count);
		measure(count, (now_us() - start) / 1e6, path);
		fflush(stdout);
		vfctl_ids_close(ids);
		vfctl_host_spec_free(spec);
		vfctl_ctx_free(ctx);
	}
	return 0;
}
