// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs besides vfctl that create or configure VFs, by their files of configuration. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "checks/check.h"
#include "host/host.h"

/*
 * Where a program reads what it creates. A file hides the files with the same name in later
 * directories (systemd.unit(5), udev(7), modprobe.d(5), NetworkManager.conf(5)).
 */
struct place {
	const char *check;
	const char *dirs[5]; /* ends with NULL */
	const char *pattern;
	const char *message[3]; /* one of these says it; ends with NULL */
};

#define SYSTEMD_DIRS "/etc/systemd/network", "/run/systemd/network", \
	"/usr/local/lib/systemd/network", \
	"/usr/lib/systemd/network"
#define UNIT_DIRS "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", \
	"/usr/lib/systemd/system"
#define NUMVFS "sriov_numvfs"

static const struct place places[] = {
	{"link-files", {SYSTEMD_DIRS}, "*.link", {"[SR-IOV]", "SR-IOVVirtualFunctions="}},
	{"link-files", {SYSTEMD_DIRS}, "*.network", {"[SR-IOV]"}},
	{"netplan", {"/etc/netplan", "/run/netplan", "/usr/lib/netplan"}, "*.yaml",
		{"virtual-function-count", "embedded-switch-mode"}},
	/* nm-settings-keyfile(5) */
	{"vf-creators", {"/etc/NetworkManager/system-connections",
		"/run/NetworkManager/system-connections",
		"/usr/lib/NetworkManager/system-connections"}, "*.nmconnection", {"[sriov]"}},
	{"vf-creators", {"/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d",
		"/usr/lib/udev/rules.d"}, "*.rules", {NUMVFS}},
	/* igb, ixgbe and others: module_param(max_vfs) */
	{"vf-creators", {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
		"/usr/lib/modprobe.d"}, "*.conf", {"max_vfs="}},
	{"vf-creators", {"/etc", "/etc/rc.d"}, "rc.local", {NUMVFS}},
	{"vf-creators", {"/etc"}, "sysfs.conf", {NUMVFS}},
	{"vf-creators", {"/etc/sysfs.d"}, "*.conf", {NUMVFS}},
	{"vf-creators", {"/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/lib/tmpfiles.d"}, "*.conf", {NUMVFS}},
	{"vf-creators", {UNIT_DIRS}, "*.service", {NUMVFS}},
	/* interfaces(5): lines pre-up, up and post-up, and scripts for every interface */
	{"vf-creators", {"/etc/network"}, "interfaces", {NUMVFS}},
	{"vf-creators", {"/etc/network/interfaces.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc/network/if-pre-up.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc/network/if-up.d"}, "*", {NUMVFS}},
	/* NetworkManager.conf(5), sections [device] */
	{"vf-creators", {"/etc/NetworkManager"}, "NetworkManager.conf", {"sriov-num-vfs="}},
	{"vf-creators", {"/etc/NetworkManager/conf.d", "/run/NetworkManager/conf.d",
		"/usr/lib/NetworkManager/conf.d"}, "*.conf", {"sriov-num-vfs="}},
	{"vf-creators", {"/etc/NetworkManager/dispatcher.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc/networkd-dispatcher/routable.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc/init.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc/cron.d"}, "*", {NUMVFS}},
	{"vf-creators", {"/etc"}, "crontab", {NUMVFS}},
	{"vf-creators", {"/var/spool/cron/crontabs"}, "*", {NUMVFS}},
};

/* A match of a udev rule creates nothing, and neither does a number of 0. */
static bool is_harmless(const char *after)
{
	if (str_starts(after, "}==") || str_starts(after, "}!="))
		return true;
	return after[-1] == '=' && *after == '0' && !isdigit((unsigned char)after[1]);
}

static bool creates(const char *text, const char *const *message)
{
	for (; *message; message++)
		for (const char *at = strstr(text, *message); at; at = strstr(at + 1, *message))
			if (!is_harmless(at + strlen(*message)))
				return true;
	return false;
}

/* A line whose first character is "#" or ";" says nothing (systemd.syntax(7)). */
static void drop_comment_lines(char *text)
{
	char *to = text;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		char first = line[strspn(line, " \t")];

		len += line[len] == '\n';
		if (first != '#' && first != ';') {
			memmove(to, line, len);
			to += len;
		}
		line += len;
	}
	*to = '\0';
}

static void look_at_file(struct check_ctx *e, const struct place *p, const char *dir,
	const char *name)
{
	_free_ char *text = NULL;

	if (host_try_read(e->ctx, &text, "%s/%s", dir, name) < 0)
		return;
	drop_comment_lines(text);
	if (creates(text, p->message))
		found(e, "", "%s/%s", dir, name);
}

