// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "domain/definition.h"
#include "domain/domain.h"

#ifndef VFCTL_TEMPLATE_DIR
#define VFCTL_TEMPLATE_DIR VFCTL_DATADIR "/xml-templates"
#endif

static const char bare[] = "<domain><devices/></domain>";

int vfctl_domain_template_path(
	struct vfctl_ctx *ctx, const char *dir, const char *name, char **ret_path)
{
	char *path;

	if (!*name || (name[0] == '.' && !strchr(name, '/')))
		return ctx_usage_error(ctx, -EINVAL,
			"template '%.80s': it must be a name such as hpc-guest, or a "
			"path",
			name);
	path = strchr(name, '/')
		       ? strdup(name)
		       : str_format("%s/%s.xml", dir ? dir : VFCTL_TEMPLATE_DIR, name);
	if (!path)
		return ctx_oom(ctx);
	*ret_path = path;
	return 0;
}

static bool has_interface(const struct vfctl_domain_request *request)
{
	for (size_t i = 0; i < request->vf_count; i++)
		if (device_is_interface(&request->vfs[i]))
			return true;
	return false;
}

int render_check_version(struct render *r)
{
	const struct vfctl_guest_xml *x = &r->guest->xml;
	const struct {
		bool asked;
		uint64_t since;
		const char *what;
	} needs[] = {
		{str_eq(r->guest->cpu, "maximum"), SINCE_CPU_MAXIMUM,
			"cpu maximum (name a model instead)"},
		{x->maxphysaddr == VFCTL_CHOICE_ON, SINCE_MAXPHYSADDR, "xml.maxphysaddr"},
		{x->iommufd == VFCTL_CHOICE_ON, SINCE_IOMMUFD, "xml.iommufd"},
		{x->iommufd == VFCTL_CHOICE_ON && has_interface(r->request),
			SINCE_IOMMUFD_INTERFACE,
			"xml.iommufd of an interface (or use form hostdev)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (needs[i].asked && r->version < needs[i].since)
			return ctx_fail(r->ctx, -EINVAL,
				"%s: %s needs libvirt %u.%u; the target has %u.%u",
				r->guest->name, needs[i].what,
				(unsigned)(needs[i].since / 1000000),
				(unsigned)(needs[i].since / 1000 % 1000),
				(unsigned)(r->version / 1000000),
				(unsigned)(r->version / 1000 % 1000));
	return 0;
}

static int check_request(
	struct vfctl_ctx *ctx, const struct vfctl_domain_request *request)
{
	int r = assignment_check(ctx, request);

	if (r < 0)
		return r;
	if (!vfctl_guest_name_valid(request->guest->name))
		return ctx_fail(ctx, -EINVAL,
			"the guest's name is not safe for libvirt; change it");
	if (!lease_id_valid(request->lease_id))
		return ctx_fail(ctx, -EINVAL, "%s: the lease id '%.80s' is not allowed",
			request->guest->name, request->lease_id);
	if (request->vf_count > VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -EINVAL, "%s: %zu VFs are more than %d",
			request->guest->name, request->vf_count, VFCTL_GUEST_VFS_MAX);
	for (size_t i = 0; r == 0 && i < request->vf_count; i++)
		r = device_check(ctx, &request->vfs[i]);
	return r;
}

static void replace_text(struct render *r, const char *name, const char *text)
{
	if (text)
		xml_set_text(render_section(r, name), text);
}

/* libvirt rejects a UUID in the SMBIOS tables that is not the domain's. */
static void remove_smbios_uuid(struct render *r)
{
	xml_each(info, r->domain, "sysinfo") {
		struct xml_node *system = xml_child(info, "system");
		struct xml_node *entry = xml_child(system, "entry"), *next;

		for (; entry; entry = next) {
			next = xml_next(entry, "entry");
			if (xml_get_is(entry, "name", "uuid"))
				xml_remove(entry);
		}
		if (system && !xml_has_children(system))
			xml_remove(system);
	}
}

static void render_identity(struct render *r)
{
	xml_set(r->domain, "type", r->kvm ? "kvm" : "qemu");
	/* An attribute of a running domain that was used as a template. */
	xml_unset(r->domain, "id");
	replace_text(r, "name", r->guest->name);
	/* The UUID of a template belongs to another guest. */
	if (!r->guest->uuid)
		xml_remove_children(r->domain, "uuid");
	replace_text(r, "uuid", r->guest->uuid);
	remove_smbios_uuid(r);
	replace_text(r, "title", r->guest->title);
	replace_text(r, "description", r->guest->description);
}

static int check_os(struct render *r, const struct xml_node *type)
{
	char buf[32];
	const char *text = xml_text(type, buf, sizeof(buf));

	if (!type || (text && (!*text || str_eq(text, "hvm"))))
		return 0;
	return ctx_fail(r->ctx, -EINVAL,
		"%s:%u: os type '%.32s': vfctl supports only full virtualization (hvm); "
		"use another template",
		r->file, xml_line(type), text ? text : "?");
}

static int render_machine(struct render *r, struct xml_node *type)
{
	const char *own = xml_get(type, "machine"), *arch = xml_get(type, "arch");

	if (arch && !str_eq(arch, "x86_64"))
		return ctx_fail(r->ctx, -EINVAL,
			"%s:%u: arch '%.32s': vfctl supports only x86_64 guests; remove it",
			r->file, xml_line(type), arch);
	if (own && !str_eq(own, "q35") && !str_starts(own, "pc-q35-"))
		return ctx_fail(r->ctx, -EINVAL,
			"%s:%u: machine '%.64s' has no PCI Express root ports; use q35",
			r->file, xml_line(type), own);
	xml_set(type, "arch", "x86_64");
	/* "q35" names only the family: a version in the template is kept. */
	if (!own || !str_eq(r->guest->machine, "q35"))
		xml_set(type, "machine", r->guest->machine);
	return 0;
}

static int render_os(struct render *r)
{
	struct xml_node *os = render_section(r, "os");
	const struct {
		const char *name, *text;
	} direct[] = {{"kernel", r->guest->kernel}, {"initrd", r->guest->initrd},
		{"cmdline", r->guest->cmdline}};
	int error = check_os(r, xml_child(os, "type"));
	struct xml_node *type;

	if (error < 0)
		return error;
	type = render_child(os, "type", NULL);
	xml_set_text(type, "hvm");
	for (size_t i = 0; i < ARRAY_SIZE(direct); i++)
		if (direct[i].text)
			xml_set_text(
				render_child(os, direct[i].name, NULL), direct[i].text);
	return render_machine(r, type);
}

static int complete(struct render *r)
{
	int error = render_check_version(r);

	if (error < 0)
		return error;
	order_sort(r->domain);
	render_identity(r);
	render_memory(r);
	metadata_write(r->domain, r->request);
	render_pins(r);
	error = render_os(r);
	if (error == 0)
		error = render_cpu(r);
	if (error == 0)
		error = render_devices(r);
	return error;
}

int vfctl_domain_render(
	struct vfctl_ctx *ctx, const struct vfctl_domain_request *request, char **ret_xml)
{
	const char *text = request->template_text ? request->template_text : bare;
	const char *file =
		request->template_name ? request->template_name : "built-in template";
	_cleanup_(xml_freep) struct xml *xml = NULL;
	struct render r = {
		.ctx = ctx,
		.request = request,
		.guest = request->guest,
		.assignment = request->assignment,
		.file = file,
		.version = request->libvirt_version ? request->libvirt_version
						    : VFCTL_LIBVIRT_OLDEST,
		.kvm = request->guest->virtualization == VFCTL_VIRTUALIZATION_KVM,
		.style = {.rom_bar = request->guest->xml.rom_bar == VFCTL_CHOICE_ON,
			.iommufd = request->guest->xml.iommufd == VFCTL_CHOICE_ON},
	};
	int error;

	error = check_request(ctx, request);
	if (error == 0)
		error = ctx_mark_usage_error(ctx, xml_parse_domain(ctx, file, text, &xml));
	if (error < 0)
		return error;
	r.domain = xml_root(xml);
	r.devices = xml_child(r.domain, "devices");
	if (!r.devices)
		return ctx_usage_error(ctx, -EINVAL,
			"%s:%u: <domain> lacks <devices>; add at least "
			"<devices/>",
			file, xml_line(r.domain));
	error = metadata_places(ctx, r.domain, &r.owned, &r.owned_count);
	if (error == 0)
		error = complete(&r);
	free(r.owned);
	return error < 0 ? ctx_mark_usage_error(ctx, error) : xml_print(ctx, xml, ret_xml);
}
