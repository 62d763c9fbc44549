// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/vfattr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/ctx.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "base/parse.h"

/* A word that an attribute accepts: the name in vfctl, the name in other tools, and the value. */
struct attr_word {
	const char *word, *other;
	uint32_t value;
};

/* One attribute. Its numbers, switches and words are unsigned members of 1, 2 or 4 bytes. */
struct attr {
	struct vfctl_vf_attr_info info;
	size_t member, size;
	uint32_t safe; /* the safe default, if there is one */
	const struct attr_word *choices;
	const char *wanted; /* completes "...: must be "; NULL: the reader sets the message */
	const char *lease_only;
};

static uint32_t number_at(const struct attr *attr, const void *at)
{
	uint16_t half;
	uint32_t whole;

	if (attr->size == 1)
		return *(const uint8_t *)at;
	if (attr->size == 2) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&whole, at, sizeof(whole));
	return whole;
}

static void set_number(const struct attr *attr, uint32_t value, void *at)
{
	uint8_t byte = (uint8_t)value;
	uint16_t half = (uint16_t)value;

	memcpy(at, attr->size == 1 ? (void *)&byte : attr->size == 2 ? (void *)&half : (void *)&value,
		attr->size);
}

/* Readers return 0, -EINVAL or -ERANGE; only on success do they write the member at @at. */
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
	return fault ? fault : "is not a GUID";
}

static int read_pkey(const struct attr *attr, const char *text, void *at)
{
	return vfctl_pkey_parse(text, at);
}

static int read_number(const struct attr *attr, const char *text, void *at)
{
	uint32_t value;
	int r = parse_u32(text, 0, attr->info.max, &value);

	if (r == 0)
		set_number(attr, value, at);
	return r;
}

/* "2500", "2500mbit", "10gbit", "10 Gbit/s": decimal, as in ip-link(8) and tc(8). */
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
		if (parse_u32(number, 0, attr->info.max / units[i].mbps, &value) < 0)
			return -ERANGE;
		set_number(attr, value * units[i].mbps, at);
		return 0;
	}
	return -EINVAL;
}

static int read_switch(const struct attr *attr, const char *text, void *at)
{
	return parse_bool(text, at);
}

static int read_word(const struct attr *attr, const char *text, void *at)
{
	for (const struct attr_word *w = attr->choices; w->word; w++)
		if (strcasecmp(text, w->word) == 0 || (w->other && strcasecmp(text, w->other) == 0)) {
			set_number(attr, w->value, at);
			return 0;
		}
	return -EINVAL;
}

static const char *word_of(const struct attr_word *choices, uint32_t value)
{
	for (; choices->word; choices++)
		if (choices->value == value)
			return choices->word;
	return "unknown";
}

static void print_mac(const struct attr *attr, const void *at, char *text)
{
	vfctl_mac_format(at, text);
}

static void print_guid(const struct attr *attr, const void *at, char *text)
{
	vfctl_guid_format(*(const uint64_t *)at, text);
}

static void print_pkey(const struct attr *attr, const void *at, char *text)
{
	vfctl_pkey_format(*(const uint16_t *)at, text);
}

static void print_number(const struct attr *attr, const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%" PRIu32, number_at(attr, at));
}

static void print_switch(const struct attr *attr, const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%s", *(const bool *)at ? "on" : "off");
}

static void print_word(const struct attr *attr, const void *at, char *text)
{
	snprintf(text, VFCTL_ATTR_TEXT, "%s", word_of(attr->choices, number_at(attr, at)));
}

static const struct {
	int (*read)(const struct attr *attr, const char *text, void *at);
	void (*print)(const struct attr *attr, const void *at, char *text);
} types[] = {
	[VFCTL_ATTR_TYPE_MAC] = {read_mac, print_mac},
	[VFCTL_ATTR_TYPE_GUID] = {read_guid, print_guid},
	[VFCTL_ATTR_TYPE_PKEY] = {read_pkey, print_pkey},
	[VFCTL_ATTR_TYPE_NUMBER] = {read_number, print_number},
	[VFCTL_ATTR_TYPE_RATE] = {read_rate, print_number},
	[VFCTL_ATTR_TYPE_SWITCH] = {read_switch, print_switch},
	[VFCTL_ATTR_TYPE_WORD] = {read_word, print_word},
};

