// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The places of elements: those of libvirt's own output, which each of its versions accepts.
 *
 * libvirt's schemas allow any order (interleave), but libxml2 rejects an element of one group
 * between those of another ("Extra element os in interleave"). Such groups in the schema of
 * libvirt 9.0 are <name>, <uuid> and <genid>, and everything from <memory> to <resource>; in that
 * of every version <driver>, <source> and <teaming> of a <hostdev>.
 */
#include "domain/domain.h"

static const char *const sections[] = {"name", "uuid", "genid", "title", "description",
	"metadata", "maxMemory", "memory", "currentMemory", "blkiotune", "memtune",
	"memoryBacking", "vcpu", "vcpus", "iothreads", "iothreadids", "defaultiothread",
	"cputune", "numatune", "resource", "throttlegroups", "sysinfo", "bootloader",
	"bootloader_args", "os", "idmap", "features", "cpu", "clock", "on_poweroff",
	"on_reboot", "on_crash", "on_lockfailure", "pm", "perf", "devices", "seclabel",
	"keywrap", "launchSecurity"};

static const char *const hostdev[] = {"driver", "source", "teaming", "readonly",
	"shareable", "boot", "alias", "rom", "acpi", "address"};

static const struct order {
	const char *parent;
	const char *const *names;
	size_t count;
} orders[] = {{"domain", sections, ARRAY_SIZE(sections)},
	{"hostdev", hostdev, ARRAY_SIZE(hostdev)}};

#define RANKS ARRAY_SIZE(sections) /* of the longest table */

static const struct order *order_of(const struct xml_node *parent)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (str_eq(orders[i].parent, xml_name(parent)))
			return &orders[i];
	return NULL;
}

/* The number of names if it is not in the table. */
static size_t rank_of(const struct order *order, const struct xml_node *node)
{
	size_t i = 0;

	while (i < order->count && !str_eq(order->names[i], xml_name(node)))
		i++;
	return i;
}

static struct xml_node *first_above(struct xml_node *const *first, size_t count, size_t rank)
{
	for (size_t i = rank + 1; i < count; i++)
		if (first[i])
			return first[i];
	return NULL;
}

void order_sort(struct xml_node *parent)
{
	const struct order *order = order_of(parent);
	struct xml_node *first[RANKS] = {0}, *next;

	if (!order)
		return;
	for (struct xml_node *child = xml_child(parent, NULL); child; child = next) {
		size_t rank = rank_of(order, child);
		struct xml_node *above;

		next = xml_next(child, NULL);
		if (rank == order->count)
			continue;
		above = first_above(first, order->count, rank);
		if (above)
			xml_move_before(child, above);
		if (!first[rank])
			first[rank] = child;
	}
}

struct xml_node *order_add(struct xml_node *parent, const char *name)
{
	struct xml_node *node = xml_add(parent, name);

	order_sort(parent);
	return node;
}
