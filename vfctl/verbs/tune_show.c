// SPDX-License-Identifier: GPL-2.0-or-later
/* tune show, tune set: a PF's interrupt moderation, and the driver's nearest values. */
#include <errno.h>
#include <string.h>

#include "host_ids.h"
#include "spec/host_yaml.h"
#include "sriov/inventory.h"
#include "tuning/fit.h"
#include "verbs/tune.h"
#include "vfs/apply.h"

/* ---- requests on the command line ---- */

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

/* "latency" and "rx-usecs=0": a profile, and settings that override it. */
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

struct row_view {
	struct vfctl_fit_row row;
	bool sets;
	const char *fit;
};

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

static void put_now(struct out *out, const struct member *m, const void *of)
{
	const struct vfctl_fit_row *row = &((const struct row_view *)of)->row;

	print_value(out, m->name, row->key, row->known, row->now);
}

static void put_wanted(struct out *out, const struct member *m, const void *of)
{
	const struct vfctl_fit_row *row = &((const struct row_view *)of)->row;

	print_value(out, m->name, row->key, row->wished, row->wanted);
}

static void put_gets(struct out *out, const struct member *m, const void *of)
{
	const struct row_view *view = of;

	print_value(out, m->name, view->row.key, view->sets, view->row.gets);
}

#define OF struct row_view
TEXT_OF(row_name, OF, vfctl_coalesce_name(it->row.key))
static const struct member row_table[] = {
	TEXT("name", row_name, "name of the setting in ethtool -C: rx-usecs, adaptive-rx, ..."),
	PUT("now", put_now, MEMBER_END, "present value, a number or boolean; null: the driver does "
		"not report it"),
	PUT("wanted", put_wanted, MEMBER_END, "wanted value; null: none is wanted, or the setting "
		"replaces another one"),
	PUT("gets", put_gets, MEMBER_END, "value that would be set; null: none"),
	FIELD(fit, "is so, set, nearest, unused, lacks or not asked for", FILLED),
	FIELD_AS("why", row.why, "reason"), END};
#undef OF

/* ---- further settings ---- */

#define LARGE_READS 4096 /* bytes */

struct show_view {
	const struct vfctl_pf *pf;
	const char *name;
	const struct vfctl_pf_moderation *m; /* NULL: @unread has the reason */
	const struct vfctl_profile *profile;
	const char *unread;
	const struct vfctl_pci_express *express; /* NULL: it cannot be read */
	bool rdma_known, rdma_adaptive;
};

static int fill_rows(struct out *out, const void *of)
{
	const struct vfctl_pf_moderation *m = ((const struct show_view *)of)->m;
	uint32_t told = 0;

	for (size_t i = 0; i < m->fit.count; i++) {
		const struct vfctl_fit_row *row = &m->fit.rows[i];

		told |= VFCTL_COALESCE_BIT(row->key);
		answer_put(out, NULL, row_table, &(struct row_view){*row, sets(row, &m->fit),
			vfctl_fit_name(row->fit)});
	}
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (m->now.mask & ~told & VFCTL_COALESCE_BIT(i))
			answer_put(out, NULL, row_table, &(struct row_view){{.known = true,
				.key = (enum vfctl_coalesce_key)i, .now = m->now.values[i]}, false,
				"not asked for"});
	return 0;
}

#define OF struct vfctl_pci_express
static const struct member express_table[] = {
	FIELD(max_read_request_bytes, "largest read request"),
	FIELD(max_payload_bytes, "largest payload"),
	FIELD(relaxed_ordering, "relaxed ordering is on"), END};
#undef OF

#define OF struct show_view
FLAG_OF(show_as_wanted, OF, !it->m->fit.changes)
OBJECT_OF(show_rdma, OF, it->rdma_known ? it : NULL)
static const struct member moderation_table[] = {
	FIELD_VIA("driver", pf, driver, "driver of the PF", FILLED),
	FIELD_VIA("profile", profile, name, "profile that host.yaml names for the PF"),
	FIELD_VIA("driver_known", m, fit.known, "vfctl knows the limits of the driver"),
	FLAG("as_wanted", show_as_wanted, "all settings are as wanted, or cannot be set"),
	FIELD_VIA("warning", m, fit.warning, "side effect of changing the moderation"),
	FILL("settings", fill_rows, row_table, "settings of the driver"), END};
static const struct member pf_rdma_table[] = {
	FIELD_VIA("device", pf, rdma, "name of the RDMA device", FILLED),
	FIELD_AS("adaptive_moderation", rdma_adaptive, "adaptive moderation of the queues that the "
		"kernel's own users create"), END};
static const struct member show_table[] = {
	FIELD_AS("pf", name, "name of the PF", FILLED),
	PART_SELF(moderation_table, OPTIONAL, KNOWN_BY_POINTER(m)),
	FIELD(unread, "why the moderation cannot be shown", OPTIONAL),
	OBJECT_AT("pci_express", express, express_table, "settings of PCI Express; null: not "
		"readable, as without root, or not present"),
	OBJECT_GET("rdma", show_rdma, pf_rdma_table, "RDMA device; null: the PF has none, or the kernel "
		"does not report it", NULLABLE), END};
#undef OF

