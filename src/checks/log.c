// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages of the kernel log: each row has a message of a driver or of the kernel core, and its
 * meaning for VFs. The texts are quoted from the sources that the rows name.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "checks/check.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "sriov/holder.h"
#include "types/find.h"

/* Messages of the kernel core; those of drivers are in their own table. */
static const struct driver_message messages[] = {
	{"log-no-room", {"not enough MMIO resources for SR-IOV", NULL}, true}, /* pci/iov.c */
	{"log-no-room", {"SR-IOV: bus number out of range", NULL}, true},
	{"log-no-room", {"can't enable", "out of range of"}, true},
	{"log-no-room", {"failed to assign", "BAR"}, true}, /* pci/setup-res.c */
	{"log-reserve", {"can't reserve", "BAR"}, true}, /* pci/pci.c */
	/*
	 * mlx5, bnx2x; ice, i40e, idpf, hinic; ixgbe; LiquidIO; qed; sfc; ionic (each sriov.c,
	 * Linux 6.12)
	 */
	{"log-enable", {"pci_enable_sriov failed", NULL}, true},
	{"log-enable", {"Failed to enable SR-IOV", NULL}, true},
	{"log-enable", {"Failed to enable PCI sriov", NULL}, true},
	{"log-enable", {"Failed to enable sriov", NULL}, true},
	{"log-enable", {"Failed to enable SRIOV", NULL}, true},
	{"log-enable", {"Cannot enable SRIOV", NULL}, true},
	{"log-rmrr", {"platform RMRR requirement", NULL}, true}, /* iommu/intel/iommu.c, Linux 6.1 */
	{"log-rmrr", {"1:1 IOMMU mapping", "rejecting"}, true}, /* iommu/iommu.c, Linux 6.12 */
	{"log-not-ready", {"not ready", "; giving up"}, true}, /* pci/pci.c, pci_dev_wait() */
	{"log-in-use", {"Device is currently in use, task", NULL}, false}, /* vfio_main.c */
	{"log-in-use", {"sriov_numvfs_store+0x", NULL}, false}, /* hung_task.c prints its stack */
	{"log-remapping", {"No interrupt remapping support", NULL}, false}, /* vfio_iommu_type1.c */
	{"log-memlock", {"RLIMIT_MEMLOCK", "exceeded"}, false}, /* the same */
	{"log-dma", {"fault addr", "DMAR:"}, true}, /* intel/dmar.c */
	{"log-dma", {"IO_PAGE_FAULT", NULL}, true}, /* AMD-Vi */
	{"log-device", {"NETDEV WATCHDOG", "transmit queue"}, true}, /* sch_generic.c */
};

#define DAY_SECONDS (24 * 60 * 60)

static bool has_text(const char *line, const struct driver_message *s)
{
	return strstr(line, s->message[0]) && (!s->message[1] || strstr(line, s->message[1]));
}

/* Whether this name occurs without a letter or digit next to it. */
static bool has_name(const char *line, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = len ? strstr(line, name) : NULL; at; at = strstr(at + 1, name))
		if ((at == line || !strchr("0123456789abcdefghijklmnopqrstuvwxyz", at[-1])) &&
			(!at[len] || !strchr("0123456789abcdefghijklmnopqrstuvwxyz", at[len])))
			return true;
	return false;
}

static bool names_function(const char *line, const struct vfctl_bdf *bdf, const char *netdev)
{
	char text[VFCTL_BDF_TEXT];

	vfctl_bdf_format(bdf, text);
	/* DMAR leaves out the PCI domain. */
	return has_name(line, text) || has_name(line, netdev) ||
		(!strncmp(text, "0000:", 5) && strstr(line, "DMAR") && has_name(line, text + 5));
}

