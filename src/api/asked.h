/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_API_ASKED_H
#define VFCTL_API_ASKED_H

#include "api/options.h"
#include "base/cpuset.h"
#include "base/ctx.h"
#include "base/planning.h"
#include "base/vfattr.h"
#include "types/tuning.h"
#include "vfctl/change.h"

/*
 * The options of a call. Strings point into the caller's options. Numbers and words that are not
 * given are 0.
 */
struct asked {
	const char *host_yaml, *libvirt;
	bool write;
	struct vfctl_cpuset reserve;
	uint32_t driver; /* enum vfctl_vf_driver */
	bool keep_identities;
	const char *guid_pool, *mac_pool, *pkey, *ignore_definitions;
	bool live, config;
	const char *profile, *template_name;
	bool force, nvram, managed_save, snapshots_metadata;
	const char *pf, *vf;
	uint32_t count, wait_s;
	uint32_t form; /* enum vfctl_vf_form */
	bool ensure, undo, dry_run, accept, trust_metadata;
	struct vfctl_vf_attrs attrs;	/* of calls that take VF attributes */
	struct vfctl_coalesce coalesce; /* of calls that take settings of ethtool -C */
};

/* Read @options, which may be NULL. Every error is marked as a mistake of the caller. */
int asked_read(struct vfctl_ctx *ctx, enum api_call call, const char *const options[],
	struct asked *ret);

/* Finish a plan: mark the change as a dry run if it is one, and return it. @r is passed on. */
int plan_made(int r, bool dry_run, struct vfctl_change *change, struct vfctl_change **ret);

/* Copy @text into @buf as vfctl_pf_get() does; -ENODATA if it is NULL or empty. */
int give_text(const char *text, char *buf, size_t size);

/*
 * Read a template by its name or path; free() both results. If @name is NULL, the results stay
 * unchanged.
 */
int template_read(struct vfctl_ctx *ctx, const char *name, char **ret_text, char **ret_path);

#endif
