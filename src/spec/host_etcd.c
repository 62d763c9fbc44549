// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "spec/host.h"

#define ENDPOINTS_MAX 16

void etcd_spec_free(struct vfctl_etcd_spec *etcd)
{
	if (!etcd)
		return;
	strv_free(etcd->endpoints);
	free(etcd->prefix);
	free(etcd->ca);
	free(etcd->cert);
	free(etcd->key);
	free(etcd->user);
	free(etcd->password_file);
	free(etcd);
}

enum { ENDPOINTS, CA, CERT, KEY, USER, PASSWORD_FILE };

#define E(member) offsetof(struct vfctl_etcd_spec, member)
static const struct key etcd_keys[] = {
	[ENDPOINTS] = {"endpoints", read_lines, E(endpoints), 0, ENDPOINTS_MAX, NULL},
	[CA] = {"ca", read_path, E(ca), 0, 0, NULL},
	[CERT] = {"cert", read_path, E(cert), 0, 0, NULL},
	[KEY] = {"key", read_path, E(key), 0, 0, NULL},
	[USER] = {"user", read_line, E(user), 1, 256, NULL},
	[PASSWORD_FILE] = {"password-file", read_path, E(password_file), 0, 0, NULL},
	{"prefix", read_line, E(prefix), 1, 256, NULL},
	{"timeout", read_milliseconds, E(timeout_ms), 100, 600000, NULL},
	{"ttl", read_seconds, E(ttl_s), 60, 365u * 86400, NULL},
	{"block", read_u32, E(block), 0, 120, NULL},
};

static const char *const etcd_required[] = {"endpoints", NULL};
const struct table etcd_table = {etcd_keys, ARRAY_SIZE(etcd_keys), NULL, 0,
	.required = etcd_required,
	.remedy = "name at least one, such as https://etcd1:2379"};

static int check_endpoint(struct reader *r, const struct doc_node *at, const char *url)
{
	const char *host = str_starts(url, "https://") ? url + 8
		: str_starts(url, "http://") ? url + 7 : NULL;

	if (!host || !*host || strpbrk(url, " @?#") || strchr(host, '/'))
		return reader_fail(r, at, "endpoints", -EINVAL,
			"'%.200s' is not allowed; it must be https://HOST:PORT or "
			"http://HOST:PORT, without a path or a user", url);
	return 0;
}

/* Check keys that must be given together. */
static int check_pairs(struct reader *r, const struct doc_node *const *seen)
{
	static const unsigned pairs[][2] = {{CERT, KEY}, {KEY, CERT}, {USER, PASSWORD_FILE},
		{PASSWORD_FILE, USER}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (seen[pairs[i][0]] && !seen[pairs[i][1]])
			return reader_fail(r, seen[pairs[i][0]], etcd_keys[pairs[i][0]].name,
				-EINVAL, "it also needs %s; add that, or remove this key",
				etcd_keys[pairs[i][1]].name);
	return 0;
}

static int check_etcd(struct reader *r, const struct doc_node *node,
	struct vfctl_etcd_spec *etcd, const struct doc_node *const *seen)
{
	size_t len;
	int error;

	for (size_t i = 0; etcd->endpoints[i]; i++) {
		error = check_endpoint(r, seen[ENDPOINTS], etcd->endpoints[i]);
		if (error < 0)
			return error;
	}
	if (!etcd->prefix)
		etcd->prefix = strdup("/vfctl/");
	if (!etcd->prefix)
		return ctx_oom(r->ctx);
	len = strlen(etcd->prefix);
	if (etcd->prefix[0] != '/' || etcd->prefix[len - 1] != '/')
		return reader_fail(r, node, "prefix", -EINVAL,
			"'%s' is not allowed; it must begin and end with '/', such as /vfctl/",
			etcd->prefix);
	return check_pairs(r, seen);
}

int read_etcd(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const struct doc_node *seen[ARRAY_SIZE(etcd_keys)] = {0};
	struct reader inner = {.ctx = r->ctx, .path = "etcd."};
	struct vfctl_host_spec *spec = object;
	int error;

	spec->etcd = calloc(1, sizeof(*spec->etcd));
	if (!spec->etcd)
		return ctx_oom(r->ctx);
	*spec->etcd = (struct vfctl_etcd_spec){.timeout_ms = 5000, .ttl_s = 86400,
		.block = 16};
	error = reader_table(&inner, value, &etcd_table, spec->etcd, seen);
	return error < 0 ? error : check_etcd(&inner, value, spec->etcd, seen);
}
