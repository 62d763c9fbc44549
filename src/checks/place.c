// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that run slower than they could, because they do not know where their devices are. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>

#include "base/parse.h"
#include "checks/guest.h"
#include "host/host.h"
#include "pci/config.h"
#include "pci/device.h"

/* ---- the guest's nodes ---- */

static bool cell_is_on(const struct vfctl_domain_cell *cell, int node)
{
	return vfctl_cpuset_has(&cell->memory_nodes, (unsigned)node);
}

static const struct vfctl_domain_controller *controller_of(const struct vfctl_parsed_domain *parsed,
	uint32_t bus)
{
	for (size_t i = 0; i < parsed->controller_count; i++)
		if (parsed->controllers[i].index == bus)
			return &parsed->controllers[i];
	return NULL;
}

/* The number of cells on the host's node, and the first of them. */
static size_t cells_on(const struct vfctl_parsed_domain *parsed, int node, size_t *ret_first)
{
	size_t count = 0;

	for (size_t i = parsed->cell_count; i-- > 0;)
		if (cell_is_on(&parsed->cells[i], node)) {
			*ret_first = i;
			count++;
		}
	return count;
}

/* i440fx has no PCI Express: its expanders and their devices are of conventional PCI. */
static bool is_i440fx(const struct vfctl_parsed_domain *parsed)
{
	for (size_t i = 0; i < parsed->controller_count; i++)
		if (str_eq(parsed->controllers[i].model, "pci-root") ||
			str_eq(parsed->controllers[i].model, "pci-expander-bus"))
			return true;
	return false;
}

static void remedy_of_node(struct check_ctx *e, struct vfctl_issue *issue, const struct guest *g,
	size_t cell)
{
	if (is_i440fx(g->parsed))
		set_remedy(e, issue, "a <controller model='pci-expander-bus'> with <node>%zu</node>, and the "
			"device on its bus", cell);
	else
		set_remedy(e, issue, "a <controller model='pcie-expander-bus'> with <node>%zu</node>, and a "
			"pcie-root-port on it for the device; vfctl define writes both for the VFs of "
			"guest.yaml", cell);
}

/*
 * If none or all of the cells are on the device's node, the guest need not know the node; nor if
 * the memory's nodes are not stated.
 */
static bool look_at_node(struct check_ctx *e, const struct guest *g,
	const struct vfctl_domain_device *d)
{
	const struct vfctl_domain_controller *bus = controller_of(g->parsed, d->guest.bus);
	const struct vfctl_vf *vf = vf_at(e, &d->source, NULL);
	int node = vf ? vf->numa_node : pci_read_int(e->ctx, &d->source, "numa_node", -1);
	int cell = bus ? bus->cell : -1;
	size_t want = 0, count = node < 0 || !d->has_guest ? 0 : cells_on(g->parsed, node, &want);
	char where[48] = "not beneath an expander bus";
	struct vfctl_issue *issue;

	if (!count || count == g->parsed->cell_count)
		return false;
	if (cell >= 0 && (size_t)cell < g->parsed->cell_count && cell_is_on(&g->parsed->cells[cell], node))
		return false;
	if (cell >= 0)
		snprintf(where, sizeof(where), "beneath the expander bus of its cell %d", cell);
	issue = found(e, g->name, "%s is on node %d of the host, where the guest's cell %zu is, and in "
		"the guest %s (numa_node %d)", TEXT(&d->source), node, want, where, cell);
	remedy_of_node(e, issue, g, want);
	return true;
}

static void look_at_nodes(struct check_ctx *e, const struct guest *g, void *data)
{
	for (size_t i = 0; g->parsed->cell_count > 1 && i < g->parsed->device_count; i++)
		if (look_at_node(e, g, &g->parsed->devices[i]))
			return;
}

static void check_guest_node(struct check_ctx *e)
{
	each_guest(e, look_at_nodes, NULL);
}

/* ---- GPUs and the cards beside them ---- */

enum part { PART_OTHER, PART_GPU, PART_NET };

/* Only cards with RDMA matter here: others do not exchange data with a GPU. */
static enum part part_of(struct check_ctx *e, const struct vfctl_bdf *bdf)
{
	const struct vfctl_pf *pf = NULL;
	uint32_t class;

