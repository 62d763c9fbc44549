// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.yaml's xml: each word, what it makes of the domain, and what refuses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "domain_xml.h"

#define HEAD "name: g\nvcpus: 4\nmemory: 8GiB\n"

static void each_word_makes_its_element(void **state)
{
	static const struct {
		const char *yaml, *has, *lacks;
		bool without_vfs;
	} cases[] = {
		{"realtime: true", "<vcpusched vcpus=\"0-3\" scheduler=\"fifo\" "
				   "priority=\"1\"/>", "<pmu state=\"on\"/>", false},
		{"realtime: true", "<locked/>", "hidden", false},
		{"{realtime: true, realtime_priority: 9}", "priority=\"9\"", "priority=\"1\"",
			false},
		{"realtime: false", "<pmu state=\"on\"/>", "vcpusched", false},
		{"nosharepages: false", "<memoryBacking>", "nosharepages", false},
		{"preallocate: off", "mode=\"ondemand\"", "mode=\"immediate\"", false},
		{"preallocate: on", "mode=\"immediate\"", "ondemand", false},
		{"shared_memory: on", "<source type=\"memfd\"/>\n    <access mode=\"shared\"/>",
			"private", false},
		{"cpu_cache: passthrough", "<cache mode=\"passthrough\"/>", "level", false},
		{"cpu_cache: emulate", "<cache level=\"3\" mode=\"emulate\"/>", "<cache m",
			false},
		{"cpu_cache: disable", "<cache mode=\"disable\"/>", "level", false},
		{"cpu_cache: none", "<cpu ", "<cache ", false},
		{"maxphysaddr: on", "<maxphysaddr mode=\"passthrough\"/>", "emulate", false},
		{"migratable: on", "migratable=\"on\"", "migratable=\"off\"", false},
		{"ioapic: qemu", "<ioapic driver=\"qemu\"/>", "driver=\"kvm\"", false},
		{"hint_dedicated: off", "<hint-dedicated state=\"off\"/>",
			"<hint-dedicated state=\"on\"/>", false},
		{"poll_control: off", "<poll-control state=\"off\"/>",
			"<poll-control state=\"on\"/>", false},
		{"hidden: on", "<hidden state=\"on\"/>", "<hidden state=\"off\"", false},
		{"hpet: on", "<timer name=\"hpet\" present=\"yes\"/>", "present=\"no\"",
			false},
		{"iommu: on", "<iommu model=\"intel\">\n      <driver intremap=\"on\" "
			      "caching_mode=\"on\"/>", "driver=\"kvm\"", false},
		{"iommu: auto", "<ioapic driver=\"kvm\"/>", "<iommu", false},
		{"rom_bar: on", "<rom bar=\"on\"/>", "<rom bar=\"off\"/>", false},
		{"iommufd: on", "<driver name=\"vfio\" iommufd=\"yes\"/>",
			"<driver name=\"vfio\"/>", false},
		{"balloon: on", "<memballoon model=\"virtio\"/>", "<memballoon model=\"none\"/>",
			true},
		{"balloon: auto", "<memballoon model=\"none\"/>", "virtio\"/>", true},
		{"usb: on", "type=\"usb\" model=\"qemu-xhci\"", "type=\"usb\" model=\"none\"",
			false},
		{"rng: off", "<memballoon", "<rng", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool braces = cases[i].yaml[0] == '{';
		_free_ char *yaml = str_format(HEAD "xml: %s%s%s\n", braces ? "" : "{",
			cases[i].yaml, braces ? "" : "}");
		struct domain_case c;
		_free_ char *xml = NULL;

		case_make(ctx, &c, yaml);
		c.request.libvirt_version = 12002000;
		if (cases[i].without_vfs)
			c.request.vf_count = 0;
		xml = render(&c);
		assert_has(xml, cases[i].has);
		assert_lacks(xml, cases[i].lacks);
		/* The schema here is that of libvirt 9.0, which does not have iommufd. */
		if (!strstr(cases[i].yaml, "iommufd"))
			validate(xml);
		case_clear(&c);
	}
}

static void words_replace_what_a_template_says(void **state)
{
	static const char text[] =
		"<domain><memoryBacking><allocation mode='ondemand'/><nosharepages/>"
		"</memoryBacking><cputune><vcpusched vcpus='0' scheduler='rr' priority='5'/>"
		"</cputune><features><ioapic driver='qemu'/><kvm><hidden state='on'/>"
		"<hint-dedicated state='off'/></kvm></features><cpu migratable='on'>"
		"<cache mode='disable'/></cpu><clock offset='utc'><timer name='hpet' "
		"present='yes'/></clock><devices><iommu model='virtio'/><rng model='virtio'>"
		"<backend model='random'>/dev/random</backend></rng></devices></domain>";
	static const char *const kept[] = {"ondemand", "scheduler=\"rr\"",
		"ioapic driver=\"qemu\"", "<hidden state=\"on\"/>",
		"<hint-dedicated state=\"off\"/>", "migratable=\"on\"", "mode=\"disable\"",
		"present=\"yes\"", "<iommu model=\"virtio\"", "/dev/random"};
	static const char *const replaced[] = {"immediate", "scheduler=\"fifo\"",
		"ioapic driver=\"kvm\"", "<hidden state=\"off\"/>",
		"<hint-dedicated state=\"on\"/>", "migratable=\"off\"",
		"mode=\"passthrough\"", "present=\"no\""};
	static const char *const gone[] = {"iommu", "<rng", "nosharepages", "rr"};
	struct domain_case c;
	_free_ char *xml = NULL, *other = NULL;

	case_make(ctx, &c, HEAD);
	xml = render_template(&c, text);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_has(xml, kept[i]);
	case_clear(&c);
	case_make(ctx, &c, HEAD "xml: {preallocate: on, realtime: on, ioapic: kvm, hidden: "
			   "off, hint_dedicated: on, migratable: off, cpu_cache: "
			   "passthrough, hpet: off, iommu: off, rng: off, nosharepages: off}\n");
	other = render_template(&c, text);
	for (size_t i = 0; i < ARRAY_SIZE(replaced); i++)
		assert_has(other, replaced[i]);
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
		assert_lacks(other, gone[i]);
	validate(other);
	case_clear(&c);
}

/* libvirt drops what it does not know in silence: the operator would never learn of it. */
static void older_libvirt_refuses_by_name(void **state)
{
	static const struct {
		const char *xml;
		uint64_t version;
		const char *message; /* NULL: it is written */
	} cases[] = {
		{"{iommufd: on}", 12000000, "xml.iommufd needs libvirt 12.1; the target has 12.0"},
		{"{iommufd: on}", 12001000, "of an interface"},
		{"{iommufd: on}", 12002000, NULL},
		{"{maxphysaddr: on}", 8006000, "xml.maxphysaddr needs libvirt 8.7"},
		{"{maxphysaddr: on}", 8007000, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *yaml = str_format(HEAD "xml: %s\n", cases[i].xml);
		struct domain_case c;
		char *xml = NULL;
		int r;

		case_make(ctx, &c, yaml);
		c.request.libvirt_version = cases[i].version;
		r = vfctl_domain_render(ctx, &c.request, &xml);
		assert_int_equal(r, cases[i].message ? -EINVAL : 0);
		if (cases[i].message)
			assert_has(vfctl_ctx_error(ctx), cases[i].message);
		/* A plain <hostdev> with iommufd is fine in 12.1 already. */
		if (cases[i].version == 12001000) {
			c.request.vfs = &c.vfs[2];
			c.request.vf_count = 1;
			assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), 0);
		}
		free(xml);
		case_clear(&c);
	}
}

