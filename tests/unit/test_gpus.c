// SPDX-License-Identifier: GPL-2.0-or-later
/* The distance between a GPU and a PF by their paths in the PCI tree, and GPUs in a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "pci/device.h"
#include "topology/picture_style.h"

#define DEPTH 8

/* A path as text, "15:01.0 16:00.0"; all in domain 0. */
static size_t read_path(const char *text, struct vfctl_bdf path[DEPTH])
{
	size_t count = 0;
	int used = 0;
	char address[8], full[16];

	while (count < DEPTH && sscanf(text, "%7s%n", address, &used) == 1) {
		snprintf(full, sizeof(full), "0000:%s", address);
		assert_int_equal(vfctl_bdf_parse(full, &path[count++]), 0);
		text += used;
	}
	return count;
}

static void paths_have_a_distance(void **state)
{
	static const struct {
		const char *gpu, *pf;
		enum vfctl_pci_distance distance;
	} cases[] = {
		/* Two functions of one card, and a conventional bridge with both behind it. */
		{"15:01.0 17:00.0", "15:01.0 17:00.1", VFCTL_PCI_PIX},
		{"15:01.0 16:00.0 17:01.0", "15:01.0 16:00.0 17:02.0", VFCTL_PCI_PIX},
		/* A switch: upstream port 16:00.0, its downstream ports on bus 17. */
		{"15:01.0 16:00.0 17:01.0 18:00.0", "15:01.0 16:00.0 17:02.0 19:00.0", VFCTL_PCI_PIX},
		/* The GPU is behind a second switch, and both are behind switches of their own. */
		{"15:01.0 16:00.0 17:01.0 18:00.0 19:01.0 1a:00.0", "15:01.0 16:00.0 17:02.0 1b:00.0",
			VFCTL_PCI_PXB},
		{"15:01.0 16:00.0 17:01.0 18:00.0 19:01.0 1a:00.0",
			"15:01.0 16:00.0 17:02.0 1b:00.0 1c:01.0 1d:00.0", VFCTL_PCI_PXB},
		/* Nothing in common: the host bridge decides. */
		{"15:01.0 16:00.0", "15:02.0 17:00.0", VFCTL_PCI_DISTANCE_UNKNOWN},
		{"", "15:02.0 17:00.0", VFCTL_PCI_DISTANCE_UNKNOWN},
		{"", "", VFCTL_PCI_DISTANCE_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_bdf a[DEPTH], b[DEPTH];
		size_t na = read_path(cases[i].gpu, a), nb = read_path(cases[i].pf, b);

		if (pci_path_distance(a, na, b, nb) != cases[i].distance ||
			pci_path_distance(b, nb, a, na) != cases[i].distance)
			fail_msg("%s and %s: %s", cases[i].gpu, cases[i].pf,
				vfctl_pci_distance_name(pci_path_distance(a, na, b, nb)));
	}
}

static const char model[] = "{\"nodes\": [{\"id\": 0, \"cpus\": \"0\", \"memory_bytes\": 1}],"
	"\"cores\": [{\"cpus\": \"0\", \"node\": 0}],"
	"\"pfs\": [{\"address\": \"0000:17:00.0\", \"num_vfs\": 0, \"max_vfs\": 1}],"
	"\"gpus\": [{\"address\": \"0000:18:00.0\", \"vendor\": \"NVIDIA\", \"driver\": \"nvidia\", \"node\": 0,"
	"\"pfs\": [{\"pf\": \"0000:17:00.0\", \"distance\": \"PXB\"}]},"
	"{\"address\": \"0000:19:00.0\", \"pfs\": [{\"pf\": \"0000:17:00.0\", \"distance\": \"PIX\"}]},"
	"{\"address\": \"0000:20:00.0\", \"pfs\": [{\"pf\": \"0000:17:00.0\", \"distance\": \"SYS\"}]}]}";

static void models_have_gpus(void **state)
{
	_free_ char *text = NULL, *again = NULL;
	_buf_ struct buf line = {0};
	struct vfctl_host_model *m = NULL, *n = NULL;
	struct vfctl_bdf other;
	struct vfctl_ctx *ctx;

	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	if (vfctl_model_parse(ctx, "m", model, strlen(model), &m) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	assert_int_equal(m->gpu_count, 3);
	assert_string_equal(m->gpus[0].vendor, "NVIDIA");
	assert_null(m->gpus[1].vendor);
	assert_int_equal(m->gpus[1].node, VFCTL_NODE_NONE);
	assert_int_equal(vfctl_gpu_distance(&m->gpus[0], &m->pfs[0].bdf), VFCTL_PCI_PXB);
	assert_int_equal(vfctl_bdf_parse("0000:99:00.0", &other), 0);
	assert_int_equal(vfctl_gpu_distance(&m->gpus[0], &other), VFCTL_PCI_DISTANCE_UNKNOWN);
	style_pf_gpus(m, &m->pfs[0], &line); /* the near ones, the nearest first */
	assert_string_equal(line.data, "GPUs: PIX 0000:19:00.0, PXB 0000:18:00.0");
	text = vfctl_model_format(m);
	assert_int_equal(vfctl_model_parse(ctx, "again", text, strlen(text), &n), 0);
	again = vfctl_model_format(n);
	assert_string_equal(text, again);
	vfctl_model_free(m);
	vfctl_model_free(n);
	vfctl_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_have_a_distance),
		cmocka_unit_test(models_have_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
