/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SIM_H
#define SIM_H

#include "host/host.h"

/*
 * A simulated kernel over a tree of plain files: reads are reads of the tree, writes are
 * answered as the kernel answers them, with the kernel's errno, and change the tree. What
 * the kernel keeps out of sysfs is in ROOT/.sim. So a story can be run by several
 * processes one after the other, and looked at with a shell.
 *
 *	.sim/pf/BDF          "key value" lines: vf_driver, caps, grant, ifindex, up, carrier,
 *	                     speed, type, offset, stride, rdma, ofed, mlx4
 *	.sim/vf/BDF.INDEX    struct sim_vf of VF INDEX of PF BDF
 *	.sim/open/BDF        exists while a process has that function open through VFIO
 *	.sim/links/NAME      a network device that is no PF; "1": it is up
 *	.sim/iommu           exists when there is an IOMMU
 *	.sim/nvme/NAME       "CONTROLLER VF QUEUES VECTORS" lines of that NVMe controller
 *	.sim/coalesce/NETDEV	see ethtool.c
 *	.sim/eswitch/BDF	see devlink.c, which has more
 *	.sim/msix/BDF        of a PF: its driver gives VFs a number of vectors each; what is in it is
 *	                     the default, which VFs then have in their configuration space
 *	.sim/slow            ms that each new VF takes
 *	.sim/locked/BDF      exists while a process hangs in the kernel with that device's lock: reads of
 *	                     files that wait for it never end
 *	.sim/sleeps          exists: what waits really does
 */
struct sim_vf {
	uint8_t mac[32];
	uint32_t vlan, qos;
	uint16_t proto; /* network order, as the kernel keeps it */
	uint32_t min_rate, max_rate;
	uint32_t spoofchk, trust, link_state;
	uint64_t node_guid, port_guid;
	uint32_t query_rss;
};

/* The VF operations that a PF driver supports (from drivers/net/ethernet/...). */
enum {
	SIM_MAC = 1 << 0,
	SIM_VLAN = 1 << 1,
	SIM_VLAN_AD = 1 << 2,
	SIM_RATE = 1 << 3,
	SIM_MIN_RATE = 1 << 4,
	SIM_SPOOFCHK = 1 << 5,
	SIM_TRUST = 1 << 6,
	SIM_LINK_STATE = 1 << 7,
	SIM_GUID = 1 << 8,
	SIM_RATE_NEEDS_LINK = 1 << 9,
	SIM_QUERY_RSS = 1 << 10,
};

struct sim_pf {
	struct vfctl_bdf bdf;
	char netdev[16];
	char vf_driver[32];
	unsigned caps;
	unsigned ifindex;
	unsigned grant; /* VFs the driver really makes; 0: as asked */
	char rdma[64];	/* its RDMA device; "" none */
	bool ofed;	/* MLNX_OFED: GUIDs through sriov/N, not by netlink */
	bool mlx4;	/* GUIDs through the RDMA device's iov tree */
	bool up, carrier, infiniband;
	bool was_up; /* when it was made */
	unsigned speed, offset, stride, mtu;
	bool no_spoofchk; /* it reports the spoof check but cannot set it (BlueField) */
	char mac[24];  /* its present MAC; "": made from its address */
	char perm[24]; /* its permanent MAC; "": the one that it has */
	unsigned num_vfs;
};

int sim_host_new(const char *root, struct host **ret_host);
/*
 * Fail call @n (1 is the first) with @error; calls are counted over all operations. @how
 * "late": of writes and netlink requests alone, and only after they did their work; "on":
 * all calls after it too; "kill": the process dies there; "kill-late": after the work;
 * "libvirt" and "kill-libvirt": of the calls to libvirt alone; "kill-state": after
 * each write of SQLite's alone; "run": it does not fail, but
 * before it $SIM_RUN is run; "": that one.
 */
int fault_host_new(struct host *inner, unsigned n, int error, const char *how,
	struct host **ret_host);
/* A call to libvirt, before its work or when it is done: 0, or how it fails. */
int fault_libvirt(struct host *h, bool done);
/* After a write of SQLite's. */
void fault_state(void);
/* Above 0 while the simulator is at work, and not the program. */
extern int sim_inside;
/* True when the call that should fail was reached. */
bool fault_hit(const struct host *h);
/* Calls that were counted so far. */
unsigned fault_calls(const struct host *h);

