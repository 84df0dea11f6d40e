"""Attention: of a few queries (`sdpa_vector`), in two passes, and in tiles (`steel_attention`).

Masks are of booleans or of numbers that are added; causal ones leave out the keys that come later;
sinks are one more key for each head, without a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    TYPE,
    Array,
    Random,
    array,
    error,
    match,
    random,
    values,
)
from anymetal.testing.mlx_kernels.families.gemm import packed
from anymetal.testing.mlx_kernels.families.matrices import threads
from anymetal.testing.mlx_kernels.families.packed import strides

_TYPES = {"float": "float32", "float16_t": "float16", "bfloat16_t": "bfloat16"}
#: Errors allowed, relative to sums of sizes, in epsilons of the type.
_ULPS = {"float32": 32.0, "float16": 2.0, "bfloat16": 2.0}
_PARAMS = np.dtype(
    [(f, "i4") for f in ("B", "H", "D", "qL", "kL", "gqa_factor")]
    + [("scale", "f4")]
    + [(f, "i4") for f in ("NQ", "NK", "NQ_aligned", "NK_aligned", "qL_rem", "kL_rem", "qL_off")]
    + [(f"{f}_strides", "i8", 3) for f in "QKVO"],
    align=True,
)


@dataclass(frozen=True)
class _Sizes:
    """Of the arrays, all with the axes batch, heads, positions, numbers."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    width: int  #: of queries and keys
    out_width: int  #: of values and results

    @property
    def shared(self) -> int:
        """Heads of queries for one of keys."""
        return self.heads // self.kv_heads


@dataclass(frozen=True)
class _Extras:
    """What changes scores before the softmax; "" for no mask, or its kind."""

    mask: str
    causal: bool
    sinks: bool

    @staticmethod
    def of(rng: Random, *masks: str) -> _Extras:
        """No mask, one of those given, or the causal one."""
        kind = str(rng.choice(["", *masks, "causal"]))
        mask = "" if kind == "causal" else kind
        return _Extras(mask, kind == "causal", bool(rng.random() < 0.5))


class _Attention:
    """Arrays at random, and what must come out."""

    def __init__(self, rng: Random, dtype: str, n: _Sizes, extras: _Extras) -> None:
        self.n, self.extras, self.dtype = n, extras, dtype
        self.scale = float(np.float32(n.width**-0.5))
        self.q = random(rng, dtype, (n.batch, n.heads, n.queries, n.width))
        self.k = random(rng, dtype, (n.batch, n.kv_heads, n.keys, n.width))
        self.v = random(rng, dtype, (n.batch, n.kv_heads, n.keys, n.out_width))
        shape = (n.batch, n.heads, n.queries, n.keys)
        self.mask = self._masked(rng, shape) if extras.mask else None
        self.sinks = random(rng, dtype, n.heads) if extras.sinks else None

    def _masked(self, rng: Random, shape: tuple[int, ...]) -> mx.array:
        if self.extras.mask != "bool_":
            return random(rng, self.dtype, shape, -2, 2)
        held = rng.random(shape) < 0.7
        held[..., 0] = True  # no query is without a key
        return array(held, "bool_")

    def scores(self) -> Array:
        """Those of each query with each key."""
        n = self.n
        found = self.scale * values(self.q) @ self._spread(self.k).swapaxes(-1, -2)
        if self.extras.causal:
            later = np.arange(n.keys) > np.arange(n.queries)[:, None] + n.keys - n.queries
            return np.where(later, -np.inf, found)
        if self.mask is None:
            return found
        held = values(self.mask)
        return np.where(held, found, -np.inf) if held.dtype == bool else found + held

    def _spread(self, one: mx.array) -> Array:
        return values(one).repeat(self.n.shared, axis=1)

    def compared(self, got: mx.array, scores: Array | None = None) -> float:
        """The error of a result with the axes of the queries."""
        scores = self.scores() if scores is None else scores
        most = scores.max(axis=-1, keepdims=True)
        sink = 0.0
        if self.sinks is not None:
            held = values(self.sinks)[:, None, None]
            most = np.maximum(most, held)
            sink = np.exp(held - most)
        powers = np.exp(scores - most)
        weights = powers / (powers.sum(axis=-1, keepdims=True) + sink)
        v = self._spread(self.v)
        size = np.maximum(weights @ np.abs(v), 2.0**-10)
        return error(got, weights @ v, self.dtype, _ULPS[self.dtype], size)


