// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generic netlink's "devlink" for PFs of mlx5_core and ice, as net/devlink/ and the drivers'
 * eswitch_offloads.c and ice_eswitch.c answer it, and the representors that a mode brings.
 *	.sim/eswitch/BDF	the mode; no file: legacy
 *	.sim/eswitch-error/BDF	"ERRNO WORDS": what the driver refuses each mode with
 *	.sim/rate/BDF.INDEX	"MAX SHARE", bytes a second
 *	.sim/rate-nodes/BDF	names, a line each
 *	.sim/health/BDF		"NAME STATE ERRORS RECOVERIES" lines
 *	.sim/disturbed		PFs whose mode changed while a guest had a VF: no test may find it
 *	.sim/no-devlink		exists: the kernel has none
 */
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>

#include "sim.h"

#define DEV "/sys/bus/pci/devices/%s"
#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define MBPS 125000

char sim_text[160];

static void say(const char *message)
{
	snprintf(sim_text, sizeof(sim_text), "%s", message);
}

/* ---- messages ---- */

static void put(struct buf *b, uint16_t type, const void *data, size_t len)
{
	static const char zero[4];
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_add(b, &head, sizeof(head));
	buf_add(b, data, len);
	buf_add(b, zero, NLA_ALIGN(len) - len);
}

static void put_text(struct buf *b, uint16_t type, const char *text)
{
	put(b, type, text, strlen(text) + 1);
}

static void put_u16(struct buf *b, uint16_t type, uint16_t value)
{
	put(b, type, &value, sizeof(value));
}

static void put_u32(struct buf *b, uint16_t type, uint32_t value)
{
	put(b, type, &value, sizeof(value));
}

static void put_u64(struct buf *b, uint16_t type, uint64_t value)
{
	put(b, type, &value, sizeof(value));
}

static size_t begin(struct buf *b, const struct nlmsghdr *rq, uint8_t command, const struct sim_pf *pf)
{
	struct nlmsghdr head = {.nlmsg_type = SIM_DEVLINK, .nlmsg_seq = rq->nlmsg_seq,
		.nlmsg_flags = rq->nlmsg_flags & NLM_F_DUMP ? NLM_F_MULTI : 0};
	struct genlmsghdr g = {.cmd = command, .version = 1};
	size_t at = b->len;

	buf_add(b, &head, sizeof(head));
	buf_add(b, &g, sizeof(g));
	put_text(b, DEVLINK_ATTR_BUS_NAME, "pci");
	put_text(b, DEVLINK_ATTR_DEV_NAME, TEXT(&pf->bdf));
	return at;
}

static void end(struct buf *b, size_t at)
{
	if (!b->failed)
		((struct nlmsghdr *)(void *)(b->data + at))->nlmsg_len = (uint32_t)(b->len - at);
}

