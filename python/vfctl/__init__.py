# SPDX-License-Identifier: GPL-2.0-or-later
"""SR-IOV virtual functions for KVM guests: Python bindings of libvfctl.

    import vfctl

    with vfctl.Session(write=True) as session:
        for pf in session.inventory():
            print(pf.name, pf.num_vfs, [vf.address for vf in pf])
        with session.create("ens1f0", 4) as change:
            for operation in change.operations:
                print(operation.type, operation.target, operation.before, operation.want)
            change.run()

Options of calls are keyword arguments with the names of libvfctl(3), but with "_" instead of "-": the
attribute max-rate is max_rate. True is "on", False is "off". Only one thread at a time may use a
session and the objects that were made with it.
"""

from __future__ import annotations

import errno as _errno
import json as _json
import os as _os
import weakref as _weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Type, Union

from ._lib import Option, Strings, by_key, encoded, ffi, lib, maybe, options, owned, taken, text

__all__ = ["Assignment", "Change", "Entry", "Error", "Finding", "Guest", "Inventory", "Model", "Operation",
           "PF", "Placement", "Plan", "Reason", "Recovered", "Session", "VF", "version"]

_REASON_KINDS = ("choice", "warning", "short", "remedy")
_LOG_LEVELS = ("error", "warning", "info", "debug")
_HOLDERS = ("none", "domain", "vfio", "netns", "host", "process", "vdpa")


def version() -> str:
    """The version of the library."""
    return text(lib.vfctl_version())


@dataclass(frozen=True)
class Reason:
    """A reason why a guest was placed where it is, or was not placed."""

    #: "choice", "warning", "short" or "remedy"
    kind: str
    text: str


class Error(OSError):
    """A call failed. The exception has the errno, the message and the remedy."""

    def __init__(self, number: int, message: str, remedy: str = "", mistaken: bool = False,
                 reasons: Sequence[Reason] = ()) -> None:
        super().__init__(number, message)
        #: what was attempted, on what object, what the kernel or libvirt said, and the remedy
        self.message = message
        #: the part of the message that says what to do; "" if there is none
        self.remedy = remedy
        #: whether the caller made a mistake, so that the same call fails again
        self.mistaken = mistaken
        #: for a guest that does not fit: what is short, and what would help
        self.reasons: Tuple[Reason, ...] = tuple(reasons)

    def __str__(self) -> str:
        return self.message


def _listed(call: Callable[[int, Any], Any]) -> List[Reason]:
    """All reasons of a call that returns them one by one."""
    kind = ffi.new("enum vfctl_reason_kind *")
    reasons: List[Reason] = []
    while True:
        pointer = call(len(reasons), kind)
        if pointer == ffi.NULL:
            return reasons
        reasons.append(Reason(_REASON_KINDS[kind[0]], text(pointer)))


class _Context:
    """A vfctl_ctx, shared by all objects that were made with it."""

    def __init__(self, host: Optional[str], settings: Dict[str, Optional[Option]],
                 log: Optional[Callable[[str, str], None]],
                 progress: Optional[Callable[[str], None]]) -> None:
        ret = ffi.new("struct vfctl_ctx **")
        number = lib.vfctl_ctx_new(ret)
        if number < 0:
            raise Error(-number, _os.strerror(-number))
        self._callbacks: List[Any] = []
        self.pointer = owned(ret[0], lib.vfctl_ctx_free, self._callbacks)
        if log:
            self._log_to(log)
        if progress:
            self._progress_to(progress)
        for key, value in settings.items():
            if value is not None:
                self.check(lib.vfctl_ctx_set(self.pointer, encoded(key.replace("_", "-")),
                                             encoded(str(value))))
        if host is not None:
            self.check(lib.vfctl_ctx_open_host(self.pointer, encoded(host)))

    def _log_to(self, log: Callable[[str, str], None]) -> None:
        def call(_data: Any, level: int, line: Any) -> None:
            log(_LOG_LEVELS[level], text(line))

        self._callbacks.append(ffi.callback("vfctl_log_fn", call))
        lib.vfctl_ctx_set_log(self.pointer, self._callbacks[-1], ffi.NULL)

    def _progress_to(self, progress: Callable[[str], None]) -> None:
        def call(_data: Any, line: Any) -> None:
            progress(text(line))

        self._callbacks.append(ffi.callback("vfctl_progress_fn", call))
        lib.vfctl_ctx_set_progress(self.pointer, self._callbacks[-1], ffi.NULL)

    def check(self, number: int) -> int:
        """Return a result of the library; raise Error if it is negative."""
        if number >= 0:
            return number
        ctx = self.pointer
        message = text(lib.vfctl_ctx_error(ctx)) or _os.strerror(-number)
        raise Error(-number, message, text(lib.vfctl_ctx_remedy(ctx)), bool(lib.vfctl_ctx_usage_error(ctx)),
                    _listed(lambda i, kind: lib.vfctl_ctx_reason(ctx, i, kind)))


