// SPDX-License-Identifier: GPL-2.0-or-later
/* Record a host: everything that vfctl reads, in an archive. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>

#include "base/parse.h"
#include "capture/tar.h"
#include "drivers/driver.h"
#include "host/files.h"
#include "host/host.h"

#define REPLY_TIMEOUT_MS 30000
#define DEPTH_MAX 12
/* DEVICE/iov/FUNCTION/ports/1/gid_idx/0 of mlx4 is the deepest file that vfctl reads. */
#define RDMA_DEPTH 7
#define FILE_MAX_BYTES (256u << 10)

/*
 * A capture never opens these files: reading them is slow (vpd: tens of seconds), has effects,
 * waits for device locks, or is useless.
 */
static const char *const skipped[] = {"vpd", "rom", "resource[0-9]*", "remove", "rescan",
	"reset", "power", "uevent", "config", "firmware_node", "consumer:*", "supplier:*",
	"subsystem_id_*", "waiting_for_supplier", "statistics", "queues", "msi_irqs",
	"hw_counters", "counters", "tracing", "nvmem*", "*_crash_notes*", "crash_notes*",
	"vmstat", "cpuidle", "thermal_throttle", "microcode", "hotplug", "duplex", "speed_hi",
	"mei*", "hwmon*", "ptp", "tpm*", "nvme", "block", "ata*", "usb*", "target*", "host*"};

/* Directories that are copied completely, and links of which only the target matters. */
static const char *const trees[] = {"/sys/devices/system/node", "/sys/devices/system/cpu",
	"/sys/kernel/iommu_groups", "/sys/kernel/mm/hugepages", "/sys/class/iommu",
	"/sys/devices/virtual/iommu"};
static const char *const link_lists[] = {"/sys/class/net", "/sys/class/infiniband",
	"/sys/bus/pci/drivers"};
static const char *const files[] = {"/proc/cpuinfo", "/proc/meminfo", "/proc/version",
	"/proc/cmdline", "/proc/uptime", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/hostname",
	"/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts",
	"/sys/kernel/security/lockdown", "/etc/vfctl/host.yaml"};

struct capture {
	struct vfctl_ctx *ctx;
	struct image image;
	size_t unreadable;
};

static bool is_skipped(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(skipped); i++)
		if (fnmatch(skipped[i], name, 0) == 0)
			return true;
	return false;
}

static int put_file(struct capture *c, const char *path, const void *data, size_t len)
{
	return image_add(&c->image, IMAGE_FILE, path, data, len);
}

static int put_link(struct capture *c, const char *path, const char *target)
{
	return image_add(&c->image, IMAGE_LINK, path, target, strlen(target));
}

/* Whether the error ends the capture; otherwise a single file is left out. */
static bool is_fatal(int r)
{
	return r == -ENOMEM || r == -E2BIG;
}

static int copy_file(struct capture *c, const char *path)
{
	struct host *h = host_of(c->ctx);
	_buf_ struct buf text = {0};
	int r = h->ops->read(h, path, &text);

	if (r < 0 || text.len > FILE_MAX_BYTES) {
		c->unreadable++; /* write-only, unsupported or unreadable: left out */
		return is_fatal(r) ? r : 0;
	}
	return put_file(c, path, text.data, text.len);
}

static int copy_directory(struct capture *c, const char *path, unsigned depth, bool device);

/* Copy an entry: a link, a directory (down to @depth) or a file. */
static int copy_entry(struct capture *c, const char *path, unsigned depth)
{
	struct host *h = host_of(c->ctx);
	_free_ char *target = NULL;
	_strv_ char **names = NULL;
	int r = h->ops->readlink(h, path, &target);

	if (r == 0)
		return put_link(c, path, target);
	if (r != -EINVAL)
		return 0;
	r = h->ops->list(h, path, &names);
	if (r == 0)
		return depth ? copy_directory(c, path, depth - 1, false) : 0;
	return copy_file(c, path);
}

/*
 * The directory of a device is inside that of its bridge: skip subdirectories that are PCI
 * functions themselves, because each is copied separately.
 */
static bool is_device(const char *name)
{
	return fnmatch("*:*:*.*", name, 0) == 0 || fnmatch("*:pcie*", name, 0) == 0 ||
		str_starts(name, "pci");
}

