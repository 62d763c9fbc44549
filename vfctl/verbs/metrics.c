// SPDX-License-Identifier: GPL-2.0-or-later
/* metrics: the host's PFs, VFs, leases, pools and health as OpenMetrics text, for node_exporter. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "host/files.h"
#include "host_ids.h"
#include "ids/pools.h"
#include "lease/clean.h"
#include "monitor/doctor.h"
#include "sriov/reporters.h"
#include "vfs/apply.h"

struct view {
	struct vfctl_ctx *ctx;
	struct vfctl_snapshot *snapshot;
	struct host_ids host;
	struct vfctl_declared *declared;
	struct vfctl_doctor_report *report;
	FILE *file;
};

static void clear_view(struct view *v)
{
	vfctl_doctor_report_free(v->report);
	vfctl_declared_free(v->declared);
	vfctl_snapshot_free(v->snapshot);
	host_ids_close(&v->host);
}

/* ---- the format ---- */

/* Label values escape backslash, quote and newline (OpenMetrics 1.0, 3.2.2). */
static void put_label(FILE *f, const char *name, const char *value, char before)
{
	fprintf(f, "%c%s=\"", before, name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fputc('\\', f);
		if (*value == '\n')
			fputs("\\n", f);
		else
			fputc((unsigned char)*value < ' ' ? '?' : *value, f);
	}
	fputc('"', f);
}

