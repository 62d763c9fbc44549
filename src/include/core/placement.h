/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_PLACEMENT_H
#define VFCTL_CORE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/cpuset.h"
#include "core/inventory.h"
#include "core/topology.h"
#include "core/types.h"
#include "vfctl/placement.h"

#ifdef __cplusplus
extern "C" {
#endif

DEFINE_FREEP(struct vfctl_host_model, vfctl_model_free)

struct vfctl_ctx;

#define VFCTL_VCPU_MAX 4096 /**< QEMU's limit for q35 (9.1) */
#define VFCTL_EMULATOR_CORES_MAX 64
/** emulator_cores: the host's reserved CPUs, else a core that QEMU's threads of guests share */
#define VFCTL_EMULATOR_AUTO UINT32_MAX
/** Guests whose QEMU's threads one CPU of such a core carries (docs/placement.md). */
#define VFCTL_QEMU_GUESTS_PER_CPU 8
#define VFCTL_IOTHREADS_MAX 64
#define VFCTL_GUEST_VFS_MAX 64 /**< VFs of one guest */
#define VFCTL_CELLS_MAX 64     /**< NUMA cells of one guest */
#define VFCTL_MODEL_NODES_MAX 64 /**< the planner's limit */
#define VFCTL_MODEL_FILE_MAX (16 * 1024 * 1024) /**< bytes; a longer model is refused */
#define VFCTL_FABRIC_ANY (-1)
/** Fabrics that vfctl_model_read() tells apart; higher numbers are for other callers. */
#define VFCTL_FABRIC_ETHERNET 1
#define VFCTL_FABRIC_INFINIBAND 2
#define VFCTL_FABRIC_OTHER 3 /**< VFs of devices that are no network cards */
#define VFCTL_CELL_ANY (-1)  /**< of a VF: whichever cell is best */
#define VFCTL_CELL_EACH (-2) /**< of a want: its count in every cell */
#define VFCTL_PAGES_BASE 0          /**< page_bytes: no huge pages */
#define VFCTL_PAGES_AUTO UINT64_MAX /**< page_bytes: the largest whose pool fits */
#define VFCTL_ROOT_UNKNOWN UINT32_MAX
/** Shared vCPUs that one shared CPU carries unless the host says otherwise. */
#define VFCTL_SHARED_RATIO 4

/** How vCPUs use the hardware threads of the whole cores they get. */
enum vfctl_threads {
	/** Fill the threads; the guest sees siblings when vCPUs fill cores evenly. */
	VFCTL_THREADS_PREFER,
	/** As prefer, but refuse when the guest would not see siblings. */
	VFCTL_THREADS_REQUIRE,
	/** One vCPU per core, its siblings stay idle. */
	VFCTL_THREADS_ISOLATE,
	/** Fill the threads; the guest sees a flat list of cores. */
	VFCTL_THREADS_NONE,
};

/**
 * How near something must be to a cell of the guest. "Local" to a node: no node with CPUs
 * is nearer (so a device on a node without CPUs is local to its nearest neighbours).
 */
enum vfctl_affinity {
	VFCTL_AFFINITY_REQUIRED,  /**< local, or of unknown place (which is told) */
	VFCTL_AFFINITY_PREFERRED, /**< the nearest there is */
	VFCTL_AFFINITY_SOCKET,	  /**< local to some node of the cell's package */
	VFCTL_AFFINITY_ANY,	  /**< nearness does not count */
};

/** A VF that can be given, or (of an occupant) one that is held. */
struct vfctl_free_vf {
	struct vfctl_bdf bdf;
	struct vfctl_bdf pf;
	uint32_t index; /**< of the VF in its PF */
	int node;       /**< as the kernel states it; VFCTL_NODE_NONE for no locality */
	int fabric;     /**< network it is on, a number of the caller's choice, >= 0 */
	uint32_t port;  /**< physical port of its card, from 1; 0 unknown */
	uint32_t root;  /**< PCI root complex: domain << 8 | root bus; VFCTL_ROOT_UNKNOWN */
};

/** A physical function, for names and for what its VFs have in common. */
struct vfctl_model_pf {
	struct vfctl_bdf bdf;
	char **names; /**< all it answers to, the one a person would use first; NULL-ended */
	int node;
	int fabric;
	uint32_t port;
	uint32_t root;
	uint32_t num_vfs; /**< VFs it has, held or not */
	uint32_t max_vfs; /**< VFs it could have */
	/* To be shown: the planner looks at none of these. */
	enum vfctl_eswitch eswitch;
	char *bond;	    /**< that its network device is a port of; NULL none */
	enum vfctl_lag lag; /**< of that bond */
};

/** Memory that somebody holds or will hold when started. */
struct vfctl_promise {
	int node;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE, or the size of huge pages */
	uint64_t bytes;
	bool taken; /**< the guest runs, so the kernel's free counts know of it */
};

/** Some VFs that a guest asks for. */
struct vfctl_vf_want {
	bool any_pf;
	struct vfctl_bdf pf; /**< unless any_pf */
	int fabric;          /**< VFCTL_FABRIC_ANY, or the one it must be on */
	const char *fabric_name; /**< for reasons; NULL: its number */
	uint32_t port;       /**< physical port it must be on; 0 any */
	uint32_t count;      /**< 1 .. VFCTL_GUEST_VFS_MAX */
	int cell;            /**< VFCTL_CELL_ANY, VFCTL_CELL_EACH, or a cell's number */
	enum vfctl_affinity affinity;
	/** VFs of wants with the same number are on different PFs; 0: no matter. */
	uint32_t apart;
};

/** A guest that has its place already: one of ours (a lease), or a domain we did not make. */
struct vfctl_occupant {
	char *name;
	char uuid[37];	/**< "" when not known */
	bool foreign;	/**< not ours: it is never moved */
	bool running;
	struct vfctl_cpuset cpus;  /**< it holds alone, whole cores of ours */
	/** A whole core where QEMU's threads of this and of other guests run; mostly empty. */
	struct vfctl_cpuset qemu_cpus;
	struct vfctl_promise *memory; /**< an entry per cell */
	size_t memory_count;
	uint32_t *shared_vcpus; /**< per entry of @ref memory: vCPUs on shared CPUs there */
	struct vfctl_free_vf *vfs;
	size_t vf_count;
	/** What it asked for each of @ref vfs, one VF each, in its own words; NULL: not known, so any
	 * PF of the same fabric will do when it moves. */
	struct vfctl_vf_want *wants;
	/** It does not move now: it holds a place that it leaves and one that it goes to, or libvirt does
	 * not know it any more. */
	bool changing;
	bool pinned; /**< it asked for the nodes that it is on: it leaves none of them */
};

#define VFCTL_TYPICAL_MAX 12 /**< kinds of typical guests */

/** A kind of guest that is expected next: what a plan leaves is judged by such guests. */
struct vfctl_typical {
	uint32_t vcpus; /**< 1 .. VFCTL_VCPU_MAX, on hardware threads of their own */
	uint32_t cells; /**< 1, or more: over as many nodes */
	uint32_t vfs;	/**< 0: it can go anywhere; else it wants VFs near it */
	uint32_t share; /**< of all guests, against the other kinds; 1 .. 1000 */
};

/** Everything the planner may look at. Nothing of it is changed. */
struct vfctl_host_model {
	struct vfctl_topology *topology;
	struct vfctl_cpuset reserved_cpus; /**< the host's own, never given to vCPUs */
	char *reserved_why; /**< where they are stated, for words; NULL */
	/** CPUs that shared vCPUs run on, all of a node's together; never given alone. */
	struct vfctl_cpuset shared_cpus;
	uint32_t shared_ratio; /**< shared vCPUs per such CPU; 0: VFCTL_SHARED_RATIO */
	struct vfctl_cpuset busy_cpus; /**< held by nobody of the occupants */
	struct vfctl_promise *promises; /**< the same of memory */
	size_t promise_count;
	/** Kept for the host on every node when a guest takes base pages, bytes. */
	uint64_t host_memory_bytes;
	struct vfctl_free_vf *vfs; /**< free ones */
	size_t vf_count;
	struct vfctl_model_pf *pfs; /**< need not be there: only words come from them */
	size_t pf_count;
	struct vfctl_occupant *occupants;
	size_t occupant_count;
	/** Guests that are expected next; none: see docs/placement.md. */
	struct vfctl_typical typical[VFCTL_TYPICAL_MAX];
	size_t typical_count;
	char *typical_why; /**< who says so, for words; NULL: nobody */
};

/** One VF of any PF on any fabric, in whichever cell is best. A zeroed one is none. */
void vfctl_vf_want_init(struct vfctl_vf_want *want);

/** One NUMA cell that the guest shall have. */
struct vfctl_cell_want {
	uint32_t vcpus;	       /**< the shared ones included */
	uint64_t memory_bytes; /**< a multiple of page_bytes */
	int node;	       /**< VFCTL_NODE_NONE: any */
};

/** What one guest needs. */
struct vfctl_request {
	const char *name; /**< for the words */
	uint32_t vcpus;   /**< 1 .. VFCTL_VCPU_MAX */
	uint32_t shared_vcpus; /**< of them, the last ones of each cell, on shared CPUs */
	enum vfctl_threads threads;
	/** Cores for QEMU's own threads, 0 .. VFCTL_EMULATOR_CORES_MAX. 0: they run on the
	 * reserved CPUs of the host; where it has none, on the shared ones; else on the guest's
	 * own, if need be those of vCPUs, with a warning. VFCTL_EMULATOR_AUTO: on the reserved
	 * CPUs of a node of the guest; where they have none, on a core of such a node that they
	 * share with those of other guests; for a guest that takes the whole host, as with 0. */
	uint32_t emulator_cores;
	bool has_emulator; /**< they have their CPUs already, wherever they are */
	uint32_t iothreads;
	uint32_t iothread_cores; /**< 0: they share the CPUs of QEMU's own threads */
	uint64_t memory_bytes;   /**< a multiple of page_bytes */
	uint64_t page_bytes;     /**< or VFCTL_PAGES_BASE, VFCTL_PAGES_AUTO */
	/** REQUIRED: each cell's memory on its node; PREFERRED: else on the nearest. */
	enum vfctl_affinity memory_affinity;
	int node; /**< VFCTL_NODE_NONE: any; else all of it goes there */
	/** Cells it must have, each on a node of its own; their sums are vcpus and
	 * memory_bytes. Without: as few as it fits in, @ref cells_max at most. */
	const struct vfctl_cell_want *cells;
	size_t cell_count;
	uint32_t cells_max;    /**< 0: as many as the host has nodes */
	bool whole_node;       /**< its nodes hold no other guest, and get none */
	bool whole_l3;	       /**< its cores fill L3 groups that no one else uses */
	unsigned max_distance; /**< between its nodes, and to its VFs; 0: no limit */
	const struct vfctl_vf_want *wants;
	size_t want_count;
};

/**
 * A guest on any nodes, with the largest pages that fit and QEMU's threads where they go by
 * themselves; name, vcpus, memory_bytes and what else is asked are to be filled in. A zeroed
 * one would ask for node 0, and for no huge pages.
 */
void vfctl_request_init(struct vfctl_request *request);

/** One line for people, without newline. */
struct vfctl_reason {
	enum vfctl_reason_kind kind;
	char *text;
};

/** What one NUMA cell of the guest gets. */
struct vfctl_cell {
	int node;	 /**< of its CPUs */
	int memory_node; /**< the same, unless its memory had to come from another */
	uint32_t first_vcpu, vcpu_count; /**< its vCPUs, in one run */
	uint32_t shared_vcpus; /**< the last of these, on @ref shared_cpus */
	struct vfctl_cpuset shared_cpus;
	uint64_t memory_bytes;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE or a size, never AUTO */
	uint32_t l3_groups;  /**< L3 caches its own cores are in, if it fills each alike; else 0 */
};

struct vfctl_remedy;

/** The answer to one request. Without placement only reasons are filled. */
struct vfctl_assignment {
	enum vfctl_refusal refusal;
	struct vfctl_cell *cells;
	size_t cell_count;
	int node; /**< of the first cell; VFCTL_NODE_NONE when refused */
	/** Host CPU of each vCPU, siblings adjacent; VFCTL_CPU_MAX for a shared one. */
	uint32_t *vcpus;
	size_t vcpu_count;
	/** Threads per core the guest should be told: 1, or what its vCPUs really share. */
	uint32_t guest_threads;
	struct vfctl_cpuset emulator_cpus;
	bool emulator_shared; /**< emulator_cpus are a core of several guests, not in held_cpus */
	struct vfctl_cpuset iothread_cpus; /**< empty without iothreads */
	/** All threads of all cores given, idle siblings included: what a lease holds. */
	struct vfctl_cpuset held_cpus;
	uint64_t memory_bytes; /**< of all cells */
	uint64_t page_bytes;   /**< of the first cell */
	/** In the order of the wants, each want's VFs together. */
	struct vfctl_free_vf *vfs;
	uint32_t *vf_wants; /**< index of the want that each VF answers */
	uint32_t *vf_cells; /**< cell that each VF is nearest to, or was asked for */
	size_t vf_count;
	bool local;	   /**< all memory and VFs (but those of affinity any) are local */
	uint64_t distance; /**< what the planner made least, see docs/placement.md */
	struct vfctl_reason *reasons;
	size_t reason_count;
	struct vfctl_remedy *remedies; /**< the library's own: what the remedies change */
	size_t remedy_count;
};

/** What a plan is judged by, most important first. */
enum vfctl_plan_level {
	VFCTL_LEVEL_PLACED,	  /**< guests placed: more is better */
	VFCTL_LEVEL_LOCAL,	  /**< of them, fully local: more is better */
	VFCTL_LEVEL_MOVES,	  /**< guests that leave their place: less is better */
	VFCTL_LEVEL_DISTANCE,	  /**< weighted distance: less is better */
	VFCTL_LEVEL_FORM,	  /**< smaller pages than could be, hidden siblings, uneven
				     cells: less is better */
	VFCTL_LEVEL_ROOM,	  /**< room for typical next guests: more is better */
	VFCTL_LEVEL_BALANCE,	  /**< unevenness of the PFs' free VFs: less is better */
	VFCTL_LEVELS,
};

/** What ended a search before it was through. */
enum vfctl_plan_cut {
	VFCTL_CUT_NONE,
	VFCTL_CUT_STEPS, /**< its steps: the same question has the same answer on every machine */
	VFCTL_CUT_CLOCK, /**< the timeout, or it left a refusal without all of its remedies: on a machine
			    that is less busy the answer may be another */
};

struct vfctl_plan {
	struct vfctl_assignment *assignments; /**< one per request, in their order */
	size_t count;
	uint64_t value[VFCTL_LEVELS]; /**< of this plan */
	uint64_t bound[VFCTL_LEVELS]; /**< no plan is better than this at @ref gap_level */
	/** First level at which a better plan was not ruled out; VFCTL_LEVELS: proven best. */
	enum vfctl_plan_level gap_level;
	/** A guest is left out, and guests that are placed could be split in more ways than
	 * were tried: why gap_level is VFCTL_LEVEL_PLACED. */
	bool partial;
	enum vfctl_plan_cut cut;
	uint64_t steps; /**< of the search */
};

struct vfctl_plan_options {
	/** Steps of the search, after which the best plan so far is given with what is proven
	 * of it; 0: 250000. It counts steps, so that the answer is the same everywhere. */
	uint64_t max_steps;
	/** The last resort, should a machine be very slow: time of the plan with its reasons and
	 * remedies, ms; 0: 10000. vfctl_plan.cut tells that it was reached. */
	unsigned timeout_ms;
};

/**
 * Place guests on a host: pure, the same input gives the same plan. vCPUs get whole free
 * cores, one each per hardware thread; a core with any busy or reserved thread is not free.
 * The cells of a guest go to nodes of their own; memory is on the cell's node.
 *
 * The plan is the best there is by the levels of enum vfctl_plan_level, or says which level
 * is not proven and what bound holds. docs/placement.md defines each level.
 *
 * A refusal is an answer, not an error: look at each assignment.
 *
 * @param options  NULL: the defaults.
 * @param ret  receives the plan; free it with vfctl_plan_free().
 * @return 0; -EINVAL for input that no host could have or no guest could ask (the words
 * name the member); -EINTR when vfctl_ctx_cancel() came; -ENOMEM.
 */
int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct vfctl_plan **ret);

