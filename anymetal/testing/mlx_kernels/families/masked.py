"""Products of matrices whose blocks have factors, of which many are 0: `outmask` those of the
result, `opmask` those of the operands. `bool_` factors are 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    Array,
    Random,
    array,
    error,
    values,
)
from anymetal.testing.mlx_kernels.families.gemm import Tiles, params, swizzled
from anymetal.testing.mlx_kernels.families.matrices import (
    Stack,
    blocks_of,
    dtype_of,
    numbers,
    stack,
    threads,
)


def _mask(rng: Random, kind: str, batch: Sequence[int], rows: int, columns: int) -> Stack:
    """A factor for each block; about a third are 0, but not the first one: something is left."""
    drawn = stack(rng, "float32", batch, rows, columns, padding=[0], shared=False)
    held = np.where(np.abs(drawn.held) < 0.35, 0.0, drawn.held)
    held[..., 0, 0] = np.where(held[..., 0, 0] == 0, 0.5, held[..., 0, 0])
    held = (held != 0).astype(float) if kind == "bool_" else held
    memory = array(held, kind)
    held = values(memory).astype(float)
    return Stack(memory, held, drawn.leading, drawn.batch, drawn.strides)


def _spread(mask: Stack, block: int, rows: int, columns: int) -> Array:
    """The factor of each element."""
    return mask.held.repeat(block, axis=-2).repeat(block, axis=-1)[..., :rows, :columns]


def gemm(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_gemm_block_outmask_bool__opmask_float16_nt_…_MN_naligned_K_taligned`."""
    t = Tiles.of(name)
    ends = re.findall(r"_([tn])aligned", name)
    m, n, k = t.sizes(rng, [ends[0] == "n"] * 2 + [ends[1] == "n"])
    of_result, of_operands = _masks(name)
    batch = [2, 2] if rng.random() < 0.5 else [2]
    a, b = t.operands(rng, batch, m, n, k)
    blocks = [-(-size // t.m) for size in (m, n, k)]
    result = _mask(rng, of_result, batch, blocks[0], blocks[1]) if of_result else None
    first = _mask(rng, of_operands, batch, blocks[0], blocks[2]) if of_operands else None
    second = _mask(rng, of_operands, batch, blocks[2], blocks[1]) if of_operands else None
    all_masks = [one for one in (result, first, second) if one]
    nothing = mx.zeros(1, mx.uint8, stream=mx.cpu)
    strides = {
        "batch_stride_a": a.strides[-1],
        "batch_stride_b": b.strides[-1],
        "batch_ndim": len(batch),
    }
    got = kernel(
        a.memory,
        b.memory,
        ((*batch, m, n), DTYPES[t.dtype]),
        params(t, m, n, k, a, b, **strides),
        batch,
        [step for one in (a, b, *all_masks) for step in one.strides],
        *(one.memory if one else nothing for one in (result, first, second)),
        [step for one in all_masks for step in (1, one.leading)],
        **threads((*swizzled(t, m, n, 0), int(np.prod(batch))), t.group),
    )[0]
    left = a.held * _spread(first, t.m, m, k) if first else a.held
    right = b.held * _spread(second, t.m, k, n) if second else b.held
    return _of_masked(got, left, right, _spread(result, t.m, m, n) if result else None, t.dtype)


def _masks(name: str) -> tuple[str, str]:
    """The types of the masks of the result and the operands; "" for none."""
    match = re.search(r"outmask_(bool_|[a-z0-9]+)_opmask_(bool_|[a-z0-9]+)_", name)
    assert match, name
    first, second = ("" if kind == "nomask" else kind for kind in match.groups())
    return first, second


def _of_masked(got: mx.array, a: Array, b: Array, factors: Array | None, dtype: str) -> float:
    """Factors are multiplied in the type itself, and the result once more."""
    want, scale = a @ b, np.abs(a) @ np.abs(b)
    if factors is not None:
        want, scale = want * factors, scale * np.abs(factors)
    return error(got, want, dtype, 8 if dtype == "float32" else 3, np.maximum(scale, 2.0**-14))


def gemv(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`gemv_t_outmask_bool__opmask_float16_float16_bm1_bn2_sm8_sn4_tm8_tn4_nc1`.

    Outputs are a multiple of what a thread makes: for others MLX's kernels take factors of the
    block next to theirs.
    """
    of_result, of_operands = _masks(name)
    plain = re.sub(r"_outmask_\w+_opmask_(?:bool_|[a-z0-9]+)", "", name)
    dtype, blocks, block = dtype_of(plain), blocks_of(plain), blocks_of(plain).inputs
    outputs, inputs = blocks.sizes(rng)
    outputs -= outputs % blocks.per_thread
    batch = [2, 2] if numbers(name)["nc"] else [2]
    matrix = stack(rng, dtype, batch, outputs, inputs, blocks.transposed)
    vector = stack(rng, dtype, batch, inputs, 1, padding=[0])
    count, steps = -(-outputs // block), -(-inputs // block)
    result = _mask(rng, of_result, batch, count, 1) if of_result else None
    first = _matrix_mask(rng, of_operands, batch, (count, steps), blocks.transposed)
    second = _mask(rng, of_operands, batch, steps, 1) if of_operands else None
    all_masks = [one for one in (result, first, second) if one]
    nothing = mx.zeros(1, mx.uint8, stream=mx.cpu)
    got = kernel(
        matrix.memory,
        vector.memory,
        ((*batch, outputs, 1), DTYPES[dtype]),
        inputs,
        outputs,
        matrix.leading,
        len(batch),
        batch,
        vector.strides,
        matrix.strides,
        *(one.memory if one else nothing for one in (result, first, second)),
        [step for one in all_masks for step in (1, one.leading)],
        [step for one in all_masks for step in one.strides],
        **blocks.launch(outputs, int(np.prod(batch))),
    )[0]
    left = matrix.held * _spread(first, block, outputs, inputs) if first else matrix.held
    right = vector.held * _spread(second, block, inputs, 1) if second else vector.held
    factors = _spread(result, block, outputs, 1) if result else None
    return _of_masked(got, left, right, factors, dtype)


def _matrix_mask(
    rng: Random, kind: str, batch: Sequence[int], blocks: tuple[int, int], transposed: bool
) -> Stack | None:
    """Factors of a matrix, which lie in memory as the matrix does."""
    if not kind:
        return None
    if not transposed:
        return _mask(rng, kind, batch, *blocks)
    one = _mask(rng, kind, batch, *reversed(blocks))
    return Stack(one.memory, np.swapaxes(one.held, -1, -2), one.leading, one.batch, one.strides)
