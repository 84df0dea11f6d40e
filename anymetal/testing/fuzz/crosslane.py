"""Cross-lane functions on NumPy arrays: rows of 32 lanes (or 4, for quads), under a mask.

Reductions and scans run over the lanes that are active at the call. A shuffle that names an
inactive lane reads 0, which Metal leaves open and AnyMetal defines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anymetal.testing.fuzz.launch import LANES
from anymetal.testing.fuzz.numerics import exact
from anymetal.testing.fuzz.types import Array, Type

QUAD = 4


def evaluate(name: str, kind: Type, arguments: list[Array], mask: Array) -> Array:
    """The value of `simd_…` or `quad_…` in every lane; `kind` is the first argument's type."""
    scope, _, function = name.partition("_")
    width = LANES if scope == "simd" else QUAD
    rows = [a.reshape(*a.shape[:-1], -1, width) for a in arguments]
    active = mask.reshape(-1, width)
    if function in _VOTES:
        result = _VOTES[function](rows[0] if rows else active, active)
        result = np.broadcast_to(result, active.shape)
    elif function in _REDUCTIONS:
        result = np.broadcast_to(_reduce(function, kind, rows[0], active), rows[0].shape)
    elif function.startswith("prefix"):
        result = _scan(function, kind, rows[0], active)
    else:
        result = _move(function, rows, active, width)
    return np.ascontiguousarray(result).reshape(*result.shape[:-2], -1)


def _ballot(value: Array, active: Array) -> Array:
    weights = np.uint32(1) << np.arange(active.shape[-1], dtype=np.uint32)
    votes = np.where(value & active, weights, np.uint32(0))
    return np.asarray(votes.sum(axis=-1, keepdims=True, dtype=np.uint32))


def _first(active: Array) -> Array:
    """One hot: the lowest active lane of each row."""
    return np.asarray(active & (np.cumsum(active, axis=-1) == 1))


_VOTES: dict[str, Callable[[Array, Array], Any]] = {
    "ballot": _ballot,
    "active_threads_mask": _ballot,
    "any": lambda value, active: (value & active).any(axis=-1, keepdims=True),
    "all": lambda value, active: (value | ~active).all(axis=-1, keepdims=True),
    "is_first": lambda value, active: _first(active),
}


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add.reduce,
    "product": np.multiply.reduce,
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


def _identity(function: str, kind: Type) -> int | float:
    if function in ("min", "max"):
        if kind.is_float:
            return float("inf") if function == "min" else -float("inf")
        return kind.limits[1] if function == "min" else kind.limits[0]
    if function == "and":
        return -1 if kind.kind == "int" else kind.limits[1]
    return 1 if function == "product" else 0


def _reduce(function: str, kind: Type, value: Array, active: Array) -> Array:
    if not kind.is_float:
        filled = np.where(active, value, np.array(_identity(function, kind), kind.dtype))
        # Spelled-out dtype: NumPy would widen narrow sums.
        return np.asarray(_REDUCTIONS[function](filled, axis=-1, keepdims=True, dtype=kind.dtype))
    wide = np.where(active, value, _identity(function, kind)).astype(np.float64)
    anyone = np.broadcast_to(active.any(axis=-1, keepdims=True), (*value.shape[:-1], 1))
    if function == "sum":  # exact whatever the order of the additions
        exact(np.abs(wide).sum(axis=-1, keepdims=True), kind, anyone)
    return exact(_REDUCTIONS[function](wide, axis=-1, keepdims=True), kind, anyone)


def _scan(function: str, kind: Type, value: Array, active: Array) -> Array:
    product = function.endswith("product")
    filled = np.where(active, value, np.array(1 if product else 0, kind.dtype))
    work = np.dtype(np.float64) if kind.is_float else kind.dtype
    # An exclusive scan is the inclusive one of the values moved up by one lane.
    if "exclusive" in function:
        edge = np.full((*filled.shape[:-1], 1), 1 if product else 0, filled.dtype)
        filled = np.concatenate([edge, filled[..., :-1]], axis=-1)
    accumulate = np.multiply.accumulate if product else np.add.accumulate
    result = accumulate(filled.astype(work), axis=-1, dtype=work)
    if not kind.is_float:
        return result
    exact(np.add.accumulate(np.abs(filled.astype(work)), axis=-1), kind, active)
    return exact(result, kind, active)


def _move(function: str, rows: list[Array], active: Array, width: int) -> Array:
    """Shuffles: which lane each lane reads, and what it takes where that is out of range."""
    value = rows[0]
    lane = np.broadcast_to(np.arange(width), active.shape)
    operand = rows[-1].astype(np.int64) if len(rows) > 1 else lane
    outside = value  # lanes that read past the edge keep their own value
    if function == "broadcast_first":
        source = np.broadcast_to(_first(active).argmax(axis=-1)[:, None], active.shape)
    elif function in ("shuffle", "broadcast"):
        source = operand
    elif function == "shuffle_xor":
        source = lane ^ operand
    elif function.startswith("shuffle_rotate"):
        source = (lane + (operand if function.endswith("down") else -operand)) % width
    elif function.endswith("up"):
        source = lane - operand
    else:
        source = lane + operand
    if "fill" in function:
        outside = _take(rows[1], source % width, active)
    result = _take(value, source.clip(0, width - 1), active)
    return np.where((source >= 0) & (source < width), result, outside)


def _take(value: Array, source: Array, active: Array) -> Array:
    there = np.take_along_axis(active, source, axis=-1)
    index = np.broadcast_to(source, value.shape)
    taken = np.take_along_axis(value, index, axis=-1)
    return np.where(there, taken, np.zeros((), value.dtype))
