"""Rotary position embeddings: pairs of numbers turned by angles that follow from their positions.

`single`: one position for all, `freqs`: periods in an array, `large`: indices of 64 bits.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    TYPE,
    Array,
    Random,
    error,
    match,
    random,
    values,
)

_SCALE, _BASE = 0.5, 10000.0


def rope(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`rope_single_freqs_float16`, `rope_large_float32`."""
    single, freqs, _, dtype = match(rf"rope_(single_)?(freqs_)?(large_)?{TYPE}", name)
    batch, heads = 2, int(rng.integers(1, 7))  # a thread turns the pairs of four heads
    steps, half = (1, 16) if single else (int(rng.integers(2, 9)), int(rng.integers(3, 20)))
    forward, traditional, transposed = (bool(one) for one in rng.random(3) < 0.5)
    transposed = transposed and not single
    x = random(rng, dtype, (batch, heads, steps, 2 * half))
    # In memory, positions may come in front of heads.
    memory = mx.contiguous(x.swapaxes(1, 2), stream=mx.cpu) if transposed else x
    periods = random(rng, "float32", half, 1.0, 50.0)
    offsets = rng.integers(0, 20, 1 if single else batch)
    last = [periods, 1] if freqs else [float(np.log2(np.float32(_BASE)))]
    width, matrix = 2 * half, steps * 2 * half
    if single:
        sizes: list[Any] = [int(offsets[0]), _SCALE, width]
        launch: dict[str, Any] = {"grid": (half, batch * heads, 1), "threadgroup": (16, 8, 1)}
    else:
        between = [width, heads * width, 1] if transposed else [matrix, width, 1]
        shared = bool(rng.random() < 0.3)  # one offset for all of the batch
        offsets = offsets[:1].repeat(batch) if shared else offsets
        memory_of = mx.array(offsets[: 1 if shared else batch].astype(np.int32))
        sizes = [memory_of, _SCALE, between, [matrix, width, 1], int(not shared), heads]
        grid = (half, steps, batch * -(-heads // 4))
        launch = {"grid": grid, "threadgroup": (8, 4, 2)}
    got = kernel(
        memory,
        (x.shape, x.dtype),
        *sizes,
        *last,
        constants={"forward": forward, "traditional": traditional, "hs_transpose": transposed},
        **launch,
    )[0]
    positions = _SCALE * (np.arange(steps) + np.broadcast_to(offsets, batch)[:, None])
    turns = 1 / values(periods) if freqs else _BASE ** -(np.arange(half) / half)
    angles = (positions[..., None] * turns)[:, None] * (1 if forward else -1)
    want = _turned(values(x), angles, traditional)
    # The angle is a float32 as well, and the cosine is the fast one.
    return error(got, want, dtype, 128 if dtype == "float32" else 2, np.maximum(np.abs(want), 1))


def _turned(x: Array, angles: Array, traditional: bool) -> Array:
    """Pairs are neighbours in the traditional order, else half of a row apart."""
    half = x.shape[-1] // 2
    pairs = x.reshape(*x.shape[:-1], half, 2) if traditional else x.reshape(*x.shape[:-1], 2, half)
    one, two = (
        (pairs[..., 0], pairs[..., 1]) if traditional else (pairs[..., 0, :], pairs[..., 1, :])
    )
    turned = (
        one * np.cos(angles) - two * np.sin(angles),
        one * np.sin(angles) + two * np.cos(angles),
    )
    return np.stack(turned, axis=-1 if traditional else -2).reshape(x.shape)
