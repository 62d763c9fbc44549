// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfctl/vfattr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/ctx.h"
#include "base/parse.h"
#include "base/vfattr.h"

#define MEMBER(m)                                                                        \
	offsetof(struct vfctl_vf_attrs, m), sizeof(((struct vfctl_vf_attrs *)0)->m)

/* Readers return 0, -EINVAL or -ERANGE and write the member at @at only when they
 * succeed. */
struct attr {
	const char *key;
	uint32_t bit;
	size_t member, size;
	uint32_t max;
	int (*read)(const struct attr *attr, const char *text, void *at);
	void (*print)(const void *at, char *text);
	const char *wanted; /* ends "...: must be " */
};

static int read_mac(const struct attr *attr, const char *text, void *at)
{
	struct vfctl_mac mac;
	int r = vfctl_mac_parse(text, &mac);

	if (r < 0)
		return r;
	if (vfctl_mac_is_zero(&mac) || vfctl_mac_is_multicast(&mac))
		return -EINVAL;
	*(struct vfctl_mac *)at = mac;
	return 0;
}

static int read_guid(const struct attr *attr, const char *text, void *at)
{
	uint64_t guid;

	if (vfctl_guid_parse(text, &guid) < 0 || vfctl_guid_fault(guid))
		return -EINVAL;
	*(uint64_t *)at = guid;
	return 0;
}

static const char *guid_fault(const char *text)
{
	const char *fault = vfctl_guid_parse_fault(text);
	uint64_t guid;

	if (!fault && vfctl_guid_parse(text, &guid) == 0)
		fault = vfctl_guid_fault(guid);
	return fault ? fault : "is no GUID";
}

static int read_pkey(const struct attr *attr, const char *text, void *at)
{
	return vfctl_pkey_parse(text, at);
}

static int read_u8(const struct attr *attr, const char *text, void *at)
{
	uint32_t value;
	int r = parse_u32(text, 0, attr->max, &value);

	if (r == 0)
		*(uint8_t *)at = (uint8_t)value;
	return r;
}

static int read_u16(const struct attr *attr, const char *text, void *at)
{
	return parse_u16(text, 0, (uint16_t)attr->max, at);
}

static int read_u32(const struct attr *attr, const char *text, void *at)
{
	return parse_u32(text, 0, attr->max, at);
}

/* "2500", "2500mbit", "10gbit", "10 Gbit/s": decimal, as of ip-link(8) and tc(8). */
static int read_rate(const struct attr *attr, const char *text, void *at)
{
	static const struct {
		const char *name;
		uint32_t mbps;
	} units[] = {{"", 1}, {"mbit", 1}, {"mbit/s", 1}, {"mbps", 1}, {"gbit", 1000},
		{"gbit/s", 1000}, {"gbps", 1000}};
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits + strspn(text + digits, " ");
	char number[12] = "";
	uint32_t value;

	if (digits < sizeof(number))
		memcpy(number, text, digits);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(unit, units[i].name) != 0)
			continue;
		if (parse_u32(number, 0, attr->max / units[i].mbps, &value) < 0)
			return -ERANGE;
		*(uint32_t *)at = value * units[i].mbps;
		return 0;
	}
	return -EINVAL;
}

static int read_switch(const struct attr *attr, const char *text, void *at)
{
	return parse_bool(text, at);
}

static int read_proto(const struct attr *attr, const char *text, void *at)
{
	static const uint16_t protos[] = {VFCTL_VLAN_8021Q, VFCTL_VLAN_8021AD};

	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		if (strcasecmp(text, vfctl_vlan_proto_name(protos[i])) == 0) {
			*(uint16_t *)at = protos[i];
			return 0;
		}
	return -EINVAL;
}

static int read_link_state(const struct attr *attr, const char *text, void *at)
{
	/* What InfiniBand's tools and MLNX_OFED call the same. */
	static const char *const policies[] = {"follow", "up", "down"};

	for (unsigned i = VFCTL_LINK_STATE_AUTO; i <= VFCTL_LINK_STATE_DISABLE; i++)
		if (str_eq(text, vfctl_link_state_name((enum vfctl_link_state)i)) ||
			strcasecmp(text, policies[i]) == 0) {
			*(enum vfctl_link_state *)at = (enum vfctl_link_state)i;
			return 0;
		}
	return -EINVAL;
}

static void print_mac(const void *at, char *text)
{
	vfctl_mac_format(at, text);
}

static void print_guid(const void *at, char *text)
{
	vfctl_guid_format(*(const uint64_t *)at, text);
}

static void print_pkey(const void *at, char *text)
{
	vfctl_pkey_format(*(const uint16_t *)at, text);
}

static void print_u8(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%u", *(const uint8_t *)at);
}

