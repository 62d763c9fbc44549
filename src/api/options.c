// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of all calls, in one table. vfctl_option_at() lists them. */
#include "api/asked.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "domain/definition.h"
#include "host/files.h"
#include "vfctl/session.h"

enum option_type {
	OPTION_TEXT,
	OPTION_SWITCH,
	OPTION_NUMBER,  /* least .. most */
	OPTION_SECONDS, /* the same; "90", "90s", "30m" or "1h" */
	OPTION_WORD,    /* one of row.choices; the value is its position */
	OPTION_CPUS,
};

struct option {
	struct option_row row; /* choices: all values of OPTION_WORD */
	unsigned calls; /* enum api_call bits */
	enum option_type type;
	size_t at; /* in struct asked */
	uint32_t least, most;
};

#define AT(member) offsetof(struct asked, member)

static const struct option table[] = {
	{{"host-yaml", 0, "FILE|DIR",
		"file, or directory with *.yaml files (default /etc/vfctl/host.yaml)", NULL},
		CALL_SESSION, OPTION_TEXT, .at = AT(host_yaml)},
	{{"write", 0, NULL, "changes can be run (default off: only dry runs)", NULL},
		CALL_SESSION, OPTION_SWITCH, .at = AT(write)},
	{{"libvirt", 0, "URI",
		"\"system\", a URI such as qemu:///system, or none (default)", NULL},
		CALL_SESSION, OPTION_TEXT, .at = AT(libvirt)},
	{{"reserve", 0, "CPUS", "CPUs kept for the host, such as 0-1,8", NULL},
		CALL_SESSION, OPTION_CPUS, .at = AT(reserve)},
	{{"driver", 0, "DRIVER",
		"bind the VFs to vfio-pci (default), host (their own driver) or none", "vfio-pci host none"},
		CALL_CREATE, OPTION_WORD, .at = AT(driver)},
	{{"keep-identities", 0, NULL,
		"keep the MACs (InfiniBand: GUIDs) that the driver chose", NULL},
		CALL_CREATE, OPTION_SWITCH, .at = AT(keep_identities)},
	{{"pf", 0, "PF", "a free VF of this PF", NULL},
		CALL_ATTACH, OPTION_TEXT, .at = AT(pf)},
	{{"vf", 0, "VF", "this VF: PF/INDEX or PCI address", NULL},
		CALL_ATTACH, OPTION_TEXT, .at = AT(vf)},
	{{"vf", 0, "VF", "this VF (default: the only one); for an absent VF its address", NULL},
		CALL_DETACH, OPTION_TEXT, .at = AT(vf)},
	{{"count", 0, "N", "this many VFs of the PF, all or none, 1 to 64 (default 1)", NULL},
		CALL_ATTACH, OPTION_NUMBER, .at = AT(count), .least = 1, .most = VFCTL_GUEST_VFS_MAX},
	{{"ensure", 0, NULL,
		"attach only as many as are missing: VFs that the domain already has count", NULL},
		CALL_ATTACH, OPTION_SWITCH, .at = AT(ensure)},
	{{"live", 0, NULL, "also change a VF of a running domain, until the domain stops", NULL},
		CALL_SET, OPTION_SWITCH, .at = AT(live)},
	{{"config", 0, NULL,
		"change the lease and the definition, from the domain's next start on", NULL},
		CALL_SET, OPTION_SWITCH, .at = AT(config)},
	{{"live", 0, NULL, "plug into the running domain", NULL},
		CALL_ATTACH, OPTION_SWITCH, .at = AT(live)},
	{{"config", 0, NULL, "add to the definition, for the next start", NULL},
		CALL_ATTACH, OPTION_SWITCH, .at = AT(config)},
	{{"live", 0, NULL, "only from the running domain", NULL},
		CALL_DETACH, OPTION_SWITCH, .at = AT(live)},
	{{"config", 0, NULL, "only from the definition", NULL},
		CALL_DETACH, OPTION_SWITCH, .at = AT(config)},
	{{"wait", 0, "SECONDS",
		"how long the guest may take to release the VF, 1 s to 1 h (default 30)", NULL},
		CALL_DETACH, OPTION_SECONDS, .at = AT(wait_s), .least = 1, .most = 3600},
	{{"guid-pool", 0, "POOL", "pool for the GUIDs of InfiniBand VFs", NULL},
		CALL_CREATE | CALL_ATTACH, OPTION_TEXT, .at = AT(guid_pool)},
	{{"mac-pool", 0, "POOL",
		"pool for the MAC (default: the first pool, if there is one)", NULL},
		CALL_ATTACH, OPTION_TEXT, .at = AT(mac_pool)},
	{{"pkey", 0, "P_KEY",
		"partition of InfiniBand VFs: a name or 0x1 to 0x7fff, with :full or "
		":limited", NULL},
		CALL_CREATE | CALL_ATTACH, OPTION_TEXT, .at = AT(pkey)},
	{{"form", 0, "FORM",
		"libvirt element: auto (default), interface or hostdev", "auto interface hostdev"},
		CALL_ATTACH, OPTION_WORD, .at = AT(form)},
	{{"ignore-definitions", 0, "DOMAINS",
		"proceed even if the definitions of these domains, which are off, have VFs "
		"of the PF, or these libvirt networks provide VFs of it", NULL},
		CALL_CREATE | CALL_DESTROY, OPTION_TEXT, .at = AT(ignore_definitions)},
	{{"profile", 0, "NAME",
		"a tuning profile: latency, throughput, or one of host.yaml", NULL},
		CALL_TUNE, OPTION_TEXT, .at = AT(profile)},
	{{"force", 0, NULL, "also if the driver resets the PF while guests use its VFs", NULL},
		CALL_TUNE, OPTION_SWITCH, .at = AT(force)},
	{{"template", 0, "FILE",
		"domain XML to complete: a path, or the name of an installed template", NULL},
		CALL_DEFINE, OPTION_TEXT, .at = AT(template_name)},
	{{"force", 0, NULL, "also a domain that vfctl did not define", NULL},
		CALL_UNDEFINE, OPTION_SWITCH, .at = AT(force)},
	{{"nvram", 0, NULL, "also remove its firmware variables", NULL},
		CALL_UNDEFINE, OPTION_SWITCH, .at = AT(nvram)},
	{{"managed-save", 0, NULL, "also remove its saved memory", NULL},
		CALL_UNDEFINE, OPTION_SWITCH, .at = AT(managed_save)},
	{{"snapshots-metadata", 0, NULL, "also remove libvirt's metadata of its snapshots", NULL},
		CALL_UNDEFINE, OPTION_SWITCH, .at = AT(snapshots_metadata)},
	{{"undo", 0, NULL, "end the lease of the domain; the domain keeps its devices", NULL},
		CALL_ADOPT, OPTION_SWITCH, .at = AT(undo)},
	{{"dry-run", 0, NULL, "only report what would be done", NULL},
		CALL_RECOVER, OPTION_SWITCH, .at = AT(dry_run)},
	{{"accept", 0, NULL, "accept the host as it is, and close the changes", NULL},
		CALL_RECOVER, OPTION_SWITCH, .at = AT(accept)},
	{{"trust-metadata", 0, NULL,
		"grant everything that the metadata of the domains asks for", NULL},
		CALL_REBUILD, OPTION_SWITCH, .at = AT(trust_metadata)},
};

