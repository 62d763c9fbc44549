// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "spec/guest_yaml.h"

#define HEAD "name: g\nvcpus: 4\nmemory: 8GiB\n"

static struct vfctl_ctx *ctx;

static struct vfctl_guest *parse(const char *text)
{
	struct vfctl_guest *guest = NULL;

	if (vfctl_guest_parse(ctx, "g.yaml", text, strlen(text), &guest) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return guest;
}

static void smallest_guest_gets_safe_defaults(void **state)
{
	struct vfctl_guest *g = parse(HEAD);

	assert_string_equal(g->name, "g");
	assert_int_equal(g->vcpus, 4);
	assert_true(g->memory_bytes == UINT64_C(8) << 30);
	assert_true(g->page_bytes == VFCTL_PAGES_AUTO);
	assert_int_equal(g->threads, VFCTL_THREADS_PREFER);
	assert_true(g->emulator_cores == VFCTL_EMULATOR_AUTO);
	assert_int_equal(g->iothreads, 0);
	assert_int_equal(g->spare_ports, 4);
	assert_string_equal(g->machine, "q35");
	assert_string_equal(g->cpu, "host-passthrough");
	assert_true(g->pmu);
	assert_true(g->console);
	assert_false(g->locked);
	assert_null(g->uuid);
	assert_null(g->template_name);
	assert_int_equal(vfctl_guest_vf_total(g), 0);
	vfctl_guest_free(g);
}

static void every_key_is_read(void **state)
{
	struct vfctl_guest *g = parse(
		"---\n"
		"name: 'träger 1'\n"
		"uuid: 6F3C8A56-0000-4000-8000-0123456789AB\n"
		"title: a guest\n"
		"description: |\n  two\n  lines\n"
		"vcpus: 8\nthreads: isolate\nmemory: 1536MiB\nhugepages: 2MiB\n"
		"virtualization: qemu\nmachine: pc-q35-8.2\ncpu: EPYC-v4\n"
		"emulator_cores: 2\niothreads: 3\nlocked: yes\npmu: off\n"
		"template: hpc-guest\nkernel: /k\ninitrd: /i\ncmdline: a=b \"c\"\n"
		"console: no\nspare_ports: 0\n"
		"disks:\n"
		"  - file: /d.qcow2\n"
		"  - {block: /dev/sdb, bus: virtio, cache: writeback, readonly: true}\n"
		"vfs:\n"
		"  - pf: mlx5_0\n    mac: 02:00:00:00:00:01\n    vlan: 100\n    qos: 3\n"
		"    proto: 802.1ad\n    max_rate_mbps: 1000\n    min_rate_mbps: 10\n"
		"    spoofchk: off\n    trust: on\n    link_state: enable\n    query_rss: on\n"
		"    form: hostdev\n"
		"  - {pf: any, count: 2, mac: auto}\n");

	assert_string_equal(g->name, "tr\xc3\xa4ger 1");
	assert_string_equal(g->uuid, "6f3c8a56-0000-4000-8000-0123456789ab");
	assert_string_equal(g->description, "two\nlines\n");
	assert_int_equal(g->threads, VFCTL_THREADS_ISOLATE);
	assert_true(g->page_bytes == 2 << 20);
	assert_int_equal(g->virtualization, VFCTL_VIRTUALIZATION_QEMU);
	assert_string_equal(g->machine, "pc-q35-8.2");
	assert_string_equal(g->cmdline, "a=b \"c\"");
	assert_true(g->locked);
	assert_false(g->console);
	assert_int_equal(g->iothreads, 3);
	assert_int_equal(g->disk_count, 2);
	assert_int_equal(g->disks[0].format, VFCTL_DISK_QCOW2);
	assert_string_equal(g->disks[0].bus, "virtio");
	assert_string_equal(g->disks[0].cache, "none");
	assert_true(g->disks[1].block);
	assert_true(g->disks[1].readonly);
	assert_int_equal(g->disks[1].format, VFCTL_DISK_RAW);
	assert_int_equal(g->vf_count, 2);
	assert_int_equal(vfctl_guest_vf_total(g), 3);
	assert_string_equal(g->vfs[0].pf, "mlx5_0");
	assert_int_equal(g->vfs[0].attrs.vlan, 100);
	assert_int_equal(g->vfs[0].attrs.proto, VFCTL_VLAN_8021AD);
	assert_int_equal(g->vfs[0].attrs.max_rate_mbps, 1000);
	assert_false(g->vfs[0].attrs.spoofchk);
	assert_true(g->vfs[0].attrs.trust);
	assert_true(g->vfs[0].attrs.query_rss);
	assert_int_equal(g->vfs[0].form, VFCTL_FORM_HOSTDEV);
	assert_null(g->vfs[1].pf);
	assert_int_equal(g->vfs[1].attrs.mask, VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST);
	assert_true(g->vfs[1].attrs.spoofchk);
	assert_false(g->vfs[1].attrs.trust);
	vfctl_guest_free(g);
}

static void defaults_follow_other_keys(void **state)
{
	struct vfctl_guest *g = parse(HEAD "virtualization: qemu\ndisks: [{file: /d}]\n");

	assert_string_equal(g->cpu, "maximum");
	assert_int_equal(g->iothreads, 1);
	assert_false(g->pmu);
	vfctl_guest_free(g);
	g = parse(HEAD "iothreads: 0\ndisks: [{file: /d}]\n");
	assert_int_equal(g->iothreads, 0);
	vfctl_guest_free(g);
}

static void bad_files_are_refused_with_a_place(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "the file is empty"},
		{"# nothing\n", "the file is empty"},
		{"- a\n", "g.yaml:1:1: the file must be keys"},
		{"text\n", "must be keys"},
		{"name: g\n", "vcpus: the key is missing"},
		{"vcpus: 1\nmemory: 1GiB\n", "name: the key is missing"},
		{HEAD "vcpu: 4\n", "g.yaml:4:1: vcpu: no such key; did you mean vcpus?"},
		{HEAD "hugepage: none\n", "did you mean hugepages?"},
		{HEAD "colour: red\n", "no such key; known are name, vcpus"},
		{HEAD "name: h\n", "g.yaml:4:1: name: given twice, first in line 1"},
		{HEAD "title:\n", "title: has no value"},
		{HEAD "title: null\n", "title: has no value"},
		{HEAD "title: ''\n", "title: it has 0 bytes"},
		{HEAD "title: [a]\n", "title: must be one value, not a list"},
		{HEAD "title: {a: b}\n", "title: must be one value, not a mapping"},
		{HEAD "title: \"a\\nb\"\n", "title: it must be one line"},
		{HEAD "title: \"a\\0b\"\n", "control character"},
		{HEAD "title: \"a\\x1bb\"\n", "control character"},
		{HEAD "title: &a b\n", "anchors"},
		{HEAD "title: !!str b\n", "tags"},
		{HEAD "title: *b\n", "alias"},
		{HEAD "? [a]\n: b\n", "a key must be a word"},
		{HEAD "---\nname: h\n", "g.yaml:4:1: a second document begins"},
		{HEAD "disks:\n\t- file: /d\n", "indent with spaces"},
		{HEAD "disks: [\n", "g.yaml:"},
		{HEAD "disks: {file: /d}\n", "disks: must be a list"},
		{HEAD "disks: [/d]\n", "must be keys with values"},
		{HEAD "disks: [{format: raw}]\n", "disks[0].file: a disk is either"},
		{HEAD "disks: [{file: /d, block: /e}]\n",
			"disks[0].file: a disk is either"},
		{HEAD "disks: [{file: d}]\n", "disks[0].file: 'd' is not allowed"},
		{HEAD "disks: [{file: /d, format: vmdk}]\n", "it must be qcow2 or raw"},
		{HEAD "disks: [{file: /d, size: 1}]\n", "disks[0].size: no such key"},
		{"name: g\nvcpus: 0\nmemory: 1GiB\n",
			"g.yaml:2:8: vcpus: '0' is not allowed; "
			"it must be a number from 1 to 4096"},
		{"name: g\nvcpus: 5000\nmemory: 1GiB\n", "vcpus: '5000'"},
		{"name: g\nvcpus: 4.5\nmemory: 1GiB\n", "vcpus: '4.5'"},
		{"name: g\nvcpus: -1\nmemory: 1GiB\n", "vcpus: '-1'"},
		{"name: g\nvcpus: 0x4\nmemory: 1GiB\n", "vcpus: '0x4'"},
		{"name: g\nvcpus: 1\nmemory: 4096\n", "memory: '4096'"},
		{"name: g\nvcpus: 1\nmemory: 8GB\n", "memory: '8GB'"},
		{"name: g\nvcpus: 1\nmemory: 0\n", "memory: '0'"},
		{"name: g\nvcpus: 1\nmemory: 99999999T\n", "memory:"},
		{"name: g\nvcpus: 1\nmemory: 1537MiB\nhugepages: 1GiB\n",
			"memory: it is not a whole"},
		{"name: a/b\nvcpus: 1\nmemory: 1GiB\n", "name: 'a/b' is not allowed"},
		{"name: .a\nvcpus: 1\nmemory: 1GiB\n", "name:"},
		{"name: ''\nvcpus: 1\nmemory: 1GiB\n", "name:"},
		{"name: \"a\\nb\"\nvcpus: 1\nmemory: 1GiB\n", "name:"},
		{HEAD "uuid: 1234\n", "uuid: '1234' is not a UUID"},
		{HEAD "uuid: 00000000-0000-0000-0000-000000000000\n", "is not a UUID"},
		{HEAD "threads: many\n", "it must be prefer, require, isolate or none"},
		{HEAD "hugepages: 4MiB\n", "it must be auto, 1GiB, 2MiB or none"},
		{HEAD "machine: pc-i440fx-8.0\n", "PCI Express"},
		{HEAD "cpu: 'a b'\n", "cpu: 'a b'"},
		{HEAD "virtualization: qemu\ncpu: host-passthrough\n", "needs KVM"},
		{HEAD "virtualization: xen\n", "it must be kvm or qemu"},
		{HEAD "locked: maybe\n", "it must be true or false"},
		{HEAD "initrd: /i\n", "initrd: it needs kernel:"},
		{HEAD "cmdline: quiet\n", "cmdline: it needs kernel:"},
		{HEAD "spare_ports: 17\n", "from 0 to 16"},
		{HEAD "iothreads: 65\n", "from 0 to 64"},
		{HEAD "emulator_cores: 65\n", "from 0 to 64, or auto"},
		{HEAD "emulator_cores: none\n", "from 0 to 64, or auto"},
		{HEAD "vfs: [{count: 1}]\n", "vfs[0].pf: the key is missing"},
		{HEAD "vfs: [{pf: a/b}]\n", "vfs[0].pf: 'a/b'"},
		{HEAD "vfs: [{pf: a, count: 0}]\n", "vfs[0].count: '0'"},
		{HEAD "vfs: [{pf: a, count: 65}]\n", "vfs[0].count: '65'"},
		{HEAD "vfs: [{pf: a, count: 40}, {pf: b, count: 25}]\n",
			"vfs: 65 VFs are requested"},
		{HEAD "vfs: [{pf: a, mac: 01:00:5e:00:00:01}]\n", "vfs[0].mac: mac: "},
		{HEAD "vfs: [{pf: a, mac: 00:00:00:00:00:00}]\n", "mac"},
		{HEAD "vfs: [{pf: a, count: 2, mac: 02:00:00:00:00:01}]\n",
			"cannot share"},
		{HEAD "vfs: [{pf: a, vlan: 4095}]\n", "vfs[0].vlan: "},
		{HEAD "vfs: [{pf: a, qos: 8, vlan: 1}]\n", "vfs[0].qos: "},
		{HEAD "vfs: [{pf: a, qos: 1}]\n", "g.yaml:4:7: vfs[0]: qos: "},
		{HEAD "vfs: [{pf: a, proto: 802.1ad}]\n", "vfs[0]: proto: "},
		{HEAD "vfs: [{pf: a, min_rate_mbps: 2, max_rate_mbps: 1}]\n",
			"vfs[0]: min-rate: 2"},
		{HEAD "vfs: [{pf: a, max_rate_mbps: fast}]\n", "vfs[0].max_rate_mbps: "},
		{HEAD "vfs: [{pf: a, form: bridge}]\n",
			"it must be auto, interface or hostdev"},
		{HEAD "vfs: [{pf: a, vlan: 1, qos: 1, form: interface}]\n",
			"does not support qos"},
		{HEAD "vfs: [{pf: a, Vlan: 1}]\n",
			"vfs[0].Vlan: no such key; did you mean vlan?"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_guest *guest = NULL;
		int r = vfctl_guest_parse(
			ctx, "g.yaml", cases[i].text, strlen(cases[i].text), &guest);

		assert_null(guest);
		if (r != -EINVAL)
			fail_msg("%d for: %s", r, cases[i].text);
		if (!strncmp("g.yaml:", vfctl_ctx_error(ctx), 7) &&
			strstr(vfctl_ctx_error(ctx), cases[i].message))
			continue;
		fail_msg("'%s' lacks '%s'", vfctl_ctx_error(ctx), cases[i].message);
	}
}

