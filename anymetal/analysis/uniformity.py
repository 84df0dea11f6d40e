"""Shape analysis: how each value of the thread program varies over the lanes of a gang.

Uniform: the same in all active lanes. Strided: base + lane * constant. Varying: anything.
The analysis starts optimistic (nothing known is uniform) and runs to a fixed point. Divergence
follows control dependence as well as data: where lanes that took different ways meet, phis become
varying; where lanes leave a loop in different iterations, so do the values that leave it.

A strided value is `exact` unless an extension of a 32-bit index hides a possible wrap. Then the
scalar base may be used for addresses only (a lane in which the index wrapped addresses nothing
valid), and everything else uses the exact vector.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import Node, RegionTree, regions
from anymetal.ir import types as t
from anymetal.ir.calls import INSIDE, SCALES
from anymetal.ir.cfg import Loop, reverse_postorder
from anymetal.ir.model import Argument, Block, Const, Global, Instr, Program, Value
from anymetal.ir.walk import from_below


class Shape(NamedTuple):
    kind: str  # "uniform", "strided", "varying"
    stride: int = 0
    exact: bool = True
    multiple: int = 1  #: the base is known to be a multiple of this power of two

    def __str__(self) -> str:
        return (
            f"strided({self.stride}{'' if self.exact else '?'})" if self.is_strided else self.kind
        )

    @property
    def is_uniform(self) -> bool:
        return self.kind == "uniform"

    @property
    def is_strided(self) -> bool:
        return self.kind == "strided"

    @property
    def is_varying(self) -> bool:
        return self.kind == "varying"


UNIFORM = Shape("uniform")
VARYING = Shape("varying")


def strided(stride: int, exact: bool = True, multiple: int = 1) -> Shape:
    return Shape("strided", stride, exact, multiple) if stride else UNIFORM


_PRODUCTS, _SUMS = ("and", "mul"), ("add", "sub", "or", "zext", "sext", "trunc")
_LARGEST = 1 << 64  #: larger powers of two count as this one

UNIFORM_CALLS = frozenset(
    f"__am_{what}_{axis}" for what in ("group", "size", "full_size", "grid") for axis in "xyz"
) | {"__am_gang", "__am_ballot", "__am_all", INSIDE, SCALES}


def shapes(known: Analyses) -> Shapes:
    """The shapes of a program's values."""
    tree, private = known(regions), known(interleaved)
    return Shapes(known.program, tree, known.launch, private, known.width)


