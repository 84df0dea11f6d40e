"""Bounds of integers: what follows from types, positions and arithmetic, and what does not."""

from __future__ import annotations

import pytest

from anymetal.analysis.ranges import Bounds
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value


def _call(name: str) -> Instr:
    return Instr(t.I32, "call", [], name)


def _const(number: int) -> Const:
    return Const(t.I32, str(number))


_LANE, _THREAD = _call("__am_lane"), _call("__am_thread_x")


@pytest.mark.parametrize(
    ("op", "operands", "below"),
    [
        ("add", [_THREAD, _const(32)], 1056),
        ("add", [_THREAD, _const(-1)], 0),
        ("mul", [_THREAD, _LANE], 1023 * 31 + 1),
        ("mul", [_THREAD, _const(1 << 30)], 0),
        ("shl", [_THREAD, _const(3)], 1023 * 8 + 1),
        ("shl", [_THREAD, _LANE], 0),
        ("or", [_THREAD, _LANE], 1024),
        ("xor", [_LANE, _const(32)], 64),
        ("xor", [_call("__am_group_x"), _LANE], 0),
        ("lshr", [_THREAD, _const(5)], 32),
    ],
)
def test_bounds(op: str, operands: list[Value], below: int) -> None:
    assert Bounds()(Instr(t.I32, op, operands)) == below


def test_extensions() -> None:
    byte = Instr(t.I8, "load", [])
    assert Bounds()(Instr(t.I32, "zext", [byte])) == 256
    assert Bounds()(Instr(t.I32, "sext", [byte])) == 0
    assert Bounds()(Instr(t.I64, "sext", [_THREAD])) == 1024
