#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""modules.py TESTS_DIR SCRATCH [PART...]: each module of the collection on simulated hosts."""

import fcntl
import os
import sys
import unittest

import simhost

tests, scratch = sys.argv[1:3]
long_form = bool(os.environ.get('VFCTL_LONG'))

PFS = [dict(match='ens1', count=4), dict(match='ens2', count=2, mtu=9000)]
DECLARED = dict(pfs=PFS)
WEB = dict(vcpus=2, memory='2GiB', vfs=[dict(pf='any', vlan=100)])


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.host = simhost.Host(tests, os.path.join(scratch, 'host'))

    def ok(self, name, /, **arguments):
        result = self.host.module(name, **arguments)
        self.assertFalse(result['failed'], result)
        return result

    def fails(self, name, message, /, **arguments):
        result = self.host.module(name, **arguments)
        self.assertTrue(result['failed'], result)
        self.assertRegex(result['msg'], message)
        return result

    def exactly(self, name, /, changed=True, shown=True, **arguments):
        """Check mode predicts the run and changes nothing; a second run changes nothing. shown: everything() shows it."""
        before = self.host.everything()
        predicted = self.ok(name, check=True, **arguments)
        self.assertEqual(self.host.everything(), before)
        done = self.ok(name, **arguments)
        for key in ('changed', 'diff', 'steps', 'recovered'):
            self.assertEqual(predicted.get(key), done.get(key), key)
        self.assertEqual(done['changed'], changed, done)
        after = self.host.everything()
        if shown:
            self.assertEqual(before != after, changed)
        again = self.ok(name, **arguments)
        self.assertEqual((again['changed'], again['steps'], again.get('diff')), (False, [], None))
        self.assertEqual(self.host.everything(), after)
        return done

    def with_vfs(self):
        self.ok('host', config=DECLARED)