/* @device: the directory of a PCI function; its RDMA devices go deeper. */
static int copy_directory(struct capture *c, const char *path, unsigned depth, bool device)
{
	struct host *h = host_of(c->ctx);
	_strv_ char **names = NULL;
	int r = h->ops->list(h, path, &names);

	for (size_t i = 0; r == 0 && names[i]; i++) {
		_free_ char *entry = str_format("%s/%s", path, names[i]);

		if (!entry)
			return -ENOMEM;
		if (!is_skipped(names[i]) && !(device && is_device(names[i])))
			r = copy_entry(c, entry, device && str_eq(names[i], "infiniband") ? RDMA_DEPTH
				: depth);
	}
	return is_fatal(r) ? r : 0;
}

/* Absolute path, without links, of the device behind /sys/bus/pci/devices/NAME. */
static char *device_path(const char *target)
{
	while (str_starts(target, "../"))
		target += 3;
	return str_format("/sys/%s", target);
}

static int copy_pci(struct capture *c)
{
	static const char base[] = "/sys/bus/pci/devices";
	struct host *h = host_of(c->ctx);
	_strv_ char **names = NULL;
	int r = h->ops->list(h, base, &names);

	for (size_t i = 0; r == 0 && names[i]; i++) {
		_free_ char *entry = str_format("%s/%s", base, names[i]);
		_free_ char *target = NULL, *path = NULL;

		if (!entry || h->ops->readlink(h, entry, &target) < 0)
			continue;
		path = device_path(target);
		r = path ? put_link(c, entry, target) : -ENOMEM;
		if (r == 0)
			r = copy_directory(c, path, 4, true);
	}
	return r == -ENOENT ? 0 : r;
}

static int copy_links(struct capture *c, const char *dir)
{
	struct host *h = host_of(c->ctx);
	_strv_ char **names = NULL;

	if (h->ops->list(h, dir, &names) < 0)
		return 0;
	for (size_t i = 0; names[i]; i++) {
		_free_ char *entry = str_format("%s/%s", dir, names[i]);
		_free_ char *target = NULL;
		int r;

		if (!entry)
			return -ENOMEM;
		r = h->ops->readlink(h, entry, &target);
		if (r == 0)
			r = put_link(c, entry, target);
		else if (r == -EINVAL)
			r = copy_directory(c, entry, 0, false);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The bonds, and their state in mlx5: eswitch/lag.c. */
static int copy_bonds(struct capture *c)
{
	struct host *h = host_of(c->ctx);
	_strv_ char **nets = NULL, **cards = NULL;
	int r = 0;

	if (h->ops->list(h, "/sys/class/net", &nets) < 0)
		return 0;
	for (size_t i = 0; nets[i] && r == 0; i++) {
		_free_ char *entry = str_format("/sys/class/net/%s", nets[i]), *target = NULL, *dir = NULL;
		_free_ char *bonding = NULL;

		if (!host_exists(c->ctx, "/sys/class/net/%s/bonding", nets[i]))
			continue;
		dir = entry && h->ops->readlink(h, entry, &target) == 0 ? device_path(target) : steal(entry);
		bonding = dir ? str_format("%s/bonding", dir) : NULL;
		r = bonding ? copy_directory(c, bonding, 0, false) : -ENOMEM;
	}
	if (r < 0 || h->ops->list(h, "/sys/kernel/debug/mlx5", &cards) < 0)
		return r;
	for (size_t i = 0; cards[i] && r == 0; i++) {
		_free_ char *state = str_format("/sys/kernel/debug/mlx5/%s/lag/state", cards[i]);

		if (!state)
			return -ENOMEM;
		if (host_exists(c->ctx, "%s", state))
			r = copy_file(c, state);
	}
	return r;
}

/* Send the same requests as netlink/link.c, and record the answers unchanged. */
static int record_links(struct capture *c, int ifindex)
{
	struct host *h = host_of(c->ctx);
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
		struct rtattr mask;
		uint32_t bits;
	} request = {
		.head = {.nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1},
		.info = {.ifi_index = ifindex},
		.mask = {RTA_LENGTH(4), IFLA_EXT_MASK},
		.bits = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS,
	};
	_buf_ struct buf reply = {0};
	char path[64];
	int r;

	if (!ifindex)
		request.bits = RTEXT_FILTER_SKIP_STATS;
	request.head.nlmsg_flags |= ifindex ? NLM_F_ACK : NLM_F_DUMP;
	r = h->ops->exchange(h, NETLINK_ROUTE, &request, sizeof(request),
		REPLY_TIMEOUT_MS, &reply);
	if (r < 0)
		return is_fatal(r) ? r : 0;
	snprintf(path, sizeof(path), ifindex ? CAPTURE_VFS : CAPTURE_LINKS, ifindex);
	return put_file(c, path, reply.data, reply.len);
}

static int record_netlink(struct capture *c)
{
	struct host *h = host_of(c->ctx);
	_strv_ char **names = NULL;
	int r = record_links(c, 0);

	if (r < 0 || h->ops->list(h, "/sys/class/net", &names) < 0)
		return r;
	for (size_t i = 0; names[i] && r == 0; i++) {
		_free_ char *text = NULL;
		int index;

		if (!host_exists(c->ctx, "/sys/class/net/%s/device/sriov_totalvfs", names[i]))
			continue;
		if (host_try_read(c->ctx, &text, "/sys/class/net/%s/ifindex", names[i]) < 0)
			continue;
		if (parse_int(text, 1, INT_MAX, &index) == 0)
			r = record_links(c, index);
	}
	return r;
}

static bool is_of_sriov(const char *line)
{
	static const char *const message[] = {"SR-IOV", "vfio", "VFIO", "DMAR", "AMD-Vi", " VF",
		"VFs", "poof", "RMRR", "IOMMU mapping", "; giving up", "BAR ",
		"NETDEV WATCHDOG", "PF ", "sriov_numvfs"};
	const struct driver *d;

	for (size_t i = 0; i < ARRAY_SIZE(message); i++)
		if (strstr(line, message[i]))
			return true;
	for (size_t i = 0; (d = driver_at(i)); i++)
		if (strstr(line, d->log_word ? d->log_word : d->name))
			return true;
	return false;
}

/*
 * Record only the lines that may concern SR-IOV: the rest of a log may contain personal data. A
 * user who may not read the log records none.
 */
static int record_log(struct capture *c)
{
	_buf_ struct buf all = {0}, kept = {0};
	char *save = NULL;

	if (host_kernel_log(c->ctx, &all) < 0)
		return 0;
	buf_add(&kept, "", 0);
	for (char *line = all.data ? strtok_r(all.data, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save)) {
		if (is_of_sriov(line))
			buf_printf(&kept, "%s\n", line);
	}
	if (all.failed || kept.failed)
		return -ENOMEM;
	return put_file(c, CAPTURE_LOG, kept.data ? kept.data : "", kept.len);
}

/* ---- devlink: the requests of netlink/devlink.c ---- */

/* A generic netlink request with up to two texts as attributes. */
struct generic {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	char attrs[96];
};

static void put_text(struct generic *rq, uint16_t type, const char *text)
{
	size_t at = rq->head.nlmsg_len - offsetof(struct generic, attrs), size = strlen(text) + 1;
	struct nlattr attr = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type};

	if (at + NLA_HDRLEN + NLA_ALIGN(size) > sizeof(rq->attrs))
		return;
	memcpy(rq->attrs + at, &attr, sizeof(attr));
	memcpy(rq->attrs + at + NLA_HDRLEN, text, size);
	rq->head.nlmsg_len += (uint32_t)(NLA_HDRLEN + NLA_ALIGN(size));
}

