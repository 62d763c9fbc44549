// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same question as a mixed integer program, solved by GLPK: nothing of the planner is
 * used here but its public structs. Three solutions, one level after the other.
 */
#include <glpk.h>
#include <stdio.h>

#include "instance.h"

#define PFS 4
#define VARS_MAX 6000
#define TERMS_MAX 2000

struct milp {
	const struct instance *in;
	glp_prob *p;
	unsigned nodes, groups;
	struct { /* VFs of one PF */
		struct vfctl_bdf pf;
		int fabric, node;
		unsigned count, local;
		uint32_t port;
	} group[PFS];
	int placed[GUESTS], local[GUESTS];
	int x[GUESTS][3][NODES]; /* cell on node */
	int on[GUESTS][NODES];	 /* any cell on node */
	int cost[VARS_MAX];	 /* of the distance level, by column */
	/* the row being made */
	int index[TERMS_MAX];
	double value[TERMS_MAX];
	int terms;
};

static int column(struct milp *m, int kind, double low, double high)
{
	int c = glp_add_cols(m->p, 1);

	glp_set_col_kind(m->p, c, kind);
	glp_set_col_bnds(m->p, c, low == high ? GLP_FX : GLP_DB, low, high);
	return c;
}

static int binary(struct milp *m)
{
	return column(m, GLP_IV, 0, 1);
}

static void term(struct milp *m, int c, double value)
{
	m->terms++;
	m->index[m->terms] = c;
	m->value[m->terms] = value;
}

static void row(struct milp *m, int type, double value)
{
	int r = glp_add_rows(m->p, 1);

	glp_set_row_bnds(m->p, r, type, value, value);
	glp_set_mat_row(m->p, r, m->terms, m->index, m->value);
	m->terms = 0;
}

static size_t cells_of(const struct vfctl_request *r)
{
	return r->cell_count ? r->cell_count : 1;
}

static uint32_t cell_vcpus(const struct vfctl_request *r, size_t k)
{
	return r->cell_count ? r->cells[k].vcpus : r->vcpus;
}

static uint64_t cell_memory(const struct vfctl_request *r, size_t k)
{
	return r->cell_count ? r->cells[k].memory_bytes : r->memory_bytes;
}

static unsigned distance(const struct milp *m, unsigned a, unsigned b)
{
	return m->in->distances[a * m->nodes + b];
}

static void find_groups(struct milp *m)
{
	for (size_t i = 0; i < m->in->model.vf_count; i++) {
		const struct vfctl_free_vf *vf = &m->in->vfs[i];
		unsigned g = 0;

		while (g < m->groups && vfctl_bdf_compare(&m->group[g].pf, &vf->pf) != 0)
			g++;
		if (g == m->groups) {
			m->groups++;
			m->group[g].pf = vf->pf;
			m->group[g].fabric = vf->fabric;
			m->group[g].node = vf->node;
			m->group[g].port = vf->port;
			m->group[g].local = local_nodes(m->in, vf->node);
		}
		m->group[g].count++;
	}
}

/* ---- cells and nodes ---- */

static bool is_elsewhere(const struct vfctl_request *r, size_t k, int node)
{
	int asked = r->cell_count ? r->cells[k].node : r->node;

	return asked != VFCTL_NODE_NONE && asked != node;
}

static void place_cells(struct milp *m, size_t g)
{
	const struct vfctl_request *r = &m->in->requests[g];

	m->placed[g] = binary(m);
	m->local[g] = binary(m);
	for (size_t k = 0; k < cells_of(r); k++)
		for (unsigned n = 0; n < m->nodes; n++)
			m->x[g][k][n] = vfctl_cpuset_empty(&m->in->nodes[n].cpus) ||
					is_elsewhere(r, k, (int)n) ? column(m, GLP_IV, 0, 0)
								   : binary(m);
	for (size_t k = 0; k < cells_of(r); k++) {
		for (unsigned n = 0; n < m->nodes; n++)
			term(m, m->x[g][k][n], 1);
		term(m, m->placed[g], -1);
		row(m, GLP_FX, 0);
	}
	for (unsigned n = 0; n < m->nodes; n++) {
		m->on[g][n] = binary(m);
		for (size_t k = 0; k < cells_of(r); k++)
			term(m, m->x[g][k][n], 1);
		term(m, m->on[g][n], -1);
		row(m, GLP_FX, 0);
	}
	term(m, m->local[g], 1);
	term(m, m->placed[g], -1);
	row(m, GLP_UP, 0);
}