	if (vf_at(e, bdf, &pf))
		return pf->class_code >> 16 == 0x02 && (pf->rdma[0] || pf->infiniband) ? PART_NET :
			pf->class_code >> 16 == 0x03 || pf->class_code >> 16 == 0x12 ? PART_GPU : PART_OTHER;
	class = pci_read_hex(e->ctx, bdf, "class");
	if (class >> 16 == 0x03 || class >> 16 == 0x12)
		return PART_GPU;
	return class >> 8 == 0x0207 || (class >> 16 == 0x02 && pci_read_hex(e->ctx, bdf,
		"vendor") == 0x15b3)
		? PART_NET : PART_OTHER;
}

/* A GPU and a card of one guest below the same switch of the host. */
struct pair {
	const struct vfctl_domain_device *gpu, *net;
	struct vfctl_bdf top;	   /* the switch's upstream port */
	struct vfctl_bdf ports[2]; /* its downstream ports above the two; equal if they share one */
};

/*
 * Below a common root port without a switch, traffic passes the root complex: the paths have one
 * more port in common.
 */
static bool share_switch(struct check_ctx *e, struct pair *p)
{
	struct vfctl_bdf a[PCI_PATH_MAX], b[PCI_PATH_MAX];
	size_t na = pci_path(e->ctx, &p->gpu->source, a), nb = pci_path(e->ctx, &p->net->source, b);
	size_t common = 0;

	while (common + 1 < na && common + 1 < nb && vfctl_bdf_compare(&a[common], &b[common]) == 0)
		common++;
	if (common < 2)
		return false;
	p->top = a[common - 1];
	p->ports[0] = a[common];
	p->ports[1] = b[common];
	return true;
}

static void each_pair(struct check_ctx *e, const struct guest *g,
	bool (*look)(struct check_ctx *e, const struct guest *g, const struct pair *p))
{
	const struct vfctl_parsed_domain *v = g->parsed;
	_free_ enum part *parts = v->device_count > 1 ? calloc(v->device_count, sizeof(*parts)) : NULL;
	size_t gpus = 0;

	if (!parts)
		return;
	for (size_t i = 0; i < v->device_count; i++)
		gpus += (parts[i] = part_of(e, &v->devices[i].source)) == PART_GPU;
	for (size_t n = 0; gpus && n < v->device_count; n++)
		for (size_t i = 0; parts[n] == PART_NET && i < v->device_count; i++) {
			struct pair p = {.gpu = &v->devices[i], .net = &v->devices[n]};

			if (parts[i] == PART_GPU && share_switch(e, &p) && look(e, g, &p))
				return;
		}
}

/* The guest's switch above @bus; NULL: none. */
static const struct vfctl_domain_controller *switch_above(const struct vfctl_parsed_domain *parsed,
	uint32_t bus)
{
	const struct vfctl_domain_controller *c = controller_of(parsed, bus);

	for (size_t i = 0; c && c->index && i < parsed->controller_count; i++) {
		if (str_eq(c->model, "pcie-switch-upstream-port"))
			return c;
		c = controller_of(parsed, c->parent);
	}
	return NULL;
}

/* For a switch below a switch this finds the first one; guests usually have one level. */
static bool look_at_pair(struct check_ctx *e, const struct guest *g, const struct pair *p)
{
	const struct vfctl_domain_controller *a, *b;

	if (!p->gpu->has_guest || !p->net->has_guest)
		return false;
	a = switch_above(g->parsed, p->gpu->guest.bus);
	b = switch_above(g->parsed, p->net->guest.bus);
	if (a && a == b)
		return false;
	found(e, g->name, "on the host %s and %s are below one PCIe switch (%s); in the guest, on buses "
		"%u and %u, they are not", TEXT(&p->gpu->source), TEXT(&p->net->source), TEXT(&p->top),
		p->gpu->guest.bus, p->net->guest.bus);
	return true;
}

static void look_at_gpus(struct check_ctx *e, const struct guest *g, void *data)
{
	each_pair(e, g, look_at_pair);
}

static void check_guest_gpu(struct check_ctx *e)
{
	each_guest(e, look_at_gpus, NULL);
}

/* ---- the path between them ---- */

/* A process without root privileges can read only 64 bytes, so nothing is known. */
static bool read_config(struct check_ctx *e, const struct vfctl_bdf *bdf, struct buf *ret)
{
	return host_try_bytes(e->ctx, ret, PCI_SYSFS "%s/config", TEXT(bdf)) == 0 && ret->len > 0x100;
}

enum detour { DETOUR_NONE, DETOUR_UNKNOWN, DETOUR_ALWAYS, DETOUR_UNLESS_TRANSLATED };

/*
 * A port that redirects requests sends them up to the root complex, those with translated addresses
 * too, unless Direct Translated P2P is on (PCI Express, 7.7.11.3).
 */
