// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvirt's domains as the files that it keeps: a definition in etc/libvirt/qemu, a running
 * domain in run/libvirt/qemu. $SIM_HV_FAIL names a call that fails ("define", or "define 2"
 * for the second one); .sim/saved/NAME is a managed save, .sim/nvram/NAME an NVRAM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "domain/definition.h"
#include "domain/domain.h"
#include "hypervisor.h"
#include "types/hypervisor.h"

#define DEFINED "/etc/libvirt/qemu/%s.xml"
#define RUNNING "/run/libvirt/qemu/%s.xml"

struct sim_hypervisor {
	struct vfctl_hypervisor table;
	struct host *host;
	char fail[16];
	int fail_at;
};

static struct host *host_in(struct vfctl_hypervisor *self)
{
	return ((struct sim_hypervisor *)self)->host;
}

static int called(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *call)
{
	struct sim_hypervisor *s = (struct sim_hypervisor *)self;

	int r = fault_libvirt(s->host, false);

	if (r == 0 && (!str_eq(s->fail, call) || --s->fail_at))
		return 0;
	if (r == 0) /* an error that must not be taken for "plan it anew" */
		r = str_eq(call, "detach") ? -EAGAIN : -EIO;
	return ctx_fail(ctx, r, "libvirt: %s failed, as the test asked", call);
}

/* It did its work: its answer may be lost still. */
static int answer(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, int result)
{
	int r = result == 0 ? fault_libvirt(host_in(self), true) : 0;

	return r < 0 ? ctx_fail(ctx, r, "libvirt: no answer, as the test asked") : result;
}

/* The domain of a status file alone. */
static char *running_xml(struct host *h, const char *name)
{
	_free_ char *text = sim_get(h, RUNNING, name);
	char *start = text ? strstr(text, "<domain ") : NULL;
	char *end = start ? strstr(start, "</domain>") : NULL;

	return end ? strndup(start, (size_t)(end - start) + 9) : NULL;
}

static int read_names(struct vfctl_ctx *ctx, const char *xml,
	struct vfctl_domain_intent *ret)
{
	_free_ char *unread = NULL;
	int r = vfctl_domain_intent_read(ctx, xml, strlen(xml), true, ret);

	/* libvirt has no limit of devices. */
	if (r != -E2BIG)
		return r;
	ctx_clear(ctx);
	return domain_intent_read_known(ctx, xml, strlen(xml), ret, &unread);
}

static int fill(struct vfctl_ctx *ctx, struct host *h, const char *name, bool config,
	struct vfctl_domain_info *ret)
{
	static struct vfctl_domain_intent intent;
	_free_ char *defined = sim_get(h, DEFINED, name), *live = running_xml(h, name);
	int r;

	if (!defined && !live)
		return -ENOENT;
	r = read_names(ctx, defined ? defined : live, &intent);
	if (r < 0)
		return r;
	*ret = (struct vfctl_domain_info){.name = strdup(intent.name), .active = live,
		.persistent = defined};
	str_copy(ret->uuid, sizeof(ret->uuid), intent.uuid);
	ret->xml = strdup(live && !(config && defined) ? live : defined);
	return 0;
}

/* Names of all domains, by their files. */
static size_t all_names(struct host *h, char names[][64], size_t max)
{
	static const char *const dirs[] = {"/etc/libvirt/qemu", "/run/libvirt/qemu"};
	size_t n = 0;

	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++) {
		_strv_ char **files = NULL;

		if (files_list(h, dirs[d], &files) < 0)
			continue;
		for (size_t i = 0; files[i] && n < max; i++) {
			char *dot = strrchr(files[i], '.');
			bool known = !dot || !str_eq(dot, ".xml");

			if (dot)
				*dot = '\0';
			for (size_t k = 0; k < n && !known; k++)
				known = str_eq(names[k], files[i]);
			if (!known)
				str_copy(names[n++], 64, files[i]);
		}
	}
	return n;
}

static int sim_list(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
	struct vfctl_domain_info **ret, size_t *ret_count)
{
	static char names[64][64];
	size_t n = all_names(host_in(self), names, 64);
	int r = called(ctx, self, "list");

	if (r < 0)
		return r;
	*ret = calloc(n + 1, sizeof(**ret));
	*ret_count = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		struct vfctl_domain_info *info = &(*ret)[*ret_count];

		r = fill(ctx, host_in(self), names[i], false, info);
		*ret_count += r == 0;
		if (r == -ENOENT) /* undefined meanwhile */
			r = 0;
		/* libvirt ignores a file that is not a domain's XML. */
		if (r == -EINVAL && !sim_has(host_in(self), "/.sim/strange")) {
			ctx_clear(ctx);
			r = 0;
		}
		/* libvirt itself reads what we cannot: a test of that says so in a file. */
		if (r == -EINVAL && sim_has(host_in(self), "/.sim/strange")) {
			_free_ char *xml = sim_get(host_in(self), DEFINED, names[i]);

			*info = (struct vfctl_domain_info){.name = strdup(names[i]),
				.xml = strdup(xml ? xml : "")};
			(*ret_count)++;
			r = 0;
		}
	}
	return r;
}

