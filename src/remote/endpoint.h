/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_ENDPOINT_H
#define VFCTL_REMOTE_ENDPOINT_H

#include <stdint.h>

enum endpoint_kind { ENDPOINT_HERE, ENDPOINT_NETNS, ENDPOINT_SSH, ENDPOINT_GUEST };

/* Where programs run, and the interface that is set or measured there. */
struct endpoint {
	char *name;
	enum endpoint_kind where;
	char *at;      /* the namespace, domain, or [USER@]HOST or ssh://[USER@]HOST:PORT; NULL: here */
	char *device;  /* network device; NULL: not stated */
	char *rdma;    /* RDMA device, for perftest; NULL: not stated */
	char *address; /* by which the other end reaches it; NULL: not stated */
	char *cpus;    /* what its programs run on, "0-3"; NULL: anywhere */
	char *ssh_config; /* for ssh -F; NULL: the user's own */
	uint32_t gid_index; /* UINT32_MAX: the program's own choice */
};

#endif
