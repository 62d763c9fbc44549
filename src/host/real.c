// SPDX-License-Identifier: GPL-2.0-or-later
/* The running kernel. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/nvme_ioctl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "host/host.h"

/* ---- writes that may block ---- */

/* A shell or a daemon hands down few descriptors, and low ones. */
#define INHERITED_MAX 1024

/*
 * Of what this process was given by its parent the child keeps nothing open: it may live on
 * for long, and whoever reads our output would wait for it as well. What is our own closes
 * on exec, the locks among it: a second writer must wait for this one.
 */
static void let_go_of_parent(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
}

/*
 * The child must not be ended by the terminal's Ctrl-C: half a VF removal is worse
 * than a finished one. All signals stay blocked in it.
 */
static pid_t fork_writer(struct host *h, const char *path, const char *text)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		let_go_of_parent();
		_exit(-files_write(h, path, text) & 0xff);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

#define TICK_MS 250

static int wait_exit(const struct host *h, pid_t pid, unsigned timeout_ms)
{
	_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd event = {.fd = fd, .events = POLLIN};
	int64_t end = files_now_ms() + timeout_ms, left;
	int n, status;

	if (fd < 0)
		return -errno;
	do {
		left = end - files_now_ms();
		left = left > 0 ? left : 0;
		n = poll(&event, 1, h->tick && left > TICK_MS ? TICK_MS : (int)left);
		if (n == 0 && h->tick)
			h->tick(h->tick_data);
	} while ((n < 0 && errno == EINTR) || (n == 0 && left > TICK_MS));
	if (n < 0)
		return -errno;
	if (n == 0)
		return -ETIMEDOUT;
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

static int real_write(struct host *h, const char *path, const char *text,
	unsigned timeout_ms)
{
	pid_t pid;

	if (!timeout_ms)
		return files_write(h, path, text);
	pid = fork_writer(h, path, text);
	if (pid < 0)
		return -errno;
	return wait_exit(h, pid, timeout_ms);
}

/* ---- reads that may block ---- */

/* The file's text goes to @out, and how it went is the exit status. */
static pid_t fork_reader(struct host *h, const char *path, int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		_close_ int fd = -1;
		_buf_ struct buf text = {0};
		int r;

		let_go_of_parent();
		fd = files_open(h, path, O_RDONLY | O_NOCTTY);
		r = fd < 0 ? fd : files_read_open(fd, path, &text);
		if (r == 0 && text.len > PIPE_BUF) /* a pipe that nobody reads yet takes as much */
			r = -EFBIG;
		if (r == 0 && write(out, text.data, text.len) != (ssize_t)text.len)
			r = -EIO;
		_exit(-r & 0xff);
	}
	return pid;
}

/* A reader that is left behind has nothing to finish: it ends as soon as the kernel lets it. */
static int real_read_slow(struct host *h, const char *path, unsigned timeout_ms, struct buf *ret_text)
{
	_close_ int in = -1, out = -1;
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	in = ends[0];
	out = ends[1];
	pid = fork_reader(h, path, out);
	if (pid < 0)
		return -errno;
	r = wait_exit(h, pid, timeout_ms);
	if (r == -ETIMEDOUT)
		kill(pid, SIGKILL);
	close(out);
	out = -1;
	return r < 0 ? r : files_read_open(in, "", ret_text);
}

/* ---- netlink ---- */

#define RECEIVE_BUFFER (4 << 20)

static int open_socket(int protocol, unsigned timeout_ms)
{
	struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	/* Zero would be no limit at all. */
	struct timeval timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000 + 1};
	int one = 1, size = RECEIVE_BUFFER;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	/* Wanted, not needed: old kernels and containers may refuse some of them. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

static int send_all(int fd, const void *request, size_t len)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t n;

	do
		n = sendto(fd, request, len, 0, (struct sockaddr *)&kernel, sizeof(kernel));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

/* NLMSG_OK() compares a length with a signed one, which clang warns of. */
static bool is_message(const struct nlmsghdr *m, int left)
{
	return left >= (int)sizeof(*m) && m->nlmsg_len >= sizeof(*m) &&
		m->nlmsg_len <= (unsigned)left;
}

/* Requests in @request that end in an acknowledgement or the end of a dump. */
static unsigned count_answers(const void *request, size_t len)
{
	const struct nlmsghdr *m = request;
	int left = (int)len;
	unsigned n = 0;

	for (; is_message(m, left); m = NLMSG_NEXT(m, left))
		if (m->nlmsg_flags & (NLM_F_ACK | NLM_F_DUMP))
			n++;
	return n;
}

/* One datagram, however large (64 KiB and more with many VFs), behind @reply. */
static int receive_real(int fd, struct buf *reply, size_t *ret_len)
{
	struct sockaddr_nl from;
	struct iovec iov = {0};
	struct msghdr msg = {.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1};
	_free_ void *block = NULL;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_PEEK | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	block = malloc((size_t)n + 1);
	if (!block)
		return -ENOMEM;
	iov = (struct iovec){block, (size_t)n};
	n = recvmsg(fd, &msg, 0);
	if (n < 0)
		return -errno;
	*ret_len = 0;
	if (from.nl_pid != 0) /* not the kernel: ignore */
		return 0;
	buf_add(reply, block, (size_t)n);
	*ret_len = (size_t)n;
	return reply->failed ? -ENOMEM : 0;
}

