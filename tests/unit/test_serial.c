// SPDX-License-Identifier: GPL-2.0-or-later
/* The serial numbers in a card's configuration space and vital product data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pci/serial.h"

#define CONFIG 4096

/* An extended capability: its number, where the next one is, and two words. */
static void put_capability(uint8_t *config, size_t at, unsigned id, unsigned next,
	uint64_t serial)
{
	uint32_t head = id | 1u << 16 | next << 20;

	memcpy(config + at, &head, sizeof(head));
	memcpy(config + at + 4, &serial, sizeof(serial));
}

static void a_device_serial_number_is_as_lspci_prints_it(void **state)
{
	uint8_t config[CONFIG] = {0};
	struct pci_serials s;

	put_capability(config, 0x100, 0x0001, 0x148, 0);
	put_capability(config, 0x148, 0x0003, 0x150, UINT64_C(0xb8cef6ffff123456));
	pci_serials_parse(config, sizeof(config), NULL, 0, &s);
	assert_string_equal(s.device, "b8-ce-f6-ff-ff-12-34-56");
	assert_string_equal(s.product, "");
}

static void capabilities_may_end_turn_or_lead_astray(void **state)
{
	uint8_t config[CONFIG] = {0};
	struct pci_serials s;

	pci_serials_parse(config, sizeof(config), NULL, 0, &s);
	assert_string_equal(s.device, "");
	put_capability(config, 0x100, 0x0001, 0x100, 0); /* in a circle */
	pci_serials_parse(config, sizeof(config), NULL, 0, &s);
	assert_string_equal(s.device, "");
	put_capability(config, 0x100, 0x0001, 0xffc, 0); /* no room for a number there */
	put_capability(config, 0xff0, 0x0003, 0, 7);
	pci_serials_parse(config, sizeof(config), NULL, 0, &s);
	assert_string_equal(s.device, "");
	put_capability(config, 0x100, 0x0001, 0x40, 0); /* back into the plain ones */
	pci_serials_parse(config, sizeof(config), NULL, 0, &s);
	assert_string_equal(s.device, "");
	for (size_t len = 0; len < 0x110; len++) /* as much as one may read, or less */
		pci_serials_parse(config, len, NULL, 0, &s);
}

#define NAME "\x82\x04\0Card"
#define FIELDS "PN\x04" "MCX6" "SN\x0a" "MT2031X005" "V3\x02" "ab"
#define READ_ONLY "\x90\x1a\0" FIELDS
#define END "\x78"

static void the_serial_number_of_the_product(void **state)
{
	static const char vpd[] = NAME READ_ONLY END "SN\x03xyz";
	static const char padded[] = "\x90\x09\0SN\x06" "AB12  " END;
	struct pci_serials s;

	pci_serials_parse(NULL, 0, vpd, sizeof(vpd) - 1, &s);
	assert_string_equal(s.product, "MT2031X005");
	assert_string_equal(s.device, "");
	pci_serials_parse(NULL, 0, padded, sizeof(padded) - 1, &s);
	assert_string_equal(s.product, "AB12");
}

static void product_data_that_is_cut_off_or_lies(void **state)
{
	static const char vpd[] = NAME READ_ONLY END;
	static const char lies[] = "\x90\xff\xff" FIELDS, field[] = "\x90\x04\0SN\xff" "A";
	struct pci_serials s;

	for (size_t len = 0; len < sizeof(vpd) - 1; len++) {
		/* Room of its own, for a read behind its end to be seen. */
		_free_ char *part = malloc(len + 1);

		assert_non_null(part);
		memcpy(part, vpd, len);
		pci_serials_parse(NULL, 0, part, len, &s);
		assert_true(!s.product[0] || !strcmp(s.product, "MT2031X005"));
	}
	pci_serials_parse(NULL, 0, lies, sizeof(lies) - 1, &s);
	assert_string_equal(s.product, "");
	pci_serials_parse(NULL, 0, field, sizeof(field) - 1, &s);
	assert_string_equal(s.product, "");
	for (unsigned seed = 1; seed < 20000; seed++) {
		uint8_t noise[64];
		uint32_t x = seed;

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
		noise[0] = 0x90;
		pci_serials_parse(noise, sizeof(noise), noise, sizeof(noise), &s);
		assert_true(strlen(s.product) < PCI_SERIAL_TEXT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_serial_number_is_as_lspci_prints_it),
		cmocka_unit_test(capabilities_may_end_turn_or_lead_astray),
		cmocka_unit_test(the_serial_number_of_the_product),
		cmocka_unit_test(product_data_that_is_cut_off_or_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
