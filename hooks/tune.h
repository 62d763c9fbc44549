/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HOOKS_TUNE_H
#define HOOKS_TUNE_H

/*
 * The hook's program under this name, with a domain's UUID as argument, runs as long as the guest
 * (hook/guest_tuning.h). It is the same file, because libvirt's AppArmor profile permits only
 * programs in the directory of hooks.
 */
#define TUNE_PROGRAM "vfctl-guest-tuning"

/*
 * Start it as a separate process: no process waits for it, and it keeps no descriptor of this
 * process open.
 */
void tune_detached(const char *uuid);
/* Run as that process. Returns its exit status. */
int tune_guest(const char *uuid);

#endif
