/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_VFCTL_H
#define LIBVFCTL_VFCTL_H

/**
 * @file
 * All of libvfctl: SR-IOV virtual functions (VFs) for KVM guests. One include for all topics; a
 * program may also include the headers of the topics that it needs.
 *
 * Rules that hold for every function:
 *
 * - Functions that can fail return an int: 0 or a negative errno value. They store results through
 *   parameters named ret or ret_x; a failure leaves these unchanged. vfctl_ctx_error() returns the
 *   message of the failure. Their comments list the errors as "-ERRNO: meaning".
 * - Absent (-ENOENT), unsupported (-EOPNOTSUPP), unreadable (-EACCES) and busy (-EBUSY) are
 *   distinct errors. Every function may return -ENOMEM.
 * - Objects are opaque. Getters read them; what a getter returns is owned by the object unless its
 *   comment says otherwise, and lives as long as the object. Functions that free accept NULL.
 * - Strings are UTF-8, but strings from the kernel or libvirt are passed on unchanged. The caller
 *   frees the strings that it owns with free(3).
 * - Options are a NULL-terminated array of "KEY=VALUE" strings; the form "--KEY=VALUE" of the
 *   command line is accepted too. NULL means no options. Switches take the values on and off.
 *   vfctl_option_at() lists the keys of each call. An unknown key makes the call fail with -EINVAL,
 *   and the message lists the valid keys.
 * - Only one thread at a time may use a context and the objects that were made with it. Different
 *   contexts are independent of each other.
 * - The library never prints, never exits and does not read the environment.
 */

#include "vfctl/capture.h"
#include "vfctl/change.h"
#include "vfctl/context.h"
#include "vfctl/doctor.h"
#include "vfctl/domain.h"
#include "vfctl/guest.h"
#include "vfctl/host.h"
#include "vfctl/placement.h"
#include "vfctl/plan.h"
#include "vfctl/recover.h"
#include "vfctl/session.h"

#endif
