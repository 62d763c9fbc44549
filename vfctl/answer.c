// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints JSON answers from their tables. */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

const char *table_name(const struct member *table)
{
	if (table->kind == MEMBER_RECORD)
		return ((const struct record *)table->arg)->name;
	return table->kind == MEMBER_NAMED ? table->name : NULL;
}

bool table_member(const struct member *table, size_t at, struct member *ret)
{
	table += table->kind == MEMBER_NAMED;
	if (table->kind == MEMBER_MADE)
		return table->get.made(at, ret);
	if (table->kind == MEMBER_RECORD)
		return record_row_member(table->arg, at, ret);
	*ret = table[at];
	return ret->kind != MEMBER_END;
}

const struct member answer_several[] = {
	FILL_EACH("objects", NULL, MEMBER_END, "the answers, in the order of the command line"), END};

void answer_open_several(struct out *out)
{
	out_open(out, NULL, '{');
	out_open(out, answer_several[0].name, '[');
}

void answer_close_several(struct out *out)
{
	json_close(out);
	json_close(out);
}

/* ---- scalars ---- */

static void put_cpus(struct out *out, const char *key, const struct vfctl_cpuset *set)
{
	char room[MEMBER_ROOM];

	vfctl_cpuset_format(set, room, sizeof(room));
	out_str(out, key, room);
}

static uint64_t read_unsigned(enum member_kind kind, const void *at)
{
	if (kind == MEMBER_AT_U64)
		return *(const uint64_t *)at;
	if (kind == MEMBER_AT_U32)
		return *(const uint32_t *)at;
	return kind == MEMBER_AT_U16 ? *(const uint16_t *)at : *(const uint8_t *)at;
}

static void put_number(struct out *out, const struct member *m, const char *key, int64_t value)
{
	if ((value < 0 && m->kind == MEMBER_AT_INT && !m->below_0) || (!value && m->nonzero))
		out_null(out, key);
	else
		out_int(out, key, value);
}

static void put_at(struct out *out, const struct member *m, enum member_kind kind, const char *key,
	const void *at)
{
	char bdf[VFCTL_BDF_TEXT];

	switch (kind) {
	case MEMBER_AT_TEXT:
		out_str(out, key, *(char *const *)at);
		break;
	case MEMBER_AT_CHARS:
		out_str(out, key, *(const char *)at || m->filled ? at : NULL);
		break;
	case MEMBER_AT_BOOL:
		out_bool(out, key, *(const bool *)at);
		break;
	case MEMBER_AT_U8:
	case MEMBER_AT_U16:
	case MEMBER_AT_U32:
	case MEMBER_AT_U64:
		put_number(out, m, key, (int64_t)read_unsigned(kind, at));
		break;
	case MEMBER_AT_INT:
		put_number(out, m, key, *(const int *)at);
		break;
	case MEMBER_AT_I64:
		put_number(out, m, key, *(const int64_t *)at);
		break;
	case MEMBER_AT_REAL:
		out_real(out, key, *(const double *)at);
		break;
	case MEMBER_AT_BDF:
		out_str(out, key, vfctl_bdf_format(at, bdf));
		break;
	case MEMBER_AT_CPUS:
		put_cpus(out, key, at);
		break;
	default:
		abort(); /* a programming error: only scalars at an offset come here */
	}
}

static bool is_unknown(const struct member *m, const void *of)
{
	const void *at = (const char *)of + m->known_offset;

	if (m->known_kind == MEMBER_AT_TEXT)
		return !*(void *const *)at;
	return m->known_kind && !read_unsigned(m->known_kind, at);
}

/* Whether a member that may be left out is left out. */
static bool is_absent(const struct member *m, const void *of)
{
	const void *at = (const char *)of + m->offset;
	char room[MEMBER_ROOM];
	int64_t number;

	switch (m->kind) {
	case MEMBER_AT_TEXT:
	case MEMBER_LIST:
	case MEMBER_OBJECT_AT:
	case MEMBER_PART_AT:
		return !*(void *const *)at;
	case MEMBER_AT_CHARS:
		return !*(const char *)at;
	case MEMBER_AT_BOOL:
		return !*(const bool *)at;
	case MEMBER_TEXT:
		return !m->get.text(of, room);
	case MEMBER_NUMBER:
		return !m->get.number(of, &number);
	case MEMBER_FLAG:
		return !m->get.flag(of);
	case MEMBER_OBJECT_GET:
	case MEMBER_PART_GET:
		return !m->get.object(of);
	default:
		return false;
	}
}

