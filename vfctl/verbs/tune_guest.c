// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tune guest: the settings that a guest has to make, as files, as user-data of cloud-init, or
 * applied now.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/tune.h"
#include "hook/guest_tuning.h"
#include "host/files.h"
#include "host_ids.h"
#include "main.h"
#include "session.h"
#include "spec/guest_yaml.h"
#include "spec/host_yaml.h"
#include "verbs/tune.h"

struct guest_half {
	char *domain;
	uint32_t mtu;
	enum vfctl_ipoib_mode ipoib_mode;
	enum vfctl_guest_network network;
	struct host_ids host;
	struct vfctl_snapshot *snapshot;
	struct vfctl_guest_tuning asked;
	const struct vfctl_profile *profile;
	struct vfctl_guest_half_vf *vfs;
	size_t vf_count;
	struct vfctl_guest_half *tuning;
	struct vfctl_guest_outcome *outcomes;
	size_t outcome_count;
};

static void clear_guest(struct guest_half *g)
{
	vfctl_guest_outcomes_free(g->outcomes, g->outcome_count);
	vfctl_guest_half_free(g->tuning);
	vfctl_snapshot_free(g->snapshot);
	host_ids_close(&g->host);
	free(g->vfs);
	free(g->domain);
}

/* ---- the guest and its VFs ---- */

static bool is_file(const char *text)
{
	size_t len = strlen(text);

	return strchr(text, '/') || strcmp(text, "-") == 0 ||
		(len > 5 && strcmp(text + len - 5, ".yaml") == 0);
}

/*
 * From guest.yaml only its name and tuning are used, and an MTU and IPoIB mode that all its VFs
 * have.
 */
static int read_name(struct invocation *in, struct guest_half *g)
{
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	int status = EXIT_DONE;

	if (!is_file(in->args[1])) {
		g->domain = strdup(in->args[1]);
		return g->domain ? EXIT_DONE : fail(in, -ENOMEM);
	}
	status = read_guest(in, in->args[1], &guest);
	if (status)
		return status;
	g->domain = strdup(guest->name);
	g->asked = guest->tuning;
	for (size_t i = 0; i < guest->vf_count; i++) {
		g->mtu = i == 0 || guest->vfs[i].mtu == g->mtu ? guest->vfs[i].mtu : 0;
		g->ipoib_mode = i == 0 || guest->vfs[i].ipoib_mode == g->ipoib_mode
			? guest->vfs[i].ipoib_mode : VFCTL_IPOIB_UNSTATED;
	}
	return g->domain ? EXIT_DONE : fail(in, -ENOMEM);
}

static const struct vfctl_pf *pf_of(const struct vfctl_inventory *inventory,
	const struct vfctl_lease_vf *vf)
{
	for (size_t i = 0; i < inventory->pf_count; i++)
		if (memcmp(&inventory->pfs[i].bdf, &vf->pf, sizeof(vf->pf)) == 0)
			return &inventory->pfs[i];
	return NULL;
}

static int take_vfs(struct invocation *in, struct guest_half *g, const struct vfctl_lease *lease)
{
	char bdf[VFCTL_BDF_TEXT];

	g->vfs = calloc(lease->vf_count + 1, sizeof(*g->vfs));
	if (!g->vfs)
		return fail(in, -ENOMEM);
	for (size_t i = 0; i < lease->vf_count; i++) {
		const struct vfctl_lease_vf *vf = &lease->vfs[i];
		const struct vfctl_pf *pf = pf_of(g->snapshot->inventory, vf);

		vfctl_bdf_format(&vf->bdf, bdf);
		if (!pf) {
			warn("VF %s: its PF is absent, so its driver is not known; it is omitted",
				bdf);
		} else if (!pf->infiniband && !(vf->intent.mask & VFCTL_ATTR_MAC)) {
			warn("VF %s has no MAC of its own by which the guest could recognize it; "
				"it is omitted", bdf);
		} else {
			g->vfs[g->vf_count++] = (struct vfctl_guest_half_vf){.mac = vf->intent.mac,
				.infiniband = pf->infiniband, .rdma = pf->rdma[0], .mtu = g->mtu,
				.ipoib_mode = g->ipoib_mode, .pf_driver = pf->driver};
		}
	}
	return EXIT_DONE;
}

