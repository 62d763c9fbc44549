// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to etcd and the parsing of its answers, without a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/json.h"
#include "fleet/etcd.h"
#include "fleet/record.h"

static void base64_is_rfc_4648s(void **state)
{
	static const char *const pairs[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		_buf_ struct buf b = {0};
		_free_ char *back = NULL;
		size_t len;

		base64_add(&b, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(b.len ? b.data : "", pairs[i][1]);
		assert_int_equal(base64_decode(pairs[i][1], &back, &len), 0);
		assert_int_equal(len, strlen(pairs[i][0]));
		assert_string_equal(back, pairs[i][0]);
	}
}

static void base64_refuses_what_is_none(void **state)
{
	static const char *const bad[] = {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9 ",
		"Zm9\n", "Zm-_", "=Zm9"};
	char *data;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(base64_decode(bad[i], &data, &len), -EBADMSG);
}

static void numbers_come_as_text_too(void **state)
{
	static const char text[] = "{\"a\":\"9223372036854775807\",\"b\":7,\"c\":\"x\",\"d\":\" 1\","
				   "\"e\":1.5,\"f\":\"9223372036854775808\",\"g\":\"\"}";
	struct vfctl_ctx *ctx;
	struct json *root;
	int64_t n;

	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	assert_int_equal(json_read(ctx, "it", text, strlen(text), &root), 0);
	assert_int_equal(json_number(json_member(root, "a"), &n), 0);
	assert_true(n == INT64_MAX);
	assert_int_equal(json_number(json_member(root, "b"), &n), 0);
	assert_int_equal(n, 7);
	assert_int_equal(json_number(json_member(root, "absent"), &n), 0);
	assert_int_equal(n, 0);
	for (const char *key = "c\0d\0e\0f\0g\0"; *key; key += 2)
		assert_int_equal(json_number(json_member(root, key), &n), -EBADMSG);
	json_free(root);
	vfctl_ctx_free(ctx);
}

static void a_record_keeps_any_name(void **state)
{
	struct vfctl_id id = {.value = 0x200, .state = VFCTL_ID_LEASED, .pkey = 0x8010}, back;
	struct vfctl_ctx *ctx;
	_free_ char *text = NULL;

	assert_int_equal(vfctl_ctx_new(&ctx), 0);
	strcpy(id.owner.domain_name, "a \"b\" \\ \n \303\251 </script>");
	strcpy(id.owner.device, "0000:3b:00.2/1");
	text = fleet_record_write(&id);
	assert_int_equal(fleet_record_read(ctx, VFCTL_ID_GUID, 0x200, text, strlen(text), &back),
		0);
	assert_memory_equal(&id, &back, sizeof(id));
	vfctl_ctx_free(ctx);
}

static void refusals_mean_what_etcd_says(void **state)
{
	static const struct {
		long status;
		const char *text;
		enum etcd_verdict verdict;
		int error;
	} rows[] = {
		{503, "{\"message\":\"etcdserver: leader changed\"}", ETCD_UNSURE, -EHOSTUNREACH},
		{503, "{\"error\":\"etcdserver: no leader\"}", ETCD_AGAIN, -EHOSTUNREACH},
		{429, "{\"error\":\"etcdserver: too many requests\"}", ETCD_AGAIN, -EHOSTUNREACH},
		{429, "{\"error\":\"etcdserver: mvcc: database space exceeded\"}", ETCD_FINAL,
			-EDQUOT},
		{401, "{\"error\":\"etcdserver: invalid auth token\"}", ETCD_LOGIN, -EACCES},
		{403, "{\"error\":\"etcdserver: permission denied\"}", ETCD_FINAL, -EACCES},
		{404, "<html>", ETCD_OTHER, -EBADMSG},
		{500, "", ETCD_UNSURE, -EBADMSG},
		{502, "Bad Gateway", ETCD_UNSURE, -EHOSTUNREACH},
		{400, "{\"error\":7}", ETCD_OTHER, -EBADMSG},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char message[192];
		int error;

		assert_int_equal(etcd_answer_refusal(rows[i].status, rows[i].text,
			strlen(rows[i].text), message, &error), rows[i].verdict);
		assert_int_equal(error, rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_rfc_4648s),
		cmocka_unit_test(base64_refuses_what_is_none),
		cmocka_unit_test(numbers_come_as_text_too),
		cmocka_unit_test(a_record_keeps_any_name),
		cmocka_unit_test(refusals_mean_what_etcd_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
