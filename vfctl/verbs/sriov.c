// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy, set */
#include <errno.h>
#include <string.h>

#include "command.h"
#include "host_ids.h"
#include "core/inventory.h"
#include "core/sriov.h"

/* Digits only: no sign, no 0x, no spaces, and at most the number of VFs that PCI permits. */
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
		return usage(in, "'%s' is not a number of VFs: %s", in->args[1],
			r == -ERANGE ? "PCI allows 65535 at most" : "write a decimal number such as 8");
	if (read_driver(driver, &options.driver) < 0)
		return usage(in, "--driver must be vfio-pci, host or none, not '%s'", driver);
	options.keep_identities = option_of(in, "keep-identities");
	status = host_ids_open(in, !in->dry_run, &h);
	if (status)
		return status;
	options.ids = h.ids;
	options.despite = option_of(in, "ignore-definitions");
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
	{"driver", 0, "DRIVER",
		"bind the VFs to vfio-pci (default), host (their own driver) or none", "vfio-pci host none"},
	{"guid-pool", 0, "POOL", "take the GUIDs of an InfiniBand PF from this pool", NULL},
	{"pkey", 0, "P_KEY", "partition of the VFs of an InfiniBand PF, for the subnet manager", NULL},
	{"ignore-definitions", 0, "DOMAINS",
		"proceed even if the definitions of these domains, which are off, have VFs of the "
		"PF, or these libvirt networks provide VFs of it",
		NULL},
	{"keep-identities", 0, NULL, "keep the MACs (InfiniBand: GUIDs) that the driver chose", NULL},
};

const struct command cmd_create = {
	.name = "create",
	.group = GROUP_VFS,
	.common = true,
	.answer = change_answer,
	.args = "PF N",
	.summary = "Create N VFs on a PF for passthrough",
	.text = "Each VF gets a stable MAC or GUID and is bound to vfio-pci. A PF that has N "
		"VFs already keeps them; only VFs with another driver are bound again. Any "
		"other number removes all VFs and creates N new ones, so it is rejected while"
		" a VF of the PF is in use.",
	.examples = {{"vfctl create ens1 8 --dry-run", "print the steps"},
		{"vfctl create ib0 4 --guid-pool fabric-a", "GUIDs from a pool"}},
	.min_args = 2,
	.max_args = 2,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(create_options),
	.run = run_create,
};

static int destroy_one(struct invocation *in, const struct host_ids *h, const char *pf)
{
	struct vfctl_change *change;
	char done[96];
	int r;

	in->result_pf = pf;
	r = vfctl_destroy_plan(in->ctx, h->ids, pf, option_of(in, "ignore-definitions"), in->dry_run,
		&change);
	snprintf(done, sizeof(done), "%s has no VFs", pf);
	return r < 0 ? fail(in, r) : run_ids_change(in, h, change, done);
}

/* Each PF is a separate change; a failure does not stop the others. */
static int run_destroy(struct invocation *in)
{
	_cleanup_(host_ids_close) struct host_ids h = {0};
	int worst = EXIT_DONE, status = host_ids_open(in, !in->dry_run, &h);
	bool some_done = false, several;

	if (status)
		return status;
	several = in->json && in->arg_count > 1 && !option_of(in, "get");
	if (several)
		answer_open_several(in->out);
	for (size_t i = 0; i < in->arg_count && !in->again; i++) {
		status = destroy_one(in, &h, in->args[i]);
		some_done |= status == EXIT_DONE;
		worst = status ? status : worst;
	}
	if (several)
		answer_close_several(in->out);
	return worst && some_done && !in->dry_run ? EXIT_PARTLY : worst;
}

static const struct option_row destroy_options[] = {
	{"ignore-definitions", 0, "DOMAINS",
		"proceed even if the definitions of these domains, which are off, have VFs of the "
		"PF, or these libvirt networks provide VFs of it",
		NULL},
};

static const struct answer destroy_answer[] = {CHANGE_DRY_RUN, CHANGE_DONE, ANSWER_SEVERAL, {0}};

const struct command cmd_destroy = {
	.name = "destroy",
	.alias = "rm",
	.group = GROUP_VFS,
	.common = true,
	.answer = destroy_answer,
	.args = "PF...",
	.summary = "Remove all VFs of PFs",
	.text = "A PF is rejected while one of its VFs is in use; this does not stop the others (exit "
		"status 4).",
	.examples = {{"vfctl destroy ens1 ens2", "remove the VFs of both PFs"},
		{"vfctl destroy ens1 --ignore-definitions web", "even if the definition of web, "
			"which is off, has one"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(destroy_options),
	.run = run_destroy,
};

