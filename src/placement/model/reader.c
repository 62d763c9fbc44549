// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/model/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/parse.h"

#define LIST_MAX 65536 /* largest number of entries of a list; no host has more */
#define NAME_BYTES_MAX 256

static void put_path(struct buf *b, const struct place *at)
{
	if (!at)
		return;
	put_path(b, at->up);
	if (at->name)
		buf_printf(b, "%s%s", b->len ? "." : "", at->name);
	else
		buf_printf(b, "[%zu]", at->index);
}

int model_bad(struct reading *r, const char *fmt, ...)
{
	_buf_ struct buf path = {0};
	_free_ char *message = NULL;
	va_list args;

	va_start(args, fmt);
	message = str_vformat(fmt, args);
	va_end(args);
	put_path(&path, r->at);
	if (!message || path.failed)
		return ctx_oom(r->ctx);
	return ctx_usage_error(r->ctx, -EINVAL, "%s%s%s", path.data ? path.data : "",
		path.len ? ": " : "", message);
}

int model_expect(struct reading *r, const struct json *value, enum json_kind kind)
{
	enum json_kind is = json_kind(value);

	return is == kind ? 0 : model_bad(r, "it is %s; it must be %s", json_kind_name(is),
		json_kind_name(kind));
}

/* ---- objects and lists ---- */

static const struct member *find_member(const struct member *rows, size_t count,
	const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static int fail_unknown(struct reading *r, const struct member *rows, size_t count,
	const char *name)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < count; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", rows[i].name);
	return model_bad(r, "member '%.64s' does not exist; the members are %s", name,
		known.failed ? "others" : known.data);
}

int model_read_object(struct reading *r, const struct json *value, const struct member *rows,
	size_t count, void *object)
{
	struct place at = {.up = r->at};
	const char *name;
	void *iter = NULL;
	int error = model_expect(r, value, JSON_KIND_OBJECT);

	while (error == 0 && (name = json_next(value, &iter)))
		if (!find_member(rows, count, name))
			error = fail_unknown(r, rows, count, name);
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct json *member = json_member(value, rows[i].name);

		at.name = rows[i].name;
		r->at = &at;
		if (member)
			error = rows[i].read(r, &rows[i], member, object);
		else if (rows[i].required)
			error = model_bad(r, "the member is missing");
		r->at = at.up;
	}
	return error;
}

int model_read_each(struct reading *r, const struct json *list, void *object,
	int (*one)(struct reading *r, const struct json *value, void *object))
{
	struct place at = {.up = r->at};
	int error = model_expect(r, list, JSON_KIND_LIST);

	if (error == 0 && json_count(list) > LIST_MAX)
		return model_bad(r, "it has %zu entries, more than %d", json_count(list),
			LIST_MAX);
	for (size_t i = 0; i < json_count(list) && error == 0; i++) {
		at.index = i;
		r->at = &at;
		error = one(r, json_item(list, i), object);
		r->at = at.up;
	}
	return error;
}

/* ---- values ---- */

int model_read_number(struct reading *r, const struct json *value, uint64_t max,
	uint64_t *ret)
{
	int64_t n;
	int error = model_expect(r, value, JSON_KIND_INTEGER);

	if (error < 0)
		return error;
	if (json_number(value, &n) < 0 || n < 0 || (uint64_t)n > max)
		return model_bad(r, "%" PRId64 " is not 0 to %" PRIu64, n, max);
	*ret = (uint64_t)n;
	return 0;
}

int model_read_u64(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return model_read_number(r, value, m->max, AT(uint64_t));
}

int model_read_u32(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error = model_read_number(r, value, m->max, &n);

	if (error == 0)
		*AT(uint32_t) = (uint32_t)n;
	return error;
}

/* A node, package and so on: null means none. */
int model_read_place(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error;

	if (json_kind(value) == JSON_KIND_NULL) {
		*AT(int) = -1;
		return 0;
	}
	error = model_read_number(r, value, m->max, &n);
	if (error == 0)
		*AT(int) = (int)n;
	return error;
}

int model_read_free_pages(struct reading *r, const struct member *m,
	const struct json *value, void *object)
{
	if (json_kind(value) != JSON_KIND_NULL)
		return model_read_u64(r, m, value, object);
	*AT(uint64_t) = VFCTL_COUNT_UNKNOWN;
	return 0;
}

int model_read_flag(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = model_expect(r, value, JSON_KIND_BOOL);

	if (error == 0)
		*AT(bool) = json_flag(value);
	return error;
}

int model_read_cpus(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = model_expect(r, value, JSON_KIND_TEXT);

	if (error < 0)
		return error;
	error = vfctl_cpuset_parse(json_text(value), AT(struct vfctl_cpuset));
	if (error == -ERANGE)
		return model_bad(r, "'%.64s' has CPUs of %d or more", json_text(value),
			VFCTL_CPU_MAX);
	return error < 0 ? model_bad(r, "'%.64s' is not a list of CPUs such as 0-3,8",
				   json_text(value))
			 : 0;
}

