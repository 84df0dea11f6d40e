"""Quantized matrices: made, read, and multiplied in all the ways that MLX has kernels for.

`affine_qmm_t_float16_t_gs_64_b_3_…`: 64 numbers of 3 bits share a scale and a bias. `nvfp4`,
`mxfp4` and `mxfp8` are small floats that share a scale, with 4 and 8 bits. What they stand for is
worked out here from their bits, in double.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    EPSILON,
    Array,
    Random,
    Unused,
    Wrong,
    array,
    error,
    random,
    values,
)
from anymetal.testing.mlx_kernels.families.matrices import Stack, stack, threads

_NAME = re.compile(
    r"(?P<mode>affine|nvfp4|mxfp4|mxfp8)_(?P<op>\w+?)_(?P<type>float16_t|bfloat16_t|float)"
    r"_gs_(?P<group>\d+)_b_(?P<bits>\d)(?P<rest>\w*)"
)
_TYPES = {"float": "float32", "float16_t": "float16", "bfloat16_t": "bfloat16"}
#: The numbers of 4 bits, without those below 0.
_SMALL = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
#: The largest number of 4 bits times that of 8: a scale for all is divided by it.
_RANGE = 6.0 * 448.0


@dataclass(frozen=True)
class _Kind:
    """What the name of a kernel says."""

    mode: str
    op: str
    dtype: str
    group: int
    bits: int
    rest: dict[str, str]  #: what follows, by its letters

    @staticmethod
    def of(name: str) -> _Kind:
        match = _NAME.fullmatch(name)
        assert match, name
        rest = dict(re.findall(r"_([a-zA-Z]+)_?(\d+|true|false)(?=_|$)", match["rest"]))
        if match["rest"].endswith("_hgs"):
            rest["hgs"] = "true"
        dtype, group, bits = _TYPES[match["type"]], int(match["group"]), int(match["bits"])
        return _Kind(match["mode"], match["op"], dtype, group, bits, rest)

    @property
    def affine(self) -> bool:
        return self.mode == "affine"

    @property
    def scaled(self) -> bool:
        """Whether one more scale is for the whole matrix."""
        return self.rest.get("hgs") == "true"

    def number(self, key: str) -> int:
        return int(self.rest[key])


# --- what bits stand for -------------------------------------------------------------------------


def _unpacked(packed: Array, bits: int) -> Array:
    """The integers in rows of bytes, the lowest bits first."""
    ones = np.unpackbits(packed, axis=-1, bitorder="little")
    return ones.reshape(*packed.shape[:-1], -1, bits) @ (1 << np.arange(bits))


def _float8(codes: Array) -> Array:
    """Numbers with 4 bits of exponent and 3 of fraction."""
    codes = codes.astype(int)
    exponent, fraction = (codes >> 3) & 15, codes & 7
    normal = np.ldexp(1 + fraction / 8, exponent - 7)
    size = np.where(exponent == 0, fraction * 2.0**-9, normal)
    return np.where(codes & 128, -size, size)


def _float4(codes: Array) -> Array:
    return np.where(codes & 8, -_SMALL[codes & 7], _SMALL[codes & 7])


def _scale8(mode: str, codes: Array) -> Array:
    """Scales of one byte: powers of 2, or numbers of 8 bits."""
    return _float8(codes) if mode == "nvfp4" else np.ldexp(1.0, codes.astype(int) - 127)


@dataclass(frozen=True)
class _Weights:
    """A stack of quantized matrices in memory, and their numbers."""

    arrays: list[mx.array]  #: integers, scales, and biases
    shapes: list[list[int]]  #: of these, with the batch
    held: Array
    size: Array  #: what the numbers are made of, added up: what may be rounded

    def strides(self) -> list[list[int]]:
        return [_strides(shape) for shape in self.shapes]


def _strides(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def _weights(rng: Random, kind: _Kind, batch: Sequence[int], rows: int, columns: int) -> _Weights:
    """Bits at random."""
    packed = rng.integers(0, 256, (*batch, rows, columns * kind.bits // 8), np.uint8)
    if kind.mode == "mxfp8":  # no NaN
        packed[(packed & 127) == 127] = 0
    groups = columns // kind.group
    place = np.arange(rows)[:, None] * groups + np.arange(columns) // kind.group
    shape = (*batch, rows, groups)
    codes = _unpacked(packed, kind.bits)
    scales = _drawn_scales(rng, kind, shape)
    scale = _scale8(kind.mode, values(scales)) if not kind.affine else values(scales)
    scale = scale.reshape(*batch, -1)[..., place]
    arrays = [mx.array(packed.view(np.uint32)), scales]
    if kind.affine:
        biases = random(rng, kind.dtype, shape, -1, 1)
        bias = values(biases).reshape(*batch, -1)[..., place]
        arrays.append(biases)
        held, size = codes * scale + bias, codes * np.abs(scale) + np.abs(bias)
    else:
        held = scale * (_float8(codes) if kind.bits == 8 else _float4(codes))
        size = np.abs(held)
    return _Weights(arrays, [list(one.shape) for one in arrays], held, size)


def _drawn_scales(rng: Random, kind: _Kind, shape: Sequence[int]) -> mx.array:
    if kind.affine:
        return random(rng, kind.dtype, shape, -(2.0**-kind.bits), 2.0**-kind.bits)
    low, high = (0x20, 0x38) if kind.mode == "nvfp4" else (116, 124)
    return array(rng.integers(low, high, shape), "uint8")


def _compared(got: mx.array, x: Array, w: Array, size: Array, dtype: str) -> float:
    """The error of `x @ w`: numbers that may be rounded to their type before they are multiplied,
    sums in float32, and the result is rounded."""
    ulps = {"float32": 16.0, "float16": 4.0, "bfloat16": 4.0}[dtype]
    return error(got, x @ w, dtype, ulps, np.maximum(np.abs(x) @ size, 2.0**-14))


# --- products ------------------------------------------------------------------------------------


def _k_step(kind: _Kind) -> int:
    """What the length of sums is a multiple of."""
    if "qmv_fast" in kind.op:
        pack = {3: 8, 5: 8, 6: 4}.get(kind.bits, 32 // kind.bits)
        return lcm(pack * (1 if kind.bits == 2 else 2) * 32, kind.group)
    if "nax" in kind.op:
        return lcm(64, kind.group)
    return lcm(32, kind.group)


def _sizes(kind: _Kind, transposed: bool, rng: Random) -> tuple[int, int, int]:
    """Rows, columns and the length of sums, of one or two tiles."""
    tile = 64 if "nax" in kind.op else 32
    m = int(rng.integers(1, 2 * tile)) if "qmm" in kind.op else int(rng.integers(1, 4))
    if not transposed:
        k = int(rng.integers(5, 90)) if "nax" not in kind.op else 64 * int(rng.integers(1, 3))
        return m, lcm(tile, kind.group) * int(rng.integers(1, 3)), k
    n = int(rng.integers(1, 90))
    if "qmv_fast" in kind.op:
        n = 8 * int(rng.integers(1, 7))
    if kind.rest.get("alN") == "true":
        n = tile * int(rng.integers(1, 3))
    if "quad" in kind.op:
        return m, n, kind.number("d")
    if "wide" in kind.op:
        m = kind.number("nv") * int(rng.integers(1, 3)) - int(rng.integers(2))
    return m, n, _k_step(kind) * int(rng.integers(1, 4 if _k_step(kind) < 256 else 2))


def _groups(kind: _Kind, m: int, n: int, batch: int) -> dict[str, Any]:
    """Grid and threadgroup."""
    if "qmm" in kind.op:
        bm, bn = (int(kind.rest.get("bm", 64)), 64) if "nax" in kind.op else (32, 32)
        return threads((-(-n // bn), -(-m // bm), batch), (32, 2, 2))
    if "quad" in kind.op:
        return threads((m, -(-n // 64), batch), (32, 1, 1))
    if "wide" in kind.op:
        rows = 32 // kind.number("kl") * 2
        return threads((-(-m // kind.number("nv")), -(-n // rows), batch), (32, 2, 1))
    if "qvm" in kind.op:
        return threads((m, -(-n // (min(kind.group, 32) * 2)), batch), (32, 2, 1))
    rows = 2 * int(kind.rest.get("r", 4))
    return threads((m, -(-n // rows), batch), (32, 2, 1))


def _has_place(kind: _Kind) -> bool:
    """Whether a kernel takes a scale for the whole: those for vectors do, if they need it or not.
    Some others have it in their names alone."""
    return not kind.affine and re.search(r"qmv$|qmv_fast$|qvm$", kind.op) is not None


@dataclass(frozen=True)
class _Product:
    """Matrices, quantized ones, and what they are multiplied to."""

    kind: _Kind
    x: Stack
    w: _Weights
    sizes: tuple[int, int, int]
    factor: float  #: of the whole
    transposed: bool

    @staticmethod
    def drawn(kind: _Kind, x_batch: list[int], w_batch: list[int], rng: Random) -> _Product:
        transposed = not re.search(r"qvm|_n(_|$)|_nn", kind.op)
        m, n, k = _sizes(kind, transposed, rng)
        x = stack(rng, kind.dtype, x_batch, m, k, padding=[0])
        w = _weights(rng, kind, w_batch, *((n, k) if transposed else (k, n)))
        whole = float(np.float32(rng.uniform(500, 5000)))
        factor = whole / _RANGE if kind.scaled and _has_place(kind) else 1.0
        return _Product(kind, x, w, (m, n, k), factor, transposed)

    def inputs(self) -> list[Any]:
        """The arrays that come first."""
        more = [self.factor * _RANGE] if _has_place(self.kind) else []
        return [*self.w.arrays, *more, self.x.memory]

    def numbers(self) -> list[int]:
        """The sizes, of which those for single vectors leave out the first."""
        m, n, k = self.sizes
        return [k, n, m] if re.search(r"qmm|wide", self.kind.op) else [k, n]

    def described(self) -> list[Any]:
        """The shapes and strides."""
        m, _, k = self.sizes
        strides = self.w.strides()
        return [
            len(self.x.batch),
            [*self.x.batch, m, k],
            [*self.x.strides, k, 1],
            len(self.w.shapes[0]) - 2,
            self.w.shapes[0],
            *strides,
        ]

    def matrices(self) -> tuple[Array, Array]:
        """The quantized matrices and what they are made of, as factors on the right."""
        held, size = self.w.held * self.factor, self.w.size * self.factor
        if self.transposed:
            held, size = np.swapaxes(held, -1, -2), np.swapaxes(size, -1, -2)
        return held, size


def product(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """All kernels of quantized matrices, by what their names say."""
    kind = _Kind.of(name)
    if "quad" in kind.op and (kind.bits not in (2, 4, 8) or kind.number("d") < kind.group):
        raise Unused("bits that are no power of 2, or rows shorter than a group, go to other ones")
    if kind.op.endswith("quantize"):
        return _conversion(kernel, kind, rng)
    if "_rhs" in kind.op:
        return _sorted_product(kernel, kind, rng)
    if kind.op.startswith("gather"):
        return _gathered(kernel, kind, rng)
    if "split" in kind.op:
        return (_split_sums if "qvm" in kind.op else _split_tiles)(kernel, kind, rng)
    batch = ([2, 2] if rng.random() < 0.5 else [2]) if kind.rest["batch"] == "1" else []
    p = _Product.drawn(kind, batch, batch, rng)
    m, n, _ = p.sizes
    got = kernel(
        *p.inputs(),
        ((*batch, m, n), DTYPES[kind.dtype]),
        *p.numbers(),
        *(p.described() if batch else _nothing(p)),
        **_groups(kind, m, n, int(np.prod(batch))),
    )[0]
    return _compared(got, p.x.held, *p.matrices(), kind.dtype)


def _nothing(p: _Product) -> list[Any]:
    """In the place of shapes and strides: what MLX leaves out for single matrices."""
    return [one if isinstance(one, int) else [0] for one in p.described()]


def _gathered(kernel: LibraryFunction, kind: _Kind, rng: Random) -> float:
    batch = [2, 3] if rng.random() < 0.5 else [4]
    p = _Product.drawn(kind, [2, 2] if rng.random() < 0.5 else [3], [3], rng)
    m, n, _ = p.sizes
    left = rng.integers(0, int(np.prod(p.x.batch)), batch)
    right = rng.integers(0, 3, batch)
    got = kernel(
        *p.inputs(),
        array(left, "uint32"),
        array(right, "uint32"),
        ((*batch, m, n), DTYPES[kind.dtype]),
        *p.numbers(),
        *p.described(),
        len(batch),
        batch,
        _strides(batch),
        _strides(batch),
        **_groups(kind, m, n, int(np.prod(batch))),
    )[0]
    x = p.x.held.reshape(-1, *p.x.held.shape[-2:])[left]
    held, size = (one[right] for one in p.matrices())
    return _compared(got, x, held, size, kind.dtype)


def _sorted_product(kernel: LibraryFunction, kind: _Kind, rng: Random) -> float:
    """Each row has its own quantized matrix; equal ones are next to each other."""
    bm, bn, bk = kind.number("bm"), kind.number("bn"), kind.number("bk")
    p = _Product.drawn(kind, [], [3], rng)
    m, n, k = p.sizes
    places = np.sort(rng.integers(0, 3, m))
    got = kernel(
        p.x.memory,
        *p.w.arrays,
        array(places, "uint32"),
        ((m, n), DTYPES[kind.dtype]),
        m,
        n,
        k,
        constants={"align_M": m % bm == 0, "align_N": n % bn == 0, "align_K": k % bk == 0},
        **threads((-(-n // bn), -(-m // bm), 1), (32, kind.number("wn"), kind.number("wm"))),
    )[0]
    held, size = (one[places] for one in p.matrices())
    return _compared(got, p.x.held[:, None, :], held, size, kind.dtype)


def _split_sums(kernel: LibraryFunction, kind: _Kind, rng: Random) -> float:
    """The sums of a vector with a matrix in parts, of which the last one may be shorter."""
    parts = kind.number("spk")
    part = int(rng.integers(4, 12))
    rest = part - int(rng.integers(0, 4))
    k, n = (parts - 1) * part + rest, lcm(64, kind.group)
    x = stack(rng, kind.dtype, [], 1, k, padding=[0])
    w = _weights(rng, kind, [], k, n)
    rows = [shape[-1] for shape in w.shapes]
    got = kernel(
        *w.arrays,
        x.memory,
        ((parts, 1, n), DTYPES[kind.dtype]),
        part,
        n,
        1,
        [parts, 1, k // parts],
        [part, part, 1],
        1,
        [parts, w.shapes[0][0] // parts, rows[0]],
        *([part * one, one, 1] for one in rows),
        rest,
        **_groups(kind, 1, n, parts),
    )[0]
    return max(
        _compared(
            got[p : p + 1], x.held[:, low:high], w.held[low:high], w.size[low:high], kind.dtype
        )
        for p, (low, high) in enumerate((p * part, min(k, (p + 1) * part)) for p in range(parts))
    )


def _split_tiles(kernel: LibraryFunction, kind: _Kind, rng: Random) -> float:
    """Products in tiles, in parts of the sums that are equally long."""
    m, n, _ = _sizes(kind, True, rng)
    part, parts = _k_step(kind), int(rng.integers(2, 4))
    k = parts * part
    x = stack(rng, kind.dtype, [], m, k, padding=[0])
    w = _weights(rng, kind, [], n, k)
    got = kernel(
        *w.arrays,
        x.memory,
        ((parts, m, n), DTYPES[kind.dtype]),
        k,
        n,
        m,
        part,
        m * n,
        **_groups(kind, m, n, parts),
    )[0]
    held, size = w.held.T, w.size.T
    return max(
        _compared(got[p : p + 1], x.held[:, one], held[one], size[one], kind.dtype)
        for p, one in enumerate(slice(p * part, (p + 1) * part) for p in range(parts))
    )


# --- conversions ---------------------------------------------------------------------------------


def _conversion(kernel: LibraryFunction, kind: _Kind, rng: Random) -> float:
    rows, columns = int(rng.integers(1, 20)), lcm(kind.group, 32) * int(rng.integers(1, 5))
    if kind.op == "dequantize":
        return _read(kernel, kind, _weights(rng, kind, [], rows, columns), rng)
    x = random(rng, kind.dtype, (rows, columns), -1, 1)
    whole = float(np.abs(values(x)).max())
    launch: dict[str, Any] = {"grid": x.size // (max(kind.group // 32, 1) if kind.affine else 1)}
    launch["threadgroup"] = min(1024, launch["grid"])
    if kind.op == "quantize_dequantize":
        got = kernel(x, whole, ((rows, columns), DTYPES[kind.dtype]), **launch)[0]
        scale = _wanted_scales(values(x), kind, whole)
        return _nearest(values(got), values(x), scale, kind, EPSILON[kind.dtype])
    packed = ((rows, columns * kind.bits // 8), mx.uint8)
    scales = ((rows, columns // kind.group), DTYPES[kind.dtype] if kind.affine else mx.uint8)
    made = kernel(x, packed, scales, scales if kind.affine else whole, **launch)
    return _affine(made, x, kind) if kind.affine else _floats(made, x, kind, whole)


def _read(kernel: LibraryFunction, kind: _Kind, w: _Weights, rng: Random) -> float:
    whole = float(np.float32(rng.uniform(500, 5000)))
    factor = whole / _RANGE if kind.scaled else 1.0
    pack = {3: 8, 5: 8, 6: 4}.get(kind.bits, 8 // kind.bits)
    packed = w.arrays[0].view(mx.uint8, stream=mx.cpu)
    out = (w.held.shape, DTYPES[kind.dtype])
    threads_ = w.held.size // pack
    more = [] if kind.affine else [whole]
    launch: dict[str, Any] = {"grid": threads_, "threadgroup": min(1024, threads_)}
    got = kernel(packed, *w.arrays[1:], *more, out, **launch)[0]
    return error(got, w.held * factor, kind.dtype, 2, np.maximum(w.size * factor, 2.0**-14))


def _wanted_scales(x: Array, kind: _Kind, whole: float) -> Array:
    """What the largest number of a group becomes the largest small float with: the next power of
    2, or the next number of 8 bits, which the scale for all multiplies."""
    largest = np.abs(x).reshape(x.shape[0], -1, kind.group).max(axis=-1)
    largest /= 448 if kind.bits == 8 else 6
    if kind.mode != "nvfp4":
        return np.exp2(np.round(np.log2(largest)))
    factor = whole / _RANGE if kind.scaled else 1.0
    numbers = _float8(np.arange(127))
    return factor * numbers[np.abs(largest[..., None] / factor - numbers).argmin(axis=-1)]


def _nearest(got: Array, x: Array, scale: Array, kind: _Kind, rounding: float) -> float:
    """How much further than it must be a number is from that which it has become."""
    codes = np.arange(2**kind.bits)
    numbers = _float4(codes) if kind.bits == 4 else _float8(codes[codes & 127 != 127])
    spread = scale.repeat(kind.group, axis=-1)
    least = np.abs(spread[..., None] * numbers - x[..., None]).min(axis=-1)
    off = float(((np.abs(got - x) - least) / np.maximum(np.abs(x), spread)).max())
    if not off <= rounding:
        raise Wrong(f"a number is {off} further off than the nearest one")
    return max(off, 0.0)


def _floats(made: list[mx.array], x: mx.array, kind: _Kind, whole: float) -> float:
    """Scales as they must be, and the numbers that are nearest with them."""
    factor = whole / _RANGE if kind.scaled else 1.0
    scale = factor * _scale8(kind.mode, values(made[1]))
    wanted = _wanted_scales(values(x), kind, whole)
    if not np.allclose(scale, wanted, rtol=1e-6):
        raise Wrong(f"scales: {scale}, not {wanted}")
    codes = _unpacked(values(made[0]), kind.bits)
    got = (_float8(codes) if kind.bits == 8 else _float4(codes)) * scale.repeat(kind.group, axis=-1)
    return _nearest(got, values(x), scale, kind, 1e-5)


def _affine(made: list[mx.array], x: mx.array, kind: _Kind) -> float:
    """Scales and biases must be those of the CPU, and integers the next ones to the numbers; what
    is stored of scales and biases is rounded, and so they may be further off in the same measure.
    """
    by_cpu = mx.quantize(x, kind.group, kind.bits, stream=mx.cpu)[1:]
    worst = max(
        error(got, values(want), kind.dtype, 2, np.abs(values(want)))
        for got, want in zip(made[1:], by_cpu, strict=True)
    )
    scale, bias = (values(one).repeat(kind.group, axis=-1) for one in made[1:])
    most = 2**kind.bits - 1
    exact = np.clip((values(x) - bias) / scale, 0, most)
    off = np.abs(_unpacked(values(made[0]), kind.bits) - exact).max()
    if off > 0.5 + 2 * EPSILON[kind.dtype] * most:
        raise Wrong(f"integers are {off} away from the numbers")
    return worst
