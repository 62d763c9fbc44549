// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completion. The shells' scripts run `vfctl __complete -- WORD...`, which prints candidates for
 * the last word as lines "CANDIDATE<tab>DESCRIPTION". A last line ":files" requests file names from
 * the shell too, ":yaml" names of *.yaml files and directories; ":nospace" means that no space
 * follows.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/captured.h"
#include "columns.h"
#include "command.h"
#include "command_line.h"
#include "delegate.h"
#include "facts/hostfile.h"
#include "spec/host_yaml.h"
#include "sriov/inventory.h"
#include "state/leases.h"

struct completing {
	struct invocation *in;
	const char *line_word; /* the word to complete */
	const char *word;      /* it, or the value in "--option=VALUE" */
	size_t before_len;     /* bytes of @word before the part to complete: 2 for "a,b" */
	const char *request; /* ":files" and so on; or NULL */
	bool no_space;
};

static void offer_candidate(struct completing *c, const char *candidate, const char *help)
{
	const char *part = c->word + c->before_len;
	FILE *file = out_file(c->in->out);

	if (strncmp(candidate, part, strlen(part)) != 0)
		return;
	fprintf(file, "%.*s", (int)(part - c->line_word), c->line_word);
	put_clean(file, candidate);
	fputc('\t', file);
	put_clean(file, help);
	fputc('\n', file);
}

/* Offer names that are separated by spaces. */
static void offer_choices(struct completing *c, const char *choices)
{
	char name[64];

	for (size_t len; *choices; choices += len + strspn(choices + len, " ")) {
		len = strcspn(choices, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, choices);
		offer_candidate(c, name, "");
	}
}

/* ---- names of this host ---- */

/* Completion does not report what cannot be read. */
static struct vfctl_inventory *read_inventory(struct completing *c)
{
	struct vfctl_inventory *inventory = NULL;

	vfctl_inventory_read(c->in->ctx, NULL, &inventory);
	return inventory;
}

static void offer_pfs(struct completing *c, const struct vfctl_inventory *inventory,
	const char *after)
{
	char name[64], text[VFCTL_BDF_TEXT], help[96];

	for (size_t i = 0; inventory && i < inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &inventory->pfs[i];

		snprintf(name, sizeof(name), "%s%s", vfctl_pf_name(pf, text), after);
		snprintf(help, sizeof(help), "%s, %u VFs", pf->driver, pf->num_vfs);
		offer_candidate(c, name, help);
	}
}

/* Offer PF/INDEX after the PF was typed. */
static void offer_vfs(struct completing *c, const struct vfctl_inventory *inventory)
{
	const char *slash = strchr(c->word, '/');
	char name[64], text[VFCTL_BDF_TEXT];

	if (!slash) {
		offer_pfs(c, inventory, "/");
		c->no_space = true;
		return;
	}
	for (size_t i = 0; inventory && i < inventory->pf_count; i++) {
		const struct vfctl_pf *pf = &inventory->pfs[i];
		const char *pf_name = vfctl_pf_name(pf, text);

		for (size_t k = 0; strncmp(pf_name, c->word, (size_t)(slash - c->word)) == 0 &&
			k < pf->num_vfs; k++) {
			snprintf(name, sizeof(name), "%s/%u", pf_name, pf->vfs[k].index);
			offer_candidate(c, name, pf->vfs[k].lease.name);
		}
	}
}

/* Offer domains of the running host's libvirt, and those with a lease. */
static void offer_domains(struct completing *c)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	glob_t files = {0};
	char name[256];

	vfctl_leases_read(c->in->ctx, &leases);
	for (size_t i = 0; leases && i < leases->count; i++)
		offer_candidate(c, leases->v[i].domain_name, "has a lease");
	if (!*vfctl_ctx_host_root(c->in->ctx) && glob("/etc/libvirt/qemu/*.xml", 0, NULL, &files) == 0)
		for (size_t i = 0; i < files.gl_pathc; i++) {
			const char *base = strrchr(files.gl_pathv[i], '/') + 1;
			bool leased = false;

			snprintf(name, sizeof(name), "%.*s", (int)(strlen(base) - strlen(".xml")), base);
			for (size_t k = 0; leases && k < leases->count; k++)
				leased |= strcmp(leases->v[k].domain_name, name) == 0;
			if (!leased)
				offer_candidate(c, name, "");
		}
	globfree(&files);
}

static struct vfctl_host_spec *read_host_yaml(struct completing *c)
{
	struct vfctl_host_spec *spec = NULL;

	vfctl_host_spec_read(c->in->ctx, NULL, &spec);
	return spec;
}

static void offer_pools(struct completing *c)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = read_host_yaml(c);

	for (size_t i = 0; spec && i < spec->pool_count; i++)
		offer_candidate(c, spec->pools[i].name, "pool");
}

static void offer_profiles(struct completing *c)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = read_host_yaml(c);

	for (size_t i = 0; i < vfctl_profile_count(); i++)
		offer_candidate(c, vfctl_profile_at(i)->name, "profile");
	for (size_t i = 0; spec && i < spec->profile_count; i++)
		offer_candidate(c, spec->profiles[i].name, "profile of host.yaml");
}

