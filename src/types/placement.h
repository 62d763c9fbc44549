/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_PLACEMENT_H
#define VFCTL_TYPES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cpuset.h"
#include "types/inventory.h"
#include "types/pci.h"
#include "types/topology.h"
#include "vfctl/placement.h"

struct vfctl_remedy;

#define VFCTL_VCPU_MAX 4096 /**< QEMU's limit for q35 (9.1) */
#define VFCTL_EMULATOR_CORES_MAX 64
/**
 * emulator_cores: the host's reserved CPUs, or else a core that QEMU's threads of several guests
 * share
 */
#define VFCTL_EMULATOR_AUTO UINT32_MAX
/**
 * Number of guests whose QEMU threads share one CPU of such a core (docs/explanation/placement.md).
 */
#define VFCTL_QEMU_GUESTS_PER_CPU 8
#define VFCTL_IOTHREADS_MAX 64
#define VFCTL_GUEST_VFS_MAX 64 /**< VFs of one guest */
#define VFCTL_CELLS_MAX 64     /**< NUMA cells of one guest */
#define VFCTL_MODEL_NODES_MAX 64 /**< the planner's limit */
#define VFCTL_MODEL_FILE_MAX (16 * 1024 * 1024) /**< bytes; a longer model is rejected */
#define VFCTL_FABRIC_ANY (-1)
/** Fabrics that vfctl_model_read() distinguishes; other callers may use higher numbers. */
#define VFCTL_FABRIC_ETHERNET 1
#define VFCTL_FABRIC_INFINIBAND 2
#define VFCTL_FABRIC_OTHER 3 /**< VFs of devices that are not network cards */
#define VFCTL_CELL_ANY (-1)  /**< for a VF: the best cell */
#define VFCTL_CELL_EACH (-2) /**< for a want: its count in every cell */
#define VFCTL_PAGES_BASE 0          /**< page_bytes: no huge pages */
#define VFCTL_PAGES_AUTO UINT64_MAX /**< page_bytes: the largest size whose pool has enough pages */
#define VFCTL_ROOT_UNKNOWN UINT32_MAX
/** Shared vCPUs per shared CPU, unless the host states another ratio. */
#define VFCTL_SHARED_RATIO 4

/** How vCPUs use the hardware threads of their whole cores. */
enum vfctl_threads {
	/** Use all threads; the guest sees siblings if its vCPUs fill the cores evenly. */
	VFCTL_THREADS_PREFER,
	/** Like prefer, but refuse if the guest would not see siblings. */
	VFCTL_THREADS_REQUIRE,
	/** One vCPU per core; its siblings stay idle. */
	VFCTL_THREADS_ISOLATE,
	/** Use all threads; the guest sees a flat list of cores. */
	VFCTL_THREADS_NONE,
};

/**
 * How near a resource must be to a cell of the guest. It is local to a node if no node with CPUs is
 * nearer, so a device on a node without CPUs is local to the nearest nodes.
 */
enum vfctl_affinity {
	VFCTL_AFFINITY_REQUIRED,  /**< local, or of unknown locality (which is reported) */
	VFCTL_AFFINITY_PREFERRED, /**< the nearest that is available */
	VFCTL_AFFINITY_SOCKET,	  /**< local to some node of the cell's package */
	VFCTL_AFFINITY_ANY,	  /**< distance does not count */
};

/** A free VF or, for an occupant, a VF that it holds. */
struct vfctl_free_vf {
	struct vfctl_bdf bdf;
	struct vfctl_bdf pf;
	uint32_t index; /**< index of the VF in its PF */
	int node;       /**< as the kernel reports it; VFCTL_NODE_NONE without locality */
	int fabric;     /**< number of its network, chosen by the caller, >= 0 */
	uint32_t port;  /**< physical port of its card, from 1; 0: unknown */
	uint32_t root;  /**< PCI root complex: domain << 8 | root bus; VFCTL_ROOT_UNKNOWN */
};

/** A physical function: its names, and what all its VFs have in common. */
struct vfctl_model_pf {
	struct vfctl_bdf bdf;
	char **names; /**< all its names, the most usual one first; NULL-terminated */
	int node;
	int fabric;
	uint32_t port;
	uint32_t root;
	uint32_t num_vfs; /**< number of VFs, held or free */
	uint32_t max_vfs; /**< number of VFs that it can have */
	char *exposed; /**< why no guest gets its other free VFs, or more of them; NULL: guests get them */
	/* For display; the planner uses none of these. */
	char *card;	     /**< vendor and device from pci.ids; NULL: not read, or unknown */
	char *driver;	     /**< NULL: unknown */
	uint32_t speed_mbps; /**< of its port; 0: unknown */
	enum vfctl_eswitch eswitch;
	char *bond;	    /**< the bond of its network device; NULL: none */
	enum vfctl_lag lag; /**< of that bond */
};

