// SPDX-License-Identifier: GPL-2.0-or-later
/* The only file that calls libvirt. */
#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <time.h>

#include "base/dl.h"
#include "base/sonames.h"
#include "libvirt/connect.h"
#include "types/hypervisor.h"

#define SYMBOLS(each) \
	each(virConnectOpen) each(virConnectClose) each(virConnectGetLibVersion) \
	each(virConnectListAllDomains) each(virConnectDomainEventRegisterAny) \
	each(virConnectDomainEventDeregisterAny) each(virDomainLookupByName) \
	each(virDomainLookupByUUIDString) each(virDomainGetName) each(virDomainGetUUIDString) \
	each(virDomainGetXMLDesc) each(virDomainIsActive) each(virDomainIsPersistent) \
	each(virDomainDefineXMLFlags) each(virDomainUndefineFlags) \
	each(virDomainAttachDeviceFlags) each(virDomainDetachDeviceFlags) each(virDomainFree) \
	each(virEventRegisterDefaultImpl) each(virEventRunDefaultImpl) each(virEventAddTimeout) \
	each(virEventRemoveTimeout) each(virGetLastError) each(virSetErrorFunc)
DL_SYMBOLS(symbols, SYMBOLS);

/* These functions are in a separate library. */
#define QEMU_SYMBOLS(each) \
	each(virDomainQemuAgentCommand)
DL_SYMBOLS(qemu_symbols, QEMU_SYMBOLS);

#define SYSTEM "qemu:///system"
#define WAITING "waiting for libvirt"

struct connection {
	struct vfctl_hypervisor table;
	virConnectPtr conn;
	char uri[]; /* "": the system's libvirt */
};

static virConnectPtr conn_of(struct vfctl_hypervisor *self)
{
	return ((struct connection *)self)->conn;
}

static void free_domain(virDomainPtr *domain)
{
	if (*domain)
		sym_virDomainFree(*domain);
}

static void be_silent(void *data, virErrorPtr error)
{
}

/* ---- errors ---- */

static int errno_of(const virError *error)
{
	static const struct {
		int code, error;
	} kinds[] = {
		{VIR_ERR_NO_DOMAIN, -ENOENT}, {VIR_ERR_DOM_EXIST, -EEXIST},
		{VIR_ERR_OPERATION_INVALID, -EBUSY}, {VIR_ERR_NO_SUPPORT, -EOPNOTSUPP},
		{VIR_ERR_CONFIG_UNSUPPORTED, -EOPNOTSUPP}, {VIR_ERR_XML_ERROR, -EINVAL},
		{VIR_ERR_XML_DETAIL, -EINVAL}, {VIR_ERR_XML_INVALID_SCHEMA, -EINVAL},
		{VIR_ERR_ACCESS_DENIED, -EACCES}, {VIR_ERR_AUTH_FAILED, -EACCES},
		{VIR_ERR_AUTH_CANCELLED, -EACCES}, {VIR_ERR_NO_CONNECT, -ECONNREFUSED},
		{VIR_ERR_DEVICE_MISSING, -ENODEV}, {VIR_ERR_OPERATION_TIMEOUT, -ETIMEDOUT},
	};

	for (size_t i = 0; error && i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].code == error->code)
			return kinds[i].error;
	return -EIO;
}

