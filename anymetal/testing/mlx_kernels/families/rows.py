"""What is done to rows of numbers: softmax, its logarithm's sum, norms and their gradients, inner
products.

`block_` kernels have a thread for a few numbers of a row, `looped` ones take a row of any length
with 1,024 threads.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    EPSILON,
    TYPE,
    Array,
    Random,
    error,
    match,
    random,
    values,
)

_EPS = 1e-5
#: Below it, numbers of 16 bits are no longer rounded relative to their size.
_TINY = 2.0**-14
#: Several operations in the type itself, one behind the other.
_STEPS = {"float32": 16.0, "float16": 3.0, "bfloat16": 3.0}


def _length(rng: Random, looped: bool, limit: int) -> int:
    """That of a row: above the limit of the host code if the kernel has a loop."""
    return limit + int(rng.integers(1, 300)) if looped else int(rng.integers(5, 700))


def _launch(rows: int, length: int, looped: bool, reads: int) -> dict[str, Any]:
    """A threadgroup for each row, with whole SIMD-groups of which a thread reads so many."""
    group = 1024 if looped else 32 * -(-length // (32 * reads))
    return {"grid": rows * group, "threadgroup": group}


def softmax(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`block_softmax_precise_float16`. Without `precise`, sums are in the type itself."""
    how, precise, dtype = match(rf"(block|looped)_softmax_(precise_)?{TYPE}", name)
    looped = how == "looped"
    length, rows = _length(rng, looped, 4096), 5
    x = random(rng, dtype, (rows, length))
    launch = _launch(rows, length, looped, 4)
    got = kernel(x, (x.shape, x.dtype), length, **launch)[0]
    powers = np.exp(values(x) - values(x).max(axis=1, keepdims=True))
    want = powers / powers.sum(axis=1, keepdims=True)
    narrow = dtype != "float32" and not precise
    return error(got, want, dtype, 24 if narrow else 16, np.maximum(want, _TINY))


