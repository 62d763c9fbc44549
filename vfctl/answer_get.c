// SPDX-License-Identifier: GPL-2.0-or-later
/* The members that --get names, looked up in the tables of the command's answers. */
#include <string.h>

#include "base/nearest.h"
#include "command.h"

/* Find the member of @table, or of its parts, whose name is the first @len bytes of @name. */
static bool find_member(const struct member *table, const char *name, size_t len,
	struct member *ret)
{
	struct member m;

	for (size_t i = 0; table && table_member(table, i, &m); i++) {
		if (!m.name && find_member(m.table, name, len, ret))
			return true;
		if (m.name && strlen(m.name) == len && strncmp(m.name, name, len) == 0) {
			*ret = m;
			return true;
		}
	}
	return false;
}

static void offer_members(const struct member *table, struct nearest *nearest)
{
	struct member m;

	for (size_t i = 0; table && table_member(table, i, &m); i++) {
		if (m.name)
			nearest_offer(nearest, m.name);
		else
			offer_members(m.table, nearest);
	}
}

/* How far a path leads in an answer. */
struct lookup {
	bool found, is_object;
	const struct member *table; /* where it ends: none of its members is named @rest */
	const char *rest;
};

static void follow_path(const struct member *table, const char *path, struct lookup *look)
{
	struct member m;

	*look = (struct lookup){.table = table, .rest = path};
	for (;;) {
		size_t len = strcspn(look->rest, ".");

		if (!find_member(look->table, look->rest, len, &m))
			return;
		/* A member that a function prints may have any members. */
		look->found = !m.table && (!look->rest[len] ||
					   ((m.kind == MEMBER_PUT || m.kind == MEMBER_FILL) && !m.each));
		look->is_object = !look->rest[len] && m.table;
		if (look->found || look->is_object || !m.table)
			return;
		look->table = m.table;
		look->rest += len + 1;
	}
}

static int check_path(const struct invocation *in, const char *path)
{
	const struct command *c = in->command;
	struct lookup look = {.rest = path}, best = look;
	char word[64];
	struct nearest nearest;

	for (const struct answer *a = c->answer; a && a->table; a++) {
		follow_path(a->table, path, &look);
		if (look.found)
			return 0;
		if (look.is_object)
			return usage(in, "--get: '%s' is an object; name one of its members, as in "
				"--get %s.MEMBER (vfctl schema %s lists them)", path, path,
				command_typed(c));
		if (look.rest >= best.rest)
			best = look;
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(best.rest, "."), best.rest);
	nearest = nearest_to(word);
	offer_members(best.table, &nearest);
	if (nearest.best && strcmp(nearest.best, word) != 0)
		return usage(in, "--get: unknown member '%s'; did you mean %.*s%s?", path,
			(int)(best.rest - path), path, nearest.best);
	return usage(in, "--get: unknown member '%s' (vfctl schema %s lists the members)", path,
		command_typed(c));
}

static size_t parent_len(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? (size_t)(dot - path) : 0;
}

/* Members of one object and of those around it have one line; others do not go together. */
static bool go_together(const char *a, const char *b)
{
	size_t x = parent_len(a), y = parent_len(b), len = x < y ? x : y;
	const char *longer = x < y ? b : a;

	return strncmp(a, b, len) == 0 && (x == y || !len || longer[len] == '.');
}

int answer_set_get(struct invocation *in, char *members)
{
	const char *paths[GET_MAX];
	size_t count = 0;
	char *next = NULL;

	for (char *path = strtok_r(members, ",", &next); path; path = strtok_r(NULL, ",", &next)) {
		int status = check_path(in, path);

		if (status)
			return status;
		if (count == GET_MAX)
			return usage(in, "--get takes at most %d members", GET_MAX);
		for (size_t i = 0; i < count; i++)
			if (!go_together(paths[i], path))
				return usage(in, "--get: '%s' and '%s' are in different lists", paths[i],
					path);
		paths[count++] = path;
	}
	if (!count)
		return usage(in, "--get needs the names of members, such as %s (vfctl schema %s lists them)",
			in->command->answer && in->command->answer->table[0].name
			? in->command->answer->table[0].name : "changed", command_typed(in->command));
	out_set_get(in->out, paths, count);
	return 0;
}
