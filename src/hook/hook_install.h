/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_HOOK_INSTALL_H
#define VFCTL_HOOK_HOOK_INSTALL_H

#include "base/op.h"

/*
 * op_hook_program  the hook's path  the program that is copied there, or "" for none
 * op_hook_reload   -                "seen": libvirt's daemon was reloaded
 */
extern const struct op_type op_hook_program, op_hook_reload;

#endif