static void many_vcpus_get_an_iommu(void **state)
{
	static uint32_t vcpus[256];
	struct domain_case c;
	_free_ char *xml = NULL, *own = NULL, *virtio = NULL;

	case_make(ctx, &c, HEAD);
	c.guest->vcpus = 256;
	for (uint32_t i = 0; i < 256; i++)
		vcpus[i] = i;
	c.assignment.vcpus = vcpus;
	c.assignment.vcpu_count = 256;
	c.cells[0].vcpu_count = 256;
	xml = render(&c);
	assert_has(xml, "<driver intremap=\"on\" caching_mode=\"on\" eim=\"on\"/>");
	assert_has(xml, "<ioapic driver=\"qemu\"/>");
	validate(xml);
	/* Scenario 58: the attributes of a template stay. */
	own = render_template(&c, "<domain><devices><iommu model='intel'><driver iotlb='on' "
		"aw_bits='48'/></iommu></devices></domain>");
	assert_int_equal(count(own, "<iommu"), 1);
	assert_has(own, "iotlb=\"on\"");
	assert_has(own, "aw_bits=\"48\"");
	c.guest->vcpus = 2;
	c.assignment.vcpu_count = c.cells[0].vcpu_count = 2;
	virtio = render_template(&c, "<domain><devices><iommu model='virtio'/></devices></domain>");
	assert_int_equal(count(virtio, "<iommu"), 1);
	assert_has(virtio, "<iommu model=\"virtio\"");
	assert_has(own, "eim=\"on\"");
	validate(own);
	case_clear(&c);
}

