// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of etcd, and records in it: any bytes are read or refused, never more. */
#include "base/base64.h"
#include "fuzz.h"
#include "fleet/etcd.h"
#include "fleet/record.h"

static void read_txn(struct vfctl_ctx *ctx, const char *text, size_t len, const size_t ops[2])
{
	struct etcd_answer a = {0};

	if (etcd_answer_read(ctx, "/vfctl/", text, len, ops, &a) < 0)
		return;
	FUZZ_CHECK(a.revision > 0 && a.count == ops[a.succeeded ? ETCD_THEN : ETCD_ELSE]);
	for (size_t i = 0; i < a.count; i++)
		for (size_t k = 0; k < a.results[i].count; k++) {
			FUZZ_CHECK(a.results[i].kvs[k].key && a.results[i].kvs[k].modified > 0);
			FUZZ_CHECK(!a.results[i].kvs[k].value[a.results[i].kvs[k].value_len]);
		}
	etcd_answer_clear(&a);
}

/* A record that was read is written in the same form. */
static void read_record(struct vfctl_ctx *ctx, const char *text, size_t len)
{
	struct vfctl_id id, again;
	char *written;

	if (fleet_record_read(ctx, VFCTL_ID_GUID, 0x200, text, len, &id) < 0)
		return;
	written = fleet_record_write(&id);
	FUZZ_CHECK(written);
	FUZZ_CHECK(fleet_record_read(ctx, VFCTL_ID_GUID, 0x200, written, strlen(written),
		&again) == 0);
	FUZZ_CHECK(again.pkey == id.pkey && again.since == id.since && again.state == id.state &&
		str_eq(again.owner.host, id.owner.host));
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t one[2] = {1, 1}, some[2] = {2, 4};
	struct vfctl_ctx ctx = {0};
	char *text = malloc(size + 1), *token = NULL, message[192], *bytes = NULL;
	int64_t lease, ttl;
	size_t len;
	int error;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_txn(&ctx, text, size, one);
	read_txn(&ctx, text, size, some);
	read_record(&ctx, text, size);
	etcd_answer_lease(&ctx, text, size, &lease, &ttl);
	if (etcd_answer_token(&ctx, text, size, &token) == 0)
		FUZZ_CHECK(*token);
	etcd_answer_refusal(503, text, size, message, &error);
	FUZZ_CHECK(error < 0 && strlen(message) < sizeof(message));
	if (base64_decode(text, &bytes, &len) == 0) {
		_buf_ struct buf again = {0};

		base64_add(&again, bytes, len);
		FUZZ_CHECK(again.len == strlen(text)); /* spare bits may differ */
	}
	free(bytes);
	free(token);
	free(text);
	ctx_clear(&ctx);
	return 0;
}
