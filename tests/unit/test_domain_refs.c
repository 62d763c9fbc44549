// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A template names vCPUs, I/O threads, cells and CPU modes; the guest has others. What the guest
 * lacks goes, and libvirt defines the result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "domain_xml.h"

#define YAML "name: g\nvcpus: 2\nmemory: 1GiB\nhugepages: none\n"
#define THREADS(n) "iothreads: " #n "\n"
#define TUNE(text) "<cputune>" text "</cputune>"
#define DEVICES(text) "<devices>" text "</devices>"
#define CPU(attrs, text) "<cpu " attrs ">" text "</cpu>"
#define DISK(driver) DEVICES("<disk type='file' device='disk'><driver name='qemu' type='raw'"     \
	driver "</driver><source file='/d'/><target dev='vda' bus='virtio'/></disk>")
#define DIMM(cell) "<memory model='dimm'><target><size unit='MiB'>512</size><node>" cell          \
	"</node></target></memory>"
#define MAX(slots, mib) "<maxMemory slots='" slots "' unit='MiB'>" mib "</maxMemory>"

struct ref {
	const char *yaml, *text; /* of the guest; of the template, instead of <devices/> */
	const char *has, *lacks; /* NULL: nothing */
	bool undefined; /* not by the test driver: the installed libvirt may not know it */
};

