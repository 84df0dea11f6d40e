"""The symbols and sections of an ELF file."""

from __future__ import annotations

import struct
from typing import NamedTuple

_SYMBOL_TABLE = 2  # SHT_SYMTAB
_FUNCTION = 2  # STT_FUNC
_MACHINES = {62: "x86-64", 183: "aarch64"}


class Symbols(NamedTuple):
    machine: str
    exported: set[str]  #: defined, global and visible
    undefined: set[str]
    functions: set[str]  #: defined, whoever may see them


def symbols(data: bytes) -> Symbols:
    """Of a 64-bit little-endian file (see the System V ABI, chapter 4)."""
    (machine,) = struct.unpack_from("<H", data, 18)
    headers = _headers(data)
    exported, undefined, functions = set(), set(), set()
    for _, kind, _, _, at, length, link, _, _, _ in headers:
        if kind != _SYMBOL_TABLE:
            continue
        names_at = headers[link][4]
        for entry in range(at + 24, at + length, 24):  # the first symbol is none
            name_at, info, other, section, _, _ = struct.unpack_from("<IBBHQQ", data, entry)
            name = _text(data, names_at + name_at)
            if section == 0:
                undefined.add(name)
                continue
            if info & 15 == _FUNCTION:
                functions.add(name)
            if info >> 4 and not other & 3:
                exported.add(name)
    return Symbols(_MACHINES.get(machine, str(machine)), exported, undefined, functions)


def sections(data: bytes) -> dict[str, bytes]:
    """The contents of sections by their names; of several of one name, the last."""
    (names,) = struct.unpack_from("<H", data, 62)
    headers = _headers(data)
    return {_text(data, headers[names][4] + h[0]): data[h[4] : h[4] + h[5]] for h in headers}


def _headers(data: bytes) -> list[tuple[int, ...]]:
    assert data[:6] == b"\x7fELF\x02\x01"
    (at,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
