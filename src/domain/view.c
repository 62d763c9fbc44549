// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "domain/domain.h"

#define FILE_NAME "domain"

void vfctl_domain_view_free(struct vfctl_domain_view *view)
{
	if (!view)
		return;
	free(view->name);
	free(view->uuid);
	free(view->devices);
	free(view->controllers);
	free(view->guest_addresses);
	free(view);
}

static void free_view(struct vfctl_domain_view **view)
{
	vfctl_domain_view_free(*view);
}

static int fail_value(
	struct vfctl_ctx *ctx, const struct xml_node *node, const char *value)
{
	return ctx_fail(ctx, -EINVAL, FILE_NAME ":%u: <%s>: '%.64s' is not understood",
		xml_line(node), xml_name(node), value);
}

/* libvirt's units: KiB and its relatives are 1024 powers, KB and its relatives 1000. */
static bool unit_bytes(const char *unit, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {{"b", 1}, {"bytes", 1}, {"KB", 1000}, {"k", 1 << 10},
		{"KiB", 1 << 10}, {"MB", 1000000}, {"M", 1 << 20}, {"MiB", 1 << 20},
		{"GB", 1000000000}, {"G", 1 << 30}, {"GiB", 1 << 30},
		{"TB", UINT64_C(1000000000000)}, {"T", UINT64_C(1) << 40},
		{"TiB", UINT64_C(1) << 40}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(units[i].name, unit)) {
			*ret = units[i].bytes;
			return true;
		}
	return false;
}

static int scale(struct vfctl_ctx *ctx, const struct xml_node *node, const char *number,
	uint64_t *ret)
{
	const char *unit = xml_get(node, "unit");
	uint64_t value, bytes;

	if (parse_u64(number, 0, UINT64_MAX, &value) < 0 ||
		!unit_bytes(unit ? unit : "KiB", &bytes) ||
		__builtin_mul_overflow(value, bytes, &value))
		return fail_value(ctx, node, number);
	*ret = value;
	return 0;
}

static int read_memory(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_domain_view *view)
{
	const struct xml_node *memory = xml_child(domain, "memory");
	const struct xml_node *huge, *page;
	const char *text;
	char buf[64];
	int r = 0;

	text = xml_text(memory, buf, sizeof(buf));
	if (text)
		r = scale(ctx, memory, text, &view->memory_bytes);
	huge = xml_child(xml_child(domain, "memoryBacking"), "hugepages");
	page = xml_child(huge, "page");
	view->hugepages = huge != NULL;
	text = xml_get(page, "size");
	if (r == 0 && text)
		r = scale(ctx, page, text, &view->page_bytes);
	return r;
}

/* libvirt's list form: the kernel's, and "^N" takes N out again. */
static bool parse_set(const char *text, struct vfctl_cpuset *ret)
{
	_free_ char *copy = strdup(text);
	struct vfctl_cpuset set = {0};
	char *save, *item;

	for (item = copy ? strtok_r(copy, ",", &save) : NULL; item;
		item = strtok_r(NULL, ",", &save)) {
		struct vfctl_cpuset part;

		if (vfctl_cpuset_parse(item + (*item == '^'), &part) < 0 ||
			vfctl_cpuset_empty(&part))
			return false;
		if (*item == '^')
			vfctl_cpuset_andnot(&set, &part);
		else
			vfctl_cpuset_or(&set, &part);
	}
	*ret = set;
	return copy != NULL;
}

static int read_cpus(struct vfctl_ctx *ctx, const struct xml_node *node, const char *attr,
	struct vfctl_cpuset *io)
{
	const char *text = xml_get(node, attr);
	struct vfctl_cpuset set;

	if (!text)
		return 0;
	if (!parse_set(text, &set))
		return fail_value(ctx, node, text);
	vfctl_cpuset_or(io, &set);
	return 0;
}

/* Pins of one kind; @ret_count receives how many there are. */
static int read_pins(struct vfctl_ctx *ctx, const struct xml_node *tune, const char *name,
	struct vfctl_cpuset *io, size_t *ret_count)
{
	size_t count = 0;
	int r = 0;

	xml_each(pin, tune, name)
	{
		count++;
		r = read_cpus(ctx, pin, "cpuset", io);
		if (r < 0)
			return r;
	}
	*ret_count = count;
	return 0;
}

static int read_tune(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_domain_view *view)
{
	const struct xml_node *tune = xml_child(domain, "cputune");
	const struct xml_node *vcpu = xml_child(domain, "vcpu");
	struct vfctl_cpuset all = {0};
	size_t vcpu_pins = 0, pins;
	const char *text;
	char buf[32];
	int r;

	text = xml_text(vcpu, buf, sizeof(buf));
	view->vcpus = 1;
	if (text && parse_u32(text, 1, VFCTL_CPU_MAX * 4, &view->vcpus) < 0)
		return fail_value(ctx, vcpu, text);
	r = read_cpus(ctx, vcpu, "cpuset", &all);
	if (r == 0)
		r = read_pins(ctx, tune, "vcpupin", &view->vcpu_cpus, &vcpu_pins);
	if (r == 0)
		r = read_pins(ctx, tune, "emulatorpin", &view->emulator_cpus, &pins);
	if (r == 0)
		r = read_pins(ctx, tune, "iothreadpin", &view->iothread_cpus, &pins);
	/* Threads without a pin of their own run where <vcpu> says. */
	if (vcpu_pins < view->vcpus)
		vfctl_cpuset_or(&view->vcpu_cpus, &all);
	if (r == 0 && vfctl_cpuset_empty(&view->emulator_cpus))
		view->emulator_cpus = all;
	return r;
}