/* The VF of that PF whose number the line has ("VF 3", "VF[3]", "VF-3", "VF# 3"), or NULL. */
static const struct vfctl_vf *vf_in(const struct vfctl_pf *pf, const char *line)
{
	for (const char *at = strstr(line, "VF"); at; at = strstr(at + 1, "VF")) {
		uint32_t index = 0;
		const char *digit = at + 2 + strspn(at + 2, " [-#");

		if (sscanf(digit, "%" SCNu32, &index) == 1 && isdigit((unsigned char)*digit))
			return find_vf_number(pf->vfs, pf->num_vfs, index);
	}
	return NULL;
}

/* The PF that the line names, or whose VF it names; NULL: none of this host. */
static const struct vfctl_pf *pf_in(const struct check_ctx *e, const char *line,
	const struct vfctl_vf **ret_vf)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];

		if (names_function(line, &pf->bdf, pf->netdev)) {
			*ret_vf = vf_in(pf, line);
			return pf;
		}
		for (uint32_t v = 0; v < pf->num_vfs; v++)
			if (names_function(line, &pf->vfs[v].bdf, pf->vfs[v].netdev)) {
				*ret_vf = &pf->vfs[v];
				return pf;
			}
	}
	return NULL;
}

/* ---- the log ---- */

struct tally {
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf; /* that the last message names; may be NULL */
	size_t count;
	double at; /* time of the last message in seconds since the boot; negative: unknown */
	char last[256];
};
#define TALLIES_MAX 16

/* "<4>[  123.456789] text" */
static double time_of(const char *line, const char **ret_text)
{
	const char *bracket = *line == '<' ? strchr(line, '>') : line - 1;
	char *end;
	double at;

	*ret_text = line;
	if (!bracket || bracket[1] != '[')
		return -1;
	at = strtod(bracket + 2, &end);
	if (*end != ']')
		return -1;
	*ret_text = end[1] == ' ' ? end + 2 : end + 1;
	return at;
}

/* Find the message of that check that the line contains: one of the kernel core or of a driver. */
static const struct driver_message *find_message(const char *check, const char *line)
{
	const struct driver *d;

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (!strcmp(messages[i].check, check) && has_text(line, &messages[i]))
			return &messages[i];
	for (size_t i = 0; (d = driver_at(i)); i++)
		for (const struct driver_message *m = d->messages; m && m->check; m++)
			if (!strcmp(m->check, check) && has_text(line, m))
				return m;
	return NULL;
}

static void count_line(struct check_ctx *e, const struct driver_message *s, const char *line,
	struct tally *tallies, size_t *io_count)
{
	const struct vfctl_vf *vf = NULL;
	const struct vfctl_pf *pf = pf_in(e, line, &vf);
	struct tally *t = NULL;
	const char *text;

	if (s->of_device && !pf)
		return;
	for (size_t i = 0; i < *io_count && !t; i++)
		t = tallies[i].pf == pf ? &tallies[i] : NULL;
	if (!t) {
		if (*io_count == TALLIES_MAX)
			return;
		t = &tallies[(*io_count)++];
		*t = (struct tally){.pf = pf};
	}
	t->count++;
	t->vf = vf;
	t->at = time_of(line, &text);
	snprintf(t->last, sizeof(t->last), "%s", text);
}

static double uptime(struct check_ctx *e)
{
	_free_ char *text = NULL;

	return host_try_read(e->ctx, &text, "/proc/uptime") == 0 ? strtod(text, NULL) : -1;
}

/* Put the VF's name into the commands of the remedy: "vfctl set ens1/3 trust=on". */
static void name_vf(struct check_ctx *e, struct vfctl_issue *a, const struct tally *t)
{
	static const char command[] = "vfctl set VF ";
	const char *from = e->check->remedy, *at = strstr(from, command);
	_buf_ struct buf remedy = {0};
	char title[VF_TITLE];

	if (!a || !t->vf || !at)
		return;
	for (; at; from = at + strlen(command), at = strstr(from, command))
		buf_printf(&remedy, "%.*svfctl set %s ", (int)(at - from), from,
			vf_title(t->pf, t->vf, title));
	buf_puts(&remedy, from);
	set_remedy(e, a, "%s", remedy.data ? remedy.data : e->check->remedy);
}

