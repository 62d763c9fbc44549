// SPDX-License-Identifier: GPL-2.0-or-later
/* The shells' completion scripts, which all call complete.c, and the parts of the manual pages. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "man.h"

/* "\1" stands for the program's name, "~" for the same as part of function names. */
static const char bash_script[] =
	"# bash completion for \1\n"
	"_~() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} words cur before candidate help request=\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line != *[[:blank:]] ]] || words+=(\"\")\n"
	"\tcur=${words[${#words[@]}-1]}\n"
	"\t# readline replaces only what follows the last of these characters\n"
	"\tbefore=${cur%\"${cur##*[=:]}\"}\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS=$'\\t' read -r candidate help; do\n"
	"\t\tcase $candidate in\n"
	"\t\t:nospace) compopt -o nospace ;;\n"
	"\t\t:files | :yaml) request=$candidate ;;\n"
	"\t\t*)\n"
	"\t\t\tcandidate=${candidate#\"$before\"}\n"
	"\t\t\t[[ $candidate != *[^[:alnum:]_=:,./@%+-]* ]] || printf -v candidate %q \"$candidate\"\n"
	"\t\t\tCOMPREPLY+=(\"$candidate\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(\1 __complete -- \"${words[@]:1}\" 2>/dev/null)\n"
	"\t[[ -z $request ]] || compopt -o filenames\n"
	"\tcase $request in\n"
	"\t:files) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\t:yaml) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.yaml' -- "
		"\"$cur\"; compgen -d -- \"$cur\") ;;\n"
	"\tesac\n"
	"}\n"
	"complete -F _~ \1\n";

static const char zsh_script[] =
	"#compdef \1\n"
	"_~() {\n"
	"\tlocal line request=\n"
	"\tlocal -a described options\n"
	"\tfor line in \"${(@f)$(\1 __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
	"\t\tcase $line in\n"
	"\t\t'') ;;\n"
	"\t\t:nospace) options=(-S '') ;;\n"
	"\t\t:files | :yaml) request=$line ;;\n"
	"\t\t*$'\\t') described+=(\"${${line%$'\\t'}//:/\\\\:}\") ;;\n"
	"\t\t*) described+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( $#described == 0 )) || _describe \1 described \"${(@)options}\"\n"
	"\tcase $request in\n"
	"\t:files) _files ;;\n"
	"\t:yaml) _files -g '*.yaml' ;;\n"
	"\tesac\n"
	"}\n"
	"if [[ $funcstack[1] == _~ ]]; then _~ \"$@\"; else compdef _~ \1; fi\n";

static const char fish_script[] =
	"# fish completion for \1\n"
	"function __~_complete\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\t\1 __complete -- $words[2..-1] 2>/dev/null\n"
	"end\n"
	"complete -c \1 -f\n"
	"complete -c \1 -n '__~_complete | string match -qr \"^:(files|yaml)\"' -F\n"
	"complete -c \1 -a '(__~_complete | string match -rv \"^:(nospace|files|yaml)\")'\n";

static void print_script(const char *script)
{
	for (const char *c = script; *c; c++) {
		if (*c == '\1')
			fputs(this_program.name, stdout);
		else if (*c == '~')
			for (const char *n = this_program.name; *n; n++)
				putchar(*n == '-' ? '_' : *n);
		else
			putchar(*c);
	}
}

static int run_completion(struct invocation *in)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		if (strcmp(in->args[0], scripts[i].shell) == 0) {
			print_script(scripts[i].script);
			return EXIT_DONE;
		}
	return usage(in, "the shell must be bash, zsh or fish, not '%s'", in->args[0]);
}

const struct command cmd_completion = {
	.name = "completion",
	.group = GROUP_OTHER,
	.args = "bash|zsh|fish",
	.summary = "Print the completion script of a shell",
	.examples = {{"source <(vfctl completion bash)", "in ~/.bashrc"},
		{"vfctl completion fish > ~/.config/fish/completions/vfctl.fish", "for fish"}},
	.min_args = 1,
	.max_args = 1,
	.choices = "bash zsh fish",
	.run = run_completion,
};

/* ---- manual pages ---- */

static int run_man(struct invocation *in)
{
	const struct command *c;

	if (!in->arg_count) {
		man_print_commands();
		return EXIT_DONE;
	}
	if (strcmp(in->args[0], "names") == 0) {
		for (size_t i = 0; i < command_count; i++)
			if (!commands[i]->hidden)
				puts(commands[i]->name);
		return EXIT_DONE;
	}
	c = command_find(in->args[0]);
	if (!c)
		return fail_unknown_command(in, in->args[0]);
	man_print_page(c);
	return EXIT_DONE;
}

const struct command cmd_man = {
	.name = "__man",
	.args = "[names|VERB]",
	.summary = "Print the COMMANDS section of the manual page, or the page of a verb",
	.max_args = 1,
	.hidden = true,
	.run = run_man,
};

/* ---- version ---- */

#define OF struct version_view
struct version_view {
	const char *version;
};
static const struct member version_table[] = {
	FIELD(version, "version of the program: MAJOR.MINOR.PATCH", FILLED), END};
#undef OF

static int run_version(struct invocation *in)
{
	struct version_view view = {VFCTL_VERSION};

	if (in->json)
		answer_put(in->out, NULL, version_table, &view);
	else
		printf("%s " VFCTL_VERSION "\n", this_program.name);
	return EXIT_DONE;
}

static const struct answer version_answer[] = {{NULL, version_table, false}, {0}};

const struct command cmd_version = {
	.name = "version",
	.group = GROUP_OTHER,
	.answer = version_answer,
	.reads = true,
	.args = "",
	.summary = "Show the version",
	.examples = {{"vfctl version", "print the version"},
		{"vfctl version --json", "for programs that depend on it"}},
	.run = run_version,
};
