// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/nearest.h"
#include "command.h"
#include "facts/hostfile.h"
#include "facts/snapshot/snapshot.h"
#include "lease/clean.h"
#include "lease/recover.h"
#include "print/bridge.h"
#include "print/list.h"
#include "spec/host_yaml.h"
#include "sriov/inventory.h"
#include "tuning/uplink.h"

/* Warn about interrupted changes: a user who may not read the journal gets no warning. */
static void warn_of_open_changes(struct invocation *in)
{
	static const struct vfctl_recover_options look = {.dry_run = true};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *recovery = NULL;

	vfctl_recover(in->ctx, &look, &recovery);
	for (size_t i = 0; recovery && i < recovery->count; i++)
		if (recovery->changes[i].outcome != VFCTL_RECOVERED_GOES_ON)
			warn("'%s' was interrupted; see: vfctl recover --dry-run",
				recovery->changes[i].story);
}

static int print_terms(struct invocation *in)
{
	const char *name, *help;

	for (size_t i = 0; column_term(i, &name, &help); i++)
		out_line(in->out, "%-12s %s", name, help);
	return EXIT_DONE;
}

static int fail_unknown_column(struct invocation *in, const char *name)
{
	struct nearest search = nearest_to(name);
	const char *known, *help;

	for (size_t i = 0; column_term(i, &known, &help); i++)
		nearest_offer(&search, known);
	if (nearest_only(&search))
		return usage(in, "unknown column '%s'; did you mean %s?", name, search.best);
	return usage(in, "unknown column '%s' (vfctl list -o help lists the columns)", name);
}

/* "NAME,NAME", or "+NAME,NAME" to add columns to the default ones. */
static int read_columns(struct invocation *in, const char *text, struct list_view *view)
{
	struct columns *columns = &view->columns;

	view->pairs = strncmp(text, "pairs", 5) == 0 && (!text[5] || text[5] == ',');
	if (view->pairs)
		text += text[5] ? 6 : 5;
	if (*text == '+' || !*text)
		columns_add_default(columns, view->pfs);
	if (!*text)
		return 0;
	text += *text == '+';
	for (size_t len; text; text = text[len] ? text + len + 1 : NULL) {
		char name[COLUMN_NAME];

		len = strcspn(text, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (columns->count == COLUMNS_MAX)
			return usage(in, "more than %d columns", COLUMNS_MAX);
		columns->v[columns->count++] = column_find(name);
		if (!columns->v[columns->count - 1].name || len >= sizeof(name))
			return fail_unknown_column(in, name);
	}
	return 0;
}

/* @ret: the columns that were asked for; NULL: the usual output as a table, JSON or YAML. */
static int read_format(struct invocation *in, const char **ret)
{
	const char *names = option_of(in, "columns");
	bool json = names && strcmp(names, "json") == 0, yaml = names && strcmp(names, "yaml") == 0;

	if ((json || yaml) && option_of(in, "get"))
		return usage(in, "--get prints text and cannot be combined with -o %s", names);
	if (yaml && in->json)
		return usage(in, "--json and -o yaml are two formats; use one of them");
	if (yaml && !out_set_yaml(in->out))
		return fail(in, -ENOMEM);
	in->json |= json || yaml;
	*ret = json || yaml || (names && strcmp(names, "table") == 0) ? NULL : names;
	return 0;
}

static int read_view(struct invocation *in, const char *names, struct list_view *view)
{
	*view = (struct list_view){.ctx = in->ctx, .pfs = option_of(in, "pfs"),
		.free = option_of(in, "free"), .all = option_of(in, "all"),
		.health = option_of(in, "health"), .no_headings = option_of(in, "noheadings")};
	if (view->health && (view->free || view->all || names || view->no_headings))
		return usage(in, "--health prints its own table and cannot be combined with other "
			"options of the table");
	if (option_of(in, "bridge") && (view->health || view->pfs || view->free || view->all || names))
		return usage(in, "--bridge prints its own table and cannot be combined with other "
			"options of the table");
	if (option_of(in, "bridge") && in->arg_count > 1)
		return usage(in, "--bridge takes one PF, or none for all");
	if (view->pfs && view->free)
		return usage(in, "--free lists VFs and --pfs lists PFs; use one of them");
	if (in->json && (names || view->no_headings))
		return usage(in, "--columns and --noheadings are for tables; JSON and YAML contain "
			"everything");
	return names ? read_columns(in, names, view) : 0;
}

/* VFs that are not isolated are free for guests only if host.yaml accepts them. */
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

/* If something cannot be read, a VF may be in use, so it must not be listed as free. */
static int check_known(struct invocation *in, const struct vfctl_snapshot *snapshot)
{
	const char *unknown = snapshot->leases_error ? snapshot->leases_error
						     : snapshot->domains_error;

	if (!unknown)
		return 0;
	usage(in, "the free VFs are unknown: %s", unknown);
	return EXIT_FAILED;
}

static int list(struct invocation *in, struct vfctl_snapshot *snapshot,
	struct list_view *view)
{
	int r = 0;

	if (view->free && check_known(in, snapshot))
		return EXIT_FAILED;
	r = read_policy(in, snapshot, view);
	for (; r == 0 && view->only_count < in->arg_count; view->only_count++)
		r = vfctl_inventory_find_pf(in->ctx, snapshot->inventory, in->args[view->only_count],
			&view->only[view->only_count]);
	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, answer_list, &(struct listing){snapshot, view});
	else
		print_list(in->out, snapshot, view);
	return EXIT_DONE;
}

