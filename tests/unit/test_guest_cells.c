// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.yaml: cells, shared vCPUs, and what VFs say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "types/guest.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static struct vfctl_ctx *ctx;

static struct vfctl_guest *read_guest(const char *text)
{
	struct vfctl_guest *guest = NULL;

	if (vfctl_guest_parse(ctx, "g.yaml", text, strlen(text), &guest) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return guest;
}

static void nothing_said_is_auto(void **state)
{
	struct vfctl_guest *g = read_guest("name: g\nvcpus: 4\nmemory: 1GiB\nvfs: [{pf: any}]\n");

	assert_null(g->cells);
	assert_int_equal(g->cells_max, 0);
	assert_int_equal(g->node, VFCTL_NODE_NONE);
	assert_int_equal(g->shared_vcpus, 0);
	assert_int_equal(g->memory_affinity, VFCTL_AFFINITY_REQUIRED);
	assert_int_equal(g->vfs[0].cell, VFCTL_CELL_ANY);
	assert_int_equal(g->vfs[0].affinity, VFCTL_AFFINITY_REQUIRED);
	assert_int_equal(g->vfs[0].anti_affinity, 0);
	vfctl_guest_free(g);
}

/* In whole vCPUs and whole pages, whatever order the keys come in. */
static void a_number_splits_evenly(void **state)
{
	struct vfctl_guest *g = read_guest(
		"cells: 3\nname: g\nvcpus: 7\nmemory: 5GiB\nhugepages: 1GiB\n");

	assert_int_equal(g->cell_count, 3);
	assert_int_equal(g->cells_max, 0);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(g->cells[k].vcpus, k ? 2 : 3);
		assert_int_equal(g->cells[k].memory_bytes, (k < 2 ? 2 : 1) * GIB);
		assert_int_equal(g->cells[k].node, VFCTL_NODE_NONE);
	}
	vfctl_guest_free(g);
	g = read_guest("cells: 1\nname: g\nvcpus: 7\nmemory: 5GiB\n");
	assert_null(g->cells);
	assert_int_equal(g->cells_max, 1);
	vfctl_guest_free(g);
	/* With base pages the first cell gets the odd remainder. */
	g = read_guest("cells: 2\nname: g\nvcpus: 2\nmemory: 1025MiB\nhugepages: none\n");
	assert_int_equal(g->cells[0].memory_bytes, 513 * MIB);
	assert_int_equal(g->cells[1].memory_bytes, 512 * MIB);
	vfctl_guest_free(g);
}

static void a_list_says_all(void **state)
{
	struct vfctl_guest *g = read_guest("name: g\ncells:\n"
		"  - {vcpus: 2, memory: 1GiB, node: 1}\n  - {vcpus: 4, memory: 3GiB, node: any}\n"
		"shared_vcpus: all\nnode: any\nwhole_l3: true\nmax_distance: 12\n"
		"memory_affinity: preferred\n"
		"vfs: [{pf: a, cell: 1, apart: r}, {pf: b, cell: each, apart: s, port: 2},\n"
		"  {pf: c, apart: r, affinity: socket}]\n");

	assert_int_equal(g->vcpus, 6);
	assert_int_equal(g->memory_bytes, 4 * GIB);
	assert_int_equal(g->shared_vcpus, 6);
	assert_int_equal(g->cells[0].node, 1);
	assert_int_equal(g->cells[1].node, VFCTL_NODE_NONE);
	assert_true(g->whole_l3 && !g->whole_node);
	assert_int_equal(g->max_distance, 12);
	assert_int_equal(g->memory_affinity, VFCTL_AFFINITY_PREFERRED);
	assert_int_equal(g->vfs[0].cell, 1);
	assert_int_equal(g->vfs[1].cell, VFCTL_CELL_EACH);
	assert_int_equal(g->vfs[1].port, 2);
	assert_int_equal(g->vfs[2].affinity, VFCTL_AFFINITY_SOCKET);
	assert_int_not_equal(g->vfs[0].anti_affinity, 0);
	assert_int_equal(g->vfs[0].anti_affinity, g->vfs[2].anti_affinity);
	assert_int_not_equal(g->vfs[0].anti_affinity, g->vfs[1].anti_affinity);
	vfctl_guest_free(g);
}

