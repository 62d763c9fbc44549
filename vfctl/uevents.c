// SPDX-License-Identifier: GPL-2.0-or-later
#include "uevents.h"

#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_GROUP 1 /* lib/kobject_uevent.c; 2 is udev's */
#define QUIET_MS 100   /* a driver that probes makes many at once */

int uevents_open(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int uevents_await(int fd, unsigned ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char event[8192];
	int some = 0;

	while (poll(&ready, 1, some ? QUIET_MS : (int)ms) > 0) {
		some = 1;
		while (recv(fd, event, sizeof(event), 0) > 0)
			;
	}
	return some;
}
