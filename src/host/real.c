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
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/parse.h"
#include "host/host.h"

/* ---- writes that may block ---- */

/* A shell or a daemon passes on only few descriptors, with low numbers. */
#define INHERITED_MAX 1024

/*
 * The child closes all descriptors that this process inherited from its parent: the child may live
 * long, and a reader of this process's output would wait for it too. Descriptors of this process,
 * including the locks, are kept: a second writer must wait for this one.
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
 * The terminal's Ctrl-C must not end the child, because an incomplete removal of VFs is worse than
 * a complete one. All signals stay blocked in it.
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
	int64_t end = now_ms() + timeout_ms, left;
	int n, status;

	if (fd < 0)
		return -errno;
	do {
		left = end - now_ms();
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

/* The text of the file goes to @out; the exit status is the result. */
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
		if (r == 0 && text.len > PIPE_BUF) /* a pipe buffers that much */
			r = -EFBIG;
		if (r == 0 && write(out, text.data, text.len) != (ssize_t)text.len)
			r = -EIO;
		_exit(-r & 0xff);
	}
	return pid;
}

/* A reader that is left behind has nothing to finish: it ends as soon as the kernel permits. */
static int real_read_slow(struct host *h, const char *path, unsigned timeout_ms,
	struct buf *ret_text)
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
	/* Zero would mean no limit. */
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
	/* Optional: old kernels and containers may refuse some of these. */
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

/* NLMSG_OK() compares a length with a signed one, and clang warns about that. */
static bool is_message(const struct nlmsghdr *m, int left)
{
	return left >= (int)sizeof(*m) && m->nlmsg_len >= sizeof(*m) &&
		m->nlmsg_len <= (unsigned)left;
}

/* Number of requests in @request that end with an acknowledgement or the end of a dump. */
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

/* Append one datagram, however large (64 KiB and more with many VFs), to @reply. */
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

static int run_quietly(struct host *h, const char *program, char *const argv[], unsigned timeout_ms)
{
	char *envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	pid_t pid;
	int r = posix_spawn(&pid, program, NULL, NULL, argv, envp);

	return r ? -r : wait_exit(h, pid, timeout_ms);
}

static int real_load_module(struct host *h, const char *name, unsigned timeout_ms)
{
	char *argv[] = {"modprobe", "--", (char *)name, NULL};
	int r = run_quietly(h, "/sbin/modprobe", argv, timeout_ms);

	return r == 0 || r == -ETIMEDOUT ? r : -ENOENT;
}

/* ---- services ---- */

static int real_service(struct host *h, const char *verb, const char *unit, unsigned timeout_ms)
{
	char *argv[] = {"systemctl", "--quiet", "--no-ask-password", (char *)verb, (char *)unit, NULL};

	return run_quietly(h, "/bin/systemctl", argv, timeout_ms);
}

static bool is_process_of_root(struct host *h, const char *pid, const char *name)
{
	_buf_ struct buf comm = {0};
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	return stat(path, &st) == 0 && st.st_uid == 0 && files_read(h, path, &comm) == 0 && comm.data &&
		str_eq(str_rstrip(comm.data), name);
}

/* Use a pidfd: the process id may be reused between the check and the signal. */
static int real_hangup(struct host *h, const char *name)
{
	_strv_ char **pids = NULL;
	int r = files_list(h, "/proc", &pids), pid;

	for (size_t i = 0; r == 0 && pids[i]; i++) {
		_close_ int fd = -1;

		if (parse_int(pids[i], 1, INT_MAX, &pid) < 0 || !is_process_of_root(h, pids[i], name))
			continue;
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (fd >= 0 && is_process_of_root(h, pids[i], name) &&
			syscall(SYS_pidfd_send_signal, fd, SIGHUP, NULL, 0) < 0 && errno != ESRCH)
			r = -errno;
	}
	return r;
}

/* ---- NVMe ---- */

#define NVME_IDENTIFY 0x06 /* one of the admin commands */
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
	return r == 0 ? 0 : -EIO; /* an NVMe status: it does not have such a structure */
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

/* LOG_AUTHPRIV | LOG_NOTICE (syslog.h): privileged changes to the host. */
#define AUDIT_PRIORITY (10 << 3 | 5)

/* syslog(3) is not used: it has hidden state, and blocks on a log daemon that does not read. */
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

#define KERNEL_GROUP 1 /* group of the kernel's uevents: lib/kobject_uevent.c; 2 is udev's */

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
 * Uevents report devices, drivers and names. They do not report carrier, up and down, or VF
 * attributes: link messages do (requested without VF data, which are read anyway).
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

static int real_follow(struct host *h, int *ret_fd)
{
	*ret_fd = hear(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_NEIGH);
	return *ret_fd < 0 ? -errno : 0;
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
	.service = real_service,
	.hangup = real_hangup,
	.nvme_identify = real_nvme_identify,
	.kernel_log = real_kernel_log,
	.mode = files_mode,
	.hold = files_hold,
	.lock = files_lock,
	.sleep = files_sleep,
	.audit = real_audit,
	.events = real_events,
	.follow = real_follow,
	.free = files_free,
};

int real_host_new(struct host **ret_host)
{
	return files_host_new(&real_ops, NULL, sizeof(struct host), ret_host);
}
