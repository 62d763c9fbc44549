// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel said: each row is a sentence of a driver or of the core, and what it means for VFs.
 * The words are those of the sources that the rows name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/check.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "core/inventory.h"

/* What the kernel says whatever the driver; the drivers' own messages are in their table. */
static const struct driver_message messages[] = {
	{"log-no-room", {"not enough MMIO resources for SR-IOV", NULL}, true}, /* pci/iov.c */
	{"log-no-room", {"SR-IOV: bus number out of range", NULL}, true},
	{"log-no-room", {"can't enable", "out of range of"}, true},
	{"log-in-use", {"Device is currently in use, task", NULL}, false}, /* vfio_main.c */
	{"log-in-use", {"sriov_numvfs_store+0x", NULL}, false}, /* hung_task.c prints its stack */
	{"log-remapping", {"No interrupt remapping support", NULL}, false}, /* vfio_iommu_type1.c */
	{"log-memlock", {"RLIMIT_MEMLOCK", "exceeded"}, false}, /* the same */
	{"log-dma", {"fault addr", "DMAR:"}, true}, /* intel/dmar.c */
	{"log-dma", {"IO_PAGE_FAULT", NULL}, true}, /* AMD-Vi */
	{"log-device", {"NETDEV WATCHDOG", "transmit queue"}, true}, /* sch_generic.c */
};

#define DAY_SECONDS (24 * 60 * 60)

static bool has_words(const char *line, const struct driver_message *s)
{
	return strstr(line, s->words[0]) && (!s->words[1] || strstr(line, s->words[1]));
}

/* Is this name there, with neither a letter nor a digit around it? */
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
	/* DMAR leaves the domain out. */
	return has_name(line, text) || has_name(line, netdev) ||
		(!strncmp(text, "0000:", 5) && strstr(line, "DMAR") && has_name(line, text + 5));
}

/* The PF whose own device, or whose VF, the line names; NULL: none of this host. */
static const struct vfctl_pf *pf_in(const struct exam *e, const char *line)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_pf *pf = &inv->pfs[i];

		if (names_function(line, &pf->bdf, pf->netdev))
			return pf;
		for (uint32_t v = 0; v < pf->num_vfs; v++)
			if (names_function(line, &pf->vfs[v].bdf, pf->vfs[v].netdev))
				return pf;
	}
	return NULL;
}

/* ---- the log ---- */

