/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CLEANUP_H
#define VFCTL_BASE_CLEANUP_H

#include <stdlib.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
/** For _cleanup_(FREEp) of a `TYPE *`: FREE takes the pointer, and NULL. */
#define DEFINE_FREEP(type, free)                                                         \
	static inline void free##p(type **pp)                                            \
	{                                                                                \
		free(*pp);                                                               \
	}

/**
 * Move the value of a cleaned-up variable, a pointer or a struct, to the caller, who then owns it.
 */
#define steal(p)                                                                         \
	({                                                                               \
		typeof(p) *pp_ = &(p);                                                   \
		typeof(p) v_ = *pp_;                                                     \
		*pp_ = (typeof(p)){0};                                                   \
		v_;                                                                      \
	})

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}
#define _free_ _cleanup_(free_ptr)

#endif
