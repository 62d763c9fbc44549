/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PROGRESS_H
#define VFCTL_PROGRESS_H

#include <stdbool.h>

/*
 * A line at the bottom of the terminal while an action takes longer than a second: what is being
 * waited for, and for how many seconds. It is erased before anything else is printed.
 */

/* Start it, if standard error is a terminal; false if it is not. */
bool progress_start(void);
/* Whether it was started and not stopped. */
bool progress_is_shown(void);
/* Stop it; call this before output that is not between the two calls below. */
void progress_stop(void);
/* Set the current action: a vfctl_progress_fn. */
void progress_doing(void *data, const char *text);
/* Call this before printing a line, and the other function afterwards; the seconds start again. */
void progress_hide(void);
void progress_go_on(void);

#endif
