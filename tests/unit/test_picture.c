// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture's XML is the model: hwloc reads the same machine back from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "topology/picture.h"
#include "topology/picture_style.h"

static struct vfctl_ctx *ctx;

static struct vfctl_topology *load(enum vfctl_topology_kind kind, const char *text)
{
	struct vfctl_topology_source source = {.kind = kind, .text = text};
	struct vfctl_topology *topology = NULL;

	if (vfctl_topology_load(ctx, &source, &topology) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return topology;
}

/* What hwloc makes of the XML, from a file as it wants one. */
static struct vfctl_topology *read_xml(const struct buf *xml)
{
	char path[] = "/tmp/vfctl-test-XXXXXX";
	int fd = mkstemp(path);
	struct vfctl_topology *t;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml->data, xml->len), xml->len);
	close(fd);
	t = load(VFCTL_TOPOLOGY_XML, path);
	unlink(path);
	return t;
}

static bool same(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b)
{
	return vfctl_cpuset_within(a, b) && vfctl_cpuset_within(b, a);
}

static void assert_same_machine(const struct vfctl_topology *a, const struct vfctl_topology *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->core_count, b->core_count);
	assert_true(same(&a->online, &b->online));
	for (size_t i = 0; i < a->node_count; i++) {
		assert_int_equal(a->nodes[i].id, b->nodes[i].id);
		assert_int_equal(a->nodes[i].memory_bytes, b->nodes[i].memory_bytes);
		assert_true(same(&a->nodes[i].cpus, &b->nodes[i].cpus));
	}
	for (size_t i = 0; i < a->core_count; i++) {
		assert_true(same(&a->cores[i].cpus, &b->cores[i].cpus));
		assert_int_equal(a->cores[i].node, b->cores[i].node);
		assert_int_equal(a->cores[i].package, b->cores[i].package);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(a->cores[i].l3 == a->cores[k].l3,
				b->cores[i].l3 == b->cores[k].l3);
	}
}

static void hwloc_reads_the_same_machine(void **state)
{
	static const char *const shapes[] = {
		"numa:1 core:1 pu:1",
		"package:2 numa:1 l3:4 core:8 pu:2",
		"package:1 numa:4 l3:1 core:3 pu:3",
		"package:2 numa:4 l3:2 core:4 pu:2",
		"package:8 numa:1 l3:8 core:8 pu:2",
		"package:2 numa:1 core:4 pu:2(indexes=core:package:pu)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct vfctl_host_model m = {
			.topology = load(VFCTL_TOPOLOGY_SYNTHETIC, shapes[i])};
		_buf_ struct buf xml = {0};
		struct vfctl_topology *back;

		print_message("%s\n", shapes[i]);
		picture_xml(&m, &xml);
		assert_false(xml.failed);
		back = read_xml(&xml);
		assert_same_machine(m.topology, back);
		vfctl_topology_free(back);
		vfctl_topology_free(m.topology);
	}
}

static const char odd[] = "{\"nodes\": ["
	"{\"id\": 1, \"cpus\": \"0-2,40\", \"memory_bytes\": 1},"
	"{\"id\": 5, \"cpus\": \"\", \"memory_bytes\": 2}], \"cores\": ["
	"{\"cpus\": \"0,40\", \"node\": 1, \"package\": 0}, {\"cpus\": \"1\", \"node\": 1, "
	"\"package\": 0}, {\"cpus\": \"2\", \"node\": 1, \"package\": 0}],"
	"\"pfs\": [{\"address\": \"0000:10:00.0\", \"names\": [\"a<b&\\\"\"], \"node\": 5, "
	"\"num_vfs\": 2, \"max_vfs\": 2}, {\"address\": \"0000:10:00.1\", \"num_vfs\": 0, "
	"\"max_vfs\": 1, \"eswitch\": \"switchdev\", \"bond\": \"<b>\", \"lag\": \"off\"}],"
	"\"free_vfs\": [{\"address\": \"0000:10:00.3\", \"pf\": \"0000:10:00.0\", \"index\": 1}],"
	"\"reserved_cpus\": \"2\", \"occupants\": ["
	"{\"name\": \"first\", \"cpus\": \"0,40\", \"memory\": [{\"node\": 1, "
	"\"page_bytes\": 0, \"bytes\": 2097152}], \"vfs\": [{\"address\": \"0000:10:00.2\", "
	"\"pf\": \"0000:10:00.0\", \"index\": 0}]},"
	"{\"name\": \"two\", \"cpus\": \"40\", \"foreign\": true}]}";

