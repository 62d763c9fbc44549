// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of ibnetdiscover: what is read of a line, levels of switches, slow links, bundles. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buf.h"
#include "subnet/subnet.h"

static struct vfctl_ctx *ctx;

static struct vfctl_subnet *parse(const char *text)
{
	struct vfctl_subnet *s = NULL;

	if (vfctl_subnet_parse(ctx, "net", text, strlen(text), &s) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return s;
}

static const struct vfctl_subnet_node *node(const struct vfctl_subnet *s, uint64_t guid)
{
	for (size_t i = 0; i < s->node_count; i++)
		if (s->nodes[i].guid == guid)
			return &s->nodes[i];
	fail_msg("no node %" PRIx64, guid);
	return NULL;
}

static void lines_are_read(void **state)
{
	struct vfctl_subnet *s = parse("#\n# Topology file: generated on Mon Jan  1 00:00:00 2026\n#\n"
		"sysimgguid=0x99\nswitchguid=0xa(a)\r\n"
		"Switch\t36 \"S-000000000000000a\"\t\t# \"a \"b\" lid 7\" enhanced port 0 lid 5 lmc 0\r\n"
		"[1][ext 3]\t\"H-000000000000000b\"[2](c) \t\t# \"x\" y\" lid 4 4xHDR\r\n"
		"[2]\t\"S-000000000000000d\"[3][ext 1]\t\t# \"d\" lid 9 undefined (9)\n"
		"ibwarn: a warning in between\n"
		"Ca\t2 \"H-b\"\t\t# \"x\" y\"\n"
		"[2](c) \t\"S-a\"[1]\t\t# lid 4 lmc 0 \"a \"b\" lid 7\" lid 5 4xHDR s=1 w=2 v=3");
	const struct vfctl_subnet_node *a = node(s, 0xa), *b = node(s, 0xb);

	assert_string_equal(s->generated, "Mon Jan  1 00:00:00 2026");
	assert_string_equal(a->name, "a \"b\" lid 7");
	assert_int_equal(a->lid, 5);
	assert_int_equal(a->port_total, 36);
	assert_true(a->system_guid == 0x99 && b->system_guid == 0);
	assert_int_equal(a->port_count, 2);
	assert_int_equal(a->ports[0].lanes, 4);
	assert_string_equal(a->ports[0].speed, "HDR");
	assert_int_equal(vfctl_subnet_rate(&a->ports[0]), 200000);
	assert_int_equal(a->ports[1].lanes, 0);
	assert_true(a->ports[1].peer == VFCTL_SUBNET_UNKNOWN && a->ports[1].peer_guid == 0xd);
	assert_string_equal(b->name, "x\" y");
	assert_int_equal(b->ports[0].lid, 4);
	assert_true(b->ports[0].guid == 0xc);
	assert_string_equal(b->ports[0].speed, "HDR");
	assert_ptr_equal(subnet_peer_port(s, &b->ports[0]), &a->ports[0]);
	assert_int_equal(s->link_count, 2);
	assert_int_equal(s->unknown_count, 1);
	vfctl_subnet_free(s);
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"", "net has no switch and no HCA"},
		{"nothing\n", "net has no switch and no HCA"},
		{"\nSwitch 256 \"S-1\"\n", "net:2: a number of ports"},
		{"Switch 36 \"leaf\"\n", "net:1: an identifier"},
		{"Switch 36 \"S-11112222333344445\"\n", "net:1: an identifier"},
		{"[1] \"S-1\"[1]\n", "net:1: a port must follow the node"},
		{"Ca 1 \"H-1\"\n[256] \"S-1\"[1]\n", "net:2: a line of a port"},
		{"Ca 1 \"H-1\"\n[1](x) \"S-1\"[1]\n", "net:2: the port's GUID"},
		{"Ca 1 \"H-1\"\n[1](1) \"S-1\"\n", "net:2: the other end"},
		{"Ca 1 \"H-1\"\n[1](1) \"H-1\"[1](12", "net:2: the GUID at the other end"},
		{"Ca 1 \"H-1\"\nCa 1 \"H-01\"\n", "net: the node with the GUID 0x0000000000000001 occurs twice"},
	};
	struct vfctl_subnet *s = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (vfctl_subnet_parse(ctx, "net", cases[i].text, strlen(cases[i].text), &s) != -EINVAL)
			fail_msg("'%s' was read", cases[i].text);
		if (!str_starts(vfctl_ctx_error(ctx), cases[i].error))
			fail_msg("'%s': %s", cases[i].text, vfctl_ctx_error(ctx));
		assert_null(s);
	}
	assert_int_equal(vfctl_subnet_parse(ctx, "net", "Ca\0", 3, &s), -EINVAL);
}

/* ---- fabrics that are made here ---- */

static struct buf text;

static void add_line(char kind, unsigned guid)
{
	static const char *const words[] = {['S'] = "Switch", ['H'] = "Ca", ['R'] = "Rt"};

	buf_printf(&text, "%s\t200 \"%c-%x\"\t\t# \"%c%x\"\n", words[(unsigned char)kind], kind, guid, kind, guid);
}

static void add_port(unsigned port, char kind, unsigned guid, unsigned peer_port, const char *rate)
{
	buf_printf(&text, "[%u]\t\"%c-%x\"[%u]\t\t# \"p\" lid 1 %s\n", port, kind, guid, peer_port, rate);
}

