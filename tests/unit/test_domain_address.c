// SPDX-License-Identifier: GPL-2.0-or-later
/* How wide the guest's addresses are, by its memory, its devices' BARs, the CPUs and the IOMMU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "domain_xml.h"

static char warning[512];

static void keep_warning(void *data, enum vfctl_log_level level, const char *text)
{
	if (level == VFCTL_LOG_WARNING)
		snprintf(warning, sizeof(warning), "%s", text);
}

#define GIB (UINT64_C(1) << 30)
#define UEFI "<domain type='kvm'><os firmware='efi'><type>hvm</type></os><devices/></domain>"
#define PFLASH "<domain type='kvm'><os><type>hvm</type><loader type='pflash'>/f</loader></os><devices/></domain>"
#define BIOS "<domain type='kvm'><os><type>hvm</type></os><devices/></domain>"
#define LOADER(attrs, path) "<domain type='kvm'><os><type>hvm</type><loader" attrs ">" path            \
	"</loader></os><devices/></domain>"
#define SECURE(type) "<domain type='kvm'><os><type>hvm</type></os><launchSecurity type='" type       \
	"'/><devices/></domain>"
#define OWN "<domain type='kvm'><os firmware='efi'><type>hvm</type></os><cpu><maxphysaddr mode='emulate' " \
	"bits='44'/></cpu><devices/></domain>"

struct want {
	const char *template, *yaml;
	struct vfctl_address_space address;
	uint64_t version;
	const char *xml;     /* NULL: no <maxphysaddr> */
	const char *warning; /* NULL: none */
};

