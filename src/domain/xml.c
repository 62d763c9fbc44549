// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that uses libxml2. */
#include "domain/xml.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/dl.h"
#include "base/sonames.h"
#include "types/domain.h"

#define SYMBOLS(each) \
	each(xmlNewParserCtxt) each(xmlFreeParserCtxt) each(xmlCtxtReadMemory) \
	each(xmlCtxtGetLastError) each(xmlStopParser) each(xmlNewDoc) each(xmlFreeDoc) \
	each(xmlDocGetRootElement) each(xmlDocSetRootElement) each(xmlDocDumpFormatMemoryEnc) \
	each(xmlNewDocNode) each(xmlAddChild) each(xmlAddPrevSibling) each(xmlNodeSetContent) \
	each(xmlNodeAddContent) each(xmlSetNsProp) each(xmlUnsetProp) each(xmlRemoveProp) \
	each(xmlUnlinkNode) each(xmlFreeNode) each(xmlSearchNsByHref) each(xmlNewNs) \
	each(xmlSetNs)
DL_SYMBOLS(symbols, SYMBOLS);

struct xml {
	xmlDocPtr doc;
	bool failed; /* memory was exhausted while building */
};

#define X(text) ((const xmlChar *)(text))

static xmlNodePtr in(const struct xml_node *node)
{
	return (xmlNodePtr)node;
}

static struct xml_node *out(xmlNodePtr node)
{
	return (struct xml_node *)node;
}

static int bind(struct vfctl_ctx *ctx)
{
	int r = dl_bind(ctx, SONAME_XML2, symbols, ARRAY_SIZE(symbols));

	return r < 0 ? ctx_prefix(ctx, r, "domain XML") : 0;
}

void xml_free(struct xml *xml)
{
	if (!xml)
		return;
	if (xml->doc)
		sym_xmlFreeDoc(xml->doc);
	free(xml);
}

static int wrap(struct vfctl_ctx *ctx, xmlDocPtr doc, struct xml **ret)
{
	struct xml *xml = calloc(1, sizeof(*xml));

	if (!xml || !doc) {
		if (doc)
			sym_xmlFreeDoc(doc);
		free(xml);
		return ctx_oom(ctx);
	}
	xml->doc = doc;
	doc->_private = xml;
	*ret = xml;
	return 0;
}

/* Called at "<!DOCTYPE", before any of its declarations. */
static void refuse_doctype(void *data, const xmlChar *name, const xmlChar *external_id,
	const xmlChar *system_id)
{
	xmlParserCtxtPtr parser = data;

	*(unsigned *)parser->_private = parser->input ? (unsigned)parser->input->line : 1;
	sym_xmlStopParser(parser);
}

static int fail_parse(struct vfctl_ctx *ctx, const char *file, xmlParserCtxtPtr parser)
{
	const xmlError *error = sym_xmlCtxtGetLastError(parser);
	_free_ char *words = NULL;

	if (error && error->code == XML_ERR_NO_MEMORY)
		return ctx_oom(ctx);
	words = strdup(error && error->message ? error->message : "not XML");
	if (!words)
		return ctx_oom(ctx);
	return ctx_fail(ctx, -EINVAL, "%s:%d: %s", file, error ? error->line : 1,
		str_rstrip(words));
}

static void free_parser(xmlParserCtxtPtr *parser)
{
	if (*parser)
		sym_xmlFreeParserCtxt(*parser);
}