# ---- what a host has ----


class _Keyed:
    """Members that are read by key: object["driver"], object.get("driver"), object.items()."""

    _get: Any
    _key: Any
    _pointer: Any

    def __getitem__(self, key: str) -> Optional[str]:
        return by_key(self._get, self._pointer, key.replace("_", "-"))

    def get(self, key: str, default: Optional[str] = None) -> Optional[str]:
        """The value as a string, or default if there is none. KeyError for an unknown key."""
        value = self[key]
        return default if value is None else value

    def keys(self) -> List[str]:
        """All keys, with or without a value."""
        keys: List[str] = []
        while True:
            pointer = self._key(len(keys), ffi.NULL)
            if pointer == ffi.NULL:
                return keys
            keys.append(text(pointer))

    def items(self) -> Dict[str, str]:
        """The keys that have a value, with their values."""
        found = ((key, self[key]) for key in self.keys())
        return {key: value for key, value in found if value is not None}


class VF(_Keyed):
    """A virtual function as it was when the inventory was read.

    VF attributes and other members are read by their keys: vf["mac"], vf["vlan"], vf["driver"]."""

    def __init__(self, pf: "PF", pointer: Any) -> None:
        self._get, self._key, self._pointer = lib.vfctl_vf_get, lib.vfctl_vf_key, pointer
        buffer = ffi.new("char[]", lib.VFCTL_BDF_TEXT)
        #: its physical function
        self.pf = pf
        #: the N of "PF/N"
        self.index: int = lib.vfctl_vf_index(pointer)
        #: PCI address
        self.address: str = text(lib.vfctl_vf_address(pointer, buffer))
        node: int = lib.vfctl_vf_node(pointer)
        #: NUMA node, or None
        self.node: Optional[int] = node if node >= 0 else None
        #: what uses it now: "none", "domain", "vfio", "netns", "host", "process" or "vdpa"
        self.holder: str = _HOLDERS[lib.vfctl_vf_holder(pointer)]
        #: whether it is not in use, not leased, not in a definition and not to be cleaned
        self.is_free: bool = bool(lib.vfctl_vf_is_free(pointer))

    @property
    def name(self) -> str:
        """The name that calls take: "PF/N"."""
        return f"{self.pf.name}/{self.index}"

    def __repr__(self) -> str:
        return f"<vfctl.VF {self.name} {self.address}>"


