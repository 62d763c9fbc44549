// SPDX-License-Identifier: GPL-2.0-or-later
/* Identify a PF independently of its slot. */
#include "sriov/inventory.h"

#include <stdio.h>

#include "base/util.h"

bool pf_is_another(const struct vfctl_pf *pf, const char *port_id)
{
	return pf->port_id[0] && port_id[0] && !str_eq(pf->port_id, port_id);
}

char *port_text(const char *port_id, char buf[PORT_WORDS])
{
	snprintf(buf, PORT_WORDS, "%s %s", strlen(port_id) < VFCTL_MAC_TEXT ? "MAC" : "GUID", port_id);
	return buf;
}

const struct vfctl_pf *inventory_find_port(const struct vfctl_inventory *inventory,
	const char *port_id)
{
	for (size_t i = 0; port_id[0] && i < inventory->pf_count; i++)
		if (str_eq(inventory->pfs[i].port_id, port_id))
			return &inventory->pfs[i];
	return NULL;
}