int xml_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct xml **ret)
{
	_cleanup_(free_parser) xmlParserCtxtPtr parser = NULL;
	unsigned doctype_line = 0;
	xmlDocPtr doc;
	int r = bind(ctx);

	if (r < 0)
		return r;
	if (len > VFCTL_DOMAIN_XML_MAX)
		return ctx_fail(ctx, -E2BIG,
			"%s: it has %zu bytes, more than %d; is it the right "
			"file?",
			file, len, VFCTL_DOMAIN_XML_MAX);
	parser = sym_xmlNewParserCtxt();
	if (!parser)
		return ctx_oom(ctx);
	parser->_private = &doctype_line;
	parser->sax->internalSubset = refuse_doctype;
	doc = sym_xmlCtxtReadMemory(parser, text, (int)len, NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOBLANKS | XML_PARSE_NOERROR |
			XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
	if (doctype_line) {
		if (doc)
			sym_xmlFreeDoc(doc);
		return ctx_fail(ctx, -EINVAL,
			"%s:%u: a DOCTYPE is not allowed (it could declare entities); "
			"remove it",
			file, doctype_line);
	}
	if (!doc)
		return fail_parse(ctx, file, parser);
	return wrap(ctx, doc, ret);
}

int xml_parse_domain(
	struct vfctl_ctx *ctx, const char *file, const char *text, struct xml **ret)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse(ctx, file, text, strlen(text), &xml);

	if (r < 0)
		return r;
	if (!str_eq(xml_name(xml_root(xml)), "domain"))
		return ctx_fail(ctx, -EINVAL,
			"%s:%u: the root is <%s>, not <domain>; is it the "
			"right file?",
			file, xml_line(xml_root(xml)),
			(const char *)in(xml_root(xml))->name);
	*ret = steal(xml);
	return 0;
}

int xml_new(struct vfctl_ctx *ctx, const char *root, struct xml **ret)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	xmlNodePtr node;
	int r = bind(ctx);

	if (r == 0)
		r = wrap(ctx, sym_xmlNewDoc(X("1.0")), &xml);
	if (r < 0)
		return r;
	node = sym_xmlNewDocNode(xml->doc, NULL, X(root), NULL);
	if (!node)
		return ctx_oom(ctx);
	sym_xmlDocSetRootElement(xml->doc, node);
	*ret = steal(xml);
	return 0;
}

int xml_print(struct vfctl_ctx *ctx, struct xml *xml, char **ret)
{
	xmlChar *text = NULL;
	const char *start;
	char *copy;
	int len;

	if (xml->failed)
		return ctx_oom(ctx);
	sym_xmlDocDumpFormatMemoryEnc(xml->doc, &text, &len, "UTF-8", 1);
	if (!text)
		return ctx_oom(ctx);
	start = strstr((const char *)text, "?>");
	start = start ? start + 2 : (const char *)text;
	copy = strdup(start + strspn(start, "\n"));
	free(text);
	if (!copy)
		return ctx_oom(ctx);
	*ret = copy;
	return 0;
}

struct xml_node *xml_root(struct xml *xml)
{
	return out(sym_xmlDocGetRootElement(xml->doc));
}

const char *xml_name(const struct xml_node *node)
{
	if (!node || in(node)->ns)
		return "";
	return (const char *)in(node)->name;
}

const char *xml_ns(const struct xml_node *node)
{
	return in(node)->ns ? (const char *)in(node)->ns->href : "";
}

unsigned xml_line(const struct xml_node *node)
{
	return node ? in(node)->line : 0;
}

static bool matches(xmlNodePtr node, const char *ns, const char *name)
{
	if (node->type != XML_ELEMENT_NODE)
		return false;
	if (ns ? !node->ns || !str_eq((const char *)node->ns->href, ns)
	       : node->ns != NULL)
		return false;
	return !name || str_eq((const char *)node->name, name);
}

static struct xml_node *first_match(xmlNodePtr node, const char *ns, const char *name)
{
	while (node && !matches(node, ns, name))
		node = node->next;
	return out(node);
}

struct xml_node *xml_child(const struct xml_node *node, const char *name)
{
	return node ? first_match(in(node)->children, NULL, name) : NULL;
}

struct xml_node *xml_next(const struct xml_node *node, const char *name)
{
	return first_match(in(node)->next, NULL, name);
}

struct xml_node *xml_child_ns(
	const struct xml_node *node, const char *ns, const char *name)
{
	return node ? first_match(in(node)->children, ns, name) : NULL;
}

struct xml_node *xml_next_ns(
	const struct xml_node *node, const char *ns, const char *name)
{
	return first_match(in(node)->next, ns, name);
}

