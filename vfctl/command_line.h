/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COMMAND_LINE_H
#define VFCTL_COMMAND_LINE_H

#include "command.h"

/* Is --json among the words? What is wrong with the others is then an answer in JSON too. */
bool command_line_wants_json(int argc, char **argv);
/* Take the words apart. 0, or EXIT_USAGE. */
int command_line_read(struct invocation *in, int argc, char **argv);
/* Has the command all its operands, and no option of another verb? 0, or EXIT_USAGE. */
int command_line_check(const struct invocation *in);

#endif