static void pair_cells(struct milp *m, size_t g)
{
	const struct vfctl_request *r = &m->in->requests[g];

	for (unsigned a = 0; a < m->nodes; a++)
		for (unsigned b = 0; b < a && cells_of(r) > 1; b++) {
			int z = column(m, GLP_CV, 0, 1);

			m->cost[z] = (int)distance(m, a, b) - 10;
			term(m, m->on[g][a], 1);
			term(m, m->on[g][b], 1);
			term(m, z, -1);
			row(m, GLP_UP, 1);
			if (r->max_distance && distance(m, a, b) > r->max_distance) {
				term(m, m->on[g][a], 1);
				term(m, m->on[g][b], 1);
				row(m, GLP_UP, 1);
			}
		}
}

/* ---- cores ---- */

struct core_vars {
	int vcpus[GUESTS][3][NODES][3]; /* cores of so many threads */
	int extra[GUESTS][NODES][3];
	int fills[GUESTS];	 /* has all cores of the host: QEMU's threads are on them */
	int qemu[GUESTS][NODES]; /* with auto: its QEMU's threads are there */
	int carriers[NODES][3];	 /* cores of so many threads that become shared ones */
};

/* The guest has all of the host: each of its cells where it fills a node. */
static void ask_fill(struct milp *m, size_t g, struct core_vars *v)
{
	const struct vfctl_request *r = &m->in->requests[g];

	v->fills[g] = instance_is_empty(m->in) ? binary(m) : column(m, GLP_IV, 0, 0);
	for (unsigned n = 0; n < m->nodes; n++) {
		if (!instance_fills(m->in, r, n, 0)) {
			term(m, v->fills[g], 1);
			term(m, m->on[g][n], -1);
			row(m, GLP_UP, 0);
		}
		for (size_t k = 0; k < cells_of(r); k++)
			if (!instance_fills(m->in, r, n, cell_vcpus(r, k))) {
				term(m, v->fills[g], 1);
				term(m, m->x[g][k][n], 1);
				row(m, GLP_UP, 1);
			}
	}
}

/* QEMU's threads of a guest of emulator_cores: auto: on one of its nodes. */
static void ask_slot(struct milp *m, size_t g, struct core_vars *v)
{
	ask_fill(m, g, v);
	for (unsigned n = 0; n < m->nodes; n++) {
		v->qemu[g][n] = binary(m);
		term(m, v->qemu[g][n], 1);
		term(m, m->on[g][n], -1);
		row(m, GLP_UP, 0);
	}
	for (unsigned n = 0; n < m->nodes; n++)
		term(m, v->qemu[g][n], 1);
	term(m, v->fills[g], 1);
	term(m, m->placed[g], -1);
	row(m, GLP_FX, 0);
}

static void share_slots(struct milp *m, struct core_vars *v)
{
	for (unsigned n = 0; n < m->nodes; n++) {
		for (unsigned t = 1; t <= 2; t++) {
			v->carriers[n][t] = column(m, GLP_IV, 0, 8);
			term(m, v->carriers[n][t], -(double)t * VFCTL_QEMU_GUESTS_PER_CPU);
		}
		for (size_t g = 0; g < m->in->guest_count; g++)
			if (m->in->requests[g].emulator_cores == VFCTL_EMULATOR_AUTO)
				term(m, v->qemu[g][n], 1);
		row(m, GLP_UP, instance_slots(m->in, n));
	}
}

