// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/change.h"
#include "facts/hostfile.h"
#include "host/files.h"
#include "host_ids.h"
#include "ids/pools.h"
#include "main.h"
#include "spec/host_yaml.h"
#include "vfs/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int host_ids_open(struct invocation *in, bool write, struct host_ids *ret)
{
	int r = vfctl_host_ids_open(in->ctx, option_of(in, "host-yaml"), write, &ret->spec,
		&ret->ids);

	if (r < 0)
		return fail(in, r);
	return write && ret->spec ? check_after_change(in, ret->spec) : EXIT_DONE;
}

int host_ids_try(struct invocation *in, struct host_ids *ret)
{
	int r;

	if (option_of(in, "host-yaml"))
		return host_ids_open(in, false, ret);
	r = vfctl_host_ids_open(in->ctx, NULL, false, &ret->spec, &ret->ids);
	if (r == 0)
		return 0;
	ret->message = r == -ENOMEM ? NULL : strdup(vfctl_ctx_error(in->ctx));
	if (!ret->message)
		return fail(in, -ENOMEM);
	ret->error = r;
	return 0;
}

void host_ids_close(struct host_ids *h)
{
	free(h->message);
	vfctl_ids_close(h->ids);
	vfctl_host_spec_free(h->spec);
	*h = (struct host_ids){0};
}

int host_ids_open_guest(struct invocation *in, struct host_ids *ret,
	struct vfctl_hypervisor **ret_hv)
{
	int r, status = host_ids_open(in, !in->dry_run, ret);

	if (status)
		return status;
	r = main_open_hypervisor(in->ctx, option_of(in, "connect"), ret_hv);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int connect_system(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret)
{
	return main_open_hypervisor(ctx, NULL, ret);
}

int check_commands_of(struct invocation *in, const char *path)
{
	const char *sudo = getenv("SUDO_UID");
	char *end;
	unsigned long caller = sudo ? strtoul(sudo, &end, 10) : 0;
	int r = vfctl_file_check_owner(in->ctx, path,
		sudo && *sudo && !*end && caller <= UINT32_MAX ? (unsigned)caller : 0);

	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int check_after_change(struct invocation *in, const struct vfctl_host_spec *spec)
{
	int status = spec->after_change ? check_commands_of(in, spec->after_change[0]) : EXIT_DONE;

	for (size_t i = 0; spec->after_change && spec->sources && spec->sources[i] && !status; i++)
		status = check_commands_of(in, spec->sources[i]);
	return status;
}

/* The subnet manager comes first: the command may need the ports that it then serves. */
static int write_partitions(struct invocation *in, const struct vfctl_host_spec *spec)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = 0;

	if (spec->subnet.runs == VFCTL_SUBNET_HERE)
		r = vfctl_partitions_plan(in->ctx, spec, NULL, &change);
	return r < 0 || !change ? r : vfctl_change_run(in->ctx, change);
}

int run_after_change(struct invocation *in, const struct vfctl_host_spec *spec)
{
	_free_ char *said = NULL;
	int r = write_partitions(in, spec);

	if (r == 0)
		r = vfctl_host_spec_after_change(in->ctx, spec, &said);
	if (r < 0)
		warn("%s; the change itself is done", vfctl_ctx_error(in->ctx));
	return r < 0 ? EXIT_PARTLY : EXIT_DONE;
}

int run_ids_change(struct invocation *in, const struct host_ids *h,
	struct vfctl_change *change, const char *done)
{
	bool moves = vfctl_change_moves_ids(change);
	int status = run_change(in, change, done);

	return status == EXIT_DONE && moves && !in->dry_run ? run_after_change(in, h->spec) : status;
}
