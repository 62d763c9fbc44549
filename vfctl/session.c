// SPDX-License-Identifier: GPL-2.0-or-later
/* Common parts of plan, xml and define: the guest's file, its template, host.yaml, libvirt. */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/definition.h"
#include "facts/hostfile.h"
#include "facts/snapshot/snapshot.h"
#include "hook/hook.h"
#include "host/files.h"
#include "main.h"

/* ---- files ---- */

int fail_file(const struct invocation *in, const char *path, int error)
{
	bool mistaken = error == ENOENT || error == ENOTDIR || error == EISDIR;

	return fail_as(in, mistaken ? EXIT_USAGE : EXIT_FAILED, error, "%s: %s", path,
		strerror(error));
}

/* If it has the wrong kind, that is a mistake of the caller. */
static int fail_named(struct invocation *in, int r)
{
	bool mistaken = r == -ENOENT || r == -ENOTDIR || r == -EISDIR || r == -EMEDIUMTYPE ||
		r == -ELOOP || r == -EFBIG;

	return mistaken ? fail_as(in, EXIT_USAGE, r, "%s", vfctl_ctx_error(in->ctx)) : fail(in, r);
}

int read_named(struct invocation *in, const char *path, size_t max, char **ret, size_t *ret_len)
{
	int r = vfctl_file_read(in->ctx, path, max, ret, ret_len);

	return r < 0 ? fail_named(in, r) : 0;
}

int write_named(struct invocation *in, const char *path, const char *text)
{
	int r;

	if (strcmp(path, "-") == 0) {
		fputs(text, out_file(in->out));
		return EXIT_DONE;
	}
	/* Earlier output comes first, in case it goes to the same file. */
	fflush(out_file(in->out));
	r = vfctl_file_write(in->ctx, path, text, strlen(text));
	if (r == -ENOENT || r == -ENOTDIR)
		return fail_as(in, EXIT_USAGE, r, "%s", vfctl_ctx_error(in->ctx));
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int read_guest(struct invocation *in, const char *path, struct vfctl_guest **ret)
{
	_free_ char *text = NULL;
	size_t len = 0;
	int r = read_named(in, path, VFCTL_GUEST_FILE_MAX, &text, &len);

	if (r)
		return r;
	r = vfctl_guest_parse(in->ctx, path, text, len, ret);
	return r < 0 ? fail(in, r) : 0;
}

int read_guest_in(struct invocation *in, const char *dir, const char *name,
	struct vfctl_guest **ret)
{
	_free_ char *text = NULL;
	char path[4096];
	size_t len = 0;
	int r = vfctl_tree_read(in->ctx, dir, name, VFCTL_GUEST_FILE_MAX, &text, &len);

	if (r < 0)
		return fail_named(in, r);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = vfctl_guest_parse(in->ctx, path, text, len, ret);
	return r < 0 ? fail(in, r) : 0;
}

int read_template(struct invocation *in, const struct vfctl_guest *guest, char **ret,
	char **ret_name)
{
	const char *name = option_of(in, "template");
	size_t len = 0;
	int r;

	if (!name)
		name = guest->template_name;
	if (!name)
		return 0;
	r = vfctl_domain_template_path(in->ctx, NULL, name, ret_name);
	if (r < 0)
		return fail(in, r);
	r = read_named(in, *ret_name, VFCTL_DOMAIN_XML_MAX, ret, &len);
	if (r == 0 && strlen(*ret) != len)
		return usage(in, "%s contains a NUL byte, so it is not XML", *ret_name);
	return r;
}

/* ---- common parts of the verbs ---- */

void close_session(struct session *s)
{
	vfctl_guest_free(s->guest);
	host_ids_close(&s->host);
	vfctl_hypervisor_close(s->hv);
	free(s->template_text);
	free(s->template_name);
}

/*
 * Plans and XML can also be made without libvirt (on a captured host, or if it does not run). The
 * pins of other domains are then unknown, and a warning reports that.
 */
static int connect_hv(struct invocation *in, struct session *s, bool needed)
{
	const char *uri = option_of(in, "connect");
	int r;

	if (!needed && option_of(in, "host") && !uri)
		return 0;
	r = main_open_hypervisor(in->ctx, uri, &s->hv);
	if (r < 0 && (needed || uri))
		return fail(in, r);
	if (r < 0 && !in->quiet)
		warn("what other domains hold is not known: %s",
			vfctl_ctx_error(in->ctx));
	s->options.hypervisor = s->hv;
	return 0;
}

int read_reserve(struct invocation *in, struct vfctl_cpuset *io)
{
	const char *reserve = option_of(in, "reserve");

	if (reserve && vfctl_cpuset_parse(reserve, io) < 0)
		return usage(in, "--reserve must be a list of CPUs such as 0-1,8, not '%s'",
			reserve);
	return 0;
}

static int read_host(struct invocation *in, struct session *s, struct vfctl_host_model **ret)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	int r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &s->host.spec);

	s->options.spec = s->host.spec;
	s->options.with_gpus = s->options.with_cards = true;
	if (r == 0)
		r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);
	if (r == 0 && snapshot->leases_error && !in->quiet)
		warn("what is leased is not known: %s", snapshot->leases_error);
	if (r == 0)
		r = vfctl_model_read(in->ctx, snapshot, &s->options, ret);
	return r < 0 ? fail(in, r) : 0;
}

int read_model(struct invocation *in, struct session *s, struct vfctl_host_model **ret)
{
	const char *file = option_of(in, "model");
	int r;

	if (file && option_of(in, "reserve"))
		return usage(in, "--reserve is for a host; a model has reserved_cpus of its own");
	if (file) {
		r = vfctl_model_load(in->ctx, file, ret);
		return r < 0 ? fail(in, r) : 0;
	}
	r = read_reserve(in, &s->options.reserved_cpus);
	if (r == 0)
		r = connect_hv(in, s, false);
	return r ? r : read_host(in, s, ret);
}

int open_host(struct invocation *in, struct session *s, bool needs_libvirt)
{
	int r = read_reserve(in, &s->options.reserved_cpus);

	if (r == 0)
		r = host_ids_open(in, in->command->changes && !in->dry_run, &s->host);
	s->options.ids = s->host.ids;
	s->options.spec = s->host.spec;
	return r ? r : connect_hv(in, s, needs_libvirt);
}

int open_session(struct invocation *in, struct session *s, bool needs_libvirt)
{
	int r = read_guest(in, in->args[0], &s->guest);

	if (r == 0)
		r = read_template(in, s->guest, &s->template_text, &s->template_name);
	return r ? r : open_host(in, s, needs_libvirt);
}

void warn_hook(struct invocation *in)
{
	struct vfctl_hook_status hook;

	if (in->dry_run || vfctl_hook_status_read(in->ctx, &hook) < 0 || hook.seen_by_daemon)
		return;
	warn("libvirt does not run vfctl's hook, so the VFs will not get their policy at the start; "
	     "run: vfctl hook install");
}