static void ask_cores(struct milp *m, size_t g, struct core_vars *v)
{
	const struct vfctl_request *r = &m->in->requests[g];
	bool is_auto = r->emulator_cores == VFCTL_EMULATOR_AUTO;
	uint32_t own = is_auto ? 0 : r->emulator_cores;

	if (is_auto)
		ask_slot(m, g, v);
	for (size_t k = 0; k < cells_of(r); k++)
		for (unsigned n = 0; n < m->nodes; n++) {
			double vcpus = cell_vcpus(r, k);

			for (unsigned t = 1; t <= 2; t++)
				v->vcpus[g][k][n][t] = column(m, GLP_IV, 0, 64);
			if (r->threads == VFCTL_THREADS_REQUIRE) {
				/* Cores of two threads, filled. */
				term(m, v->vcpus[g][k][n][2], 2);
				term(m, m->x[g][k][n], -vcpus);
				row(m, GLP_FX, 0);
				continue;
			}
			for (unsigned t = 1; t <= 2; t++)
				term(m, v->vcpus[g][k][n][t],
					r->threads == VFCTL_THREADS_ISOLATE ? 1 : t);
			term(m, m->x[g][k][n], -vcpus);
			row(m, GLP_LO, 0);
		}
	for (unsigned n = 0; n < m->nodes; n++)
		for (unsigned t = 1; t <= 2; t++)
			v->extra[g][n][t] = column(m, GLP_IV, 0, own);
	/* All of QEMU's cores on one node of the guest (it asks for one at most here). */
	for (unsigned n = 0; n < m->nodes; n++) {
		term(m, v->extra[g][n][1], 1);
		term(m, v->extra[g][n][2], 1);
		term(m, m->on[g][n], -(double)own);
		row(m, GLP_UP, 0);
	}
	for (unsigned n = 0; n < m->nodes; n++)
		for (unsigned t = 1; t <= 2; t++)
			term(m, v->extra[g][n][t], 1);
	term(m, m->placed[g], -(double)own);
	row(m, GLP_FX, 0);
}

static void share_cores(struct milp *m, struct core_vars *v)
{
	share_slots(m, v);
	for (unsigned n = 0; n < m->nodes; n++)
		for (unsigned t = 1; t <= 2; t++) {
			unsigned free_cores = 0;

			for (size_t i = 0; i < m->in->topology.core_count; i++)
				free_cores += m->in->cores[i].node == (int)n &&
					vfctl_cpuset_count(&m->in->cores[i].cpus) == t &&
					instance_core_is_free(m->in, i);
			for (size_t g = 0; g < m->in->guest_count; g++) {
				for (size_t k = 0; k < cells_of(&m->in->requests[g]); k++)
					term(m, v->vcpus[g][k][n][t], 1);
				term(m, v->extra[g][n][t], 1);
			}
			term(m, v->carriers[n][t], 1);
			row(m, GLP_UP, free_cores);
		}
}

/* ---- memory ---- */

static bool page_ok(const struct vfctl_request *r, unsigned page)
{
	return r->page_bytes == VFCTL_PAGES_AUTO || (r->page_bytes == GIB) == (page == 1);
}

static void share_memory(struct milp *m)
{
	int uses[GUESTS][2], y[GUESTS][3][NODES][2];

	for (size_t g = 0; g < m->in->guest_count; g++) {
		const struct vfctl_request *r = &m->in->requests[g];

		for (unsigned p = 0; p < 2; p++)
			uses[g][p] = page_ok(r, p) ? binary(m) : column(m, GLP_IV, 0, 0);
		term(m, uses[g][0], 1);
		term(m, uses[g][1], 1);
		term(m, m->placed[g], -1);
		row(m, GLP_FX, 0);
		for (size_t k = 0; k < cells_of(r); k++)
			for (unsigned n = 0; n < m->nodes; n++) {
				for (unsigned p = 0; p < 2; p++) {
					y[g][k][n][p] = binary(m);
					term(m, y[g][k][n][p], 1);
					term(m, uses[g][p], -1);
					row(m, GLP_UP, 0);
				}
				term(m, y[g][k][n][0], 1);
				term(m, y[g][k][n][1], 1);
				term(m, m->x[g][k][n], -1);
				row(m, GLP_FX, 0);
			}
	}
	for (unsigned n = 0; n < m->nodes; n++)
		for (unsigned p = 0; p < 2; p++) {
			const struct vfctl_node *node = &m->in->nodes[n];
			uint64_t huge = node->pool_count ? node->pools[0].total : 0;

			for (size_t g = 0; g < m->in->guest_count; g++)
				for (size_t k = 0; k < cells_of(&m->in->requests[g]); k++)
					term(m, y[g][k][n][p],
						(double)(cell_memory(&m->in->requests[g], k) / GIB));
			row(m, GLP_UP, (double)(p ? huge : node->memory_bytes / GIB - huge));
		}
}

