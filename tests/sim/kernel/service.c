// SPDX-License-Identifier: GPL-2.0-or-later
/* systemd as far as vfctl uses it, and OpenSM as a process. */
#include <errno.h>

#include "sim.h"

#define WANTS "/etc/systemd/system/multi-user.target.wants/"

/*
 * systemctl with OpenSM's unit: as a process, it makes each port that waits for it active.
 * /.sim/no-service: it fails; /.sim/no-fabric: it starts, and no port becomes active.
 */
int sim_service(struct host *h, const char *verb, const char *unit, unsigned timeout_ms)
{
	_strv_ char **devices = NULL;

	if (sim_has(h, "/.sim/no-service"))
		return -EIO;
	if (str_eq(verb, "enable")) {
		sim_put(h, "yes\n", "/.sim/enabled/%s", unit);
		return sim_put_link(h, unit, WANTS "%s", unit);
	}
	if (str_eq(verb, "disable")) {
		sim_remove(h, "/.sim/enabled/%s", unit);
		return sim_remove(h, WANTS "%s", unit);
	}
	if (str_eq(verb, "stop"))
		return sim_remove(h, "/proc/7471");
	sim_put(h, "opensm\n", "/proc/7471/comm");
	if (sim_has(h, "/.sim/no-fabric") || files_list(h, "/sys/class/infiniband", &devices) < 0)
		return 0;
	for (size_t i = 0; devices[i]; i++) {
		sim_put(h, "4: ACTIVE\n", "/sys/class/infiniband/%s/ports/1/state", devices[i]);
		sim_put(h, "0x1\n", "/sys/class/infiniband/%s/ports/1/sm_lid", devices[i]);
	}
	return 0;
}

/* How often it was sent is the length of this file. */
int sim_hangup(struct host *h, const char *name)
{
	_free_ char *told = sim_get(h, "/.sim/hangup/%s", name), *more = str_format("%sx", told ? told : "");

	return sim_has(h, "/proc/7471") ? sim_put(h, more, "/.sim/hangup/%s", name) : 0;
}
