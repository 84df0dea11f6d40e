"""Metal's mathematical functions as a table: how they are called, what is exact, what is allowed.

The bounds are those of Metal's tables of accuracy, in units in the last place (ulp): of
`metal::precise`, which plain names promise too, of `metal::fast` where a number is stated, and of
half. bfloat has no table; its functions are float's, rounded once more.

The exact value is a function of NumPy in double (2^-29 ulp of float, or less), and of mpmath
where the result is irrational: that settles the numbers that are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Range = tuple[float, float]

#: Correctly rounded.
ROUNDED = 0.5
_MILD: Range = (-40.0, 40.0)
_UNIT: Range = (-1.0, 1.0)
_TURNS: Range = (-1e5, 1e5)


@dataclass(frozen=True)
class Function:
    """A function of up to three arguments x, y, z of one type, with a result of that type."""

    name: str
    exact: Callable[..., Any]  #: in double, with NumPy
    ulps: float  #: bound for float; infinity if Metal states none
    half: float  #: bound for half
    call: str = ""  #: the expression, with {space}; by default `name` applied to the arguments
    arity: int = 1
    ranges: tuple[Range, ...] = ()  #: where arguments are drawn from, besides all exponents
    points: tuple[float, ...] = ()  #: arguments whose neighbours are tried
    partner: Callable[..., Any] | None = None  #: last argument for the others and -1 <= u <= 1
    precise: Callable[..., Any] | None = None  #: the exact value, with mpmath
    fast: float | None = None  #: bound of fast::, where it differs
    absolute: float = 0  #: bound of fast:: for 1/2 <= x <= 2, of the absolute error
    variants: bool = True  #: exists in metal::fast and metal::precise
    positive: bool = False  #: defined for x > 0 only
    below: float = float("inf")  #: results stay below it, even if it is the nearest number

    def expression(self, space: str) -> str:
        arguments = ", ".join("xyz"[: self.arity])
        return (self.call or "{space}{name}({arguments})").format(
            space=space, name=self.name, arguments=arguments
        )


def _round(x: Array) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


def _sinpi(x: Array) -> Any:
    turn = x - 2 * np.rint(x / 2)
    distance = np.abs(turn)
    return np.copysign(np.sin(np.pi * np.where(distance > 0.5, 1 - distance, distance)), turn)


def _cospi(x: Array) -> Any:
    return np.sin(np.pi * (0.5 - np.abs(x - 2 * np.rint(x / 2))))


def _fract(x: Array) -> Any:
    return x - np.floor(x)


def _median(x: Array, y: Array, z: Array) -> Any:
    return np.fmax(np.fmin(x, y), np.fmin(np.fmax(x, y), z))


def _clamp(x: Array, low: Any, high: Any) -> Any:
    return np.fmin(np.fmax(x, low), high)


def _fdim(x: Array, y: Array) -> Any:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0))


def _ilogb(x: Array) -> Any:
    exponent = np.frexp(x)[1] - 1.0
    return np.where(np.isfinite(x), np.where(x == 0, -(2.0**31), exponent), 2.0**31 - 1)


def _sign(x: Array) -> Any:
    return np.where(np.isnan(x), 0, np.sign(x))


def _ldexp(x: Array, y: Array) -> Any:
    k = np.where(np.isnan(y), 0, np.clip(np.trunc(y), -700, 700)).astype(np.int32)
    return np.ldexp(x, k)


def _same_size(x: Array, u: Array) -> Any:
    """Partner of about the same magnitude."""
    return x * (1 + u)


def _divisor(x: Array, u: Array) -> Any:
    """A number of which x is nearly a multiple."""
    return x / np.rint(1 + 1000 * np.abs(u))


def _exponent(x: Array, u: Array) -> Any:
    """An exponent for which the power is neither 0 nor infinite."""
    return 88 * u / np.log(np.abs(x))


def _cancelling(x: Array, y: Array, u: Array) -> Any:
    return -x * y * (1 + u * np.exp2(-np.rint(24 * np.abs(u))))


_QUARTERS = tuple(np.pi / 2 * k for k in (*range(1, 200), *np.unique(np.geomspace(200, 1e37, 400))))
_HALVES = tuple(k / 2 for k in range(-16, 17))
_INF = float("inf")

_ROUNDING = [
    Function(name, exact, ROUNDED, ROUNDED, ranges=(_MILD,), points=_HALVES)
    for name, exact in (
        ("ceil", np.ceil),
        ("floor", np.floor),
        ("trunc", np.trunc),
        ("rint", np.rint),
        ("round", _round),
    )
] + [Function("fract", _fract, ROUNDED, ROUNDED, ranges=(_MILD,), points=_HALVES, below=1)]

_POWERS = [
    Function("sqrt", np.sqrt, ROUNDED, ROUNDED, precise=mp.sqrt),
    Function(
        "rsqrt",
        lambda x: 1 / np.sqrt(x),
        ROUNDED,
        ROUNDED,
        precise=lambda x: 1 / mp.sqrt(x),
        fast=2,
        ranges=((0.5, 8),),
    ),
    Function("exp", np.exp, 4, 1, precise=mp.exp, fast=3, ranges=((-90, 90), _UNIT)),
    Function(
        "exp2", np.exp2, 4, 1, precise=lambda x: mp.power(2, x), fast=3, ranges=((-130, 130),)
    ),
    Function(
        "exp10",
        lambda x: np.power(10.0, x),
        4,
        1,
        precise=lambda x: mp.power(10, x),
        ranges=((-39, 39),),
    ),
    Function(
        "log",
        np.log,
        4,
        1,
        precise=mp.log,
        fast=3,
        absolute=2.0**-21,
        ranges=((0.5, 2),),
        points=(1,),
    ),
    Function(
        "log2",
        np.log2,
        4,
        1,
        precise=lambda x: mp.log(x) / mp.log(2),
        fast=2,
        absolute=2.0**-22,
        ranges=((0.5, 2),),
        points=(1,),
    ),
    Function("log10", np.log10, 4, 1, precise=mp.log10, ranges=((0.5, 2),), points=(1,)),
    Function(
        "pow",
        np.power,
        16,
        1,
        fast=_INF,
        arity=2,
        precise=mp.power,
        ranges=((0, 30), (0.9, 1.1), (-9, 9)),
        partner=_exponent,
    ),
    Function(
        "powr",
        np.power,
        16,
        1,
        fast=_INF,
        arity=2,
        precise=mp.power,
        ranges=((0, 30), (0.9, 1.1)),
        partner=_exponent,
        positive=True,
    ),
]

_TRIGONOMETRY = [
    Function("sin", np.sin, 4, 1, precise=mp.sin, ranges=(_MILD, _TURNS), points=_QUARTERS),
    Function("cos", np.cos, 4, 1, precise=mp.cos, ranges=(_MILD, _TURNS), points=_QUARTERS),
    Function("tan", np.tan, 6, 1, precise=mp.tan, ranges=(_MILD, _TURNS), points=_QUARTERS),
    Function(
        "sincos (sine)",
        np.sin,
        4,
        1,
        "[&] {{ T c; return {space}sincos(x, c); }}()",
        precise=mp.sin,
        ranges=(_MILD, _TURNS),
        points=_QUARTERS,
    ),
    Function(
        "sincos (cosine)",
        np.cos,
        4,
        1,
        "[&] {{ T c; {space}sincos(x, c); return c; }}()",
        precise=mp.cos,
        ranges=(_MILD, _TURNS),
        points=_QUARTERS,
    ),
    Function("sinpi", _sinpi, 4, 1, precise=mp.sinpi, ranges=(_MILD, _TURNS), points=_HALVES),
    Function("cospi", _cospi, 4, 1, precise=mp.cospi, ranges=(_MILD, _TURNS), points=_HALVES),
    Function(
        "tanpi",
        lambda x: _sinpi(x) / _cospi(x),
        6,
        1,
        precise=lambda x: mp.sinpi(x) / mp.cospi(x),
        ranges=(_MILD, _TURNS),
        points=_HALVES,
    ),
    Function("asin", np.arcsin, 4, 1, precise=mp.asin, ranges=(_UNIT,), points=(-1, -0.5, 0.5, 1)),
    Function("acos", np.arccos, 4, 1, precise=mp.acos, ranges=(_UNIT,), points=(-1, -0.5, 0.5, 1)),
    Function("atan", np.arctan, 5, 1, precise=mp.atan, ranges=(_MILD, _UNIT), points=(-1, 1)),
    Function(
        "atan2",
        np.arctan2,
        6,
        1,
        arity=2,
        precise=mp.atan2,
        ranges=(_MILD,),
        partner=_same_size,
    ),
    Function("sinh", np.sinh, 4, 1, precise=mp.sinh, ranges=((-90, 90), _UNIT)),
    Function("cosh", np.cosh, 4, 1, precise=mp.cosh, ranges=((-90, 90), _UNIT)),
    Function("tanh", np.tanh, 5, 1, precise=mp.tanh, ranges=((-10, 10), _UNIT)),
    Function("asinh", np.arcsinh, 4, 1, precise=mp.asinh, ranges=(_MILD, _UNIT)),
    Function("acosh", np.arccosh, 4, 1, precise=mp.acosh, ranges=((1, 2), (1, 100)), points=(1,)),
    Function("atanh", np.arctanh, 5, 1, precise=mp.atanh, ranges=(_UNIT,), points=(-1, 1)),
]

_ARITHMETIC = [
    Function("x + y", np.add, ROUNDED, ROUNDED, "x + y", 2, partner=lambda x, u: -x * (1 + u)),
    Function("x - y", np.subtract, ROUNDED, ROUNDED, "x - y", 2, partner=_same_size),
    Function("x * y", np.multiply, ROUNDED, ROUNDED, "x * y", 2, (_MILD,)),
    Function("1 / x", np.reciprocal, ROUNDED, ROUNDED, "T(1) / x"),
    Function("x / y", np.divide, ROUNDED, ROUNDED, "x / y", 2, (_MILD,), partner=_divisor),
    Function("divide", np.divide, ROUNDED, ROUNDED, "", 2, (_MILD,), partner=_divisor, fast=2.5),
    Function("fmod", np.fmod, 0, 0, "", 2, (_MILD, _TURNS), partner=_divisor, fast=_INF),
    Function("fdim", _fdim, ROUNDED, ROUNDED, "", 2, (_MILD,), partner=_same_size),
    Function(
        "fma",
        lambda x, y, z: x * y + z,
        ROUNDED,
        ROUNDED,
        arity=3,
        ranges=(_UNIT, _MILD),
        partner=_cancelling,
        precise=lambda x, y, z: x * y + z,
    ),
    Function(
        "ldexp", _ldexp, ROUNDED, ROUNDED, "{space}ldexp(x, int(y))", 2, ((-160, 160), (-20, 20))
    ),
]

_EXACT = [
    Function("fabs", np.abs, 0, 0),
    Function("abs", np.abs, 0, 0),
    Function(
        "frexp", lambda x: np.frexp(x)[0], 0, 0, "[&] {{ int e; return {space}frexp(x, e); }}()"
    ),
    Function(
        "frexp (exponent)",
        lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0),
        0,
        0,
        "[&] {{ int e; {space}frexp(x, e); return T(e); }}()",
    ),
    Function("ilogb", _ilogb, ROUNDED, ROUNDED, "T({space}ilogb(x))"),
    Function(
        "modf",
        lambda x: np.modf(x)[0],
        0,
        0,
        "[&] {{ T whole; return {space}modf(x, whole); }}()",
        ranges=(_MILD,),
        points=_HALVES,
    ),
    Function(
        "modf (whole)",
        np.trunc,
        0,
        0,
        "[&] {{ T whole; {space}modf(x, whole); return whole; }}()",
        ranges=(_MILD,),
        points=_HALVES,
    ),
    *(
        Function(name, exact, 0, 0, "", 2, (_MILD,), partner=_same_size)
        for name, exact in (
            ("fmin", np.fmin),
            ("fmax", np.fmax),
            ("min", np.fmin),
            ("max", np.fmax),
            ("copysign", np.copysign),
        )
    ),
    *(
        Function(prefix + name, exact, 0, 0, "", 3, (_MILD,))
        for prefix in ("f", "")
        for name, exact in (
            ("min3", lambda x, y, z: np.fmin(np.fmin(x, y), z)),
            ("max3", lambda x, y, z: np.fmax(np.fmax(x, y), z)),
            ("median3", _median),
        )
    ),
    Function("clamp", _clamp, 0, 0, "", 3, (_UNIT,)),
    Function("saturate", lambda x: _clamp(x, 0.0, 1.0), 0, 0, ranges=((-2, 2),)),
    Function("sign", _sign, 0, 0, variants=False),
    Function("step", lambda x, y: np.where(y < x, 0.0, 1.0), 0, 0, "", 2, (_MILD,), variants=False),
]

FUNCTIONS: tuple[Function, ...] = (*_ARITHMETIC, *_ROUNDING, *_POWERS, *_TRIGONOMETRY, *_EXACT)
