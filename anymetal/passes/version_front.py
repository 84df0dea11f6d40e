"""What stands in front of two versions of a program: the question which of them it is."""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.calls import ALL, POSITIONS
from anymetal.ir.model import Argument, Block, Const, Instr, Value
from anymetal.ir.sizes import DESCRIPTION_BYTES
from anymetal.ir.walk import from_below

#: Operations that may be done although nobody may need the result.
_FREE = frozenset("add sub mul shl lshr ashr and or xor zext sext trunc icmp select freeze".split())
_FREE_CALLS = tuple(f"llvm.{n}." for n in "smin smax umin umax abs usub.sat uadd.sat".split())


class Front:
    """The instructions in front; it computes there what it is asked about."""

    def __init__(self, entry: Block, start: int) -> None:
        self.entry = entry
        self.rest = entry.instrs[start:]
        self.instrs = entry.instrs[:start]
        #: Values of the program -> what they are in front.
        self.there: dict[Value, Value] = {instr: instr for instr in self.instrs}
        self.possible: dict[Value, bool] = {}
        self.added: dict[tuple[object, ...], Instr] = {}
        self.answers: dict[Value, None] = {}

    def can_have(self, value: Value) -> bool:
        """Whether a value is known in front, or may be computed there."""
        return from_below(
            value,
            self.possible,
            lambda v: self._missing(v) if self._is_free(v) else [],
            lambda v: self._is_free(v) and all(self.possible[p] for p in self._missing(v)),
        )

    def _is_free(self, value: Value) -> bool:
        """Whether a value is known in front, or may be computed there if its operands are."""
        if not isinstance(value, Instr) or value in self.there:
            return True
        call = value.op == "call" and (value.arg in POSITIONS or value.arg.startswith(_FREE_CALLS))
        division = value.op in ("udiv", "urem") and _is_positive(value.operands[1])
        return value.op in _FREE or call or division or _describes(value)

    def _missing(self, value: Value) -> list[Value]:
        """The operands that have to be computed in front before a value is."""
        if not isinstance(value, Instr) or value in self.there:
            return []
        return [v for v in value.operands if isinstance(v, Instr) and v not in self.there]

    def move_allocas(self) -> None:
        """Moves private arrays to the front: both versions use the same."""
        arrays = [i for i in self.rest if i.op == "alloca"]
        self.rest = [i for i in self.rest if i.op != "alloca"]
        for array in arrays:
            self.instrs.append(array)
            self.there[array] = array

    def add(self, op: str, type_: t.Type, operands: list[Value], arg: object = None) -> Instr:
        """One more instruction; the one that is there, if it computes the same."""
        key = (op, type_, *map(_identity, operands), str(arg))
        if key not in self.added:
            self.instrs.append(Instr(type_, op, operands, arg))
            self.added[key] = self.instrs[-1]
        return self.added[key]

    def have(self, value: Value) -> Value:
        """The value; computed here if it is not known."""
        if not isinstance(value, Instr):
            return value
        return from_below(value, self.there, self._missing, self._computed)

    def _computed(self, value: Value) -> Value:
        assert isinstance(value, Instr)
        operands = [self.there.get(v, v) for v in value.operands]
        copy = self.add(value.op, value.type, operands, value.arg)
        copy.loc = value.loc  # without flags: here it may overflow
        return copy

    def ask(self, predicate: str, left: Value, right: Value, about: Instr) -> None:
        """Asks whether a comparison holds in all lanes."""
        if predicate == "ne" and isinstance(right, Const) and right.int_value == 0:
            predicate = "ugt"  # the first lane tells, where numbers grow from lane to lane
        passes = self.add("icmp", t.I1, [left, right], predicate)
        everywhere = self.add("call", t.I1, [passes], ALL)
        passes.loc = everywhere.loc = about.loc
        self.answers[everywhere] = None

    def answer(self) -> Value:
        """Whether all that was asked holds."""
        result, *others = self.answers
        for other in others:
            result = self.add("and", t.I1, [result, other])
        return result


def _identity(value: Value) -> object:
    """What two mentions of one value have in common."""
    return (value.type, value.text) if isinstance(value, Const) else value


def _is_positive(divisor: Value) -> bool:
    return isinstance(divisor, Const) and (divisor.int_value or 0) > 0


def _describes(load: Instr) -> bool:
    """Whether this loads a number that describes an input, such as its size: that memory exists."""
    if load.op == "gep":
        return len(load.operands) == 1
    if load.op != "load":
        return False
    pointer: Value = load.operands[0]
    offset = 0
    if isinstance(pointer, Instr) and pointer.op == "gep" and len(pointer.operands) == 1:
        offset = pointer.arg[-1]
        pointer = pointer.operands[0]
    inside = 0 <= offset <= DESCRIPTION_BYTES - load.type.size
    return isinstance(pointer, Argument) and pointer.describes and inside
