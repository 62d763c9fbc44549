// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "domain_xml.h"

#define YAML "name: g\nvcpus: 4\nmemory: 8GiB\n"

/* VFCTL_GOLDEN=write takes what came out as what must come out: read it before commit. */
static void assert_golden(const char *xml, const char *name)
{
	_free_ char *path = str_format("%s/tests/unit/data/%s", VFCTL_SOURCE_DIR, name);
	const char *mode = getenv("VFCTL_GOLDEN");
	_free_ char *golden = NULL;

	if (mode && str_eq(mode, "write")) {
		FILE *file = fopen(path, "we");

		assert_non_null(file);
		fputs(xml, file);
		fclose(file);
	}
	golden = read_file(path);
	assert_non_null(golden);
	assert_string_equal(xml, golden);
}

static void every_element_is_as_designed(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML "disks: [{file: /d.qcow2}]\n");
	xml = render(&c);
	assert_golden(xml, "domain-kvm.xml");
	case_clear(&c);
}

static void emulated_guest_lacks_what_needs_kvm(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c,
		"name: g\nvcpus: 1\nmemory: 256MiB\nhugepages: none\nvirtualization: "
		"qemu\n"
		"kernel: /k\ninitrd: /i\ncmdline: console=ttyS0 a=\"<&\"\nspare_ports: "
		"0\n"
		"emulator_cores: 0\nuuid: 6f3c8a56-0000-4000-8000-0123456789ab\n"
		"title: t\ndescription: d\n");
	c.request.vf_count = 0;
	xml = render(&c);
	assert_golden(xml, "domain-qemu.xml");
	case_clear(&c);
}

static void all_forms_are_valid_domain_xml(void **state)
{
	static const char *const guests[] = {YAML,
		YAML "disks: [{file: /d}, {block: /dev/sdb, bus: sata}]\n"
		     "locked: true\n",
		"name: g\nvcpus: 3\nmemory: 300GiB\nthreads: isolate\nhugepages: 2MiB\n"
		"cpu: EPYC-Rome\npmu: false\nspare_ports: 16\n",
		YAML "virtualization: qemu\nhugepages: none\nconsole: false\n",
		YAML
		"cpu: host-model\niothreads: 4\nkernel: /k\ntitle: t\ndescription: d\n",
		YAML
		"uuid: 6f3c8a56-0000-4000-8000-0123456789ab\niothreads: 0\nxml: {realtime: on}\n"};
	static const char *const templates[] = {
		NULL, "minimal", "hpc-guest", "cloud-guest"};
	bool done = true;

	for (size_t i = 0; i < ARRAY_SIZE(guests) * ARRAY_SIZE(templates); i++) {
		const char *name = templates[i % ARRAY_SIZE(templates)];
		_free_ char *path = NULL, *text = NULL, *xml = NULL;
		struct domain_case c;

		case_make(ctx, &c, guests[i / ARRAY_SIZE(templates)]);
		if (name) {
			assert_int_equal(
				vfctl_domain_template_path(ctx,
					VFCTL_SOURCE_DIR "/xml-templates", name, &path),
				0);
			text = read_file(path);
			assert_non_null(text);
			done &= validate(text);
		}
		xml = render_template(&c, text);
		done &= validate(xml);
		case_clear(&c);
	}
	if (!done)
		skip();
}

static void names_are_escaped(void **state)
{
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c,
		"name: 'a<b>&\"c'\nvcpus: 2\nmemory: 1GiB\ntitle: '&amp; <x/>'\n"
		"disks: [{file: '/d\"/><evil/>'}]\n");
	xml = render(&c);
	assert_has(xml, "<name>a&lt;b&gt;&amp;\"c</name>");
	assert_has(xml, "<title>&amp;amp; &lt;x/&gt;</title>");
	assert_has(xml, "file=\"/d&quot;/&gt;&lt;evil/&gt;\"");
	assert_lacks(xml, "<evil");
	case_clear(&c);
}