struct xml_node *xml_parent(const struct xml_node *node)
{
	xmlNodePtr parent = node ? in(node)->parent : NULL;

	return parent && parent->type == XML_ELEMENT_NODE ? out(parent) : NULL;
}

bool xml_has_children(const struct xml_node *node)
{
	for (xmlNodePtr c = node ? in(node)->children : NULL; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE)
			return true;
	return false;
}

/* Without entities a value is one text node, or none if it is empty. */
static const char *attr_value(const xmlAttr *attr)
{
	const xmlNode *text = attr->children;

	return text && text->content ? (const char *)text->content : "";
}

const char *xml_get(const struct xml_node *node, const char *attr)
{
	for (xmlAttrPtr a = node ? in(node)->properties : NULL; a; a = a->next)
		if (!a->ns && str_eq((const char *)a->name, attr))
			return attr_value(a);
	return NULL;
}

bool xml_get_is(const struct xml_node *node, const char *attr, const char *value)
{
	const char *text = xml_get(node, attr);

	return text && str_eq(text, value);
}

int xml_each_attr(const struct xml_node *node,
	int (*fn)(void *data, const char *name, const char *value), void *data)
{
	int r = 0;

	for (xmlAttrPtr a = in(node)->properties; a && !r; a = a->next)
		if (!a->ns)
			r = fn(data, (const char *)a->name, attr_value(a));
	return r;
}

int xml_each_attr_of_any(const struct xml_node *node,
	int (*fn)(void *data, const char *ns, const char *name, const char *value), void *data)
{
	int r = 0;

	for (xmlAttrPtr a = in(node)->properties; a && !r; a = a->next)
		r = fn(data, a->ns ? (const char *)a->ns->href : "", (const char *)a->name,
			attr_value(a));
	return r;
}

const char *xml_text(const struct xml_node *node, char *buf, size_t size)
{
	size_t len = 0, skip;

	if (!node)
		return NULL;
	for (xmlNodePtr c = in(node)->children; c; c = c->next) {
		size_t more = c->content ? strlen((const char *)c->content) : 0;

		if (!more ||
			(c->type != XML_TEXT_NODE && c->type != XML_CDATA_SECTION_NODE))
			continue;
		if (more >= size - len)
			return NULL;
		memcpy(buf + len, c->content, more);
		len += more;
	}
	buf[len] = '\0';
	skip = strspn(buf, " \t\r\n");
	return str_rstrip(memmove(buf, buf + skip, len - skip + 1));
}

static void mark_failed(xmlDocPtr doc)
{
	((struct xml *)doc->_private)->failed = true;
}

struct xml_node *xml_add_before(
	struct xml_node *parent, struct xml_node *sibling, const char *name)
{
	xmlNodePtr node;

	if (!parent)
		return NULL;
	node = sym_xmlNewDocNode(in(parent)->doc, NULL, X(name), NULL);
	if (!node) {
		mark_failed(in(parent)->doc);
		return NULL;
	}
	if (sibling)
		sym_xmlAddPrevSibling(in(sibling), node);
	else
		sym_xmlAddChild(in(parent), node);
	return out(node);
}

/* A comment belongs to the element below it, unless it is on the line of the one above. */
static xmlNodePtr first_comment(xmlNodePtr node)
{
	while (node->prev && node->prev->type == XML_COMMENT_NODE &&
		!(node->prev->prev && node->prev->prev->line == node->prev->line))
		node = node->prev;
	return node;
}

void xml_move_before(struct xml_node *node, struct xml_node *sibling)
{
	xmlNodePtr place = first_comment(in(sibling)), part = first_comment(in(node)), next;

	for (bool done = false; !done; part = next) {
		next = part->next;
		done = part == in(node);
		sym_xmlAddPrevSibling(place, part);
	}
}

struct xml_node *xml_add(struct xml_node *parent, const char *name)
{
	return xml_add_before(parent, NULL, name);
}

struct xml_node *xml_add_ns(
	struct xml_node *parent, const char *ns, const char *prefix, const char *name)
{
	struct xml_node *node = xml_add(parent, name);
	xmlNsPtr found;

