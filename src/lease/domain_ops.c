// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations of a guest's change in libvirt: domains, their definitions and devices. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "lease/ops.h"
#include "types/find.h"

#define DEFINED "defined"
#define PLUGGED "plugged"

/* Only a text's first word or line is compared; the rest is needed to carry it out. */
static bool begins_with(const char *text, const char *observed, const char *ends)
{
	size_t len = strcspn(text, ends);

	return len == strlen(observed) && !strncmp(text, observed, len);
}

static int domain_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = op_ask_domain(ctx, op, true, &info);
	bool defined = r == 1 && info.persistent;

	return r < 0 ? r : op_say(ctx, defined ? DEFINED : "", ret);
}

static bool same_domain(const char *text, const char *observed)
{
	return !text[0] == !observed[0];
}

static int define_one(struct vfctl_ctx *ctx, const struct op *op)
{
	return ctx->hypervisor->define(ctx, ctx->hypervisor, op->want);
}

/* 1: libvirt has it, and it is off; 0: libvirt does not have it. */
static int find_off(struct vfctl_ctx *ctx, const struct op *op)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = op_ask_domain(ctx, op, true, &info);

	if (r == 1 && info.active)
		r = ctx_fail(ctx, -EBUSY, "domain %s is now running, so it stays", info.name);
	return r;
}

static int undefine_one(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = find_off(ctx, op);

	return r == 1 ? ctx->hypervisor->undefine(ctx, ctx->hypervisor, op->target, 0) : r;
}

static int check_off(struct vfctl_ctx *ctx, const struct op *op)
{
	int r = find_off(ctx, op);

	return r < 0 ? r : 0;
}

static const struct {
	unsigned bit;
	const char *word;
} drops[] = {{VFCTL_DROP_NVRAM, " nvram"}, {VFCTL_DROP_MANAGED_SAVE, " managed-save"},
	{VFCTL_DROP_SNAPSHOTS, " snapshots"}};

char *domain_drops(unsigned drop)
{
	_buf_ struct buf text = {0};

	buf_puts(&text, DEFINED);
	for (size_t i = 0; i < ARRAY_SIZE(drops); i++)
		if (drop & drops[i].bit)
			buf_puts(&text, drops[i].word);
	return text.failed ? NULL : buf_steal(&text);
}

static int undefine_for_good(struct vfctl_ctx *ctx, const struct op *op)
{
	unsigned drop = 0;

	for (size_t i = 0; i < ARRAY_SIZE(drops); i++)
		if (strstr(op->before, drops[i].word))
			drop |= drops[i].bit;
	return ctx->hypervisor->undefine(ctx, ctx->hypervisor, op->target, drop);
}

static int by_address(const void *a, const void *b)
{
	return vfctl_bdf_compare(a, b);
}

int domain_devices(struct vfctl_ctx *ctx, const char *xml, char **ret_text)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_free_ struct vfctl_bdf *all = NULL;
	_buf_ struct buf text = {0};
	char name[VFCTL_BDF_TEXT];
	size_t n = 0;
	int r = intent ? vfctl_domain_intent_read(ctx, xml, strlen(xml), false, intent)
		       : ctx_oom(ctx);

	/* Another program changed vfctl's metadata: the devices themselves are still compared. */
	if (r == -EINVAL)
		r = vfctl_domain_intent_read(ctx, xml, strlen(xml), true, intent);
	if (r < 0)
		return r;
	ctx_clear(ctx);
	all = calloc(intent->device_count + intent->vf_count + 1, sizeof(*all));
	if (!all)
		return ctx_oom(ctx);
	for (size_t i = 0; i < intent->device_count; i++)
		all[n++] = intent->devices[i].bdf;
	for (size_t i = 0; i < intent->vf_count; i++)
		if (!vfctl_domain_intent_device(intent, &intent->vfs[i].bdf))
			all[n++] = intent->vfs[i].bdf;
	qsort(all, n, sizeof(*all), by_address);
	buf_puts(&text, "");
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%s%s%s", i ? " " : "",
			vfctl_domain_intent_device(intent, &all[i]) ? "" : "no:",
			vfctl_bdf_format(&all[i], name),
			find_intent_vf(intent, &all[i]) ? "*" : "");
	if (text.failed)
		return ctx_oom(ctx);
	*ret_text = buf_steal(&text);
	return 0;
}

static int definition_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = op_ask_domain(ctx, op, true, &info);

	if (r == 1)
		r = domain_devices(ctx, info.xml, ret);
	else if (r == 0)
		r = op_say(ctx, "", ret);
	return r;
}

