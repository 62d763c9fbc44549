// SPDX-License-Identifier: GPL-2.0-or-later
/* The members of a model in JSON: one row each, for the reader, the writer and the reference. */
#include "base/record_json.h"

#include <limits.h>

#include "base/parse.h"
#include "placement/model/host_model.h"
#include "placement/model/model.h"

/* ---- own forms ---- */

static int read_fabric(struct record_reading *r, const struct json *value, void *at)
{
	const char *text = json_text(value);
	int *fabric = at;
	uint64_t n;
	int error;

	for (int i = 1; text && model_fabric_word(i); i++)
		if (str_eq(model_fabric_word(i), text)) {
			*fabric = i;
			return 0;
		}
	if (text)
		return record_bad(r, "'%.64s' is not a fabric; it must be ethernet, infiniband, "
			"other, or a number", text);
	error = record_read_number(r, value, MODEL_FABRIC_MAX, &n);
	if (error == 0)
		*fabric = (int)n;
	return error;
}

static void write_fabric(struct record_writing *w, const void *at)
{
	const int *fabric = at;
	const char *word = model_fabric_word(*fabric);

	if (word)
		buf_printf(w->out, "\"%s\"", word);
	else
		buf_printf(w->out, "%d", *fabric);
}

static const struct record_own fabric = {read_fabric, write_fabric};

static int read_root(struct record_reading *r, const struct json *value, void *at)
{
	const char *text = json_text(value), *colon;
	uint64_t domain, bus;
	uint32_t *root = at;
	char part[8] = "";
	int error;

	if (json_kind(value) == JSON_KIND_NULL) {
		*root = VFCTL_ROOT_UNKNOWN;
		return 0;
	}
	error = record_expect(r, value, JSON_KIND_TEXT);
	if (error < 0)
		return error;
	colon = strchr(text, ':');
	if (colon && colon - text < (ptrdiff_t)sizeof(part))
		memcpy(part, text, (size_t)(colon - text));
	/* The largest domain with its last bus would be VFCTL_ROOT_UNKNOWN. */
	if (parse_hex(part, (UINT32_MAX >> 8) - 1, &domain) < 0 ||
		parse_hex(colon + 1, 0xff, &bus) < 0)
		return record_bad(r, "'%.64s' is not a root complex such as 0000:3a", text);
	*root = (uint32_t)(domain << 8 | bus);
	return 0;
}

static void write_root(struct record_writing *w, const void *at)
{
	const uint32_t *root = at;
	char text[VFCTL_BDF_TEXT];

	if (*root == VFCTL_ROOT_UNKNOWN)
		buf_puts(w->out, "null");
	else
		buf_printf(w->out, "\"%s\"", vfctl_root_format(*root, text));
}

static const struct record_own root = {read_root, write_root};

struct matrix {
	unsigned *v;
	size_t rows, columns, side;
};

static int read_distance(struct record_reading *r, const struct json *value, void *object)
{
	struct matrix *matrix = object;
	uint64_t n;
	int error = record_read_number(r, value, MODEL_DISTANCE_MAX, &n);

	if (error == 0 && matrix->columns == matrix->side)
		return record_bad(r, "the host has only %zu nodes", matrix->side);
	if (error == 0)
		matrix->v[matrix->rows * matrix->side + matrix->columns++] = (unsigned)n;
	return error;
}

static int read_distance_row(struct record_reading *r, const struct json *value, void *object)
{
	struct matrix *matrix = object;
	int error;

	if (matrix->rows == matrix->side)
		return record_bad(r, "the host has only %zu nodes", matrix->side);
	matrix->columns = 0;
	error = record_read_each(r, value, 0, matrix, read_distance);
	if (error == 0 && matrix->columns < matrix->side)
		return record_bad(r, "it has %zu numbers for %zu nodes", matrix->columns,
			matrix->side);
	matrix->rows++;
	return error;
}

