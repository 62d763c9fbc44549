// SPDX-License-Identifier: GPL-2.0-or-later
/* drivers: print the table of drivers as Markdown, for docs/reference/drivers.md. */
#include <stdio.h>
#include <string.h>

#include "drivers/driver.h"

static const char *support(const struct driver *d, uint32_t bit)
{
	if ((d->vf_has & bit) == bit)
		return "yes";
	return d->vf_lacks & bit ? "no" : "?";
}

/* Attributes that the kernel answers itself (msix) or that only InfiniBand has are not in the table. */
static bool is_listed(const struct vfctl_vf_attr_info *info)
{
	for (size_t i = 0; driver_at(i); i++)
		if ((driver_at(i)->vf_has | driver_at(i)->vf_lacks) & info->bit)
			return true;
	return false;
}

static void put_attributes(void)
{
	const struct vfctl_vf_attr_info *info;
	const struct driver *d;

	fputs("| driver |", stdout);
	for (size_t a = 0; (info = vfctl_vf_attr_info(a)); a++)
		if (is_listed(info))
			printf(" %s |", info->bit == VFCTL_ATTR_VLAN_PROTO ? "proto=802.1ad" : info->key);
	fputs("\n|---|", stdout);
	for (size_t a = 0; (info = vfctl_vf_attr_info(a)); a++)
		if (is_listed(info))
			fputs("---|", stdout);
	putchar('\n');
	for (size_t i = 0; (d = driver_at(i)); i++) {
		if (!d->vf_has && !d->vf_lacks)
			continue;
		printf("| %s |", d->name);
		for (size_t a = 0; (info = vfctl_vf_attr_info(a)); a++)
			if (is_listed(info))
				printf(" %s |", support(d, info->bit));
		putchar('\n');
	}
}

static const struct {
	unsigned flag;
	const char *text;
} facts[] = {
	{DRIVER_NO_ESWITCH, "legacy mode only"},
	{DRIVER_ESWITCH_WITHOUT_VFS, "changes its eswitch mode only without VFs"},
	{DRIVER_VFS_NEED_PF_UP, "VFs have a link only while the PF is up"},
	{DRIVER_CREATES_WHILE_UP, "the number of VFs changes only while the PF is up"},
	{DRIVER_SRIOV_IN_FIRMWARE, "firmware tools enable SR-IOV"},
	{DRIVER_VFS_AT_LOAD, "the number of VFs is a parameter of the module"},
	{DRIVER_VF_GUIDS_IN_SYSFS, "GUIDs and P_Keys of VFs are files of the RDMA device"},
	{DRIVER_NO_MODERATION, "no interrupt moderation"},
};

static void put_facts(const struct driver *d)
{
	const char *separator = "";

	for (size_t f = 0; f < sizeof(facts) / sizeof(*facts); f++)
		if (d->flags & facts[f].flag) {
			printf("%s%s", separator, facts[f].text);
			separator = "; ";
		}
	if (d->reset_below) {
		printf("%schanges of rx-usecs can reset the PF and its VFs", separator);
		separator = "; ";
	}
	if (d->lag != DRIVER_LAG_NONE)
		printf("%sVF-LAG%s", separator, d->lag == DRIVER_LAG_ALL_PORTS ? " of all ports"
			: " of two ports, mode active-backup");
}

static void put_moderation(const struct driver *d)
{
	const char *separator = "";

	for (int key = 0; key < 32; key++)
		if (d->keys & VFCTL_COALESCE_BIT(key)) {
			printf("%s%s", separator, vfctl_coalesce_name((enum vfctl_coalesce_key)key));
			separator = ", ";
		}
}

/* "127"; "22 (others 30), less 1 for each VF"; "none"; "?" */
static void put_max(const struct driver_fdb *fdb)
{
	if (fdb->max <= 0) {
		fputs(fdb->max == DRIVER_FDB_NONE ? "none" : "?", stdout);
		return;
	}
	printf("%d", fdb->max);
	if (fdb->cards)
		printf(" (some cards %d)", fdb->cards->max);
	if (fdb->per_vf)
		printf(", less %d for each VF", fdb->per_vf);
}

static void put_macs(void)
{
	static const char *const past[] = {[VFCTL_FDB_UNKNOWN] = "?", [VFCTL_FDB_REFUSED] = "refused",
		[VFCTL_FDB_DROPPED] = "dropped", [VFCTL_FDB_PROMISCUOUS] = "promiscuous"};
	const struct driver *d;

	puts("| driver | MACs | more |\n|---|---|---|");
	for (size_t i = 0; (d = driver_at(i)); i++) {
		if (!d->fdb.max && d->fdb.past == VFCTL_FDB_UNKNOWN)
			continue;
		printf("| %s | ", d->name);
		put_max(&d->fdb);
		printf(" | %s |\n", past[d->fdb.past]);
	}
}

int main(int argc, char **argv)
{
	const struct driver *d;

	if (argc == 2 && strcmp(argv[1], "macs") == 0) {
		put_macs();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "attributes") == 0) {
		put_attributes();
		return 0;
	}
	puts("| driver | driver in the guest | facts | interrupt moderation |\n|---|---|---|---|");
	for (size_t i = 0; (d = driver_at(i)); i++) {
		printf("| %s | %s | ", d->name, d->guest ? d->guest : "");
		put_facts(d);
		fputs(" | ", stdout);
		put_moderation(d);
		puts(" |");
	}
	return 0;
}
