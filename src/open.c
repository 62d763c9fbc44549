// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables with which a context is opened: the operations of all rooms, and the stores of
 * identities. This is the only file that names rooms above its callers; no room uses it.
 */
#include "base/ctx.h"
#include "base/trial.h"
#include "eswitch/eswitch.h"
#include "hook/hook_install.h"
#include "host/ops.h"
#include "ids/ops.h"
#include "lease/clean.h"
#include "lease/guest_run.h"
#include "lease/ops.h"
#include "lease/port.h"
#include "eswitch/lag.h"
#include "remote/settings.h"
#include "remote/tunnel.h"
#include "sriov/ops.h"
#include "state/ids_sqlite.h"
#include "tuning/coalesce.h"
#include "tuning/fdb.h"
#include "tuning/host.h"
#include "tuning/ops.h"

/*
 * Weak symbols: a program that never starts these, such as the hook, does not link their code. They
 * are last, so that the table then ends before them.
 */
extern const struct op_type op_opensm_file __attribute__((weak));
extern const struct op_type op_opensm __attribute__((weak));
extern const struct op_type op_subnet_port __attribute__((weak));
extern const struct op_type op_bench_settings __attribute__((weak));
extern const struct op_type op_bench_tunnel __attribute__((weak));

static const struct op_type *const op_types[] = {&op_autoprobe, &op_numvfs, &op_vf_attrs,
	&op_vf_identity, &op_guest_attrs, &op_vf_driver, &op_module, &op_pf_mtu,
	&op_ipoib_mode,
	&op_rdma_adaptive,
	&op_pf_link, &op_eswitch, &op_representor, &op_bond, &op_lag, &op_miimon, &op_coalesce,
	&op_kernel_value, &op_fdb, &op_file,
	&op_claim, &op_unclaim, &op_lease,
	&op_unlease, &op_lease_vf, &op_unlease_vf, &op_lease_domain,
	&op_policy, &op_end_run, &op_domain, &op_undefine,
	&op_definition, &op_plugged, &op_run, &op_run_vf,
	&op_intent, &op_definition_vf, &op_run_had,
	&op_lease_shape, &op_shape_later, &op_vf_leaves, &op_redefine, &op_clean, &op_new_identity,
	&op_vf_port,
	&op_cpu_governor, &op_irq_affinity, &op_irq_keep,
	&op_hook_program, &op_hook_reload, &op_trial, &op_opensm_file, &op_opensm, &op_subnet_port,
	&op_bench_settings, &op_bench_tunnel, NULL};

int vfctl_ctx_new(struct vfctl_ctx **ret_ctx)
{
	static const struct ctx_tables tables = {.op_types = op_types, .open_local_ids = id_sqlite_open};

	return ctx_new(&tables, ret_ctx);
}
