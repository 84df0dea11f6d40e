"""Kernels that write to arrays which have contents: of libraries, whose signature is their own.

MLX launches kernels whose outputs are new and have no contents, or one number. So the kernel gets
copies of the arrays that it writes to, as inputs, and writes to these. Its only output is a byte
that it does not know. The results are copies of the copies, made by a kernel that takes the byte,
too: so MLX runs it behind the first. (What MLX's own operations make of an input could be shared
with others, or run beside the kernel, since MLX takes inputs for read only.)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import mlx.core as mx

from anymetal.runtime.arrays import Exporter
from anymetal.runtime.foreign import Foreign
from anymetal.signature import KernelDefinition, generator_of
from anymetal.targets.base import Launch

_COPY = KernelDefinition(
    name="copy",
    input_names=("x", "after"),
    output_names=("y",),
    source="uint i = thread_position_in_grid.x; y[i] = x[i];",
)
_COPY_SOURCES = generator_of(_COPY)

Run = Callable[[Launch], list[mx.array]]


def beginning_with(launch: Launch, run: Run) -> list[mx.array]:
    """The outputs of a launch of which some begin with the contents of inputs."""
    count = len(launch.inputs) - sum(start >= 0 for start in launch.starts)
    anything = mx.array(0, mx.uint8)
    fresh = [_begun(launch, n, anything, run) for n in range(len(launch.starts))]
    (behind,) = run(
        replace(
            launch,
            inputs=[*launch.inputs[:count], *fresh],
            output_shapes=[],
            output_dtypes=[],
            init_value=None,
            starts=(),
        )
    )
    return [_copied(array, behind, launch.stream, run) for array in fresh]


def _begun(launch: Launch, number: int, anything: mx.array, run: Run) -> mx.array:
    """A new array that nobody else has, with what an output begins with."""
    start = launch.starts[number]
    if start >= 0:
        array = launch.inputs[start]
    else:
        begin = mx.array(launch.init_value or 0, mx.float32)
        dtype = launch.output_dtypes[number]
        array = mx.full(launch.output_shapes[number], begin.astype(dtype), dtype)
    return _copied(array, anything, launch.stream, run)


def _copied(array: mx.array, after: mx.array, stream: object, run: Run) -> mx.array:
    """A copy, made when another array is there."""
    if not array.size:
        return array
    row = array.reshape(-1)
    source = _COPY_SOURCES.specialization([row, after], [array.dtype], ()).source
    (copy,) = run(
        Launch(
            source,
            [row, after],
            [array.shape],
            [array.dtype],
            (array.size, 1, 1),
            (256, 1, 1),
            init_value=None,
            ensure_row_contiguous=True,
            definition=_COPY,
            template=(),
            stream=stream,
        )
    )
    return copy


def as_input(memory: Exporter) -> mx.array:
    """An array of MLX with what is in this memory now; bytes, if it is not MLX's."""
    if not isinstance(memory, Foreign):
        return cast(mx.array, memory)
    return mx.array(bytearray(memory.content()))  # type: ignore[arg-type]


def write_back(results: Sequence[mx.array], written: Sequence[Exporter]) -> None:
    """Copies the results to where the arrays lie."""
    mx.eval(results)
    for result, array in zip(results, written, strict=True):
        place, found = Foreign(array), Foreign(result)
        ctypes.memmove(place.address, found.address, place.nbytes)
