"""Counters of loops get twins of 64 bits, for addresses.

    %i = phi i32 [0], [%i + 8]        is joined by        %i.wide = phi i64 [0], [%i.wide + 8]

Indices have 32 bits and addresses 64. As LLVM must not assume that a counter never wraps, it
extends the index anew in each iteration, for each address. For an address a wrap does not matter:
an index that wraps is no valid one (analysis/affine.py). So uniform counters that go into extended
indices are also counted in 64 bits, and LLVM turns those into pointers that move on with each
iteration.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.induction import Induction, inductions
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Program, Value

_ARITHMETIC = ("add", "sub", "mul", "shl", "or")


def widen(known: Analyses) -> bool:
    """Adds the twins of all uniform counters that are parts of indices."""
    program = known.program
    indices, uniform = _indices(program), known(shapes)
    for counters in known(inductions).values():
        for counter in counters:
            if counter.phi in indices and uniform[counter.phi].is_uniform and counter.start:
                program.twins[counter.phi] = _twin(counter)
    return bool(program.twins)


def _indices(program: Program) -> set[Value]:
    """The sums and products that are extended to 64 bits, and what they are made of."""
    work = [
        i.operands[0]
        for i in program.instructions()
        if i.op == "sext" and i.type == t.I64 and i.operands[0].type == t.I32
    ]
    found: set[Value] = set()
    while work:
        value = work.pop()
        if value not in found:
            found.add(value)
            if isinstance(value, Instr) and value.op in _ARITHMETIC:
                work += value.operands
    return found


def _twin(counter: Induction) -> Instr:
    phi, start, last, step, _ = counter
    assert start is not None and phi.block is not None and last.block is not None
    outside = phi.arg[phi.operands.index(start)]
    name = f"{phi.name or '%counter'}.wide"
    twin = Instr(t.I64, "phi", [], [], "", phi.loc, name, phi.block)
    grown = Instr(t.I64, "add", [twin, _extended(step, outside)], None, "", last.loc)
    grown.block = last.block
    last.block.instrs.insert(last.block.instrs.index(last), grown)
    for value, source in zip(phi.operands, phi.arg, strict=True):
        twin.operands.append(grown if value is last else _extended(value, outside))
        twin.arg.append(source)
    phi.block.instrs.insert(0, twin)
    return twin


def _extended(value: Value, block: Block) -> Value:
    """The value in 64 bits, at the end of a block."""
    if isinstance(value, Const) and value.int_value is not None:
        return Const(t.I64, str(value.int_value))
    wide = Instr(t.I64, "sext", [value], None)
    wide.block = block
    block.instrs.insert(-1, wide)
    return wide
