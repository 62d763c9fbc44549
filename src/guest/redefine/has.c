// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/redefine/has.h"

#include <errno.h>

#include "domain/definition.h"
#include "facts/guest_spec.h"
#include "ids/owner.h"

int domain_has_read(struct vfctl_ctx *ctx, const char *xml, enum has_source source,
	struct domain_has *io)
{
	size_t len = strlen(xml);
	int r = 0;

	if (source == HAS_METADATA)
		return vfctl_domain_metadata_read(ctx, xml, len, &io->intent);
	if (source == HAS_ALL) {
		r = vfctl_domain_read(ctx, xml, &io->parsed);
		if (r == 0)
			r = guest_spec_read(ctx, xml, &io->asked);
		io->asked_unread = r == -EBADMSG;
		r = ctx_ignore_error(ctx, r, -EBADMSG);
	}
	return r < 0 ? r : vfctl_domain_intent_read(ctx, xml, len, source == HAS_DEVICES, &io->intent);
}

int domain_has_place(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_topology *topology,
	struct domain_has *io)
{
	return vfctl_domain_placement(ctx, xml, topology, &io->place);
}

void domain_has_clear(struct domain_has *has)
{
	vfctl_parsed_domain_free(has->parsed);
	vfctl_domain_placement_free(has->place);
	vfctl_guest_free(has->asked);
}

bool pool_value_of(const struct vfctl_vf_attrs *attrs, enum vfctl_id_kind *ret_kind,
	uint64_t *ret_value)
{
	bool guid = attrs->mask & VFCTL_ATTR_PORT_GUID;

	if (!guid && !(attrs->mask & VFCTL_ATTR_MAC))
		return false;
	*ret_kind = guid ? VFCTL_ID_GUID : VFCTL_ID_MAC;
	*ret_value = guid ? attrs->port_guid : mac_number(&attrs->mac);
	return *ret_value != 0;
}
