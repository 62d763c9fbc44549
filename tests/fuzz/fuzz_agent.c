// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest whose agent may say anything. "answers": a line each is what the agent answers. "output":
 * the agent is well, and what follows the line is what any program prints in the guest (or, by ssh,
 * on another host: the same readers).
 */
#include "any_host.h"
#include "base/base64.h"
#include "bench/checks.h"
#include "guest/tune.h"
#include "remote/agent.h"
#include "remote/settings.h"
#include "spec/host_yaml.h"

struct guest {
	struct vfctl_hypervisor hv;
	bool raw;
	const char *at, *end; /* what is said next */
	unsigned asked;
};

static char *next_answer(struct guest *g)
{
	const char *newline = g->at < g->end ? memchr(g->at, '\n', (size_t)(g->end - g->at)) : NULL;
	const char *stop = newline ? newline : g->end;
	char *text = strndup(g->at, (size_t)(stop - g->at));

	g->at = newline ? newline + 1 : g->end;
	return text;
}

static char *output_answer(const struct guest *g, const char *command)
{
	_buf_ struct buf coded = {0};

	if (!strstr(command, "guest-exec-status"))
		return strdup("{\"return\":{\"pid\":77}}");
	base64_add(&coded, g->at, (size_t)(g->end - g->at));
	return str_format("{\"return\":{\"exited\":true,\"exitcode\":0,\"out-data\":\"%s\",\"err-data\":\"%s\"}}",
		coded.data ? coded.data : "", coded.data ? coded.data : "");
}

static int answer(struct vfctl_ctx *ctx, struct vfctl_hypervisor *self, const char *name,
	const char *command, unsigned timeout_s, char **ret_answer)
{
	struct guest *g = (struct guest *)self;

	/* Whoever asks for ever has not noticed that nothing new is said. */
	FUZZ_CHECK(++g->asked < 100000);
	*ret_answer = g->raw ? next_answer(g) : output_answer(g, command);
	return *ret_answer ? 0 : -ENOMEM;
}

static void run_raw(struct vfctl_ctx *ctx, struct guest *g)
{
	char *argv[] = {"ip", "-o", "link", NULL};
	_buf_ struct buf out = {0}, err = {0};
	int status = -1;

	for (int i = 0; i < 4 && g->at < g->end; i++)
		if (agent_run(ctx, &g->hv, "web", argv, NULL, 1, &out, &err, &status) < 0)
			FUZZ_CHECK(*vfctl_ctx_error(ctx));
}

static void survey(struct vfctl_ctx *ctx, struct guest *g)
{
	static const struct endpoint end = {.name = (char *)"guest", .where = ENDPOINT_GUEST,
		.at = (char *)"web", .device = (char *)"eth0", .rdma = (char *)"mlx5_0"};
	static const char *const version[] = {"--version", NULL};
	char *names[] = {"mtu", "rx-usecs", "adaptive-rx", "tx-queues", "governor", NULL};
	_cleanup_(survey_clear) struct survey s = {0};
	struct place p;
	char *text = NULL;

	if (place_open(ctx, &end, &g->hv, &p) < 0)
		return;
	survey_place(&s, &p, true);
	survey_tool(&s, &p, "iperf3", "iperf3", version, true);
	for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++) {
		char *one[] = {names[i], NULL};

		if (settings_read(&p, "eth0", one, &text) == 0)
			free(text);
		text = NULL;
	}
	place_close(&p);
}

static void tune(struct vfctl_ctx *ctx, struct guest *g)
{
	static const struct vfctl_guest_half_vf vfs[] = {
		{.mac = {.byte = {0x52, 0x54, 0, 0, 0, 1}}, .pf_driver = "igb", .mtu = 1400},
		{.infiniband = true, .rdma = true, .pf_driver = "mlx5_core"}};
	const struct vfctl_profile *profile = vfctl_profile_find(NULL, "latency");
	struct vfctl_guest_half *half = NULL;
	struct vfctl_guest_outcome *outcomes = NULL;
	size_t count = 0;

	FUZZ_CHECK(profile);
	if (vfctl_guest_half_make(ctx, profile, vfs, 2, VFCTL_NETWORK_ANY, &half) < 0)
		return;
	if (vfctl_guest_half_apply(ctx, &g->hv, "web", profile, vfs, 2, half, &outcomes, &count) == 0)
		vfctl_guest_outcomes_free(outcomes, count);
	vfctl_guest_half_free(half);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = size ? memchr(text, '\n', size) : NULL;
	struct guest g = {.hv = {.agent = answer}};
	struct vfctl_ctx *ctx;
	struct any_host any;

	if (!end || vfctl_ctx_new(&ctx) < 0)
		return 0;
	any_host_set(ctx, &any, data, 0);
	g.raw = strncmp(text, "answers\n", 8) == 0;
	g.at = end + 1;
	g.end = text + size;
	if (g.raw) {
		run_raw(ctx, &g);
	} else {
		survey(ctx, &g);
		tune(ctx, &g);
	}
	vfctl_ctx_free(ctx);
	return 0;
}