static int list_bridges(struct invocation *in)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	_cleanup_(vfctl_uplinks_free) struct vfctl_uplinks uplinks = {0};
	const struct vfctl_pf *only = NULL;
	int r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);

	if (r == 0 && in->arg_count)
		r = vfctl_inventory_find_pf(in->ctx, snapshot->inventory, in->args[0], &only);
	if (r == 0)
		r = vfctl_uplinks_read(in->ctx, snapshot->inventory, only, &uplinks);
	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, answer_bridge, &uplinks);
	else
		print_bridge(in->out, &uplinks);
	return EXIT_DONE;
}

static int run_list(struct invocation *in)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	struct list_view view;
	const char *names = NULL;
	int r, status = read_format(in, &names);

	if (status)
		return status;
	if (names && strcmp(names, "help") == 0)
		return print_terms(in);
	status = read_view(in, names, &view);
	if (status)
		return status;
	if (option_of(in, "bridge"))
		return list_bridges(in);
	r = vfctl_snapshot_read(in->ctx, in->arg_count == 1 ? in->args[0] : NULL, &snapshot);
	if (r < 0)
		return fail(in, r);
	status = list(in, snapshot, &view);
	if (status == EXIT_DONE && !in->quiet && !option_of(in, "host"))
		warn_of_open_changes(in);
	return status;
}

static const struct option_row options[] = {
	{"columns", 'o', "COLUMNS",
		"one table of these columns, separated by commas, for scripts: nothing is "
		"folded or left out; +COLUMNS adds to the usual columns; 'help' lists them; "
		"'pairs' or 'pairs,COLUMNS' prints COLUMN=\"value\" for shells, 'json' is --json, "
		"'yaml' the same as YAML, 'table' is the default", NULL},
	{"noheadings", 'n', NULL, "print no headings", NULL},
	{"free", 0, NULL, "only VFs that a guest can get", NULL},
	{"pfs", 0, NULL, "only PFs", NULL},
	{"health", 0, NULL, "state of the PFs' PCIe links and ports, with error counters", NULL},
	{"bridge", 0, NULL, "bridges on PFs and VFs: the MACs behind them that VFs can reach, entries "
		"used and capacity of the card's table", NULL},
	{"all", 'a', NULL, "one row for each VF; without it, free VFs that are alike share a row", NULL},
};

static const struct answer answers[] = {{NULL, answer_list, false},
	{"With `--bridge`", answer_bridge, false}, {0}};

const struct command cmd_list = {
	.name = "list",
	.alias = "ls",
	.group = GROUP_VFS,
	.common = true,
	.answer = answers,
	.args = "[PF...]",
	.summary = "List PFs and their VFs",
	.text = "Shows address, driver, NUMA node, identity, policy, lease and user of each "
		"VF. On a terminal (or with $COLUMNS) the tables fit its width: empty columns "
		"are left out first, then IOMMU group, node, driver and address. In a pipe all "
		"columns are there. --free lists VFs that no process, domain and device of the "
		"host uses, that no definition names, that no libvirt network gives to a "
		"domain, and that share their IOMMU group with no other device.",
	.examples = {{"vfctl list ens1 --all", "every VF of ens1"},
		{"vfctl list --bridge", "bridges on PFs, and what VFs reach behind them"},
		{"vfctl list --get pfs.name,pfs.vfs.address", "PF and address of each VF"}},
	.max_args = ARGS_MAX,
	.operand = OPERAND_PF,
	.reads = true,
	.terms = "columns",
	.term = column_term,
	OPTIONS(options),
	.run = run_list,
};
