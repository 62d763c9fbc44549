# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs vfctl, reads its JSON answers and maps its exit statuses. All modules of the collection use this."""

from __future__ import absolute_import, division, print_function
__metaclass__ = type

import errno
import json
import os
import re
import tempfile

from ansible.module_utils.common.text.converters import to_bytes, to_native, to_text

# The oldest vfctl whose answers this collection understands.
NEEDED = (0, 1, 0)

DEFAULT_HOST_YAML = '/etc/vfctl/host.yaml'

# Exit statuses of vfctl (docs/reference/exit-statuses.md).
DONE, FAILED, MISTAKE, DIFFERS, PARTLY = range(5)
MEANINGS = {
    FAILED: 'failed; the host is unchanged',
    MISTAKE: 'a mistake in the arguments or in a file; the host is unchanged',
    DIFFERS: 'something is left to do by hand',
    PARTLY: 'partly applied; run the task again, or vfctl recover',
}
AFTER_STEPS = 'failed; this command changed nothing, but the task did its earlier steps'


def argument_spec(**more):
    """The options of every module; the documentation fragment vfctl.sriov.vfctl describes them."""
    spec = dict(
        executable=dict(type='str', default='vfctl'),
        host_yaml=dict(type='path', default=DEFAULT_HOST_YAML),
        state_file=dict(type='path'),
        connect=dict(type='str'),
        wait=dict(type='int'),
        timeout=dict(type='int'),
    )
    spec.update(more)
    return spec


class Answer(object):
    """What one run of vfctl answered."""

    def __init__(self, command, status, data, stderr):
        self.command = command
        self.status = status
        self.data = data
        self.stderr = stderr

    @property
    def changed(self):
        return bool(self.data.get('changed'))

    def parts(self):
        """The answer itself, and the parts of an answer of apply."""
        yield self.data
        if isinstance(self.data.get('host'), dict):
            yield self.data['host']
        for key in ('pfs', 'lags'):
            for part in self.data.get(key) or []:
                if isinstance(part, dict):
                    yield part

    def steps(self):
        return [step for part in self.parts() for step in part.get('steps') or []]

    def pending(self):
        return [part['pending'] for part in self.parts() if part.get('pending')]

    def errors(self):
        """Messages, the one of the whole command first."""
        found = []
        for part in self.parts():
            error = part.get('error')
            if isinstance(error, dict):
                error = error.get('message')
            if error and error not in found:
                found.append(error)
        return found

    def code(self):
        error = self.data.get('error')
        return error.get('code') if isinstance(error, dict) else None