/* Its row is after that of the nodes, so that their number is known. */
static int read_distances(struct record_reading *r, const struct json *value, void *at)
{
	struct vfctl_topology *t = at;
	struct matrix matrix = {.side = t->node_count};
	int error;

	matrix.v = t->distances = calloc(matrix.side * matrix.side + 1, sizeof(*matrix.v));
	if (!matrix.v)
		return ctx_oom(r->ctx);
	error = record_read_each(r, value, 0, &matrix, read_distance_row);
	if (error == 0 && matrix.rows < matrix.side)
		return record_bad(r, "it has %zu rows for %zu nodes", matrix.rows, matrix.side);
	return error;
}

static void write_distances(struct record_writing *w, const void *at)
{
	const struct vfctl_topology *t = at;

	record_open_list(w);
	for (size_t i = 0; i < t->node_count; i++) {
		record_next_entry(w, i);
		for (size_t k = 0; k < t->node_count; k++)
			buf_printf(w->out, "%s%u", k ? ", " : "[",
				t->distances[i * t->node_count + k]);
		buf_puts(w->out, "]");
	}
	record_close_list(w, t->node_count);
}

static const struct record_own distances = {read_distances, write_distances};

/* ---- words ---- */

/* A driver without modes is null, like an unknown mode. */
static const char *eswitch_word(int value)
{
	return value > VFCTL_ESWITCH_NONE ? vfctl_eswitch_name((enum vfctl_eswitch)value) : NULL;
}

static const char *lag_word(int value)
{
	return value ? vfctl_lag_name((enum vfctl_lag)value) : NULL;
}

static const char *distance_word(int value)
{
	return vfctl_pci_distance_name((enum vfctl_pci_distance)value);
}

/* ---- the topology ---- */

#define AT(member) RECORD_AT(struct vfctl_page_pool, member)
static const struct record_row pool_rows[] = {
	{"page_bytes", "size of a huge page", RECORD_NUMBER, RECORD_REQUIRED, AT(page_bytes),
		.max = MODEL_BYTES_MAX},
	{"total", "number of pages", RECORD_NUMBER, RECORD_REQUIRED, AT(total),
		.max = MODEL_BYTES_MAX},
	{"free", "free pages", RECORD_NUMBER, RECORD_NULLABLE, AT(free), .max = MODEL_BYTES_MAX},
};
static const struct record pool_record = {RECORD(struct vfctl_page_pool, pool_rows)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_node, member)
static const struct record_row node_rows[] = {
	{"id", "number of the node", RECORD_NUMBER, RECORD_REQUIRED, AT(id),
		.max = VFCTL_CPU_MAX - 1},
	{"cpus", "its CPUs; \"\": it has only memory", RECORD_CPUS, RECORD_REQUIRED, AT(cpus)},
	{"memory_bytes", "its memory, including huge pages", RECORD_NUMBER, RECORD_REQUIRED,
		AT(memory_bytes), .max = MODEL_BYTES_MAX},
	{"pools", "huge pages by size", RECORD_ARRAY, 0,
		RECORD_ENTRIES(struct vfctl_node, pools, pool_count), .max = VFCTL_POOLS_MAX,
		.inner = &pool_record},
};
static const struct record node_record = {RECORD(struct vfctl_node, node_rows)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_core, member)
static const struct record_row core_rows[] = {
	{"cpus", "hardware threads of the core", RECORD_CPUS, RECORD_REQUIRED, AT(cpus)},
	{"node", "NUMA node", RECORD_NUMBER, RECORD_REQUIRED | RECORD_NULLABLE, AT(node),
		.max = VFCTL_CPU_MAX - 1},
	{"package", "package", RECORD_NUMBER, RECORD_NULLABLE, AT(package), .max = INT_MAX},
	{"die", "die", RECORD_NUMBER, RECORD_NULLABLE, AT(die), .max = INT_MAX},
	{"l3", "L3 cache: cores with the same number share it", RECORD_NUMBER, RECORD_NULLABLE,
		AT(l3), .max = INT_MAX},
};
static const struct record core_record = {RECORD(struct vfctl_core, core_rows)};
#undef AT

