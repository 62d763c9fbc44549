// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hook's reader, and the only file that uses expat: expat loads in a fifteenth of the time of
 * libxml2, and stores nothing of the elements that it has passed.
 */
#include <ctype.h>
#include <errno.h>
#include <expat.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "domain/stream_place.h"
#include "types/find.h"

#define DEPTH_MAX 64 /* libvirt's deepest is about 12, foreign metadata aside */
#define NS_SEPARATOR '|'

struct stream {
	struct vfctl_ctx *ctx;
	XML_Parser parser;
	struct vfctl_domain_intent *intent;
	enum stream_place places[DEPTH_MAX + 1];
	unsigned depth;
	bool has_name, has_uuid, has_intent, has_tuning;
	bool skip_metadata;
	bool lenient; /* a device that cannot be read must not hide the others */
	char *unread; /* lenient: the first error, as text */
	unsigned skipped; /* nesting depth within metadata that is skipped */
	bool is_host_device; /* the current device has a host address */
	struct vfctl_intent_device device; /* its data so far */
	unsigned tags;
	char text[256]; /* text of name or uuid */
	size_t text_len;
	int error; /* negative errno after a failure; its message is set */
};

/* Nothing is read after the first failure. */
static void stop(struct stream *s, int error)
{
	if (s->error)
		return;
	s->error = error;
	XML_StopParser(s->parser, XML_FALSE);
}

/* expat 2.9 deprecates the function whose result has only 32 bits on some machines. */
static unsigned long line_of(XML_Parser parser)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION > 8
	return (unsigned long)XML_GetCurrentLineNumber64(parser);
#else
	return (unsigned long)XML_GetCurrentLineNumber(parser);
#endif
}

static void stop_at(struct stream *s, int error, const char *message)
{
	if (!s->error)
		stop(s, ctx_fail(s->ctx, error, "domain XML, line %lu: %s",
				line_of(s->parser), message));
}

static void odd_device(struct stream *s, int error, const char *message)
{
	if (!s->lenient)
		stop_at(s, error, message);
	else if (!s->unread)
		s->unread = str_format("domain XML, line %lu: %s", line_of(s->parser), message);
}

static void begin_guest(struct stream *s, const XML_Char **attrs)
{
	const char *lease = stream_attr(attrs, "lease");

	if (s->has_intent)
		stop_at(s, -EINVAL,
			"a second vfctl element in <metadata>; define the guest again "
			"with vfctl");
	else if (!lease || !lease_id_valid(lease))
		stop_at(s, -EINVAL,
			"the vfctl element in <metadata> has no valid lease; define the "
			"guest again with vfctl");
	else
		s->has_intent =
			str_copy(s->intent->lease_id, sizeof(s->intent->lease_id), lease);
}

static void begin_vf(struct stream *s, const XML_Char **attrs)
{
	struct vfctl_domain_vf vf = {0};
	uint32_t given = 0;
	int r = 0;

	if (s->intent->vf_count == VFCTL_GUEST_VFS_MAX) {
		stop_at(s, -E2BIG, "more than 64 VFs in the vfctl element of <metadata>");
		return;
	}
	for (; r == 0 && attrs[0]; attrs += 2)
		if (!strchr(attrs[0], NS_SEPARATOR))
			r = intent_vf_attr(s->ctx, &vf, &given, attrs[0], attrs[1]);
	if (r == 0)
		r = intent_vf_check(s->ctx, &vf, given);
	if (r < 0)
		stop(s, ctx_prefix(s->ctx, r, "domain XML, line %lu: vfctl's intent",
				line_of(s->parser)));
	else if (find_intent_vf(s->intent, &vf.bdf))
		stop_at(s, -EINVAL,
			"a VF is listed twice in the vfctl element of <metadata>");
	else
		s->intent->vfs[s->intent->vf_count++] = vf;
}

/*
 * Accept only names and numbers within limits, or ignore all: no start fails because of its tuning.
 */
static void begin_tuning(struct stream *s, const XML_Char **attrs)
{
	struct vfctl_guest_tuning tuning = {0};
	bool ok = !s->has_tuning;

	for (; ok && attrs[0]; attrs += 2)
		if (!strchr(attrs[0], NS_SEPARATOR))
			ok = tuning_attr(&tuning, attrs[0], attrs[1]);
	s->has_tuning = true;
	s->intent->tuning_damaged |= !ok;
	s->intent->tuning = s->intent->tuning_damaged ? (struct vfctl_guest_tuning){0} : tuning;
}