static const struct attr_word proto_text[] = {
	{"802.1Q", NULL, VFCTL_VLAN_8021Q}, {"802.1ad", NULL, VFCTL_VLAN_8021AD}, {0}};
/* The second word is used by InfiniBand tools and MLNX_OFED. */
static const struct attr_word link_state_text[] = {
	{"auto", "follow", VFCTL_LINK_STATE_AUTO}, {"enable", "up", VFCTL_LINK_STATE_ENABLE},
	{"disable", "down", VFCTL_LINK_STATE_DISABLE}, {0}};

#define MEMBER(m)                                                                        \
	.member = offsetof(struct vfctl_vf_attrs, m), .size = sizeof(((struct vfctl_vf_attrs *)0)->m)
#define KEYS(key, host, guest, json) key, {host, guest}, json
#define ONE_KEY(key) KEYS(key, key, key, key)
/*
 * Policy that is reset when a VF is released; every start of a guest writes the other policies
 * anyway.
 */
#define CLEANED (KEPT | VFCTL_ATTR_CLEANED)
#define KEPT (VFCTL_ATTR_FROM_LINK | VFCTL_ATTR_HAS_DEFAULT)
#define ON_OFF .wanted = "on or off"
#define RATE_WANTED "a number of Mbit/s, or with its unit: 2500mbit, 10gbit; 0 for "

/*
 * The table of VF attributes: a new attribute needs a row here, its member and bit in
 * base/vfattr.h, its netlink form (netlink/link_vfs.c), and its drivers (drivers/drivers.c). Files,
 * command line, JSON, schemas, help, comparison, safe defaults and the hook's check of metadata are
 * derived from these.
 */
