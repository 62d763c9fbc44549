// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "domain_case.h"

#define YAML                                                                             \
	"name: g\nvcpus: 4\nmemory: 8GiB\nuuid: 6f3c8a56-0000-4000-8000-0123456789ab\n"
#define NS "xmlns:v='urn:vfctl:domain:1'"
#define GUEST(inner)                                                                     \
	"<domain><name>g</name><metadata><v:guest " NS " lease='l1'>" inner              \
	"</v:guest></metadata><devices/></domain>"
#define VF "<v:vf pf='0000:3b:00.0' index='0' bdf='0000:3b:00.2'/>"

static struct vfctl_ctx *ctx;

static int read_intent(const char *xml, struct vfctl_domain_intent *ret)
{
	return vfctl_domain_metadata_read(ctx, xml, strlen(xml), ret);
}

static char *render(struct domain_case *c)
{
	char *xml = NULL;

	if (vfctl_domain_render(ctx, &c->request, &xml) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return xml;
}

static void assert_same_vf(
	const struct vfctl_domain_vf *a, const struct vfctl_domain_vf *b)
{
	assert_int_equal(vfctl_bdf_compare(&a->bdf, &b->bdf), 0);
	assert_int_equal(vfctl_bdf_compare(&a->pf, &b->pf), 0);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->infiniband, b->infiniband);
	assert_int_equal(a->form, b->form);
	assert_int_equal(a->attrs.mask, b->attrs.mask);
	assert_memory_equal(&a->attrs.mac, &b->attrs.mac, sizeof(a->attrs.mac));
	assert_int_equal(a->attrs.vlan, b->attrs.vlan);
	assert_int_equal(a->attrs.qos, b->attrs.qos);
	assert_int_equal(a->attrs.proto, b->attrs.proto);
	assert_int_equal(a->attrs.max_rate_mbps, b->attrs.max_rate_mbps);
	assert_int_equal(a->attrs.spoofchk, b->attrs.spoofchk);
}

static void intent_survives_the_domain(void **state)
{
	struct vfctl_domain_intent intent;
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML);
	xml = render(&c);
	assert_int_equal(read_intent(xml, &intent), 0);
	assert_string_equal(intent.name, "g");
	assert_string_equal(intent.uuid, "6f3c8a56-0000-4000-8000-0123456789ab");
	assert_string_equal(intent.lease_id, "lease-1");
	assert_int_equal(intent.vf_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_same_vf(&intent.vfs[i], &c.vfs[i]);
	assert_int_equal(intent.device_count, 3);
	assert_null(vfctl_domain_intent_missing(&intent));
	case_clear(&c);
}

/* Written, read, written again with the first as the template; and all values that it may have. */
static void tuning_survives_the_domain(void **state)
{
	static const char *const yaml[] = {YAML, YAML "tuning: latency\n",
		YAML "tuning: {cpu-latency-us: 0, governor: performance, interrupts: off}\n",
		YAML "tuning: {profile: a.b_c-1, cpu-latency-us: 10000, interrupts: on}\n"};

	for (size_t i = 0; i < ARRAY_SIZE(yaml); i++) {
		_free_ char *xml = NULL, *again = NULL;
		struct vfctl_domain_intent intent;
		struct domain_case c;

		case_make(ctx, &c, yaml[i]);
		xml = render(&c);
		assert_int_equal(read_intent(xml, &intent), 0);
		assert_true(vfctl_guest_tuning_same(&intent.tuning, &c.guest->tuning));
		assert_int_equal(vfctl_guest_tuning_any(&intent.tuning), i > 0);
		assert_false(intent.tuning_damaged);
		assert_true(vfctl_cpuset_has(&intent.emulator_cpus, 66));
		assert_int_equal(vfctl_cpuset_count(&intent.emulator_cpus), 2);
		c.request.template_text = xml;
		c.request.template_name = "again";
		again = render(&c);
		assert_string_equal(again, xml);
		case_clear(&c);
	}
}

