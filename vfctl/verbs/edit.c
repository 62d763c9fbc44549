// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * edit: a YAML file, or the guest.yaml of a domain, in an editor. It is checked before it replaces
 * the present one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "capture/captured.h"
#include "command.h"
#include "guest/plans.h"
#include "host/files.h"
#include "main.h"
#include "session.h"
#include "spec/guest_yaml.h"
#include "spec/host_yaml.h"
#include "spec/kind.h"

#define EDITOR_USUAL "vi"
#define COMMAND_FAILED 127 /* the status with which a shell reports that a program was not found */

static const char new_host_yaml[] =
	"# The PFs of this host: see vfctl-host.yaml(5). vfctl export prints the present state.\n"
	"pfs: []\n";

struct edit {
	char path[4096], copy[4096]; /* the copy is what the editor changes */
	struct vfctl_domain_file domain; /* without a name: it is the file @path */
	char subject[4096 + 16];	 /* for messages: the path, or "domain NAME" */
	bool of_host, of_guest;
	char *before, *text;
	size_t before_len, len;
	bool absent; /* the file does not exist yet */
};

static void clear_edit(struct edit *e)
{
	if (e->copy[0])
		unlink(e->copy);
	vfctl_domain_file_clear(&e->domain);
	free(e->before);
	free(e->text);
}

/* ---- the file or the domain ---- */

static bool is_path(const char *name)
{
	size_t len = strlen(name);

	return name[0] == '.' || strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".yaml") == 0);
}

/*
 * A file that has the name of a domain as well could be either. If libvirt does not answer, it is a
 * file.
 */
static int find_domain(struct invocation *in, const char *name, struct edit *e)
{
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	struct stat st;
	bool exists = stat(name, &st) == 0;
	int r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);

	if (r == 0)
		r = vfctl_domain_file_read(in->ctx, hv, name, !in->dry_run, &e->domain);
	if (exists && r != 0 && r != -EPERM && r != -EBADMSG)
		return 0;
	if (exists && !S_ISDIR(st.st_mode))
		return usage(in, "there is a file %s and a domain %s; for the file: vfctl edit ./%s; for the "
			"domain: vfctl edit $(virsh domuuid %s)", name, name, name, name);
	return r < 0 ? fail(in, r) : 0;
}

static int find_subject(struct invocation *in, struct edit *e)
{
	const char *name = in->arg_count ? in->args[0] : "host", *stated = option_of(in, "host-yaml");
	int status = 0;

	if (strcmp(name, "-") == 0)
		return usage(in, "'-' cannot be edited; name a file");
	if (option_of(in, "host"))
		return usage(in, "a captured host cannot be edited");
	e->of_host = strcmp(name, "host") == 0;
	if (!e->of_host && !is_path(name))
		status = find_domain(in, name, e);
	if (e->domain.name)
		snprintf(e->subject, sizeof(e->subject), "domain %s", e->domain.name);
	else if (!e->of_host)
		snprintf(e->path, sizeof(e->path), "%s", name);
	else if (stated)
		snprintf(e->path, sizeof(e->path), "%s", stated);
	else
		snprintf(e->path, sizeof(e->path), "%s%s", vfctl_ctx_host_root(in->ctx),
			VFCTL_HOST_SPEC_PATH);
	if (!e->domain.name)
		snprintf(e->subject, sizeof(e->subject), "%s", e->path);
	return status;
}

static int read_domain(struct invocation *in, struct edit *e)
{
	int len = asprintf(&e->before, "# The guest.yaml of domain %s, which libvirt keeps without "
		"comments.\n# Saving it does what vfctl define does with a changed file.\n%s", e->domain.name,
		e->domain.text);

	if (len < 0)
		e->before = NULL;
	e->before_len = e->before ? (size_t)len : 0;
	return e->before ? 0 : fail(in, -ENOMEM);
}

static int read_file(struct invocation *in, struct edit *e)
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

/*
 * Its wait status; negative: it could not be started. With @answers this command prints JSON, so
 * what the editor prints goes to standard error.
 */
