// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a template says of vCPUs, I/O threads and guest cells that the guest lacks. libvirt rejects
 * such a domain (virDomainDefGetVcpuSched(), virDomainDefGetIOThreadSched(), ...).
 */
#include <inttypes.h>

#include "base/parse.h"
#include "domain/domain.h"

static struct vfctl_cpuset numbers(uint32_t first, size_t count)
{
	struct vfctl_cpuset set = {0};

	for (size_t i = 0; i < count && first + i < VFCTL_CPU_MAX; i++)
		vfctl_cpuset_add(&set, (unsigned)(first + i));
	return set;
}

/* Clip the list in the attribute; false if nothing is left of it. libvirt reports a wrong list. */
static bool clip(struct render *r, struct xml_node *node, const char *attr,
	const struct vfctl_cpuset *there)
{
	struct vfctl_cpuset set = {0};

	if (!xml_get(node, attr))
		return true;
	if (parsed_list(r->ctx, node, attr, &set) < 0) {
		ctx_clear(r->ctx);
		return true;
	}
	if (vfctl_cpuset_within(&set, there))
		return true;
	vfctl_cpuset_and(&set, there);
	if (vfctl_cpuset_empty(&set))
		return false;
	render_set_list(node, attr, &set);
	return true;
}

static void clip_children(struct render *r, struct xml_node *parent, const char *name,
	const char *attr, const struct vfctl_cpuset *there)
{
	struct xml_node *child = xml_child(parent, name), *next;

	for (; child; child = next) {
		next = xml_next(child, name);
		if (!clip(r, child, attr, there))
			xml_remove(child);
	}
}

/* A part of the cache that has lost all its contents is not valid. */
static void fit_cachetune(struct render *r, struct xml_node *tune, const char *name,
	const struct vfctl_cpuset *vcpus)
{
	struct xml_node *part, *next;

	clip_children(r, tune, name, "vcpus", vcpus);
	for (part = xml_child(tune, name); part; part = next) {
		next = xml_next(part, name);
		clip_children(r, part, "monitor", "vcpus", vcpus);
		if (!xml_has_children(part))
			xml_remove(part);
	}
}

void render_tune_refs(struct render *r, struct xml_node *tune)
{
	struct vfctl_cpuset vcpus = numbers(0, r->assignment->vcpu_count);
	struct vfctl_cpuset iothreads = numbers(1, r->guest->iothreads);

	clip_children(r, tune, "vcpusched", "vcpus", &vcpus);
	clip_children(r, tune, "iothreadsched", "iothreads", &iothreads);
	fit_cachetune(r, tune, "cachetune", &vcpus);
	fit_cachetune(r, tune, "memorytune", &vcpus);
}

/* ---- I/O threads of devices ---- */

static bool has_thread(const struct render *r, const struct xml_node *node, const char *attr)
{
	const char *text = xml_get(node, attr);
	uint32_t number;

	return !text || parse_u32(text, 1, UINT32_MAX, &number) < 0 || number <= r->guest->iothreads;
}

static void fit_thread(struct render *r, struct xml_node *driver)
{
	uint32_t number;

	if (has_thread(r, driver, "iothread"))
		return;
	if (r->guest->iothreads && parse_u32(xml_get(driver, "iothread"), 1, UINT32_MAX, &number) == 0)
		xml_setf(driver, "iothread", "%" PRIu32, (number - 1) % r->guest->iothreads + 1);
	else
		xml_unset(driver, "iothread");
}

/* The queues of a disk are mapped to several threads: those that remain share them in turn. */
static void fit_mapping(struct render *r, struct xml_node *driver)
{
	struct xml_node *map = xml_child(driver, "iothreads");
	uint32_t count = 0;
	bool fits = true;

	xml_each(thread, map, "iothread") {
		fits &= has_thread(r, thread, "id");
		count++;
	}
	if (fits)
		return;
	xml_clear(map);
	for (uint32_t i = 1; i <= count && i <= r->guest->iothreads; i++)
		xml_setf(xml_add(map, "iothread"), "id", "%" PRIu32, i);
	if (!r->guest->iothreads)
		xml_remove(map);
}

/* ---- guest cells of devices ---- */

static bool has_cell(const struct render *r, const struct xml_node *device)
{
	char buf[16];
	const char *text = xml_text(xml_child(xml_child(device, "target"), "node"), buf, sizeof(buf));
	uint32_t cell;

	return !text || parse_u32(text, 0, UINT32_MAX, &cell) < 0 ||
		cell < r->assignment->cell_count;
}

static void drop_memory(struct render *r, struct xml_node *device)
{
	log_warn(r->ctx, "%s:%u: the memory device is left out: the guest has no node for it (%zu node%s)",
		r->file, xml_line(device), r->assignment->cell_count,
		plural(r->assignment->cell_count));
	xml_remove(device);
}

static uint64_t bytes_in(struct render *r, const struct xml_node *node)
{
	char buf[32];
	const char *text = xml_text(node, buf, sizeof(buf));
	uint64_t bytes = 0;

	if (text && parsed_bytes(r->ctx, node, text, &bytes) < 0)
		ctx_clear(r->ctx);
	return bytes;
}

/* Memory devices need <maxMemory>, which covers them and the memory of the cells. */
static void fit_max_memory(struct render *r)
{
	struct xml_node *max = xml_child(r->domain, "maxMemory");
	uint64_t bytes = r->assignment->memory_bytes;
	size_t count = 0;

	xml_each(device, r->devices, "memory") {
		bytes += bytes_in(r, xml_child(xml_child(device, "target"), "size"));
		count++;
	}
	if (!count) {
		xml_remove(max);
	} else if (max && bytes_in(r, max) < bytes) {
		xml_set(max, "unit", "KiB");
		xml_set_textf(max, "%" PRIu64, (bytes + 1023) / 1024);
	}
}

void render_device_refs(struct render *r)
{
	struct vfctl_cpuset cells = numbers(0, r->assignment->cell_count);
	struct xml_node *device = xml_child(r->devices, NULL), *next;

	for (; device; device = next) {
		struct xml_node *acpi = xml_child(device, "acpi");
		struct xml_node *driver = xml_child(device, "driver");

		next = xml_next(device, NULL);
		fit_thread(r, driver);
		fit_mapping(r, driver);
		if (!clip(r, acpi, "nodeset", &cells))
			xml_unset(acpi, "nodeset");
		if (str_eq(xml_name(device), "memory") && !has_cell(r, device))
			drop_memory(r, device);
	}
	fit_max_memory(r);
}
