// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `vfctl schema VERB` and the reference in docs/reference/json.md; the tables of answers make both.
 */
#include <string.h>

#include "answer.h"
#include "command.h"

/* ---- the reference ---- */

/* @left_out: the rows belong to a part that may be left out. */
static void print_rows(FILE *file, const char *prefix, const struct member *table, bool left_out);

static bool is_array(const struct member *m)
{
	const char *type = member_type(m);

	return type && strcmp(type, "array") == 0;
}

static void print_member(FILE *file, const char *prefix, const struct member *m, bool left_out)
{
	const char *type = is_array(m) ? member_each_type(m) : member_type(m);
	bool null = is_array(m) ? m->nullable || (m->known_kind && !m->optional) : member_is_nullable(m);
	char path[256], text[64];

	snprintf(path, sizeof(path), "%s.%s%s", prefix, m->name, is_array(m) ? "[]" : "");
	snprintf(text, sizeof(text), "%s%s", m->table && table_name(m->table) ? table_name(m->table)
		: type ? type : "any", null ? "|null" : "");
	fprintf(file, "    %-37s  %-12s  %s%s\n", path, text, m->help ? m->help : "",
		m->optional || left_out ? " (may be left out)" : "");
	if (m->table && !table_name(m->table))
		print_rows(file, path, m->table, false);
}

static void print_rows(FILE *file, const char *prefix, const struct member *table, bool left_out)
{
	struct member m;

	for (size_t i = 0; table_member(table, i, &m); i++)
		if (m.name)
			print_member(file, prefix, &m, left_out);
		else if (table_name(m.table))
			fprintf(file, "    %-37s  %-12s  the members of %s%s\n", *prefix ? prefix : ".",
				table_name(m.table), table_name(m.table),
				m.optional ? " (may be left out)" : "");
		else
			print_rows(file, prefix, m.table, left_out || m.optional);
}

static void print_answer(FILE *file, const struct answer *answer, struct tables *tables)
{
	for (; answer->table; answer++) {
		const char *prefix = answer->list ? "[]" : "";

		if (answer->when)
			fprintf(file, "%s:\n\n", answer->when);
		if (table_name(answer->table))
			fprintf(file, "    %-37s  %s\n", *prefix ? prefix : ".", table_name(answer->table));
		else
			print_rows(file, prefix, answer->table, false);
		fputs("\n", file);
		tables_collect(tables, answer->table);
	}
}

/* The commands and sub-verbs that have an answer; NULL past the last one. */
static const struct command *command_at(size_t at)
{
	for (size_t i = 0; i < command_count; i++) {
		const struct command *const *subs = commands[i]->subs;

		if (commands[i]->answer && at-- == 0)
			return commands[i];
		for (; subs && *subs; subs++)
			if ((*subs)->answer && at-- == 0)
				return *subs;
	}
	return NULL;
}

static bool is_first(const struct answer *answer, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (command_at(i)->answer == answer)
			return false;
	return true;
}

static void print_reference(FILE *file)
{
	struct tables tables = {.count = 0};
	const struct command *c, *other;

	for (size_t i = 0; (c = command_at(i)); i++) {
		if (!is_first(c->answer, i))
			continue;
		fprintf(file, "## %s", command_typed(c));
		for (size_t k = i + 1; (other = command_at(k)); k++)
			if (other->answer == c->answer)
				fprintf(file, ", %s", command_typed(other));
		fputs("\n\n", file);
		print_answer(file, c->answer, &tables);
	}
	for (size_t i = 0; i < tables.count; i++) {
		fprintf(file, "## %s\n\n", table_name(tables.v[i]));
		if (tables.v[i]->help)
			fprintf(file, "%s\n\n", tables.v[i]->help);
		print_rows(file, "", tables.v[i], false);
		fputs("\n", file);
	}
}

/* ---- vfctl schema VERB ---- */

static bool is_typed(const struct command *c, const char *const *typed, size_t count)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", typed[0], count > 1 ? " " : "", count > 1 ? typed[1] : "");
	return strcmp(c->typed && c->sub ? c->typed : c->name, text) == 0 ||
		(c->alias && strcmp(c->alias, text) == 0);
}

int answer_run_schema(struct invocation *in, const char *const *typed, size_t count)
{
	const struct command *c;

	if (count == 1 && strcmp(typed[0], "reference") == 0) {
		print_reference(out_file(in->out));
		return EXIT_DONE;
	}
	for (size_t i = 0; (c = command_at(i)); i++)
		if (is_typed(c, typed, count)) {
			answer_schema(in->out, command_typed(c), c->answer);
			return EXIT_DONE;
		}
	return usage(in, "'%s%s%s' is not a verb with a JSON answer, nor guest, host or bench; "
		"docs/reference/json.md lists the answers",
		typed[0], count > 1 ? " " : "", count > 1 ? typed[1] : "");
}
