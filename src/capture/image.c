// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/image.h"

#include <errno.h>

#define LINKS_MAX 40 /* like the kernel's MAXSYMLINKS */

/* ---- creation ---- */

/* Convert "./sys//class/" to "sys/class"; -EINVAL if it is empty or would lead upwards. */
static int clean_path(const char *path, char clean[PATH_MAX])
{
	size_t len = 0;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return -EINVAL;
		if (n && !(n == 1 && path[0] == '.')) {
			if (len + n + 2 > PATH_MAX)
				return -ENAMETOOLONG;
			if (len)
				clean[len++] = '/';
			memcpy(clean + len, path, n);
			len += n;
		}
		path += n + (path[n] == '/');
	}
	clean[len] = '\0';
	return len ? 0 : -EINVAL;
}

int image_add(struct image *im, enum image_kind kind, const char *path, const void *data,
	size_t len)
{
	struct image_entry e = {.kind = kind, .len = len};
	char clean[PATH_MAX];
	int r = clean_path(path, clean);

	if (r < 0)
		return r;
	if (len > IMAGE_FILE_MAX)
		return -EFBIG;
	if (im->count >= IMAGE_ENTRIES_MAX ||
		im->bytes + strlen(clean) + len > IMAGE_BYTES_MAX)
		return -E2BIG;
	e.path = strdup(clean);
	e.data = malloc(len + 1);
	if (!e.path || !e.data || !array_grow(im->v, im->count)) {
		free(e.path);
		free(e.data);
		return -ENOMEM;
	}
	if (len)
		memcpy(e.data, data, len);
	e.data[len] = '\0';
	im->bytes += strlen(clean) + len;
	im->v[im->count++] = e;
	return 0;
}

/* "/" sorts before all other characters, so that a directory is followed by its contents. */
static int rank(char c)
{
	if (c == '/')
		return 1;
	return c ? (unsigned char)c + 1 : 0;
}

/* Compare @path with the first @len characters of @key. */
static int compare_path(const char *path, const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int c = rank(path[i]) - rank(key[i]);

		if (c)
			return c;
	}
	return path[len] ? 1 : 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct image_entry *x = a, *y = b;

	return compare_path(x->path, y->path, strlen(y->path));
}

static void free_entry(struct image_entry *e)
{
	free(e->path);
	free(e->data);
}

/* Merge sort is stable: the last one of equal paths stays the last. */
static void merge(const struct image_entry *a, size_t na, const struct image_entry *b,
	size_t nb, struct image_entry *out)
{
	while (na && nb) {
		bool first = compare_entries(a, b) <= 0;

		*out++ = first ? *a++ : *b++;
		na -= first;
		nb -= !first;
	}
	memcpy(out, na ? a : b, (na + nb) * sizeof(*out));
}

static void drop_older(struct image *im)
{
	size_t kept = 0;

	for (size_t i = 0; i < im->count; i++) {
		if (kept && compare_entries(&im->v[kept - 1], &im->v[i]) == 0)
			free_entry(&im->v[--kept]);
		im->v[kept++] = im->v[i];
	}
	im->count = kept;
}

int image_sort(struct image *im)
{
	struct image_entry *from = im->v, *to;

	if (im->count < 2)
		return 0;
	to = calloc(im->count, sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t run = 1; run < im->count; run *= 2) {
		struct image_entry *swap = from;

		for (size_t at = 0; at < im->count; at += 2 * run) {
			size_t left = im->count - at, na = left < run ? left : run;
			size_t nb = left - na < run ? left - na : run;

			merge(from + at, na, from + at + na, nb, to + at);
		}
		from = to;
		to = swap;
	}
	if (from != im->v) { /* array_grow() knows only the capacity of that array */
		memcpy(im->v, from, im->count * sizeof(*from));
		to = from;
	}
	free(to);
	drop_older(im);
	return 0;
}

void image_descend(struct image *im, const char *dir)
{
	size_t skip = strlen(dir) + 1, kept = 0;

	for (size_t i = 0; i < im->count; i++) {
		struct image_entry e = im->v[i];

		if (strncmp(e.path, dir, skip - 1) == 0 && e.path[skip - 1] == '/') {
			memmove(e.path, e.path + skip, strlen(e.path + skip) + 1);
			im->v[kept++] = e;
		} else {
			free_entry(&e);
		}
	}
	im->count = kept;
}

void image_clear(struct image *im)
{
	for (size_t i = 0; i < im->count; i++)
		free_entry(&im->v[i]);
	free(im->v);
	*im = (struct image){0};
}

/* ---- look-up ---- */

