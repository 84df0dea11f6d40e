"""Integer-array indices that are out of range, made harmless.

MLX leaves them undefined. On an Apple GPU a stray read returns something and the program goes on,
and published code relies on it: the reference version of grid_sample in MLX's documentation gathers
one row too far and multiplies the result by zero. MLX's CPU back end really reads there, which
gives NaN (inf * 0) or ends the process. With this patch such an index is clamped to the last
element, for programs run by `anymetal run`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx

from anymetal_start.patches import Patches

_INTEGERS = {mx.int8, mx.int16, mx.int32, mx.int64, mx.uint8, mx.uint16, mx.uint32, mx.uint64}


def apply(patches: Patches) -> None:
    """Replace `mx.array.__getitem__` by one that clamps."""
    patches.replace(mx.array, "__getitem__", _clamping(vars(mx.array)["__getitem__"]))


def _clamping(original: Callable[[mx.array, Any], mx.array]) -> Callable[[mx.array, Any], mx.array]:
    def __getitem__(self: mx.array, index: Any) -> mx.array:
        return original(self, clamped(index, self.shape))

    return __getitem__


def clamped(index: Any, shape: tuple[int, ...]) -> Any:
    """`index` of an array of `shape`, with its integer arrays in range."""
    if isinstance(index, mx.array):
        return _clamp(index, shape[0]) if shape else index
    if not isinstance(index, tuple) or not any(isinstance(i, mx.array) for i in index):
        return index
    result: list[Any] = []
    axis = 0
    for part in index:
        if part is Ellipsis:
            axis = len(shape) - sum(i is not None for i in index[len(result) + 1 :])
        elif part is not None:
            if isinstance(part, mx.array) and axis < len(shape):
                part = _clamp(part, shape[axis])
            axis += 1
        result.append(part)
    return tuple(result)


def _clamp(index: mx.array, size: int) -> mx.array:
    if index.dtype not in _INTEGERS or size == 0:
        return index
    low = 0 if index.dtype in (mx.uint8, mx.uint16, mx.uint32, mx.uint64) else -size
    if index.dtype.size < 4:  # the bounds themselves may not fit
        index = index.astype(mx.int32)
    return mx.clip(index, low, size - 1)
