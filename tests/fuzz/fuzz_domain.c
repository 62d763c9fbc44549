// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the definition of somebody's domain, for all that read or change one. */
#include <string.h>

#include "domain/definition.h"
#include "fuzz.h"

static const struct vfctl_domain_vf vf = {
	.bdf = {.bus = 0x3b, .function = 2},
	.pf = {.bus = 0x3b},
	.form = VFCTL_FORM_HOSTDEV,
};

static void read_parsed(struct vfctl_ctx *ctx, const char *xml)
{
	struct vfctl_parsed_domain *parsed = NULL;
	struct vfctl_domain_port port;

	if (vfctl_domain_read(ctx, xml, &parsed) < 0) {
		FUZZ_CHECK(!parsed && *vfctl_ctx_error(ctx));
		return;
	}
	FUZZ_CHECK(parsed->cell_count >= 1 && parsed->cell_count <= 256);
	FUZZ_CHECK(parsed->device_count <= VFCTL_DOMAIN_DEVICES_MAX);
	for (int node = -1; node < 3; node++)
		if (vfctl_domain_find_port(parsed, node, &port) == 0)
			FUZZ_CHECK(port.bus && port.cell_want < (int)parsed->cell_count);
	vfctl_parsed_domain_free(parsed);
}

static void read_placement(struct vfctl_ctx *ctx, const char *xml)
{
	struct vfctl_assignment *placed = NULL;
	struct vfctl_memlock memlock;

	if (vfctl_domain_placement(ctx, xml, NULL, &placed) == 0)
		FUZZ_CHECK(placed->cell_count >= 1 && placed->vcpu_count >= 1);
	vfctl_domain_placement_free(placed);
	if (vfctl_domain_memlock_read(ctx, xml, &memlock) == 0)
		vfctl_domain_memlock_need(&memlock, 0);
}

/* A VF that was added is in it, and can be taken out. */
static void change(struct vfctl_ctx *ctx, const char *xml)
{
	static struct vfctl_domain_intent intent;
	char *with = NULL, *without = NULL;
	bool found = false;

	if (vfctl_domain_metadata_add_vf(ctx, xml, "l", &vf, &with) < 0) {
		FUZZ_CHECK(!with && *vfctl_ctx_error(ctx));
		return;
	}
	if (vfctl_domain_metadata_read(ctx, with, strlen(with), &intent) == 0) {
		for (size_t i = 0; i < intent.vf_count; i++)
			found |= vfctl_bdf_compare(&intent.vfs[i].bdf, &vf.bdf) == 0;
		FUZZ_CHECK(found);
	}
	FUZZ_CHECK(vfctl_domain_metadata_remove_vf(ctx, with, &vf.bdf, &without) == 0);
	free(without);
	free(with);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct vfctl_ctx *ctx;

	if (!text || vfctl_ctx_new(&ctx) < 0) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	read_parsed(ctx, text);
	read_placement(ctx, text);
	change(ctx, text);
	free(text);
	vfctl_ctx_free(ctx);
	return 0;
}
