// SPDX-License-Identifier: GPL-2.0-or-later
/* guid: pools of identities, their owners, and the subnet manager's view of them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "facts/hostfile.h"
#include "fleet/fleet.h"
#include "guid/guid.h"
#include "host_ids.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"
#include "state/leases.h"

/* ---- shared ---- */

char *guid_time(int64_t seconds, char buf[GUID_TIME])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, GUID_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm))
		buf[0] = '\0';
	return buf;
}

char *guid_who(const struct vfctl_id *id, char buf[GUID_WHO])
{
	const struct vfctl_id_owner *o = &id->owner;

	if (id->state == VFCTL_ID_QUARANTINED)
		snprintf(buf, GUID_WHO, "%s", id->note);
	else if (o->domain_uuid[0])
		snprintf(buf, GUID_WHO, "domain %s %s", vfctl_id_owner_name(o), o->device);
	else
		snprintf(buf, GUID_WHO, "host %s%s%s", o->host, o->device[0] ? " " : "",
			o->device);
	return buf;
}

int guid_value(const struct invocation *in, const char *text, enum vfctl_id_kind *ret_kind,
	uint64_t *ret_value)
{
	struct vfctl_mac mac;
	uint64_t value = 0;

	if (vfctl_guid_parse(text, ret_value) == 0) {
		*ret_kind = VFCTL_ID_GUID;
		return 0;
	}
	if (vfctl_mac_parse(text, &mac) < 0)
		return usage(in, "'%.64s' %s", text, vfctl_guid_parse_fault(text));
	for (size_t i = 0; i < sizeof(mac.byte); i++)
		value = value << 8 | mac.byte[i];
	*ret_kind = VFCTL_ID_MAC;
	*ret_value = value;
	return 0;
}

int guid_pool(struct guid *g, const struct vfctl_id_pool **ret_pool)
{
	const char *name = option_of(g->in, "pool");

	*ret_pool = NULL;
	for (size_t i = 0; name && i < g->spec->pool_count; i++)
		if (strcmp(g->spec->pools[i].name, name) == 0)
			*ret_pool = &g->spec->pools[i];
	if (name && !*ret_pool)
		return usage(g->in, "pool '%s' not found (vfctl guid pools lists the pools)", name);
	return 0;
}

int guid_pkey(struct guid *g, uint16_t *ret_pkey)
{
	const char *text = option_of(g->in, "pkey");

	*ret_pkey = 0;
	if (text && vfctl_host_spec_pkey(g->in->ctx, g->spec, text, ret_pkey) < 0)
		return usage(g->in, "--pkey: %s", vfctl_ctx_error(g->in->ctx));
	return 0;
}

static bool is_uuid(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	for (i = 0; form[i] && text[i]; i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != '-')
			return false;
	return !form[i] && !text[i];
}

/* A domain without VFs may still have identities. */
static int domain_in_pools(struct guid *g, const char *name, struct vfctl_id_owner *io)
{
	struct vfctl_id_filter all = {.states = 0};
	_cleanup_(vfctl_ids_list_endp) struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_id id;
	int r = vfctl_ids_list(g->ids, &all, &cursor);

	if (r < 0)
		return r;
	while ((r = vfctl_ids_next(cursor, &id)) == 1)
		if (strcmp(id.owner.domain_name, name) == 0 ||
			strcmp(id.owner.domain_uuid, name) == 0) {
			memcpy(io->domain_uuid, id.owner.domain_uuid, sizeof(io->domain_uuid));
			memcpy(io->domain_name, id.owner.domain_name, sizeof(io->domain_name));
			break;
		}
	return r;
}

static int domain_in_leases(struct guid *g, const char *name, struct vfctl_id_owner *io)
{
	_cleanup_(vfctl_leases_freep) struct vfctl_leases *leases = NULL;
	const struct vfctl_lease *lease;
	int r = vfctl_leases_read(g->in->ctx, &leases);

	if (r < 0)
		return r;
	lease = vfctl_leases_find(leases, name);
	if (lease) {
		memcpy(io->domain_uuid, lease->domain_uuid, sizeof(io->domain_uuid));
		snprintf(io->domain_name, sizeof(io->domain_name), "%s", lease->domain_name);
	}
	return lease != NULL;
}

