// SPDX-License-Identifier: GPL-2.0-or-later
/* tune show, tune set: a PF's interrupt moderation, and what its driver makes of a wish. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_ids.h"
#include "verbs/tune.h"
#include "vfctl/apply.h"

/* ---- what is wanted, in words of the command line ---- */

static int read_profile(struct invocation *in, const struct vfctl_host_spec *spec, const char *name,
	struct vfctl_coalesce *io, bool *io_some)
{
	const struct vfctl_profile *profile;
	int r = vfctl_profile_need(in->ctx, spec, name, &profile);

	if (r < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	vfctl_coalesce_merge(io, &profile->coalesce);
	*io_some = true;
	return 0;
}

/* "latency" and "rx-usecs=0": a profile, and settings that go before its own. */
static int read_wanted(struct invocation *in, const struct vfctl_host_spec *spec, size_t first,
	struct vfctl_coalesce *ret, bool *ret_some)
{
	struct vfctl_coalesce own = {0};
	int status = 0;

	for (size_t i = first; i < in->arg_count && !status; i++) {
		const char *equals = strchr(in->args[i], '=');
		char name[64];

		if (!equals) {
			status = read_profile(in, spec, in->args[i], ret, ret_some);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(equals - in->args[i]), in->args[i]);
		if (vfctl_coalesce_parse(in->ctx, name, equals + 1, &own) < 0)
			status = usage(in, "%s", vfctl_ctx_error(in->ctx));
		*ret_some = true;
	}
	vfctl_coalesce_merge(ret, &own);
	return status;
}

/* ---- one PF ---- */

static const char *value_text(enum vfctl_coalesce_key key, uint32_t value, char buf[16])
{
	if (vfctl_coalesce_is_switch(key))
		snprintf(buf, 16, "%s", value ? "on" : "off");
	else
		snprintf(buf, 16, "%u", value);
	return buf;
}

static const char *note_of(const struct vfctl_fit_row *row)
{
	if (row->why)
		return row->why;
	return row->fit == VFCTL_FIT_IS_SO ? "is so" : "will be set";
}

static bool sets(const struct vfctl_fit_row *row, const struct vfctl_tuning_fit *fit)
{
	return fit->set.mask & VFCTL_COALESCE_BIT(row->key);
}

static void print_rows(struct out *out, const struct vfctl_pf_moderation *m)
{
	static const char *const headings[] = {"SETTING", "NOW", "WANTED", "GETS", "NOTE"};
	uint32_t told = 0;
	char buf[16];

	out_table(out, 2, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < m->fit.count; i++) {
		const struct vfctl_fit_row *row = &m->fit.rows[i];

		told |= VFCTL_COALESCE_BIT(row->key);
		out_cell(out, "%s", vfctl_coalesce_name(row->key));
		out_cell(out, "%s", row->known ? value_text(row->key, row->now, buf) : "");
		out_cell(out, "%s", row->wished ? value_text(row->key, row->wanted, buf) : "");
		out_cell(out, "%s", sets(row, &m->fit) ? value_text(row->key, row->gets, buf) : "");
		out_cell(out, "%s", note_of(row));
	}
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;

		if (!(m->now.mask & ~told & VFCTL_COALESCE_BIT(i)))
			continue;
		out_cell(out, "%s", vfctl_coalesce_name(key));
		out_cell(out, "%s", value_text(key, m->now.values[i], buf));
		out_cell(out, "%s", "");
		out_cell(out, "%s", "");
		out_cell(out, "%s", m->fit.count ? "not asked for" : "");
	}
	out_table_end(out);
}

static void print_value(struct out *out, const char *key, enum vfctl_coalesce_key which, bool some,
	uint32_t value)
{
	if (!some)
		out_null(out, key);
	else if (vfctl_coalesce_is_switch(which))
		out_bool(out, key, value);
	else
		out_int(out, key, value);
}

static void print_row_json(struct out *out, const struct vfctl_fit_row *row, bool sets_it, const char *fit)
{
	out_open(out, NULL, '{');
	out_str(out, "name", vfctl_coalesce_name(row->key));
	print_value(out, "now", row->key, row->known, row->now);
	print_value(out, "wanted", row->key, row->wished, row->wanted);
	print_value(out, "gets", row->key, sets_it, row->gets);
	out_str(out, "fit", fit);
	out_str(out, "why", row->why);
	out_shut(out);
}

/* ---- what is read beside it ---- */

#define LARGE_READS 4096 /* bytes */

