# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated hosts for the tests of the Ansible collection, and the modules run on them without a controller."""

import contextlib
import importlib
import io
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys

HOST = 'tests/docs/hosts/ethernet'

# What the modules call as vfctl. A file fault next to it ("VERB SIM_FAULT") is for the next change of that verb.
WRAPPER = '''#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
export SIM_ROOT={root}
if [ -e {dir}/fault ]; then
	read -r verb fault <{dir}/fault
	case "$verb $*" in
	*' --dry-run'*) ;;
	"$1 $1 "*)
		rm {dir}/fault
		export SIM_FAULT="$fault" SIM_FAULT_CALLS={dir}/calls
		;;
	esac
fi
if [ "$1 $2" = 'hook install' ]; then set -- "$@" --program {dir}/hook; fi
exec {tests}/vfctl-sim --state {dir}/state.db "$@"
'''


def executable(path, text):
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


class Host:
    """A simulated host: a kernel, a libvirt without domains, and vfctl."""

    def __init__(self, tests, directory):
        top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.tests, self.dir = tests, directory
        self.root = os.path.join(directory, 'root')
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(self.root)
        with open(os.path.join(top, HOST)) as description:
            subprocess.run([os.path.join(tests, 'sim-make'), self.root], stdin=description, check=True)
        for path in ('etc/libvirt/qemu', 'run/libvirt/qemu', 'proc/76', 'etc/vfctl', 'var/lib/libvirt/images', 'run/vfctl'):
            os.makedirs(os.path.join(self.root, path), exist_ok=True)
        self.put('proc/76/comm', 'libvirtd\n')
        executable(os.path.join(directory, 'hook'), '#!/bin/sh\n')
        self.vfctl = executable(os.path.join(directory, 'vfctl'), WRAPPER.format(
            root=self.root, dir=directory, tests=tests))
        self.host_yaml = os.path.join(self.root, 'etc/vfctl/host.yaml')
        self.guests = os.path.join(self.root, 'etc/vfctl/guests')

    def path(self, path):
        return os.path.join(self.root, path)

    def put(self, path, text):
        with open(self.path(path), 'w') as f:
            f.write(text)

    def get(self, path):
        try:
            with open(self.path(path)) as f:
                return f.read()
        except FileNotFoundError:
            return None

    def fault(self, verb, how):
        with open(os.path.join(self.dir, 'fault'), 'w') as f:
            f.write('%s %s\n' % (verb, how))

    def faults_left(self):
        return os.path.exists(os.path.join(self.dir, 'fault'))

    def calls(self):
        with open(os.path.join(self.dir, 'calls')) as f:
            return int(f.read().split()[-1])

    def run_vfctl(self, *arguments):
        done = subprocess.run([self.vfctl] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, env=dict(os.environ, LC_ALL='C'))
        return done.returncode, done.stdout

    # ---- what the host is like ----

    def kernel(self):
        return subprocess.run([os.path.join(self.tests, 'sim-make'), '--dump', self.root], check=True,
                              stdout=subprocess.PIPE, universal_newlines=True).stdout

    def files(self):
        found = {}
        for top in ('etc/vfctl', 'etc/libvirt', 'run/libvirt'):
            for directory, _, names in os.walk(self.path(top)):
                for name in names:
                    path = os.path.join(directory, name)
                    with open(path) as f:
                        found[os.path.relpath(path, self.root)] = f.read()
        return found

    def state(self):
        path = os.path.join(self.dir, 'state.db')
        if not os.path.exists(path):
            return {}
        with contextlib.closing(sqlite3.connect('file:%s?mode=ro' % path, uri=True)) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            rows = {table: sorted(map(repr, db.execute('SELECT * FROM "%s"' % table))) for table in tables}
        return {table: found for table, found in rows.items() if found and table != 'sqlite_sequence'}

    def everything(self):
        return self.kernel(), self.files(), self.state()

    # ---- modules ----

    def module(self, name, /, check=False, **arguments):
        """What the module returned, with failed."""
        arguments.setdefault('executable', self.vfctl)
        if name == 'host':
            arguments.setdefault('host_yaml', self.host_yaml)
        if name == 'guest' and 'path' not in arguments:
            arguments['path'] = os.path.join(self.guests, '%s.yaml' % arguments.get('name'))
        arguments.update(_ansible_check_mode=check, _ansible_diff=True, _ansible_remote_tmp=self.dir,
                         _ansible_tmpdir=self.dir, _ansible_keep_remote_files=False)
        return run_module(name, arguments)


def run_module(name, arguments):
    from ansible.module_utils import basic
    module = importlib.import_module('ansible_collections.vfctl.sriov.plugins.modules.' + name)
    out = io.StringIO()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # As a module runs: in a process of its own, which prints the result and exits.
        os.close(read)
        os.dup2(write, 1)
        sys.stdout = os.fdopen(1, 'w')
        try:
            try:
                from ansible.module_utils.testing import patch_module_args
            except ImportError:
                basic._ANSIBLE_ARGS = json.dumps(dict(ANSIBLE_MODULE_ARGS=arguments)).encode()
                module.main()
            else:
                with patch_module_args(arguments):
                    module.main()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        shutil.copyfileobj(pipe, out)
    os.waitpid(child, 0)
    result = json.loads(out.getvalue())
    result.setdefault('failed', False)
    result.pop('invocation', None)
    return result