/* In the form "0-3,8", as libvirt writes it. */
static void begin_emulator_pin(struct stream *s, const XML_Char **attrs)
{
	const char *list = stream_attr(attrs, "cpuset");
	struct vfctl_cpuset cpus;

	if (list && vfctl_cpuset_parse(list, &cpus) == 0)
		s->intent->emulator_cpus = cpus;
}

static int read_field(
	const XML_Char **attrs, const char *name, uint64_t max, uint64_t *ret)
{
	const char *text = stream_attr(attrs, name);

	*ret = 0;
	return text ? parse_any_base(text, max, ret) : 0;
}

static void begin_device(struct stream *s, bool interface)
{
	s->device = (struct vfctl_intent_device){.interface = interface};
	s->is_host_device = false;
	s->tags = 0;
}

static void end_device(struct stream *s)
{
	if (!s->is_host_device)
		return;
	s->is_host_device = false;
	if (s->intent->device_count == VFCTL_DOMAIN_DEVICES_MAX)
		odd_device(s, -E2BIG, "more than 4096 host devices");
	else
		s->intent->devices[s->intent->device_count++] = s->device;
}

static void begin_address(struct stream *s, const XML_Char **attrs)
{
	uint64_t domain, bus, slot, function;

	if (read_field(attrs, "domain", UINT32_MAX, &domain) < 0 ||
		read_field(attrs, "bus", 255, &bus) < 0 ||
		read_field(attrs, "slot", 31, &slot) < 0 ||
		read_field(attrs, "function", 7, &function) < 0) {
		odd_device(s, -EINVAL, "the PCI address of a host device is not valid");
		return;
	}
	end_device(s); /* each layer of a disk may have one */
	s->device.bdf = (struct vfctl_bdf){
		.domain = (uint32_t)domain,
		.bus = (uint8_t)bus,
		.slot = (uint8_t)slot,
		.function = (uint8_t)function,
	};
	s->device.line = (unsigned)line_of(s->parser);
	s->is_host_device = true;
}

/* ---- devices that are named in another way ---- */

static struct vfctl_reference *add_reference(struct stream *s, enum vfctl_reference_form form)
{
	struct vfctl_reference *ref;

	if (s->intent->reference_count == VFCTL_REFERENCES_MAX) {
		odd_device(s, -E2BIG, "more than 64 interfaces on networks, macvtap and vDPA devices");
		return NULL;
	}
	ref = &s->intent->references[s->intent->reference_count++];
	*ref = (struct vfctl_reference){.form = form, .line = (unsigned)line_of(s->parser)};
	return ref;
}

static bool has_name(const struct stream *s, enum vfctl_reference_form form, const char *name)
{
	for (size_t i = 0; i < s->intent->reference_count; i++)
		if (s->intent->references[i].form == form &&
			str_eq(s->intent->references[i].name, name))
			return true;
	return false;
}

/* A name that is too long is not one of libvirt's or the kernel's. */
static void add_name(struct stream *s, enum vfctl_reference_form form, const char *name)
{
	struct vfctl_reference *ref = name && !has_name(s, form, name) ? add_reference(s, form) : NULL;

	if (ref && !str_copy(ref->name, sizeof(ref->name), name))
		s->intent->reference_count--;
}

static void begin_reference(struct stream *s, enum stream_place interface, const XML_Char **attrs)
{
	if (interface == NETWORK_INTERFACE)
		add_name(s, VFCTL_REFERENCE_NETWORK, stream_attr(attrs, "network"));
	else
		add_name(s, interface == VDPA_INTERFACE ? VFCTL_REFERENCE_VDPA
			: VFCTL_REFERENCE_MACVTAP, stream_attr(attrs, "dev"));
}

static void begin_qemu_arg(struct stream *s, const char *value)
{
	struct qemu_device device = {0};
	int found = value ? qemu_arg_device(value, &device) : 0;
	struct vfctl_reference *ref;

	if (found < 0)
		odd_device(s, -EINVAL, "the host device in <qemu:arg> cannot be read");
	else if (found && device.path[0])
		add_name(s, VFCTL_REFERENCE_VDPA, device.path);
	else if (found && (ref = add_reference(s, VFCTL_REFERENCE_QEMU)))
		ref->bdf = device.bdf;
}

