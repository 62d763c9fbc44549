// SPDX-License-Identifier: GPL-2.0-or-later
/* try: apply, and roll back unless the user confirms. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/context.h"
#include "host/trial.h"
#include "print/declared.h"
#include "progress.h"
#include "verbs/apply_lag.h"
#include "verbs/apply_run.h"

#define TIMEOUT_USUAL_S 120
#define LOOK_MS 200

/* The changes that are applied and wait: the host as a whole, and the PFs. */
struct attempt {
	struct trial *host, *pfs;
};

static const char confirmed[] = "confirmed", timed_out[] = "timeout", refused[] = "refused",
	interrupted[] = "interrupted", failed[] = "failed";

/* ---- the answer ---- */

struct question {
	int64_t end_ms;
	bool terminal, heard; /* whether standard input is a terminal; answers are read from it */
	bool counts;	      /* the seconds are counted down on the terminal */
};

/* A read from the terminal in the background would stop this process. */
static bool may_read(const struct question *q)
{
	return q->heard && (!q->terminal || tcgetpgrp(STDIN_FILENO) == getpgrp());
}

static bool is_yes(const char *line)
{
	static const char *const words[] = {"", "y", "yes", "keep"};
	size_t len = strcspn(line, "\r\n");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && strncasecmp(line, words[i], len) == 0)
			return true;
	return false;
}

/*
 * NULL: no answer yet. The end of input on a terminal is an answer; the end of a file or pipe is
 * not.
 */
static const char *read_answer(struct question *q)
{
	char line[256] = "";
	ssize_t size = read(STDIN_FILENO, line, sizeof(line) - 1);

	if (size > 0)
		return is_yes(line) ? confirmed : refused;
	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return NULL;
	q->heard = false;
	return q->terminal ? refused : NULL;
}

static const char *look(struct question *q, const struct attempt *of)
{
	struct pollfd in = {may_read(q) ? STDIN_FILENO : -1, POLLIN, 0};
	int64_t left = q->end_ms - now_ms();
	const char *answer = NULL;

	if (poll(&in, 1, left > LOOK_MS ? LOOK_MS : left > 0 ? (int)left : 0) > 0)
		answer = read_answer(q);
	if (answer)
		return answer;
	if (noted_signal())
		return noted_signal() == SIGUSR1 ? confirmed : interrupted;
	if (trial_failed(of->host) || trial_failed(of->pfs))
		return failed;
	return q->end_ms > now_ms() ? NULL : timed_out;
}

static void count_down(const struct question *q, bool last)
{
	if (!q->counts)
		return;
	progress_hide();
	if (last)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\rrolling back in %lld s \033[K",
			(long long)(q->end_ms - now_ms() + 999) / 1000);
	fflush(stderr);
	progress_go_on();
}

static void print_question(const struct invocation *in, const struct question *q, unsigned seconds,
	bool lags)
{
	if (in->quiet)
		return;
	fflush(stdout);
	if (lags)
		say_clean("VF-LAGs are not tried: they are applied when you keep the rest");
	if (q->terminal)
		say_clean("applied for now; press Enter within %u s to keep this, Ctrl-C to roll it back; in "
			"another shell: vfctl try --confirm", seconds);
	else
		say_clean("applied for now; to keep this, enter a line within %u s, or: vfctl try --confirm",
			seconds);
}

static const char *ask(const struct invocation *in, const struct attempt *of, unsigned seconds,
	bool lags)
{
	struct question q = {.end_ms = now_ms() + (int64_t)seconds * 1000, .heard = true,
		.terminal = isatty(STDIN_FILENO), .counts = progress_is_shown() && !in->quiet};
	const char *answer = NULL;
	int64_t shown = 0;

	/* Input that was typed before the question is not an answer. */
	if (q.terminal && may_read(&q))
		tcflush(STDIN_FILENO, TCIFLUSH);
	print_question(in, &q, seconds, lags);
	while (!answer) {
		if (now_ms() - shown >= 1000) {
			count_down(&q, false);
			shown = now_ms();
		}
		answer = look(&q, of);
	}
	count_down(&q, true);
	return answer;
}

