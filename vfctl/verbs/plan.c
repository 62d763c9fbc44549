// SPDX-License-Identifier: GPL-2.0-or-later
/* plan: print where guests would run, and why; nothing changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/change.h"
#include "guest/plans.h"
#include "guest_list.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"
#include "print/plan.h"
#include "result.h"
#include "session.h"
#include "spec/host_yaml.h"
#include "types/hypervisor.h"

static const struct option_row plan_options[] = {
	{"model", 0, "FILE", "use a model instead of this host: a file (JSON, hwloc XML) or "
		"synthetic:TEXT",
		NULL},
	{"why-not", 0, "NODE", "explain why the guest is not placed on this NUMA node", NULL},
	{"batch", 0, "DIR", "plan all *.yaml files of DIR together, instead of GUEST.yaml", NULL},
	{"rebalance", 0, NULL, "propose the fewest moves that make existing guests local", NULL},
	{"reserve", 0, "CPUS", "CPUs that are kept for the host, such as 0-1", NULL},
};

struct planning {
	struct invocation *in;
	struct session s;
	struct vfctl_host_model *model;
	struct guest_list guests;
	struct guest_list there; /* of a batch: guests that libvirt already has */
	struct vfctl_requests *requests;
	struct vfctl_plan *plan;
};

static void close_planning(struct planning *p)
{
	vfctl_plan_free(p->plan);
	vfctl_requests_free(p->requests);
	guest_list_clear(&p->guests);
	guest_list_clear(&p->there);
	vfctl_model_free(p->model);
	close_session(&p->s);
}

/* ---- plans ---- */

static int make_plan(struct planning *p)
{
	bool elsewhere = option_of(p->in, "model"); /* its profiles are not known */
	int r = 0;

	for (size_t i = 0; r == 0 && !elsewhere && i < p->guests.count; i++)
		r = vfctl_guest_check_tuning(p->in->ctx, p->s.host.spec, p->guests.v[i]);
	if (r == 0)
		r = vfctl_requests_make(p->in->ctx, p->model, p->guests.v, p->guests.count, &p->requests);
	if (r == 0)
		r = vfctl_plan_make(p->in->ctx, p->model, p->requests->v, p->guests.count, NULL,
			&p->plan);
	return r < 0 ? fail(p->in, r) : 0;
}

static bool any_refused(const struct vfctl_plan *plan)
{
	for (size_t i = 0; plan && i < plan->count; i++)
		if (plan->assignments[i].refusal != VFCTL_REFUSAL_NONE)
			return true;
	return false;
}

/* ---- existing guests ---- */

/* Found by its name or UUID: libvirt would change that domain. */
static int is_there(struct planning *p, const struct vfctl_guest *guest)
{
	const char *const names[] = {guest->name, guest->uuid};
	struct vfctl_hypervisor *hv = p->s.hv;
	_cleanup_(vfctl_domain_info_clear) struct vfctl_domain_info info = {0};
	int r = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(names) && names[i] && r == -ENOENT; i++)
		r = hv->get(p->in->ctx, hv, names[i], true, &info);
	return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

/* With a model from a file, all guests are new. */
static int set_apart(struct planning *p)
{
	size_t count = p->guests.count;

	if (!p->s.hv || !count)
		return 0;
	p->there.v = calloc(count, sizeof(*p->there.v));
	if (!p->there.v)
		return fail(p->in, -ENOMEM);
	p->guests.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct vfctl_guest *guest = p->guests.v[i];
		int r = is_there(p, guest);

		if (r == 1)
			p->there.v[p->there.count++] = guest;
		else
			p->guests.v[p->guests.count++] = guest;
		if (r < 0) {
			while (++i < count)
				p->guests.v[p->guests.count++] = p->guests.v[i];
			return fail(p->in, r);
		}
	}
	return 0;
}

struct there_view {
	const char *name;
	const struct vfctl_change *change; /* NULL: @error has the reason */
	const char *error;
};

#define OF struct there_view
TEXT_OF(there_nothing, OF, it->change ? vfctl_change_nothing(it->change) : NULL)
static const struct member there_table[] = {
	FIELD(name, "name of the guest", FILLED),
	TEXT("nothing_to_do", there_nothing, "why define would change nothing", NULLABLE),
	FIELD(error, "why define cannot change it"),
	PART(change, answer_steps), END};
#undef OF

static void print_there(struct planning *p, const struct vfctl_guest *guest,
	const struct vfctl_change *change, const char *message)
{
	const char *nothing = change ? vfctl_change_nothing(change) : NULL;
	struct out *out = p->in->out;

	out_fold(out, 2, "%s is already defined%s%s", guest->name, message || nothing ? ": " : "; "
		"define would change it (without regard to the new "
		"guests):", message ? message : nothing ? nothing : "");
	for (size_t i = 0; change && i < vfctl_change_count(change); i++)
		out_line(out, "  %zu. %s", i + 1, vfctl_change_describe(change, i));
}

