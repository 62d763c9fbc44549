// SPDX-License-Identifier: GPL-2.0-or-later
/* Generate the files for a guest from a profile and its VFs. Pure. */
#include "tuning/guest_half.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "drivers/driver.h"

#define LINK_DIR "/etc/systemd/network/"
#define RULES "/etc/udev/rules.d/90-vfctl.rules"
#define SYSCTL "/etc/sysctl.d/90-vfctl.conf"
#define MODULES "/etc/modules-load.d/vfctl.conf"
#define LIMITS "/etc/security/limits.d/90-vfctl.conf"
#define ADVICE "/etc/vfctl/mpi-advice.txt"
#define HEAD "# Made by vfctl tune guest, profile %s. Made again, it is replaced.\n"

const char *vfctl_guest_driver(const char *pf_driver)
{
	const struct driver *d = driver_find(pf_driver);

	return d && d->guest ? d->guest : pf_driver;
}

/* The name of that driver in the table of drivers, which uses the names in sysfs. */
static const char *table_driver(const char *pf_driver)
{
	const struct driver *d = driver_find(pf_driver);

	return d && d->guest_row ? d->guest_row : vfctl_guest_driver(pf_driver);
}

void guest_half_fit(const struct vfctl_profile *profile, const struct vfctl_guest_half_vf *vf,
	struct vfctl_tuning_fit *ret)
{
	vfctl_tuning_fit(table_driver(vf->pf_driver), vf->infiniband, NULL, &profile->coalesce, ret);
}

/* systemd 248 and newer (src/udev/net/link-config-gperf.gperf). */
const char *guest_half_link_key(enum vfctl_coalesce_key key, const char **ret_unit)
{
	static const struct {
		const char *name, *unit;
	} keys[VFCTL_COALESCE_KEYS] = {
		[VFCTL_RX_USECS] = {"RxCoalesceSec", "us"},
		[VFCTL_RX_FRAMES] = {"RxMaxCoalescedFrames", ""},
		[VFCTL_RX_USECS_IRQ] = {"RxCoalesceIrqSec", "us"},
		[VFCTL_RX_FRAMES_IRQ] = {"RxMaxCoalescedIrqFrames", ""},
		[VFCTL_TX_USECS] = {"TxCoalesceSec", "us"},
		[VFCTL_TX_FRAMES] = {"TxMaxCoalescedFrames", ""},
		[VFCTL_TX_USECS_IRQ] = {"TxCoalesceIrqSec", "us"},
		[VFCTL_TX_FRAMES_IRQ] = {"TxMaxCoalescedIrqFrames", ""},
		[VFCTL_STATS_BLOCK_USECS] = {"StatisticsBlockCoalesceSec", "us"},
		[VFCTL_ADAPTIVE_RX] = {"UseAdaptiveRxCoalesce", ""},
		[VFCTL_ADAPTIVE_TX] = {"UseAdaptiveTxCoalesce", ""},
		[VFCTL_PKT_RATE_LOW] = {"CoalescePacketRateLow", ""},
		[VFCTL_RX_USECS_LOW] = {"RxCoalesceLowSec", "us"},
		[VFCTL_RX_FRAMES_LOW] = {"RxMaxCoalescedLowFrames", ""},
		[VFCTL_TX_USECS_LOW] = {"TxCoalesceLowSec", "us"},
		[VFCTL_TX_FRAMES_LOW] = {"TxMaxCoalescedLowFrames", ""},
		[VFCTL_PKT_RATE_HIGH] = {"CoalescePacketRateHigh", ""},
		[VFCTL_RX_USECS_HIGH] = {"RxCoalesceHighSec", "us"},
		[VFCTL_RX_FRAMES_HIGH] = {"RxMaxCoalescedHighFrames", ""},
		[VFCTL_TX_USECS_HIGH] = {"TxCoalesceHighSec", "us"},
		[VFCTL_TX_FRAMES_HIGH] = {"TxMaxCoalescedHighFrames", ""},
		[VFCTL_SAMPLE_INTERVAL] = {"CoalescePacketRateSampleIntervalSec", "s"},
	};

	*ret_unit = keys[key].unit;
	return keys[key].name;
}