static struct generic generic_of(uint16_t family, uint8_t command, uint16_t flags)
{
	return (struct generic){.head = {.nlmsg_len = offsetof(struct generic, attrs),
		.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | flags, .nlmsg_seq = 1},
		.generic = {.cmd = command, .version = 1}};
}

static int record(struct capture *c, const struct generic *rq, const char *path,
	struct buf *ret_reply)
{
	struct host *h = host_of(c->ctx);
	int r;

	buf_reset(ret_reply);
	r = h->ops->exchange(h, NETLINK_GENERIC, rq, rq->head.nlmsg_len, REPLY_TIMEOUT_MS, ret_reply);
	if (r < 0)
		return is_fatal(r) ? r : 0;
	return put_file(c, path, ret_reply->data, ret_reply->len);
}

/* The family's number in the kernel's answer; 0 if it has none. */
static uint16_t family_in(const struct buf *reply)
{
	struct nlmsghdr head;
	struct nlattr attr;
	uint16_t id = 0;

	if (reply->len < NLMSG_LENGTH(GENL_HDRLEN))
		return 0;
	memcpy(&head, reply->data, sizeof(head));
	for (size_t at = NLMSG_LENGTH(GENL_HDRLEN); head.nlmsg_type == GENL_ID_CTRL &&
		at + sizeof(attr) + sizeof(id) <= reply->len && at < head.nlmsg_len;
		at += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, reply->data + at, sizeof(attr));
		if (attr.nla_len < sizeof(attr))
			return 0;
		if (attr.nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&id, reply->data + at + NLA_HDRLEN, sizeof(id));
	}
	return id;
}

