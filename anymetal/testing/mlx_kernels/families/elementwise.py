"""Unary, binary and ternary operations and copies, in all forms that MLX launches them in.

The letters in front of an operation tell the form: `v` takes neighbours in memory, `s` one number
for all, `g` any strides, in one, two, three or `n` dimensions; `2` and `large` count in 64 bits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    EPSILON,
    FLOATS,
    TYPE,
    Array,
    Random,
    array,
    error,
    numpy_type,
    random,
    small,
    turned,
    values,
    vectorized,
)

_SIZE = 1023  #: of a contiguous array: no multiple of what a thread takes
_ROW = 33  #: threads in x where they extend in y, too: a divisor of the size
_SHAPE = (3, 5, 37)


def _numbers_per_thread(form: str, size: int) -> int:
    """How many elements a thread takes: what fits into 8 bytes, or what the form says."""
    if form.startswith(("gn", "ggn")):
        return int(re.findall(r"\d", form)[0])
    if form.startswith("g"):
        return 1
    if form.rstrip("2").endswith("n") or form.endswith("2"):
        return max(1, 8 // size)
    return 1


def _strides(form: str) -> tuple[tuple[int, ...], list[int]]:
    """Shape and strides of a view with as many dimensions as the form has."""
    count = int(form[-1]) if form[-1] in "123" and "n" not in form else 3
    shape = {1: (_SIZE,), 2: (5, 37), 3: _SHAPE}[count]
    order = list(reversed(range(count)))  # in memory the first axis is the innermost
    strides, step = [0] * count, 2
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return shape, strides


def _viewed(memory: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    places = sum(
        np.arange(n).reshape([-1 if a == axis else 1 for a in range(len(shape))]) * stride
        for axis, (n, stride) in enumerate(zip(shape, strides, strict=True))
    )
    return memory.reshape(-1)[places]


class Launch:
    """Arrays and numbers for one form: what the kernel gets, and what its operands are."""

    def __init__(
        self, form: str, dtypes: Sequence[str], draw: Callable[[int, Any], mx.array]
    ) -> None:
        form = form.replace("large", "").replace("_dynamic", "")
        self.form = form
        self.general = form.startswith("g")
        if self.general:
            self.shape, self.strides = _strides(form)
        else:
            self.shape, self.strides = (_SIZE,), [1]
        room = 2 * math.prod(self.shape) if self.general else _SIZE
        scalars = self._scalars(len(dtypes))
        self.memory = [draw(i, 1 if scalars[i] else room) for i in range(len(dtypes))]
        self.operands = [
            _viewed(values(m), self.shape, self.strides)
            if self.general
            else np.broadcast_to(values(m), self.shape)
            for m in self.memory
        ]

    def _scalars(self, count: int) -> list[bool]:
        letters = re.match(r"[sv]+", self.form)
        if self.general or letters is None:
            return [False] * count
        given = letters[0]
        if count == 3:  # the condition is always an array
            return [False, *(c == "s" for c in (given if len(given) == 2 else "vv"))]
        return [c == "s" for c in given.ljust(count, given[-1])]

    def numbers(self, arrays: int) -> list[Any]:
        """What stands behind the arrays in the list of buffers."""
        if not self.general:
            return [] if self.form == "ss" else [math.prod(self.shape)]
        if "n" in self.form:
            return [list(self.shape), *[self.strides] * arrays, len(self.shape)]
        return [self.strides if len(self.shape) > 1 else self.strides[0]] * arrays

    def grid(self, per_thread: int) -> tuple[int, int, int]:
        """How many threads there are."""
        if not self.general:
            threads = -(-_SIZE // per_thread)
            return (_ROW, -(-threads // _ROW), 1) if self.form.endswith("2") else (threads, 1, 1)
        x, y, z = (*reversed(self.shape), 1, 1)[:3]
        return -(-x // per_thread), y, z


def _group(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    return (min(grid[0], 32), min(grid[1], 8), min(grid[2], 4)) if grid[1] > 1 else (256, 1, 1)


# --- unary -------------------------------------------------------------------------------------


def _erfinv(y: float) -> float:
    low, high = -6.0, 6.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return (low + high) / 2


#: The operation in double, and between which numbers it is tried.
_UNARY: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "Abs": (np.abs, -3, 3),
    "ArcCos": (np.arccos, -1, 1),
    "ArcCosh": (np.arccosh, 1, 9),
    "ArcSin": (np.arcsin, -1, 1),
    "ArcSinh": (np.arcsinh, -9, 9),
    "ArcTan": (np.arctan, -9, 9),
    "ArcTanh": (np.arctanh, -0.9, 0.9),
    "BitwiseInvert": (np.invert, 0, 1),
    "Ceil": (np.ceil, -9, 9),
    "Conjugate": (np.conjugate, -3, 3),
    "Cos": (np.cos, -9, 9),
    "Cosh": (np.cosh, -3, 3),
    "Erf": (vectorized(math.erf), -3, 3),
    "ErfInv": (vectorized(_erfinv), -0.95, 0.95),
    "Exp": (np.exp, -3, 3),
    "Expm1": (np.expm1, -3, 3),
    "Floor": (np.floor, -9, 9),
    "Imag": (np.imag, -3, 3),
    "Log": (np.log, 0.1, 9),
    "Log10": (np.log10, 0.1, 9),
    "Log1p": (np.log1p, -0.5, 9),
    "Log2": (lambda x: np.log(x) / math.log(2), 0.1, 9),
    "LogicalNot": (np.logical_not, 0, 1),
    "Negative": (lambda x: -x, -3, 3),
    "Real": (np.real, -3, 3),
    "Round": (
        lambda x: np.rint(x.real) + 1j * np.rint(x.imag) if np.iscomplexobj(x) else np.rint(x),
        -9,
        9,
    ),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "Sign": (
        lambda x: np.where(x == 0, x, x / np.abs(x)) if np.iscomplexobj(x) else np.sign(x),
        -3,
        3,
    ),
    "Sin": (np.sin, -9, 9),
    "Sinh": (np.sinh, -3, 3),
    "Sqrt": (np.sqrt, 0, 9),
    "Square": (np.square, -3, 3),
    "Tan": (np.tan, -1.4, 1.4),
    "Tanh": (np.tanh, -3, 3),
}
_UNARY_NAME = re.compile(rf"(?P<form>[vgn0-9]+(?:large)?)_(?P<op>\w+?){TYPE}{TYPE}")


def unary(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`gn4large_ArcTanhbfloat16bfloat16`."""
    match = _UNARY_NAME.fullmatch(name)
    assert match
    form, op, taken, given = match["form"], match["op"], match[3], match[4]
    reference = _UNARY[op][0] if op in _UNARY else None
    launch = Launch(form, [taken], lambda _, n: _drawn(rng, op, taken, n))
    per_thread = _numbers_per_thread(form, DTYPES[taken].size)
    grid = launch.grid(per_thread)
    count = math.prod(launch.shape)
    got = kernel(
        launch.memory[0],
        (count, DTYPES[given]),
        *launch.numbers(1),
        grid=grid,
        threadgroup=_group(grid),
    )[0]
    x = launch.operands[0]
    if reference is None:  # numbers of 8 bits
        convert = mx.to_fp8 if op == "ToFP8" else lambda a, **k: mx.from_fp8(a, DTYPES[given], **k)
        return error(got, values(convert(array(x, taken), stream=mx.cpu)), given, 0)
    # MLX's own expm1 leaves out the low half of log(2).
    ulps = (80 if op == "Expm1" else 32) if taken in ("float32", "complex64") else 2
    if taken not in ("complex64", *FLOATS):
        want = x if op in ("Ceil", "Floor") else _integer(reference, op, x, taken)
    else:
        with np.errstate(all="ignore"):
            want = reference(x)
    return error(got, want, given, ulps, _size(op, x, want) if np.iscomplexobj(x) else None)


