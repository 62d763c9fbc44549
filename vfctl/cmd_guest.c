// SPDX-License-Identifier: GPL-2.0-or-later
/* plan, xml, define, undefine: a guest.yaml and where it goes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "host_ids.h"
#include "vfctl/hook.h"
#include "vfctl/workflow.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* ---- files ---- */

static int fail_file(struct invocation *in, const char *path, int error)
{
	usage(in, "%s: %s", path, strerror(error));
	return EXIT_FAILED; /* the command was right, the file is not there */
}

static int read_file(struct invocation *in, const char *path, size_t max, char **ret,
	size_t *ret_len)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = file ? malloc(max + 2) : NULL;
	int error = 0;

	if (!file)
		return fail_file(in, path, errno);
	if (text) {
		*ret_len = fread(text, 1, max + 1, file);
		error = ferror(file) ? errno : 0;
		text[*ret_len] = '\0';
	}
	if (file != stdin)
		fclose(file);
	if (!text)
		return fail(in, -ENOMEM);
	if (error) {
		free(text);
		return fail_file(in, path, error);
	}
	*ret = text;
	return 0;
}

static int read_guest(struct invocation *in, struct vfctl_guest **ret)
{
	size_t len;
	char *text;
	int r = read_file(in, in->args[0], VFCTL_GUEST_FILE_MAX, &text, &len);

	if (r)
		return r;
	r = vfctl_guest_parse(in->ctx, in->args[0], text, len, ret);
	free(text);
	return r < 0 ? fail(in, r) : 0;
}

/* The template of --template, else the one the guest names, else none. */
static int read_template(struct invocation *in, const struct vfctl_guest *guest, char **ret,
	char **ret_name)
{
	const char *name = option_of(in, "template");
	size_t len;
	int r;

	if (!name)
		name = guest->template_name;
	if (!name)
		return 0;
	r = vfctl_domain_template_path(in->ctx, NULL, name, ret_name);
	if (r < 0)
		return fail(in, r);
	r = read_file(in, *ret_name, VFCTL_DOMAIN_XML_MAX, ret, &len);
	if (r == 0 && strlen(*ret) != len)
		return usage(in, "%s holds a NUL byte: it is no XML", *ret_name);
	return r;
}

/* ---- what the verbs share ---- */

struct session {
	struct vfctl_guest *guest;
	struct vfctl_hypervisor *hv;
	struct vfctl_place_options options;
	struct host_ids host;
	char *template_text, *template_name;
};

static void close_session(struct session *s)
{
	vfctl_guest_free(s->guest);
	host_ids_close(&s->host);
	if (s->hv)
		s->hv->close(s->hv);
	free(s->template_text);
	free(s->template_name);
}

/*
 * Plans and XML are made without libvirt too (on a captured host, or where none runs);
 * then other domains' pins are not known, which is said.
 */
static int connect_hv(struct invocation *in, struct session *s, bool needed)
{
	const char *uri = option_of(in, "connect");
	int r;

	if (!needed && option_of(in, "host") && !uri)
		return 0;
	r = vfctl_libvirt_open(in->ctx, uri, &s->hv);
	if (r < 0 && (needed || uri))
		return fail(in, r);
	if (r < 0 && !in->quiet)
		warn("what other domains hold is not known: %s",
			vfctl_ctx_error(in->ctx));
	s->options.hypervisor = s->hv;
	return 0;
}

static int open_session(struct invocation *in, struct session *s, bool needs_libvirt)
{
	const char *reserve = option_of(in, "reserve");
	int r;

	*s = (struct session){0};
	if (reserve && vfctl_cpuset_parse(reserve, &s->options.reserved_cpus) < 0)
		return usage(in, "--reserve must be a list of CPUs such as 0-1,8, not '%s'",
			reserve);
	r = read_guest(in, &s->guest);
	if (r == 0)
		r = read_template(in, s->guest, &s->template_text, &s->template_name);
	if (r == 0)
		r = host_ids_open(in, in->command->changes && !in->dry_run, &s->host);
	s->options.ids = s->host.ids;
	s->options.spec = s->host.spec;
	return r ? r : connect_hv(in, s, needs_libvirt);
}

static const struct option_row guest_options[] = {
	{"template", 't', "FILE", "domain XML to complete (default: the guest's template, or none)",
		NULL},
	{"reserve", 0, "CPUS", "CPUs that are the host's own, such as 0-1", NULL},
};

static const struct option_row plan_options[] = {
	{"reserve", 0, "CPUS", "CPUs that are the host's own, such as 0-1", NULL},
};

/* ---- plan ---- */

static void cpus_text(const struct vfctl_cpuset *set, char *buf, size_t size)
{
	vfctl_cpuset_format(set, buf, size);
	if (!buf[0])
		snprintf(buf, size, "none");
}

