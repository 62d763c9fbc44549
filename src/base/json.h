/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_JSON_H
#define VFCTL_BASE_JSON_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/util.h"
#include "base/vfattr.h"

/* VF attributes as a JSON object of the strings vfctl_vf_attrs_parse() reads. */
char *json_of_attrs(const struct vfctl_vf_attrs *attrs);
/*
 * 0, or -EINVAL, also for a value that is not valid; unknown keys are ignored, because a newer
 * version may have written them.
 */
int json_to_attrs(const char *text, struct vfctl_vf_attrs *ret_attrs);

/*
 * Rows of text: @text is an array of objects, or an object with such an array under
 * @array. @row is called for each object, numbered from 1, with the values of @keys as text (NULL
 * if absent; numbers and booleans in JSON's form). A negative result ends the reading. -EINVAL with
 * a message that has the line, if the text does not have this form.
 */
int json_rows(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const char *array, const char *const *keys, size_t key_count,
	int (*row)(void *data, size_t number, const char *const *values), void *data);

/*
 * A value from another program, read member by member. A missing member or one of another type
 * gives NULL, 0 or -EBADMSG: look-ups in NULL give NULL.
 */
struct json;
/* -EBADMSG, with the position, if @text is not JSON (a NUL within a string is not accepted). */
int json_read(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret);
/*
 * Like json_read(), but a key may occur twice, and the last one counts. For the output of other
 * programs.
 */
int json_read_loose(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct json **ret);
void json_free(struct json *json);
DEFINE_FREEP(struct json, json_free)
#define _json_doc_ _cleanup_(json_freep)
const struct json *json_member(const struct json *object, const char *key);
/* Read a member that json_of_attrs() wrote; absent: no attributes. */
int json_attrs(const struct json *object, struct vfctl_vf_attrs *ret_attrs);
size_t json_count(const struct json *array); /* 0 also if it is not an array */
const struct json *json_item(const struct json *array, size_t i);
const char *json_text(const struct json *value); /* NULL if it is not a string */
bool json_flag(const struct json *value);
/*
 * Read an integer, also from a string, because protobuf writes 64-bit numbers as strings. Absent
 * (NULL): 0.
 */
int json_number(const struct json *value, int64_t *ret);
/* Read a number of any kind; -EBADMSG if it is absent or not a number. */
int json_double(const struct json *value, double *ret);
/* For strict readers: the type of a value, and the members of an object one by one. */
enum json_kind { JSON_KIND_NULL, JSON_KIND_BOOL, JSON_KIND_INTEGER, JSON_KIND_REAL,
	JSON_KIND_TEXT, JSON_KIND_LIST, JSON_KIND_OBJECT };
enum json_kind json_kind(const struct json *value); /* absent: JSON_KIND_NULL */
/* "a number" and so on, for messages. */
const char *json_kind_name(enum json_kind kind);
/* The key of the next member, or NULL after the last one; @iter starts as NULL. */
const char *json_next(const struct json *object, void **iter);
/* Append @text as a JSON string. Bytes that are not UTF-8 become '?'. */
void json_put(struct buf *out, const char *text);

#endif
