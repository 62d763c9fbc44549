/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TESTS_SCHEMA_CHECK_H
#define VFCTL_TESTS_SCHEMA_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum schema_kind { SCHEMA_GUEST, SCHEMA_HOST, SCHEMA_BENCH };

/*
 * Does our schema take this YAML, as an editor reads it (the core schema of YAML 1.2)? @why
 * receives what it does not take. A keyword that this check does not know aborts: the schemas
 * then say something that no test looks at.
 */
bool schema_takes(enum schema_kind kind, const char *text, size_t len, char why[256]);

/*
 * Every text that the parser @accepted must be valid by the schema, else it is printed and the
 * program aborts.
 */
void schema_holds(enum schema_kind kind, const char *text, size_t len, bool accepted);

#endif