int guid_domain(struct guid *g, struct vfctl_id_owner *io)
{
	const char *given = option_of(g->in, "domain");
	char name[sizeof(io->domain_name)];
	int r;

	if (!given)
		return 0;
	/* An unset variable of a script: it must not match rows without a name. */
	if (!*given)
		return usage(g->in, "--domain is empty; give a domain's UUID or its name");
	snprintf(name, sizeof(name), "%s", given);
	for (char *c = name; is_uuid(given) && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	r = domain_in_leases(g, name, io);
	if (r == 0)
		r = domain_in_pools(g, name, io);
	if (r == 0 && !is_uuid(name))
		return usage(g->in, "domain '%s' not found; give its UUID (virsh domuuid '%s')", name, name);
	if (r == 0)
		memcpy(io->domain_uuid, name, sizeof(io->domain_uuid));
	return r < 0 ? fail(g->in, r) : 0;
}

/* ---- check ---- */

/* Find the value's row: 1, or 0 if there is none. */
static int look_up(struct guid *g, uint64_t value, struct vfctl_id *ret)
{
	int r = vfctl_ids_find(g->ids, VFCTL_ID_GUID, value, ret);

	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static void print_check(struct guid *g, uint64_t value, const struct vfctl_id *id)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(g->ids, VFCTL_ID_GUID, value);
	char text[VFCTL_ID_TEXT], who[GUID_WHO], pkey[VFCTL_PKEY_TEXT], at[GUID_TIME];
	struct out *out = g->in->out;

	out_line(out, "%s", vfctl_guid_format(value, text));
	out_line(out, "pool %s", id && id->pool[0] ? id->pool : pool ? pool->name : "-");
	if (!id) {
		out_line(out, "it has no owner");
		return;
	}
	out_line(out, "%s%s%s since %s", vfctl_id_state_name(id->state),
		id->state == VFCTL_ID_QUARANTINED ? ": " : id->state == VFCTL_ID_RESTING
		? "; was of " : " to ", guid_who(id, who), guid_time(id->since, at));
	if (id->state == VFCTL_ID_RESTING)
		out_line(out, "free again at %s", guid_time(id->until, at));
	if (id->pkey)
		out_line(out, "P_Key %s", vfctl_pkey_format(id->pkey, pkey));
}

/* The answer of check. */
struct check_view {
	const char *guid, *pool;
	const struct vfctl_id *identity;
};

#define OF struct check_view
static const struct member check_table[] = {
	FIELD(guid, "the GUID in its canonical spelling", FILLED),
	FIELD(pool, "pool that it belongs to"),
	OBJECT_AT("identity", identity, answer_id, "allocation of the value; null: it has no owner"), END};
static const struct member fault_table[] = {
	FIELD(guid, "null"),
	FIELD_AS("fault", pool, "why it is not a valid GUID", FILLED), END};
#undef OF
static const struct answer check_answer[] = {{"For a valid GUID", check_table, false},
	{"For any other text", fault_table, false}, {0}};

static void put_check(struct guid *g, uint64_t value, const struct vfctl_id *id)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(g->ids, VFCTL_ID_GUID, value);
	char text[VFCTL_ID_TEXT];

	answer_put(g->in->out, NULL, check_table, &(struct check_view){vfctl_guid_format(value, text),
		id && id->pool[0] ? id->pool : pool ? pool->name : NULL, id});
}

static int complain_guid(const struct invocation *in, const char *text, const char *fault)
{
	if (in->json)
		answer_put(in->out, NULL, fault_table, &(struct check_view){.pool = fault});
	return fail_as(in, EXIT_FAILED, -EINVAL, "'%.64s' %s", text, fault);
}

static int guid_check(struct guid *g)
{
	const char *text = g->in->args[1];
	const char *fault = vfctl_guid_parse_fault(text);
	struct vfctl_id id;
	uint64_t value;
	int r;

	if (!fault && vfctl_guid_parse(text, &value) == 0)
		fault = vfctl_guid_fault(value);
	if (fault)
		return complain_guid(g->in, text, fault);
	r = look_up(g, value, &id);
	if (r < 0)
		return fail(g->in, r);
	if (g->in->json)
		put_check(g, value, r ? &id : NULL);
	else
		print_check(g, value, r ? &id : NULL);
	return EXIT_DONE;
}

