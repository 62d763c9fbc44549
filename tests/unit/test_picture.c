// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a model: its boxes, their colours and their texts. */
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

/* A box of @colour whose hint is @hint is in the picture. */
static void assert_box(const struct buf *svg, uint32_t colour, const char *hint)
{
	char fill[32], title[128];
	const char *at;

	snprintf(title, sizeof(title), "<title>%s</title></rect>", hint);
	snprintf(fill, sizeof(fill), "fill=\"#%06x\"", colour);
	at = strstr(svg->data, title);
	assert_non_null(at);
	while (at > svg->data && *at != '\n')
		at--;
	assert_non_null(strstr(at, fill));
	assert_true(strstr(at, fill) < strstr(at, title));
}

static void each_holder_has_its_colour(void **state)
{
	struct vfctl_host_model *m;
	_buf_ struct buf svg = {0};

	if (vfctl_model_parse(ctx, "odd", odd, strlen(odd), &m) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	picture_svg(m, "a <host>", &svg);
	assert_false(svg.failed);
	assert_box(&svg, style_guest(0), "CPUs 0,40: first, two");
	assert_box(&svg, STYLE_FREE, "CPUs 1");
	assert_box(&svg, STYLE_HOST, "CPUs 2");
	assert_box(&svg, style_guest(0), "VF 0: first");
	assert_box(&svg, STYLE_FREE, "VF 1: free");
	assert_int_equal(style_cpu(m, 40), STYLE_SEVERAL);
	assert_non_null(strstr(svg.data, ">a &lt;host&gt;</text>"));
	assert_non_null(strstr(svg.data, ">PF a&lt;b&amp;&quot; 0000:10:00.0</text>"));
	assert_non_null(strstr(svg.data, ">0 of 1 VFs, switchdev, in &lt;b&gt;, VF-LAG off</text>"));
	assert_non_null(strstr(svg.data, ">PFs without a NUMA node</text>"));
	assert_non_null(strstr(svg.data, ">first: 2 CPUs, 2 MiB</text>"));
	assert_non_null(strstr(svg.data, ">two: 1 CPU</text>"));
	assert_non_null(strstr(svg.data, ">first (off), CPUs 0,40, 2 MiB, VF a&lt;b&amp;&quot;/0</text>"));
	vfctl_model_free(m);
}

static const char remote[] = "{\"nodes\": [{\"id\": 0, \"cpus\": \"0-1\", \"memory_bytes\": 1073741824},"
	"{\"id\": 1, \"cpus\": \"2-3\", \"memory_bytes\": 1073741824}], \"distances\": [[10, 21], [21, 10]],"
	"\"cores\": [{\"cpus\": \"0\", \"node\": 0}, {\"cpus\": \"1\", \"node\": 0}, {\"cpus\": \"2\", \"node\": 1},"
	"{\"cpus\": \"3\", \"node\": 1}], \"pfs\": [{\"address\": \"0000:10:00.0\", \"names\": [\"ens1\"], \"node\": 1,"
	"\"num_vfs\": 1, \"max_vfs\": 8, \"driver\": \"ice\", \"speed_mbps\": 25000, \"fabric\": \"ethernet\"}],"
	"\"occupants\": [{\"name\": \"far\", \"cpus\": \"0\", \"memory\": [{\"node\": 1, \"page_bytes\": 0,"
	"\"bytes\": 2097152}], \"vfs\": [{\"address\": \"0000:10:00.2\", \"pf\": \"0000:10:00.0\", \"index\": 0,"
	"\"node\": 1}]}]}";

static void what_is_not_local_is_marked(void **state)
{
	struct vfctl_host_model *m;
	_buf_ struct buf svg = {0};

	if (vfctl_model_parse(ctx, "remote", remote, strlen(remote), &m) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	picture_svg(m, "far", &svg);
	assert_non_null(strstr(svg.data, ">not local: VF ens1/0 on node 1, memory on node 1</text>"));
	assert_non_null(strstr(svg.data, ">Ethernet, 25 Gbit/s, ice</text>"));
	assert_non_null(strstr(svg.data, ">1 of 8 VFs (0 free)</text>"));
	assert_non_null(strstr(svg.data, ">distance 21 to node 1</text>"));
	assert_non_null(strstr(svg.data, ">2 cores (1 free), 1 GiB</text>"));
	buf_reset(&svg);
	vfctl_cpuset_add(&m->occupants[0].cpus, 2); /* now it has a core on each node */
	picture_svg(m, "near", &svg);
	assert_null(strstr(svg.data, "not local"));
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
		cmocka_unit_test(what_is_not_local_is_marked),
		cmocka_unit_test(each_holder_has_its_colour),
		cmocka_unit_test(colours_differ),
		cmocka_unit_test(long_names_are_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
