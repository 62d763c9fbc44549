/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKER_LINES_H
#define VFCTL_WORKER_LINES_H

#include "workers.h"

/*
 * Progress of several processes at the bottom of the terminal: one line for each that works for
 * longer than a second. Their output to standard error appears above. NULL is always accepted:
 * nothing is shown.
 */
struct worker_lines;

/* NULL: progress is not shown (no terminal, --quiet, --json), or memory is exhausted. */
struct worker_lines *worker_lines_new(const struct jobs *jobs);
void worker_lines_free(struct worker_lines *lines);
/* Called in the worker's process: its actions and its output go to the parent from now on. */
void worker_lines_enter(struct worker_lines *lines, struct vfctl_ctx *ctx, size_t index);
/* Called in the parent. */
void worker_lines_started(struct worker_lines *lines, size_t index);
void worker_lines_ended(struct worker_lines *lines, size_t index);
/* Readable when workers have printed something; -1: they do not print. */
int worker_lines_fd(const struct worker_lines *lines);
/* Print their output, and the lines again. */
void worker_lines_paint(struct worker_lines *lines);

#endif
