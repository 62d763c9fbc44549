/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_TAR_BLOCK_H
#define VFCTL_CAPTURE_TAR_BLOCK_H

/* The header of a member, as POSIX (ustar) lays it out; all of it is text. */
#define TAR_BLOCK 512

struct tar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char owner[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char unused[12];
};

#endif
