// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of elements: libvirt 9.0 and older accept only some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "domain_xml.h"

#define YAML "name: g\nvcpus: 2\nmemory: 1GiB\nuuid: 6f3c8a56-0000-4000-8000-0123456789ab\n"
#define MORE YAML "title: t\ndescription: d\niothreads: 1\nkernel: /k\ncpu: EPYC\n"
#define OS "<os><type arch='x86_64' machine='q35'>hvm</type></os>"

static const char *const sections[] = {"<name>", "<uuid>", "<title>", "<description>", "<metadata>",
	"<memory ", "<memoryBacking>", "<vcpu ", "<iothreads>", "<cputune>", "<numatune>", "<os>",
	"<features>", "<cpu ", "<clock ", "<devices>"};

static size_t place_of(const char *xml, const char *part)
{
	const char *found = strstr(xml, part);

	if (!found)
		fail_msg("no %s in:\n%s", part, xml);
	return (size_t)(found - xml);
}

static void assert_in_order(const char *xml, const char *const *parts, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (place_of(xml, parts[i - 1]) >= place_of(xml, parts[i]))
			fail_msg("%s has another place in:\n%s", parts[i], xml);
}

static const char *const templates[] = {
	"<domain><devices/></domain>",
	/* As the shipped ones: without <uuid>. */
	"<domain type='kvm'><name>t</name><memory>1</memory><vcpu>1</vcpu>" OS
		"<devices/></domain>",
	"<domain type='kvm'>" OS "<devices/></domain>",
	"<domain type='kvm'><devices/>" OS "<vcpu>1</vcpu><memory>1</memory><name>t</name></domain>",
	"<domain type='kvm'><memory>1</memory><name>t</name><vcpu>1</vcpu><uuid>"
		"6f3c8a56-0000-4000-8000-0123456789ac</uuid>" OS "<devices/><cputune/></domain>",
	"<domain type='kvm'><cpu/><clock offset='utc'/><vcpu>1</vcpu><on_crash>destroy</on_crash>"
		"<title>old</title><devices/><name>t</name><numatune/><memory>1</memory></domain>",
};

static void each_section_has_its_place(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
		struct domain_case c;
		_free_ char *first = NULL, *second = NULL;

		case_make(ctx, &c, MORE);
		first = render_template(&c, templates[i]);
		assert_in_order(first, sections, ARRAY_SIZE(sections));
		validate(first);
		second = render_template(&c, first);
		assert_string_equal(first, second);
		case_clear(&c);
	}
}

static void comments_move_with_their_element(void **state)
{
	static const char text[] =
		"<domain type='kvm'>\n"
		"  <!-- for tests -->\n"
		"  <name>t</name> <!-- a name -->\n"
		"  <!-- one -->\n"
		"  <!-- CPU -->\n"
		"  <vcpu>1</vcpu> <!-- or two -->\n"
		"  <!-- small -->\n"
		"  <memory>1</memory>\n"
		"  <devices/>\n"
		"</domain>";
	static const char *const parts[] = {"<!-- for tests -->", "<name>", "<!-- a name -->",
		"<uuid>", "<!-- small -->", "<memory ", "<!-- one -->", "<!-- CPU -->", "<vcpu ",
		"<!-- or two -->", "<devices>"};
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML);
	xml = render_template(&c, text);
	assert_in_order(xml, parts, ARRAY_SIZE(parts));
	case_clear(&c);
}

/* <driver>, <source> and <teaming> of a <hostdev> stand together in every version's schema. */
static void children_of_a_device_have_their_place(void **state)
{
	static const char text[] =
		"<domain type='kvm'><name>t</name><metadata>"
		"<v:guest xmlns:v='urn:vfctl:domain:1' lease='lease-1'>"
		"<v:vf pf='0000:3b:00.0' index='2' bdf='0000:3b:00.4' type='infiniband'/>"
		"</v:guest></metadata>" OS "<devices>"
		"<controller type='pci' index='0' model='pcie-root'/>"
		"<controller type='pci' index='1' model='pcie-root-port'/>"
		"<hostdev mode='subsystem' type='pci' managed='yes'><boot order='1'/>"
		"<teaming type='transient' persistent='ua-x'/>"
		"<source><address domain='0' bus='0x3b' slot='0' function='4'/></source>"
		"<address type='pci' bus='1' slot='0' function='0'/></hostdev>"
		"</devices></domain>";
	static const char *const parts[] = {"<source>", "<teaming", "<boot order", "<rom "};
	_free_ char *xml = NULL;
	struct domain_case c;

	case_make(ctx, &c, YAML);
	c.request.vfs = &c.vfs[2];
	c.request.vf_count = 1;
	xml = render_template(&c, text);
	assert_in_order(xml, parts, ARRAY_SIZE(parts));
	validate(xml);
	case_clear(&c);
}

static void a_new_section_of_a_definition_has_its_place(void **state)
{
	static const char text[] = "<domain type='kvm'><name>t</name><memory>1</memory>"
				   "<vcpu>1</vcpu>" OS "<clock offset='utc'/></domain>";
	_free_ char *known = NULL, *xml = NULL;
	struct domain_case c;

	case_make(ctx, &c, YAML);
	assert_int_equal(vfctl_domain_metadata_add_vf(ctx, text, "lease-1", &c.vfs[0], &known), 0);
	assert_int_equal(vfctl_domain_add_device(ctx, known, &c.vfs[0], 1, &xml), 0);
	assert_true(place_of(xml, "<metadata>") < place_of(xml, "<memory>"));
	assert_true(place_of(xml, "<devices>") > place_of(xml, "<clock "));
	validate(xml);
	case_clear(&c);
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
		cmocka_unit_test(each_section_has_its_place),
		cmocka_unit_test(comments_move_with_their_element),
		cmocka_unit_test(children_of_a_device_have_their_place),
		cmocka_unit_test(a_new_section_of_a_definition_has_its_place),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
