// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The default output of ibnetdiscover(8) (infiniband-diags, ibnetdiscover.c: out_switch(),
 * out_ca(), out_switch_port(), out_ca_port()):
 *
 *	sysimgguid=0x2c90200423e73
 *	switchguid=0x2c90200423e70(2c90200423e70)
 *	Switch	36 "S-0002c90200423e70"		# "leaf 1" enhanced port 0 lid 1 lmc 0
 *	[1]	"H-0002c903000e0b72"[1](2c903000e0b73) 		# "node-1 mlx5_0" lid 4 4xHDR
 *
 *	caguid=0x2c903000e0b72
 *	Ca	1 "H-0002c903000e0b72"		# "node-1 mlx5_0"
 *	[1](2c903000e0b73) 	"S-0002c90200423e70"[1]		# lid 4 lmc 0 "leaf 1" lid 1 4xHDR
 *
 * Descriptions are not escaped: they end at the last quote of the line.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "subnet/subnet.h"

#include "base/ctx.h"
#include "base/util.h"

#define NODES_MAX 65536 /* a subnet has 48 Ki unicast LIDs (IBTA 4.1.3) */
#define NAME_MAX_BYTES 256 /* a node description has 64 bytes, a name map may have longer names */

struct reader {
	struct vfctl_ctx *ctx;
	const char *name;
	const char *at, *end; /* the rest of the line */
	size_t line;
	struct vfctl_subnet *subnet;
	struct vfctl_subnet_node *node; /* the one whose ports follow; NULL: none yet */
	uint64_t system_guid;		/* of the next node */
};

/* ---- parts of a line ---- */

