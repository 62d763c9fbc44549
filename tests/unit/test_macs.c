// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/util.h"
#include "ids/derive.h"

#define PFS 64
#define VFS 256

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct vfctl_mac));
}

/* Neighbouring PFs of one maker differ in the last byte only. */
static void macs_of_a_rack_are_all_different(void **state)
{
	struct vfctl_mac *all = calloc(PFS * VFS, sizeof(*all));

	for (uint32_t p = 0; p < PFS; p++) {
		struct vfctl_mac pf = {{0x24, 0x8a, 0x07, 0x11, 0x22, (uint8_t)p}};

		for (uint32_t v = 0; v < VFS; v++)
			all[p * VFS + v] = mac_derive(&pf, v, 0);
	}
	for (size_t i = 0; i < PFS * VFS; i++) {
		assert_int_equal(all[i].byte[0] & 3, 2); /* unicast, locally administered */
		assert_false(vfctl_mac_is_zero(&all[i]));
	}
	qsort(all, PFS * VFS, sizeof(*all), compare);
	for (size_t i = 1; i < PFS * VFS; i++)
		assert_int_not_equal(compare(&all[i - 1], &all[i]), 0);
	free(all);
}

/* Guests keep theirs over upgrades: these values must never change. */
static void macs_are_the_same_in_every_version(void **state)
{
	struct vfctl_mac pf = {{0x02, 0x51, 0x13, 0x10, 0x00, 0x00}};
	static const struct {
		uint32_t vf, salt;
		const char *text;
	} cases[] = {
		{0, 0, "ea:3a:7f:d8:65:34"},
		{1, 0, "32:a9:4a:34:5c:6d"},
		{2, 0, "1e:dc:aa:03:53:a6"},
		{255, 0, NULL},
		{0, 1, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_mac mac = mac_derive(&pf, cases[i].vf, cases[i].salt);
		struct vfctl_mac again = mac_derive(&pf, cases[i].vf, cases[i].salt);
		char text[VFCTL_MAC_TEXT];

		assert_memory_equal(&mac, &again, sizeof(mac));
		vfctl_mac_format(&mac, text);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
		else
			assert_string_not_equal(text, cases[0].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(macs_of_a_rack_are_all_different),
		cmocka_unit_test(macs_are_the_same_in_every_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