/** A PF, and its distance from a GPU. */
struct vfctl_gpu_link {
	struct vfctl_bdf pf;
	enum vfctl_pci_distance distance;
};

/** A GPU or another accelerator. For display; the planner does not use it. */
struct vfctl_model_gpu {
	struct vfctl_bdf bdf;
	char *vendor; /**< "NVIDIA", "AMD", "Intel", or "0x1da3" */
	char *driver; /**< NULL: none, or unknown */
	int node;
	struct vfctl_gpu_link *links; /**< one for each PF of the model */
	size_t link_count;
};

/** Memory that a guest holds, or will hold when it starts. */
struct vfctl_promise {
	int node;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE, or the size of huge pages */
	uint64_t bytes;
	bool taken; /**< the guest runs, so the kernel's free counts include it */
	uint32_t shared_vcpus; /**< of a cell of an occupant: its vCPUs on shared CPUs of the node */
};

/** VFs that a guest requests. */
struct vfctl_vf_want {
	bool any_pf;
	struct vfctl_bdf pf; /**< ignored if any_pf */
	int fabric;          /**< VFCTL_FABRIC_ANY, or the required fabric */
	const char *fabric_name; /**< for reasons; NULL: its number */
	uint32_t port;       /**< required physical port; 0: any */
	uint32_t count;      /**< 1 .. VFCTL_GUEST_VFS_MAX */
	int cell;            /**< VFCTL_CELL_ANY, VFCTL_CELL_EACH, or a cell's number */
	enum vfctl_affinity affinity;
	/** VFs of wants with the same number are on different PFs; 0: no such rule. */
	uint32_t anti_affinity;
};

/** A guest that is already placed: one with a lease, or a foreign domain. */
struct vfctl_occupant {
	char *name;
	char uuid[37];	/**< "" if not known */
	bool foreign;	/**< vfctl did not define it: it is never moved */
	bool running;
	struct vfctl_cpuset cpus;  /**< whole cores that only it holds */
	/** A whole core for QEMU's threads of this and other guests; usually empty. */
	struct vfctl_cpuset qemu_cpus;
	struct vfctl_promise *memory; /**< one entry per cell */
	size_t memory_count;
	struct vfctl_free_vf *vfs;
	size_t vf_count;
	/**
	 * The request for each of @ref vfs, one VF each; NULL: not known, so a move may use any PF
	 * of the same fabric.
	 */
	struct vfctl_vf_want *wants;
	/**
	 * It is not moved now: it is already moving from one place to another, or libvirt does not
	 * have it any more.
	 */
	bool changing;
	bool pinned; /**< its request names its nodes: it stays on them */
};

#define VFCTL_TYPICAL_MAX 12 /**< kinds of typical guests */

/**
 * A kind of guest that is expected next. A plan is rated by how many such guests would still fit.
 */
struct vfctl_typical {
	uint32_t vcpus; /**< 1 .. VFCTL_VCPU_MAX, on dedicated hardware threads */
	uint32_t cells; /**< number of nodes that it needs, 1 or more */
	uint32_t vfs;	/**< VFs that it needs near it; 0: none */
	uint32_t share; /**< weight of this kind compared with the others; 1 .. 1000 */
};

/** The input of the planner, which does not change it. */
struct vfctl_host_model {
	struct vfctl_topology *topology;
	struct vfctl_cpuset reserved_cpus; /**< reserved for the host, never given to vCPUs */
	char *reserved_why; /**< where they are stated, for messages; or NULL */
	/** CPUs for shared vCPUs, pooled per node; never given to one guest alone. */
	struct vfctl_cpuset shared_cpus;
	uint32_t shared_ratio; /**< shared vCPUs per such CPU; 0: VFCTL_SHARED_RATIO */
	struct vfctl_cpuset busy_cpus; /**< CPUs that are held, but not by occupants */
	struct vfctl_promise *promises; /**< memory that is held, but not by occupants */
	size_t promise_count;
	/** Reserved for the host on every node if a guest takes base pages, bytes. */
	uint64_t host_memory_bytes;
	struct vfctl_free_vf *vfs; /**< free VFs */
	size_t vf_count;
	struct vfctl_model_pf *pfs; /**< optional: only used in messages */
	size_t pf_count;
	struct vfctl_model_gpu *gpus; /**< by address */
	size_t gpu_count;
	struct vfctl_occupant *occupants;
	size_t occupant_count;
	/** Guests that are expected next; none: see docs/explanation/placement.md. */
	struct vfctl_typical typical[VFCTL_TYPICAL_MAX];
	size_t typical_count;
	char *typical_why; /**< source of the list, for messages; NULL: none */
};

