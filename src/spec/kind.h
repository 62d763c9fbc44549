/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_KIND_H
#define VFCTL_SPEC_KIND_H

#include <stddef.h>

struct vfctl_ctx;

/** The kinds of YAML files. */
enum vfctl_spec_kind {
	VFCTL_SPEC_HOST,  /**< host.yaml (docs/reference/host-yaml.md) */
	VFCTL_SPEC_GUEST, /**< guest.yaml (docs/reference/guest-yaml.md) */
	VFCTL_SPEC_BENCH, /**< a plan of vfctl bench (docs/how-to/bench.md) */
};

/**
 * Find the kind of a file: the one that has most of its top-level keys.
 * @param file  its name, for messages.
 * @return 0; -EINVAL or -EILSEQ it is not YAML that vfctl can read; -ENOMSG its keys match no kind,
 * or two kinds equally well.
 */
int vfctl_spec_kind(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	enum vfctl_spec_kind *ret);

#endif
