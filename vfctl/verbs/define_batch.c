// SPDX-License-Identifier: GPL-2.0-or-later
/* define --batch: place the guests of a directory together, then define them one by one. */
#include "verbs/define_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/change.h"
#include "facts/snapshot/snapshot.h"
#include "guest/plans.h"
#include "guest_list.h"
#include "result.h"
#include "session.h"

struct defining {
	struct invocation *in;
	struct session s;
	struct guest_list guests;
	char **templates, **template_names; /* of each guest; NULL: none */
	struct vfctl_batch *batch;
	size_t failed;
	bool unfinished, moves, changed;
};

static void close_defining(struct defining *d)
{
	vfctl_batch_free(d->batch);
	for (size_t i = 0; d->templates && d->template_names && i < d->guests.count; i++) {
		free(d->templates[i]);
		free(d->template_names[i]);
	}
	free(d->templates);
	free(d->template_names);
	guest_list_clear(&d->guests);
	close_session(&d->s);
}

static int read_templates(struct defining *d)
{
	int r = 0;

	d->templates = calloc(d->guests.count + 1, sizeof(*d->templates));
	d->template_names = calloc(d->guests.count + 1, sizeof(*d->template_names));
	if (!d->templates || !d->template_names)
		return fail(d->in, -ENOMEM);
	for (size_t i = 0; i < d->guests.count && r == 0; i++)
		r = read_template(d->in, d->guests.v[i], &d->templates[i], &d->template_names[i]);
	return r;
}

/* The templates are in the order of the directory. */
static size_t number_of(const struct defining *d, const struct vfctl_guest *guest)
{
	size_t i = 0;

	while (i + 1 < d->guests.count && d->guests.v[i] != guest)
		i++;
	return i;
}

/* ---- output ---- */

/* One guest; @change NULL: it could not be planned because of @error. */
struct defined_view {
	const char *name;
	const struct vfctl_change *change;
	const char *error;
};

#define OF struct defined_view
FLAG_OF(defined_changed, OF, !it->error && it->change && vfctl_change_count(it->change) > 0)
TEXT_OF(defined_nothing, OF, it->change ? vfctl_change_nothing(it->change) : NULL)
static const struct member defined_table[] = {
	FIELD(name, "name of the guest", FILLED),
	FLAG("changed", defined_changed, "it was defined, or changed"),
	TEXT("nothing_to_do", defined_nothing, "why there was nothing to change", NULLABLE),
	FIELD(error, "why it was not defined; it is as before"),
	PART(change, answer_steps, OPTIONAL, KNOWN_BY_POINTER(change)), END};
#undef OF

static void tell_batch(struct defining *d, const char *name, const struct vfctl_change *change,
	const char *message)
{
	const char *nothing = change ? vfctl_change_nothing(change) : NULL;
	const char *result = change ? vfctl_change_result(change) : NULL;
	struct out *out = d->in->out;

	if (d->in->json) {
		answer_put(out, NULL, defined_table, &(struct defined_view){name, change, message});
	} else if (message) {
		complain_about(d->in, name, message);
	} else if (d->in->dry_run) {
		out_line(out, "%s:%s%s", name, nothing ? " " : "", nothing ? nothing : "");
		for (size_t i = 0; i < vfctl_change_count(change); i++)
			out_line(out, "  %zu. %s", i + 1, vfctl_change_describe(change, i));
	} else if (!d->in->quiet) {
		out_line(out, "%s", result ? result : nothing ? nothing : name);
	}
}

/* ---- defining ---- */

static int plan_and_run(struct defining *d, size_t index, struct vfctl_change **ret_change)
{
	size_t number = number_of(d, vfctl_batch_guest(d->batch, index));
	int r = vfctl_batch_define_plan(d->in->ctx, d->batch, index, d->templates[number],
		d->template_names[number], ret_change);

	if (r == 0 && !d->in->dry_run) {
		r = vfctl_change_run(d->in->ctx, *ret_change);
		d->in->made |= r == 0 && vfctl_change_count(*ret_change);
	}
	return r;
}

