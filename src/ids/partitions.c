// SPDX-License-Identifier: GPL-2.0-or-later
/* partitions.conf of opensm (its doc/partition-config.txt). */
#include <inttypes.h>

#include "base/buf.h"
#include "ids/ids.h"

#define NUMBER(pkey) ((uint16_t)((pkey) & (VFCTL_PKEY_FULL - 1)))
#define MEMBERS_IN_LINE 3

struct member {
	uint64_t guid;
	uint16_t pkey;
};

struct members {
	struct member *v;
	size_t count;
};

static void clear_members(struct members *m)
{
	free(m->v);
}

static int by_pkey_and_guid(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (NUMBER(a->pkey) != NUMBER(b->pkey))
		return (int)NUMBER(a->pkey) - (int)NUMBER(b->pkey);
	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

static int collect(struct vfctl_ids *ids, uint16_t pkey, struct members *m)
{
	struct vfctl_id_filter filter = {.states = 1u << VFCTL_ID_LEASED,
		.fleet = ids->spec->etcd != NULL};
	struct vfctl_id_cursor *cursor;
	struct vfctl_id id;
	int r = vfctl_ids_list(ids, &filter, &cursor);

	if (r < 0)
		return r;
	while ((r = vfctl_ids_next(cursor, &id)) == 1) {
		if (id.kind != VFCTL_ID_GUID || !id.pkey || (pkey && NUMBER(id.pkey) != pkey))
			continue;
		if (!array_grow(m->v, m->count)) {
			r = ctx_oom(ids->ctx);
			break;
		}
		m->v[m->count++] = (struct member){id.value, id.pkey};
	}
	vfctl_ids_list_end(cursor);
	if (r == 0 && m->count)
		qsort(m->v, m->count, sizeof(*m->v), by_pkey_and_guid);
	return r;
}

/*
 * opensm ends a name at '=', ',', ':' or a space, and treats '#' as the start of a comment;
 * host.yaml allows none of these in names. opensm's "Default" is the partition 0x7fff, so
 * partitions of vfctl must not have that name.
 */
static void put_head(struct buf *text, const struct vfctl_host_spec *spec, uint16_t pkey)
{
	const struct vfctl_partition *found = NULL;

	for (size_t i = 0; i < spec->partition_count; i++)
		if (spec->partitions[i].pkey == pkey)
			found = &spec->partitions[i];
	if (found)
		buf_printf(text, "%s=0x%04x%s, defmember=%s :\n", found->name, pkey,
			found->ipoib ? ", ipoib" : "", found->full ? "full" : "limited");
	else
		buf_printf(text, "vfctl_%04x=0x%04x, defmember=limited :\n", pkey, pkey);
}

static void put_members(struct buf *text, const struct member *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count;

		buf_printf(text, "%s0x%016" PRIx64 "=%s%s", i % MEMBERS_IN_LINE ? " " : "\t",
			v[i].guid, v[i].pkey & VFCTL_PKEY_FULL ? "full" : "limited",
			last ? " ;\n" : i % MEMBERS_IN_LINE == MEMBERS_IN_LINE - 1 ? ",\n" : ",");
	}
}

int vfctl_ids_partitions(struct vfctl_ids *ids, uint16_t pkey, char **ret_text)
{
	_cleanup_(clear_members) struct members m = {0};
	_buf_ struct buf text = {0};
	int r = collect(ids, pkey, &m);
	size_t end;

	if (r < 0)
		return r;
	buf_printf(&text, "# Made by vfctl guid export: %zu GUID%s. Changes are lost with the "
		"next one.\n", m.count, m.count == 1 ? "" : "s");
	for (size_t i = 0; i < m.count; i = end) {
		for (end = i; end < m.count && NUMBER(m.v[end].pkey) == NUMBER(m.v[i].pkey);)
			end++;
		put_head(&text, ids->spec, NUMBER(m.v[i].pkey));
		put_members(&text, m.v + i, end - i);
	}
	*ret_text = buf_steal(&text);
	return *ret_text ? 0 : ctx_oom(ids->ctx);
}
