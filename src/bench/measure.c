// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vfctl bench run: read the plan, determine the order of the runs, check both ends, record settings
 * and tunnels in the journal, carry out the runs, and restore everything. The measurements are
 * written to the result directory, line by line.
 */
#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/change.h"
#include "base/json.h"
#include "base/lock_holder.h"
#include "bench/plan_draft.h"
#include "bench/run.h"
#include "bench/search.h"
#include "change/recover.h"
#include "host/files.h"
#include "host/host.h"
#include "remote/settings.h"

#define PLAN "plan.yaml"

struct vfctl_bench {
	struct vfctl_ctx *ctx;
	struct vfctl_hypervisor *hypervisor;
	struct bench *bench;
	struct steps steps;
	int locks[64];
	size_t lock_count;
};

/* ---- opening ---- */

void vfctl_bench_close(struct vfctl_bench *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->lock_count; i++)
		close(b->locks[i]);
	steps_clear(&b->steps);
	bench_free(b->bench);
	free(b);
}

/* Takes over @plan; @text is stored in the result directory. */
static int open_plan(struct vfctl_ctx *ctx, struct bench_plan *plan, const char *text,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret)
{
	static const struct vfctl_bench_plan_options plain = {0};
	_cleanup_(vfctl_bench_closep) struct vfctl_bench *b = calloc(1, sizeof(*b));
	const struct vfctl_bench_plan_options *o = options ? options : &plain;
	int r;

	if (!b) {
		bench_plan_free(plan);
		return ctx_oom(ctx);
	}
	*b = (struct vfctl_bench){.ctx = ctx, .hypervisor = o->hypervisor};
	if (o->quick)
		bench_plan_quicken(plan);
	if (o->trials)
		plan->trials = o->trials;
	r = bench_new(ctx, plan, text,
		&(struct bench_how){.seed = o->seed, .hypervisor = o->hypervisor, .quick = o->quick,
			.searches = o->search, .max_seconds = o->max_seconds},
		&b->bench);
	if (r == 0)
		*ret = steal(b);
	return r;
}

int vfctl_bench_check(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len)
{
	_cleanup_(bench_plan_freep) struct bench_plan *plan = NULL;
	int r = bench_plan_parse(ctx, file, text, len, &plan);
	unsigned needed = r < 0 ? 0 : bench_plan_trials_needed(plan);

	if (r == 0 && plan->trials < needed)
		log_warn(ctx, "%s: trials: %u is too few for a verdict at alpha %g; write trials: %u or more",
			file, plan->trials, plan->alpha, needed);
	return r;
}

int vfctl_bench_open(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret)
{
	_free_ char *copy = strndup(text, len);
	struct bench_plan *plan = NULL;
	int r = copy ? bench_plan_parse(ctx, file, text, len, &plan) : ctx_oom(ctx);

	return r < 0 ? ctx_mark_usage_error(ctx, r) : open_plan(ctx, plan, copy, options, ret);
}

int vfctl_bench_open_draft(struct vfctl_ctx *ctx, const struct plan_draft *draft,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret)
{
	const struct doc_node *root;
	struct bench_plan *plan = NULL;
	_free_ char *text = NULL;
	int r = plan_draft_read(ctx, draft, &root, &text);

	if (r == 0)
		r = bench_plan_read(ctx, root, &plan);
	return r < 0 ? ctx_mark_usage_error(ctx, r) : open_plan(ctx, plan, text, options, ret);
}

static int read_text(struct vfctl_ctx *ctx, const char *directory, const char *name, char **ret)
{
	size_t len;
	int r = vfctl_tree_read(ctx, directory, name, BENCH_PLAN_FILE_MAX * 4, ret, &len);

	return r < 0 ? ctx_prefix(ctx, r, "read") : 0;
}

/* Order and number of runs are those of bench.json, which may have been set by options. */
static int read_order(struct vfctl_ctx *ctx, const char *directory,
	struct vfctl_bench_plan_options *o)
{
	_free_ char *path = str_format("%s/" BENCH_DESCRIPTION, directory), *text = NULL;
	_json_doc_ struct json *json = NULL;
	const struct json *search;
	int64_t seed = 0, trials = 0, limit = 0;
	int r = path ? read_text(ctx, directory, BENCH_DESCRIPTION, &text) : ctx_oom(ctx);

