// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of PFs and VFs: on a terminal they fit its width, for a script they have the requested
 * columns.
 */
#include "print/list.h"

#include <ctype.h>
#include <string.h>

#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "print/health.h"
#include "print/host.h"

#define FOLD_MIN 8 /* minimum number of VFs that are combined into one row */
#define FOLDED "..."

/* ---- tables ---- */

static void begin_table(struct out *out, unsigned indent, const struct columns *columns,
	bool no_headings)
{
	char names[COLUMNS_MAX][COLUMN_NAME];
	const char *headings[COLUMNS_MAX];

	for (size_t i = 0; i < columns->count; i++) {
		snprintf(names[i], COLUMN_NAME, "%s", columns->v[i].name);
		for (char *c = names[i]; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		headings[i] = names[i];
	}
	out_table(out, indent, no_headings ? NULL : headings, columns->count);
}

/* Begin a table for a person: it fits the terminal. */
static void begin_fitting(struct out *out, unsigned indent, const struct columns *columns,
	bool no_headings, signed char give[COLUMNS_MAX])
{
	begin_table(out, indent, columns, no_headings);
	for (size_t i = 0; i < columns->count; i++)
		give[i] = columns->v[i].give;
	out_table_fit(out, give);
}

/* The colour for a problem that a cell shows. */
static enum color column_color(const struct column *column, const struct column_row *row,
	const char *cell)
{
	if (strcmp(column->name, "exposed") == 0)
		return *cell ? COLOR_BAD : COLOR_NONE;
	if (strcmp(column->name, "link") == 0)
		return row->pf->netdev[0] && !(row->pf->up && row->pf->carrier) ? COLOR_WARN : COLOR_NONE;
	if (strcmp(column->name, "holder") == 0)
		return row->vf && row->vf->to_clean ? COLOR_WARN : COLOR_NONE;
	return COLOR_NONE;
}

static void print_row(struct out *out, const struct columns *columns,
	const struct column_row *row)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < columns->count; i++) {
		const char *cell = column_text(&columns->v[i], row, text);

		out_paint(out, column_color(&columns->v[i], row, cell), 0);
		out_cell(out, "%s", cell);
	}
}

/* ---- selection ---- */

bool list_has_pf(const struct list_view *view, const struct vfctl_pf *pf)
{
	bool found = !view->only_count;

	for (size_t i = 0; i < view->only_count && !found; i++)
		found = view->only[i] == pf;
	return found;
}

bool list_has_vf(const struct list_view *view, const struct vfctl_pf *pf, uint32_t at)
{
	return !view->free || vfctl_vf_can_be_given(view->ctx, pf, &pf->vfs[at],
		view->allowed);
}

/* ---- equal VFs ---- */

static bool is_free(const struct vfctl_vf *vf)
{
	return vf->holder.kind == VFCTL_HOLDER_NONE && !vf->lease.name[0] && !vf->defined_in[0] &&
		!vf->promise.network[0];
}

/*
 * Whether both are free and equal in everything that is not specific to a VF, and both have a GUID
 * or neither has.
 */
static bool are_alike(const struct columns *columns, const struct column_row *a,
	const struct column_row *b)
{
	char text[COLUMN_TEXT], other[COLUMN_TEXT];

	if (!is_free(a->vf) || !is_free(b->vf) ||
		!a->vf->attrs.port_guid != !b->vf->attrs.port_guid)
		return false;
	for (size_t i = 0; i < columns->count; i++)
		if (!columns->v[i].own && strcmp(column_text(&columns->v[i], a, text),
			column_text(&columns->v[i], b, other)) != 0)
			return false;
	return true;
}

/* The number of VFs from @first on that are shown in one row. */
static uint32_t run_from(const struct list_view *view, const struct columns *columns,
	const struct vfctl_pf *pf, uint32_t first)
{
	struct column_row row = {pf, &pf->vfs[first], view->ctx};
	uint32_t end = first + 1;

	for (; !view->all && end < pf->num_vfs && list_has_vf(view, pf, end); end++) {
		struct column_row next = {pf, &pf->vfs[end], view->ctx};

		if (next.vf->index != row.vf->index + end - first ||
			!are_alike(columns, &row, &next))
			break;
	}
	return end - first < FOLD_MIN ? 1 : end - first;
}

/* Whether the column has the same @cell for all VFs of the range. */
static bool all_equal(const struct column *column, const struct column_row *first,
	uint32_t count, const char *cell)
{
	char text[COLUMN_TEXT];

	for (uint32_t i = 1; i < count; i++)
		if (strcmp(cell, column_text(column,
			&(struct column_row){first->pf, first->vf + i, first->ctx}, text)) != 0)
			return false;
	return true;
}

/* "ens1/16-127  ...  vfio-pci  0  ...  free" */
static void print_folded(struct out *out, const struct columns *columns,
	const struct column_row *first, uint32_t count)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < columns->count; i++) {
		const char *cell = column_text(&columns->v[i], first, text);

		if (strcmp(columns->v[i].name, "vf") == 0)
			out_cell(out, "%s-%u", cell, first->vf->index + count - 1);
		else
			out_cell(out, "%s", all_equal(&columns->v[i], first, count, cell) ? cell : FOLDED);
	}
}

