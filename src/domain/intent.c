// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/parse.h"
#include "domain/domain.h"

enum { GIVEN_PF = 1, GIVEN_INDEX = 2, GIVEN_BDF = 4, GIVEN_ALL = 7 };

static const char *const forms[] = {"auto", "interface", "hostdev"};
static const char *const types[] = {"ethernet", "infiniband"};

const char *form_name(enum vfctl_vf_form form)
{
	return (unsigned)form < ARRAY_SIZE(forms) ? forms[form] : "unknown";
}

bool lease_id_valid(const char *id)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789-_.:";
	size_t len = strlen(id);

	return len > 0 && len <= VFCTL_LEASE_ID_MAX && strspn(id, allowed) == len;
}

static bool read_word_of(
	const char *const *message, size_t count, const char *value, unsigned *ret)
{
	for (unsigned i = 0; i < count; i++)
		if (str_eq(message[i], value)) {
			*ret = i;
			return true;
		}
	return false;
}

static int fail_value(struct vfctl_ctx *ctx, const char *name, const char *value)
{
	return ctx_fail(ctx, -EINVAL,
		"%s: '%.64s' is not allowed; define the guest again with vfctl", name,
		value);
}

int intent_vf_attr(struct vfctl_ctx *ctx, struct vfctl_domain_vf *vf, uint32_t *given,
	const char *name, const char *value)
{
	bool ok = true;
	uint32_t place; /* place on the host: for vfctl_domain_placement() */
	unsigned word = 0;
	int r;

	if (str_eq(name, "pf")) {
		ok = vfctl_bdf_parse(value, &vf->pf) == 0;
		*given |= GIVEN_PF;
	} else if (str_eq(name, "bdf")) {
		ok = vfctl_bdf_parse(value, &vf->bdf) == 0;
		*given |= GIVEN_BDF;
	} else if (str_eq(name, "index")) {
		ok = parse_u32(value, 0, UINT16_MAX, &vf->index) == 0;
		*given |= GIVEN_INDEX;
	} else if (str_eq(name, "node")) {
		ok = parse_u32(value, 0, VFCTL_CPU_MAX - 1, &place) == 0;
	} else if (str_eq(name, "root")) {
		ok = root_parse(value, &place) == 0;
	} else if (str_eq(name, "form")) {
		ok = read_word_of(forms, ARRAY_SIZE(forms), value, &word);
		vf->form = (enum vfctl_vf_form)word;
	} else if (str_eq(name, "type")) {
		ok = read_word_of(types, ARRAY_SIZE(types), value, &word);
		vf->infiniband = word;
	} else {
		r = vfctl_vf_attrs_parse(ctx, name, value, &vf->attrs);
		return r < 0 ? -EINVAL : 0;
	}
	return ok ? 0 : fail_value(ctx, name, value);
}

int intent_vf_check(
	struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vf, uint32_t given)
{
	if (given != GIVEN_ALL)
		return ctx_fail(ctx, -EINVAL,
			"a VF lacks its %s; define the guest again with vfctl",
			!(given & GIVEN_PF)    ? "pf"
			: !(given & GIVEN_BDF) ? "bdf"
					       : "index");
	return vfctl_vf_attrs_check(ctx, &vf->attrs);
}

/* "0000:80" as domain << 8 | bus. */
int root_parse(const char *text, uint32_t *ret)
{
	const char *colon = strchr(text, ':');
	char domain[9] = "";
	uint64_t high, low;

	if (!colon || (size_t)(colon - text) >= sizeof(domain))
		return -EINVAL;
	memcpy(domain, text, (size_t)(colon - text));
	if (parse_hex(domain, UINT32_MAX >> 8, &high) < 0 ||
		parse_hex(colon + 1, 0xff, &low) < 0)
		return -EINVAL;
	*ret = (uint32_t)(high << 8 | low);
	return 0;
}