class PF(_Keyed):
    """A physical function with SR-IOV. Iterate over it to get its VFs."""

    def __init__(self, inventory: "Inventory", pointer: Any) -> None:
        self._get, self._key, self._pointer = lib.vfctl_pf_get, lib.vfctl_pf_key, pointer
        self._inventory = inventory  # it owns what the pointer points to
        buffer = ffi.new("char[]", lib.VFCTL_BDF_TEXT)
        #: network device, or else RDMA device, or else PCI address
        self.name: str = text(lib.vfctl_pf_name(pointer, buffer))
        #: PCI address
        self.address: str = text(lib.vfctl_pf_address(pointer, buffer))
        node: int = lib.vfctl_pf_node(pointer)
        #: NUMA node, or None
        self.node: Optional[int] = node if node >= 0 else None
        #: number of VFs that it can have
        self.total_vfs: int = lib.vfctl_pf_total_vfs(pointer)
        #: number of VFs that it has
        self.num_vfs: int = lib.vfctl_pf_vf_count(pointer)

    @property
    def vfs(self) -> List[VF]:
        """Its VFs, in ascending order of their indexes."""
        return list(self)

    def __iter__(self) -> Iterator[VF]:
        at = 0
        while True:
            pointer = lib.vfctl_pf_vf(self._pointer, at)
            if pointer == ffi.NULL:
                return
            yield VF(self, pointer)
            at += 1

    def __repr__(self) -> str:
        return f"<vfctl.PF {self.name} {self.address} {self.num_vfs}/{self.total_vfs} VFs>"


class Inventory:
    """The PFs and VFs of a host at one moment. Iterate over it to get the PFs."""

    def __init__(self, context: _Context, only: Optional[str]) -> None:
        ret = ffi.new("struct vfctl_snapshot **")
        self._context = context
        context.check(lib.vfctl_snapshot_read(context.pointer,
                                              ffi.NULL if only is None else encoded(only), ret))
        self._pointer = owned(ret[0], lib.vfctl_snapshot_free, context)

    @property
    def pfs(self) -> List[PF]:
        """The PFs, in ascending order of their PCI addresses."""
        return list(self)

    def __iter__(self) -> Iterator[PF]:
        index = 0
        while True:
            pointer = lib.vfctl_snapshot_pf(self._pointer, index)
            if pointer == ffi.NULL:
                return
            yield PF(self, pointer)
            index += 1

    @property
    def gaps(self) -> List[str]:
        """What could not be read. If there is anything, VFs may be in use without being shown so."""
        gaps: List[str] = []
        while True:
            pointer = lib.vfctl_snapshot_gap(self._pointer, len(gaps))
            if pointer == ffi.NULL:
                return gaps
            gaps.append(text(pointer))

    def pf(self, name: str) -> PF:
        """Find a PF by PCI address, network device, alternative name or RDMA device."""
        ret = ffi.new("const struct vfctl_pf **")
        self._context.check(lib.vfctl_snapshot_find_pf(self._context.pointer, self._pointer,
                                                       encoded(name), ret))
        return PF(self, ret[0])

    def vf(self, name: str) -> VF:
        """Find a VF by "PF/N" or PCI address."""
        pf = ffi.new("const struct vfctl_pf **")
        ret = ffi.new("const struct vfctl_vf **")
        self._context.check(lib.vfctl_snapshot_find_vf(self._context.pointer, self._pointer,
                                                       encoded(name), pf, ret))
        return VF(PF(self, pf[0]), ret[0])


# ---- changes ----


@dataclass(frozen=True)
class Operation:
    """An operation of a change, as data."""

    #: "numvfs", "vf-attrs", "vf-driver", "file", "lease", ...
    type: str
    #: what it changes: the PCI address of a PF, "PF/N" of a VF, a path, a domain
    target: Optional[str]
    #: what is written and read back; None: the operation has no value of its own
    want: Optional[str]
    #: what a roll-back restores; None: there was no value, or it is read when the change is run
    before: Optional[str]


