// SPDX-License-Identifier: GPL-2.0-or-later
#include "man.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command_line.h"

/*
 * Escape text for roff: no line begins with a request, and '-' stays the character that users type.
 */
static void put(const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
			fputs("\\&", stdout);
		if (*c == '\\')
			fputs("\\e", stdout);
		else if (*c == '-')
			fputs("\\-", stdout);
		else
			putchar(*c);
	}
}

static void put_line(const char *text)
{
	put(text);
	putchar('\n');
}

/* Names keep their small first letter. */
static bool begins_with_name(const char *text)
{
	static const char *const names[] = {"libvirt", "opensm", "vCPU"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Print a help text as a sentence. */
static void put_sentence(const char *text)
{
	putchar(begins_with_name(text) ? *text : toupper((unsigned char)*text));
	put(text + 1);
	puts(text[strlen(text) - 1] == '.' ? "" : ".");
}

static void print_option(const struct option_row *row)
{
	printf(".TP\n");
	if (row->letter)
		printf("\\fB\\-%c\\fR, ", row->letter);
	printf("\\fB\\-\\-");
	put(row->name);
	printf("\\fR");
	if (row->arg) {
		printf(" \\fI");
		put(row->arg);
		printf("\\fR");
	}
	putchar('\n');
	put_sentence(row->help);
}

static void print_options(const struct option_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_option(&rows[i]);
}

static bool has_options(const struct command *c)
{
	return command_option(c, 0) || c->changes || c->reads;
}

static void print_own_options(const struct command *c)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option(c, i)); i++)
		print_option(row);
	if (c->changes)
		print_options(&dry_run_option, 1);
	if (c->reads || c->changes)
		print_options(answer_options, ANSWER_OPTIONS);
}

static void print_synopsis(const struct command *c)
{
	printf(".B %s ", command_program(c));
	put_line(command_typed(c));
	if (*c->args) {
		printf(".I \"");
		put(c->args);
		printf("\"\n");
	}
	if (has_options(c))
		printf(".RI [ OPTION ...]\n");
}

static void print_terms(const struct command *c)
{
	const char *name, *help;

	printf(".SH \"");
	for (const char *s = c->terms; *s; s++)
		putchar(toupper((unsigned char)*s));
	printf("\"\n");
	for (size_t i = 0; c->term(i, &name, &help); i++) {
		printf(".TP\n.B ");
		put_line(name);
		put_sentence(help);
	}
}

static void print_examples(const struct command *c)
{
	for (size_t i = 0; i < EXAMPLES_MAX && c->examples[i].line; i++) {
		printf(".TP\n.B ");
		put_line(c->examples[i].line);
		put_sentence(c->examples[i].does);
	}
}

static void print_sub(const struct command *c)
{
	printf(".SS \"");
	put(command_program(c));
	putchar(' ');
	put(command_typed(c));
	printf("%s", *c->args ? " " : "");
	put(c->args);
	printf("\"\n");
	put_sentence(c->summary);
	if (c->text) {
		puts(".PP");
		put_line(c->text);
	}
	print_own_options(c);
	if (c->examples[0].line)
		puts(".PP\nExamples:");
	print_examples(c);
}

/* Print two neighbouring verbs of @c's group. */
static void print_see_also(const struct command *c)
{
	puts(".SH SEE ALSO");
	for (size_t i = 0; c->group && i < command_count; i++)
		if (commands[i]->group == c->group && commands[i] != c && !commands[i]->hidden) {
			printf(".BR vfctl\\-");
			put(commands[i]->name);
			printf(" (%s),\n", this_program.section);
		}
	printf(".BR vfctl (%s)\n", this_program.section);
}

void man_print_page(const struct command *c)
{
	printf(".TH \"");
	for (const char *s = this_program.name; *s; s++)
		putchar(toupper((unsigned char)*s));
	printf("\\-");
	for (const char *s = c->name; *s; s++)
		putchar(toupper((unsigned char)*s));
	printf("\" %s \"\" \"vfctl\" \"System Administration\"\n.SH NAME\nvfctl\\-%s \\- ",
		this_program.section, c->name);
	putchar(tolower((unsigned char)*c->summary));
	put_line(c->summary + 1);
	puts(".SH SYNOPSIS");
	print_synopsis(c);
	puts(".SH DESCRIPTION");
	put_sentence(c->summary);
	if (c->alias)
		printf(".PP\n.B vfctl %s\nis the same.\n", c->alias);
	if (c->text) {
		puts(".PP");
		put_line(c->text);
	}
	if (c->subs)
		puts(".SH VERBS");
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		print_sub(*sub);
	puts(".SH OPTIONS");
	print_own_options(c);
	printf("%sThe options of every verb are described in\n.BR vfctl (%s).\n", has_options(c)
		? ".PP\n" : "",
		this_program.section);
	if (c->terms)
		print_terms(c);
	if (c->examples[0].line && !c->subs)
		puts(".SH EXAMPLES");
	if (!c->subs)
		print_examples(c);
	print_see_also(c);
}

static void print_entry(const struct command *c)
{
	printf(".TP\n.B ");
	put(c->name);
	if (*c->args) {
		printf(" \\fI");
		put(c->args);
		printf("\\fR");
	}
	putchar('\n');
	put_sentence(c->summary);
}

void man_print_commands(void)
{
	bool whole = commands[0]->group == GROUP_NONE;

	puts(".SH COMMANDS");
	if (!whole)
		puts("Each verb has a page of its own:\n.B man vfctl\\-\\fIVERB\\fR.");
	for (enum group group = GROUP_NONE; group < GROUP_COUNT; group++) {
		bool begun = whole;

		for (size_t i = 0; i < command_count; i++) {
			if (commands[i]->group != group || commands[i]->hidden)
				continue;
			if (!begun)
				printf(".SS \"%s\"\n", group_titles[group]);
			begun = true;
			if (whole)
				print_sub(commands[i]);
			else
				print_entry(commands[i]);
		}
	}
	puts(".SH OPTIONS\nEvery verb accepts these, before or after it.");
	print_options(global_options, global_option_count);
}
