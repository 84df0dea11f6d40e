"""Products with quantized matrices, in all the ways that MLX has kernels for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.conversions import conversion
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    Array,
    Random,
    Unused,
    array,
    error,
)
from anymetal.testing.mlx_kernels.families.matrices import Stack, stack, threads
from anymetal.testing.mlx_kernels.families.packed import (
    RANGE,
    Kind,
    Weights,
    strides,
    weights,
)


def _compared(got: mx.array, x: Array, w: Array, size: Array, dtype: str) -> float:
    """The error of `x @ w`: numbers that may be rounded to their type before they are multiplied,
    sums in float32, and the result is rounded."""
    ulps = {"float32": 16.0, "float16": 4.0, "bfloat16": 4.0}[dtype]
    return error(got, x @ w, dtype, ulps, np.maximum(np.abs(x) @ size, 2.0**-14))


def _k_step(kind: Kind) -> int:
    """What the length of sums is a multiple of."""
    if "qmv_fast" in kind.op:
        pack = {3: 8, 5: 8, 6: 4}.get(kind.bits, 32 // kind.bits)
        return lcm(pack * (1 if kind.bits == 2 else 2) * 32, kind.group)
    if "nax" in kind.op:
        return lcm(64, kind.group)
    return lcm(32, kind.group)


def _sizes(kind: Kind, transposed: bool, rng: Random) -> tuple[int, int, int]:
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


def _groups(kind: Kind, m: int, n: int, batch: int) -> dict[str, Any]:
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


def _has_place(kind: Kind) -> bool:
    """Whether a kernel takes a scale for the whole: those for vectors do, if they need it or not.
    Some others have it in their names alone."""
    return not kind.affine and re.search(r"qmv$|qmv_fast$|qvm$", kind.op) is not None


@dataclass(frozen=True)
class _Product:
    """Matrices, quantized ones, and what they are multiplied to."""

    kind: Kind
    x: Stack
    w: Weights
    sizes: tuple[int, int, int]
    factor: float  #: of the whole
    transposed: bool

    @staticmethod
    def drawn(kind: Kind, x_batch: list[int], w_batch: list[int], rng: Random) -> _Product:
        transposed = not re.search(r"qvm|_n(_|$)|_nn", kind.op)
        m, n, k = _sizes(kind, transposed, rng)
        x = stack(rng, kind.dtype, x_batch, m, k, padding=[0])
        w = weights(rng, kind, w_batch, *((n, k) if transposed else (k, n)))
        whole = float(np.float32(rng.uniform(500, 5000)))
        factor = whole / RANGE if kind.scaled and _has_place(kind) else 1.0
        return _Product(kind, x, w, (m, n, k), factor, transposed)

    def inputs(self) -> list[Any]:
        """The arrays that come first."""
        more = [self.factor * RANGE] if _has_place(self.kind) else []
        return [*self.w.arrays, *more, self.x.memory]

    def numbers(self) -> list[int]:
        """The sizes, of which those for single vectors leave out the first."""
        m, n, k = self.sizes
        return [k, n, m] if re.search(r"qmm|wide", self.kind.op) else [k, n]

    def described(self) -> list[Any]:
        """The shapes and strides."""
        m, _, k = self.sizes
        of_w = self.w.steps()
        return [
            len(self.x.batch),
            [*self.x.batch, m, k],
            [*self.x.strides, k, 1],
            len(self.w.shapes[0]) - 2,
            self.w.shapes[0],
            *of_w,
        ]

    def matrices(self) -> tuple[Array, Array]:
        """The quantized matrices and what they are made of, as factors on the right."""
        held, size = self.w.held * self.factor, self.w.size * self.factor
        if self.transposed:
            held, size = np.swapaxes(held, -1, -2), np.swapaxes(size, -1, -2)
        return held, size


def product(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """All kernels of quantized matrices, by what their names say."""
    kind = Kind.of(name)
    if "quad" in kind.op and (kind.bits not in (2, 4, 8) or kind.number("d") < kind.group):
        raise Unused("bits that are no power of 2, or rows shorter than a group, go to other ones")
    if kind.op.endswith("quantize"):
        return conversion(kernel, kind, rng)
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


def _gathered(kernel: LibraryFunction, kind: Kind, rng: Random) -> float:
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
        strides(batch),
        strides(batch),
        **_groups(kind, m, n, int(np.prod(batch))),
    )[0]
    x = p.x.held.reshape(-1, *p.x.held.shape[-2:])[left]
    held, size = (one[right] for one in p.matrices())
    return _compared(got, x, held, size, kind.dtype)


def _sorted_product(kernel: LibraryFunction, kind: Kind, rng: Random) -> float:
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


def _split_sums(kernel: LibraryFunction, kind: Kind, rng: Random) -> float:
    """The sums of a vector with a matrix in parts, of which the last one may be shorter."""
    parts = kind.number("spk")
    part = int(rng.integers(4, 12))
    rest = part - int(rng.integers(0, 4))
    k, n = (parts - 1) * part + rest, lcm(64, kind.group)
    x = stack(rng, kind.dtype, [], 1, k, padding=[0])
    w = weights(rng, kind, [], k, n)
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


def _split_tiles(kernel: LibraryFunction, kind: Kind, rng: Random) -> float:
    """Products in tiles, in parts of the sums that are equally long."""
    m, n, _ = _sizes(kind, True, rng)
    part, parts = _k_step(kind), int(rng.integers(2, 4))
    k = parts * part
    x = stack(rng, kind.dtype, [], m, k, padding=[0])
    w = weights(rng, kind, [], n, k)
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
