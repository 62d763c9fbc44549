#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: guest
short_description: Define a guest with VFs in libvirt, or undefine it
version_added: 0.1.0
description:
  - Places a guest on the NUMA node of its VFs, leases VFs, CPUs and memory to it, and defines it in libvirt. A guest that is
    defined already is changed to match; it keeps its UUID, MACs and VFs where possible.
  - Of a guest that is defined already, these keys can change - C(title), C(description), C(vcpus), C(memory), C(cells),
    C(vfs), C(tuning), and those that determine its placement, such as C(hugepages), C(threads) and C(node). Disks can be added.
    The task fails if another key changes, such as C(machine), C(cpu), C(template) or C(xml), if C(title) or C(description) is
    removed, or if C(pkey), C(mac_pool) or C(guid_pool) of a VF changes. Undefine the guest and define it again to change them.
  - The module does not start or stop guests; use C(community.libvirt.virt) for that. The change of a running guest takes
    effect when it is stopped and started.
options:
  name:
    description:
      - Name of the guest. I(config) need not repeat it.
    type: str
    required: true
  state:
    description:
      - With C(present), the guest is defined as declared, and its file is written.
      - With C(absent), the guest is undefined, its lease ends, and its file is removed. That works also if only one of
        them is left. A running guest is refused and must be stopped first.
    type: str
    choices: [present, absent]
    default: present
  config:
    description:
      - The guest file as a mapping, with the keys of guest.yaml (C(man vfctl-guest.yaml)).
      - C(vcpus) and C(memory) are required. C(hugepages) is C(none) for a guest with base pages. C(disks) is a list of disks, each
        with C(file) or C(block).
      - C(vfs) is a list of VFs. Each has C(pf) (a PF, or C(any)) and may have C(count), C(vlan), C(max_rate_mbps), C(mac), C(trust),
        C(spoofchk), C(mac_pool), C(guid_pool), C(pkey), C(affinity) and C(bond).
      - Ansible reads C(0x10) and C(10:20:30:40:50:51) as numbers. Put P_Keys, GUIDs, MACs and lists of CPUs in quotes.
      - Exactly one of I(config) and I(content) is required if I(state=present).
    type: dict
  content:
    description:
      - The guest file as text, such as that of a template. It needs a line C(name) with the name of the guest.
    type: str
  path:
    description:
      - The guest file on the host. The default is the name of the guest with C(.yaml) in C(/etc/vfctl/guests).
      - It is written after vfctl has accepted it.
    type: path
  template:
    description:
      - Domain XML on the host that vfctl completes. The default is the template that the guest file names, if any.
    type: path
  reserve:
    description:
      - CPUs that are kept for the host, such as C(0-1), in addition to those of host.yaml.
    type: str
  force:
    description:
      - With I(state=absent), also undefine a domain that vfctl did not define.
    type: bool
    default: false
  nvram:
    description:
      - With I(state=absent), also remove the firmware variables of the guest.
    type: bool
    default: false
  managed_save:
    description:
      - With I(state=absent), also remove the saved memory of the guest.
    type: bool
    default: false
  snapshots_metadata:
    description:
      - With I(state=absent), also remove libvirt's metadata of the guest's snapshots.
    type: bool
    default: false
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.changes
  - vfctl.sriov.vfctl.pending
seealso:
  - module: vfctl.sriov.host
  - module: vfctl.sriov.attach
'''

EXAMPLES = r'''
- name: Define the guest web
  vfctl.sriov.guest:
    name: web
    config:
      vcpus: 4
      memory: 8GiB
      disks:
        - file: /var/lib/libvirt/images/web.qcow2
      vfs:
        - {pf: any, vlan: 100}

- name: VFs for the next task
  vfctl.sriov.host:
    config:
      pfs:
        - {match: ens1, count: 8}
  register: host

- name: Define the guest lb. In check mode the VFs do not exist yet
  vfctl.sriov.guest:
    name: lb
    config:
      vcpus: 2
      memory: 4GiB
      vfs:
        - {pf: ens1}
    host_pending: '{{ host is changed }}'

- name: Define a guest from a template
  vfctl.sriov.guest:
    name: db
    content: "{{ lookup('ansible.builtin.template', 'db.yaml.j2') }}"

- name: Stop the guest web
  community.libvirt.virt:
    name: web
    state: destroyed

- name: Undefine it
  vfctl.sriov.guest:
    name: web
    state: absent
'''

RETURN = r'''
steps:
  description: What was changed, or in check mode would be.
  returned: always
  type: list
  elements: str
  sample: ['lease to domain web: CPUs 0-1, and 2048 MiB of node 0 and VF 0000:10:01.0', define domain web in libvirt]
domain:
  description:
    - The guest afterwards, with its NUMA nodes, CPUs and VFs.
    - It is null in check mode, and if the guest has no lease.
  returned: success
  type: dict
  sample: {name: web, numa_nodes: [0], cpus: 0-1, vfs: [{vf: ens1/0, address: '0000:10:01.0', mac: '02:00:5e:00:10:01'}]}
