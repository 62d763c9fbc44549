# SPDX-License-Identifier: GPL-2.0-or-later
"""A callback plugin of Ansible: a line of JSON for each result of a task, into the file that VFCTL_RESULTS names."""

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = '''
name: results
type: notification
short_description: Results as JSON lines
description: A line for each result of a task.
'''


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'results'

    def put(self, outcome, result):
        line = dict(outcome=outcome, host=result._host.get_name(), task=result._task.get_name(), result=result._result)
        with open(os.environ['VFCTL_RESULTS'], 'a') as f:
            f.write(json.dumps(line, default=str) + '\n')

    def v2_runner_on_ok(self, result):
        self.put('changed' if result._result.get('changed') else 'ok', result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.put('failed', result)

    def v2_runner_on_skipped(self, result):
        self.put('skipped', result)
