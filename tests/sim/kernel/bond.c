// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drivers/net/bonding through sysfs, and what mlx5 makes of a bond (lag/lag.c): a VF-LAG when both ports
 * of a card are in it and nobody else, both are in switchdev mode and no driver has a VF of them; else
 * nothing, and no word of it. Only cards with /sys/kernel/debug/mlx5/BDF/lag/state, which then tells.
 *	.sim/lag-never	exists: something that cannot be seen keeps it from one
 */
#include <errno.h>
#include <stdio.h>

#include "sim.h"

#define NET "/sys/class/net/%s"
#define STATE "/sys/kernel/debug/mlx5/%s/lag/state"
#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* ---- VF-LAG ---- */

static bool has_bound_vf(struct host *h, const struct sim_pf *pf)
{
	for (unsigned i = 0; i < pf->num_vfs; i++) {
		char path[96];
		_free_ char *driver = NULL;

		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/virtfn%u/driver", TEXT(&pf->bdf), i);
		if (h->ops->readlink(h, path, &driver) == 0)
			return true;
	}
	return false;
}

static char *bond_of(struct host *h, const struct sim_pf *pf)
{
	char path[64];
	_free_ char *target = NULL;

	snprintf(path, sizeof(path), NET "/master", pf->netdev);
	return h->ops->readlink(h, path, &target) == 0 ? strdup(strrchr(target, '/') + 1) : NULL;
}

static unsigned count_text(const char *text)
{
	unsigned n = 0;

	for (const char *at = text; at && *at; at += strspn(at, " ")) {
		at += strcspn(at, " ");
		n++;
	}
	return n;
}

static bool can_be_one(struct host *h, const struct sim_pf *a, const struct sim_pf *b)
{
	_free_ char *one = bond_of(h, a), *other = bond_of(h, b), *ports = NULL, *mode = NULL;

	if (!one || !other || !str_eq(one, other) || sim_has(h, "/.sim/lag-never"))
		return false;
	ports = sim_get(h, NET "/bonding/slaves", one);
	mode = sim_get(h, NET "/bonding/mode", one);
	return count_text(ports) == 2 && mode && !str_starts(mode, "balance-rr") &&
		sim_eswitch(h, &a->bdf) == 1 && sim_eswitch(h, &b->bdf) == 1;
}

/* After a change of the bond or of a mode. One that is active stays so when VFs are bound again. */
void sim_lag_look(struct host *h)
{
	struct sim_pf pfs[SIM_PFS_MAX];
	size_t count = sim_pfs_read(h, pfs);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct sim_pf *a = &pfs[i], *b = &pfs[k];
			_free_ char *now = sim_get(h, STATE, TEXT(&a->bdf));
			bool can;

			if (i == k || !now || a->bdf.domain != b->bdf.domain || a->bdf.bus != b->bdf.bus ||
				a->bdf.slot != b->bdf.slot)
				continue;
			can = can_be_one(h, a, b);
			if (can && !str_eq(now, "active"))
				can = !has_bound_vf(h, a) && !has_bound_vf(h, b);
			sim_put(h, can ? "active\n" : "disabled\n", STATE, TEXT(&a->bdf));
		}
}

/* ---- the bond ---- */

static void set_up(struct host *h, const char *netdev, bool up)
{
	_free_ char *path = str_format(NET "/flags", netdev);

	sim_store_net(h, path, up ? "0x1003" : "0x1002");
}

static bool is_up(struct host *h, const char *netdev)
{
	_free_ char *flags = sim_get(h, NET "/flags", netdev);

	return flags && strtoul(flags, NULL, 0) & 1;
}

static int drop_port(struct host *h, const char *bond, const char *port)
{
	_free_ char *ports = sim_get(h, NET "/bonding/slaves", bond);
	_buf_ struct buf left = {0};
	char *save = NULL;
	bool found = false;

	for (char *name = ports ? strtok_r(ports, " ", &save) : NULL; name; name = strtok_r(NULL, " ", &save)) {
		found |= str_eq(name, port);
		if (!str_eq(name, port))
			buf_printf(&left, "%s%s", left.len ? " " : "", name);
	}
	if (!found)
		return -ENODEV;
	sim_remove(h, NET "/master", port);
	set_up(h, port, false);
	return sim_put(h, left.data ? left.data : "", NET "/bonding/slaves", bond);
}