/* Names and bounded numbers, or nothing at all; the rest of the domain is read. */
static void damaged_tuning_is_nothing(void **state)
{
	static const char *const bad[] = {"profile='../x'", "profile=''", "governor='a b'",
		"cpu-latency-us='10001'", "cpu-latency-us='-1'", "cpu-latency-us=''", "interrupts='2'",
		"profile='latency' cpus='0-3'", "profile='latency'/><v:tuning profile='latency'",
		"profile='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_free_ char *xml = str_format("<domain><name>g</name><metadata><v:guest " NS
			" lease='l1'><v:tuning %s/></v:guest></metadata><devices/></domain>", bad[i]);
		struct vfctl_domain_intent intent;

		assert_int_equal(read_intent(xml, &intent), 0);
		assert_true(intent.tuning_damaged);
		assert_false(vfctl_guest_tuning_any(&intent.tuning));
	}
}

static void foreign_domains_are_told_apart(void **state)
{
	static const char *const foreign[] = {
		"<domain><name>g</name><devices/></domain>",
		"<domain><name>g</name><metadata/></domain>",
		"<domain><metadata><guest lease='a'/></metadata></domain>",
		"<domain><metadata><v:guest xmlns:v='urn:vfctl:domain:2' "
		"lease='a'/></metadata></domain>",
		"<domain><metadata><o:o xmlns:o='urn:o'><v:guest " NS " lease='a'/></o:o>"
		"</metadata></domain>",
		"<domain><devices><v:guest " NS " lease='a'/></devices></domain>",
	};
	struct vfctl_domain_intent intent = {.vf_count = 7};

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		assert_int_equal(read_intent(foreign[i], &intent), -ENOENT);
		assert_int_equal(intent.vf_count, 7);
	}
}

static void devices_are_compared_with_the_intent(void **state)
{
	static const char xml[] =
		"<domain><name>g</name><metadata><v:guest " NS " lease='l'>" VF
		"<v:vf pf='0000:3b:00.0' index='1' "
		"bdf='0000:3b:00.3'/></v:guest></metadata><devices>"
		"<hostdev mode='subsystem' type='pci'><source><address domain='0' "
		"bus='073' slot='0x00' "
		"function='0x2'/></source><address type='pci' bus='1' "
		"slot='0'/></hostdev>"
		"<hostdev type='usb'><source><address bus='1' "
		"device='2'/></source></hostdev>"
		"<interface type='network'><source network='n'/></interface>"
		"<interface type='hostdev'><source><address type='pci' domain='0x10000' "
		"bus='0x01' "
		"slot='0x1f' function='0x7'/></source></interface></devices></domain>";
	struct vfctl_domain_intent intent;
	const struct vfctl_domain_vf *missing;

	assert_int_equal(read_intent(xml, &intent), 0);
	assert_int_equal(intent.device_count, 2);
	assert_int_equal(intent.devices[0].bdf.bus, 0x3b);
	assert_int_equal(intent.devices[1].bdf.domain, 0x10000);
	assert_int_equal(intent.devices[1].bdf.function, 7);
	missing = vfctl_domain_intent_missing(&intent);
	assert_non_null(missing);
	assert_int_equal(missing->index, 1);
}