/* Offer "vlan=", and after that the values of the attribute. */
static void offer_attributes(struct completing *c)
{
	const struct vfctl_vf_attr_info *info;
	const char *equals = strchr(c->word, '='), *value, *other;
	char name[64];

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++) {
		snprintf(name, sizeof(name), "%s=", info->key);
		if (!equals) {
			offer_candidate(c, name, info->help);
			c->no_space = true;
			continue;
		}
		if (strncmp(c->word, name, strlen(name)) != 0)
			continue;
		c->before_len = (size_t)(equals + 1 - c->word);
		if (info->type == VFCTL_ATTR_TYPE_SWITCH)
			offer_choices(c, "on off");
		for (size_t k = 0; vfctl_vf_attr_word(info, k, &value, &other); k++)
			offer_candidate(c, value, "");
	}
}

static void offer_columns(struct completing *c)
{
	const char *name, *help, *last = strrchr(c->word, ',');

	c->before_len = last ? (size_t)(last + 1 - c->word) : *c->word == '+';
	for (size_t i = 0; column_term(i, &name, &help); i++)
		offer_candidate(c, name, help);
	if (!c->before_len)
		offer_choices(c, "table pairs json yaml help");
	c->no_space = true;
}

/* ---- the command line ---- */

static void offer_option(struct completing *c, const struct option_row *row)
{
	char name[64];

	snprintf(name, sizeof(name), "--%s", row->name);
	offer_candidate(c, name, row->help);
}

static void offer_options(struct completing *c, const struct option_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		offer_option(c, &rows[i]);
}

static void offer_commands(struct completing *c)
{
	for (size_t i = 0; i < command_count; i++)
		if (!commands[i]->hidden)
			offer_candidate(c, commands[i]->name, commands[i]->summary);
}

static void offer_subs(struct completing *c, const struct command *command)
{
	for (const struct command *const *sub = command->subs; sub && *sub; sub++)
		offer_candidate(c, (*sub)->name, (*sub)->summary);
	for (size_t i = 0; i < this_program.delegate_count; i++)
		if (this_program.delegates[i].argument &&
			strcmp(this_program.delegates[i].command, command->name) == 0)
			offer_candidate(c, this_program.delegates[i].argument, "");
}

static void offer_members_of(struct completing *c, const struct member *table, const char *path)
{
	size_t len = strcspn(path, ".");
	struct member m;

	for (size_t i = 0; table && table_member(table, i, &m); i++) {
		if (!m.name)
			offer_members_of(c, m.table, path);
		else if (!path[len])
			offer_candidate(c, m.name, m.help);
		else if (strlen(m.name) == len && strncmp(m.name, path, len) == 0)
			offer_members_of(c, m.table, path + len + 1);
	}
}

/* Offer members of the JSON answers, level by level: "pfs.vfs.address", after the last comma. */
static void offer_members(struct completing *c, const struct command *command)
{
	const char *last = strrchr(c->word, ','), *path = last ? last + 1 : c->word;
	const char *dot = strrchr(path, '.');

	c->before_len = (size_t)((dot ? dot + 1 : path) - c->word);
	for (const struct answer *a = command ? command->answer : NULL; a && a->table; a++)
		offer_members_of(c, a->table, path);
	c->no_space = true;
}

static void offer_value(struct completing *c, const struct command *command,
	const struct option_row *row)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inventory = NULL;

	if (row->choices)
		offer_choices(c, row->choices);
	else if (strcmp(row->arg, "MEMBERS") == 0)
		offer_members(c, command);
	else if (strstr(row->arg, "FILE") || strstr(row->arg, "DIR"))
		c->request = ":files";
	else if (strcmp(row->arg, "PF") == 0)
		offer_pfs(c, inventory = read_inventory(c), "");
	else if (strcmp(row->arg, "VF") == 0)
		offer_vfs(c, inventory = read_inventory(c));
	else if (strcmp(row->arg, "POOL") == 0)
		offer_pools(c);
	else if (strstr(row->arg, "DOMAIN") || strstr(row->arg, "NAME|UUID"))
		offer_domains(c);
	else if (strcmp(row->name, "profile") == 0)
		offer_profiles(c);
	else if (strcmp(row->arg, "COLUMNS") == 0)
		offer_columns(c);
}