static void words_that_do_not_fit(void **state)
{
	static const struct {
		const char *yaml, *message;
	} cases[] = {
		{"xml: {colour: red}\n", "g.yaml:4:7: xml.colour: no such key"},
		{"xml: {ioapik: kvm}\n", "did you mean ioapic?"},
		{"xml: yes\n", "must be keys with values"},
		{"xml: {hpet: maybe}\n", "xml.hpet: 'maybe' is not allowed"},
		{"xml: {cpu_cache: l2}\n", "xml.cpu_cache"},
		{"xml: {realtime: auto}\n", "xml.realtime"},
		{"xml: {realtime_priority: 0, realtime: on}\n", "xml.realtime_priority"},
		{"xml: {realtime_priority: 100, realtime: on}\n", "xml.realtime_priority"},
		{"xml: {realtime_priority: 5}\n", "needs realtime: true"},
		{"xml: {expander_ports: 9}\n", "xml.expander_ports"},
		{"virtualization: qemu\nxml: {realtime: on}\n", "cannot run in real time"},
		{"virtualization: qemu\nxml: {hidden: on}\n", "need virtualization kvm"},
		{"cpu: host-model\nxml: {cpu_cache: passthrough}\n", "host-passthrough"},
		{"cpu: host-model\nxml: {maxphysaddr: on}\n", "host-passthrough"},
		{"cpu: host-model\nxml: {migratable: off}\n", "host-passthrough"},
		{"cpu: host-model\nxml: {hint_dedicated: on}\n", "host-passthrough"},
		{"xml: {iommu: on, ioapic: kvm}\n", "xml.ioapic"},
		{"vfs: [{pf: a}]\nxml: {balloon: on}\n", "xml.balloon"},
	};
	static const char many[] = "name: g\nvcpus: 256\nmemory: 1GiB\nxml: {iommu: off}\n";
	struct vfctl_guest *guest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *yaml = str_format(HEAD "%s", cases[i].yaml);

		assert_int_equal(vfctl_guest_parse(ctx, "g.yaml", yaml, strlen(yaml), &guest),
			-EINVAL);
		assert_null(guest);
		assert_has(vfctl_ctx_error(ctx), cases[i].message);
	}
	assert_int_equal(
		vfctl_guest_parse(ctx, "g.yaml", many, strlen(many), &guest), -EINVAL);
	assert_has(vfctl_ctx_error(ctx), "xml.iommu: libvirt rejects more than 255");
}

static void usb_of_a_template_is_not_cut_off(void **state)
{
	struct domain_case c;
	char *xml = NULL;

	case_make(ctx, &c, HEAD "xml: {usb: off}\n");
	c.request.template_text = "<domain><devices><input type='tablet' bus='usb'/>"
				  "</devices></domain>";
	assert_int_equal(vfctl_domain_render(ctx, &c.request, &xml), -EINVAL);
	assert_has(vfctl_ctx_error(ctx), "uses USB");
	case_clear(&c);
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
		cmocka_unit_test(each_word_makes_its_element),
		cmocka_unit_test(words_replace_what_a_template_says),
		cmocka_unit_test(older_libvirt_refuses_by_name),
		cmocka_unit_test(many_vcpus_get_an_iommu),
		cmocka_unit_test(words_that_do_not_fit),
		cmocka_unit_test(usb_of_a_template_is_not_cut_off),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