/* Plan it like define; false: that fails. */
static bool tell_there(struct planning *p, struct vfctl_guest *guest)
{
	_free_ char *text = NULL, *name = NULL;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	const char *message = NULL;
	int r = read_template(p->in, guest, &text, &name);

	if (r == 0)
		r = vfctl_define_plan(p->in->ctx, guest, &p->s.options, text, name, true, &change);
	if (r)
		message = r < 0 ? vfctl_ctx_error(p->in->ctx) : "its template cannot be read";
	if (p->in->json)
		answer_put(p->in->out, NULL, there_table, &(struct there_view){guest->name, change, message});
	else
		print_there(p, guest, change, message);
	return r == 0;
}

static bool tell_all_there(struct planning *p)
{
	bool all = true;

	for (size_t i = 0; i < p->there.count; i++)
		all &= tell_there(p, p->there.v[i]);
	return all;
}

struct batch_view {
	struct planning *p;
	struct proof_view proof;
	bool *ret_all; /* whether define could change all existing guests */
};

static int fill_planned(struct out *out, const void *of)
{
	struct planning *p = ((const struct batch_view *)of)->p;

	for (size_t i = 0; p->plan && i < p->plan->count; i++)
		answer_put(out, NULL, answer_assignment, &(struct assignment_view){p->guests.v[i]->name,
			&p->plan->assignments[i], NULL, p->model});
	return 0;
}

static int fill_there(struct out *out, const void *of)
{
	const struct batch_view *view = of;

	*view->ret_all = tell_all_there(view->p);
	return 0;
}

#define OF struct batch_view
static const struct member batch_table[] = {
	FILL("guests", fill_planned, answer_assignment, "the new guests"),
	FILL("there", fill_there, there_table, "guests that libvirt has already, and what define "
		"would change"),
	PART(proof, answer_proof, OPTIONAL, KNOWN_BY_POINTER(proof.plan)), END};
#undef OF

static int run_batch(struct planning *p, const char *dir)
{
	int r = guest_list_read(p->in, dir, &p->guests);
	bool all = true;

	if (r == 0)
		r = read_model(p->in, &p->s, &p->model);
	if (r == 0)
		r = set_apart(p);
	if (r == 0 && (p->guests.count || !p->there.count))
		r = make_plan(p);
	if (r)
		return r;
	p->s.options.without_identities = true;
	if (p->in->json) {
		answer_put(p->in->out, NULL, batch_table, &(struct batch_view){p, {p->model, p->plan}, &all});
	} else {
		if (p->plan)
			print_batch(p->in->out, p->model, p->guests.v, p->plan);
		all = tell_all_there(p);
	}
	return any_refused(p->plan) || !all ? EXIT_FAILED : EXIT_DONE;
}

static int run_rebalance(struct planning *p)
{
	_cleanup_(vfctl_rebalance_freep) struct vfctl_rebalance *rebalance = NULL;
	int r = read_model(p->in, &p->s, &p->model);

	if (r)
		return r;
	r = vfctl_model_read_words(p->in->ctx, p->model, p->s.options.hypervisor);
	if (r == 0)
		r = vfctl_plan_rebalance(p->in->ctx, p->model, NULL, &rebalance);
	if (r < 0)
		return fail(p->in, r);
	if (p->in->json)
		answer_put(p->in->out, NULL, answer_rebalance,
			&(struct rebalance_view){{p->model, rebalance->plan}, rebalance});
	else
		print_rebalance(p->in->out, p->model, rebalance);
	return rebalance->move_count ? EXIT_DRIFT : EXIT_DONE;
}

struct why_not_view {
	const struct vfctl_reason *reasons;
	size_t count;
};

#define OF struct why_not_view
static const struct member why_not_table[] = {
	LIST("reasons", reasons, count, answer_reason, "why the guest is not placed on that "
		"node"), END};
#undef OF

static int run_why_not(struct planning *p)
{
	struct vfctl_reason *reasons;
	size_t count;
	uint32_t node;
	int r = option_number(p->in, "why-not", 0, VFCTL_CPU_MAX - 1, &node);

	if (r == 0)
		r = guest_list_add(p->in, p->in->args[0], &p->guests);
	if (r == 0)
		r = read_model(p->in, &p->s, &p->model);
	if (r)
		return r;
	r = vfctl_requests_make(p->in->ctx, p->model, p->guests.v, 1, &p->requests);
	if (r == 0)
		r = vfctl_plan_why_not(p->in->ctx, p->model, &p->requests->v[0], (int)node, NULL,
			&reasons, &count);
	if (r < 0)
		return fail(p->in, r);
	if (p->in->json)
		answer_put(p->in->out, NULL, why_not_table, &(struct why_not_view){reasons, count});
	else
		print_reasons(p->in->out, reasons, count);
	for (size_t i = 0; i < count; i++)
		free(reasons[i].text);
	free(reasons);
	return EXIT_DONE;
}