static int parse_bytes(const char *text, size_t len)
{
	struct vfctl_guest *guest = NULL;
	int r = vfctl_guest_parse(ctx, "g.yaml", text, len, &guest);

	vfctl_guest_free(guest);
	return r;
}

static void bytes_that_are_no_text(void **state)
{
	static const char latin1[] = HEAD "title: tr\xe4ger\n";
	static const char with_nul[] = HEAD "title: a\0b\n";
	static const char utf16[] = "\xff\xfen\0a\0";
	size_t big = VFCTL_GUEST_FILE_MAX + 1;
	char *file = malloc(big);

	assert_int_equal(parse_bytes(latin1, sizeof(latin1) - 1), -EILSEQ);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "not UTF-8"));
	assert_int_equal(parse_bytes(with_nul, sizeof(with_nul) - 1), -EINVAL);
	assert_int_equal(parse_bytes(utf16, sizeof(utf16) - 1), -EILSEQ);
	memset(file, '#', big);
	assert_int_equal(parse_bytes(file, big), -E2BIG);
	assert_int_equal(parse_bytes(file, big - 1), -EINVAL);
	memset(file, '[', big);
	assert_int_equal(parse_bytes(file, big - 1), -EINVAL);
	free(file);
}

static void many_small_values_are_bounded(void **state)
{
	_buf_ struct buf text = {0};

	buf_puts(&text, HEAD "disks: [");
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "a,");
	buf_puts(&text, "]\n");
	assert_int_equal(parse_bytes(text.data, text.len), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "too many values"));
}

