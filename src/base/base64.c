// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base64.h"

#include <errno.h>

static const char alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *out, const void *data, size_t len)
{
	const uint8_t *in = data;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)in[i] << 16 | (n > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
			(n > 2 ? in[i + 2] : 0);
		char quad[4] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63],
			n > 1 ? alphabet[bits >> 6 & 63] : '=', n > 2 ? alphabet[bits & 63] : '='};

		buf_add(out, quad, 4);
	}
}

static int digit(char c)
{
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

int base64_decode(const char *text, char **ret_data, size_t *ret_len)
{
	size_t len = strlen(text), pad, n = 0;
	_free_ char *out = malloc(len / 4 * 3 + 1);

	if (!out)
		return -ENOMEM;
	if (len % 4)
		return -EBADMSG;
	pad = !len || text[len - 1] != '=' ? 0 : text[len - 2] == '=' ? 2 : 1;
	for (size_t i = 0; i < len; i += 4) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 4; k++) {
			int d = i + k < len - pad ? digit(text[i + k]) : 0;

			if (d < 0)
				return -EBADMSG;
			bits = bits << 6 | (uint32_t)d;
		}
		for (int shift = 16; shift >= 0; shift -= 8)
			out[n++] = (char)(bits >> shift & 0xff);
	}
	n -= pad;
	out[n] = '\0';
	*ret_data = steal(out);
	*ret_len = n;
	return 0;
}