	if (r == 0)
		r = json_read(ctx, path, text, strlen(text), &json);
	if (r < 0)
		return r;
	if (json_number(json_member(json, "seed"), &seed) < 0 || seed <= 0 ||
		json_number(json_member(json, "trials"), &trials) < 0 || trials <= 0 ||
		trials > UINT32_MAX)
		return ctx_fail(ctx, -EBADMSG, "%s has no seed and no number of trials: vfctl did not "
			"measure that result", path);
	o->seed = (uint64_t)seed;
	o->trials = (uint32_t)trials;
	o->quick = json_flag(json_member(json, "quick"));
	search = json_member(json, "search");
	o->search = json_kind(search) == JSON_KIND_OBJECT;
	if (o->search && (json_number(json_member(search, "max_seconds"), &limit) < 0 || limit < 0 ||
				 limit > UINT32_MAX))
		return ctx_fail(ctx, -EBADMSG, "%s: \"search\" has no max_seconds", path);
	o->max_seconds = (uint32_t)limit;
	return 0;
}

int vfctl_bench_reopen(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_plan_options *options, struct vfctl_bench **ret)
{
	struct vfctl_bench_plan_options o = options ? *options : (struct vfctl_bench_plan_options){0};
	_free_ char *path = str_format("%s/" PLAN, directory), *text = NULL;
	int r = path ? read_order(ctx, directory, &o) : ctx_oom(ctx);

	if (r == 0)
		r = read_text(ctx, directory, PLAN, &text);
	if (r < 0)
		return ctx_append(ctx, ctx_mark_usage_error(ctx, r), " (is %s the directory of a result?)",
			directory);
	return vfctl_bench_open(ctx, path, text, strlen(text), &o, ret);
}

/* ---- description ---- */

const char *vfctl_bench_name(const struct vfctl_bench *b)
{
	return b->bench->plan->name;
}

uint64_t vfctl_bench_seed(const struct vfctl_bench *b)
{
	return b->bench->seed;
}

size_t vfctl_bench_turn_count(const struct vfctl_bench *b)
{
	return b->bench->turn_count;
}

size_t vfctl_bench_most_runs(const struct vfctl_bench *b)
{
	return bench_planned_runs(b->bench);
}

unsigned vfctl_bench_trials(const struct vfctl_bench *b)
{
	return b->bench->plan->trials;
}

unsigned vfctl_bench_trials_needed(const struct vfctl_bench *b)
{
	return b->bench->searches ? 0 : bench_plan_trials_needed(b->bench->plan);
}

unsigned vfctl_bench_run_seconds(const struct vfctl_bench *b)
{
	return b->bench->point_count ? tool_seconds(b->bench->points[0].test) : 0;
}

const char *vfctl_bench_configuration_name(const struct vfctl_bench *b, size_t index)
{
	return index < b->bench->plan->configuration_count
		? b->bench->plan->configurations[index].name
		: NULL;
}

unsigned vfctl_bench_seconds(const struct vfctl_bench *b)
{
	unsigned seconds = 0;

	for (size_t i = 0; i < b->bench->turn_count; i++) {
		const struct bench_point *p = &b->bench->points[b->bench->turns[i].point];

		/* One for starting both programs, and 50 us for each iteration. */
		seconds += 1 + (p->iterations ? (unsigned)(p->iterations / 20000) : tool_seconds(p->test));
	}
	return seconds;
}

const char *vfctl_bench_source(const struct vfctl_bench *b)
{
	return b->bench->plan->source;
}

static void add_need(struct argv *needs, const char *need)
{
	for (size_t i = 0; i < needs->count; i++)
		if (str_eq(needs->v[i], need))
			return;
	argv_add(needs, "%s", need);
}

int vfctl_bench_needs(const struct vfctl_bench *b, char ***ret)
{
	const struct bench_plan *plan = b->bench->plan;
	_cleanup_(argv_clear) struct argv needs = {0};
	unsigned can = 0;

	for (size_t i = 0; i < b->bench->point_count; i++) {
		const struct bench_point *p = &b->bench->points[i];

		add_need(&needs, p->test->command ? p->test->command[0]
			: p->tool->package ? p->tool->package : p->tool->parser == BENCH_OSU ? "OSU and MPI"
			: p->tool->name);
		can |= p->tool->can;
	}
	if (can & TOOL_RDMA)
		add_need(&needs, "RDMA");
	for (size_t i = 0; i < plan->configuration_count; i++)
		if (plan->configurations[i].wireguard_mtu)
			add_need(&needs, "WireGuard");
	for (size_t i = 0; i < plan->endpoint_count; i++) {
		if (plan->endpoints[i].where == ENDPOINT_SSH)
			add_need(&needs, "ssh");
		if (plan->endpoints[i].where == ENDPOINT_GUEST)
			add_need(&needs, "a guest");
	}
	for (char **text = plan->requires; text && *text; text++)
		add_need(&needs, *text);
	if (needs.failed)
		return ctx_oom(b->ctx);
	*ret = steal(needs.v);
	needs = (struct argv){0};
	return 0;
}

