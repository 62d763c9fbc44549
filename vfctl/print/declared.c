// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/declared.h"

#include <string.h>

#include "result.h"

bool declared_differs(const struct vfctl_declared_pf *pf)
{
	return pf->error || (pf->change && (vfctl_change_count(pf->change) ||
		vfctl_change_pending(pf->change)));
}

void declared_title(const struct vfctl_declared_pf *pf, char *buf, size_t size)
{
	if (pf->address[0] && strcmp(pf->name, pf->address) != 0)
		snprintf(buf, size, "%s (%s)", pf->name, pf->address);
	else
		snprintf(buf, size, "%s", pf->name);
}

static void print_one(struct invocation *in, const struct vfctl_declared_pf *pf)
{
	const char *pending = pf->change ? vfctl_change_pending(pf->change) : NULL;
	char title[128];

	declared_title(pf, title, sizeof(title));
	if (pf->spec->unmanaged)
		out_line(in->out, "%s: not managed", title);
	else if (pf->error)
		out_line(in->out, "%s: %s", title, pf->message ? pf->message : "out of memory");
	else
		out_line(in->out, "%s: %s", title, declared_differs(pf) ? "differs" : "as declared");
	for (size_t i = 0; pf->change && i < vfctl_change_count(pf->change); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(pf->change, i));
	if (pending)
		out_line(in->out, "  then: %s", pending);
	if (pf->kept)
		out_line(in->out, "  in use, and changed only after that: %s", pf->kept);
}

bool declared_host_differs(const struct vfctl_declared *d)
{
	return d->host_error || (d->host && vfctl_change_count(d->host));
}

static void print_host(struct invocation *in, const struct vfctl_declared *d)
{
	if (!declared_host_differs(d))
		return;
	out_line(in->out, "host: %s", d->host_error ? d->host_text ? d->host_text : "out of memory"
		: "differs");
	for (size_t i = 0; d->host && i < vfctl_change_count(d->host); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(d->host, i));
	if (d->host && vfctl_change_pending(d->host))
		out_line(in->out, "  then: %s", vfctl_change_pending(d->host));
}

bool declared_lag_differs(const struct vfctl_declared_lag *lag)
{
	return lag->error || (lag->change && vfctl_change_count(lag->change));
}

static void print_lag(struct invocation *in, const struct vfctl_declared_lag *lag)
{
	if (lag->error)
		out_line(in->out, "lag %s: %s", lag->spec->bond, lag->message ? lag->message
			: "out of memory");
	else
		out_line(in->out, "lag %s: %s", lag->spec->bond, declared_lag_differs(lag) ? "differs"
			: "as declared");
	for (size_t i = 0; lag->change && i < vfctl_change_count(lag->change); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(lag->change, i));
	if (lag->change && vfctl_change_pending(lag->change))
		out_line(in->out, "  note: %s", vfctl_change_pending(lag->change));
}

void print_declared(struct invocation *in, const struct vfctl_declared *declared)
{
	print_host(in, declared);
	for (size_t i = 0; i < declared->count; i++)
		print_one(in, &declared->pfs[i]);
	for (size_t i = 0; i < declared->lag_count; i++)
		print_lag(in, &declared->lags[i]);
	if (!declared->count && !declared->lag_count && !declared_host_differs(declared))
		out_line(in->out, "no PFs are declared (pfs: in host.yaml)");
}

bool declared_some_differ(const struct vfctl_declared *d)
{
	bool differs = declared_host_differs(d);

	for (size_t i = 0; i < d->count; i++)
		differs |= declared_differs(&d->pfs[i]);
	for (size_t i = 0; i < d->lag_count; i++)
		differs |= declared_lag_differs(&d->lags[i]);
	return differs;
}

/* ---- JSON ---- */

#define OF struct declared_view
/* The members have one of two names. */
#define FLAGS FIELD_AS("changed", differs, "apply only: it was changed; in a dry run: it differs " \
	"from host.yaml", \
	OPTIONAL, KNOWN_BY(apply)), \
	FIELD_AS("drift", differs, "status only: it differs from host.yaml", OPTIONAL, \
		KNOWN_BY(status))
static const struct member state_table[] = {
	FIELD(error, "why it was not or cannot be applied"),
	FIELD(pending, "work that you still have to do; for a PF the exit status is 3"),
	PART(operations, answer_operations, OPTIONAL, KNOWN_BY_POINTER(operations)), END};