/* libvirt's message may have several lines; report it as one. */
static int fail_libvirt(struct vfctl_ctx *ctx, const char *what)
{
	const virError *error = sym_virGetLastError();
	_free_ char *text = strdup(error && error->message ? error->message : "unknown error");

	for (char *p = text; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	return ctx_fail(ctx, errno_of(error), "libvirt: %s: %s", what,
		text ? str_rstrip(text) : "");
}

/* ---- domains ---- */

/*
 * "Not found" is certain only if libvirt reports it: a daemon that stopped meanwhile reports
 * nothing.
 */
static int fail_find(struct vfctl_ctx *ctx, const char *kind, const char *name, const char *option)
{
	const virError *error = sym_virGetLastError();

	if (!error || error->code != VIR_ERR_NO_DOMAIN)
		return fail_libvirt(ctx, "look for the domain");
	return ctx_fail(ctx, -ENOENT, "libvirt has no domain %s%s (virsh list --all%s shows the "
		"domains)", kind,
		name, option);
}

/* Search only by UUID: another domain may have this UUID as its name. */
static int find_uuid(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	virDomainPtr *ret)
{
	ctx_progress(ctx, WAITING);
	*ret = sym_virDomainLookupByUUIDString(conn_of(self), uuid);
	return *ret ? 0 : fail_find(ctx, "of UUID ", uuid, " --uuid");
}

/* Whether @name can be a name: it is not a UUID, or no domain has that UUID. */
static bool may_be_name(void)
{
	const virError *error = sym_virGetLastError();

	return error && (error->code == VIR_ERR_NO_DOMAIN || error->code == VIR_ERR_INVALID_ARG);
}

/* Find what a person typed: a UUID or, if no domain has it, a name. */
static int find_name(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
	virDomainPtr *ret)
{
	virDomainPtr domain;

	ctx_progress(ctx, WAITING);
	domain = sym_virDomainLookupByUUIDString(conn_of(self), name);
	if (!domain && may_be_name())
		domain = sym_virDomainLookupByName(conn_of(self), name);
	if (!domain)
		return fail_find(ctx, "", name, "");
	*ret = domain;
	return 0;
}

static int read_domain(struct vfctl_ctx *ctx, virDomainPtr domain, bool config,
	struct vfctl_domain_info *ret)
{
	struct vfctl_domain_info info = {0};
	int active = sym_virDomainIsActive(domain);
	int persistent = sym_virDomainIsPersistent(domain);
	unsigned flags = VIR_DOMAIN_XML_SECURE;

	if (active < 0 || persistent < 0 ||
		sym_virDomainGetUUIDString(domain, info.uuid) < 0)
		return fail_libvirt(ctx, "read a domain");
	if (config && persistent)
		flags |= VIR_DOMAIN_XML_INACTIVE;
	info.active = active;
	info.persistent = persistent;
	info.name = strdup(sym_virDomainGetName(domain));
	info.xml = sym_virDomainGetXMLDesc(domain, flags);
	if (!info.name || !info.xml) {
		vfctl_domain_info_clear(&info);
		return fail_libvirt(ctx, "read a domain's XML");
	}
	*ret = info;
	return 0;
}

static int get_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
	bool config, struct vfctl_domain_info *ret_domain)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;
	int r = find_name(ctx, self, name, &domain);

	return r < 0 ? r : read_domain(ctx, domain, config, ret_domain);
}

static void free_list(virDomainPtr *domains, int count)
{
	for (int i = 0; i < count; i++)
		sym_virDomainFree(domains[i]);
	free(domains);
}

static int list_domains(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
	struct vfctl_domain_info **ret_domains, size_t *ret_count)
{
	struct vfctl_domain_info *infos;
	virDomainPtr *domains = NULL;
	size_t n = 0;
	int count, r = 0;

	ctx_progress(ctx, WAITING);
	count = sym_virConnectListAllDomains(conn_of(self), &domains, 0);
	if (count < 0)
		return fail_libvirt(ctx, "list domains");
	infos = calloc((size_t)count + 1, sizeof(*infos));
	for (int i = 0; infos && i < count && r == 0; i++) {
		r = read_domain(ctx, domains[i], false, &infos[n]);
		if (r == 0)
			n++;
		else if (errno_of(sym_virGetLastError()) == -ENOENT)
			r = 0; /* it disappeared meanwhile */
	}
	free_list(domains, count);
	if (!infos)
		return ctx_oom(ctx);
	if (r < 0) {
		vfctl_domain_infos_free(infos, n);
		return r;
	}
	*ret_domains = infos;
	*ret_count = n;
	return 0;
}

/* Without validation libvirt drops unknown elements without an error. */
static int define_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *xml)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;

	ctx_progress(ctx, WAITING);
	domain = sym_virDomainDefineXMLFlags(conn_of(self), xml, VIR_DOMAIN_DEFINE_VALIDATE);
	return domain ? 0 : fail_libvirt(ctx, "define the domain");
}

static int undefine(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	unsigned drop)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;
	unsigned flags = drop & VFCTL_DROP_NVRAM ? VIR_DOMAIN_UNDEFINE_NVRAM
						 : VIR_DOMAIN_UNDEFINE_KEEP_NVRAM;
	int r = find_uuid(ctx, self, uuid, &domain);

	if (r < 0)
		return r;
	if (drop & VFCTL_DROP_MANAGED_SAVE)
		flags |= VIR_DOMAIN_UNDEFINE_MANAGED_SAVE;
	if (drop & VFCTL_DROP_SNAPSHOTS)
		flags |= VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA;
	r = sym_virDomainUndefineFlags(domain, flags);
	return r < 0 ? ctx_append(ctx, fail_libvirt(ctx, "undefine the domain"), " (confirm what would "
		"be lost: --managed-save, --snapshots-metadata)") : 0;
}

