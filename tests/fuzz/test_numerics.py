"""The oracle's arithmetic against Python's integers, over random operands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetal.testing.fuzz import numerics
from anymetal.testing.fuzz.types import (
    BFLOAT,
    CHAR,
    FLOAT,
    HALF,
    INT,
    INTEGERS,
    LONG,
    SHORT,
    UINT,
    ULONG,
    USHORT,
    Array,
    Type,
    common,
)

_ONE = np.array([True])


@st.composite
def _operands(draw: st.DrawFn) -> tuple[Type, int, int]:
    kind = draw(st.sampled_from(INTEGERS))
    low, high = kind.limits
    number = st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))
    return kind, draw(number), draw(number)


def _wrap(kind: Type, value: int) -> int:
    value %= 1 << kind.bits
    return value - (1 << kind.bits) if value > kind.limits[1] else value


def _array(kind: Type, value: int) -> Array:
    return np.array([value], kind.dtype)


@given(_operands())
def test_arithmetic_wraps(operands: tuple[Type, int, int]) -> None:
    kind, a, b = operands
    expected = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    for op, value in expected.items():
        got = numerics.binary(op, kind, _array(kind, a), _array(kind, b), _ONE)
        assert got[0] == _wrap(kind, value), op


@given(_operands())
def test_shift_counts_are_masked(operands: tuple[Type, int, int]) -> None:
    kind, a, b = operands
    count = b % kind.bits
    for op, value in (("<<", a << count), (">>", a >> count)):
        got = numerics.binary(op, kind, _array(kind, a), _array(kind, b), _ONE)
        assert got[0] == _wrap(kind, value), op


@given(_operands())
def test_division_truncates(operands: tuple[Type, int, int]) -> None:
    kind, a, b = operands
    if b == 0 or (kind.kind == "int" and a == kind.limits[0] and b == -1):
        with pytest.raises(numerics.Undefined):
            numerics.divide("/", kind, _array(kind, a), _array(kind, b), _ONE)
        return
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    assert numerics.divide("/", kind, _array(kind, a), _array(kind, b), _ONE)[0] == quotient
    assert numerics.divide("%", kind, _array(kind, a), _array(kind, b), _ONE)[0] == a - quotient * b


@given(st.floats(width=32), st.sampled_from(INTEGERS))
def test_float_to_integer_saturates(value: float, kind: Type) -> None:
    low, high = kind.limits
    if value != value:
        expected = 0
    elif value in (float("inf"), -float("inf")):
        expected = high if value > 0 else low
    else:
        expected = max(low, min(high, int(value)))
    assert numerics.convert(np.array([value], np.float32), FLOAT, kind)[0] == expected


@given(_operands())
def test_integer_functions(operands: tuple[Type, int, int]) -> None:
    kind, a, b = operands
    word = format(a % (1 << kind.bits), f"0{kind.bits}b")
    one = {
        "popcount": word.count("1"),
        "clz": kind.bits - len(word.lstrip("0")),
        "ctz": kind.bits - len(word.rstrip("0")) if "1" in word else kind.bits,
        "reverse_bits": _wrap(kind, int(word[::-1], 2)),
    }
    for name, value in one.items():
        assert numerics.library(name, kind, [_array(kind, a)], _ONE)[0] == value, name
    turn = b % kind.bits
    two = {"min": min(a, b), "max": max(a, b), "absdiff": abs(a - b)}
    two["rotate"] = _wrap(kind, int(word[turn:] + word[:turn], 2))
    if kind.bits <= 32:
        low, high = kind.limits
        two["addsat"] = max(low, min(high, a + b))
        two["subsat"] = max(low, min(high, a - b))
        two["hadd"], two["rhadd"] = (a + b) >> 1, (a + b + 1) >> 1
        two["mulhi"] = _wrap(kind, (a * b) >> kind.bits)
    for name, value in two.items():
        got = numerics.library(name, kind, [_array(kind, a), _array(kind, b)], _ONE)
        assert got[0] == value, name


def test_usual_conversions() -> None:
    assert common(CHAR, SHORT) == INT
    assert common(INT, UINT) == UINT
    assert common(UINT, LONG) == LONG
    assert common(LONG, ULONG) == ULONG
    assert common(HALF, FLOAT) == FLOAT
    assert common(HALF, INT) == HALF


def test_reinterpretation_of_vectors() -> None:
    value = np.array([[1, 2], [3, 4]], np.uint16)  # two lanes of a ushort2
    joined = numerics.reinterpret(value, USHORT.vector(2), UINT)
    assert joined.tolist() == [1 + (3 << 16), 2 + (4 << 16)]
    assert (numerics.reinterpret(joined, UINT, USHORT.vector(2)) == value).all()


def test_bfloat_rounds_to_nearest_even() -> None:
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], np.float32)
    assert numerics.round_bfloat(values).tolist() == [1.0, 1 + 2**-6, 1 + 2**-7]
    assert numerics.convert(np.array([257.0]), FLOAT, BFLOAT)[0] == 256.0