static const struct {
	const char *name;
	enum api_call call;
} calls[] = {
	{"vfctl_session_open", CALL_SESSION},
	{"vfctl_plan_create", CALL_CREATE},
	{"vfctl_plan_destroy", CALL_DESTROY},
	{"vfctl_plan_set", CALL_SET},
	{"vfctl_plan_tune", CALL_TUNE},
	{"vfctl_plan_define", CALL_DEFINE},
	{"vfctl_plan_undefine", CALL_UNDEFINE},
	{"vfctl_plan_attach", CALL_ATTACH},
	{"vfctl_plan_detach", CALL_DETACH},
	{"vfctl_plan_adopt", CALL_ADOPT},
	{"vfctl_recover_open_changes", CALL_RECOVER},
	{"vfctl_plan_rebuild", CALL_REBUILD},
};

static const struct option *option_at(enum api_call call, size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].calls & call && index-- == 0)
			return &table[i];
	return NULL;
}

const char *vfctl_option_at(const char *call, size_t index, const char **ret_help)
{
	const struct option *o = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (str_eq(calls[i].name, call))
			o = option_at(calls[i].call, index);
	if (o && ret_help)
		*ret_help = o->row.help;
	return o ? o->row.name : NULL;
}

const struct option_row *call_option(enum api_call call, size_t index)
{
	const struct option *o = option_at(call, index);

	return o ? &o->row : NULL;
}

