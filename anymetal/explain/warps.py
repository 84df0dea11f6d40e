"""What a warp of an NVIDIA GPU does in each line, as facts: the same kinds as those of the CPU.

The addresses of all lanes follow from the thread program, and how wide each access is from the PTX
that was written for it. All lanes count as active. Parts of an address that are known at run time
only, and equal in all lanes, count as multiples of 128 bytes.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from anymetal.analysis.affine import ONE, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import ACCESSES, LOADS, is_atomic, pointer_of
from anymetal.analysis.objects import in_threadgroup, origins, root_of
from anymetal.analysis.regions import Region, regions
from anymetal.analysis.uniformity import shapes
from anymetal.explain.facts import (
    Fact,
    Price,
    because,
    is_branch,
    leaving_condition,
    location_of,
)
from anymetal.explain.listing import Instruction
from anymetal.explain.reasons import names_of, reason
from anymetal.explain.sectors import SECTOR, WORD, conflicts, touched
from anymetal.ir.calls import BARRIER, is_cross_lane
from anymetal.ir.model import Block, Instr, Value

_MEMORY = re.compile(r"^(?:ld|st|atom|red)\b")
_WIDTH = re.compile(r"(?:\.v(?P<count>\d))?\.[a-z]+(?P<bits>\d+)$")
_LANES = 32
_FAR = 1 << 40


class Access(NamedTuple):
    """An access of a warp, in words, and how many turns of the memory it takes."""

    text: str
    price: Price
    turns: int


class Lanes(NamedTuple):
    """Where lanes have their addresses, from a place that all have in common."""

    offsets: list[int]  #: in bytes, one a lane
    rows: int  #: their distances are known at run time only; here they are far from each other

    @property
    def step(self) -> int | None:
        """From each lane to the next, if all are equal."""
        steps = {b - a for a, b in itertools.pairwise(self.offsets)}
        return steps.pop() if len(steps) == 1 else None


class Warp:
    """The program of a warp.

    `known`: for its launches, 32 lanes; `code`: the PTX of each instruction; `apart`: why threads
    keep in step (targets/cuda/convergence.py); `lost`: whether there are accesses in the PTX of
    which LLVM does not say where they come from; `frame`: bytes of local memory that ptxas gives a
    thread, if that is known.
    """

    def __init__(
        self,
        known: Analyses,
        code: Mapping[Instr, Sequence[Instruction]],
        apart: Sequence[tuple[Instr, Instr]],
        lost: bool,
        frame: int | None,
    ) -> None:
        self.known, self.code, self.apart, self.lost = known, code, apart, lost
        self.frame = frame
        self.shapes, self.tree = known(shapes), known(regions)
        self.forms, self.origins = known(forms), known(origins)
        accesses = [i for i in code if i.op in ACCESSES]
        self.wide = {self._neighbours(i) for i in accesses if self.width(i) > _element(i)}

    def facts(self) -> list[Fact]:
        """All facts, in the order of the program."""
        loops = {location_of(region) for region in self.tree.regions[1:]}
        found = [self._loop(region) for region in self.tree.regions[1:]]
        for block in self.shapes.order:
            for instr in block.instrs:
                found.extend(self._of(instr))
            found.extend(f for f in self._branch(block) if f.location not in loops)
        return found + [self._in_step(*pair) for pair in self.apart]

    def _of(self, instr: Instr) -> Iterator[Fact]:
        if access := self.access(instr):
            kind = "atomic" if is_atomic(instr) else "store" if instr.op == "store" else "load"
            where = names_of(self.known, pointer_of(instr))
            yield Fact(instr.loc, kind, f"{where}: {access.text}", access.price)
        elif instr.op == "call" and instr.arg == BARRIER:
            yield Fact(instr.loc, "barrier", "the warp waits for the others of its threadgroup")
        elif instr.op == "call" and is_cross_lane(instr.arg):
            names = Counter(i.operation.split(".")[0] for i in self.code.get(instr, ()))
            used = [f"{n} {name}" for name, n in names.items() if name in _EXCHANGES]
            text = ", ".join(used) or "no exchange between lanes"
            yield Fact(instr.loc, "cross-lane", text)

    # -- memory ---------------------------------------------------------------------------

    def access(self, instr: Instr) -> Access | None:
        """What an instruction does in memory, unless another access does it, or a register."""
        if instr.op not in ACCESSES:
            return None
        leads_to = self.origins.get(pointer_of(instr), frozenset())
        size = self.width(instr)
        arrays = [one for one in leads_to if isinstance(one, Instr) and one.op == "alloca"]
        if arrays and len(arrays) == len(leads_to):
            return self._local(pointer_of(instr), arrays) if size else None
        if not size and (not self.lost or self._neighbours(instr) in self.wide):
            return None
        size = size or _element(instr)
        lanes = self.lanes(pointer_of(instr))
        if in_threadgroup(leads_to):
            return self._in_banks(instr, lanes, size)
        if is_atomic(instr) and lanes and lanes.step == 0:
            text = "one address in all lanes: one after the other, unless ptxas combines them"
            return Access(text, "high", _LANES)
        return self._in_sectors(instr, lanes, size)

    def width(self, instr: Instr) -> int:
        """The bytes of the widest access that was written for an instruction; 0 without any."""
        found = [_WIDTH.search(i.operation) for i in self.code.get(instr, ()) if is_access(i)]
        return max((int(f["count"] or 1) * int(f["bits"]) // 8 for f in found if f), default=0)

    def _neighbours(self, instr: Instr) -> tuple[object, ...]:
        """What accesses have in common that LLVM may join to one: all but a constant distance."""
        pointer, form = pointer_of(instr), self.forms(pointer_of(instr))
        kind = instr.block, instr.op == "store"
        if form is not None:
            lanes = form.get(ONE, (0,) * _LANES)
            apart = frozenset((at, factors) for at, factors in form.items() if at != ONE)
            return *kind, apart, tuple(at - lanes[0] for at in lanes)
        root = root_of(pointer)[0]
        if isinstance(root, Instr) and root.op == "gep":
            return *kind, tuple(root.operands), tuple(root.arg[:-1])
        return *kind, root

    def lanes(self, pointer: Value) -> Lanes | None:
        """The address in each lane; None if it is not known."""
        form, shape = self.forms(pointer), self.shapes[pointer]
        if form is None:
            return None if shape.is_varying else Lanes([n * shape.stride for n in range(_LANES)], 1)
        differ = [factors for at, factors in form.items() if at != ONE and len(set(factors)) > 1]
        rows = list(zip(*differ, strict=True)) or [()] * _LANES
        number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        offsets = form.get(ONE, (0,) * _LANES)
        apart = [number[row] * _FAR + at for row, at in zip(rows, offsets, strict=True)]
        return Lanes(apart, len(number))

    def _in_sectors(self, instr: Instr, lanes: Lanes | None, size: int) -> Access:
        least = -(-size * _LANES // SECTOR)
        if lanes is None or lanes.rows == _LANES:
            text = "scattered" if lanes is None else "strided by a number of run time"
            text += f": up to {_LANES} sectors where {least} would do" + self._why(instr)
            return Access(text, "open", _LANES)
        sectors, least = touched(lanes.offsets, size)
        count = f"{sectors} sector{'s' if sectors > 1 else ''}"
        if lanes.step == 0:
            return Access(f"broadcast: one address, {count}", "low", sectors)
        wide = f", {size} bytes a lane" if size > _element(instr) else ""
        rows = f" in {lanes.rows} rows" if lanes.rows > 1 else ""
        if sectors == least:
            return Access(f"coalesced{rows}{wide}: {count}", "low", sectors)
        count += f" where {least} would do"
        if sectors == least + 1 and least > 1:
            count += ", since it begins inside of one"
            return Access(f"coalesced{rows}{wide}: {count}", "low", sectors)
        price: Price = "open" if sectors <= 2 * least else "high"
        if lanes.step is not None:
            return Access(f"strided, {lanes.step} bytes from lane to lane: {count}", price, sectors)
        return Access(f"in pieces, known from the lane number: {count}", price, sectors)

    def _in_banks(self, instr: Instr, lanes: Lanes | None, size: int) -> Access:
        turns = max(1, size // WORD)
        if lanes is None or lanes.rows > 1:
            text = "threadgroup memory, bank conflicts as the addresses come" + self._why(instr)
            return Access(text, "open", 2 * turns)
        if lanes.step == 0 and is_atomic(instr):
            text = "threadgroup memory, one address in all lanes: one after the other"
            return Access(text, "high", _LANES)
        if lanes.step == 0:
            return Access("threadgroup memory, broadcast", "low", turns)
        degree = conflicts(lanes.offsets, size)
        if degree == 1:
            return Access("threadgroup memory, no bank conflict", "low", turns)
        text = f"threadgroup memory, {degree}-way bank conflict"
        if lanes.step is not None:
            text += f": {lanes.step} bytes from lane to lane"
        return Access(text, "high" if degree > 2 else "open", degree * turns)

    def _why(self, instr: Instr) -> str:
        cause = reason(self.known, pointer_of(instr))
        return f" (the address depends on {cause})" if cause else ""

    def _local(self, pointer: Value, arrays: Collection[Instr]) -> Access:
        """A private array that LLVM found no registers for. Words of equal index lie together."""
        largest = max(array.arg[0].size for array in arrays)
        if self.frame is not None and largest > self.frame:  # the frame has spills, too
            return Access("private array: ptxas keeps it in registers", "low", 1)
        shape = self.shapes[pointer]
        where = "private array in local memory, which is device memory"
        if self.frame is None:
            where = "private array, in local memory (device memory) unless ptxas finds registers"
        if all(not shape.is_varying and shape.stride == self.shapes[a].stride for a in arrays):
            return Access(f"{where}: one index, coalesced", "open", 4)
        return Access(f"{where}: each lane has its own index", "high", _LANES)

    # -- control --------------------------------------------------------------------------

    def _branch(self, block: Block) -> Iterator[Fact]:
        node, end = self.tree.node_of[block], block.terminator
        if is_branch(node, end):
            if not self.shapes.diverges(node):
                yield Fact(end.loc, "branch", "uniform: the warp goes one way")
                return
            text = "divergent: the warp goes both ways, one after the other, if its lanes differ"
            yield Fact(end.loc, "branch", text + because(self.known, end.operands[0]), "open")

    def _loop(self, region: Region) -> Fact:
        place = location_of(region)
        if region.loop not in self.shapes.divergent_loops:
            return Fact(place, "loop", "uniform: all lanes go round together")
        text = "divergent: the warp goes round until its last lane has left"
        text += because(self.known, leaving_condition(self.shapes, region))
        return Fact(place, "loop", text, "open")

    def _in_step(self, cause: Instr, together: Instr) -> Fact:
        what = "a barrier" if together.arg == BARRIER else "what lanes do together"
        what += f" in line {together.loc.line}" if together.loc else ""
        text = f"lanes part here on the way to {what}: the warp keeps in step"
        if cause.op in LOADS:
            text = f"lanes may load different values on the way to {what}: the warp keeps in step"
        operand = cause.operands[0] if cause.op == "br" else None
        return Fact(cause.loc, "in step", text + because(self.known, operand), "high")


_EXCHANGES = ("shfl", "vote", "redux", "match", "activemask")


def is_access(instruction: Instruction) -> bool:
    return bool(_MEMORY.match(instruction.operation))


def _element(instr: Instr) -> int:
    """The bytes of a value that goes to memory or comes from there."""
    if instr.op in LOADS:
        return instr.type.size
    return instr.operands[instr.op != "store"].type.size
