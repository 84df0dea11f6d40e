"""Masks of shifted indices."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.uniformity import shapes, strided
from anymetal.ir.spec import Stage, check
from anymetal.passes import mask_first
from tests.compiling import known_of
from tests.ir.programs import program
from tests.passes.semantics import assert_same

_ALIGNED = LaunchFacts(linear=True, aligned=True, flat=True)
_MASKED = """
    %g = call i32 @__am_group_x()
    %n = call i32 @__am_full_size_x()
    %t = call i32 @__am_thread_x()
    %first = mul i32 %g, %n
    %i = add i32 %first, %t
    %s = lshr i32 %i, {amount}
    %m = and i32 %s, {mask}
    %to = getelementptr i32, ptr %out, i32 %m
    store i32 {stored}, ptr %to
    ret void
"""


def masked(amount: int, mask: int, stored: str = "1", launch: LaunchFacts = _ALIGNED) -> Analyses:
    return known_of(program(_MASKED.format(amount=amount, mask=mask, stored=stored)), launch)


def address(known: Analyses) -> str:
    (store,) = (i for i in known.program.instructions() if i.op == "store")
    return str(known(shapes)[store.operands[1]])


def run(known: Analyses) -> bool:
    changed = mask_first.run(known)
    known.forget()
    check(known.program, Stage.SCALAR)
    return changed


@pytest.mark.parametrize("stored", ["1", "%s"])
@pytest.mark.parametrize(("amount", "mask"), [(4, 268435454), (2, -8), (5, 6), (4, 2), (1, 16)])
def test_what_is_left_is_uniform(amount: int, mask: int, stored: str) -> None:
    known = masked(amount, mask, stored)
    assert run(known) and address(known) == "uniform"


@pytest.mark.parametrize(("amount", "mask"), [(4, -1), (4, 1), (2, 15), (1, 8)])
def test_not_where_lanes_are_left(amount: int, mask: int) -> None:
    known = masked(amount, mask)
    assert not run(known) and address(known) == "varying"


def test_not_where_lanes_may_begin_anywhere() -> None:
    assert not run(masked(4, -2, launch=LaunchFacts(linear=True, aligned=False, flat=True)))


def _as_if_loads_were_lanes(known: Analyses) -> bool:
    """The pass, told that whatever is loaded counts on from lane to lane, from a multiple of 32."""
    known = known_of(known.program, _ALIGNED)
    loads = (i for i in known.program.instructions() if i.op == "load")
    known(shapes).shapes.update(dict.fromkeys(loads, strided(1, multiple=32)))
    return mask_first.run(known)


@pytest.mark.parametrize("amount", [1, 4, 31])
@pytest.mark.parametrize("mask", [-32, 268435424, 64, -2147483648])
def test_the_number_is_the_same(amount: int, mask: int) -> None:
    body = f"""
        %x = load i32, ptr %a
        %s = lshr i32 %x, {amount}
        %m = and i32 %s, {mask}
        store i32 %m, ptr %out
        ret void
    """
    program = assert_same(body, [(_as_if_loads_were_lanes, Stage.SCALAR)])
    assert [i.op for i in program.instructions()][:4] == ["load", "lshr", "and", "lshr"]
