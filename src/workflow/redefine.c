// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest whose domain is there already: is it as its file asks, and if not, what differs? */
#include "workflow/redefine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/vfattr.h"
#include "domain/domain.h"
#include "sriov/inventory.h"
#include "workflow/guest.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define DIFFERENCES_MAX 4
#define TEMPLATE_TEXT "template text"

struct compared {
	const struct vfctl_guest *guest;
	const struct vfctl_lease *lease;
	const struct vfctl_inventory *inv;
	struct vfctl_domain_intent intent;
	bool was_said; /* when it was defined is known */
	struct buf words; /* what differs */
	size_t count;
};

static void compared_free(struct compared **c)
{
	if (*c)
		buf_free(&(*c)->words);
	free(*c);
}

static void view_freep(struct vfctl_domain_view **view)
{
	vfctl_domain_view_free(*view);
}

static void _printf_(2, 3) differ(struct compared *c, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		c->words.failed = true;
	} else if (c->count++ < DIFFERENCES_MAX) {
		buf_printf(&c->words, "%s%s", c->words.len ? "; " : "", text);
	}
}

/* ---- what was said ---- */

char *guest_said(const struct vfctl_guest *guest, const char *template_text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = template_text; p && *p; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3); /* FNV-1a */
	return guest->said && template_text
		? str_format("%s" TEMPLATE_TEXT "=%016" PRIx64 "\n", guest->said, hash)
		: guest->said ? strdup(guest->said) : NULL;
}

/* The value of the line "KEY=VALUE" with this key; libvirt may have indented it. */
static const char *find_value(const char *lines, const char *key, size_t key_len)
{
	while (*lines) {
		lines += strspn(lines, " \t\n");
		if (!strncmp(lines, key, key_len) && lines[key_len] == '=')
			return lines + key_len + 1;
		lines += strcspn(lines, "\n");
	}
	return NULL;
}

static bool is_named(const char *line, size_t len, const char *key)
{
	return len == strlen(key) && !strncmp(line, key, len);
}

static int shown(int len)
{
	return len < 60 ? len : 60;
}

/* @changes false: only what @lines has alone. Whoever defines domains may have written them. */
static void compare_lines(struct compared *c, const char *lines, const char *others, bool changes)
{
	for (int len; *(lines += strspn(lines, " \t\n")); lines += len) {
		int key = (int)strcspn(lines, "=\n"), value_len, other_len;
		const char *value = lines + key + 1, *other = find_value(others, lines, (size_t)key);

		len = (int)strcspn(lines, "\n");
		value_len = len - key - 1;
		if (key == len || is_named(lines, (size_t)key, "name") ||
			is_named(lines, (size_t)key, "uuid"))
			continue; /* compare_names() */
		other_len = other ? (int)strcspn(other, "\n") : 0;
		if (other && (!changes ||
			(value_len == other_len && !memcmp(value, other, (size_t)other_len))))
			continue;
		if (is_named(lines, (size_t)key, TEMPLATE_TEXT))
			differ(c, "the text of its template is another");
		else if (!other)
			differ(c, changes ? "%.*s is %.*s, and was not given" : "%.*s is not given, and "
				"was %.*s", key, lines, shown(value_len), value);
		else
			differ(c, "%.*s is %.*s, and was %.*s", key, lines, shown(value_len), value,
				shown(other_len), other);
	}
}

/* ---- what there is ---- */

/* May @vf be one of those that @want asks for? */
static bool fits(struct vfctl_ctx *ctx, const struct compared *c,
	const struct vfctl_guest_vf *want, const struct vfctl_domain_vf *have)
{
	const struct vfctl_pf *pf, *asked;
	struct vfctl_domain_vf as_asked;
	const struct vfctl_vf *vf;

	if (vfctl_inventory_find_vf(ctx, c->inv, TEXT(&have->bdf), &pf, &vf) < 0 ||
		(want->pf && (vfctl_inventory_find_pf(ctx, c->inv, want->pf, &asked) < 0 || asked != pf)))
		return false;
	guest_complete_vf(pf, vf, &want->attrs, want->form, &as_asked);
	return !(as_asked.attrs.mask & ~attrs_equal(&as_asked.attrs, &have->attrs));
}

/* Which VF each entry of the file has, and the reverse: a matching, as entries may overlap. */
struct matching {
	bool fits[VFCTL_GUEST_VFS_MAX][VFCTL_GUEST_VFS_MAX];
	bool tried[VFCTL_GUEST_VFS_MAX];
	int entry_of[VFCTL_GUEST_VFS_MAX]; /* of a VF; -1 none */
	size_t vf_count;
};

static bool find_one(struct matching *m, int entry)
{
	for (size_t i = 0; i < m->vf_count; i++) {
		if (!m->fits[entry][i] || m->tried[i])
			continue;
		m->tried[i] = true;
		if (m->entry_of[i] < 0 || find_one(m, m->entry_of[i])) {
			m->entry_of[i] = entry;
			return true;
		}
	}
	return false;
}