static void damaged_intents_are_errors(void **state)
{
	static const struct {
		const char *xml, *message;
	} cases[] = {
		{"", "no element found"},
		{"x", "line 1"},
		{"<network/>", "the root is not <domain>"},
		{"<domain>", "truncated"},
		{GUEST(VF) "<x/>", "junk after document element"},
		{"<domain><metadata><v:guest " NS " lease='l'>" VF
		 "</v:guest></metadata></domain>",
			"the domain has no name"},
		{"<domain><name/><metadata><v:guest " NS
		 " lease='l'/></metadata></domain>",
			"name is empty"},
		{"<domain><name>a</name><name>b</name></domain>", "given twice"},
		{"<domain><uuid>a</uuid><uuid>b</uuid></domain>", "UUID"},
		{"<domain><uuid>6f3c8a56-0000-4000-8000-0123456789ab0</uuid></domain>",
			"UUID"},
		{"<domain><metadata><v:guest " NS "/></metadata></domain>",
			"no valid lease"},
		{"<domain><metadata><v:guest " NS " lease='a/b'/></metadata></domain>",
			"no valid lease"},
		{"<domain><metadata><v:guest " NS " lease='a'/><v:guest " NS
		 " lease='b'/></metadata></domain>",
			"a second vfctl element"},
		{GUEST("<v:vf/>"), "lacks its pf"},
		{GUEST("<v:vf pf='3b:00.0' index='0'/>"), "lacks its bdf"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1'/>"), "lacks its index"},
		{GUEST("<v:vf pf='3b:00.9' bdf='3b:00.1' index='0'/>"), "pf: '3b:00.9'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='-1'/>"), "index: '-1'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' "
		       "mac='01:00:00:00:00:00'/>"),
			"mac"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' vlan='4095'/>"),
			"vlan"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' qos='1'/>"), "qos"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' colour='red'/>"),
			"colour"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' form='x'/>"),
			"form: 'x'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' node='-1'/>"), "node: '-1'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' root='80'/>"), "root: '80'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' root='0:100'/>"),
			"root: '0:100'"},
		{GUEST("<v:vf pf='3b:00.0' bdf='3b:00.1' index='0' type='x'/>"),
			"type: 'x'"},
		{GUEST(VF VF), "listed twice"},
		{"<!DOCTYPE d [<!ENTITY a 'b'>]>" GUEST(VF), "a DOCTYPE is not allowed"},
		{"<!DOCTYPE d SYSTEM 'file:///etc/passwd'>" GUEST(VF),
			"a DOCTYPE is not allowed"},
		{GUEST("&a;"), "undefined entity"},
		{"<domain><name>g</name><devices><hostdev type='pci'><source><address "
		 "bus='0x100'/>"
		 "</source></hostdev></devices></domain>",
			"PCI address of a host device"},
	};
	struct vfctl_domain_intent intent = {.vf_count = 7};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = read_intent(cases[i].xml, &intent);

		if (r != -EINVAL || !strstr(vfctl_ctx_error(ctx), cases[i].message))
			fail_msg("%d '%s' for %s", r, vfctl_ctx_error(ctx), cases[i].xml);
		assert_int_equal(intent.vf_count, 7);
	}
}

static void truncation_is_always_an_error(void **state)
{
	struct vfctl_domain_intent intent;
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML);
	xml = render(&c);
	for (size_t len = 0; len + 2 < strlen(xml); len += 7)
		assert_int_equal(
			vfctl_domain_metadata_read(ctx, xml, len, &intent), -EINVAL);
	case_clear(&c);
}

static void lists_are_bounded(void **state)
{
	_buf_ struct buf vfs = {0}, devices = {0}, deep = {0};
	struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));

	buf_puts(&vfs, "<domain><name>g</name><metadata><v:guest " NS " lease='l'>");
	for (unsigned i = 0; i < VFCTL_GUEST_VFS_MAX + 1; i++)
		buf_printf(&vfs, "<v:vf pf='3b:00.0' index='0' bdf='3c:%02x.%x'/>", i / 8,
			i % 8);
	buf_puts(&vfs, "</v:guest></metadata></domain>");
	assert_int_equal(read_intent(vfs.data, intent), -E2BIG);

	buf_puts(&devices, "<domain><name>g</name><devices>");
	for (unsigned i = 0; i < VFCTL_DOMAIN_DEVICES_MAX + 1; i++)
		buf_puts(&devices, "<hostdev type='pci'><source><address "
				   "bus='1'/></source></hostdev>");
	buf_puts(&devices, "</devices></domain>");
	assert_int_equal(read_intent(devices.data, intent), -E2BIG);

	buf_puts(&deep, "<domain>");
	for (int i = 0; i < 1000000; i++)
		buf_puts(&deep, "<a>");
	assert_int_equal(read_intent(deep.data, intent), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "too deeply"));
	free(intent);
}

static void big_input_is_bounded(void **state)
{
	size_t size = (size_t)VFCTL_DOMAIN_STREAM_MAX + 1;
	struct vfctl_domain_intent intent;
	char *xml = malloc(size);

	memset(xml, ' ', size);
	assert_int_equal(vfctl_domain_metadata_read(ctx, xml, size, &intent), -E2BIG);
	/* One token of 50 MB: read once, not once for each piece. */
	memcpy(xml, "<domain><name a='", 17);
	assert_int_equal(
		vfctl_domain_metadata_read(ctx, xml, 50000000, &intent), -EINVAL);
	memcpy(xml, "<domain><name>   ", 17);
	assert_int_equal(
		vfctl_domain_metadata_read(ctx, xml, 50000000, &intent), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "too long"));
	free(xml);
}

