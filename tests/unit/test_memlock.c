// SPDX-License-Identifier: GPL-2.0-or-later
/* Locked memory: libvirt's figures, and the daemon's limits on a host of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "domain/definition.h"
#include "facts/snapshot/memlock.h"
#include "host/host.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define NONE VFCTL_MEMLOCK_UNLIMITED

static struct vfctl_ctx *ctx;

/* Scenario 57: the figures of libvirt's qemumemlocktest.c (guests of 1 GiB), and one seen on a host. */
static void need_is_as_libvirt_says(void **state)
{
	static const struct {
		struct vfctl_memlock guest;
		uint64_t version, need;
	} cases[] = {
		{{.memory_bytes = 64 * MIB, .vfio_devices = 1}, 0, 1140850688},
		{{.memory_bytes = GIB}, 0, 0},
		{{.memory_bytes = GIB, .vfio_devices = 1}, 0, 2147483648},
		{{.memory_bytes = GIB, .vfio_devices = 7}, 0, 2147483648},
		{{.memory_bytes = GIB, .hard_limit_bytes = 2 * GIB}, 0, 2147483648},
		{{.memory_bytes = GIB, .hard_limit_bytes = 2 * GIB, .locked = true,
			 .vfio_devices = 1}, 0, 2147483648},
		{{.memory_bytes = GIB, .locked = true, .vfio_devices = 1}, 0, NONE},
		{{.memory_bytes = GIB, .iommu = true}, 0, 0},
		{{.memory_bytes = GIB, .iommu = true, .vfio_devices = 3}, 8007000, 4 * GIB},
		{{.memory_bytes = GIB, .iommu = true, .vfio_devices = 3}, 8006000, 2 * GIB},
		{{.memory_bytes = GIB, .vfio_devices = 2, .others = 2}, 0, 4 * GIB},
		{{.memory_bytes = GIB, .others = 1}, 0, 2 * GIB},
		{{.memory_bytes = UINT64_MAX / 2, .vfio_devices = 9, .iommu = true}, 0, NONE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (vfctl_domain_memlock_need(&cases[i].guest, cases[i].version) !=
			cases[i].need)
			fail_msg("case %zu", i);
}

static void domains_say_what_counts(void **state)
{
	static const char xml[] =
		"<domain><name>g</name><memory unit='GiB'>2</memory><memtune><hard_limit "
		"unit='MiB'>4096</hard_limit></memtune><memoryBacking><locked/></memoryBacking>"
		"<devices><hostdev type='pci' mode='subsystem'/><hostdev type='usb'/>"
		"<hostdev type='mdev'/><interface type='hostdev'/><interface type='network'/>"
		"<interface type='vdpa'/><disk type='nvme'/><disk type='file'/>"
		"<iommu model='intel'/></devices></domain>";
	struct vfctl_memlock m;

	assert_int_equal(vfctl_domain_memlock_read(ctx, xml, &m), 0);
	assert_true(m.memory_bytes == 2 * GIB);
	assert_true(m.hard_limit_bytes == 4 * GIB);
	assert_true(m.locked && m.iommu);
	assert_int_equal(m.vfio_devices, 3);
	assert_int_equal(m.others, 2);
	assert_int_equal(vfctl_domain_memlock_read(ctx, "<domain><memtune><hard_limit>x"
		"</hard_limit></memtune></domain>", &m), -EINVAL);
	assert_int_equal(vfctl_domain_memlock_read(ctx, "<network/>", &m), -EINVAL);
}

static void limits_are_judged(void **state)
{
	static const struct {
		uint64_t need, limit;
		const char *words; /* NULL: it fits */
	} cases[] = {{0, 0, NULL}, {GIB, GIB, NULL}, {GIB, NONE, NULL}, {NONE, NONE, NULL},
		{1140850688, 65536, "locks 1088 MiB, the libvirt daemon may lock 64 KiB"},
		{NONE, GIB, "locks all memory"}, {GIB + 1, GIB, "locks 1025 MiB"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *words = NULL;

		assert_int_equal(vfctl_domain_memlock_judge(ctx, "g", cases[i].need,
					 cases[i].limit, &words),
			0);
		assert_int_equal(!words, !cases[i].words);
		if (words)
			assert_non_null(strstr(words, cases[i].words));
		free(words);
	}
}

/* ---- a host with a daemon ---- */

static struct {
	const char *path, *text;
} files[3];

static int read_file(struct host *h, const char *path, struct buf *ret_text)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].path && str_eq(files[i].path, path)) {
			buf_puts(ret_text, files[i].text);
			return 0;
		}
	return -ENOENT;
}

/* A file is no link. */
static int no_link(struct host *h, const char *path, char **ret_target)
{
	_buf_ struct buf text = {0};

	return read_file(h, path, &text) == 0 ? -EINVAL : -ENOENT;
}

static int no_list(struct host *h, const char *path, char ***ret_names)
{
	return -ENOENT;
}

static void free_host(struct host *h)
{
	free(h->root);
	free(h);
}

static const struct host_ops ops = {.name = "test", .read_only = true, .read = read_file,
	.readlink = no_link, .list = no_list, .free = free_host};

static char warned[512];

static void note(void *data, enum vfctl_log_level level, const char *message)
{
	snprintf(warned, sizeof(warned), "%s", message);
}

#define LIMITS(hard)                                                                         \
	"Limit                     Soft Limit           Hard Limit           Units     \n"    \
	"Max processes             1000                 1000                 processes \n"    \
	"Max locked memory         65536                " hard "              bytes     \n"

static void daemon_that_may_not_is_told(void **state)
{
	static const char xml[] = "<domain><name>g</name><memory unit='MiB'>64</memory>"
		"<devices><hostdev type='pci'/></devices></domain>";
	static const struct {
		const char *pid, *limits, *status;
		bool warns;
	} cases[] = {
		{"42\n", LIMITS("65536"), "Name:\tlibvirtd\nCapEff:\t0000000000000000\n", true},
		{"42\n", LIMITS("1140850687"), "CapEff:\t000001fffeffffff\n", true},
		{"42\n", LIMITS("1140850688"), "CapEff:\t0000000000000000\n", false},
		{"42\n", LIMITS("unlimited"), "CapEff:\t0000000000000000\n", false},
		{"42\n", LIMITS("65536"), "CapEff:\t000001ffffffffff\n", false},
		{"42\n", LIMITS("65536"), "CapEff:\tx\n", false},
		{"42\n", LIMITS("x"), "CapEff:\t0\n", false},
		{"42\n", "", "CapEff:\t0\n", false},
		{"43\n", LIMITS("65536"), "CapEff:\t0\n", false},
		{"x\n", LIMITS("65536"), "CapEff:\t0\n", false},
	};
	struct host *host = calloc(1, sizeof(*host));

	host->ops = &ops;
	host->root_fd = -1;
	host->root = strdup("");
	host_set(ctx, host);
	vfctl_ctx_set_log(ctx, note, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		files[0].path = "/run/libvirtd.pid";
		files[0].text = cases[i].pid;
		files[1].path = "/proc/42/limits";
		files[1].text = cases[i].limits;
		files[2].path = "/proc/42/status";
		files[2].text = cases[i].status;
		warned[0] = '\0';
		memlock_warn(ctx, "g", xml, 11003000);
		if (cases[i].warns != !!strstr(warned, "domain g locks 1088 MiB"))
			fail_msg("case %zu: '%s'", i, warned);
	}
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(need_is_as_libvirt_says),
		cmocka_unit_test(domains_say_what_counts),
		cmocka_unit_test(limits_are_judged),
		cmocka_unit_test(daemon_that_may_not_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
