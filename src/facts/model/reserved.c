// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The host's own CPUs: those stated in host.yaml, on the kernel's command line, or by the caller.
 */
#include <errno.h>

#include "facts/model/model.h"
#include "host/host.h"

static int check_online(struct vfctl_ctx *ctx, const struct vfctl_host_model *m,
	const char *what, const struct vfctl_cpuset *set)
{
	struct vfctl_cpuset gone = *set;
	char text[128];

	vfctl_cpuset_andnot(&gone, &m->topology->online);
	if (vfctl_cpuset_empty(&gone))
		return 0;
	vfctl_cpuset_format(&gone, text, sizeof(text));
	return ctx_usage_error(ctx, -EINVAL,
		"%s: this host has no CPU %s online; name others, or bring "
		"%s online",
		what, text, vfctl_cpuset_count(&gone) == 1 ? "it" : "them");
}

/*
 * The CPUs that isolcpus leaves to the kernel, without those that guests share. Empty: none are
 * isolated.
 */
static struct vfctl_cpuset housekeeping(struct vfctl_ctx *ctx,
	const struct vfctl_host_model *m)
{
	struct vfctl_cpuset isolated, rest = m->topology->online;
	_free_ char *text = NULL;

	if (host_try_read(ctx, &text, "/sys/devices/system/cpu/isolated") < 0 ||
		vfctl_cpuset_parse(text, &isolated) < 0 || vfctl_cpuset_empty(&isolated))
		return (struct vfctl_cpuset){0};
	vfctl_cpuset_andnot(&rest, &isolated);
	vfctl_cpuset_andnot(&rest, &m->shared_cpus);
	return rest;
}

static int add_given(struct vfctl_ctx *ctx, const struct vfctl_cpuset *given,
	struct vfctl_host_model *m)
{
	struct vfctl_cpuset both = *given;
	char text[128];
	int r = check_online(ctx, m, "--reserve", given);

	if (r < 0)
		return r;
	vfctl_cpuset_and(&both, &m->shared_cpus);
	vfctl_cpuset_format(&both, text, sizeof(text));
	if (text[0])
		return ctx_usage_error(ctx, -EINVAL,
			"--reserve: CPU %s is in shared-cpus of host.yaml; a CPU is either "
			"reserved for the host or shared by guests",
			text);
	vfctl_cpuset_or(&m->reserved_cpus, given);
	return 0;
}

static int read_spec(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_host_model *m)
{
	int r = check_online(ctx, m, "reserved-cpus", &spec->reserved_cpus);

	if (r < 0)
		return ctx_prefix(ctx, r, "%s", spec->reserved_cpus_at);
	r = check_online(ctx, m, "shared-cpus", &spec->shared_cpus);
	if (r < 0)
		return ctx_prefix(ctx, r, "%s", spec->shared_cpus_at);
	m->reserved_cpus = spec->reserved_cpus;
	m->host_memory_bytes = spec->reserved_memory_bytes;
	m->shared_cpus = spec->shared_cpus;
	if (spec->shared_ratio)
		m->shared_ratio = spec->shared_ratio;
	return 0;
}

int model_read_reserved(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	struct vfctl_host_model *m)
{
	const struct vfctl_host_spec *spec = options->spec;
	bool given = !vfctl_cpuset_empty(&options->reserved_cpus);
	const char *why = NULL;
	int r = 0;

	m->shared_ratio = VFCTL_SHARED_RATIO;
	if (spec)
		r = read_spec(ctx, spec, m);
	if (r < 0)
		return r;
	if (spec && spec->reserved_stated)
		why = "host.yaml";
	else
		m->reserved_cpus = housekeeping(ctx, m);
	if (!why && !vfctl_cpuset_empty(&m->reserved_cpus))
		why = "isolcpus";
	if (given)
		r = add_given(ctx, &options->reserved_cpus, m);
	if (r < 0 || (!why && !given))
		return r;
	m->reserved_why = str_format("%s%s%s", why ? why : "", why && given ? " and " : "",
		given ? "--reserve" : "");
	return m->reserved_why ? 0 : ctx_oom(ctx);
}
