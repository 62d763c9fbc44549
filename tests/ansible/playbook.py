#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""playbook.py TESTS_DIR SCRATCH: plays over three simulated hosts and ten guests; documentation; the built collection."""

import glob
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import unittest
from unittest import mock

import simhost

tests, scratch = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
collection = os.path.join(os.path.dirname(os.path.dirname(here)), 'provisioning', 'ansible')
MODULES = ('attach', 'doctor_info', 'guest', 'host', 'pf_info', 'tune')
# What a simulated host lacks.
IGNORED = ['boot', 'kvm', 'cpu', 'hook', 'libvirt', 'interrupt-remapping']


def guest(number):
    return dict(name='g%d' % number, config=dict(vcpus=1, memory='512MiB', hugepages='none', vfs=[
        dict(pf='any', vlan=100 + number)]))


GUESTS = dict(h1=[guest(n) for n in range(4)], h2=[guest(n) for n in range(4, 7)], h3=[guest(n) for n in range(7, 10)])


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.hosts = {name: simhost.Host(tests, os.path.join(scratch, name)) for name in GUESTS}
        self.results = os.path.join(scratch, 'results')
        os.makedirs(os.path.join(scratch, 'bin'), exist_ok=True)
        shutil.rmtree('/etc/default/grub.d', ignore_errors=True)
        simhost.executable(os.path.join(scratch, 'bin/update-grub'), '#!/bin/sh\necho run >>%s/grub\nexit $GRUB_STATUS\n' % scratch)

    def play(self, *options, status=0, guests=None, limit=None, **variables):
        """What a run of site.yml printed of each task: (host, task, outcome) and its result."""
        inventory = dict(kvm=dict(hosts={name: dict(
            ansible_connection='local', ansible_python_interpreter=sys.executable, vfctl_executable=host.vfctl,
            vfctl_host_yaml=host.host_yaml, vfctl_guests_directory=host.guests, vfctl_doctor_ignore=IGNORED,
            vfctl_guests=(guests or GUESTS)[name]) for name, host in self.hosts.items()}))
        path = os.path.join(scratch, 'inventory.json')
        with open(path, 'w') as f:
            json.dump(inventory, f)
        if os.path.exists(self.results):
            os.unlink(self.results)
        command = ['ansible-playbook', '-i', path, os.path.join(here, 'site.yml'), '-e', json.dumps(variables)]
        done = subprocess.run(command + list(options) + (['--limit', limit] if limit else []), universal_newlines=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(
                                  os.environ, ANSIBLE_CALLBACK_PLUGINS=here, ANSIBLE_CALLBACKS_ENABLED='results',
                                  VFCTL_RESULTS=self.results, PATH=scratch + '/bin:' + os.environ['PATH']))
        self.output = done.stdout
        self.assertEqual(done.returncode, status, done.stdout)
        with open(self.results) as f:
            return [json.loads(line) for line in f]

    def outcomes(self, lines, outcome):
        return sorted((line['host'], line['task']) for line in lines if line['outcome'] == outcome)

    def updates(self):
        """How often update-grub ran since the last call of this."""
        path = os.path.join(scratch, 'grub')
        if not os.path.exists(path):
            return 0
        with open(path) as f:
            count = f.read().count('run')
        os.unlink(path)
        return count

    def everything(self):
        return {name: host.everything() for name, host in self.hosts.items()}

    def result(self, lines, host, task):
        found = [line['result'] for line in lines if line['host'] == host and line['task'].endswith(task)]
        self.assertEqual(len(found), 1, (host, task, self.output))
        return found[0]

    def converge(self):
        """The play succeeds, and a further run changes nothing, in check mode and without."""
        lines = self.play()
        after = self.everything()
        for options in (['--check'], []):
            again = self.play(*options)
            self.assertEqual(self.outcomes(again, 'changed'), [], self.output)
        self.assertEqual(self.everything(), after)
        for name, host in self.hosts.items():
            self.assertIn('numvfs=8', host.kernel())
            self.assertEqual(len(host.state()['lease']), len(GUESTS[name]))
        return lines


