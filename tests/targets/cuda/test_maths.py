"""The functions of maths.cpp, compiled for this processor, against mpmath."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import mpmath as mp
import numpy as np
import pytest

from anymetal.runtime import zig
from anymetal.targets.cuda import maths

_SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1e-30, 1e30, 2.0, 0.9999999]


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    source = Path(maths.__file__).with_name("maths.cpp")
    options = "-emit-obj -O1 -x c++ -std=c++20 -ffreestanding -mrelocation-model pic".split()
    code = zig.compiled(source, ["-triple", llvm.get_process_triple(), *options])
    library = tmp_path_factory.mktemp("maths") / "maths.so"
    library.write_bytes(zig.link_shared(code))
    return ctypes.CDLL(str(library))


def _samples(low: float, high: float) -> list[float]:
    random = np.random.default_rng(5)
    spread = np.ldexp(random.uniform(-1, 1, 300), random.integers(-40, 40, 300))
    values = np.concatenate([random.uniform(low, high, 300), spread, _SPECIAL])
    return [float(value) for value in values.astype(np.float32)]


def _exact(function: Callable[..., mp.mpf], *arguments: float) -> float:
    """The value as a double; NaN where there is no real one."""
    if any(np.isnan(arguments)):
        return np.nan
    with mp.workprec(120):
        value = function(*map(mp.mpf, arguments))
    return np.nan if isinstance(value, mp.mpc) else float(value)


def _check(found: float, exact: float, arguments: tuple[float, ...]) -> None:
    wanted = np.float32(exact)
    if not np.isfinite(wanted) or wanted == 0:
        assert np.array_equal(np.float32(found), wanted, equal_nan=True), arguments
    else:
        assert abs(found - exact) <= float(np.spacing(np.abs(wanted))), arguments


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("acos", -1, 1),
        ("acosh", 1, 100),
        ("asin", -1, 1),
        ("asinh", -10, 10),
        ("atan", -10, 10),
        ("atanh", -1, 1),
    ],
)
def test_one_argument(functions: ctypes.CDLL, name: str, low: float, high: float) -> None:
    function = getattr(functions, f"{maths.PREFIX}{name}f")
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    for x in _samples(low, high):
        exact = np.copysign(np.inf, x) if name == "atanh" and abs(x) == 1 else None
        _check(function(x), exact or _exact(getattr(mp, name), x), (x,))


def test_atan2(functions: ctypes.CDLL) -> None:
    function = functions.am_atan2f
    function.argtypes, function.restype = [ctypes.c_float] * 2, ctypes.c_float
    values = _samples(-3, 3)
    pairs = [*zip(values, values[::-1], strict=True)]
    pairs += [(y, x) for y in _SPECIAL for x in _SPECIAL]
    for y, x in pairs:
        found, exact = function(y, x), float(np.arctan2(np.float64(y), np.float64(x)))
        _check(found, exact, (y, x))
        assert np.isnan(exact) or np.signbit(found) == np.signbit(exact), (y, x)


def test_rsqrt_is_rounded_correctly(functions: ctypes.CDLL) -> None:
    function = functions.am_rsqrtf
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    random = np.random.default_rng()
    x = np.abs(
        np.concatenate(
            [np.ldexp(random.random(20000) + 1, random.integers(-126, 127, 20000)), [0, np.inf]]
        )
    )
    x = x.astype(np.float32)
    with np.errstate(divide="ignore"):
        expected = (1 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    assert np.array_equal(np.array([function(float(each)) for each in x], np.float32), expected)
    assert np.isnan(function(-1.0)) and np.isnan(function(np.nan))


def test_all_are_there(functions: ctypes.CDLL) -> None:
    for name in maths.NAMES:
        assert getattr(functions, f"{maths.PREFIX}{name}")