static void template_keeps_what_the_operator_set(void **state)
{
	static const char template_text[] =
		"<domain type='qemu' id='7'>\n<!-- mine "
		"--><name>old</name><uuid>x</uuid>\n"
		"<metadata><o:x xmlns:o='urn:other'>keep</o:x>"
		"<v:guest xmlns:v='urn:vfctl:domain:1' lease='old'/></metadata>\n"
		"<memory unit='MiB'>1</memory><currentMemory>1</currentMemory>\n"
		"<memoryBacking><source type='memfd'/><hugepages/>"
		"<allocation mode='ondemand'/></memoryBacking>\n"
		"<vcpu cpuset='0-3' current='1'>2</vcpu>\n"
		"<cputune><shares>9</shares><vcpupin vcpu='0' cpuset='0'/></cputune>\n"
		"<os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type><bios "
		"useserial='yes'/></os>\n"
		"<features><kvm><hidden state='on'/><poll-control "
		"state='off'/></kvm></features>\n"
		"<cpu mode='custom'><model>old</model><feature policy='disable' "
		"name='x2apic'/>"
		"<topology sockets='2' cores='1' threads='1'/></cpu>\n"
		"<clock offset='localtime'/>\n"
		"<devices><disk type='file'><source file='/old'/><target dev='vda' "
		"bus='virtio'/></disk>"
		"<memballoon model='virtio'/><rng model='virtio'>"
		"<backend model='random'>/dev/random</backend></rng>"
		"<serial type='file'><source "
		"path='/log'/></serial></devices>\n</domain>\n";
	static const char *const kept[] = {"<!-- mine -->",
		"<o:x xmlns:o=\"urn:other\">keep", "<source type=\"memfd\"/>",
		"mode=\"ondemand\"", "<shares>9</shares>", "machine=\"pc-q35-7.2\"",
		"useserial=\"yes\"", "<hidden state=\"on\"/>",
		"<poll-control state=\"off\"/>", "name=\"x2apic\"",
		"offset=\"localtime\"", "file=\"/old\"", "/dev/random", "path=\"/log\"",
		"dev=\"vdb\""};
	static const char *const gone[] = {"<name>old", "<uuid>", "id=\"7\"",
		"lease=\"old\"", "currentMemory", "current=\"1\"", "cpuset=\"0-3\"",
		"cpuset=\"0\"", "<model>old", "sockets=\"2\"",
		"memballoon model=\"virtio\"", "type=\"pty\""};
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML "disks: [{file: /new}]\n");
	xml = render_template(&c, template_text);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_has(xml, kept[i]);
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
		assert_lacks(xml, gone[i]);
	assert_int_equal(count(xml, "<vcpupin"), 4);
	assert_int_equal(count(xml, "urn:vfctl:domain:1"), 1);
	assert_has(xml, "hint-dedicated");
	case_clear(&c);
}

static void addresses_do_not_collide(void **state)
{
	static const char template_text[] =
		"<domain><devices>"
		"<controller type='pci' index='0' model='pcie-root'/>"
		"<controller type='pci' index='1' model='pcie-root-port'>"
		"<address type='pci' bus='0' slot='2' function='3'/></controller>"
		"<controller type='pci' index='3' model='pcie-root-port'>"
		"<address type='pci' bus='0x00' slot='0x04' function='0x0'/></controller>"
		"<interface type='network'><source network='n'/>"
		"<address type='pci' bus='0x05' slot='0x00' function='0x0'/></interface>"
		"</devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML "spare_ports: 12\n");
	xml = render_template(&c, template_text);
	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	for (size_t i = 1; i < parsed->guest_address_count; i++)
		assert_true(vfctl_bdf_compare(&parsed->guest_addresses[i - 1],
				    &parsed->guest_addresses[i]) < 0);
	for (size_t i = 1; i < parsed->controller_count; i++)
		assert_true(parsed->controllers[i - 1].index < parsed->controllers[i].index);
	for (size_t i = 0; i < parsed->device_count; i++) {
		assert_true(parsed->devices[i].has_guest);
		assert_true(parsed->devices[i].guest.bus != 5);
		assert_true(parsed->devices[i].guest.bus != 1);
	}
	/* Slots 2 and 4 hold a foreign port: none of ours shares them. */
	assert_int_equal(count(xml, "bus=\"0x00\" slot=\"0x02\""), 0);
	assert_int_equal(count(xml, "bus=\"0x00\" slot=\"0x04\""), 1);
	assert_int_equal(count(xml, "model=\"pcie-root\""), 1);
	vfctl_parsed_domain_free(parsed);
	case_clear(&c);
}