static void print_json(struct invocation *in, struct show_view *view)
{
	struct vfctl_pci_express e;
	char name[VFCTL_BDF_TEXT];

	view->name = vfctl_pf_name(view->pf, name);
	if (vfctl_pf_pci_express_read(in->ctx, view->pf, &e) == 0)
		view->express = &e;
	view->rdma_known = vfctl_pf_rdma_adaptive_read(in->ctx, view->pf, &view->rdma_adaptive) == 0;
	answer_put(in->out, NULL, show_table, view);
}

/* Other tools set these registers: the firmware or the administrator decides about them. */
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

static const char *fit_text(const struct vfctl_pf_moderation *m)
{
	if (!m->wanted.mask)
		return "; nothing is declared for it";
	if (m->fit.changes)
		return ", differs from what is wanted";
	return m->fit.set.mask ? ", as wanted" : ", which accepts no wanted setting";
}

static void print_pf(struct invocation *in, const struct vfctl_pf *pf,
	const struct vfctl_pf_moderation *m,
	const struct vfctl_profile *profile)
{
	char name[VFCTL_BDF_TEXT];

	out_line(in->out, "%s: interrupt moderation of its driver %s%s%s%s", vfctl_pf_name(pf, name),
		pf->driver, profile ? ", profile " : "", profile ? profile->name : "", fit_text(m));
	print_rows(in->out, m);
	if (m->wanted.mask && !m->fit.known)
		out_line(in->out, "  vfctl does not know the limits of that driver: it may reject "
			"values when they are set");
	if (m->fit.warning)
		out_line(in->out, "  beware: %s", m->fit.warning);
}

static int show_one(struct invocation *in, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf,
	const struct vfctl_host_spec *spec, const struct vfctl_coalesce *wanted)
{
	const struct vfctl_profile *profile;
	struct vfctl_pf_moderation m;
	char name[VFCTL_BDF_TEXT];
	int r = vfctl_pf_moderation_read(in->ctx, inv, pf, spec, wanted, &m, &profile);

	if (in->json) {
		_free_ char *unread = r == 0 ? NULL : strdup(vfctl_ctx_error(in->ctx));

		print_json(in, &(struct show_view){.pf = pf, .m = r == 0 ? &m : NULL,
			.profile = r == 0 ? profile : NULL, .unread = unread});
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

/* All PFs with a network device, or one of them. */
struct shown_view {
	struct invocation *in;
	const struct vfctl_inventory *inv;
	const struct vfctl_pf *only; /* NULL: all */
	const struct vfctl_host_spec *spec;
	const struct vfctl_coalesce *wanted;
	int status;
};

static int show_each(struct shown_view *view)
{
	const struct vfctl_inventory *inv = view->inv;

	for (size_t i = 0; i < inv->pf_count && !view->status; i++)
		if (view->only ? &inv->pfs[i] == view->only : inv->pfs[i].ifindex != 0)
			view->status = show_one(view->in, inv, &inv->pfs[i], view->spec, view->wanted);
	return 0;
}

static int fill_shown(struct out *out, const void *of)
{
	return show_each((struct shown_view *)of);
}

static const struct member shown_table[] = {
	FILL("pfs", fill_shown, show_table, "PFs that have a network device"), END};
const struct answer tune_show_answer[] = {{"For PFs", shown_table, false},
	{"For a domain", answer_tuned, false}, {0}};

static int show_tuned(struct invocation *in, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec)
{
	struct vfctl_coalesce wanted = {0};
	struct shown_view view;
	const struct vfctl_pf *pf = NULL;
	bool some = false;
	int status = read_wanted(in, spec, 2, &wanted, &some);

	if (!status && in->arg_count > 1)
		/* A name that is not that of a PF is a domain. */
		if (vfctl_inventory_find_pf(in->ctx, inv, in->args[1], &pf) < 0)
			return tune_show_domain(in, spec);
	if (status)
		return status;
	view = (struct shown_view){in, inv, pf, spec, some ? &wanted : NULL, 0};
	if (in->json) {
		answer_put(in->out, NULL, shown_table, &view);
	} else {
		show_each(&view);
		if (!view.status)
			out_fold(in->out, 0, "These are the PFs' own queues. Those of a VF in a guest belong "
				"to the guest's driver: vfctl tune guest.");
	}
	return view.status;
}

int tune_run_show(struct invocation *in)
{
	_cleanup_(host_ids_close) struct host_ids h = {0};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int status = host_ids_open(in, false, &h), r;

	if (status)
		return status;
	r = vfctl_inventory_read(in->ctx, NULL, &inv);
	return r < 0 ? fail(in, r) : show_tuned(in, inv, h.spec);
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
	_cleanup_(host_ids_close) struct host_ids h = {0};
	int status = host_ids_open(in, false, &h), r;
	bool some = false;
	char done[96];

	if (!status)
		status = read_wanted(in, h.spec, 2, &wanted, &some);
	if (!status && !wanted.mask)
		status = usage(in, "the profile has no settings for a driver; name settings, such "
			"as rx-usecs=0");
	if (status)
		return status;
	r = vfctl_tune_plan(in->ctx, in->args[1], &wanted, option_of(in, "force"), in->dry_run, &fit,
		&change);
	if (r < 0)
		return fail(in, r);
	tell_fit(&fit);
	snprintf(done, sizeof(done), "%.60s is tuned", in->args[1]);
	return run_change(in, change, done);
}