static void print_bus_json(struct invocation *in, const struct vfctl_pf *pf)
{
	struct vfctl_pci_express e;
	bool known = vfctl_pf_pci_express_read(in->ctx, pf, &e) == 0, on;

	if (known) {
		out_open(in->out, "pci_express", '{');
		out_int(in->out, "max_read_request_bytes", e.max_read_request_bytes);
		out_int(in->out, "max_payload_bytes", e.max_payload_bytes);
		out_bool(in->out, "relaxed_ordering", e.relaxed_ordering);
		out_shut(in->out);
	} else {
		out_null(in->out, "pci_express");
	}
	known = vfctl_pf_rdma_adaptive_read(in->ctx, pf, &on) == 0;
	if (known) {
		out_open(in->out, "rdma", '{');
		out_str(in->out, "device", pf->rdma);
		out_bool(in->out, "adaptive_moderation", on);
		out_shut(in->out);
	} else {
		out_null(in->out, "rdma");
	}
}

/* The registers are set by tools of their own: their owner is the firmware, or whoever tunes it. */
static void print_bus(struct invocation *in, const struct vfctl_pf *pf)
{
	struct vfctl_pci_express e;
	bool on;

	if (vfctl_pf_rdma_adaptive_read(in->ctx, pf, &on) == 0)
		out_line(in->out, "  RDMA device %s: adaptive moderation %s, for queues that the "
			"kernel's own users make", pf->rdma, on ? "on" : "off");
	if (vfctl_pf_pci_express_read(in->ctx, pf, &e) < 0)
		return;
	out_line(in->out, "  PCIe: reads of up to %u bytes, payload %u, relaxed ordering %s",
		e.max_read_request_bytes, e.max_payload_bytes, e.relaxed_ordering ? "on" : "off");
	if (e.larger_reads_help && e.max_read_request_bytes < LARGE_READS)
		out_fold(in->out, 4, "    larger reads (up to 4096) may help large messages: bits 14 "
			"to 12 of setpci CAP_EXP+8.w; measure it, vfctl bench");
	if (!e.relaxed_ordering)
		out_fold(in->out, 4, "    with relaxed ordering off here its VFs have none either: bit "
			"4 of setpci CAP_EXP+8.w, or the firmware's PCI_WR_ORDERING");
}

static void print_json(struct out *out, const struct vfctl_pf *pf, const struct vfctl_pf_moderation *m,
	const struct vfctl_profile *profile)
{
	uint32_t told = 0;

	out_str(out, "driver", pf->driver);
	out_str(out, "profile", profile ? profile->name : NULL);
	out_bool(out, "driver_known", m->fit.known);
	out_bool(out, "as_wanted", !m->fit.changes);
	out_str(out, "warning", m->fit.warning);
	out_open(out, "settings", '[');
	for (size_t i = 0; i < m->fit.count; i++) {
		const struct vfctl_fit_row *row = &m->fit.rows[i];

		told |= VFCTL_COALESCE_BIT(row->key);
		print_row_json(out, row, sets(row, &m->fit), vfctl_fit_name(row->fit));
	}
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		const struct vfctl_fit_row row = {.key = (enum vfctl_coalesce_key)i, .known = true,
			.now = m->now.values[i]};

		if (m->now.mask & ~told & VFCTL_COALESCE_BIT(i))
			print_row_json(out, &row, false, "not asked for");
	}
	out_shut(out);
}

static void print_pf(struct invocation *in, const struct vfctl_pf *pf, const struct vfctl_pf_moderation *m,
	const struct vfctl_profile *profile)
{
	char name[VFCTL_BDF_TEXT];

	out_line(in->out, "%s: interrupt moderation of its driver %s%s%s%s", vfctl_pf_name(pf, name),
		pf->driver, profile ? ", profile " : "", profile ? profile->name : "",
		!m->wanted.mask ? "; nothing is declared for it" : m->fit.changes
			? ", differs from what is wanted" : m->fit.set.mask ? ", as wanted"
			: ", which takes nothing of what is wanted");
	print_rows(in->out, m);
	if (m->wanted.mask && !m->fit.known)
		out_line(in->out, "  vfctl knows no limits of that driver: what it refuses shows when "
			"it is set");
	if (m->fit.warning)
		out_line(in->out, "  beware: %s", m->fit.warning);
}

