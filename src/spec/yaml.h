/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_YAML_H
#define VFCTL_SPEC_YAML_H

#include <stdbool.h>
#include <stddef.h>

/** A writer of YAML in block style. A failure is remembered until vfctl_yaml_free(). */
struct vfctl_yaml;

/** Takes @p len bytes of the output; false: they could not be written. */
typedef bool (*vfctl_yaml_write)(void *data, const char *text, size_t len);

/** NULL if memory is exhausted. */
struct vfctl_yaml *vfctl_yaml_new(vfctl_yaml_write write, void *data);
/**
 * Begin a mapping ('{') or a list ('['). In a mapping, keys and values take turns. What the writer
 * has kept back is written when the outermost one ends.
 */
void vfctl_yaml_open(struct vfctl_yaml *yaml, char bracket);
/** End the innermost one. */
void vfctl_yaml_close(struct vfctl_yaml *yaml);
/** Write a text, in quotes if a reader could take it for a number, a boolean, a date or null. */
void vfctl_yaml_text(struct vfctl_yaml *yaml, const char *text);
/** Write a number, a boolean or null. */
void vfctl_yaml_value(struct vfctl_yaml *yaml, const char *text);
/** False if not everything was written. NULL is allowed. */
bool vfctl_yaml_free(struct vfctl_yaml *yaml);

#endif