/* ---- the trial ---- */

static int begin(struct applying *a, struct attempt *ret)
{
	struct jobs host = applying_host_jobs(a), pfs = applying_pf_jobs(a);
	int r = trial_begin(&host, &ret->host);

	if (r == 0 && !trial_failed(ret->host))
		r = trial_begin(&pfs, &ret->pfs);
	return r;
}

static bool lags_differ(const struct vfctl_declared *d)
{
	for (size_t i = 0; i < d->lag_count; i++)
		if (declared_lag_differs(&d->lags[i]))
			return true;
	return false;
}

/* Mark the PFs that were not begun because the change of the host as a whole failed. */
static void mark_rest(struct applying *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (!a->pfs.v[i].error)
			a->pfs.v[i] = (struct outcome){.error = -EINTR,
				.message = strdup("not begun: the host as a whole was not changed")};
}

static void carry_out(struct applying *a, unsigned seconds, int lock)
{
	struct attempt of = {0};
	int r;

	note_signals();
	/* A stopped process would not count seconds. */
	signal(SIGTSTP, SIG_IGN);
	r = begin(a, &of);
	if (r < 0 || trial_failed(of.host) || trial_failed(of.pfs))
		a->ended = noted_signal() && noted_signal() != SIGUSR1 ? interrupted : failed;
	else
		vfctl_trial_ask(lock);
	if (!a->ended)
		a->ended = ask(a->in, &of, seconds, lags_differ(a->declared));
	a->kept = a->ended == confirmed;
	if (!of.pfs)
		mark_rest(a);
	trial_end(of.pfs, a->kept);
	trial_end(of.host, a->kept);
	if (a->kept)
		apply_lags(a->in, a->spec, a->declared, a->count > 0, a->lags.v);
}

static int status_of(const struct applying *a, int applied)
{
	if (!a->ended || a->kept)
		return applied;
	for (size_t i = 0; i < a->count; i++)
		if (a->pfs.v[i].error == -ESTALE)
			return EXIT_PARTLY;
	return a->host.error == -ESTALE ? EXIT_PARTLY : EXIT_FAILED;
}

static const char *words_of(const struct applying *a, unsigned seconds, char *buf, size_t size)
{
	if (a->ended == timed_out)
		snprintf(buf, size, "not confirmed within %u s", seconds);
	else if (a->ended == refused)
		snprintf(buf, size, "the answer was not to keep it");
	else if (a->ended == interrupted)
		snprintf(buf, size, "interrupted");
	else
		snprintf(buf, size, "not everything could be applied");
	return buf;
}

#define OF struct applying
static const struct member try_table[] = {
	FIELD(kept, "the user confirmed"),
	FIELD(ended, "confirmed, timeout, refused (another answer), interrupted (by a signal), or failed; "
		"null: nothing had to be tried", NULLABLE),
	PART_SELF(answer_applied), END};
#undef OF

/* A trial covers everything that is declared, so it must be possible to plan all of it. */
static bool has_mistakes(const struct vfctl_declared *d)
{
	bool bad = d->host_error;

	for (size_t i = 0; i < d->count; i++)
		bad |= d->pfs[i].error != 0;
	return bad;
}

static int refuse_trial(struct invocation *in, struct applying *a)
{
	a->of_host = false;
	a->count = 0;
	a->ended = failed;
	applying_tell(a, try_table);
	if (!in->quiet)
		say_clean("nothing is changed; vfctl apply would apply the rest");
	return EXIT_FAILED;
}

/* Progress is shown after it, until the outcome is printed. */
static void print_plan(struct invocation *in, const struct vfctl_declared *d)
{
	progress_hide();
	out_set_start(in->out, NULL);
	print_declared(in, d);
	fflush(stdout);
	out_set_start(in->out, progress_stop);
	progress_go_on();
}