int model_read_address(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = model_expect(r, value, JSON_KIND_TEXT);

	if (error == 0 && vfctl_bdf_parse(json_text(value), AT(struct vfctl_bdf)) < 0)
		return model_bad(r, "'%.64s' is not a PCI address", json_text(value));
	return error;
}

int model_read_root(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const char *text, *colon;
	uint64_t domain, bus;
	char part[8] = "";
	int error;

	if (json_kind(value) == JSON_KIND_NULL) {
		*AT(uint32_t) = VFCTL_ROOT_UNKNOWN;
		return 0;
	}
	error = model_expect(r, value, JSON_KIND_TEXT);
	if (error < 0)
		return error;
	text = json_text(value);
	colon = strchr(text, ':');
	if (colon && colon - text < (ptrdiff_t)sizeof(part))
		memcpy(part, text, (size_t)(colon - text));
	/* The largest domain with its last bus would be VFCTL_ROOT_UNKNOWN. */
	if (parse_hex(part, (UINT32_MAX >> 8) - 1, &domain) < 0 ||
		parse_hex(colon + 1, 0xff, &bus) < 0)
		return model_bad(r, "'%.64s' is not a root complex such as 0000:3a", text);
	*AT(uint32_t) = (uint32_t)(domain << 8 | bus);
	return 0;
}

int model_read_fabric(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	uint64_t n;
	int error;

	for (int i = 1; json_text(value) && model_fabric_word(i); i++)
		if (str_eq(model_fabric_word(i), json_text(value))) {
			*AT(int) = i;
			return 0;
		}
	if (json_text(value))
		return model_bad(r,
			"'%.64s' is not a fabric; it must be ethernet, infiniband, other, or a number",
			json_text(value));
	error = model_read_number(r, value, MODEL_FABRIC_MAX, &n);
	if (error == 0)
		*AT(int) = (int)n;
	return error;
}

/* One line of text that can be displayed. */
int model_copy_text(struct reading *r, const struct json *value, char **ret)
{
	int error = model_expect(r, value, JSON_KIND_TEXT);
	char *copy;

	if (error < 0)
		return error;
	if (strlen(json_text(value)) > NAME_BYTES_MAX)
		return model_bad(r, "it has %zu bytes, more than %d", strlen(json_text(value)),
			NAME_BYTES_MAX);
	copy = strdup(json_text(value));
	if (!copy)
		return ctx_oom(r->ctx);
	free(*ret);
	*ret = copy;
	return 0;
}

int model_read_text(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	return json_kind(value) == JSON_KIND_NULL ? 0 : model_copy_text(r, value, AT(char *));
}

int model_read_uuid(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	int error = model_expect(r, value, JSON_KIND_TEXT);
	const char *text = json_text(value);

	if (error == 0 && *text && !uuid_valid(text))
		return model_bad(r, "'%.64s' is not a UUID", text);
	if (error == 0)
		str_copy(AT(char), 37, text);
	return error;
}

int model_read_eswitch(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const char *text = json_text(value);

	if (json_kind(value) == JSON_KIND_NULL)
		return 0;
	for (int i = VFCTL_ESWITCH_LEGACY; text && i <= VFCTL_ESWITCH_INACTIVE; i++)
		if (str_eq(vfctl_eswitch_name((enum vfctl_eswitch)i), text)) {
			*AT(enum vfctl_eswitch) = (enum vfctl_eswitch)i;
			return 0;
		}
	return model_bad(r, "it is legacy, switchdev, switchdev_inactive or null");
}

int model_read_lag(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const char *text = json_text(value);

	if (json_kind(value) == JSON_KIND_NULL)
		return 0;
	for (int i = VFCTL_LAG_OFF; text && i <= VFCTL_LAG_ACTIVE; i++)
		if (str_eq(vfctl_lag_name((enum vfctl_lag)i), text)) {
			*AT(enum vfctl_lag) = (enum vfctl_lag)i;
			return 0;
		}
	return model_bad(r, "it is active, off or null");
}

int model_read_distance(struct reading *r, const struct member *m, const struct json *value,
	void *object)
{
	const char *text = json_text(value);

	for (int i = VFCTL_PCI_DISTANCE_UNKNOWN; text && i <= VFCTL_PCI_SYS; i++)
		if (str_eq(vfctl_pci_distance_name((enum vfctl_pci_distance)i), text)) {
			*AT(enum vfctl_pci_distance) = (enum vfctl_pci_distance)i;
			return 0;
		}
	return model_bad(r, "it is PIX, PXB, PHB, NODE, SYS or unknown");
}