/* ---- between the files of the simulator ---- */
int sim_pf_read(struct host *h, const struct vfctl_bdf *bdf, struct sim_pf *ret);
#define SIM_PFS_MAX 256
/* All PFs; returns the count. More than SIM_PFS_MAX end the program with a message. */
size_t sim_pfs_read(struct host *h, struct sim_pf pfs[SIM_PFS_MAX]);
/* The PF whose network device has that index. @return 0 or -ENODEV. */
int sim_pf_read_index(struct host *h, unsigned ifindex, struct sim_pf *ret);
int sim_vf_read(struct host *h, const struct vfctl_bdf *pf, uint32_t vf, struct sim_vf *ret);
int sim_vf_write(struct host *h, const struct vfctl_bdf *pf, uint32_t vf,
	const struct sim_vf *state);
int sim_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply);

/* ethtool.c: a request of generic netlink. @return what its acknowledgement says. */
struct nlmsghdr;
#define SIM_DEVLINK 0x16 /* the number that its family has here */
int sim_generic(struct host *h, const struct nlmsghdr *rq, struct buf *reply);
/*
 * devlink.c: of the family devlink; the mode of a PF, and representors, which come and go with VFs in
 * switchdev mode. The words of the answer, with an error or without; "" none.
 */
int sim_devlink(struct host *h, const struct nlmsghdr *rq, struct buf *reply);
unsigned sim_eswitch(struct host *h, const struct vfctl_bdf *pf);
void sim_representor_add(struct host *h, const struct sim_pf *pf, unsigned vf);
void sim_representor_drop(struct host *h, const struct sim_pf *pf, unsigned vf);
void sim_representor_name(const struct sim_pf *pf, unsigned vf, char name[16]);
int sim_representor_index(const struct sim_pf *pf, unsigned vf);
extern char sim_text[160];
/* bond.c: a write to a bond, or to the list of them; and the look that mlx5 has at it. */
bool sim_is_bond(struct host *h, const char *path);
int sim_bond_write(struct host *h, const char *path, const char *text);
void sim_lag_look(struct host *h);
/* service.c: systemd's units; SIGHUP to a program. */
int sim_service(struct host *h, const char *verb, const char *unit, unsigned timeout_ms);
int sim_hangup(struct host *h, const char *name);
/* sysfs.c: a write to a file; to one of a network device. */
int sim_store(struct host *h, const char *path, const char *text, unsigned ms);
int sim_store_net(struct host *h, const char *path, const char *text);
/* neigh.c: one about forwarding tables. */
int sim_neigh(struct host *h, const struct nlmsghdr *rq, struct buf *reply);

/* nldev.c: one about RDMA devices. */
int sim_nldev(struct host *h, const struct nlmsghdr *rq, struct buf *reply);

/* values.c: a file of one value, outside of PCI. */
int sim_store_value(struct host *h, const char *path, const char *text);

/*
 * whole.c: do @work as the kernel does, one at a time and to its end; @ret_reply is what it
 * answers besides its result.
 */
typedef int (*sim_work)(struct host *h, void *data, struct buf *ret_reply);
int sim_whole(struct host *h, sim_work work, void *data, struct buf *ret_reply);

/* cpus.c: where interrupts go, governors, C-states */
int sim_irq_write(struct host *h, const char *path, const char *text);
int sim_cpu_write(struct host *h, const char *path, const char *text);

/* rdma.c */
static inline uint64_t sim_pf_guid(const struct vfctl_bdf *bdf)
{
	return UINT64_C(0x5c25730300840000) | (uint64_t)bdf->bus << 8 | bdf->function;
}
void sim_rdma_add_pf(struct host *h, const struct vfctl_bdf *bdf, const char *state,
	const char *phys);
void sim_rdma_add_vf(struct host *h, const struct sim_pf *pf, unsigned index);
void sim_rdma_drop_vf(struct host *h, const struct sim_pf *pf, unsigned index);
void sim_rdma_attach(struct host *h, const struct sim_pf *pf, const char *vf_bdf,
	unsigned index);
void sim_rdma_detach(struct host *h, const char *vf_bdf);
int sim_ofed_write(struct host *h, const char *pf_bdf, const char *attr, const char *text);
int sim_mlx4_write(struct host *h, const char *path, const char *text);
/* VFs that are there from the start (mlx4's num_vfs). */
int sim_enable(struct host *h, const struct vfctl_bdf *bdf, unsigned count);

/* Files of the tree, below the root, made with their directories; who reads sees all or nothing. */
int sim_put(struct host *h, const char *text, const char *fmt, ...) _printf_(3, 4);
int sim_put_bytes(struct host *h, const void *data, size_t len, const char *fmt, ...) _printf_(4, 5);
int sim_put_link(struct host *h, const char *target, const char *fmt, ...) _printf_(3, 4);
char *sim_get(struct host *h, const char *fmt, ...) _printf_(2, 3);
int sim_remove(struct host *h, const char *fmt, ...) _printf_(2, 3);
bool sim_has(struct host *h, const char *fmt, ...) _printf_(2, 3);

#endif