/* systemd rejects 0 for these two (src/shared/ethtool-util.c). */
static bool link_takes(enum vfctl_coalesce_key key, uint32_t value)
{
	const char *unit;

	return guest_half_link_key(key, &unit) &&
		(value || (key != VFCTL_STATS_BLOCK_USECS && key != VFCTL_SAMPLE_INTERVAL));
}

/* ---- freed ---- */

void vfctl_guest_half_free(struct vfctl_guest_half *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->file_count; i++) {
		free(t->files[i].path);
		free(t->files[i].text);
	}
	for (size_t i = 0; i < t->command_count; i++)
		strv_free(t->commands[i]);
	for (size_t i = 0; i < t->note_count; i++)
		free(t->notes[i]);
	free(t->files);
	free(t->commands);
	free(t->notes);
	free(t);
}

/* ---- added ---- */

struct making {
	struct vfctl_guest_half *to;
	const struct vfctl_profile *profile;
	enum vfctl_guest_network network;
	bool failed; /* memory was exhausted */
};

/* Takes over its texts. */
static void add_whole(struct making *m, struct vfctl_guest_file file)
{
	struct vfctl_guest_half *t = m->to;

	if (!file.path || !file.text || !array_grow(t->files, t->file_count)) {
		free(file.path);
		free(file.text);
		m->failed = true;
		return;
	}
	t->files[t->file_count++] = file;
}

/* Takes over @text. */
static void add_file(struct making *m, char *path, char *text)
{
	add_whole(m, (struct vfctl_guest_file){path, text, false});
}

/* Add a note once: several VFs may have the same. Takes over @text. */
static void add_note(struct making *m, char *text)
{
	struct vfctl_guest_half *t = m->to;

	for (size_t i = 0; text && i < t->note_count; i++)
		if (str_eq(t->notes[i], text)) {
			free(text);
			return;
		}
	if (!text || !array_grow(t->notes, t->note_count)) {
		free(text);
		m->failed = true;
		return;
	}
	t->notes[t->note_count++] = text;
}

static void add_command(struct making *m, const char *const *message)
{
	struct vfctl_guest_half *t = m->to;
	size_t count = 0;
	char **copy;

	while (message[count])
		count++;
	copy = calloc(count + 1, sizeof(char *));
	if (!copy || !array_grow(t->commands, t->command_count)) {
		free(copy);
		m->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (!(copy[i] = strdup(message[i])))
			m->failed = true;
	t->commands[t->command_count++] = copy;
}

/* ---- interfaces ---- */

static void put_settings(struct buf *b, const struct vfctl_coalesce *set)
{
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;
		const char *unit, *name = guest_half_link_key(key, &unit);

		if (!(set->mask & VFCTL_COALESCE_BIT(i)) || !link_takes(key, set->values[i]))
			continue;
		if (vfctl_coalesce_is_switch(key))
			buf_printf(b, "%s=%s\n", name, set->values[i] ? "yes" : "no");
		else
			buf_printf(b, "%s=%u%s\n", name, set->values[i], unit);
	}
}

/*
 * Only the first .link file that matches an interface is read, so this file repeats the settings of
 * 99-default.link. But a MAC that the host set must not be replaced.
 */
static void add_link(struct making *m, const struct vfctl_guest_half_vf *vf,
	const struct vfctl_tuning_fit *fit, bool bonded)
{
	char mac[VFCTL_MAC_TEXT], name[VFCTL_MAC_TEXT];
	_buf_ struct buf b = {0};

	vfctl_mac_format(&vf->mac, mac);
	memcpy(name, mac, sizeof(name));
	for (char *c = name; *c; c++)
		if (*c == ':')
			*c = '-';
	buf_printf(&b, HEAD "[Match]\n", m->profile->name);
	if (vf->infiniband)
		buf_puts(&b, "Type=infiniband\n");
	else /* VLANs and bonds on it have the same address, and another driver */
		buf_printf(&b, "MACAddress=%s\nDriver=%s\n", mac, vfctl_guest_driver(vf->pf_driver));
	buf_puts(&b, "\n[Link]\nNamePolicy=keep kernel database onboard slot path\n"
		     "AlternativeNamesPolicy=database onboard slot path\nMACAddressPolicy=none\n");
	if (vf->mtu && !vf->ipoib_mode) /* else the mode comes first: guest_ipoib_rule() */
		buf_printf(&b, "MTUBytes=%u\n", vf->mtu);
	put_settings(&b, &fit->set);
	add_file(m, str_format(LINK_DIR "10-vfctl-%s%s%s.link", vf->infiniband ? "ipoib" : name,
		bonded ? "-" : "", bonded ? vfctl_guest_driver(vf->pf_driver) : ""), buf_steal(&b));
}

