/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUID_H
#define VFCTL_GUID_H

#include "command.h"
#include "types/hostspec.h"

/* Common parts of the verbs of `vfctl guid`. They return exit statuses. */
struct guid {
	struct invocation *in;
	struct vfctl_host_spec *spec;
	struct vfctl_ids *ids;
};

int guid_pools(struct guid *g);
int guid_list(struct guid *g);
int guid_export(struct guid *g);
int guid_reserve(struct guid *g);
int guid_release(struct guid *g);
int guid_import(struct guid *g);
int guid_sync(struct guid *g);
int guid_orphans(struct guid *g);
int guid_reclaim(struct guid *g);
int guid_publish(struct guid *g);

/* Read a value as a person types it: a GUID, or a MAC if that is allowed. */
int guid_value(const struct invocation *in, const char *text, enum vfctl_id_kind *ret_kind,
	uint64_t *ret_value);
/* The pool of --pool, or NULL if it is not given. */
int guid_pool(struct guid *g, const struct vfctl_id_pool **ret_pool);
/*
 * The domain of --domain: its UUID, and its name if known. @io is not changed if it is not given.
 */
int guid_domain(struct guid *g, struct vfctl_id_owner *io);
/* The P_Key of --pkey as on the wire; 0 if it is not given. */
int guid_pkey(struct guid *g, uint16_t *ret_pkey);

/* One identity as a JSON object. */
void guid_put_id(struct out *out, const char *key, const struct vfctl_id *id);
extern const struct member answer_id[]; /* of a struct vfctl_id */
extern const struct answer guid_pools_answer[], guid_list_answer[], guid_change_answer[],
	guid_import_answer[], guid_sync_answer[], guid_orphans_answer[], guid_reclaim_answer[],
	guid_publish_answer[];
/* "domain NAME vf0", "host NAME 0000:3b:00.2/1"; "" without an owner. Returns @buf. */
#define GUID_WHO 384
char *guid_who(const struct vfctl_id *id, char buf[GUID_WHO]);
/* "2026-01-31T12:00:00Z"; returns @buf. */
#define GUID_TIME 32
char *guid_time(int64_t seconds, char buf[GUID_TIME]);

#endif