/* ---- devices ---- */

static unsigned device_flags(unsigned affect)
{
	return (affect & VFCTL_AFFECT_LIVE ? VIR_DOMAIN_AFFECT_LIVE : 0u) |
		(affect & VFCTL_AFFECT_CONFIG ? VIR_DOMAIN_AFFECT_CONFIG : 0u);
}

static int attach(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	const char *device_xml, unsigned affect)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;
	int r = find_uuid(ctx, self, uuid, &domain);

	if (r < 0)
		return r;
	r = sym_virDomainAttachDeviceFlags(domain, device_xml, device_flags(affect));
	return r < 0 ? fail_libvirt(ctx, "attach the device") : 0;
}

struct removal {
	char alias[64]; /* of the device; "": not known, so any device counts */
	bool removed, refused, expired;
};

/* The alias in the element that vfctl wrote for the device. */
static void find_alias(const char *xml, char *ret, size_t size)
{
	static const char mark[] = "<alias name=\"";
	const char *start = strstr(xml, mark), *end;

	start = start ? start + strlen(mark) : "";
	end = strchr(start, '"');
	snprintf(ret, size, "%.*s", end ? (int)(end - start) : 0, start);
}

/* Meanwhile another device of the domain may be removed, too. */
static bool is_of(const struct removal *state, const char *alias)
{
	return !state->alias[0] || !alias || str_eq(state->alias, alias);
}

static void on_removed(virConnectPtr conn, virDomainPtr domain, const char *alias, void *data)
{
	struct removal *state = data;

	state->removed |= is_of(state, alias);
}

static void on_refused(virConnectPtr conn, virDomainPtr domain, const char *alias, void *data)
{
	struct removal *state = data;

	state->refused |= is_of(state, alias);
}

static void on_timeout(int timer, void *data)
{
	((struct removal *)data)->expired = true;
}

static int wait_removal(struct vfctl_ctx *ctx, struct removal *state, unsigned timeout_ms)
{
	int timer = sym_virEventAddTimeout((int)timeout_ms, on_timeout, state, NULL);

	if (timer < 0)
		return fail_libvirt(ctx, "wait for the removal");
	while (!state->removed && !state->refused && !state->expired && !ctx->cancelled)
		if (sym_virEventRunDefaultImpl() < 0)
			break;
	sym_virEventRemoveTimeout(timer);
	if (state->removed)
		return 0;
	if (state->refused)
		return ctx_fail(ctx, -EBUSY, "the guest refused to release the device");
	if (ctx->cancelled)
		return ctx_fail(ctx, -EINTR, "interrupted while waiting for the guest to release the "
			"device; it may still do so");
	return ctx_fail(ctx, -ETIMEDOUT, "the guest did not release the device within %u s (its "
		"operating system must run and support hot-unplug); the device stays attached",
		timeout_ms / 1000);
}

/*
 * For a live detach libvirt returns after it has sent the request to the guest; the event reports
 * its completion.
 */
/*
 * Like VIR_DOMAIN_EVENT_CALLBACK(), but through a type to and from which each function may be cast.
 */
#define EVENT_CALLBACK(function) ((virConnectDomainEventGenericCallback)(void (*)(void))(function))

static int detach_live(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self,
	virDomainPtr domain, const char *xml, unsigned flags, unsigned timeout_ms)
{
	virConnectPtr conn = conn_of(self);
	struct removal state = {0};
	int removed = sym_virConnectDomainEventRegisterAny(conn, domain,
		VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, EVENT_CALLBACK(on_removed), &state,
		NULL);
	int refused = sym_virConnectDomainEventRegisterAny(conn, domain,
		VIR_DOMAIN_EVENT_ID_DEVICE_REMOVAL_FAILED, EVENT_CALLBACK(on_refused),
		&state, NULL);
	int r;

	find_alias(xml, state.alias, sizeof(state.alias));
	ctx_progress(ctx, "waiting for the guest to release the device");
	if (removed < 0 || sym_virDomainDetachDeviceFlags(domain, xml, flags) < 0)
		r = fail_libvirt(ctx, "detach the device");
	else
		r = wait_removal(ctx, &state, timeout_ms);
	if (removed >= 0)
		sym_virConnectDomainEventDeregisterAny(conn, removed);
	if (refused >= 0)
		sym_virConnectDomainEventDeregisterAny(conn, refused);
	return r;
}

