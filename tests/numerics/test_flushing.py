"""Subnormals as Metal treats them, and when a product and a sum become one operation."""

from __future__ import annotations

import os

import numpy as np
import pytest

from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.testing.math_samples import BFLOAT
from tests.numerics.evaluate import Array, bits, evaluate

_TINY = float(np.finfo(np.float32).tiny)
_SUBNORMAL = 1e-40
_MODES = ["safe", "relaxed", "fast"]


@pytest.mark.parametrize("mode", _MODES)
def test_float_arithmetic_flushes_subnormal_arguments(mode: str) -> None:
    x = np.array([_SUBNORMAL, -_SUBNORMAL], np.float32)
    y = np.array([1.0, 1.0], np.float32)
    big = 2.0**100
    found = evaluate(
        {"sum": "x + x", "product": f"x * {big}f", "quotient": "x / (y * 1e-30f)", "less": "x < 0"},
        "float",
        math_mode=mode,
        x=x,
        y=y,
    )
    for name, values in found.items():
        assert not values.any(), name


@pytest.mark.parametrize("mode", _MODES)
def test_float_arithmetic_flushes_subnormal_results(mode: str) -> None:
    x = np.array([_TINY, -_TINY], np.float32)
    y = np.array([_TINY * 1.5, -_TINY * 1.5], np.float32)
    found = evaluate(
        {
            "difference": "y - x",
            "product": "x * 0.25f",
            "quotient": "x / 3.0f",
            "fma": "fma(x, 0.5f, 0.0f)",
        },
        "float",
        math_mode=mode,
        x=x,
        y=y,
    )
    for name, values in found.items():
        assert not values.any(), name
    if mode == "safe":  # the sign of a flushed zero stays
        assert np.signbit(found["product"]).tolist() == [False, True]


def test_half_keeps_subnormals() -> None:
    x = np.arange(1, 1 << 10, dtype=np.uint16).view(np.float16)
    y = np.full_like(x, 2.0**-14)
    found = evaluate(
        {
            "sum": "x + x",
            "half_of_it": "x * half(0.5h)",
            "quotient": "x / half(4.0h)",
            "up": "x * half(1024.0h)",
            "difference": "y - x",
            "root": "sqrt(x)",
        },
        "half",
        x=x,
        y=y,
    )
    exact = x.astype(np.float64)
    wanted = {
        "sum": exact + exact,
        "half_of_it": exact * 0.5,
        "quotient": exact / 4,
        "up": exact * 1024,
        "difference": y - exact,
        "root": np.sqrt(exact),
    }
    for name, values in wanted.items():
        assert np.array_equal(found[name], values.astype(np.float16)), name


def test_bfloat_flushes() -> None:
    x = BFLOAT.encode(np.array([_SUBNORMAL, -_SUBNORMAL, _TINY]))
    found = evaluate({"sum": "x + x", "small": "x * bfloat(0.25f)"}, "bfloat", x=x)
    assert not BFLOAT.decode(found["small"]).any()
    assert BFLOAT.decode(found["sum"]).tolist() == [0, 0, 2 * _TINY]


def _every_subnormal(kind: str) -> Array:
    words = np.arange(0, 1 << 10, dtype=np.uint32)
    if kind == "float":
        return (words * 8191).view(np.float32)
    short = words.astype(np.uint16)
    return short.view(np.float16) if kind == "half" else short & 0x7F


@pytest.mark.parametrize("kind", ["float", "half", "bfloat"])
def test_moves_never_flush(kind: str) -> None:
    x = _every_subnormal(kind)
    word = "uint" if kind == "float" else "ushort"
    moves = {
        "copy": "x",
        "cast": f"as_type<{kind}>(as_type<{word}>(x))",
        "chosen": "i % 2 ? x : as_type<T>(W(0))",
        "selected": "select(as_type<T>(W(0)), x, i % 2 == 1)",
        "vector": "vec<T, 4>(x).z",
        "array": "[&] { T values[3] = {x, x, x}; return values[i % 3]; }()",
        "shuffled": "simd_shuffle(x, ushort(i % 32))",
    }
    prologue = f"using T = {kind}; using W = {word};"
    found = evaluate(moves, kind, prologue=prologue, x=x)
    words = np.uint32 if kind == "float" else np.uint16
    for name, values in found.items():
        wanted = x.view(words).copy()
        if name in ("chosen", "selected"):
            wanted[::2] = 0
        assert np.array_equal(values.view(words), wanted), name


# (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly, 0 if the product is rounded first.
_FACTOR, _ADDEND, _FUSED = 1 + 2.0**-12, -(1 + 2.0**-11), 2.0**-24


@pytest.mark.parametrize("mode", _MODES)
def test_fma_is_always_fused(mode: str) -> None:
    x, z = (np.full(40, v, np.float32) for v in (_FACTOR, _ADDEND))
    assert np.all(evaluate({"r": "fma(x, x, z)"}, "float", math_mode=mode, x=x, z=z)["r"] == _FUSED)


@pytest.mark.parametrize("mode", _MODES)
def test_contraction(mode: str) -> None:
    """ "safe" contracts inside an expression, other modes anywhere, and a pragma forbids it."""
    x, z = (np.full(40, v, np.float32) for v in (_FACTOR, _ADDEND))
    found = evaluate(
        {
            "expression": "x * x + z",
            "statements": "[&] { float p = x * x; float s = p + z; return s; }()",
        },
        "float",
        math_mode=mode,
        x=x,
        z=z,
    )
    machine = machine_for(os.environ.get("ANYMETAL_CPU", ""))
    fused = _FUSED if machine.enabled & {"fma", "neon"} else 0  # else it would take a libm call
    assert np.all(found["expression"] == fused)
    assert np.all(found["statements"] == (0 if mode == "safe" else fused))
    apart = "[&] {\n#pragma METAL fp contract(off)\nreturn x * x + z; }()"
    separate = evaluate({"r": apart}, "float", math_mode=mode, x=x, z=z)["r"]
    assert not separate.any()


def test_negative_zero_counts_in_safe_mode() -> None:
    x = np.array([-0.0, 0.0], np.float32)
    found = evaluate({"r": "x * 1.0f + 0.0f", "n": "-x", "d": "x - 0.0f"}, "float", x=x)
    assert bits(found["r"]).tolist() == [0, 0]
    assert np.signbit(found["n"]).tolist() == [False, True]
    assert np.signbit(found["d"]).tolist() == [True, False]
