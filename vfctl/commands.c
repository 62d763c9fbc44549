// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of vfctl, and those that vfctl-bench carries out. */
#include "command.h"
#include "delegate.h"

const struct command *const commands[] = {&cmd_list, &cmd_show, &cmd_topology, &cmd_create,
	&cmd_destroy, &cmd_set, &cmd_apply, &cmd_try, &cmd_check, &cmd_edit, &cmd_status, &cmd_monitor,
	&cmd_export, &cmd_plan, &cmd_xml, &cmd_define, &cmd_move, &cmd_undefine, &cmd_adopt,
	&cmd_attach, &cmd_detach, &cmd_release, &cmd_guid, &cmd_hook, &cmd_bench, &cmd_tune,
	&cmd_doctor, &cmd_health, &cmd_selftest, &cmd_metrics, &cmd_recover, &cmd_backup, &cmd_capture,
	&cmd_completion, &cmd_schema, &cmd_version, &cmd_help, &cmd_complete, &cmd_man};
const size_t command_count = ARRAY_SIZE(commands);

static const struct delegate delegates[] = {
	{"bench", NULL, NULL},
	{"tune", "search", "search"},
	{"schema", "bench", "schema"},
	{"help", "bench", "help"},
};

const struct program this_program = {
	.name = "vfctl",
	.typed = "vfctl",
	.section = "8",
	.about = "Create, identify, place and assign SR-IOV VFs for KVM guests.\n\n"
		 "A PF is named by network device, alternative name, RDMA device or PCI address; a\n"
		 "VF is PF/INDEX (ens1f0/3) or a PCI address. libvirt's names are understood as\n"
		 "well: pci_0000_81_10_0, net_ens1f0_52_54_00_12_34_56.",
	.delegates = delegates,
	.delegate_count = ARRAY_SIZE(delegates),
	.delegate = start_delegate,
};
