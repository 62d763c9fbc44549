// SPDX-License-Identifier: GPL-2.0-or-later
/* host.yaml: find and read it, and run its after-change command. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "facts/hostfile.h"
#include "host/files.h"
#include "host/host.h"
#include "host/run.h"
#include "spec/host_yaml.h"

static int fail_read(struct vfctl_ctx *ctx, const char *path, int error)
{
	return ctx_usage_error(ctx, error, "read %s: %s", path,
		error == -EMEDIUMTYPE ? "it is not a regular file" : strerror(-error));
}

/* A local file that the administrator named. */
static int read_named(struct vfctl_ctx *ctx, const char *path, char **ret)
{
	_free_ char *text = NULL;
	size_t len;
	int r = vfctl_file_read(ctx, path, VFCTL_HOST_FILE_MAX, &text, &len);

	if (r < 0)
		return ctx_mark_usage_error(ctx, r);
	/* A NUL must not truncate the text without an error. */
	if (strlen(text) != len)
		return ctx_usage_error(ctx, -EILSEQ, "%s: it is not text", path);
	*ret = steal(text);
	return 0;
}

static int read_text(struct vfctl_ctx *ctx, const char *path, char **ret)
{
	int r;

	if (path)
		return read_named(ctx, path, ret);
	r = host_try_read(ctx, ret, "%s", VFCTL_HOST_SPEC_PATH);
	return r < 0 && r != -ENOENT ? fail_read(ctx, VFCTL_HOST_SPEC_PATH, r) : r;
}

/* The kernel's hostname, which a capture contains too. */
static void name_host(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec)
{
	_free_ char *name = NULL;

	if (spec->host[0])
		return;
	if (host_try_read(ctx, &name, "/proc/sys/kernel/hostname") < 0 ||
		!str_copy(spec->host, sizeof(spec->host), str_rstrip(name)) || !spec->host[0])
		str_copy(spec->host, sizeof(spec->host), "localhost");
}

/* ---- a directory ---- */

#define FILES_MAX 256

struct files {
	struct vfctl_host_file v[FILES_MAX];
	size_t count;
};

static void free_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free((char *)files->v[i].name);
		free((char *)files->v[i].text);
	}
}

static int is_yaml(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && str_eq(entry->d_name + len - 5, ".yaml");
}

/* In the order of their bytes, whatever the locale is. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_one(struct vfctl_ctx *ctx, const char *dir, const char *name, struct files *files)
{
	char *path = str_format("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name), *text;
	int r = path ? read_named(ctx, path, &text) : ctx_oom(ctx);

	if (r < 0) {
		free(path);
		return r;
	}
	files->v[files->count++] = (struct vfctl_host_file){path, text, strlen(text)};
	return 0;
}

static int read_directory(struct vfctl_ctx *ctx, const char *dir, struct vfctl_host_spec **ret)
{
	_cleanup_(free_files) struct files files = {0};
	struct dirent **entries = NULL;
	int count = scandir(dir, &entries, is_yaml, by_name), r = 0;

	if (count < 0)
		return fail_read(ctx, dir, -errno);
	if (count > FILES_MAX)
		r = ctx_usage_error(ctx, -E2BIG, "%s: it has %d *.yaml files, but at most %d are "
			"allowed; join some", dir,
			count, FILES_MAX);
	for (int i = 0; i < count; i++) {
		if (r == 0)
			r = read_one(ctx, dir, entries[i]->d_name, &files);
		free(entries[i]);
	}
	free(entries);
	if (r == 0 && !count)
		r = ctx_usage_error(ctx, -ENOENT, "%s: no *.yaml file found in this directory; is "
			"it the right one?", dir);
	return r < 0 ? r : vfctl_host_spec_parse_files(ctx, files.v, files.count, ret);
}

/* ---- a file or a directory ---- */

static int read_spec(struct vfctl_ctx *ctx, const char *path, struct vfctl_host_spec **ret)
{
	_free_ char *text = NULL;
	struct stat st;
	int r;

	if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(ctx, path, ret);
	r = read_text(ctx, path, &text);
	if (r == 0)
		return vfctl_host_spec_parse(ctx, path ? path : VFCTL_HOST_SPEC_PATH, text,
			strlen(text), ret);
	if (r != -ENOENT || path)
		return r;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return ctx_oom(ctx);
	(*ret)->hook_timeout_ms = VFCTL_HOOK_TIMEOUT_MS;
	(*ret)->absent = true;
	return 0;
}

static bool add_source(char **sources, size_t *io_count, char *path)
{
	sources[*io_count] = path;
	*io_count += path != NULL;
	return path;
}

/* Names the sources of an error message for users who need to know who may write these files. */
static int name_sources(struct vfctl_ctx *ctx, const char *path, struct vfctl_host_spec *spec)
{
	struct dirent **entries = NULL;
	int count = path ? scandir(path, &entries, is_yaml, by_name) : -1;
	size_t n = 0;
	bool ok;

	spec->sources = calloc((size_t)(count > 0 ? count : 0) + 2, sizeof(*spec->sources));
	ok = spec->sources && add_source(spec->sources, &n, path ? strdup(path)
		: str_format("%s" VFCTL_HOST_SPEC_PATH, host_of(ctx)->root));
	for (int i = 0; i < count; i++) {
		ok = ok && add_source(spec->sources, &n, str_format("%s/%s", path, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return ok ? 0 : ctx_oom(ctx);
}

int vfctl_host_spec_read(struct vfctl_ctx *ctx, const char *path,
	struct vfctl_host_spec **ret_spec)
{
	struct vfctl_host_spec *spec;
	int r = read_spec(ctx, path, &spec);

	if (r < 0)
		return r;
	name_host(ctx, spec);
	r = name_sources(ctx, path, spec);
	if (r < 0) {
		vfctl_host_spec_free(spec);
		return r;
	}
	*ret_spec = spec;
	return 0;
}

int vfctl_host_spec_after_change(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	char **ret_said)
{
	int r;

	if (!spec->after_change)
		return 0;
	log_debug(ctx, "running %s", spec->after_change[0]);
	r = host_run(ctx, spec->after_change, spec->after_change_timeout_ms, ret_said);
	if (r < 0)
		return ctx_prefix(ctx, r, "after-change command");
	log_info(ctx, "%s: %s", spec->after_change[0], **ret_said ? *ret_said : "done");
	return 1;
}
