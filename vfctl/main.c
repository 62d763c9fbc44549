// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "main.h"
#include "progress.h"
#include "result.h"
#include "vfctl/host.h"

const struct option_row global_options[] = {
	{"host", 0, "FILE|DIR", "read a captured host instead of this one", NULL},
	{"host-yaml", 0, "FILE|DIR", "what this host declares (default /etc/vfctl/host.yaml); DIR: all its "
		"*.yaml", NULL},
	{"state", 0, "FILE", "state file (default /var/lib/vfctl/state.db)", NULL},
	{"connect", 'c', "URI", "libvirt to talk to (default qemu:///system)",
		"qemu:///system qemu:///session test:///default"},
	{"timeout", 0, "SECONDS", "longest wait for one write to the kernel (default 120)", NULL},
	{"quiet", 'q', NULL, "print no progress", NULL},
	{"verbose", 'v', NULL, "print every read-back and write as well", NULL},
	{"help", 'h', NULL, "print help", NULL},
	{"version", 'V', NULL, "print the version", NULL},
};
const size_t global_option_count = ARRAY_SIZE(global_options);

static const struct option_row json_option = {"json", 0, NULL, "print JSON", NULL};
static const struct option_row dry_run_option = {"dry-run", 'n', NULL,
	"print the steps, change nothing", NULL};

static struct vfctl_ctx *signal_ctx;

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

const char *command_typed(const struct command *command)
{
	return command->typed ? command->typed : command->name;
}

const char *option_of(const struct invocation *in, const char *name)
{
	for (size_t i = 0; i < in->option_count; i++)
		if (strcmp(in->options[i].name, name) == 0)
			return in->options[i].value;
	return NULL;
}

/* ---- warnings ---- */

/* Kept for the JSON answer. */
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

/* One line, whatever the names in it hold. */
static void print_failure(const struct invocation *in, const char *text)
{
	fflush(stdout);
	progress_hide();
	fputs("vfctl: ", stderr);
	if (in->command)
		fprintf(stderr, "%s: ", command_typed(in->command));
	put_clean(stderr, text);
	putc('\n', stderr);
	progress_go_on();
}

/* And the same as JSON for who reads that. */
static int complain_vfctl(const struct invocation *in, const char *text, int error, int status)
{
	const char *code = strerrorname_np(abs(error));

	if (in->json)
		out_error(in->out, text, code ? code : "EIO", status);
	print_failure(in, text);
	return status;
}

void complain_about(const struct invocation *in, const char *what, const char *words)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s: %s", what, words);
	print_failure(in, text);
}

int fail(const struct invocation *in, int error)
{
	const char *words = vfctl_ctx_error(in->ctx);
	int status = error == -ESTALE || vfctl_ctx_unfinished(in->ctx) ? EXIT_PARTLY
		: vfctl_ctx_mistaken(in->ctx)			       ? EXIT_USAGE
								       : EXIT_FAILED;

	return complain_vfctl(in, *words ? words : strerror(-error), error, status);
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
	progress_hide();
	fputs("warning: ", stderr);
	put_clean(stderr, text);
	putc('\n', stderr);
	progress_go_on();
}

void say_clean(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	progress_hide();
	put_clean(stderr, text);
	putc('\n', stderr);
	progress_go_on();
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
	progress_hide();
	fputs(level == VFCTL_LOG_WARNING ? "warning: " : "", stderr);
	put_clean(stderr, text);
	putc('\n', stderr);
	progress_go_on();
}

static void on_signal(int number)
{
	vfctl_ctx_cancel(signal_ctx);
}

/* The first Ctrl-C rolls back, the second ends the process at once. */
void catch_signals(struct vfctl_ctx *ctx)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	signal_ctx = ctx;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