/* Compare the devices and what was recorded of each. */
static bool same_definition(const char *text, const char *observed)
{
	return begins_with(text, observed, "\n");
}

static int define_with(struct vfctl_ctx *ctx, const struct op *op)
{
	const char *xml = strchr(op->want, '\n');

	return xml ? ctx->hypervisor->define(ctx, ctx->hypervisor, xml + 1)
		   : ctx_fail(ctx, -EBADMSG, "a recorded definition of domain %s has no XML", op->target);
}

int definition_take_back(struct vfctl_ctx *ctx, const struct vfctl_domain_info *now,
	const char *before,
	const char *written, bool look_only)
{
	_free_ char *xml = NULL;
	bool others;
	int r = domain_take_back(ctx, before, written, now->xml, &xml, &others);

	if (r < 0 || !xml)
		return r;
	if (others)
		log_warn(ctx, "another program changed the definition of domain %s meanwhile: its "
			"change stays, and vfctl rolls back only its own changes of the VFs", now->name);
	return look_only ? 0 : ctx->hypervisor->define(ctx, ctx->hypervisor, xml);
}

/* A domain that was undefined since is not defined again. */
static int restore_definition(struct vfctl_ctx *ctx, const struct op *op, bool look_only)
{
	const char *written = strchr(op->want, '\n');
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = op_ask_domain(ctx, op, true, &info);

	if (r == 1 && info.persistent)
		r = written ? definition_take_back(ctx, &info, op->before, written + 1, look_only)
			    : ctx_fail(ctx, -EBADMSG, "a recorded definition of domain %s has no "
			    	"XML", op->target);
	return r < 0 ? r : 0;
}

static int take_back_definition(struct vfctl_ctx *ctx, const struct op *op)
{
	return restore_definition(ctx, op, false);
}

static int check_definition(struct vfctl_ctx *ctx, const struct op *op)
{
	return restore_definition(ctx, op, true);
}

static int plugged_text(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	char uuid[VFCTL_UUID_TEXT];
	bool plugged = false;
	struct vfctl_bdf vf;
	int r = intent ? op_vf(ctx, op, uuid, &vf) : ctx_oom(ctx);

	if (r == 0)
		r = op_ask_domain(ctx, op, false, &info);
	if (r == 1 && info.active)
		r = vfctl_domain_intent_read(ctx, info.xml, strlen(info.xml), true, intent);
	if (r >= 0)
		plugged = vfctl_domain_intent_device(intent, &vf);
	return r < 0 ? r : op_say(ctx, plugged ? PLUGGED : "", ret);
}

/* The empty text would match too. */
static bool same_plugged(const char *text, const char *observed)
{
	return begins_with(text, observed, " \n");
}

/* "plugged\nXML", and for a removal "plugged MILLISECONDS\nXML". */
static int plug(struct vfctl_ctx *ctx, const struct op *op)
{
	struct vfctl_hypervisor *hv = ctx->hypervisor;
	const char *xml = strchr(op->want[0] ? op->want : op->before, '\n');
	char uuid[VFCTL_UUID_TEXT];
	uint32_t timeout_ms = 0;

	op_uuid(op, uuid);
	if (!xml)
		return ctx_fail(ctx, -EBADMSG, "a device of domain %s has no XML", uuid);
	if (op->want[0])
		return hv->attach(ctx, hv, uuid, xml + 1, VFCTL_AFFECT_LIVE);
	sscanf(op->before, PLUGGED " %u", &timeout_ms);
	return hv->detach(ctx, hv, uuid, xml + 1, VFCTL_AFFECT_LIVE, timeout_ms);
}

OP_ONE_BY_ONE(domain, domain_text, define_one, undefine_one)
const struct op_type op_domain = {.name = "domain", OP_CALLS(domain), .asks_libvirt = true,
	.check_revert = check_off, .same = same_domain};
OP_ONE_BY_ONE(undomain, domain_text, undefine_for_good, NULL)
const struct op_type op_undefine = {.name = "undomain", OP_CALLS(undomain), .nature = OP_COMMIT,
	.asks_libvirt = true, .same = same_domain};
OP_ONE_BY_ONE(definition, definition_text, define_with, take_back_definition)
const struct op_type op_definition = {.name = "definition", OP_CALLS(definition),
	.asks_libvirt = true, .check_revert = check_definition, .same = same_definition};
OP_ONE_BY_ONE(plugged, plugged_text, plug, NULL)
const struct op_type op_plugged = {.name = "plugged", OP_CALLS(plugged), .nature = OP_COMMIT,
	.lost_on_reboot = true, .asks_libvirt = true, .same = same_plugged};
