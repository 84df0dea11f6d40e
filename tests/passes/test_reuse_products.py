"""Products that are there anyway are added; others stay fused."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.passes import reuse_products
from tests.ir.programs import ops, program

_LOAD = "%x = load float, ptr %a\n%q = getelementptr i8, ptr %a, i64 4\n%y = load float, ptr %q\n"
_SUM = "%s = call float @llvm.{}.f32(float %x, float %y, float %x)\nstore float %s, ptr %out\n"


@pytest.mark.parametrize(
    ("product", "fused", "kept"),
    [
        ("%p = fmul float %x, %y", "fmuladd", "load gep load fmul fadd store ret"),
        ("%p = fmul float %y, %x", "fmuladd", "load gep load fmul fadd store ret"),
        ("%p = fmul float %x, %x", "fmuladd", "load gep load fmul call store ret"),
        ("%p = fmul float %x, %y", "fma", "load gep load fmul call store ret"),
    ],
)
def test_same_factors(product: str, fused: str, kept: str) -> None:
    read = program(f"{_LOAD}{product}\n{_SUM.format(fused)}ret void")
    reuse_products.run(Analyses(read))
    assert ops(read) == kept.split()


@pytest.mark.parametrize(("where", "taken_apart"), [("entry", True), ("one", False)])
def test_a_product_must_be_there_on_every_way(where: str, taken_apart: bool) -> None:
    product = "%p = fmul float %x, %y\nstore float %p, ptr %out\n"
    read = program(
        f"""
        entry:
        {_LOAD}{product if where == "entry" else ""}
        %c = fcmp olt float %x, %y
        br i1 %c, label %one, label %two
        one:
        {product if where == "one" else ""}
        br label %two
        two:
        {_SUM.format("fmuladd")}
        ret void
        """
    )
    reuse_products.run(Analyses(read))
    assert ("fadd" in ops(read)) == taken_apart
