#!/usr/bin/python
# -*- coding: utf-8 -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU General Public License v2.0 or later (see https://www.gnu.org/licenses/)

from __future__ import absolute_import, division, print_function
__metaclass__ = type

DOCUMENTATION = r'''
module: doctor_info
short_description: Find known problems of a host
version_added: 0.1.0
description:
  - Checks a host, a PF or a guest for known problems of SR-IOV, from the firmware to a guest's lease, and returns each
    problem with its evidence, cause and remedy.
  - It changes nothing, and it does not fail because of what it finds.
  - In check mode I(host_yaml) may be a file that an earlier task of the play would write. If it does not exist, the host is
    checked without it, with a warning.
options:
  subject:
    description:
      - A PF or a guest to check. The default is the host with all that it has.
    type: str
extends_documentation_fragment:
  - vfctl.sriov.vfctl
  - vfctl.sriov.vfctl.info
'''

EXAMPLES = r'''
- name: Check the host
  vfctl.sriov.doctor_info:
  register: doctor

- name: Fail if there is a problem
  ansible.builtin.assert:
    that: doctor.issues | selectattr('severity', 'eq', 'problem') | list | length == 0
    fail_msg: "{{ doctor.issues | map(attribute='what') | list }}"
'''

RETURN = r'''
healthy:
  description: There is no problem and no warning.
  returned: success
  type: bool
  sample: true
issues:
  description: What was found, the most severe first.
  returned: success
  type: list
  elements: dict
  contains:
    check:
      description: Name of the check; C(vfctl help doctor) lists them.
      type: str
    severity:
      description: C(problem), C(warning) or C(note).
      type: str
    subject:
      description: The PF, VF, domain or file. Null means the host.
      type: str
    what:
      description: The issue.
      type: str
    evidence:
      description: What was read, and where.
      type: str
    cause:
      description: The cause.
      type: str
    remedy:
      description: The remedy.
      type: str
    fix:
      description: What C(vfctl doctor --fix) does about it, or null.
      type: str
prerequisites:
  description: The prerequisites of SR-IOV; each one builds on those before it. C(state) is C(ok), C(missing) or C(unknown).
  returned: success
  type: list
  elements: dict
  sample: [{name: the CPU has virtualization extensions, state: ok}]
checks:
  description: Number of checks that were made.
  returned: success
  type: int
  sample: 70
unexamined:
  description: Checks that were not made, and why.
  returned: success
  type: list
  elements: dict
version:
  description: Version of vfctl.
  returned: success
  type: str
  sample: 0.1.0
'''

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import DIFFERS, DONE, Vfctl, argument_spec


def main():
    module = AnsibleModule(
        argument_spec=argument_spec(subject=dict(type='str')),
        supports_check_mode=True,
    )
    vfctl = Vfctl(module)
    subject = module.params['subject']
    if module.check_mode and vfctl.read(vfctl.host_yaml) is None:
        vfctl.warn('checked without %s, which does not exist yet' % vfctl.host_yaml)
        vfctl.without_host_yaml()
    answer = vfctl.run(['doctor'] + ([subject] if subject else []))
    if answer.status not in (DONE, DIFFERS):
        vfctl.fail(answer)
    data = answer.data
    module.exit_json(changed=False, version=vfctl.result['version'], healthy=data['healthy'], checks=data['checks'],
                     issues=data['ailments'], prerequisites=data['prerequisites'], unexamined=data['unexamined'])


if __name__ == '__main__':
    main()