/** The distance of a GPU from a PF; VFCTL_PCI_DISTANCE_UNKNOWN if the model does not state it. */
enum vfctl_pci_distance vfctl_gpu_distance(const struct vfctl_model_gpu *gpu,
	const struct vfctl_bdf *pf);

/** One NUMA cell that the guest requests. */
struct vfctl_cell_want {
	uint32_t vcpus;	       /**< including the shared ones */
	uint64_t memory_bytes; /**< a multiple of page_bytes */
	int node;	       /**< VFCTL_NODE_NONE: any */
};

/** The requirements of one guest. */
struct vfctl_request {
	const char *name; /**< for messages */
	uint32_t vcpus;   /**< 1 .. VFCTL_VCPU_MAX */
	uint32_t shared_vcpus; /**< how many of them, the last ones of each cell, run on shared CPUs */
	enum vfctl_threads threads;
	/**
	 * Cores for QEMU's own threads, 0 .. VFCTL_EMULATOR_CORES_MAX. 0: they run on the reserved
	 * CPUs of the host; without these, on the shared CPUs; otherwise on the guest's own CPUs,
	 * if necessary on those of vCPUs, with a warning. VFCTL_EMULATOR_AUTO: they run on the
	 * reserved CPUs of a node of the guest; without these, on a core of such a node that they
	 * share with the threads of other guests; for a guest that takes the whole host, as with 0.
	 */
	uint32_t emulator_cores;
	bool has_emulator; /**< they already have their CPUs, wherever these are */
	uint32_t iothreads;
	uint32_t iothread_cores; /**< 0: they share the CPUs of QEMU's own threads */
	uint64_t memory_bytes;   /**< a multiple of page_bytes */
	uint64_t page_bytes;     /**< or VFCTL_PAGES_BASE, VFCTL_PAGES_AUTO */
	/** REQUIRED: each cell's memory is on its node; PREFERRED: or else on the nearest one. */
	enum vfctl_affinity memory_affinity;
	int node; /**< VFCTL_NODE_NONE: any; otherwise the whole guest is placed there */
	/**
	 * Required cells, each on a different node; their sums are vcpus and memory_bytes. NULL: as
	 * few cells as possible, at most @ref cells_max.
	 */
	const struct vfctl_cell_want *cells;
	size_t cell_count;
	uint32_t cells_max;    /**< 0: as many as the host has nodes */
	bool whole_node;       /**< no other guest is, or will be, on its nodes */
	bool whole_l3;	       /**< its cores fill L3 groups that no other guest uses */
	unsigned max_distance; /**< largest distance between its nodes, and to its VFs; 0: no limit */
	const struct vfctl_vf_want *wants;
	size_t want_count;
};

/** One line of text, without newline. */
struct vfctl_reason {
	enum vfctl_reason_kind kind;
	bool of_vf; /**< the place of a VF: one for each VF, in their order */
	char *text;
};

/** The resources of one NUMA cell of the guest. */
struct vfctl_cell {
	int node;	 /**< node of its CPUs */
	int memory_node; /**< the same, unless its memory had to come from another node */
	uint32_t first_vcpu, vcpu_count; /**< its vCPUs, numbered consecutively */
	uint32_t shared_vcpus; /**< how many of these, the last ones, run on @ref shared_cpus */
	struct vfctl_cpuset shared_cpus;
	uint64_t memory_bytes;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE or a size, never AUTO */
	uint32_t l3_groups;  /**< number of L3 caches of its own cores, if it fills all of them
				  equally; else 0 */
};

