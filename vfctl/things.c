// SPDX-License-Identifier: GPL-2.0-or-later
#include "things.h"

#include <stdlib.h>
#include <string.h>

#include "checks/findings.h"
#include "facts/hostfile.h"
#include "facts/snapshot/snapshot.h"
#include "ids/pools.h"
#include "lease/recover.h"
#include "monitor/watch.h"
#include "print/declared.h"
#include "spec/host_yaml.h"

void things_free(struct things *things)
{
	for (size_t i = 0; i < things->count; i++) {
		struct thing *t = &things->v[i];

		free(t->key);
		free(t->name);
		free(t->address);
		for (size_t k = 0; k < t->member_count; k++)
			free(t->members[k].value);
	}
	free(things->v);
	*things = (struct things){0};
}

const struct thing *things_find(const struct things *things, const struct thing *like, size_t from)
{
	for (size_t i = 0; i < things->count; i++) {
		const struct thing *t = &things->v[(from + i) % things->count];

		if (strcmp(t->kind, like->kind) == 0 && strcmp(t->key, like->key) == 0)
			return t;
	}
	return NULL;
}

const char *thing_member(const struct thing *thing, const char *name)
{
	for (size_t i = 0; i < thing->member_count; i++)
		if (strcmp(thing->members[i].name, name) == 0)
			return thing->members[i].value;
	return NULL;
}

/* ---- creating them ---- */

static char *copy(struct things *all, const char *text)
{
	char *own = strdup(text);

	all->failed |= !own;
	return own;
}

/* The result is never NULL: if memory is exhausted, it is an entry that is not printed. */
static struct thing *add_thing(struct things *all, const char *kind, const char *key,
	const char *name)
{
	static struct thing nowhere;

	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 64;
		struct thing *bigger = reallocarray(all->v, room, sizeof(*bigger));

		if (!bigger) {
			all->failed = true;
			nowhere = (struct thing){.kind = kind, .member_count = THING_MEMBERS};
			return &nowhere;
		}
		all->v = bigger;
		all->room = room;
	}
	all->v[all->count] = (struct thing){.kind = kind};
	all->v[all->count].key = copy(all, key);
	all->v[all->count].name = copy(all, name);
	return &all->v[all->count++];
}

static void put_thing(struct things *all, struct thing *t, const char *name, const char *value)
{
	if (t->member_count == THING_MEMBERS)
		return;
	t->members[t->member_count].name = name;
	t->members[t->member_count++].value = copy(all, value ? value : "");
}

static void put_columns(struct things *all, struct thing *t, const struct column_row *row,
	const char *const *names)
{
	char text[COLUMN_TEXT];

	for (; *names; names++) {
		const struct column column = column_find(*names);

		put_thing(all, t, *names, column_text(&column, row, text));
	}
}

static void add_unread(struct things *all, const char *what, const char *message)
{
	if (message)
		put_thing(all, add_thing(all, "unread", what, what), "message", message);
}

/* ---- the present state ---- */

static void add_vf(struct things *all, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	static const char *const names[] = {"driver", "netdev", "rdma", "identity", "policy",
		"lease", "holder", "defined-in", NULL};
	char address[VFCTL_BDF_TEXT], pf_name[COLUMN_TEXT], name[COLUMN_TEXT + 16];
	struct thing *t;

	vfctl_bdf_format(&vf->bdf, address);
	snprintf(name, sizeof(name), "%s/%u", vfctl_pf_name(pf, pf_name), vf->index);
	t = add_thing(all, "vf", address, name);
	t->address = copy(all, address);
	put_columns(all, t, &(struct column_row){.pf = pf, .vf = vf}, names);
}

static void add_pf(struct things *all, const struct vfctl_pf *pf)
{
	static const char *const names[] = {"pf", "driver", "netdev", "rdma", "vfs", "link",
		"identity", NULL};
	char address[VFCTL_BDF_TEXT], name[COLUMN_TEXT];
	struct thing *t;

	vfctl_bdf_format(&pf->bdf, address);
	t = add_thing(all, "pf", address, vfctl_pf_name(pf, name));
	t->address = copy(all, address);
	put_columns(all, t, &(struct column_row){.pf = pf}, names);
	add_unread(all, name, pf->unread);
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		add_vf(all, pf, &pf->vfs[i]);
}