/* Values that libvirt will set on the VF by itself, after the hook. */
static void begin_mac(struct stream *s, const XML_Char **attrs)
{
	const char *text = stream_attr(attrs, "address");

	s->device.has_mac = text && vfctl_mac_parse(text, &s->device.mac) == 0;
}

static void begin_tag(struct stream *s, const XML_Char **attrs)
{
	uint64_t id;

	if (read_field(attrs, "id", UINT16_MAX, &id) < 0 || s->tags++)
		id = VFCTL_INTENT_VLAN_ODD; /* a trunk, or not a number: not one that vfctl writes */
	s->device.vlan = (uint16_t)id;
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attrs)
{
	struct stream *s = data;
	enum stream_place place;

	if (s->error)
		return;
	if (s->skipped) {
		s->skipped++;
		return;
	}
	if (s->depth == DEPTH_MAX) {
		stop_at(s, -EINVAL, "elements are nested too deeply");
		return;
	}
	if (s->depth == 0 && !str_eq(name, "domain")) {
		stop_at(s, -EINVAL, "the root is not <domain>; is it the right file?");
		return;
	}
	place = s->depth == 0 ? DOMAIN : stream_place(s->places[s->depth - 1], name, attrs);
	if (s->skip_metadata && place == METADATA) {
		s->skipped = 1;
		return;
	}
	if (s->depth && s->places[s->depth - 1] == DEVICES)
		begin_device(s, str_eq(name, "interface"));
	s->places[s->depth++] = place;
	s->text_len = 0;
	if (place == OUR_GUEST)
		begin_guest(s, attrs);
	else if (place == OUR_VF)
		begin_vf(s, attrs);
	else if (place == OUR_TUNING)
		begin_tuning(s, attrs);
	else if (place == EMULATOR_PIN)
		begin_emulator_pin(s, attrs);
	else if (place == SOURCE_ADDRESS)
		begin_address(s, attrs);
	else if (place == MAC)
		begin_mac(s, attrs);
	else if (place == TAG)
		begin_tag(s, attrs);
	else if (place == REFERENCE_SOURCE)
		begin_reference(s, s->places[s->depth - 2], attrs);
	else if (place == QEMU_ARG)
		begin_qemu_arg(s, stream_attr(attrs, "value"));
}

static void XMLCALL on_text(void *data, const XML_Char *text, int len)
{
	struct stream *s = data;
	enum stream_place place = s->depth ? s->places[s->depth - 1] : ELSEWHERE;

	if (s->error || (place != NAME && place != UUID))
		return;
	/* A reader that looks only for devices does not stop at a name. */
	if (s->skip_metadata && (size_t)len >= sizeof(s->text) - s->text_len)
		len = (int)(sizeof(s->text) - s->text_len - 1);
	if ((size_t)len >= sizeof(s->text) - s->text_len) {
		stop_at(s, -EINVAL, "the name or UUID of the domain is too long");
		return;
	}
	memcpy(s->text + s->text_len, text, (size_t)len);
	s->text_len += (size_t)len;
}

