/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_DL_H
#define VFCTL_BASE_DL_H

#include "base/ctx.h"

/*
 * Heavy libraries (libvirt alone costs 17 ms to load) are loaded at first use, so that `vfctl list`
 * and the hook load only what they call. The only file that includes a library's header declares
 * the functions that it calls and binds them:
 *
 *	#define SYMBOLS(each) each(xmlReadMemory) each(xmlFreeDoc) ...
 *	DL_SYMBOLS(symbols, SYMBOLS);
 *	r = dl_bind(ctx, SONAME_XML2, symbols, ARRAY_SIZE(symbols));
 *	doc = sym_xmlReadMemory(...);
 *
 * The types come from the header, so a wrong call does not compile. The soname comes from
 * base/sonames.h, which cmake/sonames.cmake generates from the library that belongs to the header.
 */
/* clang-format off */
#define DL_FN_(fn) static typeof(&fn) sym_##fn;
#define DL_SYM_(fn) {#fn, (void **)&sym_##fn},
#define DL_SYMBOLS(name, list) \
	list(DL_FN_) \
	static const struct dl_symbol name[] = {list(DL_SYM_)}
/* clang-format on */

struct dl_symbol {
	const char *name;
	void **slot;
};

/*
 * Load @soname (once; it stays loaded) and fill in the function pointers. Binding again is cheap.
 * -ENOPKG if the library is not installed or too old; the message names it and what needs it.
 */
int dl_bind(struct vfctl_ctx *ctx, const char *soname, const struct dl_symbol *symbols,
	size_t count);

#endif