/* ---- VFs ---- */

static bool answers(const struct milp *m, const struct vfctl_vf_want *w, unsigned q)
{
	return (w->any_pf || vfctl_bdf_compare(&w->pf, &m->group[q].pf) == 0) &&
		(w->fabric == VFCTL_FABRIC_ANY || w->fabric == m->group[q].fabric) &&
		(!w->port || w->port == m->group[q].port);
}

static unsigned vf_distance(const struct milp *m, unsigned q, unsigned n)
{
	unsigned farthest = 0;

	if (m->group[q].node >= 0)
		return distance(m, (unsigned)m->group[q].node, n);
	if (m->group[q].local >> n & 1)
		return 10;
	for (unsigned i = 0; i < m->nodes * m->nodes; i++)
		if (m->in->distances[i] > farthest)
			farthest = m->in->distances[i];
	return farthest;
}

/* Cells of node @n that the VF may be of. */
static void term_cells(struct milp *m, size_t g, int cell, unsigned n, double value)
{
	term(m, cell >= 0 ? m->x[g][cell][n] : m->on[g][n], value);
}

/* VFs that @f counts are on one of @nodes: @slack lets them be elsewhere. */
static void be_near(struct milp *m, size_t g, int cell, unsigned nodes, int f, double count,
	int slack)
{
	term(m, f, 1);
	for (unsigned n = 0; n < m->nodes; n++)
		if (nodes >> n & 1)
			term_cells(m, g, cell, n, -count);
	if (slack)
		term(m, slack, count);
	row(m, GLP_UP, slack ? count : 0);
}

static int take_from(struct milp *m, size_t g, const struct vfctl_vf_want *w, int cell,
	unsigned q)
{
	double count = w->count;
	int f = column(m, GLP_IV, 0, answers(m, w, q) ? count : 0);
	unsigned max = m->in->requests[g].max_distance;

	if (w->affinity == VFCTL_AFFINITY_ANY)
		return f;
	if (w->affinity == VFCTL_AFFINITY_REQUIRED && m->group[q].local)
		be_near(m, g, cell, m->group[q].local, f, count, 0);
	if (w->affinity == VFCTL_AFFINITY_SOCKET && m->group[q].local)
		be_near(m, g, cell, socket_nodes(m->in, m->group[q].local), f, count, 0);
	be_near(m, g, cell, m->group[q].local, f, count, m->local[g]);
	if (max && m->group[q].local) {
		term(m, f, 1);
		for (unsigned n = 0; n < m->nodes; n++)
			if (vf_distance(m, q, n) <= max)
				term_cells(m, g, cell, n, -count);
		row(m, GLP_UP, 0);
	}
	/* Each VF counts its distance to one node of the guest: the least, as it is minimised. */
	for (unsigned n = 0; n < m->nodes; n++) {
		int h = column(m, GLP_IV, 0, count);

		m->cost[h] = 4 * ((int)vf_distance(m, q, n) - 10);
		term(m, h, 1);
		term_cells(m, g, cell, n, -count);
		row(m, GLP_UP, 0);
	}
	for (unsigned n = 0; n < m->nodes; n++)
		term(m, glp_get_num_cols(m->p) - (int)n, 1);
	term(m, f, -1);
	row(m, GLP_FX, 0);
	return f;
}

struct vf_vars {
	int f[GUESTS][WANTS * 3][PFS];
	uint32_t anti_affinity[GUESTS][WANTS * 3];
	size_t count[GUESTS];
};

