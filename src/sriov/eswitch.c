// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The switch inside the card: its mode, the representors of VFs, and rates that are set through
 * devlink.
 */
#include "sriov/eswitch.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "pci/device.h"

/* ---- the mode ---- */

static const struct {
	enum vfctl_eswitch mode;
	const char *name;
	int number; /* devlink's number; -1: none */
} modes[] = {
	{VFCTL_ESWITCH_UNKNOWN, "unknown", -1},
	{VFCTL_ESWITCH_NONE, "none", -1},
	{VFCTL_ESWITCH_LEGACY, "legacy", NL_ESWITCH_LEGACY},
	{VFCTL_ESWITCH_SWITCHDEV, "switchdev", NL_ESWITCH_SWITCHDEV},
	{VFCTL_ESWITCH_INACTIVE, "switchdev_inactive", NL_ESWITCH_SWITCHDEV_INACTIVE},
};

bool eswitch_parse(const char *word, enum vfctl_eswitch *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].number >= 0 && str_eq(modes[i].name, word)) {
			*ret = modes[i].mode;
			return true;
		}
	return false;
}

uint16_t eswitch_number(enum vfctl_eswitch mode)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].mode == mode && modes[i].number >= 0)
			return (uint16_t)modes[i].number;
	return NL_ESWITCH_LEGACY;
}

static enum vfctl_eswitch mode_of(uint16_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].number == number)
			return modes[i].mode;
	return VFCTL_ESWITCH_UNKNOWN;
}

int eswitch_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, enum vfctl_eswitch *ret)
{
	char text[VFCTL_BDF_TEXT];
	const struct nl_devlink device = {"pci", vfctl_bdf_format(pf, text)};
	uint16_t number = 0;
	int r = nl_eswitch_read(ctx, &device, &number);

	if (r == 0)
		*ret = mode_of(number);
	else if (r == -EPERM || r == -EACCES || host_of(ctx)->ops->read_only)
		*ret = VFCTL_ESWITCH_UNKNOWN;
	else if (r == -ENODEV || r == -EOPNOTSUPP)
		*ret = VFCTL_ESWITCH_NONE;
	else
		return r;
	if (r < 0)
		ctx_clear(ctx);
	return 0;
}

/* ---- representors ---- */

/*
 * "pf0vf3" belongs to a VF of this host, "c1pf0vf3" to another host; "pf0sf88" and "p0" do not
 * belong to VFs.
 */
static bool is_vf_port(const char *name, unsigned *ret_pf, unsigned *ret_vf)
{
	int end = 0;

	return sscanf(name, "pf%uvf%u%n", ret_pf, ret_vf, &end) == 2 && !name[end];
}

static void note_mode(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const char *switch_id,
	const char *netdev,
	bool any_pf)
{
	_free_ char *port = NULL, *id = NULL;
	unsigned function, index;

	if (host_try_read(ctx, &port, "/sys/class/net/%s/phys_port_name", netdev) < 0 ||
		!is_vf_port(port, &function, &index) || (!any_pf && function != pf->bdf.function) ||
		host_try_read(ctx, &id, "/sys/class/net/%s/phys_switch_id", netdev) < 0 ||
		!str_eq(id, switch_id))
		return;
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].index == index && !pf->vfs[i].representor[0])
			str_copy(pf->vfs[i].representor, sizeof(pf->vfs[i].representor), netdev);
}

/* ovs-system and a bond are masters too, but not bridges. */
static void read_bridge(struct vfctl_ctx *ctx, struct vfctl_vf *vf)
{
	_free_ char *master = NULL;

	if (vf->representor[0] &&
		host_try_link_name(ctx, &master, "/sys/class/net/%s/master", vf->representor) == 0 &&
		host_exists(ctx, "/sys/class/net/%s/bridge", master))
		str_copy(vf->bridge, sizeof(vf->bridge), master);
}

/*
 * Since Linux 5.8 they are in the PF's own net/ directory. On older kernels they may be anywhere,
 * and the ports of one card have the same switch id, so the number in the port name identifies the
 * PF.
 */
void representors_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_free_ char *id = NULL;
	_strv_ char **own = NULL, **all = NULL;
	uint32_t found = 0;

	if (!pf->netdev[0] || !pf->num_vfs ||
		host_try_read(ctx, &id, "/sys/class/net/%s/phys_switch_id", pf->netdev) < 0 || !id[0])
		return;
	if (pci_netdevs(ctx, &pf->bdf, &own, NULL) == 0)
		for (size_t i = 0; own[i]; i++)
			note_mode(ctx, pf, id, own[i], true);
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		found += pf->vfs[i].representor[0] != '\0';
	if (!found && host_try_list(ctx, &all, "/sys/class/net") == 0)
		for (size_t i = 0; all[i]; i++)
			note_mode(ctx, pf, id, all[i], false);
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		read_bridge(ctx, &pf->vfs[i]);
}

/* ---- rates ---- */