struct one_view {
	struct assignment_view assignment;
	struct proof_view proof;
};

#define OF struct one_view
static const struct member one_table[] = {
	PART(assignment, answer_assignment),
	PART(proof, answer_proof), END};
#undef OF

/* Print one guest, with the identities that its VFs would get if the host is this one. */
static int print_one(struct planning *p, const char *name, const struct vfctl_host_model *model,
	const struct vfctl_plan *plan, const struct vfctl_domain_vf *vfs)
{
	struct out *out = p->in->out;

	if (p->in->json) {
		answer_put(out, NULL, one_table, &(struct one_view){{name, &plan->assignments[0], vfs, model},
			{model, plan}});
	} else {
		print_assignment(out, name, model, &plan->assignments[0], vfs);
		print_left(out, model, plan);
		print_proof(out, model, plan);
	}
	return any_refused(plan) ? EXIT_FAILED : EXIT_DONE;
}

static int run_live(struct planning *p)
{
	_cleanup_(vfctl_placement_freep) struct vfctl_placement *placed = NULL;
	const struct vfctl_domain_vf *vfs;
	size_t count;
	int r = open_session(p->in, &p->s, false);

	if (r)
		return r;
	if (vfctl_guest_check_host(p->in->ctx, p->s.guest, p->s.hv) < 0)
		warn("define would refuse: %s", vfctl_ctx_error(p->in->ctx));
	p->s.options.without_identities = true;
	p->s.options.with_gpus = true;
	r = vfctl_guest_check_tuning(p->in->ctx, p->s.options.spec, p->s.guest);
	if (r == 0)
		r = vfctl_place(p->in->ctx, p->s.guest, &p->s.options, &placed);
	if (r < 0)
		return fail(p->in, r);
	vfs = vfctl_placement_vfs(placed, &count);
	return print_one(p, p->s.guest->name, vfctl_placement_model(placed), vfctl_placement_plan(placed),
		count == vfctl_placement_assignment(placed)->vf_count ? vfs : NULL);
}

static int run_on_model(struct planning *p)
{
	int r = guest_list_add(p->in, p->in->args[0], &p->guests);

	if (r == 0)
		r = read_model(p->in, &p->s, &p->model);
	if (r == 0)
		r = make_plan(p);
	return r ? r : print_one(p, p->guests.v[0]->name, p->model, p->plan, NULL);
}

static int run_plan(struct invocation *in)
{
	const char *batch = option_of(in, "batch"), *why_not = option_of(in, "why-not");
	bool rebalance = option_of(in, "rebalance") != NULL;
	_cleanup_(close_planning) struct planning p = {.in = in};

	if ((batch != NULL) + (why_not != NULL) + rebalance > 1)
		return usage(in, "use only one of --batch, --rebalance and --why-not");
	if ((batch || rebalance) && in->arg_count)
		return usage(in, "%s takes no GUEST.yaml", batch ? "--batch" : "--rebalance");
	if (!batch && !rebalance && !in->arg_count)
		return usage(in, "GUEST.yaml is missing");
	if (batch)
		return run_batch(&p, batch);
	if (rebalance)
		return run_rebalance(&p);
	if (why_not)
		return run_why_not(&p);
	return option_of(in, "model") ? run_on_model(&p) : run_live(&p);
}

static const struct answer plan_answer[] = {{"For one guest", one_table, false},
	{"With `--batch`", batch_table, false}, {"With `--rebalance`", answer_rebalance, false},
	{"With `--why-not`", why_not_table, false}, {0}};

const struct command cmd_plan = {
	.name = "plan",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = plan_answer,
	.args = "[GUEST.yaml]",
	.summary = "Show where guests would be placed, and why",
	.text = "Changes nothing. The plan is optimal, criterion by criterion: most guests "
		"placed, most of them wholly local, smallest NUMA distance, largest pages, most "
		"space for the next guests, PFs used evenly. The last line states for which "
		"criteria this is proven. Exit status: 1 if a guest does not fit (the reasons "
		"name what is missing on which node, and what would make it fit); 2 if no host of "
		"this kind could meet the request; 3 if --rebalance proposes moves. With --batch "
		"existing guests keep their place, and the plan shows what define would change of "
		"them.",
	.examples = {{"vfctl plan web.yaml", "one guest"},
		{"vfctl plan --rebalance", "the fewest moves that make guests local"}},
	.min_args = 0,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(plan_options),
	.run = run_plan,
};
