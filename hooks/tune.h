/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HOOKS_TUNE_H
#define HOOKS_TUNE_H

/*
 * The hook's program under this name, with a domain's UUID as its argument, stays beside the guest
 * as long as that runs (core/guest_tuning.h). The same file: libvirt's AppArmor profile lets
 * nothing be run but what lies among the hooks.
 */
#define TUNE_PROGRAM "vfctl-guest-tuning"

/* Start that, on its own: nobody waits for it, and it holds nothing of ours open. */
void tune_detached(const char *uuid);
/* Be that. Its exit status. */
int tune_guest(const char *uuid);

#endif
