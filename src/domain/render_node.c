// SPDX-License-Identifier: GPL-2.0-or-later
/* Find, add and remove the parts of a domain in its template. */
#include "domain/domain.h"

struct xml_node *render_section(struct render *r, const char *name)
{
	struct xml_node *node = xml_child(r->domain, name);

	return node ? node : order_add(r->domain, name);
}

struct xml_node *render_child(struct xml_node *parent, const char *name, bool *ret_new)
{
	struct xml_node *node = xml_child(parent, name);

	if (ret_new)
		*ret_new = !node;
	return node ? node : xml_add(parent, name);
}

void render_choice(struct xml_node *parent, const char *name, const char *attr,
	enum vfctl_choice choice, const struct message *message)
{
	const char *value = choice == VFCTL_CHOICE_ON	 ? message->on
			    : choice == VFCTL_CHOICE_OFF ? message->off
							 : message->standard;

	if (choice == VFCTL_CHOICE_AUTO && (!value || xml_child(parent, name)))
		return;
	if (value)
		xml_set(render_child(parent, name, NULL), attr, value);
	else
		xml_remove_children(parent, name);
}

bool render_wants_iommu(const struct render *r)
{
	enum vfctl_choice choice = r->guest->xml.iommu;

	return choice == VFCTL_CHOICE_ON ||
	       (choice == VFCTL_CHOICE_AUTO &&
		       r->guest->vcpus > VFCTL_VCPUS_WITHOUT_IOMMU);
}

static bool is_one_of(const struct xml_node *node, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(xml_name(node), names[i]))
			return true;
	return false;
}

struct xml_node *render_take_out(
	struct xml_node *parent, const char *const *names, size_t count)
{
	struct xml_node *child = xml_child(parent, NULL), *before = NULL, *next;
	bool found = false;

	for (; child; child = next) {
		next = xml_next(child, NULL);
		if (is_one_of(child, names, count)) {
			xml_remove(child);
			found = true;
		} else if (found && !before) {
			before = child;
		}
	}
	return before;
}
