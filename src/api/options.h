/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_API_OPTIONS_H
#define VFCTL_API_OPTIONS_H

#include <stddef.h>

struct vfctl_ctx;

/** The calls of the API that take options, as bits. */
enum api_call {
	CALL_SESSION = 1 << 0,
	CALL_CREATE = 1 << 1,
	CALL_DESTROY = 1 << 2,
	CALL_SET = 1 << 3,
	CALL_TUNE = 1 << 4,
	CALL_DEFINE = 1 << 5,
	CALL_UNDEFINE = 1 << 6,
	CALL_ATTACH = 1 << 7,
	CALL_DETACH = 1 << 8,
	CALL_ADOPT = 1 << 9,
	CALL_RECOVER = 1 << 10,
	CALL_REBUILD = 1 << 11,
};

/** An option of a command or of a call, as help shows it. All strings are static. */
struct option_row {
	const char *name;    /**< without "--" */
	char letter;         /**< short form, or 0 */
	const char *arg;     /**< name of the value, for help: "FILE"; NULL: a switch */
	const char *help;
	const char *choices; /**< values for completion, separated by spaces; or NULL */
};

/** The option at @p index of @p call; NULL past the last. */
const struct option_row *call_option(enum api_call call, size_t index);

/** Check options as the call does; 0, or a marked mistake of the caller. */
int call_options_check(struct vfctl_ctx *ctx, enum api_call call, const char *const options[]);

#endif
