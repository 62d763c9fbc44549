// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/store.h"

int id_store_open(struct vfctl_ctx *ctx, bool write, struct id_store **ret_store)
{
	return ctx->tables->open_local_ids(ctx, write, ret_store);
}

void id_store_closep(struct id_store **store)
{
	if (*store)
		(*store)->ops->close(*store);
}
