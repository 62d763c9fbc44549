// SPDX-License-Identifier: GPL-2.0-or-later
/* The tuning that a guest requests from its host, as a value. */
#include <ctype.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/util.h"
#include "types/tuning.h"

bool vfctl_guest_tuning_any(const struct vfctl_guest_tuning *t)
{
	return t->profile[0] || t->has_cpu_latency || t->governor[0] || t->has_interrupts;
}

bool vfctl_guest_tuning_same(const struct vfctl_guest_tuning *a, const struct vfctl_guest_tuning *b)
{
	return str_eq(a->profile, b->profile) && str_eq(a->governor, b->governor) &&
		a->has_cpu_latency == b->has_cpu_latency &&
		(!a->has_cpu_latency || a->cpu_latency_us == b->cpu_latency_us) &&
		a->has_interrupts == b->has_interrupts &&
		(!a->has_interrupts || a->interrupts == b->interrupts);
}

char *vfctl_guest_tuning_format(const struct vfctl_guest_tuning *t)
{
	_buf_ struct buf out = {0};

	buf_puts(&out, t->profile);
	if (t->has_cpu_latency)
		buf_printf(&out, "%scpu-latency-us=%" PRIu32, out.len ? " " : "", t->cpu_latency_us);
	if (t->governor[0])
		buf_printf(&out, "%sgovernor=%s", out.len ? " " : "", t->governor);
	if (t->has_interrupts)
		buf_printf(&out, "%sinterrupts=%s", out.len ? " " : "", t->interrupts ? "on" : "off");
	return out.failed ? NULL : out.len ? buf_steal(&out) : strdup("");
}

bool vfctl_tuning_name_valid(const char *name, size_t max)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && (!i || !strchr("-_.", name[i])))
			return false;
	return len > 0 && len <= max;
}
