"""Prefetches what loaded numbers lead to, some threadgroups ahead.

    int at = index[row];
    out[row * n + lane] = table[at * n + lane];

No processor can guess where the row of the table lies before the index is there, so each gang waits
for memory. But which index a later threadgroup will load follows from its position. So that is
loaded now, too, and what it leads to is asked for (Ainsworth and Jones, "Software prefetching for
indirect memory accesses", CGO 2017):

    int later = index[row + 16];
    prefetch &table[later * n];

Nothing else is loaded for that than what a thread of the later threadgroup loads in any case: such
loads stand where all of its threads come by, no thread writes what they read, and the launch has
that threadgroup. So no load leaves its array. What is asked for may be anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.analysis.effects import is_plain, is_pure, may_trap
from anymetal.analysis.flow import users
from anymetal.analysis.induction import trips
from anymetal.analysis.objects import in_arrays, origins, read_only
from anymetal.analysis.uniformity import shapes
from anymetal.frontend.known import Known
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.walk import made_from
from anymetal.prefetch.front import front
from anymetal.prefetch.requests import FIRST, request
from anymetal.prefetch.runs import Run, runs_of

#: SIMD-groups that run between a request and the access that it is for.
FAR = 16
#: A launch has so many times the threadgroups that requests are ahead.
_TIMES = 4
#: Instructions for the addresses: more take longer than the waiting.
_MOST = 150


def run(known: Analyses, launch: Known) -> bool:
    """`launch`: the only one that the program serves."""
    for axis, far, last in _axes(launch):
        later = _Later(known, f"__am_group_{axis}", far, last)
        wanted = [one for one in _wanted(known, later) if later.includes(one.run.pointer)]
        wanted = [one for one in wanted if not later.loads(one.run)]
        if 0 < sum(len(one.lines) for one in wanted) <= known.machine.many_lines:
            made = later.instructions()
            made += [instr for one in wanted for instr in _requests(one, later)]
            later.front[-1].insert(-1, made)
            return True
    return False


def _axes(launch: Known) -> Iterator[tuple[str, int, int]]:
    """Along which threadgroups follow each other, how many of them make up the distance, and which
    is the last whole one, or the one before, in case that only this one is not beyond what a kernel
    has to do. Axes that are too short go into those that follow."""
    width, height, depth = launch.group
    far = max(1, FAR * SIMD_GROUP // (width * height * depth))
    for axis, threads, group in zip("xyz", launch.grid, launch.group, strict=True):
        if threads // group > _TIMES * far:
            yield axis, far, threads // group - 1
            yield axis, far, threads // group - 2
        far = max(1, far // -(-threads // group))


class _Wanted(NamedTuple):
    """A run that is accessed, and the lines of it that are asked for."""

    run: Run
    lines: list[int]


def _wanted(known: Analyses, later: _Later) -> list[_Wanted]:
    """Runs at addresses that are made of what all threads load."""
    loads = (i for block in later.front for i in block.instrs if i in later.moving)
    numbers = [load for load in loads if _is_constant(load, known)]
    leads = made_from(known(users), numbers)
    accesses: dict[Loop | None, list[Instr]] = defaultdict(list)
    for block in known.program.blocks if numbers else ():
        for instr in block.instrs:
            if instr.op in ("load", "atomicrmw") and instr.operands[0] in leads:
                if _is_run(instr, known):
                    accesses[known(innermost).get(block)].append(instr)
    found: dict[frozenset[object], _Wanted] = {}  # the same may be accessed on several ways
    for loop, those in accesses.items():
        for one in runs_of(those, known, loop):
            times = known(trips).get(loop, 1) if loop else 1
            wanted = _Wanted(one, _unseen(one, times, known.machine.unseen_bytes))
            found.setdefault(frozenset(one.start.items()), wanted)
    return list(found.values())


def _is_constant(instr: Instr, known: Analyses) -> bool:
    """Whether it loads what no thread writes."""
    leads_to = known(origins).get(instr.operands[0], frozenset()) if instr.op == "load" else ()
    return bool(leads_to) and is_plain(instr) and all(o in known(read_only) for o in leads_to)


def _is_run(instr: Instr, known: Analyses) -> bool:
    """Whether lanes access neighbours in an array, or all the same."""
    pointer = instr.operands[0]
    is_near = not known(shapes)[pointer].is_varying
    return is_near and in_arrays(known(origins).get(pointer, frozenset()))


def _unseen(run: Run, times: int, unseen: int) -> list[int]:
    """The lines of a run that its processor does not foresee, in so many iterations."""
    first = run.lines[0]
    lines = {line + run.growth * i for i in range(times) for line in run.lines}
    return sorted(line for line in lines if 0 <= line - first < max(unseen, run.size))


def _requests(wanted: _Wanted, later: _Later) -> Iterator[Instr]:
    pointer, loc = later.of(wanted.run.pointer), wanted.run.loads[0].loc
    for line in wanted.lines:
        yield from request(Instr(pointer.type, "gep", [pointer], (line,)), FIRST, loc)


class _Later:
    """What a later threadgroup computes."""

    def __init__(self, known: Analyses, position: str, far: int, last: int) -> None:
        self.front = front(known, position, last + 1)  #: behind these is what is computed
        self._known = known
        self._far, self._last = Const(t.I32, str(far)), Const(t.I32, str(last))
        calls = (i for block in self.front for i in block.instrs if i.op == "call")
        self._groups = [call for call in calls if call.arg == position]
        self._copies: dict[Value, Value] = {}
        self._needed: dict[Instr, list[Value]] = {}  #: with what each is computed from
        self.moving = made_from(known(users), self._groups)

    def includes(self, value: Value) -> bool:
        """Whether a value can be computed for it; from now on it will be."""
        found: dict[Instr, list[Value]] = {}
        work = [value]
        while work:
            one = work.pop()
            if not self._is_other(one) or one in found or one in self._groups:
                continue
            sources = self._sources(one)
            if sources is None or len(found) + len(self._needed) > _MOST:
                return False
            found[one] = sources
            work += sources
        self._needed |= found
        return True

    def _is_other(self, value: Value) -> TypeGuard[Instr]:
        """Whether it is another value there, or one that is computed later on."""
        if not isinstance(value, Instr):
            return False
        return value in self.moving or value.block not in self.front

    def _sources(self, instr: Instr) -> list[Value] | None:
        """What it is computed from, if it may be computed."""
        if instr.op == "phi":
            return self._starts(instr)
        if instr.block in self.front:
            possible = is_pure(instr) or _is_constant(instr, self._known)
        else:
            possible = is_pure(instr) and not may_trap(instr)
        return instr.operands if possible else None

    def _starts(self, phi: Instr) -> list[Value] | None:
        """What it is in the first iteration of a loop."""
        loop = self._known(innermost).get(phi.block) if phi.block else None
        if loop is None or phi.block is not loop.header:
            return None
        ways = zip(phi.operands, phi.arg, strict=True)
        starts = [value for value, block in ways if block not in loop.blocks]
        return starts if len(starts) == 1 else None

    def loads(self, run: Run) -> bool:
        """Whether it is loaded to compute what is included."""
        return any(load in self._needed for load in run.loads)

    def instructions(self) -> list[Instr]:
        """Those that compute what is included, in order."""
        made: list[Instr] = []
        for instr in self._known.program.instructions():
            if instr in self._groups:
                on = Instr(t.I32, "add", [instr, self._far])
                made += [on, Instr(t.I32, "call", [on, self._last], "llvm.umin.i32")]
                self._copies[instr] = made[-1]
            elif instr in self._needed:
                operands = [self.of(value) for value in self._needed[instr]]
                if instr.op == "phi":
                    (self._copies[instr],) = operands
                    continue
                made.append(
                    Instr(instr.type, instr.op, operands, instr.arg, instr.flags, instr.loc)
                )
                self._copies[instr] = made[-1]
        return made

    def of(self, value: Value) -> Value:
        """What a value is there."""
        return self._copies.get(value, value)