/* "<object type="PU" ... os_index="N" ..." up to its style. */
static void assert_cpu_colour(const struct buf *xml, int cpu, uint32_t colour)
{
	char index[32], style[48];
	const char *at = xml->data, *end;

	snprintf(index, sizeof(index), "os_index=\"%d\"", cpu);
	snprintf(style, sizeof(style), "Background=#%06x;", colour);
	while ((at = strstr(at, "type=\"PU\""))) {
		end = strstr(at, "</object>");
		if (strstr(at, index) && strstr(at, index) < end) {
			assert_true(strstr(at, style) && strstr(at, style) < end);
			return;
		}
		at = end;
	}
	fail_msg("there is no CPU %d", cpu);
}

static void each_holder_has_its_colour(void **state)
{
	struct vfctl_host_model *m;
	_buf_ struct buf xml = {0};
	struct vfctl_topology *back;

	if (vfctl_model_parse(ctx, "odd", odd, strlen(odd), &m) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	picture_xml(m, &xml);
	assert_cpu_colour(&xml, 0, style_guest(0));
	assert_cpu_colour(&xml, 40, STYLE_SEVERAL);
	assert_cpu_colour(&xml, 1, STYLE_FREE);
	assert_cpu_colour(&xml, 2, STYLE_HOST);
	assert_non_null(strstr(xml.data, "name=\"PF a&lt;b&amp;&quot; 0000:10:00.0, node 5\""));
	assert_non_null(strstr(xml.data, "name=\"PF 0000:10:00.1, switchdev, in &lt;b&gt;, VF-LAG off, "
		"of no node\""));
	assert_non_null(strstr(xml.data, "name=\"VF 0 first\""));
	assert_non_null(strstr(xml.data, "name=\"VF 1 free\""));
	assert_non_null(strstr(xml.data, "name=\"first: 2 CPUs, 2 MiB\""));
	assert_non_null(strstr(xml.data, "name=\"two: 1 CPU\""));
	assert_non_null(strstr(xml.data, "value=\"blue: first (off), CPUs 0,40, 2 MiB, "
		"VF a&lt;b&amp;&quot;/0\""));
	back = read_xml(&xml);
	assert_same_machine(m->topology, back);
	vfctl_topology_free(back);
	vfctl_model_free(m);
}

/* No two of the first hundred guests look the same, and none like what is no guest's. */
static void colours_differ(void **state)
{
	static const uint32_t kept[] = {STYLE_FREE, STYLE_HOST, STYLE_SHARED, STYLE_OTHERS,
		STYLE_SEVERAL};

	for (size_t i = 0; i < 100; i++) {
		for (size_t k = 0; k < i; k++)
			if (style_guest(i) == style_guest(k))
				fail_msg("guests %zu and %zu: #%06x", i, k, style_guest(i));
		for (size_t k = 0; k < ARRAY_SIZE(kept); k++)
			assert_int_not_equal(style_guest(i), kept[k]);
	}
	assert_int_equal(style_text(0xffffff), 0x000000);
	assert_int_equal(style_text(0x1b2a6b), 0xffffff);
}

static void long_names_are_cut_between_characters(void **state)
{
	struct vfctl_occupant o = {.name = "123456789012345678901234567890123456789\u00e9 rest"};
	struct vfctl_node n = {0};
	_buf_ struct buf text = {0};

	vfctl_cpuset_add(&o.cpus, 0);
	vfctl_cpuset_add(&n.cpus, 0);
	assert_true(style_share(&n, &o, &text));
	assert_string_equal(text.data, "123456789012345678901234567890123456789...: 1 CPU");
	buf_reset(&text);
	style_put_xml(&text, "a\x01\xff<");
	assert_string_equal(text.data, "a??&lt;");
}

static int set_up(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hwloc_reads_the_same_machine),
		cmocka_unit_test(each_holder_has_its_colour),
		cmocka_unit_test(colours_differ),
		cmocka_unit_test(long_names_are_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
