"""Rules about threadgroup memory that threads use without waiting for each other.

    if (lane == 0) shared[simdgroup] = simd_sum(x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = 0;
    for (uint i = 0; i < count; ++i) total += shared[i];   // AM104: some threads still read ...
    if (lane == 0) shared[simdgroup] = simd_sum(x - total); // ... what others write here

Only what is certain counts. One of the two accesses is to an element that all threads agree on, or
one of SIMD-groups' results that the lanes of one SIMD-group read; the other is made by other
threads, to any element; and there is a way from the first to the second without a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anymetal.analysis.effects import is_plain, pointer_of
from anymetal.analysis.objects import root_of
from anymetal.findings.model import Finding
from anymetal.ir.calls import BARRIER, SIMDGROUP_BARRIER
from anymetal.ir.model import Const, Global, Instr, Value
from anymetal.lint.barriers import name_of
from anymetal.lint.flow import Flow, sources
from anymetal.lint.look import Look

_MOST_ACCESSES = 400


class _Access(NamedTuple):
    """A plain access to a threadgroup variable."""

    instr: Instr
    variable: Global
    agreed: bool  #: all threads that make it use one element
    by_simdgroup: bool  #: one element for each SIMD-group
    by_lane: bool  #: one for each lane, alike in all SIMD-groups
    guards: frozenset[tuple[object, int]]
    first: int | None  #: the first byte of what it may touch, if indices count up from there


def check(look: Look) -> Iterator[Finding]:
    """AM104, AM105."""
    flow = look.flow
    if look.single and not (flow.program.calls(BARRIER) and not _is_small(look)):
        return
    accesses = _accesses(flow)
    if len(accesses) > _MOST_ACCESSES:
        return
    seen: set[tuple[Global, str]] = set()
    for instr, access in accesses.items():
        for other in flow.behind(instr, _is_barrier):
            second = accesses.get(other)
            if second is None or second.variable is not access.variable:
                continue
            code = _conflict(access, second)
            if code and (access.variable, code) not in seen:
                seen.add((access.variable, code))
                yield _finding(look, code, access, second)


def _is_small(look: Look) -> bool:
    """Whether threadgroups are known to be single SIMD-groups, which run in lockstep."""
    return any(launch.threads is not None for launch in look.kernel.launches)


def _is_barrier(instr: Instr) -> bool:
    return instr.op == "call" and instr.arg in (BARRIER, SIMDGROUP_BARRIER)


def _accesses(flow: Flow) -> dict[Instr, _Access]:
    found: dict[Instr, _Access] = {}
    for instr in flow.program.instructions():
        if instr.op not in ("load", "store") or not is_plain(instr):
            continue
        variable = flow.variable(instr)
        if variable is None or instr.block is None:
            continue
        pointer = pointer_of(instr)
        threads, lanes = flow.threads[pointer], flow.lanes[pointer]
        found[instr] = _Access(
            instr,
            variable,
            agreed=threads.is_uniform,
            by_simdgroup=lanes.is_uniform and not threads.is_uniform,
            by_lane=_is_lane_number(pointer),
            guards=frozenset(flow.guards(instr.block)),
            first=_first_byte(pointer),
        )
    return found


def _is_lane_number(pointer: Value) -> bool:
    """Whether the lane number alone decides an address."""
    parts = sources(pointer)
    return bool(parts) and all(part.op == "call" and part.arg == "__am_lane" for part in parts)


def _first_byte(pointer: Value) -> int | None:
    """The lowest offset that an address may have in its variable, if its indices are sums of
    positions, which count up from 0."""
    offset = 0
    while isinstance(pointer, Instr):
        if pointer.op != "gep":
            return None
        *scales, constant = pointer.arg
        for scale, index in zip(scales, pointer.operands[1:], strict=True):
            lowest = _lowest(index)
            if lowest is None:
                return None
            offset += scale * lowest
        offset += constant
        pointer = pointer.operands[0]
    return offset


def _lowest(index: Value) -> int | None:
    """The lowest value of a sum of positions and constants."""
    if isinstance(index, Const):
        return index.int_value
    if not isinstance(index, Instr):
        return None
    if index.op in ("zext", "sext"):
        return _lowest(index.operands[0])
    if index.op == "add":
        parts = [_lowest(operand) for operand in index.operands]
        known = [part for part in parts if part is not None and part >= 0]
        return sum(known) if len(known) == 2 else None
    return 0 if index.op == "call" and index.arg.startswith("__am_") else None


def _is_one_place(pointer: Value) -> bool:
    """Whether an address does not depend on anything."""
    return isinstance(root_of(pointer)[0], (Global, Const))


def _conflict(first: _Access, second: _Access) -> str:
    """The rule that two accesses break, the second of which may follow the first at once."""
    kinds = first.instr.op, second.instr.op
    if kinds == ("load", "store"):
        return "AM104" if _meet(read=first, written=second) else ""
    if kinds == ("store", "load"):
        return "AM105" if _meet(read=second, written=first) else ""
    return ""


def _meet(read: _Access, written: _Access) -> bool:
    """Whether a thread certainly writes what another reads."""
    if _apart(read, written):
        return False
    if read.agreed:
        if written.agreed:
            # One element: a thread of its own writes it, or all write the same.
            return bool(written.guards) and not read.guards
        if read.guards and _is_one_place(pointer_of(read.instr)):
            return False  # thread 0 reads element 0, which it may have written itself
        # The threads that write must not be all those that read, and no others.
        return not (read.guards and read.guards <= written.guards)
    # Lanes of a SIMD-group read what all SIMD-groups have written.
    return read.by_lane and written.by_simdgroup and not read.guards & written.guards


def _apart(read: _Access, written: _Access) -> bool:
    """Whether the elements are certainly different ones."""
    read_at, written_at = pointer_of(read.instr), pointer_of(written.instr)
    if read.first is None or written.first is None:
        return False
    if _is_one_place(read_at) and _is_one_place(written_at):
        return read.first != written.first
    return _is_one_place(read_at) and written.first > read.first


def _finding(look: Look, code: str, first: _Access, second: _Access) -> Finding:
    name = name_of(first.variable)
    if code == "AM104":
        return look.finding(
            code,
            look.access(second.instr),
            f"`{name}` is written here while other threads may still read it",
            look.access(first.instr, "it is read here, and there is no barrier in between"),
            hint="put threadgroup_barrier(mem_flags::mem_threadgroup) between the two, or use "
            "another array",
        )
    return look.finding(
        code,
        look.access(second.instr),
        f"`{name}` is read here before other threads have certainly written it",
        look.access(first.instr, "it is written here, and there is no barrier in between"),
        hint="put threadgroup_barrier(mem_flags::mem_threadgroup) between the two",
    )