static int find(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
	bool config, struct vfctl_domain_info *ret)
{
	static char names[64][64];
	size_t n = all_names(host_in(self), names, 64);

	/* As libvirt.c: by UUID, then by name. */
	for (size_t i = 0; i < 2 * n; i++) {
		if (fill(ctx, host_in(self), names[i % n], config, ret) < 0)
			continue;
		if (str_eq(i < n ? ret->uuid : ret->name, name))
			return 0;
		vfctl_domain_info_clear(ret);
	}
	return ctx_fail(ctx, -ENOENT, "libvirt knows no domain %s", name);
}

static int sim_get_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
	const char *name, bool config, struct vfctl_domain_info *ret)
{
	int r = called(ctx, self, "get");

	return r < 0 ? r : find(ctx, self, name, config, ret);
}

/* As libvirt: a device names an I/O thread that the domain has. */
static int check_iothreads(struct vfctl_ctx *ctx, const char *xml)
{
	const char *at = strstr(xml, "<iothreads>");
	unsigned long number, count = at ? strtoul(at + strlen("<iothreads>"), NULL, 10) : 0;

	for (at = xml; (at = strstr(at, "<driver ")); at += strlen("<driver ")) {
		const char *end = strchr(at, '>'), *thread = strstr(at, "iothread=");

		number = thread && end && thread < end ? strtoul(thread + strlen("iothread=\""), NULL, 10)
						       : 0;
		if (number > count)
			return ctx_fail(ctx, -EINVAL, "libvirt: Disk iothread '%lu' not defined in "
				"iothreadid", number);
	}
	return 0;
}

static void record(const char *dir, unsigned number, const char *what, const char *xml)
{
	_free_ char *path = str_format("%s/%d-%u.%s", dir, (int)getpid(), number, what);
	FILE *file = path && xml ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fputs(xml, file);
	fclose(file);
}

/* $SIM_DEFINED is a directory for each definition and the one that it replaces: valid-domains. */
static void record_define(struct host *h, const char *name, const char *xml)
{
	const char *dir = getenv("SIM_DEFINED");
	_free_ char *before = dir ? sim_get(h, DEFINED, name) : NULL;
	static unsigned number;

	if (!dir)
		return;
	record(dir, ++number, "xml", xml);
	record(dir, number, "before", before);
}

static int sim_define(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *xml)
{
	static struct vfctl_domain_intent intent;
	int r = called(ctx, self, "define");

	if (r == 0)
		r = read_names(ctx, xml, &intent);
	if (r == 0)
		r = check_iothreads(ctx, xml);
	if (r == 0)
		record_define(host_in(self), intent.name, xml);
	return r < 0 ? r : answer(ctx, self, sim_put(host_in(self), xml, DEFINED, intent.name));
}

static int sim_undefine(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
	const char *uuid, unsigned drop)
{
	struct vfctl_domain_info info;
	struct host *h = host_in(self);
	int r = called(ctx, self, "undefine");

	if (r == 0)
		r = find(ctx, self, uuid, true, &info);
	if (r < 0)
		return r;
	if (sim_has(h, "/.sim/saved/%s", info.name) && !(drop & VFCTL_DROP_MANAGED_SAVE)) {
		r = ctx_fail(ctx, -EBUSY, "Refusing to undefine while domain managed save image "
			"exists");
	} else {
		sim_remove(h, "/.sim/saved/%s", info.name);
		if (drop & VFCTL_DROP_NVRAM)
			sim_remove(h, "/.sim/nvram/%s", info.name);
		r = sim_remove(h, DEFINED, info.name);
	}
	vfctl_domain_info_clear(&info);
	return answer(ctx, self, r);
}

/* ---- devices ---- */

static int add_device(struct host *h, char *text, const char *device, const char *fmt,
	const char *name)
{
	char *end = text ? strstr(text, "</devices>") : NULL;
	_free_ char *out = NULL;

	if (!end)
		return -ENOENT;
	out = str_format("%.*s%s%s", (int)(end - text), text, device, end);
	return str_eq(fmt, DEFINED) ? sim_put(h, out, DEFINED, name) : sim_put(h, out, RUNNING, name);
}