/* ---- the commands ---- */

static int run_guid(struct invocation *in, int (*run)(struct guid *g))
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *ids = NULL;
	bool write = in->command->changes && !in->dry_run;
	int status, r;

	/* The leases are those of this host, even if another host is read. */
	if (write && option_of(in, "host"))
		return fail_as(in, EXIT_FAILED, -EROFS, "%s is a captured host and cannot be changed",
			option_of(in, "host"));
	r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &spec);
	if (r == 0)
		r = vfctl_host_spec_resolve(in->ctx, spec);
	if (r == 0)
		r = vfctl_ids_open(in->ctx, spec, write, &ids);
	if (r < 0)
		return fail(in, r);
	status = write ? check_after_change(in, spec) : EXIT_DONE;
	return status ? status : run(&(struct guid){in, spec, ids});
}

/* Options of several verbs. */
#define POOL(text) .name = "pool", .letter = 'p', .arg = "POOL", .help = text
#define DOMAIN(text) .name = "domain", .letter = 'd', .arg = "NAME|UUID", .help = text
#define FORCE(text) .name = "force", .help = text
#define OF_HOST(text) .name = "of-host", .arg = "HOST", .help = text
#define PKEY(text) .name = "pkey", .arg = "PKEY", .help = text

static const struct option_row list_options[] = {
	{POOL("only this pool")},
	{DOMAIN("only this domain")},
	{"only", 0, "STATE", "only values in this state: leased, block, resting or quarantined",
		"leased block resting quarantined"},
	{"fleet", 0, NULL, "values of all hosts, from the fleet's store", NULL},
};
static const struct option_row reserve_options[] = {
	{POOL("from this pool (default: the first of host.yaml)")},
	{DOMAIN("for this domain (default: for the host)")},
	{"device", 0, "DEVICE",
		"VF of the domain (default vf0); for the host: PCI address of the PF/INDEX", NULL},
	{"count", 0, "N", "this many values, all or none (default 1); devices are numbered from 0", NULL},
	{PKEY("partition: a name or 0x0010, with :full or :limited")},
	{"mac", 0, "MAC", "MAC of the VF, for a pool that derives its GUIDs from it", NULL},
};
static const struct option_row release_options[] = {
	{DOMAIN("all values of this domain")},
	{FORCE("also values that a lease or a VF uses")},
};
static const struct option_row export_options[] = {
	{"format", 0, "FORMAT", "opensm, json or csv (needed without --json)", "opensm json csv"},
	{PKEY("only this partition")},
	{"output", 'o', "FILE", "write to FILE, replaced as a whole", NULL},
};
static const struct option_row sync_options[] = {
	{"adopt", 0, NULL,
		"the state file of this host was lost: take over what etcd has for this host", NULL},
};
static const struct option_row orphans_options[] = {{OF_HOST("only of this host")}};
static const struct option_row reclaim_options[] = {
	{OF_HOST("all values of this host, which is gone")},
	{FORCE("also from a host that is present")},
};

/* A verb, and the function that is called with the pools open. */
#define RUN(verb)                                     \
	static int run_##verb(struct invocation *in) \
	{                                            \
		return run_guid(in, guid_##verb);    \
	}
RUN(check)
RUN(pools)
RUN(list)
RUN(reserve)
RUN(release)
RUN(import)
RUN(export)
RUN(sync)
RUN(orphans)
RUN(reclaim)
RUN(publish)

#define NAMED(verb, ...) .name = #verb, .typed = "guid " #verb, .run = run_##verb, __VA_ARGS__
#define VERB(verb, title, ...) \
	static const struct command cmd_guid_##verb = {NAMED(verb, .summary = title, .sub = true, \
		__VA_ARGS__)}

VERB(check, "Show a GUID's canonical spelling, owner and problems",
	.answer = check_answer, .args = "GUID",
	.min_args = 1, .max_args = 1, .reads = true,
	.examples = {{"vfctl guid check 02:00:00:00:00:00:10:00", "one GUID"},
		{"vfctl guid check 0x0200000000001000 --json", "in hexadecimal"}});
VERB(pools, "List the pools with their free and used values",
	.answer = guid_pools_answer, .args = "", .reads = true,
	.examples = {{"vfctl guid pools", "all pools"},
		{"vfctl guid pools --json", "as JSON"}});