/* ---- VFs, PFs, GPUs ---- */

/* Where a PF and its VFs are. */
/* clang-format off */
#define PLACE \
	{"node", "NUMA node; null: the device has no locality", RECORD_NUMBER, RECORD_NULLABLE, \
		AT(node), .max = VFCTL_CPU_MAX - 1}, \
	{"fabric", "ethernet, infiniband, other (no network), or a number: VFs with the same " \
		"number are on the same network", RECORD_OWN, 0, AT(fabric), .own = &fabric, \
		.like = RECORD_OWN}, \
	{"port", "port of the card, from 1; 0: unknown", RECORD_NUMBER, 0, AT(port), \
		.max = MODEL_PORT_MAX}, \
	{"root", "PCI root complex, such as \"0000:3a\"", RECORD_OWN, RECORD_NULLABLE, AT(root), \
		.own = &root, .like = RECORD_TEXT}
/* clang-format on */

#define AT(member) RECORD_AT(struct vfctl_free_vf, member)
static const struct record_row vf_rows[] = {
	{"address", "PCI address of the VF", RECORD_ADDRESS, RECORD_REQUIRED, AT(bdf)},
	{"pf", "PCI address of its PF", RECORD_ADDRESS, RECORD_REQUIRED, AT(pf)},
	{"index", "the N of PF/N", RECORD_NUMBER, RECORD_REQUIRED, AT(index),
		.max = MODEL_VFS_MAX - 1},
	PLACE,
};
static const struct record vf_record = {RECORD(struct vfctl_free_vf, vf_rows), .name = "FREEVF"};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_model_pf, member)
static const struct record_row pf_rows[] = {
	{"address", "PCI address", RECORD_ADDRESS, RECORD_REQUIRED, AT(bdf)},
	{"names", "names, the usual one first", RECORD_TEXTS, 0, AT(names)},
	PLACE,
	{"num_vfs", "VFs that exist", RECORD_NUMBER, RECORD_REQUIRED, AT(num_vfs),
		.max = MODEL_VFS_MAX},
	{"max_vfs", "VFs that the driver allows", RECORD_NUMBER, RECORD_REQUIRED, AT(max_vfs),
		.max = MODEL_VFS_MAX},
	{"exposed", "why no guest gets its other free VFs, or more of them; null: guests get them",
		RECORD_TEXT, RECORD_NULLABLE, AT(exposed)},
	{"card", "vendor and device, by pci.ids", RECORD_TEXT, RECORD_NULLABLE, AT(card)},
	{"driver", "driver", RECORD_TEXT, RECORD_NULLABLE, AT(driver)},
	{"speed_mbps", "speed of the port in Mbit/s; 0: unknown", RECORD_NUMBER, 0, AT(speed_mbps),
		.max = UINT32_MAX},
	{"eswitch", "mode of the eswitch", RECORD_WORD, RECORD_NULLABLE, AT(eswitch),
		.word = eswitch_word, .max = VFCTL_ESWITCH_INACTIVE},
	{"bond", "bond that the network device is a port of", RECORD_TEXT, RECORD_NULLABLE,
		AT(bond)},
	{"lag", "VF-LAG that the driver makes of the bond", RECORD_WORD, RECORD_NULLABLE, AT(lag),
		.word = lag_word, .max = VFCTL_LAG_ACTIVE},
};
static const struct record pf_record = {RECORD(struct vfctl_model_pf, pf_rows)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_gpu_link, member)
static const struct record_row link_rows[] = {
	{"pf", "PCI address of the PF", RECORD_ADDRESS, RECORD_REQUIRED, AT(pf)},
	{"distance", "what is between them, in the words of nvidia-smi topo: PIX (at most one "
		"PCIe switch), PXB (several), PHB (a host bridge), NODE (two host bridges of a "
		"NUMA node), SYS (two NUMA nodes), unknown", RECORD_WORD, RECORD_REQUIRED,
		AT(distance), .word = distance_word, .max = VFCTL_PCI_SYS},
};
static const struct record link_record = {RECORD(struct vfctl_gpu_link, link_rows)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_model_gpu, member)
static const struct record_row gpu_rows[] = {
	{"address", "PCI address", RECORD_ADDRESS, RECORD_REQUIRED, AT(bdf)},
	{"vendor", "NVIDIA, AMD, Intel, or the number of another vendor", RECORD_TEXT,
		RECORD_NULLABLE, AT(vendor)},
	{"driver", "driver", RECORD_TEXT, RECORD_NULLABLE, AT(driver)},
	{"node", "NUMA node", RECORD_NUMBER, RECORD_NULLABLE, AT(node), .max = VFCTL_CPU_MAX - 1},
	{"pfs", "PFs and their distance from the GPU", RECORD_LIST, 0,
		RECORD_ENTRIES(struct vfctl_model_gpu, links, link_count), .inner = &link_record},
};
static const struct record gpu_record = {RECORD(struct vfctl_model_gpu, gpu_rows)};
#undef AT