static const struct nlattr *find(const struct nlmsghdr *rq, uint16_t type)
{
	const char *at = (const char *)rq + NLMSG_LENGTH(GENL_HDRLEN);
	const char *stop = (const char *)rq + rq->nlmsg_len;

	while (at + NLA_HDRLEN <= stop) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (attr->nla_len < NLA_HDRLEN)
			return NULL;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

static uint64_t get(const struct nlattr *attr, size_t size)
{
	uint64_t value = 0;

	if (attr && attr->nla_len >= NLA_HDRLEN + size)
		memcpy(&value, attr + 1, size);
	return value;
}

/* ---- state ---- */

static bool has_driver(struct host *h, const struct sim_pf *pf, const char *name)
{
	char path[128];
	_free_ char *target = NULL;

	snprintf(path, sizeof(path), DEV "/driver", TEXT(&pf->bdf));
	return h->ops->readlink(h, path, &target) == 0 && strrchr(target, '/') &&
		str_eq(strrchr(target, '/') + 1, name);
}

static bool is_in_devlink(struct host *h, const struct sim_pf *pf)
{
	return has_driver(h, pf, "mlx5_core") || has_driver(h, pf, "ice");
}

unsigned sim_eswitch(struct host *h, const struct vfctl_bdf *pf)
{
	_free_ char *text = sim_get(h, "/.sim/eswitch/%s", TEXT(pf));

	return text ? (unsigned)atoi(text) : DEVLINK_ESWITCH_MODE_LEGACY;
}

static void rate_of(struct host *h, const struct sim_pf *pf, uint32_t vf, uint64_t *ret_max,
	uint64_t *ret_share)
{
	_free_ char *text = sim_get(h, "/.sim/rate/%s.%u", TEXT(&pf->bdf), vf);
	unsigned long long max = 0, share = 0;

	if (text)
		sscanf(text, "%llu %llu", &max, &share);
	*ret_max = max;
	*ret_share = share;
}

/* ---- representors ---- */

/* The kernel's name for it, which says nothing: udev comes later, or not at all. */
void sim_representor_name(const struct sim_pf *pf, unsigned vf, char name[16])
{
	snprintf(name, 16, "eth%u", (unsigned)pf->bdf.bus * 100 + pf->bdf.function * 50u + vf);
}

int sim_representor_index(const struct sim_pf *pf, unsigned vf)
{
	return (int)(((unsigned)pf->bdf.bus << 8 | (unsigned)pf->bdf.slot << 3 | pf->bdf.function) * 256 + vf);
}

void sim_representor_add(struct host *h, const struct sim_pf *pf, unsigned vf)
{
	const char *bdf = TEXT(&pf->bdf);
	_free_ char *target = NULL, *device = str_format("../../../%s", bdf), *index = NULL, *port = NULL;
	_free_ char *id = sim_get(h, "/sys/class/net/%s/phys_switch_id", pf->netdev);
	char name[16];

	if (sim_eswitch(h, &pf->bdf) != DEVLINK_ESWITCH_MODE_SWITCHDEV)
		return;
	sim_representor_name(pf, vf, name);
	target = str_format("../../devices/sim/%s/net/%s", bdf, name);
	index = str_format("%d\n", sim_representor_index(pf, vf));
	port = str_format("pf%uvf%u\n", pf->bdf.function, vf);
	sim_put_link(h, device, DEV "/net/%s/device", bdf, name);
	sim_put(h, port, DEV "/net/%s/phys_port_name", bdf, name);
	sim_put(h, id ? id : "", DEV "/net/%s/phys_switch_id", bdf, name);
	sim_put(h, "0x1002\n", DEV "/net/%s/flags", bdf, name);
	sim_put(h, "1500\n", DEV "/net/%s/mtu", bdf, name);
	sim_put(h, index, DEV "/net/%s/ifindex", bdf, name);
	sim_put_link(h, target, "/sys/class/net/%s", name);
}

void sim_representor_drop(struct host *h, const struct sim_pf *pf, unsigned vf)
{
	char name[16];

	sim_representor_name(pf, vf, name);
	sim_remove(h, "/sys/class/net/%s", name);
	sim_remove(h, DEV "/net/%s", TEXT(&pf->bdf), name);
	sim_remove(h, "/.sim/rate/%s.%u", TEXT(&pf->bdf), vf);
}

/* The ports of one card have the same id: that of its system image (mlx5, devlink.c). */
static void name_uplink(struct host *h, const struct sim_pf *pf, bool on)
{
	const char *bdf = TEXT(&pf->bdf);
	_free_ char *id = str_format("5113%02x%02x0000\n", pf->bdf.bus, pf->bdf.slot);
	_free_ char *port = str_format("p%u\n", pf->bdf.function);

	if (!pf->netdev[0])
		return;
	if (!on) {
		sim_remove(h, DEV "/net/%s/phys_switch_id", bdf, pf->netdev);
		return;
	}
	sim_put(h, id, DEV "/net/%s/phys_switch_id", bdf, pf->netdev);
	sim_put(h, port, DEV "/net/%s/phys_port_name", bdf, pf->netdev);
}

/* ---- the mode ---- */

static int get_mode(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *b)
{
	size_t at;

	if (pf->infiniband) /* mlx5_eswitch_check() */
		return -EOPNOTSUPP;
	at = begin(b, rq, DEVLINK_CMD_ESWITCH_GET, pf);
	put_u16(b, DEVLINK_ATTR_ESWITCH_MODE, (uint16_t)sim_eswitch(h, &pf->bdf));
	end(b, at);
	return 0;
}

static void note_disturbed(struct host *h, const struct sim_pf *pf)
{
	_strv_ char **names = NULL;

	if (h->ops->list(h, "/.sim/open", &names) == 0 && names[0] && pf->num_vfs)
		sim_put(h, TEXT(&pf->bdf), "/.sim/disturbed");
}

static int refuse(struct host *h, const struct sim_pf *pf)
{
	_free_ char *planned = sim_get(h, "/.sim/eswitch-error/%s", TEXT(&pf->bdf));
	int error = 0, used = 0;

	if (!planned || sscanf(planned, "%d %n", &error, &used) != 1)
		return 0;
	say(planned + used);
	return -error;
}

/* Rates and representors go with the mode that had them, as does all that was set in it. */
static int change_mode(struct host *h, const struct sim_pf *pf, unsigned mode)
{
	_free_ char *text = str_format("%u\n", mode);
	bool on = mode == DEVLINK_ESWITCH_MODE_SWITCHDEV;

	note_disturbed(h, pf);
	for (unsigned i = 0; i < pf->num_vfs; i++) {
		struct sim_vf vf;

		sim_representor_drop(h, pf, i);
		if (sim_vf_read(h, &pf->bdf, i, &vf) < 0)
			continue;
		vf.min_rate = vf.max_rate = 0;
		sim_vf_write(h, &pf->bdf, i, &vf);
	}
	sim_put(h, text, "/.sim/eswitch/%s", TEXT(&pf->bdf));
	name_uplink(h, pf, on);
	for (unsigned i = 0; on && i < pf->num_vfs; i++)
		sim_representor_add(h, pf, i);
	sim_lag_look(h);
	return 0;
}

static int set_mode(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf)
{
	const struct nlattr *attr = find(rq, DEVLINK_ATTR_ESWITCH_MODE);
	unsigned mode = (unsigned)get(attr, 2);
	bool ice = has_driver(h, pf, "ice");
	int r;

	if (!attr || mode > 2)
		return -EINVAL;
	if (pf->infiniband)
		return -EOPNOTSUPP;
	if (sim_has(h, "/.sim/rate-nodes/%s", TEXT(&pf->bdf))) { /* devlink_rate_nodes_check() */
		say("Rate node(s) exists.");
		return -EBUSY;
	}
	if (mode == sim_eswitch(h, &pf->bdf))
		return 0;
	if (ice && mode > DEVLINK_ESWITCH_MODE_SWITCHDEV)
		return -EINVAL;
	if (ice && pf->num_vfs) {
		say("Changing eswitch mode is allowed only if there is no VFs created");
		return -EOPNOTSUPP;
	}
	r = refuse(h, pf);
	if (r < 0)
		return r;
	if (ice) /* words with a success */
		say(mode ? "Changed eswitch mode to switchdev" : "Changed eswitch mode to legacy");
	return change_mode(h, pf, mode);
}

/* ---- ports ---- */

static void put_uplink(struct buf *b, const struct nlmsghdr *rq, const struct sim_pf *pf)
{
	size_t at = begin(b, rq, DEVLINK_CMD_PORT_NEW, pf);

	put_u32(b, DEVLINK_ATTR_PORT_INDEX, 0);
	put_u16(b, DEVLINK_ATTR_PORT_FLAVOUR, DEVLINK_PORT_FLAVOUR_PHYSICAL);
	if (pf->ifindex) {
		put_u32(b, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, pf->ifindex);
		put_text(b, DEVLINK_ATTR_PORT_NETDEV_NAME, pf->netdev);
	}
	end(b, at);
}

static void put_vf_port(struct host *h, struct buf *b, const struct nlmsghdr *rq, const struct sim_pf *pf,
	unsigned i)
{
	size_t at = begin(b, rq, DEVLINK_CMD_PORT_NEW, pf);
	struct nlattr nest = {.nla_len = NLA_HDRLEN + NLA_HDRLEN + 8,
		.nla_type = DEVLINK_ATTR_PORT_FUNCTION | NLA_F_NESTED};
	struct sim_vf vf = {0};
	char name[16];

	sim_representor_name(pf, i, name);
	sim_vf_read(h, &pf->bdf, i, &vf);
	put_u32(b, DEVLINK_ATTR_PORT_INDEX, 128 + i);
	put_u16(b, DEVLINK_ATTR_PORT_FLAVOUR, DEVLINK_PORT_FLAVOUR_PCI_VF);
	put_u32(b, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, (uint32_t)sim_representor_index(pf, i));
	put_text(b, DEVLINK_ATTR_PORT_NETDEV_NAME, name);
	put_u16(b, DEVLINK_ATTR_PORT_PCI_PF_NUMBER, pf->bdf.function);
	put_u16(b, DEVLINK_ATTR_PORT_PCI_VF_NUMBER, (uint16_t)i);
	buf_add(b, &nest, sizeof(nest));
	put(b, DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR, vf.mac, 6);
	end(b, at);
}

static void dump_ports(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *b)
{
	bool on = sim_eswitch(h, &pf->bdf) == DEVLINK_ESWITCH_MODE_SWITCHDEV;

	put_uplink(b, rq, pf);
	for (unsigned i = 0; on && i < pf->num_vfs; i++)
		put_vf_port(h, b, rq, pf, i);
}

/* ---- rates ---- */

static void dump_rates(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *b)
{
	bool on = sim_eswitch(h, &pf->bdf) == DEVLINK_ESWITCH_MODE_SWITCHDEV;
	_free_ char *nodes = sim_get(h, "/.sim/rate-nodes/%s", TEXT(&pf->bdf));
	char *save = NULL;

	for (unsigned i = 0; on && i < pf->num_vfs; i++) {
		size_t at = begin(b, rq, DEVLINK_CMD_RATE_NEW, pf);
		uint64_t max, share;

		rate_of(h, pf, i, &max, &share);
		put_u16(b, DEVLINK_ATTR_RATE_TYPE, DEVLINK_RATE_TYPE_LEAF);
		put_u32(b, DEVLINK_ATTR_PORT_INDEX, 128 + i);
		put_u64(b, DEVLINK_ATTR_RATE_TX_SHARE, share);
		put_u64(b, DEVLINK_ATTR_RATE_TX_MAX, max);
		end(b, at);
	}
	for (char *name = nodes ? strtok_r(nodes, "\n", &save) : NULL; name; name = strtok_r(NULL, "\n", &save)) {
		size_t at = begin(b, rq, DEVLINK_CMD_RATE_NEW, pf);

		put_u16(b, DEVLINK_ATTR_RATE_TYPE, DEVLINK_RATE_TYPE_NODE);
		put_text(b, DEVLINK_ATTR_RATE_NODE_NAME, name);
		end(b, at);
	}
}

static int check_rate(const struct sim_pf *pf, uint64_t rate)
{
	if (rate % MBPS) { /* esw_qos_devlink_rate_to_mbps() */
		say("TX rate not in link speed units of 1Mbps");
		return -EINVAL;
	}
	if (pf->speed && rate / MBPS > pf->speed) {
		say("TX rate value exceed link maximum speed");
		return -EINVAL;
	}
	return 0;
}

static int set_rate(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf)
{
	const struct nlattr *port = find(rq, DEVLINK_ATTR_PORT_INDEX);
	const struct nlattr *want_max = find(rq, DEVLINK_ATTR_RATE_TX_MAX);
	const struct nlattr *want_share = find(rq, DEVLINK_ATTR_RATE_TX_SHARE);
	uint32_t vf = (uint32_t)get(port, 4) - 128;
	_free_ char *text = NULL;
	uint64_t max, share;
	int r;

	if (!port || sim_eswitch(h, &pf->bdf) != DEVLINK_ESWITCH_MODE_SWITCHDEV || vf >= pf->num_vfs)
		return -ENODEV;
	rate_of(h, pf, vf, &max, &share);
	if (want_max)
		max = get(want_max, 8);
	if (want_share)
		share = get(want_share, 8);
	r = check_rate(pf, max);
	if (r == 0)
		r = check_rate(pf, share);
	text = str_format("%llu %llu\n", (unsigned long long)max, (unsigned long long)share);
	return r < 0 ? r : sim_put(h, text, "/.sim/rate/%s.%u", TEXT(&pf->bdf), vf);
}

/* ---- health ---- */

static void dump_health(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *b)
{
	_free_ char *lines = sim_get(h, "/.sim/health/%s", TEXT(&pf->bdf));
	unsigned state;
	unsigned long long errors, recoveries;
	char name[32];
	int used;

	for (const char *at = lines; at && sscanf(at, "%31s %u %llu %llu\n%n", name, &state, &errors, &recoveries,
			&used) == 4; at += used) {
		_buf_ struct buf inner = {0};
		uint8_t bad = (uint8_t)state;
		size_t m = begin(b, rq, DEVLINK_CMD_HEALTH_REPORTER_GET, pf);

		put_text(&inner, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
		put(&inner, DEVLINK_ATTR_HEALTH_REPORTER_STATE, &bad, 1);
		put_u64(&inner, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, errors);
		put_u64(&inner, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, recoveries);
		put(b, DEVLINK_ATTR_HEALTH_REPORTER | NLA_F_NESTED, inner.data, inner.len);
		end(b, m);
	}
}

/* ---- requests ---- */

static bool is_named(const struct nlmsghdr *rq, const struct sim_pf *pf)
{
	const struct nlattr *name = find(rq, DEVLINK_ATTR_DEV_NAME);

	return name && str_eq((const char *)(name + 1), TEXT(&pf->bdf));
}

/* As kernels before 6.6: with all devices, whichever was named. */
static int dump(struct host *h, const struct nlmsghdr *rq, uint8_t command, const struct sim_pf *pfs,
	size_t count, struct buf *b)
{
	struct nlmsghdr done = {.nlmsg_len = NLMSG_LENGTH(4), .nlmsg_type = NLMSG_DONE,
		.nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = rq->nlmsg_seq};
	int zero = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_in_devlink(h, &pfs[i]))
			continue;
		if (command == DEVLINK_CMD_PORT_GET)
			dump_ports(h, rq, &pfs[i], b);
		else if (command == DEVLINK_CMD_RATE_GET)
			dump_rates(h, rq, &pfs[i], b);
		else if (command == DEVLINK_CMD_HEALTH_REPORTER_GET)
			dump_health(h, rq, &pfs[i], b);
	}
	buf_add(b, &done, sizeof(done));
	buf_add(b, &zero, sizeof(zero));
	return 0;
}

int sim_devlink(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	const struct genlmsghdr *g = NLMSG_DATA(rq);
	struct sim_pf pfs[SIM_PFS_MAX];
	size_t count = sim_pfs_read(h, pfs);

	if ((rq->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return dump(h, rq, g->cmd, pfs, count, reply);
	for (size_t i = 0; i < count; i++) {
		if (!is_named(rq, &pfs[i]) || !is_in_devlink(h, &pfs[i]))
			continue;
		if (g->cmd == DEVLINK_CMD_ESWITCH_GET)
			return get_mode(h, rq, &pfs[i], reply);
		if (g->cmd == DEVLINK_CMD_ESWITCH_SET)
			return set_mode(h, rq, &pfs[i]);
		return g->cmd == DEVLINK_CMD_RATE_SET ? set_rate(h, rq, &pfs[i]) : -EOPNOTSUPP;
	}
	return -ENODEV;
}