class Plan:
    """What a verb would do: the base class of Change, and the dry run of an Entry."""

    def __init__(self, context: _Context, pointer: Any, owner: Any) -> None:
        self._context, self._pointer, self._owner = context, pointer, owner

    def __len__(self) -> int:
        """The number of steps; 0: there is nothing to do."""
        return int(lib.vfctl_change_count(self._alive()))

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return len(self) > 0

    def _alive(self) -> Any:
        if self._pointer is None:
            raise ValueError("the change was closed")
        return self._pointer

    @property
    def steps(self) -> List[str]:
        """The steps, as sentences for people."""
        return [text(lib.vfctl_change_describe(self._alive(), i)) for i in range(len(self))]

    @property
    def operations(self) -> List[Operation]:
        """The operations of all steps, in order."""
        change, found = self._alive(), []
        for step in range(len(self)):
            number = 0
            while True:
                kind = lib.vfctl_operation_type(change, step, number)
                if kind == ffi.NULL:
                    break
                found.append(Operation(text(kind), maybe(lib.vfctl_operation_target(change, step, number)),
                                       maybe(lib.vfctl_operation_want(change, step, number)),
                                       maybe(lib.vfctl_operation_before(change, step, number))))
                number += 1
        return found

    @property
    def nothing(self) -> Optional[str]:
        """Why there are no steps; None if there is no particular reason."""
        return maybe(lib.vfctl_change_nothing(self._alive()))

    @property
    def pending(self) -> Optional[str]:
        """What the administrator still has to do after the steps."""
        return maybe(lib.vfctl_change_pending(self._alive()))

    @property
    def moves_ids(self) -> bool:
        """Whether the change gives GUIDs, MACs or P_Keys of pools to another owner."""
        return bool(lib.vfctl_change_moves_ids(self._alive()))

    def to_dict(self) -> Dict[str, Any]:
        """The change in the format of docs/dev/change-format.md."""
        ret = ffi.new("char **")
        self._context.check(lib.vfctl_change_json(self._context.pointer, self._alive(), ret))
        found: Dict[str, Any] = _json.loads(taken(ret[0]))
        return found

    def __repr__(self) -> str:
        return f"<vfctl.{type(self).__name__} {len(self)} steps>" if self._pointer else "<vfctl.Plan closed>"


class Change(Plan):
    """A change that was planned. It holds locks until it is closed: run it and close it soon.

    A context manager: leaving the block closes it."""

    def __init__(self, session: "Session", pointer: Any, owner: Any = None) -> None:
        super().__init__(session._context, owned(pointer, lib.vfctl_change_free, session._pointer, owner), owner)
        self._session = session
        session._track(self)

    def run(self, after_change: bool = True) -> None:
        """Carry out the steps. Each is read back. If a step fails, the completed steps are rolled back.

        :param after_change: run the after-change command of host.yaml if values of pools got another
            owner.
        :raises Error: EAGAIN: another host was given a proposed value; plan again. ESTALE: a step
            failed and could not be rolled back completely; session.recover() continues the roll-back.
            An error of the after-change command is raised after the change itself is complete."""
        self._context.check(lib.vfctl_change_run(self._context.pointer, self._alive()))
        if after_change and self.moves_ids:
            self._session.after_change()

    def close(self) -> None:
        """Free the change and release its locks. It may be called more than once."""
        if self._pointer is not None:
            ffi.release(self._pointer)
            self._pointer = None

    def __enter__(self) -> "Change":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


# ---- guests and models ----