static int read_vfs(struct invocation *in, struct guest_half *g)
{
	const struct vfctl_lease *lease;
	int r = vfctl_snapshot_read(in->ctx, NULL, &g->snapshot);

	if (r < 0)
		return fail(in, r);
	if (!g->snapshot->leases)
		return fail_as(in, EXIT_FAILED, -EACCES, "%s", g->snapshot->leases_error);
	lease = vfctl_leases_find(g->snapshot->leases, g->domain);
	if (!lease)
		return fail_as(in, EXIT_FAILED, -ENOENT, "guest %s has no VFs here yet, so which "
			"drivers it needs is not known; vfctl define it first (its files can be made "
			"before its first start)", g->domain);
	return take_vfs(in, g, lease);
}

/* The named profile, or the one that the file or the definition requests. */
static int read_profile(struct invocation *in, struct guest_half *g)
{
	const char *name = option_of(in, "profile");

	if (!name && !g->asked.profile[0])
		/* A definition that cannot be read requests nothing. */
		vfctl_guest_tuning_asked(in->ctx, g->domain, &g->asked);
	if (!name && g->asked.profile[0])
		name = g->asked.profile;
	if (!name)
		return usage(in, "%s asks for no profile itself, so name one: vfctl tune guest %s "
			"--profile latency (vfctl tune profiles lists them)", g->domain, in->args[1]);
	if (vfctl_profile_need(in->ctx, g->host.spec, name, &g->profile) < 0)
		return usage(in, "%s", vfctl_ctx_error(in->ctx));
	return EXIT_DONE;
}

/* ---- destination ---- */