/* NAME.link.d/FILE.conf adds to the file NAME.link, wherever that is. */
static void look_at_drop_ins(struct check_ctx *e, const struct place *p, const char *dir,
	const char *name)
{
	_free_ char *below = str_format("%s/%s", dir, name), *pattern = str_format("%s.d", p->pattern);
	_strv_ char **names = NULL;

	if (!below || !pattern || fnmatch(pattern, name, 0) != 0 ||
		host_try_list(e->ctx, &names, "%s", below) < 0)
		return;
	for (size_t i = 0; names[i]; i++)
		if (fnmatch("*.conf", names[i], 0) == 0)
			look_at_file(e, p, below, names[i]);
}

static bool is_hidden(struct check_ctx *e, const struct place *p, size_t dir, const char *name)
{
	for (size_t i = 0; i < dir; i++)
		if (host_exists(e->ctx, "%s/%s", p->dirs[i], name))
			return true;
	return false;
}

static void look_at_place(struct check_ctx *e, const struct place *p)
{
	for (size_t i = 0; p->dirs[i]; i++) {
		_strv_ char **names = NULL;
		int r = host_try_list(e->ctx, &names, "%s", p->dirs[i]);

		if (r == -EACCES)
			unknown(e, "%s cannot be read", p->dirs[i]);
		for (size_t k = 0; r == 0 && names[k]; k++) {
			if (fnmatch(p->pattern, names[k], 0) == 0 && !is_hidden(e, p, i, names[k]))
				look_at_file(e, p, p->dirs[i], names[k]);
			else
				look_at_drop_ins(e, p, p->dirs[i], names[k]);
		}
	}
}

static void check_places(struct check_ctx *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (str_eq(places[i].check, e->check->name))
			look_at_place(e, &places[i]);
}

/* ---- scripts that units start ---- */

/* Programs of packages create no VFs, and there are too many to read. */
static bool is_administrators(const char *path)
{
	static const char *const dirs[] = {"/usr/local/", "/opt/", "/etc/", "/root/", "/srv/", "/home/"};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (str_starts(path, dirs[i]))
			return true;
	return false;
}

/*
 * ExecStart=, ExecStartPre=, ...: the program may follow "-", "@", ":", "+" and "!"
 * (systemd.service(5)).
 */
static void look_at_exec(struct check_ctx *e, const char *unit, char *line)
{
	char *save = NULL;

	for (char *word = strtok_r(line, " \t=-@:+!'\"", &save); word;
		word = strtok_r(NULL, " \t'\";", &save)) {
		_free_ char *script = NULL;

		if (!is_administrators(word) || host_try_read(e->ctx, &script, "%s", word) < 0)
			continue;
		drop_comment_lines(script);
		if (creates(script, (const char *const[]){NUMVFS, NULL}))
			found(e, "", "%s, which starts %s", unit, word);
	}
}

static void look_at_unit(struct check_ctx *e, const char *dir, const char *name)
{
	_free_ char *path = str_format("%s/%s", dir, name), *text = NULL;
	char *save = NULL;

	if (!path || host_try_read(e->ctx, &text, "%s", path) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (str_starts(line, "Exec"))
			look_at_exec(e, path, line + strcspn(line, "="));
}

static void check_scripts(struct check_ctx *e)
{
	static const char *const dirs[] = {"/etc/systemd/system", "/usr/local/lib/systemd/system"};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		_strv_ char **names = NULL;

		if (host_try_list(e->ctx, &names, "%s", dirs[i]) < 0)
			continue;
		for (size_t k = 0; names[k]; k++)
			if (fnmatch("*.service", names[k], 0) == 0)
				look_at_unit(e, dirs[i], names[k]);
	}
}

static void check_creators(struct check_ctx *e)
{
	_free_ char *text = NULL;
	char *save = NULL;

	check_places(e);
	check_scripts(e);
	if (host_try_read(e->ctx, &text, "/proc/cmdline") < 0)
		return;
	for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		if (creates(word, (const char *const[]){".max_vfs=", NULL}))
			found(e, "", "/proc/cmdline has %s", word);
}

const struct check creator_checks[] = {
	{"link-files", VFCTL_WARNING, "systemd creates or configures VFs as well",
		"a .link or .network file, or a drop-in, has an [SR-IOV] section: at boot both change the "
		"same PF", "keep one owner: move the settings to host.yaml (vfctl "
		"export prints them) and remove the section", check_places},
	{"netplan", VFCTL_WARNING, "netplan creates VFs as well", NULL,
		"keep one owner: move the settings "
		"to host.yaml (vfctl export prints them) and remove the key", check_places},
	{"vf-creators", VFCTL_WARNING, "another program creates or configures VFs as well",
		"NetworkManager, a udev rule, a script or a module parameter sets the number of VFs at boot",
		"keep one owner: move the settings to host.yaml (vfctl export prints them) and remove the "
		"setting from that file", check_creators},
	{.name = NULL},
};
