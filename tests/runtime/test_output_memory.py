"""Where outputs lie: not where MLX's own operations have just written."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal

_double = anymetal.metal_kernel(
    name="output_memory",
    input_names=["x"],
    output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
)


def _doubled(x: mx.array) -> mx.array:
    (y,) = _double(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )
    mx.eval(y)
    return y


def _address(array: mx.array) -> int:
    return int(np.array(array, copy=False).ctypes.data)


@pytest.mark.parametrize("size", [1 << 18, 1 << 20, 3_000_001])
def test_they_share_no_memory_with_operations_of_mlx(size: int) -> None:
    """What is freed is kept, and goes to results of the same kind."""
    before = mx.set_cache_limit(1 << 30)
    try:
        x = mx.arange(size).astype(mx.float32)
        mx.eval(x)
        ours = _doubled(x)
        kept = _address(ours)
        del ours
        theirs = x + 1
        mx.eval(theirs)
        assert abs(_address(theirs) - kept) >= theirs.nbytes
        kept_by_mlx = _address(theirs)
        del theirs
        again = _doubled(x)
        assert abs(_address(again) - kept) < 4096
        more = _doubled(x)
        assert abs(_address(more) - kept_by_mlx) >= more.nbytes
        assert np.array_equal(np.array(again), 2 * np.arange(size, dtype=np.float32))
    finally:
        mx.set_cache_limit(before)
        mx.clear_cache()