static void print_u16(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%u", *(const uint16_t *)at);
}

static void print_u32(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%" PRIu32, *(const uint32_t *)at);
}

static void print_switch(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%s", *(const bool *)at ? "on" : "off");
}

static void print_proto(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%s",
		vfctl_vlan_proto_name(*(const uint16_t *)at));
}

static void print_link_state(const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%s",
		vfctl_link_state_name(*(const enum vfctl_link_state *)at));
}

static const struct attr attr_table[] = {
	{"mac", VFCTL_ATTR_MAC, MEMBER(mac), 0, read_mac, print_mac,
		"a unicast Ethernet address such as 02:00:00:00:00:01, not zero"},
	{"vlan", VFCTL_ATTR_VLAN_ID, MEMBER(vlan), VFCTL_VLAN_MAX, read_u16, print_u16,
		"0 (none) to 4094"},
	{"qos", VFCTL_ATTR_VLAN_QOS, MEMBER(qos), VFCTL_QOS_MAX, read_u8, print_u8,
		"0 to 7"},
	{"proto", VFCTL_ATTR_VLAN_PROTO, MEMBER(proto), 0, read_proto, print_proto,
		"802.1Q or 802.1ad"},
	{"min-rate", VFCTL_ATTR_MIN_RATE, MEMBER(min_rate_mbps), UINT32_MAX, read_rate,
		print_u32, "a number of Mbit/s, or with its unit: 2500mbit, 10gbit; 0 for none"},
	{"max-rate", VFCTL_ATTR_MAX_RATE, MEMBER(max_rate_mbps), UINT32_MAX, read_rate,
		print_u32, "a number of Mbit/s, or with its unit: 2500mbit, 10gbit; 0 for no limit"},
	{"spoofchk", VFCTL_ATTR_SPOOFCHK, MEMBER(spoofchk), 0, read_switch, print_switch,
		"on or off"},
	{"trust", VFCTL_ATTR_TRUST, MEMBER(trust), 0, read_switch, print_switch,
		"on or off"},
	{"link-state", VFCTL_ATTR_LINK_STATE, MEMBER(link_state), 0, read_link_state,
		print_link_state, "auto, enable or disable (follow, up or down)"},
	{"query-rss", VFCTL_ATTR_QUERY_RSS, MEMBER(query_rss), 0, read_switch, print_switch,
		"on or off"},
	{"msix", VFCTL_ATTR_MSIX, MEMBER(msix), VFCTL_MSIX_MAX, read_u32, print_u32,
		"0 (the device's default) to 2048"},
	{"node-guid", VFCTL_ATTR_NODE_GUID, MEMBER(node_guid), 0, read_guid, print_guid,
		NULL},
	{"port-guid", VFCTL_ATTR_PORT_GUID, MEMBER(port_guid), 0, read_guid, print_guid,
		NULL},
	{"pkey", VFCTL_ATTR_PKEY, MEMBER(pkey), 0, read_pkey, print_pkey,
		"0x1 to 0x7fff with :full or :limited behind it (the membership bit is no "
		"part of the number)"},
};

static const struct attr *find_attr(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (str_eq(attr_table[i].key, key))
			return &attr_table[i];
	return NULL;
}

/* In sysfs, in ip link and in MLNX_OFED's files words have '_' where ours have '-'. */
static bool same_word(const char *a, const char *b)
{
	for (; *a && (*a == '_' ? '-' : *a) == *b; a++)
		b++;
	return !*a && !*b;
}

const char *vfctl_vf_attr_name(const char *word)
{
	static const struct {
		const char *word, *key;
	} others[] = {{"max-tx-rate", "max-rate"}, {"min-tx-rate", "min-rate"}, {"rate", "max-rate"},
		{"state", "link-state"}, {"policy", "link-state"}, {"spoof", "spoofchk"},
		{"spoofcheck", "spoofchk"}, {"address", "mac"}, {"lladdr", "mac"}, {"vlan-proto", "proto"},
		{"vlan-qos", "qos"}, {"query-rss-en", "query-rss"}, {"node", "node-guid"},
		{"port", "port-guid"}, {"guid", "guid"}};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (same_word(word, others[i].word))
			return others[i].key;
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (same_word(word, attr_table[i].key))
			return attr_table[i].key;
	return NULL;
}

static int fail_unknown(struct vfctl_ctx *ctx, const char *key)
{
	const char *ours = vfctl_vf_attr_name(key);

	if (ours)
		return ctx_mistake(ctx, -ENOENT, "%s: no such VF attribute; here it is %s", key, ours);
	return ctx_mistake(ctx, -ENOENT, "%s: no such VF attribute; known are mac, vlan, qos, proto, "
		"min-rate, max-rate, spoofchk, trust, link-state, query-rss, msix, node-guid, port-guid, "
		"guid (both), pkey", key);
}

