// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of all calls, in one table. vfctl_option_at() lists them. */
#include "api/options.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "core/domain.h"
#include "core/host.h"
#include "vfctl/session.h"

enum option_type {
	OPTION_TEXT,
	OPTION_SWITCH,
	OPTION_NUMBER, /* least .. most */
	OPTION_WORD,   /* one of words; the value is its position */
	OPTION_CPUS,
};

struct option {
	const char *key;
	unsigned calls; /* enum api_call bits */
	enum option_type type;
	size_t at; /* in struct asked */
	uint32_t least, most;
	const char *const *choices;
	const char *help;
};

#define AT(member) offsetof(struct asked, member)

static const char *const drivers[] = {"vfio-pci", "host", "none", NULL};
static const char *const forms[] = {"auto", "interface", "hostdev", NULL};

static const struct option table[] = {
	{"host-yaml", CALL_SESSION, OPTION_TEXT, AT(host_yaml),
		.help = "file, or directory with *.yaml files (default /etc/vfctl/host.yaml)"},
	{"write", CALL_SESSION, OPTION_SWITCH, AT(write),
		.help = "changes can be run (default off: only dry runs)"},
	{"libvirt", CALL_SESSION, OPTION_TEXT, AT(libvirt),
		.help = "\"system\", a URI such as qemu:///system, or none (default)"},
	{"reserve", CALL_SESSION, OPTION_CPUS, AT(reserve),
		.help = "CPUs kept for the host, such as 0-1,8"},
	{"driver", CALL_CREATE, OPTION_WORD, AT(driver), .choices = drivers,
		.help = "vfio-pci (default), host (the VFs' own driver) or none"},
	{"keep-identities", CALL_CREATE, OPTION_SWITCH, AT(keep_identities),
		.help = "keep the MACs and GUIDs that the driver chose"},
	{"guid-pool", CALL_CREATE | CALL_ATTACH, OPTION_TEXT, AT(guid_pool),
		.help = "pool for the GUIDs of InfiniBand VFs"},
	{"mac-pool", CALL_ATTACH, OPTION_TEXT, AT(mac_pool), .help = "pool for the MAC"},
	{"pkey", CALL_CREATE | CALL_ATTACH, OPTION_TEXT, AT(pkey),
		.help = "partition of InfiniBand VFs: a name, or 0x1 to 0x7fff"},
	{"ignore-definitions", CALL_CREATE | CALL_DESTROY, OPTION_TEXT, AT(ignore_definitions),
		.help = "domains that are off, and libvirt networks, that may lose their VFs, separated "
			"by commas"},
	{"live", CALL_SET | CALL_ATTACH | CALL_DETACH, OPTION_SWITCH, AT(live),
		.help = "change the running domain"},
	{"config", CALL_SET | CALL_ATTACH | CALL_DETACH, OPTION_SWITCH, AT(config),
		.help = "change the domain's definition, for its next start"},
	{"profile", CALL_TUNE, OPTION_TEXT, AT(profile),
		.help = "a tuning profile: latency, throughput, or one of host.yaml"},
	{"force", CALL_TUNE, OPTION_SWITCH, AT(force),
		.help = "set it also if the driver resets the PF while guests use its VFs"},
	{"template", CALL_DEFINE, OPTION_TEXT, AT(template_name),
		.help = "domain XML to complete: a path, or the name of an installed template"},
	{"force", CALL_UNDEFINE, OPTION_SWITCH, AT(force),
		.help = "undefine also a domain that vfctl did not define"},
	{"nvram", CALL_UNDEFINE, OPTION_SWITCH, AT(nvram),
		.help = "remove the firmware variables too"},
	{"managed-save", CALL_UNDEFINE, OPTION_SWITCH, AT(managed_save),
		.help = "remove the saved memory too"},
	{"snapshots-metadata", CALL_UNDEFINE, OPTION_SWITCH, AT(snapshots_metadata),
		.help = "remove libvirt's metadata of the snapshots too"},
	{"pf", CALL_ATTACH, OPTION_TEXT, AT(pf), .help = "take any free VF of this PF"},
	{"vf", CALL_ATTACH | CALL_DETACH, OPTION_TEXT, AT(vf),
		.help = "this VF: PF/INDEX or PCI address"},
	{"count", CALL_ATTACH, OPTION_NUMBER, AT(count), .least = 1, .most = VFCTL_GUEST_VFS_MAX,
		.help = "number of VFs of the PF, 1 to 64 (default 1)"},
	{"ensure", CALL_ATTACH, OPTION_SWITCH, AT(ensure),
		.help = "count the VFs that the domain already has"},
	{"form", CALL_ATTACH, OPTION_WORD, AT(form), .choices = forms,
		.help = "auto (default), interface or hostdev"},
	{"wait", CALL_DETACH, OPTION_NUMBER, AT(wait_s), .least = 1, .most = 3600,
		.help = "how long the guest may take to release the device, 1 to 3600 s (default 30)"},
	{"undo", CALL_ADOPT, OPTION_SWITCH, AT(undo),
		.help = "end the lease and remove the metadata; the domain stays"},
	{"dry-run", CALL_RECOVER, OPTION_SWITCH, AT(dry_run), .help = "only report what would be done"},
	{"accept", CALL_RECOVER, OPTION_SWITCH, AT(accept),
		.help = "accept the host as it is, and close the changes"},
	{"trust-metadata", CALL_REBUILD, OPTION_SWITCH, AT(trust_metadata),
		.help = "grant everything that the metadata of the domains asks for"},
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
		*ret_help = o->help;
	return o ? o->key : NULL;
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
		buf_printf(out, "%s%s", i ? ", " : "", o->key);
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
static void list_text(const char *const *choices, struct buf *out)
{
	for (size_t i = 0; choices[i]; i++)
		buf_printf(out, "%s%s", !i ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

static int read_word(struct vfctl_ctx *ctx, const struct option *o, const char *value,
	uint32_t *ret)
{
	_buf_ struct buf choices = {0};

	for (uint32_t i = 0; o->choices[i]; i++)
		if (str_eq(o->choices[i], value)) {
			*ret = i;
			return 0;
		}
	list_text(o->choices, &choices);
	return ctx_usage_error(ctx, -EINVAL, "%s must be %s, not '%s'", o->key, choices.data
		? choices.data : "?",
		value);
}

static int read_value(struct vfctl_ctx *ctx, const struct option *o, const char *value,
	void *member)
{
	switch (o->type) {
	case OPTION_TEXT:
		*(const char **)member = value;
		return 0;
	case OPTION_SWITCH:
		return parse_bool(value, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be on or off, not '%s'", o->key, value);
	case OPTION_NUMBER:
		return parse_u32(value, o->least, o->most, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be %u to %u, not '%s'", o->key, o->least, o->most, value);
	case OPTION_WORD:
		return read_word(ctx, o, value, member);
	case OPTION_CPUS:
		return vfctl_cpuset_parse(value, member) == 0 ? 0 : ctx_usage_error(ctx, -EINVAL,
			"%s must be a list of CPUs such as 0-1,8, not '%s'", o->key, value);
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
	const char *equals = strchr(text, '=');
	char key[64];

	if (!equals || (size_t)(equals - text) >= sizeof(key))
		return ctx_usage_error(ctx, -EINVAL, "'%s' is not KEY=VALUE", text);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].calls & call) || !str_eq(table[i].key, key))
			continue;
		if (*seen & UINT64_C(1) << i)
			return ctx_usage_error(ctx, -EINVAL, "%s: given twice; keep one of them", key);
		*seen |= UINT64_C(1) << i;
		return read_value(ctx, &table[i], equals + 1, (char *)io + table[i].at);
	}
	return read_other(ctx, call, key, equals + 1, io);
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
			"XML", path);
	if (r < 0)
		return r;
	*ret_text = steal(text);
	*ret_path = steal(path);
	return 0;
}
