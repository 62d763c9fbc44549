// SPDX-License-Identifier: GPL-2.0-or-later
/* attach, detach */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr_args.h"
#include "command.h"
#include "main.h"
#include "host_ids.h"
#include "vfctl/workflow.h"

static unsigned affect_of(const struct invocation *in)
{
	return (option_of(in, "live") ? VFCTL_AFFECT_LIVE : 0u) |
		(option_of(in, "config") ? VFCTL_AFFECT_CONFIG : 0u);
}

/* Attributes after the domain's name, as `vfctl set` takes them. */
static int read_attrs(struct invocation *in, struct vfctl_vf_attrs *attrs)
{
	attrs->mask = 0;
	for (size_t i = 1; i < in->arg_count; i++)
		if (attr_arg(in, in->args[i], attrs))
			return EXIT_USAGE;
	if (vfctl_vf_attrs_check(in->ctx, attrs) < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	/* Safe defaults, as in guest.yaml. */
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

static int run_attach(struct invocation *in)
{
	struct vfctl_attach_options o = {.pf = option_of(in, "pf"), .vf = option_of(in, "vf"),
		.identity = {.guid_pool = (char *)option_of(in, "guid-pool"),
			.mac_pool = (char *)option_of(in, "mac-pool"),
			.pkey = (char *)option_of(in, "pkey")},
		.affect = affect_of(in)};
	struct vfctl_hypervisor *hv;
	struct vfctl_change *change;
	struct host_ids h = {0};
	char done[300];
	int status, r;

	if (!o.pf == !o.vf)
		return usage(in, "say which VF: --pf PF (any free one of it) or --vf PF/INDEX");
	status = read_attrs(in, &o.attrs);
	if (!status)
		status = read_form(in, &o.form);
	if (!status)
		status = host_ids_open(in, !in->dry_run, &h);
	if (status)
		return status;
	o.ids = h.ids;
	r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);
	if (r < 0) {
		host_ids_close(&h);
		return fail(in, r);
	}
	r = vfctl_attach_plan(in->ctx, hv, in->args[0], &o, in->dry_run, &change);
	snprintf(done, sizeof(done), "attached to %s", in->args[0]);
	status = r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
	host_ids_close(&h);
	hv->close(hv);
	return status;
}

static const struct option_row attach_options[] = {
	{"pf", 0, "PF", "a free VF of this PF", NULL},
	{"vf", 0, "VF", "this VF", NULL},
	{"live", 0, NULL, "plug it into the running domain", NULL},
	{"config", 0, NULL, "add it to the definition, for the next start", NULL},
	{"guid-pool", 0, "POOL", "GUID of an InfiniBand VF from this pool (default: the first)",
		NULL},
	{"mac-pool", 0, "POOL", "MAC from this pool (default: the first, if there is one)", NULL},
	{"pkey", 0, "P_KEY", "partition (name or 0x1 to 0x7fff, :full or :limited behind it)",
		NULL},
	{"form", 0, "FORM", "auto (default), interface or hostdev", "auto interface hostdev"},
};

const struct command cmd_attach = {
	.name = "attach",
	.args = "DOMAIN [ATTRIBUTE=VALUE...]",
	.summary = "give an existing domain a VF: leased, identity set and verified, plugged",
	.text = "Without --live and --config both apply that can: the running domain, and its\n"
		"definition. Attributes are those of vfctl set.",
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
	const char *wait = option_of(in, "wait");
	struct vfctl_hypervisor *hv;
	struct vfctl_change *change;
	struct host_ids h = {0};
	char done[300];
	int status, r;

	if (wait) {
		char *end;
		unsigned long seconds = strtoul(wait, &end, 10);

		if (*wait < '0' || *wait > '9' || *end || seconds < 1 || seconds > 3600)
			return usage(in, "--wait must be 1 to 3600 seconds, not '%s'", wait);
		o.timeout_ms = (unsigned)seconds * 1000;
	}
	status = host_ids_open(in, !in->dry_run, &h);
	if (status)
		return status;
	o.ids = h.ids;
	r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);
	if (r < 0) {
		host_ids_close(&h);
		return fail(in, r);
	}
	r = vfctl_detach_plan(in->ctx, hv, in->args[0], &o, in->dry_run, &change);
	snprintf(done, sizeof(done), "detached from %s", in->args[0]);
	status = r < 0 ? fail(in, r) : run_ids_change(in, &h, change, done);
	host_ids_close(&h);
	hv->close(hv);
	return status;
}

static const struct option_row detach_options[] = {
	{"vf", 0, "VF", "this VF (default: the only one it has)", NULL},
	{"live", 0, NULL, "take it out of the running domain", NULL},
	{"config", 0, NULL, "take it out of the definition", NULL},
	{"wait", 0, "SECONDS", "how long the guest may take to let go (default 30)", NULL},
};

const struct command cmd_detach = {
	.name = "detach",
	.args = "DOMAIN",
	.summary = "take a VF from a domain, wait until the guest let go, and free it",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(detach_options),
	.run = run_detach,
};