static void end_uuid(struct stream *s)
{
	if (s->has_uuid || !uuid_valid(s->text) ||
		!str_copy(s->intent->uuid, sizeof(s->intent->uuid), s->text)) {
		stop_at(s, -EINVAL, "the UUID of the domain is not valid, or given twice");
		return;
	}
	for (char *c = s->intent->uuid; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	s->has_uuid = true;
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct stream *s = data;
	enum stream_place place;

	if (s->skipped) {
		s->skipped--;
		return;
	}
	if (s->error || !s->depth)
		return;
	place = s->places[--s->depth];
	if (s->depth && s->places[s->depth - 1] == DEVICES)
		end_device(s);
	s->text[s->text_len] = '\0';
	if (place == UUID)
		end_uuid(s);
	if (place != NAME)
		return;
	if (s->has_name || !s->text_len)
		stop_at(s, -EINVAL, "the domain's name is empty, or given twice");
	s->has_name = str_copy(s->intent->name, sizeof(s->intent->name), s->text);
}

static void XMLCALL on_doctype(void *data, const XML_Char *name,
	const XML_Char *system_id, const XML_Char *public_id, int has_subset)
{
	stop_at(data, -EINVAL,
		"a DOCTYPE is not allowed (it could declare entities); libvirt "
		"never writes one");
}

static int run(struct stream *s, const char *xml, size_t len)
{
	/* In one piece: expat scans an incomplete token again with each piece. */
	enum XML_Status status = XML_Parse(s->parser, xml, (int)len, XML_TRUE);

	if (s->error)
		return s->error;
	if (status == XML_STATUS_OK)
		return 0;
	if (XML_GetErrorCode(s->parser) == XML_ERROR_NO_MEMORY)
		return ctx_oom(s->ctx);
	return ctx_fail(s->ctx, -EINVAL, "domain XML, line %lu: %s; it may be truncated",
		line_of(s->parser), XML_ErrorString(XML_GetErrorCode(s->parser)));
}

static int parse_stream(struct stream *s, const char *xml, size_t len)
{
	int r;

	s->parser = XML_ParserCreateNS(NULL, NS_SEPARATOR);
	if (!s->parser)
		return ctx_oom(s->ctx);
	XML_SetUserData(s->parser, s);
	XML_SetElementHandler(s->parser, on_start, on_end);
	XML_SetCharacterDataHandler(s->parser, on_text);
	XML_SetStartDoctypeDeclHandler(s->parser, on_doctype);
	r = run(s, xml, len);
	XML_ParserFree(s->parser);
	return r;
}

/* Most entries for devices are unused. */
static void copy_intent(struct vfctl_domain_intent *to, const struct vfctl_domain_intent *from)
{
	memcpy(to, from, offsetof(struct vfctl_domain_intent, devices));
	memcpy(to->devices, from->devices, from->device_count * sizeof(from->devices[0]));
	to->device_count = from->device_count;
}

int vfctl_domain_intent_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	bool skip_metadata, struct vfctl_domain_intent *ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct stream s = {.ctx = ctx, .intent = intent, .skip_metadata = skip_metadata};
	int r;

	if (!intent)
		return ctx_oom(ctx);
	if (len > VFCTL_DOMAIN_STREAM_MAX)
		return ctx_fail(ctx, -E2BIG, "domain XML: it has %zu bytes, more than %d",
			len, VFCTL_DOMAIN_STREAM_MAX);
	r = parse_stream(&s, xml, len);
	if (r < 0)
		return r;
	if (!s.has_name && s.has_intent)
		return ctx_fail(ctx, -EINVAL, "domain XML: the domain has no name");
	copy_intent(ret, intent);
	return 0;
}

static int read_devices_known(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *intent, char **ret_unread)
{
	struct stream s = {.ctx = ctx, .intent = intent, .skip_metadata = true, .lenient = true};
	int r = parse_stream(&s, xml, len < VFCTL_DOMAIN_STREAM_MAX ? len : VFCTL_DOMAIN_STREAM_MAX);

	if (r < 0 && r != -ENOMEM) {
		free(s.unread);
		s.unread = strdup(vfctl_ctx_error(ctx));
		r = s.unread ? 0 : ctx_oom(ctx);
		ctx_clear(ctx);
	}
	if (r < 0)
		free(s.unread);
	else
		*ret_unread = s.unread;
	return r;
}

int domain_intent_read_known(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *ret, char **ret_unread)
{
	_free_ struct vfctl_domain_intent *intent = NULL;
	int r = vfctl_domain_intent_read(ctx, xml, len, false, ret);

	*ret_unread = NULL;
	if (r == 0 || r == -ENOMEM)
		return r;
	ctx_clear(ctx);
	intent = calloc(1, sizeof(*intent));
	r = intent ? read_devices_known(ctx, xml, len, intent, ret_unread) : ctx_oom(ctx);
	if (r == 0)
		copy_intent(ret, intent);
	return r;
}

int vfctl_domain_metadata_read(struct vfctl_ctx *ctx, const char *xml, size_t len,
	struct vfctl_domain_intent *ret)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	int r = intent ? vfctl_domain_intent_read(ctx, xml, len, false, intent) : ctx_oom(ctx);

	if (r == 0 && !intent->lease_id[0])
		return ctx_fail(ctx, -ENOENT, "domain XML: it has no vfctl metadata");
	if (r == 0)
		copy_intent(ret, intent);
	return r;
}
