# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python bindings on the simulated host of tests/api/host. tests/api/python starts it."""
import errno
import gc
import os
import tempfile
import unittest

import vfctl

STATE = os.environ["STATE"]


def session(**how):
    return vfctl.Session(state=STATE, **how)


class Reading(unittest.TestCase):
    def test_version(self):
        self.assertRegex(vfctl.version(), r"^\d+\.\d+\.\d+$")

    def test_pf(self):
        with session() as s:
            pf = s.inventory().pf("ens1")
        self.assertEqual((pf.name, pf.address, pf.node, pf.total_vfs), ("ens1", "0000:10:00.0", 0, 7))
        self.assertEqual(pf["driver"], "igb")
        self.assertEqual(pf["speed_mbps"], "1000")
        self.assertIsNone(pf["bond"])
        self.assertEqual(pf.get("bond", "none"), "none")
        self.assertIn("mtu", pf.keys())
        self.assertNotIn("bond", pf.items())
        with self.assertRaises(KeyError):
            pf["colour"]

    def test_objects_outlive_the_session(self):
        with session() as s:
            pf = s.inventory().pf("ens1")
        del s
        gc.collect()
        self.assertEqual(pf["netdev"], "ens1")

    def test_no_such_pf(self):
        with session() as s, self.assertRaises(vfctl.Error) as caught:
            s.inventory().pf("ens9")
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        self.assertEqual(str(caught.exception), "PF 'ens9' not found; this host has ens1")
        self.assertEqual(caught.exception.remedy, "this host has ens1")
        self.assertTrue(caught.exception.mistaken)
        self.assertIsInstance(caught.exception, OSError)

    def test_doctor(self):
        with session() as s:
            for finding in s.doctor():
                self.assertIn(finding.severity, ("problem", "warning", "note"))
                self.assertTrue(finding.check and finding.what)

    def test_capture(self):
        with tempfile.TemporaryDirectory() as directory, session() as s:
            path = os.path.join(directory, "host.tar.gz")
            s.capture(path)
            with vfctl.Session(host=path, state=STATE) as captured:
                self.assertEqual([pf.name for pf in captured.inventory()], ["ens1"])
                with self.assertRaises(vfctl.Error) as caught:
                    captured.create("ens1", 2)
        self.assertEqual(caught.exception.errno, errno.EROFS)