void print_operations(struct invocation *in, const struct vfctl_change *change)
{
	struct vfctl_operation op;

	out_open(in->out, "operations", '[');
	for (size_t i = 0; i < vfctl_change_count(change); i++)
		for (size_t k = 0; vfctl_change_operation(change, i, k, &op); k++) {
			out_open(in->out, NULL, '{');
			out_int(in->out, "step", (int64_t)i + 1);
			out_str(in->out, "type", op.type);
			out_str(in->out, "target", op.target);
			out_str(in->out, "want", op.want);
			out_str(in->out, "before", op.before);
			out_shut(in->out);
		}
	out_shut(in->out);
}

static void print_nothing(struct invocation *in, const struct vfctl_change *change)
{
	const char *why = vfctl_change_nothing(change);

	out_line(in->out, "nothing to do%s%s", why ? ": " : "", why ? why : "");
}

static void put_nothing(struct invocation *in, const struct vfctl_change *change)
{
	if (vfctl_change_nothing(change))
		out_str(in->out, "nothing_to_do", vfctl_change_nothing(change));
}

void print_warnings(struct invocation *in)
{
	out_open(in->out, "warnings", '[');
	for (size_t i = 0; i < warned.count; i++)
		out_str(in->out, NULL, warned.v[i]);
	out_shut(in->out);
}

static void print_steps(struct invocation *in, const struct vfctl_change *change)
{
	size_t count = vfctl_change_count(change);

	if (in->json) {
		out_open(in->out, NULL, '{');
		out_bool(in->out, "dry_run", true);
		out_bool(in->out, "changed", count > 0);
		put_nothing(in, change);
		out_open(in->out, "steps", '[');
		for (size_t i = 0; i < count; i++)
			out_str(in->out, NULL, vfctl_change_describe(change, i));
		out_shut(in->out);
		print_operations(in, change);
		print_warnings(in);
		out_shut(in->out);
		return;
	}
	if (!count)
		print_nothing(in, change);
	for (size_t i = 0; i < count; i++)
		out_line(in->out, "%zu. %s", i + 1, vfctl_change_describe(change, i));
}

int run_change(struct invocation *in, struct vfctl_change *change, const char *done)
{
	const char *pending = vfctl_change_pending(change);
	int r = 0, status = EXIT_DONE;

	if (in->dry_run) {
		print_steps(in, change);
		if (pending && !in->json)
			out_line(in->out, "then: %s", pending);
	} else {
		size_t count = vfctl_change_count(change);

		catch_signals(in->ctx);
		r = vfctl_change_run(in->ctx, change);
		in->made |= r == 0 && count;
		if (r == 0 && in->json) {
			out_open(in->out, NULL, '{');
			out_bool(in->out, "changed", count > 0);
			put_nothing(in, change);
			if (pending)
				out_str(in->out, "pending", pending);
			vfctl_ctx_set_log(in->ctx, NULL, NULL); /* its warnings were given */
			print_result_json(in, change);
			vfctl_ctx_set_log(in->ctx, print_log, in);
			print_warnings(in);
			out_shut(in->out);
		} else if (r == 0 && !in->quiet && !count) {
			print_nothing(in, change);
		} else if (r == 0 && !in->quiet && !pending) {
			const char *result = vfctl_change_result(change);

			out_line(in->out, "%s", result ? result : done);
		}
		/* The host is not yet as asked, and no script may take it for that. */
		if (r == 0 && pending) {
			warn("%s", pending);
			status = EXIT_DRIFT;
		}
	}
	vfctl_change_free(change);
	in->again = r == -EAGAIN && ++in->tries < TRIES_MAX;
	if (in->again)
		return EXIT_FAILED;
	return r < 0 ? fail(in, r) : status;
}

/* ---- the command line ---- */

static const struct option_row *find_in(const struct option_row *rows, size_t count,
	const char *name, size_t len)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, name, len))
			return &rows[i];
		if (len == 1 && rows[i].letter && rows[i].letter == name[0])
			return &rows[i];
	}
	return NULL;
}

