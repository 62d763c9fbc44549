/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_GUEST_SPEC_H
#define VFCTL_FACTS_GUEST_SPEC_H

#include "base/ctx.h"
#include "types/guest.h"

/*
 * A guest's file in the metadata of its domain, as JSON, which the reader of files reads. An
 * administrator, or another program, may have edited it.
 */

/*
 * Read it from the domain XML @xml.
 * @param ret  NULL: the metadata has none, because the guest does not come from a file.
 * @return 0; -EBADMSG it is not a valid guest; -EINVAL @xml is not a domain; -ENOMEM.
 */
int guest_spec_read(struct vfctl_ctx *ctx, const char *xml, struct vfctl_guest **ret);
/* Read the text of the element. -EBADMSG it is not JSON, or not a valid guest. */
int guest_spec_parse(struct vfctl_ctx *ctx, const char *text, struct vfctl_guest **ret);

/* Write the file of @guest, which must have one, into the metadata. @ret_xml: the whole domain. */
int guest_spec_write(struct vfctl_ctx *ctx, const char *xml, const struct vfctl_guest *guest,
	char **ret_xml);

/* For @template_hash of a guest; never 0. */
uint64_t guest_template_hash(const char *text);

#endif
