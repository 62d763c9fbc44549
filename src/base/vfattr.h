/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_VFATTR_H
#define VFCTL_BASE_VFATTR_H

#include "base/address.h"

struct buf;
struct vfctl_ctx;

/**
 * Limits of a network device's MTU: the minimum of IPv4, and the maximum of IPoIB in connected
 * mode.
 */
#define VFCTL_MTU_MIN 68
#define VFCTL_MTU_MAX 65520

/** Bits of the members of struct vfctl_vf_attrs that have a value; the others are not changed. */
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

	/** Attributes that only an InfiniBand VF has. */
	VFCTL_ATTR_GUIDS = VFCTL_ATTR_NODE_GUID | VFCTL_ATTR_PORT_GUID,
	VFCTL_ATTR_INFINIBAND = VFCTL_ATTR_GUIDS | VFCTL_ATTR_PKEY,

	/** The kernel takes tag, priority and protocol in one attribute. */
	VFCTL_ATTR_VLAN =
		VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO,
	/** The kernel takes both rates in one attribute. */
	VFCTL_ATTR_RATE = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_MAX_RATE,

	/** Attributes with a safe default; identities and P_Keys have none. */
	VFCTL_ATTR_POLICY = VFCTL_ATTR_VLAN | VFCTL_ATTR_RATE | VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST |
		VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS | VFCTL_ATTR_MSIX,
};

/** IFLA_VF_LINK_STATE; the values are the kernel's (linux/if_link.h). */
enum vfctl_link_state {
	VFCTL_LINK_STATE_AUTO = 0,    /**< follows the physical port */
	VFCTL_LINK_STATE_ENABLE = 1,  /**< up even when the port is down */
	VFCTL_LINK_STATE_DISABLE = 2, /**< down */
};

/** VLAN protocols, as on the wire (IEEE 802.1Q). */
#define VFCTL_VLAN_8021Q 0x8100
#define VFCTL_VLAN_8021AD 0x88a8
#define VFCTL_VLAN_MAX 4094 /**< 4095 is reserved by IEEE 802.1Q */
#define VFCTL_QOS_MAX 7
#define VFCTL_MSIX_MAX 2048 /**< largest MSI-X table of a PCI function */

/** Attributes of one VF. A plain value; zero-initialised it requests nothing. */
struct vfctl_vf_attrs {
	uint32_t mask; /**< VFCTL_ATTR_ bits */
	struct vfctl_mac mac;
	uint16_t vlan;  /**< 0 (no VLAN) .. VFCTL_VLAN_MAX */
	uint8_t qos;    /**< 0..VFCTL_QOS_MAX */
	uint16_t proto; /**< VFCTL_VLAN_8021Q or _8021AD; set if any VLAN bit is set */
	uint32_t min_rate_mbps;
	uint32_t max_rate_mbps; /**< 0: no limit */
	bool spoofchk;
	bool trust;
	enum vfctl_link_state link_state;
	uint64_t node_guid; /**< 0: not set */
	uint64_t port_guid;
	/**
	 * The partition of the VF, as on the wire (VFCTL_PKEY_FULL or limited). The subnet manager
	 * assigns it to the port; on mlx4 the host also maps it.
	 */
	uint16_t pkey;
	uint32_t msix; /**< vectors, 0 (the device's default) .. VFCTL_MSIX_MAX */
	bool query_rss; /**< the VF may query the PF's RSS table and hash key */
};

/** Bytes for any printed value of one attribute, including its NUL. */
#define VFCTL_ATTR_TEXT 24

/**
 * Read one attribute and add it to @p io. Keys: mac, vlan, qos, proto (802.1Q, 802.1ad), min-rate
 * and max-rate (Mbit/s), spoofchk, trust and query-rss (on, off), link-state (auto, enable,
 * disable), msix, node-guid and port-guid (any spelling; guid gives both the same), pkey
 * ("0x0010:limited"). Each key may occur once. vfctl_vf_attrs_check() checks rules for several
 * keys.
 * @param io  unchanged on failure.
 * @return 0; -ENOENT for an unknown key; -EEXIST for a key given before; -EINVAL for a value that
 * is not valid (including a multicast or zero MAC or GUID); -ERANGE for a number outside its range.
 */
int vfctl_vf_attrs_parse(struct vfctl_ctx *ctx, const char *key, const char *value,
	struct vfctl_vf_attrs *io);

/**
 * The key of vfctl_vf_attrs_parse() for a name that ip link, sysfs or MLNX_OFED use ("max_tx_rate",
 * "link_state", "spoofcheck"), or for the key itself; NULL if the name is not known.
 */
