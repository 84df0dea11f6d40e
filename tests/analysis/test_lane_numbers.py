"""Integers that are known for each lane: arithmetic wraps as that of their type."""

from __future__ import annotations

import pytest

from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value


@pytest.mark.parametrize(
    ("op", "operands", "type_", "expected"),
    [
        ("sub", (0, 1), t.I32, 2**32 - 1),
        ("zext", (0,), t.I64, 5),
        ("sext", (-3,), t.I64, 2**64 - 3),
        ("trunc", (300,), t.I8, 44),
        ("shl", (3, 31), t.I32, 2**31),
    ],
)
def test_lane_numbers(op: str, operands: tuple[int, ...], type_: t.Type, expected: int) -> None:
    source = t.I32
    values: list[Value] = [Const(source, str(n if op != "zext" else 5)) for n in operands]
    instr = Instr(type_, op, values)
    assert LaneNumbers([instr], 32)(instr) == (expected,) * 32