int vfctl_vf_attrs_parse(struct vfctl_ctx *ctx, const char *key, const char *value,
	struct vfctl_vf_attrs *io)
{
	const struct attr *attr = find_attr(key);
	int r;

	/* One value for both, as for a function with one port. */
	if (str_eq(key, "guid")) {
		struct vfctl_vf_attrs both = *io;

		r = vfctl_vf_attrs_parse(ctx, "node-guid", value, &both);
		if (r == 0)
			r = vfctl_vf_attrs_parse(ctx, "port-guid", value, &both);
		if (r == 0)
			*io = both;
		return r;
	}
	if (!attr)
		return fail_unknown(ctx, key);
	if (io->mask & attr->bit)
		return ctx_mistake(ctx, -EEXIST, "%s: given twice; keep one of them", key);
	r = attr->read(attr, value, (char *)io + attr->member);
	if (r < 0 && attr->bit & VFCTL_ATTR_GUIDS)
		return ctx_mistake(ctx, r, "%s: '%s' %s", key, value, guid_fault(value));
	if (r < 0)
		return ctx_mistake(ctx, r, "%s: '%s' is not allowed; it must be %s", key,
			value, attr->wanted);
	io->mask |= attr->bit;
	/* A zero protocol would reach the kernel as an unknown one (EPROTONOSUPPORT). */
	if (attr->bit & VFCTL_ATTR_VLAN && !(io->mask & VFCTL_ATTR_VLAN_PROTO))
		io->proto = VFCTL_VLAN_8021Q;
	return 0;
}

int vfctl_vf_attrs_check(struct vfctl_ctx *ctx, const struct vfctl_vf_attrs *attrs)
{
	bool tagged = attrs->mask & VFCTL_ATTR_VLAN_ID && attrs->vlan != 0;

	if (attrs->mask & VFCTL_ATTR_VLAN_QOS && !tagged)
		return ctx_mistake(ctx, -EINVAL,
			"qos: only a tagged frame carries a priority; give a vlan of 1 "
			"to 4094 too");
	if (attrs->mask & VFCTL_ATTR_VLAN_PROTO && !tagged)
		return ctx_mistake(ctx, -EINVAL,
			"proto: it is the protocol of a tag; give a vlan of 1 to 4094 "
			"too");
	if ((attrs->mask & VFCTL_ATTR_RATE) == VFCTL_ATTR_RATE && attrs->max_rate_mbps &&
		attrs->min_rate_mbps > attrs->max_rate_mbps)
		return ctx_mistake(ctx, -EINVAL,
			"min-rate: %" PRIu32
			" Mbit/s is more than the max-rate of %" PRIu32
			"; lower it or raise max-rate",
			attrs->min_rate_mbps, attrs->max_rate_mbps);
	return 0;
}

bool vfctl_vf_attrs_next(const struct vfctl_vf_attrs *attrs, size_t *index,
	const char **ret_key, char value[VFCTL_ATTR_TEXT])
{
	for (; *index < ARRAY_SIZE(attr_table); (*index)++) {
		const struct attr *attr = &attr_table[*index];

		if (!(attrs->mask & attr->bit))
			continue;
		*ret_key = attr->key;
		attr->print((const char *)attrs + attr->member, value);
		(*index)++;
		return true;
	}
	return false;
}

void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits)
{
	bits &= from->mask;
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (bits & attr_table[i].bit)
			memcpy((char *)to + attr_table[i].member,
				(const char *)from + attr_table[i].member, attr_table[i].size);
	to->mask |= bits;
}

uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (a->mask & b->mask & attr_table[i].bit &&
			memcmp((const char *)a + attr_table[i].member,
				(const char *)b + attr_table[i].member, attr_table[i].size) == 0)
			bits |= attr_table[i].bit;
	return bits;
}

const char *vfctl_link_state_name(enum vfctl_link_state state)
{
	static const char *const names[] = {"auto", "enable", "disable"};

	return (unsigned)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

const char *vfctl_vlan_proto_name(uint16_t proto)
{
	if (proto == VFCTL_VLAN_8021Q)
		return "802.1Q";
	return proto == VFCTL_VLAN_8021AD ? "802.1ad" : "unknown";
}

void attrs_put(struct buf *out, const struct vfctl_vf_attrs *attrs, uint32_t bits)
{
	struct vfctl_vf_attrs some = *attrs;
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	some.mask &= bits;
	while (vfctl_vf_attrs_next(&some, &i, &key, value))
		buf_printf(out, "%s%s=%s", out->len ? " " : "", key, value);
}