/* ---- objects ---- */

int answer_put(struct out *out, const char *key, const struct member *table, const void *of)
{
	int r;

	if (!of) {
		out_null(out, key);
		return 0;
	}
	out_open(out, key, '{');
	r = answer_put_members(out, table, of);
	if (r == 0)
		json_close(out);
	return r;
}

int answer_put_list(struct out *out, int (*fill)(struct out *out, const void *of), const void *of)
{
	int r;

	out_open(out, NULL, '[');
	r = fill(out, of);
	if (r == 0)
		json_close(out);
	return r;
}

static int put_list(struct out *out, const struct member *m, const void *of)
{
	const char *at = (const char *)of + m->offset;
	uint64_t count = read_unsigned(m->count_kind, (const char *)of + m->count_offset);
	int r = 0;

	if (m->kind == MEMBER_LIST)
		at = *(const char *const *)at;
	out_open(out, m->name, '[');
	for (uint64_t i = 0; i < count && r == 0; i++, at += m->stride) {
		if (m->table)
			r = answer_put(out, NULL, m->table, at);
		else
			put_at(out, m, m->each, NULL, at);
	}
	if (r == 0)
		json_close(out);
	return r;
}

static int put_fill(struct out *out, const struct member *m, const void *of)
{
	int r;

	out_open(out, m->name, '[');
	r = m->get.fill(out, of);
	if (r == 0)
		json_close(out);
	return r;
}

static void put_texts(struct out *out, const struct member *m, char *const *texts)
{
	out_open(out, m->name, '[');
	for (; texts && *texts; texts++)
		out_str(out, NULL, *texts);
	json_close(out);
}

static void put_computed(struct out *out, const struct member *m, const void *of)
{
	char room[MEMBER_ROOM];
	int64_t number;

	if (m->kind == MEMBER_TEXT)
		out_str(out, m->name, m->get.text(of, room));
	else if (m->kind == MEMBER_FLAG || m->kind == MEMBER_CONSTANT)
		out_bool(out, m->name, m->kind == MEMBER_CONSTANT || m->get.flag(of));
	else if (m->get.number(of, &number))
		out_int(out, m->name, number);
	else
		out_null(out, m->name);
}

/* The struct that an object or a part prints; NULL if there is none. */
static const void *inner_of(const struct member *m, const void *of)
{
	const void *at = (const char *)of + m->offset;

	if (m->kind == MEMBER_OBJECT_GET || m->kind == MEMBER_PART_GET)
		return m->get.object(of);
	return m->kind == MEMBER_OBJECT || m->kind == MEMBER_PART ? at : *(void *const *)at;
}

static int put_member(struct out *out, const struct member *m, const void *of)
{
	switch (m->kind) {
	case MEMBER_OBJECT:
	case MEMBER_OBJECT_AT:
	case MEMBER_OBJECT_GET:
		return answer_put(out, m->name, m->table, inner_of(m, of));
	case MEMBER_PART:
	case MEMBER_PART_AT:
	case MEMBER_PART_GET:
		return answer_put_members(out, m->table, inner_of(m, of));
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		return put_list(out, m, of);
	case MEMBER_FILL:
		return put_fill(out, m, of);
	case MEMBER_TEXTS:
		put_texts(out, m, *(char *const *const *)((const char *)of + m->offset));
		return 0;
	case MEMBER_PUT:
		m->get.put(out, m, of);
		return 0;
	case MEMBER_TEXT:
	case MEMBER_NUMBER:
	case MEMBER_FLAG:
	case MEMBER_CONSTANT:
		put_computed(out, m, of);
		return 0;
	default:
		put_at(out, m, m->kind, m->name, (const char *)of + m->offset);
		return 0;
	}
}

static int put_unless_absent(struct out *out, const struct member *m, const void *of)
{
	if (is_unknown(m, of)) {
		if (!m->optional)
			out_null(out, m->name);
		return 0;
	}
	if (m->via)
		of = *(void *const *)((const char *)of + m->via - 1);
	if (!of) {
		out_null(out, m->name);
		return 0;
	}
	return m->optional && !m->known_kind && is_absent(m, of) ? 0 : put_member(out, m, of);
}

int answer_put_members(struct out *out, const struct member *table, const void *of)
{
	struct member m;
	int r = 0;

	for (size_t i = 0; of && r == 0 && table_member(table, i, &m); i++)
		r = put_unless_absent(out, &m, of);
	return r;
}