static int detach(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *uuid,
	const char *device_xml, unsigned affect, unsigned timeout_ms)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;
	int r = find_uuid(ctx, self, uuid, &domain);

	if (r < 0)
		return r;
	if (affect & VFCTL_AFFECT_LIVE)
		return detach_live(ctx, self, domain, device_xml, device_flags(affect), timeout_ms);
	r = sym_virDomainDetachDeviceFlags(domain, device_xml, device_flags(affect));
	return r < 0 ? fail_libvirt(ctx, "detach the device") : 0;
}

/* ---- the connection ---- */

/*
 * The remedy depends on the source of the refusal: libvirt, because no agent answers, or the agent
 * itself.
 */
static int fail_agent(struct vfctl_ctx *ctx, const char *name)
{
	const virError *error = sym_virGetLastError();
	int code = error ? error->code : 0, r = fail_libvirt(ctx, "ask the guest agent");

	if (code == VIR_ERR_OPERATION_INVALID)
		return ctx_append(ctx, r, " (virsh start %s)", name);
	if (code == VIR_ERR_AGENT_UNRESPONSIVE || code == VIR_ERR_ARGUMENT_UNSUPPORTED)
		return ctx_append(ctx, -EOPNOTSUPP, " (qemu-guest-agent must run in guest %s, and "
			"its domain must have the channel org.qemu.guest_agent.0)", name);
	if (strstr(vfctl_ctx_error(ctx), "disabled"))
		return ctx_append(ctx, -EOPNOTSUPP, " (the agent of guest %s forbids it: allow guest-exec "
			"in its configuration, /etc/sysconfig/qemu-ga or qemu-ga.conf)", name);
	return r == -EIO ? -EOPNOTSUPP : r;
}

static int ask_agent(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
	const char *command, unsigned timeout_s, char **ret_answer)
{
	_cleanup_(free_domain) virDomainPtr domain = NULL;
	char *answer;
	int r = dl_bind(ctx, SONAME_LIBVIRT_QEMU, qemu_symbols, ARRAY_SIZE(qemu_symbols));

	if (r == 0)
		r = find_name(ctx, self, name, &domain);
	if (r < 0)
		return r;
	answer = sym_virDomainQemuAgentCommand(domain, command, (int)timeout_s, 0);
	if (!answer)
		return fail_agent(ctx, name);
	*ret_answer = answer;
	return 0;
}

static void close_connection(struct vfctl_hypervisor *self)
{
	if (!self)
		return;
	sym_virConnectClose(conn_of(self));
	free(self);
}

int vfctl_libvirt_open(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor)
{
	static bool events;
	struct connection *c;
	unsigned long version = 0;
	int r = vfctl_libvirt_check_uri(ctx, uri);

	if (r < 0)
		return r;
	r = dl_bind(ctx, SONAME_LIBVIRT, symbols, ARRAY_SIZE(symbols));

	if (r < 0)
		return r;
	sym_virSetErrorFunc(NULL, be_silent);
	if (!events)
		sym_virEventRegisterDefaultImpl();
	events = true;
	c = calloc(1, sizeof(*c) + (uri ? strlen(uri) : 0) + 1);
	if (!c)
		return ctx_oom(ctx);
	strcpy(c->uri, uri && !str_eq(uri, SYSTEM) ? uri : "");
	ctx_progress(ctx, WAITING);
	c->conn = sym_virConnectOpen(uri ? uri : SYSTEM);
	if (!c->conn) {
		r = fail_libvirt(ctx, uri ? uri : SYSTEM);
		free(c);
		return ctx_append(ctx, r, " (to start libvirt: systemctl start libvirtd, or "
			"virtqemud.socket; users other than root need the group libvirt)");
	}
	sym_virConnectGetLibVersion(c->conn, &version);
	c->table = (struct vfctl_hypervisor){.version = version,
		.uri = c->uri[0] ? c->uri : NULL, .list = list_domains,
		.get = get_domain, .define = define_domain, .undefine = undefine, .attach = attach,
		.detach = detach, .agent = ask_agent, .close = close_connection};
	*ret_hypervisor = &c->table;
	return 0;
}
