// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "facts/guest_spec.h"
#include "spec/doc.h"

static struct vfctl_ctx *ctx;

static const char file[] = "---\n# all kinds of values\n"
	"name: 'träger 1'\ndescription: |\n  two\n  lines\n"
	"cells:\n  - {vcpus: 1, memory: 1GiB}\n  - {vcpus: 3, memory: 2GiB, node: 1}\n"
	"hugepages: none\ncmdline: a=b \"c\" 'd' \\n <&>\nkernel: /k\nlocked: yes\n"
	"disks:\n  - file: /d.qcow2\n  - {block: /dev/sdb, cache: writeback}\n"
	"tuning: {profile: latency, cpu-latency-us: 20}\n"
	"vfs:\n  - pf: mlx5_0\n    vlan: 100\n    max_rate_mbps: 1000\n    cell: 1\n"
	"  - {pf: any, count: 2, mac: auto}\n"
	"xml: {hpet: off, rng: auto}\n";

static const char json[] = "{\"name\": \"träger 1\", \"description\": \"two\\nlines\\n\", "
	"\"cells\": [{\"vcpus\": \"1\", \"memory\": \"1GiB\"}, "
	"{\"vcpus\": \"3\", \"memory\": \"2GiB\", \"node\": \"1\"}], \"hugepages\": \"none\", "
	"\"cmdline\": \"a=b \\\"c\\\" 'd' \\\\n <&>\", \"kernel\": \"/k\", \"locked\": \"yes\", "
	"\"disks\": [{\"file\": \"/d.qcow2\"}, {\"block\": \"/dev/sdb\", \"cache\": \"writeback\"}], "
	"\"tuning\": {\"profile\": \"latency\", \"cpu-latency-us\": \"20\"}, "
	"\"vfs\": [{\"pf\": \"mlx5_0\", \"vlan\": \"100\", \"max_rate_mbps\": \"1000\", \"cell\": \"1\"}, "
	"{\"pf\": \"any\", \"count\": \"2\", \"mac\": \"auto\"}], "
	"\"xml\": {\"hpet\": \"off\", \"rng\": \"auto\"}}";

static struct vfctl_guest *read_spec(const char *text)
{
	struct vfctl_guest *guest = NULL;

	if (guest_spec_parse(ctx, text, &guest) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return guest;
}

static struct vfctl_guest *read_file(const char *text)
{
	struct vfctl_guest *guest = NULL;

	if (vfctl_guest_parse(ctx, "g.yaml", text, strlen(text), &guest) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return guest;
}

/* Frees @guest. */
static void assert_json(struct vfctl_guest *guest, const char *expected)
{
	char *text = doc_json(guest->doc);

	assert_string_equal(text, expected);
	free(text);
	vfctl_guest_free(guest);
}

static void a_file_and_its_json_are_one_guest(void **unused)
{
	assert_json(read_file(file), json);
	assert_json(read_spec(json), json);
	/* JSON is YAML: the reader of files takes it as well. */
	assert_json(read_file(json), json);
}

/* As an editor shows it. */
static const char yaml[] = "name: träger 1\ndescription: |\n  two\n  lines\n"
	"cells:\n- vcpus: 1\n  memory: 1GiB\n- vcpus: 3\n  memory: 2GiB\n  node: 1\nhugepages: none\n"
	"cmdline: a=b \"c\" 'd' \\n <&>\nkernel: /k\nlocked: yes\n"
	"disks:\n- file: /d.qcow2\n- block: /dev/sdb\n  cache: writeback\n"
	"tuning:\n  profile: latency\n  cpu-latency-us: 20\n"
	"vfs:\n- pf: mlx5_0\n  vlan: 100\n  max_rate_mbps: 1000\n  cell: 1\n"
	"- pf: any\n  count: 2\n  mac: auto\nxml:\n  hpet: off\n  rng: auto\n";

static void a_guest_is_written_for_people(void **unused)
{
	struct vfctl_guest *guest = read_spec(json);
	char *text = doc_yaml(guest->doc);

	assert_string_equal(text, yaml);
	assert_json(read_file(text), json);
	free(text);
	vfctl_guest_free(guest);
}

/* Breaks and marks to YAML, plain characters to JSON. */
static void every_character_comes_back(void **unused)
{
	static const char title[] = "\xc2\x81\xc2\x85\xc2\xa0\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9"
		"\xef\xbb\xbf\xef\xbf\xbd\xef\xbf\xbe\xf0\x9f\x98\x80 # ' \\u0041/\t:";
	struct vfctl_guest *guest = read_file("{name: g, vcpus: 1, memory: 1GiB, description: "
		"\"\\x81\\N\\_\\u2027\\L\\P\\uFEFF\\uFFFD\\uFFFE\\U0001F600 # ' \\\\u0041/\\t:\"}");
	char *text = doc_json(guest->doc), *yaml_text;

	assert_string_equal(guest->description, title);
	vfctl_guest_free(guest);
	guest = read_spec(text);
	assert_string_equal(guest->description, title);
	yaml_text = doc_yaml(guest->doc);
	assert_json(read_file(yaml_text), text);
	free(yaml_text);
	assert_json(guest, text);
	free(text);
}

static void what_is_no_guest_is_refused(void **unused)
{
	static const char *const texts[] = {"", "{", "{}", "[1]", "x",
		"{\"name\": \"g\", \"vcpus\": 1, \"memory\": \"1GiB\"",
		"{\"name\": \"g\", \"vcpus\": 1, \"memory\": \"1GiB\", \"later\": 1}",
		"{\"name\": \"g\", \"vcpus\": 1, \"memory\": \"1GiB\", \"memory\": \"1GiB\"}",
		"{\"name\": \"g\", \"vcpus\": 1, \"memory\": \"1GiB\", \"vfs\": [{\"pf\": {}}]}",
		"{\"name\": &a \"g\", \"vcpus\": 1, \"memory\": \"1GiB\", \"title\": *a}",
		"name=g\nvcpus=1\nmemory=1GiB", "name: g\nvcpus: 1\nmemory: 1GiB",
		" {\"name\": \"g\", \"vcpus\": 1, \"memory\": \"1GiB\"}"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct vfctl_guest *guest = NULL;
		int r = guest_spec_parse(ctx, texts[i], &guest);

		if (r != -EBADMSG || guest || !*vfctl_ctx_error(ctx))
			fail_msg("'%s': %d (%s)", texts[i], r, vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
}

static void what_is_too_large_or_too_deep_is_refused(void **unused)
{
	static char text[2 * VFCTL_GUEST_FILE_MAX];
	static const char *const parts[] = {"{\"a\": ", "[", "x"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (size_t size = sizeof(text) / 1024; size <= sizeof(text); size *= 32) {
			struct vfctl_guest *guest = NULL;
			size_t len = strlen(parts[i]);

			memset(text, 0, sizeof(text));
			for (size_t at = 0; at + len < size; at += len)
				memcpy(text + at, parts[i], len);
			assert_int_equal(guest_spec_parse(ctx, text, &guest), -EBADMSG);
			ctx_clear(ctx);
		}
}

static int open_ctx(void **unused)
{
	return vfctl_ctx_new(&ctx);
}

static int close_ctx(void **unused)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_and_its_json_are_one_guest),
		cmocka_unit_test(a_guest_is_written_for_people),
		cmocka_unit_test(every_character_comes_back),
		cmocka_unit_test(what_is_no_guest_is_refused),
		cmocka_unit_test(what_is_too_large_or_too_deep_is_refused),
	};

	return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