class HostCases(Case):
    def test_present(self):
        done = self.exactly('host', config=DECLARED)
        self.assertIn('ens1: create 4 VFs', done['steps'])
        self.assertEqual([pf['count'] for pf in done['pfs']], [4, 2])
        self.assertEqual(done['diff'][-2]['before'], '')
        self.assertIn('match: ens1', done['diff'][-2]['after'])
        self.assertIn('+ ens1: create 4 VFs', done['diff'][-1]['prepared'])
        self.assertEqual(self.host.run_vfctl('status')[0], 0)
        self.exactly('host', config=dict(pfs=[dict(match='ens1', count=4, vfs={'0-1': dict(vlan=7, trust=True)})]))
        self.assertIn('vlan=7/', self.host.kernel())
        # A comment is a change of the file alone.
        text = self.host.get('etc/vfctl/host.yaml')
        self.assertEqual(self.exactly('host', content=text + '# x\n')['steps'], [])
        # The file that the host has.
        self.exactly('host', changed=False)
        self.host.run_vfctl('set', 'ens1/0', 'vlan=9')
        self.exactly('host')

    def test_absent_from_every_state(self):
        self.exactly('host', changed=False, state='absent')
        self.exactly('host', changed=False, state='absent', config=DECLARED)
        # Everything; VFs without the file; the file without VFs; a PF that is gone; the hook.
        self.with_vfs()
        self.exactly('host', state='absent')
        self.assertNotIn('vf 0', self.host.kernel())
        self.assertIsNone(self.host.get('etc/libvirt/hooks/qemu.d/50-vfctl'))
        self.with_vfs()
        os.unlink(self.host.host_yaml)
        self.exactly('host', state='absent', config=DECLARED)
        self.with_vfs()
        self.host.run_vfctl('destroy', 'ens1')
        self.exactly('host', state='absent')
        self.host.put('etc/vfctl/host.yaml', 'pfs:\n  - {match: ens9, count: 2}\n')
        self.exactly('host', state='absent')
        # PFs that are not managed, or without a count, keep theirs.
        self.host.run_vfctl('create', 'ens1', '3')
        self.host.put('etc/vfctl/host.yaml', 'pfs:\n  - {match: ens1, mtu: 1500}\n  - {match: ens2, managed: off}\n')
        self.exactly('host', state='absent')
        self.assertIn('numvfs=3', self.host.kernel())
        # A file that cannot be read as a declaration does not say which PFs it meant.
        self.host.put('etc/vfctl/host.yaml', 'pfs: [\n')
        self.fails('host', r'etc/vfctl/host.yaml:2:1: .*Declare the host with config', state='absent')
        self.exactly('host', state='absent', config=dict(pfs=[dict(match='ens1', count=1)]))
        self.assertIn('numvfs=0', self.host.kernel())

    def test_absent_while_in_use(self):
        self.with_vfs()
        self.ok('guest', name='web', config=WEB)
        before = self.host.everything()
        for check in (True, False):
            failed = self.fails('host', 'leased to domain web', state='absent', check=check)
            self.assertIn('pfs', failed['vfctl'])
        self.assertEqual(self.host.files(), before[1])
        self.ok('guest', name='web', state='absent')
        self.exactly('host', state='absent')

    def test_mistakes(self):
        """A file with a mistake is not written."""
        self.with_vfs()
        before = self.host.everything()
        for check in (True, False):
            failed = self.fails('host', r"etc/vfctl/host.yaml:4:5: .*cuont: no such key; did you mean count", check=check,
                                config=dict(pfs=[dict(match='ens1', cuont=4)]))
            self.assertEqual((failed['rc'], failed['changed'], failed['vfctl']['error']['status']), (2, False, 2))
            self.fails('host', 'exceed the limit', check=check, config=dict(pfs=[dict(match='ens1', count=99)]))
            self.fails('host', 'mutually exclusive', check=check, config=DECLARED, content='x')
            self.fails('host', 'value of state must be one of', check=check, state='gone')
        self.assertEqual(self.host.everything(), before)
        os.unlink(self.host.host_yaml)
        self.fails('host', 'does not exist; declare the host')
        # The hook is not installed either.
        self.host.run_vfctl('hook', 'remove')
        before = self.host.everything()
        for check in (True, False):
            for rc, message, pf in ((2, 'it must be vfio-pci, host or none', dict(match='ens1', driver='foo')),
                                    (2, 'exceed the limit', dict(match='ens1', count=99)),
                                    (1, 'PF ens9 not found', dict(match='ens9'))):
                failed = self.fails('host', message, check=check, config=dict(pfs=[pf]))
                self.assertEqual((failed['rc'], failed['changed'], failed.get('steps')), (rc, False, None), failed)
        self.assertEqual(self.host.everything(), before)

    def test_partly(self):
        """Some PFs are as declared and others cannot be: the file is written, and the task fails."""
        config = dict(pfs=PFS + [dict(match='ens9', count=1)])
        self.fails('host', 'PF ens9 not found', config=config, check=True)
        failed = self.fails('host', 'PF ens9 not found', config=config)
        self.assertEqual((failed['rc'], failed['changed']), (4, True))
        self.assertIn('ens9', self.host.get('etc/vfctl/host.yaml'))
        self.exactly('host', config=DECLARED)

    def test_fails_half_way(self):
        """A failure is rolled back, the file is as before, and the same task works afterwards."""
        self.host.fault('apply', '100000:5')
        self.ok('host', config=DECLARED)
        calls = self.host.calls()
        told = False
        for n in range(3, calls, 7) if long_form else (calls * 3 // 5, calls - 5):
            self.setUp()
            before = self.host.everything()
            self.host.fault('apply', '%d:5' % n)
            result = self.host.module('host', config=DECLARED)
            if result['failed'] and result['rc'] == 1:
                self.assertEqual(self.host.kernel(), before[0])
                self.assertIsNone(self.host.get('etc/vfctl/host.yaml'))
                self.assertIn('the task did its earlier steps', result['status_meaning'])  # it installed the hook
                told = True
            self.assertFalse(self.host.faults_left())
            self.ok('host', config=DECLARED)
            self.assertFalse(self.ok('host', config=DECLARED)['changed'])
        self.assertTrue(told)

    def test_killed(self):
        """vfctl is killed at a call: the same task finishes it, and check mode says that it would."""
        self.host.fault('apply', '100000:5')
        self.ok('host', config=DECLARED)
        calls, whole = self.host.calls(), self.host.kernel()
        recovered = 0
        for n in range(3, calls + 1, 3) if long_form else (calls - 12,):
            self.setUp()
            self.host.fault('apply', '%d:5:kill' % n)
            failed = self.host.module('host', config=DECLARED)
            if failed['failed'] and not failed['msg'].startswith('the answer of vfctl is not complete'):
                self.assertIn('rc', failed, failed)  # a worker of one PF was killed, and apply told it
            predicted = self.ok('host', config=DECLARED, check=True)
            done = self.ok('host', config=DECLARED)
            self.assertEqual((predicted['changed'], predicted.get('recovered')), (done['changed'], done.get('recovered')))
            recovered += 'recovered' in done
            self.assertFalse(self.ok('host', config=DECLARED)['changed'])
            self.assertEqual(self.host.kernel(), whole)
        self.assertGreater(recovered, 0)


class GuestCases(Case):
    def test_present(self):
        self.with_vfs()
        done = self.exactly('guest', name='web', config=WEB)
        self.assertEqual(done['domain']['name'], 'web')
        self.assertIn('define domain web in libvirt', done['steps'])
        self.assertIn('name: web', self.host.get('etc/vfctl/guests/web.yaml'))
        # A change, and a file alone.
        self.exactly('guest', name='web', config=dict(WEB, vcpus=3))
        os.unlink(self.host.path('etc/vfctl/guests/web.yaml'))
        self.assertEqual(self.exactly('guest', name='web', config=dict(WEB, vcpus=3))['steps'], [])
        text = '# mine\nname: "db" # its name\nvcpus: 1\nmemory: 1GiB\n'
        self.exactly('guest', name='db', content=text)
        self.assertEqual(self.host.get('etc/vfctl/guests/db.yaml'), text)

    def test_host_pending(self):
        """Check mode of a play that creates the VFs first."""
        before = self.host.everything()
        self.fails('guest', 'create 1 more VF.*set host_pending', name='web', config=WEB, check=True)
        self.fails('guest', 'create 1 more VF.*set host_pending', name='web', check=True,
                   content='name: web\nvcpus: 2\nvfs:\n- pf: any\n\n# 2 GiB\nmemory: 2GiB\n')
        predicted = self.ok('guest', name='web', config=WEB, check=True, host_pending=True)
        self.assertTrue(predicted['changed'])
        self.assertEqual(predicted['steps'], ['define domain web in libvirt'])
        self.assertRegex(predicted['warnings'][0], 'not planned, because the host would change first: web does not fit')
        self.assertIn('name: web', predicted['diff'][0]['after'])
        # The host.yaml that the play replaces has a mistake.
        self.host.put('etc/vfctl/host.yaml', 'pfs: [')
        for name, arguments in (('guest', dict(name='db', config=dict(vcpus=1, memory='1GiB'))),
                                ('tune', dict(pf='ens1', settings={'rx-usecs': 10}))):
            arguments.update(check=True, host_yaml=self.host.host_yaml)
            self.fails(name, 'etc/vfctl/host.yaml:', **arguments)
            predicted = self.ok(name, host_pending=True, **arguments)
            self.assertRegex(predicted['warnings'][0], 'planned without .*etc/vfctl/host.yaml')
            self.assertRegex(predicted['steps'][-1], 'define domain db in libvirt|ens1: set .* to rx-usecs=10')
        os.unlink(self.host.host_yaml)
        # A mistake stays one, a plan that is possible stays exact, and a run needs the VFs.
        self.fails('guest', 'vcpu: no such key', name='web', config=dict(vcpu=2), check=True, host_pending=True)
        self.exactly('guest', name='db', config=dict(vcpus=1, memory='1GiB'), host_pending=True)
        self.ok('guest', name='db', state='absent')
        self.fails('guest', 'does not fit', name='web', config=WEB, host_pending=True)
        self.assertEqual(self.host.everything()[:2], before[:2])
        # The domain that attach needs may be one that the play defines.
        self.fails('attach', 'no domain web', domain='web', pf='ens1', check=True)
        for _unused in range(2):
            predicted = self.ok('attach', domain='web', pf='ens1', check=True, host_pending=True)
            self.assertEqual(predicted['steps'], ['attach VFs of ens1 to domain web'])
            self.ok('guest', name='web', config=dict(WEB, vfs=[]))
        self.fails('attach', 'has no VFs', domain='web', pf='ens1', host_pending=True)

    def test_not_pending(self):
        """Check mode excuses only what a change of the host can help, and mentions host_pending only there."""
        self.with_vfs()
        mac = '02:00:5e:00:00:f1'
        self.ok('guest', name='db', config=dict(WEB, vfs=[dict(pf='any', mac=mac)]))
        for message, name, config in (('is leased to domain db', 'web', dict(vfs=[dict(pf='any', mac=mac)])),
                                      ('disk image /no/such', 'web', dict(disks=[dict(file='/no/such')])),
                                      ('free whole cores', 'web', dict(vcpus=99)),
                                      ('of memory requested', 'web', dict(memory='512GiB')),
                                      ('of ens1 requested|free whole cores', 'web', dict(vcpus=99, vfs=[dict(pf='ens1', count=9)])),
                                      ('vfctl does not change this', 'db', dict(machine='pc-q35-8.2'))):
            for pending in (False, True):
                failed = self.fails('guest', message, name=name, config=dict(WEB, **config), check=True, host_pending=pending)
                self.assertEqual(failed['rc'], 1)
                self.assertNotIn('host_pending', failed['msg'])
        # These may come with the host: VFs, a PF, a pool.
        excused = dict(check=True, host_pending=True)
        for vf in (dict(pf='ens1', count=9), dict(pf='ens9'), dict(pf='ens1', mac_pool='lan')):
            self.ok('guest', name='web', config=dict(WEB, vfs=[vf]), **excused)
        for each in (dict(pf='ens1', count=9), dict(pf='ens9'), dict(vf='ens1/7'), dict(pf='ens2', mac_pool='lan')):
            self.ok('attach', domain='db', **each, **excused)
        self.ok('guest', name='web', config=dict(WEB, vfs=[]))
        for message, each in (('ens1 has 3 free VFs', dict(pf='ens1', count=17)), ('is leased to domain db', dict(vf='ens1/0')),
                              ('colour', dict(pf='ens1', count=9, attributes=dict(colour='red')))):
            self.fails('attach', message, domain='web', **each, **excused)

    def test_absent_from_every_state(self):
        self.exactly('guest', changed=False, name='web', state='absent')
        # All of it; without the file; the file alone; the lease alone.
        for without in ('', 'file', 'domain and lease', 'domain'):
            with self.subTest(without=without):
                self.with_vfs()
                self.ok('guest', name='web', config=WEB)
                if without == 'file':
                    os.unlink(self.host.path('etc/vfctl/guests/web.yaml'))
                elif without == 'domain':
                    os.unlink(self.host.path('etc/libvirt/qemu/web.xml'))
                elif without:
                    self.host.run_vfctl('undefine', 'web')
                self.exactly('guest', name='web', state='absent')
                self.assertEqual(self.host.state().get('lease'), None)
                self.assertIsNone(self.host.get('etc/vfctl/guests/web.yaml'))

    def test_foreign(self):
        self.host.put('etc/libvirt/qemu/own.xml', "<domain type='kvm'><name>own</name>"
                      '<uuid>11111111-1111-4111-8111-111111111111</uuid><memory>524288</memory><vcpu>1</vcpu>'
                      '<os><type>hvm</type></os><devices/></domain>')
        self.fails('guest', '--force', name='own', state='absent')
        self.exactly('guest', name='own', state='absent', force=True)

    def test_running(self):
        self.with_vfs()
        self.ok('guest', name='web', config=WEB)
        xml = self.host.get('etc/libvirt/qemu/web.xml')
        self.host.put('run/libvirt/qemu/web.xml', "<domstatus state='running' reason='booted' pid='4711'>%s</domstatus>" % xml)
        os.makedirs(self.host.path('proc/4711'))
        self.host.put('proc/4711/comm', 'qemu-system-x86\n')
        before = self.host.everything()
        for check in (True, False):
            failed = self.fails('guest', 'domain web is running; stop it first', name='web', state='absent', check=check)
            self.assertEqual((failed['rc'], failed['vfctl']['error']['code']), (1, 'EBUSY'))
        self.assertEqual(self.host.everything(), before)

    def test_mistakes(self):
        self.with_vfs()
        before = self.host.everything()
        for check in (True, False):
            self.fails('guest', r"guests/web.yaml:3:1: vcpu: no such key; did you mean vcpus", name='web', config=dict(vcpu=2, memory='1GiB'), check=check)
            self.fails('guest', 'any of the following are missing: config, content', name='web', check=check)
            self.fails('guest', 'mutually exclusive', name='web', config=WEB, content='name: web\n', check=check)
            self.fails('guest', 'missing required arguments: name', config=WEB, check=check)
            self.fails('guest', 'is that of guest db, not of web', name='web', config=dict(WEB, name='db'), check=check)
            self.fails('guest', 'is that of guest db, not of web', name='web', content='name: db\n', check=check)
            self.fails('guest', 'one line at its left margin', name='web', content='vcpus: 1\n', check=check)
            self.fails('guest', 'is not a valid name', name='../web', config=WEB, check=check)
            failed = self.fails('guest', 'in vfs|free VF|does not fit|cannot be placed', name='web', check=check,
                                config=dict(WEB, vfs=[dict(pf='ens1', count=9)]))
            self.assertEqual(failed['rc'], 1)
            self.assertEqual('without check mode' in failed['msg'], check)
        self.assertEqual(self.host.everything(), before)

    def killed(self, state, verb):
        """vfctl is killed in each of its calls to libvirt, and after each: the same task finishes the change."""
        recovered, arguments = 0, dict(name='web', state=state)
        if state == 'present':
            arguments.update(config=WEB)
        for how in ('kill-libvirt', 'kill-libvirt-late'):
            for n in range(1, 20):
                self.setUp()
                self.with_vfs()
                if state == 'absent':
                    self.ok('guest', name='web', config=WEB)
                self.host.fault(verb, '%d:0:%s' % (n, how))
                if not self.host.module('guest', **arguments)['failed']:
                    break
                predicted = self.ok('guest', check=True, **arguments)
                done = self.ok('guest', **arguments)
                self.assertEqual((predicted['changed'], predicted.get('recovered')), (True, done.get('recovered')))
                recovered += 'recovered' in done
                self.assertFalse(self.ok('guest', **arguments)['changed'])
                if not long_form and recovered:
                    return
        self.assertGreater(recovered, 0)

    def test_present_killed(self):
        self.killed('present', 'define')

    def test_absent_killed(self):
        self.killed('absent', 'undefine')


class AttachCases(Case):
    def setUp(self):
        super().setUp()
        self.with_vfs()
        self.ok('guest', name='web', config=dict(WEB, vfs=[]))

    def test_present_and_absent(self):
        done = self.exactly('attach', domain='web', pf='ens1', attributes=dict(vlan=5, trust=True))
        self.assertEqual([vf['vf'] for vf in done['result']['vfs']], ['ens1/0'])
        done = self.exactly('attach', domain='web', pf='ens1', count=3)
        self.assertEqual(len(done['result']['vfs']), 3)
        self.exactly('attach', changed=False, domain='web', pf='0000:10:00.0', count=2)
        self.exactly('attach', name='web', vf='ens2/1')
        self.fails('attach', 'already has ens2/1, with vlan none, not 7', domain='web', vf='ens2/1', attributes=dict(vlan=7))
        self.exactly('attach', domain='web', vf='ens1/1', state='absent')
        self.exactly('attach', domain='web', pf='ens1', state='absent')
        self.exactly('attach', domain='web', vf='0000:80:01.1', state='absent')
        self.exactly('attach', changed=False, domain='web', pf='ens1', state='absent')
        self.exactly('attach', changed=False, domain='gone', pf='ens1', state='absent')
        self.exactly('attach', changed=False, domain='gone', vf='ens1/0', state='absent')

    def test_mistakes(self):
        before = self.host.everything()
        for check in (True, False):
            self.fails('attach', 'one of the following is required: pf, vf', domain='web', check=check)
            self.fails('attach', r'mutually exclusive: pf\|vf', domain='web', pf='ens1', vf='ens1/0', check=check)
            self.fails('attach', r'mutually exclusive: vf\|count', domain='web', vf='ens1/0', count=2, check=check)
            self.fails('attach', "domain 'gone' not found|gone", domain='gone', pf='ens1', check=check)
            self.fails('attach', 'ens9', domain='web', pf='ens9', check=check)
            self.fails('attach', 'ens9', domain='web', pf='ens9', state='absent', check=check)
            self.fails('attach', 'colour', domain='web', pf='ens1', attributes=dict(colour='red'), check=check)
            self.fails('attach', 'free VF', domain='web', pf='ens1', count=9, check=check)
        self.assertEqual(self.host.everything(), before)


class OtherModules(Case):
    def test_tune(self):
        done = self.exactly('tune', shown=False, pf='ens1', settings={'rx-usecs': 10, 'adaptive-rx': False})
        self.assertIn('rx-usecs=10', done['steps'][0])
        self.assertRegex(self.host.run_vfctl('tune', 'show', 'ens1')[1], r'rx-usecs +10')
        self.exactly('tune', shown=False, pf='ens1', profile='latency')
        self.fails('tune', 'one of the following is required', pf='ens1')
        self.fails('tune', 'ens9', pf='ens9', profile='latency')
        self.fails('tune', 'fastest', pf='ens1', profile='fastest')

    def test_info(self):
        self.with_vfs()
        before = self.host.everything()
        self.assertEqual([len(pf['vfs']) for pf in self.ok('pf_info')['pfs']], [4, 2])
        self.assertEqual([pf['name'] for pf in self.ok('pf_info', pfs=['ens2'], check=True)['pfs']], ['ens2'])
        self.fails('pf_info', 'ens9', pfs=['ens9'])
        doctor = self.ok('doctor_info')
        self.assertEqual(doctor['healthy'], not [i for i in doctor['issues'] if i['severity'] != 'note'])
        self.assertGreater(doctor['checks'], 10)
        self.ok('doctor_info', subject='ens1', check=True)
        self.fails('doctor_info', 'nothing', subject='nothing')
        self.assertNotIn('warnings', self.ok('doctor_info', check=True, host_yaml=self.host.host_yaml))
        self.assertEqual(self.host.everything(), before)
        # A file that an earlier task would write.
        os.unlink(self.host.host_yaml)
        found = self.ok('doctor_info', check=True, host_yaml=self.host.host_yaml)
        self.assertRegex(found['warnings'][0], 'checked without .*etc/vfctl/host.yaml, which does not exist yet')
        self.fails('doctor_info', 'etc/vfctl/host.yaml: No such file', host_yaml=self.host.host_yaml)


class OtherVfctl(Case):
    """A vfctl that is absent, too old, locked out, or cut short."""

    def other(self, script):
        return simhost.executable(os.path.join(self.host.dir, 'other'), '#!/bin/sh\n' + script)

    def test_absent(self):
        for name in ('no-such-vfctl', '/no/such/vfctl'):
            self.fails('pf_info', 'vfctl is not installed on this host: %s not found' % name, executable=name)
        for name in ('/etc/passwd', '/etc'):
            self.fails('pf_info', '%s is not an executable file' % name, executable=name)

    def test_old(self):
        self.fails('host', 'vfctl 0.0.9 is too old: this collection needs vfctl 0.1.0', config=DECLARED,
                   executable=self.other('echo \'{"version": "0.0.9"}\''))
        failed = self.fails('host', 'is not a vfctl that this collection can use', config=DECLARED, executable=self.other(
            'echo \'{"error": {"message": "unknown option --json"}}\'; exit 2'))
        self.assertEqual(failed['rc'], 2)
        self.fails('pf_info', 'is not a vfctl', executable=self.other('echo vfctl 0.1'))
        self.ok('pf_info', executable=self.other('[ "$1" != version ] || { echo \'{"version": "1.10.0"}\'; exit; }; exec %s "$@"'
                                                 % self.host.vfctl))

    def test_cut(self):
        cut = '[ "$1 $2" = "version --json" ] && exec %s "$@"\n' % self.host.vfctl
        self.fails('pf_info', 'not complete JSON: it was ended by signal 9', executable=self.other(cut + 'echo "{"; kill -9 $$'))
        failed = self.fails('pf_info', 'not complete JSON', executable=self.other(cut + 'echo \'{"pfs": [\''))
        self.assertEqual(failed['stdout'], '{"pfs": [\n')
        self.fails('pf_info', 'not complete JSON', executable=self.other(cut + 'echo "[]"'))
        self.fails('pf_info', 'not complete JSON', executable=self.other(cut + 'exit 0'))

    def test_locked(self):
        self.with_vfs()
        self.ok('guest', name='web', config=dict(WEB, vfs=[]))
        with open(self.host.path('run/vfctl/placement.lock'), 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for n in range(2):
                failed = self.fails('attach', r'waited 0 s for .*placement.lock', domain='web', pf='ens1', wait=0)
                self.assertEqual((failed['rc'], failed['changed']), (1, False))
            for name, arguments in (('attach', dict(domain='web', vf='ens1/0', state='absent')),
                                    ('guest', dict(name='web', state='absent'))):
                self.fails(name, r'waited 0 s for .*placement.lock', wait=0, **arguments)
        self.exactly('attach', domain='web', pf='ens1', wait=0)
        with open(self.host.path('run/vfctl/0000:10:00.0.lock'), 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            config = dict(pfs=[dict(match='ens1', count=4, vfs={'3': dict(vlan=9)})])
            failed = self.fails('host', r'waited 0 s for .*0000:10:00.0.lock', wait=0, pf_wait=1, config=config)
            self.assertEqual((failed['rc'], failed['changed']), (1, False))
        self.exactly('host', wait=0, config=config)


class Yaml(unittest.TestCase):
    def test_round_trip(self):
        try:
            import yaml
        except ImportError:
            self.skipTest('no PyYAML')
        from ansible_collections.vfctl.sriov.plugins.module_utils.vfctl import to_yaml
        for value in (dict(a=1, b='1', c=True, d='yes', e=None, f='x: y', g=['0-1', '02:00:5e:00:00:07', -1, 1.5, '', ' ']),
                      dict(a=[[1, [2]], dict(b=[dict(c={}, d=[])], e='\u00fc"\\\n'), {}], f={'0-3': dict(vlan=1)}),
                      {'on': 'off', 'x y': 'ens1', '1': ['~', '- a', '#', '&a', '0x10', '1e3', '.5', 'null', 'True']}):
            self.assertEqual(yaml.safe_load(to_yaml(value)), value)
            self.assertEqual(to_yaml(value), to_yaml(yaml.safe_load(to_yaml(value))))


PARTS = dict(hosts=['HostCases'], guests=['GuestCases'], attach=['AttachCases'],
             others=['OtherModules', 'OtherVfctl', 'Yaml'])

if __name__ == '__main__':
    cases = [case for part in sys.argv[3:] for case in PARTS.get(part, [part])]
    unittest.main(argv=['modules.py'] + cases)
