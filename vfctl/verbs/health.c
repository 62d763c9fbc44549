// SPDX-License-Identifier: GPL-2.0-or-later
/* health: whether PFs and the host are ready for a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "checks/doctor.h"
#include "command.h"
#include "sriov/inventory.h"

#define INDENT 26

static enum color state_color(enum vfctl_ready state)
{
	if (state == VFCTL_READY_OK)
		return COLOR_GOOD;
	return state == VFCTL_READY_PROBLEM ? COLOR_BAD : COLOR_WARN;
}

static void print_text(struct out *out, const struct vfctl_readiness *report)
{
	const char *subject = "";

	for (size_t i = 0; i < report->count; i++) {
		const struct vfctl_ready_item *row = &report->v[i];
		const char *state = vfctl_ready_name(row->state);

		if (!i || strcmp(subject, row->subject) != 0)
			out_line(out, "%s:", row->subject[0] ? row->subject : "this host");
		subject = row->subject;
		out_paint(out, state_color(row->state), strlen("  ") + strlen(state));
		out_fold(out, INDENT, "  %-8s %-14s %s", state, row->item, row->found);
		if (row->remedy)
			out_fold(out, INDENT, "           %-14s %s", "remedy", row->remedy);
	}
	out_line(out, "%zu item%s, %zu problem%s", report->count, plural(report->count),
		report->problems, plural(report->problems));
}

#define OF struct vfctl_ready_item
TEXT_OF(item_state, OF, vfctl_ready_name(it->state))
static const struct member item_table[] = {
	FIELD(subject, "PF; null: the host"),
	FIELD(item, "device, firmware, interface, port, subnet manager, RDMA MTU, PCIe, governor or "
		"locked memory", FILLED),
	TEXT("state", item_state, "ok, problem or unknown"),
	FIELD(found, "what was read", FILLED),
	FIELD(remedy, "the remedy; null: it is not a problem"), END};
#undef OF

#define OF struct vfctl_readiness
FLAG_OF(is_ready, OF, !it->problems)
static const struct member readiness_table[] = {
	FLAG("ready", is_ready, "no item is a problem"),
	LIST("items", v, count, item_table, "the checklist, PF by PF, then the host"), END};
#undef OF
static const struct answer health_answer[] = {{NULL, readiness_table, false}, {0}};

static int run_health(struct invocation *in)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	_cleanup_(vfctl_readiness_freep) struct vfctl_readiness *report = NULL;
	_free_ const struct vfctl_pf **pfs = calloc(in->arg_count + 1, sizeof(*pfs));
	int r = vfctl_inventory_read(in->ctx, "", &inv);

	if (!pfs)
		return fail(in, -ENOMEM);
	for (size_t i = 0; r == 0 && i < in->arg_count; i++)
		r = vfctl_inventory_find_pf(in->ctx, inv, in->args[i], &pfs[i]);
	if (r == 0)
		r = vfctl_readiness_read(in->ctx, inv, pfs, in->arg_count, &report);
	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, readiness_table, report);
	else
		print_text(in->out, report);
	return report->problems ? EXIT_DRIFT : EXIT_DONE;
}

const struct command cmd_health = {
	.name = "health",
	.group = GROUP_HEALTH,
	.common = true,
	.answer = health_answer,
	.args = "[PF]...",
	.summary = "Check that PFs and the host are ready for a run",
	.text = "One look before a job or a measurement: driver, firmware, interface, RDMA port, subnet "
		"manager, MTU, PCIe link and governor of local CPUs for each PF, and how much memory "
		"programs of this session may lock. vfctl doctor looks for causes, in the whole chain up to "
		"the guests. Exit status: 3 if an item is a problem. An item that cannot be read is unknown, "
		"which is not a problem.",
	.examples = {{"vfctl health", "all network cards with SR-IOV"},
		{"vfctl health mlx5_0 --json", "for the prolog of a batch system"}},
	.max_args = ARGS_MAX,
	.operand = OPERAND_PF,
	.reads = true,
	.run = run_health,
};
