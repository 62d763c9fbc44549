// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/dl.h"

#include <dlfcn.h>
#include <errno.h>

int dl_bind(struct vfctl_ctx *ctx, const char *soname, const struct dl_symbol *symbols,
	size_t count)
{
	void *library;

	if (count && *symbols[count - 1].slot)
		return 0;
	library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return ctx_fail(ctx, -ENOPKG, "cannot load %s (%s); install the package that "
					      "holds it", soname, dlerror());
	for (size_t i = 0; i < count; i++) {
		*symbols[i].slot = dlsym(library, symbols[i].name);
		if (!*symbols[i].slot) {
			*symbols[count - 1].slot = NULL;
			dlclose(library);
			return ctx_fail(ctx, -ENOPKG, "%s has no %s; a newer version is needed",
				soname, symbols[i].name);
		}
	}
	dlclose(library);
	return 0;
}