static enum detour detour_at(struct check_ctx *e, const struct vfctl_bdf *port)
{
	_buf_ struct buf config = {0};
	unsigned control;
	size_t at;

	if (!read_config(e, port, &config))
		return DETOUR_UNKNOWN;
	at = config_extended((const uint8_t *)config.data, config.len, PCI_EXT_CAP_ID_ACS);
	control = at ? config_u16((const uint8_t *)config.data, at + PCI_ACS_CTRL) : 0;
	if (!(control & PCI_ACS_RR))
		return DETOUR_NONE;
	return control & PCI_ACS_DT ? DETOUR_UNLESS_TRANSLATED : DETOUR_ALWAYS;
}

static bool translates(struct check_ctx *e, const struct vfctl_bdf *bdf, bool *ret_known)
{
	_buf_ struct buf config = {0};

	*ret_known = read_config(e, bdf, &config);
	return *ret_known &&
		config_extended((const uint8_t *)config.data, config.len, PCI_EXT_CAP_ID_ATS);
}

/* With ACS off, traffic between them is fast but not isolated; the check vfs-apart reports that. */
static bool look_at_detour(struct check_ctx *e, const struct guest *g, const struct pair *p)
{
	bool known = true;

	if (vfctl_bdf_compare(&p->ports[0], &p->ports[1]) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(p->ports); i++) {
		enum detour detour = detour_at(e, &p->ports[i]);

		if (detour == DETOUR_ALWAYS) {
			set_remedy(e, found(e, g->name, "the port %s, between %s and %s, has ACS Request "
				"Redirect on and Direct Translated P2P off", TEXT(&p->ports[i]),
				TEXT(&p->gpu->source), TEXT(&p->net->source)),
				"at each boot, before guests start, set bit 6 of its ACS control if the "
				"switch supports it: setpci -s %s ECAP_ACS+6.w=40:40 (the card needs "
				"ATS for this)",
				TEXT(&p->ports[i]));
			return true;
		}
		known &= detour != DETOUR_UNKNOWN;
		if (detour != DETOUR_UNLESS_TRANSLATED || translates(e, &p->net->source, &known) || !known)
			continue;
		set_remedy(e, found(e, g->name, "%s has no ATS capability, and the port %s redirects what is "
			"not translated", TEXT(&p->net->source), TEXT(&p->ports[i])),
			"enable ATS in the card's firmware (NVIDIA: mlxconfig -d ADDRESS set "
			"ATS_ENABLED=1), then power the host off and on");
		return true;
	}
	if (!known)
		unknown(e, "ACS and ATS of %s and %s are unknown: only root may read "
			"them", TEXT(&p->gpu->source),
			TEXT(&p->net->source));
	return !known;
}

static void look_at_detours(struct check_ctx *e, const struct guest *g, void *data)
{
	each_pair(e, g, look_at_detour);
}

static void check_gpu_acs(struct check_ctx *e)
{
	each_guest(e, look_at_detours, NULL);
}

/* ---- interrupt vectors ---- */

/* Reading the whole configuration space takes a millisecond on real hardware. */
#define READS_MAX 64

struct vectors {
	unsigned reads;
	int *totals; /* for each PF of the inventory; negative: see total_of() */
};

#define TOTAL_UNREAD (-1)
#define TOTAL_HANGS (-2)

/*
 * The vectors that a PF has for its VFs; 0: it has no such file; TOTAL_HANGS: a read of the file
 * blocks on a process that holds the lock of the PF. Read once for each PF.
 */
static int total_of(struct check_ctx *e, const struct vfctl_pf *pf, struct vectors *v)
{
	int *total = &v->totals[pf - e->snapshot->inventory->pfs];
	_free_ char *text = NULL;
	int r;

	if (*total != TOTAL_UNREAD)
		return *total;
	*total = 0;
	if (!pci_has(e->ctx, &pf->bdf, "sriov_vf_total_msix"))
		return 0;
	r = host_try_read_slow(e->ctx, &text, PCI_SYSFS "%s/sriov_vf_total_msix", TEXT(&pf->bdf));
	if (r == -ETIMEDOUT) {
		unknown(e, "sriov_vf_total_msix of %s cannot be read: a process that hangs in the "
			"kernel holds its lock", TEXT(&pf->bdf));
		*total = TOTAL_HANGS;
	} else if (r < 0 || parse_int(text, 0, INT32_MAX, total) < 0) {
		*total = 0;
	}
	return *total;
}

