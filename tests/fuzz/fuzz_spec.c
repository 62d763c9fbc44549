// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/guest_spec.h"
#include "fuzz.h"
#include "spec/doc.h"
#include "spec/guest_yaml.h"

/* The YAML that an editor shows is the same document. */
static void edit(struct vfctl_ctx *ctx, const struct doc_node *doc)
{
	char *json = doc_json(doc), *yaml = doc_yaml(doc), *again = NULL;
	struct doc_node *read = NULL;

	/* The indentation of a deep document adds to its size. */
	FUZZ_CHECK(doc_parse(ctx, "yaml", yaml, strlen(yaml), SIZE_MAX, &read) == 0);
	again = doc_json(read);
	FUZZ_CHECK(strcmp(json, again) == 0);
	doc_free(read);
	free(again);
	free(yaml);
	free(json);
}

/* As metadata of a domain: what is read from it is read from its JSON again. */
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
	struct doc_node *doc = NULL;
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_guest_parse(ctx, "fuzz", (const char *)data, size, &guest) == 0)
		FUZZ_CHECK(vfctl_guest_name_valid(guest->name) && guest->vcpus &&
			   vfctl_guest_vf_total(guest) <= VFCTL_GUEST_VFS_MAX);
	else
		FUZZ_CHECK(!guest && *vfctl_ctx_error(ctx));
	if (doc_parse(ctx, "fuzz", (const char *)data, size, VFCTL_GUEST_FILE_MAX, &doc) == 0 &&
		doc->kind != DOC_SCALAR)
		edit(ctx, doc);
	doc_free(doc);
	vfctl_guest_free(guest);
	read_back(ctx, (const char *)data, size);
	vfctl_ctx_free(ctx);
	return 0;
}
