/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_NEAREST_H
#define VFCTL_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Find the valid name that is nearest to a mistyped one. */

/** Levenshtein's distance of two names; SIZE_MAX if one has more than 32 bytes. */
size_t name_distance(const char *a, const char *b);

/** A search for the candidate that is nearest to @p name. */
struct nearest {
	const char *name;
	const char *best; /**< the nearest candidate so far; NULL if no candidate is near enough */
	size_t distance;
	bool tied; /**< another candidate is just as near */
};

/** Begin a search. A candidate is near enough if it differs in at most a third of its bytes. */
struct nearest nearest_to(const char *name);
/** Offer a candidate, which the search keeps a pointer to. */
void nearest_offer(struct nearest *search, const char *candidate);
/**
 * Do that for a name of this host: a name that differs only in its digits is another device or
 * guest, not a mistyped one.
 */
void nearest_offer_name(struct nearest *search, const char *candidate);
/**
 * The candidate that is nearest, if it shares at least half of the name's bytes and no other
 * candidate is as near; else NULL.
 */
const char *nearest_only(const struct nearest *search);

#endif
