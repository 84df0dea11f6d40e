"""Runs a case through `anymetal.metal_kernel`, in the build that is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from anymetal.testing.fuzz import printer
from anymetal.testing.fuzz.tree import Buffer, Case
from anymetal.testing.fuzz.types import Array, mlx_name

DEFAULT_WIDTHS = (32, 1)


@contextmanager
def gang_width(width: int) -> Iterator[None]:
    """Kernels compile with this many lanes in a gang; 1 is the scalar build."""
    from anymetal.targets.cpu import variant

    with variant.gang_width(width):
        yield


def execute(case: Case, width: int) -> dict[str, Array]:
    """Contents of each output, compiled with that gang width and run."""
    import mlx.core as mx

    import anymetal
    from anymetal import targets

    targets.select(None)  # the one in use knows kernels that were compiled with other passes off
    inputs, outputs = case.inputs(), case.outputs()
    kernel = anymetal.metal_kernel(
        name=f"fuzz_{case.seed}",
        input_names=[buffer.name for buffer in inputs],
        output_names=[buffer.name for buffer in outputs],
        source=printer.body(case),
        header=printer.header(case),
        compile_options={"math_mode": case.math_mode},
    )
    with mock.patch.dict(os.environ, _environment(case)), gang_width(width):
        results = kernel(
            inputs=[_to_mlx(buffer) for buffer in inputs],
            output_shapes=[(buffer.size,) for buffer in outputs],
            output_dtypes=[getattr(mx, mlx_name(buffer.type)) for buffer in outputs],
            grid=case.launch.grid,
            threadgroup=case.launch.threadgroup,
            init_value=case.init_value,
        )
        mx.eval(results)
    wide = [r.astype(mx.float32) if r.dtype == mx.bfloat16 else r for r in results]
    return {b.name: np.array(result) for b, result in zip(outputs, wide, strict=True)}


def _environment(case: Case) -> dict[str, str]:
    return {"ANYMETAL_PASSES": ",".join(f"-{name}" for name in case.off)}


def _to_mlx(buffer: Buffer) -> object:
    import mlx.core as mx

    assert buffer.data is not None
    array = mx.array(buffer.data)
    return array.astype(mx.bfloat16) if buffer.type.base == "bfloat" else array


def difference(expected: Array, actual: Array) -> Array:
    """Indices where two outputs differ. All NaNs are equal, and so are both zeros: which one a
    minimum or a sum returns is open."""
    same = expected == actual
    if expected.dtype.kind == "f":
        same |= np.isnan(expected) & np.isnan(actual)
    return np.flatnonzero(~same)
