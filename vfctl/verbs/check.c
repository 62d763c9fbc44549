// SPDX-License-Identifier: GPL-2.0-or-later
/* check: read YAML files like the verbs that use them, without reading this host. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delegate.h"
#include "facts/hostfile.h"
#include "host/files.h"
#include "spec/guest_yaml.h"
#include "spec/host_yaml.h"
#include "spec/kind.h"

extern char **environ;

struct checked {
	const char *file, *kind; /* kind NULL: unknown */
	bool valid;
	bool absent; /* no such file: a mistake of the command line */
	char *error; /* NULL: valid */
};

struct checks {
	struct checked *v;
	size_t count;
	bool valid;
};

static void clear_checks(struct checks *c)
{
	for (size_t i = 0; c->v && i < c->count; i++)
		free(c->v[i].error);
	free(c->v);
}

/* ---- kinds ---- */

static int check_host(struct invocation *in, const char *file, const char *text, size_t len)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;

	return vfctl_host_spec_parse(in->ctx, file, text, len, &spec);
}

static int check_directory(struct invocation *in, const char *path)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;

	return vfctl_host_spec_read(in->ctx, path, &spec);
}

static int check_guest(struct invocation *in, const char *file, const char *text, size_t len)
{
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;

	return vfctl_guest_parse(in->ctx, file, text, len, &guest);
}

static const char *const kinds[] = {
	[VFCTL_SPEC_HOST] = "host", [VFCTL_SPEC_GUEST] = "guest", [VFCTL_SPEC_BENCH] = "bench"};
static const char *const kind_names[] = {
	[VFCTL_SPEC_HOST] = "host.yaml", [VFCTL_SPEC_GUEST] = "guest.yaml",
	[VFCTL_SPEC_BENCH] = "bench plan"};

/* ---- plans, which vfctl-bench reads ---- */

/*
 * The standard error of vfctl-bench, without the prefix "vfctl: bench check: "; NULL: it did not
 * run.
 */
static char *read_error(int fd)
{
	static const char before[] = "check: ";
	FILE *file = fdopen(fd, "r");
	_free_ char *line = NULL;
	size_t room = 0;
	char *text;

	if (!file) {
		close(fd);
		return NULL;
	}
	if (getline(&line, &room, file) < 0)
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	text = strstr(line, before);
	return strdup(text ? text + strlen(before) : line);
}

static int start_bench(const char *file, int *ret_fd, pid_t *ret_pid)
{
	char path[4096];
	char *argv[] = {(char *)"vfctl-bench", (char *)"check", (char *)"--quiet", (char *)"--color",
		(char *)"never", (char *)"--", (char *)file, NULL};
	posix_spawn_file_actions_t actions;
	int fds[2], r;

	if (!delegate_path(path, sizeof(path)))
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
	r = -posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	*ret_fd = fds[0];
	if (r < 0)
		close(fds[0]);
	return r;
}

