/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_VFATTR_H
#define VFCTL_CORE_VFATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/types.h"

/** Of a network device: the least that IPv4 needs, and what IPoIB in connected mode takes. */
#define VFCTL_MTU_MIN 68
#define VFCTL_MTU_MAX 65520

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_ctx;

/** Which members of struct vfctl_vf_attrs carry a value; the others are left alone. */
enum {
	VFCTL_ATTR_MAC = 1 << 0,
	VFCTL_ATTR_VLAN_ID = 1 << 1,
	VFCTL_ATTR_VLAN_QOS = 1 << 2,
	VFCTL_ATTR_VLAN_PROTO = 1 << 3,
	VFCTL_ATTR_MIN_RATE = 1 << 4,
	VFCTL_ATTR_MAX_RATE = 1 << 5,
	VFCTL_ATTR_SPOOFCHK = 1 << 6,
	VFCTL_ATTR_TRUST = 1 << 7,
	VFCTL_ATTR_LINK_STATE = 1 << 8,
	VFCTL_ATTR_MSIX = 1 << 9,
	VFCTL_ATTR_NODE_GUID = 1 << 10,
	VFCTL_ATTR_PORT_GUID = 1 << 11,
	VFCTL_ATTR_PKEY = 1 << 12,
	VFCTL_ATTR_QUERY_RSS = 1 << 13,

	/** What only an InfiniBand VF has. */
	VFCTL_ATTR_GUIDS = VFCTL_ATTR_NODE_GUID | VFCTL_ATTR_PORT_GUID,
	VFCTL_ATTR_INFINIBAND = VFCTL_ATTR_GUIDS | VFCTL_ATTR_PKEY,

	/** The kernel takes tag, priority and protocol in one attribute. */
	VFCTL_ATTR_VLAN =
		VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO,
	/** The kernel takes both rates in one attribute. */
	VFCTL_ATTR_RATE = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_MAX_RATE,

	/** What has a safe default; identities and P_Keys have none. */
	VFCTL_ATTR_POLICY = VFCTL_ATTR_VLAN | VFCTL_ATTR_RATE | VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST |
		VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS | VFCTL_ATTR_MSIX,
};

/** IFLA_VF_LINK_STATE; the values are the kernel's (linux/if_link.h). */
enum vfctl_link_state {
	VFCTL_LINK_STATE_AUTO = 0,    /**< as the physical port */
	VFCTL_LINK_STATE_ENABLE = 1,  /**< up even when the port is down */
	VFCTL_LINK_STATE_DISABLE = 2, /**< down */
};

/** VLAN protocols, as on the wire (IEEE 802.1Q). */
#define VFCTL_VLAN_8021Q 0x8100
#define VFCTL_VLAN_8021AD 0x88a8
#define VFCTL_VLAN_MAX 4094 /**< 4095 is reserved by IEEE 802.1Q */
#define VFCTL_QOS_MAX 7
#define VFCTL_MSIX_MAX 2048 /**< largest MSI-X table of a PCI function */

/** Policy of one VF. A plain value; zero-initialised it asks for nothing. */
struct vfctl_vf_attrs {
	uint32_t mask; /**< VFCTL_ATTR_ bits */
	struct vfctl_mac mac;
	uint16_t vlan;  /**< 0 (no VLAN) .. VFCTL_VLAN_MAX */
	uint8_t qos;    /**< 0..VFCTL_QOS_MAX */
	uint16_t proto; /**< VFCTL_VLAN_8021Q or _8021AD; set whenever a VLAN bit is */
	uint32_t min_rate_mbps;
	uint32_t max_rate_mbps; /**< 0: no limit */
	bool spoofchk;
	bool trust;
	enum vfctl_link_state link_state;
	uint64_t node_guid; /**< 0: not set */
	uint64_t port_guid;
	/** The partition it belongs to, as on the wire (VFCTL_PKEY_FULL or limited). The
	 * subnet manager gives it to the port; on mlx4 the host maps it too. */
	uint16_t pkey;
	uint32_t msix; /**< vectors, 0 (the device's default) .. VFCTL_MSIX_MAX */
	bool query_rss; /**< it may ask the PF how that spreads what comes in, and for the key of it */
};

/** Bytes that hold any printed value of one attribute, its NUL included. */
#define VFCTL_ATTR_TEXT 24

