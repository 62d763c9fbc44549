/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PROGRAM_TEXT_H
#define VFCTL_BENCH_PROGRAM_TEXT_H

#include "command.h"

/* A plan that is being written. Zeroed, it is empty. */
struct plan_text {
	char data[16384];
	size_t len;
	bool full; /* something did not fit */
};

void plan_put(struct plan_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 'VALUE', a YAML scalar that is nothing but text; and KEY: 'VALUE'. */
void plan_put_quoted(struct plan_text *t, const char *value);
void plan_put_scalar(struct plan_text *t, const char *key, const char *value);
/* Where the other end is, of --on: "netns:wire-b", "ssh:root@node2"; without: by ssh at @to. */
int plan_put_peer(struct invocation *in, struct plan_text *t, const char *to);
/* A configuration of "rx-usecs=0 adaptive-rx=off", named after it. @option: for words. */
int plan_put_configuration(struct invocation *in, struct plan_text *t, const char *option,
	const char *settings);
/* One for each time that @option was given. */
int plan_put_configurations(struct invocation *in, struct plan_text *t, const char *option,
	unsigned *ret_count);
/* "64,1024" as it stands within a list of YAML; "5s". */
bool plan_is_list(const char *text);
bool plan_is_time(const char *text);

#endif