static void ask_vfs(struct milp *m, size_t g, struct vf_vars *v)
{
	const struct vfctl_request *r = &m->in->requests[g];

	for (size_t i = 0; i < r->want_count; i++) {
		const struct vfctl_vf_want *w = &r->wants[i];
		size_t times = w->cell == VFCTL_CELL_EACH ? r->cell_count : 1;

		for (size_t k = 0; k < times; k++) {
			size_t d = v->count[g]++;
			int cell = w->cell == VFCTL_CELL_EACH ? (int)k : w->cell;

			v->anti_affinity[g][d] = w->anti_affinity;
			for (unsigned q = 0; q < m->groups; q++)
				v->f[g][d][q] = take_from(m, g, w, cell, q);
			for (unsigned q = 0; q < m->groups; q++)
				term(m, v->f[g][d][q], 1);
			term(m, m->placed[g], -(double)w->count);
			row(m, GLP_FX, 0);
		}
	}
	for (unsigned q = 0; q < m->groups; q++) {
		for (size_t d = 0; d < v->count[g]; d++)
			if (v->anti_affinity[g][d])
				term(m, v->f[g][d][q], 1);
		if (m->terms)
			row(m, GLP_UP, 1);
	}
}

static void share_vfs(struct milp *m, const struct vf_vars *v)
{
	for (unsigned q = 0; q < m->groups; q++) {
		for (size_t g = 0; g < m->in->guest_count; g++)
			for (size_t d = 0; d < v->count[g]; d++)
				term(m, v->f[g][d][q], 1);
		row(m, GLP_UP, m->group[q].count);
	}
}

/* ---- solving ---- */

static int solve(struct milp *m, const int *columns, size_t count, const int *costs, bool max,
	int64_t *ret)
{
	glp_iocp options;
	double value;

	glp_init_iocp(&options);
	options.presolve = GLP_ON;
	options.msg_lev = GLP_MSG_OFF;
	options.tm_lim = 60000;
	glp_set_obj_dir(m->p, max ? GLP_MAX : GLP_MIN);
	for (int c = 1; c <= glp_get_num_cols(m->p); c++)
		glp_set_obj_coef(m->p, c, costs ? costs[c] : 0);
	for (size_t i = 0; i < count; i++)
		glp_set_obj_coef(m->p, columns[i], 1);
	if (glp_intopt(m->p, &options) != 0 || glp_mip_status(m->p) != GLP_OPT)
		return -1;
	value = glp_mip_obj_val(m->p);
	*ret = (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
	return 0;
}

static void fix(struct milp *m, const int *columns, size_t count, int64_t value)
{
	for (size_t i = 0; i < count; i++)
		term(m, columns[i], 1);
	row(m, GLP_FX, (double)value);
}

static int solve_levels(struct milp *m, struct oracle_value *ret)
{
	size_t n = m->in->guest_count;

	if (solve(m, m->placed, n, NULL, true, &ret->placed) < 0)
		return -1;
	fix(m, m->placed, n, ret->placed);
	if (solve(m, m->local, n, NULL, true, &ret->local) < 0)
		return -1;
	fix(m, m->local, n, ret->local);
	return solve(m, NULL, 0, m->cost, false, &ret->distance);
}

int milp_solve(const struct instance *in, struct oracle_value *ret)
{
	static struct milp m;
	static struct core_vars cores;
	static struct vf_vars vfs;
	int r;

	glp_term_out(GLP_OFF);
	m = (struct milp){.in = in, .p = glp_create_prob(),
		.nodes = (unsigned)in->topology.node_count};
	vfs = (struct vf_vars){0};
	find_groups(&m);
	for (size_t g = 0; g < in->guest_count; g++) {
		place_cells(&m, g);
		pair_cells(&m, g);
		ask_cores(&m, g, &cores);
		ask_vfs(&m, g, &vfs);
	}
	share_cores(&m, &cores);
	share_memory(&m);
	share_vfs(&m, &vfs);
	r = solve_levels(&m, ret);
	glp_delete_prob(m.p);
	return r;
}
