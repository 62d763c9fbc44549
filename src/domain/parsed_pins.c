// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the CPUs of a domain's threads. A thread without a pin runs on the CPUs of <vcpu>. */

#include "base/parse.h"
#include "domain/domain.h"

static int read_vcpu_pins(struct vfctl_ctx *ctx, const struct xml_node *tune,
	const struct vfctl_cpuset *all, struct vfctl_parsed_domain *parsed)
{
	uint32_t vcpu;
	int r = 0;

	parsed->vcpu_pins = calloc(parsed->vcpus, sizeof(*parsed->vcpu_pins));
	if (!parsed->vcpu_pins)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < parsed->vcpus; i++)
		parsed->vcpu_pins[i] = *all;
	xml_each(pin, tune, "vcpupin")
	{
		const char *text = xml_get(pin, "vcpu");

		if (r < 0 || !text || parse_u32(text, 0, UINT32_MAX, &vcpu) < 0 ||
			vcpu >= parsed->vcpus)
			continue;
		parsed->vcpu_pins[vcpu] = (struct vfctl_cpuset){0};
		r = parsed_skip(ctx, parsed,
			parsed_list(ctx, pin, "cpuset", &parsed->vcpu_pins[vcpu]));
	}
	return r;
}

static int read_emulator_pin(struct vfctl_ctx *ctx, const struct xml_node *tune,
	const struct vfctl_cpuset *all, struct vfctl_parsed_domain *parsed)
{
	int r = 0;

	xml_each(pin, tune, "emulatorpin")
		if (r == 0)
			r = parsed_skip(ctx, parsed,
				parsed_list(ctx, pin, "cpuset", &parsed->emulator_cpus));
	if (r == 0 && vfctl_cpuset_empty(&parsed->emulator_cpus))
		parsed->emulator_cpus = *all;
	return r;
}

static int add_iothread_pin(struct vfctl_ctx *ctx, struct vfctl_parsed_domain *parsed,
	const struct vfctl_cpuset *cpus)
{
	if (!array_grow(parsed->iothread_pins, parsed->iothread_pin_count))
		return ctx_oom(ctx);
	parsed->iothread_pins[parsed->iothread_pin_count++] = *cpus;
	return 0;
}

static int read_iothread_pins(struct vfctl_ctx *ctx, const struct xml_node *tune,
	const struct vfctl_cpuset *all, struct vfctl_parsed_domain *parsed)
{
	int r = 0;

	xml_each(pin, tune, "iothreadpin")
	{
		struct vfctl_cpuset cpus = {0};

		if (r == 0)
			r = parsed_skip(ctx, parsed, parsed_list(ctx, pin, "cpuset", &cpus));
		vfctl_cpuset_or(&parsed->iothread_cpus, &cpus);
		if (r == 0)
			r = add_iothread_pin(ctx, parsed, &cpus);
	}
	if (r == 0 && parsed->iothread_pin_count < parsed->iothreads)
		r = add_iothread_pin(ctx, parsed, all);
	return r;
}

int parsed_read_pins(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_parsed_domain *parsed)
{
	const struct xml_node *tune = xml_child(domain, "cputune");
	struct vfctl_cpuset all = {0};
	int r = parsed_skip(ctx, parsed,
		parsed_list(ctx, xml_child(domain, "vcpu"), "cpuset", &all));

	if (r == 0)
		r = read_vcpu_pins(ctx, tune, &all, parsed);
	if (r == 0)
		r = read_emulator_pin(ctx, tune, &all, parsed);
	return r < 0 ? r : read_iothread_pins(ctx, tune, &all, parsed);
}
