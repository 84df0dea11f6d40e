"""Addresses without constants: what two accesses of neighbours have in common.

a + zext(4 * i | 3)      is 3 bytes behind      a + zext(4 * i)
"""

from __future__ import annotations

from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.types import I64


def place_of(pointer: Value) -> tuple[object, int]:
    """An address without its constant part, and that part."""
    offset = 0
    while isinstance(pointer, Instr) and pointer.op == "gep":
        base, *indices = pointer.operands
        offset += pointer.arg[-1]
        if indices:
            scales = pointer.arg[:-1]
            terms = [_term(index, scale) for index, scale in zip(indices, scales, strict=True)]
            offset += sum(constant for *_, constant in terms)
            return (base, *(term[:-1] for term in terms)), offset
        pointer = base
    return pointer, offset


def _term(index: Value, scale: int) -> tuple[Value, str, int, int]:
    """An index without constants that are added to it, how it becomes one of 64 bits, its scale,
    and those constants in bytes."""
    how, value, constant = "" if index.type == I64 else "sext", index, 0
    while isinstance(value, Instr):
        if not how and value.op in ("sext", "zext"):
            how, value = value.op, value.operands[0]
        elif (number := _added(value, how)) is not None:
            constant, value = constant + number, value.operands[0]
        else:
            break
    return value, how, scale, constant * scale


def _added(value: Instr, how: str) -> int | None:
    """The number by which a value, made one of 64 bits, is more than its first operand, made such;
    None if that is no constant."""
    number = value.operands[1] if value.op in ("add", "or") else None
    if not isinstance(number, Const) or number.int_value is None:
        return None
    if value.op == "or":  # bits are set of which none was set, and not the sign
        whole = "disjoint" in value.flags and number.int_value >= 0
    else:
        whole = not how or {"sext": "nsw", "zext": "nuw"}[how] in value.flags
    return number.int_value if whole else None
