// SPDX-License-Identifier: GPL-2.0-or-later
/* Write YAML: answers of commands, and documents for an editor. */
#include "spec/yaml.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/util.h"
#include "spec/doc.h"

#define DEPTH_MAX 32

struct vfctl_yaml {
	yaml_emitter_t emitter;
	vfctl_yaml_write write;
	void *data;
	char open[DEPTH_MAX];
	size_t depth;
	bool failed;
};

static int pass_on(void *data, unsigned char *text, size_t len)
{
	struct vfctl_yaml *yaml = data;

	return yaml->write(yaml->data, (const char *)text, len);
}

/* @made: whether the event could be initialized. The emitter then owns it, also if it fails. */
static void emit(struct vfctl_yaml *yaml, yaml_event_t *event, int made)
{
	if (yaml->failed && made)
		yaml_event_delete(event);
	else
		yaml->failed |= !made || !yaml_emitter_emit(&yaml->emitter, event);
}

struct vfctl_yaml *vfctl_yaml_new(vfctl_yaml_write write, void *data)
{
	struct vfctl_yaml *yaml = calloc(1, sizeof(*yaml));
	yaml_event_t event;

	if (!yaml || !yaml_emitter_initialize(&yaml->emitter)) {
		free(yaml);
		return NULL;
	}
	yaml->write = write;
	yaml->data = data;
	yaml_emitter_set_output(&yaml->emitter, pass_on, yaml);
	yaml_emitter_set_unicode(&yaml->emitter, 1);
	yaml_emitter_set_width(&yaml->emitter, -1);
	emit(yaml, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	return yaml;
}

bool vfctl_yaml_free(struct vfctl_yaml *yaml)
{
	bool good = !yaml || !yaml->failed;

	if (yaml)
		yaml_emitter_delete(&yaml->emitter);
	free(yaml);
	return good;
}

/* ---- events ---- */

void vfctl_yaml_open(struct vfctl_yaml *yaml, char bracket)
{
	yaml_event_t event;

	if (yaml->depth == DEPTH_MAX) {
		yaml->failed = true;
		return;
	}
	if (!yaml->depth)
		emit(yaml, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	yaml->open[yaml->depth++] = bracket;
	emit(yaml, &event, bracket == '{'
		? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
		: yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

void vfctl_yaml_close(struct vfctl_yaml *yaml)
{
	yaml_event_t event;

	if (!yaml->depth)
		return;
	emit(yaml, &event, yaml->open[--yaml->depth] == '{' ? yaml_mapping_end_event_initialize(&event)
							    : yaml_sequence_end_event_initialize(&event));
	if (yaml->depth)
		return;
	emit(yaml, &event, yaml_document_end_event_initialize(&event, 1));
	yaml->failed |= !yaml_emitter_flush(&yaml->emitter);
}

static void put_scalar(struct vfctl_yaml *yaml, const char *text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	emit(yaml, &event, yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
		(int)strlen(text), 1, 1, style));
}

/* Words that YAML 1.1 or 1.2 takes for a boolean or null, in any case. */
static bool is_reserved(const char *text)
{
	static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i], text) == 0)
			return true;
	return false;
}

void vfctl_yaml_text(struct vfctl_yaml *yaml, const char *text)
{
	bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');

	/* Readers take U+2028 and U+2029 for line breaks. The emitter escapes other such characters. */
	if (strstr(text, "\xe2\x80\xa8") || strstr(text, "\xe2\x80\xa9"))
		put_scalar(yaml, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	else if (strchr(text, '\n'))
		put_scalar(yaml, text, YAML_LITERAL_SCALAR_STYLE);
	else if ((letter && !is_reserved(text)) || *text == '/')
		put_scalar(yaml, text, YAML_PLAIN_SCALAR_STYLE);
	else
		put_scalar(yaml, text, YAML_SINGLE_QUOTED_SCALAR_STYLE);
}

void vfctl_yaml_value(struct vfctl_yaml *yaml, const char *text)
{
	put_scalar(yaml, text, YAML_PLAIN_SCALAR_STYLE);
}

/* ---- documents ---- */

static bool add_to_buf(void *data, const char *text, size_t len)
{
	buf_add(data, text, len);
	return !((struct buf *)data)->failed;
}

/*
 * Numbers, sizes and switches, as people write them; not a MAC, which looks like a number to base
 * 60.
 */
static bool is_value(const char *text)
{
	return is_reserved(text) ? strcasecmp(text, "null") != 0
				 : *text >= '0' && *text <= '9' && !strpbrk(text, ":\n");
}

static void put_node(struct vfctl_yaml *yaml, const struct doc_node *node)
{
	if (node->kind == DOC_SCALAR) {
		(is_value(node->text) ? vfctl_yaml_value : vfctl_yaml_text)(yaml, node->text);
		return;
	}
	vfctl_yaml_open(yaml, node->kind == DOC_MAP ? '{' : '[');
	for (size_t i = 0; i < node->count; i++) {
		if (node->kind == DOC_MAP)
			vfctl_yaml_text(yaml, node->keys[i]->text);
		put_node(yaml, node->items[i]);
	}
	vfctl_yaml_close(yaml);
}

char *doc_yaml(const struct doc_node *root)
{
	_buf_ struct buf out = {0};
	struct vfctl_yaml *yaml = vfctl_yaml_new(add_to_buf, &out);

	if (!yaml)
		return NULL;
	put_node(yaml, root);
	return vfctl_yaml_free(yaml) ? buf_steal(&out) : NULL;
}
