/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_UEVENTS_H
#define VFCTL_UEVENTS_H

/*
 * The kernel's word that a device came, went or got another name. -1: it cannot be had here (a
 * network namespace without it); uevents_await() then only waits.
 */
int uevents_open(void);
/* Until something happened and it has become quiet again, or for @ms; 1 something did. */
int uevents_await(int fd, unsigned ms);

#endif