class Vfctl(object):
    """The vfctl of a host, for one task. What the task has done so far is in result."""

    def __init__(self, module):
        self.module = module
        self.result = dict(changed=False)
        self.named = {}  # name of a scratch file: the file that messages name instead
        self.warned = set()
        self.host_yaml = module.params['host_yaml']
        self.path = self._find(module.params['executable'])
        self._check_version()

    def _find(self, executable):
        if os.sep in executable:
            if os.path.isfile(executable) and os.access(executable, os.X_OK):
                return executable
            if os.path.exists(executable):
                self.module.fail_json(msg='%s is not an executable file. Set executable to the path of vfctl, or, if this is '
                                          'vfctl, run: chmod 755 %s' % (executable, executable), changed=False)
        else:
            found = self.module.get_bin_path(executable, opt_dirs=['/usr/local/bin', '/usr/bin'])
            if found:
                return found
        self.module.fail_json(msg='vfctl is not installed on this host: %s not found. The role vfctl.sriov.host '
                                  'installs it' % executable, changed=False)

    def _check_version(self):
        command = [self.path, 'version', '--json']
        status, out, err = self.module.run_command(command)
        needed = '.'.join(str(n) for n in NEEDED)
        try:
            version = json.loads(out)['version']
            numbers = tuple(int(n) for n in re.match(r'(\d+)\.(\d+)\.(\d+)', version).groups())
        except (ValueError, KeyError, TypeError, AttributeError):
            self.module.fail_json(msg='%s is not a vfctl that this collection can use: it needs vfctl %s or newer, '
                                      'and "vfctl version --json" printed no version' % (self.path, needed),
                                  changed=False, rc=status, stderr=to_native(err), command=command)
        if numbers < NEEDED:
            self.module.fail_json(msg='vfctl %s is too old: this collection needs vfctl %s or newer'
                                      % (version, needed), changed=False, version=version)
        self.result['version'] = version

    # ---- running ----

    def _options(self):
        params = self.module.params
        options = ['--quiet']
        if self.host_yaml != DEFAULT_HOST_YAML:
            options += ['--host-yaml', self.host_yaml]
        for key, option in (('state_file', '--state'), ('connect', '--connect'), ('wait', '--lock-wait'),
                            ('timeout', '--timeout')):
            if params[key] is not None:
                options += [option, str(params[key])]
        return options

    def run(self, arguments, warn=True):
        """Runs a verb with --json. Fails if the answer is not whole; any exit status is the caller's."""
        command = [self.path] + list(arguments) + ['--json'] + self._options()
        status, out, err = self.module.run_command(command, environ_update=dict(LC_ALL='C'))
        out, err = to_text(out), to_text(err)
        for scratch, name in self.named.items():
            out, err = out.replace(scratch, name), err.replace(scratch, name)
        try:
            data = json.loads(out)
            if not isinstance(data, dict):
                raise ValueError('not an object')
        except ValueError as e:
            self._fail_cut(command, status, out, err, e)
        answer = Answer(command, status, data, err)
        for warning in data.get('warnings') or [] if warn else []:
            self.warn(warning)
        return answer

    def change(self, arguments):
        """A verb that changes something; in check mode its dry run."""
        if not self.module.check_mode:
            return self.run(arguments)
        answer = self.run(list(arguments) + ['--dry-run'])
        if self.module.params.get('host_pending') and any(text.startswith(self.host_yaml + ':') for text in answer.errors()):
            self.warn('planned without %s, because the host would change first: %s'
                      % (self.host_yaml, '; '.join(answer.errors())))
            self.without_host_yaml()
            answer = self.run(list(arguments) + ['--dry-run'])
        return answer

    def without_host_yaml(self):
        """From now on the host declares nothing."""
        self.host_yaml = self.scratch('pfs: []\n', self.host_yaml)

    def warn(self, text):
        if text not in self.warned:
            self.warned.add(text)
            self.module.warn(to_native(text))

    # ---- results ----

    def note(self, answer):
        """Takes an answer into the result: changed, steps, and the diff that they are."""
        self.result['changed'] |= answer.changed
        self.note_steps(answer.steps())
        if answer.pending():
            self.result['pending'] = self.result.get('pending', []) + answer.pending()
            for text in answer.pending():
                self.warn('left to you: %s' % text)

    def is_pending(self):
        """In check mode, after a task that would change the host."""
        return self.module.check_mode and self.module.params['host_pending']

    def note_pending(self, answer, step):
        """Takes a plan that failed, which the change of the host explains, as a change with this step."""
        self.warn('not planned, because the host would change first: %s' % '; '.join(answer.errors()))
        self.result['changed'] = True
        self.note_steps([step])

    def note_steps(self, steps):
        if not steps:
            return
        self.result['steps'] = self.result.get('steps', []) + steps
        self.note_diff(dict(prepared=''.join('+ %s\n' % to_native(step) for step in steps)))

    def note_diff(self, diff):
        if self.module._diff:
            self.result['diff'] = self.result.get('diff', []) + [diff]

    def note_file(self, path, before, after):
        """A file that is written, or removed (after None)."""
        self.result['changed'] = True
        self.note_diff(dict(before=to_native(before or ''), after=to_native(after or ''),
                            before_header=path if before is not None else '%s (absent)' % path,
                            after_header=path if after is not None else '%s (absent)' % path))

    def end(self, **more):
        self.result.setdefault('steps', [])
        self.result.update(more)
        self.module.exit_json(**self.result)

    def fail(self, answer, hint=None, **more):
        """Fails with what vfctl answered. What this task has changed before stays in the result."""
        errors = answer.errors()
        text = '; '.join(errors) or answer.stderr.strip() or 'vfctl failed'
        if hint:
            text += '. ' + hint
        self.result['changed'] |= answer.changed and not answer.data.get('dry_run')
        meaning = MEANINGS.get(answer.status, 'unknown exit status')
        done = self.result.get('steps') or self.result.get('recovered')
        if done and not self.module.check_mode and answer.status in (FAILED, MISTAKE):
            meaning = AFTER_STEPS
        self.result.update(more)
        self.module.fail_json(msg=to_native(text), rc=answer.status, vfctl=answer.data, stderr=to_native(answer.stderr),
                              status_meaning=meaning, command=answer.command, **self.result)

    def _fail_cut(self, command, status, out, err, error):
        if status < 0:
            why = 'it was ended by signal %d' % -status
        elif status > 128:
            why = 'it ended with status %d' % status
        else:
            why = to_native(error)
        self.module.fail_json(msg='the answer of vfctl is not complete JSON: %s. Run the task again: it first recovers '
                                  'a change that was interrupted' % why,
                              rc=status, stdout=to_native(out[:2000]), stderr=to_native(err[:2000]), command=command,
                              **self.result)

    # ---- interrupted changes ----

    def recover(self):
        """
        Finishes or rolls back what an earlier vfctl left unfinished. A verb does this for its own objects, too, but its
        dry run does not show it.
        """
        found = self.run(['recover', '--dry-run'])
        if found.status not in (DONE, PARTLY):
            self.fail(found)
        if not found.changed:
            return
        answer = found if self.module.check_mode else self.run(['recover'])
        if answer.status not in (DONE, PARTLY):
            self.fail(answer)
        self.result['changed'] |= answer.changed
        closed = []
        for change in answer.data.get('changes') or []:
            if change.get('error'):
                self.warn("the interrupted change '%s' is not recovered: %s" % (change['story'], change['error']))
            elif change['outcome'] not in ('goes-on', 'waits', 'failed'):
                closed.append(change['story'])
        if closed:
            self.result['recovered'] = closed
            self.note_diff(dict(prepared=''.join("+ recover the interrupted change '%s'\n" % to_native(story)
                                                 for story in closed)))

    # ---- files ----

    def read(self, path):
        """The text of a file; None: there is none."""
        try:
            with open(path, 'rb') as f:
                return to_text(f.read())
        except (IOError, OSError) as e:
            if e.errno == errno.ENOENT:
                return None
            self.module.fail_json(msg='read %s: %s' % (path, to_native(e.strerror)), **self.result)

    def scratch(self, text, name):
        """A scratch file with this text, which messages name as the file that it is meant for."""
        fd, path = tempfile.mkstemp(suffix='.yaml', dir=self.module.tmpdir)
        with os.fdopen(fd, 'wb') as f:
            f.write(to_bytes(text))
        self.module.add_cleanup_file(path)
        self.named[path] = name
        return path

    def write(self, path, text, before):
        """Replaces a file, in one step."""
        if text == before:
            return
        if not self.module.check_mode:
            directory = os.path.dirname(path)
            try:
                if not os.path.isdir(directory):
                    os.makedirs(directory, 0o755)
            except (IOError, OSError) as e:
                self.module.fail_json(msg='make %s: %s' % (directory, to_native(e.strerror)), **self.result)
            self.module.atomic_move(self.scratch(text, path), path)
        self.note_file(path, before, text)

    def remove(self, path, before):
        if before is None:
            return
        if not self.module.check_mode:
            try:
                os.unlink(path)
            except (IOError, OSError) as e:
                self.module.fail_json(msg='remove %s: %s' % (path, to_native(e.strerror)), **self.result)
        self.note_file(path, before, None)


