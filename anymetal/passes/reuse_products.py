"""A product that exists anyway is added, not multiplied once more.

    %p = fmul %x, %x                              %p = fmul %x, %x
    %s = call @llvm.fmuladd(%x, %x, %y)  becomes  %s = fadd %p, %y

In `x * x + y * y <= 4; re = x * x - y * y + c` Clang fuses the second sum and so multiplies x by x
again. A plain addition is shorter than a fused one, and most processors have other units for it.
Sums of rounded products are as exact as `fmuladd` promises.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators
from anymetal.ir.cfg import dominates, reverse_postorder
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.rewrite import rewrite


def run(known: Analyses) -> bool:
    """Takes fused operations apart that may be (`fmuladd`, not `fma`) and whose product exists."""
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
