// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a template; what is written must be readable by both readers. */
#include <string.h>

#include "domain/definition.h"
#include "fuzz.h"

static const struct vfctl_domain_vf vf = {
	.bdf = {.bus = 0x3b, .function = 2},
	.pf = {.bus = 0x3b},
	.form = VFCTL_FORM_HOSTDEV,
};

static int render(struct vfctl_ctx *ctx, const char *text, char **ret_xml)
{
	static char name[] = "g", machine[] = "q35", cpu[] = "host-passthrough";
	struct vfctl_guest guest = {.name = name,
		.vcpus = 2,
		.iothreads = 1,
		.machine = machine,
		.cpu = cpu,
		.console = true,
		.spare_ports = 2,
		.xml.expander_ports = 1};
	struct vfctl_free_vf place = {.bdf = vf.bdf, .root = 0x3a};
	uint32_t vf_cell = 0;
	uint32_t vcpus[] = {0, 1};
	struct vfctl_cell cell = {
		.vcpu_count = 2, .memory_bytes = 1 << 30, .page_bytes = 2 << 20};
	struct vfctl_assignment assignment = {.cells = &cell,
		.cell_count = 1,
		.vcpus = vcpus,
		.vcpu_count = 2,
		.guest_threads = 2,
		.memory_bytes = 1 << 30,
		.page_bytes = 2 << 20,
		.vfs = &place,
		.vf_cells = &vf_cell,
		.vf_count = 1};
	struct vfctl_domain_request request = {.template_text = text,
		.template_name = "fuzz",
		.guest = &guest,
		.assignment = &assignment,
		.lease_id = "l",
		.vfs = &vf,
		.vf_count = 1,
		.libvirt_version = 11003000};

	return vfctl_domain_render(ctx, &request, ret_xml);
}

static void read_back(struct vfctl_ctx *ctx, const char *xml)
{
	static struct vfctl_domain_intent intent;
	struct vfctl_parsed_domain *parsed = NULL;
	struct vfctl_assignment *placed = NULL;
	struct vfctl_memlock memlock;
	struct vfctl_domain_port port;
	char *without = NULL;

	FUZZ_CHECK(vfctl_domain_metadata_read(ctx, xml, strlen(xml), &intent) != -2);
	if (vfctl_domain_metadata_remove_vf(ctx, xml, &vf.bdf, &without) == 0)
		free(without);
	if (vfctl_domain_read(ctx, xml, &parsed) == 0) {
		FUZZ_CHECK(vfctl_domain_find_port(parsed, 0, &port) == 0);
		FUZZ_CHECK(port.bus && port.cell_want <= 0);
		FUZZ_CHECK(vfctl_domain_placement(ctx, xml, NULL, &placed) == 0);
		FUZZ_CHECK(placed->cell_count == 1 && placed->vcpu_count == 2);
	}
	vfctl_domain_memlock_read(ctx, xml, &memlock);
	vfctl_domain_placement_free(placed);
	vfctl_parsed_domain_free(parsed);
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r\n");
}

/* But for blanks: beside words that stand between elements, which libvirt skips, libxml2 keeps them. */
static bool same(const char *a, const char *b)
{
	for (a = skip_blanks(a), b = skip_blanks(b); *a && *a == *b; a = skip_blanks(a + 1), b = skip_blanks(b + 1))
		;
	return *a == *b;
}

/* vfctl's output, used as the template, gives the same output again. */
static void render_again(struct vfctl_ctx *ctx, const char *xml)
{
	char *again = NULL;

	FUZZ_CHECK(render(ctx, xml, &again) == 0 && same(xml, again));
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *xml = NULL;
	struct vfctl_ctx *ctx;

	if (!text || vfctl_ctx_new(&ctx) < 0) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	if (render(ctx, text, &xml) == 0) {
		read_back(ctx, xml);
		render_again(ctx, xml);
	} else {
		FUZZ_CHECK(!xml && *vfctl_ctx_error(ctx));
	}
	free(xml);
	free(text);
	vfctl_ctx_free(ctx);
	return 0;
}