static struct vfctl_coalesce beyond_link(const struct vfctl_tuning_fit *fit)
{
	struct vfctl_coalesce rest = fit->set;

	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (link_takes((enum vfctl_coalesce_key)i, fit->set.values[i]))
			rest.mask &= ~VFCTL_COALESCE_BIT(i);
	return rest;
}

/* Settings without a key in systemd.link are set with ethtool: "NAME VALUE" for each. */
static void put_rule(struct buf *b, const struct vfctl_guest_half_vf *vf,
	const struct vfctl_coalesce *rest)
{
	char mac[VFCTL_MAC_TEXT];

	vfctl_mac_format(&vf->mac, mac);
	buf_puts(b, "ACTION==\"add\", SUBSYSTEM==\"net\", ");
	if (vf->infiniband)
		buf_puts(b, "ATTR{type}==\"32\"");
	else
		buf_printf(b, "ATTR{address}==\"%s\", ENV{ID_NET_DRIVER}==\"%s\"", mac,
			vfctl_guest_driver(vf->pf_driver));
	buf_puts(b, ", RUN+=\"/usr/sbin/ethtool -C $name");
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;

		if (!(rest->mask & VFCTL_COALESCE_BIT(i)))
			continue;
		if (vfctl_coalesce_is_switch(key))
			buf_printf(b, " %s %s", vfctl_coalesce_name(key),
				rest->values[i] ? "on" : "off");
		else
			buf_printf(b, " %s %u", vfctl_coalesce_name(key), rest->values[i]);
	}
	buf_puts(b, "\"\n");
}

/* What the guest's driver does not support or apply, one line each. */
static void note_fit(struct making *m, const struct vfctl_guest_half_vf *vf,
	const struct vfctl_tuning_fit *fit)
{
	const char *driver = vf->infiniband ? "IPoIB" : vfctl_guest_driver(vf->pf_driver);
	const struct driver *d = vf->infiniband ? NULL : driver_find(table_driver(vf->pf_driver));

	for (size_t i = 0; i < fit->count; i++) {
		const struct vfctl_fit_row *row = &fit->rows[i];
		const char *name = vfctl_coalesce_name(row->key);

		if (row->fit == VFCTL_FIT_LACKS)
			add_note(m, str_format("%s has no %s: %s", driver, name,
				row->why ? row->why : "it is omitted"));
		else if (row->fit == VFCTL_FIT_NEAREST)
			add_note(m, str_format("%s gets %s %u: %s", driver, name, row->gets,
				row->why ? row->why : "the nearest value that it accepts"));
	}
	if (d && d->rx_usecs_0 && fit->set.mask & VFCTL_COALESCE_BIT(VFCTL_RX_USECS) &&
		!fit->set.values[VFCTL_RX_USECS])
		add_note(m, strdup(d->rx_usecs_0));
	if (!fit->known)
		add_note(m, str_format("%s is not in vfctl's table of drivers and may reject some "
			"settings",
			driver));
}

static void add_ipoib(struct making *m, const struct vfctl_guest_half_vf *vf, struct buf *rules)
{
	_free_ char *rule = guest_ipoib_rule(vf);
	struct vfctl_guest_file file;

	m->failed |= !rule;
	buf_puts(rules, rule ? rule : "");
	if (!guest_ipoib_file(m->network, vf, &file) || file.path)
		add_whole(m, file);
	if (vf->ipoib_mode && m->network == VFCTL_NETWORK_ANY)
		add_note(m, strdup("NetworkManager and netplan set the mode of IPoIB themselves: make the "
			"file for them with --network"));
	if (vf->ipoib_mode == VFCTL_IPOIB_CONNECTED && str_starts(vf->pf_driver, "mlx5"))
		add_note(m, strdup("mlx5's enhanced IPoIB has no connected mode: the guest's kernel must be "
			"built without CONFIG_MLX5_CORE_IPOIB, or NVIDIA's ib_ipoib loaded with "
			"ipoib_enhanced=0"));
}

