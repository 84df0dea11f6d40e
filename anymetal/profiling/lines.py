"""From program counters to the lines of Metal text, by the DWARF tables in machine code."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from anymetal.runtime.code import Code

_NO_LINE = "code of no line"  #: loops over threadgroups, and what LLVM has merged


class Line(NamedTuple):
    """A line of a kernel's text, or what it called, and how often a sample met it."""

    file: str  #: its name, `saxpy.metal`; of a called function the library that has it
    number: int  #: 0 for what is no line
    text: str  #: the line, as far as the file is there; else the name of the function
    samples: int


class _Row(NamedTuple):
    address: int  #: in the file
    path: PurePath | None  #: None behind the end of a sequence
    line: int


def lines_of(code: Code, counters: Iterable[int]) -> list[Line]:
    """Where the samples of a kernel were, the line with most of them first."""
    rows, base = _table(code)
    addresses = [row.address for row in rows]
    found: Counter[tuple[PurePath | None, int, str]] = Counter()
    for counter in counters:
        at = bisect_right(addresses, counter - base) - 1
        row = rows[at] if at >= 0 else None
        if row is not None and row.path is not None and row.line:
            found[row.path, row.line, ""] += 1
        elif row is not None and row.path is not None:
            found[None, 0, _NO_LINE] += 1
        else:
            library, name = _function_at(counter)
            found[PurePath(library) if library else None, 0, name] += 1
    texts: dict[PurePath, list[str]] = {}
    return [
        Line(path.name if path else "", line, name or _text(texts, path, line), samples)
        for (path, line, name), samples in found.most_common()
    ]


def _table(code: Code) -> tuple[list[_Row], int]:
    """The line table by address, and what to add to an address of the file to have one of memory.

    Empty if the file is gone, as that of a cache which is cleared.
    """
    try:
        with open(code.path, "rb") as file:
            elf: Any = ELFFile(file)
            (entry,) = elf.get_section_by_name(".dynsym").get_symbol_by_name("am_entry")
            rows = list(_rows(elf.get_dwarf_info())) if elf.has_dwarf_info() else []
            return sorted(rows, key=lambda row: row.address), code.entry - entry["st_value"]
    except (OSError, ELFError, DWARFError):
        return [], 0


def _rows(dwarf: Any) -> Iterable[_Row]:
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        paths = _paths(program, unit.get_top_DIE().attributes["DW_AT_comp_dir"].value)
        for entry in program.get_entries():
            state = entry.state
            if state is not None:
                path = None if state.end_sequence else paths[state.file]
                yield _Row(state.address, path, state.line)


def _paths(program: Any, home: bytes) -> dict[int, PurePath]:
    """The files of a line program, by number. Before version 5 of DWARF files count from 1, and
    folder 0, that of the unit, is not in the list."""
    new = program["version"] >= 5
    folders = program["include_directory"] if new else [home, *program["include_directory"]]
    return {
        number: PurePath(_decoded(home), _decoded(folders[one.dir_index]), _decoded(one.name))
        for number, one in enumerate(program["file_entry"], 0 if new else 1)
    }


def _decoded(text: bytes | str) -> str:
    return text.decode(errors="surrogateescape") if isinstance(text, bytes) else text


def _text(texts: dict[PurePath, list[str]], path: PurePath | None, line: int) -> str:
    if path is None:
        return ""
    if path not in texts:
        try:
            texts[path] = Path(path).read_text(errors="replace").split("\n")
        except OSError:
            texts[path] = []
    lines = texts[path]
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


class _Found(ctypes.Structure):
    """`Dl_info` of the C library."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _function_at(counter: int) -> tuple[str, str]:
    """The library that is loaded at an address, and the nearest of the functions it exports."""
    found = _Found()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Found)]
    if not dladdr(counter, ctypes.byref(found)):
        return "", "outside of all libraries"
    name = (found.name or b"").decode(errors="replace")
    return (found.file or b"").decode(errors="replace"), name or "a function without a name"
