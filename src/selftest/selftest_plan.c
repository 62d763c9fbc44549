// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan the trials for a PF, from its state and the driver tables. */
#include <stdarg.h>
#include <stdio.h>

#include "base/parse.h"
#include "base/util.h"
#include "base/vfattr.h"
#include "selftest/trials.h"

#define BIT VFCTL_COALESCE_BIT
#define CLASS_NETWORK 0x02

/* Append a trial; the caller fills in its input. */
static struct trial *add_trial(struct vfctl_selftest *t, const char *area,
	void (*try)(struct vfctl_selftest *t, struct trial *x), const char *fmt, ...) _printf_(4, 5);
static struct trial *add_trial(struct vfctl_selftest *t, const char *area,
	void (*try)(struct vfctl_selftest *t, struct trial *x), const char *fmt, ...)
{
	static struct trial lost;
	struct trial *x = &lost;
	va_list args;

	if (array_grow(t->trials, t->count))
		x = &t->trials[t->count++];
	else
		t->failed = true;
	*x = (struct trial){.try = try, .ms = -1};
	snprintf(x->area, sizeof(x->area), "%s", area);
	va_start(args, fmt);
	vsnprintf(x->name, sizeof(x->name), fmt, args);
	va_end(args);
	return x;
}

/* ---- VFs ---- */

/* All, half, 2, 1: each number once; the last one is used for the remaining trials. */
static void add_creations(struct vfctl_selftest *t)
{
	uint32_t total = t->pf->total_vfs;
	const uint32_t counts[] = {total, total / 2, 2, 1};
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct trial *x;

		if (!counts[i] || counts[i] >= last)
			continue;
		last = counts[i];
		x = add_trial(t, "create", selftest_try_create, "%u VF%s", last, plural(last));
		x->count = last;
		if (last == total)
			add_trial(t, "isolation", selftest_try_groups, "IOMMU groups of %u VF%s", total,
				plural(total));
	}
	add_trial(t, "create", selftest_try_too_many, "%u VFs are rejected", total + 1)->count = total + 1;
}

/* ---- attributes ---- */

static const struct {
	const char *keys[3], *values[3];
	uint32_t decides; /* the attribute whose row in the table predicts the result */
} ethernet[] = {
	{{"mac"}, {"02:76:66:63:74:6c"}, VFCTL_ATTR_MAC},
	{{"vlan"}, {"100"}, VFCTL_ATTR_VLAN_ID},
	{{"vlan", "qos"}, {"100", "3"}, VFCTL_ATTR_VLAN_QOS},
	{{"vlan", "proto"}, {"100", "802.1ad"}, VFCTL_ATTR_VLAN_PROTO},
	{{"vlan"}, {"0"}, VFCTL_ATTR_VLAN_ID},
	{{"max-rate"}, {"200"}, VFCTL_ATTR_MAX_RATE},
	{{"min-rate", "max-rate"}, {"50", "200"}, VFCTL_ATTR_MIN_RATE},
	{{"min-rate", "max-rate"}, {"0", "0"}, VFCTL_ATTR_MAX_RATE},
}, infiniband[] = {
	{{"node-guid"}, {"02:76:66:63:74:6c:00:01"}, VFCTL_ATTR_NODE_GUID},
	{{"port-guid"}, {"02:76:66:63:74:6c:00:02"}, VFCTL_ATTR_PORT_GUID},
};

/* Attributes that a VF has only in legacy mode; in switchdev mode its representor has them. */
#define LEGACY_ATTRS (VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO | \
	VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST)

static enum expectation expect_attr(const struct vfctl_selftest *t, uint32_t bit)
{
	if (t->pf->eswitch == VFCTL_ESWITCH_SWITCHDEV && bit & LEGACY_ATTRS)
		return EXPECT_NOTHING;
	if (t->caps && t->caps->vf_lacks & bit)
		return EXPECT_REFUSED;
	return t->caps && t->caps->vf_has & bit ? EXPECT_TAKEN : EXPECT_NOTHING;
}

