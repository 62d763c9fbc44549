// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/change.h"
#include "base/context.h"
#include "command.h"
#include "command_line.h"
#include "main.h"
#include "progress.h"
#include "result.h"
#include "terminal.h"

#define LOCK_WAIT_USUAL_S 30

static struct vfctl_ctx *signal_ctx;

/* ---- warnings ---- */

/* Stored for the JSON answer. */
static struct {
	char **v;
	size_t count;
} warned;

static void keep_warning(const char *text)
{
	char **v = reallocarray(warned.v, warned.count + 1, sizeof(*v));

	if (!v)
		return;
	warned.v = v;
	v[warned.count] = strdup(text);
	warned.count += v[warned.count] != NULL;
}

static void forget_warnings(void)
{
	while (warned.count)
		free(warned.v[--warned.count]);
	free(warned.v);
	warned.v = NULL;
}

/* ---- messages ---- */

/* Print one line, whatever the names in it contain. */
static void print_message(enum color color, const char *before, const char *text)
{
	progress_hide();
	fprintf(stderr, "%s%s%s", color_begin(stderr, color), before, color_end(stderr, color));
	put_clean(stderr, text);
	putc('\n', stderr);
	progress_go_on();
}

static void print_failure(const struct invocation *in, const char *text)
{
	char before[64];

	snprintf(before, sizeof(before), "vfctl: %s%s", in->command ? command_typed(in->command) : "",
		in->command ? ": " : "");
	fflush(stdout);
	print_message(COLOR_BAD, before, text);
}

/* Print it also as JSON if that was requested. */
static int complain_vfctl(const struct invocation *in, const char *text, int error, int status)
{
	const char *code = strerrorname_np(abs(error));

	if (in->json)
		out_error(in->out, text, code ? code : "EIO", status);
	print_failure(in, text);
	return status;
}

void complain_about(const struct invocation *in, const char *what, const char *message)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s: %s", what, message);
	print_failure(in, text);
}

int fail(const struct invocation *in, int error)
{
	const char *message = vfctl_ctx_error(in->ctx);
	int status = error == -ESTALE || vfctl_ctx_unfinished(in->ctx) ? EXIT_PARTLY
		: vfctl_ctx_usage_error(in->ctx)			       ? EXIT_USAGE
								       : EXIT_FAILED;

	return complain_vfctl(in, *message ? message : strerror(-error), error, status);
}

int fail_as(const struct invocation *in, int status, int error, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	size_t len = 0;

	va_start(args, fmt);
	if (in->where)
		len = (size_t)snprintf(text, sizeof(text), "%.200s: ", in->where);
	vsnprintf(text + len, sizeof(text) - len, fmt, args);
	va_end(args);
	return complain_vfctl(in, text, error, status);
}

void warn(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	keep_warning(text);
	print_message(COLOR_WARN, "warning: ", text);
}

void say_clean(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	print_message(COLOR_NONE, "", text);
}

static void print_log(void *data, enum vfctl_log_level level, const char *text)
{
	const struct invocation *in = data;
	bool verbose = option_of(in, "verbose");

	if (level == VFCTL_LOG_DEBUG && !verbose)
		return;
	if (level == VFCTL_LOG_INFO && in->quiet)
		return;
	if (level == VFCTL_LOG_WARNING)
		keep_warning(text);
	if (level == VFCTL_LOG_WARNING)
		print_message(COLOR_WARN, "warning: ", text);
	else
		print_message(COLOR_NONE, "", text);
}

static void on_signal(int number)
{
	vfctl_ctx_cancel(signal_ctx);
}

/*
 * The first Ctrl-C rolls back, the second ends the process at once. The end of a connection sends
 * SIGHUP several times, from the kernel and from the shell, and no user has asked twice. nohup
 * ignores it.
 */
void catch_signals(struct vfctl_ctx *ctx)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, hangup;

	signal_ctx = ctx;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_flags = 0;
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

static void print_nothing(struct invocation *in, const struct vfctl_change *change)
{
	const char *why = vfctl_change_nothing(change);

	out_line(in->out, "nothing to do%s%s", why ? ": " : "", why ? why : "");
}

/* ---- changes ---- */

static int fill_warnings(struct out *out, const void *of)
{
	for (size_t i = 0; i < warned.count; i++)
		out_str(out, NULL, warned.v[i]);
	return 0;
}

const struct member answer_warnings[] = {
	FILL_EACH("warnings", fill_warnings, MEMBER_TEXT, "warnings, as on standard error"), END};

/* The JSON answer of a change: its steps, before or after they were carried out. */
struct change_view {
	const struct vfctl_change *change;
	const struct change_result *result; /* NULL: it concerns no VF and no domain */
};