static const struct attr attr_table[] = {
	{{VFCTL_ATTR_MAC, ONE_KEY("mac"), "mac", VFCTL_ATTR_TYPE_MAC, 0, VFCTL_ATTR_FROM_LINK,
		"MAC address"},
		MEMBER(mac), .wanted = "a unicast Ethernet address such as 02:00:00:00:00:01, not zero"},
	{{VFCTL_ATTR_VLAN_ID, ONE_KEY("vlan"), "vlan", VFCTL_ATTR_TYPE_NUMBER, VFCTL_VLAN_MAX,
		CLEANED, "VLAN tag of what the guest sends: 0 (none) to 4094"},
		MEMBER(vlan), .wanted = "0 (none) to 4094"},
	{{VFCTL_ATTR_VLAN_QOS, ONE_KEY("qos"), "vlan", VFCTL_ATTR_TYPE_NUMBER, VFCTL_QOS_MAX,
		CLEANED, "priority of the VLAN tag: 0 to 7"},
		MEMBER(qos), .wanted = "0 to 7", .lease_only = "a VLAN priority is granted only by lease"},
	{{VFCTL_ATTR_VLAN_PROTO, KEYS("proto", "proto", "proto", "vlan_proto"), "vlan",
		VFCTL_ATTR_TYPE_WORD, 0,
		CLEANED, "protocol of the VLAN tag: 802.1Q or 802.1ad"},
		MEMBER(proto), .safe = VFCTL_VLAN_8021Q, .choices = proto_text, .wanted = "802.1Q or 802.1ad",
		.lease_only = "802.1ad is granted only by lease"},
	{{VFCTL_ATTR_MIN_RATE, KEYS("min-rate", "min-rate-mbps", "min_rate_mbps", "min_rate_mbps"), "rate",
		VFCTL_ATTR_TYPE_RATE, UINT32_MAX, CLEANED,
		"guaranteed transmit rate in Mbit/s, or with a unit (10gbit); 0: none"},
		MEMBER(min_rate_mbps), .wanted = RATE_WANTED "none",
		.lease_only = "a minimum rate takes bandwidth from other VFs and is granted only by "
			"lease"},
	{{VFCTL_ATTR_MAX_RATE, KEYS("max-rate", "max-rate-mbps", "max_rate_mbps", "max_rate_mbps"), "rate",
		VFCTL_ATTR_TYPE_RATE, UINT32_MAX, CLEANED,
		"limit of the transmit rate in Mbit/s, or with a unit (10gbit); 0: no limit"},
		MEMBER(max_rate_mbps), .wanted = RATE_WANTED "no limit"},
	{{VFCTL_ATTR_SPOOFCHK, ONE_KEY("spoofchk"), "spoofchk", VFCTL_ATTR_TYPE_SWITCH, 0,
		KEPT, "drop frames with a forged source address: on, off"},
		MEMBER(spoofchk), .safe = true, ON_OFF},
	{{VFCTL_ATTR_TRUST, ONE_KEY("trust"), "trust", VFCTL_ATTR_TYPE_SWITCH, 0,
		CLEANED,
		"let the guest change its MAC and see other traffic: on, off"},
		MEMBER(trust), ON_OFF},
	{{VFCTL_ATTR_LINK_STATE, KEYS("link-state", "link-state", "link_state", "link_state"),
		"link-state", VFCTL_ATTR_TYPE_WORD, 0, KEPT,
		"link that the guest sees: auto (that of the port), enable, disable"},
		MEMBER(link_state), .choices = link_state_text,
		.wanted = "auto, enable or disable (follow, up or down)",
		.lease_only = "a link state other than that of the port is granted only by lease"},
	{{VFCTL_ATTR_QUERY_RSS, KEYS("query-rss", "query-rss", "query_rss", "query_rss"), "query-rss",
		VFCTL_ATTR_TYPE_SWITCH, 0, CLEANED,
		"let the guest read the PF's RSS table and key: on, off"},
		MEMBER(query_rss), ON_OFF,
		.lease_only = "RSS queries (query-rss) are granted only by lease"},
	{{VFCTL_ATTR_MSIX, ONE_KEY("msix"), "msix", VFCTL_ATTR_TYPE_NUMBER, VFCTL_MSIX_MAX,
		VFCTL_ATTR_HAS_DEFAULT,
		"MSI-X vectors: 0 (the device's default) to 2048"},
		MEMBER(msix), .wanted = "0 (the device's default) to 2048",
		.lease_only = "interrupt vectors are granted only by lease"},
	{{VFCTL_ATTR_NODE_GUID, KEYS("node-guid", "node-guid", "node_guid", "node_guid"), "node GUID",
		VFCTL_ATTR_TYPE_GUID, 0, VFCTL_ATTR_FROM_LINK, "node GUID of an InfiniBand VF"},
		MEMBER(node_guid)},
	{{VFCTL_ATTR_PORT_GUID, KEYS("port-guid", "port-guid", "port_guid", "port_guid"), "port GUID",
		VFCTL_ATTR_TYPE_GUID, 0, VFCTL_ATTR_FROM_LINK, "port GUID of an InfiniBand VF"},
		MEMBER(port_guid)},
	{{VFCTL_ATTR_PKEY, ONE_KEY("pkey"), "P_Key", VFCTL_ATTR_TYPE_PKEY, 0, 0,
		"partition of an InfiniBand VF: 0x1 to 0x7fff, with :full or :limited"},
		MEMBER(pkey),
		.wanted = "0x1 to 0x7fff followed by :full or :limited (the number does not "
			"include the membership bit)",
		.lease_only = "a P_Key is granted only by lease"},
};

const struct vfctl_vf_attr_info *vfctl_vf_attr_info(size_t index)
{
	return index < ARRAY_SIZE(attr_table) ? &attr_table[index].info : NULL;
}