static int try_it(struct invocation *in, const struct apply_view *v, unsigned seconds, int lock,
	bool *ret_kept)
{
	_cleanup_(applying_clear) struct applying a;
	int r = applying_init(in, v, &a), status;
	char words[80];

	if (r < 0)
		return fail(in, r);
	if (has_mistakes(v->declared))
		return refuse_trial(in, &a);
	if (a.of_host || a.count) {
		if (!in->json && !in->quiet)
			print_plan(in, v->declared);
		carry_out(&a, seconds, lock);
	} else if (lags_differ(v->declared)) {
		return fail_as(in, EXIT_FAILED, -EOPNOTSUPP, "only VF-LAGs differ, which are not tried; "
			"apply them with: vfctl apply");
	}
	*ret_kept = a.kept;
	status = status_of(&a, applying_tell(&a, try_table));
	if (a.ended && !a.kept) {
		fflush(stdout);
		complain_about(in, "rolled back", words_of(&a, seconds, words, sizeof(words)));
	}
	return status;
}

/* ---- the answer from another process ---- */

#define OF bool
FLAG_OF(confirm_kept, OF, *it)
static const struct member confirm_table[] = {
	FLAG("kept", confirm_kept, "the other vfctl try kept its changes"), END};
#undef OF

static int confirm_other(struct invocation *in)
{
	bool kept;
	int r;

	if (in->arg_count || in->dry_run || option_of(in, "timeout"))
		return usage(in, "--confirm takes no file, no --timeout and no --dry-run");
	r = vfctl_trial_confirm(in->ctx, &kept);
	if (r < 0)
		return fail(in, r);
	if (!kept)
		return fail_as(in, EXIT_FAILED, -ECANCELED, "the changes were rolled back nevertheless; the "
			"other vfctl try tells why");
	if (in->json)
		answer_put(in->out, NULL, confirm_table, &kept);
	else if (!in->quiet)
		out_line(in->out, "the changes of the other vfctl try are kept");
	return EXIT_DONE;
}

static int try_alone(struct invocation *in, unsigned seconds, int lock, bool *ret_kept)
{
	_cleanup_(apply_close) struct apply_view v = {0};
	bool recovered = true;
	int status = apply_look(in, 0, &v, &recovered);

	if (status)
		return status;
	status = in->dry_run ? apply_dry_run(in, &v) : try_it(in, &v, seconds, lock, ret_kept);
	return status == EXIT_DONE && !recovered ? EXIT_PARTLY : status;
}

static int run_try(struct invocation *in)
{
	unsigned seconds = TIMEOUT_USUAL_S;
	int lock = -1, r, status = option_seconds(in, "timeout", 1, 3600, &seconds);
	bool kept = false;

	if (status)
		return status;
	if (option_of(in, "confirm"))
		return confirm_other(in);
	if (!in->dry_run) {
		r = vfctl_trial_open(in->ctx, &lock);
		if (r < 0)
			return fail(in, r);
	}
	status = try_alone(in, seconds, lock, &kept);
	vfctl_trial_close(lock, kept);
	return status;
}

static const struct option_row try_options[] = {
	{"timeout", 0, "SECONDS", "roll back after this time, 1 s to 1 h (default 120)", NULL},
	{"confirm", 0, NULL, "keep the changes of the vfctl try that waits in another shell", NULL},
};

static const struct answer try_answer[] = {{"With `--dry-run`", answer_apply_dry, false},
	{"When it is over", try_table, false}, {"With `--confirm`", confirm_table, false}, {0}};

const struct command cmd_try = {
	.name = "try",
	.group = GROUP_HOST,
	.common = true,
	.answer = try_answer,
	.args = "[FILE|DIR]",
	.summary = "Apply host.yaml, and roll back unless you confirm",
	.text = "Changes what apply would change, and waits. Enter keeps the change. Any other "
		"answer, Ctrl-C, a lost connection, the death of this process, the time limit, or "
		"a PF that cannot be changed rolls everything back (exit status 1). In a script, "
		"a line on standard input or SIGUSR1 keeps the change; in another shell, vfctl try "
		"--confirm does. While it waits, guests do not start and other changes of these PFs "
		"wait too. VF-LAGs are not tried: they are applied once the rest is kept.",
	.examples = {{"vfctl try", "apply for two minutes; Enter keeps it"},
		{"vfctl try --timeout 30 new.yaml", "another file, for half a minute"}},
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(try_options),
	.run = run_try,
};
