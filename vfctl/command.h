/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COMMAND_H
#define VFCTL_COMMAND_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "api/options.h"
#include "out.h"
#include "types/inventory.h"
#include "vfctl/change.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,  /* nothing was changed, or everything was rolled back */
	EXIT_USAGE = 2,
	EXIT_DRIFT = 3,
	EXIT_PARTLY = 4,  /* partly applied */
};

#define OPTIONS_MAX 24
#define ARGS_MAX 64

/* The parsed command line. */
struct invocation {
	struct vfctl_ctx *ctx;
	struct out *out;
	const struct command *command;
	const char *args[ARGS_MAX];
	size_t arg_count;
	struct {
		const char *name;
		const char *value; /* "" for a switch */
	} options[OPTIONS_MAX];
	size_t option_count;
	bool json, dry_run, quiet;
	bool again; /* another process was faster: the command has to plan again */
	unsigned tries;
	bool made; /* something was changed */
	const char *where; /* "FILE:LINE:COLUMN" of the error; NULL: the command line */
	/*
	 * Objects whose state the JSON answer of a change shows afterwards (result.h); NULL or 0:
	 * none.
	 */
	const char *result_pf, *result_domain;
	const struct vfctl_set_item *result_vfs;
	size_t result_vf_count;
};

/* The value of an option, or NULL if it was not given. */
const char *option_of(const struct invocation *in, const char *name);

/* The kind of an argument, for completion. */
enum operand { OPERAND_NONE, OPERAND_PF, OPERAND_VF, OPERAND_DOMAIN, OPERAND_FILE,
	OPERAND_ANY };

/* The groups in which help lists commands, in this order. */
enum group { GROUP_NONE, GROUP_VFS, GROUP_GUESTS, GROUP_HOST, GROUP_TUNING, GROUP_HEALTH,
	GROUP_OTHER,
	GROUP_COUNT };

struct example {
	const char *line, *does;
};

#define EXAMPLES_MAX 3

/* A command is a row: arity, help, completion and the man page's synopsis are derived from it. */
struct command {
	const char *name;
	const char *alias;   /* a second name ("ls"), or NULL */
	const char *typed;   /* as users type it after "vfctl": "bench run"; NULL: the name */
	const char *args;    /* "PF N"; "": no operands, never NULL */
	const char *summary; /* one line */
	const char *text;    /* more help, or NULL */
	enum group group;
	bool common;         /* it is in the short help */
	struct example examples[EXAMPLES_MAX];
	size_t min_args, max_args;
	enum operand operand; /* kind of the first argument */
	const char *choices;    /* fixed first arguments ("install status"), or NULL */
	const struct answer *answer; /* what --json prints; NULL: it has no answer of its own */
	bool reads;           /* accepts --json */
	bool changes;         /* accepts --dry-run */
	bool waits;           /* it waits for events, so progress is not shown */
	const struct option_row *options;
	size_t option_count;
	enum api_call call; /* the call of the library whose options it has too; 0: none */
	bool hidden;         /* help, completion and the manual omit it */
	const char *repeats; /* the option that may be repeated, or NULL */
	const char *terms; /* name of what @term lists in help, such as "columns"; or NULL */
	bool (*term)(size_t at, const char **ret_name, const char **ret_help);
	int (*run)(struct invocation *in); /* NULL: one of @subs must be given */
	/* Its verbs, each with its own options and operands; NULL, or NULL-terminated. */
	const struct command *const *subs;
	bool sub; /* it is such a verb: its name is args[0] */
};

#define OPTIONS(rows) .options = (rows), .option_count = ARRAY_SIZE(rows)

/* A command, or a first argument of one, that vfctl-bench carries out. */
struct delegate {
	const char *command;
	const char *argument; /* NULL: any */
	const char *as;       /* vfctl-bench's command that replaces both; NULL: the argument */
};

