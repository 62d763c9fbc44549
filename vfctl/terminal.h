/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TERMINAL_H
#define VFCTL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Colour and the pager. Colour marks only problems, and there is always another mark too. Without
 * --color it is used on terminals other than "dumb" ones, unless NO_COLOR is set (no-color.org).
 */

enum color { COLOR_NONE, COLOR_GOOD, COLOR_WARN, COLOR_BAD };

/* @when is "auto", "always" or "never", or NULL for "auto". False: it is not one of them. */
bool terminal_set_color(const char *when);
/* The sequences that begin and end @color on @file (stdout or stderr); "" without colour. */
const char *color_begin(FILE *file, enum color color);
const char *color_end(FILE *file, enum color color);

/* Whether TERM is unset or names a terminal that cannot move the cursor. */
bool terminal_is_dumb(void);
/* Width of the terminal on standard output, or COLUMNS; 0: no limit (a pipe or a file). */
unsigned terminal_width(void);

/*
 * Send standard output through $VFCTL_PAGER, $PAGER, or less; nothing changes if it is not a
 * terminal, or a dumb one, or if the program is missing.
 */
void terminal_start_pager(void);
void terminal_forbid_pager(void);
bool terminal_is_paged(void);
/* Wait for the pager after the last output. False: it failed, and @ret_text describes how. */
bool terminal_end_pager(char *ret_text, size_t size);

#endif
