"""metal_math and metal_common against NumPy in double precision, within Metal's error bounds."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.frontend.header_harness import Array, Functions, compile_metal, ulp_error

_RNG = np.random.default_rng(7)
_COUNT = 20000


@dataclass(frozen=True)
class Math:
    """A function, its exact counterpart, the arguments to try and the error allowed in ulp."""

    name: str
    exact: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]
    ulps: float
    half_ulps: float = 1.0
    edges: tuple[float, ...] = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan)


def _round_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _sinpi(x: Array) -> Array:
    turn = x - 2 * np.rint(x / 2)
    folded = np.where(np.abs(turn) > 0.5, np.copysign(1, turn) - turn, turn)
    return np.asarray(np.sin(np.pi * folded))


def _cospi(x: Array) -> Array:
    return _sinpi(0.5 - np.abs(x - 2 * np.rint(x / 2)))


def _fract(x: Array) -> Array:
    return np.asarray(x - np.floor(x))


def _median(x: Array, y: Array, z: Array) -> Array:
    return np.asarray(np.fmax(np.fmin(x, y), np.fmin(np.fmax(x, y), z)))


def _smoothstep(a: Array, b: Array, x: Array) -> Array:
    t = np.clip((x - a) / (b - a), 0, 1)
    t = np.where((a == b) & (a == x), 0, t)  # 0 / 0: Metal leaves it open, a clamped NaN is 0
    return np.asarray(t * t * (3 - 2 * t))


_ANY = (-1e30, 1e30)
_UNIT = (-1.0, 1.0)
_MILD = (-40.0, 40.0)

_FUNCTIONS = [
    Math("ceil", np.ceil, (_MILD,), 0),
    Math("floor", np.floor, (_MILD,), 0),
    Math("trunc", np.trunc, (_MILD,), 0),
    Math("rint", np.rint, (_MILD,), 0, edges=(0.5, 1.5, 2.5, -0.5, -1.5, np.inf, np.nan)),
    Math("round", _round_away, (_MILD,), 0, edges=(0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997)),
    Math("fabs", np.abs, (_ANY,), 0),
    Math("abs", np.abs, (_ANY,), 0),
    Math("sqrt", np.sqrt, ((0, 1e30),), 0.5, 0.5),
    Math("rsqrt", lambda x: 1 / np.sqrt(x), ((1e-30, 1e30), (0.5, 8)), 0.5, 0.5),
    Math("fract", _fract, (_MILD,), 0.5, 0.5, edges=(0.0, 1.0, 0.25, -2.5, np.nan)),
    Math("exp", np.exp, ((-90, 90),), 4),
    Math("exp2", np.exp2, ((-130, 130),), 4),
    Math("exp10", lambda x: np.power(10.0, x), ((-38, 38),), 4),
    Math("log", np.log, ((0, 1e30), (0.9, 1.1)), 4),
    Math("log2", np.log2, ((0, 1e30), (0.9, 1.1)), 4),
    Math("log10", np.log10, ((0, 1e30), (0.9, 1.1)), 4),
    Math("sin", np.sin, (_MILD, (-1e5, 1e5)), 4),
    Math("cos", np.cos, (_MILD, (-1e5, 1e5)), 4),
    Math("tan", np.tan, (_MILD,), 6),
    Math("sinpi", _sinpi, (_MILD, (-1e5, 1e5)), 4),
    Math("cospi", _cospi, (_MILD, (-1e5, 1e5)), 4),
    Math(
        "tanpi",
        lambda x: _sinpi(x) / _cospi(x),
        (_MILD,),
        6,
        edges=(0.0, 0.25, 1.0, 4.0, np.inf, np.nan),
    ),
    Math("asin", np.arcsin, (_UNIT,), 4),
    Math("acos", np.arccos, (_UNIT,), 4),
    Math("atan", np.arctan, (_MILD,), 5),
    Math("sinh", np.sinh, (_MILD, _UNIT), 4),
    Math("cosh", np.cosh, (_MILD,), 4),
    Math("tanh", np.tanh, (_MILD, _UNIT), 5),
    Math("asinh", np.arcsinh, (_ANY, _UNIT), 4),
    Math("acosh", np.arccosh, ((1, 100),), 4),
    Math("atanh", np.arctanh, (_UNIT,), 5),
    Math("saturate", lambda x: np.fmin(np.fmax(x, 0), 1), ((-2, 2),), 0),
    Math("sign", lambda x: np.where(np.isnan(x), 0, np.sign(x)), (_ANY,), 0),
]
_BINARY = [
    Math("atan2", np.arctan2, (_MILD,), 6),
    Math("pow", np.power, ((0, 30),), 16),
    Math("powr", np.power, ((0, 30),), 16, edges=()),
    Math("fmod", np.fmod, (_MILD, (-1e6, 1e6)), 0),
    Math("divide", np.divide, (_MILD,), 0.5, 0.5),
    Math(
        "fdim",
        lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)),
        (_MILD,),
        0.5,
        0.5,
    ),
    Math("fmin", np.fmin, (_MILD,), 0),
    Math("fmax", np.fmax, (_MILD,), 0),
    Math("min", np.fmin, (_MILD,), 0),
    Math("max", np.fmax, (_MILD,), 0),
    Math("copysign", np.copysign, (_MILD,), 0),
    Math("step", lambda e, x: np.where(x < e, 0.0, 1.0), (_MILD,), 0),
]
_TERNARY = [
    Math("fma", lambda x, y, z: x * y + z, (_UNIT,), 0.5, 0.5, edges=(0.0, 1.0, -1.0, np.nan)),
    Math("fmin3", lambda x, y, z: np.fmin(np.fmin(x, y), z), (_MILD,), 0),
    Math("max3", lambda x, y, z: np.fmax(np.fmax(x, y), z), (_MILD,), 0),
    Math("median3", _median, (_MILD,), 0),
    Math("clamp", lambda x, a, b: np.fmin(np.fmax(x, a), b), (_UNIT,), 0),
    # Its result may be far smaller than its arguments: 2^20 ulp allow for the cancellation.
    Math("mix", lambda x, y, a: x + (y - x) * a, ((0, 1),), 2**20, 2**20, edges=(0.0, 1.0)),
    Math("smoothstep", _smoothstep, ((0, 1),), 64, 64, edges=()),
]
_CASES = [(1, f) for f in _FUNCTIONS] + [(2, f) for f in _BINARY] + [(3, f) for f in _TERNARY]
_SPACES = {"": "", "fast": "fast::", "precise": "metal::precise::"}
#: fast:: differs where the reference gives it another bound, or none.
_FAST_ULPS = {"rsqrt": 2.0, "fmod": None, "pow": None, "powr": None}
_NO_VARIANTS = {"sign", "mix", "step", "smoothstep"}


def _spaces(function: Math) -> dict[str, str]:
    return {"": ""} if function.name in _NO_VARIANTS else _SPACES


@pytest.fixture(scope="module")
def functions() -> Functions:
    table = Functions()
    for arity, function in _CASES:
        arguments = ", ".join("xyz"[:arity])
        for space, prefix in _spaces(function).items():
            for kind in ("float", "half"):
                table.add(
                    f"{space}_{function.name}_{kind}",
                    f"{prefix}{function.name}({arguments})",
                    [kind] * arity,
                    kind,
                )
    return table


def _arguments(function: Math, arity: int, kind: type) -> list[Array]:
    """Random numbers of each range, half of them spread over the exponents; then the edges."""
    columns: list[list[Array]] = [[] for _ in range(arity)]
    limit = 6e4 if kind is np.float16 else 1e38
    for low, high in function.ranges:
        low, high = max(low, -limit), min(high, limit)
        for column in columns:
            flat = _RNG.uniform(low, high, _COUNT)
            tiny = np.power(10.0, _RNG.uniform(-6 if kind is np.float16 else -30, 0, _COUNT))
            column.append(np.where(_RNG.random(_COUNT) < 0.5, flat, low + (high - low) * tiny))
    edges = np.meshgrid(*[np.array(function.edges)] * arity)
    with np.errstate(over="ignore"):
        return [
            np.concatenate([*column, edge.ravel()]).astype(kind)
            for column, edge in zip(columns, edges, strict=True)
        ]


@pytest.mark.parametrize("kind", [np.float32, np.float16], ids=["float", "half"])
@pytest.mark.parametrize(("arity", "function"), _CASES, ids=lambda c: getattr(c, "name", ""))
def test_accuracy(functions: Functions, arity: int, function: Math, kind: type) -> None:
    name = "float" if kind is np.float32 else "half"
    arguments = _arguments(function, arity, kind)
    with np.errstate(all="ignore"):
        exact = np.asarray(function.exact(*(a.astype(np.float64) for a in arguments)))
    for space in _spaces(function):
        bound = function.half_ulps if kind is np.float16 else function.ulps
        if space == "fast":
            fast = _FAST_ULPS.get(function.name, bound)
            if fast is None:
                continue
            bound = max(fast, bound)
        # Exactness against a rounded double: a tie of the second rounding may go either way.
        if bound == 0.5:
            bound = 0.5000001
        actual = functions.run(f"{space}_{function.name}_{name}", *arguments, dtype=kind)
        error = ulp_error(actual, exact)
        if kind is np.float32:  # a result that is subnormal may be zero
            error[(actual == 0) & (np.abs(exact) < np.finfo(kind).smallest_normal)] = 0
        worst = int(np.argmax(error))
        assert error[worst] <= bound, (
            f"{space}::{function.name}({[float(a[worst]) for a in arguments]}) = "
            f"{actual[worst]!r}, exact {exact[worst]!r}, {error[worst]:.2f} ulp"
        )


def test_rsqrt_is_correctly_rounded_for_every_half(functions: Functions) -> None:
    every = np.arange(1, 0x7C00, dtype=np.uint16).view(np.float16)
    actual = functions.run("_rsqrt_half", every, dtype=np.float16)
    assert np.array_equal(actual, (1 / np.sqrt(every.astype(np.float64))).astype(np.float16))


def test_rsqrt_is_correctly_rounded_for_every_float(functions: Functions) -> None:
    """Of two binades: others are a power of four away, if no step leaves the range of floats, which
    the largest and the smallest show."""
    ends = [(0x3F80_0000, 0x4080_0000), (1, 0x10_0000), (0x7F70_0000, 0x7F80_0000)]
    for first, last in ends:
        every = np.arange(first, last, dtype=np.uint32).view(np.float32)
        actual = functions.run("_rsqrt_float", every, dtype=np.float32)
        right = (1 / np.sqrt(every.astype(np.float64))).astype(np.float32)
        assert np.array_equal(actual, right)
    special = np.array([0, -0.0, np.inf, -1, np.nan], np.float32)
    actual = functions.run("_rsqrt_float", special, dtype=np.float32)
    np.testing.assert_array_equal(actual, [np.inf, -np.inf, 0, np.nan, np.nan])


def test_fma_of_half_rounds_once(functions: Functions) -> None:
    """Products just above half a unit of the addend: computing in float would round twice."""
    patterns = _RNG.integers(0, 0x7C00, (3, 200000), dtype=np.uint16)
    x, y, z = (row.view(np.float16) for row in patterns)
    # Addends about 2^11 times the product, where ties are decided by the product's last bits.
    with np.errstate(over="ignore"):
        z = (x.astype(np.float64) * y.astype(np.float64) * 2048).astype(np.float16)
    keep = np.isfinite(z) & (z > 0.01)
    x, y, z = x[keep], y[keep], z[keep]
    # Exact: the sum has fewer than 53 bits, and longdouble → half is one rounding from there.
    exact = x.astype(np.longdouble) * y.astype(np.longdouble) + z.astype(np.longdouble)
    actual = functions.run("_fma_half", x, y, z, dtype=np.float16)
    with np.errstate(over="ignore"):
        assert np.array_equal(actual, exact.astype(np.float64).astype(np.float16))


_SPLITTERS = """
extern "C" void split(long n, const float* x, float* out) {
  for (long i = 0; i < n; ++i) {
    int e; float whole, c;
    out[6 * i] = frexp(x[i], e); out[6 * i + 1] = e;
    out[6 * i + 2] = modf(x[i], whole); out[6 * i + 3] = whole;
    out[6 * i + 4] = sincos(x[i], c); out[6 * i + 5] = c;
  }
}
extern "C" void split_half(long n, const half* x, half* out) {
  for (long i = 0; i < n; ++i) {
    int e; half whole;
    out[4 * i] = frexp(x[i], e); out[4 * i + 1] = e;
    out[4 * i + 2] = modf(x[i], whole); out[4 * i + 3] = whole;
  }
}
extern "C" void vectors(const float4* x, float4* out) {
  int4 e; float4 whole; float4 c;
  out[0] = frexp(x[0], e); out[1] = float4(e);
  out[2] = modf(x[0], whole); out[3] = whole;
  out[4] = sincos(x[0], c); out[5] = c; out[6] = ldexp(x[0], int4(1, 2, 3, 4));
}
"""


def test_functions_with_two_results() -> None:
    library = compile_metal(_SPLITTERS)
    x = np.concatenate(
        [
            _RNG.uniform(-100, 100, 1000),
            np.power(10.0, _RNG.uniform(-38, 38, 1000)),
            [0.0, -0.0, 1.0, -1.0, 1e-40, -1e-44, np.inf, -np.inf, np.nan, 16777215.5],
        ]
    ).astype(np.float32)

    def call(name: str, array: Array, width: int) -> Array:
        out = np.zeros((len(array), width), array.dtype)
        pointer = ctypes.c_void_p
        getattr(library, name)(
            ctypes.c_long(len(array)),
            array.ctypes.data_as(pointer),
            out.ctypes.data_as(pointer),
        )
        return out

    for kind, name, width in ((np.float32, "split", 6), (np.float16, "split_half", 4)):
        with np.errstate(over="ignore"):
            values = x.astype(kind)
        out = call(name, values, width)
        mantissa, exponent = np.frexp(values)
        np.testing.assert_array_equal(out[:, 0], mantissa)
        finite = np.isfinite(values)
        np.testing.assert_array_equal(out[finite, 1], exponent[finite])
        with np.errstate(invalid="ignore"):
            fraction, whole = np.modf(values)
        np.testing.assert_array_equal(out[:, 2], fraction)
        np.testing.assert_array_equal(np.signbit(out[finite, 2]), np.signbit(fraction[finite]))
        np.testing.assert_array_equal(out[:, 3], whole)
    small = np.abs(x) < 100
    out = call("split", x[small], 6)
    assert np.all(ulp_error(out[:, 4], np.sin(x[small].astype(np.float64))) <= 4)
    assert np.all(ulp_error(out[:, 5], np.cos(x[small].astype(np.float64))) <= 4)

    four = np.array([1.5, -2.75, 0.0, 1e10], np.float32)
    result = np.zeros((7, 4), np.float32)
    padded = _aligned(four)
    aligned = _aligned(result)
    library.vectors(padded.ctypes.data_as(ctypes.c_void_p), aligned.ctypes.data_as(ctypes.c_void_p))
    mantissa, exponent = np.frexp(four)
    fraction, whole = np.modf(four)
    for row, wanted in enumerate((mantissa, exponent, fraction, whole)):
        np.testing.assert_array_equal(aligned[row], wanted)
    np.testing.assert_allclose(aligned[4], np.sin(four.astype(np.float64)), rtol=1e-6)
    np.testing.assert_array_equal(aligned[6], four * np.float32([2, 4, 8, 16]))


def _aligned(array: Array) -> Array:
    """A copy that starts at a multiple of 64, as vectors in memory must."""
    raw = np.zeros(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def test_ldexp_ilogb_nextafter() -> None:
    table = Functions()
    table.add("ld", "ldexp(x, y)", ["float", "int"], "float")
    table.add("ld_half", "ldexp(x, y)", ["half", "int"], "half")
    table.add("lb", "ilogb(x)", ["float"], "int")
    table.add("next", "nextafter(x, y)", ["float", "float"], "float")
    table.add("next_half", "nextafter(x, y)", ["half", "half"], "half")
    x = (_RNG.uniform(-2, 2, 20000) * np.exp2(_RNG.integers(-125, 126, 20000))).astype(np.float32)
    k = _RNG.integers(-280, 281, 20000).astype(np.int32)
    with np.errstate(over="ignore", under="ignore"):
        wanted = np.ldexp(x, k)
    normal = (np.abs(wanted) >= np.finfo(np.float32).tiny) | (wanted == 0)
    actual = table.run("ld", x, k, dtype=np.float32)
    np.testing.assert_array_equal(actual[normal], wanted[normal])
    h = _RNG.uniform(-2, 2, 5000).astype(np.float16)
    k = _RNG.integers(-30, 31, 5000).astype(np.int32)
    with np.errstate(over="ignore"):
        wanted_half = np.ldexp(h, k)
    np.testing.assert_array_equal(table.run("ld_half", h, k, dtype=np.float16), wanted_half)

    edges = np.float32([0, -0.0, 1, -1, 1e-45, 1e-40, 3e38, np.inf, -np.inf, np.nan])
    special = [-(2**31), -(2**31), 0, 0, -149, -133, 127, 2**31 - 1, 2**31 - 1, 2**31 - 1]
    assert table.run("lb", edges, dtype=np.int32).tolist() == special
    nonzero = x[x != 0]
    np.testing.assert_array_equal(
        table.run("lb", nonzero, dtype=np.int32), np.frexp(nonzero)[1] - 1
    )
    with np.errstate(over="ignore"):
        for name, kind in (("next", np.float32), ("next_half", np.float16)):
            a, b = (grid.ravel().astype(kind) for grid in np.meshgrid(edges, edges))
            actual = table.run(name, a, b, dtype=kind)
            wanted = np.nextafter(a, b)
            np.testing.assert_array_equal(actual, wanted)
            sign = np.signbit(wanted) == np.signbit(actual)
            assert np.all(sign | np.isnan(wanted) | (a == b))


def test_bfloat_computes_in_float_and_rounds_once() -> None:
    """bfloat has no NumPy type: its values are the upper halves of float's."""
    table = Functions()
    names = ["exp", "log", "sin", "sqrt", "rsqrt", "tanh", "floor", "abs", "fract", "precise::exp"]
    for i, name in enumerate(names):
        table.add(f"b{i}", f"as_type<ushort>({name}(as_type<bfloat>(x)))", ["ushort"], "ushort")
        table.add(
            f"f{i}",
            f"as_type<ushort>(bfloat({name}(float(as_type<bfloat>(x)))))",
            ["ushort"],
            "ushort",
        )
    table.add(
        "fma",
        "as_type<ushort>(fma(as_type<bfloat>(x), as_type<bfloat>(y), as_type<bfloat>(z)))",
        ["ushort"] * 3,
        "ushort",
    )
    every = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    value = (every.astype(np.uint32) << 16).view(np.float32)
    every = every[~np.isnan(value)]
    for i, name in enumerate(names):
        actual = table.run(f"b{i}", every, dtype=np.uint16)
        wanted = table.run(f"f{i}", every, dtype=np.uint16)
        different = actual != wanted
        if name == "fract":  # stays below 1, where rounding would reach it
            different &= wanted != 0x3F80
        assert not different.any(), name
    x, y, z = _RNG.integers(0x3000, 0x5000, (3, 1000)).astype(np.uint16)
    a, b, c = ((v.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for v in (x, y, z))
    bits = (a * b + c).astype(np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    assert np.array_equal(table.run("fma", x, y, z, dtype=np.uint16), rounded)