static void add_attr(struct vfctl_selftest *t, const char *const keys[3],
	const char *const values[3], uint32_t decides)
{
	struct trial *x;

	/* The report shows only the kind of an address: it must not contain addresses. */
	if (decides & (VFCTL_ATTR_GUIDS | VFCTL_ATTR_MAC))
		x = add_trial(t, "attributes", selftest_try_attrs, "%s", keys[0]);
	else if (keys[1])
		x = add_trial(t, "attributes", selftest_try_attrs, "%s=%s %s=%s", keys[0], values[0],
			keys[1], values[1]);
	else
		x = add_trial(t, "attributes", selftest_try_attrs, "%s=%s", keys[0], values[0]);
	for (size_t i = 0; i < 3 && keys[i]; i++)
		vfctl_vf_attrs_parse(t->ctx, keys[i], values[i], &x->attrs);
	x->expect = expect_attr(t, decides);
	x->asks = x->expect == EXPECT_NOTHING;
}

static bool is_network(const struct vfctl_selftest *t)
{
	return t->pf->class_code >> 16 == CLASS_NETWORK;
}

/* Each value of a switch or a word; the safe default last, so that the VF keeps it. */
static void add_values(struct vfctl_selftest *t, const struct vfctl_vf_attr_info *info)
{
	const char *message[8] = {"off", "on"}, *other;
	size_t count = 2, safe = 0;

	if (info->type == VFCTL_ATTR_TYPE_WORD)
		for (count = 0; count < ARRAY_SIZE(message) &&
			vfctl_vf_attr_word(info, count, &message[count], &other);)
			count++;
	for (size_t i = 0; i < count; i++) {
		struct vfctl_vf_attrs attrs = {0};

		vfctl_vf_attrs_parse(t->ctx, info->key, message[i], &attrs);
		if (vfctl_vf_attrs_default(&attrs))
			safe = i;
		else
			add_attr(t, (const char *[3]){info->key}, (const char *[3]){message[i]}, info->bit);
	}
	add_attr(t, (const char *[3]){info->key}, (const char *[3]){message[safe]}, info->bit);
}

static void add_all_values(struct vfctl_selftest *t, uint32_t bits)
{
	const struct vfctl_vf_attr_info *info;

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (info->bit & bits)
			add_values(t, info);
}

static void add_attributes(struct vfctl_selftest *t)
{
	if (!t->pf->infiniband && !t->pf->ifindex) {
		if (is_network(t)) /* and not such as NVMe */
			add_trial(t, "attributes", selftest_try_no_netdev, "of a VF");
		return;
	}
	if (t->pf->infiniband) {
		for (size_t i = 0; i < ARRAY_SIZE(infiniband); i++)
			add_attr(t, infiniband[i].keys, infiniband[i].values, infiniband[i].decides);
		add_all_values(t, VFCTL_ATTR_LINK_STATE);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ethernet); i++)
		add_attr(t, ethernet[i].keys, ethernet[i].values, ethernet[i].decides);
	add_all_values(t, attrs_of_type(VFCTL_ATTR_TYPE_SWITCH) |
		(attrs_of_type(VFCTL_ATTR_TYPE_WORD) & ~VFCTL_ATTR_VLAN));
	add_trial(t, "attributes", selftest_try_refused_mac, "a multicast MAC is rejected");
	add_trial(t, "attributes", selftest_try_refused_vf, "a VF that does not exist is rejected");
}

static void add_functions(struct vfctl_selftest *t)
{
	add_trial(t, "vectors", selftest_try_msix, "MSI-X vectors of a VF")->asks = true;
	add_trial(t, "reset", selftest_try_reset, "a single VF");
	add_trial(t, "driver", selftest_try_driver, "vfio-pci")->driver = VFCTL_VF_DRIVER_VFIO;
	add_trial(t, "driver", selftest_try_driver, "the host's driver")->driver = VFCTL_VF_DRIVER_HOST;
	add_trial(t, "driver", selftest_try_driver, "none")->driver = VFCTL_VF_DRIVER_NONE;
}

/* ---- interrupt moderation ---- */

/* Try each value only once for a setting. */
static void add_value(struct vfctl_selftest *t, enum vfctl_coalesce_key key, uint32_t value,
	enum expectation expect)
{
	struct vfctl_coalesce one = {.mask = BIT(key)};
	_free_ char *text = NULL;
	struct trial *x;

	for (size_t i = 0; i < t->count; i++)
		if (t->trials[i].try == selftest_try_coalesce && t->trials[i].key == key &&
			t->trials[i].value == value)
			return;
	one.values[key] = value;
	text = vfctl_coalesce_format(&one);
	x = add_trial(t, "moderation", selftest_try_coalesce, "%s%s", text ? text : "",
		expect == EXPECT_REFUSED ? " is refused" : "");
	x->key = key;
	x->value = value;
	x->expect = expect;
	x->asks = expect == EXPECT_NOTHING;
}