/* The size of its MSI-X table; 0: it has none, or it cannot be read. */
static unsigned vectors_of(struct check_ctx *e, const struct vfctl_bdf *bdf, struct vectors *v)
{
	_buf_ struct buf config = {0};
	size_t at;

	if (v->reads++ >= READS_MAX ||
		host_try_bytes(e->ctx, &config, PCI_SYSFS "%s/config", TEXT(bdf)) < 0 ||
		config.len <= PCI_CAPABILITY_LIST)
		return 0;
	at = config_capability((const uint8_t *)config.data, config.len, PCI_CAP_ID_MSIX);
	return !at ? 0 : (config_u16((const uint8_t *)config.data, at + PCI_MSIX_FLAGS) &
		PCI_MSIX_FLAGS_QSIZE) + 1;
}

/*
 * The remedy depends on where the count is stored: in a lease, from which the hook sets it, or only
 * in the VF itself.
 */
static void tell_vectors(struct check_ctx *e, const struct guest *g, const struct vfctl_vf *vf,
	const char *title,
	unsigned want, struct vfctl_issue *a)
{
	if (vf->lease.name[0])
		set_remedy(e, a, "vfctl set %s msix=%u --config (write msix: into its file to keep it), "
			"then restart the guest", title, want);
	else
		set_remedy(e, a, "while %s is off, lease the VF to it, then set it: vfctl adopt %s; "
			"vfctl set %s msix=%u --config", g->name, g->name, title, want);
}

/* One vector for messages of the card, and one for the queues of each vCPU (mlx5, ice). */
static void look_at_vectors(struct check_ctx *e, const struct guest *g, void *data)
{
	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_pf *pf = NULL;
		const struct vfctl_vf *vf = vf_at(e, &g->parsed->devices[i].source, &pf);
		unsigned want = g->parsed->vcpus + 1, have;
		const struct vfctl_vf_attrs *intent;
		char title[VF_TITLE];
		int total;

		total = vf ? total_of(e, pf, data) : 0;
		intent = vf ? vf_intent(e, vf) : NULL;
		/* The guest gets them when it starts. */
		if (total < (int)want || (intent && intent->mask & VFCTL_ATTR_MSIX && intent->msix >= want))
			continue;
		have = vectors_of(e, &vf->bdf, data);
		/* The card divides its vectors: the other VFs have as many, and keep them. */
		if (!have || have >= want || (uint64_t)have * (pf->num_vfs - 1) + want > (uint64_t)total)
			continue;
		vf_title(pf, vf, title);
		tell_vectors(e, g, vf, title, want, found(e, title, "the VF has %u MSI-X vectors, the guest "
			"%s has %u vCPUs; sriov_vf_total_msix of %s is %d, for %u VFs", have, g->name,
			g->parsed->vcpus, TEXT(&pf->bdf), total, pf->num_vfs));
	}
}

static void check_vectors(struct check_ctx *e)
{
	size_t count = e->snapshot->inventory->pf_count;
	_free_ int *totals = calloc(count + 1, sizeof(*totals));
	struct vectors v = {.totals = totals};

	if (!totals) {
		e->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		totals[i] = TOTAL_UNREAD;
	each_guest(e, look_at_vectors, &v);
	if (v.reads > READS_MAX)
		unknown(e, "the vectors of %u VFs were not checked, beyond the first "
			"%d", v.reads - READS_MAX, READS_MAX);
}

const struct check place_checks[] = {
	{"guest-node", VFCTL_WARNING, "a guest does not know the NUMA node of a device and puts buffers "
		"and interrupts on the wrong node", "without an expander bus for that node, the guest's "
		"firmware reports no node", "a pcie-expander-bus", check_guest_node},
	{"guest-gpu", VFCTL_WARNING, "GPUDirect goes through the host bridge or does not work: the "
		"guest does not see that its GPU and its card are below one PCIe switch", "in the "
		"guest, each is on its own root port", "add <controller "
		"model='pcie-switch-upstream-port'> and a pcie-switch-downstream-port for each device "
		"to the domain XML, or set NCCL_TOPO_FILE in the guest", check_guest_gpu},
	{"gpu-acs", VFCTL_WARNING, "GPUDirect traffic of a guest goes through the root complex",
		"guests need ACS, and with ACS a switch forwards only translated requests directly",
		"enable ATS and Direct Translated P2P", check_gpu_acs},
	{"vf-vectors", VFCTL_NOTE, "a guest's VF has fewer interrupt vectors than the guest has vCPUs: "
		"some vCPUs share a queue", NULL, "vfctl set VF msix=N", check_vectors},
	{.name = NULL},
};