/* Ports that stay free after libvirt placed what the template left without an address. */
static void spare_ports_are_spare(void **state)
{
	static const char template_text[] =
		"<domain><devices><disk type='file'><target dev='vda' "
		"bus='virtio'/></disk>"
		"<disk type='file'><target dev='sda' bus='sata'/></disk>"
		"<interface type='network'/><channel type='unix'/><channel type='unix'/>"
		"<controller type='virtio-serial'/><input type='tablet' "
		"bus='usb'/></devices></domain>";
	struct vfctl_parsed_domain *parsed;
	struct domain_case c;
	_free_ char *xml = NULL;
	unsigned free_ports = 0;

	case_make(ctx, &c, YAML "spare_ports: 2\n");
	xml = render_template(&c, template_text);
	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	for (size_t i = 0; i < parsed->controller_count; i++)
		free_ports += parsed->controllers[i].index && !parsed->controllers[i].users;
	assert_int_equal(free_ports, 2 + 3);
	assert_lacks(xml, "type=\"usb\" model=\"none\"");
	vfctl_parsed_domain_free(parsed);
	case_clear(&c);
}

static void many_vfs_fit(void **state)
{
	struct vfctl_domain_vf vfs[VFCTL_GUEST_VFS_MAX] = {0};
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML "spare_ports: 16\n");
	for (uint32_t i = 0; i < VFCTL_GUEST_VFS_MAX; i++)
		vfs[i] = (struct vfctl_domain_vf){.index = i,
			.bdf = {.bus = 0x81,
				.slot = (uint8_t)(i / 8),
				.function = i % 8}};
	c.request.vfs = vfs;
	c.request.vf_count = VFCTL_GUEST_VFS_MAX;
	xml = render(&c);
	assert_int_equal(count(xml, "<hostdev"), VFCTL_GUEST_VFS_MAX);
	assert_int_equal(count(xml, "multifunction"), 11); /* 64 + rng + 16 ports */
	case_clear(&c);
}

static void newer_elements_wait_for_their_libvirt(void **state)
{
	static const struct {
		uint64_t version;
		bool threads, maxphysaddr;
	} cases[] = {{0, false, false}, {8001000, false, false}, {8002000, true, false},
		{8007000, true, true}, {11003000, true, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct domain_case c;
		_free_ char *xml = NULL;

		case_make(ctx, &c, "name: g\nvcpus: 4\nmemory: 512GiB\n");
		c.request.libvirt_version = cases[i].version;
		xml = render(&c);
		assert_int_equal(
			!!strstr(xml, "mode=\"immediate\" threads="), cases[i].threads);
		assert_int_equal(!!strstr(xml, "<maxphysaddr"), cases[i].maxphysaddr);
		assert_lacks(xml, "iommufd");
		case_clear(&c);
	}
}

static void bad_templates_are_named(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "t.xml:"},
		{"not xml", "t.xml:1: Start tag expected"},
		{"<domain>\n<devices>\n</domain>", "t.xml:3: "},
		{"<domain><devices/></domain><x/>", "t.xml:1: "},
		{"<network/>", "the root is <network>"},
		{"<v:domain xmlns:v='urn:x'><devices/></v:domain>", "not <domain>"},
		{"<domain>\n<name>a</name></domain>", "lacks <devices>"},
		{"<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
		 "<domain><name>&a;</name><devices/></domain>",
			"t.xml:1: a DOCTYPE is not allowed"},
		{"<!DOCTYPE d SYSTEM "
		 "'http://localhost/x.dtd'><domain><devices/></domain>",
			"a DOCTYPE is not allowed"},
		{"<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b "
		 "'&a;&a;&a;&a;&a;&a;&a;&a;'>"
		 "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d "
		 "'&c;&c;&c;&c;&c;&c;&c;&c;'>"
		 "<!ENTITY e "
		 "'&d;&d;&d;&d;&d;&d;&d;&d;'>]><domain><name>&e;</name><devices/></"
		 "domain>",
			"a DOCTYPE is not allowed"},
		{"<domain><name>&undeclared;</name><devices/></domain>", "t.xml:1: "},
		{"<domain><os><type "
		 "machine='pc-i440fx-7.2'>hvm</type></os><devices/></domain>",
			"has no PCI Express root ports"},
		{"<domain><os><type arch='aarch64'>hvm</type></os><devices/></domain>",
			"only x86_64"},
		{"<domain type='lxc'>\n<os><type>exe</type><init>/i</init></os><devices/></domain>",
			"t.xml:2: os type 'exe'"},
		{"<domain><devices>\n<hostdev type='pci'><source><address bus='0x3b' "
		 "slot='0' "
		 "function='2'/></source></hostdev></devices></domain>",
			"t.xml:2: the template already has VF 0000:3b:00.2"},
		{"<domain><devices><hostdev type='pci'><source><address "
		 "bus='0x3bb'/></source>"
		 "</hostdev></devices></domain>",
			"bus='0x3bb' is not a bus"},
		{"<domain><devices><controller type='pci' "
		 "index='999'/></devices></domain>",
			"controller index '999'"},
		{"<domain><devices><controller type='pci' index='1'/>"
		 "<controller type='pci' index='1'/></devices></domain>",
			"PCI controller 1 exists twice"},
		{"<domain><devices><controller type='pci' index='0' model='pci-root'/></devices></domain>",
			"t.xml:1: PCI controller 0 has the model 'pci-root'"},
		{"<domain><devices><disk><address type='pci' "
		 "slot='x'/></disk></devices></domain>",
			"slot='x'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct domain_case c;
		char *xml = NULL;
		int r;

		case_make(ctx, &c, YAML);
		c.request.template_text = cases[i].text;
		c.request.template_name = "t.xml";
		r = vfctl_domain_render(ctx, &c.request, &xml);
		assert_null(xml);
		if (r != -EINVAL && r != -EEXIST)
			fail_msg("%d for %s", r, cases[i].text);
		assert_has(vfctl_ctx_error(ctx), cases[i].message);
		case_clear(&c);
	}
}

