// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that run, but slower than they could: what they know of where their devices are. */
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

/* The cells that are on the host's node: how many, and the first. */
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

/*
 * Where no cell is on the device's node, or all are, there is nothing that the guest should know;
 * where the memory's nodes are not stated neither.
 */
static bool look_at_node(struct exam *e, const struct guest *g, const struct vfctl_domain_device *d)
{
	const struct vfctl_domain_controller *bus = controller_of(g->parsed, d->guest.bus);
	const struct vfctl_vf *vf = vf_at(e, &d->source, NULL);
	int node = vf ? vf->numa_node : pci_read_int(e->ctx, &d->source, "numa_node", -1);
	int cell = bus ? bus->cell : -1;
	size_t want = 0, count = node < 0 || !d->has_guest ? 0 : cells_on(g->parsed, node, &want);
	char where[48] = "beneath no expander bus";

	if (!count || count == g->parsed->cell_count)
		return false;
	if (cell >= 0 && (size_t)cell < g->parsed->cell_count && cell_is_on(&g->parsed->cells[cell], node))
		return false;
	if (cell >= 0)
		snprintf(where, sizeof(where), "beneath the expander bus of its cell %d", cell);
	set_remedy(e, found(e, g->name, "%s is on node %d of the host, where the guest's cell %zu is, and "
		"in the guest %s (numa_node %d)", TEXT(&d->source), node, want, where, cell),
		"a <controller model='pcie-expander-bus'> with <node>%zu</node>, and a pcie-root-port on it "
		"for the device; vfctl define writes both for the VFs of guest.yaml", want);
	return true;
}

static void look_at_nodes(struct exam *e, const struct guest *g, void *data)
{
	for (size_t i = 0; g->parsed->cell_count > 1 && i < g->parsed->device_count; i++)
		if (look_at_node(e, g, &g->parsed->devices[i]))
			return;
}

static void check_guest_node(struct exam *e)
{
	each_guest(e, look_at_nodes, NULL);
}

/* ---- GPUs and the cards beside them ---- */

enum part { PART_OTHER, PART_GPU, PART_NET };

/* Cards that can do RDMA: others have nothing to say to a GPU. */
static enum part part_of(struct exam *e, const struct vfctl_bdf *bdf)
{
	const struct vfctl_pf *pf = NULL;
	uint32_t class;

	if (vf_at(e, bdf, &pf))
		return pf->class_code >> 16 == 0x02 && (pf->rdma[0] || pf->infiniband) ? PART_NET :
			pf->class_code >> 16 == 0x03 || pf->class_code >> 16 == 0x12 ? PART_GPU : PART_OTHER;
	class = pci_read_hex(e->ctx, bdf, "class");
	if (class >> 16 == 0x03 || class >> 16 == 0x12)
		return PART_GPU;
	return class >> 8 == 0x0207 || (class >> 16 == 0x02 && pci_read_hex(e->ctx, bdf, "vendor") == 0x15b3)
		? PART_NET : PART_OTHER;
}

/* A GPU and a card of one guest that are below one switch of the host. */
struct pair {
	const struct vfctl_domain_device *gpu, *net;
	struct vfctl_bdf top;	   /* the switch's upstream port */
	struct vfctl_bdf ports[2]; /* its downstream ports above both; alike: they share one */
};

/* Below a root port alone they meet in the root complex: the path has a port more in common. */
static bool share_switch(struct exam *e, struct pair *p)
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

static void each_pair(struct exam *e, const struct guest *g,
	bool (*look)(struct exam *e, const struct guest *g, const struct pair *p))
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

/* The guest's switch that @bus is below; NULL: none. */
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

/* A switch below a switch has the first one above it, too; one level is what guests are given. */
static bool look_at_pair(struct exam *e, const struct guest *g, const struct pair *p)
{
	const struct vfctl_domain_controller *a, *b;

	if (!p->gpu->has_guest || !p->net->has_guest)
		return false;
	a = switch_above(g->parsed, p->gpu->guest.bus);
	b = switch_above(g->parsed, p->net->guest.bus);
	if (a && a == b)
		return false;
	found(e, g->name, "on the host %s and %s are below one PCIe switch (%s); in the guest, on the buses "
		"%u and %u, they are not", TEXT(&p->gpu->source), TEXT(&p->net->source), TEXT(&p->top),
		p->gpu->guest.bus, p->net->guest.bus);
	return true;
}

static void look_at_gpus(struct exam *e, const struct guest *g, void *data)
{
	each_pair(e, g, look_at_pair);
}

static void check_guest_gpu(struct exam *e)
{
	each_guest(e, look_at_gpus, NULL);
}

/* ---- their way past the root complex ---- */

/* Where whoever is not root gets 64 bytes, nothing is known. */
static bool read_config(struct exam *e, const struct vfctl_bdf *bdf, struct buf *ret)
{
	return host_try_bytes(e->ctx, ret, PCI_SYSFS "%s/config", TEXT(bdf)) == 0 && ret->len > 0x100;
}

enum detour { DETOUR_NONE, DETOUR_UNKNOWN, DETOUR_ALWAYS, DETOUR_UNLESS_TRANSLATED };

/*
 * A port that redirects requests sends them up to the root complex, those with translated addresses
 * too, unless Direct Translated P2P is on (PCI Express, 7.7.11.3).
 */
static enum detour detour_at(struct exam *e, const struct vfctl_bdf *port)
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

static bool translates(struct exam *e, const struct vfctl_bdf *bdf, bool *ret_known)
{
	_buf_ struct buf config = {0};

	*ret_known = read_config(e, bdf, &config);
	return *ret_known &&
		config_extended((const uint8_t *)config.data, config.len, PCI_EXT_CAP_ID_ATS);
}

