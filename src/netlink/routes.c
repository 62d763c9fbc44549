// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/routes.h"

#include <stdio.h>

#include "host/host.h"

#define RTF_REJECT 0x0200 /* linux/route.h, whose names clash with net/route.h's */
#define TCP_ESTABLISHED 1
#define DEVICES_MAX 256
#define ADDRESS_WORDS 4

void routes_clear(struct routes *routes)
{
	free(routes->v);
	*routes = (struct routes){0};
}

/* ---- routes ---- */

static int add_route(struct vfctl_ctx *ctx, struct routes *routes, const struct route *route)
{
	if (str_eq(route->netdev, "lo"))
		return 0;
	if (!array_grow(routes->v, routes->count))
		return ctx_oom(ctx);
	routes->v[routes->count++] = *route;
	return 0;
}

/*
 * A line is "Iface Destination Gateway Flags RefCnt Use Metric Mask ...", with addresses as words
 * in network byte order.
 */
static bool parse_route4(const char *line, struct route *ret)
{
	unsigned to = 0, flags = 0, mask = 0;

	*ret = (struct route){0};
	if (sscanf(line, "%15s %8x %*8x %4x %*d %*d %*d %8x", ret->netdev, &to, &flags, &mask) != 4)
		return false;
	memcpy(ret->prefix, &to, sizeof(to));
	ret->bits = (unsigned)__builtin_popcount(mask);
	return !(flags & RTF_REJECT);
}

/* Every device that is up has routes for fe80::/10 and ff00::/8. */
static bool is_everywhere(const uint8_t *address)
{
	return address[0] == 0xff || (address[0] == 0xfe && (address[1] & 0xc0) == 0x80);
}

/*
 * A line is "DESTINATION LENGTH SOURCE LENGTH HOP METRIC REFERENCES USE FLAGS DEVICE", with
 * addresses as 32 digits.
 */