static int read_numa(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_domain_view *view)
{
	const struct xml_node *tune = xml_child(domain, "numatune");
	const struct xml_node *memory = xml_child(tune, "memory");
	int r = read_cpus(ctx, memory, "nodeset", &view->memory_nodes);

	view->memory_strict = memory && (!xml_get(memory, "mode") ||
						xml_get_is(memory, "mode", "strict"));
	xml_each(node, tune, "memnode") if (r == 0) r =
		read_cpus(ctx, node, "nodeset", &view->memory_nodes);
	return r;
}

/* A MAC that is none is libvirt's to complain of: the view goes without. */
static void read_mac(const struct xml_node *device, struct vfctl_domain_device *item)
{
	const struct xml_node *mac = xml_child(device, "mac");
	const char *text = mac ? xml_get(mac, "address") : NULL;

	item->has_mac = text && vfctl_mac_parse(text, &item->mac) == 0;
}

static int add_device(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_domain_view *view)
{
	struct vfctl_domain_device item = {0};
	int r = pci_source_address(ctx, FILE_NAME, device, &item.source);

	if (r <= 0)
		return r;
	item.interface = str_eq(xml_name(device), "interface");
	item.managed = xml_get_is(device, "managed", "yes");
	r = pci_guest_address(ctx, FILE_NAME, device, &item.guest);
	if (r < 0)
		return r;
	item.has_guest = r > 0;
	read_mac(device, &item);
	if (view->device_count == VFCTL_DOMAIN_DEVICES_MAX)
		return ctx_fail(ctx, -E2BIG, FILE_NAME ":%u: more than %d host devices",
			xml_line(device), VFCTL_DOMAIN_DEVICES_MAX);
	if (!array_grow(view->devices, view->device_count))
		return ctx_oom(ctx);
	view->devices[view->device_count++] = item;
	return 0;
}

static int add_controller(
	struct vfctl_ctx *ctx, struct xml_node *device, struct vfctl_domain_view *view)
{
	struct vfctl_domain_controller item = {0};
	const char *index = xml_get(device, "index"), *model = xml_get(device, "model");

	if (!str_eq(xml_name(device), "controller") ||
		!xml_get_is(device, "type", "pci") || !index)
		return 0;
	/* pci_map_init() has checked the number. */
	parse_u32(index, 0, 255, &item.index);
	if (model && !str_copy(item.model, sizeof(item.model), model))
		return fail_value(ctx, device, model);
	if (!array_grow(view->controllers, view->controller_count))
		return ctx_oom(ctx);
	view->controllers[view->controller_count++] = item;
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct vfctl_domain_controller *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static void count_users(struct vfctl_domain_view *view)
{
	for (size_t i = 0; i < view->controller_count; i++)
		for (size_t k = 0; k < view->guest_address_count; k++)
			view->controllers[i].users +=
				view->guest_addresses[k].domain == 0 &&
				view->guest_addresses[k].bus ==
					view->controllers[i].index;
}

static int read_devices(
	struct vfctl_ctx *ctx, struct xml_node *domain, struct vfctl_domain_view *view)
{
	struct xml_node *devices = xml_child(domain, "devices");
	_cleanup_(pci_map_clear) struct pci_map map = {0};
	int r = pci_map_init(ctx, &map, FILE_NAME, devices);

	if (r < 0)
		return r;
	view->guest_addresses = steal(map.used);
	view->guest_address_count = map.used_count;
	xml_each(device, devices, NULL)
	{
		r = add_device(ctx, device, view);
		if (r == 0)
			r = add_controller(ctx, device, view);
		if (r < 0)
			return r;
	}
	if (view->controller_count)
		qsort(view->controllers, view->controller_count,
			sizeof(*view->controllers), by_index);
	count_users(view);
	return 0;
}

static int read_text(struct vfctl_ctx *ctx, const struct xml_node *node, char **ret)
{
	char buf[1024];
	const char *text = xml_text(node, buf, sizeof(buf));

	if (node && !text)
		return fail_value(ctx, node, "(too long)");
	if (!text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : ctx_oom(ctx);
}

int vfctl_domain_read(
	struct vfctl_ctx *ctx, const char *text, struct vfctl_domain_view **ret)
{
	_cleanup_(free_view) struct vfctl_domain_view *view = NULL;
	_xml_ struct xml *xml = NULL;
	struct xml_node *domain;
	int r = xml_parse_domain(ctx, FILE_NAME, text, &xml);

	if (r < 0)
		return r;
	view = calloc(1, sizeof(*view));
	if (!view)
		return ctx_oom(ctx);
	domain = xml_root(xml);
	r = read_text(ctx, xml_child(domain, "name"), &view->name);
	if (r == 0)
		r = read_text(ctx, xml_child(domain, "uuid"), &view->uuid);
	if (r == 0)
		r = read_memory(ctx, domain, view);
	if (r == 0)
		r = read_tune(ctx, domain, view);
	if (r == 0)
		r = read_numa(ctx, domain, view);
	if (r == 0)
		r = read_devices(ctx, domain, view);
	if (r < 0)
		return r;
	if (!view->name)
		return ctx_fail(ctx, -EINVAL, FILE_NAME ":%u: <domain> lacks <name>",
			xml_line(domain));
	*ret = steal(view);
	return 0;
}

uint8_t vfctl_domain_free_port(const struct vfctl_domain_view *view)
{
	for (size_t i = 0; i < view->controller_count; i++) {
		const struct vfctl_domain_controller *c = &view->controllers[i];

		if (str_eq(c->model, "pcie-root-port") && !c->users && c->index)
			return (uint8_t)c->index;
	}
	return 0;
}
