// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that are expected next. */
#include "facts/model/model.h"

int model_read_typical(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_host_model *m)
{
	if (!spec || !spec->typical_count)
		return 0;
	memcpy(m->typical, spec->typical, sizeof(m->typical));
	m->typical_count = spec->typical_count;
	m->typical_why = strdup("host.yaml");
	return m->typical_why ? 0 : ctx_oom(ctx);
}
