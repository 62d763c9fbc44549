#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: tune
short_description: Set the interrupt moderation of a PF
version_added: 0.1.0
description:
  - Sets the interrupt moderation of a PF now, by a profile, by single settings, or both, and reads it back.
  - If the driver does not accept a value, vfctl sets the nearest one that it accepts.
  - The setting lasts until the next boot. To keep it, declare C(tuning) of the PF with M(vfctl.sriov.host).
options:
  pf:
    description:
      - The PF.
    type: str
    required: true
  profile:
    description:
      - A tuning profile, such as C(latency) or C(throughput); C(vfctl tune profiles) lists them.
    type: str
  settings:
    description:
      - Settings with the names of C(ethtool -C), such as C(rx-usecs) and C(adaptive-rx). They take precedence over the
        profile.
      - A value is a number, or true or false.
    type: dict
    default: {}
  force:
    description:
      - Change it also if the driver resets the PF while guests use its VFs.
    type: bool
    default: false
  host_pending:
    description:
      - In check mode, whether an earlier task of the play would change the host, as C(changed) of M(vfctl.sriov.host) says.
      - If the host.yaml that it would replace has a mistake, the task then is planned without that file.
    type: bool
    default: false
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.changes
'''

EXAMPLES = r'''
- name: Tune a PF for latency
  vfctl.sriov.tune:
    pf: ens1
    profile: latency

- name: Set one value
  vfctl.sriov.tune:
    pf: ens1
    settings:
      adaptive-rx: false
      rx-usecs: 10
'''

RETURN = r'''
steps:
  description: What was changed, or in check mode would be.
  returned: always
  type: list
  elements: str
  sample: ['ens1: set the interrupt moderation to rx-usecs=10 (was rx-usecs=50)']
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
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import DIFFERS, DONE, Vfctl, argument_spec, spelled


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(
            pf=dict(type='str', required=True),
            profile=dict(type='str'),
            settings=dict(type='dict', default={}),
            force=dict(type='bool', default=False),
            host_pending=dict(type='bool', default=False),
        ),
        supports_check_mode=True,
    )
    params = module.params
    if not params['profile'] and not params['settings']:
        module.fail_json(msg='one of the following is required: profile, settings')
    arguments = ['tune', 'set', params['pf']]
    if params['profile']:
        arguments.append(params['profile'])
    arguments += ['%s=%s' % (key, spelled(value)) for key, value in sorted(params['settings'].items())]
    if params['force']:
        arguments.append('--force')
    vfctl = Vfctl(module)
    vfctl.recover()
    answer = vfctl.change(arguments)
    if answer.status not in (DONE, DIFFERS):
        vfctl.fail(answer)
    vfctl.note(answer)
    vfctl.end()


if __name__ == '__main__':
    main()
