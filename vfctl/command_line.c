// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line: commands, their verbs, operands and options. */
#include "command_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"

const struct option_row global_options[] = {
	{"host", 0, "FILE|DIR", "read a captured host instead of this host", NULL},
	{"host-yaml", 0, "FILE|DIR",
		"declaration of this host (default /etc/vfctl/host.yaml); DIR: all its *.yaml "
		"files", NULL},
	{"state", 0, "FILE", "state file (default /var/lib/vfctl/state.db)", NULL},
	{"connect", 'c', "URI", "libvirt to connect to (default qemu:///system)",
		"qemu:///system qemu:///session test:///default"},
	{"timeout", 0, "SECONDS", "time limit for one write to the kernel (default 120)", NULL},
	{"wait", 0, "SECONDS", "how long to wait for another vfctl that works on the same PF or domain, "
		"0 s to 1 h (default 30)", NULL},
	{"lock-wait", 0, "SECONDS", "the same, also for verbs whose --wait is for something else", NULL},
	{"color", 0, "WHEN", "colour for problems: auto (default), always or never", "auto always never"},
	{"no-pager", 0, NULL, "do not page long output", NULL},
	{"quiet", 'q', NULL, "print no progress and no confirmation", NULL},
	{"verbose", 'v', NULL, "also print each write and read-back", NULL},
	{"help", 'h', NULL, "show help", NULL},
	{"version", 'V', NULL, "show the version", NULL},
};
const size_t global_option_count = ARRAY_SIZE(global_options);

const struct option_row answer_options[ANSWER_OPTIONS] = {
	{"json", 0, NULL, "print JSON", NULL},
	{"get", 0, "MEMBERS", "print only these members of the JSON, separated by "
		"commas: a line for each object, with tabs between values", NULL},
};
const struct option_row dry_run_option = {"dry-run", 'n', NULL,
	"print the steps; change nothing", NULL};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0 ||
			(commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
			return commands[i];
	return NULL;
}

int fail_unknown_command(const struct invocation *in, const char *word)
{
	struct nearest search = nearest_to(word);

	for (size_t i = 0; i < command_count; i++)
		if (!commands[i]->hidden)
			nearest_offer(&search, commands[i]->name);
	if (search.best)
		return usage(in, "unknown verb '%s'; did you mean %s?", word, search.best);
	return usage(in, "unknown verb '%s' (%s help lists the verbs)", word, this_program.typed);
}

const char *command_program(const struct command *command)
{
	return command->typed ? "vfctl" : this_program.name;
}

const char *command_typed(const struct command *command)
{
	return command->typed ? command->typed : command->name;
}

const char *option_of(const struct invocation *in, const char *name)
{
	for (size_t i = 0; i < in->option_count; i++)
		if (strcmp(in->options[i].name, name) == 0)
			return in->options[i].value;
	return NULL;
}

const struct option_row *command_option(const struct command *c, size_t index)
{
	if (index < c->option_count)
		return &c->options[index];
	return c->call ? call_option(c->call, index - c->option_count) : NULL;
}

static bool option_is(const struct option_row *row, const char *name, size_t len)
{
	return (strlen(row->name) == len && strncmp(row->name, name, len) == 0) ||
		(len == 1 && row->letter && row->letter == name[0]);
}

static const struct option_row *find_own(const struct command *c, const char *name, size_t len)
{
	const struct option_row *row = NULL;

	for (size_t i = 0; c && (row = command_option(c, i)) && !option_is(row, name, len);)
		i++;
	return row;
}

static const struct option_row *find_in(const struct option_row *rows, size_t count,
	const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (option_is(&rows[i], name, len))
			return &rows[i];
	return NULL;
}

/*
 * An option of the command precedes a common one of that name. Before the verb of @command is
 * known, the options of all its verbs are accepted.
 */
const struct option_row *command_line_option(const struct command *command, const char *name,
	size_t len)
{
	const struct option_row *row = find_own(command, name, len);

	if (!row)
		row = find_in(global_options, global_option_count, name, len);
	for (const struct command *const *s = command ? command->subs : NULL; s && *s && !row; s++)
		row = command_line_option(*s, name, len);
	if (!row && (!command || command->reads || command->changes))
		row = find_in(answer_options, ANSWER_OPTIONS, name, len);
	if (!row && (!command || command->changes))
		row = find_in(&dry_run_option, 1, name, len);
	return row;
}

static void offer_options(struct nearest *search, const struct option_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nearest_offer(search, rows[i].name);
}

static int fail_unknown_option(const struct invocation *in, const char *word)
{
	const struct command *c = in->command;
	const struct option_row *row;
	char name[64];
	struct nearest search;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	search = nearest_to(name + strspn(name, "-"));
	offer_options(&search, global_options, global_option_count);
	for (size_t i = 0; c && (row = command_option(c, i)); i++)
		nearest_offer(&search, row->name);
	if (c && (c->reads || c->changes))
		offer_options(&search, answer_options, ANSWER_OPTIONS);
	if (c && c->changes)
		offer_options(&search, &dry_run_option, 1);
	if (search.best && word[1] == '-')
		return usage(in, "unknown option %s; did you mean --%s?", name, search.best);
	return usage(in, "unknown option %s (%s help%s%s lists the options)", word,
		c ? "vfctl" : this_program.typed, c ? " " : " --all", c ? command_typed(c) : "");
}