static unsigned count_ends(const char *data, size_t len)
{
	const struct nlmsghdr *m = (const void *)data;
	int left = (int)len;
	unsigned n = 0;

	for (; is_message(m, left); m = NLMSG_NEXT(m, left))
		if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE)
			n++;
	return n;
}

int real_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	unsigned expected = count_answers(request, len);
	_close_ int fd = open_socket(protocol, timeout_ms);
	int r;

	if (fd < 0)
		return fd;
	r = send_all(fd, request, len);
	while (r == 0 && expected > 0) {
		size_t start = ret_reply->len, got = 0;
		unsigned ends;

		r = receive_real(fd, ret_reply, &got);
		if (r < 0)
			break;
		ends = count_ends(ret_reply->data + start, got);
		expected -= ends < expected ? ends : expected;
	}
	return r;
}

/* ---- modules ---- */

static int real_load_module(struct host *h, const char *name, unsigned timeout_ms)
{
	char *argv[] = {"modprobe", "--", (char *)name, NULL};
	char *envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	pid_t pid;
	int r;

	r = posix_spawn(&pid, "/sbin/modprobe", NULL, NULL, argv, envp);
	if (r)
		return -r;
	r = wait_exit(h, pid, timeout_ms);
	return r == 0 || r == -ETIMEDOUT ? r : -ENOENT;
}

/* ---- NVMe ---- */

#define NVME_IDENTIFY 0x06 /* of the admin commands */
#define NVME_TIMEOUT_MS 30000

static int real_nvme_identify(struct host *h, const char *path, unsigned cns, void *ret_data)
{
	_close_ int fd = files_open(h, path, O_RDONLY | O_NONBLOCK);
	struct nvme_admin_cmd command = {.opcode = NVME_IDENTIFY, .cdw10 = cns,
		.addr = (uintptr_t)ret_data, .data_len = HOST_NVME_DATA,
		.timeout_ms = NVME_TIMEOUT_MS};
	int r;

	if (fd < 0)
		return fd;
	r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
	if (r < 0)
		return -errno;
	return r == 0 ? 0 : -EIO; /* its own status: it knows no such structure */
}

/* ---- the kernel's log ---- */

/* syslog(2) */
#define READ_ALL 3
#define BUFFER_SIZE 10

static int real_kernel_log(struct host *h, struct buf *ret_text)
{
	int size = klogctl(BUFFER_SIZE, NULL, 0), got;
	_free_ char *text = size > 0 ? malloc((size_t)size) : NULL;

	if (!text)
		return size < 0 ? -errno : -ENOMEM;
	got = klogctl(READ_ALL, text, size);
	if (got < 0)
		return -errno;
	buf_add(ret_text, text, (size_t)got);
	return ret_text->failed ? -ENOMEM : 0;
}

/* ---- the system's log ---- */

/* LOG_AUTHPRIV | LOG_NOTICE (syslog.h): what was done to the host with privilege. */
#define AUDIT_PRIORITY (10 << 3 | 5)

/* Without syslog(3): that keeps hidden state, and waits for a log daemon that does not read. */
static void real_audit(struct host *h, const char *text)
{
	struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	_free_ char *line = str_format("<%d>vfctl[%d]: %s", AUDIT_PRIORITY, getpid(), text);
	_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && line)
		(void)!sendto(fd, line, strlen(line), MSG_NOSIGNAL, (struct sockaddr *)&log,
			sizeof(log));
}

/* ---- events ---- */

#define KERNEL_GROUP 1 /* of uevents: lib/kobject_uevent.c; 2 is udev's */

static int hear(int protocol, unsigned groups)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/*
 * Uevents tell of devices, drivers and names; they do not tell of carrier, up and down, or
 * of a VF's attributes: those are links' (without VF data, which is read anyway).
 */
static int real_events(struct host *h, int *ret_fds)
{
	ret_fds[0] = hear(NETLINK_KOBJECT_UEVENT, KERNEL_GROUP);
	if (ret_fds[0] < 0)
		return -errno;
	ret_fds[1] = hear(NETLINK_ROUTE, RTMGRP_LINK);
	if (ret_fds[1] < 0) {
		int error = errno;

		close(ret_fds[0]);
		return -error;
	}
	return 2;
}

static const struct host_ops real_ops = {
	.name = "kernel",
	.read = files_read,
	.read_slow = real_read_slow,
	.write = real_write,
	.replace = files_replace,
	.readlink = files_readlink,
	.list = files_list,
	.exchange = real_exchange,
	.load_module = real_load_module,
	.nvme_identify = real_nvme_identify,
	.kernel_log = real_kernel_log,
	.mode = files_mode,
	.hold = files_hold,
	.lock = files_lock,
	.sleep = files_sleep,
	.audit = real_audit,
	.events = real_events,
	.free = files_free,
};

int real_host_new(struct host **ret_host)
{
	return files_host_new(&real_ops, NULL, sizeof(struct host), ret_host);
}