static bool at_text(struct reader *r, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

static bool read_number(struct reader *r, uint32_t max, uint32_t *ret)
{
	const char *begin = r->at;
	uint32_t value = 0;

	for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
		value = value * 10 + (uint32_t)(*r->at - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return r->at > begin;
}

static bool read_hex(struct reader *r, uint64_t *ret)
{
	const char *begin = r->at;
	uint64_t value = 0;

	for (; r->at < r->end && isxdigit((unsigned char)*r->at); r->at++) {
		unsigned char c = (unsigned char)*r->at;

		value = value << 4 | (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	*ret = value;
	return r->at > begin && r->at - begin <= 16;
}

/* "[12]" */
static bool read_port_number(struct reader *r, uint8_t *ret)
{
	uint32_t number;

	if (!at_text(r, "[") || !read_number(r, 255, &number) || !at_text(r, "]"))
		return false;
	*ret = (uint8_t)number;
	return true;
}

/* "[ext 3]", the number on the housing of a modular switch. */
static void skip_housing(struct reader *r)
{
	if (!at_text(r, "[ext "))
		return;
	while (r->at < r->end && *r->at++ != ']')
		;
}

/* "(2c903000e0b73)" */
static bool read_port_guid(struct reader *r, uint64_t *ret)
{
	return !at_text(r, "(") || (read_hex(r, ret) && at_text(r, ")"));
}

/* "S-0002c90200423e70" in quotes */
static bool read_node_id(struct reader *r, uint64_t *ret)
{
	return at_text(r, "\"") && (at_text(r, "S-") || at_text(r, "H-") || at_text(r, "R-")) &&
		read_hex(r, ret) && at_text(r, "\"");
}

/* The text between the first and the last quote of the rest of the line; then goes behind it. */
static bool read_description(struct reader *r, const char **ret, size_t *ret_len)
{
	const char *first = memchr(r->at, '"', (size_t)(r->end - r->at));
	const char *last = first ? memrchr(first, '"', (size_t)(r->end - first)) : NULL;

	if (!first || last == first)
		return false;
	*ret = first + 1;
	*ret_len = (size_t)(last - first - 1);
	r->at = last + 1;
	return true;
}

/* " lid 4"; 0 if it is not there. */
static uint16_t read_lid(struct reader *r)
{
	uint32_t lid = 0;

	skip_blanks(r);
	if (!at_text(r, "lid "))
		return 0;
	return read_number(r, UINT16_MAX, &lid) ? (uint16_t)lid : 0;
}

/* "4xHDR"; anything else, such as "undefined (9)", stays unknown. */
static void read_rate(struct reader *r, struct vfctl_subnet_port *p)
{
	struct vfctl_subnet_port rate = {0};
	const char *begin;
	uint32_t lanes;
	size_t len;

	skip_blanks(r);
	if (!read_number(r, 12, &lanes) || !at_text(r, "x"))
		return;
	for (begin = r->at; r->at < r->end && isalnum((unsigned char)*r->at); r->at++)
		;
	len = (size_t)(r->at - begin);
	if (len >= sizeof(rate.speed))
		return;
	memcpy(rate.speed, begin, len);
	rate.lanes = (uint8_t)lanes;
	if (!vfctl_subnet_rate(&rate))
		return;
	p->lanes = rate.lanes;
	memcpy(p->speed, rate.speed, sizeof(p->speed));
}

static int fail_line(const struct reader *r, const char *what)
{
	return ctx_fail(r->ctx, -EINVAL, "%s:%zu: %s", r->name, r->line, what);
}

/* ---- lines ---- */

static char *copy_name(const char *text, size_t len)
{
	char *name;

	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len > NAME_MAX_BYTES)
		for (len = NAME_MAX_BYTES; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
			;
	name = strndup(text, len);
	for (char *c = name; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return name;
}

/*
 * SHARP's nodes have the description "Mellanox Technologies Aggregation Node" or "Aggregation
 * Node".
 */
static bool is_aggregation(const char *name)
{
	return strstr(name, "Aggregation Node") != NULL;
}

static int add_node(struct reader *r, const struct vfctl_subnet_node *node)
{
	struct vfctl_subnet *s = r->subnet;

	if (s->node_count == NODES_MAX)
		return fail_line(r, "the text has more than 65536 nodes, more than a subnet can have");
	if (!array_grow(s->nodes, s->node_count))
		return ctx_oom(r->ctx);
	r->node = &s->nodes[s->node_count];
	*r->node = *node;
	return 0;
}

/* Switch	36 "S-..."		# "leaf 1" enhanced port 0 lid 1 lmc 0 */
static int read_node(struct reader *r, enum vfctl_subnet_kind kind)
{
	struct vfctl_subnet_node node = {.kind = kind, .system_guid = steal(r->system_guid)};
	const char *name = "";
	size_t len = 0;
	uint32_t total;
	int error;

	skip_blanks(r);
	if (!read_number(r, 255, &total))
		return fail_line(r, "a number of ports, 0 to 255, must follow the kind of node");
	skip_blanks(r);
	if (!read_node_id(r, &node.guid))
		return fail_line(r, "an identifier such as \"S-0002c90200423e70\" must follow the "
			"number of ports");
	node.port_total = (uint8_t)total;
	skip_blanks(r);
	if (at_text(r, "#") && read_description(r, &name, &len)) {
		skip_blanks(r);
		if (at_text(r, "enhanced port 0") || at_text(r, "base port 0"))
			node.lid = read_lid(r);
	}
	error = add_node(r, &node);
	if (error < 0)
		return error;
	r->node->name = copy_name(name, len);
	if (!r->node->name)
		return ctx_oom(r->ctx);
	r->subnet->node_count++;
	if (kind == VFCTL_SUBNET_HCA && is_aggregation(r->node->name))
		r->node->kind = VFCTL_SUBNET_AGGREGATION;
	return 0;
}

/* [1](2c903000e0b73) 	"S-0002c90200423e70"[1]		# lid 4 lmc 0 "leaf 1" lid 1 4xHDR */
static int read_port(struct reader *r)
{
	struct vfctl_subnet_port port = {.peer = VFCTL_SUBNET_UNKNOWN};
	struct vfctl_subnet_node *node = r->node;
	uint64_t ignored;
	const char *name;
	size_t len;

	if (!node)
		return fail_line(r, "a port must follow the node to which it belongs");
	if (!read_port_number(r, &port.number))
		return fail_line(r, "a line of a port begins with its number, such as [1]");
	skip_housing(r);
	if (!read_port_guid(r, &port.guid))
		return fail_line(r, "the port's GUID is not a number of up to 16 hex digits in parentheses");
	skip_blanks(r);
	if (!read_node_id(r, &port.peer_guid) || !read_port_number(r, &port.peer_port))
		return fail_line(r, "the other end, such as \"S-0002c90200423e70\"[1], must follow the port");
	skip_housing(r);
	if (!read_port_guid(r, &ignored))
		return fail_line(r, "the GUID at the other end is not a number of up to 16 hex "
			"digits in parentheses");
	skip_blanks(r);
	if (at_text(r, "#")) {
		port.lid = node->kind == VFCTL_SUBNET_SWITCH ? node->lid : read_lid(r);
		if (read_description(r, &name, &len)) {
			read_lid(r);
			read_rate(r, &port);
		}
	}
	if (!array_grow(node->ports, node->port_count))
		return ctx_oom(r->ctx);
	node->ports[node->port_count++] = port;
	return 0;
}

static int read_generated(struct reader *r)
{
	if (!at_text(r, " Topology file: generated on ") || r->subnet->generated)
		return 0;
	r->subnet->generated = copy_name(r->at, (size_t)(r->end - r->at));
	return r->subnet->generated ? 0 : ctx_oom(r->ctx);
}

/* Lines of other kinds, such as warnings in a saved output, are ignored. */
static int read_line(struct reader *r)
{
	static const struct {
		const char *word;
		enum vfctl_subnet_kind kind;
	} kinds[] = {{"Switch\t", VFCTL_SUBNET_SWITCH}, {"Switch ", VFCTL_SUBNET_SWITCH},
		{"Ca\t", VFCTL_SUBNET_HCA}, {"Ca ", VFCTL_SUBNET_HCA}, {"Rt\t", VFCTL_SUBNET_ROUTER},
		{"Rt ", VFCTL_SUBNET_ROUTER}};

	if (r->at < r->end && *r->at == '[')
		return read_port(r);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (at_text(r, kinds[i].word))
			return read_node(r, kinds[i].kind);
	if (at_text(r, "sysimgguid=0x") && !read_hex(r, &r->system_guid))
		r->system_guid = 0;
	return at_text(r, "#") ? read_generated(r) : 0;
}

/* ---- the whole text ---- */

static int compare_ports(const void *a, const void *b)
{
	const struct vfctl_subnet_port *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Find the node at the other end of each port by its GUID. */
static int link_ports(const struct reader *r)
{
	struct vfctl_subnet *s = r->subnet;
	_free_ struct sort_key *keys = calloc(s->node_count, sizeof(*keys));

	if (!keys)
		return ctx_oom(r->ctx);
	for (size_t i = 0; i < s->node_count; i++)
		keys[i] = (struct sort_key){.major = s->nodes[i].guid, .at = i};
	sort_keys(keys, s->node_count);
	for (size_t i = 1; i < s->node_count; i++)
		if (keys[i].major == keys[i - 1].major)
			return ctx_fail(r->ctx, -EINVAL, "%s: the node with the GUID 0x%016" PRIx64
				" occurs twice; read one fabric at a time", r->name, keys[i].major);
	for (size_t i = 0; i < s->node_count; i++) {
		struct vfctl_subnet_node *n = &s->nodes[i];

		sort_unless_sorted(n->ports, n->port_count, sizeof(*n->ports), compare_ports);
		for (size_t k = 0; k < n->port_count; k++) {
			size_t low = 0, high = s->node_count;

			while (low < high) {
				size_t middle = low + (high - low) / 2;

				if (keys[middle].major < n->ports[k].peer_guid)
					low = middle + 1;
				else
					high = middle;
			}
			if (low < s->node_count && keys[low].major == n->ports[k].peer_guid)
				n->ports[k].peer = keys[low].at;
		}
	}
	return 0;
}

static int read_lines(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	int error = 0;

	while (text < end && error == 0) {
		const char *next = memchr(text, '\n', (size_t)(end - text));

		r->at = text;
		r->end = next ? next : end;
		r->line++;
		if (r->end > r->at && r->end[-1] == '\r')
			r->end--;
		error = read_line(r);
		text = next ? next + 1 : end;
	}
	return error;
}

int vfctl_subnet_parse(struct vfctl_ctx *ctx, const char *name, const char *text, size_t len,
	struct vfctl_subnet **ret_subnet)
{
	_cleanup_(vfctl_subnet_freep) struct vfctl_subnet *s = calloc(1, sizeof(*s));
	struct reader r = {.ctx = ctx, .name = name, .subnet = s};
	int error = s ? 0 : ctx_oom(ctx);

	if (error == 0 && len && memchr(text, '\0', len))
		error = ctx_fail(ctx, -EINVAL, "%s contains a NUL byte, so it is not the output of "
			"ibnetdiscover", name);
	if (error == 0)
		error = read_lines(&r, text, len);
	if (error == 0 && !s->node_count)
		error = ctx_fail(ctx, -EINVAL, "%s has no switch and no HCA in the default format of "
			"ibnetdiscover; write it with: ibnetdiscover >FILE", name);
	if (error == 0)
		error = link_ports(&r);
	if (error == 0)
		error = subnet_judge(ctx, s);
	if (error < 0)
		return error;
	*ret_subnet = steal(s);
	return 0;
}

void vfctl_subnet_free(struct vfctl_subnet *s)
{
	for (size_t i = 0; s && i < s->node_count; i++) {
		for (size_t k = 0; k < s->nodes[i].port_count; k++)
			free(s->nodes[i].ports[k].device);
		free(s->nodes[i].ports);
		free(s->nodes[i].name);
	}
	if (!s)
		return;
	free(s->nodes);
	free(s->order);
	free(s->generated);
	free(s);
}