static void huge_templates_are_refused(void **state)
{
	char *text = malloc(VFCTL_DOMAIN_XML_MAX + 2), *xml = NULL;
	struct domain_case c;

	case_make(ctx, &c, YAML);
	memset(text, ' ', VFCTL_DOMAIN_XML_MAX + 1);
	text[VFCTL_DOMAIN_XML_MAX + 1] = '\0';
	c.request.template_text = text;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -E2BIG);
	assert_null(xml);
	free(text);
	case_clear(&c);
}

static void deep_templates_are_refused(void **state)
{
	_buf_ struct buf text = {0};
	struct domain_case c;
	char *xml = NULL;

	case_make(ctx, &c, YAML);
	buf_puts(&text, "<domain>");
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "<a>");
	c.request.template_text = text.data;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	case_clear(&c);
}

static void requests_that_cannot_be(void **state)
{
	struct domain_case c;
	char *xml = NULL;

	case_make(ctx, &c, YAML);
	c.assignment.refusal = VFCTL_REFUSAL_CPUS;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	assert_has(vfctl_ctx_error(ctx), "not enough CPUs");
	c.assignment.refusal = VFCTL_REFUSAL_NONE;
	c.assignment.vcpu_count = 3;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	c.assignment.vcpu_count = 4;
	c.request.lease_id = "a b";
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	c.request.lease_id = "a";
	c.vfs[1].bdf = c.vfs[0].bdf;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EEXIST);
	c.vfs[1].bdf.function = 7;
	c.request.vf_count = VFCTL_GUEST_VFS_MAX + 1;
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	assert_null(xml);
	case_clear(&c);
}

static void forms_that_cannot_carry_the_policy(void **state)
{
	struct domain_case c;
	char *xml = NULL;

	case_make(ctx, &c, YAML);
	for (size_t i = 0; i < CASE_VFS; i++) {
		c.vfs[i].form = VFCTL_FORM_INTERFACE;
		/* Only the first has a MAC, a plain tag, and is Ethernet. */
		assert_int_equal(vfctl_domain_device_xml(ctx, &c.vfs[i], 0, 0, &xml),
			i == 0 ? 0 : -EINVAL);
		free(xml);
		xml = NULL;
	}
	case_clear(&c);
}

