// SPDX-License-Identifier: GPL-2.0-or-later
/* A model that is taken passes its own checks, and comes back from its text the same. */
#include <string.h>

#include "base/util.h"
#include "fuzz.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

static void check_round_trip(struct vfctl_ctx *ctx, const struct vfctl_host_model *model)
{
	struct vfctl_host_model *again = NULL;
	_free_ char *once = vfctl_model_format(model), *twice = NULL;

	FUZZ_CHECK(once);
	FUZZ_CHECK(vfctl_model_parse(ctx, "again", once, strlen(once), &again) == 0);
	twice = vfctl_model_format(again);
	FUZZ_CHECK(twice && strcmp(once, twice) == 0);
	vfctl_model_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vfctl_host_model *model = NULL;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_model_parse(ctx, "fuzz", (const char *)data, size, &model) < 0) {
		FUZZ_CHECK(!model && *vfctl_ctx_error(ctx));
	} else {
		FUZZ_CHECK(vfctl_model_check(ctx, model) == 0);
		FUZZ_CHECK(vfctl_topology_check(ctx, model->topology) == 0);
		check_round_trip(ctx, model);
	}
	vfctl_model_free(model);
	vfctl_ctx_free(ctx);
	return 0;
}
