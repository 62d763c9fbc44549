// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/snapshot/domains.h"

#include <errno.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "host/host.h"
#include "types/find.h"
#include "types/hypervisor.h"

static void clear_domain(struct known_domain *d)
{
	free(d->devices);
	free(d->references);
	strv_free(d->networks);
	free(d->values);
	free(d->unread);
}

void known_domains_free(struct known_domains *domains)
{
	if (!domains)
		return;
	for (size_t i = 0; i < domains->count; i++)
		clear_domain(&domains->v[i]);
	free(domains->v);
	known_pools_free(domains->pools, domains->pool_count);
	free(domains->unread);
	free(domains);
}

/* The value of pid='...' in the opening tag of a status file; 0 if there is none. */
static int status_pid(const char *text)
{
	const char *tag = strstr(text, "<domstatus"), *pid, *end;
	char number[12] = "";
	int value;

	pid = tag ? strstr(tag, " pid='") : NULL;
	end = pid ? strchr(pid + 6, '\'') : NULL;
	if (!end || end > strchr(tag, '>') || (size_t)(end - pid - 6) >= sizeof(number))
		return 0;
	memcpy(number, pid + 6, (size_t)(end - pid - 6));
	return parse_int(number, 1, INT32_MAX, &value) == 0 ? value : 0;
}

/* If both libvirtd and the guest died, the file exists until libvirtd starts again. */
static int living_pid(struct vfctl_ctx *ctx, const char *text)
{
	int pid = status_pid(text);

	return pid && host_exists(ctx, "/proc/%d", pid) ? pid : 0;
}

int known_domain_pid(struct vfctl_ctx *ctx, const char *dir, const char *name)
{
	_free_ char *text = NULL;

	return host_try_read(ctx, &text, "%s/%s", dir, name) < 0 || !text ? 0
									  : living_pid(ctx, text);
}

/* A status file contains the domain; a definition begins with a comment. */
static const char *find_domain(const char *text, size_t *ret_len)
{
	static const char close[] = "</domain>";
	const char *start = strstr(text, "<domain "), *end = NULL;

	for (const char *at = start; at && (at = strstr(at, close)); at++)
		end = at;
	*ret_len = end ? (size_t)(end - start) + strlen(close) : 0;
	return end ? start : NULL;
}

static void add_values(struct known_domain *d, const struct vfctl_domain_intent *intent)
{
	for (size_t i = 0; i < intent->vf_count; i++)
		d->values[d->value_count++] = intent->vfs[i].attrs;
	for (size_t i = 0; i < intent->device_count; i++)
		if (intent->devices[i].has_mac)
			d->values[d->value_count++] = (struct vfctl_vf_attrs){.mask = VFCTL_ATTR_MAC,
				.mac = intent->devices[i].mac};
}

static int add_references(struct vfctl_ctx *ctx, struct known_domain *d,
	const struct vfctl_domain_intent *intent)
{
	size_t networks = 0;
	int r = 0;

	for (size_t i = 0; i < intent->reference_count && r == 0; i++) {
		const struct vfctl_reference *ref = &intent->references[i];
		struct known_reference *known = &d->references[d->reference_count];

		if (ref->form == VFCTL_REFERENCE_NETWORK) {
			d->networks[networks] = d->pid ? NULL : strdup(ref->name);
			r = d->pid || d->networks[networks++] ? 0 : -ENOMEM;
			continue;
		}
		r = reference_function(ctx, ref, &known->bdf);
		known->form = ref->form;
		known->line = ref->line;
		d->reference_count += r == 0;
		r = r == -ENOMEM ? r : 0;
	}
	return r < 0 ? ctx_oom(ctx) : 0;
}

static int add_domain(struct vfctl_ctx *ctx, struct known_domains *all,
	const struct vfctl_domain_intent *intent, int pid)
{
	struct known_domain *d;

	if (!array_grow(all->v, all->count))
		return ctx_oom(ctx);
	d = &all->v[all->count];
	*d = (struct known_domain){.pid = pid, .noted = intent->lease_id[0],
		.devices = calloc(intent->device_count + 1, sizeof(*d->devices)),
		.references = calloc(intent->reference_count + 1, sizeof(*d->references)),
		.networks = calloc(intent->reference_count + 1, sizeof(*d->networks)),
		.values = calloc(intent->vf_count + intent->device_count + 1, sizeof(*d->values))};
	all->count++;
	if (!d->devices || !d->references || !d->networks || !d->values)
		return ctx_oom(ctx);
	str_copy(d->name, sizeof(d->name), intent->name);
	str_copy(d->uuid, sizeof(d->uuid), intent->uuid);
	for (size_t i = 0; i < intent->device_count; i++)
		d->devices[d->device_count++] = intent->devices[i].bdf;
	add_values(d, intent);
	return add_references(ctx, d, intent);
}

