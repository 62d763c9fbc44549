// SPDX-License-Identifier: GPL-2.0-or-later
/* Apply the guest's half of a profile to a running guest through its agent. */
#include <errno.h>
#include <stdio.h>

#include "guest/tune.h"
#include "remote/argv.h"
#include "remote/place.h"
#include "remote/settings.h"
#include "tuning/guest_half.h"

#define RUN_MS 60000

struct tuned {
	struct vfctl_ctx *ctx;
	struct place place;
	char *links; /* the output of ip -o link in the guest */
	struct vfctl_guest_outcome *outcomes;
	size_t count;
};

void vfctl_guest_outcomes_free(struct vfctl_guest_outcome *outcomes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(outcomes[i].what);
		free(outcomes[i].message);
	}
	free(outcomes);
}

/* Takes over both texts. */
static int say(struct tuned *t, bool done, char *what, char *message)
{
	if (!what || !message || !array_grow(t->outcomes, t->count)) {
		free(what);
		free(message);
		return ctx_oom(t->ctx);
	}
	t->outcomes[t->count++] = (struct vfctl_guest_outcome){what, message, done};
	return 0;
}

/* The message concerns one item; the others continue, unless the guest itself has stopped. */
static int say_failure(struct tuned *t, const char *what, int error)
{
	int r;

	if (error == -ENOMEM || error == -EINTR || error == -EOPNOTSUPP)
		return error;
	r = say(t, false, strdup(what), strdup(vfctl_ctx_error(t->ctx)));
	ctx_clear(t->ctx);
	return r;
}

/* Run a program to its end. -EIO if it failed, with its output. */
static int run_there(struct tuned *t, char *const argv[], const char *input,
	struct place_output *ret)
{
	_free_ char *text = argv_text(argv);
	char message[300];
	int r = place_run(&t->place, argv, input, RUN_MS, ret);

	if (r < 0 || ret->status == 0)
		return r;
	place_output_text(ret, message, sizeof(message));
	return ctx_fail(t->ctx, -EIO, "%s: %s", text ? text : argv[0], *message ? message : "failed");
}

/* ---- files and commands ---- */

static int write_file(struct tuned *t, const struct vfctl_guest_file *file)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	char *mode = file->secret ? (char *)"0600" : (char *)"0644";
	char *argv[] = {"install", "-D", "-m", mode, "/dev/stdin", file->path, NULL};
	int r = run_there(t, argv, file->text, &o);

	return r < 0 ? say_failure(t, file->path, r)
		     : say(t, true, strdup(file->path), strdup("written"));
}

/* Interfaces are set below and read back; udev does it from the next boot on. */
static int run_command(struct tuned *t, char *const *argv)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	_free_ char *text = argv_text((char **)argv);
	int r;

	if (str_eq(argv[0], "udevadm") && str_eq(argv[1], "trigger"))
		return 0;
	r = text ? run_there(t, (char **)argv, NULL, &o) : ctx_oom(t->ctx);
	return r < 0 ? say_failure(t, text ? text : argv[0], r)
		     : say(t, true, strdup(text), strdup("done"));
}

/* ---- interfaces ---- */

/*
 * Find "2: eth1: <BROADCAST,...> ... link/ether 52:54:00:00:00:01 brd ...", but not interfaces on
 * top of it: "eth1.5@eth1".
 */
static bool find_interface(const char *links, const char *kind, const char *mac, char *buf,
	size_t size)
{
	_free_ char *needle = str_format("link/%s %s", kind, mac);

	for (const char *line = links; needle && line && *line; line = strchr(line, '\n')) {
		size_t len;
		const char *name, *at;

		line += *line == '\n';
		len = strcspn(line, "\n");
		at = memmem(line, len, needle, strlen(needle));
		name = memchr(line, ' ', len);
		/* A line that does not begin like this names no interface. */
		if (!at || !name || name >= at || memchr(name, '@', (size_t)(at - name)))
			continue;
		name++;
		len = strcspn(name, ": \n");
		if (!len || len >= size)
			continue;
		snprintf(buf, size, "%.*s", (int)len, name);
		return true;
	}
	return false;
}

static int set_interface(struct tuned *t, const char *device, const char *want, char **ret_text)
{
	_strv_ char **names = NULL;
	_free_ char *now = NULL;
	int r = settings_names(t->ctx, want, &names);

	if (r == 0)
		r = settings_read(&t->place, device, names, &now);
	if (r == 0 && str_eq(now, want)) {
		*ret_text = str_format("%s has %s already", device, want);
		return *ret_text ? 0 : ctx_oom(t->ctx);
	}
	if (r == 0)
		r = settings_write(&t->place, device, want);
	if (r == 0)
		*ret_text = str_format("%s has %s, read back (before: %s)", device, want, now);
	return r < 0 ? r : *ret_text ? 0 : ctx_oom(t->ctx);
}

