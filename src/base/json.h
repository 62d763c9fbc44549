/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_JSON_H
#define VFCTL_BASE_JSON_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/util.h"
#include "core/vfattr.h"

/* VF attributes as a JSON object of the strings vfctl_vf_attrs_parse() reads. */
char *json_of_attrs(const struct vfctl_vf_attrs *attrs);
/*
 * 0, or -EINVAL also for a value that is none; unknown keys are passed over (a newer version
 * may have written them).
 */
int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs);

/*
 * Rows of text: @text is an array of objects, or an object with such an array under
 * @array. For each one @row is called with the texts of @keys (NULL where there is none;
 * numbers and booleans pass as JSON writes them), numbered from 1; below 0 it ends there.
 * -EINVAL with words, and the line, when it is no such thing.
 */
int json_rows(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const char *array, const char *const *keys, size_t key_count,
	int (*row)(void *data, size_t number, const char *const *values), void *data);

/*
 * A value that somebody else wrote, read member by member. What is missing or of another
 * type is NULL, 0 or -EBADMSG, never a crash: look-ups in NULL give NULL.
 */
struct json;
/* -EBADMSG, saying where, when @text is no JSON (a NUL within a string is none to us). */
int json_read(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret);
/* The same where a key may be there twice: the last one counts. For what others print. */
int json_read_loose(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret);
void json_free(struct json *json);
DEFINE_FREEP(struct json, json_free)
#define _json_doc_ _cleanup_(json_freep)
const struct json *json_member(const struct json *object, const char *key);
/* What json_of_attrs() wrote, as a member; absent: none. */
int json_attrs(const struct json *object, struct vfctl_vf_attrs *ret_attrs);
size_t json_count(const struct json *array); /* 0 also when it is none */
const struct json *json_item(const struct json *array, size_t i);
const char *json_text(const struct json *value); /* NULL: no string */
bool json_flag(const struct json *value);
/* Protobuf writes 64-bit numbers as strings: both are read. Absent (NULL): 0. */
int json_number(const struct json *value, int64_t *ret);
/* A number of any kind; -EBADMSG: none, or absent. */
int json_double(const struct json *value, double *ret);
/* For strict readers: what a value is, and which members an object has, one by one. */
enum json_kind { JSON_KIND_NULL, JSON_KIND_BOOL, JSON_KIND_INTEGER, JSON_KIND_REAL,
	JSON_KIND_TEXT, JSON_KIND_LIST, JSON_KIND_OBJECT };
enum json_kind json_kind(const struct json *value); /* absent: JSON_KIND_NULL */
/* "a number" and so on, for words. */
const char *json_kind_name(enum json_kind kind);
/* The next member's key, or NULL behind the last; @iter starts as NULL. */
const char *json_next(const struct json *object, void **iter);
/* Append @text as a JSON string. What is no UTF-8 becomes '?'. */
void json_put(struct buf *out, const char *text);

#endif