static void print_reasons(struct invocation *in, const struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->reason_count; i++)
		out_line(in->out, "  %-9s %s", vfctl_reason_kind_name(a->reasons[i].kind),
			a->reasons[i].text);
}

static void print_nodes(struct invocation *in, const struct vfctl_placed *placed)
{
	const struct vfctl_topology *t = vfctl_placed_topology(placed);
	struct vfctl_cpuset all = vfctl_placed_free_cpus(placed);
	char text[1024];

	for (size_t i = 0; i < t->node_count; i++) {
		struct vfctl_cpuset here = t->nodes[i].cpus;

		vfctl_cpuset_and(&here, &all);
		cpus_text(&here, text, sizeof(text));
		out_line(in->out, "  node %-4u  %u of %u CPUs stay free: %s", t->nodes[i].id,
			vfctl_cpuset_count(&here), vfctl_cpuset_count(&t->nodes[i].cpus), text);
	}
}

static void print_plan(struct invocation *in, const struct session *s,
	const struct vfctl_placed *placed)
{
	const struct vfctl_assignment *a = vfctl_placed_assignment(placed);
	const struct vfctl_domain_vf *vfs;
	char text[1024];
	size_t count, len = 0;

	if (a->refusal != VFCTL_REFUSAL_NONE) {
		out_line(in->out, "%s does not fit", s->guest->name);
		print_reasons(in, a);
		print_nodes(in, placed);
		return;
	}
	out_line(in->out, "%s goes to NUMA node %d", s->guest->name, a->node);
	for (size_t i = 0; i < a->vcpu_count && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? "," : "",
			a->vcpus[i]);
	out_line(in->out, "  vCPUs     %zu, one each on host CPU %s", a->vcpu_count, text);
	cpus_text(&a->emulator_cpus, text, sizeof(text));
	out_line(in->out, "  QEMU      emulator threads on CPU %s", text);
	out_line(in->out, "  memory    %llu MiB on node %d", (unsigned long long)a->memory_bytes >> 20,
		a->node);
	vfs = vfctl_placed_vfs(placed, &count);
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_vf_attrs *attrs = &vfs[i].attrs;
		char id[VFCTL_GUID_TEXT] = "", pkey[VFCTL_PKEY_TEXT] = "";

		if (attrs->mask & VFCTL_ATTR_PORT_GUID)
			vfctl_guid_format(attrs->port_guid, id);
		else if (attrs->mask & VFCTL_ATTR_MAC)
			vfctl_mac_format(&attrs->mac, id);
		if (attrs->mask & VFCTL_ATTR_PKEY)
			vfctl_pkey_format(attrs->pkey, pkey);
		out_line(in->out, "  VF        %s (VF %u of %s) %s%s%s", BDF(&vfs[i].bdf), vfs[i].index,
			BDF(&vfs[i].pf), id, pkey[0] ? " P_Key " : "", pkey);
	}
	print_reasons(in, a);
	print_nodes(in, placed);
}

static void put_cpus(struct out *out, const char *key, const struct vfctl_cpuset *set)
{
	char text[4096];

	vfctl_cpuset_format(set, text, sizeof(text));
	out_str(out, key, text);
}

static void put_plan_vfs(struct out *out, const struct vfctl_placed *placed)
{
	size_t count;
	const struct vfctl_domain_vf *vfs = vfctl_placed_vfs(placed, &count);

	out_open(out, "vfs", '[');
	for (size_t i = 0; i < count; i++) {
		char mac[VFCTL_MAC_TEXT];

		out_open(out, NULL, '{');
		out_str(out, "address", BDF(&vfs[i].bdf));
		out_str(out, "pf_address", BDF(&vfs[i].pf));
		out_int(out, "index", vfs[i].index);
		out_str(out, "mac", vfs[i].attrs.mask & VFCTL_ATTR_MAC ?
			vfctl_mac_format(&vfs[i].attrs.mac, mac) : NULL);
		out_shut(out);
	}
	out_shut(out);
}

static void print_plan_json(struct invocation *in, const struct session *s,
	const struct vfctl_placed *placed)
{
	const struct vfctl_assignment *a = vfctl_placed_assignment(placed);
	bool fits = a->refusal == VFCTL_REFUSAL_NONE;
	struct out *out = in->out;

	out_open(out, NULL, '{');
	out_str(out, "guest", s->guest->name);
	out_bool(out, "fits", fits);
	out_str(out, "short_of", fits ? NULL : vfctl_refusal_name(a->refusal));
	if (fits) {
		out_int(out, "numa_node", a->node);
		out_open(out, "vcpu_cpus", '[');
		for (size_t i = 0; i < a->vcpu_count; i++)
			out_int(out, NULL, a->vcpus[i]);
		out_shut(out);
		put_cpus(out, "emulator_cpus", &a->emulator_cpus);
		put_cpus(out, "iothread_cpus", &a->iothread_cpus);
		out_int(out, "memory_bytes", (int64_t)a->memory_bytes);
		out_int(out, "page_bytes", (int64_t)a->page_bytes);
		put_plan_vfs(out, placed);
	}
	out_open(out, "reasons", '[');
	for (size_t i = 0; i < a->reason_count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "kind", vfctl_reason_kind_name(a->reasons[i].kind));
		out_str(out, "text", a->reasons[i].text);
		out_shut(out);
	}
	out_shut(out);
	out_shut(out);
}

