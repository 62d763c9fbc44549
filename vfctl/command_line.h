/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COMMAND_LINE_H
#define VFCTL_COMMAND_LINE_H

#include "command.h"

/* Number of options that commands get from .reads and .changes. */
#define ANSWER_OPTIONS 2
extern const struct option_row answer_options[ANSWER_OPTIONS], dry_run_option;
/* The option @name of @command (NULL: any command), or the common one; NULL if there is none. */
const struct option_row *command_line_option(const struct command *command, const char *name,
	size_t len);
/* Whether --json is among the words: then errors in the other words are reported in JSON too. */
bool command_line_wants_json(int argc, char **argv);
/* Parse the words. 0, or EXIT_USAGE. */
int command_line_read(struct invocation *in, int argc, char **argv);
/* Check that the command has all its operands, and no option of another verb. 0, or EXIT_USAGE. */
int command_line_check(const struct invocation *in);

#endif
