/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_ORACLE_SPLIT_H
#define TESTS_ORACLE_SPLIT_H

#include "instance.h"

#define MIB (UINT64_C(1) << 20)
#define HUGE_BYTES (2 * MIB)

/* A small host and one or two guests of cells: auto, made from a seed. Memory is in MiB. */
void split_make(struct instance *in, uint64_t seed);

struct split_answer {
	unsigned placed;
	/* Of a single guest that is placed. */
	bool local;
	unsigned distance;
};

/* All splits over all nodes; the CPUs, the memory and the VFs each by brute force. */
void split_solve(const struct instance *in, struct split_answer *ret);

#endif
