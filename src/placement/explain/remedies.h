/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_REMEDIES_H
#define VFCTL_PLACEMENT_REMEDIES_H

#include "placement/explain/refuse.h"

/* Functions that the files of remedies share. */

/* Add a remedy that helps; @line describes it. */
void remedy_add(struct refusal *f, const struct vfctl_remedy *remedy, struct buf *line);
/* Whether steps and space for another remedy are left. */
bool remedies_may_go_on(const struct refusal *f);
/* Add the remedy of one change of the host or of another guest; @line describes it. */
void tell_remedy_of_host(struct refusal *f, const struct change *change, struct buf *line);
/* Propose to move the smallest guest that fits elsewhere, if the refused one then fits. */
void remedy_by_move(struct refusal *f);
/* Propose to leave out the smallest guest of the batch in whose place it fits. */
void remedy_by_leaving(struct refusal *f);

#endif