class Plays(Case):
    def test_site(self):
        before = self.everything()
        predicted = self.play('--check', '--diff')
        self.assertEqual(self.everything(), before)
        self.assertIn('+ ens1: create 8 VFs', self.output)
        lines = self.play('--diff')
        self.assertEqual(self.outcomes(predicted, 'changed'), self.outcomes(lines, 'changed'))
        self.assertIn(('h1', 'vfctl.sriov.guest : Define or undefine guests'), self.outcomes(lines, 'changed'))
        for name in GUESTS:
            a, b = (self.result(run, name, 'Make the host as declared') for run in (predicted, lines))
            self.assertTrue(b['changed'])
            self.assertEqual([a[key] for key in ('changed', 'diff', 'steps')], [b[key] for key in ('changed', 'diff', 'steps')])
        self.converge()

        # Broken: vfctl is killed in the middle on h1, the files of h2 are damaged, h3 lost VFs and a guest.
        self.hosts['h1'].run_vfctl('undefine', 'g0')
        self.hosts['h1'].run_vfctl('set', 'ens1/7', 'vlan=9')
        self.hosts['h1'].fault('apply', '40:5:kill')
        with open(self.hosts['h2'].host_yaml, 'w') as f:
            f.write('pfs: [\n')
        with open(os.path.join(self.hosts['h2'].guests, 'g4.yaml'), 'w') as f:
            f.write('{')
        self.hosts['h3'].run_vfctl('undefine', 'g7')
        self.hosts['h3'].run_vfctl('set', 'ens1/0', 'vlan=77')
        lines = self.play(status=2)
        self.assertEqual([host for host, task in self.outcomes(lines, 'failed')], ['h1'], self.output)
        self.converge()

        # All of it away, again and again.
        away = {name: [dict(name=each['name'], state='absent') for each in each_guests] for name, each_guests in GUESTS.items()}
        self.play(guests=away)
        for name, host in self.hosts.items():
            self.assertNotIn('lease', host.state())
        options = dict(guests={name: [] for name in GUESTS}, vfctl_host_state='absent')
        self.play(**options)
        for host in self.hosts.values():
            self.assertNotIn('numvfs=8', host.kernel())
            self.assertFalse([path for path in host.files() if not path.startswith('etc/libvirt')])
        self.assertEqual(self.outcomes(self.play(**options), 'changed'), [])

    def test_mistakes(self):
        self.play(status=2, limit='h1', vfctl_packages_from='nowhere')
        self.assertIn('value of vfctl_packages_from must be one of', self.output)
        self.play(status=2, limit='h1', guests=dict(GUESTS, h1=[dict(config={})]))
        self.assertIn('missing required arguments: name', self.output)


