/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_LIST_H
#define VFCTL_GUEST_LIST_H

#include "command.h"
#include "types/guest.h"

struct guest_list {
	struct vfctl_guest **v;
	size_t count;
};

void guest_list_clear(struct guest_list *list);
/* These return 0, or the exit status after they printed the reason. */
int guest_list_add(struct invocation *in, const char *path, struct guest_list *list);
/* Read all *.yaml of a directory. */
int guest_list_read(struct invocation *in, const char *dir, struct guest_list *list);

#endif
