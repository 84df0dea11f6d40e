"""What a launch hands to the code of a kernel: arrays, then the grid."""

from __future__ import annotations

from math import prod

import mlx.core as mx

from anymetal.source import Parameter
from anymetal.targets.base import Extent, Launch


def buffers(launch: Launch) -> list[mx.array]:
    """The arrays in front of the outputs, in the order of the kernel's parameters: inputs, and what
    describes them.

    Inputs have to be bound row-contiguous, also where the kernel would take others: MLX says
    nothing about the strides of an array before it is evaluated. A kernel that asks for strides
    gets those of a row-contiguous array.
    """
    return [_buffer(p, launch) for p in launch.source.parameters if p.kind != "output"]


def _buffer(parameter: Parameter, launch: Launch) -> mx.array:
    array = launch.inputs[parameter.argument]
    shape = array.shape
    match parameter.kind:
        case "shape":
            return mx.array(shape, mx.int32)
        case "strides":
            return mx.array([prod(shape[axis + 1 :]) for axis in range(len(shape))], mx.int64)
        case "ndim":
            return mx.array([len(shape)], mx.int32)
        case "size":
            return mx.array([prod(shape)], mx.uint32)
    return array


def block_of(grid: Extent, threadgroup: Extent) -> Extent:
    """The threads of a block: the threadgroup, clamped to the grid."""
    x, y, z = map(min, grid, threadgroup)
    return (x, y, z)