/* Ports of a bond have one MAC, and usually one driver: then one file is for all. */
static bool is_said(const struct vfctl_guest_half_vf *vfs, size_t i, bool *ret_bonded)
{
	*ret_bonded = false;
	for (size_t k = 0; k < i && !vfs[i].infiniband; k++) {
		if (vfs[k].infiniband || memcmp(&vfs[k].mac, &vfs[i].mac, sizeof(vfs[i].mac)))
			continue;
		*ret_bonded = true;
		if (str_eq(vfctl_guest_driver(vfs[k].pf_driver), vfctl_guest_driver(vfs[i].pf_driver)))
			return true;
	}
	return false;
}

static void add_interfaces(struct making *m, const struct vfctl_guest_half_vf *vfs, size_t count)
{
	_buf_ struct buf rules = {0};
	bool ipoib = false;

	for (size_t i = 0; i < count; i++) {
		struct vfctl_tuning_fit fit;
		struct vfctl_coalesce rest;
		bool bonded;

		/* The address of an IPoIB interface is not known before: one file is for all. */
		if ((vfs[i].infiniband && ipoib) || is_said(vfs, i, &bonded))
			continue;
		ipoib |= vfs[i].infiniband;
		guest_half_fit(m->profile, &vfs[i], &fit);
		rest = beyond_link(&fit);
		note_fit(m, &vfs[i], &fit);
		if ((fit.set.mask & ~rest.mask) || (vfs[i].mtu && !vfs[i].ipoib_mode))
			add_link(m, &vfs[i], &fit, bonded);
		if ((rest.mask || vfs[i].ipoib_mode) && !rules.len)
			buf_printf(&rules, HEAD, m->profile->name);
		if (rest.mask)
			put_rule(&rules, &vfs[i], &rest);
		if (vfs[i].infiniband)
			add_ipoib(m, &vfs[i], &rules);
	}
	if (rules.len)
		add_file(m, strdup(RULES), buf_steal(&rules));
}

/* ---- the guest as a whole ---- */

static void add_busy_poll(struct making *m)
{
	add_file(m, strdup(SYSCTL), str_format(HEAD
		"# Sockets poll the card for so many us before they sleep: lower latency, for the CPU\n"
		"# time of the waiting program (Documentation/admin-guide/sysctl/net.rst).\n"
		"net.core.busy_read = 50\nnet.core.busy_poll = 50\n", m->profile->name));
}

static void add_rdma(struct making *m, bool infiniband)
{
	add_file(m, strdup(MODULES), str_format(HEAD "ib_uverbs\nrdma_ucm\n%s", m->profile->name,
		infiniband ? "ib_umad\nib_ipoib\n" : ""));
	add_file(m, strdup(LIMITS), str_format(HEAD
		"# RDMA programs lock the memory that they hand to the card.\n"
		"* soft memlock unlimited\n* hard memlock unlimited\n", m->profile->name));
	add_note(m, strdup("memlock takes effect at the next login; a service needs its own "
		"LimitMEMLOCK=infinity"));
}

static const char advice[] =
	"Advice for MPI, UCX and NCCL in this guest (vfctl sets nothing of this):\n\nInterrupt "
	"moderation by ethtool does not affect the completion queues of a program: only the\nprogram "
	"itself sets these (ibv_modify_cq). For verbs it matters how the program waits.\n\nWaiting. "
	"Polling is fastest and takes a CPU for each rank; it needs vCPUs that no other program\nuses. "
	"More ranks than vCPUs, or shared vCPUs, wait by blocking:\n  Open MPI   --mca "
	"mpi_yield_when_idle 1\n  MVAPICH2   MV2_USE_BLOCKING=1\n  UCX        the program decides: "
	"ucp_worker_wait() blocks\n%s\nShared receive queues. MVAPICH2 takes its limit event when fewer "
	"receives are left than\nMV2_SRQ_LIMIT (default 30); with hundreds of ranks raise MV2_SRQ_SIZE "
	"rather than the limit.\n\nRelaxed ordering. On some hosts (seen on Xeon Emerald Rapids: 16 "
	"instead of more than 40 GB/s,\nopenucx/ucx#10955) large messages are slow without it:\n  "
	"UCX_IB_PCI_RELAXED_ORDERING=y\n  NCCL_IB_PCI_RELAXED_ORDERING=1\nMeasure both ways: vfctl tune "
	"search, or ucx_perftest -t ucp_put_bw.\n\nMemory. ulimit -l must say unlimited before mpirun, "
	"on every node.\n";