class Guest:
    """The requirements of a guest: a dict with the keys of guest.yaml (docs/reference/guest-yaml.md), or its text."""

    def __init__(self, wanted: Union[str, Dict[str, Any]], file: str = "guest.yaml") -> None:
        content = encoded(wanted if isinstance(wanted, str) else _json.dumps(wanted))
        self._context = _Context(None, {}, None, None)
        ret = ffi.new("struct vfctl_guest **")
        self._context.check(lib.vfctl_guest_parse(self._context.pointer, encoded(file), content,
                                                  len(content), ret))
        self._pointer = owned(ret[0], lib.vfctl_guest_free, self._context)

    @classmethod
    def load(cls, path: str) -> "Guest":
        """Read a guest.yaml."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read(), path)

    @property
    def name(self) -> str:
        """The name of its domain."""
        return text(lib.vfctl_guest_name(self._pointer))

    def __repr__(self) -> str:
        return f"<vfctl.Guest {self.name}>"


class Assignment:
    """The placement of one guest, or its refusal."""

    def __init__(self, owner: Any, pointer: Any) -> None:
        self._owner, self._pointer = owner, pointer
        #: what is short: "VFs", "CPUs", "memory" or "others"; "none" if the guest is placed
        self.refusal: str = text(lib.vfctl_refusal_name(lib.vfctl_assignment_refusal(pointer)))
        #: whether the guest is placed
        self.fits: bool = self.refusal == "none"
        #: NUMA node of the first cell, or None
        self.node: Optional[int] = lib.vfctl_assignment_node(pointer) if self.fits else None
        #: whether all memory and VFs are on the nodes of the CPUs
        self.is_local: bool = bool(lib.vfctl_assignment_is_local(pointer))

    def __getitem__(self, key: str) -> Optional[str]:
        """A member by its key: "cpus", "vcpus", "emulator-cpus", "nodes", "memory-bytes", ..."""
        return by_key(lib.vfctl_assignment_get, self._pointer, key.replace("_", "-"))

    @property
    def vfs(self) -> List[str]:
        """The PCI addresses of its VFs, in the order of guest.yaml."""
        buffer = ffi.new("char[]", lib.VFCTL_BDF_TEXT)
        found: List[str] = []
        while lib.vfctl_assignment_vf(self._pointer, len(found), buffer) != ffi.NULL:
            found.append(text(buffer))
        return found

    @property
    def reasons(self) -> List[Reason]:
        """What was chosen and why, or what is short and what would help."""
        return _listed(lambda i, kind: lib.vfctl_assignment_reason(self._pointer, i, kind))

    @property
    def remedies(self) -> List[str]:
        """What would make the guest fit."""
        return [reason.text for reason in self.reasons if reason.kind == "remedy"]

    def __repr__(self) -> str:
        return f"<vfctl.Assignment node {self.node}>" if self.fits else f"<vfctl.Assignment no {self.refusal}>"


class Placement:
    """The result of placing guests. Iterate over it to get an Assignment for each guest."""

    def __init__(self, context: _Context, pointer: Any, owner: Any) -> None:
        self._context, self._owner = context, owner
        self._pointer = owned(pointer, lib.vfctl_placed_free, context, owner)

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that no better placement exists."""
        return bool(lib.vfctl_placed_is_proven(self._pointer))

    def __iter__(self) -> Iterator[Assignment]:
        index = 0
        while True:
            pointer = lib.vfctl_placed_assignment(self._pointer, index)
            if pointer == ffi.NULL:
                return
            yield Assignment(self, pointer)
            index += 1

    def xml(self, template: Optional[str] = None) -> str:
        """The domain XML of a guest that Session.place() placed."""
        ret = ffi.new("char **")
        self._context.check(lib.vfctl_placed_xml(self._pointer,
                                                 ffi.NULL if template is None else encoded(template), ret))
        return taken(ret[0])


class Model:
    """A host as the planner sees it."""

    def __init__(self, context: _Context, pointer: Any) -> None:
        self._context = context
        self._pointer = owned(pointer, lib.vfctl_model_free, context)

    @classmethod
    def load(cls, path: str) -> "Model":
        """Load the JSON of vfctl topology --json, the XML of lstopo, or "synthetic:numa:2 core:8 pu:2"."""
        context = _Context(None, {}, None, None)
        ret = ffi.new("struct vfctl_host_model **")
        context.check(lib.vfctl_model_load(context.pointer, encoded(path), ret))
        return cls(context, ret[0])

    def to_dict(self) -> Dict[str, Any]:
        """The model in the format of vfctl topology --json."""
        pointer = lib.vfctl_model_format(self._pointer)
        if pointer == ffi.NULL:
            raise MemoryError
        found: Dict[str, Any] = _json.loads(taken(pointer))
        return found

    def place(self, *guests: Guest) -> Placement:
        """Place guests together on this model. It is not an error if a guest does not fit."""
        ret = ffi.new("struct vfctl_placed **")
        array = ffi.new("struct vfctl_guest *[]", [guest._pointer for guest in guests])
        self._context.check(lib.vfctl_place_on_model(self._context.pointer, self._pointer, array,
                                                     len(guests), ret))
        return Placement(self._context, ret[0], (self, guests))


# ---- the session ----