#define OF struct change_view
FLAG_OF(change_changed, OF, vfctl_change_count(it->change) > 0)
TEXT_OF(change_nothing, OF, vfctl_change_nothing(it->change))
TEXT_OF(change_pending, OF, vfctl_change_pending(it->change))
#define CHANGED FLAG("changed", change_changed, "something was changed; in a dry run: something " \
	"would be changed")
#define NOTHING TEXT("nothing_to_do", change_nothing, "why there was nothing to change", OPTIONAL)
const struct member answer_change_dry[] = {
	ALWAYS_TRUE("dry_run", "true"),
	CHANGED,
	NOTHING,
	PART(change, answer_steps),
	PART(change, answer_operations),
	PART_SELF(answer_warnings), END};
const struct member answer_change_done[] = {
	CHANGED,
	NOTHING,
	TEXT("pending", change_pending, "work that you still have to do; the exit status is 3",
		OPTIONAL),
	PART(change, answer_steps),
	PART_AT(result, answer_change_result, OPTIONAL),
	PART_SELF(answer_warnings), END};
#undef OF

const struct answer change_answer[] = {CHANGE_DRY_RUN, CHANGE_DONE, {0}};

static void print_steps(struct invocation *in, const struct vfctl_change *change)
{
	size_t count = vfctl_change_count(change);

	if (in->json) {
		answer_put(in->out, NULL, answer_change_dry, &(struct change_view){change, NULL});
		return;
	}
	if (!count)
		print_nothing(in, change);
	for (size_t i = 0; i < count; i++)
		out_line(in->out, "%zu. %s", i + 1, vfctl_change_describe(change, i));
}

static void print_done(struct invocation *in, const struct vfctl_change *change)
{
	struct change_view view = {.change = change};
	struct change_result result;

	vfctl_ctx_set_log(in->ctx, NULL, NULL); /* its warnings were already printed */
	if (change_result_read(in, change, &result) == 0)
		view.result = &result;
	answer_put(in->out, NULL, answer_change_done, &view);
	vfctl_snapshot_free(result.snapshot);
	vfctl_ctx_set_log(in->ctx, print_log, in);
}

int run_change(struct invocation *in, struct vfctl_change *planned, const char *done)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = planned;
	const char *pending = vfctl_change_pending(change), *result;
	size_t count = vfctl_change_count(change);
	int r;

	if (in->dry_run) {
		print_steps(in, change);
		if (pending && !in->json)
			out_line(in->out, "then: %s", pending);
		return EXIT_DONE;
	}
	catch_signals(in->ctx);
	r = vfctl_change_run(in->ctx, change);
	in->again = r == -EAGAIN && ++in->tries < TRIES_MAX;
	if (r < 0)
		return in->again ? EXIT_FAILED : fail(in, r);
	in->made |= count > 0;
	result = vfctl_change_result(change);
	if (in->json)
		print_done(in, change);
	else if (!in->quiet && !count)
		print_nothing(in, change);
	else if (!in->quiet && !pending)
		out_line(in->out, "%s", result ? result : done);
	if (!pending)
		return EXIT_DONE;
	/* The host is not yet as requested, and the exit status must show that. */
	warn("%s", pending);
	return EXIT_DRIFT;
}

/* The verb may have its own option of the same name as a common one, with another meaning. */
static bool has_own_option(const struct command *command, const char *name)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option(command, i)); i++)
		if (strcmp(row->name, name) == 0)
			return true;
	return false;
}

static int set_wait(struct invocation *in)
{
	unsigned seconds = LOCK_WAIT_USUAL_S;
	bool own = has_own_option(in->command, "wait");
	int status = option_seconds(in, "wait", 0, 3600, &seconds);

	/* A verb that waits for something else waits for locks not less than usual. */
	if (own && seconds < LOCK_WAIT_USUAL_S)
		seconds = LOCK_WAIT_USUAL_S;
	if (status == 0)
		status = option_seconds(in, "lock-wait", 0, 3600, &seconds);
	vfctl_ctx_set_lock_wait_ms(in->ctx, seconds * 1000);
	return status;
}

static int set_timeout(struct invocation *in)
{
	unsigned seconds = 0;
	int status;

	if (has_own_option(in->command, "timeout"))
		return 0;
	status = option_seconds(in, "timeout", 1, 3600, &seconds);

	if (status == 0 && seconds)
		vfctl_ctx_set_write_timeout_ms(in->ctx, seconds * 1000);
	return status;
}

/* Lists are sent through the pager; the output of changes, and endless output, is not. */
static void begin_paged(void)
{
	progress_stop();
	terminal_start_pager();
}

/*
 * A remote URI is an error also for commands that do not connect: they would change this host.
 * virsh reads LIBVIRT_DEFAULT_URI and vfctl does not, but an administrator who set it expects work
 * on that host.
 */