static int sim_attach(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	const char *device, unsigned affect)
{
	struct vfctl_domain_info info;
	struct host *h = host_in(self);
	int r = called(ctx, self, "attach");

	if (r == 0)
		r = find(ctx, self, uuid, true, &info);
	if (r < 0)
		return r;
	if (affect & VFCTL_AFFECT_LIVE) {
		_free_ char *text = sim_get(h, RUNNING, info.name);

		r = add_device(h, text, device, RUNNING, info.name);
	}
	if (r == 0 && affect & VFCTL_AFFECT_CONFIG) {
		_free_ char *text = sim_get(h, DEFINED, info.name);

		r = add_device(h, text, device, DEFINED, info.name);
	}
	vfctl_domain_info_clear(&info);
	return answer(ctx, self, r);
}

/* The host address of one device element; false when it has none. */
static bool source_of(struct vfctl_ctx *ctx, const char *device, size_t len,
	struct vfctl_bdf *ret)
{
	static struct vfctl_domain_intent intent;
	_free_ char *xml = str_format("<domain><name>x</name><devices>%.*s</devices></domain>",
		(int)len, device);

	if (read_names(ctx, xml, &intent) < 0 || !intent.device_count)
		return false;
	*ret = intent.devices[0].bdf;
	return true;
}

static bool cut_device(struct vfctl_ctx *ctx, char *text, const struct vfctl_bdf *bdf)
{
	static const char *const elements[][2] = {{"<interface ", "</interface>"},
		{"<hostdev ", "</hostdev>"}};

	for (size_t e = 0; e < ARRAY_SIZE(elements); e++)
		for (char *at = text; (at = strstr(at, elements[e][0])); at++) {
			char *end = strstr(at, elements[e][1]);
			struct vfctl_bdf own;

			if (!end)
				break;
			end += strlen(elements[e][1]);
			if (source_of(ctx, at, (size_t)(end - at), &own) &&
				vfctl_bdf_compare(&own, bdf) == 0) {
				memmove(at, end, strlen(end) + 1);
				return true;
			}
		}
	return false;
}

static int sim_detach(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	const char *device, unsigned affect, unsigned timeout_ms)
{
	struct vfctl_domain_info info;
	struct host *h = host_in(self);
	struct vfctl_bdf bdf;
	int r = called(ctx, self, "detach");

	if (r == 0 && !source_of(ctx, device, strlen(device), &bdf))
		r = -EINVAL;
	if (r == 0)
		r = find(ctx, self, uuid, true, &info);
	if (r < 0)
		return r;
	if (affect & VFCTL_AFFECT_LIVE) {
		_free_ char *text = sim_get(h, RUNNING, info.name);

		if (text && cut_device(ctx, text, &bdf))
			sim_put(h, text, RUNNING, info.name);
	}
	if (affect & VFCTL_AFFECT_CONFIG) {
		_free_ char *text = sim_get(h, DEFINED, info.name);

		if (text && cut_device(ctx, text, &bdf))
			sim_put(h, text, DEFINED, info.name);
	}
	vfctl_domain_info_clear(&info);
	return answer(ctx, self, r);
}

/* ---- the table: what the simulator does itself is not the program's doing ---- */

#define QUIET(name, parameters, ...)                                                     \
	static int quiet_##name parameters                                               \
	{                                                                                \
		int r;                                                                   \
											 \
		sim_inside++;                                                            \
		r = sim_##name(ctx, self, __VA_ARGS__);                                  \
		sim_inside--;                                                            \
		return r;                                                                \
	}

#define SELF struct vfctl_ctx *ctx, struct vfctl_hypervisor *self
QUIET(list, (SELF, struct vfctl_domain_info **ret, size_t *ret_count), ret, ret_count)
QUIET(get_domain, (SELF, const char *name, bool config, struct vfctl_domain_info *ret), name,
	config, ret)
QUIET(define, (SELF, const char *xml), xml)
QUIET(undefine, (SELF, const char *uuid, unsigned drop), uuid, drop)
QUIET(attach, (SELF, const char *uuid, const char *device, unsigned affect), uuid, device, affect)
QUIET(detach, (SELF, const char *uuid, const char *device, unsigned affect, unsigned ms), uuid,
	device, affect, ms)

static void sim_close(struct vfctl_hypervisor *self)
{
	free(self);
}

int sim_hypervisor_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret)
{
	struct sim_hypervisor *s = calloc(1, sizeof(*s));
	const char *fail = getenv("SIM_HV_FAIL");

	if (!s)
		return ctx_oom(ctx);
	s->host = host_of(ctx);
	s->fail_at = 1;
	if (fail)
		sscanf(fail, "%15s %d", s->fail, &s->fail_at);
	s->table = (struct vfctl_hypervisor){.version = 11003000, .list = quiet_list,
		.get = quiet_get_domain, .define = quiet_define, .undefine = quiet_undefine,
		.attach = quiet_attach, .detach = quiet_detach, .close = sim_close};
	*ret = &s->table;
	return 0;
}
