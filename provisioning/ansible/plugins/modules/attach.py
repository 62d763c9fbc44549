#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: attach
short_description: Attach VFs to a domain, or detach them
version_added: 0.1.0
description:
  - Gives VFs to a libvirt domain that is defined already, running or off, or takes them back. The domain need not be one
    that vfctl defined. VFs of a guest that M(vfctl.sriov.guest) defines belong into its I(config) instead.
  - vfctl leases each VF to the domain, sets its identity and policy, and reads them back.
options:
  domain:
    description:
      - Name of the domain.
    type: str
    required: true
    aliases: [name]
  state:
    description:
      - With C(present), the domain has at least I(count) VFs of I(pf), or has I(vf). VFs that it has already count.
      - With C(absent), it has no VF of I(pf), or does not have I(vf). From a running domain vfctl unplugs the VF and waits
        until the guest has released it. VFs are detached one after the other.
    type: str
    choices: [present, absent]
    default: present
  pf:
    description:
      - Take free VFs of this PF.
      - Exactly one of I(pf) and I(vf) is required.
    type: str
  vf:
    description:
      - Take this VF. It is C(PF/INDEX) or a PCI address.
    type: str
  count:
    description:
      - With I(state=present), how many VFs of I(pf) the domain has. All of them are attached, or none.
      - Mutually exclusive with I(vf).
    type: int
    default: 1
  attributes:
    description:
      - Attributes of the VFs, such as C(vlan), C(max-rate), C(trust), C(spoofchk) or C(mac); C(vfctl help set) lists them.
      - If the domain has the VF already with another value, the task fails and names the command that changes it.
    type: dict
    default: {}
  where:
    description:
      - C(live) is the running domain only, C(config) its definition only, C(both) is both where possible.
    type: str
    choices: [both, live, config]
    default: both
  mac_pool:
    description:
      - Pool of host.yaml for the MAC. The default is the first pool, if there is one.
    type: str
  guid_pool:
    description:
      - Pool of host.yaml for the GUID of an InfiniBand VF. The default is the first pool.
    type: str
  pkey:
    description:
      - Partition of an InfiniBand VF, by a name of host.yaml or by its P_Key, with C(:full) or C(:limited).
    type: str
  form:
    description:
      - The libvirt element.
    type: str
    choices: [auto, interface, hostdev]
    default: auto
  release_wait:
    description:
      - With I(state=absent), how many seconds a running guest may take to release the VF. vfctl's default is 30.
    type: int
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.changes
  - vfctl.sriov.vfctl.pending
seealso:
  - module: vfctl.sriov.guest
'''

EXAMPLES = r'''
- name: The domain router has two VFs of ens1 in VLAN 42
  vfctl.sriov.attach:
    domain: router
    pf: ens1
    count: 2
    attributes: {vlan: 42}

- name: The domain router has no VF of ens1
  vfctl.sriov.attach:
    domain: router
    pf: ens1
    state: absent
'''

RETURN = r'''
steps:
  description: What was changed, or in check mode would be.
  returned: always
  type: list
  elements: str
  sample: ['lease VF 0000:10:01.1 to domain router', 'add VF 0000:10:01.1 to the definition of domain router']
result:
  description:
    - The domain afterwards, with its VFs, as the member C(domain) of vfctl's answer.
    - It is null in check mode, and if the domain has no lease.
  returned: success
  type: dict
  sample: {name: router, numa_nodes: [], cpus: '', vfs: [{vf: ens1/1, address: '0000:10:01.1', mac: '02:00:5e:00:10:01'}]}
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
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import DIFFERS, DONE, MISTAKE, Vfctl, argument_spec, spelled


def where(params):
    return [] if params['where'] == 'both' else ['--' + params['where']]


def is_usable(vf, domain):
    """The domain has the VF, or can have it."""
    if vf['lease']:
        return vf['lease']['domain'] == domain
    return vf['holder']['kind'] == 'none' and not vf['defined_in']


