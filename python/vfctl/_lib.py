# SPDX-License-Identifier: GPL-2.0-or-later
"""Load libvfctl.so.0 with cffi in ABI mode, which needs no compiler on the target."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Union

from cffi import FFI

from ._cdef import CDEF

ffi: Any = FFI()
ffi.cdef(CDEF)
ffi.cdef("void free(void *);")
lib: Any = ffi.dlopen("libvfctl.so.0")
_libc: Any = ffi.dlopen(None)

#: The value of an option; a bool becomes "on" or "off", other types become their string.
Option = Union[str, int, bool]


def text(pointer: Any) -> str:
    """The string at a char pointer that is not NULL."""
    value: str = ffi.string(pointer).decode("utf-8", "surrogateescape")
    return value


def maybe(pointer: Any) -> Optional[str]:
    """The string at a char pointer, or None for NULL."""
    return None if pointer == ffi.NULL else text(pointer)


def taken(pointer: Any) -> str:
    """The string at a char pointer that this module owns; the memory is freed."""
    try:
        return text(pointer)
    finally:
        _libc.free(pointer)


def encoded(value: str) -> bytes:
    """Encode a string for the library."""
    return value.encode("utf-8", "surrogateescape")


def owned(pointer: Any, free: Any, *keep: Any) -> Any:
    """A pointer that frees itself when it is not used any more, and keeps alive what it needs until then."""

    def call(value: Any, _keep: Any = keep) -> None:
        free(value)

    return ffi.gc(pointer, call)


class Strings:
    """A NULL-terminated array of strings that lives as long as this object."""

    def __init__(self, values: Sequence[str]) -> None:
        self._texts: List[Any] = [ffi.new("char[]", encoded(v)) for v in values]
        self.array = ffi.new("const char *[]", self._texts + [ffi.NULL])


def options(values: Mapping[str, Optional[Option]]) -> Strings:
    """Keyword arguments as "KEY=VALUE" strings: guid_pool="a" is "guid-pool=a", True is "on"."""
    texts = []
    for key, value in values.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = "on" if value else "off"
        texts.append(f"{key.replace('_', '-')}={value}")
    return Strings(texts)


def by_key(call: Any, pointer: Any, key: str) -> Optional[str]:
    """A member that the library reads by its key into a buffer; None if it has no value.

    KeyError for an unknown key."""
    size = 256
    while True:
        buffer = ffi.new("char[]", size)
        length = call(pointer, encoded(key), buffer, size)
        if length == -2:  # -ENOENT
            raise KeyError(key)
        if length < 0:
            return None
        if length < size:
            return text(buffer)
        size = length + 1
