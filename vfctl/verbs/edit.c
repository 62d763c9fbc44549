// SPDX-License-Identifier: GPL-2.0-or-later
/* edit: a YAML file in an editor, checked before it replaces the present one. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "session.h"
#include "core/guest.h"
#include "core/host.h"
#include "core/hostspec.h"
#include "core/spec.h"

#define EDITOR_USUAL "vi"
#define COMMAND_FAILED 127 /* the status with which a shell reports that a program was not found */

static const char new_host_yaml[] =
	"# The PFs of this host: see vfctl-host.yaml(5). vfctl export prints the present state.\n"
	"pfs: []\n";

struct edit {
	char path[4096], copy[4096]; /* the copy is what the editor changes */
	bool of_host;
	char *before, *text;
	size_t before_len, len;
	bool absent; /* the file does not exist yet */
};

static void clear_edit(struct edit *e)
{
	if (e->copy[0])
		unlink(e->copy);
	free(e->before);
	free(e->text);
}

/* ---- the file ---- */

static int find_path(struct invocation *in, struct edit *e)
{
	const char *name = in->arg_count ? in->args[0] : "host", *stated = option_of(in, "host-yaml");

	if (strcmp(name, "-") == 0)
		return usage(in, "'-' cannot be edited; name a file");
	if (option_of(in, "host"))
		return usage(in, "a captured host cannot be edited");
	e->of_host = strcmp(name, "host") == 0;
	if (!e->of_host)
		snprintf(e->path, sizeof(e->path), "%s", name);
	else if (stated)
		snprintf(e->path, sizeof(e->path), "%s", stated);
	else
		snprintf(e->path, sizeof(e->path), "%s%s", vfctl_ctx_host_root(in->ctx),
			VFCTL_HOST_SPEC_PATH);
	return 0;
}

static int read_before(struct invocation *in, struct edit *e)
{
	int r = vfctl_file_read(in->ctx, e->path, VFCTL_HOST_FILE_MAX, &e->before, &e->before_len);

	e->absent = r == -ENOENT;
	if (r == -ENOENT && e->of_host) {
		e->before = strdup(new_host_yaml);
		e->before_len = strlen(new_host_yaml);
		return e->before ? 0 : fail(in, -ENOMEM);
	}
	if (r == -EISDIR)
		return usage(in, "%s is a directory; name one of its files", e->path);
	return r == -ENOENT ? fail_file(in, e->path, ENOENT) : r < 0 ? fail(in, r) : 0;
}

static int write_copy(struct invocation *in, struct edit *e)
{
	const char *dir = getenv("TMPDIR");
	char path[sizeof(e->copy)];
	int fd;

	snprintf(path, sizeof(path), "%s/vfctl-edit-XXXXXX.yaml", dir && *dir == '/' ? dir : "/tmp");
	fd = mkostemps(path, (int)strlen(".yaml"), O_CLOEXEC);
	if (fd < 0)
		return fail_as(in, EXIT_FAILED, -errno, "%s: %s", path, strerror(errno));
	snprintf(e->copy, sizeof(e->copy), "%s", path);
	if (write(fd, e->before, e->before_len) != (ssize_t)e->before_len) {
		close(fd);
		return fail_as(in, EXIT_FAILED, -EIO, "%s cannot be written", e->copy);
	}
	close(fd);
	return 0;
}

/* ---- the editor ---- */

static const char *editor(void)
{
	const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");

	return visual && *visual ? visual : plain && *plain ? plain : EDITOR_USUAL;
}

/* Its wait status; negative: it could not be started. */
static int run_editor(const char *copy)
{
	_free_ char *command = NULL;
	pid_t pid;
	int status = 0;

	if (asprintf(&command, "%s \"$1\"", editor()) < 0) {
		command = NULL;
		return -ENOMEM;
	}
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", command, "sh", copy, (char *)NULL);
		_exit(COMMAND_FAILED);
	}
	/* Ctrl-C is for the editor. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	return pid < 0 ? -errno : status;
}

static int edit_once(struct invocation *in, struct edit *e)
{
	int status = run_editor(e->copy), r;

	if (status < 0)
		return fail(in, status);
	if (WIFSIGNALED(status))
		return fail_as(in, EXIT_FAILED, -ECANCELED, "the editor '%s' ended with signal %d; %s is "
			"unchanged", editor(), WTERMSIG(status), e->path);
	if (WEXITSTATUS(status) == COMMAND_FAILED)
		return fail_as(in, EXIT_FAILED, -ENOENT, "the editor '%s' was not found; name another one in "
			"VISUAL or EDITOR; %s is unchanged", editor(), e->path);
	if (WEXITSTATUS(status))
		return fail_as(in, EXIT_FAILED, -ECANCELED, "the editor '%s' ended with exit status %d; "
			"%s is unchanged", editor(), WEXITSTATUS(status), e->path);
	free(e->text);
	e->text = NULL;
	r = vfctl_file_read(in->ctx, e->copy, VFCTL_HOST_FILE_MAX, &e->text, &e->len);
	return r < 0 ? fail(in, r) : 0;
}

/* ---- the check ---- */

