"""What each operator and library function of the subset computes, on NumPy arrays.

Independent of the compiler's headers on purpose. Every function takes the mask of lanes that
take part, and raises `Undefined` where Metal defines no value (or where a float result would not
be exact): the generator avoids such programs, the shrinker steers around them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anymetal.testing.fuzz.types import Array, Type


class Undefined(Exception):
    """The program has no single right answer."""


def require(condition: Array, mask: Array, reason: str) -> None:
    """Raises Undefined unless the condition holds in every active lane."""
    if not np.all(condition | ~mask):
        raise Undefined(reason)


# ------------------------------------------------------------------------------ conversions


def round_bfloat(value: Array) -> Array:
    """float32 values rounded to bfloat precision, to nearest even."""
    bits = value.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(value), value, rounded.astype(np.uint32).view(np.float32))


def convert(value: Array, source: Type, target: Type) -> Array:
    """A static_cast: float to integer truncates, saturates and maps NaN to 0."""
    if target.kind == "bool":
        return np.asarray(value != 0)
    if source.is_float and target.is_integer:
        return _saturate(value, target)
    if target.base == "bfloat":
        return round_bfloat(value.astype(np.float32))
    return np.asarray(value.astype(target.dtype))


def _saturate(value: Array, target: Type) -> Array:
    low, high = target.limits
    whole = np.trunc(np.nan_to_num(value.astype(np.float64), nan=0.0))
    inside = (whole >= float(low)) & (whole < float(high) + (1.0 if target.bits < 64 else 0.0))
    result = np.where(inside, whole, 0.0).astype(target.dtype)
    result = np.where(whole < low, np.array(low, target.dtype), result)
    return np.where(~inside & (whole > 0), np.array(high, target.dtype), result)


def reinterpret(value: Array, source: Type, target: Type) -> Array:
    """as_type: scalars are shape (lanes,), vectors (width, lanes)."""
    columns = value.reshape(source.width, -1).T
    if source.base == "bfloat":
        raw = (columns.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        raw = np.ascontiguousarray(columns.astype(source.dtype))
    result = np.ascontiguousarray(raw).view(target.dtype).T
    return np.asarray(result[0] if target.width == 1 else result)


def exact(wide: Array, kind: Type, mask: Array) -> Array:
    """A float64 result as a value of `kind`, which must hold it without rounding."""
    narrow = wide.astype(kind.dtype)
    back = round_bfloat(narrow) if kind.base == "bfloat" else narrow
    require((back.astype(np.float64) == wide) | np.isnan(wide), mask, f"inexact {kind.name}")
    return narrow


# --------------------------------------------------------------------------------- operators


def unary(op: str, kind: Type, value: Array) -> Array:
    if op == "!":
        return np.asarray(~value)
    return np.asarray(-value if op == "-" else ~value)


def binary(op: str, kind: Type, left: Array, right: Array, mask: Array) -> Array:
    """`left op right`, both already of the type `kind` in which C++ computes."""
    if op in _COMPARE:
        return np.asarray(_COMPARE[op](left, right))
    if op in ("&&", "||"):
        return left & right if op == "&&" else left | right
    if kind.is_float:
        wide = _ARITHMETIC[op](left.astype(np.float64), right.astype(np.float64))
        return exact(wide, kind, mask)
    if op in ("<<", ">>"):
        count = right & kind.dtype.type(kind.bits - 1)
        return np.asarray(left << count if op == "<<" else left >> count)
    if op in ("/", "%"):
        return divide(op, kind, left, right, mask)
    return np.asarray(_ARITHMETIC[op](left, right))


def divide(op: str, kind: Type, left: Array, right: Array, mask: Array) -> Array:
    """Integer division, truncating; undefined for 0 and for the one overflowing quotient."""
    require(right != 0, mask, "division by zero")
    signed = kind.kind == "int"
    special = right == 0
    if signed:
        require((left != kind.limits[0]) | (right != -1), mask, "overflowing division")
        special |= right == -1
    divisor = np.where(special, 1, right).astype(kind.dtype)
    quotient = left // divisor  # rounds down
    if signed:
        adjust = (left - quotient * divisor != 0) & ((left < 0) != (divisor < 0))
        quotient = np.where(right == -1, -left, quotient + adjust.astype(kind.dtype))
    return np.asarray(quotient if op == "/" else left - quotient * right)


_COMPARE: dict[str, Callable[[Array, Array], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_ARITHMETIC: dict[str, Callable[[Array, Array], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}

# ------------------------------------------------------------------------- library functions


def library(name: str, kind: Type, arguments: list[Array], mask: Array) -> Array:
    """A function of the Metal library; `kind` is the type of its first argument."""
    table = _FLOAT if kind.is_float else _INTEGER
    if name == "select":
        return np.where(arguments[2], arguments[1], arguments[0])
    if name in ("any", "all"):
        return np.asarray((np.any if name == "any" else np.all)(arguments[0], axis=0))
    result = table[name](kind, mask, *arguments)
    return np.asarray(result)


Function = Callable[..., Any]


def _rounded(function: Callable[[Array], Any]) -> Function:
    return lambda kind, mask, x: exact(function(x.astype(np.float64)), kind, mask)


def _clamp(kind: Type, mask: Array, x: Array, low: Array, high: Array) -> Any:
    require(low <= high, mask, "clamp bounds out of order")
    return np.minimum(np.maximum(x, low), high)


def _ignoring_nan(function: Callable[[Array, Array], Any]) -> Function:
    return lambda kind, mask, x, y: function(x, y)


def _fma(kind: Type, mask: Array, x: Array, y: Array, z: Array) -> Any:
    product = exact(x.astype(np.float64) * y.astype(np.float64), kind, mask)
    return exact(product.astype(np.float64) + z.astype(np.float64), kind, mask)


def _dot(kind: Type, mask: Array, x: Array, y: Array) -> Any:
    products = x.astype(np.float64) * y.astype(np.float64)
    exact(np.abs(products).sum(axis=0), kind, mask)  # every partial sum is exact then
    return exact(products.sum(axis=0), kind, mask)


def _fract(kind: Type, mask: Array, x: Array) -> Any:
    wide = x.astype(np.float64)
    return exact(wide - np.floor(wide), kind, mask)


_FLOAT: dict[str, Function] = {
    "floor": _rounded(np.floor),
    "ceil": _rounded(np.ceil),
    "trunc": _rounded(np.trunc),
    "rint": _rounded(np.rint),
    "round": _rounded(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "fabs": _rounded(np.abs),
    "sign": _rounded(np.sign),
    "fract": _fract,
    "min": _ignoring_nan(np.fmin),
    "max": _ignoring_nan(np.fmax),
    "clamp": _clamp,
    "fma": _fma,
    "dot": _dot,
    "step": lambda kind, mask, edge, x: np.where(x < edge, 0, 1).astype(kind.dtype),
    "isnan": lambda kind, mask, x: np.isnan(x),
    "isinf": lambda kind, mask, x: np.isinf(x),
    "isfinite": lambda kind, mask, x: np.isfinite(x),
}


def _abs(kind: Type, mask: Array, x: Array) -> Any:
    require((x != kind.limits[0]) | (kind.kind == "uint"), mask, "abs of the smallest integer")
    return np.abs(x)


def _absdiff(kind: Type, mask: Array, x: Array, y: Array) -> Any:
    unsigned = np.dtype(f"uint{kind.bits}")
    return np.maximum(x, y).astype(unsigned) - np.minimum(x, y).astype(unsigned)


def _bits(x: Array, width: int) -> Array:
    """Shape (width, …): bit i of each value, least significant first."""
    raw = x.astype(f"uint{width}")
    shifts = np.arange(width, dtype=raw.dtype).reshape((width,) + (1,) * x.ndim)
    return np.asarray((raw >> shifts) & raw.dtype.type(1))


def _from_bits(bits: Array, kind: Type) -> Array:
    raw = np.zeros(bits.shape[1:], f"uint{kind.bits}")
    for place in range(kind.bits):
        raw |= bits[place].astype(raw.dtype) << raw.dtype.type(place)
    return raw.astype(kind.dtype)


def _leading_zeros(bits: Array) -> Array:
    return np.asarray(np.cumprod(1 - bits[::-1].astype(np.int8), axis=0).sum(axis=0))


def _rotate(kind: Type, mask: Array, x: Array, y: Array) -> Any:
    raw, count = x.astype(f"uint{kind.bits}"), y.astype(f"uint{kind.bits}")
    count &= raw.dtype.type(kind.bits - 1)
    back = (raw.dtype.type(0) - count) & raw.dtype.type(kind.bits - 1)
    return (raw << count | raw >> back).astype(kind.dtype)


def _wide(function: Callable[[Array, Array], Any]) -> Function:
    """Computes in 64 bits and wraps to the type; for types of at most 32 bits."""
    return lambda kind, mask, x, y: function(x.astype(np.int64), y.astype(np.int64)).astype(
        kind.dtype
    )


def _saturating(function: Callable[[Array, Array], Any]) -> Function:
    def run(kind: Type, mask: Array, x: Array, y: Array) -> Any:
        return np.clip(function(x.astype(np.int64), y.astype(np.int64)), *kind.limits).astype(
            kind.dtype
        )

    return run


def _mulhi(kind: Type, mask: Array, x: Array, y: Array) -> Any:
    wide = np.int64 if kind.kind == "int" else np.uint64
    product = x.astype(wide) * y.astype(wide)
    return (product >> wide(kind.bits)).astype(kind.dtype)


def _extract_bits(kind: Type, mask: Array, x: Array, offset: Array, count: Array) -> Any:
    shift, width = int(offset.flat[0]), int(count.flat[0])
    bits = _bits(x, kind.bits)[shift : shift + width]
    filler = bits[-1:] if kind.kind == "int" else np.zeros_like(bits[:1])
    return _from_bits(np.concatenate([bits, *[filler] * (kind.bits - width)]), kind)


_INTEGER: dict[str, Function] = {
    "min": lambda kind, mask, x, y: np.minimum(x, y),
    "max": lambda kind, mask, x, y: np.maximum(x, y),
    "clamp": _clamp,
    "abs": _abs,
    "absdiff": _absdiff,
    "popcount": lambda kind, mask, x: _bits(x, kind.bits).sum(axis=0).astype(kind.dtype),
    "clz": lambda kind, mask, x: _leading_zeros(_bits(x, kind.bits)).astype(kind.dtype),
    "ctz": lambda kind, mask, x: _leading_zeros(_bits(x, kind.bits)[::-1]).astype(kind.dtype),
    "reverse_bits": lambda kind, mask, x: _from_bits(_bits(x, kind.bits)[::-1], kind),
    "rotate": _rotate,
    "hadd": _wide(lambda x, y: (x + y) >> 1),
    "rhadd": _wide(lambda x, y: (x + y + 1) >> 1),
    "addsat": _saturating(np.add),
    "subsat": _saturating(np.subtract),
    "mulhi": _mulhi,
    "extract_bits": _extract_bits,
}
