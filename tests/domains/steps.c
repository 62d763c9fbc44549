// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * usage: domain-steps VERSION DIR <NUMBERS
 *
 * For each number N, DIR/N.xml is a template: it is completed for libvirt VERSION, and the result
 * is changed as vfctl's commands do it. Each result is a file DIR/N.STEP.xml, and a line on standard
 * output: "N STEP ok", "N STEP refused MESSAGE" or "N STEP wrong WHAT".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "domain_case.h"

#define SMALL "name: g\nmemory: 1GiB\nhugepages: none\n"

static const char *const guests[] = {
	SMALL "vcpus: 4\n",
	"name: g\nmemory: 8GiB\nvcpus: 4\niothreads: 2\ncpu: host-model\nlocked: true\n",
	SMALL "vcpus: 3\nthreads: isolate\ncpu: EPYC\niothreads: 0\nconsole: false\n",
	SMALL "vcpus: 2\nuuid: 6f3c8a56-0000-4000-8000-0123456789ab\ntitle: t\ndescription: d\n"
	      "disks: [{file: /d}, {block: /dev/sdb, bus: sata}]\n",
	SMALL "vcpus: 2\nvirtualization: qemu\nkernel: /k\ninitrd: /i\ncmdline: a\n",
	SMALL "vcpus: 4\nxml: {usb: on, iommu: on, balloon: on, shared_memory: on, realtime: on, "
	      "hpet: on, rng: off, preallocate: off, cpu_cache: emulate, hidden: on}\n",
	SMALL "vcpus: 4\npmu: false\nxml: {iommu: off, balloon: off, hpet: off, cpu_cache: none, "
	      "nosharepages: off, shared_memory: off, hint_dedicated: on, ioapic: qemu}\n",
};

struct run {
	struct vfctl_ctx *ctx;
	const char *dir;
	unsigned number;
	struct domain_case c;
	struct vfctl_free_vf places[CASE_VFS];
	uint32_t vf_cells[CASE_VFS];
};

static void report(const struct run *run, const char *step, const char *result, const char *what)
{
	printf("%u %s %s %s\n", run->number, step, result, what);
}

