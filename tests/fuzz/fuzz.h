/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FUZZ_H
#define VFCTL_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* One parser under test: takes any bytes, returns 0, stops the program when it is wrong.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                            \
	do {                                                                             \
		if (!(condition))                                                        \
			abort();                                                         \
	} while (0)

#endif