def _drawn(rng: Random, op: str, dtype: str, n: int) -> mx.array:
    """Numbers that the operation is for. A NaN of 8 bits is the number 480 to MLX's kernels."""
    _, low, high = _UNARY.get(op, (None, -400.0, 400.0))
    one = random(rng, dtype, n, low, high)
    if op != "FromFP8":
        return one
    held = values(one)
    return array(np.where(held & 127 == 127, 0, held), dtype)


def _size(op: str, x: Array, want: Array) -> Array:
    """What errors of complex results are relative to. Arcsine and arccosine are logarithms of sums
    with a root, whose error they have."""
    if op == "Sqrt":
        return _size_of_root(want)
    size = np.maximum(np.abs(want), 1)
    if op not in ("ArcCos", "ArcSin"):
        return size
    root = np.sqrt(1 - x * x)
    added = x + 1j * root if op == "ArcCos" else 1j * x + root
    rounded = np.maximum(1, np.abs(x) ** 2) / np.abs(root)
    return np.maximum(size, (_size_of_root(root) + rounded) / np.abs(added))


def _size_of_root(root: Array) -> Array:
    """MLX's roots are exact, but for the smaller part of a complex one: that is what the absolute
    value leaves of the real part, or of its negative."""
    size = np.maximum(np.abs(root), 1)
    parts = np.minimum(np.abs(root.real), np.abs(root.imag))
    least = np.maximum(parts, EPSILON["complex64"] ** 0.5 * size)
    return np.maximum(size, np.abs(root) ** 2 / least / 8)


