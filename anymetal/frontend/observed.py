"""Markers for a sanitized build, put in before LLVM's optimiser removes what they are to tell of.

    %v = load float, ptr %p        becomes      call void @__am_seen(ptr %p, i64 4, i32 0, …)
                                                %v = load float, ptr %p

A load that nobody needs, or that is needed under a condition only, is gone behind the optimiser,
but its marker is not. Markers stay in their order and their control flow; each has the place of its
instruction in the user's text. passes/observe.py turns them into events.

Accesses are marked when everything is inlined and variables are values, so that what is left are
real accesses to memory. Nothing else has been optimised by then.
"""

from __future__ import annotations

import re
from itertools import count

from anymetal.ir.calls import ATOMIC_LOAD, ATOMIC_STORE, LOAD, SEEN, STORE, UPDATE
from anymetal.ir.problem import Problem

_ORDERS = r"(?: (?:syncscope\(\"\w*\"\) )?(?:unordered|monotonic|acquire|release|acq_rel|seq_cst))*"
_TYPE = r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|%\"[^\"]*\"|%[\w.$-]+|\w+"
_POINTER = r"[%@](?:\"[^\"]*\"|[\w.$-]+)|null|poison|undef|[a-z]+ [^%]*?\(.*?\)"
_ATOMIC = r"(?P<atomic>atomic )?(?:volatile )?"
_ACCESSES = tuple(
    re.compile(rf"^  {line}, align (?P<align>\d+)(?P<rest>.*)$")
    for line in (
        rf"(?:\S+|%\"[^\"]*\") = load {_ATOMIC}(?P<type>{_TYPE}), "
        rf"ptr (?P<pointer>{_POINTER}){_ORDERS}",
        rf"store {_ATOMIC}(?P<type>{_TYPE}) (?P<value>.+?), ptr (?P<pointer>{_POINTER}){_ORDERS}",
        rf"(?:\S+) = (?P<update>atomicrmw) (?:volatile )?\w+ ptr (?P<pointer>{_POINTER}), "
        rf"(?P<type>{_TYPE}) .+?{_ORDERS}",
        rf"(?:\S+) = (?P<update>cmpxchg) (?:weak |volatile )*ptr (?P<pointer>{_POINTER}), "
        rf"(?P<type>{_TYPE}) .+?{_ORDERS}",
    )
)
_ACCESS = re.compile(r"^  (?:\S+ = )?(?:load|store|atomicrmw|cmpxchg) ")
_BLOCK = re.compile(
    r"^  (?:tail )?call void @llvm\.(?P<what>memcpy|memmove|memset)\.[\w.]+\("
    rf"ptr(?P<first> [a-z][^%@]*?)?(?P<to> (?:{_POINTER})), "
    rf"(?:ptr(?P<second> [a-z][^%@]*?)?(?P<from> (?:{_POINTER}))|i8 (?P<byte>\S+)), "
    r"(?P<length>i64 \S+), i1 \w+\)"
)
_VECTOR = re.compile(r"<(\d+) x (half|bfloat|float|double|ptr|i(\d+))>")
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}
_PLACE = re.compile(r", !dbg !\d+")
_ALIGN = re.compile(r"align (\d+)")
#: Markers touch memory that nobody sees, so that LLVM keeps all of them, in order.
_ATTRIBUTES = "nounwind willreturn nomerge memory(inaccessiblemem: readwrite)"
_DECLARATIONS = f"""
declare void @{SEEN}(ptr readnone, i64, i32, i32, i32) {_ATTRIBUTES}
"""


def with_accesses(text: str) -> str:
    """A module of one function in which variables are values, with a marker in front of each access
    to memory."""
    numbers = count()
    lines = []
    for line in text.split("\n"):
        if line.startswith("  "):
            lines += _markers(line, numbers)
        lines.append(line)
    return "\n".join(lines) + _DECLARATIONS


def _markers(line: str, numbers: count[int]) -> list[str]:
    """The markers of what a line accesses."""
    if "llvm.mem" in line:
        return _of_block(line, numbers)
    for pattern in _ACCESSES:
        if found := pattern.match(line):
            action = _action(found)
            place = _PLACE.search(found["rest"])
            size = f"i64 {_size(found['type'])}"
            return [
                _marker(f"ptr {found['pointer']}", size, action, found["align"], numbers, place)
            ]
    if _ACCESS.match(line):
        raise Problem(f"an access that cannot be marked: {line}")
    return []


def _action(found: re.Match[str]) -> int:
    names = found.groupdict()
    if names.get("update"):
        return UPDATE
    if "value" in names:
        return ATOMIC_STORE if names["atomic"] else STORE
    return ATOMIC_LOAD if names["atomic"] else LOAD


def _of_block(line: str, numbers: count[int]) -> list[str]:
    """The source of a memcpy or memmove is read, then the target is written."""
    found = _BLOCK.match(line)
    if not found:
        raise Problem(f"a copy that cannot be marked: {line}")
    length, place = found["length"], _PLACE.search(line)
    ends = [(found["from"], found["second"], LOAD)] if found["from"] else []
    ends.append((found["to"], found["first"], STORE))
    return [
        _marker(f"ptr{pointer}", length, action, _aligned(words), numbers, place)
        for pointer, words, action in ends
    ]


def _aligned(words: str | None) -> str:
    found = _ALIGN.search(words or "")
    return found[1] if found else "1"


def _marker(
    pointer: str,
    length: str,
    action: int,
    align: str,
    numbers: count[int],
    place: re.Match[str] | None,
) -> str:
    args = f"{pointer}, {length}, i32 {action}, i32 {align}, i32 {next(numbers)}"
    return f"  call void @{SEEN}({args}){place[0] if place else ''}"


def _size(type_: str) -> str:
    """The bytes that an access of this type touches, as a number or a constant of LLVM's."""
    if vector := _VECTOR.fullmatch(type_):
        return str((int(vector[1]) * _BITS.get(vector[2], int(vector[3] or 0)) + 7) // 8)
    return f"ptrtoint (ptr getelementptr ({type_}, ptr null, i64 1) to i64)"