/* The first entry whose path is not before the @len characters at @key. */
static size_t lower_bound(const struct image *im, const char *key, size_t len)
{
	size_t low = 0, high = im->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_path(im->v[middle].path, key, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_below(const struct image_entry *e, const char *dir, size_t len)
{
	return strncmp(e->path, dir, len) == 0 && (!len || e->path[len] == '/');
}

/* The kind of the entry at exactly that path; a directory may exist only through its contents. */
static enum image_kind look_image(const struct image *im, const char *path, size_t len,
	const struct image_entry **ret_entry)
{
	size_t at = lower_bound(im, path, len);

	*ret_entry = NULL;
	if (!len)
		return IMAGE_DIR;
	if (at == im->count)
		return IMAGE_NONE;
	if (strlen(im->v[at].path) == len && strncmp(im->v[at].path, path, len) == 0) {
		*ret_entry = &im->v[at];
		return im->v[at].kind;
	}
	return is_below(&im->v[at], path, len) ? IMAGE_DIR : IMAGE_NONE;
}

struct walk {
	const struct image *im;
	char done[PATH_MAX];     /* resolved, without links; a directory while a part remains */
	size_t len;
	char todo[PATH_MAX];     /* the rest of the path */
	unsigned links;
	enum image_kind kind;
	const struct image_entry *entry;
};

static void go_up(struct walk *w)
{
	while (w->len && w->done[--w->len] != '/')
		;
	w->done[w->len] = '\0';
}

/* Insert the target of the link before the rest of the path: 1, start with todo. */
static int enter_link(struct walk *w, const char *rest)
{
	const struct image_entry *link = w->entry;
	size_t more = strlen(rest);

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (!link->len)
		return -ENOENT;
	if (strlen(link->data) != link->len || link->len + more + 1 > PATH_MAX)
		return -ENAMETOOLONG;
	memmove(w->todo + link->len, rest, more + 1); /* it begins with "/", or is empty */
	memcpy(w->todo, link->data, link->len);
	if (link->data[0] == '/')
		w->len = 0;
	else
		go_up(w);
	w->done[w->len] = '\0';
	return 1;
}

/*
 * Follow one component of the path, @n characters long; @rest is the remainder. 1: it was a link.
 */
static int enter(struct walk *w, const char *name, size_t n, const char *rest, bool follow)
{
	if (n == 1 && name[0] == '.')
		return 0;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		go_up(w);
		return 0;
	}
	if (w->len + n + 2 > sizeof(w->done))
		return -ENAMETOOLONG;
	if (w->len)
		w->done[w->len++] = '/';
	memcpy(w->done + w->len, name, n);
	w->len += n;
	w->done[w->len] = '\0';
	w->kind = look_image(w->im, w->done, w->len, &w->entry);
	if (w->kind == IMAGE_NONE)
		return -ENOENT;
	if (w->kind == IMAGE_FILE && *rest)
		return -ENOTDIR;
	return w->kind == IMAGE_LINK && (*rest || follow) ? enter_link(w, rest) : 0;
}

/* Resolve @path; @follow: also a link at its end. */
static int resolve(struct walk *w, const struct image *im, const char *path, bool follow)
{
	w->im = im;
	w->len = 0;
	w->links = 0;
	w->done[0] = '\0';
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(w->todo, path);
	for (char *at = w->todo;;) {
		size_t n;
		int r;

		at += strspn(at, "/");
		if (!*at)
			break;
		n = strcspn(at, "/");
		r = enter(w, at, n, at + n, follow);
		if (r < 0)
			return r;
		at = r ? w->todo : at + n;
	}
	w->kind = look_image(im, w->done, w->len, &w->entry);
	return 0;
}

int image_read(const struct image *im, const char *path, struct buf *ret_text)
{
	struct walk w;
	int r = resolve(&w, im, path, true);

	if (r < 0)
		return r;
	if (w.kind != IMAGE_FILE)
		return -EISDIR;
	buf_add(ret_text, w.entry->data, w.entry->len);
	return ret_text->failed ? -ENOMEM : 0;
}

int image_readlink(const struct image *im, const char *path, char **ret_target)
{
	struct walk w;
	int r = resolve(&w, im, path, false);

	if (r < 0)
		return r;
	if (w.kind != IMAGE_LINK)
		return -EINVAL;
	*ret_target = strdup(w.entry->data);
	return *ret_target ? 0 : -ENOMEM;
}

enum image_kind image_kind_of(const struct image *im, const char *path)
{
	struct walk w;

	return resolve(&w, im, path, true) < 0 ? IMAGE_NONE : w.kind;
}

static int add_name(char ***names, size_t *count, const char *name, size_t len)
{
	if (!array_grow(*names, *count) || !array_grow(*names, *count + 1))
		return -ENOMEM;
	(*names)[*count] = strndup(name, len);
	if (!(*names)[*count])
		return -ENOMEM;
	(*names)[++*count] = NULL;
	return 0;
}

int image_list(const struct image *im, const char *path, char ***ret_names)
{
	_strv_ char **names = NULL;
	size_t count = 0, at, skip;
	struct walk w;
	int r = resolve(&w, im, path, true);

	if (r < 0)
		return r;
	if (w.kind != IMAGE_DIR)
		return -ENOTDIR;
	if (!array_grow(names, 0))
		return -ENOMEM;
	skip = w.len ? w.len + 1 : 0;
	at = lower_bound(im, w.done, w.len);
	while (at < im->count && (strlen(im->v[at].path) <= w.len && w.len))
		at++; /* the directory itself */
	while (at < im->count && is_below(&im->v[at], w.done, w.len)) {
		const char *name = im->v[at].path + skip;
		size_t n = strcspn(name, "/");
		char past[PATH_MAX + 1];

		if (name[0] != '.')
			r = add_name(&names, &count, name, n);
		if (r < 0)
			return r;
		/* Skip everything below that name: "\1" is the first character after "/". */
		memcpy(past, im->v[at].path, skip + n);
		past[skip + n] = '\1';
		at = lower_bound(im, past, skip + n + 1);
	}
	*ret_names = steal(names);
	return 0;
}