@dataclass(frozen=True)
class Finding:
    """A problem that the doctor found."""

    check: str
    #: "problem", "warning" or "note"
    severity: str
    subject: str
    what: str
    evidence: Optional[str]
    cause: Optional[str]
    remedy: Optional[str]


@dataclass(frozen=True)
class Recovered:
    """An interrupted change, and the outcome of its recovery."""

    story: str
    outcome: str
    error: Optional[str]


class Entry:
    """The comparison of an entry of host.yaml (the host, a PF or a VF-LAG) with the host."""

    def __init__(self, session: "Session", declaration: Any, index: int) -> None:
        self._session, self._declaration, self._index = session, declaration, index
        #: "host", "pf" or "lag"
        self.kind: str = self._text("kind") or ""
        self.name: str = self._text("name") or ""
        self.address: Optional[str] = self._text("address")
        #: why the entry cannot be applied
        self.error: Optional[str] = self._text("error")
        #: differences that remain while a guest uses the VF
        self.kept: Optional[str] = self._text("kept")

    def _text(self, key: str) -> Optional[str]:
        return maybe(lib.vfctl_declaration_get(self._declaration, self._index, encoded(key)))

    @property
    def plan(self) -> Optional[Plan]:
        """The dry run; None if there is an error, and for a PF that is not managed."""
        pointer = lib.vfctl_declaration_change(self._declaration, self._index)
        return None if pointer == ffi.NULL else Plan(self._session._context, pointer, self)

    def apply(self) -> Change:
        """Plan to bring the host to the state that this entry declares."""
        return self._session._plan(lib.vfctl_plan_apply, self._declaration, self._index, owner=self)

    def __repr__(self) -> str:
        return f"<vfctl.Entry {self.kind} {self.name}>"


