// SPDX-License-Identifier: GPL-2.0-or-later
/* Every imported value is an identity, and every lease has an owner. */
#include <string.h>

#include "types/idrange.h"
#include "fuzz.h"
#include "ids/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct id_rows rows = {0};
	struct vfctl_ctx *ctx;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (id_import_parse(ctx, "fuzz", (const char *)data, size, &rows) < 0)
		FUZZ_CHECK(!rows.v && *vfctl_ctx_error(ctx));
	for (size_t i = 0; i < rows.count; i++) {
		const struct vfctl_id *id = &rows.v[i];

		FUZZ_CHECK(rows.lines[i] >= 1);
		if (id->state == VFCTL_ID_RESTING)
			continue; /* a bare value: whether it is in a pool says if it is any */
		FUZZ_CHECK(!id_fault(id->kind, id->value));
		FUZZ_CHECK(id->state != VFCTL_ID_LEASED || (id->owner.device[0] &&
			(id->owner.domain_uuid[0] || id->owner.host[0])));
	}
	id_rows_clear(&rows);
	vfctl_ctx_free(ctx);
	return 0;
}