	if (!node)
		return NULL;
	found = sym_xmlSearchNsByHref(in(node)->doc, in(node), X(ns));
	if (!found)
		found = sym_xmlNewNs(in(node), X(ns), X(prefix));
	if (!found)
		mark_failed(in(node)->doc);
	sym_xmlSetNs(in(node), found);
	return node;
}

void xml_set(struct xml_node *node, const char *attr, const char *value)
{
	if (node && !value)
		mark_failed(in(node)->doc);
	else if (node && !sym_xmlSetNsProp(in(node), NULL, X(attr), X(value)))
		mark_failed(in(node)->doc);
}

void xml_setf(struct xml_node *node, const char *attr, const char *fmt, ...)
{
	_free_ char *value = NULL;
	va_list args;

	if (!node)
		return;
	va_start(args, fmt);
	value = str_vformat(fmt, args);
	va_end(args);
	if (value)
		xml_set(node, attr, value);
	else
		mark_failed(in(node)->doc);
}

void xml_set_text(struct xml_node *node, const char *text)
{
	if (!node)
		return;
	/* Set parses entities, Add takes the text unchanged. */
	sym_xmlNodeSetContent(in(node), NULL);
	sym_xmlNodeAddContent(in(node), X(text));
	if (*text && !in(node)->children)
		mark_failed(in(node)->doc);
}

void xml_set_textf(struct xml_node *node, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	if (!node)
		return;
	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	if (text)
		xml_set_text(node, text);
	else
		mark_failed(in(node)->doc);
}

void xml_unset(struct xml_node *node, const char *attr)
{
	if (node)
		sym_xmlUnsetProp(in(node), X(attr));
}

void xml_remove(struct xml_node *node)
{
	if (!node)
		return;
	sym_xmlUnlinkNode(in(node));
	sym_xmlFreeNode(in(node));
}

void xml_clear(struct xml_node *node)
{
	if (!node)
		return;
	while (in(node)->properties)
		sym_xmlRemoveProp(in(node)->properties);
	while (in(node)->children)
		xml_remove(out(in(node)->children));
}

void xml_remove_children(struct xml_node *node, const char *name)
{
	struct xml_node *child;

	while ((child = xml_child(node, name)))
		xml_remove(child);
}

/* ---- copies ---- */

struct xml_node *xml_first(const struct xml_node *node)
{
	xmlNodePtr child = node ? in(node)->children : NULL;

	while (child && child->type != XML_ELEMENT_NODE)
		child = child->next;
	return out(child);
}

struct xml_node *xml_after(const struct xml_node *node)
{
	xmlNodePtr next = in(node)->next;

	while (next && next->type != XML_ELEMENT_NODE)
		next = next->next;
	return out(next);
}

char *xml_own_text(const struct xml_node *node)
{
	_buf_ struct buf text = {0};

	buf_puts(&text, "");
	for (xmlNodePtr c = node ? in(node)->children : NULL; c; c = c->next)
		if (c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE)
			buf_puts(&text, c->content ? (const char *)c->content : "");
	return text.failed ? NULL : buf_steal(&text);
}

struct xml_node *xml_add_copy(struct xml_node *parent, const struct xml_node *node)
{
	const xmlNs *ns = node ? in(node)->ns : NULL;
	const char *name = node ? (const char *)in(node)->name : NULL;
	struct xml_node *copy;
	_free_ char *text = NULL;

	if (!parent || !node)
		return NULL;
	copy = ns ? xml_add_ns(parent, (const char *)ns->href, (const char *)ns->prefix, name)
		  : xml_add(parent, name);
	for (xmlAttrPtr a = in(node)->properties; a; a = a->next)
		if (!a->ns)
			xml_set(copy, (const char *)a->name, attr_value(a));
	text = xml_own_text(node);
	if (!text)
		mark_failed(in(parent)->doc);
	else if (*text)
		xml_set_text(copy, text);
	for (const struct xml_node *c = xml_first(node); c; c = xml_after(c))
		xml_add_copy(copy, c);
	return copy;
}