#define HEAD "name: g\nvcpus: 4\nmemory: 4GiB\n"

static void contradictions_have_a_place(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{HEAD "cells: 5\n", "g.yaml:4:8: cells: 5 cells for 4 vCPUs"},
		{HEAD "cells: 0\n", "cells: '0'"},
		{HEAD "cells: 65\n", "cells: '65'"},
		{HEAD "cells: many\n", "cells: 'many'"},
		{HEAD "cells: []\n", "cells: is empty"},
		{HEAD "cells: [{vcpus: 4}]\n", "cells[0].memory: the key is missing"},
		{HEAD "cells: [{memory: 1GiB}]\n", "cells[0].vcpus: the key is missing"},
		{HEAD "cells: [{vcpus: 0, memory: 1GiB}]\n", "cells[0].vcpus: '0'"},
		{HEAD "cells: [{vcpus: 4, memory: 1GB}]\n", "cells[0].memory: '1GB'"},
		{HEAD "cells: [{vcpus: 4, memory: 1GiB, nodes: 0}]\n", "cells[0].nodes: no such"},
		{HEAD "cells: [{vcpus: 4, memory: 4GiB, node: -1}]\n", "cells[0].node: '-1'"},
		{HEAD "cells: [{vcpus: 3, memory: 4GiB}]\n", "they have 3 vCPUs together"},
		{HEAD "cells: [{vcpus: 4, memory: 3GiB}]\n", "they have 3072 MiB together"},
		{HEAD "hugepages: 1GiB\ncells: [{vcpus: 4, memory: 4GiB}, {vcpus: 1, memory: 1MiB}]\n",
			"they have 5 vCPUs together"},
		{"name: g\nhugepages: 1GiB\ncells: [{vcpus: 4, memory: 1536MiB}]\n",
			"the memory of cell 0, 1536 MiB, is not a whole number of pages"},
		{"name: g\nhugepages: 1GiB\nvcpus: 4\nmemory: 2GiB\ncells: 3\n",
			"each needs a vCPU and a page of 1024 MiB"},
		{HEAD "shared_vcpus: 5\n", "shared_vcpus: 5 of 4 vCPUs"},
		{HEAD "shared_vcpus: some\n", "shared_vcpus: 'some'"},
		{HEAD "iothread_cores: 1\n", "the guest has no I/O threads"},
		{HEAD "max_distance: 9\n", "from 10 to 255"},
		{HEAD "memory_affinity: any\n", "it must be required or preferred"},
		{HEAD "vfs: [{pf: a, cell: 0}]\n", "vfs: entry 0 is for"},
		{HEAD "vfs: [{pf: a, cell: each}]\n", "state them under cells:"},
		{HEAD "cells: 2\nvfs: [{pf: a, cell: 2}]\n", "has 2 cells"},
		{HEAD "vfs: [{pf: a, affinity: near}]\n", "required, preferred, socket or any"},
		{HEAD "vfs: [{pf: a, port: 0}]\n", "vfs[0].port: '0'"},
		{HEAD "vfs: [{pf: a, apart: ''}]\n", "vfs[0].apart"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vfctl_guest *guest = NULL;

		assert_int_equal(vfctl_guest_parse(ctx, "g.yaml", cases[i].text,
			strlen(cases[i].text), &guest), -EINVAL);
		assert_null(guest);
		if (!strstr(vfctl_ctx_error(ctx), cases[i].message))
			fail_msg("'%s' lacks '%s'", vfctl_ctx_error(ctx), cases[i].message);
	}
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_is_auto),
		cmocka_unit_test(a_number_splits_evenly),
		cmocka_unit_test(a_list_says_all),
		cmocka_unit_test(contradictions_have_a_place),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
