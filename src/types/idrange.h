/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_IDRANGE_H
#define VFCTL_TYPES_IDRANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "types/identity.h"

/*
 * Ranges of identities. They contain no zero, no all ones and no group value, so first - 1 and last
 * + 1 never wrap, and all values together are fewer than 2^63.
 */
struct idranges {
	struct vfctl_id_range *v;
	size_t count;
};

/* Why the number is not a valid identity of that kind (a static string), or NULL. */
const char *id_fault(enum vfctl_id_kind kind, uint64_t value);
/*
 * Append first..last without the values with the group bit, as one range for each even first byte.
 * Both ends must be identities, first <= last. False if memory is exhausted.
 */
bool idranges_add(struct idranges *r, enum vfctl_id_kind kind, uint64_t first,
	uint64_t last);
/*
 * Sort the ranges and join adjacent ones. False if two overlap; *ret_overlap is then a value in
 * both.
 */
bool idranges_settle(struct idranges *r, uint64_t *ret_overlap);
/* Index of the range that holds the value (settled ranges), or -1. */
ssize_t idranges_find(const struct vfctl_id_range *v, size_t count, uint64_t value);
/* Whether two lists of settled ranges share a value. */
bool idranges_share(const struct vfctl_id_range *a, size_t a_count,
	const struct vfctl_id_range *b, size_t b_count, uint64_t *ret_value);
/* The number of values; below 2^63. */
uint64_t idranges_size(const struct vfctl_id_range *v, size_t count);
/* Value number @n; n < size. */
uint64_t idranges_at(const struct vfctl_id_range *v, size_t count, uint64_t n);

#endif
