"""half and bfloat travel as 16-bit words; only instructions that compute see them as numbers.

    %h = load half %p                 %w = load i16 %p
    %s = fadd half %h, %h    becomes  %h = bitcast %w to half,  %s = fadd half %h, %h
    store half %s, %q                 %t = bitcast %s to i16,   store i16 %t, %q

On processors without arithmetic of a narrow format LLVM takes masked loads and stores, selections
and shuffles of it apart, and converts element by element, through functions that nobody supplies.
All processors have instructions for integers of that size, and the bit casts cost nothing.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Program, Value

#: Operations that only hand on a value.
_CARRIERS = ("phi", "select", "freeze", "load", "guarded_load")


def run(known: Analyses) -> bool:
    """Changes programs that compute with half or bfloat."""
    program = known.program
    if not _has_narrow(program):
        return False
    kinds: dict[Instr, t.Type] = {i: i.type for i in program.instructions() if i.type in t.NARROW}
    words: dict[Value, Value] = {}
    for instr in kinds:
        if instr.op in _CARRIERS:
            instr.type = t.I16
            if instr.op != "guarded_load":  # its flag is not one of floats
                instr.flags = ""
            words[instr] = instr
        else:
            words[instr] = Instr(t.I16, "bitcast", [instr], None, "", instr.loc)
    for block in program.blocks:
        result: list[Instr] = []
        for instr in block.instrs:
            result += _with_casts(instr, kinds, words)
        block.refill(result)
    return True


def _has_narrow(program: Program) -> bool:
    return any(v.type in t.NARROW for i in program.instructions() for v in (i, *i.operands))


def _with_casts(instr: Instr, kinds: dict[Instr, t.Type], words: dict[Value, Value]) -> list[Instr]:
    """The instruction between the bit casts that it needs."""
    before: list[Instr] = []
    for number, value in enumerate(instr.operands):
        if instr.op in _CARRIERS or instr.op == "store":
            if isinstance(value, Const) and value.type in t.NARROW:
                instr.operands[number] = _word_constant(value)
            else:
                instr.operands[number] = words.get(value, value)
        elif isinstance(value, Instr) and value in kinds:
            before.append(Instr(kinds[value], "bitcast", [words[value]], None, "", instr.loc))
            instr.operands[number] = before[-1]
    after = words.get(instr, instr)
    assert isinstance(after, Instr)
    return [*before, instr] if after is instr else [*before, instr, after]


def _word_constant(value: Const) -> Const:
    """LLVM writes half as 0xH3C00 and bfloat as 0xR3F80."""
    if not value.text.startswith("0x"):
        return Const(t.I16, value.text)  # poison
    word = int(value.text[3:], 16)
    return Const(t.I16, str(word - (1 << 16) if word >> 15 else word))