static void vf_is_added_and_removed(void **state)
{
	_free_ char *xml = NULL, *more = NULL, *less = NULL, *none = NULL;
	struct vfctl_domain_intent intent;
	struct domain_case c;
	char *out = NULL;

	case_make(ctx, &c, YAML);
	xml = render(&c);
	assert_int_equal(
		vfctl_domain_metadata_add_vf(ctx, xml, "other", &c.vfs[3], &more), 0);
	assert_int_equal(read_intent(more, &intent), 0);
	assert_int_equal(intent.vf_count, 4);
	assert_string_equal(intent.lease_id, "lease-1");
	assert_int_equal(vfctl_domain_intent_missing(&intent)->index, 3);

	case_attr(ctx, &c.vfs[3], "trust", "on");
	free(xml);
	assert_int_equal(
		vfctl_domain_metadata_add_vf(ctx, more, NULL, &c.vfs[3], &xml), 0);
	assert_int_equal(read_intent(xml, &intent), 0);
	assert_int_equal(intent.vf_count, 4);
	assert_true(intent.vfs[3].attrs.trust);

	assert_int_equal(
		vfctl_domain_metadata_remove_vf(ctx, xml, &c.vfs[0].bdf, &less), 0);
	assert_int_equal(read_intent(less, &intent), 0);
	assert_int_equal(intent.vf_count, 3);
	assert_int_equal(
		vfctl_domain_metadata_remove_vf(ctx, less, &c.vfs[0].bdf, &out), -ENOENT);
	assert_null(out);
	for (size_t i = 1; i < CASE_VFS; i++) {
		assert_int_equal(
			vfctl_domain_metadata_remove_vf(ctx, less, &c.vfs[i].bdf, &none),
			0);
		free(less);
		less = steal(none);
	}
	assert_int_equal(read_intent(less, &intent), -ENOENT);
	assert_null(strstr(less, "<metadata"));

	/* A domain of someone else gets an intent of its own. */
	assert_int_equal(
		vfctl_domain_metadata_add_vf(ctx, less, NULL, &c.vfs[1], &out), -EINVAL);
	assert_int_equal(
		vfctl_domain_metadata_add_vf(ctx, less, "l2", &c.vfs[1], &out), 0);
	assert_int_equal(read_intent(out, &intent), 0);
	assert_string_equal(intent.lease_id, "l2");
	free(out);
	case_clear(&c);
}

static const char *set_text(const struct vfctl_cpuset *set)
{
	static char text[128];

	vfctl_cpuset_format(set, text, sizeof(text));
	return text;
}

static unsigned free_port(const struct vfctl_parsed_domain *parsed)
{
	struct vfctl_domain_port port;

	assert_int_equal(vfctl_domain_find_port(parsed, VFCTL_NODE_NONE, &port), 0);
	return port.bus;
}

static void parsed_of_our_own_domain(void **state)
{
	struct vfctl_parsed_domain *parsed = NULL;
	struct domain_case c;
	_free_ char *xml = NULL;

	case_make(ctx, &c, YAML "disks: [{file: /d}]\nspare_ports: 2\n");
	xml = render(&c);
	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	assert_string_equal(parsed->name, "g");
	assert_int_equal(parsed->vcpus, 4);
	assert_true(parsed->memory_bytes == c.guest->memory_bytes);
	assert_true(parsed->hugepages);
	assert_true(parsed->page_bytes == 1 << 30);
	assert_string_equal(set_text(&parsed->vcpu_pins[0]), "4");
	assert_string_equal(set_text(&parsed->vcpu_pins[3]), "69");
	assert_string_equal(set_text(&parsed->emulator_cpus), "2,66");
	assert_string_equal(set_text(&parsed->iothread_cpus), "2,66");
	assert_string_equal(set_text(&parsed->memory_nodes), "1");
	assert_true(parsed->memory_strict);
	assert_int_equal(parsed->device_count, 3);
	assert_true(parsed->devices[0].interface);
	assert_false(parsed->devices[1].interface);
	assert_true(parsed->devices[2].managed);
	assert_int_equal(parsed->devices[2].guest.bus, 3);
	/* Buses 1 to 3 the VFs, 4 the disk, 5 the rng. */
	assert_int_equal(free_port(parsed), 6);
	vfctl_parsed_domain_free(parsed);
	case_clear(&c);
}