static void head(struct view *v, const char *name, const char *type, const char *help)
{
	fprintf(v->file, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* ---- PFs ---- */

struct pf_metric {
	const char *name, *type, *suffix, *help;
	/* false: it is not known */
	bool (*value)(const struct vfctl_pf *pf, const struct vfctl_pf_health *health, double *ret);
};

static uint32_t count_vfs(const struct vfctl_pf *pf, bool (*is)(const struct vfctl_vf *vf))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		n += is(&pf->vfs[i]);
	return n;
}

static bool is_leased(const struct vfctl_vf *vf)
{
	return vf->lease.name[0];
}

static bool is_used(const struct vfctl_vf *vf)
{
	return vf->holder.kind != VFCTL_HOLDER_NONE;
}

static bool is_to_clean(const struct vfctl_vf *vf)
{
	return vf->to_clean;
}

#define METRIC(name, expression, is_known) \
	static bool name(const struct vfctl_pf *pf, const struct vfctl_pf_health *health, double *ret) \
	{ \
		*ret = (double)(expression); \
		return is_known; \
	}

METRIC(pf_up, pf->up, pf->netdev[0])
METRIC(pf_carrier, pf->carrier, pf->netdev[0])
METRIC(pf_speed, pf->speed_mbps * 1e6, pf->speed_mbps)
METRIC(pf_vfs, pf->num_vfs, true)
METRIC(pf_vfs_max, pf->total_vfs, true)
METRIC(pf_leased, count_vfs(pf, is_leased), true)
METRIC(pf_used, count_vfs(pf, is_used), true)
METRIC(pf_to_clean, count_vfs(pf, is_to_clean), true)
METRIC(link_speed, health->link_gts * 1e9, health->lanes)
METRIC(link_speed_possible, health->link_gts_possible * 1e9, health->lanes)
METRIC(link_lanes, health->lanes, health->lanes)
METRIC(link_lanes_possible, health->lanes_possible, health->lanes)
METRIC(errors_correctable, health->correctable_errors, health->errors_known)
METRIC(errors_nonfatal, health->nonfatal_errors, health->errors_known)
METRIC(errors_fatal, health->fatal_errors, health->errors_known)
METRIC(rx_errors, health->rx_errors, health->counters_known)
METRIC(tx_errors, health->tx_errors, health->counters_known)
METRIC(rx_missed, health->rx_missed, health->counters_known)
METRIC(link_downs, health->link_downs, health->counters_known)
METRIC(symbol_errors, health->symbol_errors, health->port_known)
METRIC(port_receive_errors, health->port_receive_errors, health->port_known)
METRIC(port_downs, health->port_downs, health->port_known)

static const struct pf_metric pf_metrics[] = {
	{"vfctl_pf_up", "gauge", "", "1: the PF's network device is up.", pf_up},
	{"vfctl_pf_carrier", "gauge", "", "1: the PF has a link.", pf_carrier},
	{"vfctl_pf_speed_bits_per_second", "gauge", "", "Speed of the link.", pf_speed},
	{"vfctl_pf_vfs", "gauge", "", "VFs that exist.", pf_vfs},
	{"vfctl_pf_vfs_max", "gauge", "", "VFs that the driver allows.", pf_vfs_max},
	{"vfctl_pf_vfs_leased", "gauge", "", "VFs that are leased to a domain.", pf_leased},
	{"vfctl_pf_vfs_in_use", "gauge", "", "VFs that are in use.", pf_used},
	{"vfctl_pf_vfs_to_clean", "gauge", "", "VFs to be cleaned before a guest gets them.", pf_to_clean},
	{"vfctl_pf_pcie_transfers_per_second", "gauge", "", "Speed of each lane of the PCIe "
		"link.", link_speed},
	{"vfctl_pf_pcie_transfers_per_second_possible", "gauge", "", "Maximum that both ends support.",
		link_speed_possible},
	{"vfctl_pf_pcie_lanes", "gauge", "", "Lanes of the PCIe link.", link_lanes},
	{"vfctl_pf_pcie_lanes_possible", "gauge", "", "Maximum that both ends support.",
		link_lanes_possible},
	{"vfctl_pf_pcie_correctable_errors", "counter", "_total", "AER errors since boot.",
		errors_correctable},
	{"vfctl_pf_pcie_nonfatal_errors", "counter", "_total", "AER errors since boot.", errors_nonfatal},
	{"vfctl_pf_pcie_fatal_errors", "counter", "_total", "AER errors since boot.", errors_fatal},
	{"vfctl_pf_receive_errors", "counter", "_total", "Receive errors.", rx_errors},
	{"vfctl_pf_transmit_errors", "counter", "_total", "Transmit errors.", tx_errors},
	{"vfctl_pf_receive_missed", "counter", "_total", "Packets dropped because the host was too "
		"slow.", rx_missed},
	{"vfctl_pf_link_downs", "counter", "_total", "Times that the link went down.", link_downs},
	{"vfctl_pf_port_symbol_errors", "counter", "_total", "Counter of port 1 of the RDMA device.",
		symbol_errors},
	{"vfctl_pf_port_receive_errors", "counter", "_total", "Counter of port 1 of the RDMA device.",
		port_receive_errors},
	{"vfctl_pf_port_downs", "counter", "_total", "Counter of port 1 of the RDMA device.", port_downs},
};

static void put_pf(struct view *v, const struct pf_metric *m, const struct vfctl_pf *pf,
	const struct vfctl_pf_health *health)
{
	char name[VFCTL_BDF_TEXT], address[VFCTL_BDF_TEXT];
	double value;

	if (!m->value(pf, health, &value))
		return;
	fprintf(v->file, "%s%s", m->name, m->suffix);
	put_label(v->file, "pf", vfctl_pf_name(pf, name), '{');
	put_label(v->file, "address", vfctl_bdf_format(&pf->bdf, address), ',');
	put_label(v->file, "driver", pf->driver, ',');
	fprintf(v->file, "} %.17g\n", value);
}

/* ---- health reporters of drivers ---- */

struct reporters {
	struct vfctl_pf_reporter *v;
	size_t count;
};

static const struct {
	const char *name, *type, *suffix, *help;
} reporter_metrics[] = {
	{"vfctl_pf_devlink_state", "gauge", "", "1: the health reporter is in the error state."},
	{"vfctl_pf_devlink_errors", "counter", "_total", "Errors that the health reporter counted."},
	{"vfctl_pf_devlink_recoveries", "counter", "_total", "Errors from which the device recovered."},
};

static void put_reporter(struct view *v, size_t metric, const struct vfctl_pf *pf,
	const struct vfctl_pf_reporter *r)
{
	const uint64_t values[] = {r->error, r->errors, r->recoveries};
	char name[VFCTL_BDF_TEXT], address[VFCTL_BDF_TEXT];

	fprintf(v->file, "%s%s", reporter_metrics[metric].name, reporter_metrics[metric].suffix);
	put_label(v->file, "pf", vfctl_pf_name(pf, name), '{');
	put_label(v->file, "address", vfctl_bdf_format(&pf->bdf, address), ',');
	put_label(v->file, "driver", pf->driver, ',');
	put_label(v->file, "reporter", r->name, ',');
	fprintf(v->file, "} %" PRIu64 "\n", values[metric]);
}

static int put_reporters(struct view *v)
{
	const struct vfctl_inventory *inv = v->snapshot->inventory;
	_free_ struct reporters *all = calloc(inv->pf_count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < inv->pf_count; i++)
		vfctl_pf_reporters_read(v->ctx, &inv->pfs[i], &all[i].v, &all[i].count);
	for (size_t k = 0; k < ARRAY_SIZE(reporter_metrics); k++) {
		head(v, reporter_metrics[k].name, reporter_metrics[k].type, reporter_metrics[k].help);
		for (size_t i = 0; i < inv->pf_count; i++)
			for (size_t n = 0; n < all[i].count; n++)
				put_reporter(v, k, &inv->pfs[i], &all[i].v[n]);
	}
	for (size_t i = 0; i < inv->pf_count; i++)
		free(all[i].v);
	return 0;
}

static int put_pfs(struct view *v)
{
	const struct vfctl_inventory *inv = v->snapshot->inventory;
	_free_ struct vfctl_pf_health *health = calloc(inv->pf_count + 1, sizeof(*health));

	if (!health)
		return -ENOMEM;
	for (size_t i = 0; i < inv->pf_count; i++)
		vfctl_pf_health_read(v->ctx, &inv->pfs[i], &health[i]);
	for (size_t k = 0; k < ARRAY_SIZE(pf_metrics); k++) {
		head(v, pf_metrics[k].name, pf_metrics[k].type, pf_metrics[k].help);
		for (size_t i = 0; i < inv->pf_count; i++)
			put_pf(v, &pf_metrics[k], &inv->pfs[i], &health[i]);
	}
	return 0;
}

/* ---- the rest ---- */

static void put_leases(struct view *v)
{
	const struct vfctl_leases *l = v->snapshot->leases;
	size_t running = 0;

	if (!l || v->snapshot->leases_error)
		return;
	for (size_t i = 0; i < l->count; i++)
		running += l->v[i].running;
	head(v, "vfctl_leases", "gauge", "Domains that hold a lease.");
	fprintf(v->file, "vfctl_leases %zu\n", l->count);
	head(v, "vfctl_leases_running", "gauge", "Domains with a lease that run.");
	fprintf(v->file, "vfctl_leases_running %zu\n", running);
}

static void put_pools(struct view *v)
{
	static const char *const states[] = {"size", "leased", "resting", "quarantined"};
	const struct vfctl_host_spec *spec = v->host.spec;

	head(v, "vfctl_pool_values", "gauge", "GUIDs or MACs of a pool, by state.");
	for (size_t i = 0; v->host.ids && i < spec->pool_count; i++) {
		struct vfctl_id_stats s;

		if (vfctl_ids_stats(v->host.ids, &spec->pools[i], &s) < 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(states); k++) {
			const uint64_t values[] = {s.size, s.leased, s.resting, s.quarantined};

			fputs("vfctl_pool_values", v->file);
			put_label(v->file, "pool", spec->pools[i].name, '{');
			put_label(v->file, "state", states[k], ',');
			fprintf(v->file, "} %" PRIu64 "\n", values[k]);
		}
	}
}

static void put_state(struct view *v)
{
	size_t counts[3] = {0}, differ = 0;

	for (size_t i = 0; v->declared && i < v->declared->count; i++)
		differ += v->declared->pfs[i].error || (v->declared->pfs[i].change &&
			vfctl_change_count(v->declared->pfs[i].change));
	if (v->declared) {
		head(v, "vfctl_drift", "gauge", "PFs that differ from host.yaml.");
		fprintf(v->file, "vfctl_drift %zu\n", differ);
	}
	for (size_t i = 0; i < v->report->count; i++)
		counts[v->report->v[i].severity]++;
	head(v, "vfctl_ailments", "gauge", "Issues that vfctl doctor finds.");
	for (int s = VFCTL_NOTE; s <= VFCTL_PROBLEM; s++)
		fprintf(v->file, "vfctl_ailments{severity=\"%s\"} %zu\n",
			vfctl_severity_name((enum vfctl_severity)s), counts[s]);
}

/* ---- the command ---- */

static int put_all(struct view *v)
{
	int r = put_pfs(v);

	if (r == 0)
		r = put_reporters(v);
	put_leases(v);
	put_pools(v);
	put_state(v);
	fputs("# EOF\n", v->file);
	return r;
}

static int look_metrics(struct invocation *in, struct view *v)
{
	const struct vfctl_doctor_options options = {.spec = v->host.spec, .spec_error = v->host.error,
		.spec_text = v->host.message};
	int r = vfctl_snapshot_read(in->ctx, NULL, &v->snapshot);

	if (r == 0)
		vfctl_snapshot_mark_left(in->ctx, v->snapshot, v->host.spec);
	if (r == 0 && v->host.spec && v->host.spec->pf_count)
		r = vfctl_declared_read(in->ctx, v->snapshot, v->host.spec, v->host.ids, &v->declared);
	return r < 0 ? r : vfctl_doctor_examine(in->ctx, v->snapshot, &options, &v->report);
}

/* Replace the file atomically, because it may be read at any moment. */
static int write_file(struct invocation *in, struct view *v, const char *path)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int r = vfctl_output_open(in->ctx, path, true, &output);

	if (r < 0)
		return fail(in, r);
	v->file = fdopen(dup(vfctl_output_fd(output)), "w");
	r = v->file ? put_all(v) : -ENOMEM;
	if (v->file && fclose(v->file) != 0 && r == 0)
		r = -errno;
	if (r < 0)
		return fail_as(in, EXIT_FAILED, r, "write %s: %s", path, strerror(-r));
	return vfctl_output_commit(in->ctx, output) < 0 ? fail(in, -EIO) : EXIT_DONE;
}