static const struct attr *find_attr(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (str_eq(attr_table[i].info.key, key))
			return &attr_table[i];
	return NULL;
}

/* sysfs, ip link and MLNX_OFED use '_' in words where vfctl uses '-'. */
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
		if (same_word(word, attr_table[i].info.key))
			return attr_table[i].info.key;
	return NULL;
}

static int fail_unknown(struct vfctl_ctx *ctx, const char *key)
{
	const char *ours = vfctl_vf_attr_name(key);
	struct nearest search = nearest_to(key);
	_buf_ struct buf known = {0};

	if (ours)
		return ctx_usage_error(ctx, -ENOENT, "%s: not a VF attribute here; it is called "
			"%s", key, ours);
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++) {
		buf_printf(&known, "%s, ", attr_table[i].info.key);
		nearest_offer(&search, attr_table[i].info.key);
	}
	if (nearest_only(&search))
		return ctx_usage_error(ctx, -ENOENT, "%s: not a VF attribute; did you mean %s?", key,
			search.best);
	return ctx_usage_error(ctx, -ENOENT, "%s: not a VF attribute; known are %sguid (node-guid and "
		"port-guid)", key, known.failed ? "" : known.data);
}

int vfctl_vf_attrs_parse(struct vfctl_ctx *ctx, const char *key, const char *value,
	struct vfctl_vf_attrs *io)
{
	const struct attr *attr = find_attr(key);
	int r;

	/* One value for both GUIDs, as for a function with one port. */
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
	if (io->mask & attr->info.bit)
		return ctx_usage_error(ctx, -EEXIST, "%s: given twice; keep one of them", key);
	r = types[attr->info.type].read(attr, value, (char *)io + attr->member);
	if (r < 0 && attr->info.type == VFCTL_ATTR_TYPE_GUID)
		return ctx_usage_error(ctx, r, "%s: '%s' %s", key, value, guid_fault(value));
	if (r < 0)
		return ctx_usage_error(ctx, r, "%s: '%s' is not allowed; it must be %s", key,
			value, attr->wanted);
	io->mask |= attr->info.bit;
	/* The kernel would reject a zero protocol (EPROTONOSUPPORT). */
	if (attr->info.bit & VFCTL_ATTR_VLAN && !(io->mask & VFCTL_ATTR_VLAN_PROTO))
		io->proto = VFCTL_VLAN_8021Q;
	return 0;
}

int vfctl_vf_attrs_check(struct vfctl_ctx *ctx, const struct vfctl_vf_attrs *attrs)
{
	bool tagged = attrs->mask & VFCTL_ATTR_VLAN_ID && attrs->vlan != 0;

	if (attrs->mask & VFCTL_ATTR_VLAN_QOS && !tagged)
		return ctx_usage_error(ctx, -EINVAL,
			"qos: only a tagged frame carries a priority; give a vlan of 1 "
			"to 4094 too");
	if (attrs->mask & VFCTL_ATTR_VLAN_PROTO && !tagged)
		return ctx_usage_error(ctx, -EINVAL,
			"proto: it is the protocol of a tag; give a vlan of 1 to 4094 "
			"too");
	if ((attrs->mask & VFCTL_ATTR_RATE) == VFCTL_ATTR_RATE && attrs->max_rate_mbps &&
		attrs->min_rate_mbps > attrs->max_rate_mbps)
		return ctx_usage_error(ctx, -EINVAL,
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

		if (!(attrs->mask & attr->info.bit))
			continue;
		*ret_key = attr->info.key;
		types[attr->info.type].print(attr, (const char *)attrs + attr->member, value);
		(*index)++;
		return true;
	}
	return false;
}

static const void *member_of(const struct vfctl_vf_attrs *attrs, const struct attr *attr)
{
	return (const char *)attrs + attr->member;
}

bool vfctl_vf_attr_text(const struct vfctl_vf_attrs *attrs, uint32_t bit,
	char value[VFCTL_ATTR_TEXT])
{
	struct vfctl_vf_attrs one = *attrs;
	const char *key;
	size_t i = 0;

	one.mask &= bit;
	return vfctl_vf_attrs_next(&one, &i, &key, value);
}