int eswitch_rates_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct eswitch_rates *ret)
{
	char text[VFCTL_BDF_TEXT];
	const struct nl_devlink device = {"pci", vfctl_bdf_format(pf, text)};
	struct eswitch_rates rates = {0};
	int r = nl_ports_read(ctx, &device, &rates.ports);

	if (r == 0)
		r = nl_rates_read(ctx, &device, &rates.rates);
	r = ctx_ignore_error(ctx, r, -EOPNOTSUPP);
	if (r == 0)
		*ret = rates;
	else
		eswitch_rates_clear(&rates);
	return r;
}

void eswitch_rates_clear(struct eswitch_rates *rates)
{
	nl_ports_free(&rates->ports);
	nl_rates_free(&rates->rates);
}

static const struct nl_rate *find_rate(const struct eswitch_rates *rates, uint32_t vf)
{
	const struct nl_port *port = nl_ports_find_vf(&rates->ports, vf);

	for (size_t i = 0; port && i < rates->rates.count; i++)
		if (!rates->rates.v[i].node[0] && rates->rates.v[i].port == port->index)
			return &rates->rates.v[i];
	return NULL;
}

void eswitch_rates_of(const struct eswitch_rates *rates, uint32_t vf, struct vfctl_vf_attrs *io)
{
	const struct nl_rate *rate = find_rate(rates, vf);

	io->mask &= ~(uint32_t)VFCTL_ATTR_RATE;
	if (!rate)
		return;
	io->mask |= VFCTL_ATTR_RATE;
	io->min_rate_mbps = (uint32_t)(rate->tx_share / NL_RATE_MBPS);
	io->max_rate_mbps = (uint32_t)(rate->tx_max / NL_RATE_MBPS);
}

/* mlx5 and netdevsim reject rates above the link's speed. */
static int check_speed(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *change)
{
	const struct vfctl_vf_attrs *a = &change->attrs;
	uint32_t rate = a->max_rate_mbps > a->min_rate_mbps ? a->max_rate_mbps : a->min_rate_mbps;
	char name[VFCTL_BDF_TEXT];

	if (!pf->speed_mbps || rate <= pf->speed_mbps)
		return 0;
	return ctx_fail(ctx, -EINVAL, "set rate of %s/%u: %u Mbit/s exceeds the speed of its link, %u "
		"Mbit/s; use at most that (0: no limit)", vfctl_pf_name(pf, name), change->vf, rate,
		pf->speed_mbps);
}

static int fill_rows(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct eswitch_rates *rates,
	const struct vf_attr_change *changes, size_t count, struct nl_rate *rows, size_t *ret_count)
{
	char name[VFCTL_BDF_TEXT];
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct nl_rate *leaf;
		int r;

		if (!(changes[i].attrs.mask & VFCTL_ATTR_RATE))
			continue;
		r = check_speed(ctx, pf, &changes[i]);
		if (r < 0)
			return r;
		leaf = find_rate(rates, changes[i].vf);
		if (!leaf)
			return ctx_fail(ctx, -EOPNOTSUPP, "set rate of %s/%u: in switchdev mode rates "
				"are set through devlink, and driver %s has none for this VF (devlink "
				"port function rate show)", vfctl_pf_name(pf, name), changes[i].vf,
				pf->driver);
		rows[n++] = (struct nl_rate){.port = leaf->port, .bits = NL_RATE_MAX | NL_RATE_SHARE,
			.tx_max = changes[i].attrs.max_rate_mbps * NL_RATE_MBPS,
			.tx_share = changes[i].attrs.min_rate_mbps * NL_RATE_MBPS};
	}
	*ret_count = n;
	return 0;
}

static int write_rows(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct nl_rate *rows,
	size_t count)
{
	char text[VFCTL_BDF_TEXT], name[VFCTL_BDF_TEXT];
	const struct nl_devlink device = {"pci", vfctl_bdf_format(&pf->bdf, text)};
	int r = nl_rates_write(ctx, &device, rows, count);

	for (size_t i = 0; i < count && r == 0; i++)
		if (rows[i].error < 0)
			r = ctx_fail(ctx, rows[i].error, "set rate of port %u of %s: the kernel (driver "
				"%s, devlink) rejected it: %s (%s)", rows[i].port, vfctl_pf_name(pf, name),
				pf->driver,
				rows[i].text[0] ? rows[i].text : strerror(-rows[i].error),
				errno_name(rows[i].error));
	return r;
}

int eswitch_rates_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vf_attr_change *changes, size_t count)
{
	_cleanup_(eswitch_rates_clear) struct eswitch_rates rates = {0};
	_free_ struct nl_rate *rows = calloc(count + 1, sizeof(*rows));
	size_t n = 0;
	int r = rows ? eswitch_rates_read(ctx, &pf->bdf, &rates) : ctx_oom(ctx);

	if (r == 0)
		r = fill_rows(ctx, pf, &rates, changes, count, rows, &n);
	return r == 0 && n ? write_rows(ctx, pf, rows, n) : r;
}
