// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/plan_draft.h"

#include <errno.h>
#include <stdarg.h>

#include "base/json.h"
#include "spec/doc.h"

struct plan_draft {
	struct doc_node *root;
	char *twice; /* the key that was set twice */
	bool failed; /* memory was exhausted */
};

static struct doc_node *new_node(enum doc_kind kind, const char *text)
{
	struct doc_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	*n = (struct doc_node){.kind = kind, .file = "the options", .quoted = true};
	if (text && !(n->text = strdup(text))) {
		free(n);
		return NULL;
	}
	return n;
}

int plan_draft_new(struct vfctl_ctx *ctx, struct plan_draft **ret)
{
	struct plan_draft *d = calloc(1, sizeof(*d));

	if (!d || !(d->root = new_node(DOC_MAP, NULL))) {
		free(d);
		return ctx_oom(ctx);
	}
	*ret = d;
	return 0;
}

void plan_draft_free(struct plan_draft *d)
{
	if (!d)
		return;
	doc_free(d->root);
	free(d->twice);
	free(d);
}

static struct doc_node **find_child(struct doc_node *in, const char *key)
{
	if (in->kind == DOC_LIST)
		return str_eq(key, "-") && in->count ? &in->items[in->count - 1] : NULL;
	for (size_t i = 0; i < in->count; i++)
		if (str_eq(in->keys[i]->text, key))
			return &in->items[i];
	return NULL;
}

/* Add a child: a list if the next key is that of a list, else a mapping. */
static struct doc_node *add_child(struct doc_node *in, const char *key, const char *next,
	const char *value)
{
	enum doc_kind kind = next ? (str_eq(next, "+") ? DOC_LIST : DOC_MAP)
		: value		  ? DOC_SCALAR
				  : DOC_MAP;
	struct doc_node *child = new_node(kind, next ? NULL : value);
	struct doc_node *name = in->kind == DOC_MAP ? new_node(DOC_SCALAR, key) : NULL;

	if (!child || (in->kind == DOC_MAP && !name) || !array_grow(in->items, in->count) ||
		(name && !array_grow(in->keys, in->count))) {
		doc_free(child);
		doc_free(name);
		return NULL;
	}
	if (name)
		in->keys[in->count] = name;
	in->items[in->count++] = child;
	return child;
}

void plan_draft_put(struct plan_draft *d, const char *value, ...)
{
	struct doc_node *at = d->root;
	const char *key, *next;
	va_list keys;

	va_start(keys, value);
	for (key = va_arg(keys, const char *); key && at; key = next) {
		struct doc_node **child = find_child(at, key);

		next = va_arg(keys, const char *);
		if (child && !next && !d->twice)
			d->twice = strdup(key);
		at = child ? *child : add_child(at, key, next, value);
	}
	va_end(keys);
	d->failed |= !at;
}

/* ---- as YAML ---- */

static void put_draft_node(struct buf *out, const struct doc_node *n, int depth)
{
	if (n->kind == DOC_SCALAR) {
		buf_puts(out, " ");
		json_put(out, n->text); /* YAML reads JSON strings unchanged */
	} else if (!n->count) {
		buf_puts(out, " {}");
	}
	buf_puts(out, depth ? "\n" : "");
	for (size_t i = 0; i < n->count; i++) {
		buf_printf(out, "%*s", 2 * depth, "");
		if (n->kind == DOC_MAP)
			json_put(out, n->keys[i]->text);
		buf_puts(out, n->kind == DOC_MAP ? ":" : "-");
		put_draft_node(out, n->items[i], depth + 1);
	}
}

int plan_draft_read(struct vfctl_ctx *ctx, const struct plan_draft *d,
	const struct doc_node **ret_root,
	char **ret_text)
{
	_buf_ struct buf out = {0};

	if (d->twice)
		return ctx_usage_error(ctx, -EINVAL, "%.64s is given twice", d->twice);
	if (!d->failed)
		put_draft_node(&out, d->root, 0);
	*ret_text = d->failed || out.failed ? NULL : buf_steal(&out);
	if (!*ret_text)
		return ctx_oom(ctx);
	*ret_root = d->root;
	return 0;
}
