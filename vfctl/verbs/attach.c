// SPDX-License-Identifier: GPL-2.0-or-later
/* attach, detach */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr_args.h"
#include "command.h"
#include "host_ids.h"
#include "core/workflow.h"

static unsigned affect_of(const struct invocation *in)
{
	return (option_of(in, "live") ? VFCTL_AFFECT_LIVE : 0u) |
		(option_of(in, "config") ? VFCTL_AFFECT_CONFIG : 0u);
}

/* Attributes after the domain's name, in the form of `vfctl set`. */
static int read_attrs(struct invocation *in, struct vfctl_vf_attrs *attrs, uint32_t *ret_given)
{
	attrs->mask = 0;
	for (size_t i = 1; i < in->arg_count; i++)
		if (attr_arg(in, in->args[i], attrs))
			return EXIT_USAGE;
	if (vfctl_vf_attrs_check(in->ctx, attrs) < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	*ret_given = attrs->mask;
	/* Use the safe defaults, as guest.yaml does. */
	if (!(attrs->mask & VFCTL_ATTR_SPOOFCHK))
		attrs->spoofchk = true;
	attrs->mask |= VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST;
	return 0;
}

static int read_form(struct invocation *in, enum vfctl_vf_form *ret)
{
	static const char *const names[] = {
		[VFCTL_FORM_AUTO] = "auto",
		[VFCTL_FORM_INTERFACE] = "interface",
		[VFCTL_FORM_HOSTDEV] = "hostdev",
	};
	const char *text = option_of(in, "form");

	for (size_t i = 0; text && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], text) == 0) {
			*ret = (enum vfctl_vf_form)i;
			return 0;
		}
	return text ? usage(in, "--form must be auto, interface or hostdev, not '%s'", text) : 0;
}

/* The number of VFs, and whether present ones count. */
static int read_count(struct invocation *in, struct vfctl_attach_options *o)
{
	int status = option_number(in, "count", 1, VFCTL_GUEST_VFS_MAX, &o->count);

	if (!status && o->count && o->vf)
		status = usage(in, "--count is for VFs of a PF (--pf), not for one that is named");
	if (!status && o->count > 1 && o->attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS))
		status = usage(in, "one MAC or GUID cannot be given to %u VFs", (unsigned)o->count);
	return status;
}

static int run_attach(struct invocation *in)
{
	struct vfctl_attach_options o = {.pf = option_of(in, "pf"), .vf = option_of(in, "vf"),
		.identity = {.guid_pool = (char *)option_of(in, "guid-pool"),
			.mac_pool = (char *)option_of(in, "mac-pool"),
			.pkey = (char *)option_of(in, "pkey")},
		.affect = affect_of(in)};
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	char done[300];
	int status, r;

	if (!o.pf == !o.vf)
		return usage(in, "name the VF: --pf PF (any free VF of it) or --vf PF/INDEX");
	o.ensure = option_of(in, "ensure");
	status = read_attrs(in, &o.attrs, &o.ensure_mask);
	if (!status)
		status = read_count(in, &o);
	if (!status)
		status = read_form(in, &o.form);
	if (!status)
		status = host_ids_open_guest(in, &h, &hv);
	if (status)
		return status;
	o.ids = h.ids;
	o.spec = h.spec;
	in->result_domain = in->args[0];
	r = vfctl_attach_plan(in->ctx, hv, in->args[0], &o, in->dry_run, &change);
	snprintf(done, sizeof(done), "attached to %s", in->args[0]);
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
}

static const struct option_row attach_options[] = {
	{"pf", 0, "PF", "a free VF of this PF", NULL},
	{"vf", 0, "VF", "this VF", NULL},
	{"count", 0, "N", "this many VFs of the PF, all or none (default 1)", NULL},
	{"ensure", 0, NULL, "attach only as many as are missing: VFs that the domain already has "
		"count", NULL},
	{"live", 0, NULL, "plug into the running domain", NULL},
	{"config", 0, NULL, "add to the definition, for the next start", NULL},
	{"guid-pool", 0, "POOL", "pool for the GUID of an InfiniBand VF (default: the first pool)",
		NULL},
	{"mac-pool", 0, "POOL", "pool for the MAC (default: the first pool, if there is one)", NULL},
	{"pkey", 0, "P_KEY", "partition: a name or 0x1 to 0x7fff, with :full or :limited",
		NULL},
	{"form", 0, "FORM", "libvirt element: auto (default), interface or hostdev",
		"auto interface hostdev"},
};

const struct command cmd_attach = {
	.name = "attach",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = change_answer,
	.args = "DOMAIN [ATTRIBUTE=VALUE...]",
	.summary = "Attach a VF to a domain, running or off",
	.text = "vfctl leases the VF to the domain, sets its identity, reads it back, and "
		"plugs it. Without --live and --config it changes both where possible: the "
		"running domain and its definition. The attributes are those of vfctl set. "
		"With --ensure the command can be repeated: VFs that the domain already has "
		"count.",
	.examples = {{"vfctl attach web --pf ens1 vlan=42", "a free VF of ens1"},
		{"vfctl attach web --pf ens1 --count 2 --ensure", "until the domain has two"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(attach_options),
	.run = run_attach,
};

static int run_detach(struct invocation *in)
{
	struct vfctl_detach_options o = {.vf = option_of(in, "vf"), .affect = affect_of(in)};
	uint32_t seconds = 0;
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	char done[300];
	int status, r;

	status = option_seconds(in, "wait", 1, 3600, &seconds);
	o.timeout_ms = seconds * 1000;
	if (!status)
		status = host_ids_open_guest(in, &h, &hv);
	if (status)
		return status;
	o.ids = h.ids;
	in->result_domain = in->args[0];
	r = vfctl_detach_plan(in->ctx, hv, in->args[0], &o, in->dry_run, &change);
	snprintf(done, sizeof(done), "detached from %s", in->args[0]);
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
}

static const struct option_row detach_options[] = {
	{"vf", 0, "VF", "this VF (default: the only one); for an absent VF its address", NULL},
	{"live", 0, NULL, "only from the running domain", NULL},
	{"config", 0, NULL, "only from the definition", NULL},
	{"wait", 0, "SECONDS", "how long the guest may take to release the VF (default 30)", NULL},
};

const struct command cmd_detach = {
	.name = "detach",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Take a VF from a domain and free it",
	.text = "From a running domain vfctl unplugs the VF and waits until the guest has "
		"released it. Then it resets the VF and ends its lease.",
	.examples = {{"vfctl detach web", "the only VF of web"},
		{"vfctl detach web --vf ens1/3 --live", "one VF of the running domain"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(detach_options),
	.run = run_detach,
};