static int run_editor(const char *copy, bool answers)
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
		if (answers)
			dup2(STDERR_FILENO, STDOUT_FILENO);
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
	int status = run_editor(e->copy, in->json), r;

	if (status < 0)
		return fail(in, status);
	if (WIFSIGNALED(status))
		return fail_as(in, EXIT_FAILED, -ECANCELED, "the editor '%s' ended with signal %d; %s is "
			"unchanged", editor(), WTERMSIG(status), e->subject);
	if (WEXITSTATUS(status) == COMMAND_FAILED)
		return fail_as(in, EXIT_FAILED, -ENOENT, "the editor '%s' was not found; name another one in "
			"VISUAL or EDITOR; %s is unchanged", editor(), e->subject);
	if (WEXITSTATUS(status))
		return fail_as(in, EXIT_FAILED, -ECANCELED, "the editor '%s' ended with exit status %d; "
			"%s is unchanged", editor(), WEXITSTATUS(status), e->subject);
	free(e->text);
	e->text = NULL;
	r = vfctl_file_read(in->ctx, e->copy, VFCTL_HOST_FILE_MAX, &e->text, &e->len);
	return r < 0 ? fail(in, r) : 0;
}

static bool is_unchanged(const struct edit *e)
{
	return e->len == e->before_len && memcmp(e->text, e->before, e->len) == 0;
}

/*
 * What the user typed stays in the copy. @status: of the attempt to use it; EXIT_DONE: a dry run.
 */
static void keep_copy(const struct invocation *in, struct edit *e, int status)
{
	out_flush(in->out);
	if (status == EXIT_PARTLY)
		say_clean("your text is in %s", e->copy);
	else if (status == EXIT_DONE && e->domain.name)
		say_clean("%s is unchanged; to use your text: vfctl define %s", e->subject, e->copy);
	else
		say_clean("%s is unchanged; your text is in %s", e->subject, e->copy);
	e->copy[0] = '\0';
}

/* ---- answers ---- */

#define OF struct edit_answer
struct edit_answer {
	bool dry_run, changed;
	const char *file;
};
static const struct member edited_table[] = {
	FIELD(dry_run, "true: nothing was changed"),
	FIELD(changed, "the file was written; in a dry run: it would be"),
	FIELD(file, "the file; null: it is a domain"), END};
#undef OF

static void tell_edited(struct invocation *in, const struct edit *e, bool changed)
{
	if (in->json)
		answer_put(in->out, NULL, edited_table, &(struct edit_answer){in->dry_run, changed,
			e->domain.name ? NULL : e->path});
	else if (in->quiet)
		return;
	else if (!changed)
		out_line(in->out, "%s is unchanged", e->subject);
	else if (in->dry_run)
		out_line(in->out, "the text is valid");
	else if (e->of_guest)
		out_line(in->out, "wrote %s; to use it: vfctl define %s", e->path, e->path);
	else
		out_line(in->out, "wrote %s; to use it: vfctl try, or vfctl apply", e->path);
}

/* ---- a file ---- */

static int check_text(struct invocation *in, struct edit *e)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	enum vfctl_spec_kind kind = VFCTL_SPEC_HOST;
	int r = e->of_host ? 0 : vfctl_spec_kind(in->ctx, e->path, e->text, e->len, &kind);

	e->of_guest = kind == VFCTL_SPEC_GUEST;
	if (r == 0 && kind == VFCTL_SPEC_HOST)
		r = vfctl_host_spec_parse(in->ctx, e->path, e->text, e->len, &spec);
	if (r == 0 && kind == VFCTL_SPEC_GUEST)
		r = vfctl_guest_parse(in->ctx, e->path, e->text, e->len, &guest);
	return r < 0 ? fail(in, r) : 0;
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

/* Sets @ret_final: another text would not help. */
static int replace_file(struct invocation *in, struct edit *e, bool *ret_final)
{
	int status = check_text(in, e), r;

	*ret_final = !status;
	if (status)
		return status;
	if (is_outdated(in, e))
		return fail_as(in, EXIT_FAILED, -EBUSY, "%s was changed by another process meanwhile",
			e->path);
	r = in->dry_run ? 0 : vfctl_file_write(in->ctx, e->path, e->text, e->len);
	if (r < 0)
		return fail(in, r);
	tell_edited(in, e, true);
	return EXIT_DONE;
}

/* ---- a domain ---- */