VERB(list, "List allocated values and their owners",
	.answer = guid_list_answer, .args = "", .reads = true, OPTIONS(list_options),
	.examples = {{"vfctl guid list --pool fabric-a", "one pool"},
		{"vfctl guid list --only quarantined", "values seen without an owner"}});
VERB(reserve, "Reserve a value for a VF of a domain or of the host",
	.answer = guid_change_answer, .args = "[VALUE]", .max_args = 1,
	.changes = true, OPTIONS(reserve_options),
	.text = "Without VALUE the next free value of the pool is reserved. A VF that has a "
		"value gets the same value again.",
	.examples = {{"vfctl guid reserve --domain web", "for domain web"},
		{"vfctl guid reserve --pool fabric-a --count 4", "four values"}});
VERB(release, "Release values; each stays unused for the cooldown",
	.answer = guid_change_answer, .args = "VALUE...", .min_args = 1,
	.max_args = ARGS_MAX - 1, .changes = true, OPTIONS(release_options),
	.examples = {{"vfctl guid release 02:00:00:00:00:00:10:00", "one value"},
		{"vfctl guid release --domain web", "all values of web"}});
VERB(import, "Import an export, or quarantine GUIDs seen in a fabric",
	.answer = guid_import_answer, .args = "FILE",
	.min_args = 1, .max_args = 1, .changes = true, .operand = OPERAND_FILE,
	.text = "FILE is an export of vfctl, or a list such as ibnetdiscover prints (-: "
		"standard input). GUIDs of the pools that have no owner are quarantined.",
	.examples = {{"vfctl guid import values.json", "an export"},
		{"ibnetdiscover | vfctl guid import -", "GUIDs of the fabric"}});
VERB(export, "Export values, also as opensm's partitions.conf", .args = "", .reads = true,
	OPTIONS(export_options),
	.examples = {{"vfctl guid export --format opensm", "for opensm"},
		{"vfctl guid export --format csv -o values.csv", "as CSV"}});
VERB(sync, "Reconcile this host with the fleet's store",
	.answer = guid_sync_answer, .args = "", .changes = true, OPTIONS(sync_options),
	.examples = {{"vfctl guid sync --dry-run", "print the differences"},
		{"vfctl guid sync --adopt", "after the state file was lost"}});
VERB(orphans, "List values of hosts that are gone",
	.answer = guid_orphans_answer, .args = "", .reads = true, OPTIONS(orphans_options),
	.examples = {{"vfctl guid orphans", "all of them"},
		{"vfctl guid orphans --of-host node7", "of one host"}});
VERB(reclaim, "Reclaim the values of a host that is gone",
	.answer = guid_reclaim_answer, .args = "VALUE...|--of-host HOST",
	.max_args = ARGS_MAX - 1, .changes = true, OPTIONS(reclaim_options),
	.examples = {{"vfctl guid reclaim --of-host node7", "all its values"},
		{"vfctl guid reclaim 02:00:00:00:00:00:10:00", "one value"}});
VERB(publish, "Publish the pools of this host.yaml to the fleet",
	.answer = guid_publish_answer, .args = "", .changes = true,
	.examples = {{"vfctl guid publish --dry-run", "print the differences"},
		{"vfctl guid publish", "publish them"}});

static const struct command *const subs[] = {&cmd_guid_check, &cmd_guid_pools, &cmd_guid_list,
	&cmd_guid_reserve, &cmd_guid_release, &cmd_guid_import, &cmd_guid_export, &cmd_guid_sync,
	&cmd_guid_orphans, &cmd_guid_reclaim, &cmd_guid_publish, NULL};

const struct command cmd_guid = {
	.name = "guid",
	.group = GROUP_HOST,
	.args = "VERB ...",
	.summary = "Manage the pools of GUIDs and MACs",
	.text = "After a change the after-change command of host.yaml runs; if only that "
		"fails, the exit status is 4. sync, orphans, reclaim and publish need the "
		"pools of a fleet (store: etcd in host.yaml).",
	.examples = {{"vfctl guid pools", "the pools"},
		{"vfctl guid list --domain web", "values of domain web"}},
	.subs = subs,
};