/* Offer candidates for operand number @at (from 0) of @command. */
static void offer_operand(struct completing *c, const struct command *command, size_t at)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inventory = NULL;
	bool first = at == 0, attributes = strstr(command->args, "ATTRIBUTE") != NULL;

	if (first && command->choices)
		offer_choices(c, command->choices);
	if (first && strstr(command->args, "VERB"))
		offer_commands(c);
	if (!first && attributes)
		offer_attributes(c);
	if (!first && strstr(command->args, "PROFILE"))
		offer_profiles(c);
	if (at >= command->max_args || (!first && command->max_args != ARGS_MAX &&
		command->operand != OPERAND_FILE))
		return;
	if (strstr(command->args, ".yaml") && command->operand == OPERAND_FILE)
		c->request = ":yaml";
	else if (command->operand == OPERAND_FILE)
		c->request = strstr(command->args, "FILE|DIR") ? ":yaml" : ":files";
	if (command->operand == OPERAND_VF && !strchr(c->word, '='))
		offer_vfs(c, inventory = read_inventory(c));
	if ((command->operand == OPERAND_PF || command->operand == OPERAND_ANY) && (first || !attributes))
		offer_pfs(c, inventory = inventory ? inventory : read_inventory(c), "");
	if (command->operand == OPERAND_ANY && strchr(c->word, '/'))
		offer_vfs(c, inventory);
	if ((command->operand == OPERAND_DOMAIN || command->operand == OPERAND_ANY ||
		strstr(command->args, "|DOMAIN")) && first)
		offer_domains(c);
}

/* The words before the one to complete. */
struct typed {
	const struct command *command;
	const struct option_row *pending; /* an option whose value is the next word */
	size_t operands;
	bool unknown; /* the verb does not exist */
};

static void take_typed_word(struct typed *t, const char *word)
{
	bool is_long = word[0] == '-' && word[1] == '-';
	const char *name = word + (is_long ? 2 : 1);
	const struct command *const *sub;

	if (t->pending) {
		t->pending = NULL;
		return;
	}
	if (word[0] == '-' && word[1]) {
		const struct option_row *row = command_line_option(t->command, name, strcspn(name, "="));

		t->pending = row && row->arg && !strchr(name, '=') ? row : NULL;
		return;
	}
	if (!t->command) {
		t->command = command_find(word);
		t->unknown |= !t->command;
		return;
	}
	for (sub = t->command->subs; sub && *sub; sub++)
		if (strcmp((*sub)->name, word) == 0) {
			t->command = *sub;
			return;
		}
	t->operands++;
}

/* Complete the value in "--option=VALUE". Shells complete names of files after "=" on their own. */
static void complete_joined(struct completing *c, const struct command *command)
{
	const char *equals = strchr(c->word, '='), *name = c->word + 2;
	const struct option_row *row = c->word[1] == '-'
		? command_line_option(command, name, (size_t)(equals - name)) : NULL;

	if (!row || !row->arg)
		return;
	c->word = equals + 1;
	offer_value(c, command, row);
	c->request = NULL;
}

static void complete_words(struct completing *c, const char *const *words, size_t count)
{
	const struct option_row *row;
	struct typed t = {0};

	for (size_t i = 0; i + 1 < count; i++)
		take_typed_word(&t, words[i]);
	if (t.pending) {
		offer_value(c, t.command, t.pending);
		return;
	}
	if (c->word[0] == '-' && strchr(c->word, '=')) {
		complete_joined(c, t.command);
		return;
	}
	if (c->word[0] == '-') {
		for (size_t i = 0; t.command && (row = command_option(t.command, i)); i++)
			offer_option(c, row);
		if (t.command && t.command->changes)
			offer_options(c, &dry_run_option, 1);
		if (t.command && (t.command->reads || t.command->changes))
			offer_options(c, answer_options, ANSWER_OPTIONS);
		offer_options(c, global_options, global_option_count);
		return;
	}
	if (!t.command && !t.unknown)
		offer_commands(c);
	else if (!t.command)
		return;
	else if (t.command->subs)
		offer_subs(c, t.command);
	else
		offer_operand(c, t.command, t.operands);
}

/*
 * vfctl-bench completes its own verbs: "bench ..." and "tune search ...". It returns if it cannot
 * start.
 */
static void delegate_completion(struct invocation *in)
{
	const char *const *w = in->args;
	size_t count = in->arg_count;
	char *argv[ARGS_MAX + 6] = {(char *)"vfctl", (char *)"bench", (char *)"__complete", (char *)"--"};
	size_t n = 4;

	for (; count && w[0][0] == '-'; count--)
		w++;
	if (!this_program.delegate || count < 2)
		return;
	if (strcmp(w[0], "bench") != 0 &&
		(count < 3 || strcmp(w[0], "tune") != 0 || strcmp(w[1], "search") != 0))
		return;
	for (size_t i = 1; i < count; i++)
		argv[n++] = (char *)w[i];
	in->quiet = true;
	this_program.delegate(in, argv);
}

static int run_complete(struct invocation *in)
{
	const char *last = in->arg_count ? in->args[in->arg_count - 1] : "";
	struct completing c = {.in = in, .line_word = last, .word = last};

	delegate_completion(in);
	vfctl_ctx_set_log(in->ctx, NULL, NULL);
	complete_words(&c, in->args, in->arg_count);
	if (c.no_space)
		fputs(":nospace\n", out_file(in->out));
	if (c.request)
		fprintf(out_file(in->out), "%s\n", c.request);
	return EXIT_DONE;
}

const struct command cmd_complete = {
	.name = "__complete",
	.args = "-- WORD...",
	.summary = "Print what the last word may become, for shells",
	.max_args = ARGS_MAX,
	.hidden = true,
	.run = run_complete,
};
