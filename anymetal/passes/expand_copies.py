"""Small copies become loads and stores: memcpy, memmove and memset of up to 512 constant bytes.

    call memcpy(%to, %from, 6)      becomes      load and store i32 at 0, load and store i16 at 4

These stand for copies of structs and zeroed arrays. As loads and stores they take part in all that
is done for memory. Larger or variable ones stay calls. Odd integers are split, too: a load or store
of i48, for a struct of an int and a short, becomes two.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.calls import BLOCK_OPERATIONS, COPIES
from anymetal.ir.layout import is_odd, pieces
from anymetal.ir.model import Access, Const, Instr, Value

LIMIT = 512  # bytes


def run(known: Analyses) -> bool:
    """Expands all of them."""
    program = known.program
    changed = False
    for block in program.blocks:
        result: list[Instr] = []
        for instr in block.instrs:
            expanded = _expand(instr)
            changed |= expanded is not None
            result.extend(expanded or [instr])
        block.refill(result)
    return changed


def _expand(instr: Instr) -> list[Instr] | None:
    value = instr.operands[0] if instr.op == "store" else instr
    if instr.op in ("load", "store") and is_odd(value.type):
        return _load_odd(instr) if instr.op == "load" else _store_odd(instr)
    if instr.op != "call" or not instr.arg.startswith(BLOCK_OPERATIONS):
        return None
    length = instr.operands[2].int_value if isinstance(instr.operands[2], Const) else None
    if length is None or length > LIMIT:
        return None
    if instr.arg.startswith(COPIES):
        return _copy(instr, length)
    byte = instr.operands[1].int_value if isinstance(instr.operands[1], Const) else None
    return None if byte is None else _fill(instr, byte & 0xFF, length)


def moved(out: list[Instr], instr: Instr, base: Value, offset: int) -> Value:
    """The address so many bytes behind another one, for a part of an access: what computes it is
    added to `out`."""
    if offset == 0:
        return base
    name = f"{instr.name}.at{offset}"
    out.append(Instr(base.type, "gep", [base], (offset,), "", instr.loc, name))
    return out[-1]


def _load_odd(instr: Instr) -> list[Instr]:
    """Loads the parts and puts them together; the last instruction is the load itself."""
    out: list[Instr] = []
    terms: list[Value] = []
    type_ = instr.type
    assert isinstance(type_, t.Int)
    for offset, part in pieces(type_.bits // 8):
        source = moved(out, instr, instr.operands[0], offset)
        out.append(Instr(part, "load", [source], Access(1), "", instr.loc))
        out.append(Instr(type_, "zext", [out[-1]], None, "", instr.loc))
        shift = Const(type_, str(8 * offset))
        out.append(Instr(type_, "shl", [out[-1], shift], None, "", instr.loc))
        terms.append(out[-1])
    while len(terms) > 2:
        out.append(Instr(type_, "or", terms[:2], None, "", instr.loc))
        terms[:2] = [out[-1]]
    instr.op, instr.operands, instr.arg, instr.flags = "or", terms, None, ""
    return [*out, instr]


def _store_odd(instr: Instr) -> list[Instr]:
    out: list[Instr] = []
    value, pointer = instr.operands
    assert isinstance(value.type, t.Int)
    for offset, part in pieces(value.type.bits // 8):
        shift = Const(value.type, str(8 * offset))
        out.append(Instr(value.type, "lshr", [value, shift], None, "", instr.loc))
        out.append(Instr(part, "trunc", [out[-1]], None, "", instr.loc))
        piece = out[-1]
        target = moved(out, instr, pointer, offset)
        out.append(Instr(t.VOID, "store", [piece, target], Access(1), "", instr.loc))
    return out


def _copy(instr: Instr, length: int) -> list[Instr]:
    """All loads come first: memmove may overlap."""
    out: list[Instr] = []
    values: list[Instr] = []
    for offset, type_ in pieces(length):
        source = moved(out, instr, instr.operands[1], offset)
        values.append(Instr(type_, "load", [source], Access(1), "", instr.loc))
        out.append(values[-1])
    for value, (offset, _) in zip(values, pieces(length), strict=True):
        target = moved(out, instr, instr.operands[0], offset)
        out.append(Instr(t.VOID, "store", [value, target], Access(1), "", instr.loc))
    return out


def _fill(instr: Instr, byte: int, length: int) -> list[Instr]:
    out: list[Instr] = []
    for offset, type_ in pieces(length):
        pattern = int.from_bytes(bytes([byte]) * type_.size, "little", signed=True)
        target = moved(out, instr, instr.operands[0], offset)
        value = Const(type_, str(pattern))
        out.append(Instr(t.VOID, "store", [value, target], Access(1), "", instr.loc))
    return out