static char *settings_of(const struct vfctl_profile *profile, const struct vfctl_guest_half_vf *vf)
{
	struct vfctl_tuning_fit fit;
	_free_ char *text = NULL;
	_buf_ struct buf b = {0};

	guest_half_fit(profile, vf, &fit);
	text = vfctl_coalesce_format(&fit.set);
	if (!text)
		return NULL;
	if (vf->infiniband && vf->ipoib_mode)
		buf_printf(&b, "ipoib-mode=%s ", vf->ipoib_mode == VFCTL_IPOIB_CONNECTED ? "connected"
			: "datagram");
	if (vf->mtu)
		buf_printf(&b, "mtu=%u ", vf->mtu);
	buf_puts(&b, text);
	return b.failed ? NULL : b.data ? str_rstrip(buf_steal(&b)) : strdup("");
}

static int tune_interface(struct tuned *t, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vf)
{
	char mac[VFCTL_MAC_TEXT] = "", device[32];
	_free_ char *want = settings_of(profile, vf), *message = NULL;
	int r;

	if (!want)
		return ctx_oom(t->ctx);
	if (!*want)
		return 0;
	if (!vf->infiniband)
		vfctl_mac_format(&vf->mac, mac);
	if (!find_interface(t->links, vf->infiniband ? "infiniband" : "ether", mac, device,
		    sizeof(device)))
		return say(t, false, strdup(vf->infiniband ? "IPoIB" : mac), strdup("the guest has no "
			"such interface now; the files set it when one appears"));
	r = set_interface(t, device, want, &message);
	if (r == -EOPNOTSUPP) /* this refers to the driver, not to the agent, which has answered before */
		r = ctx_append(t->ctx, -EIO, " (the other settings of %s stay)", device);
	return r < 0 ? say_failure(t, vf->infiniband ? "IPoIB" : mac, r)
		     : say(t, true, strdup(vf->infiniband ? "IPoIB" : mac), steal(message));
}

static int say_no_agent(struct vfctl_ctx *ctx, const char *why)
{
	_free_ char *message = strdup(why);

	return ctx_fail(ctx, -EOPNOTSUPP, "nothing is set in the guest: %s. To transfer the files in "
		"another way: vfctl tune guest --output DIR, or --cloud-init FILE. For --apply install "
		"qemu-guest-agent in the guest, and give its domain the channel org.qemu.guest_agent.0",
		message ? message : "no agent");
}

static int read_links(struct tuned *t)
{
	_cleanup_(place_output_clear) struct place_output o = {0};
	char *argv[] = {"ip", "-o", "link", NULL};
	int r = run_there(t, argv, NULL, &o);

	if (r == -EOPNOTSUPP)
		return say_no_agent(t->ctx, vfctl_ctx_error(t->ctx));
	if (r < 0)
		return r;
	t->links = strdup(o.out.data ? o.out.data : "");
	return t->links ? 0 : ctx_oom(t->ctx);
}

int vfctl_guest_half_apply(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t vf_count,
	const struct vfctl_guest_half *tuning, struct vfctl_guest_outcome **ret_outcomes,
	size_t *ret_count)
{
	struct endpoint end = {.name = (char *)"guest", .where = ENDPOINT_GUEST,
		.at = (char *)domain, .gid_index = UINT32_MAX};
	struct tuned t = {.ctx = ctx};
	int r;

	if (!hypervisor || !hypervisor->agent)
		return say_no_agent(ctx, "vfctl is not connected to a libvirt that could ask the guest "
			"agent");
	r = place_open(ctx, &end, hypervisor, &t.place);
	if (r < 0)
		return r;
	r = read_links(&t);
	for (size_t i = 0; i < tuning->file_count && r == 0; i++)
		r = write_file(&t, &tuning->files[i]);
	for (size_t i = 0; i < tuning->command_count && r == 0; i++)
		r = run_command(&t, tuning->commands[i]);
	for (size_t i = 0; i < vf_count && r == 0; i++)
		r = tune_interface(&t, profile, &vfs[i]);
	place_close(&t.place);
	free(t.links);
	if (r < 0) {
		vfctl_guest_outcomes_free(t.outcomes, t.count);
		return r;
	}
	*ret_outcomes = t.outcomes;
	*ret_count = t.count;
	return 0;
}
