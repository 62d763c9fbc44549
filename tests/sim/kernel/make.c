// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sim-make ROOT < host: a tree from a few lines.
 *	iommu
 *	module vfio-pci
 *	node 0 cpus 0-3 memory 8388608          (kB)
 *	pf 0000:10:00.0 driver igb netdev ens1 node 0 total 7 offset 128 stride 2
 *	   vf_driver igbvf vendor 0x8086 device 0x10c9 vf_device 10ca class 0x020000
 *	   speed 1000 up 1 carrier 1 caps igb ifindex 2 grant 0 infiniband 0
 *	   reset flr   (one line)
 *	irq 40 of 0000:10:00.0 cpus 0-3 managed 0    (a vector of that function)
 *	governor 0-3 name powersave policy 0-1       (cpufreq; CPUs that share a policy)
 * sim-make --dump ROOT prints what a story may have changed.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cpuset.h"
#include "base/parse.h"
#include "sim.h"

#define CPU "/sys/devices/system/cpu/cpu%d"
#define CPU_WITH_VMX "processor\t: 0\nflags\t\t: fpu vmx\n"
#define DEV "/sys/bus/pci/devices/%s"

/* The VF operations that each driver supports (from the drivers' sources). */
static const struct {
	const char *driver;
	unsigned caps;
} drivers[] = {
	{"igb", SIM_MAC | SIM_VLAN | SIM_RATE | SIM_SPOOFCHK | SIM_TRUST | SIM_RATE_NEEDS_LINK},
	{"ixgbe", SIM_MAC | SIM_VLAN | SIM_RATE | SIM_SPOOFCHK | SIM_TRUST | SIM_LINK_STATE |
		SIM_QUERY_RSS | SIM_RATE_NEEDS_LINK},
	{"i40e", SIM_MAC | SIM_VLAN | SIM_RATE | SIM_SPOOFCHK | SIM_TRUST | SIM_LINK_STATE},
	{"ice", SIM_MAC | SIM_VLAN | SIM_VLAN_AD | SIM_RATE | SIM_MIN_RATE | SIM_SPOOFCHK |
		SIM_TRUST | SIM_LINK_STATE},
	{"mlx5_core", SIM_MAC | SIM_VLAN | SIM_RATE | SIM_MIN_RATE | SIM_SPOOFCHK | SIM_TRUST |
		SIM_LINK_STATE},
	{"mlx5_ib", SIM_GUID | SIM_LINK_STATE},
	{"mlx5_ofed", 0}, /* MLNX_OFED: VF GUIDs by its own files */
	{"mlx4_ib", 0},
	{"ena", 0},
};

static unsigned caps_of(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].driver, driver))
			return drivers[i].caps;
	return 0;
}

struct pairs {
	char *key[40], *value[40];
	size_t count;
};

static const char *get(const struct pairs *p, const char *key, const char *missing)
{
	for (size_t i = 0; i < p->count; i++)
		if (str_eq(p->key[i], key))
			return p->value[i];
	return missing;
}

static void put_driver(struct host *h, const char *bdf, const char *driver)
{
	_free_ char *target = str_format("../../../bus/pci/drivers/%s", driver);

	sim_put(h, "", "/sys/bus/pci/drivers/%s/new_id", driver);
	sim_put_link(h, target, DEV "/driver", bdf);
}

