"""One Metal expression for many arguments, as a kernel of the public interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

import anymetal
from anymetal.dtypes import DTYPES

Array = npt.NDArray[Any]


def evaluate(
    results: Mapping[str, str],
    type_: str,
    out: str = "",
    prologue: str = "",
    math_mode: str = "safe",
    uniform: bool = False,
    **inputs: Array,
) -> dict[str, Array]:
    """Values of the expressions by name, for each row of the inputs.

    Inputs are arrays of scalars of Metal's `type_`, or all of one vector a row; the expressions
    have as many components. `out` is the scalar type of the results. `uniform` values are the same
    for all lanes of a SIMD-group, and go another way through the compiler.
    """
    out = out or type_
    rows = len(next(iter(inputs.values())))
    position = "threadgroup_position_in_grid" if uniform else "thread_position_in_grid"
    body = [prologue, f"uint i = {position}.x;"]
    width = max(array.shape[1] if array.ndim == 2 else 1 for array in inputs.values())
    vector = f"{type_}{width}" if width > 1 else type_
    for name in inputs:
        parts = ", ".join(f"in_{name}[{width} * i + {k}]" for k in range(width))
        body.append(f"{vector} {name} = {vector}({parts});")
    for name, expression in results.items():
        body.append(f"auto r_{name} = {expression};")
        if width == 1:
            body.append(f"out_{name}[i] = {out}(r_{name});")
        else:
            body += [f"out_{name}[{width} * i + {k}] = {out}(r_{name}[{k}]);" for k in range(width)]
    kernel = anymetal.metal_kernel(
        "numerics",
        [f"in_{name}" for name in inputs],
        [f"out_{name}" for name in results],
        "\n".join(body),
        compile_options={"math_mode": math_mode},
    )
    outputs = kernel(
        inputs=[_to_mlx(array, type_) for array in inputs.values()],
        output_shapes=[(rows, width)] * len(results),
        output_dtypes=[DTYPES[out]] * len(results),
        grid=(rows * 32 if uniform else rows, 1, 1),
        threadgroup=(32 if uniform else 64, 1, 1),
    )
    arrays = (_to_numpy(value) for value in outputs)
    return {
        name: array[:, 0] if width == 1 else array
        for name, array in zip(results, arrays, strict=True)
    }


def _to_mlx(array: Array, type_: str) -> mx.array:
    if type_ == "bfloat":
        return mx.array(array).view(mx.bfloat16)
    return mx.array(array)


def _to_numpy(array: mx.array) -> Array:
    return np.array(array.view(mx.uint16) if array.dtype == mx.bfloat16 else array)


def bits(values: Sequence[float], kind: Any = np.float32) -> Array:
    """Values as the patterns of `kind`, to compare signs of zeros and NaNs too."""
    array = np.asarray(values, kind)
    return array.view(np.uint32 if kind is np.float32 else np.uint16)