static int run_plan(struct invocation *in)
{
	struct vfctl_placed *placed = NULL;
	struct session s;
	int status = open_session(in, &s, false);

	s.options.without_identities = true;
	if (status == 0) {
		int r = vfctl_place(in->ctx, s.guest, &s.options, &placed);

		if (r < 0) {
			status = fail(in, r);
		} else {
			if (in->json)
				print_plan_json(in, &s, placed);
			else
				print_plan(in, &s, placed);
			if (vfctl_placed_assignment(placed)->refusal != VFCTL_REFUSAL_NONE)
				status = EXIT_FAILED;
		}
	}
	vfctl_placed_free(placed);
	close_session(&s);
	return status;
}

const struct command cmd_plan = {
	.name = "plan",
	.args = "GUEST.yaml",
	.summary = "show where a guest would go and why; nothing changes",
	.text = "The status is 1 when the guest does not fit; the reasons say what is short.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	OPTIONS(plan_options),
	.run = run_plan,
};

/* ---- xml ---- */

static int run_xml(struct invocation *in)
{
	struct vfctl_placed *placed = NULL;
	struct session s;
	char *xml = NULL;
	int r, status = open_session(in, &s, false);

	if (status == 0) {
		r = vfctl_place(in->ctx, s.guest, &s.options, &placed);
		if (r == 0)
			r = vfctl_placed_xml(in->ctx, placed, s.template_text, s.template_name,
				s.hv ? s.hv->version : 0, &xml);
		if (r < 0)
			status = fail(in, r);
		else
			fputs(xml, stdout);
	}
	free(xml);
	vfctl_placed_free(placed);
	close_session(&s);
	return status;
}

const struct command cmd_xml = {
	.name = "xml",
	.args = "GUEST.yaml",
	.summary = "print the libvirt domain XML of a placed guest; nothing changes",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	OPTIONS(guest_options),
	.run = run_xml,
};

/* ---- define, undefine ---- */

/* Without the hook the guest would start with whatever policy its VFs have. */
static void warn_hook(struct invocation *in)
{
	struct vfctl_hook_status hook;

	if (in->dry_run || vfctl_hook_status_read(in->ctx, &hook) < 0 || hook.seen_by_daemon)
		return;
	fprintf(stderr, "warning: libvirt does not run vfctl's hook, so the VFs will not get their "
		"policy at the start; run: vfctl hook install\n");
}

static int run_define(struct invocation *in)
{
	struct vfctl_change *change;
	char done[300];
	struct session s;
	int status = open_session(in, &s, true);

	if (status == 0) {
		int r = vfctl_define_plan(in->ctx, s.guest, &s.options, s.template_text,
			s.template_name, in->dry_run, &change);

		snprintf(done, sizeof(done), "domain %s is defined; start it with: virsh start %s",
			s.guest->name, s.guest->name);
		status = r < 0 ? fail(in, r) : run_ids_change(in, &s.host, change, done);
		if (status == EXIT_DONE)
			warn_hook(in);
	}
	close_session(&s);
	return status;
}

const struct command cmd_define = {
	.name = "define",
	.args = "GUEST.yaml",
	.summary = "lease what a guest needs and define it in libvirt",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(guest_options),
	.run = run_define,
};

static int run_undefine(struct invocation *in)
{
	struct vfctl_hypervisor *hv;
	struct vfctl_change *change;
	struct host_ids h = {0};
	int r, status = host_ids_open(in, !in->dry_run, &h);

	if (status)
		return status;
	r = vfctl_libvirt_open(in->ctx, option_of(in, "connect"), &hv);
	if (r < 0) {
		host_ids_close(&h);
		return fail(in, r);
	}
	r = vfctl_undefine_plan(in->ctx, hv, h.ids, in->args[0], in->dry_run, &change);
	status = r < 0 ? fail(in, r)
		       : run_ids_change(in, &h, change, "undefined, and its lease ended");
	host_ids_close(&h);
	hv->close(hv);
	return status;
}

const struct command cmd_undefine = {
	.name = "undefine",
	.args = "DOMAIN",
	.summary = "undefine a domain that is off and give back what it held",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.run = run_undefine,
};
