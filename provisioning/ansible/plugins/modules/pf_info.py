#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: pf_info
short_description: List PFs and their VFs
version_added: 0.1.0
description:
  - Lists the physical functions (PFs) of a host, their virtual functions (VFs), and which guest has each VF.
  - It changes nothing.
options:
  pfs:
    description:
      - Names of the PFs to list, such as network devices, RDMA devices or PCI addresses. The default is all.
      - If a PF does not exist, the module fails.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.info
'''

EXAMPLES = r'''
- name: List the PFs
  vfctl.sriov.pf_info:
  register: host

- name: Print how many VFs of each PF are free
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.vfs | selectattr('lease', 'none') | list | length }} free"
  loop: '{{ host.pfs }}'
  loop_control:
    label: '{{ item.name }}'
'''

RETURN = r'''
pfs:
  description:
    - The PFs, by address, with the members of C(vfctl list --json) (see C(vfctl schema list)).
  returned: success
  type: list
  elements: dict
  sample:
    - {name: ens1, address: '0000:10:00.0', driver: ice, numa_node: 0, num_vfs: 4, vfs: []}
read_error:
  description: First part of the host that could not be read.
  returned: if there is one
  type: str
version:
  description: Version of vfctl.
  returned: success
  type: str
  sample: 0.1.0
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import DONE, Vfctl, argument_spec


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(pfs=dict(type='list', elements='str', default=[])),
        supports_check_mode=True,
    )
    vfctl = Vfctl(module)
    answer = vfctl.run(['list'] + module.params['pfs'])
    if answer.status != DONE:
        vfctl.fail(answer)
    for key in ('read_error', 'leases_error', 'domains_error'):
        if answer.data.get(key):
            vfctl.warn(answer.data[key])
    more = dict(pfs=answer.data['pfs'])
    if answer.data.get('read_error'):
        more['read_error'] = answer.data['read_error']
    module.exit_json(changed=False, version=vfctl.result['version'], **more)


if __name__ == '__main__':
    main()