/* ---- guests ---- */

#define AT(member) RECORD_AT(struct vfctl_promise, member)
static const struct record_row memory_rows[] = {
	{"node", "NUMA node", RECORD_NUMBER, RECORD_REQUIRED, AT(node), .max = VFCTL_CPU_MAX - 1},
	{"page_bytes", "size of the pages; 0: base pages", RECORD_NUMBER, RECORD_REQUIRED,
		AT(page_bytes), .max = MODEL_BYTES_MAX},
	{"bytes", "size", RECORD_NUMBER, RECORD_REQUIRED, AT(bytes), .max = MODEL_BYTES_MAX},
	{"taken", "the guest runs, so the kernel's free counts already exclude this memory",
		RECORD_FLAG, 0, AT(taken)},
	/* The last one is of cells alone. */
	{"shared_vcpus", "vCPUs on shared CPUs of the node", RECORD_NUMBER, 0, AT(shared_vcpus),
		.max = VFCTL_VCPU_MAX},
};
static const struct record cell_record = {RECORD(struct vfctl_promise, memory_rows)};
static const struct record promise_record = {.rows = memory_rows,
	.row_count = ARRAY_SIZE(memory_rows) - 1, .size = sizeof(struct vfctl_promise)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_occupant, member)
static const struct record_row occupant_rows[] = {
	{"name", "name of the guest", RECORD_TEXT, RECORD_REQUIRED, AT(name)},
	{"uuid", "UUID of the guest", RECORD_UUID, 0, AT(uuid)},
	{"foreign", "vfctl did not define the guest: it is never moved", RECORD_FLAG, 0,
		AT(foreign)},
	{"running", "the guest runs", RECORD_FLAG, 0, AT(running)},
	{"cpus", "CPUs that only this guest uses", RECORD_CPUS, 0, AT(cpus)},
	{"qemu_cpus", "core that the QEMU threads of several guests share", RECORD_CPUS,
		RECORD_OPTIONAL, AT(qemu_cpus)},
	{"memory", "memory of each cell", RECORD_LIST, 0,
		RECORD_ENTRIES(struct vfctl_occupant, memory, memory_count),
		.inner = &cell_record, .lines = RECORD_HANGING},
	{"vfs", "VFs of the guest", RECORD_LIST, 0,
		RECORD_ENTRIES(struct vfctl_occupant, vfs, vf_count),
		.inner = &vf_record, .lines = RECORD_HANGING},
};
const struct record model_occupant_record = {RECORD(struct vfctl_occupant, occupant_rows)};
#undef AT

#define AT(member) RECORD_AT(struct vfctl_typical, member)
static const struct record_row typical_rows[] = {
	{"vcpus", "vCPUs", RECORD_NUMBER, RECORD_REQUIRED, AT(vcpus), .max = VFCTL_VCPU_MAX},
	{"cells", "cells", RECORD_NUMBER, RECORD_REQUIRED, AT(cells), .max = VFCTL_CELLS_MAX},
	{"vfs", "VFs", RECORD_NUMBER, RECORD_REQUIRED, AT(vfs), .max = VFCTL_GUEST_VFS_MAX},
	{"share", "relative weight of such guests, 1 to 1000", RECORD_NUMBER, RECORD_REQUIRED,
		AT(share), .max = 1000},
};
static const struct record typical_record = {RECORD(struct vfctl_typical, typical_rows)};
#undef AT