/**
 * Read one attribute and add it to @p io. Keys: mac, vlan, qos, proto (802.1Q, 802.1ad),
 * min-rate and max-rate (Mbit/s), spoofchk, trust and query-rss (on, off), link-state (auto,
 * enable, disable), msix, node-guid and port-guid (any spelling; guid gives
 * both the same), pkey ("0x0010:limited"). Each key once. Rules that span keys are vfctl_vf_attrs_check()'s.
 * @param io  unchanged on failure.
 * @return 0; -ENOENT for an unknown key; -EEXIST for a key given before; -EINVAL for a
 * value that is none (a multicast or zero MAC or GUID included); -ERANGE for a number outside
 * its range.
 */
int vfctl_vf_attrs_parse(struct vfctl_ctx *ctx, const char *key, const char *value,
	struct vfctl_vf_attrs *io);

/**
 * The key of vfctl_vf_attrs_parse() for what ip link, sysfs or MLNX_OFED call otherwise
 * ("max_tx_rate", "link_state", "spoofcheck"), or which it is already; NULL when it is none.
 */
const char *vfctl_vf_attr_name(const char *word);

/**
 * Check the rules that span attributes: qos and proto need a vlan of 1 or more, and
 * min-rate may not exceed max-rate (unless that is 0, no limit).
 * @return 0, or -EINVAL.
 */
int vfctl_vf_attrs_check(struct vfctl_ctx *ctx, const struct vfctl_vf_attrs *attrs);

/**
 * Print the attributes one by one in a fixed order, in the spelling that
 * vfctl_vf_attrs_parse() reads: for (size_t i = 0; vfctl_vf_attrs_next(...);).
 * @param index    where to go on; starts at 0, stepped by the call.
 * @param ret_key  receives a static string.
 * @return false when there are no more; @p ret_key and @p value are then unchanged.
 */
bool vfctl_vf_attrs_next(const struct vfctl_vf_attrs *attrs, size_t *index,
	const char **ret_key, char value[VFCTL_ATTR_TEXT]);

/** What the values of an attribute are. */
enum vfctl_vf_attr_type {
	VFCTL_ATTR_TYPE_MAC,
	VFCTL_ATTR_TYPE_GUID,
	VFCTL_ATTR_TYPE_PKEY,
	VFCTL_ATTR_TYPE_NUMBER, /**< 0..max */
	VFCTL_ATTR_TYPE_RATE,   /**< a number of Mbit/s, perhaps with a unit */
	VFCTL_ATTR_TYPE_SWITCH, /**< on, off */
	VFCTL_ATTR_TYPE_WORD,   /**< see vfctl_vf_attr_word() */
};

enum {
	VFCTL_ATTR_FROM_LINK = 1,   /**< the kernel reports it for each VF, over rtnetlink */
	VFCTL_ATTR_HAS_DEFAULT = 2, /**< it is policy, with a safe default */
	VFCTL_ATTR_CLEANED = 4,     /**< a released VF is put back to the default */
};

/** One VF attribute: a row of the table that all readers and printers share. Static strings. */
struct vfctl_vf_attr_info {
	uint32_t bit;
	const char *key;     /**< on the command line and in metadata */
	const char *file[2]; /**< in host.yaml, in guest.yaml */
	const char *json;
	const char *group;   /**< what the kernel takes in one attribute has one name */
	enum vfctl_vf_attr_type type;
	uint32_t max;        /**< of numbers and rates */
	unsigned flags;
	const char *help;    /**< one line */
};

/** The attributes in the order in which they are printed; NULL past the last. */
const struct vfctl_vf_attr_info *vfctl_vf_attr_info(size_t index);

/** The words of an attribute, and what other tools call them (or NULL); false past the last. */
bool vfctl_vf_attr_word(const struct vfctl_vf_attr_info *info, size_t index, const char **ret_word,
	const char **ret_other);

/**
 * The value of the attribute @p bit as vfctl_vf_attrs_parse() reads it.
 * @return false when @p attrs does not carry it; @p value is then unchanged.
 */
bool vfctl_vf_attr_text(const struct vfctl_vf_attrs *attrs, uint32_t bit, char value[VFCTL_ATTR_TEXT]);

/** The member of a number, rate, switch or word, whether the mask has it or not. */
uint32_t vfctl_vf_attr_number(const struct vfctl_vf_attrs *attrs, const struct vfctl_vf_attr_info *info);

/** Those that @p attrs carries and that are at their safe default, as VFCTL_ATTR_ bits. */
uint32_t vfctl_vf_attrs_default(const struct vfctl_vf_attrs *attrs);

/** "auto", "enable", "disable"; "unknown" for anything else. */
const char *vfctl_link_state_name(enum vfctl_link_state state);
/** "802.1Q", "802.1ad"; "unknown" for anything else. */
const char *vfctl_vlan_proto_name(uint16_t proto);

#ifdef __cplusplus
}
#endif
#endif