def spelled(value):
    """A value of a task in the spelling of vfctl's command line."""
    if isinstance(value, bool):
        return 'on' if value else 'off'
    return str(value)


# ---- YAML ----

PLAIN = re.compile(r'[A-Za-z/][A-Za-z0-9_./-]*\Z')
# Words that YAML 1.1 reads as something else than a text.
WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')


def _scalar(value):
    if value is None:
        return 'null'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    text = to_text(value)
    if not isinstance(value, (int, float)) and (not PLAIN.match(text) or text.lower() in WORDS):
        return to_text(json.dumps(text))
    return text


def _lines(value, indent):
    pad = '  ' * indent
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                yield '%s%s:' % (pad, _scalar(key))
                for line in _lines(item, indent + 1):
                    yield line
            else:
                yield '%s%s: %s' % (pad, _scalar(key), _inline(item))
        return
    for item in value:
        if isinstance(item, (dict, list)) and item:
            lines = list(_lines(item, indent + 1))
            yield '%s- %s' % (pad, lines[0][len(pad) + 2:])
            for line in lines[1:]:
                yield line
        else:
            yield '%s- %s' % (pad, _inline(item))


def _inline(value):
    if isinstance(value, dict):
        return '{}'
    return '[]' if isinstance(value, list) else _scalar(value)


def to_yaml(mapping):
    """A mapping as the text of a YAML file; the hosts need no YAML library. The same mapping gives the same text."""
    return '# Written by Ansible (vfctl.sriov); changes by hand will be lost.\n' + \
        ''.join(line + '\n' for line in _lines(mapping, 0))


def declared_text(params):
    """The text that the task declares, from config or content; None: neither is given."""
    if params.get('config') is not None:
        return to_yaml(params['config'])
    return params.get('content')
