// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of ibnetdiscover: each node is in the order once, and each peer exists. */
#include <string.h>

#include "fuzz.h"
#include "subnet/subnet.h"

static void check_node(struct vfctl_ctx *ctx, const struct vfctl_subnet *s, const struct vfctl_subnet_node *n)
{
	struct vfctl_subnet_bundle *bundles = NULL;
	size_t count = 0, links = 0;
	char text[VFCTL_SUBNET_LINK_TEXT];

	FUZZ_CHECK(n->kind < VFCTL_SUBNET_KINDS && n->level <= s->levels);
	for (size_t i = 0; i < n->port_count; i++) {
		const struct vfctl_subnet_port *p = &n->ports[i];

		FUZZ_CHECK(p->peer == VFCTL_SUBNET_UNKNOWN || p->peer < s->node_count);
		FUZZ_CHECK(!i || n->ports[i - 1].number <= p->number);
		FUZZ_CHECK(!p->lanes == !p->speed[0] && !p->lanes == !vfctl_subnet_rate(p));
		FUZZ_CHECK(strlen(vfctl_subnet_link_text(p, text)) < sizeof(text) - 1);
	}
	if (vfctl_subnet_bundles(ctx, s, n, &bundles, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		links += bundles[i].count;
	FUZZ_CHECK(links == n->port_count);
	free(bundles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vfctl_subnet *s = NULL;
	struct vfctl_ctx *ctx;
	bool *seen;
	size_t nodes = 0;

	if (vfctl_ctx_new(&ctx) < 0)
		return 0;
	if (vfctl_subnet_parse(ctx, "fuzz", (const char *)data, size, &s) < 0) {
		FUZZ_CHECK(!s && *vfctl_ctx_error(ctx));
		vfctl_ctx_free(ctx);
		return 0;
	}
	seen = calloc(s->node_count, sizeof(*seen));
	for (size_t i = 0; seen && i < s->node_count; i++) {
		FUZZ_CHECK(s->order[i] < s->node_count && !seen[s->order[i]]);
		seen[s->order[i]] = true;
		check_node(ctx, s, &s->nodes[i]);
	}
	for (size_t i = 0; i < VFCTL_SUBNET_KINDS; i++)
		nodes += s->counts[i];
	FUZZ_CHECK(nodes == s->node_count && s->slow_count <= s->link_count);
	free(seen);
	vfctl_subnet_free(s);
	vfctl_ctx_free(ctx);
	return 0;
}
