"""A product that is there anyway is added, not multiplied once more.

    x * x + y * y <= 4;  re = x * x - y * y + c

Clang fuses the second sum, which multiplies x by x again, for the sum of rounded products may be as
exact as it likes. Where the product itself is needed, too, a plain addition takes less: it is
shorter than a fused one, and most processors have other units for it.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators
from anymetal.ir.cfg import dominates, reverse_postorder
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.rewrite import rewrite


def run(known: Analyses) -> bool:
    """Of the fused operations only those that may be taken apart (`fmuladd`) are."""
    program = known.program
    order = reverse_postorder(program.blocks[0])
    idom = known(dominators)
    products: dict[frozenset[Value], list[Instr]] = {}
    there: dict[Instr, Instr] = {}
    for block in order:
        for instr in block.instrs:
            factors = frozenset(instr.operands[:2])
            if instr.op == "fmul":
                products.setdefault(factors, []).append(instr)
            elif instr.op == "call" and str(instr.arg).startswith("llvm.fmuladd."):
                for product in products.get(factors, []):
                    assert product.block is not None
                    if dominates(idom, product.block, block):
                        there[instr] = product
                        break

    def apart(block: Block, instr: Instr) -> Value | None:
        product = there.get(instr)
        if product is None:
            return None
        operands = [product, instr.operands[2]]
        sum_ = Instr(instr.type, "fadd", operands, None, instr.flags, instr.loc, instr.name)
        return block.append(sum_)

    return rewrite(program, apart) if there else False