static void put_netdev(struct host *h, const char *bdf, const struct pairs *p)
{
	const char *name = get(p, "netdev", NULL);
	bool infiniband = str_eq(get(p, "infiniband", "0"), "1");
	bool up = str_eq(get(p, "up", "0"), "1") && str_eq(get(p, "carrier", "0"), "1");
	_free_ char *target = NULL, *device = NULL, *address = NULL;
	struct vfctl_bdf at;

	if (!name || vfctl_bdf_parse(bdf, &at) < 0)
		return;
	device = str_format("../../../%s", bdf);
	sim_put_link(h, device, DEV "/net/%s/device", bdf, name);
	address = str_format("02:51:13:%02x:%02x:%02x\n", at.bus, at.slot, at.function);
	sim_put(h, address, DEV "/net/%s/address", bdf, name);
	sim_put(h, infiniband ? "32\n" : "1\n", DEV "/net/%s/type", bdf, name);
	sim_put(h, up ? "up\n" : "down\n", DEV "/net/%s/operstate", bdf, name);
	sim_put(h, "1500\n", DEV "/net/%s/mtu", bdf, name);
	if (infiniband)
		sim_put(h, "datagram\n", DEV "/net/%s/mode", bdf, name);
	sim_put(h, str_eq(get(p, "up", "0"), "1") ? "0x1003\n" : "0x1002\n", DEV "/net/%s/flags",
		bdf, name);
	sim_put(h, get(p, "speed", "0"), DEV "/net/%s/speed", bdf, name);
	sim_put(h, get(p, "ifindex", "0"), DEV "/net/%s/ifindex", bdf, name);
	target = str_format("../../devices/sim/%s/net/%s", bdf, name);
	sim_put_link(h, target, "/sys/class/net/%s", name);
}

/* rdma NAME port ACTIVE|INIT|DOWN phys LinkUp|Polling|Disabled, vfs N from the start. */
static void make_rdma(struct host *h, const char *bdf, const struct pairs *p)
{
	struct vfctl_bdf at;

	if (vfctl_bdf_parse(bdf, &at) < 0)
		return;
	sim_rdma_add_pf(h, &at, get(p, "port", "ACTIVE"), get(p, "phys", "LinkUp"));
	if (get(p, "vfs", NULL))
		sim_enable(h, &at, (unsigned)atoi(get(p, "vfs", "0")));
}

static void make_pf(struct host *h, const char *bdf, const struct pairs *p)
{
	static const char *const kept[] = {"vf_driver", "netdev", "ifindex", "grant", "speed",
		"offset", "stride", "up", "carrier", "infiniband", "rdma", "ofed", "mlx4"};
	static const char *const attrs[][3] = {{"vendor", "vendor", "0x8086"},
		{"device", "device", "0x10c9"}, {"class", "class", "0x020000"},
		{"vf_device", "sriov_vf_device", "10ca"}, {"node", "numa_node", "-1"},
		{"total", "sriov_totalvfs", "7"}, {"offset", "sriov_offset", "128"},
		{"stride", "sriov_stride", "2"}, {"", "sriov_numvfs", "0"},
		{"", "sriov_drivers_autoprobe", "1"}};
	_free_ char *dev = str_format("../../../devices/sim/%s", bdf);
	_buf_ struct buf state = {0};

	sim_put(h, "1\n", "/sys/devices/sim/%s/enable", bdf);
	sim_put_link(h, dev, DEV, bdf);
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		_free_ char *line = str_format("%s\n", get(p, attrs[i][0], attrs[i][2]));

		sim_put(h, line, DEV "/%s", bdf, attrs[i][1]);
	}
	if (str_eq(get(p, "total", ""), "none")) /* a card without SR-IOV */
		for (size_t i = 3; i < ARRAY_SIZE(attrs); i++)
			if (str_starts(attrs[i][1], "sriov_"))
				sim_remove(h, DEV "/%s", bdf, attrs[i][1]);
	if (get(p, "reset", NULL)) { /* of its VFs: flr, bus, none */
		sim_put(h, "bus\n", DEV "/reset_method", bdf);
		if (!str_eq(get(p, "reset", ""), "none"))
			sim_put(h, get(p, "reset", ""), "/.sim/reset/%s", bdf);
	}
	if (get(p, "driver", NULL))
		put_driver(h, bdf, get(p, "driver", ""));
	if (get(p, "vf_driver", NULL))
		sim_put(h, "", "/sys/bus/pci/drivers/%s/new_id", get(p, "vf_driver", ""));
	put_netdev(h, bdf, p);
	if (sim_has(h, "/.sim/iommu")) {
		sim_put_link(h, "../../../kernel/iommu_groups/0", DEV "/iommu_group", bdf);
		sim_put(h, "", "/sys/kernel/iommu_groups/0/type");
	}
	if (!get(p, "offset", NULL))
		buf_printf(&state, "offset 128\nstride 2\n");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (get(p, kept[i], NULL))
			buf_printf(&state, "%s %s\n", kept[i], get(p, kept[i], ""));
	buf_printf(&state, "caps %u\n", caps_of(get(p, "caps", get(p, "driver", ""))));
	sim_put(h, state.data, "/.sim/pf/%s", bdf);
	make_rdma(h, bdf, p);
}