class Roles(Case):
    def test_kernel(self):
        options = dict(limit='h1', guests={name: [] for name in GUESTS}, vfctl_kernel_arguments=['vfctl_test=1', 'quiet'])
        path, note = ('/etc/default/grub.d/50-vfctl.' + end for end in ('cfg', 'note'))
        self.play('--check', **options)
        self.assertFalse(os.path.exists(os.path.dirname(path)))
        self.play(**options)
        with open(path) as f:
            self.assertIn('GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX "\'vfctl_test=1 quiet\'', f.read())
        self.assertIn('Reboot this host: its kernel runs without vfctl_test=1', self.output)
        self.assertEqual(self.outcomes(self.play(**options), 'changed'), [])
        self.assertEqual(self.updates(), 1)

        # update-grub fails: each play runs it again, until it succeeds. The host is not rebooted before that.
        for arguments in (['vfctl_test=2'], []):
            options['vfctl_kernel_arguments'] = arguments
            with mock.patch.dict(os.environ, GRUB_STATUS='1'):
                for _ in range(2):
                    failed = self.play(status=2, vfctl_reboot=True, **options)
                    self.assertEqual(self.outcomes(failed, 'failed'), [('h1', 'vfctl.sriov.host : Update GRUB')])
                    self.assertEqual(self.updates(), 1)
            self.play(**options)
            self.assertEqual(self.updates(), 1)
            self.assertEqual(self.outcomes(self.play(**options), 'changed'), [])
            self.assertEqual(self.updates(), 0)
        self.assertFalse(os.path.exists(path) or os.path.exists(note))
        # A host that never had arguments may have no update-grub.
        shutil.rmtree(os.path.dirname(path))
        self.assertEqual(self.outcomes(self.play(**options), 'changed'), [])
        self.assertEqual((self.updates(), os.path.exists(os.path.dirname(path))), (0, False))

        # A reboot that did not help is not repeated.
        options['vfctl_kernel_arguments'] = ['vfctl_test=1']
        rebooted = self.play(status=2, vfctl_reboot=True, **options)
        self.assertEqual(self.outcomes(rebooted, 'failed'), [('h1', 'vfctl.sriov.host : Reboot')])
        with open(note) as f:
            text = f.read()
        with open('/proc/sys/kernel/random/boot_id') as f:
            self.assertIn(f.read().strip(), text)
        with open(note, 'w') as f:
            f.write(re.sub('[0-9a-f-]{36}', 'fe0be21c-7d1e-4c55-9c43-6bd5cd5b4e7c', text))
        self.play(status=2, vfctl_reboot=True, **options)
        self.assertIn('The kernel still runs without vfctl_test=1, although', self.output)

    def test_kernel_quotes(self):
        """The shell reads the file, then GRUB reads what the shell has: both see each argument as it is."""
        arguments = ['memmap=4G$4G', 'dyndbg="file foo +p"', 'x"y', "it's", '`id`', 'a;b']
        self.play(limit='h1', guests={name: [] for name in GUESTS}, vfctl_kernel_arguments=arguments)
        shell = 'GRUB_CMDLINE_LINUX=quiet; . /etc/default/grub.d/50-vfctl.cfg && printf %s "$GRUB_CMDLINE_LINUX"'
        line = subprocess.run(['sh', '-c', shell], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        self.assertEqual(shlex.split(line), ['quiet'] + [each.replace('"', '') for each in arguments])

    def test_host_yaml(self):
        """Another vfctl_host_yaml is that of the guests, too: it has their pool."""
        host = self.hosts['h1']
        host.host_yaml = os.path.join(host.root, 'srv.yaml')
        asked = dict(guest(0), config=dict(guest(0)['config'], vfs=[dict(pf='any', mac_pool='lan')]))
        guests = dict(GUESTS, h1=[asked])
        self.play('--check', limit='h1', guests=guests)
        self.play(limit='h1', guests=guests)
        self.assertFalse(os.path.exists(host.path('etc/vfctl/host.yaml')))
        self.assertIn('mac="02:00:5e:00:00:00"', host.get('etc/libvirt/qemu/g0.xml'))
        self.assertEqual(self.outcomes(self.play(limit='h1', guests=guests), 'changed'), [])

    def test_doctor(self):
        """A problem is reported with what doctor says about it, and healthy guests print nothing."""
        self.play(limit='h1')
        self.assertNotIn('"issues"', self.output)
        os.unlink(os.path.join(self.hosts['h1'].dir, 'state.db'))
        for role, subject, options in (('host', [], []), ('guest', ['g0'], ['--start-at-task', 'Check the guests'])):
            answer = json.loads(self.hosts['h1'].run_vfctl('doctor', '--json', *subject)[1])
            self.assertTrue(answer['ailments'])
            lines = self.play(*options, status=2, limit='h1', vfctl_doctor_fail_on=['problem', 'warning', 'note'])
            failed = self.result(lines, 'h1', role + ' : Fail if doctor found a problem')
            messages = [result['msg'] for result in failed['results']]
            for issue in answer['ailments']:
                found = [text for text in messages if all((issue[key] or '') in text for key in issue if key not in (
                    'severity', 'cause', 'fix'))]
                self.assertTrue(found, (issue, messages))
        self.play(*options, limit='h1', vfctl_doctor_fail_on=['note'], vfctl_doctor_ignore=['leases'])

    def test_lists(self):
        """Text for a list is refused before the role changes anything."""
        before = self.everything()
        for name in ('packages', 'package_files', 'kernel_arguments', 'units', 'doctor_fail_on', 'doctor_ignore'):
            lines = self.play(status=2, limit='h1', **{'vfctl_' + name: 'problem'})
            self.assertIn('must be lists, such as [a, b], and are not: vfctl_' + name, self.output)
            self.assertEqual(self.outcomes(lines, 'changed'), [])
        for name in ('doctor_fail_on', 'doctor_ignore'):
            lines = self.play('--start-at-task', 'Check the variables of doctor', status=2, limit='h1', **{'vfctl_' + name: 'problem'})
            self.assertIn('vfctl_doctor_fail_on and vfctl_doctor_ignore must be lists', self.output)
            self.assertEqual(self.outcomes(lines, 'changed'), [])
        self.assertEqual(self.everything(), before)

    def test_packages(self):
        """A way to get the packages that lacks something is refused, by the name of its variable."""
        for variables, message in ((dict(vfctl_packages_from='repository'), 'is repository: set vfctl_repository to'),
                                   (dict(vfctl_packages_from='files'), 'is files: set vfctl_package_files to'),
                                   (dict(vfctl_executable='/no/vfctl'), 'is none, and /no/vfctl does not run on this host')):
            for options in ([], ['--check']):
                lines = self.play(*options, status=2, limit='h1', **variables)
                self.assertIn('vfctl_packages_from ' + message, self.output)
                self.assertEqual(self.outcomes(lines, 'changed'), [])


class Documentation(unittest.TestCase):
    def doc(self, *arguments):
        return json.loads(subprocess.run(['ansible-doc', '-j'] + list(arguments), check=True, stdout=subprocess.PIPE).stdout)

    def test_modules(self):
        """ansible-doc lists all options of each module, as the module accepts them."""
        sys.path.insert(0, os.environ['ANSIBLE_COLLECTIONS_PATH'])
        accepted = {}

        class Stop(Exception):
            pass

        class Accepts(object):
            def __init__(self, argument_spec=None, **rest):
                accepted.update(argument_spec)
                raise Stop

        for name in MODULES:
            module = importlib.import_module('ansible_collections.vfctl.sriov.plugins.modules.' + name)
            module.AnsibleModule = Accepts
            accepted.clear()
            self.assertRaises(Stop, module.main)
            documented = self.doc('-t', 'module', 'vfctl.sriov.' + name)['vfctl.sriov.' + name]
            options = documented['doc']['options']
            self.assertEqual(sorted(options), sorted(accepted))
            for option, spec in accepted.items():
                for key in ('type', 'default', 'choices', 'elements', 'aliases', 'required'):
                    self.assertEqual(options[option].get(key) or None, spec.get(key) or None, (name, option, key))
                self.assertTrue(options[option]['description'])
            self.assertTrue(documented['examples'] and documented['return'])

    def test_roles(self):
        roles = self.doc('-t', 'role', 'vfctl.sriov.host', 'vfctl.sriov.guest')
        self.assertEqual(len(roles), 2)
        for name, role in roles.items():
            path = os.path.join(collection, 'roles', name.split('.')[2], 'defaults', 'main.yml')
            with open(path) as f:
                defaults = {line.split(':')[0] for line in f if line.startswith('vfctl_')}
            options = role['entry_points']['main']['options']
            self.assertEqual(defaults - set(options), set())
            self.assertEqual({key for key in options if options[key].get('default') is not None}, defaults)

    def test_version(self):
        """The collection has the version of vfctl."""
        with open(os.path.join(os.path.dirname(os.path.dirname(collection)), 'CMakeLists.txt')) as f:
            version = re.search(r'project\(vfctl VERSION ([0-9.]+)', f.read()).group(1)
        with open(os.path.join(collection, 'galaxy.yml')) as f:
            self.assertIn('\nversion: %s\n' % version, f.read())

    def test_build(self):
        subprocess.run(['ansible-galaxy', 'collection', 'build', '--output-path', scratch, collection], check=True,
                       stdout=subprocess.PIPE)
        archive, = glob.glob(os.path.join(scratch, 'vfctl-sriov-*.tar.gz'))
        with tarfile.open(archive) as tar:
            names = tar.getnames()
        for name in MODULES:
            self.assertIn('plugins/modules/%s.py' % name, names)
        self.assertFalse([name for name in names if '__pycache__' in name])
        there = os.path.join(scratch, 'installed')
        env = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=there)
        subprocess.run(['ansible-galaxy', 'collection', 'install', '--offline', '-p', there, archive], check=True, env=env,
                       stdout=subprocess.PIPE)
        shown = subprocess.run(['ansible-doc', '-t', 'module', 'vfctl.sriov.host'], check=True, env=env,
                               stdout=subprocess.PIPE, universal_newlines=True).stdout
        self.assertIn(there, shown)


if __name__ == '__main__':
    unittest.main(argv=['playbook.py'] + sys.argv[3:])
