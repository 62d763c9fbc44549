// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of PFs and VFs: for a person they fit the terminal, for a script they are as asked. */
#include "print/list.h"

#include <ctype.h>
#include <string.h>

#include "command.h"
#include "print/health.h"
#include "print/host.h"

#define FOLD_MIN 8 /* VFs that are worth folding into one row */
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

/* The same for a person: it fits the terminal. */
static void begin_fitting(struct out *out, unsigned indent, const struct columns *columns,
	bool no_headings, signed char give[COLUMNS_MAX])
{
	begin_table(out, indent, columns, no_headings);
	for (size_t i = 0; i < columns->count; i++)
		give[i] = columns->v[i].give;
	out_table_fit(out, give);
}

static void print_row(struct out *out, const struct columns *columns,
	const struct column_row *row)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < columns->count; i++)
		out_cell(out, "%s", column_text(&columns->v[i], row, text));
}

/* ---- which ---- */

static bool has_pf(const struct list_view *view, const struct vfctl_pf *pf)
{
	return !view->only || view->only == pf;
}

bool list_has_vf(const struct list_view *view, const struct vfctl_pf *pf, uint32_t at)
{
	return !view->free || vfctl_vf_can_be_given(view->ctx, pf, &pf->vfs[at],
		view->allowed);
}

/* ---- alike VFs ---- */

static bool is_free(const struct vfctl_vf *vf)
{
	return vf->holder.kind == VFCTL_HOLDER_NONE && !vf->lease.name[0] && !vf->defined_in[0];
}

/* Both free, and the same in all that is not each VF's own; both with a GUID, or without. */
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

/* How many VFs from @first on are told in one row. */
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

/* Do all of them say @words there? */
static bool all_say(const struct column *column, const struct column_row *first, uint32_t count,
	const char *words)
{
	char text[COLUMN_TEXT];

	for (uint32_t i = 1; i < count; i++)
		if (strcmp(words, column_text(column,
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
		const char *words = column_text(&columns->v[i], first, text);

		if (strcmp(columns->v[i].name, "vf") == 0)
			out_cell(out, "%s-%u", words, first->vf->index + count - 1);
		else
			out_cell(out, "%s", all_say(&columns->v[i], first, count, words) ? words
											: FOLDED);
	}
}

/* Nearly always there is nothing to say: then it is no column. */
static void drop_unsaid(struct columns *columns, const char *name, const struct list_view *view,
	const struct vfctl_pf *pf)
{
	const struct column column = column_find(name);
	char text[COLUMN_TEXT];
	size_t kept = 0;

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (list_has_vf(view, pf, i) && *column_text(&column,
			&(struct column_row){pf, &pf->vfs[i], view->ctx}, text))
			return;
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->v[i].name, name) != 0)
			columns->v[kept++] = columns->v[i];
	columns->count = kept;
}

/* And what few hosts have is one only where there is something to say. */
static void add_representor(struct columns *columns, const struct list_view *view,
	const struct vfctl_pf *pf)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (list_has_vf(view, pf, i) && pf->vfs[i].representor[0]) {
			columns->v[columns->count++] = column_find("representor");
			return;
		}
}

static void print_vf_table(struct out *out, const struct list_view *view,
	const struct vfctl_pf *pf)
{
	signed char give[COLUMNS_MAX];
	struct columns columns = {0};
	uint32_t count;

	columns_add_default(&columns, false);
	drop_unsaid(&columns, "exposed", view, pf);
	add_representor(&columns, view, pf);
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
		warn("what is shown is incomplete: %s", unread);
}

static void warn_snapshot(const struct vfctl_snapshot *snapshot)
{
	if (snapshot->leases_error)
		warn("leases are not shown: %s", snapshot->leases_error);
	if (snapshot->domains_error)
		warn("which domains have VFs is not fully known: %s", snapshot->domains_error);
	if (snapshot->domain_unread)
		warn("vfctl knows only a part of %s", snapshot->domain_unread);
	warn_unread(snapshot->inventory->unread);
	for (size_t i = 0; i < snapshot->inventory->pf_count; i++)
		warn_unread(snapshot->inventory->pfs[i].unread);
}

static void add_said_of_pfs(struct columns *columns, const char *name, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	const struct column column = column_find(name);
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < inv->pf_count; i++)
		if (has_pf(view, &inv->pfs[i]) && *column_text(&column,
			&(struct column_row){.pf = &inv->pfs[i]}, text)) {
			columns->v[columns->count++] = column;
			return;
		}
}

static void print_pf_table(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	signed char give[COLUMNS_MAX];
	struct columns columns = {0};

	columns_add_default(&columns, true);
	add_said_of_pfs(&columns, "eswitch", inv, view);
	add_said_of_pfs(&columns, "bond", inv, view);
	begin_fitting(out, 0, &columns, view->no_headings, give);
	for (size_t i = 0; i < inv->pf_count; i++)
		if (has_pf(view, &inv->pfs[i]))
			print_row(out, &columns, &(struct column_row){.pf = &inv->pfs[i]});
	out_table_end(out);
}

static void print_tables(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	print_pf_table(out, inv, view);
	for (size_t i = 0; i < inv->pf_count; i++) {
		if (!has_pf(view, &inv->pfs[i]) || !inv->pfs[i].num_vfs || view->pfs)
			continue;
		out_line(out, "%s", "");
		print_vf_table(out, view, &inv->pfs[i]);
	}
}

/* A row each, nothing folded or cut. */
static void print_columns(struct out *out, const struct vfctl_inventory *inv,
	const struct list_view *view)
{
	begin_table(out, 0, &view->columns, view->no_headings);
	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];

		if (has_pf(view, pf) && view->pfs)
			print_row(out, &view->columns, &(struct column_row){.pf = pf});
		for (uint32_t k = 0; has_pf(view, pf) && !view->pfs && k < pf->num_vfs; k++)
			if (list_has_vf(view, pf, k))
				print_row(out, &view->columns,
					&(struct column_row){pf, &pf->vfs[k], view->ctx});
	}
	out_table_end(out);
}

void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct list_view *view)
{
	warn_snapshot(snapshot);
	if (view->columns.count)
		print_columns(out, snapshot->inventory, view);
	else if (!snapshot->inventory->pf_count)
		out_line(out, "no device of this host offers SR-IOV (is it enabled in firmware "
			"and BIOS?)");
	else if (view->health)
		print_health(out, view->ctx, snapshot->inventory, view->only);
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

		if (!has_pf(l->view, pf.pf))
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
