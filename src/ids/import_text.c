// SPDX-License-Identifier: GPL-2.0-or-later
/* Read identities from a text: a vfctl export, or the output of any InfiniBand tool. */
#include <ctype.h>
#include <errno.h>

#include "types/idrange.h"
#include "base/json.h"
#include "base/parse.h"
#include "ids/import.h"

/* The columns of an export that matter here; a file may have others, in any order. */
enum { KIND, VALUE, STATE, HOST, DOMAIN_UUID, DOMAIN_NAME, DEVICE, PKEY, NOTE, COLUMNS };
static const char *const column_names[COLUMNS] = {"kind", "value", "state", "host",
	"domain_uuid", "domain_name", "device", "pkey", "note"};

#define CSV_COLUMNS_MAX 32

struct reading {
	struct vfctl_ctx *ctx;
	const char *file;
	struct id_rows *rows;
};

void id_rows_clear(struct id_rows *rows)
{
	free(rows->v);
	free(rows->lines);
	*rows = (struct id_rows){0};
}

static struct vfctl_id *new_row(struct reading *in, size_t line)
{
	struct id_rows *rows = in->rows;

	if (rows->count == ID_IMPORT_ROWS_MAX) {
		ctx_fail(in->ctx, -E2BIG, "%s: %s %zu: it has more than %d identities; is it the "
			"right file?", in->file, rows->unit, line, ID_IMPORT_ROWS_MAX);
		return NULL;
	}
	if (!array_grow(rows->v, rows->count) || !array_grow(rows->lines, rows->count)) {
		ctx_oom(in->ctx);
		return NULL;
	}
	rows->lines[rows->count] = line;
	rows->v[rows->count] = (struct vfctl_id){.state = VFCTL_ID_RESTING};
	return &rows->v[rows->count++];
}

static int fail_row(struct reading *in, size_t line, const char *column, const char *value,
	const char *message)
{
	return ctx_usage_error(in->ctx, -EINVAL, "%s: %s %zu: %s '%.64s' %s", in->file,
		in->rows->unit, line, column, value, message);
}

/* ---- a row with names ---- */

static int read_value(struct reading *in, size_t line, const char *kind, const char *text,
	struct vfctl_id *id)
{
	struct vfctl_mac mac;
	const char *fault;

	if (kind && !str_eq(kind, "guid") && !str_eq(kind, "mac"))
		return fail_row(in, line, "kind", kind, "is neither guid nor mac");
	if (kind && str_eq(kind, "mac")) {
		id->kind = VFCTL_ID_MAC;
		if (vfctl_mac_parse(text, &mac) < 0)
			return fail_row(in, line, "value", text, "is not a MAC");
		for (size_t i = 0; i < sizeof(mac.byte); i++)
			id->value = id->value << 8 | mac.byte[i];
	} else if (vfctl_guid_parse(text, &id->value) < 0) {
		return fail_row(in, line, "value", text, vfctl_guid_parse_fault(text));
	}
	fault = id_fault(id->kind, id->value);
	return fault ? fail_row(in, line, "value", text, fault) : 0;
}

static int read_pkey(struct reading *in, size_t line, const char *text, struct vfctl_id *id)
{
	if (!text || !text[0])
		return 0;
	return vfctl_pkey_parse(text, &id->pkey) < 0
		? fail_row(in, line, "pkey", text, "is not a P_Key") : 0;
}

