/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_DOCTOR_H
#define VFCTL_CHECKS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "types/hostspec.h"
#include "types/inventory.h"

struct vfctl_ctx;

enum vfctl_severity {
	VFCTL_NOTE,    /**< information; nothing is wrong */
	VFCTL_WARNING, /**< it is slow, or may fail later */
	VFCTL_PROBLEM, /**< it does not work */
};
/** "note", "warning", "problem"; never NULL. */
const char *vfctl_severity_name(enum vfctl_severity severity);

/** How vfctl_doctor_fix_plan() fixes an issue. */
enum vfctl_fix {
	VFCTL_FIX_NONE,	   /**< the administrator has to fix it: see the remedy */
	VFCTL_FIX_HOOK,	   /**< install the hook of this vfctl */
	VFCTL_FIX_LINK_UP, /**< set the PF's network device up */
	VFCTL_FIX_VF_LINK, /**< let the VF's link follow the port */
	VFCTL_FIX_FDB,	   /**< add the MACs behind its PF to the card's table */
};

/** A present or coming problem of this host. */
struct vfctl_issue {
	const char *check;  /**< name of the check, static: "pcie-link" */
	enum vfctl_severity severity;
	char subject[256]; /**< a PF, VF, domain or file; "" for the host */
	const char *what;   /**< the finding, a sentence; static */
	char *evidence;	    /**< what was read, and where */
	const char *cause;  /**< static; NULL: @ref what includes the cause */
	char *remedy;
	enum vfctl_fix fix;
	char target[32];    /**< what the fix changes: a PF's address, or PF/INDEX */
	/**
	 * What status calls it (vfctl_findings_read()); NULL: status does not show it.
	 * Problems and warnings:
	 * - "gone"        libvirt does not have the domain of a lease any more
	 * - "renamed"     the domain has another name in libvirt; corrected automatically
	 * - "reserved"    it holds CPUs that host.yaml reserves for the host, or lets guests share
	 * - "absent"      a VF of it does not exist: none were created, or its PF is absent
	 * - "other-pf"    its PF moved, and another PF has its former address
	 * - "taken"       a VF of it is now used elsewhere
	 * - "claimed"     another domain's definition has a VF of it, or its PF; usually a clone
	 * - "dropped"     its domain's definition no longer has a VF of it
	 * - "unguarded"   it runs, and a VF differs from its lease: the hook was not run
	 * - "exposed"     a VF of it is not isolated; host.yaml does not accept that
	 * - "no-monitor"  host.yaml declares bridge:, and the monitor does not run
	 *
	 * Notes:
	 * - "accepted"    a VF of it is not isolated, and host.yaml accepts that
	 * - "trusted"     it may have trust on, or the spoof check off, for a VF
	 * - "unleased"    a domain has VFs that are not leased
	 * - "unread"      a domain's definition can be read only in part
	 * - "left"        a VF that is neither in use nor leased is to be cleaned
	 */
	const char *finding;
	char domain[256];	 /**< of the lease, or with VFs without a lease; "" for the host */
	char vf[VFCTL_BDF_TEXT]; /**< address of the VF concerned, or "" */
};

/** A check that could not be made, or only in part. */
struct vfctl_unexamined {
	const char *check;
	char *why;
};

enum vfctl_presence {
	VFCTL_PRESENT,
	VFCTL_MISSING, /**< an issue names the cause and the remedy */
	VFCTL_UNKNOWN, /**< it could not be checked, see vfctl_doctor_report.unexamined */
};
/** "ok", "missing", "unknown"; never NULL. */
const char *vfctl_presence_name(enum vfctl_presence presence);

/** What a host needs before a guest can have a VF. */
struct vfctl_prerequisite {
	const char *name; /**< for people, static: "IOMMU" */
	enum vfctl_presence presence;
};

struct vfctl_doctor_report {
	struct vfctl_issue *v; /**< the worst first; else in the order of the checks */
	size_t count;
	struct vfctl_unexamined *unexamined;
	size_t unexamined_count;
	size_t checks; /**< number of checks that were made */
	enum vfctl_severity worst; /**< highest severity of @ref v; VFCTL_NOTE if it is empty */
	struct vfctl_prerequisite *prerequisites; /**< in the order in which they build on each other */
	size_t prerequisite_count;
};

/** A check, for help and documents. */
struct vfctl_check {
	const char *name;
	const char *what; /**< the condition that it reports, as a sentence */
};

/** What to check, besides the host. A zeroed struct is valid. */
struct vfctl_doctor_options {
	const struct vfctl_host_spec *spec; /**< declaration of the host; NULL: no declarations
					         are checked */
	/**
	 * Why @ref spec could not be read: a negative errno (-EACCES and -EPERM: this user may not
	 * read it), and its message. 0: it was read.
	 */
	int spec_error;
	const char *spec_text;
	/** Name of a PF or domain: only its findings are reported. NULL: all are. */
	const char *subject;
};
void vfctl_doctor_report_free(struct vfctl_doctor_report *report);
DEFINE_FREEP(struct vfctl_doctor_report, vfctl_doctor_report_free)

/* ---- ready for a run ---- */

enum vfctl_ready { VFCTL_READY_OK, VFCTL_READY_PROBLEM, VFCTL_READY_UNKNOWN };

/** One item of the checklist before a run. */
struct vfctl_ready_item {
	char subject[64]; /**< name of the PF; "": the host */
	const char *item; /**< "port", "PCIe", ...; static */
	enum vfctl_ready state;
	char *found;  /**< what was read */
	char *remedy; /**< NULL: it is not a problem */
};

struct vfctl_readiness {
	struct vfctl_ready_item *v;
	size_t count, problems;
};

/**
 * Check what a measurement or a job needs of PFs and the host: driver, firmware, link, RDMA port,
 * subnet manager, MTU, PCIe link, the governor of local CPUs, and the limit of locked memory of
 * this process.
 * @param pfs    of the inventory; all network cards if @p count is 0.
 * @param ret    freed with vfctl_readiness_free().
 * @return 0 or -ENOMEM. What cannot be read is VFCTL_READY_UNKNOWN.
 */
int vfctl_readiness_read(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const struct vfctl_pf *const *pfs, size_t count, struct vfctl_readiness **ret);
void vfctl_readiness_free(struct vfctl_readiness *report);
DEFINE_FREEP(struct vfctl_readiness, vfctl_readiness_free)
/** "ok", "problem", "unknown". */
const char *vfctl_ready_name(enum vfctl_ready state);

/** The state of a PF's links, and what its driver and the kernel counted since they were loaded. */
struct vfctl_pf_health {
	/* PCIe, the link next to the card; 0: not known */
	double link_gts;	    /**< GT/s of each lane, now */
	double link_gts_possible;   /**< what both ends support */
	unsigned lanes, lanes_possible;
	bool errors_known; /**< the next three are known (AER) */
	uint64_t correctable_errors, nonfatal_errors, fatal_errors;
	bool counters_known; /**< the counters of its network device are known */
	uint64_t rx_errors, tx_errors;
	uint64_t rx_missed; /**< packets that were dropped because no buffer was free: the host
			         was too slow */
	uint64_t link_downs;
	bool port_known; /**< port 1 of its RDMA device was read */
	uint64_t symbol_errors, port_receive_errors, port_downs;
};

/** Read it from sysfs; a value that is absent there is 0. */
void vfctl_pf_health_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	struct vfctl_pf_health *ret);

#endif