/* The same as the readers of each part alone. */
static void parsed_of_what_devices_take(void **state)
{
	static const char xml[] =
		"<domain><name>d</name><memory unit='MiB'>64</memory><os firmware='efi'/>"
		"<memtune><hard_limit unit='MiB'>32</hard_limit></memtune>"
		"<cpu><maxphysaddr mode='passthrough' limit='39'/></cpu><devices><iommu model='intel'/>"
		"<hostdev type='pci'><driver name='vfio' model='mlx5_vfio_pci'/><source><address bus='3'/>"
		"</source></hostdev><hostdev type='pci'><driver model='a-name-of-more-characters-than-a-"
		"driver-has'/><source><address bus='4'/></source></hostdev></devices></domain>";
	struct vfctl_domain_address address;
	struct vfctl_parsed_domain *parsed = NULL;
	struct vfctl_memlock memlock;

	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	assert_int_equal(vfctl_domain_address_read(ctx, xml, &address), 0);
	assert_int_equal(vfctl_domain_memlock_read(ctx, xml, &memlock), 0);
	assert_string_equal(parsed->devices[0].model, "mlx5_vfio_pci");
	assert_string_equal(parsed->devices[1].model, "");
	assert_true(parsed->address.uefi && parsed->address.passthrough && address.uefi);
	assert_int_equal(parsed->address.limit, 39);
	assert_int_equal(parsed->address.bits, address.bits);
	assert_int_equal(parsed->memlock.hard_limit_bytes, 32 << 20);
	assert_int_equal(parsed->memlock.vfio_devices, 2);
	assert_true(parsed->memlock.iommu);
	assert_memory_equal(&parsed->memlock, &memlock, sizeof(memlock));
	vfctl_parsed_domain_free(parsed);
}

static void parsed_of_foreign_domains(void **state)
{
	static const char xml[] =
		"<domain><name> other </name><memory unit='GiB'>2</memory>"
		"<memoryBacking><hugepages/></memoryBacking>"
		"<vcpu cpuset='0-7,^3'>4</vcpu><cputune><vcpupin vcpu='0' "
		"cpuset='9'/></cputune>"
		"<numatune><memory mode='preferred' nodeset='0'/>"
		"<memnode cellid='0' mode='strict' nodeset='2-3'/></numatune>"
		"<devices><controller type='pci' index='1' model='pcie-root-port'/>"
		"<controller type='pci' index='2' model='pcie-root-port'/>"
		"<controller type='usb' index='0'/>"
		"<hostdev mode='subsystem' type='pci'><source><address "
		"bus='0x03'/></source>"
		"<address type='pci' bus='0x01' slot='0x00' function='0x0'/></hostdev>"
		"<hostdev mode='subsystem' type='pci' managed='no'><source><address "
		"bus='4'/></source>"
		"<address type='unassigned'/></hostdev></devices></domain>";
	struct vfctl_parsed_domain *parsed = NULL;

	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	assert_string_equal(parsed->name, "other");
	assert_null(parsed->uuid);
	assert_true(parsed->memory_bytes == UINT64_C(2) << 30);
	assert_true(parsed->hugepages);
	assert_true(parsed->page_bytes == VFCTL_PAGES_BASE);
	assert_string_equal(set_text(&parsed->emulator_cpus), "0-2,4-7");
	assert_string_equal(set_text(&parsed->memory_nodes), "0,2-3");
	assert_false(parsed->memory_strict);
	/* Without cells there is one; its memnode says more than the whole domain's. */
	assert_int_equal(parsed->cell_count, 1);
	assert_string_equal(set_text(&parsed->cells[0].vcpus), "0-3");
	assert_string_equal(set_text(&parsed->cells[0].memory_nodes), "2-3");
	assert_true(parsed->cells[0].memory_strict);
	assert_string_equal(set_text(&parsed->vcpu_pins[0]), "9");
	assert_string_equal(set_text(&parsed->vcpu_pins[3]), "0-2,4-7");
	assert_null(parsed->distances);
	assert_int_equal(parsed->controller_count, 2);
	assert_int_equal(parsed->controllers[0].users, 1);
	assert_int_equal(free_port(parsed), 2);
	assert_int_equal(parsed->device_count, 2);
	assert_false(parsed->devices[1].has_guest);
	vfctl_parsed_domain_free(parsed);
}