/** A guest that should leave its place. */
struct vfctl_move {
	size_t occupant; /**< index in the model */
	const struct vfctl_assignment *to; /**< owned by the rebalance's plan */
};

/** The fewest moves that make as many guests local as can be. */
struct vfctl_rebalance {
	struct vfctl_plan *plan; /**< all occupants that may move, in their order */
	struct vfctl_move *moves;
	size_t move_count;
	size_t local_before, local_after; /**< of the guests that have their CPUs from us */
};

/**
 * Propose moves. Only our own guests move; a guest keeps the shape it holds (whole cores,
 * memory per cell) and, where they are known (vfctl_model_read_words()), its words of nodes and VFs;
 * else its VFs stay of the same fabric.
 * @return as vfctl_plan_make().
 */
int vfctl_plan_rebalance(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_plan_options *options, struct vfctl_rebalance **ret);
void vfctl_rebalance_free(struct vfctl_rebalance *rebalance);
DEFINE_FREEP(struct vfctl_rebalance, vfctl_rebalance_free)

/**
 * Why does the guest not go (wholly) to @p node? Short: what is missing there; or, when it
 * would fit: what the chosen place has over it.
 * @param ret_reasons  free each text, then the array.
 * @return 0; -EINVAL no such node, or as vfctl_plan_make().
 */
