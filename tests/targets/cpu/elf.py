"""The symbols of an ELF object file."""

from __future__ import annotations

import struct
from typing import NamedTuple

_SYMBOL_TABLE = 2  # SHT_SYMTAB
_MACHINES = {62: "x86-64", 183: "aarch64"}


class Symbols(NamedTuple):
    machine: str
    exported: set[str]  #: defined, global and visible
    undefined: set[str]


def symbols(data: bytes) -> Symbols:
    """Of a 64-bit little-endian object (see the System V ABI, chapter 4)."""
    assert data[:6] == b"\x7fELF\x02\x01"
    (machine,) = struct.unpack_from("<H", data, 18)
    (sections_at,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    headers = [
        struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * size) for i in range(count)
    ]
    exported, undefined = set(), set()
    for _, kind, _, _, at, length, link, _, _, _ in headers:
        if kind != _SYMBOL_TABLE:
            continue
        names_at = headers[link][4]
        for entry in range(at + 24, at + length, 24):  # the first symbol is none
            name_at, info, other, section, _, _ = struct.unpack_from("<IBBHQQ", data, entry)
            start = names_at + name_at
            name = data[start : data.index(b"\0", start)].decode()
            if section == 0:
                undefined.add(name)
            elif info >> 4 and not other & 3:
                exported.add(name)
    return Symbols(_MACHINES.get(machine, str(machine)), exported, undefined)