/* ---- the file ---- */

#define AT(member) RECORD_AT(struct vfctl_host_model, member)
#define LIST(member, number) RECORD_ENTRIES(struct vfctl_host_model, member, number)
/* What is behind model->topology. */
#define TOPOLOGY .via = offsetof(struct vfctl_host_model, topology) + 1
static const struct record_row model_rows[] = {
	{"vfctl_model", "1, the version of this document; --model reads it back "
		"([placement.md](../explanation/placement.md#the-model-as-json))",
		RECORD_VERSION, 0, .max = 1},
	{"nodes", "NUMA nodes by number", RECORD_LIST, RECORD_REQUIRED, TOPOLOGY,
		RECORD_ENTRIES(struct vfctl_topology, nodes, node_count),
		.max = VFCTL_MODEL_NODES_MAX, .inner = &node_record},
	{"distances", "distances from each node to all nodes, as in the ACPI SLIT", RECORD_OWN, 0,
		TOPOLOGY, .own = &distances, .like = RECORD_LIST},
	{"cores", "cores, ordered by their lowest CPU", RECORD_LIST, RECORD_REQUIRED, TOPOLOGY,
		RECORD_ENTRIES(struct vfctl_topology, cores, core_count), .inner = &core_record},
	{"online", "CPUs that are online", RECORD_CPUS, 0, TOPOLOGY,
		RECORD_AT(struct vfctl_topology, online)},
	{"reserved_cpus", "CPUs that are kept for the host", RECORD_CPUS, 0, AT(reserved_cpus)},
	{"reserved_why", "where this is configured", RECORD_TEXT, RECORD_NULLABLE,
		AT(reserved_why)},
	{"shared_cpus", "CPUs that shared vCPUs run on", RECORD_CPUS, 0, AT(shared_cpus)},
	{"shared_ratio", "shared vCPUs on each of these CPUs; 0: the default, 4", RECORD_NUMBER, 0,
		AT(shared_ratio), .max = MODEL_RATIO_MAX},
	{"busy_cpus", "CPUs in use that belong to no guest of occupants", RECORD_CPUS, 0,
		AT(busy_cpus)},
	{"host_memory_bytes", "memory that is kept for the host on each node", RECORD_NUMBER, 0,
		AT(host_memory_bytes), .max = MODEL_BYTES_MAX},
	{"typical", "guests that are expected next", RECORD_ARRAY, RECORD_OPTIONAL,
		LIST(typical, typical_count), .max = VFCTL_TYPICAL_MAX, .inner = &typical_record},
	{"typical_why", "where this is configured", RECORD_TEXT, RECORD_OPTIONAL | RECORD_NULLABLE,
		AT(typical_why)},
	{"promises", "memory in use that belongs to no guest of occupants", RECORD_LIST, 0,
		LIST(promises, promise_count), .inner = &promise_record},
	{"pfs", "PFs by address", RECORD_LIST, 0, LIST(pfs, pf_count), .inner = &pf_record},
	{"gpus", "GPUs and other accelerators by address", RECORD_LIST, RECORD_OPTIONAL,
		LIST(gpus, gpu_count), .inner = &gpu_record},
	{"free_vfs", "VFs that can be given to a guest", RECORD_LIST, 0, LIST(vfs, vf_count),
		.inner = &vf_record},
	{"occupants", "guests that are placed", RECORD_LIST, 0, LIST(occupants, occupant_count),
		.inner = &model_occupant_record},
};
const struct record vfctl_model_record = {RECORD(struct vfctl_host_model, model_rows),
	.lines = RECORD_TALL};