/* At function 3 of a slot, as people write it for the guest: libvirt must not find another device. */
static void device_to_unplug(void **state)
{
	struct vfctl_parsed_domain *parsed = NULL;
	char *xml = NULL;

	assert_int_equal(vfctl_domain_read(ctx, "<domain><name>a</name><devices><interface type='hostdev'>"
		"<mac address='02:00:00:00:00:01'/><source><address type='pci' domain='0x0000' bus='0x3b' "
		"slot='0x00' function='0x2'/></source><alias name='hostdev3'/><address type='pci' "
		"domain='0x0000' bus='0x05' slot='0x01' function='0x3'/></interface></devices></domain>",
		&parsed), 0);
	assert_int_equal(vfctl_domain_unplug_xml(ctx, &parsed->devices[0], &xml), 0);
	assert_non_null(strstr(xml, "<alias name=\"hostdev3\"/>"));
	assert_non_null(strstr(xml, "bus=\"0x05\" slot=\"0x01\" function=\"0x3\"/>"));
	assert_non_null(strstr(xml, "<mac address=\"02:00:00:00:00:01\"/>"));
	free(xml);
	vfctl_parsed_domain_free(parsed);
}

static void device_alone(void **state)
{
	struct domain_case c;
	char *xml = NULL;

	case_make(ctx, &c, YAML);
	assert_int_equal(vfctl_domain_device_xml(ctx, &c.vfs[0], 9, 0, &xml), 0);
	assert_string_equal(xml,
		"<interface type=\"hostdev\" managed=\"yes\">\n"
		"  <mac address=\"02:00:00:00:00:01\"/>\n"
		"  <driver name=\"vfio\"/>\n"
		"  <source>\n"
		"    <address type=\"pci\" domain=\"0x0000\" bus=\"0x3b\" slot=\"0x00\" "
		"function=\"0x2\"/>\n"
		"  </source>\n"
		"  <vlan>\n"
		"    <tag id=\"100\"/>\n"
		"  </vlan>\n"
		"  <rom bar=\"off\"/>\n"
		"  <address type=\"pci\" domain=\"0x0000\" bus=\"0x09\" slot=\"0x00\" "
		"function=\"0x0\"/>\n"
		"</interface>\n");
	free(xml);
	assert_int_equal(vfctl_domain_device_xml(ctx, &c.vfs[2], 0, 0, &xml), 0);
	assert_string_equal(xml,
		"<hostdev mode=\"subsystem\" type=\"pci\" managed=\"yes\">\n"
		"  <driver name=\"vfio\"/>\n"
		"  <source>\n"
		"    <address domain=\"0x0000\" bus=\"0x3b\" slot=\"0x00\" "
		"function=\"0x4\"/>\n"
		"  </source>\n"
		"  <rom bar=\"off\"/>\n"
		"</hostdev>\n");
	free(xml);
	case_clear(&c);
}

static void template_names(void **state)
{
	char *path = NULL;

	assert_int_equal(vfctl_domain_template_path(ctx, "/t", "hpc-guest", &path), 0);
	assert_string_equal(path, "/t/hpc-guest.xml");
	free(path);
	assert_int_equal(vfctl_domain_template_path(ctx, "/t", "./a.xml", &path), 0);
	assert_string_equal(path, "./a.xml");
	free(path);
	path = NULL;
	assert_int_equal(vfctl_domain_template_path(ctx, "/t", "", &path), -EINVAL);
	assert_int_equal(vfctl_domain_template_path(ctx, "/t", "..", &path), -EINVAL);
	assert_null(path);
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_element_is_as_designed),
		cmocka_unit_test(emulated_guest_lacks_what_needs_kvm),
		cmocka_unit_test(all_forms_are_valid_domain_xml),
		cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(template_keeps_what_the_operator_set),
		cmocka_unit_test(addresses_do_not_collide),
		cmocka_unit_test(spare_ports_are_spare),
		cmocka_unit_test(many_vfs_fit),
		cmocka_unit_test(newer_elements_wait_for_their_libvirt),
		cmocka_unit_test(bad_templates_are_named),
		cmocka_unit_test(huge_templates_are_refused),
		cmocka_unit_test(deep_templates_are_refused),
		cmocka_unit_test(requests_that_cannot_be),
		cmocka_unit_test(forms_that_cannot_carry_the_policy),
		cmocka_unit_test(device_alone),
		cmocka_unit_test(device_to_unplug),
		cmocka_unit_test(template_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
