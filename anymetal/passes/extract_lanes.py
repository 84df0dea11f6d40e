"""Lanes of results that everybody waits for are computed alone, before the vector is there.

A factorisation within a SIMD-group takes one lane of a column, its root, divides the column by it,
takes a lane of that, and so on: each step waits for the one before. On the way from the vector to
the lane and back there are permutations; a lane of `x / y` is as well the lane of `x` over that of
`y`, and where `y` is uniform, that of `x` may have been waiting for long:

    shuffle(x / y, c)  =  shuffle(x, c) / y

This costs an operation on a scalar, so it is done only on the longest chain of a block, and only
where that chain is what the block's time goes to.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.flow import full
from anymetal.analysis.lane_numbers import LaneNumbers, lane_numbers
from anymetal.analysis.uniformity import Shapes
from anymetal.analysis.uniformity import shapes as shapes_of
from anymetal.ir import types as t
from anymetal.ir.calls import SHUFFLE
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite

#: Cycles until a result is there, as on most processors of these years.
_LATENCY = {"fdiv": 11, "fadd": 3, "fsub": 3, "fmul": 3, "load": 6}
_OPERATIONS = ("fdiv", "fadd", "fsub", "fmul")
_FREE = ("bitcast", "fneg")
_FUSED = ("llvm.fma.", "llvm.fmuladd.")
#: From a vector to one of its lanes; from a scalar to all lanes of a vector.
_TO_SCALAR, _TO_VECTOR = 5, 4
#: A chain is long if the block has fewer instructions than this for a cycle of it.
_WIDTH = 2


def take_lanes_early(known: Analyses) -> bool:
    """Rewrites shuffles on long chains of blocks in which all lanes are active."""
    program = known.program
    is_full, shapes = known(full), known(shapes_of)
    early: set[Instr] = set()
    for block in program.blocks:
        lanes = [i for i in block.instrs if _is_lane(i, shapes)]
        if len(lanes) > 1 and is_full(block):
            chains = _Chains(block, shapes)
            if len(block.instrs) < _WIDTH * chains.longest:
                early.update(filter(chains.on_longest, lanes))
    if not early:
        return False
    alone = _Alone(shapes, known(lane_numbers))
    return rewrite(program, lambda block, i: alone.instead(block, i) if i in early else None)


def _is_lane(instr: Instr, shapes: Shapes) -> bool:
    """Whether an instruction takes one lane, known when compiling, out of a vector."""
    if instr.op != "call" or instr.arg != SHUFFLE:
        return False
    value, lane = instr.operands
    number = lane.int_value if isinstance(lane, Const) else None
    return number is not None and 0 <= number < shapes.width and shapes[value].is_varying


class _Chains:
    """How long results of a block take to be there, and what waits for them."""

    def __init__(self, block: Block, shapes: Shapes) -> None:
        self.shapes = shapes
        self.ready: dict[Value, int] = {}
        self.behind: dict[Value, int] = {}  #: cycles from a result to the end of its longest chain
        for instr in block.instrs:
            if instr.op != "phi":
                before = [self.ready.get(v, 0) + self._way(v, instr) for v in instr.operands]
                self.ready[instr] = max(before, default=0) + _latency(instr)
        for instr in reversed(block.instrs):
            rest = self.behind.get(instr, 0) + _latency(instr)
            for value in instr.operands:
                length = rest + self._way(value, instr)
                self.behind[value] = max(self.behind.get(value, 0), length)
        self.longest = max(self.ready.values(), default=0)

    def on_longest(self, instr: Instr) -> bool:
        return self.ready[instr] + self.behind.get(instr, 0) == self.longest

    def _way(self, value: Value, user: Instr) -> int:
        """Cycles from one register file, or all lanes of a vector, to the other."""
        if not isinstance(value, Instr) or not user.has_result:
            return 0
        one, all_ = self.shapes[value].is_uniform, self.shapes[user].is_varying
        return _TO_VECTOR if one and all_ else 0


def _latency(instr: Instr) -> int:
    if instr.op == "call":
        name = str(instr.arg)
        if name == SHUFFLE:
            return _TO_SCALAR
        if name.startswith(_FUSED):
            return 4
        return 15 if name.startswith("llvm.sqrt.") else 5
    return _LATENCY.get(instr.op, 0 if instr.op == "bitcast" else 1)


class _Alone:
    """Puts operations on one lane in the place of shuffles."""

    def __init__(self, shapes: Shapes, numbers: LaneNumbers) -> None:
        self.shapes = shapes
        self.numbers = numbers
        self.made: set[Value] = set()
        self.lanes: dict[tuple[Value, int], Instr] = {}  #: that are there already

    def instead(self, block: Block, shuffle: Instr) -> Value:
        value, lane = shuffle.operands
        assert isinstance(lane, Const) and lane.int_value is not None
        return self._lane(block, value, lane.int_value, deep=True)

    def _lane(self, block: Block, value: Value, lane: int, deep: bool) -> Value:
        """A lane of a value; of one operation, if it may be `deep`, by that operation."""
        if not isinstance(value, Instr) or value in self.made or self.shapes[value].is_uniform:
            return value
        if value.op == "select":
            chosen = self.numbers(value.operands[0])
            if chosen is not None:
                return self._lane(block, value.operands[1 if chosen[lane] else 2], lane, deep)
        key = value, lane
        if key not in self.lanes or self.lanes[key].block is not block:
            self.lanes[key] = self._new(block, value, lane, deep)
        return self.lanes[key]

    def _new(self, block: Block, value: Instr, lane: int, deep: bool) -> Instr:
        free = value.op in _FREE
        if free or (deep and _is_elementwise(value)):
            operands = [self._lane(block, v, lane, deep and free) for v in value.operands]
            return self._made(block, Instr(value.type, value.op, operands, value.arg, value.flags))
        word: Value = value
        if value.type != t.I32:
            word = block.append(Instr(t.I32, "bitcast", [value]))
        picked = self._made(block, Instr(t.I32, "call", [word, Const(t.I32, str(lane))], SHUFFLE))
        if value.type == t.I32:
            return picked
        return self._made(block, Instr(value.type, "bitcast", [picked]))

    def _made(self, block: Block, instr: Instr) -> Instr:
        self.made.add(instr)
        return block.append(instr)


def _is_elementwise(instr: Instr) -> bool:
    """Operations on floats whose lanes have nothing to do with each other."""
    if instr.type != t.FLOAT:
        return False
    return instr.op in _OPERATIONS or (instr.op == "call" and instr.arg.startswith(_FUSED))
