// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite's writes, for faults: the programs export these, so that the library, which is opened at run
 * time, calls them instead of the C library's.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "sim.h"

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	ssize_t n = syscall(SYS_pwrite64, fd, data, size, at);

	fault_state();
	return n;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return pwrite64(fd, data, size, at);
}