/* Before the verb of @command is known its options are those of all its verbs. */
static const struct option_row *find_option(const struct command *command, const char *name,
	size_t len)
{
	const struct option_row *row = find_in(global_options, global_option_count, name, len);

	for (const struct command *const *s = command ? command->subs : NULL; s && *s && !row; s++)
		row = find_option(*s, name, len);
	if (!row && command)
		row = find_in(command->options, command->option_count, name, len);
	if (!row && (!command || command->reads || command->changes))
		row = find_in(&json_option, 1, name, len);
	if (!row && (!command || command->changes))
		row = find_in(&dry_run_option, 1, name, len);
	return row;
}

static bool may_repeat(const struct invocation *in, const struct option_row *row)
{
	const char *repeats = in->command ? in->command->repeats : NULL;

	return repeats && strcmp(repeats, row->name) == 0;
}

/* "create ", or "" before the command. */
static const char *typed_blank(const struct invocation *in)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s", in->command ? command_typed(in->command) : "",
		in->command ? " " : "");
	return text;
}

/* One option at argv[*i], its value perhaps in the next word. */
static int take_option(struct invocation *in, char **argv, int argc, int *i)
{
	bool is_long = argv[*i][1] == '-';
	const char *name = argv[*i] + (is_long ? 2 : 1);
	const char *equals = is_long ? strchr(name, '=') : NULL;
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_row *row = NULL;
	const char *value = "";

	if (is_long ? len > 1 : len == 1)
		row = find_option(in->command, name, len);
	if (!row)
		return usage(in, "unknown option %s (%s %s--help lists them)", argv[*i],
			in->command ? "vfctl" : this_program.typed, typed_blank(in));
	if (!row->arg && equals)
		return usage(in, "--%s takes no value", row->name);
	if (row->arg && equals)
		value = equals + 1;
	else if (row->arg && *i + 1 < argc)
		value = argv[++*i];
	else if (row->arg)
		return usage(in, "--%s needs a value: %s", row->name, row->arg);
	if (option_of(in, row->name) && row->arg && !may_repeat(in, row))
		return usage(in, "--%s is given twice", row->name);
	if (in->option_count == OPTIONS_MAX)
		return usage(in, "too many options");
	in->options[in->option_count].name = row->name;
	in->options[in->option_count++].value = value;
	return 0;
}

/* The verb of a command that has several; vfctl-bench carries some out. */
static int take_sub(struct invocation *in, const char *word)
{
	const struct command *const *sub = in->command->subs;
	char names[256] = "";

	for (; *sub && strcmp((*sub)->name, word) != 0; sub++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
			(*sub)->name);
	if (*sub) {
		in->command = *sub;
		in->args[in->arg_count++] = word;
		return 0;
	}
	for (size_t i = 0; i < this_program.delegate_count; i++)
		if (strcmp(this_program.delegates[i].command, in->command->name) == 0)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), ", %s",
				this_program.delegates[i].argument);
	return usage(in, "'%s' is not one of: %s", word, names);
}

static int take_word(struct invocation *in, const char *word)
{
	if (!in->command) {
		in->command = command_find(word);
		if (!in->command)
			return usage(in, "unknown command '%s' (%s --help lists them)", word,
				this_program.typed);
		return 0;
	}
	if (in->command->subs)
		return take_sub(in, word);
	if (in->arg_count == in->command->max_args + in->command->sub)
		return usage(in, "'%s' is one argument too many: vfctl %s%s%s", word,
			command_typed(in->command), *in->command->args ? " " : "",
			in->command->args);
	in->args[in->arg_count++] = word;
	return 0;
}

/* A leading "-" followed by a digit is an argument (a count of -1), not an option. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9');
}

/* Before all else: what is wrong with the words is an answer in JSON too. */
static bool wants_json(int argc, char **argv)
{
	bool wanted = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		wanted |= strcmp(argv[i], "--json") == 0;
	return wanted;
}

static int take_apart(struct invocation *in, int argc, char **argv)
{
	bool only_words = false;
	int status = 0;

	for (int i = 1; i < argc && status == 0; i++) {
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && is_option(argv[i]))
			status = take_option(in, argv, argc, &i);
		else
			status = take_word(in, argv[i]);
	}
	in->json = option_of(in, "json");
	in->dry_run = option_of(in, "dry-run");
	in->quiet = option_of(in, "quiet");
	return status;
}

