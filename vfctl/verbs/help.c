// SPDX-License-Identifier: GPL-2.0-or-later
/* Help, completion and man synopsis, all from the command table. */
#include <stdio.h>
#include <string.h>

#include "command.h"

#define WIDTH 80
#define LEFT 30 /* columns before the help of an option or a command */

/* @text from column @at on, filled anew: its lines begin in column @indent. */
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

/* "  left                        help"; a left side that is too wide has a line of its own. */
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

static const struct option_row json_row = {"json", 0, NULL, "print JSON", NULL};
static const struct option_row dry_row = {"dry-run", 'n', NULL,
	"print the steps, change nothing", NULL};

static bool has_options(const struct command *c)
{
	return c->option_count || c->reads || c->changes;
}

void print_command_help(const struct command *c)
{
	const char *name, *help;

	printf("usage: vfctl %s%s%s%s\n\n", command_typed(c), *c->args ? " " : "", c->args,
		has_options(c) ? " [OPTION...]" : "");
	print_wrapped(c->summary, 0, 0);
	if (c->text) {
		putchar('\n');
		print_wrapped(c->text, 0, 0);
	}
	if (c->subs)
		printf("\nverbs (vfctl %s VERB --help has more):\n", c->name);
	for (const struct command *const *sub = c->subs; sub && *sub; sub++) {
		char left[128];

		snprintf(left, sizeof(left), "%s %s", (*sub)->name, (*sub)->args);
		print_pair(left, (*sub)->summary);
	}
	if (has_options(c))
		printf("\noptions:\n");
	for (size_t i = 0; i < c->option_count; i++)
		print_option(&c->options[i]);
	if (c->changes)
		print_option(&dry_row);
	if (c->reads || c->changes)
		print_option(&json_row);
	if (c->terms)
		printf("\n%s:\n", c->terms);
	for (size_t i = 0; c->terms && c->term(i, &name, &help); i++)
		print_pair(name, help);
	printf("\nand those of every command (vfctl --help).\n");
}

void print_help(void)
{
	printf("usage: %s COMMAND [ARGUMENT...] [OPTION...]\n\n%s\n\ncommands:\n", this_program.typed,
		this_program.about);
	for (size_t i = 0; i < command_count; i++) {
		char left[128];

		snprintf(left, sizeof(left), "%s %s", commands[i]->name, commands[i]->args);
		print_pair(left, commands[i]->summary);
	}
	printf("\noptions of every command:\n");
	for (size_t i = 0; i < global_option_count; i++)
		print_option(&global_options[i]);
	printf("\nexit status: 0 done; 1 failed, nothing changed; 2 a mistake in what was asked;\n"
	       "3 drift found; 4 partly applied. See %s(1).\n", this_program.name);
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
		print_help();
		return EXIT_DONE;
	}
	c = command_find(in->args[0]);
	if (!c)
		return usage(in, "there is no command '%s'", in->args[0]);
	if (in->arg_count > 1 && !find_sub(c, in->args[1]))
		return usage(in, "vfctl %s has no verb '%s'", c->name, in->args[1]);
	print_command_help(in->arg_count > 1 ? find_sub(c, in->args[1]) : c);
	return EXIT_DONE;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND [VERB]]",
	.summary = "print help",
	.max_args = 2,
	.run = run_help,
};

/* ---- completion ---- */

/* What may follow a command at once: its verbs, those that vfctl-bench carries out as well. */
static void print_first(const struct command *c)
{
	printf("%s", c->words ? c->words : "");
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		printf("%s ", (*sub)->name);
	for (size_t i = 0; c->subs && i < this_program.delegate_count; i++)
		if (strcmp(this_program.delegates[i].command, c->name) == 0)
			printf("%s ", this_program.delegates[i].argument);
}

static void print_words(const struct command *c)
{
	printf("\t\"%s\") words=\"", c->sub ? c->typed : c->name);
	for (size_t i = 0; i < c->option_count; i++)
		printf("--%s ", c->options[i].name);
	printf("%s%s\"; operand=%d; first=\"", c->changes ? "--dry-run " : "",
		c->reads || c->changes ? "--json " : "", (int)c->operand);
	print_first(c);
	printf("\" ;;\n");
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		print_words(*sub);
}