static const struct ref refs[] = {
	/* vCPUs */
	{YAML, TUNE("<vcpusched vcpus='0-3' scheduler='fifo' priority='1'/>"),
		"<vcpusched vcpus=\"0-1\"", "0-3", false},
	{YAML, TUNE("<vcpusched vcpus='2-3' scheduler='fifo' priority='1'/>"
		"<vcpusched vcpus='1' scheduler='rr' priority='2'/>"),
		"<vcpusched vcpus=\"1\" scheduler=\"rr\"", "fifo", false},
	{YAML, TUNE("<vcpusched vcpus='0-9,^1' scheduler='batch'/>"),
		"<vcpusched vcpus=\"0\"", NULL, false},
	{YAML, TUNE("<cachetune vcpus='1-7'><cache id='0' level='3' type='both' size='3' "
		"unit='MiB'/><monitor level='3' vcpus='1-7'/></cachetune>"),
		"<cachetune vcpus=\"1\"", "1-7", false},
	{YAML, TUNE("<cachetune vcpus='4-7'><cache id='0' level='3' type='both' size='3' "
		"unit='MiB'/></cachetune>"), NULL, "cachetune", false},
	{YAML, TUNE("<cachetune vcpus='1-4'><monitor level='3' vcpus='3-4'/></cachetune>"),
		NULL, "cachetune", false},
	{YAML, TUNE("<memorytune vcpus='0-3'><node id='0' bandwidth='60'/></memorytune>"),
		"<memorytune vcpus=\"0-1\"", NULL, false},
	{YAML, "<vcpus><vcpu id='3' enabled='yes' hotpluggable='no'/></vcpus>", NULL, "<vcpus>",
		false},
	/* I/O threads */
	{YAML THREADS(1), TUNE("<iothreadsched iothreads='1-4' scheduler='fifo' priority='1'/>"),
		"<iothreadsched iothreads=\"1\"", NULL, false},
	{YAML THREADS(0), TUNE("<iothreadsched iothreads='1-4' scheduler='fifo' priority='1'/>"
		"<iothreadpin iothread='3' cpuset='1'/>"), NULL, "iothread", false},
	{YAML THREADS(2), "<iothreadids><iothread id='7'/></iothreadids>" DISK(" iothread='7'>"),
		"iothread=\"1\"", "iothreadids", false},
	{YAML THREADS(0), DISK(" iothread='7'>"), "<driver", "iothread", false},
	{YAML THREADS(2), DISK("><iothreads><iothread id='1'/><iothread id='3'><queue id='0'/>"
		"</iothread></iothreads>"), "<iothread id=\"2\"/>", "queue", true},
	{YAML THREADS(0), DISK("><iothreads><iothread id='3'/></iothreads>"), NULL, "iothread",
		false},
	/* cells; Scenario 55: memory devices of a template */
	{YAML, MAX("4", "2048") DEVICES(DIMM("0") DIMM("1")),
		"<maxMemory slots=\"4\" unit=\"MiB\">2048", "<node>1", false},
	{YAML, MAX("4", "1024") DEVICES(DIMM("0")), "<maxMemory slots=\"4\" unit=\"KiB\">1572864",
		NULL, false},
	{YAML, MAX("4", "2048") DEVICES(DIMM("2")), NULL, "maxMemory", false},
	{YAML, DEVICES("<interface type='user'><acpi index='3' nodeset='1-2'/></interface>"),
		"<acpi index=\"3\"/>", NULL, false},
	{YAML, CPU("", "<numa><cell id='0' cpus='0' memory='1' memAccess='shared'/></numa>"),
		"memAccess=\"shared\"", NULL, false},
	{YAML, CPU("", "<numa><cell id='0' cpus='0' memory='1'/><cell id='1' cpus='1' memory='1'/>"
		"<interconnects><latency initiator='0' target='1' type='access' value='5'/>"
		"</interconnects></numa>"), NULL, "interconnects", false},
	/* CPU modes */
	{YAML "cpu: host-model\n", CPU("mode='custom' match='exact' check='full'",
		"<model fallback='forbid'>EPYC</model><vendor>AMD</vendor>"
		"<feature policy='require' name='x2apic'/>"), "name=\"x2apic\"", "AMD", false},
	{YAML, CPU("mode='custom' match='exact' check='full'",
		"<model>EPYC</model><vendor>AMD</vendor>"), "host-passthrough", "check", false},
	{YAML "cpu: Skylake-Server\n", CPU("mode='custom'", "<model>EPYC</model><vendor>AMD</vendor>"),
		"Skylake-Server", "AMD", false},
	{YAML "cpu: EPYC\n", CPU("mode='custom'", "<model>EPYC</model><vendor>AMD</vendor>"),
		"<vendor>AMD", NULL, false},
	{YAML "cpu: host-model\n", "<features><kvm><hint-dedicated state='on'/>"
		"<hidden state='on'/></kvm></features>", "hidden", "hint-dedicated", false},
	{YAML, "<features><kvm><hint-dedicated state='on'/></kvm></features>", "hint-dedicated",
		NULL, false},
	{YAML "cpu: EPYC\n", CPU("mode='host-passthrough' migratable='off'",
		"<cache mode='passthrough'/><maxphysaddr mode='passthrough'/>"), "EPYC",
		"passthrough", false},
	{YAML "cpu: EPYC\n", CPU("mode='host-passthrough'",
		"<maxphysaddr mode='emulate' bits='42'/>"), "bits=\"42\"", NULL, false},
	/* USB: a device that goes needs no controller, and xml.usb adds one */
	{YAML "xml: {usb: on, rng: off}\n", DEVICES("<rng model='virtio'><backend model='random'>"
		"/dev/random</backend><address type='usb' bus='0' port='1'/></rng>"), "qemu-xhci",
		"<rng", false},
	/* the UUID */
	{YAML, "<sysinfo type='smbios'><system><entry name='manufacturer'>a</entry>"
		"<entry name='uuid'>6f3c8a56-0000-4000-8000-0123456789ab</entry></system></sysinfo>",
		"manufacturer", "6f3c8a56", false},
	{YAML, "<sysinfo type='smbios'><system>"
		"<entry name='uuid'>6f3c8a56-0000-4000-8000-0123456789ab</entry></system></sysinfo>",
		"<sysinfo", "<system", false},
};

static void what_the_guest_lacks_goes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
		_free_ char *text = str_format("<domain type='kvm'><name>t</name>%s%s</domain>",
			refs[i].text, strstr(refs[i].text, "<devices>") ? "" : "<devices/>");
		_free_ char *xml = NULL;
		struct domain_case c;

		print_message("template %zu\n", i);
		case_make(ctx, &c, refs[i].yaml);
		c.request.vf_count = 0;
		xml = render_template(&c, text);
		if (refs[i].has)
			assert_has(xml, refs[i].has);
		if (refs[i].lacks)
			assert_lacks(xml, refs[i].lacks);
		if (!refs[i].undefined)
			validate(xml);
		case_clear(&c);
	}
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
		cmocka_unit_test(what_the_guest_lacks_goes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
