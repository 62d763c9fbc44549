// SPDX-License-Identifier: GPL-2.0-or-later
/* Data that a self-test's report must not contain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "selftest/trials.h"

static char *names[] = {(char *)"ens1f0", (char *)"enp1s0np0", (char *)"mlx5_0", NULL};

static void assert_scrubbed(const char *text, const char *want)
{
	_free_ char *clean = selftest_scrub(text, names);

	assert_non_null(clean);
	assert_string_equal(clean, want);
}

static void addresses_go(void **state)
{
	assert_scrubbed("/sys/bus/pci/devices/0000:3b:00.2/reset: x", "/sys/bus/pci/devices/ADDRESS/reset: x");
	assert_scrubbed("3b:00.2", "ADDRESS");
	assert_scrubbed("10000:e1:00.0", "ADDRESS");
	assert_scrubbed("mac 02:00:5e:10:00:fe, again 02:00:5e:10:00:FE", "mac MAC, again MAC");
	assert_scrubbed("port 02:02:c9:1a:b0:01:00:04.", "port GUID.");
	assert_scrubbed("0x0200c90000000011 0200:c900:0000:0012", "GUID GUID");
	assert_scrubbed("guid 0200c90000000011", "guid GUID");
	assert_scrubbed("domain 11111111-1111-4111-8111-111111111111", "domain UUID");
}

static void names_go(void **state)
{
	assert_scrubbed("ens1f0/3: the driver igb", "PF/3: the driver igb");
	assert_scrubbed("ens1f0v3 and ens1f0", "PF and PF");
	assert_scrubbed("/sys/class/net/enp1s0np0/mtu", "/sys/class/net/PF/mtu");
	assert_scrubbed("(mlx5_0)", "(PF)");
}

static void words_stay(void **state)
{
	assert_scrubbed("", "");
	assert_scrubbed("set vlan=100 proto=802.1ad: EPROTONOSUPPORT", "set vlan=100 proto=802.1ad: EPROTONOSUPPORT");
	assert_scrubbed("the driver mlx5_core kept 65535", "the driver mlx5_core kept 65535");
	assert_scrubbed("kernel 6.12.107, 8086:10c9", "kernel 6.12.107, 8086:10c9");
	assert_scrubbed("lens1f0 is no name of ours", "lens1f0 is no name of ours");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_go),
		cmocka_unit_test(names_go),
		cmocka_unit_test(words_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
