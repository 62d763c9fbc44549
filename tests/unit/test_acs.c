// SPDX-License-Identifier: GPL-2.0-or-later
/* ACS, from a port's configuration space and from the kernel's command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/util.h"
#include "pci/acs.h"

#define CONFIG 4096

static void put16(uint8_t *config, size_t at, unsigned value)
{
	config[at] = (uint8_t)value;
	config[at + 1] = (uint8_t)(value >> 8);
}

/* A function of that PCI Express type, with ACS that it can have and has on. */
static void make_port(uint8_t *config, unsigned type, unsigned can, unsigned on)
{
	memset(config, 0, CONFIG);
	put16(config, 0, 0x1234);
	config[0x34] = 0x40;
	put16(config, 0x40, 0x4805); /* another capability, then PCI Express */
	put16(config, 0x48, 0x0010);
	put16(config, 0x4a, type << 4 | 2);
	put16(config, 0x100, 0x0001);
	put16(config, 0x102, 0x1482);
	put16(config, 0x148, 0x000d);
	put16(config, 0x14a, 0x0001);
	put16(config, 0x14c, can);
	put16(config, 0x14e, on);
}

static enum vfctl_acs port(unsigned type, unsigned can, unsigned on)
{
	uint8_t config[CONFIG];

	make_port(config, type, can, on);
	return pci_acs_parse(config, sizeof(config));
}

static void a_port_has_it_on_or_off(void **state)
{
	assert_int_equal(port(4, 0x1f, 0x1d), VFCTL_ACS_ON);
	assert_int_equal(port(6, 0x5f, 0x1d), VFCTL_ACS_ON);
	for (unsigned bit = 1; bit < 0x20; bit <<= 1)
		assert_int_equal(port(4, 0x1f, 0x1d & ~bit), bit == 2 ? VFCTL_ACS_ON
								       : VFCTL_ACS_OFF);
	/* A function that it cannot control counts as on. */
	assert_int_equal(port(4, 0x05, 0x05), VFCTL_ACS_ON);
	assert_int_equal(port(4, 0x05, 0x01), VFCTL_ACS_OFF);
}

static void what_does_not_route_between_functions_needs_none(void **state)
{
	assert_int_equal(port(5, 0x1f, 0), VFCTL_ACS_ON);
	assert_int_equal(port(0, 0x1f, 0), VFCTL_ACS_ON);
}

static void a_port_has_none(void **state)
{
	uint8_t config[CONFIG];

	make_port(config, 4, 0x1f, 0x1d);
	put16(config, 0x148, 0x000e);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_ABSENT);
	/* A chain without an end, and one that leads out of the space. */
	put16(config, 0x14a, 0x1001);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_ABSENT);
	put16(config, 0x14a, 0xffc1);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_ABSENT);
	config[0x41] = 0x40;
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_ON);
}

static void an_intel_chipset_has_wide_registers(void **state)
{
	uint8_t config[CONFIG];

	make_port(config, 4, 0x1f, 0);
	put16(config, 0x150, 0x1d);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_OFF);
	put16(config, 0, 0x8086);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_ON);
	put16(config, 0x150, 0x01);
	assert_int_equal(pci_acs_parse(config, sizeof(config)), VFCTL_ACS_OFF);
}

static void whoever_may_not_read_all_knows_nothing(void **state)
{
	uint8_t config[CONFIG];

	make_port(config, 4, 0x1f, 0x1d);
	assert_int_equal(pci_acs_parse(config, 64), VFCTL_ACS_UNKNOWN);
	assert_int_equal(pci_acs_parse(config, 0), VFCTL_ACS_UNKNOWN);
	assert_int_equal(pci_acs_parse(config, 0x14c), VFCTL_ACS_ABSENT);
}

static void the_command_line_says_what_is_overridden(void **state)
{
	assert_true(pci_acs_override_in("pcie_acs_override=downstream"));
	assert_true(pci_acs_override_in("quiet pcie_acs_override=multifunction,downstream\n"));
	assert_true(pci_acs_override_in("pcie_acs_override=id:8086:a340 quiet"));
	assert_true(pci_acs_override_in("pcie_acs_override=multifunction pcie_acs_override=id:1:2"));
	assert_false(pci_acs_override_in("quiet pcie_acs_override=multifunction"));
	assert_false(pci_acs_override_in("not_pcie_acs_override=downstream pci=noacs"));
	assert_false(pci_acs_override_in(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_has_it_on_or_off),
		cmocka_unit_test(what_does_not_route_between_functions_needs_none),
		cmocka_unit_test(a_port_has_none),
		cmocka_unit_test(an_intel_chipset_has_wide_registers),
		cmocka_unit_test(whoever_may_not_read_all_knows_nothing),
		cmocka_unit_test(the_command_line_says_what_is_overridden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
