/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_DOMAINS_H
#define VFCTL_FACTS_SNAPSHOT_DOMAINS_H

#include "base/ctx.h"
#include "base/util.h"
#include "core/domain.h"
#include "core/hypervisor.h"

/*
 * libvirt's domains with host devices, from the files that it keeps: definitions below
 * /etc/libvirt/qemu, running domains with their process below /run/libvirt/qemu. Read by
 * the hook as well, which may not call libvirt, and by commands that hold a lock, which
 * must not: libvirt waits for the hook, and the hook for the lock.
 */
struct known_domain {
	char name[256];
	char uuid[37];
	int pid; /* of its QEMU; 0: this is a definition */
	struct vfctl_bdf *devices;
	size_t device_count;
	bool noted; /* it has metadata of ours, and that can be read */
	struct vfctl_vf_attrs *values; /* MACs and GUIDs of its VFs, by the metadata and the devices */
	size_t value_count;
	char *unread; /* what could not be read of it, in words; NULL: nothing */
};

#define LIBVIRT_DEFINITIONS "/etc/libvirt/qemu"
#define LIBVIRT_RUNNING "/run/libvirt/qemu"

struct known_domains {
	struct known_domain *v; /* a running domain has two rows when it is defined too */
	size_t count;
	/*
	 * The first file or directory that is there and could not be read; NULL: none. One that can
	 * be read and holds what vfctl does not understand is a domain with @unread.
	 */
	char *unread;
};

/* The same from the hypervisor itself. */
int known_domains_ask(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	struct known_domains **ret);
/* -ENOMEM is the only failure: the rest is @unread. */
int known_domains_read(struct vfctl_ctx *ctx, struct known_domains **ret);
/* The process of the running domain of that status file, if it lives; else 0. */
int known_domain_pid(struct vfctl_ctx *ctx, const char *dir, const char *name);
/*
 * The running domain of that name or UUID, with its metadata, and the process of its QEMU. -ENOENT
 * when none runs; -EACCES when libvirt's files cannot be read.
 */
int known_domain_find_running(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_domain_intent *ret, int *ret_pid);
void known_domains_free(struct known_domains *domains);
DEFINE_FREEP(struct known_domains, known_domains_free)

bool known_domain_has(const struct known_domain *domain, const struct vfctl_bdf *bdf);
/*
 * What a domain takes, as far as vfctl understands its XML: vfctl_domain_read() that leaves out what it
 * cannot read, and notes the first of that in @unread.
 */
int known_domain_parse(struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret);
/* The first domain that could be read in part only, or NULL. */
const struct known_domain *known_domains_first_unread(const struct known_domains *domains);
/* Does the domain of that UUID run? */
bool known_domains_runs(const struct known_domains *domains, const char *uuid);

#endif
