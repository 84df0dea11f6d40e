"""Conversions between floating types and integers: rounding, saturation, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anymetal.testing.math_samples import BFLOAT, FLOAT, HALF
from tests.numerics.evaluate import Array, evaluate

_KINDS: dict[str, Any] = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
_VALUES = [0.0, -0.0, 0.9, -0.9, 1.5, -1.5, 127.9, 128.0, 255.9, 256.0, -128.9, -129.0, 32768.0]
_VALUES += [65504.0, 65536.0, -65504.0, 2147483520.0, 2147483648.0, 4294967040.0, 4294967296.0]
_VALUES += [-2147483648.0, -2147483904.0, 9.2e18, 9223372036854775808.0, 1.9e19, -9.3e18, 1e38]
_VALUES += [-1e38, float("inf"), -float("inf"), float("nan"), 1e-40, 6e-8]


def _saturated(value: float, kind: Any) -> int:
    limits = np.iinfo(kind)
    if value != value:
        return 0
    if abs(value) == float("inf"):
        return int(limits.max if value > 0 else limits.min)
    return int(max(int(limits.min), min(int(limits.max), int(value))))


@pytest.mark.parametrize("source", ["float", "half"])
@pytest.mark.parametrize("target", _KINDS)
def test_floating_to_integer_saturates(source: str, target: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array(_VALUES, np.float32 if source == "float" else np.float16)
    found = evaluate({"y": f"{target}(x)"}, source, out=target, x=x)["y"]
    assert found.tolist() == [_saturated(float(v), _KINDS[target]) for v in x]


@pytest.mark.parametrize("target", ["char", "uint", "long"])
def test_bfloat_to_integer_saturates(target: str) -> None:
    words = BFLOAT.encode(np.array(_VALUES))
    found = evaluate({"y": f"{target}(x)"}, "bfloat", out=target, x=words)["y"]
    assert found.tolist() == [_saturated(float(v), _KINDS[target]) for v in BFLOAT.decode(words)]


def _floats() -> Array:
    """Every exponent, and halves of units of half and of bfloat: the ties."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 1 << 32, 20_000, np.uint32)
    words[:5000] &= np.uint32(0xFFFF8000)  # ties of bfloat
    words[5000:10000] &= np.uint32(0xFFFFF000)  # ties of half
    words[5000:10000] = words[5000:10000] & 0x8FFFFFFF | 0x38000000
    x = words.view(np.float32)
    return np.asarray(x[np.isfinite(x)])


def test_float_to_half_rounds_to_nearest_even() -> None:
    x = _floats()
    found = evaluate({"y": "half(x)"}, "float", out="half", x=x)["y"]
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16)
    assert np.array_equal(found.view(np.uint16), wanted.view(np.uint16))


def test_float_to_bfloat_rounds_to_nearest_even() -> None:
    x = _floats()
    normal = x[np.abs(x) >= np.finfo(np.float32).tiny]  # of subnormals any zero would do
    found = evaluate({"y": "bfloat(x)"}, "float", out="bfloat", x=normal)["y"]
    assert np.array_equal(found, BFLOAT.encode(normal.astype(np.float64)))


@pytest.mark.parametrize("kind", [HALF, BFLOAT], ids=lambda kind: kind.name)
def test_narrow_to_float_is_exact(kind: Any) -> None:
    """All of them; a NaN stays a NaN, also on the way back."""
    words = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    x = words.view(np.float16) if kind is HALF else words
    found = evaluate({"y": "float(x)"}, kind.name, out="float", x=x)["y"]
    values = kind.decode(words)
    if kind is BFLOAT:
        found, values = FLOAT.flushed(found), FLOAT.flushed(values)
    assert np.array_equal(found, values, equal_nan=True)
    back = evaluate({"y": "float(x)"}, kind.name, out=kind.name, x=x)["y"]
    back_values = kind.decode(back.view(np.uint16))
    if kind is BFLOAT:
        back_values = kind.flushed(back_values)
    assert np.array_equal(back_values, values, equal_nan=True)


@pytest.mark.parametrize("source", _KINDS)
def test_integer_to_floating_rounds_to_nearest_even(source: str) -> None:
    limits = np.iinfo(_KINDS[source])
    rng = np.random.default_rng(4)
    x = rng.integers(limits.min, limits.max, 5000, _KINDS[source], endpoint=True)
    x[:4] = limits.min, limits.max, 0, 1
    found = evaluate({"y": "float(x)", "b": "float(x != 0)"}, source, out="float", x=x)
    assert np.array_equal(found["y"], x.astype(np.float32))
    assert np.array_equal(found["b"], (x != 0).astype(np.float32))
    half = evaluate({"y": "half(x)"}, source, out="half", x=x)["y"]
    with np.errstate(over="ignore"):
        assert np.array_equal(half, x.astype(np.float64).astype(np.float16))
