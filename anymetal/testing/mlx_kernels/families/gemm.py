"""Products of matrices in tiles: one after the other, gathered, and with the sums in parts.

`_nt_` in a name: the second matrix lies transposed in memory. `bm`, `bn`, `bk` are the sizes of a
tile, `wm` and `wn` the SIMD-groups that share it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    Random,
    array,
)
from anymetal.testing.mlx_kernels.families.matrices import (
    Stack,
    compared,
    dtype_of,
    numbers,
    picked,
    some_blocks,
    stack,
    threads,
)

_ALPHA, _BETA = 0.75, -1.5
#: Fields of MLX's structs, in their order: `i` is an int, `q` one of 64 bits, `f` a float.
_PARAMS = np.dtype(
    [(f, "i4") for f in ("M", "N", "K", "lda", "ldb", "ldd", "tiles_n", "tiles_m")]
    + [(f"batch_stride_{f}", "i8") for f in "abd"]
    + [(f, "i4") for f in ("swizzle_log", "gemm_k_iterations_aligned", "batch_ndim")],
    align=True,
)
_SPLIT = np.dtype(
    [(f, "i4") for f in ("M", "N", "K", "lda", "ldb", "ldc", "tiles_n", "tiles_m")]
    + [(f"split_k_partition{f}", "i4") for f in ("s", "_stride", "_size")]
    + [(f, "i4") for f in ("swizzle_log", "gemm_k_iterations_aligned")]
)
_ADDED = np.dtype(
    [("ldc", "i4"), ("fdc", "i4"), ("batch_stride_c", "i8"), ("alpha", "f4"), ("beta", "f4")]
)


def packed(fields: np.dtype[Any], **given: Any) -> bytes:
    """The bytes of a struct; fields without a value are 0."""
    one = np.zeros((), fields)
    for name, value in given.items():
        one[name] = value
    return one.tobytes()


@dataclass(frozen=True)
class Tiles:
    """Which tiles a kernel works on, and in which order their matrices lie in memory."""

    m: int
    n: int
    k: int
    group: tuple[int, int, int]
    transposed: tuple[bool, bool]
    dtype: str

    @staticmethod
    def of(name: str) -> Tiles:
        """What the name says."""
        n = numbers(name)
        order = re.search(r"_([nt])([nt])_", name)
        assert order, name
        transposed = order[1] == "t", order[2] == "t"
        group = (32, n["wn"], n["wm"])
        return Tiles(n["bm"], n["bn"], n["bk"], group, transposed, dtype_of(name))

    def sizes(self, rng: Random, ragged: Sequence[bool] | None = None) -> tuple[int, int, int]:
        """Rows, columns and the length of sums, each with a tile's part at its end or without."""
        ends = [bool(x < 0.6) for x in rng.random(3)] if ragged is None else ragged
        m, n, k = (
            some_blocks(rng, size, part)
            for size, part in zip((self.m, self.n, self.k), ends, strict=True)
        )
        return m, n, k

    def tiles(self, m: int, n: int) -> dict[str, int]:
        """The fields of structs that count tiles."""
        return {"tiles_m": -(-m // self.m), "tiles_n": -(-n // self.n)}

    def aligned(self, m: int, n: int, k: int) -> dict[str | int, bool]:
        """The function constants that tell of sizes without a part of a tile."""
        return {
            "align_M": m % self.m == 0,
            "align_N": n % self.n == 0,
            "align_K": k % self.k == 0,
        }

    def operands(self, rng: Random, batch: Sequence[int], m: int, n: int, k: int) -> list[Stack]:
        """Two stacks of matrices to be multiplied."""
        return [
            stack(rng, self.dtype, batch, m, k, self.transposed[0]),
            stack(rng, self.dtype, batch, k, n, self.transposed[1]),
        ]


def params(t: Tiles, m: int, n: int, k: int, a: Stack, b: Stack, **more: int) -> bytes:
    given: dict[str, int] = {
        "M": m,
        "N": n,
        "K": k,
        "lda": a.leading,
        "ldb": b.leading,
        "ldd": n,
        "batch_stride_d": m * n,
        "gemm_k_iterations_aligned": k // t.k,
        **t.tiles(m, n),
    }
    return packed(_PARAMS, **(given | more))


def swizzled(t: Tiles, m: int, n: int, swizzle: int) -> tuple[int, int]:
    """Threadgroups in x and y if 2**swizzle rows of tiles are walked together."""
    count, side = t.tiles(m, n), 1 << swizzle
    return count["tiles_n"] * side, -(-count["tiles_m"] // side)


def fused(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_gemm_fused_nt_float16_float16_bm64_bn32_bk32_wm2_wn2`, `steel_gemm_fused_nax_…`."""
    t = Tiles.of(name)
    m, n, k = t.sizes(rng)
    batch = [2, 2] if rng.random() < 0.5 else [2]
    a, b = t.operands(rng, batch, m, n, k)
    c = stack(rng, t.dtype, batch, m, n)
    # What MLX adds a matrix with are floats: complex numbers would lose their imaginary parts.
    many, added = len(batch) > 1, t.dtype != "complex64" and rng.random() < 0.5
    scaled = added and rng.random() < 0.5
    swizzle = int(rng.integers(3)) if "nax" in name else 0
    alpha, beta = (_ALPHA, _BETA) if scaled else (1.0, 1.0)
    strides = {
        "batch_stride_a": a.strides[-1],
        "batch_stride_b": b.strides[-1],
        "swizzle_log": swizzle,
        "batch_ndim": len(batch),
    }
    more = {"ldc": c.leading, "fdc": 1, "batch_stride_c": c.strides[-1]}
    got = kernel(
        a.memory,
        b.memory,
        c.memory if added else None,
        ((*batch, m, n), DTYPES[t.dtype]),
        params(t, m, n, k, a, b, **strides),
        packed(_ADDED, **more, alpha=alpha, beta=beta) if added else None,
        batch if many else None,
        a.strides + b.strides + (c.strides if added else []) if many else None,
        constants={
            "has_batch": many,
            "use_out_source": added,
            "do_axpby": scaled,
            **t.aligned(m, n, k),
        },
        **threads((*swizzled(t, m, n, swizzle), int(np.prod(batch))), t.group),
    )[0]
    added_up = beta * c.held if added else 0.0
    return compared(got, (alpha if scaled else 1.0) * a.held, b.held, t.dtype, added_up)


# --- gathered ------------------------------------------------------------------------------------


def gather(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_gather_mm_nt_…`: indices for both stacks; `steel_gather_mm_rhs_nt_…` for one."""
    return (_gathered_right if "_rhs_" in name else _gathered)(kernel, name, rng)


def _gathered(kernel: LibraryFunction, name: str, rng: Random) -> float:
    t = Tiles.of(name)
    m, n, k = t.sizes(rng)
    a = t.operands(rng, [2, 2] if rng.random() < 0.5 else [3], m, n, k)[0]
    b = t.operands(rng, [2, 2] if rng.random() < 0.5 else [3], m, n, k)[1]
    many = rng.random() < 0.5
    pick = picked(rng, [2, 2] if many else [3], a, b)
    count = len(pick.batch)
    left, right = pick.strides[:count], pick.strides[count:]
    strides = {"batch_stride_a": left[0], "batch_stride_b": right[0], "batch_ndim": count}
    got = kernel(
        a.memory,
        b.memory,
        *pick.indices,
        ((*pick.batch, m, n), DTYPES[t.dtype]),
        params(t, m, n, k, a, b, **strides),
        pick.batch,
        left,
        right,
        *(part for one in (a, b) for part in (len(one.batch), one.batch, one.strides)),
        constants={"has_batch": many, **t.aligned(m, n, k)},
        **threads((*swizzled(t, m, n, 0), pick.count), t.group),
    )[0]
    return compared(got, *pick.held, t.dtype)


def _gathered_right(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """Each row of the first matrix has its own second one; equal ones are next to each other."""
    t = Tiles.of(name)
    m, n, k = t.sizes(rng)
    a = stack(rng, t.dtype, [], m, k, padding=[0])
    b = stack(rng, t.dtype, [4], k, n, t.transposed[1], padding=[0], shared=False)
    places = np.sort(rng.integers(0, 4, m))
    got = kernel(
        a.memory,
        b.memory,
        array(places, "uint32"),
        ((m, n), DTYPES[t.dtype]),
        params(t, m, n, k, a, b, batch_stride_b=b.strides[0], batch_stride_d=0),
        constants=t.aligned(m, n, k),
        **threads((*swizzled(t, m, n, 0), 1), t.group),
    )[0]
    rows = a.held[:, None, :]
    return compared(got, rows, b.held[places], t.dtype)


# --- sums in parts -------------------------------------------------------------------------------


def split(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_gemm_splitk_nt_float16_float32_…_MN_taligned_K_naligned`: parts of the sums, in
    float32; `steel_gemm_splitk_accum_float16_float32_axbpy` adds the parts up."""
    if "_accum_" in name:
        return _parts_together(kernel, name, rng)
    t = Tiles.of(name)
    nax = "nax" in name
    ends = re.findall(r"_([tn])aligned", name) or ["n", "n"]
    m, n, k = t.sizes(rng, [ends[0] == "n"] * 2 + [ends[1] == "n"])
    parts = 2
    k += parts * t.k  # each part has a tile
    a, b = t.operands(rng, [], m, n, k)
    steps = k // t.k // parts
    if nax:  # the last part is the shorter one
        parts = -(-k // (steps * t.k))
    swizzle = int(rng.integers(2)) if nax else 0
    given = "complex64" if t.dtype == "complex64" else "float32"
    x, y = swizzled(t, m, n, swizzle)
    got = kernel(
        a.memory,
        b.memory,
        ((parts, m, n), DTYPES[given]),
        packed(
            _SPLIT,
            M=m,
            N=n,
            K=k,
            lda=a.leading,
            ldb=b.leading,
            ldc=n,
            split_k_partitions=parts,
            split_k_partition_stride=m * n,
            split_k_partition_size=steps * t.k,
            swizzle_log=swizzle,
            gemm_k_iterations_aligned=steps,
            **t.tiles(m, n),
        ),
        constants={key: t.aligned(m, n, k)[key] for key in ("align_M", "align_N") if nax},
        **threads((x * y * parts, 1, 1) if nax else (x, y, parts), t.group),
    )[0]
    return max(
        compared(got[part : part + 1], a.held[:, low:high], b.held[low:high], given)
        for part, (low, high) in enumerate(_ranges(parts, steps * t.k, k))
    )


def _ranges(parts: int, size: int, k: int) -> list[tuple[int, int]]:
    """From where to where each part adds up; the last one takes the rest."""
    return [(p * size, k if p == parts - 1 else (p + 1) * size) for p in range(parts)]


def _parts_together(kernel: LibraryFunction, name: str, rng: Random) -> float:
    given, held = name.removeprefix("steel_gemm_splitk_accum_").split("_")[:2]
    m, n, parts = int(rng.integers(1, 40)), int(rng.integers(1, 70)), int(rng.integers(2, 9))
    split = stack(rng, held, [parts], m, n, padding=[0], shared=False)
    c = stack(rng, given, [], m, n)
    scaled = name.endswith("axbpy")
    more = [c.memory, c.leading, 1, _ALPHA, _BETA] if scaled else []
    got = kernel(
        split.memory,
        ((m, n), DTYPES[given]),
        parts,
        m * n,
        n,
        *more,
        grid=(n, m, 1),
        threadgroup=(32, 8, 1),
    )[0]
    ones = np.full((m, n, 1, parts), _ALPHA if scaled else 1.0)
    parts_last = np.moveaxis(split.held, 0, -1)[..., None]
    added = (_BETA * c.held if scaled else np.zeros((m, n)))[..., None, None]
    return compared(got, ones, parts_last, given, added)


def segmented(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_segmented_mm_nt_…`: several sums over parts of the common axis."""
    t = Tiles.of(name)
    m, n, k = t.sizes(rng)
    k += t.k
    a, b = t.operands(rng, [], m, n, k)
    pairs = bool(rng.random() < 0.5)
    if pairs:  # anywhere, one of them empty
        ends = np.sort(rng.integers(0, k, (3, 2), endpoint=True), axis=1)
        ends[1] = k // 2
    else:  # each begins where the one before has ended
        inner = np.sort(rng.integers(0, k, 2, endpoint=True))
        ends = np.lib.stride_tricks.sliding_window_view([0, *inner, k], 2)
    count = len(ends)
    places = ends if pairs else np.append(ends[:, 0], k)
    tiles = t.tiles(m, n)
    groups = (tiles["tiles_n"], tiles["tiles_m"], count)
    if "nax" in name and t.k == 64:
        groups = (count, tiles["tiles_n"], tiles["tiles_m"])
    aligned = t.aligned(m, n, k)
    got = kernel(
        a.memory,
        b.memory,
        array(places, "uint32"),
        ((count, m, n), DTYPES[t.dtype]),
        params(t, m, n, k, a, b, gemm_k_iterations_aligned=0),
        constants={
            "segments_contiguous": pairs,
            "align_M": aligned["align_M"],
            "align_N": aligned["align_N"],
        },
        **threads(groups, t.group),
    )[0]
    return max(
        compared(got[i : i + 1], a.held[:, low:high], b.held[low:high], t.dtype)
        for i, (low, high) in enumerate(ends)
    )
