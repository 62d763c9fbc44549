# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import absolute_import, division, print_function
__metaclass__ = type


class ModuleDocFragment(object):
    DOCUMENTATION = r'''
options:
  executable:
    description:
      - Name or path of vfctl on the host.
    type: str
    default: vfctl
  host_yaml:
    description:
      - The file that declares the host.
    type: path
    default: /etc/vfctl/host.yaml
  state_file:
    description:
      - The state file of vfctl. vfctl's default is C(/var/lib/vfctl/state.db).
    type: path
  connect:
    description:
      - URI of the libvirt to connect to. vfctl's default is C(qemu:///system).
    type: str
  wait:
    description:
      - How many seconds to wait for another vfctl that works on the same PF or domain. vfctl's default is 30.
    type: int
  timeout:
    description:
      - Time limit in seconds for one write to the kernel. vfctl's default is 120.
    type: int
requirements:
  - vfctl 0.1.0 or newer on the host
author:
  - vfctl maintainers (@vfctl)
'''

    # What modules return that change something.
    CHANGES = r'''
attributes:
  check_mode:
    description: Can run in check_mode and return changed status prediction without modifying target
    support: full
  diff_mode:
    description: Will return details on what has changed (or possibly needs changing in check_mode), when in diff mode
    support: full
notes:
  - A task first recovers changes that an earlier vfctl left unfinished because it was killed or the host crashed.
    Such a task is changed.
  - In check mode vfctl plans the change and nothing is written (C(--dry-run)). C(changed) and the diff are those of the
    run, except that the steps after a recovery are planned on the host as it is before the recovery, and that steps are not
    complete where C(host_pending) applies.
  - If a task fails, it returns the JSON answer of vfctl as C(vfctl) and the exit status as C(rc) (1 failed, the host is
    unchanged; 2 a mistake in the arguments or a file, the host is unchanged; 4 partly applied). Run the same task
    again after the cause is removed.
  - Messages name commands of vfctl as remedies. If the module has an option for the same, set this option, such as I(force)
    for C(--force).
'''

    # Modules whose plan needs what an earlier task of the play would make.
    PENDING = r'''
options:
  host_pending:
    description:
      - In check mode, whether an earlier task of the play would change the host, as C(changed) of M(vfctl.sriov.host) says.
        Register the result of that task, for example as C(host), and set C("{{ host is changed }}").
      - If the task then lacks only VFs, a PF, a pool, a partition or huge pages, or the domain of M(vfctl.sriov.attach), it is
        changed and warns, and does not fail. Its steps are not complete. Only the run reports a wrong name of a PF or of that
        domain, because an earlier task may make either.
      - Other mistakes fail in check mode, too, such as too many vCPUs or a missing disk.
      - If the host.yaml that it would replace has a mistake, the task is planned without that file.
    type: bool
    default: false
'''

    # Modules that change nothing.
    INFO = r'''
attributes:
  check_mode:
    description: Can run in check_mode and return changed status prediction without modifying target
    support: full
'''
