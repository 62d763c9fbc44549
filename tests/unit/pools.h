/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_POOLS_H
#define TESTS_UNIT_POOLS_H

/* Pools of identities in a directory of the test: set up, and called as owner number N. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ids/ids.h"

#define NOW 1700000000
#define POOL(range, more) "guid-pools: [{name: p, ranges: ['" range "'], " more "}]"
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up_pools, tear_down_pools)

extern char pools_path[96];
extern struct vfctl_ctx *ctx;
extern struct vfctl_host_spec *spec;
extern struct vfctl_ids *ids;

int set_up_pools(void **state);
int tear_down_pools(void **state);
void close_pools(void);
/* Open the pools of a host.yaml; open_pools() fails the test where try_open() returns an error. */
int try_open(const char *yaml, bool write);
void open_pools(const char *yaml);

struct vfctl_id_owner owner(int n);
/* A value of the first pool; must_take() fails the test if there is none. */
int take(int n, uint64_t *ret);
uint64_t must_take(int n);
int claim(int n, uint64_t value);
struct vfctl_id_stats stats(void);

#endif
