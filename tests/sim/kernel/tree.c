// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sim.h"

#define PATH_OF(path, h, fmt)                                                            \
	char path[600];                                                                  \
	do {                                                                             \
		va_list args_;                                                           \
		int n_ = snprintf(path, sizeof(path), "%s", (h)->root);                  \
		va_start(args_, fmt);                                                    \
		vsnprintf(path + n_, sizeof(path) - (size_t)n_, fmt, args_);             \
		va_end(args_);                                                           \
	} while (0)

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

/* An attribute is never seen half written: beside the tree first, then in its place. */
static int put_whole(struct host *h, char *path, const void *data, size_t len)
{
	_free_ char *fresh = str_format("%s/.new.%d", h->root, getpid());
	FILE *file;

	make_parents(path);
	file = fresh ? fopen(fresh, "we") : NULL;
	if (!file)
		return -errno;
	fwrite(data, len, 1, file);
	return fclose(file) == 0 && rename(fresh, path) == 0 ? 0 : -errno;
}

int sim_put(struct host *h, const char *text, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);

	return put_whole(h, path, text, strlen(text));
}

int sim_put_bytes(struct host *h, const void *data, size_t len, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);

	return put_whole(h, path, data, len);
}

int sim_put_link(struct host *h, const char *target, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);

	make_parents(path);
	unlink(path);
	return symlink(target, path) < 0 ? -errno : 0;
}

char *sim_get(struct host *h, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return str_rstrip(text);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int sim_remove(struct host *h, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);

	return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0 ? -errno : 0;
}

bool sim_has(struct host *h, const char *fmt, ...)
{
	PATH_OF(path, h, fmt);
	struct stat st;

	return lstat(path, &st) == 0;
}

/* ---- PFs and VFs ---- */

int sim_pf_read(struct host *h, const struct vfctl_bdf *bdf, struct sim_pf *ret)
{
	char text[VFCTL_BDF_TEXT];
	_free_ char *lines = sim_get(h, "/.sim/pf/%s", vfctl_bdf_format(bdf, text));
	_free_ char *number = sim_get(h, "/sys/bus/pci/devices/%s/sriov_numvfs", text);
	struct sim_pf pf = {.bdf = *bdf};
	char *save = NULL;
	int ups = 0;

	if (!lines)
		return -ENOENT;
	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char key[32], value[64];

		if (sscanf(line, "%31s %63s", key, value) != 2)
			continue;
		if (str_eq(key, "vf_driver"))
			str_copy(pf.vf_driver, sizeof(pf.vf_driver), value);
		else if (str_eq(key, "netdev"))
			str_copy(pf.netdev, sizeof(pf.netdev), value);
		else if (str_eq(key, "caps"))
			pf.caps = (unsigned)strtoul(value, NULL, 0);
		else if (str_eq(key, "ifindex"))
			pf.ifindex = (unsigned)atoi(value);
		else if (str_eq(key, "grant"))
			pf.grant = (unsigned)atoi(value);
		else if (str_eq(key, "speed"))
			pf.speed = (unsigned)atoi(value);
		else if (str_eq(key, "offset"))
			pf.offset = (unsigned)atoi(value);
		else if (str_eq(key, "stride"))
			pf.stride = (unsigned)atoi(value);
		else if (str_eq(key, "up")) {
			pf.up = atoi(value);
			if (!ups++)
				pf.was_up = pf.up;
		}
		else if (str_eq(key, "carrier"))
			pf.carrier = atoi(value);
		else if (str_eq(key, "rdma"))
			str_copy(pf.rdma, sizeof(pf.rdma), value);
		else if (str_eq(key, "ofed"))
			pf.ofed = atoi(value);
		else if (str_eq(key, "mlx4"))
			pf.mlx4 = atoi(value);
		else if (str_eq(key, "mtu"))
			pf.mtu = (unsigned)atoi(value);
		else if (str_eq(key, "no-spoofchk"))
			pf.no_spoofchk = atoi(value);
		else if (str_eq(key, "mac"))
			str_copy(pf.mac, sizeof(pf.mac), value);
		else if (str_eq(key, "perm"))
			str_copy(pf.perm, sizeof(pf.perm), value);
		else if (str_eq(key, "infiniband"))
			pf.infiniband = atoi(value);
	}
	pf.num_vfs = number ? (unsigned)atoi(number) : 0;
	*ret = pf;
	return 0;
}

size_t sim_pfs_read(struct host *h, struct sim_pf pfs[SIM_PFS_MAX])
{
	_strv_ char **names = NULL;
	_free_ char *dir = str_format("%s/.sim/pf", h->root);
	struct host plain = {.root_fd = -1};
	size_t n = 0;

	if (!dir || files_list(&plain, dir, &names) < 0)
		return 0;
	if (strv_len(names) > SIM_PFS_MAX) {
		fprintf(stderr, "simulator: %s has more than %d PFs\n", dir, SIM_PFS_MAX);
		_exit(EXIT_FAILURE);
	}
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_bdf bdf;

		if (vfctl_bdf_parse(names[i], &bdf) == 0 && sim_pf_read(h, &bdf, &pfs[n]) == 0)
			n++;
	}
	return n;
}

/* The kernel has an index of network devices; this remembers the place of each, and looks whether it is right. */
int sim_pf_read_index(struct host *h, unsigned ifindex, struct sim_pf *ret)
{
	static struct sim_pf known[SIM_PFS_MAX];
	static size_t count;

	for (int try = 0; try < 2; try++) {
		for (size_t i = 0; i < count; i++)
			if (known[i].ifindex == ifindex && sim_pf_read(h, &known[i].bdf, ret) == 0 &&
				ret->ifindex == ifindex)
				return 0;
		if (try == 0)
			count = sim_pfs_read(h, known);
	}
	return -ENODEV;
}

static void vf_path(struct host *h, const struct vfctl_bdf *pf, uint32_t vf, char *path,
	size_t size)
{
	char text[VFCTL_BDF_TEXT];

	snprintf(path, size, "%s/.sim/vf/%s.%u", h->root, vfctl_bdf_format(pf, text), vf);
}

int sim_vf_read(struct host *h, const struct vfctl_bdf *pf, uint32_t vf, struct sim_vf *ret)
{
	char path[600];
	FILE *file;
	size_t n;

	vf_path(h, pf, vf, path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return -errno;
	n = fread(ret, sizeof(*ret), 1, file);
	fclose(file);
	return n == 1 ? 0 : -EIO;
}

int sim_vf_write(struct host *h, const struct vfctl_bdf *pf, uint32_t vf,
	const struct sim_vf *state)
{
	char path[600];

	vf_path(h, pf, vf, path, sizeof(path));
	return put_whole(h, path, state, sizeof(*state));
}