static int check_uri(struct invocation *in)
{
	const char *uri = option_of(in, "connect"), *all = getenv("LIBVIRT_DEFAULT_URI");
	int r = vfctl_libvirt_check_uri(in->ctx, uri);

	if (r < 0)
		return fail(in, r);
	if (uri || !all || !all[0] || in->command->group == GROUP_OTHER ||
		vfctl_libvirt_check_uri(in->ctx, all) == 0)
		return 0;
	return usage(in, "LIBVIRT_DEFAULT_URI is %.256s, the libvirt of another host, but vfctl "
		"works on this one; to use the libvirt of this host: vfctl -c qemu:///system "
		"...", all);
}

static int set_up(struct invocation *in)
{
	const char *host = option_of(in, "host");
	const char *state = option_of(in, "state");
	const char *temp_dir = getenv("TMPDIR");
	int r;

	out_set_width(in->out, terminal_width());
	vfctl_ctx_set_log(in->ctx, print_log, in);
	if (!in->quiet && !in->json && !in->command->waits && progress_start()) {
		vfctl_ctx_set_progress(in->ctx, progress_doing, NULL);
		out_set_start(in->out, progress_stop);
	}
	if (in->command->reads && !in->command->waits && !in->json)
		out_set_start(in->out, begin_paged);
	if (set_timeout(in) || set_wait(in) || check_uri(in))
		return EXIT_USAGE;
	if (state && vfctl_ctx_set_state_path(in->ctx, state) < 0)
		return fail(in, -ENOMEM);
	if (temp_dir && temp_dir[0] == '/' && vfctl_ctx_set_temp_dir(in->ctx, temp_dir) < 0)
		return fail(in, -ENOMEM);
	r = main_open_host(in->ctx);
	if (r == 0 && host)
		r = vfctl_ctx_open_host(in->ctx, host);
	return r < 0 ? fail(in, r) : 0;
}

static int set_get(struct invocation *in)
{
	int status;

	if (in->json)
		return usage(in, "--get prints text and cannot be combined with --json");
	status = answer_set_get(in, (char *)option_of(in, "get"));
	in->json = true; /* as text: see out_set_get() */
	return status;
}

static int run_vfctl(struct invocation *in)
{
	int status;

	if (!terminal_set_color(option_of(in, "color")))
		return usage(in, "--color must be auto, always or never, not '%s'", option_of(in, "color"));
	if (option_of(in, "no-pager"))
		terminal_forbid_pager();
	if (option_of(in, "version")) {
		printf("%s " VFCTL_VERSION "\n", this_program.name);
		return EXIT_DONE;
	}
	if (option_of(in, "help")) {
		if (in->command)
			print_command_help(in->command);
		else
			print_help(true);
		return EXIT_DONE;
	}
	if (!in->command) {
		print_help(false);
		return EXIT_USAGE;
	}
	status = command_line_check(in);
	if (!status && option_of(in, "get"))
		status = set_get(in);
	if (!status)
		status = set_up(in);
	if (status)
		return status;
	do {
		in->again = false;
		status = in->command->run(in);
	} while (in->again);
	return status;
}

/*
 * The caller may have left them ignored or blocked; then this process could not wait for children.
 */
static void reset_signals(void)
{
	sigset_t mask;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

/* For example after `vfctl list | head`. */
static bool reader_left(void)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR);
}

/* A user may quit the pager early: that is not an error. */
static int end_output(const struct invocation *in, int status)
{
	bool written = out_close(in->out);
	char text[256];

	if (!terminal_end_pager(text, sizeof(text)))
		fprintf(stderr, "vfctl: %s; without a pager: vfctl --no-pager\n", text);
	else if (!written && !terminal_is_paged() && !in->made && reader_left())
		return status != EXIT_DONE ? status : EXIT_FAILED;
	else if (!written && !terminal_is_paged())
		fprintf(stderr, "vfctl: cannot write the output%s\n",
			in->made && status == EXIT_DONE ? "; the change is done" : "");
	else
		return status;
	return status != EXIT_DONE ? status : in->made ? EXIT_PARTLY : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct invocation in = {0};
	int status;

	reset_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is reported as EFBIG */
	in.out = out_new(stdout);
	if (!in.out || vfctl_ctx_new(&in.ctx) < 0) {
		out_close(in.out);
		fputs("vfctl: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	in.json = command_line_wants_json(argc, argv);
	status = this_program.delegate ? this_program.delegate(&in, argv) : -1;
	if (status < 0) {
		status = command_line_read(&in, argc, argv);
		if (!status)
			status = run_vfctl(&in);
	}
	progress_stop();
	status = end_output(&in, status);
	vfctl_ctx_free(in.ctx);
	forget_warnings();
	return status;
}
