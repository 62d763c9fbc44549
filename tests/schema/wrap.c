// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linked with --wrap: whatever a test, a story or a fuzzer gives to a parser is held against the
 * schema at once. What the parser takes, the schema must take.
 */
#include "bench/plan.h"
#include "check.h"
#include "types/guest.h"
#include "types/hostspec.h"

int __real_vfctl_guest_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_guest **ret);
int __wrap_vfctl_guest_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_guest **ret);
int __wrap_vfctl_guest_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_guest **ret)
{
	int r = __real_vfctl_guest_parse(ctx, file, text, len, ret);

	schema_holds(SCHEMA_GUEST, text, len, r == 0);
	return r;
}

int __real_vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret);
int __wrap_vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret);
int __wrap_vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret)
{
	int r = __real_vfctl_host_spec_parse(ctx, file, text, len, ret);

	schema_holds(SCHEMA_HOST, text, len, r == 0);
	return r;
}

int __real_vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret);
int __wrap_vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret);
int __wrap_vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret)
{
	int r = __real_vfctl_host_spec_parse_files(ctx, files, count, ret);

	/* An editor sees one of them at a time. */
	for (size_t i = 0; i < count; i++)
		schema_holds(SCHEMA_HOST, files[i].text, files[i].len, r == 0);
	return r;
}

int __real_bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret);
int __wrap_bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret);
int __wrap_bench_plan_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct bench_plan **ret)
{
	int r = __real_bench_plan_parse(ctx, file, text, len, ret);

	schema_holds(SCHEMA_BENCH, text, len, r == 0);
	return r;
}