static bool parse_route6(const char *line, struct route *ret)
{
	unsigned flags;
	char to[33];

	*ret = (struct route){.ipv6 = true};
	if (sscanf(line, "%32s %2x %*s %*s %*s %*s %*s %*s %8x %15s", to, &ret->bits, &flags,
			ret->netdev) != 4 || strlen(to) != 32 || ret->bits > 8 * sizeof(ret->prefix))
		return false;
	for (size_t i = 0; i < sizeof(ret->prefix); i++) {
		char digits[3] = {to[2 * i], to[2 * i + 1], '\0'};

		ret->prefix[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return !(flags & RTF_REJECT) && !(ret->bits && is_everywhere(ret->prefix));
}

static int read_table(struct vfctl_ctx *ctx, const char *path,
	bool (*parse)(const char *line, struct route *ret), struct routes *routes)
{
	_free_ char *text = NULL;
	char *save = NULL;
	int r = 0;

	if (host_try_read(ctx, &text, "%s", path) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line && r == 0; line = strtok_r(NULL, "\n",
		&save)) {
		struct route route;

		if (parse(line, &route))
			r = add_route(ctx, routes, &route);
	}
	return r;
}

int routes_read(struct vfctl_ctx *ctx, struct routes *ret)
{
	_cleanup_(routes_clear) struct routes routes = {0};
	int r = read_table(ctx, "/proc/net/route", parse_route4, &routes);

	if (r == 0)
		r = read_table(ctx, "/proc/net/ipv6_route", parse_route6, &routes);
	if (r < 0)
		return r;
	*ret = steal(routes);
	return 0;
}

/* ---- devices ---- */

static bool has_route(char *const *names, const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static int keep_route(struct vfctl_ctx *ctx, char ***names, const char *name)
{
	size_t count = strv_len(*names);

	if (has_route(*names, name) || count == DEVICES_MAX)
		return 0;
	if (!array_grow(*names, count + 1))
		return ctx_oom(ctx);
	(*names)[count + 1] = NULL;
	(*names)[count] = strdup(name);
	return (*names)[count] ? 0 : ctx_oom(ctx);
}

int routes_devices(struct vfctl_ctx *ctx, const char *netdev, char ***ret_names)
{
	_strv_ char **names = calloc(1, sizeof(*names));
	int r = names ? keep_route(ctx, &names, netdev) : ctx_oom(ctx);

	/* Devices on top of it are appended to the same list, and searched in turn. */
	for (size_t i = 0; r == 0 && names[i]; i++) {
		_strv_ char **entries = NULL;

		if (host_try_list(ctx, &entries, "/sys/class/net/%s", names[i]) < 0)
			continue;
		for (size_t k = 0; entries[k] && r == 0; k++)
			if (str_starts(entries[k], "upper_"))
				r = keep_route(ctx, &names, entries[k] + strlen("upper_"));
	}
	if (r == 0)
		*ret_names = steal(names);
	return r;
}

/*
 * The two halves 0.0.0.0/1 and 128.0.0.0/1 are a default route that keeps another one, as VPNs set
 * it; 2000::/3 is all of IPv6.
 */
static bool is_default(const struct route *route)
{
	return route->bits <= (route->ipv6 ? 3 : 1);
}

const char *routes_through(const struct routes *routes, char *const *names, bool default_only)
{
	for (size_t i = 0; names[i]; i++)
		for (size_t k = 0; k < routes->count; k++)
			if (str_eq(routes->v[k].netdev, names[i]) &&
				(!default_only || is_default(&routes->v[k])))
				return names[i];
	return NULL;
}

/* ---- connections ---- */

struct endpoint {
	uint8_t address[16];
	unsigned port;
	bool ipv6;
};

/* "0100007F:0016": one or four words in network byte order. */
static bool parse_endpoint(const char *text, struct endpoint *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t digits = strcspn(text, ":"), message = digits / 8;

	*ret = (struct endpoint){.ipv6 = message == ADDRESS_WORDS};
	if (digits % 8 || (message != 1 && message != ADDRESS_WORDS) ||
		strspn(text, "0123456789ABCDEFabcdef:") != strlen(text) || /* nor a sign, which %x
									      accepts */
		sscanf(text + digits, ":%4x", &ret->port) != 1)
		return false;
	for (size_t i = 0; i < message; i++) {
		unsigned word;

		if (sscanf(text + 8 * i, "%8x", &word) != 1)
			return false;
		memcpy(ret->address + 4 * i, &word, sizeof(word));
	}
	if (ret->ipv6 && memcmp(ret->address, mapped, sizeof(mapped)) == 0) { /* ::ffff:192.0.2.1 */
		memmove(ret->address, ret->address + sizeof(mapped), 4);
		ret->ipv6 = false;
	}
	return true;
}

static bool covers(const struct route *route, const struct endpoint *e)
{
	unsigned whole = route->bits / 8, rest = route->bits % 8;

	if (route->ipv6 != e->ipv6 || route->bits > 128 || memcmp(route->prefix, e->address, whole) != 0)
		return false;
	return !rest || (route->prefix[whole] ^ e->address[whole]) >> (8 - rest) == 0;
}

/*
 * The device through which the kernel reaches the address; "" if there is none, or if it is a
 * link-local route, which many devices have.
 */
static const char *device_of(const struct routes *routes, const struct endpoint *e)
{
	const struct route *best = NULL;

	for (size_t i = 0; i < routes->count && !(e->ipv6 && is_everywhere(e->address)); i++)
		if (covers(&routes->v[i], e) && (!best || routes->v[i].bits > best->bits))
			best = &routes->v[i];
	return best ? best->netdev : "";
}

static const char *find_among(char *const *names, const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (str_eq(names[i], name))
			return names[i];
	return NULL;
}

/*
 * Find the device of the connection in "sl local remote state ..."; NULL: it uses another device.
 */
static const char *goes_through(const char *line, const struct routes *routes, char *const *names,
	unsigned *ret_port)
{
	char own[48], other[48];
	struct endpoint local, remote;
	const char *name;
	unsigned state;

	if (sscanf(line, " %*[0-9]: %47s %47s %2x", own, other, &state) != 3 || state != TCP_ESTABLISHED ||
		!parse_endpoint(own, &local) || !parse_endpoint(other, &remote) ||
		memcmp(local.address, remote.address, sizeof(local.address)) == 0) /* to itself */
		return NULL;
	*ret_port = local.port;
	name = find_among(names, device_of(routes, &remote));
	return name ? name : find_among(names, device_of(routes, &local));
}

int routes_connection(struct vfctl_ctx *ctx, const struct routes *routes, char *const *names,
	const char **ret_name, unsigned *ret_port)
{
	static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_free_ char *text = NULL;
		char *save = NULL;

		if (host_try_read(ctx, &text, "%s", files[i]) < 0)
			continue;
		for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			unsigned port;
			const char *name = goes_through(line, routes, names, &port);

			if (!name)
				continue;
			*ret_name = name;
			*ret_port = port;
			return 1;
		}
	}
	return 0;
}
