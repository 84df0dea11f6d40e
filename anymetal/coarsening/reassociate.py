"""Constants come last in sums, so that the SIMD-groups of a team share what is in front.

    a + (b + 1)   becomes   (a + b) + 1
    (a + 1) * 2   becomes   a * 2 + 2

Positions of the SIMD-groups of a team (coarsen.py) differ by constants. With those at the end, the
rest of each sum is one value for all, and LLVM sees that `row - 1` of one SIMD-group is `row` of
another: it loads what is there once.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.ir.rewrite import rewrite


def run(program: Program) -> None:
    """Rewrites all additions of integers, and multiplications by constants."""
    rewrite(program, _constants_last)


def _constants_last(block: Block, instr: Instr) -> Value | None:
    if instr.op not in ("add", "mul") or not isinstance(instr.type, t.Int):
        return None
    (left, first), (right, second) = map(_parts, instr.operands)
    if left is None or (not first and (right is None or not second)):
        return None  # the constant is last already

    def append(op: str, operands: list[Value]) -> Instr:
        return block.append(Instr(instr.type, op, operands, None, "", instr.loc))

    if instr.op == "add":
        base, constant = left if right is None else append("add", [left, right]), first + second
    elif right is None:
        base, constant = append("mul", [left, instr.operands[1]]), first * second
    else:
        return None
    half = 1 << (instr.type.bits - 1)
    constant = (constant + half) % (2 * half) - half
    return append("add", [base, Const(instr.type, str(constant))]) if constant else base


def _parts(value: Value) -> tuple[Value | None, int]:
    """A value as another one plus a constant."""
    if isinstance(value, Const):
        return (None, value.int_value) if value.int_value is not None else (value, 0)
    if isinstance(value, Instr) and value.op == "add" and isinstance(value.operands[1], Const):
        constant = value.operands[1].int_value
        if constant is not None:
            return value.operands[0], constant
    return value, 0
