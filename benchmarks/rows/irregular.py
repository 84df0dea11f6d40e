"""Rows whose addresses are data: histograms, gather and scatter, a pass of a radix sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import torch

import anymetal
from benchmarks.harness import (
    CXX,
    MLX,
    NUMPY,
    TORCH,
    Array,
    Race,
    Rival,
    Row,
    evaluated,
    launched,
    shared,
)
from benchmarks.rivals import aligned, native

# A threadgroup counts 16,384 bytes in its own memory.
_histogram_small = anymetal.metal_kernel(
    name="bench_histogram_small",
    input_names=["x"],
    output_names=["out"],
    atomic_outputs=True,
    source="""
        threadgroup atomic_uint bins[256];
        uint t = thread_position_in_threadgroup.x;
        atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        const device uchar* from = x + threadgroup_position_in_grid.x * 16384;
        for (uint i = t; i < 16384; i += 256) {
            atomic_fetch_add_explicit(&bins[from[i]], 1, memory_order_relaxed);
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint count = atomic_load_explicit(&bins[t], memory_order_relaxed);
        atomic_fetch_add_explicit(&out[t], count, memory_order_relaxed);
    """,
)
_histogram_large = anymetal.metal_kernel(
    name="bench_histogram_large",
    input_names=["x"],
    output_names=["out"],
    atomic_outputs=True,
    source="""
        atomic_fetch_add_explicit(&out[x[thread_position_in_grid.x]], 1, memory_order_relaxed);
    """,
)
_gather = anymetal.metal_kernel(
    name="bench_gather",
    input_names=["x", "places"],
    output_names=["out"],
    source="uint i = thread_position_in_grid.x; out[i] = x[places[i]];",
)
_scatter = anymetal.metal_kernel(
    name="bench_scatter",
    input_names=["x", "places"],
    output_names=["out"],
    source="uint i = thread_position_in_grid.x; out[places[i]] = x[i];",
)

# The pass sorts by 8 bits and keeps the order of equal keys. Blocks of 4096 keys count their
# digits; the counts of each digit are added up over blocks, and then over digits. At last each
# block is sorted in threadgroup memory, 32 keys at a time, and leaves it in this order: neighbours
# mostly go to neighbouring places.
_DIGIT = """
constant constexpr uint BLOCK = 4096, DIGITS = 256;
inline uint digit_of(uint key) { return key >> 8 & (DIGITS - 1); }
"""
_radix_count = anymetal.metal_kernel(
    name="bench_radix_count",
    input_names=["keys"],
    output_names=["counts"],
    header=_DIGIT,
    source="""
        threadgroup atomic_uint bins[DIGITS];
        uint t = thread_position_in_threadgroup.x, block = threadgroup_position_in_grid.x;
        atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint i = t; i < BLOCK; i += DIGITS) {
            uint digit = digit_of(keys[block * BLOCK + i]);
            atomic_fetch_add_explicit(&bins[digit], 1, memory_order_relaxed);
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        counts[block * DIGITS + t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
    """,
)
# A threadgroup has 32 digits, each of its SIMD-groups an eighth of the blocks.
_radix_blocks = anymetal.metal_kernel(
    name="bench_radix_blocks",
    input_names=["counts"],
    output_names=["starts", "totals"],
    header=_DIGIT,
    source="""
        threadgroup uint partial[8][32];
        uint lane = thread_index_in_simdgroup, part = simdgroup_index_in_threadgroup;
        uint digit = thread_position_in_grid.x, each = counts_shape[0] / 8;
        uint total = 0;
        for (uint b = part * each; b < (part + 1) * each; ++b) total += counts[b * DIGITS + digit];
        partial[part][lane] = total;
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint before = 0;
        for (uint p = 0; p < part; ++p) before += partial[p][lane];
        for (uint b = part * each; b < (part + 1) * each; ++b) {
            starts[b * DIGITS + digit] = before;
            before += counts[b * DIGITS + digit];
        }
        if (part == 7) totals[digit] = before;
    """,
)
_radix_digits = anymetal.metal_kernel(
    name="bench_radix_digits",
    input_names=["totals"],
    output_names=["bases"],
    source="""
        threadgroup uint partial[8];
        uint t = thread_position_in_threadgroup.x;
        uint total = totals[t], before = metal::simd_prefix_exclusive_sum(total);
        if (thread_index_in_simdgroup == 31) {
            partial[simdgroup_index_in_threadgroup] = before + total;
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint g = 0; g < simdgroup_index_in_threadgroup; ++g) before += partial[g];
        bases[t] = before;
    """,
)
_radix_move = anymetal.metal_kernel(
    name="bench_radix_move",
    input_names=["keys", "counts", "starts", "bases"],
    output_names=["out"],
    header=_DIGIT,
    source="""
        threadgroup uint begin[DIGITS], next[DIGITS], sorted[BLOCK];
        uint lane = thread_index_in_simdgroup, block = threadgroup_position_in_grid.x;
        uint before = 0;
        for (uint d = lane; d < DIGITS; d += 32) {
            uint count = counts[block * DIGITS + d];
            begin[d] = next[d] = before + metal::simd_prefix_exclusive_sum(count);
            before += metal::simd_sum(count);
        }
        simdgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint i = lane; i < BLOCK; i += 32) {
            uint key = keys[block * BLOCK + i], digit = digit_of(key);
            uint same = 0xffffffff;  // the lanes that have my digit
            for (uint bit = 0; bit < 8; ++bit) {
                bool set = digit >> bit & 1;
                uint votes = uint(ulong(metal::simd_ballot(set)));
                same &= set ? votes : ~votes;
            }
            uint rank = metal::popcount(same & ((1u << lane) - 1));
            uint place = next[digit] + rank;
            simdgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (rank == 0) next[digit] = place + metal::popcount(same);
            simdgroup_barrier(metal::mem_flags::mem_threadgroup);
            sorted[place] = key;
        }
        for (uint d = lane; d < DIGITS; d += 32) {  // how far keys of a digit move
            begin[d] = bases[d] + starts[block * DIGITS + d] - begin[d];
        }
        simdgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint i = lane; i < BLOCK; i += 32) {
            uint key = sorted[i];
            out[begin[digit_of(key)] + i] = key;
        }
    """,
)


def _histogram(
    kernel: Callable[..., list[mx.array]], bins: int, threads: int
) -> Callable[[np.random.Generator], Race]:
    def prepare(random: np.random.Generator) -> Race:
        size, dtype = 1 << 24, np.uint8 if bins == 256 else np.uint16
        x, array, _ = shared(random.integers(0, bins, size, dtype))
        tensor = torch.from_numpy(array.astype(np.int32))  # bincount takes no uint16
        out = aligned(bins, dtype=np.uint32)

        ours = launched(
            kernel,
            inputs=[x],
            grid=(threads, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(bins,)],
            output_dtypes=[mx.uint32],
            init_value=0,
        )

        return Race(
            ours,
            [
                Rival(
                    CXX,
                    "tables of each thread",
                    native(f"histogram_{np.dtype(dtype).name}", array, size, out=out),
                ),
                Rival(TORCH, "bincount of int32", lambda: torch.bincount(tensor, minlength=bins)),
                Rival(
                    MLX,
                    "zeros.at[x].add(1)",
                    evaluated(lambda: mx.zeros(bins, mx.uint32).at[x].add(1)),
                ),
                Rival(NUMPY, "np.bincount", lambda: np.bincount(array, minlength=bins)),
            ],
            [np.bincount(array, minlength=bins)],
            bytes=array.nbytes,
        )

    return prepare


def gather(random: np.random.Generator) -> Race:
    """Numbers from random places."""
    size, table = 1 << 23, 1 << 22
    (x, places), (ax, aplaces), (tx, _) = shared(
        random.standard_normal(table, dtype=np.float32),
        random.integers(0, table, size, np.uint32),
    )
    tplaces = torch.from_numpy(aplaces.astype(np.int32))
    out, t_out = aligned(size), torch.empty(size)

    ours = launched(
        _gather,
        inputs=[x, places],
        grid=(size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.float32],
    )

    return Race(
        ours,
        [
            Rival(CXX, "one load after the other", native("gather", ax, aplaces, size, out=out)),
            Rival(
                TORCH,
                "index_select(out=out), int32",
                lambda: torch.index_select(tx, 0, tplaces, out=t_out),
            ),
            Rival(MLX, "mx.take", evaluated(mx.take, x, places)),
            Rival(NUMPY, "x[places]", lambda: ax[aplaces]),
        ],
        [ax[aplaces]],
        bytes=8 * size + 4 * table,
    )


def scatter(random: np.random.Generator) -> Race:
    """Numbers to places that are a permutation."""
    size = 1 << 22
    (x, places), (ax, aplaces), (tx, _) = shared(
        random.standard_normal(size, dtype=np.float32),
        random.permutation(size).astype(np.uint32),
    )
    tplaces = torch.from_numpy(aplaces.astype(np.int64))
    out, n_out, t_out = aligned(size), np.empty(size, np.float32), torch.empty(size)

    ours = launched(
        _scatter,
        inputs=[x, places],
        grid=(size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.float32],
    )

    def with_mlx() -> mx.array:
        result = mx.zeros(size)
        result[places] = x
        return result

    def with_numpy() -> Array:
        n_out[aplaces] = ax
        return n_out

    return Race(
        ours,
        [
            Rival(CXX, "one store after the other", native("scatter", ax, aplaces, size, out=out)),
            Rival(TORCH, "out.scatter_, int64", lambda: t_out.scatter_(0, tplaces, tx)),
            Rival(MLX, "out[places] = x", evaluated(with_mlx)),
            Rival(NUMPY, "out[places] = x", with_numpy),
        ],
        [with_numpy().copy()],
        bytes=12 * size,
    )


def radix(random: np.random.Generator) -> Race:
    """One pass of a radix sort: a stable sort by 8 of 32 bits."""
    size, block = 1 << 23, 4096
    blocks = size // block
    keys, array, tensor = shared(random.integers(0, 2**32, size, np.uint32))
    signed = tensor.view(torch.int32)
    out = aligned(size, dtype=np.uint32)

    def ours() -> mx.array:
        (counts,) = _radix_count(
            inputs=[keys],
            grid=(256 * blocks, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(blocks, 256)],
            output_dtypes=[mx.uint32],
        )
        starts, totals = _radix_blocks(
            inputs=[counts],
            grid=(256, 8, 1),
            threadgroup=(32, 8, 1),
            output_shapes=[(blocks, 256), (256,)],
            output_dtypes=[mx.uint32] * 2,
        )
        (bases,) = _radix_digits(
            inputs=[totals],
            grid=(256, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(256,)],
            output_dtypes=[mx.uint32],
        )
        (result,) = _radix_move(
            inputs=[keys, counts, starts, bases],
            grid=(32 * blocks, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[(size,)],
            output_dtypes=[mx.uint32],
        )
        mx.eval(result)
        return result

    def with_numpy() -> Array:
        digits = (array >> np.uint32(8)).astype(np.uint8)
        return np.asarray(array[np.argsort(digits, kind="stable")])

    def with_torch() -> Any:
        order = torch.sort((signed >> 8).to(torch.uint8), stable=True).indices
        return signed[order].view(torch.uint32)

    return Race(
        ours,
        [
            Rival(CXX, "lines of 16 keys per digit", native("radix", array, size, out=out)),
            Rival(TORCH, "stable sort of the digits", with_torch),
            Rival(NUMPY, "stable argsort of the digits", with_numpy),
        ],
        [with_numpy()],
        bytes=12 * size,
    )


ROWS = [
    Row("histogram_256", "16 M bytes", _histogram(_histogram_small, 256, 1 << 18)),
    Row("histogram_65536", "16 M uint16", _histogram(_histogram_large, 65536, 1 << 24)),
    Row("gather", "8 M of 4 M float32, random places", gather),
    Row("scatter", "4 M float32, random places", scatter),
    Row("radix", "a pass of a radix sort, 8 M uint32, 4 launches", radix),
]
