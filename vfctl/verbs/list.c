// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "command.h"
#include "print/list.h"
#include "core/hostspec.h"
#include "core/recover.h"
#include "core/workflow.h"

/* What a vfctl that died left open: whoever may not look for it is told nothing. */
static void warn_of_open_changes(struct invocation *in)
{
	static const struct vfctl_recover_options look = {.dry_run = true};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *recovery = NULL;

	vfctl_recover(in->ctx, &look, &recovery);
	for (size_t i = 0; recovery && i < recovery->count; i++)
		if (recovery->changes[i].outcome != VFCTL_RECOVERED_GOES_ON)
			warn("'%s' was cut short; look with: vfctl recover --dry-run",
				recovery->changes[i].story);
}

static int print_terms(struct invocation *in)
{
	const char *name, *help;

	for (size_t i = 0; column_term(i, &name, &help); i++)
		out_line(in->out, "%-12s %s", name, help);
	return EXIT_DONE;
}

/* "NAME,NAME", or "+NAME,NAME" behind those that there are without it. */
static int read_columns(struct invocation *in, const char *text, struct list_view *view)
{
	struct columns *columns = &view->columns;

	if (*text == '+')
		columns_add_default(columns, view->pfs);
	text += *text == '+';
	for (size_t len; text; text = text[len] ? text + len + 1 : NULL) {
		char name[COLUMN_NAME];

		len = strcspn(text, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (columns->count == COLUMNS_MAX)
			return usage(in, "more than %d columns", COLUMNS_MAX);
		columns->v[columns->count++] = column_find(name);
		if (!columns->v[columns->count - 1].name || len >= sizeof(name))
			return usage(in, "there is no column '%.*s' (vfctl list -o help lists them)",
				(int)len, text);
	}
	return 0;
}

static int read_view(struct invocation *in, struct list_view *view)
{
	const char *names = option_of(in, "columns");

	*view = (struct list_view){.ctx = in->ctx, .pfs = option_of(in, "pfs"),
		.free = option_of(in, "free"), .all = option_of(in, "all"),
		.health = option_of(in, "health"), .no_headings = option_of(in, "noheadings")};
	if (view->health && (view->free || view->all || names || view->no_headings))
		return usage(in, "--health is of PFs' links, in a table of its own");
	if (view->pfs && view->free)
		return usage(in, "--free is of VFs, and --pfs shows none");
	if (in->json && (names || view->no_headings))
		return usage(in, "--json has everything by name; --columns and --noheadings are for "
			"text");
	return names ? read_columns(in, names, view) : 0;
}

/* VFs that are not kept apart are free for guests only where host.yaml says so. */
static int read_policy(struct invocation *in, struct vfctl_snapshot *snapshot,
	struct list_view *view)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	int r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &spec);

	view->allowed = spec ? spec->vfs_allowed : 0;
	if (r == 0)
		vfctl_snapshot_mark_left(in->ctx, snapshot, spec);
	return view->free ? r : 0;
}

/* What cannot be read may hold a VF, and none may be taken for free that is not. */
static int check_known(struct invocation *in, const struct vfctl_snapshot *snapshot)
{
	const char *unknown = snapshot->leases_error ? snapshot->leases_error
						     : snapshot->domains_error;

	if (!unknown)
		return 0;
	usage(in, "which VFs are free is not known: %s", unknown);
	return EXIT_FAILED;
}

static int list(struct invocation *in, struct vfctl_snapshot *snapshot,
	struct list_view *view)
{
	int r = 0;

	if (view->free && check_known(in, snapshot))
		return EXIT_FAILED;
	r = read_policy(in, snapshot, view);
	if (r == 0 && in->arg_count)
		r = vfctl_inventory_find_pf(in->ctx, snapshot->inventory, in->args[0], &view->only);
	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, answer_list, &(struct listing){snapshot, view});
	else
		print_list(in->out, snapshot, view);
	return EXIT_DONE;
}

static int run_list(struct invocation *in)
{
	const char *names = option_of(in, "columns");
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	struct list_view view;
	int r, status;

	if (names && strcmp(names, "help") == 0)
		return print_terms(in);
	status = read_view(in, &view);
	if (status)
		return status;
	r = vfctl_snapshot_read(in->ctx, in->arg_count ? in->args[0] : NULL, &snapshot);
	if (r < 0)
		return fail(in, r);
	status = list(in, snapshot, &view);
	if (status == EXIT_DONE && !in->quiet && !option_of(in, "host"))
		warn_of_open_changes(in);
	return status;
}

static const struct option_row options[] = {
	{"columns", 'o', "COLUMNS", "one table of these columns, separated by commas, for scripts: "
		"nothing is folded or left out; +COLUMNS adds to the usual ones, help lists them", NULL},
	{"noheadings", 'n', NULL, "no headings", NULL},
	{"free", 0, NULL, "only VFs that a guest may be given", NULL},
	{"pfs", 0, NULL, "only the PFs", NULL},
	{"health", 0, NULL, "how the PFs' links are: PCIe, port, errors that they counted", NULL},
	{"all", 'a', NULL, "a row for each VF: free VFs that are alike else share one", NULL},
};

static const struct answer answers[] = {{NULL, answer_list, false}, {0}};

const struct command cmd_list = {
	.name = "list",
	.answer = answers,
	.args = "[PF]",
	.summary = "list PFs and their VFs: address, driver, NUMA node, identity, who holds them",
	.text = "The tables fit the terminal, or the width that $COLUMNS says, or 80 columns: what says\n"
		"nothing is left out, then IOMMU group, node, driver and address. A VF that --free\n"
		"shows is held by nobody, alone in its IOMMU group, and in no domain's definition.",
	.max_args = 1,
	.operand = OPERAND_PF,
	.reads = true,
	.terms = "columns",
	.term = column_term,
	OPTIONS(options),
	.run = run_list,
};
