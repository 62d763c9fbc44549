/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_DL_H
#define VFCTL_BASE_DL_H

#include "base/ctx.h"

/*
 * Heavy libraries (libvirt alone costs 17 ms to load) are bound at first use, so that
 * `vfctl list` and the hook pay only for what they call. The one file that includes
 * a library's header declares what it calls and binds it:
 *
 *	#define SYMBOLS(each) each(xmlReadMemory) each(xmlFreeDoc) ...
 *	DL_SYMBOLS(symbols, SYMBOLS);
 *	r = dl_bind(ctx, SONAME_XML2, symbols, ARRAY_SIZE(symbols));
 *	doc = sym_xmlReadMemory(...);
 *
 * The types come from the header, so a wrong call does not compile. The soname comes from
 * base/sonames.h, which cmake/sonames.cmake makes from the library that belongs to the header.
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
 * Load @soname (once; it stays loaded) and fill the slots. Binding twice is cheap.
 * -ENOPKG, naming the library and what needs it, when it is not installed or too old.
 */
int dl_bind(struct vfctl_ctx *ctx, const char *soname, const struct dl_symbol *symbols,
	size_t count);

#endif
