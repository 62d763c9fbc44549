#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: host
short_description: Make a host match its host.yaml
version_added: 0.1.0
description:
  - Writes the declaration of a host (host.yaml), installs vfctl's libvirt hook, and makes the PFs and VFs of the host match
    the declaration. vfctl compares first and changes only what differs.
  - Each PF is changed as a whole or not at all. VFs that a guest uses keep what they have until the guest stops.
options:
  state:
    description:
      - With C(present), the host is as declared.
      - With C(absent), the PFs that are declared with a C(count) have no VFs, the hook is removed, and the file is removed.
        It is refused while a guest has one of the VFs. Other settings of the host stay as they are, such as MTUs.
      - With C(absent), I(config) or I(content) is the declaration instead of the file, so VFs of PFs that only the file
        declares stay. The hook and the file are removed all the same. A declaration without a C(count), such as one
        with an empty list of PFs, therefore removes the hook even if guests have VFs. Leave both options out to remove
        what the file declares.
    type: str
    choices: [present, absent]
    default: present
  config:
    description:
      - The declaration as a mapping, with the keys of host.yaml (C(man vfctl-host.yaml)).
      - C(pfs) is a list of PFs. Each has C(match) (a network device, an RDMA device or a PCI address) and may have C(count) (the
        number of VFs), C(vfs) (attributes by VF or range of VFs), C(driver), C(mtu), C(link), C(tuning) (a profile),
        C(guid-pool), C(pkey), and C(managed) (off means that vfctl never changes the PF).
      - Other keys are C(mac-pools) and C(guid-pools) (lists with C(name) and C(ranges)), C(partitions), C(reserved-cpus),
        C(hugepages) and C(kernel).
      - Ansible reads C(0x10) and C(10:20:30:40:50:51) as numbers. Put P_Keys, GUIDs, MACs and lists of CPUs in quotes.
      - Without I(config) and I(content), the file that the host has is applied.
    type: dict
  content:
    description:
      - The declaration as text, such as that of a template.
    type: str
  hook:
    description:
      - Whether the task installs vfctl's libvirt hook, or removes it if I(state=absent). Without the hook, VFs do not get
        their identity and policy when a guest starts.
    type: bool
    default: true
  pf_wait:
    description:
      - With I(state=present), how many seconds to wait for PFs that are declared and do not exist yet. The default is not
        to wait.
    type: int
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.changes
notes:
  - With I(state=present), the task first plans the change. If vfctl refuses the declaration, the host, the hook and the file
    stay as they are.
  - The file is written after vfctl has applied it. If vfctl changed nothing because of an error (C(rc) 1 or 2), the file is
    as before. If some PFs are as declared and others are not (C(rc) 4), the file is written and the task fails.
  - If something is left to do by hand, such as a reload of a kernel module, the task succeeds, warns, and returns
    C(pending).
  - The units C(vfctl-apply.service) and C(vfctl-recover.service) apply the file at boot. The role C(vfctl.sriov.host) enables
    them.
seealso:
  - module: vfctl.sriov.guest
'''

EXAMPLES = r'''
- name: Eight VFs on ens1 and 16 on the InfiniBand card
  vfctl.sriov.host:
    config:
      pfs:
        - {match: ens1, count: 8, mtu: 9000, vfs: {'0-3': {vlan: 100}}}
        - {match: mlx5_0, count: 16, guid-pool: fabric-a}
      guid-pools:
        - name: fabric-a
          ranges: ['02:00:00:00:00:00:00:01..02:00:00:00:00:00:ff:ff']

- name: The same from a template
  vfctl.sriov.host:
    content: "{{ lookup('ansible.builtin.template', 'host.yaml.j2') }}"

- name: Remove the VFs that host.yaml declares, the hook, and the file
  vfctl.sriov.host:
    state: absent
'''

RETURN = r'''
steps:
  description: What was changed, or in check mode would be.
  returned: always
  type: list
  elements: str
  sample: ['ens1: create 8 VFs', 'ens1: bind 8 VFs to vfio-pci']
pfs:
  description: The PFs in the order of the declaration, with the members of C(vfctl apply --json).
  returned: success
  type: list
  elements: dict
  sample: [{pf: ens1, address: '0000:10:00.0', managed: true, count: 8, changed: false, error: null, pending: null}]
pending:
  description: What is left to do by hand.
  returned: if there is anything
  type: list
  elements: str
recovered:
  description: Interrupted changes that the task recovered.
  returned: if there were any
  type: list
  elements: str
version:
  description: Version of vfctl.
  returned: success
  type: str
  sample: 0.1.0
vfctl:
  description: JSON answer of vfctl.
  returned: if vfctl failed
  type: dict
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import (
    DIFFERS, DONE, PARTLY, Vfctl, argument_spec, declared_text, to_yaml)


def change_hook(vfctl, verb):
    if not vfctl.module.params['hook']:
        return
    answer = vfctl.change(['hook', verb])
    if answer.status not in (DONE, DIFFERS):
        vfctl.fail(answer)
    vfctl.note(answer)


def present(vfctl, params):
    path = params['host_yaml']
    before = vfctl.read(path)
    text = declared_text(params)
    if text is None:
        text = before
    if text is None:
        vfctl.module.fail_json(msg='%s does not exist; declare the host with config or content' % path, **vfctl.result)
    apply = ['apply', vfctl.scratch(text, path)]
    wait = [] if params['pf_wait'] is None else ['--wait', str(params['pf_wait'])]
    # The plan comes first: a declaration that vfctl refuses changes nothing, the hook included.
    answer = vfctl.run(apply + wait + ['--dry-run'], warn=vfctl.module.check_mode)
    if answer.status not in (DONE, DIFFERS, PARTLY):
        vfctl.fail(answer)
    change_hook(vfctl, 'install')
    if not vfctl.module.check_mode:
        answer = vfctl.run(apply)
    if answer.status == PARTLY:
        vfctl.write(path, text, before)
    if answer.status not in (DONE, DIFFERS):
        vfctl.fail(answer)
    vfctl.write(path, text, before)
    vfctl.note(answer)
    return answer.data['pfs']


def without_vfs(vfctl, text, path):
    """The declaration that the PFs with a count have none."""
    answer = vfctl.run(['status', vfctl.scratch(text, path)])
    if 'pfs' not in answer.data:
        vfctl.fail(answer, hint='Declare the host with config or content to remove its VFs all the same')
    return to_yaml(dict(pfs=[dict(match=dict(address=pf['address']), count=0) for pf in answer.data['pfs']
                             if pf['managed'] and pf['address'] and pf['count'] is not None]))


def absent(vfctl, params):
    path = params['host_yaml']
    before = vfctl.read(path)
    text = declared_text(params)
    if text is None:
        text = before
    pfs = []
    if text is not None:
        answer = vfctl.change(['apply', vfctl.scratch(without_vfs(vfctl, text, path), path)])
        if answer.status not in (DONE, DIFFERS):
            vfctl.fail(answer)
        vfctl.note(answer)
        pfs = answer.data['pfs']
    change_hook(vfctl, 'remove')
    vfctl.remove(path, before)
    return pfs


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(
            state=dict(type='str', choices=['present', 'absent'], default='present'),
            config=dict(type='dict'),
            content=dict(type='str'),
            hook=dict(type='bool', default=True),
            pf_wait=dict(type='int'),
        ),
        mutually_exclusive=[('config', 'content')],
        supports_check_mode=True,
    )
    vfctl = Vfctl(module)
    vfctl.recover()
    work = present if module.params['state'] == 'present' else absent
    vfctl.end(pfs=work(vfctl, module.params))


if __name__ == '__main__':
    main()