static int record_modes(struct capture *c, uint16_t family)
{
	struct host *h = host_of(c->ctx);
	_buf_ struct buf reply = {0};
	_strv_ char **names = NULL;
	int r = 0;

	if (h->ops->list(h, "/sys/bus/pci/devices", &names) < 0)
		return 0;
	for (size_t i = 0; names[i] && r == 0; i++) {
		struct generic rq = generic_of(family, DEVLINK_CMD_ESWITCH_GET, NLM_F_ACK);
		char path[64];

		if (!host_exists(c->ctx, "/sys/bus/pci/devices/%s/sriov_totalvfs", names[i]))
			continue;
		put_text(&rq, DEVLINK_ATTR_BUS_NAME, "pci");
		put_text(&rq, DEVLINK_ATTR_DEV_NAME, names[i]);
		snprintf(path, sizeof(path), CAPTURE_ESWITCH, names[i]);
		r = record(c, &rq, path, &reply);
	}
	return r;
}

static int record_devlink(struct capture *c)
{
	static const uint8_t dumps[] = {DEVLINK_CMD_PORT_GET, DEVLINK_CMD_RATE_GET,
		DEVLINK_CMD_HEALTH_REPORTER_GET};
	struct generic rq = generic_of(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	_buf_ struct buf reply = {0};
	uint16_t family;
	int r;

	put_text(&rq, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
	r = record(c, &rq, CAPTURE_DEVLINK_FAMILY, &reply);
	family = r == 0 ? family_in(&reply) : 0;
	for (size_t i = 0; family && r == 0 && i < ARRAY_SIZE(dumps); i++) {
		struct generic dump = generic_of(family, dumps[i], NLM_F_DUMP);
		char path[64];

		snprintf(path, sizeof(path), CAPTURE_DEVLINK_DUMP, dumps[i]);
		r = record(c, &dump, path, &reply);
	}
	return r == 0 && family ? record_modes(c, family) : r;
}

static int copy_all(struct capture *c)
{
	int r = copy_pci(c);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(trees); i++)
		r = copy_directory(c, trees[i], DEPTH_MAX, false);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(link_lists); i++)
		r = copy_links(c, link_lists[i]);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(files); i++)
		r = copy_file(c, files[i]);
	if (r == 0)
		r = record_log(c);
	if (r == 0)
		r = copy_bonds(c);
	if (r == 0)
		r = record_netlink(c);
	return r == 0 ? record_devlink(c) : r;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

/* -EINVAL if the name ends like that of an unsupported compression. */
static int choose_packing(struct vfctl_ctx *ctx, const char *path, bool *ret_gzip)
{
	static const char *const others[] = {".xz", ".txz", ".zst", ".tzst", ".bz2", ".tbz2", ".lz",
		".lz4", ".lzma", ".Z", ".zip"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (ends_with(path, others[i]))
			return ctx_fail(ctx, -EINVAL, "%s: a capture is a .tar.gz or .tar file; give it "
				"such a name", path);
	*ret_gzip = ends_with(path, ".gz") || ends_with(path, ".tgz");
	return 0;
}

static int write_archive(struct capture *c, struct vfctl_output *output, const char *path,
	bool gzip)
{
	_cleanup_(stream_freep) struct stream *out = NULL;
	int r = stream_create(c->ctx, vfctl_output_fd(output), path, gzip, &out);

	if (r == 0)
		r = tar_write(out, &c->image);
	if (r == -ENOMEM)
		ctx_oom(c->ctx);
	return r == 0 ? stream_finish(out) : r;
}

int vfctl_host_capture(struct vfctl_ctx *ctx, const char *path)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	struct capture c = {.ctx = ctx};
	bool gzip = false;
	int r;

	if (!host_of(ctx))
		return ctx_oom(ctx);
	r = choose_packing(ctx, path, &gzip);
	if (r == 0)
		r = vfctl_output_open(ctx, path, false, &output);
	if (r < 0)
		return r;
	r = copy_all(&c);
	if (r == 0)
		r = image_sort(&c.image);
	if (r < 0)
		ctx_fail(ctx, r, "capture: %s", r == -E2BIG ? "this host has more files than a "
			"capture may hold" : strerror(-r));
	else
		r = write_archive(&c, output, path, gzip);
	image_clear(&c.image);
	return r == 0 ? vfctl_output_commit(ctx, output) : r;
}