/** The answer to one request. If the guest is not placed, it contains only reasons. */
struct vfctl_assignment {
	enum vfctl_refusal refusal;
	struct vfctl_cell *cells;
	size_t cell_count;
	int node; /**< of the first cell; VFCTL_NODE_NONE if the guest is refused */
	/** Host CPU of each vCPU, siblings adjacent; VFCTL_CPU_MAX for a shared vCPU. */
	uint32_t *vcpus;
	size_t vcpu_count;
	/**
	 * Threads per core that the guest should see: 1, or the number that its vCPUs really share.
	 */
	uint32_t guest_threads;
	struct vfctl_cpuset emulator_cpus;
	bool emulator_shared; /**< emulator_cpus is a core of several guests, not in held_cpus */
	struct vfctl_cpuset iothread_cpus; /**< empty without iothreads */
	/** All threads of all assigned cores, including idle siblings; the lease holds these. */
	struct vfctl_cpuset held_cpus;
	uint64_t memory_bytes; /**< of all cells */
	uint64_t page_bytes;   /**< of the first cell */
	/** In the order of the wants, the VFs of each want together. */
	struct vfctl_free_vf *vfs;
	uint32_t *vf_wants; /**< for each VF, the index of its want */
	uint32_t *vf_cells; /**< for each VF, the nearest cell, or the requested one */
	size_t vf_count;
	bool local;	   /**< all memory and all VFs (except those of affinity any) are local */
	uint64_t distance; /**< the value that the planner minimized, see docs/explanation/placement.md */
	struct vfctl_reason *reasons;
	size_t reason_count;
	struct vfctl_remedy *remedies; /**< private to the library: what the remedies change */
	size_t remedy_count;
};

/** The criteria for a plan, most important first. */
enum vfctl_plan_level {
	VFCTL_LEVEL_PLACED,	  /**< guests placed: more is better */
	VFCTL_LEVEL_LOCAL,	  /**< placed guests that are fully local: more is better */
	VFCTL_LEVEL_MOVES,	  /**< guests that leave their place: less is better */
	VFCTL_LEVEL_DISTANCE,	  /**< weighted distance: less is better */
	VFCTL_LEVEL_FORM,	  /**< smaller pages than possible, hidden siblings, uneven
				       cells: less is better */
	VFCTL_LEVEL_ROOM,	  /**< capacity for typical next guests: more is better */
	VFCTL_LEVEL_BALANCE,	  /**< differences between the PFs' free VFs: less is better */
	VFCTL_LEVELS,
};

/** Why a search ended early. */
enum vfctl_plan_cut {
	VFCTL_CUT_NONE,
	VFCTL_CUT_STEPS, /**< its limit of steps: the same input gives the same plan on every machine */
	VFCTL_CUT_CLOCK, /**< its timeout, or the timeout left a refusal without all of its
			      remedies: a less busy machine may give another plan */
};

struct vfctl_plan {
	struct vfctl_assignment *assignments; /**< one per request, in the same order */
	size_t count;
	uint64_t value[VFCTL_LEVELS]; /**< the values of this plan */
	uint64_t bound[VFCTL_LEVELS]; /**< best value that any plan can have at @ref gap_level */
	/**
	 * First level at which a better plan is still possible; VFCTL_LEVELS: the plan is proven
	 * best.
	 */
	enum vfctl_plan_level gap_level;
	/**
	 * A guest is not placed, and not all ways to split the placed guests were tried. Therefore
	 * gap_level is VFCTL_LEVEL_PLACED.
	 */
	bool partial;
	enum vfctl_plan_cut cut;
	uint64_t steps; /**< number of steps of the search */
};

struct vfctl_plan_options {
	/**
	 * Limit of the search in steps; 0: 250000. At the limit the plan is the best one found so
	 * far, with what is proven about it. The limit counts steps, not time, so that the result
	 * is the same on every machine.
	 */
	uint64_t max_steps;
	/**
	 * Time limit of the plan with its reasons and remedies, for very slow machines, ms; 0:
	 * 10000. vfctl_plan.cut tells whether it was reached.
	 */
	unsigned timeout_ms;
};

/** A guest that should move. */
struct vfctl_move {
	size_t occupant; /**< index in the model */
	const struct vfctl_assignment *to; /**< owned by the rebalance's plan */
};

/** The fewest moves that make as many guests local as possible. */
struct vfctl_rebalance {
	struct vfctl_plan *plan; /**< a plan for all occupants that may move, in their order */
	struct vfctl_move *moves;
	size_t move_count;
	size_t local_before, local_after; /**< number of local guests among those whose CPUs
					       vfctl assigned */
};

/** "Ethernet", "InfiniBand", "no network"; NULL for a number that another caller chose. */
const char *vfctl_fabric_name(int fabric);

/** "choice", "warning", "short", "remedy"; "unknown" for anything else. */
const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind);
/** "prefer", "require", "isolate", "none"; "unknown" for anything else. */
const char *vfctl_threads_name(enum vfctl_threads threads);

/** "required", "preferred", "socket", "any"; "unknown" for anything else. */
const char *vfctl_affinity_name(enum vfctl_affinity affinity);
/** "placed", "local", "moves", "distance", "form", "room", "balance"; else "unknown". */
const char *vfctl_plan_level_name(enum vfctl_plan_level level);

#endif