int option_seconds(const struct invocation *in, const char *option, unsigned min, unsigned max,
	unsigned *ret)
{
	static const struct {
		const char *name;
		unsigned long seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
	const char *text = option_of(in, option);
	unsigned long n;
	char *end;

	if (!text)
		return 0;
	n = strtoul(text, &end, 10);
	for (size_t i = 0; *text >= '0' && *text <= '9' && i < ARRAY_SIZE(units); i++)
		if (strcmp(end, units[i].name) == 0 && n <= max / units[i].seconds &&
			n * units[i].seconds >= min) {
			*ret = (unsigned)(n * units[i].seconds);
			return 0;
		}
	return usage(in, "--%s must be %u to %u seconds, such as 90, 90s, 30m or 1h, not '%s'", option,
		min, max, text);
}

static int set_timeout(struct invocation *in)
{
	unsigned seconds = 0;
	int status = option_seconds(in, "timeout", 1, 3600, &seconds);

	if (status == 0 && seconds)
		vfctl_ctx_set_write_timeout_ms(in->ctx, seconds * 1000);
	return status;
}

#define WIDTH_USUAL 80

/* What COLUMNS says, else the terminal; where neither is known, what fits most of them. */
static unsigned find_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long said = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (said && said <= UINT16_MAX)
		return (unsigned)said;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return WIDTH_USUAL;
}

static int set_up(struct invocation *in)
{
	const char *host = option_of(in, "host");
	const char *state = option_of(in, "state");
	const char *temp_dir = getenv("TMPDIR");
	int r;

	out_set_width(in->out, find_width());
	vfctl_ctx_set_log(in->ctx, print_log, in);
	if (!in->quiet && !in->json && !in->command->waits && progress_start()) {
		vfctl_ctx_set_doing(in->ctx, progress_doing, NULL);
		out_set_start(in->out, progress_stop);
	}
	if (set_timeout(in))
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

static int run_vfctl(struct invocation *in)
{
	int status;

	if (option_of(in, "version")) {
		printf("%s " VFCTL_VERSION "\n", this_program.name);
		return EXIT_DONE;
	}
	if (option_of(in, "help")) {
		if (in->command)
			print_command_help(in->command);
		else
			print_help();
		return EXIT_DONE;
	}
	if (!in->command) {
		print_help();
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < in->option_count; i++)
		if (!find_option(in->command, in->options[i].name, strlen(in->options[i].name)))
			return usage(in, "unknown option --%s (vfctl %s --help lists them)",
				in->options[i].name, command_typed(in->command));
	if (in->command->subs || in->arg_count < in->command->min_args + in->command->sub)
		return usage(in, "needs: vfctl %s %s", command_typed(in->command), in->command->args);
	status = set_up(in);
	if (status)
		return status;
	do {
		in->again = false;
		status = in->command->run(in);
	} while (in->again);
	return status;
}

/* A caller may leave them ignored or blocked; children could not be awaited then. */
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

int main(int argc, char **argv)
{
	struct invocation in = {0};
	int status;

	reset_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on files' sizes is told as EFBIG */
	in.out = out_new(stdout);
	if (!in.out || vfctl_ctx_new(&in.ctx) < 0) {
		if (in.out)
			out_close(in.out);
		fputs("vfctl: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	in.json = wants_json(argc, argv);
	status = this_program.delegate ? this_program.delegate(&in, argv) : -1;
	if (status < 0) {
		status = take_apart(&in, argc, argv);
		if (!status)
			status = run_vfctl(&in);
	}
	progress_stop();
	if (!out_close(in.out)) {
		fprintf(stderr, "vfctl: the output could not be written%s\n",
			in.made && status == EXIT_DONE ? "; what was asked is done" : "");
		status = status != EXIT_DONE ? status : in.made ? EXIT_PARTLY : EXIT_FAILED;
	}
	vfctl_ctx_free(in.ctx);
	forget_warnings();
	return status;
}