struct tally {
	const struct vfctl_pf *pf;
	size_t count;
	double at; /* seconds since the boot, of the last one; negative: not told */
	char last[160];
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

/* The message of that check which the line is: the kernel's own, or a driver's. */
static const struct driver_message *find_message(const char *check, const char *line)
{
	const struct driver *d;

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (!strcmp(messages[i].check, check) && has_words(line, &messages[i]))
			return &messages[i];
	for (size_t i = 0; (d = driver_at(i)); i++)
		for (const struct driver_message *m = d->messages; m && m->check; m++)
			if (!strcmp(m->check, check) && has_words(line, m))
				return m;
	return NULL;
}

static void count_line(struct exam *e, const struct driver_message *s, const char *line,
	struct tally *tallies, size_t *io_count)
{
	const struct vfctl_pf *pf = pf_in(e, line);
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
	t->at = time_of(line, &text);
	str_copy(t->last, sizeof(t->last), text);
}

static double uptime(struct exam *e)
{
	_free_ char *text = NULL;

	return host_try_read(e->ctx, &text, "/proc/uptime") == 0 ? strtod(text, NULL) : -1;
}

static void tell_log(struct exam *e, const struct tally *t)
{
	double ago = t->at < 0 ? -1 : uptime(e) - t->at;
	char name[VFCTL_BDF_TEXT], when[48] = "";

	/* What was yesterday may be mended since. */
	if (ago > DAY_SECONDS)
		return;
	if (ago >= 0)
		snprintf(when, sizeof(when), ", last %.0f %s ago", ago < 7200 ? ago / 60 : ago / 3600,
			ago < 7200 ? "minutes" : "hours");
	found(e, t->pf ? pf_title(t->pf, name) : "", "the kernel's log, %zu time%s%s: %s", t->count,
		t->count == 1 ? "" : "s", when, t->last);
}

static void check_log(struct exam *e)
{
	struct tally tallies[TALLIES_MAX];
	_buf_ struct buf log = {0};
	size_t count = 0;
	char *save = NULL;
	int r = host_kernel_log(e->ctx, &log);

	if (r < 0 || !log.data) {
		/* Once for all of them. */
		if (r < 0 && e->check == log_checks)
			unknown(e, r == -EOPNOTSUPP || r == -ENOENT ? "this capture holds nothing of "
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
	{"log-spoof", VFCTL_WARNING, "a guest sends with addresses that are not its VF's",
		"a bridge, containers or a bond in the guest; or a guest that pretends to be another",
		"give the VF the MAC that it uses (vfctl set VF mac=...), or trust it: vfctl set VF "
		"trust=on spoofchk=off", check_log},
	{"log-trust", VFCTL_WARNING, "a guest asks its VF for more than it may have",
		"MACs, VLANs or promiscuous mode are for trusted VFs",
		"vfctl set VF trust=on --live --config, if the guest may; else fewer MACs in the "
		"guest", check_log},
	{"log-no-room", VFCTL_WARNING, "VFs could not be made: the kernel found no room for them",
		"the BIOS gave the slot too small a window, or too few bus numbers",
		"above-4G decoding and SR-IOV in the BIOS; pci=realloc (bus numbers: "
		"pci=assign-busses) on the kernel's command line; or fewer VFs", check_log},
	{"log-vectors", VFCTL_WARNING, "VFs could not be made, or have too few queues: the card ran out of "
		"interrupt vectors", "on hosts with many CPUs the PF's own driver, and that of its RDMA "
		"device, take most of them", "fewer VFs; fewer queues for the PF (ethtool -L PF combined N); "
		"ice: without irdma, or devlink's msix_vec_per_pf_max", check_log},
	{"log-in-use", VFCTL_WARNING, "a removal of VFs waited for a guest that has one of them",
		"the kernel takes a VF away from whoever drives it, and VFIO waits until it is closed",
		"stop the guest; vfctl destroy and create refuse in time, and say who has the VF", check_log},
	{"log-pf-reset", VFCTL_WARNING, "a VF's driver waited for its PF in vain", "the PF is down, or "
		"its driver is being reset", "ip link set PF up", check_log},
	{"log-vf-lost", VFCTL_WARNING, "a VF's driver does not reach its PF",
	"the PF was reset while the VF was at work, or the PF's driver and the VF's do not fit each other",
		"another version of the PF's driver or firmware; a new start of the guest helps for "
		"now", check_log},
	{"log-remapping", VFCTL_PROBLEM, "a guest with a VF was refused: interrupts are not remapped",
		"interrupt remapping is off in the BIOS, or x2apic is", "switch it on in the BIOS; "
			"never allow_unsafe_interrupts", check_log},
	{"log-memlock", VFCTL_WARNING, "a guest with a VF could not lock its memory",
	"the daemon's limit is below what the guest's memory "
		"takes", "memtune/hard_limit in the domain (vfctl define "
			"writes it), or LimitMEMLOCK of the daemon", check_log},
	{"log-lag", VFCTL_WARNING, "VFs were bound to a driver when the bond was made: no VF-LAG",
		"mlx5 makes it only while no VF has a driver",
		"unbind the VFs, make the bond anew, bind them",
		check_log},
	{"log-dma", VFCTL_WARNING, "the IOMMU refused what a device wanted of memory",
	"a guest's driver that is broken, or a device that was not reset",
		"look at which VF it is (the line names it) and stop its guest", check_log},
	{"log-device", VFCTL_WARNING, "a card's driver says that the card is not well",
	"firmware, or a queue that got stuck", "devlink health; a newer firmware", check_log},
	{.name = NULL},
};