static bool may_repeat(const struct invocation *in, const struct option_row *row)
{
	const char *repeats = in->command ? in->command->repeats : NULL;

	return repeats && strcmp(repeats, row->name) == 0;
}

/* Parse the option at argv[*i]; its value may be the next word. */
static int take_option(struct invocation *in, char **argv, int argc, int *i)
{
	bool is_long = argv[*i][1] == '-';
	const char *name = argv[*i] + (is_long ? 2 : 1);
	const char *equals = is_long ? strchr(name, '=') : NULL;
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_row *row = NULL;
	const char *value = "";

	if (is_long ? len > 1 : len == 1)
		row = command_line_option(in->command, name, len);
	if (!row)
		return fail_unknown_option(in, argv[*i]);
	if (!row->arg && equals)
		return usage(in, "--%s takes no value", row->name);
	if (row->arg && equals)
		value = equals + 1;
	else if (row->arg && *i + 1 < argc)
		value = argv[++*i];
	else if (row->arg)
		return usage(in, "--%s needs a value: %s", row->name, row->arg);
	if (option_of(in, row->name) && row->arg && !may_repeat(in, row))
		return usage(in, "--%s is given twice", row->name);
	if (in->option_count == OPTIONS_MAX)
		return usage(in, "too many options");
	in->options[in->option_count].name = row->name;
	in->options[in->option_count++].value = value;
	return 0;
}

/* The verb of a command that has several; vfctl-bench carries some out. */
static int take_sub(struct invocation *in, const char *word)
{
	const struct command *const *sub = in->command->subs;
	struct nearest search = nearest_to(word);
	char names[256] = "";

	for (; *sub && strcmp((*sub)->name, word) != 0; sub++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
			(*sub)->name);
	if (*sub) {
		in->command = *sub;
		in->args[in->arg_count++] = word;
		return 0;
	}
	for (size_t i = 0; i < this_program.delegate_count; i++)
		if (strcmp(this_program.delegates[i].command, in->command->name) == 0)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), ", %s",
				this_program.delegates[i].argument);
	for (sub = in->command->subs; *sub; sub++)
		nearest_offer(&search, (*sub)->name);
	if (search.best)
		return usage(in, "unknown verb '%s'; did you mean %s?", word, search.best);
	return usage(in, "unknown verb '%s'; known are %s", word, names);
}

static int take_word(struct invocation *in, const char *word)
{
	if (!in->command) {
		in->command = command_find(word);
		if (!in->command)
			return fail_unknown_command(in, word);
		return 0;
	}
	if (in->command->subs)
		return take_sub(in, word);
	if (in->arg_count == in->command->max_args + in->command->sub)
		return usage(in, "'%s' is one argument too many: vfctl %s%s%s", word,
			command_typed(in->command), *in->command->args ? " " : "",
			in->command->args);
	in->args[in->arg_count++] = word;
	return 0;
}

/* A leading "-" followed by a digit is an argument (a count of -1), not an option. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9');
}

bool command_line_wants_json(int argc, char **argv)
{
	bool wanted = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		wanted |= strcmp(argv[i], "--json") == 0;
	return wanted;
}

int command_line_read(struct invocation *in, int argc, char **argv)
{
	bool only_text = false;
	int status = 0;

	for (int i = 1; i < argc && status == 0; i++) {
		if (!only_text && strcmp(argv[i], "--") == 0)
			only_text = true;
		else if (!only_text && is_option(argv[i]))
			status = take_option(in, argv, argc, &i);
		else
			status = take_word(in, argv[i]);
	}
	in->json = option_of(in, "json");
	in->dry_run = option_of(in, "dry-run");
	in->quiet = option_of(in, "quiet");
	return status;
}

int command_line_check(const struct invocation *in)
{
	for (size_t i = 0; i < in->option_count; i++)
		if (!command_line_option(in->command, in->options[i].name, strlen(in->options[i].name)))
			return usage(in, "--%s is not an option of vfctl %s", in->options[i].name,
				command_typed(in->command));
	if (in->command->subs || in->arg_count < in->command->min_args + in->command->sub)
		return usage(in, "needs: vfctl %s %s", command_typed(in->command), in->command->args);
	return 0;
}

int option_number(const struct invocation *in, const char *option, uint32_t min, uint32_t max,
	uint32_t *ret)
{
	const char *text = option_of(in, option);

	if (!text || parse_u32(text, min, max, ret) == 0)
		return 0;
	return usage(in, "--%s must be %" PRIu32 " to %" PRIu32 ", not '%s'", option, min, max, text);
}

int option_seconds(const struct invocation *in, const char *option, unsigned min, unsigned max,
	unsigned *ret)
{
	const char *text = option_of(in, option);

	if (!text || parse_seconds(text, min, max, ret) == 0)
		return 0;
	return usage(in, "--%s must be %u to %u seconds, such as 90, 90s, 30m or 1h, not '%s'", option,
		min, max, text);
}