static void add_snapshot(struct things *all, const struct vfctl_snapshot *s)
{
	add_unread(all, "leases", s->leases_error);
	add_unread(all, "domains", s->domains_error);
	add_unread(all, "domain", s->domain_unread);
	add_unread(all, "devices", s->inventory->unread);
	for (size_t i = 0; i < s->inventory->pf_count; i++)
		add_pf(all, &s->inventory->pfs[i]);
}

static int add_domains(struct invocation *in, struct things *all)
{
	_free_ struct vfctl_domain_state *v = NULL;
	size_t count = 0;
	int r = vfctl_domain_states_read(in->ctx, &v, &count);

	for (size_t i = 0; i < count; i++) {
		struct thing *t = add_thing(all, "domain", v[i].name, v[i].name);

		put_thing(all, t, "state", !v[i].running ? "off" : v[i].defined ? "running"
			: "running, not defined");
	}
	return r;
}

static void add_drift(struct things *all, const struct vfctl_declared_pf *pf)
{
	struct thing *t = add_thing(all, "drift", pf->name, pf->name);
	const char *pending = pf->change ? vfctl_change_pending(pf->change) : NULL;

	t->address = pf->address[0] ? copy(all, pf->address) : NULL;
	put_thing(all, t, "state", pf->spec->unmanaged ? "not managed" : pf->error ? "not possible"
		: declared_differs(pf) ? "differs" : "as declared");
	put_thing(all, t, "message", pf->error ? pf->message : pf->change && vfctl_change_count(pf->change)
		? vfctl_change_describe(pf->change, 0) : pending);
	put_thing(all, t, "kept", pf->kept);
}

static void add_findings(struct invocation *in, struct things *all,
	struct vfctl_snapshot *snapshot, const struct vfctl_host_spec *spec)
{
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *found = NULL;
	char key[512];

	if (vfctl_findings_read(in->ctx, snapshot, spec, &found) < 0) {
		add_unread(all, "findings", vfctl_ctx_error(in->ctx));
		return;
	}
	for (size_t i = 0; i < found->count; i++) {
		const struct vfctl_issue *f = &found->v[i];
		struct thing *t;

		snprintf(key, sizeof(key), "%s %s %s", f->domain, f->finding, f->vf);
		t = add_thing(all, "finding", key, f->domain);
		t->address = f->vf[0] ? copy(all, f->vf) : NULL;
		put_thing(all, t, "finding", f->finding);
		put_thing(all, t, "message", f->evidence);
		put_thing(all, t, "remedy", f->remedy);
	}
}

/* Changes of guests are listed as waiting, because libvirt is not called here. */
static void add_changes(struct invocation *in, struct things *all)
{
	static const struct vfctl_recover_options look = {.dry_run = true};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *open = NULL;
	char number[24];
	int r = vfctl_recover(in->ctx, &look, &open);

	if (r < 0 && !open)
		add_unread(all, "changes", vfctl_ctx_error(in->ctx));
	for (size_t i = 0; open && i < open->count; i++) {
		const struct vfctl_recovered_change *c = &open->changes[i];
		struct thing *t;

		snprintf(number, sizeof(number), "%lld", (long long)c->id);
		t = add_thing(all, "change", number, c->story);
		put_thing(all, t, "state", c->outcome == VFCTL_RECOVERED_GOES_ON ? "in progress"
									: "interrupted");
		snprintf(number, sizeof(number), "%lld", (long long)c->pid);
		put_thing(all, t, "pid", number);
	}
}

static int add_declared(struct invocation *in, struct things *all, struct vfctl_snapshot *s,
	struct vfctl_host_spec **ret_spec)
{
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = NULL;
	_cleanup_(vfctl_declared_freep) struct vfctl_declared *declared = NULL;
	int r = vfctl_host_ids_open(in->ctx, option_of(in, "host-yaml"), false, ret_spec, &ids);

	if (r == 0)
		r = vfctl_declared_read(in->ctx, s, *ret_spec, ids, &declared);
	for (size_t i = 0; r == 0 && i < declared->count; i++)
		add_drift(all, &declared->pfs[i]);
	return r;
}

int things_read(struct invocation *in, struct things *ret)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	_cleanup_(things_free) struct things all = {0};
	int r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);

	if (r < 0)
		return r;
	add_snapshot(&all, snapshot);
	r = add_domains(in, &all);
	if (r < 0)
		return r;
	if (add_declared(in, &all, snapshot, &spec) < 0)
		add_unread(&all, "host.yaml", vfctl_ctx_error(in->ctx));
	add_findings(in, &all, snapshot, spec);
	add_changes(in, &all);
	if (all.failed)
		return -ENOMEM;
	*ret = steal(all);
	return 0;
}
