// SPDX-License-Identifier: GPL-2.0-or-later
#include "domain/stream_place.h"

#include <string.h>

#include "base/util.h"
#include "domain/domain.h"

#define OURS VFCTL_METADATA_NS "|"
#define QEMU "http://libvirt.org/schemas/domain/qemu/1.0|"

const char *stream_attr(const char **attrs, const char *name)
{
	for (; attrs[0]; attrs += 2)
		if (str_eq(attrs[0], name))
			return attrs[1];
	return NULL;
}

bool stream_attr_is(const char **attrs, const char *name, const char *value)
{
	const char *text = stream_attr(attrs, name);

	return text && str_eq(text, value);
}

static enum stream_place in_domain(const char *name, const char **attrs)
{
	static const struct {
		const char *name;
		enum stream_place place;
	} places[] = {{"name", NAME}, {"uuid", UUID}, {"metadata", METADATA},
		{"devices", DEVICES}, {"cputune", CPUTUNE}, {QEMU "commandline", QEMU_ARGS}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (str_eq(places[i].name, name))
			return places[i].place;
	return ELSEWHERE;
}

static enum stream_place in_devices(const char *name, const char **attrs)
{
	if (str_eq(name, "hostdev") && stream_attr_is(attrs, "type", "pci") &&
		!stream_attr_is(attrs, "mode", "capabilities"))
		return HOST_DEVICE;
	if (str_eq(name, "interface") && stream_attr_is(attrs, "type", "hostdev"))
		return HOST_DEVICE;
	if (str_eq(name, "interface"))
		return stream_attr_is(attrs, "type", "network") ? NETWORK_INTERFACE
			: stream_attr_is(attrs, "type", "direct") ? MACVTAP_INTERFACE
			: stream_attr_is(attrs, "type", "vdpa") ? VDPA_INTERFACE : ELSEWHERE;
	return str_eq(name, "disk") ? DISK : ELSEWHERE;
}

static enum stream_place in_disk(const char *name, const char **attrs)
{
	if (str_eq(name, "backingStore") || str_eq(name, "dataStore") ||
		str_eq(name, "mirror"))
		return DISK;
	return str_eq(name, "source") && stream_attr_is(attrs, "type", "pci") ? SOURCE : ELSEWHERE;
}

/* A VF from a pool is in <actual> (status files), or in the form of a hostdev (hooks). */
static enum stream_place in_device(enum stream_place parent, const char *name, const char **attrs)
{
	if (str_eq(name, "mac"))
		return MAC;
	if (str_eq(name, "vlan"))
		return VLAN;
	if (str_eq(name, "actual"))
		return stream_attr_is(attrs, "type", "hostdev") ? HOST_DEVICE
			: stream_attr_is(attrs, "type", "direct") ? MACVTAP_INTERFACE : ELSEWHERE;
	if (!str_eq(name, "source"))
		return ELSEWHERE;
	return parent == HOST_DEVICE ? SOURCE : REFERENCE_SOURCE;
}

enum stream_place stream_place(enum stream_place parent, const char *name, const char **attrs)
{
	switch (parent) {
	case DOMAIN:
		return in_domain(name, attrs);
	case METADATA:
		return str_eq(name, OURS METADATA_GUEST) ? OUR_GUEST : ELSEWHERE;
	case OUR_GUEST:
		return str_eq(name, OURS METADATA_VF) ? OUR_VF
			: str_eq(name, OURS METADATA_TUNING) ? OUR_TUNING : ELSEWHERE;
	case CPUTUNE:
		return str_eq(name, "emulatorpin") ? EMULATOR_PIN : ELSEWHERE;
	case DEVICES:
		return in_devices(name, attrs);
	case QEMU_ARGS:
		return str_eq(name, QEMU "arg") ? QEMU_ARG : ELSEWHERE;
	case HOST_DEVICE:
	case NETWORK_INTERFACE:
	case MACVTAP_INTERFACE:
	case VDPA_INTERFACE:
		return in_device(parent, name, attrs);
	case DISK:
		return in_disk(name, attrs);
	case VLAN:
		return str_eq(name, "tag") ? TAG : ELSEWHERE;
	case SOURCE:
		return str_eq(name, "address") ? SOURCE_ADDRESS : ELSEWHERE;
	default:
		return ELSEWHERE;
	}
}
