"""Results larger than the caches: right wherever they begin, whatever takes part."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.llvm_target import machine_for

_STORES = {
    "float": ("y[i] = float(i);", 1),
    "float2": ("((device float2*)y)[i] = float2(i, -float(i));", 2),
    "packed_float3": ("((device packed_float3*)y)[i] = packed_float3(i, 1, 2);", 3),
    "float4": ("((device float4*)y)[i] = float4(i, 1, 2, -float(i));", 4),
}


def _expected(name: str, count: int) -> Any:
    i = np.arange(count, dtype=np.float32)
    one = np.ones_like(i)
    columns = {
        "float": [i],
        "float2": [i, -i],
        "packed_float3": [i, one, 2 * one],
        "float4": [i, one, 2 * one, -i],
    }
    return np.stack(columns[name], 1).reshape(-1)


@pytest.mark.parametrize("name", _STORES)
def test_large_results(name: str) -> None:
    body, size = _STORES[name]
    results = machine_for("").streamed_bytes
    count = results // (4 * size) + 77  # just so many that it goes past the caches, with an edge
    kernel = anymetal.metal_kernel(
        name=f"streamed_{name}",
        input_names=[],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; " + body,
    )
    (y,) = kernel(
        inputs=[],
        grid=(count, 1, 1),
        threadgroup=(96, 1, 1),
        output_shapes=[(count * size,)],
        output_dtypes=[mx.float32],
    )
    assert np.array_equal(np.array(y), _expected(name, count))
