// SPDX-License-Identifier: GPL-2.0-or-later
/* export: print a host.yaml that describes the present state. */
#include <string.h>
#include <strings.h>

#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "host/files.h"
#include "lease/declared.h"
#include "sriov/inventory.h"
#include "verbs/export_pools.h"

#define SETTINGS_TEXT 400
#define MTU_ETHERNET 1500

#define NAME_TEXT 128

/* Whether YAML reads the word as text without quotes. */
static bool is_plain(const char *name)
{
	static const char *const message[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null",
		"none", "inf", "nan", "any", "all"};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (size_t i = 0; i < ARRAY_SIZE(message); i++)
		if (strcasecmp(name, message[i]) == 0)
			return false;
	return strspn(name, letters) && !name[strspn(name, "0123456789_.-abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

/* The kernel permits everything in a name except white space, '/' and ':'. */
static const char *quote(const char *name, char buf[NAME_TEXT])
{
	size_t n = 0;

	if (is_plain(name))
		return name;
	buf[n++] = '\'';
	for (; *name && n + 4 < NAME_TEXT; name++) {
		if (*name == '\'')
			buf[n++] = '\'';
		buf[n++] = *name;
	}
	buf[n++] = '\'';
	buf[n] = '\0';
	return buf;
}

/* The settings of the host's own VF that a new VF would not have. */
static struct vfctl_vf_attrs settings_of(const struct vfctl_vf *vf, bool identities)
{
	struct vfctl_vf_attrs a = vf->attrs;
	uint32_t drop = vfctl_vf_attrs_default(&a) | VFCTL_ATTR_MSIX | VFCTL_ATTR_PKEY;

	if (!a.vlan)
		drop |= VFCTL_ATTR_VLAN;
	if (!identities || vfctl_mac_is_zero(&a.mac))
		drop |= VFCTL_ATTR_MAC;
	if (!identities || !a.port_guid || !a.node_guid)
		drop |= VFCTL_ATTR_GUIDS;
	a.mask &= ~drop;
	return a;
}

/* "vlan: 100, trust: on"; "" if there are none. */
static void format_settings(const struct vfctl_vf_attrs *a, char text[SETTINGS_TEXT])
{
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0, len = 0;

	text[0] = '\0';
	while (len < SETTINGS_TEXT && vfctl_vf_attrs_next(a, &i, &key, value)) {
		const char *quote = strchr(value, ':') ? "'" : "";
		int n = snprintf(text + len, SETTINGS_TEXT - len, "%s%s%s: %s%s%s", len ? ", " : "",
			key, strstr(key, "-rate") ? "-mbps" : "", quote, value, quote);

		len += n > 0 ? (size_t)n : 0;
	}
}

/* Its present values belong to its guest. */
static bool is_guests(const struct vfctl_vf *vf)
{
	return vf->lease.running || vf->holder.kind == VFCTL_HOLDER_DOMAIN ||
		vf->holder.kind == VFCTL_HOLDER_VFIO;
}

static void print_range(struct invocation *in, uint32_t first, uint32_t last, const char *text,
	bool *io_begun)
{
	if (!text[0])
		return;
	if (!*io_begun)
		out_line(in->out, "    vfs:");
	*io_begun = true;
	if (first == last)
		out_line(in->out, "      %u: {%s}", first, text);
	else
		out_line(in->out, "      %u-%u: {%s}", first, last, text);
}

static void print_settings(struct invocation *in, const struct vfctl_pf *pf)
{
	char now[SETTINGS_TEXT], text[SETTINGS_TEXT] = "";
	bool identities = option_of(in, "identities"), begun = false;
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];
		const struct vfctl_vf_attrs a = settings_of(vf, identities);

		format_settings(&a, now);
		if (is_guests(vf))
			now[0] = '\0';
		if (strcmp(now, text) != 0 || vf->index != last + 1) {
			print_range(in, first, last, text, &begun);
			memcpy(text, now, sizeof(text));
			first = vf->index;
		}
		last = vf->index;
	}
	print_range(in, first, last, text, &begun);
}

static const char *driver_of(const struct vfctl_vf *vf)
{
	if (!vf->driver[0])
		return "none";
	return strstr(vf->driver, "vfio") ? "vfio-pci" : "host";
}

/* Print what the file cannot express. */
static void print_remarks(struct invocation *in, const struct vfctl_pf *pf)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];

		if (strcmp(driver_of(vf), driver_of(&pf->vfs[0])) != 0)
			out_line(in->out, "    # VF %u differs: its driver is %s", vf->index,
				vf->driver[0] ? vf->driver : "none");
		if (is_guests(vf))
			out_line(in->out, "    # a guest uses VF %u now: its settings are left out",
				vf->index);
	}
}

