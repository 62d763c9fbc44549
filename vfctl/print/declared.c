// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/declared.h"

#include <string.h>

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
		out_line(in->out, "%s: %s", title, pf->words ? pf->words : "out of memory");
	else
		out_line(in->out, "%s: %s", title, declared_differs(pf) ? "differs" : "as declared");
	for (size_t i = 0; pf->change && i < vfctl_change_count(pf->change); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(pf->change, i));
	if (pending)
		out_line(in->out, "  then: %s", pending);
	if (pf->kept)
		out_line(in->out, "  a guest's until it stops, and not as declared: %s", pf->kept);
}

bool declared_host_differs(const struct vfctl_declared *d)
{
	return d->host_error || (d->host && vfctl_change_count(d->host));
}

static void print_host(struct invocation *in, const struct vfctl_declared *d)
{
	if (!declared_host_differs(d))
		return;
	out_line(in->out, "host: %s", d->host_error ? d->host_words ? d->host_words : "out of memory"
		: "differs");
	for (size_t i = 0; d->host && i < vfctl_change_count(d->host); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(d->host, i));
	if (d->host && vfctl_change_pending(d->host))
		out_line(in->out, "  then: %s", vfctl_change_pending(d->host));
}

void print_declared_host_json(struct invocation *in, const struct vfctl_declared *d)
{
	out_open(in->out, "steps", '[');
	for (size_t i = 0; d->host && i < vfctl_change_count(d->host); i++)
		out_str(in->out, NULL, vfctl_change_describe(d->host, i));
	out_shut(in->out);
}

bool declared_lag_differs(const struct vfctl_declared_lag *lag)
{
	return lag->error || (lag->change && vfctl_change_count(lag->change));
}

static void print_lag(struct invocation *in, const struct vfctl_declared_lag *lag)
{
	if (lag->error)
		out_line(in->out, "lag %s: %s", lag->spec->bond, lag->words ? lag->words : "out of memory");
	else
		out_line(in->out, "lag %s: %s", lag->spec->bond, declared_lag_differs(lag) ? "differs"
			: "as declared");
	for (size_t i = 0; lag->change && i < vfctl_change_count(lag->change); i++)
		out_line(in->out, "  %zu. %s", i + 1, vfctl_change_describe(lag->change, i));
	if (lag->change && vfctl_change_pending(lag->change))
		out_line(in->out, "  note: %s", vfctl_change_pending(lag->change));
}

void print_declared_lag_json(struct invocation *in, const struct vfctl_declared_lag *lag)
{
	out_str(in->out, "bond", lag->spec->bond);
	out_str(in->out, "mode", lag->spec->mode);
	out_open(in->out, "pfs", '[');
	for (char **pf = lag->spec->pfs; *pf; pf++)
		out_str(in->out, NULL, *pf);
	out_shut(in->out);
	out_str(in->out, "file", lag->spec->file);
	out_int(in->out, "line", lag->spec->line);
	out_open(in->out, "steps", '[');
	for (size_t i = 0; lag->change && i < vfctl_change_count(lag->change); i++)
		out_str(in->out, NULL, vfctl_change_describe(lag->change, i));
	out_shut(in->out);
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

void print_declared_json(struct invocation *in, const struct vfctl_declared_pf *pf)
{
	out_str(in->out, "pf", pf->name);
	out_str(in->out, "address", pf->address[0] ? pf->address : NULL);
	out_str(in->out, "file", pf->spec->file);
	out_int(in->out, "line", pf->spec->line);
	out_bool(in->out, "managed", !pf->spec->unmanaged);
	out_str(in->out, "kept", pf->kept);
	out_open(in->out, "steps", '[');
	for (size_t i = 0; pf->change && i < vfctl_change_count(pf->change); i++)
		out_str(in->out, NULL, vfctl_change_describe(pf->change, i));
	out_shut(in->out);
}