static void make_cpu(struct host *h, int cpu, const char *node)
{
	char mask[64], list[16];

	snprintf(list, sizeof(list), "%d\n", cpu);
	snprintf(mask, sizeof(mask), "%x\n", 1u << cpu % 32);
	sim_put(h, list, "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
	sim_put(h, node, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	sim_put(h, list, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	sim_put(h, mask, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings", cpu);
	sim_put(h, "1\n", "/sys/devices/system/cpu/cpu%d/online", cpu);
}

/* Machines of up to 32 CPUs, one package per node, no SMT. */
static void make_node(struct host *h, const char *node, const struct pairs *p)
{
	struct vfctl_cpuset cpus, all;
	_free_ char *memory = str_format("Node %s MemTotal: %s kB\n", node,
		get(p, "memory", "8388608"));
	_free_ char *online = sim_get(h, "/sys/devices/system/cpu/online");
	char text[256];
	uint64_t mask = 0;

	vfctl_cpuset_parse(get(p, "cpus", ""), &cpus);
	for (int c = vfctl_cpuset_next(&cpus, 0); c >= 0; c = vfctl_cpuset_next(&cpus, (unsigned)c + 1)) {
		make_cpu(h, c, node);
		mask |= UINT64_C(1) << c;
	}
	sim_put(h, get(p, "cpus", ""), "/sys/devices/system/node/node%s/cpulist", node);
	snprintf(text, sizeof(text), "%08llx\n", (unsigned long long)mask);
	sim_put(h, text, "/sys/devices/system/node/node%s/cpumap", node);
	sim_put(h, memory, "/sys/devices/system/node/node%s/meminfo", node);
	sim_put(h, get(p, "distance", str_eq(node, "0") ? "10 21\n" : "21 10\n"),
		"/sys/devices/system/node/node%s/distance", node);
	if (!online || vfctl_cpuset_parse(online, &all) < 0)
		all = (struct vfctl_cpuset){0};
	vfctl_cpuset_or(&all, &cpus);
	vfctl_cpuset_format(&all, text, sizeof(text));
	sim_put(h, text, "/sys/devices/system/cpu/online");
	sim_put(h, text, "/sys/devices/system/cpu/possible");
	sim_put(h, text, "/sys/devices/system/cpu/present");
	sim_put(h, "0-1\n", "/sys/devices/system/node/online");
	sim_put(h, "0-1\n", "/sys/devices/system/node/possible");
	sim_put(h, CPU_WITH_VMX, "/proc/cpuinfo");
	sim_put(h, "MemTotal: 16777216 kB\n", "/proc/meminfo");
}

/* MSI-X, as vfio and most drivers ask for. */
static void make_irq(struct host *h, const char *number, const struct pairs *p)
{
	const char *cpus = get(p, "cpus", "0");
	_free_ char *path = str_format("%s/proc/irq/%s/smp_affinity_list", h->root, number);
	_free_ char *one = str_format("%d\n", atoi(cpus)), *list = str_format("%s\n", cpus);

	sim_put(h, "msix\n", DEV "/msi_irqs/%s", get(p, "of", ""), number);
	sim_put(h, list, "/proc/irq/%s/smp_affinity_list", number);
	sim_put(h, one, "/proc/irq/%s/effective_affinity_list", number);
	if (str_eq(get(p, "managed", "0"), "1") && path)
		chmod(path, 0444);
}

static void make_governor(struct host *h, const char *list, const struct pairs *p)
{
	struct vfctl_cpuset cpus, policy;
	_buf_ struct buf shared = {0};
	bool one = !get(p, "policy", NULL);

	if (vfctl_cpuset_parse(list, &cpus) < 0 || vfctl_cpuset_parse(get(p, "policy", ""), &policy) < 0) {
		fprintf(stderr, "governor %s: not a list of CPUs\n", list);
		exit(2);
	}
	for (int c = vfctl_cpuset_next(&policy, 0); c >= 0; c = vfctl_cpuset_next(&policy, (unsigned)c + 1))
		buf_printf(&shared, "%d ", c);
	for (int c = vfctl_cpuset_next(&cpus, 0); c >= 0; c = vfctl_cpuset_next(&cpus, (unsigned)c + 1)) {
		_free_ char *own = str_format("%d\n", c);

		sim_put(h, get(p, "name", "powersave"), CPU "/cpufreq/scaling_governor", c);
		sim_put(h, "performance powersave schedutil\n",
			CPU "/cpufreq/scaling_available_governors", c);
		sim_put(h, one ? own : shared.data, CPU "/cpufreq/affected_cpus", c);
	}
}

static int make_line(struct host *h, char *line)
{
	struct pairs p = {0};
	char *save = NULL;
	char *kind = strtok_r(line, " \t\n", &save), *name;

	if (!kind || kind[0] == '#')
		return 0;
	name = strtok_r(NULL, " \t\n", &save);
	while (name && p.count < ARRAY_SIZE(p.key)) {
		p.key[p.count] = strtok_r(NULL, " \t\n", &save);
		p.value[p.count] = p.key[p.count] ? strtok_r(NULL, " \t\n", &save) : NULL;
		if (!p.value[p.count])
			break;
		p.count++;
	}
	if (str_eq(kind, "iommu"))
		return sim_put(h, "", "/.sim/iommu");
	if (str_eq(kind, "module") && name)
		return sim_put(h, "", "/.sim/modules/%s", name);
	if (str_eq(kind, "pf") && name)
		make_pf(h, name, &p);
	else if (str_eq(kind, "node") && name)
		make_node(h, name, &p);
	else if (str_eq(kind, "irq") && name)
		make_irq(h, name, &p);
	else if (str_eq(kind, "governor") && name)
		make_governor(h, name, &p);
	else if (str_eq(kind, "file") && name) /* any file: file PATH text VALUE */
		return sim_put(h, get(&p, "text", ""), "%s", name);
	else
		return -EINVAL;
	return 0;
}

/* ---- what it looks like now ---- */

/*
 * The representor of a VF in switchdev mode: its bridge, its link state, and the rates of devlink.
 */
static void dump_representor(struct host *h, const struct sim_pf *pf, unsigned index)
{
	char text[VFCTL_BDF_TEXT], name[16], path[64];
	_free_ char *flags = NULL, *master = NULL, *rate = NULL;

	sim_representor_name(pf, index, name);
	flags = sim_get(h, "/sys/class/net/%s/flags", name);
	if (!flags)
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/master", name);
	if (files_readlink(h, path, &master) < 0)
		master = NULL;
	rate = sim_get(h, "/.sim/rate/%s.%u", vfctl_bdf_format(&pf->bdf, text), index);
	printf("    representor=%s %s master=%s devlink rate (max, share)=%s\n", name,
		strtoul(flags, NULL, 0) & 1 ? "up" : "down", master ? strrchr(master, '/') + 1 : "-",
		rate ? rate : "-");
}

/*
 * The size of the capability that sysfs.c gives VFs whose number of vectors can be set; 0: there is
 * none.
 */
static unsigned vectors_of(struct host *h, const char *bdf)
{
	_buf_ struct buf config = {0};
	char path[64];

	snprintf(path, sizeof(path), DEV "/config", bdf);
	if (h->ops->read(h, path, &config) < 0 || config.len < 0x64 || config.data[0x60] != 0x11)
		return 0;
	return ((unsigned)(uint8_t)config.data[0x62] | (unsigned)(uint8_t)config.data[0x63] << 8) + 1;
}

static void dump_vf(struct host *h, const struct sim_pf *pf, unsigned index)
{
	char text[VFCTL_BDF_TEXT], path[96], mac[VFCTL_MAC_TEXT];
	_free_ char *link = NULL, *driver = NULL, *override = NULL;
	struct sim_vf vf = {0};
	struct vfctl_mac m;
	const char *bdf;

	snprintf(path, sizeof(path), DEV "/virtfn%u", vfctl_bdf_format(&pf->bdf, text), index);
	if (files_readlink(h, path, &link) < 0)
		return;
	bdf = strrchr(link, '/') + 1;
	snprintf(path, sizeof(path), DEV "/driver", bdf);
	if (files_readlink(h, path, &driver) < 0)
		driver = NULL;
	override = sim_get(h, DEV "/driver_override", bdf);
	sim_vf_read(h, &pf->bdf, index, &vf);
	memcpy(m.byte, vf.mac, sizeof(m.byte));
	printf("  vf %u %s driver=%s override=%s mac=%s vlan=%u/%u/%04x rate=%u-%u spoofchk=%u "
	       "trust=%u link=%u\n", index, bdf, driver ? strrchr(driver, '/') + 1 : "-",
		override ? override : "-", vfctl_mac_format(&m, mac), vf.vlan, vf.qos,
		__builtin_bswap16(vf.proto), vf.min_rate, vf.max_rate, vf.spoofchk, vf.trust,
		vf.link_state);
	if (vf.query_rss)
		puts("    query_rss=1");
	if (vectors_of(h, bdf))
		printf("    vectors=%u\n", vectors_of(h, bdf));
	dump_representor(h, pf, index);
	if (vf.node_guid || vf.port_guid)
		printf("    node_guid=%016llx port_guid=%016llx\n",
			(unsigned long long)vf.node_guid, (unsigned long long)vf.port_guid);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void dump_vfs(struct host *h, const struct sim_pf *pf)
{
	char text[VFCTL_BDF_TEXT], path[64];
	_strv_ char **names = NULL;
	unsigned index;

	snprintf(path, sizeof(path), DEV, vfctl_bdf_format(&pf->bdf, text));
	if (files_list(h, path, &names) < 0)
		return;
	qsort(names, strv_len(names), sizeof(*names), compare_names);
	for (size_t i = 0; names[i]; i++)
		if (sscanf(names[i], "virtfn%u", &index) == 1)
			dump_vf(h, pf, index);
}

static int compare_pfs(const void *a, const void *b)
{
	const struct sim_pf *x = a, *y = b;

	return vfctl_bdf_compare(&x->bdf, &y->bdf);
}

static void dump_text(struct host *h, const char *what, const char *dir, const char *name,
	const char *file)
{
	_free_ char *text = sim_get(h, "%s/%s%s", dir, name, file);

	if (text)
		printf("%s %s %s\n", what, name, str_rstrip(text));
}

/* Governors, where interrupts may go, the functions that irqbalance leaves alone, and OpenSM. */
static void dump_tuning(struct host *h)
{
	static const struct {
		const char *what, *dir, *prefix, *file;
	} rows[] = {{"governor", "/sys/devices/system/cpu", "cpu", "/cpufreq/scaling_governor"},
		{"irq", "/proc/irq", "", "/smp_affinity_list"}, {"kept", "/run/vfctl", "irq-", ""},
		{"opensm", "/etc/opensm", "", ""}, {"untold", "/run/vfctl", "opensm-untold", ""},
		{"process", "/proc", "7471", "/comm"}, {"enabled", "/.sim/enabled", "", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_strv_ char **names = NULL;

		if (files_list(h, rows[i].dir, &names) < 0)
			continue;
		qsort(names, strv_len(names), sizeof(*names), compare_names);
		for (size_t k = 0; names[k]; k++)
			if (str_starts(names[k], rows[i].prefix))
				dump_text(h, rows[i].what, rows[i].dir, names[k], rows[i].file);
	}
}

/* Bonds, and what mlx5 makes of them. */
static void dump_bonds(struct host *h)
{
	_strv_ char **names = NULL, **pfs = NULL;

	if (files_list(h, "/sys/class/net", &names) == 0)
		qsort(names, strv_len(names), sizeof(*names), compare_names);
	for (size_t i = 0; names && names[i]; i++) {
		_free_ char *mode = sim_get(h, "/sys/class/net/%s/bonding/mode", names[i]);
		_free_ char *ports = sim_get(h, "/sys/class/net/%s/bonding/slaves", names[i]);
		_free_ char *flags = sim_get(h, "/sys/class/net/%s/flags", names[i]);

		if (mode)
			printf("bond %s %s (%s) flags=%s\n", names[i], mode, ports ? ports : "", flags ? flags : "");
	}
	if (files_list(h, "/sys/kernel/debug/mlx5", &pfs) == 0)
		qsort(pfs, strv_len(pfs), sizeof(*pfs), compare_names);
	for (size_t i = 0; pfs && pfs[i]; i++)
		dump_text(h, "lag", "/sys/kernel/debug/mlx5/", pfs[i], "/lag/state");
}

static void dump(struct host *h)
{
	struct sim_pf pfs[SIM_PFS_MAX];
	size_t count = sim_pfs_read(h, pfs);

	qsort(pfs, count, sizeof(*pfs), compare_pfs);
	for (size_t i = 0; i < count; i++) {
		char text[VFCTL_BDF_TEXT];
		_free_ char *autoprobe = sim_get(h, DEV "/sriov_drivers_autoprobe",
			vfctl_bdf_format(&pfs[i].bdf, text));

		printf("pf %s numvfs=%u autoprobe=%s", text, pfs[i].num_vfs,
			autoprobe ? autoprobe : "-");
		if (pfs[i].mtu && pfs[i].mtu != 1500)
			printf(" mtu=%u", pfs[i].mtu);
		if (sim_eswitch(h, &pfs[i].bdf))
			printf(" eswitch=%u", sim_eswitch(h, &pfs[i].bdf));
		puts(pfs[i].up == pfs[i].was_up ? "" : pfs[i].up ? " up" : " down");
		dump_vfs(h, &pfs[i]);
	}
	dump_bonds(h);
	if (sim_has(h, "/.sim/disturbed"))
		puts("DISTURBED: a mode changed while a guest had a VF");
	dump_tuning(h);
}

int main(int argc, char **argv)
{
	char line[1024];
	struct host *h;

	if (argc < 2 || sim_host_new(argv[argc - 1], &h) < 0)
		return 1;
	if (argc == 3 && str_eq(argv[1], "--dump"))
		dump(h);
	else if (sim_put(h, "", "/run/vfctl/.keep") == 0 && sim_put(h, "", "/dev/kvm") == 0 &&
		sim_put(h, CPU_WITH_VMX, "/proc/cpuinfo") == 0)
		while (fgets(line, sizeof(line), stdin))
			if (make_line(h, line) < 0) {
				fprintf(stderr, "sim-make: bad line: %s", line);
				return 1;
			}
	files_free(h);
	return 0;
}