#define SMALL "memory: 4GiB\n"
static const struct want wants[] = {
	/* An eighth of 1 TiB is enough for this, and nothing is said. */
	{UEFI, SMALL, {46, 46, 128 * GIB}, 11000000, NULL, NULL},
	{UEFI, SMALL, {46, 46, 128 * GIB + 1}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	{PFLASH, SMALL, {46, 0, 256 * GIB}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	/* Other ways to have UEFI. */
	{LOADER(" type='rom'", "/usr/share/ovmf/OVMF.fd"), SMALL, {46, 0, 256 * GIB}, 11000000,
		"<maxphysaddr mode=\"passthrough\"/>", NULL},
	{LOADER("", "/usr/share/qemu/ovmf-x86_64.bin"), SMALL, {46, 0, 256 * GIB}, 11000000,
		"<maxphysaddr mode=\"passthrough\"/>", NULL},
	{LOADER(" stateless='yes'", ""), SMALL, {46, 0, 256 * GIB}, 11000000,
		"<maxphysaddr mode=\"passthrough\"/>", NULL},
	{LOADER(" secure='yes'", ""), SMALL, {46, 0, 256 * GIB}, 11000000,
		"<maxphysaddr mode=\"passthrough\"/>", NULL},
	{SECURE("tdx"), SMALL, {46, 0, 256 * GIB}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	{SECURE("sev-snp"), SMALL "cpu: host-model\n", {46, 0, 256 * GIB}, 11000000, NULL,
		"missing in the guest; cpu: host-passthrough has all bits of the host"},
	{LOADER(" type='rom'", "/usr/share/seabios/bios-256k.bin"), SMALL, {46, 0, 256 * GIB}, 11000000,
		NULL, NULL},
	{LOADER(" type='rom'", "/usr/share/qemu/bios.bin"), SMALL, {46, 0, 256 * GIB}, 11000000, NULL, NULL},
	{LOADER("", ""), SMALL, {46, 0, 256 * GIB}, 11000000, NULL, NULL},
	{SECURE("s390-pv"), SMALL, {46, 0, 256 * GIB}, 11000000, NULL, NULL},
	/* SeaBIOS uses what there is. */
	{BIOS, SMALL, {46, 46, 512 * GIB}, 11000000, NULL, NULL},
	{BIOS, SMALL, {46, 46, 1022 * GIB}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	/* The IOMMU has fewer bits than the CPU. */
	{UEFI, SMALL, {52, 48, 256 * GIB}, 11000000, "<maxphysaddr mode=\"passthrough\" limit=\"48\"/>", NULL},
	{UEFI, SMALL, {52, 48, 256 * GIB}, 9002000, "<maxphysaddr mode=\"emulate\" bits=\"48\"/>", NULL},
	{UEFI, SMALL, {39, 39, GIB}, 11000000, "<maxphysaddr mode=\"emulate\" bits=\"39\"/>", NULL},
	{UEFI, SMALL "cpu: host-model\n", {46, 39, GIB}, 11000000, "<maxphysaddr mode=\"emulate\" bits=\"39\"/>",
		NULL},
	/* Without devices there is no limit. */
	{UEFI, SMALL, {39, 39, 0}, 11000000, NULL, NULL},
	{UEFI, "memory: 512GiB\n", {46, 39, 0}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	/* Not enough, whatever is written. */
	{UEFI, SMALL, {42, 42, 1024 * GIB}, 11000000, "passthrough", "take 1024 GiB, and with addresses of "
		"42 bits the guest's firmware has 512 GiB"},
	{UEFI, SMALL, {46, 46, 256 * GIB}, 8006000, NULL, "libvirt 8.7 can give it more"},
	{UEFI, SMALL "cpu: host-model\n", {46, 46, 256 * GIB}, 11000000, NULL, "cpu: host-passthrough has all"},
	{UEFI, SMALL, {39, 39, 128 * GIB}, 11000000, "bits=\"39\"", "SeaBIOS has no such limit"},
	/* Nothing is known of the host. */
	{UEFI, SMALL, {0, 0, 256 * GIB}, 11000000, "<maxphysaddr mode=\"passthrough\"/>", NULL},
	/* Somebody chose. */
	{OWN, SMALL, {46, 46, 256 * GIB}, 11000000, "<maxphysaddr mode=\"emulate\" bits=\"44\"/>", NULL},
	{OWN, SMALL "xml: {maxphysaddr: on}\n", {46, 46, GIB}, 11000000, "<maxphysaddr mode=\"passthrough\"/>",
		NULL},
	{OWN, SMALL "xml: {maxphysaddr: off}\n", {46, 46, 128 * GIB}, 11000000, NULL, NULL},
	/* And is told what comes of it. */
	{OWN, SMALL "xml: {maxphysaddr: off}\n", {46, 46, 256 * GIB}, 11000000, NULL, "chooses it when needed"},
	{OWN, SMALL, {46, 46, 4096 * GIB}, 11000000, "bits=\"44\"", "of 44 bits the guest's firmware has 2048"},
	{OWN, SMALL "xml: {maxphysaddr: on}\n", {42, 42, 4096 * GIB}, 11000000, "passthrough", "of 42 bits"},
};

static void bits_follow_the_devices(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
		const struct want *w = &wants[i];
		_free_ char *yaml = str_format("name: g\nvcpus: 4\n%s", w->yaml);
		struct domain_case c;
		_free_ char *xml = NULL;

		case_make(ctx, &c, yaml);
		c.request.template_text = w->template;
		c.request.template_name = "t.xml";
		c.request.libvirt_version = w->version;
		c.request.address = w->address;
		warning[0] = '\0';
		if (vfctl_domain_render(ctx, &c.request, &xml) < 0)
			fail_msg("case %zu: %s", i, vfctl_ctx_error(ctx));
		if (!w->xml == !!strstr(xml, "<maxphysaddr") || (w->xml && !strstr(xml, w->xml)))
			fail_msg("case %zu: %s wanted in %s", i, w->xml ? w->xml : "nothing", xml);
		if (!w->warning == !!*warning || (w->warning && !strstr(warning, w->warning)))
			fail_msg("case %zu: said '%s'", i, warning);
		case_clear(&c);
	}
}

static int setup(void **state)
{
	if (vfctl_ctx_new(&ctx) < 0)
		return -1;
	vfctl_ctx_set_log(ctx, keep_warning, NULL);
	return 0;
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_follow_the_devices),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
