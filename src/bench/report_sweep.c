// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parameters of a test's cells: which of them vary, which one is the axis of its curves, and
 * the group of cells that belongs to one curve.
 */
#include "bench/report_build.h"

#include "bench/trial_index.h"

static const char *value_of(const struct bench_trial *t, const char *name)
{
	for (size_t i = 0; i < t->parameter_count; i++)
		if (str_eq(t->parameters[i].name, name))
			return t->parameters[i].value;
	return NULL;
}

/* Number of different values in the cells of the test. */
static size_t count_values(const struct builder *b, const char *test, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < b->r->shown.cell_count; i++) {
		const char *value = value_of(b->firsts[i], name);
		bool is_new = value;

		/* A failed sweep of the tool's own has no value. */
		if (!value || !str_eq(b->firsts[i]->test, test))
			continue;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = !str_eq(b->firsts[k]->test, test) || !value_of(b->firsts[k], name) ||
				!str_eq(value_of(b->firsts[k], name), value);
		count += is_new;
	}
	return count;
}

static const char *axis_of(const struct builder *b, const char *test)
{
	size_t sizes = count_values(b, test, "size"), threads = count_values(b, test, "threads");

	return sizes > 1 && sizes >= threads ? "size" : threads > 1 ? "threads" : NULL;
}

void report_find_axes(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;

	for (size_t i = 0; i < to->cell_count; i++) {
		size_t k = 0;

		while (!str_eq(b->firsts[k]->test, b->firsts[i]->test))
			k++;
		to->cells[i].axis = k < i ? to->cells[k].axis : axis_of(b, b->firsts[i]->test);
	}
}

/* The next parameter that is not the axis. */
static size_t next_of(const struct bench_trial *t, const char *axis, size_t at)
{
	return at + (at < t->parameter_count && axis && str_eq(t->parameters[at].name, axis));
}

int report_compare_groups(const struct bench_trial *a, const struct bench_trial *b,
	const char *axis)
{
	size_t i = next_of(a, axis, 0), k = next_of(b, axis, 0);
	int order = 0;

	while (i < a->parameter_count && k < b->parameter_count && order == 0) {
		order = parameters_compare(&a->parameters[i], 1, &b->parameters[k], 1);
		i = next_of(a, axis, i + 1);
		k = next_of(b, axis, k + 1);
	}
	return order ? order : (i < a->parameter_count) - (k < b->parameter_count);
}

/* Whether the value at that place differs within the test. */
static bool parameter_varies(const struct builder *b, const struct bench_trial *t, size_t p)
{
	for (size_t k = 0; k < b->r->shown.cell_count; k++)
		if (str_eq(b->firsts[k]->test, t->test) && (p >= b->firsts[k]->parameter_count ||
			!str_eq(b->firsts[k]->parameters[p].value, t->parameters[p].value)))
			return true;
	return false;
}

static int describe_cell(struct builder *b, size_t at)
{
	struct vfctl_bench_cell *cell = &b->r->shown.cells[at];
	const struct bench_trial *t = b->firsts[at];
	_buf_ struct buf values = {0}, names = {0}, group = {0};

	buf_puts(&values, "");
	buf_puts(&names, "");
	buf_puts(&group, "");
	for (size_t p = 0; p < t->parameter_count; p++) {
		const struct bench_parameter *one = &t->parameters[p];

		if (!parameter_varies(b, t, p))
			continue;
		buf_printf(&values, "%s%s", values.len ? " " : "", one->value);
		buf_printf(&names, "%s%s", names.len ? " " : "", one->name);
		if (!cell->axis || !str_eq(one->name, cell->axis))
			buf_printf(&group, "%s%s %s", group.len ? ", " : "", one->name, one->value);
	}
	if (b->by_configuration[at]) {
		buf_printf(&values, "%s%s", values.len ? " " : "", b->by_configuration[at]);
		buf_printf(&group, "%s%s", group.len ? ", " : "", b->by_configuration[at]);
	}
	cell->varies = report_keep(b->r, buf_steal(&values));
	cell->varied = report_keep(b->r, b->by_configuration[at] ? strdup("cell") : buf_steal(&names));
	cell->group = report_keep(b->r, buf_steal(&group));
	return cell->varies && cell->varied && cell->group ? 0 : ctx_oom(b->ctx);
}

int report_take_varying(struct builder *b)
{
	int r = 0;

	for (size_t i = 0; i < b->r->shown.cell_count && r == 0; i++)
		r = describe_cell(b, i);
	return r;
}
