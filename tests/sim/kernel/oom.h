/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OOM_H
#define OOM_H

/*
 * Included before all else of the simulator where memory is to run out in vfctl's own code
 * alone: that calls what the linker puts in the place of these (--wrap), and this does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t max);

#undef strdup
#undef strndup
#define malloc __real_malloc
#define calloc __real_calloc
#define realloc __real_realloc
#define reallocarray __real_reallocarray
#define strdup __real_strdup
#define strndup __real_strndup

#endif
