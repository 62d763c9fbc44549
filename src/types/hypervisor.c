// SPDX-License-Identifier: GPL-2.0-or-later
#include "types/hypervisor.h"

#include <stdlib.h>

void vfctl_domain_info_clear(struct vfctl_domain_info *domain)
{
	free(domain->name);
	free(domain->xml);
	*domain = (struct vfctl_domain_info){0};
}

void vfctl_domain_infos_free(struct vfctl_domain_info *domains, size_t count)
{
	for (size_t i = 0; domains && i < count; i++)
		vfctl_domain_info_clear(&domains[i]);
	free(domains);
}
