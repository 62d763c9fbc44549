// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/guest_spec.h"

#include <errno.h>

#include "base/json.h"
#include "domain/domain.h"
#include "spec/doc.h"

int guest_spec_parse(struct vfctl_ctx *ctx, const char *text, struct vfctl_guest **ret)
{
	_free_ char *why = NULL;
	/* The reader takes any YAML, but vfctl writes JSON only. */
	int r = *text == '{' ? vfctl_guest_parse(ctx, "its metadata", text, strlen(text), ret)
		: ctx_fail(ctx, -EBADMSG, "the guest in its metadata is not JSON");

	if (r == 0 || r == -ENOMEM)
		return r;
	/* The user who runs the command did not cause this. */
	why = steal(ctx->error);
	return ctx_fail(ctx, -EBADMSG, "%s", why ? why : "its metadata is not a valid guest");
}

int guest_spec_read(struct vfctl_ctx *ctx, const char *xml, struct vfctl_guest **ret)
{
	uint64_t template_hash;
	_free_ char *text = NULL;
	int r = metadata_spec(ctx, xml, &text, &template_hash);

	*ret = NULL;
	if (r == 0 && text)
		r = guest_spec_parse(ctx, text, ret);
	if (*ret)
		(*ret)->template_hash = template_hash;
	return r;
}

int guest_spec_write(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_guest *guest,
	char **ret_xml)
{
	_free_ char *json = doc_json(guest->doc);

	return json ? metadata_set_spec(ctx, xml, json, guest->template_hash, ret_xml) : ctx_oom(ctx);
}

uint64_t guest_template_hash(const char *text)
{
	uint64_t hash = fnv1a(FNV1A_START, text, strlen(text));

	return hash ? hash : 1;
}
