// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The JSON schemas of guest.yaml and host.yaml, held to what reads these files. That the schema
 * takes all that a parser takes is held in every test that parses (tests/schema/wrap.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "schema/check.h"
#include "spec/host_yaml.h"

#define NO_KEY "qqqqqqqqqqqqqqqqqqqqqqqqqqqq"
#define HEAD "name: g\nvcpus: 4\nmemory: 8GiB\n"

static struct vfctl_ctx *ctx;

static int parse(enum schema_kind kind, const char *text, size_t len)
{
	struct vfctl_host_spec *spec = NULL;
	struct vfctl_guest *guest = NULL;
	int r = kind == SCHEMA_GUEST ? vfctl_guest_parse(ctx, "y", text, len, &guest)
				     : vfctl_host_spec_parse(ctx, "y", text, len, &spec);

	vfctl_guest_free(guest);
	vfctl_host_spec_free(spec);
	return r;
}

/* ---- the keys are the same ---- */

/* The mapping (or list) among the alternatives of a value. */
static const struct json *structure(const struct json *schema)
{
	const struct json *any = json_member(schema, "anyOf");

	for (size_t i = 0; i < json_count(any); i++)
		if (json_member(json_item(any, i), "additionalProperties") ||
			json_member(json_item(any, i), "items"))
			return json_item(any, i);
	return schema;
}

/* Words of @path: a key; "*" an entry of a list; "=" a key that a pattern gives. */
static const struct json *follow(const struct json *schema, const char *path)
{
	_free_ char *copy = strdup(path);
	char *rest = NULL;

	for (char *word = strtok_r(copy, "/", &rest); word; word = strtok_r(NULL, "/", &rest)) {
		const struct json *patterns = json_member(schema, "patternProperties");
		void *iter = NULL;

		if (str_eq(word, "*"))
			schema = json_member(schema, "items");
		else if (str_eq(word, "="))
			schema = json_member(patterns, json_next(patterns, &iter));
		else
			schema = json_member(json_member(schema, "properties"), word);
		schema = structure(schema);
	}
	return schema;
}

/* "no such key; known are a, b, c", as the schema should have them. */
static void assert_keys_are_known(const struct json *map, const char *path)
{
	const char *message = strstr(vfctl_ctx_error(ctx), "known are "), *key;
	const struct json *properties = json_member(map, "properties");
	_buf_ struct buf ours = {0};
	void *iter = NULL;

	buf_puts(&ours, "known are ");
	while ((key = json_next(properties, &iter)))
		buf_printf(&ours, "%s%s", ours.len > 10 ? ", " : "", key);
	if (!message || strcmp(message, ours.data) != 0)
		fail_msg("%s:\nthe parser: %s\nthe schema: %s", path, vfctl_ctx_error(ctx), ours.data);
}

/* Mappings below @schema, itself included; other spellings of a key do not count. */
static size_t count_maps(const struct json *schema)
{
	const struct json *properties, *patterns;
	const char *key;
	void *iter = NULL;
	size_t count;

	schema = structure(schema);
	if (json_member(schema, "items"))
		return count_maps(json_member(schema, "items"));
	properties = json_member(schema, "properties");
	patterns = json_member(schema, "patternProperties");
	count = properties != NULL;
	while ((key = json_next(properties, &iter)))
		count += count_maps(json_member(properties, key));
	for (iter = NULL; (key = json_next(patterns, &iter));)
		if (!properties)
			count += count_maps(json_member(patterns, key));
	return count;
}

static void keys_are_those_of_the_parser(void **state)
{
	static const struct {
		enum schema_kind kind;
		const char *path, *yaml;
	} maps[] = {
		{SCHEMA_GUEST, "", NO_KEY ": 1"},
		{SCHEMA_GUEST, "vfs/*", "vfs: [{" NO_KEY ": 1}]"},
		{SCHEMA_GUEST, "cells/*", "cells: [{" NO_KEY ": 1}]"},
		{SCHEMA_GUEST, "disks/*", "disks: [{" NO_KEY ": 1}]"},
		{SCHEMA_GUEST, "xml", "xml: {" NO_KEY ": 1}"},
		{SCHEMA_GUEST, "tuning", "tuning: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "", NO_KEY ": 1"},
		{SCHEMA_HOST, "etcd", "etcd: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "typical/*", "typical: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "guid-pools/*", "guid-pools: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "guid-pools/*/ranges/*", "guid-pools: [{ranges: [{" NO_KEY ": 1}]}]"},
		{SCHEMA_HOST, "mac-pools/*", "mac-pools: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "mac-pools/*/ranges/*", "mac-pools: [{ranges: [{" NO_KEY ": 1}]}]"},
		{SCHEMA_HOST, "partitions/*", "partitions: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "pfs/*", "pfs: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "pfs/*/match", "pfs: [{match: {" NO_KEY ": 1}}]"},
		{SCHEMA_HOST, "hugepages/*", "hugepages: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "kernel", "kernel: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "subnet-manager", "subnet-manager: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "profiles/*", "profiles: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "pfs/*/representors", "pfs: [{representors: {" NO_KEY ": 1}}]"},
		{SCHEMA_HOST, "pfs/*/bridge", "pfs: [{bridge: {" NO_KEY ": 1}}]"},
		{SCHEMA_HOST, "lag/*", "lag: [{" NO_KEY ": 1}]"},
		{SCHEMA_HOST, "pfs/*/tuning", "pfs: [{tuning: {" NO_KEY ": 1}}]"},
		{SCHEMA_HOST, "pfs/*/vfs/=", "pfs: [{vfs: {0: {" NO_KEY ": 1}}}]"},
		{SCHEMA_HOST, "after-change", "after-change: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "foreign-domains", "foreign-domains: {" NO_KEY ": 1}"},
		{SCHEMA_HOST, "hook", "hook: {" NO_KEY ": 1}"},
	};
	char *texts[2] = {0};
	struct json *schemas[2];
	size_t found = 0;
	char why[256];

	assert_int_equal(vfctl_guest_schema(ctx, &texts[SCHEMA_GUEST]), 0);
	assert_int_equal(vfctl_host_spec_schema(ctx, &texts[SCHEMA_HOST]), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(json_read(ctx, "s", texts[i], strlen(texts[i]), &schemas[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		assert_true(parse(maps[i].kind, maps[i].yaml, strlen(maps[i].yaml)) < 0);
		assert_keys_are_known(follow(schemas[maps[i].kind], maps[i].path), maps[i].path);
		assert_false(schema_takes(maps[i].kind, maps[i].yaml, strlen(maps[i].yaml), why));
	}
	for (size_t i = 0; i < 2; i++)
		found += count_maps(schemas[i]);
	assert_int_equal(found, ARRAY_SIZE(maps));
	for (size_t i = 0; i < 2; i++) {
		json_free(schemas[i]);
		free(texts[i]);
	}
}

/* ---- values ---- */

struct example {
	enum schema_kind kind;
	const char *yaml;
};

static void what_editors_shall_mark_is_refused_by_both(void **state)
{
	static const struct example bad[] = {
		{SCHEMA_GUEST, "vcpus: 4\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, "name: g\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, "name: g\nvcpus: 4\n"},
		{SCHEMA_GUEST, HEAD "Threads: none\n"},
		{SCHEMA_GUEST, HEAD "threads: all\n"},
		{SCHEMA_GUEST, "name: g\nvcpus: 4097\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, "name: g\nvcpus: 0\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, "name: g\nvcpus: many\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, "name: g\nvcpus: 4\nmemory: 8GB\n"},
		{SCHEMA_GUEST, "name: .g\nvcpus: 4\nmemory: 8GiB\n"},
		{SCHEMA_GUEST, HEAD "title:\n"},
		{SCHEMA_GUEST, HEAD "hugepages: 4KiB\n"},
		{SCHEMA_GUEST, HEAD "kernel: vmlinuz\n"},
		{SCHEMA_GUEST, HEAD "uuid: 1234\n"},
		{SCHEMA_GUEST, HEAD "machine: pc\n"},
		{SCHEMA_GUEST, HEAD "emulator_cores: 65\n"},
		{SCHEMA_GUEST, HEAD "cells: []\n"},
		{SCHEMA_GUEST, HEAD "cells: 65\n"},
		{SCHEMA_GUEST, HEAD "cells: [{vcpus: 4}]\n"},
		{SCHEMA_GUEST, HEAD "disks: [{bus: sata}]\n"},
		{SCHEMA_GUEST, HEAD "disks: {file: /a}\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{vlan: 1}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, vlan: 4095}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, vlan: auto}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, qos: 8}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, proto: 802.1X}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, msix: 2049}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, max_rate_mbps: 4294967296}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, trust: maybe}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, link_state: on}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, mac: 02-00}]\n"},
		{SCHEMA_GUEST, HEAD "xml: {hpet: sometimes}\n"},
		{SCHEMA_GUEST, HEAD "tuning: {}\n"},
		{SCHEMA_GUEST, HEAD "tuning: -x\n"},
		{SCHEMA_GUEST, HEAD "tuning: {cpu-latency-us: 10001}\n"},
		{SCHEMA_GUEST, HEAD "tuning: {governor: a/b}\n"},
		{SCHEMA_GUEST, HEAD "tuning: {interrupts: perhaps}\n"},
		{SCHEMA_GUEST, HEAD "xml: {realtime_priority: 100}\n"},
		{SCHEMA_HOST, "- a\n"},
		{SCHEMA_HOST, "store: disk\n"},
		{SCHEMA_HOST, "host: -a\n"},
		{SCHEMA_HOST, "shared-cpus: '2'\nshared-ratio: 65\n"},
		{SCHEMA_HOST, "reserved-memory: 2GB\n"},
		{SCHEMA_HOST, "typical: [{cells: 2}]\n"},
		{SCHEMA_HOST, "typical: none\n"},
		{SCHEMA_HOST, "pfs: [{count: 4}]\n"},
		{SCHEMA_HOST, "pfs: [{match: {}}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: 65536}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, driver: vfio}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, link: on}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, mtu: 67}]\n"},
		{SCHEMA_HOST, "pfs: [{match: {device: '15b3'}}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: 4, vfs: {0..3: {vlan: 1}}}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: 4, vfs: [{vlan: 1}]}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: 4, vfs: {0: {mac: auto}}}]\n"},
		{SCHEMA_HOST, "guid-pools: [{ranges: ['1..2']}]\n"},
		{SCHEMA_HOST, "guid-pools: [{name: p, ranges: ['1 - 2']}]\n"},
		{SCHEMA_HOST, "guid-pools: [{name: p, ranges: [{first: '1'}]}]\n"},
		{SCHEMA_HOST, "guid-pools: [{name: p, derive: mac, rest: 90}]\n"},
		{SCHEMA_HOST, "partitions: [{name: p}]\n"},
		{SCHEMA_HOST, "partitions: [{name: p, pkey: '10'}]\n"},
		{SCHEMA_HOST, "after-change: {timeout: 1s}\n"},
		{SCHEMA_HOST, "after-change: {command: []}\n"},
		{SCHEMA_HOST, "foreign-domains: allow\n"},
		{SCHEMA_HOST, "hook: {leased-vfs: ignore}\n"},
		{SCHEMA_HOST, "etcd: {prefix: /a/}\nstore: etcd\n"},
	};
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (parse(bad[i].kind, bad[i].yaml, strlen(bad[i].yaml)) == 0)
			fail_msg("the parser takes: %s", bad[i].yaml);
		if (schema_takes(bad[i].kind, bad[i].yaml, strlen(bad[i].yaml), why))
			fail_msg("the schema takes: %s", bad[i].yaml);
	}
}

/* Each is taken by the parser; the schema is asked by tests/schema/wrap.c. */
static void every_way_to_write_a_value_is_taken(void **state)
{
	static const struct example good[] = {
		{SCHEMA_GUEST, "name: 7\nvcpus: '4'\nmemory: 8589934592\n"},
		{SCHEMA_GUEST, "name: true\nvcpus: 04\nmemory: 8G\n"},
		{SCHEMA_GUEST, "name: g\ncells: [{vcpus: 4, memory: 8GiB, node: any}]\n"},
		{SCHEMA_GUEST, HEAD "locked: yes\nconsole: 0\nwhole_node: 'off'\nwhole-l3: no\n"},
		{SCHEMA_GUEST, HEAD "memory-affinity: preferred\nshared_vcpus: all\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, max-rate_mbps: 5, min_rate-mbps: 1}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: a, link-state: UP, vlan: 5, proto: 802.1q}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{pf: 0000:81:00.0, mac: 02-00-00-00-00-01}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{fabric: infiniband, guid: 0x0200000000000001}]\n"},
		{SCHEMA_GUEST, HEAD "vfs: [{fabric: infiniband, guid_pool: 1, pkey: 0x10}]\n"},
		{SCHEMA_GUEST, HEAD "title: 1.5\ndescription: .inf\n"},
		{SCHEMA_HOST, "reserved-cpus: 0\nshared_cpus: 2-7\nreserved_memory: 1073741824\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: '4', keep_identities: on}]\n"},
		{SCHEMA_HOST, "pfs: [{match: a, count: 4, vfs: {0: {max_rate_mbps: 1}, 1-3: {}}}]\n"},
		{SCHEMA_HOST, "pfs: [{match: {device: 15B3:101b, serial: 12}, managed: no}]\n"},
		{SCHEMA_HOST, "partitions: [{name: 1, pkey: 0x10, ipoib: off}]\n"},
		{SCHEMA_HOST, "mac_pools: [{name: p, values: ['02:00:00:00:00:01'], rest: 0s}]\n"},
		{SCHEMA_HOST, "after_change: {command: [/bin/true, 5, yes], timeout: 500ms}\n"},
		{SCHEMA_HOST, "foreign-domains: {allow: free-vfs, pfs: [a], vlans: 5, spoofchk_off: on}\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (parse(good[i].kind, good[i].yaml, strlen(good[i].yaml)) < 0)
			fail_msg("%s: %s", good[i].yaml, vfctl_ctx_error(ctx));
}

/* ---- the examples of the documents ---- */

static char *read_whole(const char *name)
{
	_free_ char *path = str_format("%s/docs/%s", VFCTL_SOURCE_DIR, name);
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

/* Blocks that are whole files begin with @first. */
static size_t parse_examples(enum schema_kind kind, const char *name, const char *first)
{
	static const char fence[] = "```yaml\n";
	_free_ char *text = read_whole(name);
	size_t count = 0;

	for (char *at = text; (at = strstr(at, fence));) {
		char *end;

		at += strlen(fence);
		end = strstr(at, "```");
		assert_non_null(end);
		if (str_starts(at, first)) {
			if (parse(kind, at, (size_t)(end - at)) < 0)
				fail_msg("%s: %s", name, vfctl_ctx_error(ctx));
			count++;
		}
		at = end;
	}
	return count;
}

static void examples_of_the_documents_are_right(void **state)
{
	assert_true(parse_examples(SCHEMA_GUEST, "reference/guest-yaml.md", "name:") >= 2);
	assert_true(parse_examples(SCHEMA_HOST, "reference/host-yaml.md", "host:") >= 1);
	assert_true(parse_examples(SCHEMA_HOST, "reference/host-yaml.md", "store:") >= 1);
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
		cmocka_unit_test(keys_are_those_of_the_parser),
		cmocka_unit_test(what_editors_shall_mark_is_refused_by_both),
		cmocka_unit_test(every_way_to_write_a_value_is_taken),
		cmocka_unit_test(examples_of_the_documents_are_right),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