static char *read_text(const char *path)
{
	_buf_ struct buf text = {0};
	FILE *file = fopen(path, "re");
	char part[4096];
	size_t n;

	while (file && (n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&text, part, n);
	if (file)
		fclose(file);
	return file ? buf_steal(&text) : NULL;
}

/* Report a step, and write its result to a file; false if vfctl refused it. */
static bool done(struct run *run, const char *step, int r, char **xml)
{
	_free_ char *path = str_format("%s/%u.%s.xml", run->dir, run->number, step);
	FILE *file;

	if (r < 0) {
		report(run, step, "refused", vfctl_ctx_error(run->ctx));
		return false;
	}
	file = path ? fopen(path, "we") : NULL;
	if (!file || fputs(*xml, file) < 0 || fclose(file) != 0)
		abort();
	report(run, step, "ok", "");
	return true;
}

/* ---- the guests ---- */

static void split_cells(struct domain_case *c)
{
	struct vfctl_cell *cells = c->cells;
	uint32_t half = c->guest->vcpus / 2;

	if (c->guest->vcpus % 4)
		return;
	cells[0].vcpu_count = half;
	cells[0].memory_bytes /= 2;
	cells[1] = cells[0];
	cells[1].first_vcpu = half;
	cells[1].node = cells[1].memory_node = 0;
	c->assignment.cell_count = 2;
}

/* Each VF is on the node of a cell, so that it gets an expander. */
static void place_vfs(struct run *run)
{
	struct vfctl_assignment *a = &run->c.assignment;

	for (uint32_t i = 0; i < CASE_VFS; i++) {
		run->vf_cells[i] = (uint32_t)(i % a->cell_count);
		run->places[i] = (struct vfctl_free_vf){.bdf = run->c.vfs[i].bdf,
			.pf = run->c.vfs[i].pf,
			.index = i,
			.node = a->cells[run->vf_cells[i]].node,
			.root = 0x3a + run->vf_cells[i]};
	}
	a->vfs = run->places;
	a->vf_cells = run->vf_cells;
	a->vf_count = CASE_VFS;
}

static void make_guest(struct run *run, unsigned variant, uint64_t version)
{
	struct domain_case *c = &run->c;

	case_make(run->ctx, c, guests[variant % ARRAY_SIZE(guests)]);
	c->request.libvirt_version = version;
	c->request.vf_count = variant % CASE_VFS;
	if (run->number % 2)
		case_attr(run->ctx, &c->vfs[CASE_VFS - 1], "mac", "02:00:00:00:00:04");
	if (variant % 3 == 1)
		split_cells(c);
	if (variant % 2)
		place_vfs(run);
}

/* ---- the steps ---- */

static int complete(struct run *run, const char *template_text, char **ret)
{
	run->c.request.template_text = template_text;
	run->c.request.template_name = "t.xml";
	return vfctl_domain_render(run->ctx, &run->c.request, ret);
}

/* Complete a template; the result is its own completion. */
static char *complete_twice(struct run *run, const char *step, const char *template_text)
{
	_free_ char *first = NULL, *second = NULL, *name = str_format("%s-again", step);

	if (!done(run, step, complete(run, template_text, &first), &first))
		return NULL;
	if (!done(run, name, complete(run, first, &second), &second))
		report(run, name, "wrong", "vfctl refuses its own output");
	else if (!str_eq(first, second))
		report(run, name, "wrong", "it differs from the first result");
	return steal(first);
}

static int attach(struct run *run, const char *xml, const struct vfctl_domain_vf *vf, char **ret)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	struct vfctl_domain_port port = {0};
	_free_ char *known = NULL;
	int r = vfctl_domain_read(run->ctx, xml, &parsed);

	if (r == 0)
		r = vfctl_domain_metadata_add_vf(run->ctx, xml, "lease-1", vf, &known);
	if (r < 0)
		return r;
	vfctl_domain_find_port(parsed, 1, &port); /* without one, libvirt chooses */
	return vfctl_domain_add_device(run->ctx, known, vf, port.bus, ret);
}

static int detach(struct run *run, const char *xml, const struct vfctl_bdf *vf, char **ret)
{
	_free_ char *without = NULL;
	int r = vfctl_domain_remove_device(run->ctx, xml, vf, &without);

	return r < 0 ? r : vfctl_domain_metadata_remove_vf(run->ctx, without, vf, ret);
}

static int set_vlan(struct run *run, const char *xml, const struct vfctl_bdf *vf,
	const char *vlan, char **ret)
{
	struct vfctl_vf_attrs attrs = {0};

	if (vfctl_vf_attrs_parse(run->ctx, "vlan", vlan, &attrs) < 0 ||
		vfctl_vf_attrs_parse(run->ctx, "mac", "02:00:00:00:00:77", &attrs) < 0)
		abort();
	return vfctl_domain_change_vf(run->ctx, xml, vf, &attrs, ret);
}

/* Another program removed nothing else: what is left is the former definition. */
static void take_back(struct run *run, const char *before, const char *written, const char *now)
{
	_free_ char *xml = NULL;
	bool others = false;
	int r = domain_take_back(run->ctx, before, written, now, &xml, &others);

	if (r == 0 && !xml)
		report(run, "undo", "wrong", "it found nothing to undo");
	if ((r == 0 && !xml) || !done(run, "undo", r, &xml))
		return;
	if (others || !str_eq(xml, before))
		report(run, "undo", "wrong", "the VF is still there");
	if (domain_is_as_written(run->ctx, before, written, written) != 1)
		report(run, "undo", "wrong", "vfctl does not recognize its own definition");
}