/* What may follow an option of @command, quoted for a pattern; "*" for those of all. */
static void print_values(const char *command, const struct option_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].arg)
			continue;
		printf("\t%s:--%s", command, rows[i].name);
		if (rows[i].letter)
			printf("|%s:-%c", command, rows[i].letter);
		if (rows[i].words)
			printf(") COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
				rows[i].words);
		else if (strstr(rows[i].arg, "FILE") || strstr(rows[i].arg, "DIR"))
			printf(") compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); "
			       "return ;;\n");
		else if (strcmp(rows[i].arg, "PF") == 0)
			printf(") COMPREPLY=($(compgen -W \"$(_vfctl_pfs)\" -- \"$cur\")); "
			       "return ;;\n");
		else if (strcmp(rows[i].arg, "COLUMNS") == 0)
			printf(") _vfctl_columns; return ;;\n");
		else
			printf(") return ;;\n");
	}
}

static void print_command_values(const struct command *c)
{
	char name[64];

	snprintf(name, sizeof(name), "\"%s\"", c->sub ? c->typed : c->name);
	print_values(name, c->options, c->option_count);
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		print_command_values(*sub);
}

/* "tune set" is a command of its own, once the verb is written. */
static void print_subs(void)
{
	for (size_t i = 0; i < command_count; i++)
		if (commands[i]->subs)
			printf("\t[[ $command != %s ]] || ((COMP_CWORD <= at + 1)) ||\n"
			       "\t\t{ command=\"$command ${COMP_WORDS[at+1]}\"; ((at++)); }\n",
				commands[i]->name);
}

/* "vfctl_bench", for names of functions. */
static const char *shell_name(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s", this_program.name);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

static void print_bash_helpers(void)
{
	printf("_vfctl_pfs() { vfctl list --pfs -n -o pf 2>/dev/null; }\n"
	       "_vfctl_columns() {\n"
	       "\tlocal before=${cur%%%%\"${cur##*[,+]}\"}\n"
	       "\tcompopt -o nospace\n"
	       "\tCOMPREPLY=($(compgen -P \"$before\" -W \"$(vfctl list -o help | cut -d' ' -f1)\" "
	       "-- \"${cur##*[,+]}\"))\n"
	       "}\n"
	       "_vfctl_domains() { virsh -q list --all --name 2>/dev/null; }\n");
}

/* Words of commands that vfctl-bench carries out are completed as it says itself. */
static void print_delegates(void)
{
	if (!this_program.delegate_count)
		return;
	printf("\tcase $command:${COMP_WORDS[at+1]-} in\n");
	for (size_t i = 0; i < this_program.delegate_count; i++) {
		const struct delegate *d = &this_program.delegates[i];

		if (!d->argument)
			printf("\t%s:*) _vfctl_delegate \"${COMP_WORDS[@]:at+1:COMP_CWORD-at}\"\n"
			       "\t\treturn ;;\n",
				d->command);
		else
			printf("\t%s:%s) ((COMP_CWORD == at + 1)) || { _vfctl_delegate %s "
			       "\"${COMP_WORDS[@]:at+2:COMP_CWORD-at-1}\"; return; } ;;\n",
				d->command, d->argument, d->as);
	}
	printf("\tesac\n");
}

static void print_bash_delegate(void)
{
	if (this_program.delegate_count)
		printf("_vfctl_delegate() {\n"
		       "\tdeclare -F _vfctl_bench >/dev/null ||\n"
		       "\t\teval \"$(vfctl bench completion bash 2>/dev/null)\"\n"
		       "\tdeclare -F _vfctl_bench >/dev/null || return\n"
		       "\tCOMP_WORDS=(vfctl-bench \"$@\"); COMP_CWORD=$#; _vfctl_bench\n"
		       "}\n");
}

static void print_bash_command(void)
{
	printf("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal command= words= operand=0 first= i at=0\n"
	       "\tCOMPREPLY=()\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tcase ${COMP_WORDS[i]} in\n"
	       "\t\t--host|--state|--host-yaml|--connect|-c|--timeout) ((i++)) ;;\n"
	       "\t\t-*) ;;\n"
	       "\t\t*) command=${COMP_WORDS[i]}; at=$i; break ;;\n"
	       "\t\tesac\n"
	       "\tdone\n");
}

static void print_bash_words(void)
{
	printf("\tcase $command:$prev in\n");
	print_values("*", global_options, global_option_count);
	for (size_t i = 0; i < command_count; i++)
		print_command_values(commands[i]);
	printf("\tesac\n"
	       "\tcase $command in\n"
	       "\t'') words=\"");
	for (size_t i = 0; i < command_count; i++)
		printf("%s ", commands[i]->name);
	printf("\" ;;\n");
	for (size_t i = 0; i < command_count; i++)
		print_words(commands[i]);
	printf("\tesac\n"
	       "\twords+=\" ");
	for (size_t i = 0; i < global_option_count; i++)
		printf("--%s ", global_options[i].name);
	printf("\"\n");
}

static void print_bash(void)
{
	printf("# bash completion for %s, made by: %s completion bash\n", this_program.name,
		this_program.typed);
	print_bash_helpers();
	print_bash_delegate();
	printf("_%s() {\n", shell_name());
	print_bash_command();
	print_delegates();
	print_subs();
	print_bash_words();
	printf("\tif [[ $command && $COMP_CWORD -eq $((at + 1)) && $cur != -* ]]; then\n"
	       "\t\tcase $operand in\n"
	       "\t\t%d) words+=\" $(_vfctl_pfs)\" ;;\n"
	       "\t\t%d) words+=\" $(_vfctl_pfs | sed 's|$|/|')\"; compopt -o nospace ;;\n"
	       "\t\t%d) words+=\" $(_vfctl_domains)\" ;;\n"
	       "\t\t%d) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
	       "\t\t%d) words+=\" $(_vfctl_pfs) $(_vfctl_domains)\" ;;\n"
	       "\t\tesac\n"
	       "\t\twords+=\" $first\"\n"
	       "\tfi\n"
	       "\tif [[ $cur != -* ]]; then words=$(printf '%%s\\n' $words | grep -v '^-'); fi\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "}\n",
		OPERAND_PF, OPERAND_VF, OPERAND_DOMAIN, OPERAND_FILE, OPERAND_ANY);
	printf("complete -F _%s %s\n", shell_name(), this_program.name);
}

