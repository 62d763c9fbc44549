/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A placed guest with VFs of each kind, for the tests of domain/. */
#ifndef VFCTL_TESTS_DOMAIN_CASE_H
#define VFCTL_TESTS_DOMAIN_CASE_H

#include "base/ctx.h"
#include "types/domain.h"

#define CASE_VFS 4

struct domain_case {
	struct vfctl_guest *guest;
	struct vfctl_assignment assignment;
	struct vfctl_cell cells[8];
	uint32_t vcpus[64];
	struct vfctl_domain_vf vfs[CASE_VFS];
	struct vfctl_domain_request request;
};

static inline void case_attr(struct vfctl_ctx *ctx, struct vfctl_domain_vf *vf,
	const char *key, const char *value)
{
	assert_int_equal(vfctl_vf_attrs_parse(ctx, key, value, &vf->attrs), 0);
}

/* Guest of @yaml on node 1: vCPUs on 4,68,5,69,..., QEMU on 2,66. */
static inline void case_make(
	struct vfctl_ctx *ctx, struct domain_case *c, const char *yaml)
{
	*c = (struct domain_case){0};
	if (vfctl_guest_parse(ctx, "case", yaml, strlen(yaml), &c->guest) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	for (uint32_t i = 0; i < c->guest->vcpus; i++)
		c->vcpus[i] = 4 + i / 2 + i % 2 * 64;
	c->assignment = (struct vfctl_assignment){
		.node = 1,
		.cells = c->cells,
		.cell_count = 1,
		.vcpus = c->vcpus,
		.vcpu_count = c->guest->vcpus,
		.guest_threads = c->guest->vcpus % 2 ? 1 : 2,
		.memory_bytes = c->guest->memory_bytes,
		.page_bytes = c->guest->page_bytes == VFCTL_PAGES_AUTO
				      ? 1 << 30
				      : c->guest->page_bytes,
	};
	c->cells[0] = (struct vfctl_cell){
		.node = 1,
		.memory_node = 1,
		.vcpu_count = c->guest->vcpus,
		.memory_bytes = c->assignment.memory_bytes,
		.page_bytes = c->assignment.page_bytes,
	};
	vfctl_cpuset_add(&c->assignment.emulator_cpus, 2);
	vfctl_cpuset_add(&c->assignment.emulator_cpus, 66);
	c->assignment.iothread_cpus = c->assignment.emulator_cpus;
	for (uint32_t i = 0; i < CASE_VFS; i++)
		c->vfs[i] = (struct vfctl_domain_vf){
			.bdf = {.bus = 0x3b, .function = (uint8_t)(i + 2)},
			.pf = {.bus = 0x3b},
			.index = i,
		};
	case_attr(ctx, &c->vfs[0], "mac", "02:00:00:00:00:01");
	case_attr(ctx, &c->vfs[0], "vlan", "100");
	case_attr(ctx, &c->vfs[0], "spoofchk", "on");
	case_attr(ctx, &c->vfs[0], "trust", "off");
	case_attr(ctx, &c->vfs[1], "mac", "02:00:00:00:00:02");
	case_attr(ctx, &c->vfs[1], "vlan", "100");
	case_attr(ctx, &c->vfs[1], "qos", "3");
	case_attr(ctx, &c->vfs[1], "max-rate", "1000");
	c->vfs[2].infiniband = true;
	c->request = (struct vfctl_domain_request){
		.guest = c->guest,
		.assignment = &c->assignment,
		.lease_id = "lease-1",
		.vfs = c->vfs,
		.vf_count = 3,
		.libvirt_version = 9000000,
	};
}

static inline void case_clear(struct domain_case *c)
{
	vfctl_guest_free(c->guest);
}

#endif