/* A program of this project: each has its own in commands.c. */
struct program {
	const char *name;  /* "vfctl-bench" */
	const char *typed; /* what users type before its commands: "vfctl bench" */
	const char *about; /* for help */
	const char *section; /* of its manual page */
	const struct delegate *delegates;
	size_t delegate_count;
	/* The exit status if vfctl-bench cannot be started; -1: it is not needed. */
	int (*delegate)(struct invocation *in, char **argv);
};
extern const struct program this_program;
extern const struct command *const commands[];
extern const size_t command_count;
extern const struct option_row global_options[];
extern const size_t global_option_count;
/* Find a command by name or alias; NULL if there is none. */
const struct command *command_find(const char *name);
/* Print the error with the nearest valid name; returns EXIT_USAGE. */
int fail_unknown_command(const struct invocation *in, const char *word);
const char *command_typed(const struct command *command);
/* The option of a command at @index: its own rows, then those of its call; NULL past the last. */
const struct option_row *command_option(const struct command *command, size_t index);
/* The program name that users type before it: "vfctl", or "vfctl-bench" in its completion. */
const char *command_program(const struct command *command);

/*
 * Print "vfctl: create: message" on standard error and, with --json, also as the answer; returns
 * the exit status for @error, whose message is in the context.
 */
int fail(const struct invocation *in, int error);
/* Print a line about one of several objects; the command continues. */
void complain_about(const struct invocation *in, const char *what, const char *message);
/* Like fail() with another message; returns @status. */
int fail_as(const struct invocation *in, int status, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Read the seconds of an option such as --wait, "90", "90s", "30m" or "1h"; without the option @ret
 * is not changed. 0, or EXIT_USAGE with the valid spelling.
 */
int option_seconds(const struct invocation *in, const char *option, unsigned min, unsigned max,
	unsigned *ret);
/* The same for a number; @ret is a uint32_t. */
int option_number(const struct invocation *in, const char *option, uint32_t min, uint32_t max,
	uint32_t *ret);
/* Do this for a mistake of the user. */
#define usage(in, ...) fail_as((in), EXIT_USAGE, -EINVAL, __VA_ARGS__)

/* Print "warning: message" on standard error as one line. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print a line on standard error without control characters. */
void say_clean(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* How often another process may claim the planned value first before the command fails. */
#define TRIES_MAX 20
/* Print the steps (dry run), or carry them out. Frees the change. */
int run_change(struct invocation *in, struct vfctl_change *planned, const char *done);
/* The JSON answers of changes; commands with further answers use these rows too. */
extern const struct member answer_change_dry[], answer_change_done[];
/* clang-format off */
#define CHANGE_DRY_RUN {"With `--dry-run`", answer_change_dry, false}
#define CHANGE_DONE {"When it is done", answer_change_done, false}
/* clang-format on */
extern const struct answer change_answer[];
/* "warnings" of a JSON answer: the warnings that were printed on standard error. */
extern const struct member answer_warnings[];
/* The first Ctrl-C rolls back, the second ends the process at once. */
void catch_signals(struct vfctl_ctx *ctx);

void print_command_help(const struct command *command);
/* Print the common verbs or, with @all, all verbs and all options. */
void print_help(bool all);
extern const char *const group_titles[];

extern const struct command cmd_list, cmd_show, cmd_topology, cmd_create, cmd_destroy, cmd_set,
	cmd_apply, cmd_try, cmd_check, cmd_edit, cmd_status, cmd_monitor, cmd_export, cmd_capture,
	cmd_plan, cmd_xml, cmd_define, cmd_move, cmd_undefine, cmd_release, cmd_adopt, cmd_attach,
	cmd_detach, cmd_guid, cmd_hook, cmd_bench, cmd_tune, cmd_doctor, cmd_health, cmd_selftest,
	cmd_metrics, cmd_recover, cmd_backup, cmd_completion, cmd_complete, cmd_man, cmd_schema,
	cmd_version,
	cmd_help;

#endif