static int show_one(struct invocation *in, const struct vfctl_inventory *inv, const struct vfctl_pf *pf,
	const struct vfctl_host_spec *spec, const struct vfctl_coalesce *wanted)
{
	const struct vfctl_profile *profile;
	struct vfctl_pf_moderation m;
	char name[VFCTL_BDF_TEXT];
	int r = vfctl_pf_moderation_read(in->ctx, inv, pf, spec, wanted, &m, &profile);

	if (in->json) {
		out_open(in->out, NULL, '{');
		out_str(in->out, "pf", vfctl_pf_name(pf, name));
		if (r == 0)
			print_json(in->out, pf, &m, profile);
		else
			out_str(in->out, "unread", vfctl_ctx_error(in->ctx));
		print_bus_json(in, pf);
		out_shut(in->out);
	} else if (r == 0) {
		print_pf(in, pf, &m, profile);
		print_bus(in, pf);
	} else if (in->arg_count > 1 && r != -EOPNOTSUPP) {
		return fail(in, r);
	} else {
		out_line(in->out, "%s: %s", vfctl_pf_name(pf, name), vfctl_ctx_error(in->ctx));
		print_bus(in, pf);
	}
	return r == -ENOMEM ? fail(in, r) : 0;
}

static int show_tuned(struct invocation *in, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec)
{
	struct vfctl_coalesce wanted = {0};
	const struct vfctl_pf *pf = NULL;
	bool some = false;
	int status = read_wanted(in, spec, 2, &wanted, &some);

	if (!status && in->arg_count > 1)
		/* What is no PF is a domain. */
		if (vfctl_inventory_find_pf(in->ctx, inv, in->args[1], &pf) < 0)
			return tune_show_domain(in, spec);
	if (status)
		return status;
	if (in->json) {
		out_open(in->out, NULL, '{');
		out_open(in->out, "pfs", '[');
	}
	for (size_t i = 0; i < inv->pf_count && !status; i++)
		if (pf ? &inv->pfs[i] == pf : inv->pfs[i].ifindex != 0)
			status = show_one(in, inv, &inv->pfs[i], spec, some ? &wanted : NULL);
	if (in->json) {
		out_shut(in->out);
		out_shut(in->out);
	} else if (!status) {
		out_fold(in->out, 0, "These are the PFs' own queues. Those of a VF in a guest belong "
			"to the guest's driver: vfctl tune guest.");
	}
	return status;
}

int tune_run_show(struct invocation *in)
{
	struct vfctl_inventory *inv = NULL;
	struct host_ids h = {0};
	int status = host_ids_open(in, false, &h), r;

	if (status)
		return status;
	r = vfctl_inventory_read(in->ctx, NULL, &inv);
	status = r < 0 ? fail(in, r) : show_tuned(in, inv, h.spec);
	vfctl_inventory_free(inv);
	host_ids_close(&h);
	return status;
}

/* ---- set ---- */

static void tell_fit(const struct vfctl_tuning_fit *fit)
{
	char wanted[16], gets[16];

	for (size_t i = 0; i < fit->count; i++) {
		const struct vfctl_fit_row *row = &fit->rows[i];
		const char *name = vfctl_coalesce_name(row->key);

		if (row->fit == VFCTL_FIT_LACKS || row->fit == VFCTL_FIT_UNUSED)
			warn("%s=%s is not set: %s", name, value_text(row->key, row->wanted, wanted),
				row->why);
		else if (row->fit == VFCTL_FIT_NEAREST && row->wished)
			warn("%s is set to %s, not %s: %s", name, value_text(row->key, row->gets, gets),
				value_text(row->key, row->wanted, wanted), row->why);
		else if (row->fit == VFCTL_FIT_NEAREST)
			warn("%s is set to %s: %s", name, value_text(row->key, row->gets, gets), row->why);
	}
	if (fit->warning)
		warn("%s", fit->warning);
}

int tune_run_set(struct invocation *in)
{
	struct vfctl_coalesce wanted = {0};
	struct vfctl_change *change;
	struct vfctl_tuning_fit fit;
	struct host_ids h = {0};
	int status = host_ids_open(in, false, &h), r;
	bool some = false;
	char done[96];

	if (!status)
		status = read_wanted(in, h.spec, 2, &wanted, &some);
	if (!status && !wanted.mask)
		status = usage(in, "the profile wants nothing of a driver; name settings, such as "
			"rx-usecs=0");
	if (status) {
		host_ids_close(&h);
		return status;
	}
	r = vfctl_tune_plan(in->ctx, in->args[1], &wanted, in->dry_run, &fit, &change);
	snprintf(done, sizeof(done), "%.60s is tuned", in->args[1]);
	if (r == 0)
		tell_fit(&fit);
	status = r < 0 ? fail(in, r) : run_change(in, change, done);
	host_ids_close(&h);
	return status;
}
