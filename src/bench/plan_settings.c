// SPDX-License-Identifier: GPL-2.0-or-later
/* The settings of a plan's configurations. */
#include "bench/plan.h"

#define MTU_MIN 68
#define MTU_MAX 65520

static int add_setting(struct reader *r, const struct key *key, const char *text, void *object)
{
	struct bench_plan_settings *s = object;
	struct bench_plan_setting *one;

	if (!array_grow(s->v, s->count))
		return ctx_oom(r->ctx);
	one = &s->v[s->count++];
	one->name = strdup(key->name);
	one->value = strdup(text);
	return one->name && one->value ? 0 : ctx_oom(r->ctx);
}

static int read_number_setting(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	uint32_t number;
	_free_ char *text = NULL;
	int error = read_u32(r, &(struct key){key->name, NULL, 0, key->min, key->max, NULL}, value,
		&number);

	if (error < 0)
		return error;
	text = str_format("%u", number);
	return text ? add_setting(r, key, text, object) : ctx_oom(r->ctx);
}

static int read_switch_setting(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	bool on;
	int error = read_switch(r, &(struct key){key->name, NULL, 0, 0, 0, NULL}, value, &on);

	return error < 0 ? error : add_setting(r, key, on ? "on" : "off", object);
}

static int read_word_setting(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	unsigned word;
	int error = read_word(r, &(struct key){key->name, NULL, 0, 0, 0, key->choices}, value, &word);

	return error < 0 ? error : add_setting(r, key, key->choices[word], object);
}

static const char *const ipoib_modes[] = {"datagram", "connected", NULL};
static const char *const governors[] = {"performance", "powersave", "schedutil", "ondemand",
	"conservative", "userspace", NULL};

/* The names of ethtool; the driver reports which of them it supports. */
static const struct key setting_keys[] = {
	{"rx-usecs", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-frames", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-usecs-irq", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-frames-irq", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"tx-usecs", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"tx-frames", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"tx-usecs-irq", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"tx-frames-irq", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-usecs-low", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-frames-low", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-usecs-high", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"rx-frames-high", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"tx-usecs-high", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"pkt-rate-low", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"pkt-rate-high", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"sample-interval", read_number_setting, 0, 0, UINT32_MAX, NULL},
	{"adaptive-rx", read_switch_setting, 0, 0, 0, NULL},
	{"adaptive-tx", read_switch_setting, 0, 0, 0, NULL},
	{"mtu", read_number_setting, 0, MTU_MIN, MTU_MAX, NULL},
	{"ipoib-mode", read_word_setting, 0, 0, 0, ipoib_modes},
	{"governor", read_word_setting, 0, 0, 0, governors},
};
static const struct shape setting_shapes[] = {
	{.read = read_number_setting, .kinds = SHAPE_NUMBER},
	{.read = read_switch_setting, .kinds = SHAPE_SWITCH},
	{.read = read_word_setting, .kinds = SHAPE_WORDS},
};
const struct table bench_setting_table = {setting_keys, ARRAY_SIZE(setting_keys), setting_shapes,
	ARRAY_SIZE(setting_shapes), .required = NULL};

int read_bench_settings(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_inner(r, key, value, &bench_setting_table, (char *)object + key->offset);
}
