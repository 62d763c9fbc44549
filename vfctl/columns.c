// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of list: a row for each, which also gives -o, headings, help and man page. */
#include "columns.h"

#include <string.h>
#include <strings.h>

#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "sriov/inventory.h"

/* ---- text ---- */

const char *link_text(const struct vfctl_pf *pf, char buf[COLUMN_TEXT])
{
	if (!pf->netdev[0])
		return "";
	if (!pf->up)
		return "off";
	if (!pf->carrier)
		return "no carrier";
	if (!pf->speed_mbps)
		return "up";
	snprintf(buf, COLUMN_TEXT, "up %u Mbit/s", pf->speed_mbps);
	return buf;
}

/* The lease has a column of its own. */
const char *holder_text(const struct vfctl_vf *vf, char buf[COLUMN_TEXT])
{
	const struct vfctl_holder *h = &vf->holder;

	if (h->kind == VFCTL_HOLDER_NONE && vf->defined_in[0])
		snprintf(buf, COLUMN_TEXT, "off: %s", vf->defined_in);
	else if (h->kind == VFCTL_HOLDER_NONE && vf->promise.network[0])
		snprintf(buf, COLUMN_TEXT, "network %s", vf->promise.network);
	else if (h->kind == VFCTL_HOLDER_NONE)
		return vf->to_clean ? "to be cleaned" : vf->lease.name[0] ? "" : "free";
	else
		snprintf(buf, COLUMN_TEXT, "%s%s%s", vfctl_holder_kind_name(h->kind),
			h->name[0] ? " " : "", h->name);
	return buf;
}

/* ---- columns ---- */

static const char *number_columns(int value, char buf[COLUMN_TEXT])
{
	if (value < 0)
		return "";
	snprintf(buf, COLUMN_TEXT, "%d", value);
	return buf;
}

static const char *text_pf(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return vfctl_pf_name(r->pf, buf);
}

static const char *text_pf_address(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return vfctl_bdf_format(&r->pf->bdf, buf);
}

static const char *text_vf(const struct column_row *r, char buf[COLUMN_TEXT])
{
	char name[VFCTL_BDF_TEXT];

	if (!r->vf)
		return "";
	snprintf(buf, COLUMN_TEXT, "%s/%u", vfctl_pf_name(r->pf, name), r->vf->index);
	return buf;
}

static const char *text_index(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? number_columns((int)r->vf->index, buf) : "";
}

static const char *text_address(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return vfctl_bdf_format(r->vf ? &r->vf->bdf : &r->pf->bdf, buf);
}

static const char *text_driver(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->driver : r->pf->driver;
}

static const char *text_node(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return number_columns(r->vf ? r->vf->numa_node : r->pf->numa_node, buf);
}

static const char *text_group(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return number_columns(r->vf ? r->vf->iommu_group : r->pf->iommu_group, buf);
}

static const char *text_netdev(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->netdev : r->pf->netdev;
}

static const char *text_rdma(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->rdma : r->pf->rdma;
}

static const char *text_vfs(const struct column_row *r, char buf[COLUMN_TEXT])
{
	snprintf(buf, COLUMN_TEXT, "%u/%u", r->pf->num_vfs, r->pf->total_vfs);
	return buf;
}

static const char *text_link(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return link_text(r->pf, buf);
}

static const char *pf_identity(const struct vfctl_pf *pf, char buf[COLUMN_TEXT])
{
	if (pf->infiniband)
		return pf->guid ? vfctl_guid_format(pf->guid, buf) : "";
	return vfctl_mac_is_zero(&pf->mac) ? "" : vfctl_mac_format(&pf->mac, buf);
}

/* The identity that matters: the port GUID of an InfiniBand VF, otherwise the MAC. */
static const char *text_identity(const struct column_row *r, char buf[COLUMN_TEXT])
{
	const struct vfctl_vf_attrs *a = r->vf ? &r->vf->attrs : NULL;

	if (!a)
		return pf_identity(r->pf, buf);
	if (a->mask & VFCTL_ATTR_PORT_GUID)
		return a->port_guid ? vfctl_guid_format(a->port_guid, buf) : "no GUID";
	return a->mask & VFCTL_ATTR_MAC ? vfctl_mac_format(&a->mac, buf) : "";
}

static const char *text_policy(const struct column_row *r, char buf[COLUMN_TEXT])
{
	char value[VFCTL_ATTR_TEXT];
	struct vfctl_vf_attrs a = {0};
	const char *key;
	size_t i = 0, len = 0;

	if (r->vf)
		a = r->vf->attrs;
	a.mask &= ~(vfctl_vf_attrs_default(&a) | VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS);
	buf[0] = '\0';
	while (len < COLUMN_TEXT && vfctl_vf_attrs_next(&a, &i, &key, value))
		len += (size_t)snprintf(buf + len, COLUMN_TEXT - len, "%s%s=%s", len ? " " : "",
			key, value);
	return buf;
}

bool vf_has_guest(const struct vfctl_vf *vf)
{
	return vf->lease.name[0] || vf->holder.kind == VFCTL_HOLDER_DOMAIN;
}

static const char *text_exposed(const struct column_row *r, char buf[COLUMN_TEXT])
{
	unsigned exposure = 0;
	size_t len = 0;

	if (r->ctx && r->vf && vf_has_guest(r->vf))
		exposure = vfctl_vf_exposure(r->ctx, r->pf, r->vf, NULL);
	buf[0] = '\0';
	for (unsigned bit = 1; bit <= VFCTL_EXPOSED_RESET; bit <<= 1)
		if (exposure & bit)
			len += (size_t)snprintf(buf + len, COLUMN_TEXT - len, "%s%s", len ? "," : "",
				vfctl_exposure_name(bit));
	return buf;
}

