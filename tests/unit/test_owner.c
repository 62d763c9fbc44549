// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may have a MAC or GUID, for each operation that assigns one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "ids/owner.h"

#define G 0x0200c90000000001
#define A "aaaaaaaa-0000-4000-8000-000000000000"
#define B "bbbbbbbb-0000-4000-8000-000000000000"

static const struct vfctl_bdf pf = {.bus = 0x3b}, other_pf = {.bus = 0x5e};

/* A row of the store, who asks for it, and the answer. Times: it is 100 now. */
struct row_case {
	const char *name;
	enum vfctl_id_state state;
	struct vfctl_id_owner owner;
	int64_t until;
	struct value_claim claim;
	enum value_verdict want;
};

static const struct row_case rows[] = {
	{"a domain's own, any device", VFCTL_ID_LEASED, {"h", A, "a", "vf0"}, 0,
		{.domain_uuid = A}, VALUE_OWN},
	{"of its other device", VFCTL_ID_LEASED, {"h", A, "a", "vf0"}, 0,
		{.domain_uuid = A, .device = "vf1"}, VALUE_TAKEN},
	{"of another domain", VFCTL_ID_LEASED, {"h", A, "a", "vf0"}, 0,
		{.domain_uuid = B}, VALUE_TAKEN},
	{"a domain's, for the host", VFCTL_ID_LEASED, {"h", A, "a", "vf0"}, 0,
		{.domain_uuid = "", .pf = &pf}, VALUE_TAKEN},
	{"the VF's own, for the domain that has it", VFCTL_ID_LEASED,
		{"h", "", "", "0000:3b:00.0/2"}, 0, {.domain_uuid = A, .pf = &pf, .vf = 2}, VALUE_OWN},
	{"another VF's", VFCTL_ID_LEASED, {"h", "", "", "0000:3b:00.0/2"}, 0,
		{.domain_uuid = A, .pf = &pf, .vf = 3}, VALUE_TAKEN},
	{"the host's, by whoever names no device", VFCTL_ID_LEASED, {"h", "", "", "x"}, 0,
		{.domain_uuid = ""}, VALUE_TAKEN},
	{"the same device of another host", VFCTL_ID_LEASED, {"h", "", "", "x"}, 0,
		{.domain_uuid = "", .device = "x", .host = "i"}, VALUE_TAKEN},
	{"the same device of this host", VFCTL_ID_LEASED, {"h", "", "", "x"}, 0,
		{.domain_uuid = "", .device = "x", .host = "h"}, VALUE_OWN},
	{"it rests", VFCTL_ID_RESTING, {"h", A, "a", "vf0"}, 101, {.domain_uuid = B}, VALUE_COOLING},
	{"it rests, and was its own", VFCTL_ID_RESTING, {"h", A, "a", "vf0"}, 101,
		{.domain_uuid = A}, VALUE_OWN},
	{"it has rested", VFCTL_ID_RESTING, {"h", A, "a", "vf0"}, 100, {.domain_uuid = B}, VALUE_FREE},
	{"values in the reserve of this host", VFCTL_ID_BLOCK, {"h", "", "", ""}, 0,
		{.domain_uuid = B, .host = "h"}, VALUE_RESERVE},
	{"set aside for another", VFCTL_ID_BLOCK, {"h", "", "", ""}, 0,
		{.domain_uuid = B, .host = "i"}, VALUE_TAKEN},
	{"seen live", VFCTL_ID_QUARANTINED, {"h", "", "", ""}, 0, {.domain_uuid = B},
		VALUE_QUARANTINED},
};

static void the_store_says_whose_it_is(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row_case *c = &rows[i];
		struct vfctl_id row = {.value = G, .state = c->state, .owner = c->owner,
			.until = c->until};
		struct value_facts facts = {.row = &row, .now = 100};
		struct value_claim claim = c->claim;

		claim.value = G;
		if (value_ask_row(&row, &claim, 100) != c->want ||
			value_ask(&facts, &claim).verdict != c->want)
			fail_msg("%s: %x", c->name, value_ask_row(&row, &claim, 100));
	}
	assert_int_equal(value_ask_row(NULL, &(struct value_claim){0}, 100), VALUE_FREE);
}

static void a_lease_gives_it_to_one_vf(void **state)
{
	struct vfctl_lease_vf vf = {.pf = pf, .index = 2,
		.intent = {.mask = VFCTL_ATTR_NODE_GUID, .node_guid = G},
		.saved = {.mask = VFCTL_ATTR_PORT_GUID, .port_guid = G + 1}};
	struct vfctl_lease lease = {.domain_uuid = A, .domain_name = (char *)"a", .vfs = &vf,
		.vf_count = 1};
	const struct vfctl_leases leases = {&lease, 1};
	const struct value_facts facts = {.leases = &leases};
	struct value_claim c = {.value = G, .domain_uuid = A, .pf = &pf, .vf = 2};

	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
	c.vf = 3; /* the same domain's next VF */
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_LEASED);
	c.vf = 2;
	c.domain_uuid = B;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_LEASED);
	c.domain_uuid = NULL; /* whoever has the VF */
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
	c.value = G + 1; /* what the VF has again afterwards is its own */
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
	c.pf = &other_pf;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_SAVED);
	assert_ptr_equal(value_ask(&facts, &c).vf, &vf);
	c.kind = VFCTL_ID_MAC;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
}

static void what_is_live_is_somebodys(void **state)
{
	struct live_value live[] = {{VFCTL_ID_GUID, G, pf, 2, "ib0"},
		{VFCTL_ID_GUID, G + 1, pf, LIVE_OF_PF, "ib0"}};
	struct vfctl_domain_vf changing = {.pf = pf, .index = 2,
		.attrs = {.mask = VFCTL_ATTR_PORT_GUID}};
	struct value_facts facts = {.live = {live, 2}};
	struct value_claim c = {.value = G, .domain_uuid = A, .pf = &pf, .vf = 2};

	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
	c.vf = 0;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_LIVE);
	facts.changing = &changing;
	facts.changing_count = 1; /* but keeps its node GUID */
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_LIVE);
	changing.attrs.mask = VFCTL_ATTR_GUIDS;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_FREE);
	c.value = G + 1;
	assert_int_equal(value_ask(&facts, &c).verdict, VALUE_OF_PF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_store_says_whose_it_is),
		cmocka_unit_test(a_lease_gives_it_to_one_vf),
		cmocka_unit_test(what_is_live_is_somebodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