const char *vfctl_vf_attr_name(const char *word);

/**
 * Check the rules for several attributes: qos and proto need a vlan of 1 or more, and min-rate may
 * not exceed max-rate (unless that is 0, no limit).
 * @return 0, or -EINVAL.
 */
int vfctl_vf_attrs_check(struct vfctl_ctx *ctx, const struct vfctl_vf_attrs *attrs);

/**
 * Print the attributes one by one in a fixed order, in the spelling that
 * vfctl_vf_attrs_parse() reads: for (size_t i = 0; vfctl_vf_attrs_next(...);).
 * @param index    the position; start at 0, the call advances it.
 * @param ret_key  receives a static string.
 * @return false past the last one; @p ret_key and @p value are then unchanged.
 */
bool vfctl_vf_attrs_next(const struct vfctl_vf_attrs *attrs, size_t *index,
	const char **ret_key, char value[VFCTL_ATTR_TEXT]);

/** The type of an attribute's values. */
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
	VFCTL_ATTR_HAS_DEFAULT = 2, /**< it is a policy, with a safe default */
	VFCTL_ATTR_CLEANED = 4,     /**< a released VF gets the default */
};

/**
 * One VF attribute: a row of the table that all readers and printers use. The strings are static.
 */
struct vfctl_vf_attr_info {
	uint32_t bit;
	const char *key;     /**< key on the command line and in metadata */
	const char *file[2]; /**< keys in host.yaml and in guest.yaml */
	const char *json;
	const char *group;   /**< attributes that the kernel sets together have the same group */
	enum vfctl_vf_attr_type type;
	uint32_t max;        /**< largest number or rate */
	unsigned flags;
	const char *help;    /**< one line */
};

/** The attributes, in the order in which they are printed; NULL past the last one. */
const struct vfctl_vf_attr_info *vfctl_vf_attr_info(size_t index);

/**
 * The words that an attribute accepts, and their names in other tools (or NULL); false past the
 * last one.
 */
bool vfctl_vf_attr_word(const struct vfctl_vf_attr_info *info, size_t index, const char **ret_word,
	const char **ret_other);

/**
 * Print the value of the attribute @p bit as vfctl_vf_attrs_parse() reads it.
 * @return false if @p attrs does not contain it; @p value is then unchanged.
 */
bool vfctl_vf_attr_text(const struct vfctl_vf_attrs *attrs, uint32_t bit,
	char value[VFCTL_ATTR_TEXT]);

/** The value of a number, rate, switch or word, whether or not the mask includes it. */
uint32_t vfctl_vf_attr_number(const struct vfctl_vf_attrs *attrs,
	const struct vfctl_vf_attr_info *info);

/** The attributes of @p attrs that have their safe default, as VFCTL_ATTR_ bits. */
uint32_t vfctl_vf_attrs_default(const struct vfctl_vf_attrs *attrs);

/** "auto", "enable", "disable"; "unknown" for anything else. */
const char *vfctl_link_state_name(enum vfctl_link_state state);
/** "802.1Q", "802.1ad"; "unknown" for anything else. */
const char *vfctl_vlan_proto_name(uint16_t proto);

/* Largest number of groups of attributes; each group is one request to the kernel. */
#define ATTRS_MAX 32

/* Copy the attributes of @bits that @from contains; the others of @to are kept. */
void attrs_copy(struct vfctl_vf_attrs *to, const struct vfctl_vf_attrs *from, uint32_t bits);
/* The attributes that both contain, with the same value. */
uint32_t attrs_equal(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* The members that are equal, regardless of the masks. */
uint32_t attrs_same(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b);
/* The attributes with all of these flags; the attributes of this type. */
uint32_t attrs_with(unsigned flags);
uint32_t attrs_of_type(enum vfctl_vf_attr_type type);
/*
 * All attributes that the kernel sets together with the first of @bits, and the name of that group.
 */
uint32_t attrs_group(uint32_t bits, const char **ret_group);
/* The key on the command line. */
const char *attr_key(uint32_t bit);
/*
 * Why a domain without a lease may not have this attribute except at its default; NULL: host.yaml
 * decides.
 */
const char *attr_lease_only(uint32_t bit);
/* The safe defaults of those attributes in @bits that have one. */
struct vfctl_vf_attrs attrs_safe(uint32_t bits);
/* Append "vlan=100 trust=on" for the attributes of @bits that @attrs contains. */
void attrs_put(struct buf *out, const struct vfctl_vf_attrs *attrs, uint32_t bits);

#endif