def _integer(reference: Callable[[Array], Array], op: str, x: Array, dtype: str) -> Array:
    if dtype != "bool_" or op == "LogicalNot":
        return reference(x)
    wide = x.astype(np.int32)
    return (reference(wide) != 0) if op != "BitwiseInvert" else np.ones_like(x)


# --- binary ------------------------------------------------------------------------------------


def _logaddexp(a: Array, b: Array) -> Array:
    if np.iscomplexobj(a):
        return np.log(np.exp(a) + np.exp(b))
    return np.logaddexp(a, b)


def _greater(a: Array, b: Array) -> Array:
    if np.iscomplexobj(a):
        return (a.real > b.real) | ((a.real == b.real) & (a.imag > b.imag))
    return a > b


def _divided(a: Array, b: Array) -> Array:
    if a.dtype.kind in "fc":
        return a / b
    wide = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.abs(a.astype(object)) // np.abs(wide.astype(object))
    signs = np.where((a < 0) != (wide < 0), -1, 1).astype(object)
    return (quotient * signs).astype(a.dtype) if a.dtype != np.bool_ else a & wide


def _remainder(a: Array, b: Array) -> Array:
    if np.iscomplexobj(a):
        return np.mod(a.real, b.real) + 1j * np.mod(a.imag, b.imag)
    if a.dtype == np.bool_:
        return np.zeros_like(a)
    return np.mod(a, b)


def _power(a: Array, b: Array) -> Array:
    return (
        np.power(a.astype(np.int64), b).astype(a.dtype) if a.dtype.kind in "bui" else np.power(a, b)
    )


