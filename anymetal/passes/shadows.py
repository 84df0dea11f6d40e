"""The shadow of a value: as many bits, of which those are 1 that are undefined.

    %z = and %x, %y       has the shadow       %z' = %x' & %y' | %x & %y' | %x' & %y
    %s = fadd %x, %y                           %s' = %x' | %y'

This is MemorySanitizer's scheme (Stepanov and Serebryany, "MemorySanitizer: fast detector of
uninitialized memory use in C++", CGO 2015). Bits that only move have exact shadows. The shadow of a
float counts as a whole: it is some number other than 0 if anything of the float is undefined. A
value that is certainly defined has no shadow.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir import types as t
from anymetal.ir.calls import MATRIX_FMA, SHUFFLE, is_cross_lane, name_of_intrinsic
from anymetal.ir.model import Const, Instr, Value

Shadow = Value | None
#: Emits an instruction in front of the next one.
Add = Callable[[t.Type, str, list[Value], object], Instr]
_POINTERS = ("ptrtoint", "inttoptr")
#: Sums and products: a bit depends on those below it, too.
_UPWARD = ("add", "sub", "mul")
#: Intrinsics that only move bits.
_MOVES = ("bswap", "bitreverse")
_FUNNELS = ("fshl", "fshr")


def shadow_type(type_: t.Type) -> t.Type:
    """The type of the shadow of such a value: an integer."""
    if isinstance(type_, t.Struct):
        return t.I1
    return type_ if type_.is_int else t.Int(8 * type_.size)


def all_ones(type_: t.Type) -> Const:
    """The shadow of a value of which everything is undefined."""
    bits = shadow_type(type_)
    return Const(bits, "true" if bits == t.I1 else "-1")


def no_ones(type_: t.Type) -> Const:
    """The shadow of a value that is defined."""
    bits = shadow_type(type_)
    return Const(bits, "false" if bits == t.I1 else "0")


class Shadows:
    """Computes shadows of instructions that neither access memory nor choose their way."""

    def __init__(self, add: Add) -> None:
        self.of: dict[Value, Value] = {}
        self._add = add

    def get(self, value: Value) -> Shadow:
        return self.of.get(value)

    def full(self, value: Value) -> Value:
        """The shadow, or that of a defined value."""
        return self.of.get(value) or no_ones(value.type)

    def any(self, shadow: Value) -> Value:
        """Whether anything is undefined."""
        if shadow.type == t.I1:
            return shadow
        return self._do(t.I1, "icmp", [shadow, Const(shadow.type, "0")], "ne")

    def either(self, *shadows: Shadow) -> Shadow:
        """Undefined where one of them is; all have one type."""
        there = [shadow for shadow in shadows if shadow is not None]
        if not there:
            return None
        result = there[0]
        for shadow in there[1:]:
            result = self._do(result.type, "or", [result, shadow])
        return result

    def instruction(self, instr: Instr) -> Shadow:
        """The shadow of what an instruction gives."""
        op, operands = instr.op, instr.operands
        if op in ("and", "or"):
            return self._masked(instr)
        if op in ("shl", "lshr", "ashr"):
            return self._shifted(instr)
        if op in _UPWARD:
            return self._upward(self.either(*map(self.get, operands)))
        if op in ("xor", "gep"):
            return self.either(*(self._as(instr.type, v) for v in operands))
        if op in ("trunc", "zext", "sext", "freeze", "bitcast", *_POINTERS):
            return self._cast(instr)
        if op == "icmp" and instr.arg in ("eq", "ne"):
            return self._equal(instr)
        if op == "icmp" and _asks_for_sign(instr):
            return self._negative(operands[0])
        if op == "select":
            return self._selected(instr)
        if op == "call":
            return self._called(instr)
        return self._whole(instr.type, *operands)

    # -- building blocks ------------------------------------------------------------------

    def _do(self, type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
        return self._add(type_, op, operands, arg)

    def _spread(self, type_: t.Type, shadow: Value) -> Value:
        """A shadow of this type: all bits if there is any."""
        bits, some = shadow_type(type_), self.any(shadow)
        return some if bits == t.I1 else self._do(bits, "sext", [some])

    def _as(self, type_: t.Type, value: Value) -> Shadow:
        """The shadow of an operand, for a result of another type perhaps."""
        shadow = self.get(value)
        if shadow is None or shadow.type == shadow_type(type_):
            return shadow
        return self._spread(type_, shadow)

    def _whole(self, type_: t.Type, *operands: Value) -> Shadow:
        """All of the result is undefined if anything of an operand is."""
        shadow = self.either(*(self._as(type_, v) for v in operands))
        if shadow is None or type_.is_float or shadow.type == t.I1:
            return shadow
        return self._spread(type_, shadow)

    def _upward(self, shadow: Shadow) -> Shadow:
        """All bits from the lowest undefined one on."""
        if shadow is None or shadow.type == t.I1:
            return shadow
        negated = self._do(shadow.type, "sub", [Const(shadow.type, "0"), shadow])
        return self._do(shadow.type, "or", [shadow, negated])

    # -- instructions -----------------------------------------------------------------------

    def _masked(self, instr: Instr) -> Shadow:
        """A defined 0 in `and`, and a defined 1 in `or`, decide what the result is."""
        (one, other), type_ = instr.operands, instr.type
        parts: list[Shadow] = []
        shadows = self.get(one), self.get(other)
        if shadows[0] is not None and shadows[1] is not None:
            parts.append(self._do(type_, "and", [shadows[0], shadows[1]]))
        for value, shadow in ((one, shadows[1]), (other, shadows[0])):
            if shadow is not None:
                open_ = value if instr.op == "and" else self._inverted(value)
                parts.append(self._do(type_, "and", [open_, shadow]))
        return self.either(*parts)

    def _inverted(self, value: Value) -> Value:
        return self._do(value.type, "xor", [value, all_ones(value.type)])

    def _shifted(self, instr: Instr) -> Shadow:
        value, count = instr.operands
        shadow, unknown = self.get(value), self.get(count)
        moved = shadow and self._do(instr.type, instr.op, [shadow, count])
        return self.either(moved, unknown and self._spread(instr.type, unknown))

    def _cast(self, instr: Instr) -> Shadow:
        shadow, bits = self.get(instr.operands[0]), shadow_type(instr.type)
        if shadow is None or shadow.type == bits:
            return shadow
        return self._do(bits, instr.op, [shadow])

    def _equal(self, instr: Instr) -> Shadow:
        """Values that differ in a defined bit differ."""
        one, other = instr.operands
        unknown = self.either(self.get(one), self.get(other))
        if unknown is None or one.type.is_ptr:
            return unknown and self.any(unknown)
        differ = self._do(one.type, "xor", [one, other])
        known = self._do(one.type, "and", [differ, self._inverted(unknown)])
        alike = self._do(t.I1, "icmp", [known, no_ones(known.type)], "eq")
        return self._do(t.I1, "and", [alike, self.any(unknown)])

    def _negative(self, value: Value) -> Shadow:
        shadow = self.get(value)
        return shadow and self._do(t.I1, "icmp", [shadow, Const(shadow.type, "0")], "slt")

    def _selected(self, instr: Instr) -> Shadow:
        condition, yes, no = instr.operands
        unknown, ways = self.get(condition), [self.get(yes), self.get(no)]
        chosen: Shadow = None
        if any(ways):
            operands = [condition, self.full(yes), self.full(no)]
            chosen = self._do(shadow_type(instr.type), "select", operands)
        if unknown is None:
            return chosen
        either = self._differing(instr.type, yes, no)
        base = chosen or no_ones(instr.type)
        if yes.type.is_int:
            either = self.either(either, *ways) or either
        return self._do(base.type, "select", [unknown, either, base])

    def _differing(self, type_: t.Type, yes: Value, no: Value) -> Value:
        """The bits in which two values differ; of floats, all."""
        if not type_.is_int:
            return all_ones(type_)
        return self._do(type_, "xor", [yes, no])

    def _called(self, instr: Instr) -> Shadow:
        operands, name = instr.operands, name_of_intrinsic(instr.arg)
        if is_cross_lane(instr.arg):
            return self._crossed(instr)
        if name in _MOVES and self.get(operands[0]) is not None:
            return self._do(instr.type, "call", [self.full(operands[0])], instr.arg)
        if name in _FUNNELS and self.get(operands[2]) is None:
            high, low, count = operands
            moved: list[Value] = [self.full(high), self.full(low), count]
            return self._do(instr.type, "call", moved, instr.arg)
        return self._whole(instr.type, *operands)

    # -- other lanes ------------------------------------------------------------------------

    def _crossed(self, instr: Instr) -> Shadow:
        """A shadow goes the way that its value goes."""
        kind = instr.arg.removeprefix("__am_")
        if instr.arg == SHUFFLE:
            value, lane = instr.operands
            unknown = self.get(lane)
            moved = self.get(value) and self._do(t.I32, "call", [self.full(value), lane], SHUFFLE)
            return self.either(moved, unknown and self._spread(t.I32, unknown))
        if instr.arg == MATRIX_FMA:
            return self._multiplied(instr)
        shadow = self.get(instr.operands[0]) if instr.operands else None
        if shadow is None:
            return None
        if kind == "ballot":
            return self._do(t.I32, "call", [shadow], instr.arg)
        if kind.startswith("reduce_"):
            return self._do(t.I32, "call", [shadow], "__am_reduce_or_u32")
        count = self._do(t.I32, "zext", [self.any(shadow)])  # of lanes in front, for scans
        return self._do(t.I32, "call", [count], f"__am_{kind.split('_')[0]}_add_u32")

    def _multiplied(self, instr: Instr) -> Shadow:
        """An element of a product is undefined if one is of its row on the left, of its column on
        the right, or itself of what is added: products with ones count those."""
        shadows = [self.get(v) for v in instr.operands]
        if not any(shadows):
            return None
        zero, one = Const(t.FLOAT, "0.0"), Const(t.FLOAT, "1.0")
        first, second, right, total = (zero if s is None else self._counted(s) for s in shadows)
        if shadows[0] is not None or shadows[1] is not None:
            total = self._do(t.FLOAT, "call", [first, second, one, total], MATRIX_FMA)
        if shadows[2] is not None:
            total = self._do(t.FLOAT, "call", [one, one, right, total], MATRIX_FMA)
        return self._do(t.I32, "bitcast", [total])

    def _counted(self, shadow: Value) -> Value:
        return self._do(t.FLOAT, "uitofp", [self.any(shadow)])


def _asks_for_sign(instr: Instr) -> bool:
    """`x < 0` and `x > -1`."""
    bound = instr.operands[1]
    number = bound.int_value if isinstance(bound, Const) else None
    return (instr.arg, number) in (("slt", 0), ("sgt", -1))
