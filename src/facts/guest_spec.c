// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/guest_spec.h"

#include <errno.h>

#include "base/json.h"
#include "base/parse.h"
#include "domain/domain.h"
#include "spec/doc.h"

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* ---- lines of vfctl 0.1 ---- */

/*
 * A line of a list's entry ("vfs[2].pf") or of a mapping ("xml.iommu") belongs below the line
 * before it if both begin alike. Returns its own key.
 */
static const char *put_place(struct buf *out, const char *line, const char *before, const char *equals)
{
	size_t len = strspn(line, KEY_CHARACTERS), entry = strcspn(line, ".");

	if (line + entry >= equals || !strchr(".[", line[len]))
		return line;
	if (strncmp(before, line, len + 1) != 0)
		buf_printf(out, "%.*s:\n", (int)len, line);
	buf_puts(out, line[len] == '.' || strncmp(before, line, entry + 1) == 0 ? "    " : "  - ");
	return line + entry + 1;
}

static void put_line(struct buf *out, const char *line, size_t len, const char *before)
{
	const char *equals = line + strcspn(line, "=\n"), *end = line + len;
	const char *key = put_place(out, line, before, equals);
	_free_ char *name = strndup(key, (size_t)(equals - key));
	_free_ char *value = strndup(equals + 1, equals < end ? (size_t)(end - equals) - 1 : 0);

	out->failed |= !name || !value;
	if (out->failed)
		return;
	/* Only this text may have several lines. */
	for (char *at = value; str_eq(name, "description") && (at = strstr(at, "\\n")); at++) {
		*at = '\n';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
	json_put(out, name);
	buf_puts(out, ": ");
	json_put(out, value);
	buf_puts(out, "\n");
}

/* Convert to YAML. Nothing is checked: the reader rejects what is not a guest. */
static char *convert_lines(const char *lines, uint64_t *ret_template_hash)
{
	static const char template[] = "template text=";
	_buf_ struct buf out = {0};
	const char *before = "";

	buf_puts(&out, "");
	for (size_t len; *(lines += strspn(lines, " \t\n")); before = lines, lines += len) {
		char hash[17] = "";

		len = strcspn(lines, "\n");
		if (!str_starts(lines, template)) {
			put_line(&out, lines, len, before);
			continue;
		}
		strncat(hash, lines + strlen(template), sizeof(hash) - 1);
		parse_hex(hash, UINT64_MAX, ret_template_hash);
	}
	return out.failed ? NULL : buf_steal(&out);
}

/* ---- both forms ---- */

int guest_spec_parse(struct vfctl_ctx *ctx, const char *text, struct vfctl_guest **ret)
{
	uint64_t template_hash = 0;
	_free_ char *why = NULL;
	_free_ char *yaml = *text == '{' ? strdup(text) : convert_lines(text, &template_hash);
	int r = yaml ? vfctl_guest_parse(ctx, "its metadata", yaml, strlen(yaml), ret) : ctx_oom(ctx);

	if (r == 0)
		(*ret)->template_hash = template_hash;
	if (r == 0 || r == -ENOMEM)
		return r;
	/* The user who runs the command did not cause this. */
	why = steal(ctx->error);
	return ctx_fail(ctx, -EBADMSG, "%s", why ? why : "its metadata is not a valid guest");
}

int guest_spec_read(struct vfctl_ctx *ctx, const char *xml, struct vfctl_guest **ret)
{
	uint64_t template_hash;
	_free_ char *text = NULL;
	int r = metadata_spec(ctx, xml, &text, &template_hash);

	*ret = NULL;
	if (r == 0 && text)
		r = guest_spec_parse(ctx, text, ret);
	if (*ret && template_hash)
		(*ret)->template_hash = template_hash;
	return r;
}

int guest_spec_write(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_guest *guest,
	char **ret_xml)
{
	_free_ char *json = doc_json(guest->doc);

	return json ? metadata_set_spec(ctx, xml, json, guest->template_hash, ret_xml) : ctx_oom(ctx);
}

uint64_t guest_template_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3); /* FNV-1a */
	return hash ? hash : 1;
}