static int add_port(struct host *h, const char *bond, const char *port)
{
	_free_ char *ports = sim_get(h, NET "/bonding/slaves", bond), *more = NULL;
	_free_ char *target = str_format("../%s", bond);

	if (!sim_has(h, NET, port))
		return -ENODEV;
	if (sim_has(h, NET "/master", port))
		return -EBUSY;
	if (is_up(h, port)) /* "Device can not be enslaved while up" */
		return -EPERM;
	more = str_format("%s%s%s", ports ? ports : "", ports && *ports ? " " : "", port);
	sim_put_link(h, target, NET "/master", port);
	set_up(h, port, true);
	return sim_put(h, more, NET "/bonding/slaves", bond);
}

static int remove_bond(struct host *h, const char *bond)
{
	_free_ char *ports = sim_get(h, NET "/bonding/slaves", bond);
	char *save = NULL;

	if (!ports)
		return -ENODEV;
	for (char *name = strtok_r(ports, " ", &save); name; name = strtok_r(NULL, " ", &save))
		drop_port(h, bond, name);
	return sim_remove(h, NET, bond);
}

static int make_bond(struct host *h, const char *bond)
{
	if (sim_has(h, NET, bond))
		return -EEXIST;
	sim_put(h, "", NET "/bonding/slaves", bond);
	sim_put(h, "0\n", NET "/bonding/miimon", bond);
	sim_put(h, "0x1402\n", NET "/flags", bond);
	sim_put(h, "90\n", NET "/ifindex", bond);
	return sim_put(h, "balance-rr 0\n", NET "/bonding/mode", bond);
}

static int set_mode(struct host *h, const char *bond, const char *mode)
{
	static const char *const modes[] = {"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"};
	_free_ char *ports = sim_get(h, NET "/bonding/slaves", bond);
	char line[32];

	if (ports && *ports)
		return -ENOTEMPTY;
	if (is_up(h, bond))
		return -EPERM;
	for (unsigned i = 0; i < ARRAY_SIZE(modes); i++)
		if (str_eq(modes[i], mode)) {
			snprintf(line, sizeof(line), "%s %u\n", mode, i);
			return sim_put(h, line, NET "/bonding/mode", bond);
		}
	return -EINVAL;
}

static int write_value(struct host *h, const char *bond, const char *attr, const char *text)
{
	if (str_eq(attr, "flags"))
		return sim_put(h, text, NET "/flags", bond);
	if (str_eq(attr, "bonding/mode"))
		return set_mode(h, bond, text);
	if (str_eq(attr, "bonding/miimon"))
		return sim_put(h, text, NET "/bonding/miimon", bond);
	if (!str_eq(attr, "bonding/slaves"))
		return -EACCES;
	return text[0] == '+' ? add_port(h, bond, text + 1) : text[0] == '-' ? drop_port(h, bond, text + 1) : -EPERM;
}

int sim_bond_write(struct host *h, const char *path, const char *text)
{
	char bond[16], attr[32];
	int r;

	if (str_eq(path, "/sys/class/net/bonding_masters"))
		r = text[0] == '+' ? make_bond(h, text + 1) : text[0] == '-' ? remove_bond(h, text + 1) : -EPERM;
	else if (sscanf(path, "/sys/class/net/%15[^/]/%31s", bond, attr) != 2)
		r = -ENOENT;
	else
		r = write_value(h, bond, attr, text);
	sim_lag_look(h);
	return r;
}

bool sim_is_bond(struct host *h, const char *path)
{
	char name[16];

	return str_eq(path, "/sys/class/net/bonding_masters") ||
		(sscanf(path, "/sys/class/net/%15[^/]/", name) == 1 && sim_has(h, NET "/bonding", name));
}