class Changing(unittest.TestCase):
    def setUp(self):
        with session(write=True) as s, s.destroy("ens1") as change:
            change.run()

    def create(self, count):
        with session(write=True) as s, s.create("ens1", count) as change:
            change.run()

    def test_operations(self):
        with session() as s, s.create("ens1", 2, dry_run=True, trust=True) as plan:
            types = [operation.type for operation in plan.operations]
            numvfs = next(o for o in plan.operations if o.type == "numvfs")
            document = plan.to_dict()
            self.assertEqual(len(plan.steps), len(plan))
        self.assertEqual((numvfs.target, numvfs.before, numvfs.want), ("0000:10:00.0", "0", "2"))
        self.assertIn("vf-attrs", types)
        self.assertEqual(document["format"], 1)
        self.assertEqual([o["type"] for step in document["steps"] for o in step["operations"]], types)

    def test_dry_run_does_not_run(self):
        with session() as s, s.create("ens1", 2, dry_run=True) as plan:
            with self.assertRaises(vfctl.Error) as caught:
                plan.run()
        self.assertEqual(caught.exception.errno, errno.EINVAL)
        with session() as s:
            self.assertEqual(s.inventory().pf("ens1").num_vfs, 0)

    def test_twice(self):
        self.create(3)
        with session(write=True) as s, s.create("ens1", 3) as change:
            self.assertFalse(change)
            self.assertEqual(change.operations, [])

    def test_set(self):
        self.create(2)
        with session(write=True) as s:
            with s.set(s.inventory().vf("ens1/1"), vlan=9, qos=2) as change:
                change.run()
            first, second = s.inventory().pf("ens1").vfs
        self.assertEqual((second["vlan"], second["qos"]), ("9", "2"))
        self.assertNotEqual(first["vlan"], "9")

    def test_wrong_options(self):
        self.create(1)
        wrong = (({"vlan": 5000}, "vlan"), ({"colour": "red"}, "colour"), ({"live": "maybe"}, "live must be on or off"),
                 ({}, "name an attribute"))
        with session(write=True) as s:
            for options, message in wrong:
                with self.subTest(options), self.assertRaises(vfctl.Error) as caught:
                    s.set("ens1/0", **options)
                self.assertIn(message, caught.exception.message)
                self.assertTrue(caught.exception.mistaken)
            with self.assertRaises(vfctl.Error) as caught:
                s.destroy("ens1", colour="red")
        self.assertIn("it takes ignore-definitions", caught.exception.message)

    def test_lock_ends_with_the_change(self):
        with session(write=True) as s:
            held = s.create("ens1", 2)
            with session(write=True) as other, self.assertRaises(vfctl.Error) as caught:
                other.set_deadline(0.01)
                other.create("ens1", 3)
            self.assertEqual(caught.exception.errno, errno.EBUSY)
            held.close()
            s.create("ens1", 3).close()
            with self.assertRaises(ValueError):
                held.run()

    def test_session_closes_its_changes(self):
        with session(write=True) as s:
            change = s.create("ens1", 2)
        with self.assertRaises(ValueError):
            change.steps
        with self.assertRaises(ValueError):
            s.create("ens1", 2)
        self.create(2)

    def test_log_and_progress(self):
        log, progress = [], []
        with session(write=True, log=lambda level, line: log.append(level), progress=progress.append) as s:
            with s.create("ens1", 2) as change:
                change.run()
        self.assertIn("info", log)

    def test_nothing_to_recover(self):
        with session(write=True) as s:
            self.assertEqual(s.recover(), [])

    def test_declaration(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("pfs:\n  - {match: ens1, count: 3}\n")
            file.flush()
            with session(write=True, host_yaml=file.name) as s:
                entries = s.declaration()
                self.assertEqual([(e.kind, e.name) for e in entries], [("host", "host"), ("pf", "ens1")])
                self.assertTrue(entries[1].plan)
                with entries[1].apply() as change:
                    change.run()
                self.assertFalse(s.declaration()[1].plan)
                self.assertEqual(s.inventory().pf("ens1").num_vfs, 3)

    def test_guests_need_libvirt(self):
        with session(write=True) as s, self.assertRaises(vfctl.Error) as caught:
            s.undefine("web")
        self.assertIn("libvirt=system", caught.exception.remedy)

    def test_guest(self):
        os.makedirs(os.environ["SIM_ROOT"] + "/etc/libvirt/qemu", exist_ok=True)
        os.makedirs(os.environ["SIM_ROOT"] + "/run/libvirt/qemu", exist_ok=True)
        self.create(2)
        guest = vfctl.Guest({"name": "web", "vcpus": 1, "memory": "64MiB", "hugepages": "none",
                             "vfs": [{"pf": "ens1", "vlan": 8}], "virtualization": "qemu"})
        with session(write=True, libvirt="system") as s:
            placement = s.place(guest)
            self.assertIn("<name>web</name>", placement.xml())
            with s.define(guest) as change:
                change.run()
            vf = s.inventory().pf("ens1").vfs[0]
            self.assertEqual((vf["leased-to"], vf.is_free), ("web", False))
            self.attach_and_detach(s)
            self.assertFalse(s.move("web", dry_run=True))
            with s.undefine("web") as change:
                change.run()
            self.assertTrue(s.inventory().pf("ens1").vfs[0].is_free)
            self.refusals(s)

    def attach_and_detach(self, s):
        with s.attach("web", pf="ens1", vlan=5, config=True) as change:
            self.assertIn("lease-vf", [operation.type for operation in change.operations])
            change.run()
        self.assertEqual(s.inventory().vf("ens1/1")["leased-to"], "web")
        self.assertFalse(s.attach("web", vf="ens1/1", vlan=5, ensure=True, dry_run=True))
        with self.assertRaises(vfctl.Error) as caught:
            s.attach("web", pf="ens1")
        self.assertEqual(caught.exception.errno, errno.EBUSY)
        with s.detach("web", vf="ens1/1") as change:
            change.run()
        self.assertTrue(s.inventory().vf("ens1/1").is_free)

    def refusals(self, s):
        """A guest that does not fit: the error has what the planner says."""
        with self.assertRaises(vfctl.Error) as caught:
            s.define(vfctl.Guest({"name": "big", "vcpus": 99, "memory": "64MiB", "virtualization": "qemu"}))
        self.assertEqual(caught.exception.errno, errno.ENOSPC)
        self.assertFalse(caught.exception.mistaken)
        self.assertIn("short", [reason.kind for reason in caught.exception.reasons])
        with self.assertRaises(vfctl.Error) as caught:
            s.undefine("web", colour=True)
        self.assertEqual(caught.exception.reasons, ())


class Placing(unittest.TestCase):
    model = vfctl.Model.load("synthetic:numa:2(memory=8GiB) core:4 pu:2")

    def test_place(self):
        guest = vfctl.Guest("name: web\nvcpus: 2\nmemory: 1GiB\nhugepages: none\n")
        answer, = self.model.place(guest)
        self.assertTrue(answer.fits and answer.is_local)
        self.assertEqual((answer.node, answer["cpus"], answer["vcpus"]), (0, "0-1", "0,1"))
        self.assertEqual(answer["memory_bytes"], str(1 << 30))
        self.assertTrue(answer.reasons)

    def test_refusal(self):
        answer, = self.model.place(vfctl.Guest({"name": "big", "vcpus": 99, "memory": "1GiB"}))
        self.assertFalse(answer.fits)
        self.assertEqual((answer.refusal, answer.node, answer["cpus"]), ("CPUs", None, None))
        self.assertTrue(answer.remedies)

    def test_wrong_guest(self):
        with self.assertRaises(vfctl.Error) as caught:
            vfctl.Guest("name: web\nvcpu: 2\n", file="web.yaml")
        self.assertTrue(caught.exception.message.startswith("web.yaml:2:1"), caught.exception.message)

    def test_model_as_json(self):
        self.assertEqual(len(self.model.to_dict()["nodes"]), 2)


if __name__ == "__main__":
    unittest.main()