def logsumexp(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`looped_logsumexp_float32`."""
    how, dtype = match(rf"(block|looped)_logsumexp_{TYPE}", name)
    looped = how == "looped"
    length, rows = _length(rng, looped, 4096), 5
    x = random(rng, dtype, (rows, length))
    got = kernel(x, (rows, x.dtype), length, **_launch(rows, length, looped, 4))[0]
    return error(got, np.logaddexp.reduce(values(x), axis=1), dtype)


def dot(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`dot_product_float16_it32_tg512_sg16`: a sum in float32 for each threadgroup."""
    (dtype,) = match(rf"dot_product_{TYPE}_it32_tg512_sg16", name)
    count = 32 * 512
    length = count + int(rng.integers(1, count))
    a, b = random(rng, dtype, length), random(rng, dtype, length)
    got = kernel(a, b, (2, mx.float32), length, grid=2 * 512, threadgroup=512)[0]
    products = np.pad(values(a) * values(b), (0, 2 * count - length)).reshape(2, count)
    return error(got, products.sum(axis=1), "float32", 16, np.abs(products).sum(axis=1))


# --- norms ---------------------------------------------------------------------------------------


def _weights(rng: Random, dtype: str, length: int) -> tuple[mx.array, Array, int]:
    """Factors for the numbers of a row, or one for all of them, with the step to the next."""
    one = bool(rng.random() < 0.3)
    memory = random(rng, dtype, 1 if one else length)
    return memory, np.broadcast_to(values(memory), length), int(not one)


def rms_norm(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`rms_loopedfloat16`, `vjp_rmsfloat32`."""
    vjp, looped_, dtype = match(rf"(vjp_)?rms(_looped)?{TYPE}", name)
    looped = bool(looped_)
    length, rows = _length(rng, looped, 4096), 5
    if vjp:
        return _rms_gradient(kernel, dtype, looped, length, rng)
    x = random(rng, dtype, (rows, length))
    w, factors, step = _weights(rng, dtype, length)
    launch = _launch(rows, length, looped, 4)
    got = kernel(x, w, (x.shape, x.dtype), _EPS, length, step, **launch)[0]
    want = values(x) * _inverse_root(values(x)) * factors
    return error(got, want, dtype, _STEPS[dtype], np.maximum(np.abs(want), _TINY))


def _inverse_root(x: Array) -> Array:
    """1 by the root of the mean square of each row."""
    return 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + _EPS)


def _rms_gradient(
    kernel: LibraryFunction, dtype: str, looped: bool, length: int, rng: Random
) -> float:
    """Gradients of the numbers, and of the factors, added up over the rows of a threadgroup: there
    are 512 of these at most."""
    rows = 5 if looped or rng.random() < 0.5 else 700
    length = length if rows == 5 else 1 + length % 40
    per_group = -(-rows // 512)
    groups = -(-rows // per_group)
    x, g = (random(rng, dtype, (rows, length)) for _ in range(2))
    w, factors, step = _weights(rng, dtype, length)
    has_w = step == 1
    gx, gw = kernel(
        x,
        w,
        g,
        (x.shape, x.dtype),
        ((groups, length) if has_w else (1,), x.dtype),
        _EPS,
        length,
        step,
        *([] if looped else [rows, per_group]),
        constants={"has_w": has_w},
        **_launch(groups, length, looped, 4),
    )
    held, root = values(x), _inverse_root(values(x))
    scaled = values(g) * factors
    parts = scaled * root, held * (scaled * held).mean(axis=1, keepdims=True) * root**3
    size = np.abs(parts[0]) + np.abs(held) * np.abs(scaled * held).mean(1, keepdims=True) * root**3
    worst = error(gx, parts[0] - parts[1], dtype, _STEPS[dtype], size)
    if not has_w:
        return worst
    each = np.pad(values(g) * held * root, ((0, groups * per_group - rows), (0, 0)))
    each = each.reshape(groups, per_group, length)
    size = np.maximum(np.abs(each).sum(axis=1), _TINY)
    return max(worst, error(gw, each.sum(axis=1), dtype, _STEPS[dtype], size))


def layer_norm(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`layer_norm_loopedfloat16`, `vjp_layer_normfloat32`."""
    vjp, looped_, dtype = match(rf"(vjp_)?layer_norm(_looped)?{TYPE}", name)
    looped = bool(looped_)
    rows = 5
    length = _length(rng, True, 8192 if vjp else 6656) if looped else _without_idle_threads(rng)
    x = random(rng, dtype, (rows, length))
    launch = _launch(rows, length, looped, 8)
    if vjp:
        return _layer_gradient(kernel, dtype, x, rng, launch)
    w, factors, step = _weights(rng, dtype, length)
    b, added, step_b = _weights(rng, dtype, length)
    got = kernel(x, w, b, (x.shape, x.dtype), _EPS, length, step, step_b, **launch)[0]
    centred = values(x) - values(x).mean(axis=1, keepdims=True)
    want = centred * _inverse_root(centred) * factors
    return error(got, want + added, dtype, _STEPS[dtype], np.abs(want) + np.abs(added) + 1e-3)


def _without_idle_threads(rng: Random) -> int:
    """A length that ends among the numbers of the last thread, or right in front of these. A thread
    further behind the end of its row writes to places in front of a private array: `n` is negative
    in MLX's `layer_norm_single_row`."""
    return 256 * int(rng.integers(1, 4)) - int(rng.integers(0, 8, endpoint=True))


def _layer_gradient(
    kernel: LibraryFunction, dtype: str, x: mx.array, rng: Random, launch: dict[str, Any]
) -> float:
    """Gradients of the numbers, and of the factors in each row."""
    rows, length = x.shape
    g = random(rng, dtype, x.shape)
    w, factors, step = _weights(rng, dtype, length)
    has_w = step == 1
    gx, gw = kernel(
        x,
        w,
        g,
        (x.shape, x.dtype),
        ((rows, length) if has_w else (1,), x.dtype),
        _EPS,
        length,
        step,
        constants={"has_w": has_w},
        **launch,
    )
    centred = values(x) - values(x).mean(axis=1, keepdims=True)
    root = _inverse_root(centred)
    scaled = values(g) * factors
    terms = scaled, scaled.mean(1, keepdims=True), (scaled * centred).mean(1, keepdims=True)
    want = root * (terms[0] - terms[1]) - centred * terms[2] * root**3
    size = np.abs(scaled).max() * np.maximum(root, 1) * np.maximum(np.abs(centred * root), 1)
    worst = error(gx, want, dtype, _STEPS[dtype], size)
    if not has_w:
        return worst
    each = values(g) * centred * root
    held = np.abs(values(x))
    # In float32, what is left of a number close to the mean is as wrong as these two.
    inner = np.abs(values(g)) * root * (held + held.mean(axis=1, keepdims=True))
    size = np.abs(each) + inner * (EPSILON["float32"] / EPSILON[dtype])
    return max(worst, error(gw, each, dtype, _STEPS[dtype], np.maximum(size, 1e-3)))
