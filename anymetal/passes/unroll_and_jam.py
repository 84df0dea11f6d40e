"""Unroll and jam: up to four iterations of an outer loop share those of the loop inside.

    for j: weight = ..; for d: sum[d] += weight * values[j][d]

becomes

    for j in steps of 4:
        weight0 = ..; weight1 = ..; weight2 = ..; weight3 = ..
        for d: sum[d] = sum[d] + weight0 * values[j][d] + … + weight3 * values[j + 3][d]

So `sum[d]` is loaded and stored once for four multiplications, and what depends on `d` alone is
loaded once for four. It pays if something is.

Accesses to memory change their order. That is allowed if the inner loop stores to private arrays
only, each of its iterations to an element of its own, and if nothing around the inner loop uses
these arrays.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, is_plain, is_pure, pointer_of, touches
from anymetal.analysis.induction import inductions, trips
from anymetal.analysis.objects import Origin, disjoint, origins
from anymetal.analysis.uniformity import shapes
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Program, Value

#: How many iterations may be joined: what divides their number.
COUNTS = (4, 2)
#: Instructions of the inner loop that each of the joined iterations needs for itself: more of them
#: fill the registers.
MOST_DIFFERENT = 24
#: Such instructions of all joined iterations around the inner loop: more are too long for LLVM.
MOST_AROUND = 256

_NOWHERE: frozenset[Origin] = frozenset()


def run(known: Analyses) -> bool:
    """Changes all nests of two loops where it is allowed and pays."""
    nests = {nest: count for loop, count in known(trips).items() if (nest := _nest(loop))}
    steps = {one.phi: one.growth for many in known(inductions).values() for one in many}
    last: dict[Value, tuple[Value, Block]] = {}
    changed = False
    for nest, iterations in nests.items():
        jam = _Jam(known, steps, iterations, nest)
        changed |= jam.run()
        last.update((old, (new, jam.front)) for old, new in jam.last.items())
    if last:
        _leave(known.program, last, {part: nest[0] for nest in nests for part in nest})
    return changed


def _nest(outer: Loop) -> tuple[Block, Block, Block] | None:
    """The three blocks of an outer loop: in front of its only inner loop, that loop, and behind it;
    None if it has any others."""
    if len(outer.blocks) != 3 or len(outer.children) != 1:
        return None
    (inner,) = outer.children[0].blocks if len(outer.children[0].blocks) == 1 else (None,)
    front = outer.header
    if inner is None or front.successors != [inner] or len(inner.successors) != 2:
        return None
    (back,) = (b for b in outer.blocks if b not in (front, inner))
    if set(inner.successors) != {inner, back} or front not in back.successors:
        return None
    return (front, inner, back) if len(set(back.successors)) == 2 else None


class _Jam:
    def __init__(
        self,
        known: Analyses,
        steps: dict[Instr, int],
        iterations: int,
        nest: tuple[Block, Block, Block],
    ) -> None:
        self.known = known
        self.origins = known(origins)
        self.steps = steps  #: by how much counters grow
        #: How many iterations may be joined, most first; none if their number is odd.
        self.counts = [count for count in COUNTS if iterations % count == 0]
        self.front, self.inner, self.back = self.parts = nest
        #: Values of the loop -> those of the last joined iteration, valid behind the loop.
        self.last: dict[Value, Value] = {}
        self.latch = {phi: phi.operands[phi.arg.index(self.back)] for phi in self.front.phis}

    def run(self) -> bool:
        """Joins iterations if that is allowed and pays; whether it did."""
        if not self.counts or not all(
            is_plain(i) or is_pure(i) for part in self.parts for i in part.body
        ):
            return False
        early = self._early()
        if early is None or not self._keeps_apart():
            return False
        differ = self._differ()
        count = self._count(differ)
        pays = self._pays(differ, count) and self.inner.terminator.operands[0] not in differ
        if pays:
            self.back.instrs = [i for i in self.back.instrs if i not in early]
            self.front.insert(-1, early)
            self._multiply(differ, count)
        return pays

    # -- whether --------------------------------------------------------------------------

    def _early(self) -> list[Instr] | None:
        """Instructions behind the inner loop that the next iteration needs in front of it or in it,
        in order; None if they depend on the inner loop."""
        users = [*self.front.body, *self.inner.instrs]
        used = {v for user in users for v in user.operands}
        work = [value for phi, value in self.latch.items() if phi in used]
        early: set[Value] = set()
        while work:
            value = work.pop()
            if not isinstance(value, Instr) or value in early or value.block is self.front:
                continue
            if value.block is self.inner or (value.block is self.back and not is_pure(value)):
                return None
            if value.block is self.back:
                early.add(value)
                work += value.operands
        return [i for i in self.back.instrs if i in early]

    def _keeps_apart(self) -> bool:
        """Whether memory holds the same in the end, though accesses change their order."""
        front, inner, back = ([i for i in p.body if touches(i)] for p in self.parts)
        if any(i.op == "store" for i in front):
            return False
        around = [*front, *back]
        for store in (i for i in inner if i.op == "store"):
            if not self._has_own_element(store) or not all(self._apart(store, i) for i in around):
                return False
            for other in inner:
                if not self._apart(store, other) and _place(other) != _place(store):
                    return False
        late = [i for i in back if i.op == "store"]
        return all(self._apart(store, i) for store in late for i in (*front, *inner))

    def _has_own_element(self, store: Instr) -> bool:
        """Whether each iteration of the inner loop stores to another element of a private array."""
        pointer = store.operands[1]
        if not isinstance(pointer, Instr) or pointer.op != "gep" or len(pointer.operands) != 2:
            return False
        array, index = pointer.operands
        if not (isinstance(array, Instr) and array.op == "alloca"):
            return False
        if not (isinstance(index, Instr) and index.op == "phi" and index.block is self.inner):
            return False
        step = self.steps.get(index, 0)
        return step > 0 and step * int(pointer.arg[0]) >= store.operands[0].type.size

    def _apart(self, one: Instr, other: Instr) -> bool:
        pointers = (pointer_of(one), pointer_of(other))
        return disjoint(*(self.origins.get(p, _NOWHERE) for p in pointers))

    def _differ(self) -> set[Value]:
        """The instructions that each of the joined iterations needs for itself."""
        stores = [i for part in self.parts for i in part.body if i.op == "store"]
        differ: set[Value] = {*self.latch, *stores}
        found = -1
        while len(differ) > found:
            found = len(differ)
            for part in self.parts:
                for instr in part.instrs:
                    written = instr.op in LOADS and not all(self._apart(instr, s) for s in stores)
                    if written or not differ.isdisjoint(instr.operands):
                        differ.add(instr)
        return differ

    def _count(self, differ: set[Value]) -> int:
        """As many iterations as keep in registers what they need all through the inner loop, beside
        one vector that they share. Where not even two have room, it lies in memory anyway: then
        what most share is worth more."""
        lanes, used = self.known(shapes), {v for i in self.inner.body for v in i.operands}
        own = [v for v in differ if v in used and isinstance(v, Instr) and lanes[v].is_varying]
        through = sum(v.op == "phi" or v.block is not self.inner for v in own)
        room = self.known.machine.vectors(self.known.width) - 1
        return next((n for n in self.counts if n * through <= room), self.counts[0])

    def _pays(self, differ: set[Value], count: int) -> bool:
        """Whether something is loaded once that each iteration loaded for itself."""
        own = [i for i in self.inner.body if i in differ]
        around = [i for i in (*self.front.body, *self.back.body) if i in differ]
        if len(own) > MOST_DIFFERENT or len(around) * count > MOST_AROUND:
            return False
        stored = {_place(i) for i in own if i.op == "store"}
        loads = [i for i in self.inner.body if i.op in LOADS]
        return any(i not in differ or _place(i) in stored for i in loads)

    # -- how ------------------------------------------------------------------------------

    def _multiply(self, differ: set[Value], count: int) -> None:
        copies: list[dict[Value, Value]] = [{}]
        for number in range(1, count):
            before = copies[-1]
            copy: dict[Value, Value] = {p: before.get(v, v) for p, v in self.latch.items()}
            for part in self.parts:
                for instr in part.instrs:
                    if instr in differ and instr not in self.latch and not instr.is_terminator:
                        copy[instr] = instr.copy(number)
                        if instr in self.origins:
                            self.origins[copy[instr]] = self.origins[instr]
            copies.append(copy)
        self._place_copies(differ, copies)
        self._leave(copies[-1])

    def _place_copies(self, differ: set[Value], copies: list[dict[Value, Value]]) -> None:
        for part in self.parts:
            phis, body, end = part.phis, part.body, part.terminator
            # What is the same for all goes first in the inner loop: it needs nothing that differs.
            same = [i for i in body if i not in differ] if part is self.inner else []
            first = [i for i in body if i not in same]
            now = [*phis]
            rest: list[Instr] = []
            for copy in copies[1:]:
                for old in (i for i in (*phis, *body) if i in differ and i not in self.latch):
                    new = copy[old]
                    assert isinstance(new, Instr)
                    new.operands = [copy.get(v, v) for v in new.operands]
                    (now if old.op == "phi" else rest).append(new)
            part.refill([*now, *same, *first, *rest, end])

    def _leave(self, last: dict[Value, Value]) -> None:
        """The last of the joined iterations hands its values on and decides how the loop goes
        on."""
        self.last = last
        for phi, value in self.latch.items():
            phi.operands[phi.arg.index(self.back)] = last.get(value, value)
        end = self.back.terminator
        end.operands = [last.get(v, v) for v in end.operands]


def _leave(
    program: Program, last: dict[Value, tuple[Value, Block]], nest_of: dict[Block, Block]
) -> None:
    """Replaces values in uses behind their loop, for all loops at once. `last` has the new value
    for each, and the front of its nest; `nest_of` has the front of each block's nest."""
    for block in program.blocks:
        nest = nest_of.get(block)
        for instr in block.instrs:
            for number, value in enumerate(instr.operands):
                new, front = last.get(value, (value, nest))
                if front is not nest:
                    instr.operands[number] = new


def _place(instr: Instr) -> tuple[object, ...]:
    """Equal for accesses to the same bytes."""
    pointer = pointer_of(instr)
    size = (instr.operands[0] if instr.op == "store" else instr).type.size
    if isinstance(pointer, Instr) and pointer.op == "gep":
        return (*pointer.operands, pointer.arg, size)
    return pointer, size
