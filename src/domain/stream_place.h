/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_DOMAIN_STREAM_PLACE_H
#define VFCTL_DOMAIN_STREAM_PLACE_H

#include <stdbool.h>

/* The position of an element in the document, as far as it matters here. */
enum stream_place {
	ELSEWHERE,
	DOMAIN,
	NAME,
	UUID,
	METADATA,
	OUR_GUEST,
	OUR_VF,
	OUR_TUNING,
	CPUTUNE,
	EMULATOR_PIN,
	DEVICES,
	HOST_DEVICE, /* PCI hostdev or hostdev interface */
	DISK, /* its layers may be on functions that QEMU drives itself (type nvme) */
	NETWORK_INTERFACE, /* of a libvirt network, which may be a pool of VFs */
	MACVTAP_INTERFACE, /* on a network device of the host, which may be a VF's */
	VDPA_INTERFACE,
	REFERENCE_SOURCE, /* <source> of one of these three */
	QEMU_ARGS,
	QEMU_ARG,
	MAC,
	VLAN,
	TAG,
	SOURCE,
	SOURCE_ADDRESS,
};

/*
 * The place of an element in its parent. @attrs: names and values in turn, then NULL, as expat
 * gives them. @name has its namespace before a '|'.
 */
enum stream_place stream_place(enum stream_place parent, const char *name, const char **attrs);
/* The value of an attribute; NULL without it. */
const char *stream_attr(const char **attrs, const char *name);
bool stream_attr_is(const char **attrs, const char *name, const char *value);

#endif
