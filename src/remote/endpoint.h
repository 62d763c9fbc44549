/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_ENDPOINT_H
#define VFCTL_REMOTE_ENDPOINT_H

#include <stdint.h>

enum endpoint_kind { ENDPOINT_HERE, ENDPOINT_NETNS, ENDPOINT_SSH, ENDPOINT_GUEST };

/* Where programs run, and the interface that is configured or measured there. */
struct endpoint {
	char *name;
	enum endpoint_kind where;
	char *at;      /* the namespace, domain, [USER@]HOST or ssh://[USER@]HOST:PORT; NULL: this host */
	char *device;  /* network device; NULL: not stated */
	char *rdma;    /* RDMA device, for perftest; NULL: not stated */
	char *address; /* address for the other end; NULL: not stated */
	char *cpus;    /* CPUs for its programs, "0-3"; NULL: any */
	char *ssh_config; /* for ssh -F; NULL: the user's default */
	uint32_t gid_index; /* UINT32_MAX: the program chooses */
	uint32_t ib_port;   /* of the RDMA device, from 1; 0: the program's default, 1 */
};

#endif
