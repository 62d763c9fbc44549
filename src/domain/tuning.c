// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * <vfctl:tuning profile="" cpu-latency-us="" governor="" interrupts=""/>: the writer and the strict
 * reader.
 */
#include <inttypes.h>

#include "base/parse.h"
#include "domain/domain.h"

void tuning_write(struct xml_node *guest, const struct vfctl_guest_tuning *tuning)
{
	struct xml_node *node;

	if (!vfctl_guest_tuning_any(tuning))
		return;
	node = xml_add_ns(guest, VFCTL_METADATA_NS, METADATA_PREFIX, METADATA_TUNING);
	if (tuning->profile[0])
		xml_set(node, "profile", tuning->profile);
	if (tuning->has_cpu_latency)
		xml_setf(node, "cpu-latency-us", "%" PRIu32, tuning->cpu_latency_us);
	if (tuning->governor[0])
		xml_set(node, "governor", tuning->governor);
	if (tuning->has_interrupts)
		xml_set(node, "interrupts", tuning->interrupts ? "on" : "off");
}

static bool read_name(const char *value, char *field, size_t size)
{
	return vfctl_tuning_name_valid(value, size - 1) && str_copy(field, size, value);
}

bool tuning_attr(struct vfctl_guest_tuning *tuning, const char *name, const char *value)
{
	if (str_eq(name, "profile"))
		return read_name(value, tuning->profile, sizeof(tuning->profile));
	if (str_eq(name, "governor"))
		return read_name(value, tuning->governor, sizeof(tuning->governor));
	if (str_eq(name, "cpu-latency-us")) {
		tuning->has_cpu_latency = true;
		return parse_u32(value, 0, VFCTL_CPU_LATENCY_MAX_US, &tuning->cpu_latency_us) == 0;
	}
	if (str_eq(name, "interrupts")) {
		tuning->has_interrupts = true;
		return parse_bool(value, &tuning->interrupts) == 0;
	}
	return false;
}
