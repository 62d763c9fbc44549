/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PROGRESS_H
#define VFCTL_PROGRESS_H

#include <stdbool.h>

/*
 * One line at the foot of the terminal while something lasts longer than a second: what is
 * waited for, and for how many seconds. It goes before anything else is printed.
 */

/* From now on, if standard error is a terminal; false: it is none. */
bool progress_start(void);
/* For good; before output that is not between the two below. */
void progress_stop(void);
/* What is being done: a vfctl_progress_fn. */
void progress_doing(void *data, const char *text);
/* Whoever prints a line calls this before and that behind; the seconds begin anew. */
void progress_hide(void);
void progress_go_on(void);

#endif