int vfctl_plan_why_not(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, int node,
	const struct vfctl_plan_options *options, struct vfctl_reason **ret_reasons,
	size_t *ret_count);

/** "Ethernet", "InfiniBand", "no network"; NULL for a number of another caller's choice. */
const char *vfctl_fabric_name(int fabric);
/** The root complex as the kernel's tree names it, "0000:3a"; "" when unknown. */
char *vfctl_root_format(uint32_t root, char buf[VFCTL_BDF_TEXT]);

/**
 * Check what a model must hold, vfctl_topology_check()'s demands included. Own occupants
 * (not foreign ones) share no CPU and no VF with anyone of ours, but for those of qemu_cpus,
 * which are nobody's own; all CPUs are online, all
 * nodes exist.
 * @return 0, or -EINVAL naming the member.
 */
int vfctl_model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model);

/** NULL is allowed. */
void vfctl_plan_free(struct vfctl_plan *plan);
DEFINE_FREEP(struct vfctl_plan, vfctl_plan_free)

/** "choice", "warning", "short", "remedy"; "unknown" for anything else. */
const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind);
/** "prefer", "require", "isolate", "none"; "unknown" for anything else. */
const char *vfctl_threads_name(enum vfctl_threads threads);

/** "required", "preferred", "socket", "any"; "unknown" for anything else. */
const char *vfctl_affinity_name(enum vfctl_affinity affinity);
/** "placed", "local", "moves", "distance", "form", "room", "balance"; else "unknown". */
const char *vfctl_plan_level_name(enum vfctl_plan_level level);

#ifdef __cplusplus
}
#endif
#endif
