// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The host's side of a guest's virtio interface: a packet that is longer than the MTU of the tap
 * device or of its bridge is dropped there, so both follow the MTU of the guest's interface.
 */
#include "bench/outer.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "remote/settings.h"

#define FILE_MS 20000
#define NET "/sys/class/net/"

static char *mtu_only[] = {(char *)"mtu", NULL};

void bench_outers_free(struct bench_outer *outers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		place_close(&outers[i].place);
		free(outers[i].end);
		free(outers[i].device);
		free(outers[i].original);
	}
	free(outers);
}

static int add_outer(struct bench *b, size_t of, const char *device)
{
	struct bench_outer *o;
	int r;

	if (!array_grow(b->outers, b->outer_count))
		return ctx_oom(b->ctx);
	o = &b->outers[b->outer_count];
	*o = (struct bench_outer){.of = of, .device = strdup(device), .end = calloc(1, sizeof(*o->end))};
	b->outer_count++;
	if (!o->device || !o->end)
		return ctx_oom(b->ctx);
	*o->end = (struct endpoint){.name = b->plan->endpoints[of].name, .where = ENDPOINT_HERE,
		.device = o->device, .gid_index = UINT32_MAX};
	r = place_open(b->ctx, o->end, NULL, &o->place);
	return r < 0 ? r : settings_read(&o->place, device, mtu_only, &o->original);
}

/* ---- which devices ---- */

/* The output of "cat FILE" in the guest, or "" if it has no such file. */
static int read_there(struct place *p, char *const argv[], char **ret)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	int r = place_run(p, argv, NULL, FILE_MS, &o);

	if (r < 0)
		return r;
	*ret = strdup(o.status == 0 && o.out.data ? o.out.data : "");
	if (!*ret)
		return ctx_oom(p->ctx);
	str_rstrip(*ret);
	return 0;
}

/* The MAC of a virtio interface of the guest; "" for any other interface. */
static int virtio_mac(struct place *p, const char *device, char **ret)
{
	_free_ char *driver = str_format(NET "%s/device/driver", device), *link = NULL;
	_free_ char *address = str_format(NET "%s/address", device);
	char *readlink[] = {(char *)"readlink", driver, NULL}, *cat[] = {(char *)"cat", address, NULL};
	int r = driver && address ? read_there(p, readlink, &link) : ctx_oom(p->ctx);

	if (r < 0)
		return r;
	if (!str_eq(strrchr(link, '/') ? strrchr(link, '/') + 1 : link, "virtio_net")) {
		*ret = strdup("");
		return *ret ? 0 : ctx_oom(p->ctx);
	}
	return read_there(p, cat, ret);
}

/*
 * libvirt gives a tap device the guest's MAC with fe as the first byte (virnetdevtap.c), so that
 * the bridge never takes over its address.
 */
static bool is_tap_of(const char *address, const char *mac)
{
	return str_starts(address, "fe:") && strlen(mac) > 3 && str_eq(address + 3, mac + 3);
}

static int add_tap(struct bench *b, size_t of, const char *tap)
{
	_free_ char *bridge = NULL;
	int r = add_outer(b, of, tap);

	if (r == 0 && host_try_link_name(b->ctx, &bridge, NET "%s/master", tap) == 0)
		r = add_outer(b, of, bridge);
	return r;
}

int bench_find_outers(struct bench *b, size_t of)
{
	struct bench_end *e = &b->ends[of];
	_free_ char *mac = NULL;
	_strv_ char **names = NULL;
	bool asked = false;
	int r = 0;

	for (size_t i = 0; e->names && e->names[i]; i++)
		asked |= str_eq(e->names[i], "mtu");
	if (!asked || e->place.end->where != ENDPOINT_GUEST)
		return 0;
	r = virtio_mac(&e->place, e->place.end->device, &mac);
	if (r < 0 || !*mac || host_try_list(b->ctx, &names, "/sys/class/net") < 0)
		return r;
	for (size_t i = 0; names[i] && r == 0; i++) {
		_free_ char *address = NULL;

		if (host_try_read(b->ctx, &address, NET "%s/address", names[i]) == 0 &&
			is_tap_of(address, mac))
			r = add_tap(b, of, names[i]);
	}
	return r;
}

/* ---- changes ---- */

int bench_outer_steps(const struct bench *b, struct steps *s)
{
	for (size_t i = 0; i < b->outer_count; i++) {
		const struct bench_outer *o = &b->outers[i];
		_free_ char *target = settings_target(o->end);

		if (!target)
			return ctx_oom(b->ctx);
		step_add_op(s, &op_bench_settings, SETTINGS_MEASURED, o->original, target,
			"%s: %s on this host follows the MTU of the guest's interface and is then restored "
			"to %s", o->end->name, o->device, o->original);
	}
	return 0;
}

int bench_set_outers(struct bench *b, size_t of, const char *mtu)
{
	int r = 0;

	for (size_t i = 0; i < b->outer_count && r == 0; i++) {
		struct bench_outer *o = &b->outers[i];
		_free_ char *want = o->of == of ? str_format("mtu=%s", mtu) : NULL, *now = NULL;

		if (o->of != of)
			continue;
		r = want ? settings_read(&o->place, o->device, mtu_only, &now) : ctx_oom(b->ctx);
		if (r == 0 && !str_eq(now, want))
			r = settings_write(&o->place, o->device, want);
	}
	return r;
}
