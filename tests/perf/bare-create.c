// SPDX-License-Identifier: GPL-2.0-or-later
/* bare-create BDF N: the writes of `vfctl create BDF N` and nothing else. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	char pf[64], path[128], target[PATH_MAX];

	if (argc != 3)
		return 2;
	snprintf(pf, sizeof(pf), "/sys/bus/pci/devices/%s", argv[1]);
	snprintf(path, sizeof(path), "%s/sriov_drivers_autoprobe", pf);
	put(path, "0");
	snprintf(path, sizeof(path), "%s/sriov_numvfs", pf);
	put(path, argv[2]);
	for (int i = 0; i < atoi(argv[2]); i++) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/virtfn%d", pf, i);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			return 1;
		target[n] = '\0';
		snprintf(path, sizeof(path), "%s/virtfn%d/driver_override", pf, i);
		put(path, "vfio-pci");
		put("/sys/bus/pci/drivers_probe", strrchr(target, '/') + 1);
	}
	snprintf(path, sizeof(path), "%s/sriov_drivers_autoprobe", pf);
	put(path, "1");
	return 0;
}