int vfctl_bench_turn(const struct vfctl_bench *b, size_t index, struct vfctl_bench_turn *ret)
{
	const struct bench_turn *turn = &b->bench->turns[index];
	struct vfctl_bench_turn t = {.trial = turn->trial,
		.configuration = b->bench->plan->configurations[turn->configuration].name};
	char message[128];
	int r = bench_commands(b->bench, index, &t.client, &t.server);

	if (r < 0)
		return r;
	t.what = strdup(bench_point_text(&b->bench->points[turn->point], message));
	if (!t.what) {
		free(t.client);
		free(t.server);
		return ctx_oom(b->ctx);
	}
	*ret = t;
	return 0;
}

int vfctl_bench_look(struct vfctl_bench *b)
{
	int r = host_check_writable(b->ctx);

	if (r == 0)
		r = bench_look(b->bench);
	return r < 0 ? r : bench_steps(b->bench, &b->steps);
}

size_t vfctl_bench_checks(const struct vfctl_bench *b, const struct bench_check **ret_checks)
{
	*ret_checks = b->bench->survey.checks;
	return b->bench->survey.check_count;
}

const char *vfctl_bench_effect(const struct vfctl_bench *b, size_t index)
{
	return index < b->steps.count ? b->steps.v[index].describe : NULL;
}

/* ---- locks ---- */

static int lock_name(struct vfctl_bench *b, const struct endpoint *end, char **ret)
{
	struct endpoint of = *end;
	_free_ char *target = NULL;

	of.device = of.device ? of.device : of.rdma;
	target = settings_target(&of);
	*ret = target ? str_format(HOST_LOCK_BENCH "%s", target) : NULL;
	if (!*ret)
		return ctx_oom(b->ctx);
	for (char *c = *ret; *c; c++)
		if (*c == '/' || *c == '|')
			*c = '_';
	return 0;
}

static int take_lock(struct vfctl_bench *b, const struct endpoint *end, const char *name)
{
	_free_ char *path = NULL, *holder = NULL;
	int fd = -1, r = host_try_lock(b->ctx, name, &fd);

	if (r == -EBUSY) {
		path = str_format(HOST_LOCK_DIR "/%s.lock", name);
		holder = path ? lock_holder(path, true) : NULL;
		return ctx_fail(b->ctx, -EBUSY, "another vfctl is measuring endpoint %s%s%s: two "
			"measurements at once would disturb each other", end->name, holder ? ": " : "",
			holder ? holder : "");
	}
	if (r == 0)
		b->locks[b->lock_count++] = fd;
	return r;
}

/* Both ends may be one interface. */
static bool is_taken(char *const names[], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

/*
 * Lock every interface that is measured. A user who cannot write to /run cannot change settings
 * either, and measures without locks. @ret_name: the first of the locks.
 */
static int take_locks(struct vfctl_bench *b, char **ret_name)
{
	_strv_ char **names = calloc(ARRAY_SIZE(b->locks) + 1, sizeof(char *));
	size_t count = 0;
	int r = names ? 0 : ctx_oom(b->ctx);

	for (size_t i = 0; i < b->bench->plan->endpoint_count && r == 0; i++) {
		const struct bench_end *e = &b->bench->ends[i];
		_free_ char *name = NULL;

		if (!e->used || !(e->place.end->device || e->place.end->rdma))
			continue;
		r = lock_name(b, e->place.end, &name);
		if (r < 0 || is_taken(names, count, name))
			continue;
		r = take_lock(b, e->place.end, name);
		if ((r == -EACCES || r == -EROFS) && !b->steps.count) {
			ctx_clear(b->ctx);
			return 0;
		}
		names[count++] = steal(name);
	}
	if (r == 0 && count && !(*ret_name = strdup(names[0])))
		r = ctx_oom(b->ctx);
	return r;
}

/* ---- the result directory ---- */

static int write_file(struct vfctl_ctx *ctx, const char *dir, const char *name, const char *text)
{
	return vfctl_tree_write(ctx, dir, name, false, text, strlen(text));
}

static int make_parents(struct vfctl_ctx *ctx, const char *dir)
{
	_free_ char *path = strdup(dir);

	if (!path)
		return ctx_oom(ctx);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return ctx_fail(ctx, -errno, "make %s: %s", path, strerror(errno));
		*slash = '/';
	}
	return 0;
}

/*
 * A result of another plan is not continued: results of two plans cannot be compared in one table.
 */
static int check_same(struct vfctl_bench *b, const char *dir)
{
	_free_ char *text = NULL;
	struct vfctl_bench_plan_options o = {0};
	int r = read_text(b->ctx, dir, PLAN, &text);

	if (r == 0)
		r = read_order(b->ctx, dir, &o);
	if (r < 0 || !str_eq(text, b->bench->text) || o.seed != b->bench->seed ||
		o.trials != b->bench->plan->trials || o.search != b->bench->searches ||
		o.quick != b->bench->quick ||
		(double)o.max_seconds != b->bench->max_seconds)
		return ctx_usage_error(b->ctx, -EEXIST, "%s has another result; name another directory, "
			"or continue that one: vfctl %s --resume %s", dir,
			r == 0 && o.search ? "tune search" : "bench run", dir);
	return 0;
}

