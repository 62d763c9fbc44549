// SPDX-License-Identifier: GPL-2.0-or-later
/* Which tool printed a text: each prints something of its own. */
#include "bench/parser.h"

static bool has_mark(struct span text, const char *mark)
{
	struct span line;

	while (span_line(&text, &line))
		if (parser_line_has(line, mark))
			return true;
	return false;
}

const char *bench_guess(const char *text, size_t len)
{
	const struct span all = {text, text + len};
	const char *found = NULL;

	for (enum bench_tool tool = 0; tool < BENCH_TOOLS; tool++) {
		const struct parser_mark *m = parser_kind_of(tool)->marks;

		while (m && m->text && !has_mark(all, m->text))
			m++;
		if (!m || !m->text)
			continue;
		if (found)
			return NULL;
		found = m->program ? m->program : bench_tool_name(tool);
	}
	return found;
}