/* Legacy mode is the default at boot. */
static void print_eswitch(struct invocation *in, const struct vfctl_pf *pf)
{
	const char *bridge = pf->num_vfs ? pf->vfs[0].bridge : "";
	uint32_t same = 0;

	if (pf->eswitch != VFCTL_ESWITCH_SWITCHDEV)
		return;
	out_line(in->out, "    eswitch: switchdev");
	while (same < pf->num_vfs && strcmp(pf->vfs[same].bridge, bridge) == 0)
		same++;
	if (same < pf->num_vfs)
		out_line(in->out, "    # the representors of its VFs are ports of different bridges, or "
			"of none");
	else if (bridge[0])
		out_line(in->out, "    representors: {bridge: %s}",
			quote(bridge, (char[NAME_TEXT]){0}));
}

/*
 * The declared mode and MACs: the table of the card does not tell which of its entries are
 * declared, and vfctl monitor --bridge adds the others itself.
 */
static int print_bridge_mode(struct invocation *in, const struct host_ids *host,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	const struct vfctl_pf_spec *spec = NULL;
	const char *mode;
	int r = host->spec ? vfctl_declared_entry(in->ctx, inv, host->spec, pf, &spec) : 0;

	if (r < 0 || !spec || spec->bridge_mode == VFCTL_BRIDGE_OFF)
		return r;
	mode = spec->bridge_mode == VFCTL_BRIDGE_LEARNT ? "learnt" : "guests";
	if (!spec->bridge_macs || !spec->bridge_macs[0]) {
		out_line(in->out, "    bridge: %s", mode);
		return 0;
	}
	out_line(in->out, "    bridge:");
	out_line(in->out, "      mode: %s", mode);
	out_line(in->out, "      macs:");
	for (char **mac = spec->bridge_macs; *mac; mac++)
		out_line(in->out, "        - '%s'", *mac);
	return 0;
}

/* Datagram is the kernel's default. Connected mode is stated, because it permits a larger MTU. */
static void print_ipoib_mode(struct invocation *in, const struct vfctl_pf *pf)
{
	_free_ char *mode = NULL;

	if (pf->infiniband && pf->netdev[0] && vfctl_pf_ipoib_mode(in->ctx, pf, &mode) == 0 &&
		strcmp(mode, "connected") == 0)
		out_line(in->out, "    ipoib-mode: connected");
}

static int print_pf(struct invocation *in, const struct host_ids *host,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT];
	const char *known = vfctl_pf_name(pf, name);
	int r;

	/* No text can contain the name, but the address also identifies the PF. */
	if (!is_clean(known))
		known = vfctl_bdf_format(&pf->bdf, name);
	out_line(in->out, "  - match: %s", quote(known, (char[NAME_TEXT]){0}));
	out_line(in->out, "    count: %u", pf->num_vfs);
	if (pf->num_vfs)
		out_line(in->out, "    driver: %s", driver_of(&pf->vfs[0]));
	print_ipoib_mode(in, pf);
	if (pf->netdev[0] && pf->mtu && (pf->infiniband || pf->mtu != MTU_ETHERNET))
		out_line(in->out, "    mtu: %u", pf->mtu);
	if (pf->netdev[0] && pf->up)
		out_line(in->out, "    link: up");
	r = print_pf_pool(in, host, pf);
	if (r == 0)
		r = print_bridge_mode(in, host, inv, pf);
	print_eswitch(in, pf);
	print_settings(in, pf);
	print_remarks(in, pf);
	if (pf->unread)
		out_line(in->out, "    # it could be read only in part: %s", pf->unread);
	return r;
}

