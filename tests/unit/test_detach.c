// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl detach --live waits for libvirt's event of the device. libvirt itself is replaced: the pointers
 * to its functions lead to functions of this file, and its event loop delivers a list of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../src/libvirt/libvirt.c"

enum kind { REMOVED, REFUSED, TIMEOUT };

struct event {
	enum kind kind;
	const char *alias;
};

static struct vfctl_ctx *ctx;
static const struct event *next; /* the events that are still to come */
static struct {
	virConnectDomainEventGenericCallback call;
	void *data;
} callbacks[2];
static virEventTimeoutCallback timer_call;
static void *timer_data;

static virDomainPtr find_domain(virConnectPtr conn, const char *uuid)
{
	return (virDomainPtr)&ctx;
}

static int free_one(virDomainPtr domain)
{
	return 0;
}

static int register_event(virConnectPtr conn, virDomainPtr domain, int id,
	virConnectDomainEventGenericCallback call, void *data, virFreeCallback free_data)
{
	enum kind kind = id == VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED ? REMOVED : REFUSED;

	callbacks[kind].call = call;
	callbacks[kind].data = data;
	return (int)kind;
}

static int deregister_event(virConnectPtr conn, int id)
{
	callbacks[id].call = NULL;
	return 0;
}

static int add_timer(int ms, virEventTimeoutCallback call, void *data, virFreeCallback free_data)
{
	timer_call = call;
	timer_data = data;
	return 1;
}

static int remove_timer(int timer)
{
	return 0;
}

static int detach_device(virDomainPtr domain, const char *xml, unsigned flags)
{
	return 0;
}

/* One round of libvirt's event loop delivers one event. */
static int run_loop(void)
{
	const struct event *e = next++;

	if (e->kind == TIMEOUT)
		timer_call(1, timer_data);
	else
		((virConnectDomainEventDeviceRemovedCallback)(void (*)(void))callbacks[e->kind].call)(NULL,
			NULL, e->alias, callbacks[e->kind].data);
	return 0;
}

/* @return what a detach of that element returns while these events arrive. */
static int detach_while(const char *xml, const struct event *events)
{
	struct connection c = {.conn = NULL};

	ctx_clear(ctx);
	next = events;
	return detach(ctx, &c.table, "uuid", xml, VFCTL_AFFECT_LIVE, 5000);
}

#define VF "<interface type='hostdev'><alias name=\"hostdev0\"/></interface>"

/* Scenario 24: a disk and a virtio interface are unplugged while the guest keeps its VF. */
static void other_devices_do_not_end_the_wait(void **state)
{
	static const struct event timeout[] = {{REMOVED, "virtio-disk1"}, {REFUSED, "net0"},
		{REMOVED, "net0"}, {TIMEOUT, NULL}};
	static const struct event late[] = {{REMOVED, "virtio-disk1"}, {REFUSED, "net0"},
		{REMOVED, "hostdev0"}};
	static const struct event refused[] = {{REMOVED, "hostdev01"}, {REFUSED, "hostdev0"}};

	assert_int_equal(detach_while(VF, timeout), -ETIMEDOUT);
	assert_ptr_equal(next, timeout + 4);
	assert_int_equal(detach_while(VF, late), 0);
	assert_ptr_equal(next, late + 3);
	assert_int_equal(detach_while(VF, refused), -EBUSY);
	assert_ptr_equal(next, refused + 2);
	assert_null(callbacks[REMOVED].call);
	assert_null(callbacks[REFUSED].call);
}

/* Without an alias vfctl cannot tell the devices apart, and takes the first event. */
static void without_an_alias_any_device_counts(void **state)
{
	static const struct event removed[] = {{REMOVED, "net0"}};

	assert_int_equal(detach_while("<hostdev/>", removed), 0);
}

static int make_context(void **state)
{
	sym_virDomainLookupByUUIDString = find_domain;
	sym_virDomainFree = free_one;
	sym_virConnectDomainEventRegisterAny = register_event;
	sym_virConnectDomainEventDeregisterAny = deregister_event;
	sym_virEventAddTimeout = add_timer;
	sym_virEventRemoveTimeout = remove_timer;
	sym_virEventRunDefaultImpl = run_loop;
	sym_virDomainDetachDeviceFlags = detach_device;
	return vfctl_ctx_new(&ctx);
}

static int free_context(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_devices_do_not_end_the_wait),
		cmocka_unit_test(without_an_alias_any_device_counts),
	};

	return cmocka_run_group_tests(tests, make_context, free_context);
}
