// SPDX-License-Identifier: GPL-2.0-or-later
#include "types/idrange.h"

#include "base/util.h"

/* Bits below the first byte. */
static unsigned shift_of(enum vfctl_id_kind kind)
{
	return kind == VFCTL_ID_GUID ? 56 : 40;
}

const char *id_fault(enum vfctl_id_kind kind, uint64_t value)
{
	if (kind == VFCTL_ID_GUID)
		return vfctl_guid_fault(value);
	if (value >> 48)
		return "has more than 6 bytes";
	if (value == 0)
		return "is zero, which is not a MAC";
	if (value >> shift_of(kind) & 1)
		return "is a multicast MAC (its first byte is odd)";
	return NULL;
}

bool idranges_add(struct idranges *r, enum vfctl_id_kind kind, uint64_t first,
	uint64_t last)
{
	unsigned shift = shift_of(kind);
	uint64_t rest = (UINT64_C(1) << shift) - 1;

	for (uint64_t byte = first >> shift; byte <= last >> shift; byte += 2) {
		uint64_t low = byte << shift, high = low | rest;

		if (!array_grow(r->v, r->count))
			return false;
		r->v[r->count++] = (struct vfctl_id_range){
			.first = low > first ? low : first, .last = high < last ? high : last};
	}
	return true;
}

static int by_first(const void *left, const void *right)
{
	const struct vfctl_id_range *a = left, *b = right;

	return a->first < b->first ? -1 : a->first > b->first;
}

bool idranges_settle(struct idranges *r, uint64_t *ret_overlap)
{
	size_t n = 0;

	if (!r->count)
		return true;
	qsort(r->v, r->count, sizeof(*r->v), by_first);
	for (size_t i = 1; i < r->count; i++)
		if (r->v[i].first <= r->v[i - 1].last) {
			*ret_overlap = r->v[i].first;
			return false;
		}
	for (size_t i = 1; i < r->count; i++)
		if (r->v[i].first - 1 == r->v[n].last)
			r->v[n].last = r->v[i].last;
		else
			r->v[++n] = r->v[i];
	r->count = n + 1;
	return true;
}

ssize_t idranges_find(const struct vfctl_id_range *v, size_t count, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (value < v[mid].first)
			high = mid;
		else if (value > v[mid].last)
			low = mid + 1;
		else
			return (ssize_t)mid;
	}
	return -1;
}

bool idranges_share(const struct vfctl_id_range *a, size_t a_count,
	const struct vfctl_id_range *b, size_t b_count, uint64_t *ret_value)
{
	size_t i = 0, k = 0;

	while (i < a_count && k < b_count) {
		if (a[i].last < b[k].first) {
			i++;
		} else if (b[k].last < a[i].first) {
			k++;
		} else {
			*ret_value = a[i].first > b[k].first ? a[i].first : b[k].first;
			return true;
		}
	}
	return false;
}

uint64_t idranges_size(const struct vfctl_id_range *v, size_t count)
{
	uint64_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += v[i].last - v[i].first + 1;
	return size;
}

uint64_t idranges_at(const struct vfctl_id_range *v, size_t count, uint64_t n)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t size = v[i].last - v[i].first + 1;

		if (n < size)
			return v[i].first + n;
		n -= size;
	}
	return v[0].first; /* not reached: n < size */
}

char *vfctl_id_format(enum vfctl_id_kind kind, uint64_t value, char buf[VFCTL_ID_TEXT])
{
	struct vfctl_mac mac;

	if (kind == VFCTL_ID_GUID)
		return vfctl_guid_format(value, buf);
	for (unsigned i = 0; i < sizeof(mac.byte); i++)
		mac.byte[i] = (uint8_t)(value >> (40 - 8 * i));
	return vfctl_mac_format(&mac, buf);
}
