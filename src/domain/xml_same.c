// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether elements mean the same. */
#include <errno.h>

#include "base/buf.h"
#include "domain/xml.h"

bool xml_same_name(const struct xml_node *a, const struct xml_node *b)
{
	return str_eq(xml_name(a), xml_name(b)) && str_eq(xml_ns(a), xml_ns(b));
}

/* libvirt indents the metadata. */
static char *dense_text(const struct xml_node *node)
{
	char *text = xml_own_text(node), *to = text;

	for (const char *from = text; from && *from; from++)
		if (!strchr(" \t\r\n", *from))
			*to++ = *from;
	if (to)
		*to = '\0';
	return text;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Append the texts in order, each after a separator that cannot be in XML. */
static void put_sorted(struct buf *to, char **texts, size_t count)
{
	if (count)
		qsort(texts, count, sizeof(*texts), by_text);
	for (size_t i = 0; i < count; i++)
		buf_printf(to, "\001%s", texts[i]);
}

static char *canonical(const struct xml_node *node);

struct attr_texts {
	char **texts;
	size_t count;
};

static int add_attr(void *data, const char *ns, const char *name, const char *value)
{
	struct attr_texts *a = data;
	char *text = str_format("%s %s=%s", ns, name, value);

	if (!text || !array_grow(a->texts, a->count)) {
		free(text);
		return -ENOMEM;
	}
	a->texts[a->count++] = text;
	return 0;
}

static void put_attrs(struct buf *to, const struct xml_node *node)
{
	struct attr_texts a = {0};

	if (xml_each_attr_of_any(node, add_attr, &a) < 0)
		to->failed = true;
	else
		put_sorted(to, a.texts, a.count);
	for (size_t i = 0; i < a.count; i++)
		free(a.texts[i]);
	free(a.texts);
}

static void put_children(struct buf *to, const struct xml_node *node)
{
	_strv_ char **texts = NULL;
	size_t count = 0;

	for (const struct xml_node *c = xml_first(node); c; c = xml_after(c))
		count++;
	texts = calloc(count + 1, sizeof(*texts));
	to->failed |= !texts;
	count = 0;
	for (const struct xml_node *c = xml_first(node); c && !to->failed; c = xml_after(c)) {
		texts[count] = canonical(c);
		to->failed |= !texts[count++];
	}
	if (!to->failed)
		put_sorted(to, texts, count);
}

/* A text that is the same for elements that mean the same. NULL if memory is exhausted. */
static char *canonical(const struct xml_node *node)
{
	_buf_ struct buf text = {0};
	_free_ char *own = dense_text(node);

	buf_printf(&text, "<%s %s", xml_ns(node), xml_name(node));
	put_attrs(&text, node);
	buf_printf(&text, "\002%s", own ? own : "");
	put_children(&text, node);
	buf_puts(&text, ">");
	return own && !text.failed ? buf_steal(&text) : NULL;
}

int xml_same(const struct xml_node *a, const struct xml_node *b)
{
	_free_ char *left = a ? canonical(a) : NULL, *right = b ? canonical(b) : NULL;

	if ((a && !left) || (b && !right))
		return -ENOMEM;
	return left && right ? str_eq(left, right) : !left && !right;
}

int xml_same_text(const struct xml_node *a, const struct xml_node *b)
{
	_free_ char *left = dense_text(a), *right = dense_text(b);

	return left && right ? str_eq(left, right) : -ENOMEM;
}