static void note_unread(struct known_domains *all, const char *what)
{
	if (!all->unread)
		all->unread = strdup(what);
}

/* Add what can be read of @xml. @name: of the domain, if its XML does not state it. */
static int add_xml(struct vfctl_ctx *ctx, struct known_domains *all, const char *name,
	const char *xml, size_t len, int pid)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_free_ char *unread = NULL;
	int r = intent ? domain_intent_read_known(ctx, xml, len, intent, &unread) : ctx_oom(ctx);

	if (r == 0 && !intent->name[0])
		str_copy(intent->name, sizeof(intent->name), name);
	if (r == 0)
		r = add_domain(ctx, all, intent, pid);
	if (r == 0)
		all->v[all->count - 1].unread = steal(unread);
	return r;
}

/* A running guest must be identified: only libvirt writes these files. */
static void need_uuid(struct known_domains *all, const char *path)
{
	const struct known_domain *d = &all->v[all->count - 1];
	_free_ char *why = NULL;

	if (!d->pid || !d->unread || d->uuid[0])
		return;
	why = str_format("%s: %s", path, d->unread);
	note_unread(all, why ? why : path);
}

/* A truncated file is read as far as possible. */
static int read_domain(struct vfctl_ctx *ctx, struct known_domains *all, const char *path,
	const char *text, int pid)
{
	const char *slash = strrchr(path, '/');
	_free_ char *name = strdup(slash ? slash + 1 : path);
	size_t len;
	const char *xml = find_domain(text, &len);
	int r;

	if (!name)
		return ctx_oom(ctx);
	if (strlen(name) > 4)
		name[strlen(name) - 4] = '\0'; /* ".xml" */
	if (!xml) {
		xml = strstr(text, "<domain ");
		xml = xml ? xml : text;
		len = strlen(xml);
	}
	r = add_xml(ctx, all, name, xml, len, pid);
	if (r == 0)
		need_uuid(all, path);
	return r;
}

/*
 * Most domains name neither: they are not parsed. A file of an administrator may have any quotes.
 */
static bool may_name_devices(const struct known_domains *all, const char *text)
{
	return vfctl_domain_may_have_devices(text, strlen(text)) || (all->pool_count &&
		(strstr(text, "'network'") || strstr(text, "\"network\"")));
}

static int read_file(struct vfctl_ctx *ctx, struct known_domains *all, const char *dir,
	const char *name, bool running)
{
	_free_ char *path = str_format("%s/%s", dir, name), *text = NULL;
	int pid = 0, r = path ? host_try_read(ctx, &text, "%s", path) : ctx_oom(ctx);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || !text || !may_name_devices(all, text))
		return 0;
	if (running) {
		pid = living_pid(ctx, text);
		if (!pid)
			return 0;
	}
	return read_domain(ctx, all, path, text, pid);
}

static int read_dir(struct vfctl_ctx *ctx, struct known_domains *all, const char *dir,
	bool running)
{
	_strv_ char **names = NULL;
	int r = host_try_list(ctx, &names, "%s", dir);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = 0;
	for (size_t i = 0; names[i] && r == 0; i++) {
		size_t len = strlen(names[i]);

		if (len > 4 && str_eq(names[i] + len - 4, ".xml"))
			r = read_file(ctx, all, dir, names[i], running);
	}
	return r;
}