static void truncated_files_never_pass_silently(void **state)
{
	static const char whole[] = HEAD "vfs: [{pf: a, vlan: 100, qos: 3}]\n";

	for (size_t len = 0; len + 2 < sizeof(whole); len++) {
		int r = parse_bytes(whole, len);

		/* A file cut between two keys is a smaller file; 8G is 8GiB. */
		if (r == 0)
			assert_true(len >= strlen(HEAD) - 3);
		else
			assert_int_equal(r, -EINVAL);
	}
}

static void names_are_safe(void **state)
{
	char name[VFCTL_GUEST_NAME_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_false(vfctl_guest_name_valid(name));
	name[sizeof(name) - 2] = '\0';
	assert_true(vfctl_guest_name_valid(name));
	assert_false(vfctl_guest_name_valid("a\nb"));
	assert_false(vfctl_guest_name_valid(".."));
	assert_false(vfctl_guest_name_valid(" a"));
	assert_false(vfctl_guest_name_valid("\xff"));
	assert_true(vfctl_guest_name_valid("a.b-c_1"));
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
		cmocka_unit_test(smallest_guest_gets_safe_defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(defaults_follow_other_keys),
		cmocka_unit_test(bad_files_are_refused_with_a_place),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(many_small_values_are_bounded),
		cmocka_unit_test(truncated_files_never_pass_silently),
		cmocka_unit_test(names_are_safe),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
