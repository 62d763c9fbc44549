// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/guest.h"

#include "domain/definition.h"
#include "host/host.h"
#include "pci/bars.h"
#include "types/find.h"

/* Kept for all checks: each definition is read and parsed once. */
struct guest_list {
	struct guest *v;
	size_t count;
};

static void read_guest(struct check_ctx *e, const struct known_domain *domain, struct guest *g)
{
	int r = host_try_read(e->ctx, &g->xml, LIBVIRT_DEFINITIONS "/%s.xml", domain->name);

	str_copy(g->name, sizeof(g->name), domain->name);
	if (r == 0 && g->xml)
		r = known_domain_parse(e->ctx, g->xml, &g->parsed);
	if (r < 0)
		ctx_clear(e->ctx);
	for (size_t i = 0; i < domain->device_count; i++)
		g->bar_bytes += pci_bar_bytes(e->ctx, &domain->devices[i]);
}

const struct known_domains *check_ctx_domains(struct check_ctx *e)
{
	if (!e->domains && known_domains_read(e->ctx, &e->domains) < 0)
		e->failed = true;
	return e->domains;
}

static const struct guest_list *guests_of(struct check_ctx *e)
{
	const struct known_domains *domains = check_ctx_domains(e);
	struct guest_list *all;

	if (e->guests || !domains)
		return e->guests;
	all = e->guests = calloc(1, sizeof(*all));
	e->failed |= !all;
	for (size_t i = 0; all && i < domains->count; i++) {
		/* A running domain has a second row for its definition. */
		if (domains->v[i].pid || !domains->v[i].device_count)
			continue;
		if (!array_grow(all->v, all->count)) {
			e->failed = true;
			break;
		}
		read_guest(e, &domains->v[i], &all->v[all->count++]);
	}
	return all;
}

void each_guest(struct check_ctx *e, void (*look)(struct check_ctx *e, const struct guest *g,
	void *data),
	void *data)
{
	const struct guest_list *all = guests_of(e);

	for (size_t i = 0; all && i < all->count && !e->failed; i++)
		if (all->v[i].parsed)
			look(e, &all->v[i], data);
}

void tell_unread_guests(struct check_ctx *e)
{
	const struct guest_list *all = guests_of(e);

	for (size_t i = 0; all && i < all->count; i++)
		if (!all->v[i].parsed)
			unknown(e, "the definition of %s cannot be read", all->v[i].name);
		else if (all->v[i].parsed->unread)
			unknown(e, "%s: %s", all->v[i].name, all->v[i].parsed->unread);
}

void check_ctx_end(struct check_ctx *e)
{
	for (size_t i = 0; e->guests && i < e->guests->count; i++) {
		vfctl_parsed_domain_free(e->guests->v[i].parsed);
		free(e->guests->v[i].xml);
	}
	if (e->guests)
		free(e->guests->v);
	free(e->guests);
	known_domains_free(e->domains);
	e->guests = NULL;
	e->domains = NULL;
}

bool guest_has(const struct guest *g, const struct vfctl_bdf *bdf)
{
	return find_domain_device(g->parsed, bdf);
}