/* With --textfile: the file in node_exporter's directory. */
static int find_textfile(struct invocation *in, char **ret)
{
	_free_ char *dir = NULL;
	int r;

	if (!option_of(in, "textfile"))
		return 0;
	if (option_of(in, "output"))
		return usage(in, "--textfile and --output name two files");
	r = vfctl_textfile_directory(in->ctx, &dir);
	if (r == 0 && asprintf(ret, "%s/vfctl.prom", dir) < 0)
		r = -ENOMEM;
	return r < 0 ? fail(in, r) : 0;
}

static int run_metrics(struct invocation *in)
{
	_cleanup_(clear_view) struct view v = {.ctx = in->ctx};
	const char *path = option_of(in, "output");
	_free_ char *found = NULL;
	int status = find_textfile(in, &found), r;

	if (!status)
		status = host_ids_try(in, &v.host);
	if (status)
		return status;
	path = found ? found : path;
	r = look_metrics(in, &v);
	if (r == 0 && path)
		return write_file(in, &v, path);
	if (r == 0) {
		v.file = out_file(in->out);
		r = put_all(&v);
	}
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

static const struct option_row options[] = {
	{"textfile", 0, NULL,
		"write vfctl.prom into the directory of node_exporter's textfile collector", NULL},
	{"output", 0, "FILE", "write to FILE, replaced as a whole, as the textfile collector needs it",
		NULL},
};

const struct command cmd_metrics = {
	.name = "metrics",
	.group = GROUP_HEALTH,
	.args = "",
	.summary = "Print VFs, leases, pools and health as OpenMetrics",
	.text = "For Prometheus: vfctl-metrics.timer writes them once a minute for the "
		"textfile collector of node_exporter.",
	.examples = {{"vfctl metrics", "print them"},
		{"vfctl metrics --textfile", "write them for node_exporter"}},
	OPTIONS(options),
	.run = run_metrics,
};