static void print_vf_table(struct out *out, const struct list_view *view,
	const struct vfctl_pf *pf)
{
	signed char give[COLUMNS_MAX];
	struct columns columns = {0};
	uint32_t count;

	columns_add_default(&columns, false);
	if (pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		columns.v[columns.count++] = column_find("representor");
	begin_fitting(out, 2, &columns, view->no_headings, give);
	for (uint32_t i = 0; i < pf->num_vfs; i += count) {
		struct column_row row = {pf, &pf->vfs[i], view->ctx};

		count = 1;
		if (!list_has_vf(view, pf, i))
			continue;
		count = run_from(view, &columns, pf, i);
		if (count == 1)
			print_row(out, &columns, &row);
		else
			print_folded(out, &columns, &row, count);
	}
	out_table_end(out);
}

void print_vfs(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	print_vf_table(out, &(struct list_view){.ctx = ctx, .all = true}, pf);
}

/* ---- list ---- */

static void warn_unread(const char *unread)
{
	if (unread)
		warn("the list is incomplete: %s", unread);
}

static void warn_snapshot(const struct vfctl_snapshot *snapshot)
{
	if (snapshot->leases_error)
		warn("leases are not shown: %s", snapshot->leases_error);
	if (snapshot->domains_error)
		warn("the VFs of some domains are unknown: %s", snapshot->domains_error);
	if (snapshot->domain_unread)
		warn("vfctl can read %s", snapshot->domain_unread);
	warn_unread(snapshot->inventory->unread);
	for (size_t i = 0; i < snapshot->inventory->pf_count; i++)
		warn_unread(snapshot->inventory->pfs[i].unread);
}

static void print_pf_table(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	signed char give[COLUMNS_MAX];
	struct columns columns = {0};

	columns_add_default(&columns, true);
	begin_fitting(out, 0, &columns, view->no_headings, give);
	for (size_t i = 0; i < inv->pf_count; i++)
		if (list_has_pf(view, &inv->pfs[i]))
			print_row(out, &columns, &(struct column_row){.pf = &inv->pfs[i]});
	out_table_end(out);
}

static void print_tables(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	print_pf_table(out, inv, view);
	for (size_t i = 0; i < inv->pf_count; i++) {
		if (!list_has_pf(view, &inv->pfs[i]) || !inv->pfs[i].num_vfs || view->pfs)
			continue;
		out_line(out, "%s", "");
		print_vf_table(out, view, &inv->pfs[i]);
	}
}

/*
 * In the format of `lsblk --pairs`: a shell may evaluate it; bytes with a meaning for the shell are
 * \\xHH.
 */
static void print_pairs(struct out *out, const struct columns *columns,
	const struct column_row *row)
{
	char text[COLUMN_TEXT];
	FILE *file = out_file(out);

	for (size_t i = 0; i < columns->count; i++) {
		fputs(i ? " " : "", file);
		for (const char *c = columns->v[i].name; *c; c++)
			putc(*c == '-' ? '_' : toupper((unsigned char)*c), file);
		fputs("=\"", file);
		for (const char *c = column_text(&columns->v[i], row, text); *c; c++)
			if (strchr("\"\\$`!", *c) || (unsigned char)*c < ' ' || (unsigned char)*c > '~')
				fprintf(file, "\\x%02x", (unsigned char)*c);
			else
				putc(*c, file);
		putc('"', file);
	}
	putc('\n', file);
}

static void print_one(struct out *out, const struct list_view *view, const struct column_row *row)
{
	if (view->pairs)
		print_pairs(out, &view->columns, row);
	else
		print_row(out, &view->columns, row);
}

/* One row for each, without combining or truncating. */
static void print_columns(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	if (!view->pairs)
		begin_table(out, 0, &view->columns, view->no_headings);
	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];

		if (list_has_pf(view, pf) && view->pfs)
			print_one(out, view, &(struct column_row){.pf = pf});
		for (uint32_t k = 0; list_has_pf(view, pf) && !view->pfs && k < pf->num_vfs; k++)
			if (list_has_vf(view, pf, k))
				print_one(out, view, &(struct column_row){pf, &pf->vfs[k], view->ctx});
	}
	if (!view->pairs)
		out_table_end(out);
}

void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct list_view *view)
{
	warn_snapshot(snapshot);
	if (view->columns.count)
		print_columns(out, snapshot->inventory, view);
	else if (!snapshot->inventory->pf_count)
		out_line(out, "no device of this host offers SR-IOV (it may be disabled in firmware or "
			"BIOS)");
	else if (view->health)
		print_health(out, snapshot->inventory, view);
	else
		print_tables(out, snapshot->inventory, view);
}

/* ---- JSON ---- */

static int fill_pfs(struct out *out, const void *of)
{
	const struct listing *l = of;
	const struct vfctl_inventory *inv = l->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		struct pf_view pf = {.pf = &inv->pfs[i], .ctx = l->view->ctx, .list = l->view,
			.with_vfs = !l->view->pfs};
		_cleanup_(health_clear) struct health health = {.reporters.v = NULL};

		if (!list_has_pf(l->view, pf.pf))
			continue;
		if (l->view->health) {
			health_read(l->view->ctx, pf.pf, &health);
			pf.health = &health;
		}
		answer_put(out, NULL, answer_pf, &pf);
	}
	return 0;
}

#define OF struct listing
TEXT_OF(list_domains_error, OF, it->snapshot->domains_error ? it->snapshot->domains_error
	: it->snapshot->domain_unread)
TEXT_OF(list_read_error, OF, it->snapshot->inventory->unread)
const struct member answer_list[] = {
	FIELD_VIA("leases_error", snapshot, leases_error, "why no leases are shown; null: all are"),
	TEXT("domains_error", list_domains_error, "file of libvirt that could not be read, or "
		"domain that was read only in part: domains may have VFs that are not shown",
		NULLABLE),
	TEXT("read_error", list_read_error, "first part of the host that could not be read",
		NULLABLE),
	FILL("pfs", fill_pfs, answer_pf, "PFs by address; with --pfs without VFs"), END};
#undef OF
