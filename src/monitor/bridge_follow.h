/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MONITOR_BRIDGE_FOLLOW_H
#define VFCTL_MONITOR_BRIDGE_FOLLOW_H

#include <search.h>
#include <time.h>

#include "checks/host_checks.h"
#include "monitor/bridge.h"
#include "netlink/link.h"
#include "tuning/bridge_record.h"

/* What the parts of vfctl monitor --bridge share. */

/* The order in which a full table is filled; the first two never make room. */
enum kept_kind { KIND_DECLARED, KIND_HOST, KIND_GUEST, KIND_LEARNT };

/* An uplink that is followed. */
struct side {
	struct vfctl_bdf bdf;
	char name[40];
	int ifindex;
	enum vfctl_bridge_mode mode;
	int *wire; /* the uplink and what is above it, bridges included; ends with 0 */
	int *bridges; /* ends with 0 */
	size_t foreign; /* entries that others added */
	size_t ours;
	int capacity; /* -1: not known */
	bool told_full;
	/* A search among all stations found nothing that makes room for this kind or a later one. */
	bool no_room;
	enum kept_kind no_room_for;
};

/* A station of a side. */
struct kept {
	struct vfctl_bdf side;
	struct vfctl_mac mac;
	enum kept_kind kind;
	int port; /* index; 0: a declared or own address */
	char port_name[16];
	bool there, ours;
	bool told;    /* that it is left out, or that the kernel refuses it */
	bool checked; /* seen while everything is read */
	int64_t wire;   /* since when the bridge sees it on the wire; 0: it does not */
	int64_t silent; /* when the bridge forgot it; 0: the bridge knows it */
	int64_t seen;   /* when the bridge was last known to know it; all of one reading alike */
};

/* A port of a bridge that is followed, or a device between. */
struct device {
	int ifindex, master, lower;
	char name[16];
	struct vfctl_mac address;
	bool tap;
};

struct follow {
	struct vfctl_ctx *ctx;
	const char *host_yaml; /* see vfctl_host_spec_read() */
	struct vfctl_host_spec *spec;
	bool spec_changed;
	struct vfctl_watch *watch; /* of host.yaml */
	void (*tell)(void *data, const struct vfctl_bridge_event *event);
	void *data;
	int fd;
	struct side *sides;
	size_t side_count;
	void *entries; /* tree of struct kept */
	void *devices; /* tree of struct device */
	int *functions; /* indexes of the devices of declared PFs and of their VFs; ends with 0 */
	struct bridge_record *record;
	struct mac_filter filter;
	struct vfctl_leases *leases;
	struct timespec state; /* when the state file changed last */
	int64_t wire_at; /* the earliest of its stations' @wire; 0: none is on the wire */
	int64_t read_at; /* when the last reading began */
	int64_t first_dirty, last_dirty; /* 0: nothing is to be read again */
};

/* ---- bridge_table.c: stations, and the table of a function ---- */

int kept_order(const void *a, const void *b);
struct kept *kept_find(struct follow *f, const struct side *s, const struct vfctl_mac *mac);
/* @seen: see there. NULL: out of memory. */
struct kept *kept_add(struct follow *f, const struct side *s, const struct vfctl_mac *mac,
	enum kept_kind kind, int64_t seen);
/* The uplink of the station; NULL: it is not followed now. */
struct side *kept_side(struct follow *f, const struct kept *e);
/* Whether @a makes room before @b. */
bool kept_yields_before(const struct kept *a, const struct kept *b);
/* Whether it belongs to no other function; if it does, that is told once. */
bool kept_allowed(struct follow *f, struct side *s, struct kept *e);
/* Add it to the table if it may be added, and if there is room or something that makes room. */
void kept_offer(struct follow *f, struct side *s, struct kept *e);
/* Remove it from the table if it was added here. */
void kept_take(struct follow *f, struct side *s, struct kept *e, const char *why);
/* The same, and free it. */
void kept_forget(struct follow *f, struct side *s, struct kept *e, const char *why);
/* The same where its uplink is not followed now: the bridge is gone, or it could not be read. */
void kept_forget_alone(struct follow *f, struct kept *e);
/* All of them; free() the list. NULL: it is empty, or out of memory. */
struct kept **kept_all(struct follow *f, size_t *ret_count);
/* Write the record anew if it is long: stations that come and go must not fill the memory. */
void follow_shorten_record(struct follow *f);

/* ---- bridge_read.c ---- */

void sides_free(struct side *sides, size_t count);
/* Read host and tables, and bring these up to date. */
int follow_read(struct follow *f);

/* ---- bridge_messages.c: devices, and what the kernel reports ---- */

struct device *device_find(struct follow *f, int ifindex);
void device_note(struct follow *f, const struct nl_link *link);
bool device_is_tap(struct follow *f, const char *name);
/* Whether the list, which ends with 0, has the index; NULL is empty. */
bool index_in(const int *list, int ifindex);
bool follow_has_bridge(const struct follow *f, int ifindex);
/* Whether it is the device of a declared function, or between one and a bridge. */
bool follow_has_between(const struct follow *f, int ifindex);
/* The bridge sees it on the wire: it is removed if that stays so for a while. */
void follow_note_wire(struct follow *f, struct kept *e);
/* Everything is read again soon. */
void follow_read_again(struct follow *f);
void follow_message(struct follow *f, const struct nlmsghdr *m);

#endif
