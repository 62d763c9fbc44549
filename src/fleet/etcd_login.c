// SPDX-License-Identifier: GPL-2.0-or-later
/* The user and the password for etcd. */
#include "fleet/etcd_login.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/json.h"

#define PASSWORD_MAX 1024

static int read_password(struct vfctl_ctx *ctx, const char *path, char password[PASSWORD_MAX])
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ctx_fail(ctx, -EACCES, "password-file %s: %s", path, strerror(errno));
	if (st.st_mode & 07)
		return ctx_fail(ctx, -EACCES, "password-file %s can be read or written by other users; "
			"run chmod 600 on it, and change the password", path);
	n = read(fd, password, PASSWORD_MAX);
	if (n < 0)
		return ctx_fail(ctx, -EACCES, "password-file %s: %s", path, strerror(errno));
	if (n == PASSWORD_MAX || memchr(password, '\0', (size_t)n))
		return ctx_fail(ctx, -EACCES, "password-file %s holds no password", path);
	password[n] = '\0';
	str_rstrip(password);
	return *password ? 0 : ctx_fail(ctx, -EACCES, "password-file %s is empty", path);
}

int etcd_login_write(struct vfctl_ctx *ctx, const struct vfctl_etcd_spec *spec, struct buf *body)
{
	char password[PASSWORD_MAX];
	int r = read_password(ctx, spec->password_file, password);

	if (r < 0)
		return r;
	buf_puts(body, "{\"name\":");
	json_put(body, spec->user);
	buf_puts(body, ",\"password\":");
	json_put(body, password);
	buf_puts(body, "}");
	explicit_bzero(password, sizeof(password));
	return body->failed ? ctx_oom(ctx) : 0;
}
