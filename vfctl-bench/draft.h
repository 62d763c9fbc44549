/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_DRAFT_H
#define VFCTL_BENCH_DRAFT_H

#include "bench/plan_draft.h"
#include "command.h"

/* Parts of a plan that bench latency and similar verbs, and tune search, make from options. */

/*
 * Where the server runs, from --on: "netns:wire-b", "ssh:root@node2"; without it over ssh at @to.
 */
int draft_server(struct invocation *in, struct plan_draft *d, const char *to);
/* A configuration of "rx-usecs=0 adaptive-rx=off", named after it. @option: for messages. */
int draft_configuration(struct invocation *in, struct plan_draft *d, const char *option,
	const char *settings);
/* One configuration for each occurrence of @option. */
int draft_configurations(struct invocation *in, struct plan_draft *d, const char *option,
	unsigned *ret_count);
/* Set a member of the last test; for a list such as "64,1024", each value. */
void draft_test(struct plan_draft *d, const char *key, const char *value);
void draft_test_list(struct plan_draft *d, const char *key, const char *values);

#endif
