// SPDX-License-Identifier: GPL-2.0-or-later
/* What host.yaml declares with bridge: is in effect only while vfctl monitor --bridge runs. */
#include "checks/findings.h"

#include "base/ctx.h"
#include "tuning/bridge_record.h"

static const char *name_of(const struct vfctl_pf_spec *pf)
{
	for (size_t i = 0; i < ARRAY_SIZE(pf->names); i++)
		if (pf->names[i])
			return pf->names[i];
	if (pf->driver)
		return pf->driver;
	return pf->serial ? pf->serial : "a PF";
}

int vfctl_bridge_missing(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, char **ret)
{
	const struct vfctl_pf_spec *first = NULL;
	size_t count = 0;

	*ret = NULL;
	for (size_t i = 0; spec && i < spec->pf_count; i++) {
		if (spec->pfs[i].bridge_mode == VFCTL_BRIDGE_OFF)
			continue;
		first = first ? first : &spec->pfs[i];
		count++;
	}
	if (!count || vfctl_bridge_is_followed(ctx) != 0)
		return 0;
	*ret = count == 1
		? str_format("host.yaml declares bridge: %s for %s, but vfctl monitor --bridge does not "
			"run", first->bridge_mode == VFCTL_BRIDGE_LEARNT ? "learnt" : "guests",
			name_of(first))
		: str_format("host.yaml declares bridge: for %zu PFs such as %s, but vfctl monitor "
			"--bridge does not run", count, name_of(first));
	return *ret ? 0 : ctx_oom(ctx);
}
