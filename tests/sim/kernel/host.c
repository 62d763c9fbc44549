// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of a simulated host (struct host_ops): calls of the kernel, and what they wait for. */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"

struct attribute {
	const char *path, *text;
	unsigned ms;
};

static int store_whole(struct host *h, void *data, struct buf *ret_reply)
{
	const struct attribute *a = data;

	return sim_store(h, a->path, a->text, a->ms);
}

#define UEVENTS "%s/.sim/uevents"

/* Whoever hears the kernel's events has made the file: sim_events(). */
static void tell_event(struct host *h)
{
	_free_ char *path = str_format(UEVENTS, h->root);
	_close_ int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (fd >= 0)
		(void)!write(fd, ".", 1);
}

static int sim_events(struct host *h, int *ret_fds)
{
	_free_ char *path = str_format(UEVENTS, h->root);
	_close_ int file = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (file < 0 || fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) < 0)
		return -errno;
	ret_fds[0] = fd;
	return 1;
}

/* Messages of the kernel, as a test writes them into a pipe. */
static int sim_follow(struct host *h, int *ret_fd)
{
	_free_ char *path = str_format("%s/.sim/route", h->root);

	if (!path || (mkfifo(path, 0644) < 0 && errno != EEXIST))
		return -errno;
	*ret_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int sim_write(struct host *h, const char *path, const char *text, unsigned ms)
{
	struct attribute a = {path, text, ms};
	_buf_ struct buf none = {0};
	int r;

	/* Short, and of one file each: nothing of it is half done. A guest's start waits for many. */
	if (str_starts(path, "/sys/devices/system/cpu/cpu"))
		return sim_cpu_write(h, path, text);
	r = sim_whole(h, store_whole, &a, &none);

	tell_event(h);
	return r;
}

struct request {
	int protocol;
	const void *data;
	size_t len;
	unsigned ms;
};

static int exchange_whole(struct host *h, void *data, struct buf *ret_reply)
{
	const struct request *rq = data;

	return sim_exchange(h, rq->protocol, rq->data, rq->len, rq->ms, ret_reply);
}

static int exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	struct request rq = {protocol, request, len, timeout_ms};
	const struct nlmsghdr *first = request;
	int r = sim_whole(h, exchange_whole, &rq, ret_reply);

	if (protocol == NETLINK_ROUTE && first->nlmsg_type == RTM_SETLINK)
		tell_event(h);
	return r;
}

/* The directory is there on every host; in the tree it may not be yet. */
static int sim_replace(struct host *h, const char *path, const char *text)
{
	if (text && sim_put(h, "", "%s.keep", path) == 0)
		sim_remove(h, "%s.keep", path);
	return files_replace(h, path, text);
}

/* /.sim/modules/ALIAS holds the module's name; /.sim/unloaded/NAME exists until it is loaded. */
static int sim_load_module(struct host *h, const char *name, unsigned timeout_ms)
{
	_free_ char *module = sim_get(h, "/.sim/modules/%s", name);

	if (str_starts(name, "pci:"))
		return module ? sim_remove(h, "/.sim/unloaded/%s", module), 0 : -ENOENT;
	if (!sim_has(h, "/.sim/modules/%s", name))
		return -ENOENT;
	if (!strstr(name, "vfio"))
		return sim_put(h, "live\n", "/sys/module/%s/initstate", name);
	return sim_put(h, "", "/sys/bus/pci/drivers/%s/new_id", name);
}

/* libvirt carries the call of a client that died to its end: whoever waits sees the domain. */
static void put_u16(uint8_t *at, unsigned value)
{
	at[0] = value & 0xff;
	at[1] = (uint8_t)(value >> 8);
}

/* NVM Express base specification, Secondary Controller List. */
static int sim_nvme_identify(struct host *h, const char *path, unsigned cns, void *ret_data)
{
	_free_ char *text = sim_get(h, "/.sim/nvme%s", strrchr(path, '/'));
	uint8_t *data = ret_data;
	unsigned id, vf, queues, vectors;
	char *save = NULL;

	memset(data, 0, HOST_NVME_DATA);
	if (!text || cns != 0x15)
		return text ? -EIO : -ENOENT;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		uint8_t *entry = data + 32 + 32 * data[0];

		if (sscanf(line, "%u %u %u %u", &id, &vf, &queues, &vectors) != 4)
			return -EINVAL;
		data[0]++;
		put_u16(entry, id);
		put_u16(entry + 8, vf);
		put_u16(entry + 10, queues);
		put_u16(entry + 12, vectors);
	}
	return 0;
}

static int sim_kernel_log(struct host *h, struct buf *ret_text)
{
	_free_ char *text = sim_get(h, "/.sim/kernel-log");

	if (text && str_starts(text, "EPERM"))
		return -EPERM;
	if (text)
		buf_add(ret_text, text, strlen(text));
	return ret_text->failed ? -ENOMEM : 0;
}

static void sim_sleep(struct host *h, unsigned ms)
{
	_free_ char *from = str_format("%s/.sim/late.xml", h->root);
	_free_ char *to = str_format("%s/etc/libvirt/qemu/late.xml", h->root);

	if (from && to)
		rename(from, to);
	if (sim_has(h, "/.sim/sleeps"))
		files_sleep(h, ms);
}

static void sim_audit(struct host *h, const char *text)
{
	_free_ char *path = str_format("%s/.sim/audit", h->root);
	_free_ char *line = str_format("%s\n", text);
	_close_ int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (fd >= 0 && line)
		(void)!write(fd, line, strlen(line));
}

/* Files that the kernel shows under the device's lock, while somebody who hangs has that. */
static bool is_locked(struct host *h, const char *path)
{
	const char *name = strrchr(path, '/');
	char bdf[32];

	return sscanf(path, "/sys/bus/pci/devices/%31[^/]/", bdf) == 1 && sim_has(h, "/.sim/locked/%s", bdf) &&
		(str_eq(name, "/sriov_vf_total_msix") || str_eq(name, "/sriov_numvfs") ||
			str_eq(name, "/driver_override"));
}

static int sim_read(struct host *h, const char *path, struct buf *ret_text)
{
	if (is_locked(h, path)) {
		fprintf(stderr, "the read of %s never ends\n", path);
		abort();
	}
	return files_read(h, path, ret_text);
}

static int sim_read_slow(struct host *h, const char *path, unsigned timeout_ms, struct buf *ret_text)
{
	return is_locked(h, path) ? -ETIMEDOUT : files_read(h, path, ret_text);
}

static const struct host_ops sim_ops = {
	.name = "simulator",
	.read = sim_read,
	.read_slow = sim_read_slow,
	.write = sim_write,
	.replace = sim_replace,
	.readlink = files_readlink,
	.list = files_list,
	.exchange = exchange,
	.load_module = sim_load_module,
	.service = sim_service,
	.hangup = sim_hangup,
	.nvme_identify = sim_nvme_identify,
	.kernel_log = sim_kernel_log,
	.mode = files_mode,
	.hold = files_hold,
	.lock = files_lock,
	.sleep = sim_sleep,
	.audit = sim_audit,
	.events = sim_events,
	.follow = sim_follow,
	.free = files_free,
};

int sim_host_new(const char *root, struct host **ret_host)
{
	return files_host_new(&sim_ops, root, sizeof(struct host), ret_host);
}