path:
  description: The guest file.
  returned: success
  type: str
  sample: /etc/vfctl/guests/web.yaml
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

import re

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import (
    DIFFERS, DONE, FAILED, Vfctl, argument_spec, declared_text)

NAME = re.compile(r'''name:[ \t]+(?P<quote>["']?)(?P<name>[^"'#\s]+)(?P=quote)[ \t]*(#.*)?$''', re.MULTILINE)
# What a change of the host can provide: VFs, with their PFs, pools and partitions, and huge pages. A key of the file at the
# left margin, with the lines of its value.
FROM_HOST = re.compile(r'''^["']?(?:vfs|hugepages)["']?[ \t]*:.*\n(?:(?:[ \t#-].*)?\n)*''', re.MULTILINE)
HINT = 'If an earlier task of this play would create VFs or huge pages, set host_pending, or run the play without check mode'


def take_name(module):
    """The file states the name of the guest once, and it is the one of the task."""
    params = module.params
    if params['config'] is not None:
        stated = params['config'].get('name', params['name'])
        params['config'] = dict([('name', params['name'])] + [
            (key, value) for key, value in params['config'].items() if key != 'name'])
    elif params['content'] is not None:
        found = [match.group('name') for match in NAME.finditer(params['content']) if params['content'][
            match.start() - 1:match.start()] in ('', '\n')]
        if len(found) != 1:
            module.fail_json(msg='content needs one line at its left margin that states the name: name: %s'
                                 % params['name'])
        stated = found[0]
    else:
        return
    if str(stated) != params['name']:
        module.fail_json(msg='the file is that of guest %s, not of %s' % (stated, params['name']))


def define(vfctl, params, text, path):
    arguments = ['define', vfctl.scratch(text, path)]
    for key in ('template', 'reserve'):
        if params[key]:
            arguments += ['--' + key, params[key]]
    return arguments


def plan_rest(vfctl, params, text, path):
    """The plan of the guest without what a change of the host can provide."""
    rest = FROM_HOST.sub('', text + '\n') + 'hugepages: none\n'
    return vfctl.run(define(vfctl, params, rest, path) + ['--dry-run'], warn=False)


def check_pending(vfctl, answer, rest):
    """
    A plan failed in check mode: the task fails, too, unless a change of the host explains it. That is so if the rest of the
    guest can be planned.
    """
    # Of a file in another form, such as {name: web, ...}, the keys were not found, and the rest is not valid.
    may_help = rest.status in (DONE, DIFFERS) or rest.code() == 'EINVAL'
    if not vfctl.is_pending():
        vfctl.fail(answer, hint=HINT if may_help and answer.status == FAILED else None)
    if not may_help:
        # What is short apart from VFs: vfctl names VFs alone if these are short as well.
        vfctl.fail(rest if rest.code() == 'ENOSPC' else answer)


def present(vfctl, params, path):
    text = declared_text(params)
    before = vfctl.read(path)
    answer = vfctl.change(define(vfctl, params, text, path))
    planned = answer.status in (DONE, DIFFERS)
    if not planned:
        if not vfctl.module.check_mode or answer.code() not in ('ENOSPC', 'ENOENT'):
            vfctl.fail(answer)
        check_pending(vfctl, answer, plan_rest(vfctl, params, text, path))
    vfctl.write(path, text, before)
    if planned:
        vfctl.note(answer)
    else:
        vfctl.note_pending(answer, 'define domain %s in libvirt' % params['name'])
    return answer.data.get('domain')


def absent(vfctl, params, path):
    arguments = ['undefine', params['name']]
    for key in ('force', 'nvram', 'managed_save', 'snapshots_metadata'):
        if params[key]:
            arguments.append('--' + key.replace('_', '-'))
    answer = vfctl.change(arguments)
    if answer.status not in (DONE, DIFFERS):
        vfctl.fail(answer)
    vfctl.note(answer)
    vfctl.remove(path, vfctl.read(path))


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(
            name=dict(type='str', required=True),
            state=dict(type='str', choices=['present', 'absent'], default='present'),
            config=dict(type='dict'),
            content=dict(type='str'),
            path=dict(type='path'),
            template=dict(type='path'),
            reserve=dict(type='str'),
            force=dict(type='bool', default=False),
            nvram=dict(type='bool', default=False),
            managed_save=dict(type='bool', default=False),
            snapshots_metadata=dict(type='bool', default=False),
            host_pending=dict(type='bool', default=False),
        ),
        mutually_exclusive=[('config', 'content')],
        required_if=[('state', 'present', ('config', 'content'), True)],
        supports_check_mode=True,
    )
    params = module.params
    if not re.match(r'[^/.][^/]*\Z', params['name']):
        module.fail_json(msg="'%s' is not a valid name of a guest" % params['name'])
    take_name(module)
    path = params['path'] or '/etc/vfctl/guests/%s.yaml' % params['name']
    vfctl = Vfctl(module)
    vfctl.recover()
    work = present if params['state'] == 'present' else absent
    vfctl.end(domain=work(vfctl, params, path), path=path)


if __name__ == '__main__':
    main()
