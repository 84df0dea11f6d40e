"""Asks for rows of the next tiles.

    tile[y][x] = a[(group.y * 32 + y) * columns + group.x * 32 + x];

Processors ask ahead for memory where they see runs of it being read, and follow some of those at a
time. A threadgroup that reads a few lines of each of many rows, and the next one the lines beside
them, reads more runs than they follow. So it asks for what a threadgroup to come will read there,
as soon as it has read what it needs itself: before that, its own loads would have to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anymetal.analysis.affine import ONE, Distance
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import is_plain
from anymetal.analysis.objects import in_arrays, origins
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_READ
from anymetal.ir.model import Block, Const, Instr, Value

SIMD_GROUP = 32
AHEAD = 2  #: threadgroups, so that there is one in between
_ELEMENT = 16  #: bytes between the lanes of a run


def run(known: Analyses) -> bool:
    """What each block reads that is in no loop."""
    rows, changed = _Rows(known), False
    for block in known.program.blocks:
        loads = [] if block in known(innermost) else rows.read_in(block)
        if loads:
            _ask(block, loads, rows)
            changed = True
    return changed


class _Rows:
    """Loads of short runs of which the threadgroups along x read one part after the other."""

    def __init__(self, known: Analyses) -> None:
        self.shapes, self.origins = known(shapes), known(origins)
        self.machine = known.machine
        self.distances = Distances(known, {"__am_group_x": AHEAD})

    def read_in(self, block: Block) -> list[Instr]:
        """None of them if they are few."""
        places: dict[object, list[tuple[int, Instr]]] = {}
        for load in filter(self._fits, block.instrs):
            form = self.distances.forms(load.operands[0]) or {}
            root = frozenset((product, f) for product, f in form.items() if product != ONE)
            places.setdefault(root, []).append((form.get(ONE, (0,))[0], load))
        runs = [run for loads in places.values() for run in self._runs(loads)]
        if len(runs) <= self.machine.followed_runs:
            return []
        chosen = {load for run in runs for load in run}
        return [load for load in block.instrs if load in chosen]

    def _fits(self, load: Instr) -> bool:
        if load.op != "load" or not is_plain(load):
            return False
        pointer = load.operands[0]
        shape, origins = self.shapes[pointer], self.origins.get(pointer, frozenset())
        if not in_arrays(origins):
            return False
        if not shape.is_strided or abs(shape.stride) > _ELEMENT:
            return False
        on = self.distances.to_next(pointer)
        return bool(on) and all(self.shapes[v].is_uniform for product in on or () for v in product)

    def _runs(self, loads: Iterable[tuple[int, Instr]]) -> Iterator[list[Instr]]:
        """Of each short run the loads that reach farther than those before."""
        runs: list[tuple[int, int, list[Instr]]] = []
        for at, load in sorted(loads, key=lambda one: one[0]):
            end = at + abs(self.shapes[load.operands[0]].stride) * SIMD_GROUP
            start, before, run = runs[-1] if runs else (at, -1, [])
            if not run or at > before:
                runs.append((at, end, [load]))
            elif end > before:
                runs[-1] = start, end, [*run, load]
        short = self.machine.unseen_bytes
        return (run for start, end, run in runs if end - start <= short)


def _ask(block: Block, loads: list[Instr], rows: _Rows) -> None:
    """Behind the last of the loads."""
    made: list[Instr] = []
    for load in loads:
        pointer = load.operands[0]
        distance = rows.distances.to_next(pointer) or {}
        there = moved(pointer, distance, made)
        made.append(Instr(t.VOID, "call", [there], AHEAD_READ, "", load.loc))
    for instr in made:
        instr.block = block
    at = block.instrs.index(loads[-1]) + 1
    block.instrs[at:at] = made


def moved(pointer: Value, distance: Distance, made: list[Instr]) -> Value:
    """The pointer so far on."""
    operands, scales = [pointer], []
    for product, factor in distance.items():
        if product != ONE:
            operands.append(_product(product, made))
            scales.append(factor)
    made.append(Instr(pointer.type, "gep", operands, (*scales, distance.get(ONE, 0))))
    return made[-1]


def _product(values: Iterable[Value], made: list[Instr]) -> Value:
    """Of integers, in 64 bits."""
    result: Value | None = None
    for value in values:
        wide = value
        if value.type != t.I64:
            made.append(wide := Instr(t.I64, "sext", [value]))
        if result is not None:
            made.append(wide := Instr(t.I64, "mul", [result, wide]))
        result = wide
    return result or Const(t.I64, "0")
