// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/ctx.h"
#include "types/hypervisor.h"

/* Whether a scheme such as "qemu+ssh" has that transport; @name "": whether it has no transport. */
static bool is_transport(const char *scheme, size_t len, const char *name)
{
	const char *plus = memchr(scheme, '+', len);

	return plus ? (size_t)(scheme + len - plus - 1) == strlen(name) && str_starts(plus + 1, name)
		    : !name[0];
}

/*
 * libvirt's drivers and transports: https://libvirt.org/uri.html. Without a host, only "+unix" and
 * no transport lead to this host for certain: "+ext" runs any command, "+ssh" what ssh's
 * configuration says.
 */
int vfctl_libvirt_check_uri(struct vfctl_ctx *ctx, const char *uri)
{
	const char *host = uri ? strstr(uri, "://") : NULL;
	size_t scheme = host ? (size_t)(host - uri) : 0;

	if (!uri)
		return 0;
	if (!host)
		return ctx_usage_error(ctx, -EINVAL, "'%.128s' is not a URI of libvirt such as "
			"qemu:///system (an alias of libvirt.conf may name another host, so vfctl accepts "
			"none)", uri);
	if (host[3] == '/' && (is_transport(uri, scheme, "") || is_transport(uri, scheme, "unix")))
		return 0;
	return ctx_usage_error(ctx, -EINVAL, "%.256s is the libvirt of another host, but vfctl reads PFs, "
		"CPUs and leases of this one; run vfctl there: ssh HOST vfctl ...", uri);
}