# --- a few queries -------------------------------------------------------------------------------


def vector(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`sdpa_vector_float16_t_192_128`, `sdpa_vector_2pass_1_gqa_float_64_64`,
    `sdpa_vector_2pass_2_bfloat16_t_96`."""
    how, type_, *widths = match(
        r"sdpa_vector_(2pass_1_gqa_|2pass_1_|2pass_2_|)(float|b?float16_t)_(\d+)(?:_(\d+))?", name
    )
    dtype = _TYPES[type_]
    if how == "2pass_2_":
        return _together(kernel, dtype, int(widths[0]), rng)
    batch, kv_heads = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    gqa = how == "2pass_1_gqa_"
    shared, queries = (8, 1) if gqa else (int(rng.integers(1, 4)), int(rng.integers(1, 5)))
    keys = int(rng.integers(70, 300))
    n = _Sizes(batch, shared * kv_heads, kv_heads, queries, keys, *map(int, widths))
    extras = _Extras("", False, False) if gqa else _Extras.of(rng, "bool_", dtype)
    one = _Attention(rng, dtype, n, extras)
    return _two_passes(kernel, one, gqa) if how else _one_pass(kernel, one, rng)


def _key_steps(one: _Attention) -> list[int]:
    """From head to head and key to key, of keys and of values."""
    n = one.n
    return [n.keys * n.width, n.width, n.keys * n.out_width, n.out_width]


def _mask_arguments(one: _Attention) -> list[Any]:
    """The mask as one of two arrays, and its steps, from the last axis on."""
    if one.mask is None:
        return [None] * 5
    boolean = one.extras.mask == "bool_"
    arrays = [one.mask if boolean else None, None if boolean else one.mask]
    return [*arrays, 1, one.n.keys, one.n.queries * one.n.keys]


def _constants(one: _Attention, transposed: bool) -> dict[str | int, bool | int]:
    boolean = one.extras.mask == "bool_"
    return {
        "has_mask": one.mask is not None,
        "query_transposed": transposed,
        "do_causal": one.extras.causal,
        "bool_mask": boolean,
        "float_mask": one.mask is not None and not boolean,
        "has_sinks": one.extras.sinks,
    }


def _one_pass(kernel: LibraryFunction, one: _Attention, rng: Random) -> float:
    n = one.n
    transposed = n.batch == 1 and bool(rng.random() < 0.5)  # positions in front of heads
    q = mx.contiguous(one.q.swapaxes(1, 2), stream=mx.cpu) if transposed else one.q
    got = kernel(
        q,
        one.k,
        one.v,
        ((n.batch, n.heads, n.queries, n.out_width), DTYPES[one.dtype]),
        n.shared,
        n.keys,
        *_key_steps(one),
        one.scale,
        *_mask_arguments(one),
        *([one.sinks, n.heads] if one.extras.sinks else [None, None]),
        constants=_constants(one, transposed),
        **threads((n.batch * n.heads, n.queries, 1), (1024, 1, 1)),
    )[0]
    return one.compared(got)


def _two_passes(kernel: LibraryFunction, one: _Attention, gqa: bool) -> float:
    """The first one: every so many keys make a result of their own, with its largest score and the
    sum of powers. They are put together here as the second kernel does it."""
    n, blocks = one.n, 32
    shape = (n.batch, n.heads, n.queries, blocks)
    rest = [] if gqa else [*_mask_arguments(one), one.sinks]
    constants = _constants(one, False) | {"blocks": blocks}
    parts, sums, most = kernel(
        one.q,
        one.k,
        one.v,
        ((*shape, n.out_width), DTYPES[one.dtype]),
        (shape, mx.float32),
        (shape, mx.float32),
        n.keys,
        *_key_steps(one),
        one.scale,
        *rest,
        constants=constants,
        **threads((n.kv_heads, n.batch, blocks), (32, n.shared, n.queries)),
    )
    factors = np.exp(values(most) - values(most).max(axis=-1, keepdims=True))
    total = (factors * values(sums)).sum(axis=-1)[..., None]
    together = (factors[..., None] * values(parts)).sum(axis=-2) / total
    return one.compared(array(together, one.dtype))


def _together(kernel: LibraryFunction, dtype: str, width: int, rng: Random) -> float:
    """The second pass: results of blocks become one."""
    heads, queries, blocks = 3, 2, 32 * int(rng.integers(1, 4))
    shape = (heads, queries, blocks)
    parts = random(rng, dtype, (*shape, width))
    sums = random(rng, "float32", shape, 1, 20)
    most = random(rng, "float32", shape)
    out = ((heads, queries, width), DTYPES[dtype])
    launch = threads((heads, queries, 1), (1024, 1, 1))
    # The kernel reads its parameter; the constant that is asked for has the same name.
    got = kernel(parts, sums, most, out, blocks, constants={"blocks": blocks}, **launch)[0]
    factors = np.exp(values(most) - values(most).max(axis=-1, keepdims=True))
    total = (factors * values(sums)).sum(axis=-1)[..., None]
    each = factors[..., None] * values(parts)
    size = np.maximum(np.abs(each).sum(axis=-2) / total, 2.0**-10)
    return error(got, each.sum(axis=-2) / total, dtype, _ULPS[dtype], size)


# --- in tiles ------------------------------------------------------------------------------------


def tiles(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`steel_attention_float16_bq32_bk16_bd128_wm4_wn1_maskbool_`, `steel_attention_dsplit_…`."""
    _, dtype, *numbers, mask = match(
        rf"steel_attention_(dsplit_)?{TYPE}_bq(\d+)_bk(\d+)_bd(\d+)_wm(\d)_wn(\d)_mask{TYPE}", name
    )
    bq, bk, width, wm, wn = map(int, numbers)
    kv_heads, shared = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    queries = bq + _rest(rng, bq)
    keys = queries // bk * bk + bk * int(rng.integers(1, 3))
    keys += _rest(rng, bk)
    n = _Sizes(int(rng.integers(1, 3)), shared * kv_heads, kv_heads, queries, keys, width, width)
    # Of kernels whose masks are no booleans, the host code also takes those without a mask.
    extras = _Extras.of(rng, mask) if mask != "bool_" else _Extras(mask, False, False)
    one = _Attention(rng, dtype, n, extras)
    # Positions come in front of heads in the result.
    order = n.queries * n.heads * width, width, n.heads * width
    mask_steps = (
        np.array(strides(one.mask.shape)[:3], "i8").tobytes() if one.mask is not None else None
    )
    got = kernel(
        one.q,
        one.k,
        one.v,
        ((n.batch, n.queries, n.heads, width), DTYPES[dtype]),
        _tile_params(one, bq, bk, order),
        mask_steps,
        one.mask,
        one.sinks,
        constants={
            "align_Q": queries % bq == 0,
            "align_K": keys % bk == 0,
            "has_mask": one.mask is not None,
            "do_causal": extras.causal,
            "has_sinks": extras.sinks,
        },
        **threads((-(-queries // bq), n.heads, n.batch), (32, wm, wn)),
    )[0]
    return one.compared(got.swapaxes(1, 2))


def _rest(rng: Random, tile: int) -> int:
    """A part of a tile, or none."""
    return int(rng.integers(1, tile)) if rng.random() < 0.5 else 0


def _tile_params(one: _Attention, bq: int, bk: int, order: tuple[int, ...]) -> bytes:
    n = one.n
    return packed(
        _PARAMS,
        B=n.batch,
        H=n.heads,
        D=n.width,
        qL=n.queries,
        kL=n.keys,
        gqa_factor=n.shared,
        scale=one.scale,
        NQ=-(-n.queries // bq),
        NK=-(-n.keys // bk),
        NQ_aligned=n.queries // bq,
        NK_aligned=n.keys // bk,
        qL_rem=n.queries % bq,
        kL_rem=n.keys % bk,
        qL_off=n.keys - n.queries,
        Q_strides=strides(one.q.shape)[:3],
        K_strides=strides(one.k.shape)[:3],
        V_strides=strides(one.v.shape)[:3],
        O_strides=order,
    )
