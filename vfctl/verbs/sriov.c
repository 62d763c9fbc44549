// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy, set */
#include <errno.h>
#include <string.h>

#include "command.h"
#include "host_ids.h"
#include "core/inventory.h"
#include "core/sriov.h"

/* Digits only: no sign, no 0x, no blanks, and no more VFs than PCI can count. */
static int read_count(const char *text, uint32_t *ret)
{
	uint32_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		value = value * 10 + (uint32_t)(*p - '0');
		if (value > UINT16_MAX)
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

static int read_driver(const char *text, enum vfctl_vf_driver *ret)
{
	static const char *const names[] = {
		[VFCTL_VF_DRIVER_VFIO] = "vfio-pci",
		[VFCTL_VF_DRIVER_HOST] = "host",
		[VFCTL_VF_DRIVER_NONE] = "none",
	};

	for (size_t i = 0; text && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], text) == 0) {
			*ret = (enum vfctl_vf_driver)i;
			return 0;
		}
	return text ? -EINVAL : 0;
}

static int run_create(struct invocation *in)
{
	struct vfctl_create_options options = {.driver = VFCTL_VF_DRIVER_VFIO};
	const char *driver = option_of(in, "driver");
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	char done[96];
	int r, status;

	r = read_count(in->args[1], &options.count);
	if (r < 0)
		return usage(in, "'%s' is no number of VFs: %s", in->args[1],
			r == -ERANGE ? "PCI allows 65535 at most" : "write a decimal number such as 8");
	if (read_driver(driver, &options.driver) < 0)
		return usage(in, "--driver must be vfio-pci, host or none, not '%s'", driver);
	options.keep_identities = option_of(in, "keep-identities");
	status = host_ids_open(in, !in->dry_run, &h);
	if (status)
		return status;
	options.ids = h.ids;
	options.despite = option_of(in, "despite");
	options.guid_pool = option_of(in, "guid-pool");
	if (option_of(in, "pkey") && vfctl_host_spec_pkey(in->ctx, h.spec, option_of(in, "pkey"),
		&options.pkey) < 0)
		return usage(in, "--pkey: %s", vfctl_ctx_error(in->ctx));
	in->result_pf = in->args[0];
	r = vfctl_create_plan(in->ctx, in->args[0], &options, in->dry_run, &change);
	snprintf(done, sizeof(done), "%s has %u VF%s", in->args[0], options.count,
		options.count == 1 ? "" : "s");
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
}

static const struct option_row create_options[] = {
	{"driver", 0, "DRIVER", "bind the VFs to vfio-pci (default), host (their own driver) or "
		"none", "vfio-pci host none"},
	{"guid-pool", 0, "POOL", "give the VFs of an InfiniBand PF GUIDs of this pool", NULL},
	{"pkey", 0, "P_KEY", "partition of an InfiniBand PF's VFs, for the subnet manager", NULL},
	{"despite", 0, "DOMAINS", "these domains, which are off, lose the VFs in their definitions",
		NULL},
	{"keep-identities", 0, NULL, "leave the MACs (InfiniBand: GUIDs) the driver chose", NULL},
};

const struct command cmd_create = {
	.name = "create",
	.answer = change_answer,
	.args = "PF N",
	.summary = "make N VFs on a PF, each with its MAC or GUID, bound for passthrough",
	.text = "A PF that has N VFs already is not touched, but for VFs on another driver. Any\n"
		"other number replaces them all, so it is refused while one of them is in use.",
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(create_options),
	.run = run_create,
};

static int run_destroy(struct invocation *in)
{
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	char done[96];
	int r, status = host_ids_open(in, !in->dry_run, &h);

	if (status)
		return status;
	in->result_pf = in->args[0];
	r = vfctl_destroy_plan(in->ctx, h.ids, in->args[0], option_of(in, "despite"), in->dry_run,
		&change);
	snprintf(done, sizeof(done), "%s has no VFs", in->args[0]);
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
}

static const struct option_row destroy_options[] = {
	{"despite", 0, "DOMAINS", "these domains, which are off, lose the VFs in their definitions",
		NULL},
};

const struct command cmd_destroy = {
	.name = "destroy",
	.answer = change_answer,
	.args = "PF",
	.summary = "remove all VFs of a PF; refused while one of them is in use",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(destroy_options),
	.run = run_destroy,
};

