/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CPUSET_H
#define VFCTL_BASE_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The library supports host CPUs and NUMA nodes with the numbers 0 .. VFCTL_CPU_MAX - 1. */
#define VFCTL_CPU_MAX 4096

/** A set of CPU (or node) numbers. A plain value; zero-initialised it is empty. */
struct vfctl_cpuset {
	uint64_t word[VFCTL_CPU_MAX / 64];
};

/**
 * Read the kernel's list form, "0-3,8,10-11". Empty text is the empty set; white space at the ends
 * is allowed. @return 0; -EINVAL for anything else (a reversed range included); -ERANGE for a
 * number of VFCTL_CPU_MAX or more.
 */
int vfctl_cpuset_parse(const char *text, struct vfctl_cpuset *ret_set);
/**
 * Print a set in list form into @p buf of @p size bytes.
 * @return the length of the whole text, as snprintf(): a result >= @p size means that it was
 * truncated.
 */
size_t vfctl_cpuset_format(const struct vfctl_cpuset *set, char *buf, size_t size);

void vfctl_cpuset_add(struct vfctl_cpuset *set, unsigned cpu);
void vfctl_cpuset_remove(struct vfctl_cpuset *set, unsigned cpu);
bool vfctl_cpuset_has(const struct vfctl_cpuset *set, unsigned cpu);
bool vfctl_cpuset_empty(const struct vfctl_cpuset *set);
unsigned vfctl_cpuset_count(const struct vfctl_cpuset *set);
/** Smallest member >= @p from, or -1. for (int c = next(s, 0); c >= 0; c = next(s, c + 1)) */
int vfctl_cpuset_next(const struct vfctl_cpuset *set, unsigned from);
/** a |= b */
void vfctl_cpuset_or(struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
/** a &= b */
void vfctl_cpuset_and(struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
/** a &= ~b */
void vfctl_cpuset_andnot(struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
bool vfctl_cpuset_intersects(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
/** True when every member of @p a is in @p b. */
bool vfctl_cpuset_within(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b);

#endif