const struct member answer_declared_host[] = {
	SECTION("DECLAREDHOST", "The host as a whole."),
	PART(host, answer_steps),
	FLAGS,
	PART_SELF(state_table), END};
#undef OF

#define OF struct vfctl_declared_pf
FLAG_OF(declared_managed, OF, !it->spec->unmanaged)
NUMBER_OF(declared_count, OF, it->spec->counted, it->spec->count)
static const struct member declared_pf_fields[] = {
	FIELD_AS("pf", name, "name of the PF; if the PF does not exist: its name in the file",
		FILLED),
	FIELD(address, "PCI address; null: the entry does not match exactly one PF"),
	FIELD_VIA("file", spec, file, "file of the entry", FILLED),
	FIELD_VIA("line", spec, line, "line of the entry in that file"),
	FLAG("managed", declared_managed, "vfctl changes the PF"),
	NUMBER("count", declared_count, "declared number of VFs; null: the entry does not state it, and "
		"apply creates and removes none",
		NULLABLE),
	FIELD(kept, "VFs that differ, but belong to a guest until it stops"),
	PART(change, answer_steps), END};
#undef OF

#define OF struct declared_view
const struct member answer_declared_pf[] = {
	SECTION("DECLARED", "A PF of host.yaml."),
	PART_AT(pf, declared_pf_fields),
	FLAGS,
	PART_SELF(state_table),
	PART_AT(result, answer_pf_result, OPTIONAL), END};
#undef OF

#define OF struct vfctl_declared_lag
static const struct member declared_lag_fields[] = {
	FIELD_VIA("bond", spec, bond, "network device of the bond", FILLED),
	FIELD_VIA("mode", spec, mode, "active-backup, balance-xor or 802.3ad", FILLED),
	TEXTS_VIA("pfs", spec, pfs, "names of the two PFs, as in the file"),
	FIELD_VIA("file", spec, file, "file of the entry", FILLED),
	FIELD_VIA("line", spec, line, "line of the entry in that file"),
	PART(change, answer_steps), END};
#undef OF

#define OF struct declared_view
const struct member answer_declared_lag[] = {
	SECTION("DECLAREDLAG", "A VF-LAG of host.yaml."),
	PART_AT(lag, declared_lag_fields),
	FLAGS,
	PART_SELF(state_table), END};
#undef OF

static struct declared_view view_of(const struct differences *d, bool differs, const char *error,
	const struct vfctl_change *change)
{
	return (struct declared_view){.status = d->status, .apply = d->apply, .differs = differs,
		.error = error, .pending = change ? vfctl_change_pending(change) : NULL,
		.operations = change};
}

static void put_host(struct out *out, const struct member *m, const void *of)
{
	const struct differences *all = of;
	const struct vfctl_declared *d = all->declared;
	struct declared_view view = view_of(all, declared_host_differs(d), d->host_text, d->host);

	view.host = d->host;
	answer_put(out, m->name, answer_declared_host, &view);
}

static int fill_declared_pfs(struct out *out, const void *of)
{
	const struct differences *all = of;

	for (size_t i = 0; i < all->declared->count; i++) {
		const struct vfctl_declared_pf *pf = &all->declared->pfs[i];
		struct declared_view view = view_of(all, declared_differs(pf), pf->message, pf->change);

		view.pf = pf;
		answer_put(out, NULL, answer_declared_pf, &view);
	}
	return 0;
}

static int fill_declared_lags(struct out *out, const void *of)
{
	const struct differences *all = of;

	for (size_t i = 0; i < all->declared->lag_count; i++) {
		const struct vfctl_declared_lag *lag = &all->declared->lags[i];
		struct declared_view view = view_of(all, declared_lag_differs(lag), lag->message,
			lag->change);

		view.lag = lag;
		answer_put(out, NULL, answer_declared_lag, &view);
	}
	return 0;
}

#define OF struct differences
const struct member answer_differences[] = {
	FLAGS,
	PUT("host", put_host, MEMBER_OBJECT, "the host as a whole", .table = answer_declared_host),
	FILL("pfs", fill_declared_pfs, answer_declared_pf, "PFs in the order of the file"),
	FILL("lags", fill_declared_lags, answer_declared_lag, "VF-LAGs in the order of the file"), END};
#undef OF