def _wrapped(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Arithmetic of booleans is that of integers, asked whether it is 0."""

    def of(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_:
            return function(a.astype(np.int32), b.astype(np.int32)) != 0
        return function(a, b)

    return of


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Add": _wrapped(np.add),
    "ArcTan2": np.arctan2,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Divide": _divided,
    "Equal": np.equal,
    "Greater": _greater,
    "GreaterEqual": lambda a, b: _greater(a, b) | (a == b),
    "LeftShift": np.left_shift,
    "Less": lambda a, b: _greater(b, a),
    "LessEqual": lambda a, b: _greater(b, a) | (a == b),
    "LogAddExp": _logaddexp,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "Maximum": lambda a, b: np.where(_greater(a, b), a, b),
    "Minimum": lambda a, b: np.where(_greater(a, b), b, a),
    "Multiply": _wrapped(np.multiply),
    "NaNEqual": lambda a, b: (a == b) | (np.isnan(a) & np.isnan(b)),
    "NotEqual": np.not_equal,
    "Power": _power,
    "Remainder": _remainder,
    "RightShift": np.right_shift,
    "Subtract": _wrapped(np.subtract),
}
_COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual", "NaNEqual")
_BINARY_NAME = re.compile(rf"(?P<form>[svgn0-9]+(?:large)?)_(?P<op>[A-Z]\w+?){TYPE}")


def binary(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`vvn_LogAddExpfloat16`."""
    form, op, dtype = _binary_name(name)
    given = "bool_" if op in _COMPARISONS else dtype
    launch, got = _launched(kernel, form, op, dtype, [given], rng)
    a, b = launch.operands
    with np.errstate(all="ignore"):
        want = _BINARY[op](a, b)
        want = turned(want, got[0]) if op == "LogAddExp" else want
        # What is left of two numbers of about one size is as wrong as these.
        scale = np.maximum(np.maximum(np.abs(want), 1), np.abs(a) if op == "Remainder" else 1)
    return error(got[0], want, given, 16 if dtype in ("float32", "complex64") else 2, scale)


def binary_two(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`gn2_DivModint16`: the quotient, rounded down, and what is left."""
    form, op, dtype = _binary_name(name)
    launch, got = _launched(kernel, form, op, dtype, [dtype, dtype], rng)
    a, b = launch.operands
    with np.errstate(all="ignore"):
        if dtype in FLOATS:  # a quotient that rounds to a whole number is that number
            quotient = np.floor(values(array(a / b, dtype)))
        elif dtype == "bool_":
            quotient = a & b
        else:
            quotient = a / b if dtype == "complex64" else np.floor_divide(a, b)
        rest = _remainder(a, b)
    scale = np.maximum(np.abs(a), 1)
    one = error(got[0], quotient, dtype, 16)
    return max(one, error(got[1], rest, dtype, 16, scale))


def _binary_name(name: str) -> tuple[str, str, str]:
    match = _BINARY_NAME.fullmatch(name)
    assert match
    return match["form"], match["op"], match[3]


def _operand(rng: Random, op: str, dtype: str, place: int, n: int) -> mx.array:
    """Operands for which the operation has a value, in all types."""
    integer = dtype not in ("complex64", *FLOATS)
    if op in ("Divide", "Remainder", "DivMod") and place == 1:
        one = small(rng, dtype, n)
        held = values(one)
        if integer:
            return array(np.where(held == 0, 1, held), dtype)
        away = 0.5 + 0.5j if dtype == "complex64" else 0.5
        return array(np.abs(held) + away, dtype)
    if op == "Power":
        if integer:
            return array(rng.integers(0, 2 if dtype == "bool_" else 4, n), dtype)
        return random(rng, dtype, n, 0.5, 2.0)
    if op.endswith("Shift") and place == 1:
        return array(rng.integers(0, 8 * DTYPES[dtype].size, n), dtype)
    if op in ("Equal", "NotEqual", "NaNEqual", "GreaterEqual", "LessEqual"):
        if dtype in FLOATS:
            return array(rng.choice([-1.0, 0.0, 0.5, np.nan], n), dtype)
        return array(rng.integers(0, 2, n), dtype)
    return random(rng, dtype, n)


def _launched(
    kernel: LibraryFunction, form: str, op: str, dtype: str, given: list[str], rng: Random
) -> tuple[Launch, list[mx.array]]:
    launch = Launch(form, [dtype] * 2, lambda place, n: _operand(rng, op, dtype, place, n))
    grid = launch.grid(_numbers_per_thread(form, DTYPES[dtype].size))
    count = math.prod(launch.shape)
    got = kernel(
        *launch.memory,
        *((count, DTYPES[one]) for one in given),
        *launch.numbers(2),
        grid=grid,
        threadgroup=_group(grid),
    )
    return launch, got


# --- ternary and copies ------------------------------------------------------------------------

_TERNARY_NAME = re.compile(rf"(?P<form>[svgn0-9]+(?:large)?)_Select{TYPE}")
_COPY_NAME = re.compile(rf"(?P<form>[svgn0-9]+(?:large)?(?:_dynamic)?)_copy{TYPE}{TYPE}")


def ternary(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`vsn_Selectfloat16`: the second operand is one number."""
    match = _TERNARY_NAME.fullmatch(name)
    assert match
    form, dtype = match["form"], match[2]
    types = ["bool_", dtype, dtype]
    launch = Launch(form, types, lambda place, n: random(rng, types[place], n))
    grid = launch.grid(_numbers_per_thread(form, DTYPES[dtype].size))
    got = kernel(
        *launch.memory,
        (math.prod(launch.shape), DTYPES[dtype]),
        *launch.numbers(3),
        grid=grid,
        threadgroup=_group(grid),
    )[0]
    condition, x, y = launch.operands
    return error(got, np.where(condition, x, y), dtype, 0)


def copy(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`gg2_dynamic_copyint8int8`: both sides with strides, and offsets out of memory."""
    match = _COPY_NAME.fullmatch(name)
    assert match
    form, taken, given = match["form"], match[2], match[3]
    launch = Launch(form, [taken], lambda _, n: _convertible(rng, taken, given, n))
    memory, count, extra = launch.memory[0], math.prod(launch.shape), 0
    numbers: list[Any] = launch.numbers(1)
    if form.startswith("gg"):
        numbers, extra = _both_strided(launch, form)
        count = 2 * count + extra
    grid = launch.grid(_numbers_per_thread(form, DTYPES[given].size))
    got = kernel(memory, (count, DTYPES[given]), *numbers, grid=grid, threadgroup=_group(grid))[0]
    want = _converted(launch.operands[0], taken, given)
    if form.startswith("gg"):
        got = array(_viewed(values(got)[extra:], launch.shape, launch.strides), given)
    return error(got, want, given, 1)


def _convertible(rng: Random, taken: str, given: str, n: int) -> mx.array:
    """Numbers that the other type has, too."""
    if taken in ("complex64", *FLOATS):
        return random(rng, taken, n, 0.0 if "uint" in given else -99.0, 99.0)
    low = 0 if taken == "bool_" or "uint" in taken + given else -99
    return array(rng.integers(low, 99, n), taken)


def _both_strided(launch: Launch, form: str) -> tuple[list[Any], int]:
    """The numbers of `gg` copies, and how far in memory the copy begins."""
    strides: Any = launch.strides if len(launch.shape) > 1 else launch.strides[0]
    if "n" in launch.form:
        numbers = [list(launch.shape), strides, strides, len(launch.shape)]
    else:
        numbers = [strides, strides]
    return ([*numbers, 0, 3], 3) if "dynamic" in form else (numbers, 0)


def _converted(x: Array, taken: str, given: str) -> Array:
    if np.iscomplexobj(x) and given != "complex64":
        x = (x.real != 0) | (x.imag != 0) if given == "bool_" else x.real
    if given == "bool_":
        return x != 0
    return x if given in ("complex64", *FLOATS) else np.trunc(x).astype(numpy_type(given))
