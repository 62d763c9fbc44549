/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MAN_H
#define VFCTL_MAN_H

#include "command.h"

/* Manual pages in roff, generated from the command table. */

/* The whole page of one verb, with its sub-verbs. */
void man_print_page(const struct command *command);
/*
 * The COMMANDS and OPTIONS sections of the program's page: one line for each verb with its own
 * page.
 */
void man_print_commands(void);

#endif
