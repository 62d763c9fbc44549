/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_SVG_H
#define VFCTL_BENCH_SVG_H

#include "base/buf.h"
#include "bench/bench.h"

/* Pictures of a report: inline SVG in a figure, no script; colours are classes of the page. */

/* Text for HTML and XML: markup escaped, what may stand in neither left out. */
void html_put(struct buf *out, const char *text);

/* The cells of one test whose @size or @threads is on the x axis. */
enum svg_over { SVG_OVER_SIZE, SVG_OVER_THREADS };
bool svg_can_plot(const struct vfctl_bench_report *r, const char *test, enum svg_over over);
void svg_curves(struct buf *out, const struct vfctl_bench_report *r, const char *test,
	enum svg_over over, unsigned id);
/* How long single samples took: how often each length came, and the share that took longer. */
bool svg_has_samples(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell);
void svg_distribution(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, unsigned id);
void svg_tail(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, unsigned id);
/* Each trial a dot, a row for each configuration, with its verdict. */
void svg_trials(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, unsigned id);

#define SVG_COLOURS 8

#endif
