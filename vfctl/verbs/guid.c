// SPDX-License-Identifier: GPL-2.0-or-later
/* guid: pools of identities, who has which, and the subnet manager's view of them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guid/guid.h"
#include "host_ids.h"

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
		snprintf(buf, GUID_WHO, "domain %s %s",
			o->domain_name[0] ? o->domain_name : o->domain_uuid, o->device);
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
		return usage(g->in, "there is no pool '%s' (vfctl guid pools lists them)", name);
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

/* A domain without VFs now may have identities still. */
static int domain_in_pools(struct guid *g, const char *name, struct vfctl_id_owner *io)
{
	struct vfctl_id_filter all = {.states = 0};
	struct vfctl_id_cursor *cursor;
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
	vfctl_ids_list_end(cursor);
	return r;
}

static int domain_in_leases(struct guid *g, const char *name, struct vfctl_id_owner *io)
{
	struct vfctl_leases *leases;
	const struct vfctl_lease *lease;
	int r = vfctl_leases_read(g->in->ctx, &leases);

	if (r < 0)
		return r;
	lease = vfctl_leases_find(leases, name);
	if (lease) {
		memcpy(io->domain_uuid, lease->domain_uuid, sizeof(io->domain_uuid));
		snprintf(io->domain_name, sizeof(io->domain_name), "%s", lease->domain_name);
	}
	vfctl_leases_free(leases);
	return lease != NULL;
}

int guid_domain(struct guid *g, struct vfctl_id_owner *io)
{
	const char *given = option_of(g->in, "domain");
	char name[sizeof(io->domain_name)];
	int r;

	if (!given)
		return 0;
	/* An unset variable of a script: rows of no name must not answer to it. */
	if (!*given)
		return usage(g->in, "--domain is empty; give a domain's UUID or its name");
	snprintf(name, sizeof(name), "%s", given);
	for (char *c = name; is_uuid(given) && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	r = domain_in_leases(g, name, io);
	if (r == 0)
		r = domain_in_pools(g, name, io);
	if (r == 0 && !is_uuid(name))
		return usage(g->in, "no domain '%s' is known here; give its UUID (virsh domuuid "
			"'%s')", name, name);
	if (r == 0)
		memcpy(io->domain_uuid, name, sizeof(io->domain_uuid));
	return r < 0 ? fail(g->in, r) : 0;
}

/* ---- check ---- */

/* The value's row, if there is one: 1 or 0. */
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
		out_line(out, "nobody has it");
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

static void put_check(struct guid *g, uint64_t value, const struct vfctl_id *id)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(g->ids, VFCTL_ID_GUID, value);
	char text[VFCTL_ID_TEXT];
	struct out *out = g->in->out;

	out_open(out, NULL, '{');
	out_str(out, "guid", vfctl_guid_format(value, text));
	out_str(out, "pool", id && id->pool[0] ? id->pool : pool ? pool->name : NULL);
	if (id)
		guid_put_id(out, "identity", id);
	else
		out_null(out, "identity");
	out_shut(out);
}