static bool is_leased(const struct compared *c, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < c->lease->vf_count; i++)
		if (vfctl_bdf_compare(&c->lease->vfs[i].bdf, vf) == 0)
			return true;
	return false;
}

static void compare_vfs(struct vfctl_ctx *ctx, struct compared *c, struct matching *m)
{
	int entry = 0;

	m->vf_count = c->intent.vf_count;
	memset(m->entry_of, 0xff, sizeof(m->entry_of));
	for (size_t i = 0; i < c->guest->vf_count; i++)
		for (uint32_t n = 0; n < c->guest->vfs[i].count && entry < VFCTL_GUEST_VFS_MAX; n++) {
			for (size_t k = 0; k < m->vf_count; k++)
				m->fits[entry][k] = fits(ctx, c, &c->guest->vfs[i], &c->intent.vfs[k]);
			memset(m->tried, 0, sizeof(m->tried));
			if (!find_one(m, entry++))
				differ(c, "it has no VF as vfs[%zu] asks for", i);
		}
	for (size_t i = 0; i < m->vf_count; i++) {
		const struct vfctl_bdf *vf = &c->intent.vfs[i].bdf;

		if (m->entry_of[i] < 0)
			differ(c, "it has VF %s, which the file does not ask for", TEXT(vf));
		else if (!vfctl_domain_intent_device(&c->intent, vf))
			differ(c, "VF %s is not among its devices", TEXT(vf));
		else if (!is_leased(c, vf))
			differ(c, "VF %s is not leased to it", TEXT(vf));
	}
	ctx_clear(ctx);
}

static int compare_domain(struct vfctl_ctx *ctx, struct compared *c, const char *xml)
{
	_cleanup_(view_freep) struct vfctl_domain_view *view = NULL;
	_free_ struct matching *m = calloc(1, sizeof(*m));
	uint64_t asked;
	int r = m ? vfctl_domain_read(ctx, xml, &view) : ctx_oom(ctx);

	if (r == 0)
		r = vfctl_domain_intent_read(ctx, xml, strlen(xml), false, &c->intent);
	if (r < 0)
		return r;
	if (view->vcpus != c->guest->vcpus)
		differ(c, "it has %" PRIu32 " vCPUs, the file asks for %" PRIu32, view->vcpus,
			c->guest->vcpus);
	/* A lease is in whole pages; what was said is the same by now, or nothing is known of it. */
	asked = c->was_said ? c->lease->memory_bytes : c->guest->memory_bytes;
	if (view->memory_bytes != asked)
		differ(c, "it has %" PRIu64 " MiB of memory, not %" PRIu64, view->memory_bytes >> 20,
			asked >> 20);
	compare_vfs(ctx, c, m);
	return 0;
}

static void compare_names(struct compared *c, const struct vfctl_domain_info *info)
{
	if (!str_eq(c->guest->name, info->name))
		differ(c, "the domain of that UUID is called %s", info->name);
	if (c->guest->uuid && !str_eq(c->guest->uuid, info->uuid))
		differ(c, "its UUID is %s", info->uuid);
}

int guest_compare(struct vfctl_ctx *ctx, const struct vfctl_guest *guest, const char *said,
	const struct vfctl_domain_info *info, const struct vfctl_lease *lease)
{
	_cleanup_(compared_free) struct compared *c = calloc(1, sizeof(*c));
	_inventory_ struct vfctl_inventory *inv = NULL;
	_free_ char *was = NULL;
	int r = c ? vfctl_inventory_read(ctx, NULL, &inv) : ctx_oom(ctx);

	if (r == 0)
		r = metadata_said(ctx, info->xml, &was);
	if (r < 0)
		return r;
	c->guest = guest;
	c->lease = lease;
	c->inv = inv;
	compare_names(c, info);
	c->was_said = was && said;
	if (c->was_said) {
		compare_lines(c, said, was, true);
		compare_lines(c, was, said, false);
	}
	if (!c->was_said)
		log_warn(ctx, "what the file of domain %s said when it was defined is not known: only its "
			"vCPUs, memory and VFs are compared", info->name);
	/* A change of the file says enough. */
	if (!c->count)
		r = compare_domain(ctx, c, info->xml);
	if (r < 0 || c->words.failed)
		return r < 0 ? r : ctx_oom(ctx);
	if (!c->count)
		return ctx_fail(ctx, -EALREADY, "domain %s is defined as its file asks", info->name);
	if (c->count > DIFFERENCES_MAX)
		buf_printf(&c->words, "; and %zu more", c->count - DIFFERENCES_MAX);
	return ctx_fail(ctx, -EEXIST, "libvirt has a domain %s already, and it is not as the file asks: "
		"%s; to define it anew: vfctl undefine %s, then define", info->name, c->words.data,
		info->name);
}
