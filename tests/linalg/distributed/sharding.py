"""What the programs of all ranks know: matrices, their shards, and whether results are right."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

GROUP = mx.distributed.init()
RANK, RANKS = GROUP.rank(), GROUP.size()


def cuts(rows: int, kind: str) -> list[int]:
    """Where shards end: "ragged", "empty" (all but one) or "tiny" (one row each, and the rest)."""
    if kind == "empty":
        inner = [0] * (RANKS // 2) + [rows] * (RANKS - 1 - RANKS // 2)
    elif kind == "tiny":
        inner = [min(rank, rows) for rank in range(1, RANKS)]
    else:
        inner = np.sort(np.random.default_rng(rows).integers(0, rows + 1, RANKS - 1)).tolist()
    return [0, *inner, rows]


def shard(matrix: Array, kind: str = "ragged", axis: int = 0) -> mx.array:
    """The rows of this rank."""
    ends = cuts(matrix.shape[axis], kind)
    part = np.moveaxis(np.moveaxis(matrix, axis, 0)[ends[RANK] : ends[RANK + 1]], 0, axis)
    return mx.array(np.ascontiguousarray(part))


def whole(local: mx.array) -> Array:
    """All ranks' rows: an oracle's way to look at them, by sums of blocks with zeros around."""
    counts = mx.distributed.all_gather(mx.array([local.shape[0]]))
    rows = np.array(counts).tolist()
    out = np.zeros((sum(rows), *local.shape[1:]), np.float32)
    start = sum(rows[:RANK])
    out[start : start + rows[RANK]] = np.array(local)
    return np.array(mx.distributed.all_sum(mx.array(out)))