static void tell_log(struct check_ctx *e, const struct tally *t)
{
	double ago = t->at < 0 ? -1 : uptime(e) - t->at;
	char name[VFCTL_BDF_TEXT], when[48] = "", user[256];
	_free_ char *whose = NULL;

	/* The cause of a message from yesterday may be corrected since. */
	if (ago > DAY_SECONDS)
		return;
	if (ago >= 0)
		snprintf(when, sizeof(when), ", last %.0f %s ago", ago < 7200 ? ago / 60 : ago / 3600,
			ago < 7200 ? "minutes" : "hours");
	if (t->vf && vf_is_busy(t->vf))
		whose = str_format(" (VF %u is %s)", t->vf->index, vf_describe_user(t->vf, user,
			sizeof(user)));
	name_vf(e, found(e, t->pf ? pf_title(t->pf, name) : "", "the kernel's log, %zu time%s%s: %s%s",
		t->count, plural(t->count), when, t->last, whose ? whose : ""), t);
}

static void check_log(struct check_ctx *e)
{
	struct tally tallies[TALLIES_MAX];
	_buf_ struct buf log = {0};
	size_t count = 0;
	char *save = NULL;
	int r = host_kernel_log(e->ctx, &log);

	if (r < 0 || !log.data) {
		/* Report it once for all of them. */
		if (r < 0 && e->check == log_checks)
			unknown(e, r == -EOPNOTSUPP || r == -ENOENT ? "this capture does not contain "
				"the kernel's log" : "the kernel's log cannot be read: %s", strerror(-r));
		return;
	}
	for (char *line = strtok_r(log.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const struct driver_message *message = find_message(e->check->name, line);

		if (message)
			count_line(e, message, line, tallies, &count);
	}
	for (size_t i = 0; i < count; i++)
		tell_log(e, &tallies[i]);
}

const struct check log_checks[] = {
	{"log-spoof", VFCTL_WARNING, "a guest sends from addresses that its VF does not have",
		"the guest has a bridge, containers or a bond, or it spoofs the address of another guest",
		"give the VF the MAC that the guest uses (vfctl set VF mac=...), or trust it: vfctl set "
		"VF trust=on spoofchk=off", check_log},
	{"log-trust", VFCTL_WARNING, "a guest asks for more than its VF is allowed",
		"only trusted VFs may add MACs or VLANs or use promiscuous mode; i40e and ice permit 18 "
		"MACs, with those of multicast groups",
		"if the guest may be trusted: vfctl set VF trust=on --live --config; else use fewer "
		"MACs in the guest", check_log},
	{"log-macs", VFCTL_WARNING, "packets to some MACs are lost: the card or its driver has no space "
		"for them", "a guest with containers or a bridge, or a bridge of the host, uses more MACs "
		"than a VF or the PF holds", "use fewer MACs there: vfctl list --bridge shows those of "
		"bridges; raise devlink's max_macs (mlx5) or max_mac_per_vf (i40e); or use switchdev mode "
		"or another card", check_log},
	{"log-no-room", VFCTL_WARNING, "VFs could not be created: the kernel found no resources for them",
		"the BIOS gave the slot too small an MMIO window or too few bus numbers",
		"enable Above 4G Decoding and SR-IOV in the BIOS; boot with pci=realloc (for bus "
		"numbers: pci=assign-busses); or create fewer VFs", check_log},
	{"log-enable", VFCTL_WARNING, "VFs could not be created: the kernel or the card refused them",
		"the line has the error: ENOMEM: no MMIO window or bus numbers; EBUSY: VFs exist already; "
		"EIO or ENODEV: the card does not answer", "see the other messages of that PF with vfctl "
		"doctor PF; create fewer VFs, or update the card's firmware", check_log},
	{"log-reserve", VFCTL_WARNING, "the driver of a device did not start: its memory is reserved "
		"already",
		"another driver, the console or the firmware uses the same addresses", "see who has them in "
		"/proc/iomem; for a VF: vfctl destroy PF, then vfctl create PF COUNT", check_log},
	{"log-vectors", VFCTL_WARNING, "VFs could not be created or have too few queues: the card ran "
		"out of interrupt vectors", "on hosts with many CPUs the drivers of the PF and of its "
		"RDMA device take most of the vectors", "create fewer VFs; give the PF fewer queues "
		"(ethtool -L PF combined N); with ice: unload irdma, or lower devlink's "
		"msix_vec_per_pf_max", check_log},
	{"log-in-use", VFCTL_WARNING, "the removal of VFs waited for a guest that uses one of them",
		"the kernel unbinds each VF from its driver, and VFIO waits until the VF is closed",
		"stop the guest; vfctl destroy and create refuse such a removal and name the user of "
		"the VF", check_log},
	{"log-pf-reset", VFCTL_WARNING, "the driver of a VF timed out waiting for its PF", "the PF is "
		"down, or its driver is resetting", "ip link set PF up", check_log},
	{"log-malicious", VFCTL_WARNING, "the card stopped a VF: its driver in the guest sent invalid "
		"requests", "a faulty or hostile driver in the guest", "update the driver in the guest, then "
		"restart the guest; if it happens again, stop the guest", check_log},
	{"log-vf-reset", VFCTL_WARNING, "a VF resets again and again, because its PF rejects a request",
		"the drivers of the PF and of the VF disagree, usually about VLAN filters (ice with iavf): "
		"the guest loses its link each time", "use another version of ice on the host or of iavf "
		"in the guest; until then remove the VLAN devices in the guest and let the host tag: vfctl "
		"set VF vlan=ID --config", check_log},
	{"log-promiscuous", VFCTL_WARNING, "the card's address filters are full, and it receives every "
		"packet", "more MACs or VLANs are in use than the card has filters: i40e, mlx4 and hns3 then "
		"force promiscuous mode; an untrusted VF of hns3 loses packets instead",
		"use fewer MACs and VLANs on the PF and its trusted VFs (vfctl list --bridge shows those of "
		"bridges); or use switchdev mode or another card", check_log},
	{"log-not-ready", VFCTL_PROBLEM, "a device did not come back from a reset",
		"the card's firmware is stuck, or the card does not support this reset", "do not give "
		"the VF to a guest; update the card's firmware; power the host off and on", check_log},
	{"log-rmrr", VFCTL_PROBLEM, "a device cannot be given to a guest: the firmware reserves memory "
		"for it", "the BIOS lists the device in an RMRR table, usually for management functions",
		"disable the feature in the BIOS that uses the card (see the server vendor's notes on "
		"RMRR), or use another slot", check_log},
	{"log-vf-lost", VFCTL_WARNING, "the driver of a VF cannot reach its PF",
	"the PF was reset while the VF was in use, or the drivers of PF and VF do not match",
		"update the PF's driver or firmware; restarting the guest helps for now", check_log},
	{"log-remapping", VFCTL_PROBLEM, "a guest with a VF did not start: interrupt remapping is off",
		"interrupt remapping or x2APIC is disabled in the BIOS", "enable it in the BIOS; do not "
			"use allow_unsafe_interrupts", check_log},
	{"log-memlock", VFCTL_WARNING, "a guest with a VF could not lock its memory",
	"the daemon's limit is below the size of the guest's memory", "set <hard_limit> in <memtune> of "
			"the domain (vfctl define does so), or LimitMEMLOCK of the daemon", check_log},
	{"log-lag", VFCTL_WARNING, "no VF-LAG: VFs were bound to a driver when the bond was made",
		"mlx5 creates a VF-LAG only while no VF is bound to a driver",
		"unbind the VFs, create the bond again, and bind the VFs",
		check_log},
	{"log-dma", VFCTL_WARNING, "the IOMMU blocked a memory access of a device",
	"the guest's driver is faulty, or the device was not reset",
		"find the VF (the line names it) and stop its guest", check_log},
	{"log-device", VFCTL_WARNING, "the driver of a card reports that the card is unhealthy",
	"a firmware error, or a queue that is stuck", "see: devlink health show; update the "
	"firmware", check_log},
	{.name = NULL},
};