/* A definition is changed, and changed back. Returns it with a VF and another VLAN. */
static char *change(struct run *run, const char *prefix, const char *before)
{
	static const char *const names[] = {"attach", "set", "unset", "detach"};
	const struct vfctl_domain_vf *vf = &run->c.vfs[CASE_VFS - 1]; /* no guest has it yet */
	_free_ char *with = NULL, *set = NULL, *unset = NULL, *without = NULL;
	_strv_ char **steps = calloc(ARRAY_SIZE(names) + 1, sizeof(*steps));

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		steps[i] = str_format("%s%s", prefix, names[i]);
	if (!done(run, steps[0], attach(run, before, vf, &with), &with) ||
		!done(run, steps[1], set_vlan(run, with, &vf->bdf, "7", &set), &set) ||
		!done(run, steps[2], set_vlan(run, set, &vf->bdf, "0", &unset), &unset))
		return NULL;
	if (done(run, steps[3], detach(run, unset, &vf->bdf, &without), &without) &&
		domain_is_as_written(run->ctx, before, before, without) != 1)
		report(run, steps[3], "wrong", "it differs from the definition before attach");
	take_back(run, before, with, with);
	return steal(set);
}

/*
 * The first VF that another program gave the domain: vfctl adopts it, changes it, completes the
 * definition with it, perhaps in another form, and detaches it.
 */
static void adopt(struct run *run, const char *text)
{
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	struct vfctl_domain_vf *vf = &run->c.vfs[0];
	_free_ char *known = NULL, *set = NULL, *completed = NULL, *without = NULL;

	if (vfctl_domain_read(run->ctx, text, &parsed) < 0 || !parsed->device_count)
		return;
	vf->bdf = parsed->devices[0].source;
	if (run->c.assignment.vf_count)
		run->places[0].bdf = vf->bdf;
	vf->form = run->number % 3 == 0 ? VFCTL_FORM_HOSTDEV : VFCTL_FORM_AUTO;
	if (!done(run, "adopt",
		    vfctl_domain_metadata_add_vf(run->ctx, text, "lease-1", vf, &known), &known) ||
		!done(run, "adopt-set", set_vlan(run, known, &vf->bdf, "7", &set), &set))
		return;
	if (!run->c.request.vf_count)
		run->c.request.vf_count = 1;
	completed = complete_twice(run, "adopt-complete", set);
	done(run, "adopt-detach", detach(run, completed ? completed : set, &vf->bdf, &without),
		&without);
}

/* What vfctl define passes to libvirt: the guest's file is in the metadata. */
static char *define(struct run *run, const char *template_text)
{
	_free_ char *xml = complete_twice(run, "complete", template_text), *defined = NULL;

	if (xml && done(run, "define", metadata_set_spec(run->ctx, xml, guests[0], 7, &defined), &defined))
		return steal(defined);
	return NULL;
}

/* All steps of a definition that another program wrote, and of one that vfctl completes. */
static void take_steps(struct run *run, const char *text, uint64_t version)
{
	_free_ char *foreign = NULL, *first = NULL, *changed = NULL, *moved = NULL;

	make_guest(run, run->number, version);
	foreign = change(run, "foreign-", text);
	first = define(run, text);
	changed = first ? change(run, "", first) : NULL;
	adopt(run, text);
	vfctl_guest_free(run->c.guest);
	if (!changed)
		return;
	/* Other CPUs, nodes and VFs, and mostly another shape of guest. */
	make_guest(run, run->number + 1 + run->number / 7 % 3, version);
	moved = complete_twice(run, "move", changed);
	vfctl_guest_free(run->c.guest);
}

int main(int argc, char **argv)
{
	struct run run = {.dir = argc > 2 ? argv[2] : "."};
	uint64_t version = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

	while (scanf("%u", &run.number) == 1) {
		_free_ char *path = str_format("%s/%u.xml", run.dir, run.number);
		_free_ char *text = path ? read_text(path) : NULL;

		if (!text || vfctl_ctx_new(&run.ctx) < 0) {
			fprintf(stderr, "%s cannot be read\n", path);
			return 1;
		}
		take_steps(&run, text, version);
		vfctl_ctx_free(run.ctx);
	}
	return 0;
}