static void parsed_of_cells(void **state)
{
	static const char xml[] =
		"<domain><name>n</name><memory unit='GiB'>6</memory><memoryBacking><hugepages>"
		"<page size='1' unit='g' nodeset='1'/><page size='2097152' unit='Byte'/></hugepages>"
		"</memoryBacking><vcpu>6</vcpu><numatune><memory mode='interleave' nodeset='0-3'/>"
		"<memnode cellid='1' mode='strict' nodeset='2'/></numatune><cpu><numa>"
		"<cell id='1' cpus='4-5' memory='4' unit='gib'/><cell id='0' cpus='0-3' "
		"memory='2097152'><distances><sibling id='1' value='31'/></distances></cell>"
		"</numa></cpu><devices><controller type='pci' index='3' "
		"model='pcie-expander-bus'><target busNr='200'><node>1</node></target><address "
		"type='pci' bus='0' slot='4'/></controller><controller type='pci' index='5' "
		"model='pcie-root-port'><address type='pci' bus='3' slot='0'/></controller>"
		"</devices></domain>";
	static const unsigned expected[] = {10, 31, 20, 10};
	struct vfctl_parsed_domain *parsed = NULL;

	assert_int_equal(vfctl_domain_read(ctx, xml, &parsed), 0);
	assert_int_equal(parsed->cell_count, 2);
	assert_true(parsed->cells[0].memory_bytes == UINT64_C(2) << 30);
	assert_true(parsed->cells[0].page_bytes == 2 << 20);
	assert_true(parsed->cells[1].page_bytes == 1 << 30);
	assert_string_equal(set_text(&parsed->cells[0].memory_nodes), "0-3");
	assert_false(parsed->cells[0].memory_strict);
	assert_string_equal(set_text(&parsed->cells[1].memory_nodes), "2");
	assert_true(parsed->cells[1].memory_strict);
	assert_memory_equal(parsed->distances, expected, sizeof(expected));
	assert_int_equal(parsed->controllers[0].bus_nr, 200);
	assert_int_equal(parsed->controllers[1].parent, 3);
	assert_int_equal(parsed->controllers[1].cell, 1);
	vfctl_parsed_domain_free(parsed);
}

static void views_that_cannot_be(void **state)
{
	static const char *const bad[] = {"", "<domain/>", "<network/>",
		"<domain><name>a</name><memory unit='furlong'>1</memory></domain>",
		"<domain><name>a</name><memory>99999999999999999999</memory></domain>",
		"<domain><name>a</name><memory unit='TiB'>99999999999</memory></domain>",
		"<domain><name>a</name><vcpu>0</vcpu></domain>",
		"<domain><name>a</name><vcpu cpuset='3-1'>1</vcpu></domain>",
		"<domain><name>a</name><numatune><memory "
		"nodeset='x'/></numatune></domain>",
		"<domain><name>a</name><devices><hostdev type='pci'><source><address "
		"bus='x'/>"
		"</source></hostdev></devices></domain>",
		"<domain><name>a</name><cpu><numa><cell id='256' "
		"cpus='0'/></numa></cpu></domain>",
		"<domain><name>a</name><cpu><numa><cell cpus='x'/></numa></cpu></domain>",
		"<domain><name>a</name><cpu><numa><cell cpus='0'><distances><sibling id='1' "
		"value='20'/></distances></cell></numa></cpu></domain>",
		"<!DOCTYPE domain><domain><name>a</name></domain>"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vfctl_parsed_domain *parsed = NULL;

		if (vfctl_domain_read(ctx, bad[i], &parsed) != -EINVAL)
			fail_msg("%s", bad[i]);
		assert_null(parsed);
	}
}

