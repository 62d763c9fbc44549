/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_DOMAINS_H
#define VFCTL_FACTS_SNAPSHOT_DOMAINS_H

#include "base/ctx.h"
#include "base/util.h"
#include "facts/snapshot/references.h"
#include "types/domain.h"
#include "types/hypervisor.h"

/*
 * libvirt's domains with host devices, from its files: definitions below /etc/libvirt/qemu, running
 * domains with their process below /run/libvirt/qemu. The hook reads them because it must not call
 * libvirt, and so do commands that hold a lock, because libvirt waits for the hook, and the hook
 * for the lock.
 */
/* A function that a domain names in another way than with <hostdev>. */
struct known_reference {
	struct vfctl_bdf bdf;
	enum vfctl_reference_form form;
	unsigned line;
};

struct known_domain {
	char name[256];
	char uuid[37];
	int pid; /* process id of its QEMU; 0: this is a definition */
	struct vfctl_bdf *devices;
	size_t device_count;
	struct known_reference *references; /* functions that it names in another way */
	size_t reference_count;
	char **networks; /* of a definition: libvirt networks of its interfaces; NULL if none */
	bool noted; /* it has readable metadata of vfctl */
	struct vfctl_vf_attrs *values; /* MACs and GUIDs of its VFs, from the metadata and the devices */
	size_t value_count;
	char *unread; /* what could not be read, as text; NULL: nothing */
};

#define LIBVIRT_DEFINITIONS "/etc/libvirt/qemu"
#define LIBVIRT_RUNNING "/run/libvirt/qemu"

struct known_domains {
	struct known_domain *v; /* a running domain that is also defined has two rows */
	size_t count;
	struct known_pool *pools; /* libvirt networks that give VFs to domains */
	size_t pool_count;
	/*
	 * The first file or directory that exists and could not be read; NULL if there is none. A
	 * readable file with contents that vfctl does not understand is a domain with @unread.
	 */
	char *unread;
};

/* Read them from the hypervisor instead. */
int known_domains_ask(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	struct known_domains **ret);
/* The only error is -ENOMEM: all others are recorded in @unread. */
int known_domains_read(struct vfctl_ctx *ctx, struct known_domains **ret);
/* The process of the running domain of that status file, if it is alive; else 0. */
int known_domain_pid(struct vfctl_ctx *ctx, const char *dir, const char *name);
/*
 * Find the running domain of that name or UUID, with its metadata, and the process of its QEMU.
 * -ENOENT if none runs; -EACCES if libvirt's files cannot be read.
 */
int known_domain_find_running(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_domain_intent *ret, int *ret_pid);
void known_domains_free(struct known_domains *domains);
DEFINE_FREEP(struct known_domains, known_domains_free)

/* Whether it names the function in any way but through a network. */
bool known_domain_has(const struct known_domain *domain, const struct vfctl_bdf *bdf);
/* The reference that names it; NULL: none does, or it is a <hostdev>. */
const struct known_reference *known_domain_reference(const struct known_domain *domain,
	const struct vfctl_bdf *bdf);
/* Whether QEMU gets the whole function: with a PF, all its VFs. */
bool known_domain_passes(const struct known_domain *domain, const struct vfctl_bdf *bdf);
/* The pool from which the domain takes a VF at its start and which has this VF; NULL if none. */
const struct known_pool *known_domain_pool(const struct known_domains *domains,
	const struct known_domain *domain, const struct vfctl_bdf *pf, const struct vfctl_bdf *vf);
/*
 * The resources that a domain takes, as far as vfctl understands its XML: like vfctl_domain_read(),
 * but what cannot be read is left out, and the first such part is recorded in @unread.
 */
int known_domain_parse(struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret);
/* The first domain that could be read only in part, or NULL. */
const struct known_domain *known_domains_first_unread(const struct known_domains *domains);
/* Whether the domain of that UUID runs. */
bool known_domains_runs(const struct known_domains *domains, const char *uuid);

#endif