static const char *text_lease(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->lease.name : "";
}

static const char *text_holder(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? holder_text(r->vf, buf) : "";
}

static const char *text_defined_in(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->defined_in : "";
}

/* Legacy mode is the default and is not shown. */
static const char *text_eswitch(const struct column_row *r, char buf[COLUMN_TEXT])
{
	bool told = r->pf->eswitch == VFCTL_ESWITCH_SWITCHDEV || r->pf->eswitch == VFCTL_ESWITCH_INACTIVE;

	return told ? vfctl_eswitch_name(r->pf->eswitch) : "";
}

static const char *text_bond(const struct column_row *r, char buf[COLUMN_TEXT])
{
	if (!r->pf->bond[0])
		return "";
	snprintf(buf, COLUMN_TEXT, "%s%s%s", r->pf->bond, r->pf->lag ? ", VF-LAG " : "",
		r->pf->lag ? vfctl_lag_name(r->pf->lag) : "");
	return buf;
}

static const char *text_representor(const struct column_row *r, char buf[COLUMN_TEXT])
{
	return r->vf ? r->vf->representor : "";
}

/*
 * These columns are dropped first if the width is not sufficient: a VF's node is that of its PF,
 * and show has its group.
 */
static const struct column table[] = {
	{"pf", "name of the PF", text_pf, false, OUT_STAYS},
	{"pf-address", "PCI address of the PF", text_pf_address, false, OUT_STAYS},
	{"vf", "the VF as PF/INDEX", text_vf, true, OUT_STAYS},
	{"index", "number of the VF", text_index, true, OUT_STAYS},
	{"address", "PCI address", text_address, true, OUT_LATE + 1},
	{"driver", "driver that is bound", text_driver, false, OUT_LATE},
	{"node", "NUMA node", text_node, false, 2},
	{"group", "IOMMU group", text_group, true, 1},
	{"netdev", "network device on this host", text_netdev, true, OUT_STAYS},
	{"rdma", "RDMA device on this host", text_rdma, true, OUT_STAYS},
	{"vfs", "VFs the PF has / can have", text_vfs, false, OUT_STAYS},
	{"link", "link of the PF", text_link, false, OUT_WRAPS},
	{"eswitch", "mode of the PF's switch, if it is not legacy", text_eswitch, false, OUT_IF_SAID},
	{"bond", "bond of the PF, and whether its VFs use it as well", text_bond, false,
		OUT_WRAPS},
	{"representor", "network device that represents the VF in switchdev mode", text_representor, true,
		OUT_STAYS},
	{"identity", "MAC or, of InfiniBand, port GUID", text_identity, true, OUT_STAYS},
	{"policy", "attributes that are not at their defaults", text_policy, false, OUT_WRAPS_SOON},
	{"exposed", "why it is not isolated although a guest uses it: group, acs, reset", text_exposed,
		true, OUT_IF_SAID},
	{"lease", "domain that it is leased to", text_lease, false, OUT_WRAPS},
	{"holder", "present user: domain, vfio, process, netns, host, vdpa, or free; to be cleaned",
		text_holder, false, OUT_WRAPS},
	{"defined-in", "domains that are off and have the VF in their definition", text_defined_in,
		false, OUT_STAYS},
};

/* After the columns of the table, there is one for each attribute that the kernel reports. */
static struct column attr_column(size_t index)
{
	const struct vfctl_vf_attr_info *info;

	/* The kernel does not report vectors together with the others. */
	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (info->bit != VFCTL_ATTR_MSIX && !index--)
			break;
	if (!info)
		return (struct column){0};
	return (struct column){.name = info->key, .help = info->help,
		.own = info->bit & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS), .give = OUT_STAYS};
}

const char *column_text(const struct column *c, const struct column_row *r, char buf[COLUMN_TEXT])
{
	const struct vfctl_vf_attr_info *info;

	if (c->text)
		return c->text(r, buf);
	for (size_t i = 0; r->vf && (info = vfctl_vf_attr_info(i)); i++)
		if (strcmp(info->key, c->name) == 0)
			return vfctl_vf_attr_text(&r->vf->attrs, info->bit, buf) ? buf : "";
	return "";
}

/* A column of the table or, after those, of an attribute; without a name past the last one. */
static struct column column_at(size_t index)
{
	return index < ARRAY_SIZE(table) ? table[index] : attr_column(index - ARRAY_SIZE(table));
}

struct column column_find(const char *name)
{
	struct column column;

	for (size_t i = 0; (column = column_at(i)).name; i++)
		if (strcasecmp(column.name, name) == 0)
			break;
	return column;
}

void columns_add_default(struct columns *columns, bool of_pfs)
{
	static const char *const pf_names[] = {"pf", "address", "driver", "node", "vfs", "link", "eswitch",
		"bond", NULL};
	static const char *const vf_names[] = {"vf", "address", "driver", "node", "group", "identity",
		"policy", "exposed", "lease", "holder", NULL};

	for (const char *const *name = of_pfs ? pf_names : vf_names; *name; name++)
		columns->v[columns->count++] = column_find(*name);
}

bool column_term(size_t at, const char **ret_name, const char **ret_help)
{
	const struct column column = column_at(at);

	if (!column.name)
		return false;
	*ret_name = column.name;
	*ret_help = column.help;
	return true;
}
