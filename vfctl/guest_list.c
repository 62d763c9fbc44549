// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests in a directory: plan --batch, define --batch. */
#include "guest_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "spec/guest_yaml.h"

#define GUESTS_MAX 1024

void guest_list_clear(struct guest_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		vfctl_guest_free(list->v[i]);
	free(list->v);
	*list = (struct guest_list){0};
}

/* A value that must be unique but that two guests share, as text; NULL: none. */
static const char *shared_value(const struct vfctl_guest *a, const struct vfctl_guest *b,
	char text[VFCTL_GUID_TEXT])
{
	if (a->uuid && b->uuid && strcmp(a->uuid, b->uuid) == 0)
		return a->uuid;
	for (size_t i = 0; i < a->vf_count; i++)
		for (size_t k = 0; k < b->vf_count; k++) {
			const struct vfctl_vf_attrs *x = &a->vfs[i].attrs, *y = &b->vfs[k].attrs;
			uint32_t both = x->mask & y->mask;

			if (both & VFCTL_ATTR_MAC && memcmp(&x->mac, &y->mac, sizeof(x->mac)) == 0)
				return vfctl_mac_format(&x->mac, text);
			if (both & VFCTL_ATTR_PORT_GUID && x->port_guid == y->port_guid)
				return vfctl_guid_format(x->port_guid, text);
		}
	return NULL;
}

static int check_twin(struct invocation *in, const char *path, const struct vfctl_guest *before,
	const struct vfctl_guest *now)
{
	char text[VFCTL_GUID_TEXT];
	const char *value = shared_value(before, now, text);

	if (strcmp(before->name, now->name) == 0)
		return usage(in, "%s: another file of this directory has a guest %s as well; give each "
			"guest its own name", path,
			now->name);
	return value ? usage(in, "%s: guests %s and %s have the same %s; change it in one of them, or "
		"remove it", path, now->name, value, before->name) : 0;
}

/* @name NULL: @path is the file; else @name is a file in the directory @path. */
static int add_file(struct invocation *in, const char *path, const char *dir, const char *name,
	struct guest_list *list)
{
	_cleanup_(vfctl_guest_freep) struct vfctl_guest *guest = NULL;
	struct vfctl_guest **more = realloc(list->v,
		(list->count + 1) * sizeof(*more));
	int r;

	if (!more)
		return fail(in, -ENOMEM);
	list->v = more;
	r = name ? read_guest_in(in, dir, name, &guest) : read_guest(in, path, &guest);
	for (size_t i = 0; i < list->count && r == 0; i++)
		r = check_twin(in, path, list->v[i], guest);
	if (r == 0)
		list->v[list->count++] = steal(guest);
	return r;
}

int guest_list_add(struct invocation *in, const char *path, struct guest_list *list)
{
	return add_file(in, path, NULL, NULL, list);
}

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot &&
		(strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* In the order of their names, so that the same directory gives the same plan. */
int guest_list_read(struct invocation *in, const char *dir, struct guest_list *list)
{
	_free_ struct dirent **entries = NULL;
	int n = scandir(dir, &entries, is_yaml, alphasort), r = 0;
	char path[4096];

	if (n < 0)
		return fail_file(in, dir, errno);
	if (n == 0)
		r = usage(in, "%s holds no *.yaml", dir);
	if (n > GUESTS_MAX)
		r = usage(in, "%s holds %d guests, but at most %d can be planned at once", dir, n,
			GUESTS_MAX);
	for (int i = 0; i < n; i++) {
		_free_ struct dirent *entry = entries[i];

		if (r == 0 && (size_t)snprintf(path, sizeof(path), "%s/%s", dir,
				entry->d_name) >= sizeof(path))
			r = usage(in, "%s: the path is too long", dir);
		if (r == 0)
			r = add_file(in, path, dir, entry->d_name, list);
	}
	return r;
}
