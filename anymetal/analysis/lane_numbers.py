"""Integers made of the lane number and constants only: known for each lane when compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.sizes import SIMD_GROUP


class LaneNumbers:
    """The known values of a program; `instructions` come in an order of dominance."""

    def __init__(self, instructions: Iterable[Instr], width: int) -> None:
        self.width = width
        self.known: dict[Value, tuple[int, ...]] = {}
        for instr in instructions:
            numbers = self._compute(instr)
            if numbers is not None:
                self.known[instr] = numbers

    def __call__(self, value: Value) -> tuple[int, ...] | None:
        """The value in every lane, as an unsigned number of its type; None if that is unknown."""
        if isinstance(value, Const) and isinstance(value.type, t.Int):
            number = value.int_value
            return None if number is None else (number % (1 << value.type.bits),) * self.width
        return self.known.get(value)

    def _compute(self, instr: Instr) -> tuple[int, ...] | None:
        if not isinstance(instr.type, t.Int):
            return None
        if _is_lane(instr):
            return tuple(range(self.width)) if self.width == SIMD_GROUP else None
        if instr.op not in _FOLDS and instr.op not in _OTHERS:
            return None
        if instr.op == "and" and _is_lane(instr.operands[0]):
            return self._masked_lane(instr.operands[1])
        operands = []
        for value in instr.operands:
            numbers = self(value)
            if numbers is None:
                return None
            operands.append(numbers)
        columns = list(zip(*operands, strict=True))
        modulus = 1 << instr.type.bits
        if instr.op == "select":
            return tuple(yes if c else no for c, yes, no in columns)
        if instr.op == "icmp":
            compare = COMPARES.get(instr.arg)
            return None if compare is None else tuple(int(compare(a, b)) for a, b in columns)
        if instr.op == "sext":
            return tuple(signed(n, instr.operands[0].type) % modulus for (n,) in columns)
        if instr.op in _OTHERS:  # zext, trunc
            return tuple(n % modulus for (n,) in columns)
        fold = _FOLDS[instr.op]
        return tuple(fold(*column) % modulus for column in columns)

    def _masked_lane(self, mask: Value) -> tuple[int, ...] | None:
        """Low bits of the lane number: a gang of part of a SIMD-group begins at a multiple of its
        width."""
        number = mask.int_value if isinstance(mask, Const) else None
        if number is None or number not in range(min(self.width, SIMD_GROUP)):
            return None
        return tuple(lane & number for lane in range(self.width))


def _is_lane(value: Value) -> bool:
    return isinstance(value, Instr) and value.op == "call" and value.arg == "__am_lane"


def lane_numbers(known: Analyses) -> LaneNumbers:
    """The integers of a program that are known for each lane."""
    order = reverse_postorder(known.program.blocks[0])
    return LaneNumbers((i for block in order for i in block.instrs), known.width)


def signed(number: int, type_: t.Type) -> int:
    """An unsigned number of an integer type, read as a signed one."""
    assert isinstance(type_, t.Int)
    return number - (1 << type_.bits) if number >> (type_.bits - 1) else number


#: Shift counts are below the number of bits: the front end sees to that.
_FOLDS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "mul": lambda a, b: a * b,
    "shl": lambda a, b: a << b, "lshr": lambda a, b: a >> b,
}  # fmt: skip
_OTHERS = ("select", "icmp", "zext", "sext", "trunc")
#: Comparisons of unsigned numbers.
COMPARES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "ult": lambda a, b: a < b,
    "ule": lambda a, b: a <= b, "ugt": lambda a, b: a > b, "uge": lambda a, b: a >= b,
}  # fmt: skip
