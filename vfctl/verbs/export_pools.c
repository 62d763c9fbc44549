// SPDX-License-Identifier: GPL-2.0-or-later
/* Print GUID pools and partitions for export. */
#include "verbs/export_pools.h"

#include <stdio.h>
#include <string.h>

#include "ids/pools.h"

/* ---- of one PF ---- */

/* The pool and P_Key of a PF's VFs. */
struct pool_use {
	char pool[VFCTL_ID_NAME_MAX + 1];
	uint16_t pkey;
	size_t count;
	bool differ;
};

static void note_use(const struct vfctl_id *id, struct pool_use *use)
{
	if (use->count++) {
		use->differ |= strcmp(use->pool, id->pool) != 0 || use->pkey != id->pkey;
		return;
	}
	memcpy(use->pool, id->pool, sizeof(use->pool));
	use->pkey = id->pkey;
}

static int read_use(struct vfctl_ids *ids, const struct vfctl_pf *pf, struct pool_use *ret)
{
	const struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED,
		.host = vfctl_ids_spec(ids)->host};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	char prefix[VFCTL_BDF_TEXT + 1];
	struct vfctl_id id;
	int r = vfctl_ids_list(ids, &filter, &cursor);

	vfctl_bdf_format(&pf->bdf, prefix);
	strcat(prefix, "/");
	while (r == 0 && (r = vfctl_ids_next(cursor, &id)) == 1) {
		if (id.kind == VFCTL_ID_GUID && !id.owner.domain_uuid[0] &&
			strncmp(id.owner.device, prefix, strlen(prefix)) == 0)
			note_use(&id, ret);
		r = 0;
	}
	return r;
}

static void print_pkey(struct invocation *in, const struct vfctl_host_spec *spec, uint16_t pkey)
{
	const char *member = pkey & VFCTL_PKEY_FULL ? "full" : "limited";
	char text[VFCTL_PKEY_TEXT];

	for (size_t i = 0; i < spec->partition_count; i++)
		if (spec->partitions[i].pkey == (pkey & (VFCTL_PKEY_FULL - 1u))) {
			out_line(in->out, "    pkey: '%s:%s'", spec->partitions[i].name, member);
			return;
		}
	out_line(in->out, "    pkey: '%s'", vfctl_pkey_format(pkey, text));
}

int print_pf_pool(struct invocation *in, const struct host_ids *host, const struct vfctl_pf *pf)
{
	struct pool_use use = {.count = 0};
	int r;

	if (!host->ids || !pf->infiniband || !pf->num_vfs)
		return 0;
	r = read_use(host->ids, pf, &use);
	if (r < 0 || !use.count)
		return r;
	if (use.differ)
		out_line(in->out, "    # the GUIDs of its VFs belong to several pools or P_Keys: vfctl "
			"guid list");
	else if (use.pool[0])
		out_line(in->out, "    guid-pool: '%s'", use.pool);
	if (!use.differ && use.pkey)
		print_pkey(in, host->spec, use.pkey);
	return 0;
}

/* ---- of the host ---- */

static void print_ranges(struct invocation *in, const struct vfctl_id_pool *pool)
{
	char first[VFCTL_ID_TEXT], last[VFCTL_ID_TEXT];

	out_line(in->out, "    ranges:");
	for (size_t i = 0; i < pool->range_count; i++)
		out_line(in->out, "      - '%s..%s'",
			vfctl_id_format(pool->kind, pool->ranges[i].first, first),
			vfctl_id_format(pool->kind, pool->ranges[i].last, last));
}

static void print_pool(struct invocation *in, const struct vfctl_id_pool *pool, const char *pf)
{
	out_line(in->out, "  - name: '%s'", pool->name);
	if (pool->source == VFCTL_ID_SOURCE_RANGES)
		print_ranges(in, pool);
	else
		out_line(in->out, "    derive: %s", vfctl_id_source_name(pool->source));
	if (pf)
		out_line(in->out, "    pf: '%s'", pf);
	if (pool->source != VFCTL_ID_SOURCE_MAC)
		out_line(in->out, "    strategy: %s", vfctl_id_strategy_name(pool->strategy));
	out_line(in->out, "    rest: %us", pool->rest_s);
}

static void print_pools_of(struct invocation *in, const struct vfctl_host_spec *spec,
	enum vfctl_id_kind kind, const char *key)
{
	bool begun = false;

	for (size_t i = 0; i < spec->pool_count; i++) {
		if (spec->pools[i].kind != kind)
			continue;
		if (!begun)
			out_line(in->out, "%s:", key);
		begun = true;
		print_pool(in, &spec->pools[i], spec->pool_pfs[i]);
	}
}

void print_pools(struct invocation *in, const struct vfctl_host_spec *spec)
{
	print_pools_of(in, spec, VFCTL_ID_GUID, "guid-pools");
	print_pools_of(in, spec, VFCTL_ID_MAC, "mac-pools");
	if (spec->partition_count)
		out_line(in->out, "partitions:");
	for (size_t i = 0; i < spec->partition_count; i++)
		out_line(in->out, "  - {name: '%s', pkey: 0x%04x, membership: %s, ipoib: %s}",
			spec->partitions[i].name, spec->partitions[i].pkey,
			spec->partitions[i].full ? "full" : "limited",
			spec->partitions[i].ipoib ? "on" : "off");
	if (spec->etcd)
		out_line(in->out, "# the pools are shared through etcd: copy store and etcd from host.yaml");
}