static void check_bench(struct checked *c)
{
	_free_ char *message = NULL;
	int fd, status = 0, r;
	pid_t pid;

	if (strcmp(c->file, "-") == 0) {
		c->error = strdup("vfctl check reads bench plans from files only; use: vfctl bench check -");
		return;
	}
	r = start_bench(c->file, &fd, &pid);
	if (r < 0) {
		if (r == -ENOENT)
			c->error = strdup("vfctl-bench, which reads bench plans, is not installed; install "
				"it with: apt install vfctl-bench");
		else if (asprintf(&c->error, "start vfctl-bench: %s", strerror(-r)) < 0)
			c->error = NULL;
		return;
	}
	message = read_error(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	c->valid = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE;
	if (!c->valid)
		c->error = message && *message ? steal(message) : strdup("vfctl-bench failed");
}

/* ---- one file ---- */

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int find_kind(struct invocation *in, const char *file, const char *text, size_t len,
	enum vfctl_spec_kind *ret)
{
	const char *stated = option_of(in, "kind");

	if (!stated)
		return vfctl_spec_kind(in->ctx, file, text, len, ret);
	*ret = VFCTL_SPEC_HOST;
	while (strcmp(kinds[*ret], stated) != 0)
		++*ret;
	return 0;
}

static int check_text(struct invocation *in, struct checked *c)
{
	_free_ char *text = NULL;
	enum vfctl_spec_kind kind;
	size_t len = 0;
	int r = vfctl_file_read(in->ctx, c->file, VFCTL_HOST_FILE_MAX, &text, &len);

	c->absent = r == -ENOENT || r == -ENOTDIR;
	if (r == 0)
		r = find_kind(in, c->file, text, len, &kind);
	if (r < 0)
		return r;
	c->kind = kinds[kind];
	if (kind == VFCTL_SPEC_BENCH)
		check_bench(c);
	else
		c->valid = (kind == VFCTL_SPEC_HOST ? check_host : check_guest)(in, c->file, text, len) == 0;
	return c->valid || c->error ? 0 : -EINVAL;
}

static void check_file(struct invocation *in, struct checked *c)
{
	int r;

	if (is_directory(c->file)) {
		c->kind = kinds[VFCTL_SPEC_HOST];
		r = check_directory(in, c->file);
		c->valid = r == 0;
	} else {
		r = check_text(in, c);
	}
	if (r < 0)
		c->error = strdup(vfctl_ctx_error(in->ctx));
}

/* ---- the answer ---- */

#define OF struct checked
static const struct member checked_table[] = {
	FIELD(file, "the file or directory, as it was named"),
	FIELD(kind, "host, guest or bench; null: unknown"),
	FIELD(valid, "the verbs that use it accept it"),
	FIELD(error, "the first error, with its line and column; null: none"), END};
#undef OF

#define OF struct checks
static const struct member check_table[] = {
	FIELD(valid, "all files are valid"),
	LIST("files", v, count, checked_table, "a file each"), END};
#undef OF

static const char *name_of(const char *kind)
{
	size_t i = 0;

	while (strcmp(kinds[i], kind) != 0)
		i++;
	return kind_names[i];
}

static void print_checked(struct invocation *in, const struct checked *c)
{
	const char *message = c->error ? strstr(c->error, ": ") : NULL;
	char place[1024];

	if (c->valid) {
		if (!in->quiet && !in->json)
			out_line(in->out, "%s: valid %s", c->file, name_of(c->kind));
		return;
	}
	/* Most errors begin with the file, and the line and column in it. */
	if (message && strncmp(c->error, c->file, strlen(c->file)) == 0) {
		snprintf(place, sizeof(place), "%.*s", (int)(message - c->error), c->error);
		complain_about(in, place, message + 2);
	} else {
		complain_about(in, c->file, c->error ? c->error : "out of memory");
	}
}

static bool is_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i], name) == 0)
			return true;
	return false;
}

static int run_check(struct invocation *in)
{
	_cleanup_(clear_checks) struct checks all = {
		calloc(in->arg_count, sizeof(*all.v)), in->arg_count, true};
	const char *stated = option_of(in, "kind");
	int status = EXIT_DONE;

	if (!all.v)
		return fail_as(in, EXIT_FAILED, -ENOMEM, "out of memory");
	if (stated && !is_kind(stated))
		return usage(in, "--kind must be host, guest or bench, not '%s'", stated);
	for (size_t i = 0; i < all.count; i++) {
		struct checked *c = &all.v[i];

		c->file = in->args[i];
		check_file(in, c);
		print_checked(in, c);
		all.valid &= c->valid;
		if (!c->valid && status != EXIT_USAGE)
			status = c->absent ? EXIT_USAGE : EXIT_FAILED;
	}
	if (in->json)
		answer_put(in->out, NULL, check_table, &all);
	return status;
}

static const struct option_row check_options[] = {
	{"kind", 0, "KIND", "host, guest or bench (default: vfctl recognizes it by the keys of "
		"each file)",
		"host guest bench"},
};

static const struct answer check_answer[] = {{NULL, check_table, false}, {0}};

const struct command cmd_check = {
	.name = "check",
	.group = GROUP_HOST,
	.answer = check_answer,
	.args = "FILE...",
	.summary = "Check YAML files without using them",
	.text = "Reads each host.yaml, guest.yaml or bench plan as the verbs that use it do, and "
		"prints the first error with its line and column. A directory is a host.yaml in "
		"several files. vfctl does not compare them with this host: vfctl apply "
		"--dry-run, vfctl plan and vfctl bench run --dry-run compare a file with it. Exit "
		"status: 1 if a file is not valid, 2 if one does not exist.",
	.examples = {{"vfctl check host.yaml guests/*.yaml", "before a commit"},
		{"vfctl check --kind guest web.txt", "the kind stated"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(check_options),
	.run = run_check,
};
