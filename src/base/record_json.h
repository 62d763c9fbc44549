/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_RECORD_JSON_H
#define VFCTL_BASE_RECORD_JSON_H

#include "base/json.h"
#include "base/record.h"

/* Where the member of @row is, for an @object of its record. */
void *record_member(const struct record_row *row, const void *object);

/* ---- reading ---- */

/* The current position: a member of an object, or (row NULL) an entry of a list. */
struct record_place {
	const struct record_place *up;
	const struct record_row *row;
	size_t index;
};

struct record_reading {
	struct vfctl_ctx *ctx;
	const struct record_place *at;
};

/* Reads @value into the member or entry @at: 0, -EINVAL with a message, -ENOMEM. */
typedef int record_reader(struct record_reading *r, const struct json *value, void *at);

/*
 * Read @value into @object, which is zeroed. An unknown member is an error. 0, -EINVAL with a
 * message that begins with the path of the member ("nodes[1].cpus: "), or -ENOMEM. Clear @object
 * in any case.
 */
int record_read(struct record_reading *r, const struct record *record, const struct json *value,
	void *object);
/* Likewise, from @text; -EBADMSG if it is not JSON. @what names it in that message. */
int record_parse(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	const struct record *record, void *object);
/* Free what the members of @object own, but not what is behind a pointer of a row's @via. */
void record_clear(const struct record *record, void *object);

/* For own readers. -EINVAL; the message begins with the current path. */
int record_bad(struct record_reading *r, const char *fmt, ...) _printf_(2, 3);
int record_expect(struct record_reading *r, const struct json *value, enum json_kind kind);
int record_read_number(struct record_reading *r, const struct json *value, uint64_t max,
	uint64_t *ret);
/* Call @one for each entry of a list of at most @max entries; 0: any sensible number. */
int record_read_each(struct record_reading *r, const struct json *list, uint64_t max,
	void *object, record_reader *one);

/* ---- writing ---- */

struct record_writing {
	struct buf *out;
	enum record_lines lines; /* of the present member */
	unsigned depth;
};

void record_write(struct buf *out, const struct record *record, const void *object);

/* For own writers: a list, whose entries each follow record_next_entry(). */
void record_open_list(struct record_writing *w);
void record_next_entry(struct record_writing *w, size_t index);
void record_close_list(struct record_writing *w, size_t count);

/* The reader and writer of a RECORD_OWN member; @at is the member. */
struct record_own {
	record_reader *read; /* in a nullable row the value may also be null, or NULL */
	void (*write)(struct record_writing *w, const void *at);
};

#endif