static int make_result(struct vfctl_bench *b, const char *dir)
{
	_free_ char *text = NULL;
	int r = make_parents(b->ctx, dir);

	if (r < 0)
		return r;
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return ctx_fail(b->ctx, -errno, "make %s: %s", dir, strerror(errno));
	if (errno == EEXIST) {
		_free_ char *path = str_format("%s/" BENCH_DESCRIPTION, dir);

		if (path && access(path, F_OK) == 0)
			return check_same(b, dir);
	}
	r = bench_description(b->bench, &text);
	if (r == 0)
		r = write_file(b->ctx, dir, PLAN, b->bench->text);
	return r < 0 ? r : write_file(b->ctx, dir, BENCH_DESCRIPTION, text);
}

/* ---- measuring ---- */

static int put_back(struct vfctl_bench *b)
{
	struct vfctl_hypervisor *outer = b->ctx->hypervisor;
	sig_atomic_t cancelled = b->ctx->cancelled;
	int r = 0;

	/* Settings are restored after an interruption, too. */
	b->ctx->cancelled = 0;
	b->ctx->hypervisor = b->hypervisor;
	ctx_progress(b->ctx, "restoring settings");
	for (size_t i = b->steps.count; i-- > 0;) {
		int e = ops_revert(b->ctx, b->steps.v[i].ops, b->steps.v[i].op_count);

		r = r < 0 ? r : e;
	}
	b->ctx->hypervisor = outer;
	b->ctx->cancelled = cancelled;
	return r;
}

/* Join both error messages, first that of the measurement. */
static int join_bench_plan(struct vfctl_bench *b, int measured, const char *message, int back)
{
	if (back == 0)
		return measured < 0 ? ctx_fail(b->ctx, measured, "%s", message) : 0;
	if (measured == 0)
		return ctx_append(b->ctx, -ESTALE, " (the figures are saved, but not all settings are "
			"restored; run: vfctl recover)");
	return ctx_prefix(b->ctx, -ESTALE, "%s; not all settings are restored (run: vfctl recover)",
		message);
}

static int measure_all(struct vfctl_bench *b, const char *dir)
{
	return b->bench->searches ? bench_search(b->bench, dir) : bench_measure(b->bench, dir);
}

static int measure_with_journal(struct vfctl_bench *b, const char *dir, struct vfctl_change *change)
{
	const struct journal *journal = change->entry.journal;
	_free_ char *message = NULL;
	int64_t id = 0;
	int measured, back, r = journal->begin(b->ctx, &change->entry, &b->steps, &id);

	if (r < 0)
		return ctx_prefix(b->ctx, r, "nothing is measured");
	measured = measure_all(b, dir);
	message = strdup(vfctl_ctx_error(b->ctx));
	back = put_back(b);
	if (back == 0)
		r = journal->end(b->ctx, id);
	else
		journal->leave(b->ctx);
	return join_bench_plan(b, measured, message ? message : "", back < 0 ? back : r);
}

static int begin_entry(struct vfctl_bench *b, struct vfctl_change *change, const char *lock,
	const char *fmt, ...) _printf_(4, 5);
static int begin_entry(struct vfctl_bench *b, struct vfctl_change *change, const char *lock,
	const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = change_journal(b->ctx, change, lock, fmt, args);
	va_end(args);
	return r;
}

/* First restore what an earlier measurement left when it was killed; then check again. */
static int measure_held(struct vfctl_bench *b, const char *dir, const char *lock)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r;

	if (!b->steps.count)
		return measure_all(b, dir);
	r = change_new(b->ctx, &change);
	if (r == 0)
		r = begin_entry(b, change, lock, "bench run %s", dir);
	return r < 0 ? r : measure_with_journal(b, dir, change);
}

/* Restore settings that a killed run left in a guest, through its agent. */
static int recover_earlier(struct vfctl_bench *b, const char *lock)
{
	struct vfctl_hypervisor *outer = b->ctx->hypervisor;
	int r;

	b->ctx->hypervisor = b->hypervisor;
	r = recover_locked(b->ctx, lock);
	b->ctx->hypervisor = outer;
	return r;
}

int vfctl_bench_run(struct vfctl_bench *b, const char *directory)
{
	const struct bench_check *failed = survey_failed(&b->bench->survey);
	_free_ char *lock = NULL;
	int r;

	if (failed)
		return ctx_fail(b->ctx, -ENODEV, "%s", failed->text);
	r = take_locks(b, &lock);
	if (r == 0 && lock)
		r = recover_earlier(b, lock);
	if (r == 0)
		r = make_result(b, directory);
	return r < 0 ? r : measure_held(b, directory, lock);
}