/* Leaves 0x11..0x14 with @hosts HCAs each, spines 0x21 and 0x22, a core 0x31; an HCA on spine 0x21. */
static struct vfctl_subnet *fat_tree(unsigned hosts)
{
	struct vfctl_subnet *s;

	buf_reset(&text);
	add_line('S', 0x31);
	add_port(1, 'S', 0x21, 100, "4xEDR");
	add_port(2, 'S', 0x22, 100, "4xEDR");
	for (unsigned spine = 0x21; spine <= 0x22; spine++) {
		add_line('S', spine);
		for (unsigned leaf = 0; leaf < 4; leaf++)
			add_port(leaf + 1, 'S', 0x11 + leaf, 100 + spine, leaf == 2 && spine == 0x22 ? "2xHDR" : "4xHDR");
		add_port(100, 'S', 0x31, spine - 0x20, "4xEDR");
		if (spine == 0x21)
			add_port(101, 'H', 0x500, 1, "4xEDR");
	}
	for (unsigned leaf = 0; leaf < 4; leaf++) {
		add_line('S', 0x11 + leaf);
		for (unsigned h = 0; h < hosts; h++)
			add_port(h + 1, 'H', 0x100 + 0x10 * leaf + h, 1, h == 1 && leaf == 0 ? "1xHDR" : "4xHDR");
		for (unsigned spine = 0x21; spine <= 0x22; spine++)
			add_port(100 + spine, 'S', spine, leaf + 1, leaf == 2 && spine == 0x22 ? "2xHDR" : "4xHDR");
	}
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned h = 0; h < hosts; h++) {
			add_line('H', 0x100 + 0x10 * leaf + h);
			add_port(1, 'S', 0x11 + leaf, h + 1, h == 1 && leaf == 0 ? "1xHDR" : "4xHDR");
		}
	add_line('H', 0x500);
	add_port(1, 'S', 0x21, 101, "4xEDR");
	s = parse(text.data);
	buf_free(&text);
	return s;
}

static void switches_have_levels(void **state)
{
	struct vfctl_subnet *s = fat_tree(3);

	assert_int_equal(s->levels, 3);
	for (uint64_t leaf = 0x11; leaf <= 0x14; leaf++)
		assert_int_equal(node(s, leaf)->level, 1);
	assert_int_equal(node(s, 0x21)->level, 2); /* its one HCA does not make it a leaf */
	assert_int_equal(node(s, 0x22)->level, 2);
	assert_int_equal(node(s, 0x31)->level, 3);
	assert_true(s->nodes[s->order[0]].guid == 0x31);
	assert_true(s->nodes[s->order[3]].guid == 0x11);
	vfctl_subnet_free(s);
	/* A leaf with few HCAs is a leaf if the switches above it have none. */
	s = fat_tree(1);
	assert_int_equal(node(s, 0x11)->level, 1);
	vfctl_subnet_free(s);
}

static size_t slow_ports(const struct vfctl_subnet *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->node_count; i++)
		for (size_t k = 0; k < s->nodes[i].port_count; k++)
			count += s->nodes[i].ports[k].slow;
	return count;
}

static void slow_links_are_marked(void **state)
{
	struct vfctl_subnet *s = fat_tree(3);
	const struct vfctl_subnet_node *leaf = node(s, 0x11), *third = node(s, 0x13);

	/* The slower links to the core are another level, and the spine has one HCA: neither is a problem. */
	assert_int_equal(s->slow_count, 2);
	assert_int_equal(slow_ports(s), 4);
	assert_true(leaf->ports[1].slow && node(s, 0x101)->ports[0].slow);
	assert_true(third->ports[third->port_count - 1].slow && node(s, 0x22)->ports[2].slow);
	vfctl_subnet_free(s);
}

static void parallel_links_are_bundles(void **state)
{
	struct vfctl_subnet *s = parse("Switch 8 \"S-1\" # \"a\"\n"
		"[3] \"S-2\"[3] # \"b\" lid 1 4xHDR\n[1] \"S-2\"[1] # \"b\" lid 1 4xHDR\n"
		"[2] \"S-2\"[2] # \"b\" lid 1 4xEDR\n[4] \"H-3\"[1](1) # \"h\" lid 1 4xHDR\n[5] \"S-9\"[1]\n"
		"[6] \"S-1\"[7] # \"a\" lid 1 1xSDR\n[7] \"S-1\"[6] # \"a\" lid 1 1xSDR\n"
		"Switch 8 \"S-2\" # \"b\"\nCa 1 \"H-3\" # \"h\"\n");
	struct vfctl_subnet_bundle *b = NULL;
	size_t count = 0;

	assert_int_equal(vfctl_subnet_bundles(ctx, s, node(s, 1), &b, &count), 0);
	assert_int_equal(count, 5);
	assert_int_equal(b[0].first->number, 4); /* what is not a switch comes first, by port */
	assert_null(b[1].peer);
	assert_true(b[2].peer == node(s, 1) && b[2].count == 2); /* a cable from a switch to itself */
	assert_true(vfctl_cpuset_has(&b[3].ports, 2) || vfctl_cpuset_has(&b[4].ports, 2));
	for (size_t i = 3; i < 5; i++)
		assert_int_equal(b[i].count, vfctl_cpuset_has(&b[i].ports, 2) ? 1 : 2);
	free(b);
	vfctl_subnet_free(s);
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
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(wrong_lines_are_named),
		cmocka_unit_test(switches_have_levels),
		cmocka_unit_test(slow_links_are_marked),
		cmocka_unit_test(parallel_links_are_bundles),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
