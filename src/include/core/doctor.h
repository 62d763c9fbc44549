/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_DOCTOR_H
#define VFCTL_CORE_DOCTOR_H

#include "core/change.h"
#include "core/cleanup.h"
#include "core/hostspec.h"
#include "core/snapshot.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vfctl_severity {
	VFCTL_NOTE,    /**< to be known; nothing is wrong */
	VFCTL_WARNING, /**< it will be slow, or fail at some point */
	VFCTL_PROBLEM, /**< it does not work */
};
/** "note", "warning", "problem"; never NULL. */
const char *vfctl_severity_name(enum vfctl_severity severity);

/** What vfctl_doctor_fix_plan() does about an ailment. */
enum vfctl_fix {
	VFCTL_FIX_NONE,	   /**< it is the administrator's: see the remedy */
	VFCTL_FIX_HOOK,	   /**< install the hook of this vfctl */
	VFCTL_FIX_LINK_UP, /**< set the PF's network device up */
	VFCTL_FIX_VF_LINK, /**< let the VF's link follow the port */
	VFCTL_FIX_FDB,	   /**< tell the card which MACs are behind its PF */
};

/** Something that is wrong with this host, or will be. */
struct vfctl_ailment {
	const char *check;  /**< name of the check, static: "pcie-link" */
	enum vfctl_severity severity;
	char subject[64];   /**< a PF, VF, domain or file; "" the host */
	const char *what;   /**< the finding, a sentence; static */
	char *evidence;	    /**< what was read, and where */
	const char *cause;  /**< static; NULL: it is in @ref what */
	char *remedy;
	enum vfctl_fix fix;
	char target[32];    /**< of the fix: a PF's address, or PF/INDEX */
};

/** A check that could not be made, or not of everything. */
struct vfctl_unexamined {
	const char *check;
	char *why;
};

enum vfctl_presence {
	VFCTL_PRESENT,
	VFCTL_MISSING, /**< an ailment says why, and what helps */
	VFCTL_UNKNOWN, /**< it could not be looked at, see vfctl_diagnosis.unexamined */
};
/** "ok", "missing", "unknown"; never NULL. */
const char *vfctl_presence_name(enum vfctl_presence presence);

/** What a host needs before a guest can have a VF. */
struct vfctl_prerequisite {
	const char *name; /**< for people, static: "IOMMU" */
	enum vfctl_presence presence;
};

struct vfctl_diagnosis {
	struct vfctl_ailment *v; /**< the worst first; else in the order of the checks */
	size_t count;
	struct vfctl_unexamined *unexamined;
	size_t unexamined_count;
	size_t checks; /**< that were made */
	enum vfctl_severity worst; /**< of those above; with none NOTE */
	struct vfctl_prerequisite *prerequisites; /**< in the order in which they build on each other */
	size_t prerequisite_count;
};

/** A check, for help and documents. */
struct vfctl_check {
	const char *name;
	const char *what; /**< a sentence: what is so when it speaks */
};
/** @return false past the end. */
bool vfctl_check_at(size_t index, struct vfctl_check *ret);

/** What is looked at, besides the host; all zero is fine. */
struct vfctl_doctor_options {
	const struct vfctl_host_spec *spec; /**< what the host declares; NULL: nothing is said of that */
	/** What kept @ref spec from being read: a negative errno (-EACCES and -EPERM: this user may not),
	 * and the words. 0: nothing did. */
	int spec_error;
	const char *spec_words;
	/** A PF's name or a domain's; only what concerns it is told. NULL: all. */
	const char *subject;
};

/**
 * Look for what is known to go wrong on SR-IOV hosts. Nothing is changed. Works on captures, and
 * without being root: what cannot be read is in the answer.
 * @param snapshot  of all PFs.
 * @param options  NULL: all zero; borrowed during the call.
 * @param ret  freed with vfctl_diagnosis_free().
 * @return 0; -ENOENT there is no such PF or domain; -ENOMEM.
 */
int vfctl_doctor_examine(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_doctor_options *options, struct vfctl_diagnosis **ret);
void vfctl_diagnosis_free(struct vfctl_diagnosis *diagnosis);
DEFINE_FREEP(struct vfctl_diagnosis, vfctl_diagnosis_free)

/**
 * Plan the fix of one ailment.
 * @return 0; -EOPNOTSUPP it has none; what the change cannot be planned for.
 */
int vfctl_doctor_fix_plan(struct vfctl_ctx *ctx, const struct vfctl_ailment *ailment, bool dry_run,
	struct vfctl_change **ret_change);

/** The state of a PF's links, as its driver and the kernel count since they were loaded. */
struct vfctl_pf_health {
	/* PCIe, the last hop; 0: not known */
	double link_gts;	    /**< GT/s of each lane, now */
	double link_gts_possible;   /**< what both ends can */
	unsigned lanes, lanes_possible;
	bool errors_known; /**< of the next three: AER */
	uint64_t correctable_errors, nonfatal_errors, fatal_errors;
	bool counters_known; /**< of its network device */
	uint64_t rx_errors, tx_errors;
	uint64_t rx_missed; /**< packets that found no place: the host was too slow */
	uint64_t link_downs;
	bool port_known; /**< of port 1 of its RDMA device */
	uint64_t symbol_errors, port_receive_errors, port_downs;
};

/** Read it from sysfs; what is not there is 0. */
void vfctl_pf_health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_health *ret);

/** What a PF's driver watches by itself and tells devlink of: its firmware, its queues. */
struct vfctl_pf_reporter {
	char name[32]; /**< "fw", "fw_fatal", "tx" */
	bool error;    /**< in an error that it has not recovered from */
	uint64_t errors, recoveries; /**< since the driver was loaded */
};

/**
 * Ask devlink for the health reporters of a PF. Those of one name, of several ports, are one: their
 * counts together.
 * @param ret_reporters  freed with free(); NULL when there are none.
 * @return 0, also for a driver that has none; -EOPNOTSUPP a kernel without devlink, or a capture
 * without its answers; what the kernel said otherwise.
 */
int vfctl_pf_reporters_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_reporter **ret_reporters, size_t *ret_count);

/**
 * The directory of node_exporter's textfile collector: what the one that runs was told
 * (--collector.textfile.directory), else a usual one that exists.
 * @param ret  freed by the caller.
 * @return 0; -ENOENT none is found, and the message says what to do; -ENOMEM.
 */
int vfctl_textfile_directory(struct vfctl_ctx *ctx, char **ret);

#ifdef __cplusplus
}
#endif
#endif