uint32_t vfctl_vf_attr_number(const struct vfctl_vf_attrs *attrs,
	const struct vfctl_vf_attr_info *info)
{
	const struct attr *attr = (const struct attr *)info; /* info is the first member of struct attr */

	return number_at(attr, member_of(attrs, attr));
}

bool vfctl_vf_attr_word(const struct vfctl_vf_attr_info *info, size_t index, const char **ret_word,
	const char **ret_other)
{
	const struct attr_word *choices = ((const struct attr *)info)->choices;

	if (!choices || !choices[index].word)
		return false;
	*ret_word = choices[index].word;
	*ret_other = choices[index].other;
	return true;
}

uint32_t attrs_with(unsigned flags)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if ((attr_table[i].info.flags & flags) == flags)
			bits |= attr_table[i].info.bit;
	return bits;
}

uint32_t attrs_of_type(enum vfctl_vf_attr_type type)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (attr_table[i].info.type == type)
			bits |= attr_table[i].info.bit;
	return bits;
}

uint32_t attrs_group(uint32_t bits, const char **ret_group)
{
	uint32_t group = 0;

	*ret_group = "attributes";
	for (size_t i = 0; i < ARRAY_SIZE(attr_table) && !group; i++)
		if (bits & attr_table[i].info.bit)
			for (size_t k = i; k < ARRAY_SIZE(attr_table); k++)
				if (str_eq(attr_table[k].info.group, attr_table[i].info.group)) {
					*ret_group = attr_table[i].info.group;
					group |= attr_table[k].info.bit;
				}
	return group;
}

const char *attr_key(uint32_t bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (attr_table[i].info.bit & bit)
			return attr_table[i].info.key;
	return "";
}

const char *attr_lease_only(uint32_t bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (attr_table[i].info.bit & bit)
			return attr_table[i].lease_only;
	return NULL;
}

struct vfctl_vf_attrs attrs_safe(uint32_t bits)
{
	struct vfctl_vf_attrs safe = {.proto = VFCTL_VLAN_8021Q};

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++) {
		const struct attr *attr = &attr_table[i];

		if (!(bits & attr->info.bit && attr->info.flags & VFCTL_ATTR_HAS_DEFAULT))
			continue;
		set_number(attr, attr->safe, (char *)&safe + attr->member);
		safe.mask |= attr->info.bit;
	}
	return safe;
}

uint32_t vfctl_vf_attrs_default(const struct vfctl_vf_attrs *attrs)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++) {
		const struct attr *attr = &attr_table[i];

		if (attr->info.flags & VFCTL_ATTR_HAS_DEFAULT &&
			number_at(attr, member_of(attrs, attr)) == attr->safe)
			bits |= attr->info.bit;
	}
	return attrs->mask & bits;
}

void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits)
{
	bits &= from->mask;
	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (bits & attr_table[i].info.bit)
			memcpy((char *)to + attr_table[i].member, member_of(from, &attr_table[i]),
				attr_table[i].size);
	to->mask |= bits;
	/* A VLAN always has a protocol (base/vfattr.h), also if only its ID was copied. */
	if (bits & VFCTL_ATTR_VLAN && !to->proto)
		to->proto = VFCTL_VLAN_8021Q;
}

uint32_t attrs_same(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attr_table); i++)
		if (memcmp(member_of(a, &attr_table[i]), member_of(b, &attr_table[i]),
			attr_table[i].size) == 0)
			bits |= attr_table[i].info.bit;
	return bits;
}

uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b)
{
	return a->mask & b->mask & attrs_same(a, b);
}

const char *vfctl_link_state_name(enum vfctl_link_state state)
{
	return word_of(link_state_text, (uint32_t)state);
}

const char *vfctl_vlan_proto_name(uint16_t proto)
{
	return word_of(proto_text, proto);
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