static int keep_text(struct reading *in, size_t line, const char *column, const char *text,
	char *field, size_t size)
{
	for (const char *c = text ? text : ""; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return fail_row(in, line, column, "", "has a control character");
	return str_copy(field, size, text ? text : "") ? 0
		: fail_row(in, line, column, text, "is too long");
}

/* A lease needs an owner and a device. */
static int check_owner(struct reading *in, size_t line, const struct vfctl_id *id)
{
	const struct vfctl_id_owner *o = &id->owner;

	if (o->domain_uuid[0] && !uuid_valid(o->domain_uuid))
		return fail_row(in, line, "domain_uuid", o->domain_uuid, "is not a UUID");
	if (!o->domain_uuid[0] && !o->host[0])
		return fail_row(in, line, "state", "leased", "needs a domain_uuid or a host");
	if (!o->device[0])
		return fail_row(in, line, "state", "leased", "needs a device");
	return 0;
}

static int read_named(void *data, size_t line, const char *const *t)
{
	struct reading *in = data;
	struct vfctl_id id = {.state = VFCTL_ID_RESTING}, *row;
	struct vfctl_id_owner *o = &id.owner;
	int r;

	if (!t[VALUE] || !t[VALUE][0])
		return fail_row(in, line, "value", "", "is missing");
	r = read_value(in, line, t[KIND], t[VALUE], &id);
	if (r == 0 && t[STATE] && str_eq(t[STATE], "leased"))
		id.state = VFCTL_ID_LEASED;
	else if (r == 0 && t[STATE] && str_eq(t[STATE], "quarantined"))
		id.state = VFCTL_ID_QUARANTINED;
	else if (r == 0 && t[STATE] && t[STATE][0] && !str_eq(t[STATE], "block") &&
		!str_eq(t[STATE], "resting"))
		r = fail_row(in, line, "state", t[STATE], "is not a column of vfctl");
	if (r == 0)
		r = read_pkey(in, line, t[PKEY], &id);
	if (r == 0)
		r = keep_text(in, line, "host", t[HOST], o->host, sizeof(o->host));
	if (r == 0)
		r = keep_text(in, line, "domain_uuid", t[DOMAIN_UUID], o->domain_uuid,
			sizeof(o->domain_uuid));
	if (r == 0)
		r = keep_text(in, line, "domain_name", t[DOMAIN_NAME], o->domain_name,
			sizeof(o->domain_name));
	if (r == 0)
		r = keep_text(in, line, "device", t[DEVICE], o->device, sizeof(o->device));
	if (r == 0)
		r = keep_text(in, line, "note", t[NOTE], id.note, sizeof(id.note));
	if (r == 0 && id.state == VFCTL_ID_LEASED)
		r = check_owner(in, line, &id);
	/* Cooldowns and reserves of another store do not apply here. */
	if (r < 0 || (id.state == VFCTL_ID_RESTING && t[STATE] && t[STATE][0]))
		return r;
	row = new_row(in, line);
	if (!row)
		return in->rows->count == ID_IMPORT_ROWS_MAX ? -E2BIG : -ENOMEM;
	*row = id;
	return 0;
}

/* ---- CSV (RFC 4180, one line a row) ---- */

/*
 * Split a line into its fields, in place: their number, or -1 if a quote is not closed or there are
 * too many.
 */
static int split_import_text(char *line, char **fields, int max)
{
	int n = 0;

	for (char *p = line;; n++) {
		char *to = p;

		if (n == max)
			return -1;
		fields[n] = p;
		if (*p == '"') {
			for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
				p += *p == '"';
				*to++ = *p;
			}
			if (*p++ != '"')
				return -1;
		} else {
			p += strcspn(p, ",");
			to = p;
		}
		if (*p && *p != ',')
			return -1;
		if (!*p) {
			*to = '\0';
			return n + 1;
		}
		*to = '\0';
		p++;
	}
}

/* guid export puts a quote before a field that a spreadsheet would read as a formula. */
static const char *undo_quote(const char *field)
{
	return field[0] == '\'' && field[1] && strchr("=+-@\t\r", field[1]) ? field + 1 : field;
}

static int read_csv_row(struct reading *in, size_t line, char *const *fields, int count,
	const int *where, int columns)
{
	const char *values[COLUMNS];

	if (count != columns)
		return ctx_usage_error(in->ctx, -EINVAL, "%s: line %zu has %d fields, the first has %d",
			in->file, line, count, columns);
	for (int i = 0; i < COLUMNS; i++)
		values[i] = where[i] < 0 ? NULL : undo_quote(fields[where[i]]);
	return read_named(in, line, values);
}