static void define_one(struct defining *d, size_t index)
{
	const struct vfctl_guest *guest = vfctl_batch_guest(d->batch, index);
	struct vfctl_ctx *ctx = d->in->ctx;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = plan_and_run(d, index, &change);

	/* Another host of the fleet got the proposed value. */
	for (unsigned tries = 1; r == -EAGAIN && tries < TRIES_MAX; tries++) {
		vfctl_change_free(steal(change));
		r = plan_and_run(d, index, &change);
	}
	d->failed += r < 0;
	d->changed |= r == 0 && change && vfctl_change_count(change) > 0;
	d->unfinished |= r == -ESTALE || (r < 0 && vfctl_ctx_unfinished(ctx));
	d->moves |= r == 0 && change && vfctl_change_moves_ids(change);
	tell_batch(d, guest->name, change, r < 0 ? vfctl_ctx_error(ctx) : NULL);
}

/* The guests are defined while their results are printed. */
struct batch_view {
	struct defining *d;
	bool dry_run, done;
};

static int define_each(struct out *out, const void *of)
{
	struct defining *d = ((const struct batch_view *)of)->d;

	for (size_t i = 0; i < d->guests.count; i++)
		define_one(d, i);
	return 0;
}

/* The leases are read after the domains were defined. */
static void put_domains(struct out *out, const struct member *m, const void *of)
{
	struct defining *d = ((const struct batch_view *)of)->d;
	_free_ const char **names = calloc(d->guests.count + 1, sizeof(*names));
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;

	for (size_t i = 0; names && i < d->guests.count; i++)
		names[i] = d->guests.v[i]->name;
	if (names && vfctl_snapshot_read(d->in->ctx, NULL, &snapshot) == 0)
		answer_put_members(out, answer_domains,
			&(struct domains_result){snapshot, names, d->guests.count});
}

#define OF struct batch_view
FLAG_OF(batch_changed, OF, it->d->changed)
const struct member answer_define_batch[] = {
	FIELD(dry_run, "true: nothing was changed"),
	FILL("guests", define_each, defined_table, "guests in the order of definition"),
	FLAG("changed", batch_changed, "a guest was defined or changed; in a dry run: would be"),
	PUT("domains", put_domains, MEMBER_FILL, "the domains that have a lease", OPTIONAL,
		KNOWN_BY(done), .table = answer_domain),
	PART_SELF(answer_warnings), END};
#undef OF

static int status_of(const struct defining *d)
{
	if (d->unfinished || (d->failed && d->failed < d->guests.count))
		return EXIT_PARTLY;
	return d->failed ? EXIT_FAILED : EXIT_DONE;
}

static int define_all(struct defining *d)
{
	struct batch_view view = {d, d->in->dry_run, !d->in->dry_run};
	int r = vfctl_batch_place(d->in->ctx, d->guests.v, d->guests.count, &d->s.options,
		d->in->dry_run, &d->batch), status;

	if (r < 0)
		return fail(d->in, r);
	warn_hook(d->in);
	if (!d->in->dry_run)
		catch_signals(d->in->ctx);
	if (d->in->json)
		answer_put(d->in->out, NULL, answer_define_batch, &view);
	else
		define_each(d->in->out, &view);
	status = status_of(d);
	if (d->moves && !d->in->dry_run) {
		r = run_after_change(d->in, d->s.host.spec);
		status = status ? status : r;
	}
	return status;
}

int run_define_batch(struct invocation *in, const char *dir)
{
	_cleanup_(close_defining) struct defining d = {.in = in};
	int r = guest_list_read(in, dir, &d.guests);

	if (r == 0)
		r = read_templates(&d);
	if (r == 0)
		r = open_host(in, &d.s, true);
	return r ? r : define_all(&d);
}