static int read_pools(struct vfctl_ctx *ctx, struct known_domains *all)
{
	int r = known_pools_read(ctx, &all->pools, &all->pool_count);

	if (r >= 0 || r == -ENOMEM)
		return r;
	note_unread(all, vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

int known_domains_read(struct vfctl_ctx *ctx, struct known_domains **ret)
{
	_cleanup_(known_domains_freep) struct known_domains *all = calloc(1, sizeof(*all));
	_free_ char *before = host_take_unread(ctx), *unread = NULL;
	int r;

	if (!all)
		return ctx_oom(ctx);
	r = read_pools(ctx, all);
	if (r == 0)
		r = read_dir(ctx, all, LIBVIRT_RUNNING, true);
	if (r == 0)
		r = read_dir(ctx, all, LIBVIRT_DEFINITIONS, false);
	unread = host_take_unread(ctx);
	if (unread)
		note_unread(all, unread);
	ctx->unread = steal(before);
	if (r == 0)
		*ret = steal(all);
	return r;
}

/* 1: it is this one; 0: it is another, or cannot be read. */
static int is_running_domain(struct vfctl_ctx *ctx, const char *file, const char *domain,
	struct vfctl_domain_intent *io, int *ret_pid)
{
	_free_ char *text = NULL;
	const char *xml;
	size_t len;
	int pid, r;

	if (host_try_read(ctx, &text, LIBVIRT_RUNNING "/%s", file) < 0 || !text)
		return 0;
	xml = find_domain(text, &len);
	pid = living_pid(ctx, text);
	if (!xml || !pid || !memmem(xml, len, domain, strlen(domain)))
		return 0;
	r = vfctl_domain_intent_read(ctx, xml, len, false, io);
	if (r < 0 && r != -ENOMEM) {
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0 || (!str_eq(io->name, domain) && !str_eq(io->uuid, domain)))
		return r;
	*ret_pid = pid;
	return 1;
}

int known_domain_find_running(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_domain_intent *ret, int *ret_pid)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_strv_ char **names = NULL;
	int r = intent ? host_try_list(ctx, &names, LIBVIRT_RUNNING) : ctx_oom(ctx);

	if (r == -EACCES || r == -EPERM)
		return ctx_fail(ctx, -EACCES, LIBVIRT_RUNNING " cannot be read; try sudo");
	if (r == -ENOMEM)
		return r;
	for (size_t i = 0; r == 0 && names[i]; i++) {
		size_t len = strlen(names[i]);

		if (len > 4 && str_eq(names[i] + len - 4, ".xml"))
			r = is_running_domain(ctx, names[i], domain, intent, ret_pid);
	}
	if (r == 1)
		*ret = *intent;
	return r == 1 ? 0 : r == -ENOMEM ? r
		: ctx_fail(ctx, -ENOENT, "no domain %.64s runs here", domain);
}

static int ask_all(struct vfctl_ctx *ctx, const struct vfctl_domain_info *infos, size_t count,
	struct known_domains *all)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = add_xml(ctx, all, infos[i].name, infos[i].xml, strlen(infos[i].xml),
			infos[i].active);
	return r;
}

int known_domains_ask(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	struct known_domains **ret)
{
	_cleanup_(known_domains_freep) struct known_domains *all = calloc(1, sizeof(*all));
	struct vfctl_domain_info *infos = NULL;
	size_t count = 0;
	int r = all ? hypervisor->list(ctx, hypervisor, &infos, &count) : ctx_oom(ctx);

	if (r == 0)
		r = ask_all(ctx, infos, count, all);
	vfctl_domain_infos_free(infos, count);
	if (r == 0)
		*ret = steal(all);
	return r;
}

bool known_domain_has(const struct known_domain *domain, const struct vfctl_bdf *bdf)
{
	return bdf_list_has(domain->devices, domain->device_count, bdf) ||
		known_domain_reference(domain, bdf);
}

const struct known_reference *known_domain_reference(const struct known_domain *domain,
	const struct vfctl_bdf *bdf)
{
	for (size_t i = 0; i < domain->reference_count; i++)
		if (vfctl_bdf_compare(&domain->references[i].bdf, bdf) == 0)
			return &domain->references[i];
	return NULL;
}

bool known_domain_passes(const struct known_domain *domain, const struct vfctl_bdf *bdf)
{
	const struct known_reference *ref = known_domain_reference(domain, bdf);

	return bdf_list_has(domain->devices, domain->device_count, bdf) ||
		(ref && reference_passes_through(ref->form));
}

static const struct known_pool *find_pool(const struct known_domains *domains, const char *name,
	const struct vfctl_bdf *pf, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < domains->pool_count; i++)
		if (str_eq(domains->pools[i].name, name) && known_pool_has(&domains->pools[i], pf, vf))
			return &domains->pools[i];
	return NULL;
}

const struct known_pool *known_domain_pool(const struct known_domains *domains,
	const struct known_domain *domain, const struct vfctl_bdf *pf, const struct vfctl_bdf *vf)
{
	const struct known_pool *pool = NULL;

	for (char **name = domain->networks; name && *name && !pool; name++)
		pool = find_pool(domains, *name, pf, vf);
	return pool;
}

int known_domain_parse(struct vfctl_ctx *ctx, const char *xml, struct vfctl_parsed_domain **ret)
{
	return domain_read_known(ctx, xml, ret);
}

const struct known_domain *known_domains_first_unread(const struct known_domains *domains)
{
	for (size_t i = 0; i < domains->count; i++)
		if (domains->v[i].unread)
			return &domains->v[i];
	return NULL;
}

bool known_domains_runs(const struct known_domains *domains, const char *uuid)
{
	for (size_t i = 0; i < domains->count; i++)
		if (domains->v[i].pid && str_eq(domains->v[i].uuid, uuid))
			return true;
	return false;
}
