// SPDX-License-Identifier: GPL-2.0-or-later
#include "pools.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>

#include "fleet/fleet.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"

char pools_path[96];
struct vfctl_ctx *ctx;
struct vfctl_host_spec *spec;
struct vfctl_ids *ids;
static char dir[64];

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(name);
}

int set_up_pools(void **state)
{
	strcpy(dir, "/tmp/vfctl-ids-XXXXXX");
	if (!mkdtemp(dir) || vfctl_ctx_new(&ctx) < 0)
		return -1;
	snprintf(pools_path, sizeof(pools_path), "%s/state.db", dir);
	return vfctl_ctx_set_state_path(ctx, pools_path);
}

void close_pools(void)
{
	vfctl_ids_close(ids);
	vfctl_host_spec_free(spec);
	ids = NULL;
	spec = NULL;
}

int tear_down_pools(void **state)
{
	close_pools();
	vfctl_ctx_free(ctx);
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int try_open(const char *yaml, bool write)
{
	int r;

	close_pools();
	r = vfctl_host_spec_parse(ctx, "h.yaml", yaml, strlen(yaml), &spec);
	if (r < 0)
		return r;
	str_copy(spec->host, sizeof(spec->host), "node-1");
	r = vfctl_ids_open(ctx, spec, write, &ids);
	if (r == 0)
		ids->store->now = NOW;
	return r;
}

void open_pools(const char *yaml)
{
	if (try_open(yaml, true) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
}

struct vfctl_id_owner owner(int n)
{
	struct vfctl_id_owner o = {.host = "node-1", .device = "vf0"};

	snprintf(o.domain_uuid, sizeof(o.domain_uuid), "%08x-0000-4000-8000-000000000000", n);
	snprintf(o.domain_name, sizeof(o.domain_name), "guest%d", n);
	return o;
}

int take(int n, uint64_t *ret)
{
	struct vfctl_id_owner o = owner(n);
	struct vfctl_id id;
	int r = vfctl_ids_take(ids, &spec->pools[0], &o, 0, NULL, &id);

	if (r == 0)
		*ret = id.value;
	return r;
}

uint64_t must_take(int n)
{
	uint64_t value = 0;

	if (take(n, &value) < 0)
		fail_msg("owner %d: %s", n, vfctl_ctx_error(ctx));
	return value;
}

int claim(int n, uint64_t value)
{
	struct vfctl_id_owner o = owner(n);
	struct vfctl_id id;

	return vfctl_ids_claim(ids, VFCTL_ID_GUID, value, &o, 0, &id);
}

struct vfctl_id_stats stats(void)
{
	struct vfctl_id_stats n;

	assert_int_equal(vfctl_ids_stats(ids, &spec->pools[0], &n), 0);
	/* a pool that derives from MACs has no size */
	assert_true(!n.size || n.size == n.leased + n.block + n.resting + n.quarantined + n.free);
	return n;
}