static int check_text(struct invocation *in, struct edit *e, bool *ret_of_guest)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	enum vfctl_spec_kind kind = VFCTL_SPEC_HOST;
	int r = e->of_host ? 0 : vfctl_spec_kind(in->ctx, e->path, e->text, e->len, &kind);

	*ret_of_guest = kind == VFCTL_SPEC_GUEST;
	if (r == 0 && kind == VFCTL_SPEC_HOST)
		r = vfctl_host_spec_parse(in->ctx, e->path, e->text, e->len, &spec);
	if (r == 0 && kind == VFCTL_SPEC_GUEST)
		r = vfctl_guest_parse(in->ctx, e->path, e->text, e->len, &guest);
	return r < 0 ? fail(in, r) : 0;
}

/* Without a terminal no user can correct a mistake. */
static bool wants_again(void)
{
	char line[64];

	if (!isatty(STDIN_FILENO))
		return false;
	fputs("edit again? [Y/n] ", stderr);
	return fgets(line, sizeof(line), stdin) && line[0] != 'n' && line[0] != 'N';
}

/* What the user typed stays in the copy. */
static void keep_copy(struct edit *e)
{
	say_clean("%s is unchanged; your text is in %s", e->path, e->copy);
	e->copy[0] = '\0';
}

static bool is_unchanged(const struct edit *e)
{
	return e->len == e->before_len && memcmp(e->text, e->before, e->len) == 0;
}

static int edit_until_valid(struct invocation *in, struct edit *e, bool *ret_of_guest)
{
	for (;;) {
		int status = edit_once(in, e);

		if (status || is_unchanged(e))
			return status;
		status = check_text(in, e, ret_of_guest);
		if (!status)
			return 0;
		if (!wants_again()) {
			keep_copy(e);
			return status;
		}
	}
}

/* Whether another process has written the file since it was read. */
static bool is_outdated(struct invocation *in, const struct edit *e)
{
	_free_ char *now = NULL;
	size_t len = 0;
	int r = vfctl_file_read(in->ctx, e->path, VFCTL_HOST_FILE_MAX, &now, &len);

	if (e->absent)
		return r != -ENOENT;
	return r < 0 || len != e->before_len || memcmp(now, e->before, len) != 0;
}

static int replace_edited(struct invocation *in, struct edit *e, bool of_guest)
{
	int r;

	if (is_outdated(in, e)) {
		keep_copy(e);
		return fail_as(in, EXIT_FAILED, -EBUSY, "%s was changed by another process meanwhile",
			e->path);
	}
	r = vfctl_file_write(in->ctx, e->path, e->text, e->len);
	if (r < 0) {
		keep_copy(e);
		return fail(in, r);
	}
	if (!in->quiet && of_guest)
		out_line(in->out, "wrote %s; to use it: vfctl define %s", e->path, e->path);
	else if (!in->quiet)
		out_line(in->out, "wrote %s; to use it: vfctl try, or vfctl apply", e->path);
	return EXIT_DONE;
}

static int run_edit(struct invocation *in)
{
	_cleanup_(clear_edit) struct edit e = {0};
	bool of_guest = false;
	int status = find_path(in, &e);

	if (!status)
		status = read_before(in, &e);
	if (!status)
		status = write_copy(in, &e);
	if (!status)
		status = edit_until_valid(in, &e, &of_guest);
	if (status || !is_unchanged(&e))
		return status ? status : replace_edited(in, &e, of_guest);
	if (!in->quiet)
		out_line(in->out, "%s is unchanged", e.path);
	return EXIT_DONE;
}

const struct command cmd_edit = {
	.name = "edit",
	.group = GROUP_HOST,
	.args = "[host|FILE]",
	.summary = "Edit host.yaml or a guest.yaml, with a check",
	.text = "Opens a copy of /etc/vfctl/host.yaml, or of FILE, in $VISUAL or $EDITOR (default vi). The "
		"file is replaced only if it is valid, as vfctl check shows; after a mistake vfctl prints "
		"it and opens the editor again. An editor that fails changes nothing. Nothing is applied.",
	.examples = {{"vfctl edit host", "/etc/vfctl/host.yaml"},
		{"vfctl edit guests/web.yaml", "the file of a guest"}},
	.max_args = 1,
	.operand = OPERAND_FILE,
	.choices = "host",
	.waits = true,
	.run = run_edit,
};
