// SPDX-License-Identifier: GPL-2.0-or-later
#include "attr_args.h"

#include <string.h>

int attr_arg(struct invocation *in, const char *word, struct vfctl_vf_attrs *io)
{
	const char *equals = strchr(word, '=');
	char key[32];

	if (!equals && vfctl_vf_attr_name(word))
		return usage(in, "an attribute is given as %s=VALUE, in one word",
			vfctl_vf_attr_name(word));
	if (!equals || (size_t)(equals - word) >= sizeof(key))
		return usage(in, "'%s' is not ATTRIBUTE=VALUE", word);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	if (vfctl_vf_attrs_parse(in->ctx, key, equals + 1, io) < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	return 0;
}
