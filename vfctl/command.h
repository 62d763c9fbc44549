/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COMMAND_H
#define VFCTL_COMMAND_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer.h"
#include "out.h"
#include "core/change.h"
#include "core/context.h"
#include "core/sriov.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,  /* nothing changed, or rolled back */
	EXIT_USAGE = 2,
	EXIT_DRIFT = 3,
	EXIT_PARTLY = 4,  /* partly applied */
};

/* One option of a command (or of all). @arg NULL: a switch. */
struct option_row {
	const char *name;  /* without "--" */
	char letter;       /* short form, or 0 */
	const char *arg;   /* what the value is, for help: "FILE" */
	const char *help;
	const char *words; /* values for completion, separated by blanks; or NULL */
};

#define OPTIONS_MAX 24
#define ARGS_MAX 64

/* What the user wrote, taken apart. */
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
	bool again; /* what was planned came too late: the command is to begin anew */
	unsigned tries;
	bool made; /* something was changed */
	const char *where; /* "FILE:LINE:COLUMN" that a failure is about; NULL: the command line */
	/* What the JSON answer of a change shows as it is afterwards (result.h), each NULL or 0: not. */
	const char *result_pf, *result_domain;
	const struct vfctl_set_item *result_vfs;
	size_t result_vf_count;
};

/* The value of an option, or NULL when it was not given. */
const char *option_of(const struct invocation *in, const char *name);

/* What an argument names, for completion. */
enum operand { OPERAND_NONE, OPERAND_PF, OPERAND_VF, OPERAND_DOMAIN, OPERAND_FILE,
	OPERAND_ANY };

/* A command is a row: arity, help, completion and the man page's synopsis come from it. */
struct command {
	const char *name;
	const char *typed;   /* as users type it behind "vfctl": "bench run"; NULL: the name */
	const char *args;    /* "PF N" */
	const char *summary; /* one line */
	const char *text;    /* more help, or NULL */
	size_t min_args, max_args;
	enum operand operand; /* of the first argument */
	const char *words;    /* fixed first arguments ("install status"), or NULL */
	const struct answer *answer; /* what --json prints; NULL: it has no answer of its own */
	bool reads;           /* takes --json */
	bool changes;         /* takes --dry-run */
	bool waits;           /* it waits for events: progress would tell of nothing */
	const struct option_row *options;
	size_t option_count;
	const char *repeats; /* the option that may be given several times, or NULL */
	const char *terms; /* what @term tells one by one for help, such as "columns"; or NULL */
	bool (*term)(size_t at, const char **ret_name, const char **ret_help);
	int (*run)(struct invocation *in); /* NULL: one of @subs is named */
	/* Its verbs, each with options and operands of its own; NULL, or ends with NULL. */
	const struct command *const *subs;
	bool sub; /* it is such a verb: its name is args[0] */
};

#define OPTIONS(rows) .options = (rows), .option_count = ARRAY_SIZE(rows)

/* A command, or one first argument of it, that vfctl-bench carries out. */
struct delegate {
	const char *command;
	const char *argument; /* NULL: whatever it is */
	const char *as;       /* vfctl-bench's command in place of both; NULL: the argument */
};

/* A program of ours: each has its own in commands.c. */
struct program {
	const char *name;  /* "vfctl-bench" */
	const char *typed; /* what users type before its commands: "vfctl bench" */
	const char *about; /* for help */
	const struct delegate *delegates;
	size_t delegate_count;
	/* The exit status of vfctl-bench, which does not start; -1: it is not asked for. */
	int (*delegate)(struct invocation *in, char **argv);
};
extern const struct program this_program;
extern const struct command *const commands[];
extern const size_t command_count;
extern const struct option_row global_options[];
extern const size_t global_option_count;
const struct command *command_find(const char *name);
const char *command_typed(const struct command *command);

/*
 * "vfctl: create: words" on standard error, with --json also as the answer; returns the exit
 * status for @error, whose words the context has.
 */
int fail(const struct invocation *in, int error);
/* A line about one thing of several; nothing ends by it. */
void complain_about(const struct invocation *in, const char *what, const char *words);
/* The same as fail() in words of its own; returns @status. */
int fail_as(const struct invocation *in, int status, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The seconds of an option such as --wait, "90", "90s", "30m" or "1h"; @ret stays as it is without
 * the option. 0, or EXIT_USAGE with the valid spelling.
 */
int option_seconds(const struct invocation *in, const char *option, unsigned min, unsigned max,
	unsigned *ret);
/* The same for the user's own mistake. */
#define usage(in, ...) fail_as((in), EXIT_USAGE, -EINVAL, __VA_ARGS__)
/* Milliseconds of CLOCK_MONOTONIC. */
int64_t now_ms(void);

/* "warning: words" on standard error, one line whatever is in it. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line on standard error, with no control character whatever the names in it hold. */
void say_clean(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* So often another may be given what was planned, before that is told as a failure. */
#define TRIES_MAX 20
/* Print the steps (dry run), or carry them out. Frees the change. */
int run_change(struct invocation *in, struct vfctl_change *planned, const char *done);
/* What it answers as JSON; the rows are for commands that have other answers too. */
extern const struct member answer_change_dry[], answer_change_done[];
/* clang-format off */
#define CHANGE_DRY_RUN {"With `--dry-run`", answer_change_dry, false}
#define CHANGE_DONE {"When it is done", answer_change_done, false}
/* clang-format on */
extern const struct answer change_answer[];
/* "warnings" of a JSON answer: what was warned of on standard error. */
extern const struct member answer_warnings[];
/* The first Ctrl-C rolls back, the second ends the process at once. */
void catch_signals(struct vfctl_ctx *ctx);

void print_command_help(const struct command *command);
void print_help(void);

extern const struct command cmd_list, cmd_show, cmd_topology, cmd_create, cmd_destroy, cmd_set,
	cmd_apply, cmd_status, cmd_monitor, cmd_export, cmd_capture, cmd_plan, cmd_xml,
	cmd_define, cmd_move, cmd_undefine, cmd_release, cmd_adopt, cmd_attach, cmd_detach,
	cmd_guid, cmd_hook, cmd_bench, cmd_tune, cmd_doctor, cmd_selftest, cmd_metrics, cmd_recover,
	cmd_backup, cmd_completion, cmd_schema, cmd_help;

#endif