static void add_beyond(struct vfctl_selftest *t, enum vfctl_coalesce_key key, uint32_t value)
{
	if (!driver_takes(t->moderates, key, value))
		add_value(t, key, value, t->moderates->flags & DRIVER_ROUNDS ? EXPECT_NOTHING
			: EXPECT_REFUSED);
}

/* Both ends of each range, each mode, and their illegal neighbours. */
static void add_limit(struct vfctl_selftest *t, const struct tuning_limit *l)
{
	for (const struct tuning_range *r = l->ranges; r->step; r++) {
		add_value(t, l->key, r->high, EXPECT_TAKEN);
		add_value(t, l->key, r->low, EXPECT_TAKEN);
	}
	for (const uint32_t *m = l->modes; m && *m; m++)
		add_value(t, l->key, *m, EXPECT_TAKEN);
	for (const struct tuning_range *r = l->ranges; r->step; r++) {
		if (r->step == 1 || !r[1].step)
			add_beyond(t, l->key, r->high + r->step);
		if (r->low)
			add_beyond(t, l->key, r->low - 1);
	}
	for (const uint32_t *m = l->modes; m && *m; m++)
		add_beyond(t, l->key, *m + 1);
}

static const struct tuning_limit *limit_of(const struct vfctl_selftest *t,
	enum vfctl_coalesce_key key)
{
	const struct tuning_limit *l = t->moderates ? t->moderates->limits : NULL;

	while (l && l->ranges && l->key != key)
		l++;
	return l && l->ranges ? l : NULL;
}

static void add_setting(struct vfctl_selftest *t, enum vfctl_coalesce_key key)
{
	static const uint32_t some[] = {1, 10, 100, 1000, 10000, 0};
	const struct tuning_limit *l = limit_of(t, key);
	bool known = t->moderates;

	if (vfctl_coalesce_is_switch(key)) {
		bool on = t->moderation.values[key];

		add_value(t, key, !on, known ? EXPECT_TAKEN : EXPECT_NOTHING);
		add_value(t, key, on, known ? EXPECT_TAKEN : EXPECT_NOTHING);
	} else if (known && (t->moderates->fixed & BIT(key) || (t->moderates->pairing &&
		key == VFCTL_TX_USECS))) {
		/*
		 * Refused while a receive queue has its vector with a transmit queue, and that depends on
		 * the number of VFs and of CPUs (igb_set_flag_queue_pairs()); or never changed.
		 */
		add_value(t, key, 10, EXPECT_NOTHING);
	} else if (l) {
		add_limit(t, l);
	} else {
		/* If the limit is unknown, the trial finds it. */
		for (size_t i = 0; i < ARRAY_SIZE(some); i++)
			add_value(t, key, some[i], EXPECT_NOTHING);
	}
}

static void add_moderation(struct vfctl_selftest *t)
{
	add_trial(t, "moderation", selftest_try_settings, "settings that the driver has");
	for (int i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;

		/* Some drivers restart the interface for that one. */
		if (t->moderation.mask & BIT(key) && key != VFCTL_STATS_BLOCK_USECS)
			add_setting(t, key);
	}
}

static void add_port(struct vfctl_selftest *t)
{
	static const uint32_t mtus[] = {9000, 1500}, ipoib_mtus[] = {1500, 2044};
	const uint32_t *tried = t->pf->infiniband ? ipoib_mtus : mtus;

	if (!t->pf->ifindex) {
		if (is_network(t))
			add_trial(t, "moderation", selftest_try_no_netdev, "settings, and the MTU");
		return;
	}
	add_moderation(t);
	for (size_t i = 0; i < ARRAY_SIZE(mtus); i++) {
		struct trial *x = add_trial(t, "mtu", selftest_try_mtu, "%u", tried[i]);

		x->value = tried[i];
		x->asks = true;
	}
	add_trial(t, "eswitch", selftest_try_eswitch, "legacy and switchdev");
}

int selftest_plan(struct vfctl_selftest *t)
{
	add_creations(t);
	add_attributes(t);
	add_functions(t);
	add_trial(t, "create", selftest_try_destroy, "no VFs");
	add_port(t);
	return t->failed ? ctx_oom(t->ctx) : 0;
}
