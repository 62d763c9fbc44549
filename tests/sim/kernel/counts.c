// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How often a command reads each thing: with $SIM_COUNTS the counts are written to that file when the
 * command ends. The linker puts these functions in place of the real ones (--wrap in CMakeLists.txt).
 */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>

#include "domain/xml.h"
#include "facts/snapshot/domains.h"
#include "sriov/inventory.h"
#include "state/sqlite.h"

static unsigned inventories, pfs, stores, domains, streams, trees;

__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("SIM_COUNTS");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "inventory %u, single PF %u, store opened %u, domains read %u, XML parsed %u + %u\n",
		inventories, pfs, stores, domains, streams, trees);
	fclose(file);
}

#define WRAP(type, name, count, params, args)  \
	type __real_##name params;             \
	type __wrap_##name params;             \
	type __wrap_##name params              \
	{                                      \
		(count)++;                     \
		return __real_##name args;     \
	}

WRAP(int, vfctl_inventory_read, inventories,
	(struct vfctl_ctx *ctx, const char *only, struct vfctl_inventory **ret), (ctx, only, ret))
WRAP(int, inventory_read_with_values, inventories,
	(struct vfctl_ctx *ctx, const char *only, struct vfctl_inventory **ret), (ctx, only, ret))
WRAP(int, inventory_read_pf, pfs,
	(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_inventory **ret), (ctx, bdf, ret))
WRAP(int, inventory_read_values, pfs,
	(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct vfctl_inventory **ret), (ctx, bdf, ret))
WRAP(int, db_open, stores, (struct vfctl_ctx *ctx, const char *path, bool write, struct db **ret),
	(ctx, path, write, ret))
WRAP(int, known_domains_read, domains, (struct vfctl_ctx *ctx, struct known_domains **ret), (ctx, ret))
WRAP(XML_Parser, XML_ParserCreateNS, streams, (const XML_Char *encoding, XML_Char separator),
	(encoding, separator))
WRAP(int, xml_parse_domain, trees,
	(struct vfctl_ctx *ctx, const char *file, const char *text, struct xml **ret), (ctx, file, text, ret))