/* With ACS off between them they are fast, and not kept apart: vfs-apart speaks of that. */
static bool look_at_detour(struct exam *e, const struct guest *g, const struct pair *p)
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
				"bit 6 of its ACS control on (where the switch has it), at each boot before "
				"guests start: setpci -s %s ECAP_ACS+6.w=40:40; the card needs ATS for it",
				TEXT(&p->ports[i]));
			return true;
		}
		known &= detour != DETOUR_UNKNOWN;
		if (detour != DETOUR_UNLESS_TRANSLATED || translates(e, &p->net->source, &known) || !known)
			continue;
		set_remedy(e, found(e, g->name, "%s has no ATS capability, and the port %s redirects what is "
			"not translated", TEXT(&p->net->source), TEXT(&p->ports[i])),
			"ATS on in the card's firmware (of NVIDIA: mlxconfig -d ADDRESS set ATS_ENABLED=1), "
			"then a cold boot");
		return true;
	}
	if (!known)
		unknown(e, "the ACS and ATS of %s and %s: only root may read them", TEXT(&p->gpu->source),
			TEXT(&p->net->source));
	return !known;
}

static void look_at_detours(struct exam *e, const struct guest *g, void *data)
{
	each_pair(e, g, look_at_detour);
}

static void check_gpu_acs(struct exam *e)
{
	each_guest(e, look_at_detours, NULL);
}

/* ---- interrupt vectors ---- */

/* A read of the whole configuration space takes a millisecond on real buses. */
#define READS_MAX 64

struct vectors {
	unsigned reads;
	int *totals; /* of each PF of the inventory; below 0: see total_of() */
};

#define TOTAL_UNREAD (-1)
#define TOTAL_HANGS (-2)

/*
 * What a PF has for its VFs; 0: it has no such file, TOTAL_HANGS: whoever reads it waits for a process
 * that has the PF's lock. Once for each PF.
 */
static int total_of(struct exam *e, const struct vfctl_pf *pf, struct vectors *v)
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
		unknown(e, "sriov_vf_total_msix of %s: a process that hangs in the kernel keeps it from "
			"being read", TEXT(&pf->bdf));
		*total = TOTAL_HANGS;
	} else if (r < 0 || parse_int(text, 0, INT32_MAX, total) < 0) {
		*total = 0;
	}
	return *total;
}

/* The size of its MSI-X table; 0: it has none, or it cannot be read. */
static unsigned vectors_of(struct exam *e, const struct vfctl_bdf *bdf, struct vectors *v)
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

/* By what keeps it: a lease, for whose guest the hook sets it; else the VF itself. */
static void tell_vectors(struct exam *e, const struct guest *g, const struct vfctl_vf *vf, const char *title,
	unsigned want, struct vfctl_ailment *a)
{
	if (vf->lease.name[0])
		set_remedy(e, a, "vfctl set %s msix=%u --config (msix: in its file keeps it), then a new "
			"start of the guest", title, want);
	else
		set_remedy(e, a, "while %s is off: vfctl adopt leases the VF to it, then vfctl set %s "
			"msix=%u --config", g->name, title, want);
}

/* One for what the card has to say, and one for the queues of each vCPU (mlx5, ice). */
static void look_at_vectors(struct exam *e, const struct guest *g, void *data)
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
		/* It gets them when it starts. */
		if (total < (int)want || (intent && intent->mask & VFCTL_ATTR_MSIX && intent->msix >= want))
			continue;
		have = vectors_of(e, &vf->bdf, data);
		/* The card shares them out: the others have as many, and keep them. */
		if (!have || have >= want || (uint64_t)have * (pf->num_vfs - 1) + want > (uint64_t)total)
			continue;
		vf_title(pf, vf, title);
		tell_vectors(e, g, vf, title, want, found(e, title, "the VF has %u MSI-X vectors, the guest "
			"%s has %u vCPUs; sriov_vf_total_msix of %s is %d, for %u VFs", have, g->name,
			g->parsed->vcpus, TEXT(&pf->bdf), total, pf->num_vfs));
	}
}

static void check_vectors(struct exam *e)
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
		unknown(e, "the vectors of %u VFs: %d were looked at", v.reads - READS_MAX, READS_MAX);
}

const struct check place_checks[] = {
	{"guest-node", VFCTL_WARNING, "a guest does not know on which of its nodes a device is, and "
		"puts buffers and interrupts on the wrong one", "without an expander bus of that node the "
		"guest's firmware says no node", "a pcie-expander-bus", check_guest_node},
	{"guest-gpu", VFCTL_WARNING, "GPUDirect goes through the host bridge, or not at all: the guest does "
		"not see that its GPU and its card are below one switch", "in the guest each is on a root "
		"port of its own", "in the domain's XML one <controller model='pcie-switch-upstream-port'> "
		"with a pcie-switch-downstream-port for each of the two; or tell NCCL of the guest by "
		"NCCL_TOPO_FILE", check_guest_gpu},
	{"gpu-acs", VFCTL_WARNING, "GPUDirect of a guest goes up to the root complex and back",
		"with guests ACS must stay on, and then a switch lets only translated requests pass straight",
		"ATS and Direct Translated P2P", check_gpu_acs},
	{"vf-vectors", VFCTL_NOTE, "a guest's VF has fewer interrupt vectors than the guest has vCPUs: some "
		"share a queue", NULL, "vfctl set VF msix=N", check_vectors},
	{.name = NULL},
};