/* Both are configured as a VF-LAG requires, and as far as known, they form one. */
static bool are_lag(const struct vfctl_pf *a, const struct vfctl_pf *b)
{
	static const char *const modes[] = {"active-backup", "balance-xor", "802.3ad"};
	bool known = false;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		known |= strcmp(a->bond_mode, modes[i]) == 0;
	return known && strcmp(a->bond, b->bond) == 0 && a->lag != VFCTL_LAG_OFF &&
		a->eswitch == VFCTL_ESWITCH_SWITCHDEV && b->eswitch == VFCTL_ESWITCH_SWITCHDEV &&
		a->bdf.domain == b->bdf.domain && a->bdf.bus == b->bdf.bus && a->bdf.slot == b->bdf.slot;
}

static size_t count_ports(const struct vfctl_inventory *inv, const char *bond)
{
	size_t n = 0;

	for (size_t i = 0; i < inv->pf_count; i++)
		n += strcmp(inv->pfs[i].bond, bond) == 0;
	return n;
}

static void print_lags(struct invocation *in, const struct vfctl_inventory *inv)
{
	bool begun = false;

	for (size_t i = 0; i < inv->pf_count; i++)
		for (size_t k = i + 1; k < inv->pf_count; k++) {
			const struct vfctl_pf *a = &inv->pfs[i], *b = &inv->pfs[k];

			if (!a->bond[0] || !are_lag(a, b) || count_ports(inv, a->bond) != 2)
				continue;
			if (!begun)
				out_line(in->out, "lag:");
			begun = true;
			out_line(in->out, "  - {bond: %s, mode: %s, pfs: [%s, %s]}",
				quote(a->bond, (char[NAME_TEXT]){0}), a->bond_mode,
				quote(a->netdev, (char[NAME_TEXT]){0}),
				quote(b->netdev, (char[NAME_TEXT]){0}));
		}
}

static int print_inventory(struct invocation *in, const struct host_ids *host,
	const struct vfctl_inventory *inv)
{
	int r = 0;

	if (inv->pf_count)
		out_line(in->out, "pfs:");
	else
		out_line(in->out, "# this host has no PF with SR-IOV");
	for (size_t i = 0; i < inv->pf_count && r == 0; i++)
		r = print_pf(in, host, inv, &inv->pfs[i]);
	print_lags(in, inv);
	if (host->spec)
		print_pools(in, host->spec);
	return r;
}

/* Write the whole file; host.yaml itself was read before. */
static int write_inventory(struct invocation *in, const struct host_ids *host,
	const struct vfctl_inventory *inv)
{
	struct out *before = in->out;
	_free_ char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	int r;

	if (!file)
		return -ENOMEM;
	in->out = out_new(file);
	r = in->out ? print_inventory(in, host, inv) : -ENOMEM;
	out_close(in->out);
	in->out = before;
	fclose(file);
	return r ? r : vfctl_file_write(in->ctx, option_of(in, "output"), text, len);
}

static int run_export(struct invocation *in)
{
	_cleanup_(host_ids_close) struct host_ids host = {0};
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	int r, status = host_ids_try(in, &host);

	if (status)
		return status;
	if (host.error)
		warn("pools and P_Keys are left out: %s", host.message);
	r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);
	if (r == 0)
		r = option_of(in, "output") ? write_inventory(in, &host, snapshot->inventory)
					    : print_inventory(in, &host, snapshot->inventory);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

static const struct option_row options[] = {
	{"output", 'o', "FILE",
		"write to FILE instead of standard output; FILE is replaced as a whole", NULL},
	{"identities", 0, NULL, "with the MACs and GUIDs of the VFs, to restore this host", NULL},
};

const struct command cmd_export = {
	.name = "export",
	.group = GROUP_HOST,
	.args = "",
	.summary = "Print this host's PFs and VFs as host.yaml",
	.text = "apply on another host of the same kind then creates the same VFs. Their MACs"
		" and GUIDs are derived from that host's PFs; --identities keeps those of "
		"this host, to restore it.",
	.examples = {{"vfctl export -o /etc/vfctl/host.yaml", "declare the present state"},
		{"vfctl export --identities", "with MACs and GUIDs"}},
	OPTIONS(options),
	.run = run_export,
};
