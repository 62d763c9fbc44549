// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz.h"
#include "core/context.h"
#include "core/guest.h"
#include "facts/guest_spec.h"
#include "spec/doc.h"

/* As metadata of a domain: JSON or lines. What is read from it is read from its JSON again. */
static void read_back(struct vfctl_ctx *ctx, const char *data, size_t size)
{
	struct vfctl_guest *guest = NULL, *again = NULL;
	char *text = strndup(data, size), *json;

	if (guest_spec_parse(ctx, text, &guest) == 0) {
		json = doc_json(guest->doc);
		FUZZ_CHECK(guest_spec_parse(ctx, json, &again) == 0 &&
			   strcmp(again->name, guest->name) == 0 && again->vf_count == guest->vf_count);
		free(json);
	}
	vfctl_guest_free(again);
	vfctl_guest_free(guest);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vfctl_guest *guest = NULL;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_guest_parse(ctx, "fuzz", (const char *)data, size, &guest) == 0)
		FUZZ_CHECK(vfctl_guest_name_valid(guest->name) && guest->vcpus &&
			   vfctl_guest_vf_total(guest) <= VFCTL_GUEST_VFS_MAX);
	else
		FUZZ_CHECK(!guest && *vfctl_ctx_error(ctx));
	vfctl_guest_free(guest);
	read_back(ctx, (const char *)data, size);
	vfctl_ctx_free(ctx);
	return 0;
}