static int plan_domain(struct invocation *in, struct edit *e, struct session *s, bool *ret_final,
	struct vfctl_change **ret)
{
	int status, r = vfctl_guest_parse(in->ctx, e->domain.name, e->text, e->len, &s->guest);

	if (r < 0)
		return fail(in, r);
	status = open_host(in, s, true);
	*ret_final = status;
	if (status)
		return status;
	r = vfctl_edit_plan(in->ctx, &e->domain, s->guest, &s->options, in->dry_run, ret);
	*ret_final = r == -EBUSY;
	return r < 0 ? fail(in, r) : 0;
}

/* Sets @ret_final: another text would not help. */
static int define_domain(struct invocation *in, struct edit *e, bool *ret_final)
{
	_cleanup_(close_session) struct session s = {0};
	struct vfctl_change *change;
	int status = plan_domain(in, e, &s, ret_final, &change);

	if (status)
		return status;
	warn_hook(in);
	in->result_domain = e->domain.name;
	status = run_ids_change(in, &s.host, change, "defined");
	in->result_domain = NULL;
	*ret_final = status == EXIT_PARTLY || vfctl_ctx_is_cancelled(in->ctx);
	return status;
}

/* A host of the fleet may take the proposed values first; then the text is placed again. */
static int define_edited(struct invocation *in, struct edit *e, bool *ret_final)
{
	int status;

	do {
		in->again = false;
		status = define_domain(in, e, ret_final);
	} while (in->again);
	return status;
}

/* ---- both ---- */

/* Without a terminal no user can correct a mistake, and JSON is one answer. */
static bool wants_again(const struct invocation *in)
{
	char line[64];

	if (in->json || !isatty(STDIN_FILENO))
		return false;
	fputs("edit again? [Y/n] ", stderr);
	return fgets(line, sizeof(line), stdin) && line[0] != 'n' && line[0] != 'N';
}

static int edit_until_done(struct invocation *in, struct edit *e)
{
	for (;;) {
		bool final = false;
		int status = edit_once(in, e);

		if (status)
			return status;
		if (is_unchanged(e)) {
			tell_edited(in, e, false);
			return EXIT_DONE;
		}
		status = (e->domain.name ? define_edited : replace_file)(in, e, &final);
		if (status == EXIT_DONE || status == EXIT_DRIFT) {
			if (in->dry_run)
				keep_copy(in, e, status);
			return status;
		}
		if (final || !wants_again(in)) {
			keep_copy(in, e, status);
			return status;
		}
	}
}

static int run_edit(struct invocation *in)
{
	_cleanup_(clear_edit) struct edit e = {0};
	int status = find_subject(in, &e);

	if (!status)
		status = e.domain.name ? read_domain(in, &e) : read_file(in, &e);
	if (!status)
		status = write_copy(in, &e);
	return status ? status : edit_until_done(in, &e);
}

static const struct answer edit_answers[] = {{"Of a file, and of a domain if the text is unchanged",
	edited_table, false}, CHANGE_DRY_RUN, CHANGE_DONE, {0}};

const struct command cmd_edit = {
	.name = "edit",
	.group = GROUP_HOST,
	.answer = edit_answers,
	.args = "[host|DOMAIN|FILE.yaml]",
	.summary = "Edit host.yaml, a guest.yaml or a domain, with a check",
	.text = "Opens a copy of /etc/vfctl/host.yaml, of FILE, or of the guest.yaml of a domain that"
		" vfctl defined, in $VISUAL or $EDITOR (default vi). A valid text replaces the file, "
		"and nothing is applied; a domain is changed at once, as vfctl define does with a "
		"changed file. After a mistake vfctl prints it and opens the editor again. An editor "
		"that fails, and a text that is not changed, change nothing. libvirt keeps no "
		"comments, so the text of a domain has none. An argument with a slash, or that ends "
		"in .yaml, is a file. For a domain with the name of a file, or called host, give its "
		"UUID. After --dry-run your text is kept.",
	.examples = {{"vfctl edit host", "/etc/vfctl/host.yaml"},
		{"vfctl edit web", "the domain web"},
		{"vfctl edit guests/web.yaml", "the file of a guest"}},
	.max_args = 1,
	.operand = OPERAND_FILE,
	.choices = "host",
	.changes = true,
	.waits = true,
	.run = run_edit,
};
