/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_NEAREST_H
#define VFCTL_CORE_NEAREST_H

#include <stddef.h>

/* Find the valid name that is nearest to a mistyped one. */

/** Levenshtein's distance of two names; SIZE_MAX if one has more than 32 bytes. */
size_t name_distance(const char *a, const char *b);

/** A search for the candidate that is nearest to @p name. */
struct nearest {
	const char *name;
	const char *best; /**< the nearest candidate so far; NULL if no candidate is near enough */
	size_t distance;
};

/** Begin a search. A candidate is near enough if it differs in at most a third of its bytes. */
struct nearest nearest_to(const char *name);
/** Offer a candidate, which the search keeps a pointer to. */
void nearest_offer(struct nearest *search, const char *candidate);

#endif