static int complain_guid(const struct invocation *in, const char *text, const char *fault)
{
	if (in->json) {
		out_open(in->out, NULL, '{');
		out_null(in->out, "guid");
		out_str(in->out, "fault", fault);
		out_shut(in->out);
	}
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

/* ---- the row ---- */

struct action {
	const char *name;
	size_t min_args, max_args; /* besides the action */
	bool changes;
	const char *options; /* " a b " */
	const char *args;
	int (*run)(struct guid *g);
};

static const struct action actions[] = {
	{"check", 1, 1, false, "", "GUID", guid_check},
	{"pools", 0, 0, false, "", "", guid_pools},
	{"list", 0, 0, false, " pool domain only fleet ", "", guid_list},
	{"reserve", 0, 1, true, " pool count domain device pkey mac ", "[VALUE]", guid_reserve},
	{"release", 1, ARGS_MAX - 1, true, " domain force ", "VALUE...", guid_release},
	{"import", 1, 1, true, "", "FILE", guid_import},
	{"export", 0, 0, false, " format pkey output ", "", guid_export},
	{"sync", 0, 0, true, " adopt ", "", guid_sync},
	{"orphans", 0, 0, false, " of-host ", "", guid_orphans},
	{"reclaim", 0, ARGS_MAX - 1, true, " of-host force ", "VALUE...|--of-host HOST",
		guid_reclaim},
	{"publish", 0, 0, true, "", "", guid_publish},
};

static int check_options(const struct invocation *in, const struct action *action)
{
	if (in->dry_run && !action->changes)
		return usage(in, "%s takes no --dry-run", action->name);
	return check_verb_options(in, action->name, action->options);
}

static int check_call(const struct invocation *in, const struct action *action)
{
	size_t n = in->arg_count - 1;

	if (n < action->min_args || n > action->max_args)
		return usage(in, "needs: vfctl guid %s%s%s", action->name,
			action->args[0] ? " " : "", action->args);
	return check_options(in, action);
}

static int run_action(struct invocation *in, const struct action *action)
{
	bool write = action->changes && !in->dry_run;
	struct guid g = {.in = in};
	int status, r;

	/* The leases are this host's own, whatever host is looked at. */
	if (write && option_of(in, "host"))
		return fail_as(in, EXIT_FAILED, -EROFS, "%s is a captured host and cannot be changed",
			option_of(in, "host"));
	r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &g.spec);

	if (r == 0)
		r = vfctl_host_spec_resolve(in->ctx, g.spec);
	if (r == 0)
		r = vfctl_ids_open(in->ctx, g.spec, write, &g.ids);
	status = r < 0 ? fail(in, r) : write ? check_after_change(in, g.spec) : EXIT_DONE;
	if (!status)
		status = action->run(&g);
	vfctl_ids_close(g.ids);
	vfctl_host_spec_free(g.spec);
	return status;
}

static int run_guid(struct invocation *in)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(actions[i].name, in->args[0]) == 0) {
			int status = check_call(in, &actions[i]);

			return status ? status : run_action(in, &actions[i]);
		}
	return usage(in, "'%s' is not check, pools, list, reserve, release, import, export, sync, "
		"orphans, reclaim or publish", in->args[0]);
}

static const struct option_row options[] = {
	{"pool", 'p', "POOL", "list, reserve: of this pool (default: the first of host.yaml)",
		NULL},
	{"domain", 'd', "NAME|UUID", "list, release: of this domain; reserve: for it "
		"(default: for the host)", NULL},
	{"device", 0, "DEVICE", "reserve: which of its VFs (default vf0); for the host "
		"BDF/INDEX", NULL},
	{"only", 0, "STATE", "list: only leased, block, resting or quarantined",
		"leased block resting quarantined"},
	{"fleet", 0, NULL, "list: of all hosts, from the fleet's store", NULL},
	{"count", 0, "N", "reserve: so many, all or none; the device is numbered from 0", NULL},
	{"pkey", 0, "PKEY", "reserve: for this partition (its name or 0x0010, with :full or "
		":limited); export: only this", NULL},
	{"mac", 0, "MAC", "reserve: of the VF, for a pool that derives from it", NULL},
	{"force", 0, NULL, "release: also what a domain's lease or a VF uses; reclaim: also from "
		"a host that is there", NULL},
	{"of-host", 0, "HOST", "orphans, reclaim: all of this host, which is gone", NULL},
	{"adopt", 0, NULL, "sync: this host's state file was lost; what etcd has by its name is "
		"its own", NULL},
	{"format", 0, "FORMAT", "export: opensm, json or csv", "opensm json csv"},
	{"output", 'o', "FILE", "export: file to write (replaced as a whole)", NULL},
};

const struct command cmd_guid = {
	.name = "guid",
	.args = "ACTION [VALUE...]",
	.summary = "pools of GUIDs and MACs: who has which, reserve, release, import, export",
	.text = "ACTION is check, pools, list, reserve, release, import, export, sync, orphans,\n"
		"reclaim or publish.\n"
		"check GUID prints its one spelling and who has it, or what is wrong with it.\n"
		"reserve gives a value, or this very one, to a domain's VF or the host's own, the\n"
		"same again when it has one; release takes it back to rest. import FILE (- is\n"
		"standard input) takes in an export, or quarantines GUIDs of our pools that a tool\n"
		"such as ibnetdiscover saw and nobody has. export --format opensm prints\n"
		"partitions.conf. After a change the after-change command of host.yaml runs; the\n"
		"status is 4 when only that failed. With the pools of a fleet (store: etcd): sync\n"
		"reconciles this host with it; orphans lists what hosts that are gone had, reclaim\n"
		"takes that back; publish makes the pools of this host.yaml the fleet's.",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "check pools list reserve release import export sync orphans reclaim publish",
	.changes = true,
	OPTIONS(options),
	.run = run_guid,
};
