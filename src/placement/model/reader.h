/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_READER_H
#define VFCTL_PLACEMENT_MODEL_READER_H

#include "base/json.h"
#include "placement/model/model.h"

/* The current position: a member of an object, or (name NULL) an entry of a list. */
struct place {
	const struct place *up;
	const char *name;
	size_t index;
};

struct reading {
	struct vfctl_ctx *ctx;
	const struct place *at;
	struct vfctl_host_model *model;
};

/* One member of an object: a row of a table, like those of spec/reader.h. */
struct member {
	const char *name;
	int (*read)(struct reading *r, const struct member *m, const struct json *value,
		void *object);
	size_t offset;
	uint64_t max;
	bool required;
};

/* In a reader: the member of @object for which the row @m is. */
#define AT(type) ((type *)((char *)object + m->offset))
/* clang-format off */
#define ROW(type, name, read, member, max, required) \
	{name, read, offsetof(type, member), max, required}
/* clang-format on */

/* -EINVAL; the message begins with the current path. */
int model_bad(struct reading *r, const char *fmt, ...) _printf_(2, 3);
/* Read an object by its table: an unknown member is an error. */
int model_read_object(struct reading *r, const struct json *value, const struct member *rows,
	size_t count, void *object);
/* Call @one for each entry of a list. */
int model_read_each(struct reading *r, const struct json *list, void *object,
	int (*one)(struct reading *r, const struct json *value, void *object));
int model_read_number(struct reading *r, const struct json *value, uint64_t max,
	uint64_t *ret);
int model_expect(struct reading *r, const struct json *value, enum json_kind kind);
/* Replace *@ret by a copy. */
int model_copy_text(struct reading *r, const struct json *value, char **ret);

/* Readers for tables, named after their members: text char *, place int, uuid char[37]. */
#define MODEL_READER(name)                                                               \
	int model_read_##name(struct reading *r, const struct member *m,                 \
		const struct json *value, void *object)
MODEL_READER(u64);
MODEL_READER(u32);
MODEL_READER(place); /* a node, package and so on: null is -1 */
MODEL_READER(free_pages);
MODEL_READER(flag);
MODEL_READER(cpus);
MODEL_READER(address);
MODEL_READER(root);
MODEL_READER(fabric);
MODEL_READER(text); /* or null */
MODEL_READER(uuid);
MODEL_READER(eswitch); /* or null */
MODEL_READER(lag);     /* or null */
MODEL_READER(distance);

#endif