static const char *call_name(enum api_call call)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].call == call)
			return calls[i].name;
	return "?";
}

static void list_keys(enum api_call call, struct buf *out)
{
	const struct option *o;

	for (size_t i = 0; (o = option_at(call, i)); i++)
		buf_printf(out, "%s%s", i ? ", " : "", o->row.name);
}

static int fail_key(struct vfctl_ctx *ctx, enum api_call call, const char *key)
{
	_buf_ struct buf names = {0};

	list_keys(call, &names);
	return ctx_usage_error(ctx, -EINVAL, "'%s' is not an option of %s; it takes %s", key,
		call_name(call),
		names.data ? names.data : "none");
}

/* The message names the valid attributes or settings; append the options of the call. */
static int fail_other_key(struct vfctl_ctx *ctx, enum api_call call)
{
	_buf_ struct buf names = {0};

	list_keys(call, &names);
	return ctx_append(ctx, -EINVAL, "; %s also takes %s", call_name(call),
		names.data ? names.data : "");
}

/* List the words in the form "vfio-pci, host or none". */
static void list_text(const char *choices, struct buf *out)
{
	const char *last = strrchr(choices, ' ');

	for (const char *p = choices; *p; p++)
		if (*p == ' ')
			buf_printf(out, p == last ? " or " : ", ");
		else
			buf_printf(out, "%c", *p);
}

static int read_word(struct vfctl_ctx *ctx, const struct option *o, const char *said,
	const char *value, uint32_t *ret)
{
	_buf_ struct buf choices = {0};
	const char *word = o->row.choices;
	size_t len;

	for (uint32_t i = 0; *word; i++, word += len + (word[len] == ' ')) {
		len = strcspn(word, " ");
		if (strlen(value) == len && strncmp(word, value, len) == 0) {
			*ret = i;
			return 0;
		}
	}
	list_text(o->row.choices, &choices);
	return ctx_usage_error(ctx, -EINVAL, "%s must be %s, not '%s'", said,
		choices.data ? choices.data : "?", value);
}