/* Values that libvirt accepts but vfctl cannot read are left out, and the rest is read. */
static void a_survey_keeps_what_it_can_read(void **state)
{
	static const char *const odd[] = {"<memory unit='furlong'>1</memory>",
		"<memory unit='TiB'>99999999999</memory>", "<vcpu>100000</vcpu>",
		"<vcpu cpuset='3-1'>1</vcpu>", "<cputune><emulatorpin cpuset='x'/></cputune>",
		"<numatune><memory nodeset='x'/><memnode cellid='0' nodeset='y'/></numatune>",
		"<cpu><numa><cell id='256' cpus='0'/><cell id='7' cpus='x'/></numa></cpu>",
		"<cpu><numa><cell cpus='0'><distances><sibling id='9' value='2'/></distances></cell>"
		"</numa></cpu>",
		"<memoryBacking><hugepages><page size='x'/></hugepages></memoryBacking>"};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		_free_ char *xml = str_format("<domain><name>a</name>%s<devices><hostdev type='pci'>"
			"<source><address bus='x'/></source></hostdev><hostdev type='pci'><source>"
			"<address bus='073' slot='2' function='1'/></source></hostdev></devices></domain>",
			odd[i]);
		struct vfctl_parsed_domain *parsed = NULL;

		assert_int_equal(domain_read_known(ctx, xml, &parsed), 0);
		assert_non_null(parsed->unread);
		assert_int_equal(parsed->device_count, 1);
		assert_int_equal(parsed->devices[0].source.bus, 0x3b);
		vfctl_parsed_domain_free(parsed);
	}
}

static void numbers_of_no_cpu_are_no_pins(void **state)
{
	struct vfctl_parsed_domain *parsed = NULL;

	assert_int_equal(vfctl_domain_read(ctx, "<domain><name>a</name><vcpu cpuset='2,9999'>2</vcpu>"
		"<cputune><vcpupin vcpu='0' cpuset='4095-99999999999'/></cputune></domain>", &parsed), 0);
	assert_null(parsed->unread);
	assert_string_equal(set_text(&parsed->vcpu_pins[0]), "4095");
	assert_string_equal(set_text(&parsed->vcpu_pins[1]), "2");
	vfctl_parsed_domain_free(parsed);
}

/* Cut anywhere, it has the devices that stand whole before that. */
static void a_survey_reads_as_far_as_it_goes(void **state)
{
	static const char xml[] = "<domain><name>a</name><metadata><v:guest " NS " lease=' '/></metadata>"
		"<devices><hostdev type='pci'><source><address bus='0x3b'/></source></hostdev>"
		"<hostdev type='pci'><source><address bus='0x3c'/></source></hostdev></devices></domain>";
	struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));

	for (size_t len = 0; len <= strlen(xml); len++) {
		_free_ char *copy = strndup(xml, len), *unread = NULL;
		size_t whole = 0;

		for (const char *at = copy; (at = strstr(at, "</hostdev>")); at++)
			whole++;
		assert_int_equal(domain_intent_read_known(ctx, copy, len, intent, &unread), 0);
		assert_int_equal(!unread, len == strlen(xml));
		assert_true(intent->device_count >= whole);
	}
	assert_int_equal(intent->device_count, 2);
	free(intent);
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
		cmocka_unit_test(intent_survives_the_domain),
		cmocka_unit_test(tuning_survives_the_domain),
		cmocka_unit_test(damaged_tuning_is_nothing),
		cmocka_unit_test(foreign_domains_are_told_apart),
		cmocka_unit_test(devices_are_compared_with_the_intent),
		cmocka_unit_test(damaged_intents_are_errors),
		cmocka_unit_test(truncation_is_always_an_error),
		cmocka_unit_test(lists_are_bounded),
		cmocka_unit_test(big_input_is_bounded),
		cmocka_unit_test(vf_is_added_and_removed),
		cmocka_unit_test(parsed_of_our_own_domain),
		cmocka_unit_test(parsed_of_what_devices_take),
		cmocka_unit_test(parsed_of_foreign_domains),
		cmocka_unit_test(parsed_of_cells),
		cmocka_unit_test(views_that_cannot_be),
		cmocka_unit_test(a_survey_keeps_what_it_can_read),
		cmocka_unit_test(numbers_of_no_cpu_are_no_pins),
		cmocka_unit_test(a_survey_reads_as_far_as_it_goes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
