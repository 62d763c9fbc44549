// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, generated from the command table. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "command_line.h"

#define WIDTH 80
#define LEFT 30 /* columns before the help text of an option or a command */

/* Print @text from column @at on, wrapped; its lines begin in column @indent. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t len = strcspn(text, " \n");

		if (at > indent && at + 1 + len > WIDTH) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, text);
		at += len;
		text += len + strspn(text + len, " \n");
	}
	putchar('\n');
}

/* Print "  left                        help"; if the left side is too wide, it has its own line. */
static void print_pair(const char *left, const char *help)
{
	int len = printf("  %s", left);

	if (len >= LEFT)
		printf("\n%*s", LEFT, "");
	else
		printf("%*s", LEFT - len, "");
	print_wrapped(help, LEFT, LEFT);
}

static void print_option(const struct option_row *row)
{
	char left[48], letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, row->arg ? " " : "",
		row->arg ? row->arg : "");
	print_pair(left, row->help);
}

static bool has_options(const struct command *c)
{
	return command_option(c, 0) || c->reads || c->changes;
}

static void print_examples(const struct command *c)
{
	if (c->examples[0].line)
		printf("\nexamples:\n");
	for (size_t i = 0; i < EXAMPLES_MAX && c->examples[i].line; i++)
		printf("  %s\n      %s\n", c->examples[i].line, c->examples[i].does);
}

void print_command_help(const struct command *c)
{
	const struct option_row *row;
	const char *name, *help;

	terminal_start_pager();
	printf("usage: %s %s%s%s%s\n\n", command_program(c), command_typed(c), *c->args ? " " : "",
		c->args,
		has_options(c) ? " [OPTION...]" : "");
	print_wrapped(c->summary, 0, 0);
	if (c->text) {
		putchar('\n');
		print_wrapped(c->text, 0, 0);
	}
	if (c->subs)
		printf("\nverbs (vfctl help %s VERB shows more):\n", c->name);
	for (const struct command *const *sub = c->subs; sub && *sub; sub++) {
		char left[128];

		snprintf(left, sizeof(left), "%s %s", (*sub)->name, (*sub)->args);
		print_pair(left, (*sub)->summary);
	}
	if (has_options(c))
		printf("\noptions:\n");
	for (size_t i = 0; (row = command_option(c, i)); i++)
		print_option(row);
	if (c->changes)
		print_option(&dry_run_option);
	if (c->reads || c->changes)
		for (size_t i = 0; i < ANSWER_OPTIONS; i++)
			print_option(&answer_options[i]);
	if (c->terms)
		printf("\n%s:\n", c->terms);
	for (size_t i = 0; c->terms && c->term(i, &name, &help); i++)
		print_pair(name, help);
	print_examples(c);
	printf("\nOptions of every verb: %s help --all\n", this_program.typed);
}

const char *const group_titles[] = {
	[GROUP_VFS] = "PFs and VFs", [GROUP_GUESTS] = "Guests", [GROUP_HOST] = "Host",
	[GROUP_TUNING] = "Tuning and measurement", [GROUP_HEALTH] = "Health", [GROUP_OTHER] = "Other",
};

/* "Guests, also: xml, move" */
static void print_title(enum group group)
{
	const char *before = ", also: ";

	printf("%s", group_titles[group]);
	for (size_t i = 0; i < command_count; i++)
		if (commands[i]->group == group && !commands[i]->common && !commands[i]->hidden) {
			printf("%s%s", before, commands[i]->name);
			before = ", ";
		}
	putchar('\n');
}

#define SHORT_LEFT 12

/* The common verbs by group: as many as fit on a terminal with 24 lines. */
static void print_short_help(void)
{
	printf("usage: %s VERB [ARGUMENT...] [OPTION...]\n", this_program.typed);
	for (enum group group = GROUP_VFS; group < GROUP_OTHER; group++) {
		print_title(group);
		for (size_t i = 0; i < command_count; i++)
			if (commands[i]->group == group && commands[i]->common)
				printf("  %-*s%s\n", SHORT_LEFT - 2, commands[i]->name, commands[i]->summary);
	}
	printf("More: %s help VERB, %s help --all, man %s, man %s-VERB\n", this_program.typed,
		this_program.typed, this_program.name, this_program.name);
}

static void print_command_line(const struct command *c)
{
	char left[128];

	snprintf(left, sizeof(left), "%s%s%s%s%s", c->name, c->alias ? ", " : "", c->alias ? c->alias : "",
		*c->args ? " " : "", c->args);
	print_pair(left, c->summary);
}

/* All verbs, by group if they have groups, and the options of all. */
static void print_full_help(void)
{
	terminal_start_pager();
	printf("usage: %s VERB [ARGUMENT...] [OPTION...]\n\n%s\n", this_program.typed, this_program.about);
	for (enum group group = GROUP_NONE; group < GROUP_COUNT; group++) {
		bool begun = false;

		for (size_t i = 0; i < command_count; i++) {
			if (commands[i]->group != group || commands[i]->hidden)
				continue;
			if (!begun)
				printf("\n%s:\n", group_titles[group] ? group_titles[group] : "verbs");
			begun = true;
			print_command_line(commands[i]);
		}
	}
	printf("\noptions of every verb:\n");
	for (size_t i = 0; i < global_option_count; i++)
		print_option(&global_options[i]);
	printf("\nExit status: 0 done; 1 failed, nothing changed; 2 mistake in the command;\n"
	       "3 differences or problems found; 4 partly applied. See %s(%s).\n", this_program.name,
		this_program.section);
}

void print_help(bool all)
{
	if (all || commands[0]->group == GROUP_NONE)
		print_full_help();
	else
		print_short_help();
}

static const struct command *find_sub(const struct command *c, const char *name)
{
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		if (strcmp((*sub)->name, name) == 0)
			return *sub;
	return NULL;
}

static int run_help(struct invocation *in)
{
	const struct command *c;

	if (!in->arg_count) {
		print_help(option_of(in, "all"));
		return EXIT_DONE;
	}
	c = command_find(in->args[0]);
	if (!c)
		return fail_unknown_command(in, in->args[0]);
	if (in->arg_count > 1 && !find_sub(c, in->args[1]))
		return usage(in, "vfctl %s has no verb '%s'", c->name, in->args[1]);
	print_command_help(in->arg_count > 1 ? find_sub(c, in->args[1]) : c);
	return EXIT_DONE;
}

static const struct option_row help_options[] = {
	{"all", 'a', NULL, "all verbs, and the options of every verb", NULL},
};

const struct command cmd_help = {
	.name = "help",
	.group = GROUP_OTHER,
	.args = "[VERB [SUB-VERB]]",
	.summary = "Show help",
	.text = "Without VERB it lists the common verbs; --all lists all verbs and the "
		"options of every verb.",
	.examples = {{"vfctl help create", "one verb"},
		{"vfctl help guid reserve", "a verb of guid"}},
	.max_args = 2,
	OPTIONS(help_options),
	.run = run_help,
};