/* @said: the key as the caller wrote it, for messages. */
static int read_value(struct vfctl_ctx *ctx, const struct option *o, const char *said,
	const char *value, void *member)
{
	switch (o->type) {
	case OPTION_TEXT:
		*(const char **)member = value;
		return 0;
	case OPTION_SWITCH:
		return parse_bool(value, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be on or off, not '%s'", said, value);
	case OPTION_NUMBER:
		return parse_u32(value, o->least, o->most, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be %u to %u, not '%s'", said, o->least, o->most, value);
	case OPTION_SECONDS:
		return parse_seconds(value, o->least, o->most, member) == 0 ? 0 : ctx_usage_error(ctx,
			-EINVAL, "%s must be %u to %u seconds, such as 90, 90s, 30m or 1h, not '%s'", said,
			o->least, o->most, value);
	case OPTION_WORD:
		return read_word(ctx, o, said, value, member);
	case OPTION_CPUS:
		return vfctl_cpuset_parse(value, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be a list of CPUs such as 0-1,8, not '%s'", said, value);
	}
	return -EINVAL;
}

/* A key that is not an option in the table: a VF attribute, or a setting of ethtool -C. */
static int read_other(struct vfctl_ctx *ctx, enum api_call call, const char *key, const char *value,
	struct asked *io)
{
	int r;

	if (call & (CALL_CREATE | CALL_SET | CALL_ATTACH))
		r = vfctl_vf_attrs_parse(ctx, key, value, &io->attrs);
	else if (call & CALL_TUNE)
		r = vfctl_coalesce_parse(ctx, key, value, &io->coalesce);
	else
		return fail_key(ctx, call, key);
	return r == -ENOENT ? fail_other_key(ctx, call) : r;
}

static int read_option(struct vfctl_ctx *ctx, enum api_call call, const char *text, uint64_t *seen,
	struct asked *io)
{
	const char *equals = strchr(text, '='), *key;
	char said[64];

	if (!equals || (size_t)(equals - text) >= sizeof(said))
		return ctx_usage_error(ctx, -EINVAL, "'%s' is not KEY=VALUE", text);
	snprintf(said, sizeof(said), "%.*s", (int)(equals - text), text);
	key = said + (strncmp(said, "--", 2) == 0 ? 2 : 0);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].calls & call) || !str_eq(table[i].row.name, key))
			continue;
		if (*seen & UINT64_C(1) << i)
			return ctx_usage_error(ctx, -EINVAL, "%s: given twice; keep one of them", said);
		*seen |= UINT64_C(1) << i;
		return read_value(ctx, &table[i], said, equals + 1, (char *)io + table[i].at);
	}
	return read_other(ctx, call, said, equals + 1, io);
}

int asked_read(struct vfctl_ctx *ctx, enum api_call call, const char *const options[],
	struct asked *ret)
{
	struct asked asked = {0};
	uint64_t seen = 0;
	int r = 0;

	_Static_assert(ARRAY_SIZE(table) <= 64, "a bit for each option");
	for (size_t i = 0; options && options[i] && r == 0; i++)
		r = read_option(ctx, call, options[i], &seen, &asked);
	if (r == 0 && asked.attrs.mask)
		r = vfctl_vf_attrs_check(ctx, &asked.attrs);
	if (r == 0)
		*ret = asked;
	return r;
}

int call_options_check(struct vfctl_ctx *ctx, enum api_call call, const char *const options[])
{
	struct asked asked;

	return asked_read(ctx, call, options, &asked);
}

int plan_made(int r, bool dry_run, struct vfctl_change *change, struct vfctl_change **ret)
{
	if (r < 0)
		return r;
	change->dry_run = dry_run;
	*ret = change;
	return 0;
}

int give_text(const char *text, char *buf, size_t size)
{
	if (!text || !*text)
		return -ENODATA;
	return snprintf(buf, size, "%s", text);
}

int template_read(struct vfctl_ctx *ctx, const char *name, char **ret_text, char **ret_path)
{
	_free_ char *path = NULL, *text = NULL;
	size_t len = 0;
	int r;

	if (!name)
		return 0;
	r = vfctl_domain_template_path(ctx, NULL, name, &path);
	if (r == 0)
		r = vfctl_file_read(ctx, path, VFCTL_DOMAIN_XML_MAX, &text, &len);
	if (r == 0 && strlen(text) != len)
		r = ctx_usage_error(ctx, -EINVAL, "%s contains a NUL byte, so it is not "
						  "XML",
			path);
	if (r < 0)
		return r;
	*ret_text = steal(text);
	*ret_path = steal(path);
	return 0;
}