static int read_head(struct reading *in, char *const *fields, int count, int *where)
{
	for (int i = 0; i < COLUMNS; i++) {
		where[i] = -1;
		for (int k = 0; k < count; k++)
			if (str_eq(fields[k], column_names[i]))
				where[i] = k;
	}
	return where[VALUE] >= 0 ? 0 : ctx_usage_error(in->ctx, -EINVAL,
		"%s: line 1 names no column 'value'", in->file);
}

static int read_csv(struct reading *in, char *text)
{
	char *fields[CSV_COLUMNS_MAX], *save = text, *line;
	int where[COLUMNS], columns = 0, r = 0;

	in->rows->unit = "line";
	for (size_t number = 1; r == 0 && (line = strsep(&save, "\n")); number++) {
		int n;

		str_rstrip(line);
		if (!*line)
			continue;
		n = split_import_text(line, fields, CSV_COLUMNS_MAX);
		if (n < 0)
			return ctx_usage_error(in->ctx, -EINVAL, "%s: line %zu is not CSV: a quote is "
				"not closed, or it has more than %d fields", in->file, number,
				CSV_COLUMNS_MAX);
		if (!columns) {
			columns = n;
			r = read_head(in, fields, n, where);
		} else {
			r = read_csv_row(in, number, fields, n, where, columns);
		}
	}
	return r;
}

/* ---- other texts ---- */

/* Whether "0x" and exactly sixteen hex digits are here, as a separate word. */
static bool guid_at(const char *text, const char *p)
{
	if (p > text && isalnum((unsigned char)p[-1]))
		return false;
	for (int i = 2; i < 18; i++)
		if (!isxdigit((unsigned char)p[i]))
			return false;
	return !isalnum((unsigned char)p[18]);
}

static int read_any(struct reading *in, const char *text)
{
	size_t line = 1;
	const char *counted = text;

	in->rows->unit = "line";
	for (const char *p = text; (p = strstr(p, "0x")); p += 2) {
		char word[19] = "";
		struct vfctl_id *row;

		if (!guid_at(text, p))
			continue;
		for (; counted < p; counted++)
			line += *counted == '\n';
		memcpy(word, p, 18);
		row = new_row(in, line);
		if (!row)
			return in->rows->count == ID_IMPORT_ROWS_MAX ? -E2BIG : -ENOMEM;
		vfctl_guid_parse(word, &row->value);
		row->kind = VFCTL_ID_GUID;
	}
	if (!in->rows->count)
		return ctx_usage_error(in->ctx, -EINVAL, "%s: it contains no GUID (0x and sixteen hex "
			"digits), and is not an export of vfctl", in->file);
	return 0;
}

static bool is_csv(const char *text)
{
	size_t first = strcspn(text, "\r\n");
	const char *value = strstr(text, "value");

	return value && (size_t)(value - text) < first && memchr(text, ',', first) &&
		!memchr(text, ' ', first);
}

static int parse_import_text(struct reading *in, char *text, size_t len)
{
	const char *begin = text + strspn(text, " \t\r\n");

	if (*begin == '{' || *begin == '[') {
		in->rows->unit = "row";
		return json_rows(in->ctx, in->file, text, len, "identities", column_names,
			COLUMNS, read_named, in);
	}
	return is_csv(begin) ? read_csv(in, text) : read_any(in, text);
}

int id_import_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct id_rows *ret)
{
	_cleanup_(id_rows_clear) struct id_rows rows = {0};
	struct reading in = {.ctx = ctx, .file = file, .rows = &rows};
	_free_ char *copy = NULL;
	int r;

	if (len > VFCTL_ID_IMPORT_MAX)
		return ctx_fail(ctx, -E2BIG, "%s: it has more than %u bytes; is it the right "
			"file?", file, VFCTL_ID_IMPORT_MAX);
	if (memchr(text, '\0', len))
		return ctx_fail(ctx, -EILSEQ, "%s: it is not text", file);
	copy = strndup(text, len);
	if (!copy)
		return ctx_oom(ctx);
	r = parse_import_text(&in, copy, len);
	if (r < 0)
		return r;
	*ret = steal(rows);
	return 0;
}