static void print_man_terms(const struct command *c)
{
	const char *name, *help;

	printf(".PP\nThe %s:\n", c->terms);
	for (size_t i = 0; c->term(i, &name, &help); i++)
		printf(".TP\n.B %s\n%s.\n", name, help);
}

static void print_man_options(const struct option_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		printf(".TP\n");
		if (rows[i].letter)
			printf("\\fB\\-%c\\fR, ", rows[i].letter);
		printf("\\fB\\-\\-%s\\fR", rows[i].name);
		if (rows[i].arg)
			printf(" \\fI%s\\fR", rows[i].arg);
		printf("\n%s.\n", rows[i].help);
	}
}

static void print_man_command(const struct command *c)
{
	printf(".SS \"%s %s\"\n%s.\n", command_typed(c), c->args, c->summary);
	if (c->text)
		printf(".PP\n%s\n", c->text);
	print_man_options(c->options, c->option_count);
	if (c->changes)
		print_man_options(&dry_row, 1);
	if (c->reads || c->changes)
		print_man_options(&json_row, 1);
	if (c->terms)
		print_man_terms(c);
	for (const struct command *const *sub = c->subs; sub && *sub; sub++)
		print_man_command(*sub);
}

/* The COMMANDS and OPTIONS sections of the man page, included by the page's source. */
static void print_man(void)
{
	printf(".SH COMMANDS\n");
	for (size_t i = 0; i < command_count; i++)
		print_man_command(commands[i]);
	printf(".SH OPTIONS\nThese are understood by every command, before or after it.\n");
	print_man_options(global_options, global_option_count);
}

static int run_completion(struct invocation *in)
{
	if (strcmp(in->args[0], "bash") == 0)
		print_bash();
	else if (strcmp(in->args[0], "man") == 0)
		print_man();
	else
		return usage(in, "completion is made for bash (and 'man' prints the man page's "
			"command sections), not for '%s'", in->args[0]);
	return EXIT_DONE;
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash|man",
	.summary = "print the bash completion, or the man page's command sections",
	.min_args = 1,
	.max_args = 1,
	.words = "bash man",
	.run = run_completion,
};