class Session:
    """Everything that plans need: host.yaml, the pools and, on request, a connection to libvirt.

    :param write: changes can be run. Without it, calls that use pools can only be dry runs.
    :param libvirt: "system", a URI, or None for no connection: then no domain can be defined.
    :param host_yaml: file or directory; default /etc/vfctl/host.yaml, which may be absent.
    :param reserve: CPUs kept for the host, such as "0-1,8".
    :param host: a captured host (archive or directory) to use instead of this one; it is read-only.
    :param state: the state file; default /var/lib/vfctl/state.db.
    :param origin: who requests the changes, for the system log.
    :param log: called with the level ("error", "warning", "info", "debug") and the line.
    :param progress: called with a description of the current action or wait.

    A context manager: leaving the block closes the session and the changes planned with it."""

    def __init__(self, *, write: bool = False, libvirt: Optional[str] = None,
                 host_yaml: Optional[str] = None, reserve: Optional[str] = None,
                 host: Optional[str] = None, state: Optional[str] = None, origin: Optional[str] = None,
                 log: Optional[Callable[[str, str], None]] = None,
                 progress: Optional[Callable[[str], None]] = None) -> None:
        self._changes: "_weakref.WeakSet[Change]" = _weakref.WeakSet()
        self._pointer: Any = None
        self._context = _Context(host, {"state": state, "origin": origin}, log, progress)
        how = options({"write": write, "libvirt": libvirt, "host_yaml": host_yaml, "reserve": reserve})
        ret = ffi.new("struct vfctl_session **")
        self._context.check(lib.vfctl_session_open(self._context.pointer, how.array, ret))
        self._pointer = owned(ret[0], lib.vfctl_session_close, self._context)

    def _track(self, change: Change) -> None:
        self._changes.add(change)

    def _alive(self) -> Any:
        if self._pointer is None:
            raise ValueError("the session was closed")
        return self._pointer

    def close(self) -> None:
        """Close the session and the changes that were planned with it. It may be called more than once."""
        for change in list(self._changes):
            change.close()
        if self._pointer is not None:
            ffi.release(self._pointer)
            self._pointer = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _plan(self, call: Any, *arguments: Any, owner: Any = None) -> Change:
        ret = ffi.new("struct vfctl_change **")
        given = [value.array if isinstance(value, Strings) else value for value in arguments]
        self._context.check(call(self._alive(), *given, ret))
        return Change(self, ret[0], owner)

    def set_deadline(self, seconds: Optional[float]) -> None:
        """Set one time limit for all calls from now on. Waits for locks and answers end at this limit; a
        roll-back is carried out even then. None: no common limit, only that of each single wait."""
        milliseconds = 0 if seconds is None else max(1, int(seconds * 1000))
        lib.vfctl_ctx_set_deadline_ms(self._context.pointer, milliseconds)

    def cancel(self) -> None:
        """Ask the running call to stop before its next step and to roll back. For signal handlers."""
        lib.vfctl_ctx_cancel(self._context.pointer)

    # ---- reading ----

    def inventory(self, only: Optional[str] = None) -> Inventory:
        """Read the PFs and VFs. With the name of a PF, read only its VFs, which is faster."""
        return Inventory(self._context, only)

    def capture(self, path: str) -> None:
        """Record what vfctl reads from this host in a new archive, without secrets."""
        self._context.check(lib.vfctl_host_capture(self._context.pointer, encoded(path)))

    def model(self) -> Model:
        """Read this host as the planner sees it."""
        ret = ffi.new("struct vfctl_host_model **")
        self._context.check(lib.vfctl_session_model(self._alive(), ret))
        return Model(self._context, ret[0])

    def place(self, guest: Guest) -> Placement:
        """Find where a guest would run. It is not an error if the guest does not fit."""
        ret = ffi.new("struct vfctl_placed **")
        self._context.check(lib.vfctl_place_guest(self._alive(), guest._pointer, ret))
        return Placement(self._context, ret[0], (self, guest))

    def doctor(self, subject: Optional[str] = None) -> List[Finding]:
        """Check for known problems of this host, or of one PF or domain; the most severe come first."""
        ret = ffi.new("struct vfctl_doctor **")
        self._context.check(lib.vfctl_doctor_run(self._alive(),
                                                 ffi.NULL if subject is None else encoded(subject), ret))
        doctor = owned(ret[0], lib.vfctl_doctor_free, self)
        found: List[Finding] = []
        while lib.vfctl_doctor_get(doctor, len(found), b"check") != ffi.NULL:
            def member(key: bytes, index: int = len(found)) -> Optional[str]:
                return maybe(lib.vfctl_doctor_get(doctor, index, key))

            found.append(Finding(member(b"check") or "", member(b"severity") or "", member(b"subject") or "",
                                 member(b"what") or "", member(b"evidence"), member(b"cause"),
                                 member(b"remedy")))
        return found

    def declaration(self) -> List[Entry]:
        """Compare host.yaml with the host; the entries are in the order in which they are applied."""
        ret = ffi.new("struct vfctl_declaration **")
        self._context.check(lib.vfctl_declaration_read(self._alive(), ret))
        declaration = owned(ret[0], lib.vfctl_declaration_free, self)
        found: List[Entry] = []
        while lib.vfctl_declaration_get(declaration, len(found), b"kind") != ffi.NULL:
            found.append(Entry(self, declaration, len(found)))
        return found

    # ---- the host ----

    def create(self, pf: str, count: int, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to give a PF a number of VFs. Options: driver, keep_identities, guid_pool, pkey,
        ignore_definitions, and VF attributes for all VFs."""
        if not 0 <= count < 2 ** 32:
            raise Error(_errno.ERANGE, f"{count} is not a number of VFs", mistaken=True)
        return self._plan(lib.vfctl_plan_create, encoded(pf), count, options(how), dry_run)

    def destroy(self, pf: str, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to remove all VFs of a PF. Options: ignore_definitions."""
        return self._plan(lib.vfctl_plan_destroy, encoded(pf), options(how), dry_run)

    def set(self, vfs: Union[str, VF, Sequence[Union[str, VF]]], *, dry_run: bool = False,
            **attributes: Optional[Option]) -> Change:
        """Plan to set attributes of VFs of one PF. Other options: live, config."""
        named = [vfs] if isinstance(vfs, (str, VF)) else vfs
        names = Strings([vf.address if isinstance(vf, VF) else vf for vf in named])
        return self._plan(lib.vfctl_plan_set, names, options(attributes), dry_run)

    def tune(self, pf: str, *, dry_run: bool = False, **settings: Optional[Option]) -> Change:
        """Plan to change the interrupt moderation of a PF: profile, or settings of ethtool -C (rx_usecs)."""
        return self._plan(lib.vfctl_plan_tune, encoded(pf), options(settings), dry_run)

    def install_hook(self, install: bool = True) -> Change:
        """Plan to install vfctl's libvirt hook, or to remove it."""
        return self._plan(lib.vfctl_plan_hook, install)

    def clean(self, *, dry_run: bool = False) -> Change:
        """Plan to clean the VFs that are not in use."""
        return self._plan(lib.vfctl_plan_clean, dry_run)

    def recover(self, **how: Optional[Option]) -> List[Recovered]:
        """Finish or roll back interrupted changes. Options: dry_run, accept."""
        ret = ffi.new("struct vfctl_recovery **")
        asked = options(how)
        number = lib.vfctl_recover_open_changes(self._alive(), asked.array, ret)
        if number < 0 and ret[0] == ffi.NULL:
            self._context.check(number)
        recovery = owned(ret[0], lib.vfctl_recovery_free, self)
        found: List[Recovered] = []
        while lib.vfctl_recovery_get(recovery, len(found), b"story") != ffi.NULL:
            story, outcome, error = (maybe(lib.vfctl_recovery_get(recovery, len(found), key))
                                     for key in (b"story", b"outcome", b"error"))
            found.append(Recovered(story or "", outcome or "", error))
        return found

    def backup(self, path: str) -> None:
        """Copy the state file to a new file."""
        self._context.check(lib.vfctl_backup(self._context.pointer, encoded(path)))

    def after_change(self) -> Optional[str]:
        """Run the after-change command of host.yaml. Return its last line, or None without a command."""
        ret = ffi.new("char **")
        ran = self._context.check(lib.vfctl_session_after_change(self._alive(), ret))
        said = taken(ret[0]) if ret[0] != ffi.NULL else ""
        return said if ran else None

    # ---- guests ----

    def define(self, guest: Guest, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to lease what a guest needs and to define it in libvirt. Options: template."""
        return self._plan(lib.vfctl_plan_define, guest._pointer, options(how), dry_run, owner=guest)

    def undefine(self, domain: str, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to undefine a domain and to release what it holds. Options: force, nvram, managed_save,
        snapshots_metadata."""
        return self._plan(lib.vfctl_plan_undefine, encoded(domain), options(how), dry_run)

    def attach(self, domain: str, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to give VFs to a domain. Options: pf or vf, count, ensure, live, config, guid_pool,
        mac_pool, pkey, form, and VF attributes."""
        return self._plan(lib.vfctl_plan_attach, encoded(domain), options(how), dry_run)

    def detach(self, domain: str, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to detach a VF from a domain. Options: vf, live, config, wait (seconds)."""
        return self._plan(lib.vfctl_plan_detach, encoded(domain), options(how), dry_run)

    def move(self, domain: str, *, dry_run: bool = False) -> Change:
        """Plan to carry out the move that vfctl plan --rebalance proposes for a guest."""
        return self._plan(lib.vfctl_plan_move, encoded(domain), dry_run)

    def adopt(self, domain: str, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to lease to a domain of another tool the VFs of its definition. Options: undo."""
        return self._plan(lib.vfctl_plan_adopt, encoded(domain), options(how), dry_run)

    def release(self, domain: str, *, dry_run: bool = False) -> Change:
        """Plan to restore the VFs of a domain that is off to their state before its last run."""
        return self._plan(lib.vfctl_plan_release, encoded(domain), dry_run)

    def rebuild(self, *, dry_run: bool = False, **how: Optional[Option]) -> Change:
        """Plan to rebuild a lost state file: lease to libvirt's domains again what they hold. Options:
        trust_metadata."""
        return self._plan(lib.vfctl_plan_rebuild, options(how), dry_run)
