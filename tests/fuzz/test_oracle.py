"""The oracle on programs whose answers are plain: control flow, cross-lane functions, races."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.testing.fuzz import oracle
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.fuzz.tree import (
    Arm,
    Assign,
    Atomic,
    Barrier,
    Binary,
    Break,
    Buffer,
    Case,
    Cast,
    Continue,
    CrossLane,
    Declare,
    Function,
    FunctionCall,
    If,
    Load,
    Loop,
    Return,
    Statement,
    Switch,
    Variable,
)
from anymetal.testing.fuzz.types import FLOAT, INT, UINT, Array
from tests.fuzz.builder import LANE, TID, case, compare, integer, out, slot, variable

_T = np.arange(40)
_I = variable("i")


def _result(c: Case) -> Array:
    return oracle.run(c)["out"]


def _as_int(value: Variable | Binary) -> Cast:
    return Cast(INT, value)


def test_if_else_masks_both_sides() -> None:
    low = compare("<", TID, integer(10, UINT))
    result = _result(case(If(low, (out(integer(1)),), (out(integer(2)),)), out(integer(10), "+=")))
    assert (result == np.where(_T < 10, 11, 12)).all()


def test_return_ends_a_thread() -> None:
    odd = compare("==", Binary(UINT, "&", TID, integer(1, UINT)), integer(1, UINT))
    result = _result(case(out(integer(5)), If(odd, (Return(),)), out(integer(7))))
    assert (result == np.where(_T % 2 == 1, 5, 7)).all()


@pytest.mark.parametrize("kind", ["for", "while", "do", "forever"])
def test_loops_with_break_and_continue(kind: str) -> None:
    """Each shape of a loop against the same loop in Python."""
    body: tuple[Statement, ...] = (
        If(compare("==", Binary(INT, "%", _I, integer(3)), integer(0)), (Continue(),)),
        If(compare(">", _I, integer(7)), (Break(),)),
        out(_I, "+="),
    )
    limit = _as_int(Binary(UINT, "%", TID, integer(12, UINT)))
    loop = Loop(kind, _I, integer(0), limit, 1, None, body)  # type: ignore[arg-type]

    def run(thread: int) -> int:
        total, i, first = 0, 0, True
        while (kind == "do" and first) or i < thread % 12:
            first = False
            if kind != "for":
                i += 1
            if i % 3 != 0:
                if i > 7:
                    break
                total += i
            if kind == "for":
                i += 1
        return total

    assert _result(case(loop)).tolist() == [run(thread) for thread in range(40)]


def test_switch_falls_through() -> None:
    arms = (
        Arm((0,), False, (out(integer(1), "+="),)),
        Arm((1, 2), False, (out(integer(10), "+="), Break())),
        Arm((), True, (out(integer(100), "+="),)),
        Arm((4,), False, (out(integer(1000), "+="),)),
    )
    selector = _as_int(Binary(UINT, "%", TID, integer(6, UINT)))
    expected = np.array([11, 10, 10, 1100, 1000, 1100])[_T % 6]
    assert (_result(case(Switch(selector, arms))) == expected).all()


def test_functions_return_from_inside() -> None:
    p = variable("p")
    early = If(compare(">", p, integer(20)), (Return(integer(-1)),))
    function = Function("f", INT, (p,), (early, Return(Binary(INT, "*", p, p))))
    inner = FunctionCall(INT, "f", (_as_int(TID),))
    nested = FunctionCall(INT, "f", (inner,))  # one call inside the arguments of another
    square = np.where(_T > 20, -1, _T * _T)
    expected = np.where(square > 20, -1, square * square)
    assert (_result(case(out(nested), functions=(function,))) == expected).all()


def test_cross_lane_functions_see_active_lanes_only() -> None:
    sum_ = CrossLane(INT, "simd_sum", (integer(1),))
    low = compare("<", LANE, integer(5, UINT))
    result = _result(case(If(low, (out(sum_),), (out(sum_),))))
    expected = np.where(_T % 32 < 5, 5, np.where(_T < 32, 27, 3))
    assert (result == expected).all()


def test_lanes_drop_out_of_a_loop() -> None:
    limit = _as_int(Binary(UINT, "&", TID, integer(3, UINT)))
    count = out(CrossLane(INT, "simd_sum", (integer(1),)), "+=")
    result = _result(case(Loop("for", _I, integer(0), limit, 1, None, (count,)), threads=32))
    live = [24, 16, 8]  # lanes in iteration 0, 1, 2
    assert (result == [sum(live[: lane % 4]) for lane in range(32)]).all()


def test_exchange_through_threadgroup_memory() -> None:
    far = Binary(UINT, "%", Binary(UINT, "+", TID, integer(3, UINT)), integer(40, UINT))
    body = Assign(slot(), "=", _as_int(TID)), Barrier(), out(slot(far))
    assert (_result(case(*body)) == (_T + 3) % 40).all()


def test_atomics_add_up() -> None:
    total = Buffer("total", INT, 2, "output", atomic=True)
    add = Atomic("add", "total", Binary(UINT, "&", TID, integer(1, UINT)), _as_int(TID))
    base = case(add)
    with_total = Case(0, base.launch, (*base.buffers, total), (), base.body)
    assert oracle.run(with_total)["total"].tolist() == [380, 400]


def _neighbour() -> Load:
    return slot(Binary(UINT, "^", TID, integer(1, UINT)))


_FLOAT_TID = Cast(FLOAT, TID)
_UNDEFINED: dict[str, tuple[Statement, ...]] = {
    "data race": (Assign(slot(), "=", integer(1)), out(_neighbour())),
    "uninitialised": (out(slot()),),
    "two threads store": (Assign(slot(integer(0)), "=", integer(1)),),
    "barrier in divergent": (If(compare("<", TID, integer(7, UINT)), (Barrier(),)),),
    "out of range": (out(slot(Binary(UINT, "+", TID, integer(64, UINT)))),),
    "division by zero": (out(Binary(INT, "/", integer(1), _as_int(TID))),),
    "runs too long": (Loop("while", _I, integer(0), integer(1 << 30), 1, None, (out(_I, "+="),)),),
    "inexact": (
        Declare(
            Variable(FLOAT, "x"),
            Binary(FLOAT, "*", _FLOAT_TID, Cast(FLOAT, integer(16777215))),
        ),
    ),
}


@pytest.mark.parametrize("reason", list(_UNDEFINED))
def test_undefined_programs_are_refused(reason: str) -> None:
    with pytest.raises(Undefined, match=reason):
        oracle.run(case(*_UNDEFINED[reason]))


def test_returned_threads_count_as_arrived() -> None:
    high = compare(">=", TID, integer(30, UINT))
    write = Assign(slot(), "=", _as_int(TID))
    body = write, If(high, (Return(),)), Barrier(), out(slot(integer(39)))
    assert (_result(case(*body)) == np.where(_T < 30, 39, 0)).all()
