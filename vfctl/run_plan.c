// SPDX-License-Identifier: GPL-2.0-or-later
/* Verbs that are one call of the library: its options, its session, its plan, and the run. */
#include "run_plan.h"

#include <stdlib.h>
#include <string.h>

#include "attr_args.h"
#include "facts/session.h"
#include "host_ids.h"
#include "main.h"
#include "session.h"

/* Add "KEY=VALUE"; the planning takes over @text. */
static int add_option(struct invocation *in, struct planning *p, char *text)
{
	if (!text)
		return fail(in, -ENOMEM);
	p->options[p->option_count++] = text;
	return 0;
}

static int add_options(struct invocation *in, struct planning *p)
{
	const struct option_row *row;
	int status = 0;

	for (size_t i = 0; !status && (row = call_option(in->command->call, i)); i++) {
		const char *value = option_of(in, row->name);
		char *text = NULL;

		if (value && asprintf(&text, "--%s=%s", row->name, row->arg ? value : "on") < 0)
			text = NULL;
		if (value)
			status = add_option(in, p, text);
	}
	return status;
}

static int open_planned(struct invocation *in, bool with_libvirt, struct planning *io)
{
	const struct session_options how = {.host_yaml = option_of(in, "host-yaml"),
		.write = !in->dry_run,
		.connect = with_libvirt ? main_open_hypervisor : NULL,
		.uri = option_of(in, "connect")};
	int status, r = session_open(in->ctx, &how, &io->session);

	if (r < 0)
		return fail(in, r);
	status = read_reserve(in, &session_place(io->session)->reserved_cpus);
	return status || in->dry_run ? status : check_after_change(in, session_spec(io->session));
}

int planning_open(struct invocation *in, size_t first_attr, bool with_libvirt,
	struct planning *ret)
{
	struct vfctl_vf_attrs attrs = {0};
	int status = add_options(in, ret);

	for (size_t i = first_attr; i < in->arg_count && !status; i++) {
		status = attr_arg(in, in->args[i], &attrs);
		if (!status)
			status = add_option(in, ret, strdup(in->args[i]));
	}
	if (!status && call_options_check(in->ctx, in->command->call, planning_options(ret)) < 0)
		status = usage(in, "%s", vfctl_ctx_error(in->ctx));
	return status ? status : open_planned(in, with_libvirt, ret);
}

void planning_close(struct planning *p)
{
	vfctl_session_close(p->session);
	for (size_t i = 0; i < p->option_count; i++)
		free(p->options[i]);
}

const char *const *planning_options(const struct planning *p)
{
	return (const char *const *)p->options;
}

int planning_run(struct invocation *in, struct planning *p, int r, struct vfctl_change *change,
	const char *done)
{
	bool moves = r == 0 && vfctl_change_moves_ids(change);
	int status = r < 0 ? fail(in, r) : run_change(in, change, done);

	return status == EXIT_DONE && moves && !in->dry_run
		? run_after_change(in, session_spec(p->session))
		: status;
}

int run_plan(struct invocation *in, plan_fn *plan, const char *done)
{
	_cleanup_(planning_close) struct planning p = {0};
	struct vfctl_change *change = NULL;
	int r, status = planning_open(in, 1, true, &p);

	if (status)
		return status;
	in->result_domain = in->args[0];
	r = plan(p.session, in->args[0], planning_options(&p), in->dry_run, &change);
	return planning_run(in, &p, r, change, done);
}