static void add_advice(struct making *m)
{
	_buf_ struct buf b = {0};

	buf_printf(&b, HEAD, m->profile->name);
	buf_printf(&b, advice, m->profile->busy_poll
			? "This profile is for latency: poll.\n"
			: "This profile does not ask for polling: block where vCPUs are shared.\n");
	add_file(m, strdup(ADVICE), buf_steal(&b));
}

static bool has_file(const struct vfctl_guest_half *t, const char *start)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (str_starts(t->files[i].path, start))
			return true;
	return false;
}

/* Commands that apply the files at once; each can be repeated. */
static void add_commands(struct making *m, bool rdma, bool infiniband)
{
	if (has_file(m->to, LINK_DIR) || has_file(m->to, RULES)) {
		add_command(m, (const char *const[]){"udevadm", "control", "--reload", NULL});
		add_command(m, (const char *const[]){"udevadm", "trigger", "--action=add",
				     "--subsystem-match=net", NULL});
	}
	if (has_file(m->to, SYSCTL))
		add_command(m, (const char *const[]){"sysctl", "-q", "-p", SYSCTL, NULL});
	if (rdma)
		add_command(m, (const char *const[]){"modprobe", "-a", "ib_uverbs", "rdma_ucm",
				     infiniband ? "ib_umad" : NULL, "ib_ipoib", NULL});
}

int vfctl_guest_half_make(struct vfctl_ctx *ctx, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t count, enum vfctl_guest_network network,
	struct vfctl_guest_half **ret)
{
	_cleanup_(vfctl_guest_half_freep) struct vfctl_guest_half *t = calloc(1, sizeof(*t));
	struct making m = {.to = t, .profile = profile, .network = network};
	bool rdma = false, infiniband = false;

	if (!t)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++) {
		rdma |= vfs[i].rdma || vfs[i].infiniband;
		infiniband |= vfs[i].infiniband;
	}
	add_interfaces(&m, vfs, count);
	if (profile->busy_poll)
		add_busy_poll(&m);
	if (rdma) {
		add_rdma(&m, infiniband);
		add_advice(&m);
	}
	add_commands(&m, rdma, infiniband);
	if (m.failed)
		return ctx_oom(ctx);
	if (!t->file_count)
		return ctx_fail(ctx, -ENODATA, "profile %s has no settings for a guest with such VFs%s%s",
			profile->name, t->note_count ? ": " : "", t->note_count ? t->notes[0] : "");
	*ret = steal(t);
	return 0;
}

/* ---- cloud-init ---- */

/* A block of text in YAML, with each line indented. */
static void put_block(struct buf *b, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len)
			buf_printf(b, "      %.*s", (int)len, text);
		buf_puts(b, "\n");
		text += len + (text[len] == '\n');
	}
}

static void put_command(struct buf *b, char *const *message)
{
	buf_puts(b, "  - [");
	for (size_t i = 0; message[i]; i++)
		buf_printf(b, "%s'%s'", i ? ", " : "", message[i]);
	buf_puts(b, "]\n");
}

int vfctl_guest_half_cloud_init(struct vfctl_ctx *ctx, const struct vfctl_guest_half *t,
	char **ret)
{
	_buf_ struct buf b = {0};

	buf_puts(&b, "#cloud-config\n");
	for (size_t i = 0; i < t->note_count; i++)
		buf_printf(&b, "# %s\n", t->notes[i]);
	buf_puts(&b, "write_files:\n");
	for (size_t i = 0; i < t->file_count; i++) {
		buf_printf(&b, "  - path: '%s'\n    owner: root:root\n    permissions: '%s'\n"
			       "    content: |\n", t->files[i].path, t->files[i].secret ? "0600" : "0644");
		put_block(&b, t->files[i].text);
	}
	if (t->command_count)
		buf_puts(&b, "runcmd:\n");
	for (size_t i = 0; i < t->command_count; i++)
		put_command(&b, t->commands[i]);
	*ret = b.failed ? NULL : buf_steal(&b);
	return *ret ? 0 : ctx_oom(ctx);
}