static int make_dir(const char *path)
{
	_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	if ((mkdir(path, 0755) < 0 && errno != EEXIST) || stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int begin_file(struct invocation *in, const char *dir, const struct vfctl_guest_file *file,
	struct vfctl_output **ret)
{
	mode_t mask = umask(file->secret ? 0077 : 0022);
	int r = vfctl_tree_open(in->ctx, dir, file->path + 1, true, ret);

	umask(mask);
	return r < 0 ? r : vfctl_output_write(in->ctx, *ret, file->text, strlen(file->text));
}

/*
 * Links in the image may lead anywhere: none is followed below @dir. No file gets its name before
 * all are written.
 */
static int write_files(struct invocation *in, const struct guest_half *g, const char *dir)
{
	size_t count = g->tuning->file_count;
	struct vfctl_output **files = calloc(count + 1, sizeof(struct vfctl_output *));
	int r = make_dir(dir);

	if (r < 0 || !files) {
		free(files);
		return r < 0 ? fail_file(in, dir, -r) : fail(in, -ENOMEM);
	}
	for (size_t i = 0; i < count && r == 0; i++)
		r = begin_file(in, dir, &g->tuning->files[i], &files[i]);
	for (size_t i = 0; i < count && r == 0; i++)
		r = vfctl_output_commit(in->ctx, files[i]);
	for (size_t i = 0; i < count; i++)
		vfctl_output_free(files[i]);
	free(files);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

static int write_cloud_init(struct invocation *in, const struct guest_half *g, const char *path)
{
	_free_ char *text = NULL;
	int r = vfctl_guest_half_cloud_init(in->ctx, g->tuning, &text);

	return r < 0 ? fail(in, r) : write_named(in, path, text);
}

static int apply_guest(struct invocation *in, struct guest_half *g)
{
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	int r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);

	if (r < 0)
		return fail(in, r);
	catch_signals(in->ctx);
	r = vfctl_guest_half_apply(in->ctx, hv, g->domain, g->profile, g->vfs, g->vf_count, g->tuning,
		&g->outcomes, &g->outcome_count);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

static int carry_out(struct invocation *in, struct guest_half *g)
{
	const char *dir = option_of(in, "output"), *cloud = option_of(in, "cloud-init");
	int status = EXIT_DONE;

	if (in->dry_run)
		return EXIT_DONE;
	if (dir)
		status = write_files(in, g, dir);
	if (!status && cloud)
		status = write_cloud_init(in, g, cloud);
	if (!status && option_of(in, "apply"))
		status = apply_guest(in, g);
	return status;
}

/* ---- output ---- */

#define OF struct vfctl_guest_file
static const struct member file_table[] = {
	FIELD(path, "path in the guest", FILLED),
	FIELD(text, "content", FILLED), END};
#undef OF

#define OF struct vfctl_guest_outcome
static const struct member outcome_table[] = {
	FIELD(what, "a file, a command, or a VF by its MAC", FILLED),
	FIELD(done, "it was applied in the guest"),
	FIELD(message, "what was done, or why it was not"), END};
#undef OF

#define OF struct vfctl_guest_half
static const struct member half_table[] = {
	LIST("files", files, file_count, file_table, "files for the guest"),
	SCALARS("notes", notes, note_count, "what a driver of the guest does not support"), END};
#undef OF

#define OF struct guest_half
static const struct member guest_table[] = {
	FIELD(domain, "name of the domain", FILLED),
	FIELD_VIA("profile", profile, name, "name of the profile", FILLED),
	PART_AT(tuning, half_table),
	LIST("outcomes", outcomes, outcome_count, outcome_table, "results of --apply"), END};
#undef OF
const struct answer tune_guest_answer[] = {{NULL, guest_table, false}, {0}};

static void print_text(struct invocation *in, const struct guest_half *g)
{
	const char *dir = option_of(in, "output"), *cloud = option_of(in, "cloud-init");
	bool shown = in->dry_run || (!dir && !cloud && !option_of(in, "apply"));

	/* Output for another program contains nothing else; notes are comments in it. */
	if (!in->dry_run && cloud && strcmp(cloud, "-") == 0)
		return;
	for (size_t i = 0; i < g->tuning->file_count; i++) {
		if (!shown && dir)
			out_line(in->out, "%s%s", dir, g->tuning->files[i].path);
		if (!shown)
			continue;
		out_line(in->out, "==> %s <==", g->tuning->files[i].path);
		put_clean_lines(out_file(in->out), g->tuning->files[i].text);
		out_line(in->out, "%s", "");
	}
	for (size_t i = 0; i < g->tuning->note_count; i++)
		out_fold(in->out, 2, "%s", g->tuning->notes[i]);
	for (size_t i = 0; i < g->outcome_count; i++)
		out_fold(in->out, 2, "%s%s: %s", g->outcomes[i].done ? "" : "not done: ",
			g->outcomes[i].what, g->outcomes[i].message);
}

static int tell_guest(struct invocation *in, const struct guest_half *g)
{
	bool all = true;

	for (size_t i = 0; i < g->outcome_count; i++)
		all &= g->outcomes[i].done;
	if (in->json)
		answer_put(in->out, NULL, guest_table, g);
	else
		print_text(in, g);
	return all ? EXIT_DONE : EXIT_DRIFT;
}

/* @all: the same words, for the message. */
static int option_word(struct invocation *in, const char *name, const char *const words[],
	const char *all,
	unsigned *ret)
{
	const char *text = option_of(in, name);

	for (unsigned i = 0; text && words[i]; i++)
		if (strcmp(text, words[i]) == 0) {
			*ret = i;
			return EXIT_DONE;
		}
	return text ? usage(in, "--%s: '%s' is not allowed; it must be %s", name, text, all) : EXIT_DONE;
}

static int read_network(struct invocation *in, struct guest_half *g)
{
	static const char *const networks[] = {"udev", "networkd", "NetworkManager", "netplan", NULL};
	static const char *const modes[] = {"any", "datagram", "connected", NULL};
	unsigned network = g->network, mode = g->ipoib_mode;
	int status = option_word(in, "network", networks,
		"udev, networkd, NetworkManager or netplan", &network);

	if (!status)
		status = option_word(in, "ipoib-mode", modes, "datagram or connected", &mode);
	if (!status)
		status = option_number(in, "mtu", VFCTL_MTU_MIN, VFCTL_MTU_MAX, &g->mtu);
	g->network = (enum vfctl_guest_network)network;
	g->ipoib_mode = (enum vfctl_ipoib_mode)mode;
	return status;
}

static int tune(struct invocation *in, struct guest_half *g)
{
	int r, status = read_name(in, g);

	if (!status)
		status = read_network(in, g);

	if (!status)
		status = host_ids_open(in, false, &g->host);
	if (!status)
		status = read_profile(in, g);
	if (!status)
		status = read_vfs(in, g);
	if (status)
		return status;
	r = vfctl_guest_half_make(in->ctx, g->profile, g->vfs, g->vf_count, g->network,
		&g->tuning);
	if (r < 0)
		return fail(in, r);
	status = carry_out(in, g);
	return status ? status : tell_guest(in, g);
}

int tune_run_guest(struct invocation *in)
{
	_cleanup_(clear_guest) struct guest_half g = {.domain = NULL};
	const char *cloud = option_of(in, "cloud-init");

	if (in->json && cloud && strcmp(cloud, "-") == 0)
		return usage(in, "--cloud-init - and --json would both go to standard output");
	return tune(in, &g);
}