def lacks_vfs(vfctl, params):
    """Whether the PF has too few VFs for the domain, and can have enough."""
    answer = vfctl.run(['list', params['pf']])
    if answer.status != DONE:
        vfctl.fail(answer)
    pf = answer.data['pfs'][0]
    usable = [vf for vf in pf['vfs'] if is_usable(vf, params['domain'])]
    return len(usable) < params['count'] <= (pf['total_vfs'] or params['count'])


def needs_host(vfctl, params, answer):
    """Whether an earlier task can provide what the plan lacks: VFs, their PF, pool or partition, or the domain."""
    if answer.code() == 'EBUSY':
        return bool(params['pf']) and lacks_vfs(vfctl, params)
    return answer.code() == 'ENOENT'


def present(vfctl, params):
    arguments = ['attach', params['domain'], '--ensure', '--form', params['form']] + where(params)
    if params['vf']:
        arguments += ['--vf', params['vf']]
    else:
        arguments += ['--pf', params['pf'], '--count', str(params['count'])]
    for key, option in (('mac_pool', '--mac-pool'), ('guid_pool', '--guid-pool'), ('pkey', '--pkey')):
        if params[key]:
            arguments += [option, params[key]]
    arguments += ['%s=%s' % (key, spelled(value)) for key, value in sorted(params['attributes'].items())]
    answer = vfctl.change(arguments)
    if answer.status in (DONE, DIFFERS):
        vfctl.note(answer)
    elif vfctl.is_pending() and needs_host(vfctl, params, answer):
        vfctl.note_pending(answer, 'attach VFs of %s to domain %s' % (params['pf'] or params['vf'], params['domain']))
    else:
        vfctl.fail(answer)
    return answer.data.get('domain')


def leased_vfs(vfctl, params):
    """Addresses of the VFs of the PF that the domain has."""
    answer = vfctl.run(['list', params['pf']])
    if answer.status != DONE:
        vfctl.fail(answer)
    address = answer.data['pfs'][0]['address']
    answer = vfctl.run(['show', params['domain']])
    if answer.status == MISTAKE and answer.code() == 'ENOENT':
        return []
    if answer.status != DONE:
        vfctl.fail(answer)
    return [vf['address'] for vf in answer.data.get('vfs') or [] if vf['pf_address'] == address]


def absent(vfctl, params):
    domain = None
    wait = [] if params['release_wait'] is None else ['--wait', str(params['release_wait'])]
    for vf in [params['vf']] if params['vf'] else leased_vfs(vfctl, params):
        answer = vfctl.change(['detach', params['domain'], '--vf', vf] + where(params) + wait)
        if answer.status not in (DONE, DIFFERS):
            vfctl.fail(answer)
        vfctl.note(answer)
        domain = answer.data.get('domain')
    return domain


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(
            domain=dict(type='str', required=True, aliases=['name']),
            state=dict(type='str', choices=['present', 'absent'], default='present'),
            pf=dict(type='str'),
            vf=dict(type='str'),
            count=dict(type='int', default=1),
            attributes=dict(type='dict', default={}),
            where=dict(type='str', choices=['both', 'live', 'config'], default='both'),
            mac_pool=dict(type='str'),
            guid_pool=dict(type='str'),
            pkey=dict(type='str', no_log=False),  # a number that the whole fabric knows
            form=dict(type='str', choices=['auto', 'interface', 'hostdev'], default='auto'),
            release_wait=dict(type='int'),
            host_pending=dict(type='bool', default=False),
        ),
        required_one_of=[('pf', 'vf')],
        mutually_exclusive=[('pf', 'vf'), ('vf', 'count')],
        supports_check_mode=True,
    )
    vfctl = Vfctl(module)
    vfctl.recover()
    work = present if module.params['state'] == 'present' else absent
    vfctl.end(result=work(vfctl, module.params))


if __name__ == '__main__':
    main()
