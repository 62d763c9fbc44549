/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_REMEDIES_H
#define VFCTL_PLACEMENT_REMEDIES_H

#include "placement/explain/refuse.h"

/* What the files of remedies share. */

/* Add a remedy that helps; @line says it. */
void remedy_add(struct refusal *f, const struct vfctl_remedy *remedy, struct buf *line);
/* Are there steps and room for another remedy? */
bool remedies_may_go_on(const struct refusal *f);
/* Add the remedy of one change of the host or of another guest; @line says it. */
void tell_remedy_of_host(struct refusal *f, const struct change *change, struct buf *line);
/* Move the smallest guest that has somewhere else to go, if the refused one then fits. */
void remedy_by_move(struct refusal *f);
/* Leave the smallest guest of the batch out in whose place it fits. */
void remedy_by_leaving(struct refusal *f);

#endif