class Shapes:
    """The result: a shape per value, and which branches, loops and joins are divergent."""

    def __init__(
        self,
        program: Program,
        tree: RegionTree,
        launch: LaunchFacts,
        private: dict[Value, Instr],
        width: int,
    ) -> None:
        self.tree = tree
        self.launch = launch
        self.private = private  #: pointers into lane-interleaved private arrays -> their alloca
        self.width = width
        self.order = reverse_postorder(program.blocks[0])
        self.shapes: dict[Value, Shape] = {}
        self.divergent: set[Block] = set()
        self.divergent_loops: set[Loop] = set()
        self.joins: set[Block] = set()
        self.new_joins: list[Block] = []  #: whose phis have not been looked at again
        self.waiting: list[Node] = []  #: divergent ones whose joins have not been found
        self.multiples: dict[Value, int] = {}  #: of uniform values
        self._handlers: dict[str, Callable[[Instr, list[Shape]], Shape]] = {}  #: by operation
        self.run()

    def __getitem__(self, value: Value) -> Shape:
        if isinstance(value, (Const, Argument, Global)):
            return UNIFORM
        return self.shapes.get(value, UNIFORM)

    def diverges(self, node: Node) -> bool:
        """Whether lanes may leave the node by different edges."""
        if node.inner is not None:
            return node.inner.loop in self.divergent_loops
        return node.block in self.divergent

    def lane_bits(self, value: Value) -> int | None:
        """The number n if the value is a multiple of 2^n * width, plus 2^n for each lane: then the
        bits from n on hold the lane number and nothing else. None otherwise."""
        return self._lane_bits(self[value])

    def force(
        self, *, loop: Loop | None = None, block: Block | None = None, join: Block | None = None
    ) -> None:
        """Makes divergent what the linearizer could not keep uniform, and all that follows."""
        if loop is not None:
            self._diverge_loop(loop)
        if block is not None:
            self.divergent.add(block)
            self.waiting.append(self.tree.node_of[block])
        if join is not None:
            self._join(join)
        self._settle(self._spread())

    # -- fixed point ----------------------------------------------------------------------

    def run(self) -> None:
        """Finds the shapes; once more, if there are new instructions."""
        self.instrs = [i for block in self.order for i in block.instrs]
        self.place = {instr: place for place, instr in enumerate(self.instrs)}
        self.users: dict[Value, list[int]] = {}
        for place, instr in enumerate(self.instrs):
            for operand in instr.operands:
                self.users.setdefault(operand, []).append(place)
        self._settle(set(range(len(self.instrs))))

    def _settle(self, work: set[int]) -> None:
        """Goes on to a fixed point; `work` are the instructions whose shapes may change."""
        while work:
            work = self._values(work)
            work |= self._spread()

    def _values(self, work: set[int]) -> set[int]:
        """One walk through the program, for these instructions and their users further down.
        Returns the users further up, in loops."""
        again: set[int] = set()
        waiting = bytearray(len(self.instrs))  # 1 for instructions still to be looked at
        for place in work:
            waiting[place] = 1
        place = waiting.find(1)
        while place >= 0:
            instr = self.instrs[place]
            if instr.type is t.VOID:
                self._branch(instr)
            elif self._changes(instr):
                for user in self.users.get(instr, ()):
                    if user > place:
                        waiting[user] = 1
                    else:
                        again.add(user)
            place = waiting.find(1, place + 1)
        return again

    def _changes(self, instr: Instr) -> bool:
        """Computes an instruction's shape; whether it is a new one."""
        old, new = self.shapes.get(instr), self._transfer(instr)
        if new is not None and old is not None:
            new = _join(old, new)
        if new is None or new == old:
            return False
        self.shapes[instr] = new
        return True

    def _branch(self, end: Instr) -> None:
        """Makes a block divergent if the condition of its branch is not uniform."""
        if end.op != "br" or len(end.arg) != 2 or end.arg[0] is end.arg[1]:
            return
        assert end.block is not None
        if self._known(end.operands[0]) not in (None, UNIFORM) and end.block not in self.divergent:
            self.divergent.add(end.block)
            self.waiting.append(self.tree.node_of[end.block])

    def _spread(self) -> set[int]:
        """Finds the joins of blocks that have become divergent; returns their phis."""
        while self.waiting:
            self._propagate(self.waiting.pop())
        phis = {self.place[phi] for block in self.new_joins for phi in block.phis}
        self.new_joins.clear()
        return phis

    def _join(self, block: Block) -> None:
        if block not in self.joins:
            self.joins.add(block)
            self.new_joins.append(block)

    def _diverge_loop(self, loop: Loop) -> None:
        if loop not in self.divergent_loops:
            self.divergent_loops.add(loop)
            node = self.tree.loop_region[loop].node
            assert node is not None
            self.waiting.append(node)
            for _, target in loop.exits:
                self._join(target)

    def _propagate(self, source: Node) -> None:
        """Finds where lanes that left `source` by different edges meet again.

        Each first block carries a label; a node reached by two labels is a divergent join. If lanes
        reach an exit of the loop before they have met, the loop itself is divergent. All of this
        follows from the region alone, so it is done once for each node.
        """
        region = source.region
        graph = region.graph
        start = graph[source.index]
        ends, leaves = start.ends, start.leaves
        labels = {number: number for number in start.following}
        pending = sorted(start.following)  # a heap: nodes come in the region's order
        while pending and (len(pending) > 1 or ends):
            number = heappop(pending)
            ways, label = graph[number], labels[number]
            ends, leaves = ends or ways.ends, leaves or ways.leaves
            for successor in ways.meeting:  # all nodes in between have the same label
                if successor not in labels:
                    labels[successor] = label
                    heappush(pending, successor)
                elif labels[successor] != label:
                    labels[successor] = successor
                    self._join(region.nodes[successor].block)
        if region.loop is not None and leaves:
            self._diverge_loop(region.loop)

    # -- transfer functions ---------------------------------------------------------------

    def _known(self, value: Value) -> Shape | None:
        """The shape so far; None while nothing is known (optimistic)."""
        if isinstance(value, Instr):
            return self.shapes.get(value)
        return UNIFORM

    def _transfer(self, instr: Instr) -> Shape | None:
        if instr.op == "phi":
            return self._phi(instr)
        known: list[Shape] = []
        for value in instr.operands:
            shape = self.shapes.get(value) if isinstance(value, Instr) else UNIFORM
            if shape is None:
                return None
            known.append(shape)
        if instr.op not in self._handlers:
            self._handlers[instr.op] = getattr(self, f"_op_{instr.op}", _of_operands)
        return self._handlers[instr.op](instr, known)

    def _phi(self, instr: Instr) -> Shape | None:
        known = [s for v in instr.operands if v is not instr and (s := self._known(v)) is not None]
        if not known:
            return None
        if instr.block in self.joins:
            return VARYING
        result = known[0]
        for shape in known[1:]:
            result = _join(result, shape)
        return result

    def _op_alloca(self, instr: Instr, _: list[Shape]) -> Shape:
        if instr in self.private:
            return UNIFORM  # an offset into the lane's own space
        type_, align = instr.arg
        return strided(-(-type_.size // align) * align)

    def _op_load(self, instr: Instr, shapes: list[Shape]) -> Shape:
        if instr.operands[0] in self.private:
            return VARYING
        return UNIFORM if shapes[0].is_uniform else VARYING

    _op_guarded_load = _op_load

    def _op_atomicrmw(self, instr: Instr, _: list[Shape]) -> Shape:
        return VARYING

    _op_cmpxchg = _op_atomicrmw

    def _op_in_lane_order(self, instr: Instr, _: list[Shape]) -> Shape:
        return VARYING

    def _op_call(self, instr: Instr, shapes: list[Shape]) -> Shape:
        name = instr.arg
        if name in UNIFORM_CALLS or name.startswith("__am_reduce_"):
            return UNIFORM
        if name == "__am_lane":
            return strided(1, multiple=1 << 30 if self.width == 32 else self.width)
        if name == "__am_thread_x":
            return strided(1, multiple=self.width) if self.launch.linear else VARYING
        if name in ("__am_thread_y", "__am_thread_z"):
            return UNIFORM if self.launch.linear else VARYING
        if name == "__am_shuffle":
            return UNIFORM if shapes[1].is_uniform else VARYING
        if name.startswith(("__am_scan_", "__am_xscan_", "__am_matrix_")):
            return VARYING
        return _of_operands(instr, shapes)

    def _op_add(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return self._linear(instr, shapes, 1, 1)

    def _op_sub(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return self._linear(instr, shapes, 1, -1)

    def _op_or(self, instr: Instr, shapes: list[Shape]) -> Shape:
        if "disjoint" in instr.flags:
            return self._linear(instr, shapes, 1, 1)
        return _of_operands(instr, shapes)

    def _linear(self, instr: Instr, shapes: list[Shape], a: int, b: int) -> Shape:
        left, right = shapes
        if left.is_varying or right.is_varying:
            return VARYING
        multiple = min(self._multiple(v, s) for v, s in zip(instr.operands, shapes, strict=True))
        exact = left.exact and right.exact
        return strided(a * left.stride + b * right.stride, exact, multiple)

    def _multiple(self, value: Value, shape: Shape) -> int:
        """A power of two that divides the uniform value, or the strided value in lane 0."""
        if not shape.is_uniform:
            return shape.multiple
        return from_below(value, self.multiples, _factors, self._divisor)

    def _divisor(self, value: Value) -> int:
        """A power of two that divides a uniform value whose factors are known."""
        if isinstance(value, Const):
            number = value.int_value
            return 1 if number is None else 1 << 30 if number == 0 else number & -number
        if not isinstance(value, Instr):
            return 1
        if value.op in _SUMS:
            return min(self.multiples[v] for v in value.operands)
        if value.op == "phi":
            return min((self.multiples[v] for v in _counted(value)), default=1)
        if value.op in _PRODUCTS:
            return max(self.multiples[v] for v in value.operands)
        if value.op == "shl":
            shifted = self.multiples[value.operands[0]] << (_number(value.operands[1]) or 0)
            return min(shifted, _LARGEST)
        if value.op == "call" and self.launch.aligned:
            known = value.arg == "__am_full_size_x"
            known |= value.arg == "__am_size_x" and self.launch.whole
            if known:
                return self.width
        return 1

    def _op_icmp(self, instr: Instr, shapes: list[Shape]) -> Shape:
        """Lanes that count on from a multiple of the width are on one side of any multiple."""
        if all(s.is_uniform for s in shapes):
            return UNIFORM
        left, right = shapes
        bound = instr.operands[1]
        if self._aligned_lanes(left) and right.is_uniform:
            if instr.arg in ("ult", "uge", "slt", "sge"):
                return UNIFORM if self._multiple(bound, right) >= self.width else VARYING
            number = _number(bound)
            if instr.arg in ("ule", "ugt", "sle", "sgt") and number is not None:
                return UNIFORM if (number + 1) % self.width == 0 else VARYING
        return VARYING

    def _scaled(self, shapes: list[Shape], factor: int | None) -> Shape:
        shape = shapes[0]
        if all(s.is_uniform for s in shapes):
            return UNIFORM
        if factor is None or not shape.is_strided or abs(factor) > 1 << 20:
            return VARYING
        return strided(shape.stride * factor, shape.exact, shape.multiple * (factor & -factor))

    def _op_mul(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return self._scaled(shapes, _number(instr.operands[1]))

    def _op_shl(self, instr: Instr, shapes: list[Shape]) -> Shape:
        amount = _number(instr.operands[1])
        return self._scaled(shapes, None if amount is None or amount > 20 else 1 << amount)

    def _lane_bits(self, shape: Shape) -> int | None:
        step = shape.stride
        if not shape.is_strided or not shape.exact or step < 0 or step & (step - 1):
            return None
        return step.bit_length() - 1 if shape.multiple >= step * self.width else None

    def _aligned_lanes(self, shape: Shape) -> bool:
        """Whether the value is a multiple of the width plus the lane number."""
        return self._lane_bits(shape) == 0

    def _op_and(self, instr: Instr, shapes: list[Shape]) -> Shape:
        mask, lowest = _number(instr.operands[1]), self._lane_bits(shapes[0])
        if mask is not None and lowest is not None:
            lane = (self.width - 1) << lowest
            if mask & lane == lane:  # keeps the lane number, masks the base
                return shapes[0]
            if mask & lane == 0:
                return UNIFORM
        return _of_operands(instr, shapes)

    def _op_lshr(self, instr: Instr, shapes: list[Shape]) -> Shape:
        amount, lowest = _number(instr.operands[1]), self._lane_bits(shapes[0])
        if amount is not None and lowest is not None and 1 << amount >= self.width << lowest:
            return UNIFORM
        return _of_operands(instr, shapes)

    def _op_udiv(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return UNIFORM if self._multiple_of_lanes(instr, shapes) else _of_operands(instr, shapes)

    def _op_urem(self, instr: Instr, shapes: list[Shape]) -> Shape:
        divisor = self._multiple_of_lanes(instr, shapes)
        if not divisor:
            return _of_operands(instr, shapes)
        return shapes[0]._replace(multiple=min(shapes[0].multiple, divisor))

    def _multiple_of_lanes(self, instr: Instr, shapes: list[Shape]) -> int:
        """A power of two that divides the divisor if a gang's lanes count through that or a part of
        it: from a multiple of the divisor on, or from within two of them. 0 otherwise."""
        lowest = self._lane_bits(shapes[0])
        if lowest is None or not shapes[1].is_uniform:
            return 0
        multiple = self._multiple(_not_zero(instr.operands[1]), shapes[1])
        return multiple if multiple >= self.width << lowest else 0

    def _op_zext(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return self._extend(instr, shapes[0])

    def _op_sext(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return self._extend(instr, shapes[0])

    def _extend(self, instr: Instr, shape: Shape) -> Shape:
        if not shape.is_strided:
            return shape
        if instr.operands[0].type.size < 4:
            return VARYING  # narrow counters do wrap
        # Lanes that begin at a multiple of all that they count through never wrap in the middle.
        source, lowest = instr.operands[0].type, self._lane_bits(shape)
        assert isinstance(source, t.Int)
        whole = lowest is not None and self.width << lowest < 1 << source.bits
        proven = "nneg" in instr.flags or whole
        return shape._replace(exact=shape.exact and proven)

    def _op_trunc(self, instr: Instr, shapes: list[Shape]) -> Shape:
        if shapes[0].is_strided and instr.type.size < 4:
            return VARYING
        return shapes[0]._replace(exact=True)

    def _op_freeze(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return shapes[0]

    def _op_gep(self, instr: Instr, shapes: list[Shape]) -> Shape:
        if instr in self.private and not all(s.is_uniform for s in shapes):
            return VARYING  # an offset in the lane's own space
        if any(s.is_varying for s in shapes):
            return VARYING
        stride = shapes[0].stride
        for shape, scale in zip(shapes[1:], instr.arg[:-1], strict=True):
            stride += shape.stride * scale
        return strided(stride, all(s.exact for s in shapes))

    def _op_select(self, instr: Instr, shapes: list[Shape]) -> Shape:
        return _join(shapes[1], shapes[2]) if shapes[0].is_uniform else VARYING


def _of_operands(_: Instr, shapes: list[Shape]) -> Shape:
    """Uniform if all operands are."""
    return UNIFORM if all(s.is_uniform for s in shapes) else VARYING


def _factors(value: Value) -> list[Value]:
    """The operands from whose divisors a divisor of the value follows."""
    if not isinstance(value, Instr):
        return []
    if value.op == "phi":
        return _counted(value)
    return value.operands if value.op in (*_PRODUCTS, *_SUMS, "shl") else []


def _counted(phi: Instr) -> list[Value]:
    """The constants from which a phi counts on, and by which; none if it is no such counter."""
    found: list[Value] = []
    for value in phi.operands:
        if isinstance(value, Instr) and value.op == "add" and phi in value.operands:
            value = value.operands[value.operands[0] is phi]
        found.append(value)
    return found if all(isinstance(value, Const) for value in found) else []


def _not_zero(divisor: Value) -> Value:
    """A divisor without the precaution that the front end has taken: what is divided by zero may be
    anything."""
    if isinstance(divisor, Instr) and str(divisor.arg).startswith("llvm.umax."):
        value, least = divisor.operands
        return value if _number(least) == 1 else divisor
    return divisor


def _number(value: Value) -> int | None:
    """The value of a constant integer."""
    return value.int_value if isinstance(value, Const) else None


def _join(a: Shape, b: Shape) -> Shape:
    if a.kind != b.kind or a.stride != b.stride:
        return VARYING
    return Shape(a.kind, a.stride, a.exact and b.exact, min(a.multiple, b.multiple))
